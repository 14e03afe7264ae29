"""Figures of the knowledge-base chapter: planes of two measures, kinds of responses, ranks."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, PercentFormatter

from helpers.plots.style import (
    BLUE,
    GREY,
    INK,
    OTHER,
    colours,
    empty,
    legend_above,
    model_colour,
    name_rows,
    plain,
    reach,
    set_apart,
)


def measure_planes(
    published: pd.DataFrame, ours: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> np.ndarray:
    """Draw published models in planes of two measures, and runs among them or beside them.

    Parameters
    ----------
    published : DataFrame
        The measures, one row a model, indexed by its name; with ``tuned`` (bool) the others are
        hollow.
    ours : DataFrame
        ``model``, the measures, with intervals in ``<measure>_low, <measure>_high``, and
        ``same_questions``: such runs are outlined diamonds among the published models, the others
        crosses in a hatched panel at the side, with scales of its own.
    pairs : sequence of (str, str)
        Measures of the two axes, as shares; a row each.

    Returns
    -------
    ndarray of Axes, shape (pairs, 1 or 2)
        The models at the four ends of the cloud bear their names; the legend says which measures
        a run lacks.

    Notes
    -----
    Zheng et al. 2024, Figure 2.

    Examples
    --------
    >>> paper = pd.DataFrame({"NCR": [0.1, 0.3], "UR": [0.5, 0.9]}, index=["a", "b"])
    >>> ours = pd.DataFrame({"model": ["m"], "NCR": [0.2], "UR": [0.1], "same_questions": False})
    >>> [ax.get_title(loc="left") for ax in measure_planes(paper, ours, [("NCR", "UR")])[0]]
    ['', 'other questions']
    """
    same = ours["same_questions"].to_numpy(dtype=bool)
    size, widths = (6, 4.3 * len(pairs)), (2.2, 1)[: 1 + (not same.all())]
    figure, axes = plt.subplots(
        len(pairs), len(widths), figsize=size, width_ratios=widths, squeeze=False
    )
    shade = colours(["none", *ours["model"]])  # grey is the published models' own
    for (x, y), row in zip(pairs, axes):
        _plane(published, x, y, row[0])
        for ax, part, mark in zip(row, (ours[same], ours[~same]), "DX"):
            _runs(part, x, y, ax, shade, mark)
        for ax in row[1:]:
            set_apart(ax)
            ax.xaxis.set_major_locator(MaxNLocator(3))
            ax.set_title(OTHER, loc="left", fontsize=10)
    handles = axes[0, 0].get_legend_handles_labels()[0]
    for row, mark in zip(ours.to_dict("records"), np.where(same, "D", "X")):
        lacks = [m for m in dict.fromkeys(m for pair in pairs for m in pair) if pd.isna(row[m])]
        name = plain(str(row["model"])) + (f": no {', '.join(lacks)}" if lacks else "")
        handles.append(Line2D([], [], ls="", label=name, **_mark(mark, shade[row["model"]])))
    longest = max(len(handle.get_label()) for handle in handles)
    figure.legend(handles=handles, loc="outside upper left", ncols=max(1, min(3, 48 // longest)))
    return axes


def _plane(published: pd.DataFrame, x: str, y: str, ax: Axes) -> None:
    tuned = published.get("tuned", pd.Series(True, index=published.index)).to_numpy(dtype=bool)
    for mask, fill, text in ((tuned, GREY, "paper, tuned"), (~tuned, "white", "paper, base")):
        if mask.any():
            part = published[mask]
            ax.scatter(part[x], part[y], s=36, color=fill, ec=GREY, lw=1.2, label=text, zorder=2)
    _name_ends(published[[x, y]].dropna(), ax)


def _mark(mark: str, colour: str) -> dict[str, object]:
    """Return how a run is drawn: an outlined diamond, or a cross."""
    fill = "white" if mark == "D" else colour
    return {"marker": mark, "ms": 8, "color": colour, "mfc": fill, "mew": 1.5}


def _runs(
    ours: pd.DataFrame, x: str, y: str, ax: Axes, shade: Mapping[str, str], mark: str
) -> None:
    """Draw runs with their intervals."""
    for row in ours.to_dict("records"):
        ends = {"xerr": reach(row, x), "yerr": reach(row, y)}
        ax.errorbar(row[x], row[y], **ends, ls="", zorder=4, **_mark(mark, shade[row["model"]]))
    ax.set(xlabel=x, ylabel=y)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
    ax.margins(0.1)


def _name_ends(points: pd.DataFrame, ax: Axes) -> None:
    """Name the models at the ends of both axes, of neighbours only the first, beside all points."""
    low, high = points.min(), points.max()
    unit = ((points - low) / (high - low).replace(0, 1)).to_numpy()
    named: list[np.ndarray] = []
    for name in [points[c].agg(end) for c in points.columns for end in ("idxmin", "idxmax")]:
        at = unit[points.index.get_loc(name)]
        if any(np.abs(at - other).max() < 0.12 for other in named):
            continue
        named.append(at)
        across, above = _free_side(unit, at, 0.025 * len(str(name)))
        ax.annotate(
            plain(str(name)),
            tuple(points.loc[name]),
            (7 * across, 7 * above),
            textcoords="offset points",
            ha="left" if across > 0 else "right",
            va="center",
            fontsize=8,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=5,
        )


def _free_side(points: np.ndarray, at: np.ndarray, length: float) -> tuple[int, int]:
    """Return the side on which a name meets the fewest points: right 1, left -1; above 1, below -1.

    Points and the length of the name are in shares of the cloud; it stays within the frame.
    """
    sides = [(across, above) for above in (1, -1, 0) for across in (1, -1)]

    def met(side: tuple[int, int]) -> float:
        along = (points[:, 0] - at[0]) * side[0]
        beside = np.abs(points[:, 1] - at[1] - 0.04 * side[1])
        hidden = (along > -0.01) & (along < length + 0.03) & (beside < 0.035)
        outside = not -0.1 < at[0] + side[0] * (length + 0.03) < 1.1
        return np.sum(hidden & ~(points == at).all(axis=1)) + len(points) * outside

    return min(sides, key=met)


def effect_grid(table: pd.DataFrame) -> np.ndarray:
    """Draw effects on several measures, one panel a measure, all on one scale.

    Parameters
    ----------
    table : DataFrame
        ``effect, measure, estimate, low, high``, as `helpers.metrics.reliability.effects` returns.

    Returns
    -------
    ndarray of Axes
        One a measure, effects in the order of the table.

    Notes
    -----
    Zheng et al. 2024, Figure 3.

    Examples
    --------
    >>> table = pd.DataFrame({"effect": ["size (2)"], "measure": ["UR"], "estimate": [0.2],
    ...                       "low": [0.1], "high": [0.3]})
    >>> [ax.get_title(loc="left") for ax in effect_grid(table)]
    ['UR']
    """
    if table.empty:
        return np.array([empty(None, "There is no effect to draw.")])
    groups = list(table.groupby("measure", sort=False))
    size = (6, 0.6 + len(groups) * (0.5 + 0.26 * table["effect"].nunique()))
    _, axes = plt.subplots(len(groups), figsize=size, sharex=True, squeeze=False)
    for ax, (measure, rows) in zip(axes[:, 0], groups):
        places = np.arange(len(rows))
        ax.hlines(places, rows["low"], rows["high"], color=BLUE, lw=2)
        ax.plot(rows["estimate"], places, "o", color=BLUE, ms=6)
        ax.axvline(0, color=GREY, lw=1)
        name_rows(ax, rows["effect"], 0.5)
        ax.set_title(measure, loc="left")
    axes[-1, 0].set_xlabel("change")
    axes[-1, 0].xaxis.set_major_formatter(PercentFormatter(1))
    return axes[:, 0]


def line_grid(
    groups: Mapping[str, Mapping[str, pd.DataFrame]],
    measures: Sequence[str],
    ticks: Mapping[str, Mapping[float, str]],
    marked: str = "",
    joined: str = "prompt",
) -> np.ndarray:
    """Draw several measures of many models, a column of panels for each way to compare them.

    Parameters
    ----------
    groups : mapping
        Comparison to lines by name, as `helpers.published.knowledge_base.lines` returns: ``place``
        (of a model on its line), ``family`` (one colour each), ``tuned`` (bool; hollow), and the
        measures as shares. The comparison "other questions" is hatched.
    measures : sequence of str
        A row of panels each.
    ticks : mapping
        Comparison to the places that bear a name.
    marked : str
        Name of the line that is drawn thick.
    joined : str
        The comparison whose points belong to one model and are joined by a line.

    Returns
    -------
    ndarray of Axes, shape (measures, comparisons)

    Notes
    -----
    Zheng et al. 2024, Figures 8 to 10.

    Examples
    --------
    >>> line = pd.DataFrame({"place": [0, 1], "family": "Llama 1", "tuned": False, "NCR": [0, 1]})
    >>> axes = line_grid({"size": {"Llama 1": line}}, ["NCR"], {"size": {0: "7B", 1: "13B"}})
    >>> [text.get_text() for text in axes[0, 0].get_xticklabels()]
    ['7B', '13B']
    """
    shape = (len(measures), len(groups))
    size = (6, 1 + 1.25 * len(measures))
    figure, axes = plt.subplots(*shape, figsize=size, sharex="col", sharey="row", squeeze=False)
    shade = colours(
        family for lines in groups.values() for rows in lines.values() for family in rows["family"]
    )
    for (group, lines), column in zip(groups.items(), axes.T):
        for ax, measure in zip(column, measures):
            for name, rows in lines.items():
                ax.plot(
                    rows["place"],
                    rows[measure],
                    color=shade[rows["family"].iloc[0]],
                    ls="-" if group in (joined, OTHER) else "",
                    marker="o",
                    ms=3,
                    mfc="white" if rows["tuned"].all() else None,
                    lw=3 if name == marked else 1.3,
                    alpha=0.8,
                )
            ax.yaxis.set_major_formatter(PercentFormatter(1))
            ax.margins(x=0.12)
            if group == OTHER:
                set_apart(ax)
        column[0].set_title(group, fontsize=10)
        column[-1].set_xticks(list(ticks[group]), list(ticks[group].values()), rotation=60)
    for ax, measure in zip(axes[:, 0], measures):
        ax.set_ylabel(measure)
    drawn = [Line2D([], [], color=colour, label=plain(name)) for name, colour in shade.items()]
    drawn.append(Line2D([], [], color=INK, ls="", marker="o", mfc="white", label="tuned"))
    figure.legend(handles=drawn, loc="outside upper left", ncols=4)
    return axes


def rate_rows(
    tables: Mapping[str, pd.DataFrame], measures: Sequence[str], marked: str = ""
) -> np.ndarray:
    """Draw rates of every model in several settings, a row a model and a panel a measure.

    Parameters
    ----------
    tables : mapping
        Setting to a table of shares, one row a model, the same models in each.
    measures : sequence of str
    marked : str
        Name of the model that is set apart at the top, in bold.

    Returns
    -------
    ndarray of Axes
        The other models in the order of the first measure in the first setting.

    Notes
    -----
    Zheng et al. 2024, Figure 12.

    Examples
    --------
    >>> table = pd.DataFrame({"CR": [0.1, 0.3]}, index=["a", "b"])
    >>> (ax,) = rate_rows({"zero-shot": table}, ["CR"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['b', 'a']
    """
    first = next(iter(tables.values()))
    names = list(first[measures[0]].sort_values(ascending=False, kind="stable").index)
    names.sort(key=lambda name: name != marked)
    size = (6, 1.1 + 0.23 * len(names))
    figure, axes = plt.subplots(1, len(measures), figsize=size, sharey=True, squeeze=False)
    shade = colours(tables)
    for ax, measure in zip(axes[0], measures):
        for way, table in tables.items():
            places = [names.index(name) for name in table.index]
            ax.plot(table[measure], places, "o", color=shade[way], ms=5, alpha=0.85, label=way)
        if marked in names:
            ax.axhline(0.5, color=GREY, lw=1)
        ax.set_title(measure)
        ax.xaxis.set_major_formatter(PercentFormatter(1))
    name_rows(axes[0, 0], names, 0.5, fontsize=9)
    for text in axes[0, 0].get_yticklabels():
        text.set_fontweight("bold" if text.get_text() == plain(marked) else "normal")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return axes[0]


def kind_bars(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how responses divide into kinds, one stacked bar a row.

    Parameters
    ----------
    table : DataFrame
        Shares (each row sums to 1), one column a kind, one row a group, its name the index; a
        column ``n`` (responses of the group) is written behind the name.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        Shares of at least 6 % bear their number.

    Notes
    -----
    Zheng et al. 2024, Figures 4, 5 and 12.

    Examples
    --------
    >>> table = pd.DataFrame({"correct": [0.25], "wrong": [0.75], "n": [8]}, index=["seen"])
    >>> [text.get_text() for text in kind_bars(table).get_yticklabels()]
    ['seen (8)']
    """
    if table.empty:
        return empty(ax, "There are no responses to divide into kinds.")
    kinds = [column for column in table.columns if column != "n"]
    ax = ax or plt.subplots(figsize=(6, 1.4 + 0.42 * len(table)))[1]
    places, left = np.arange(len(table)), np.zeros(len(table))
    for kind in kinds:
        shares = table[kind].to_numpy(dtype=float)
        colour, name = model_colour(str(kind)), plain(str(kind))
        ax.barh(places, shares, left=left, color=colour, label=name, height=0.72)
        for place, share, start in zip(places, shares, left):
            if share >= 0.06:
                text = f"{100 * share:.0f}"
                middle = start + share / 2
                ax.text(middle, place, text, ha="center", va="center", color="white", fontsize=9)
        left = left + np.nan_to_num(shares)
    names = [str(name) for name in table.index]
    if "n" in table.columns:
        names = [f"{name} ({n:,})" for name, n in zip(names, table["n"])]
    ax.set_yticks(places, [plain(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.grid(False)
    legend_above(ax)
    return ax


def rank_map(
    table: pd.DataFrame,
    higher: Mapping[str, bool],
    marked: str = "",
    ax: Axes | None = None,
    by_measure: bool = False,
) -> Axes:
    """Draw the rank of every model in every measure, rank 1 being the best.

    Parameters
    ----------
    table : DataFrame
        One row a model, one column a measure; a value that is missing has no rank.
    higher : mapping of str to bool
        Measures to show, and whether more of each is better.
    marked : str
        Name of the model that is set in bold.
    ax : Axes, optional
        By default a new figure.
    by_measure : bool
        A row for each measure and a column for each model, where there are few models.

    Returns
    -------
    Axes
        Models in the order of their mean rank.

    Notes
    -----
    Zheng et al. 2024, Figures 6 and 7.

    Examples
    --------
    >>> table = pd.DataFrame({"NCR": [0.1, 0.3]}, index=["a", "b"])
    >>> [text.get_text() for text in rank_map(table, {"NCR": True}).get_yticklabels()]
    ['b', 'a']
    >>> turned = rank_map(table, {"NCR": True}, by_measure=True)
    >>> [text.get_text() for text in turned.get_xticklabels()]
    ['b', 'a']
    """
    if table.empty:
        return empty(ax, "There is no model to rank.")
    found = ranks(table, higher)
    found = found.T if by_measure else found
    ax = ax or plt.subplots(figsize=(6, 0.9 + 0.27 * len(found)))[1]
    sns.heatmap(
        found,
        annot=True,
        fmt=".3g",
        cmap="viridis_r",
        cbar=False,
        ax=ax,
        annot_kws={"fontsize": 9},
        linewidths=0.4,
    )
    names, tops = ([plain(str(name)) for name in side] for side in (found.index, found.columns))
    ax.set_yticks(np.arange(len(names)) + 0.5, names, rotation=0, fontsize=9)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(tops)) + 0.5, tops, rotation=45, ha="left")
    for text in ax.get_xticklabels() if by_measure else ax.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() == plain(marked) else "normal")
    ax.set(xlabel="", ylabel="")
    return ax


def ranks(table: pd.DataFrame, higher: Mapping[str, bool]) -> pd.DataFrame:
    """Rank models in every measure, ties sharing the mean of their ranks, best mean rank first.

    >>> ranks(pd.DataFrame({"WR": [0.1, 0.3]}, index=["a", "b"]), {"WR": False})["WR"].tolist()
    [1.0, 2.0]
    """
    found = pd.DataFrame(
        {name: table[name].rank(ascending=not better) for name, better in higher.items()}
    )
    return found.loc[found.mean(axis=1).sort_values(kind="stable").index]
