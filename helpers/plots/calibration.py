"""Methods compared on the same facts: who agrees with whom, who calls what known, at what cost."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from helpers.plots import tables
from helpers.plots.primitives import dots
from helpers.plots.style import GREY, INK, colours, empty, legend_above, log_scale, plain, reach

NO_FACTS = "Too few facts of the panel were asked by all methods to draw this."
SHADES = ("#f2a541", "#bcd4e6", "#5b9bc8", "#0b3c5d")  # the first group stands out


def upset(table: pd.DataFrame, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """Draw how many facts every combination of methods calls known, as an UpSet chart.

    Parameters
    ----------
    table : DataFrame
        From `helpers.stats.agreement.combinations`: a level of the index for each method, a column
        of counts for each group of facts, which are stacked.
    axes : two Axes, optional
        Above for the bars, below for the dots; by default a new figure.

    Returns
    -------
    sequence of Axes
        A filled dot stands for a method that calls the facts of the bar above it known.

    Notes
    -----
    Lex et al. 2014, "UpSet: Visualization of Intersecting Sets".

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([(True, True), (False, True)], names=["a", "b"])
    >>> above, below = upset(pd.DataFrame({"facts": [2, 1]}, index=index))
    >>> [text.get_text() for text in below.get_yticklabels()]
    ['a', 'b']
    """
    if axes is None:
        ratios = {"height_ratios": [3, 0.25 * table.index.nlevels + 0.6]}
        _, axes = plt.subplots(2, figsize=(6, 5.2), sharex=True, gridspec_kw=ratios)
    above, below = axes
    if table.empty:
        below.set_visible(False)
        return empty(above, NO_FACTS), below
    places, floor = np.arange(len(table)), np.zeros(len(table))
    shades = dict(zip(table.columns, SHADES * len(table.columns)))
    for name in table:
        counts = table[name].to_numpy(dtype=float)
        above.bar(places, counts, 0.7, floor, color=shades[name], label=plain(str(name)))
        floor += counts
    for place, total in zip(places, floor):
        above.annotate(
            f"{total:g}", (place, total), (0, 2), textcoords="offset points", ha="center"
        )
    above.set_ylim(0, 1.14 * max(1, floor.max()))
    above.grid(visible=False, axis="x")
    above.yaxis.set_major_locator(MaxNLocator(integer=True))
    legend_above(above)
    marks = table.index.to_frame().to_numpy(dtype=bool)
    across, down = np.meshgrid(places, range(marks.shape[1]), indexing="ij")
    below.scatter(across, down, s=46, c=np.where(marks, INK, "#dcdcdc").ravel(), zorder=3)
    for place, row in zip(places, marks):
        if row.any():
            rows = np.flatnonzero(row)
            below.plot([place, place], [rows[0], rows[-1]], color=INK, lw=1.5)
    below.set_yticks(range(marks.shape[1]), [plain(str(name)) for name in table.index.names])
    below.set_ylim(marks.shape[1] - 0.5, -0.5)
    below.set_xticks([])
    below.grid(visible=False)
    return axes


def area_dots(
    table: pd.DataFrame, label: str, by: str, ax: Axes | None = None, low: float = 0.0
) -> Axes:
    """Draw areas under ROC curves with their intervals, beside the line of a coin at one half.

    Parameters
    ----------
    table : DataFrame
        Columns `label`, `by`, ``estimate, low, high``.
    label, by : str
        As for :func:`helpers.plots.primitives.dots`.
    ax : Axes, optional
        By default a new figure, tall enough.
    low : float
        Where the axis begins.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = pd.DataFrame({"contrast": ["shown"], "method": ["IC-LKE"], "estimate": [0.8],
    ...                       "low": [0.7], "high": [0.9]})
    >>> area_dots(table, "contrast", "method").get_xlabel()
    'area under the ROC curve'
    """
    if table["estimate"].isna().all():
        return empty(ax, NO_FACTS)
    ax = dots(table, label, by, ax, "area under the ROC curve")
    ax.axvline(0.5, color=INK, lw=1, ls=":")
    ax.set_xlim(low, 1.02)
    ax.xaxis.set_major_formatter("{x:.1f}")
    return ax


def agreement_map(
    above: pd.DataFrame, below: pd.DataFrame, methods: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Draw the agreement of every two methods: one measure above the diagonal, another below.

    Parameters
    ----------
    above, below : DataFrame
        From `helpers.stats.agreement.pairwise`: ``first, second, estimate, low, high``; figures
        between -1 and 1.
    methods : sequence of str
        In order.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        Each field bears its figure and the interval, or says that it is undefined.

    Examples
    --------
    >>> pair = pd.DataFrame({"first": ["a"], "second": ["b"], "estimate": [0.5], "low": [0.4],
    ...                      "high": [0.6]})
    >>> [text.get_text().split()[0] for text in agreement_map(pair, pair, ["a", "b"]).texts]
    ['0.50', '0.50']
    """
    if pd.concat([above, below])["estimate"].isna().all():
        return empty(ax, NO_FACTS)
    ax = ax or plt.subplots(figsize=(6, 4.6))[1]
    place = {name: number for number, name in enumerate(methods)}
    field = np.full((len(place), len(place)), np.nan)
    for table, turned in ((above, False), (below, True)):
        for row in table.to_dict("records"):
            at = (place[row["first"]], place[row["second"]])
            at = at[::-1] if turned else at
            field[at] = row["estimate"]
            text = tables.interval(row["estimate"], row["low"], row["high"], 2).replace(
                " ", "\n", 1
            )
            shade = "white" if row["estimate"] > 0.6 else INK
            minus = plain(text).replace("-", "\N{MINUS SIGN}")
            ax.text(at[1], at[0], minus, ha="center", va="center", color=shade, fontsize=9.5)
    ax.imshow(field, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    names = [plain(name) for name in place]
    ax.set_xticks(range(len(names)), names, rotation=20, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.grid(visible=False)
    return ax


def cost_plane(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what each method tells of a fact against the tokens that it takes.

    Parameters
    ----------
    table : DataFrame
        ``method``; ``tokens`` per fact, read one prompt after the other, and ``forwarded``, with
        shared beginnings read once; ``estimate, low, high``: bits per fact.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        A line leads from the tokens read (filled) to those left when beginnings are shared
        (hollow); tokens on a logarithmic axis.

    Examples
    --------
    >>> table = pd.DataFrame({"method": ["IC-LKE"], "tokens": [9000.0], "forwarded": [90.0],
    ...                       "estimate": [0.1], "low": [0.05], "high": [0.2]})
    >>> cost_plane(table).get_xscale()
    'log'
    """
    if table["estimate"].isna().all():
        return empty(ax, NO_FACTS)
    ax = ax or plt.subplots()[1]
    shades = colours(table["method"])
    for row in table.to_dict("records"):
        colour = shades[row["method"]]
        level = [row["estimate"]] * 2
        ax.plot([row["forwarded"], row["tokens"]], level, color=GREY, lw=1, zorder=1)
        ends = reach({"y": row["estimate"], "y_low": row["low"], "y_high": row["high"]}, "y")
        name = plain(row["method"])
        ax.errorbar(row["tokens"], row["estimate"], ends, fmt="o", ms=8, color=colour, label=name)
        ax.plot(row["forwarded"], row["estimate"], "o", ms=8, color=colour, mfc="white", mew=2)
    log_scale(ax)
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    ax.set_xlabel("tokens per fact (hollow: shared beginnings read once)")
    ax.set_ylabel("bits per fact")
    legend_above(ax)
    return ax
