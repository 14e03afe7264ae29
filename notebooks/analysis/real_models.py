"""The four papers' measures of the same models, two at a time: how alike they order them."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from helpers import stats
from notebooks.kit import appendix
from notebooks.kit.claims_by_count import (
    ShareStatistic,
    decision_of_claim,
    share_without_interval,
)
from notebooks.kit.plots import result_tables, shared_figures
from notebooks.kit.plots.scatters import name_points
from notebooks.kit.plots.style import (
    GREY,
    INK,
    drawable_text,
    empty_panel,
    family_colour,
    put_legend_above,
)
from notebooks.kit.published import paper_models
from notebooks.kit.published.knowledge_base import PROMPT_SETTINGS

NOTE_TOO_FEW_MODELS = "not computed: fewer than six models"
LKE_ACCURACY = "IC-LKE: accuracy"
KNOWING_MEASURES = tuple(
    f"knowledge bases: {name}, {setting}"
    for setting in PROMPT_SETTINGS
    for name in ("CR", "NCR", "NCCR")
)
NCCR_ZERO_SHOT = "knowledge bases: NCCR, zero-shot"
UNSEEN_MEASURES = ("knowledge bases: UR, zero-shot", "knowledge bases: IUR, zero-shot")
MONITOR_MEASURES = ("MONITOR: score", "MONITOR: mean accuracy")
BENCHMARK_NAMES = (
    "TruthfulQA",
    "Wiki-FACTOR",
    "Med-HALT",
    "CommonsenseQA",
    "FEVER",
    "True-False",
)
ACCURACY_MEASURES, AMBIGUITY_MEASURES, BINARY_AMBIGUITY_MEASURES = (
    tuple(f"multiplicity: {name} {what}" for name in BENCHMARK_NAMES)
    for what in ("accuracy", "ambiguity", "binary ambiguity")
)
HEADLINE_PAIRS = [
    (LKE_ACCURACY, y)
    for y in (
        *KNOWING_MEASURES,
        *UNSEEN_MEASURES,
        *MONITOR_MEASURES,
        *ACCURACY_MEASURES,
        *AMBIGUITY_MEASURES,
        *BINARY_AMBIGUITY_MEASURES,
    )
]
HEADLINE_PAIRS += [(NCCR_ZERO_SHOT, y) for y in ACCURACY_MEASURES]
MAIN_MEASURES = (
    MONITOR_MEASURES[0],
    NCCR_ZERO_SHOT,
    UNSEEN_MEASURES[0],
    LKE_ACCURACY,
    *ACCURACY_MEASURES,
    *AMBIGUITY_MEASURES,
)
FEWEST_FAMILIES = 3  # below, too few different draws for an interval
SIGNIFICANCE_LEVEL = 0.05
# Accuracy of one who guesses: one of 100 objects in IC-LKE, one of two answers in
# True-False.
GUESSING_ACCURACY = {LKE_ACCURACY: 0.01, "multiplicity: True-False accuracy": 0.5}
KIND_MARKERS = {"base": "o", "tuned": "^"}
# What is not a number where there are too few models.
NUMERIC_COLUMNS = (
    "rho",
    "p",
    "low",
    "high",
    "least",
    "most",
    "r",
    "r_low",
    "r_high",
    "base",
)
NUMERIC_COLUMNS += ("given_size", "given_low", "given_high")
MeasurePairs = Sequence[tuple[str, str]]


def short_name_of_measure(measure: str) -> str:
    """Name a measure without its paper, where the rest says enough."""
    paper, name = measure.split(": ")
    return name if paper in ("knowledge bases", "multiplicity") else f"{paper} {name}"


def p_value_in_words(p: float) -> str:
    """Write a p-value; one that was not computed is empty."""
    return "" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def correlations_of_measures(
    pairs: MeasurePairs = HEADLINE_PAIRS,
    least: str = "probably",
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Correlate pairs of measures over the models that both papers print, if there are six.

    ``rho, p`` (Spearman, exact to 16 models), ``low, high`` (families drawn), ``least,
    most`` (rho without each family), ``r`` (Pearson), ``given_size`` (rho given the
    number of parameters).
    """
    table = paper_models.measures_of_all_papers(least)
    found = pd.DataFrame([_compared(table, x, y, n_resamples, seed) for x, y in pairs])
    return found.assign(p_holm=stats.holm_adjusted_p_values(found["p"]))


def _compared(table: pd.DataFrame, x: str, y: str, n_resamples: int, seed: int) -> dict:
    rows = table.dropna(subset=[x, y])
    both, family = rows[[x, y]].to_numpy(dtype=float), rows["family"].to_numpy()
    row = {
        "x": x,
        "y": y,
        "pair": f"{short_name_of_measure(x)} × {short_name_of_measure(y)}",
        "n": len(rows),
    }
    row |= {"families": rows["family"].nunique(), "note": NOTE_TOO_FEW_MODELS}
    row |= dict.fromkeys(NUMERIC_COLUMNS, np.nan)
    if len(rows) < stats.FEWEST_MODELS:
        return row
    test, line = stats.rank_correlation_test(*both.T), stats.correlation(*both.T)
    drawn = stats.bootstrap_over_groups(
        both, family, stats.spearman_correlation, n_resamples, seed
    )
    left = stats.correlations_without_each_group(*both.T, family, "spearman").dropna()
    far = (
        left.loc[(left["r"] - test.rho).abs().idxmax(), "without"] if len(left) else ""
    )
    sized = rows.dropna(subset=["billion"])
    three = np.column_stack([sized[[x, y]], np.log10(sized["billion"])]).astype(float)
    families, partial = sized["family"], stats.partial_spearman_correlation
    given = stats.bootstrap_over_groups(three, families, partial, n_resamples, seed)
    base = both[(rows["kind"] == "base").to_numpy()]
    row |= {"rho": test.rho, "p": test.p, "low": drawn.low, "high": drawn.high}
    row |= {
        "left_out": drawn.left_out,
        "note": "exact p" if not test.draws else "drawn p",
    }
    row |= {"least": left["r"].min(), "most": left["r"].max(), "without": far}
    row |= {"r": line.r, "r_low": line.low, "r_high": line.high}
    row |= {
        "given_size": given.estimate,
        "given_low": given.low,
        "given_high": given.high,
    }
    if row["families"] < FEWEST_FAMILIES:
        row |= dict.fromkeys(("low", "high", "given_low", "given_high"), np.nan)
    alone = (
        stats.rank_correlation_test(*base.T).rho
        if len(base) >= stats.FEWEST_MODELS
        else np.nan
    )
    return row | {"base_n": len(base), "base": alone}


def correlations_with_ic_lke(
    compared: pd.DataFrame, y: Collection[str]
) -> pd.DataFrame:
    """Return the computed pairs of IC-LKE with other measures."""
    rows = compared[(compared["x"] == LKE_ACCURACY) & compared["y"].isin(list(y))]
    return rows.dropna(subset=["rho"])


def is_clear_correlation(rows: pd.DataFrame, sign: int = 1) -> pd.Series:
    """Return which correlations have a sign clearly, by Holm's p and by the interval as written."""
    near = (rows["low"] if sign > 0 else -rows["high"]).round(2)
    return (rows["p_holm"] < SIGNIFICANCE_LEVEL) & (near > 0)


def clear_count_and_decision(rows: pd.DataFrame, sign: int = 1) -> tuple[int, str]:
    """Count clear correlations: a claim about all holds, or some go against it and none with it."""
    k, other = (
        int(is_clear_correlation(rows, sign).sum()),
        int(is_clear_correlation(rows, -sign).sum()),
    )
    return k, decision_of_claim(
        k == len(rows), bool(other and not k), there=len(rows) > 0
    )


def median_without_interval(values: pd.Series, n: float) -> ShareStatistic:
    """Return a median of correlations as a statistic without an interval; n of none is 0."""
    return values.median(), np.nan, np.nan, int(n) if len(values) else 0


def strongest_correlation(rows: pd.DataFrame) -> tuple:
    """Return the correlation that is farthest from 0, with its interval."""
    if rows.empty:
        return median_without_interval(rows["rho"], 0)
    row = rows.loc[rows["rho"].abs().idxmax()]
    return row["rho"], row["low"], row["high"], row["n"]


def number_of_models_in_words(n: pd.Series) -> str:
    """Write over how many models correlations are."""
    ends = sorted({n.min(), n.max()}) if len(n) else [0]
    return " to ".join(f"{end:.0f}" for end in ends)


def correlation_range_in_words(rho: pd.Series) -> str:
    """Write the range of correlations, and their median.

    >>> correlation_range_in_words(pd.Series([0.5, 0.9, 0.8])), correlation_range_in_words(pd.Series(dtype=float))
    ('0.50 to 0.90, median 0.80', 'not computed')
    """
    words = f"{rho.min():.2f} to {rho.max():.2f}, median {rho.median():.2f}"
    return words if rho.count() else "not computed"


def correlations_for_display(compared: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table of :func:`correlations_of_measures` for reading."""

    def written(*names: str) -> list[str]:
        return [
            result_tables.interval(*row, digits=2)
            for row in compared[list(names)].to_numpy()
        ]

    without = [
        f"{row.least:.2f} to {row.most:.2f} ({row.without})"
        if row.n >= stats.FEWEST_MODELS
        else ""
        for row in compared.itertuples()
    ]
    columns = {
        "ρ": written("rho", "low", "high"),
        "p": compared["p"].map(p_value_in_words),
    }
    columns |= {
        "p, Holm": compared["p_holm"].map(p_value_in_words),
        "without a family": without,
    }
    columns |= {"given size": written("given_size", "given_low", "given_high")}
    columns |= {
        "base alone": compared["base"],
        "Pearson": compared["r"],
        "note": compared["note"],
    }
    return compared[["pair", "n", "families"]].assign(**columns)


def sensitivity_to_doubtful_matches(
    pairs: MeasurePairs = HEADLINE_PAIRS, least: str = "probably"
) -> pd.DataFrame:
    """Correlate pairs of measures at each certainty, and without each doubtful match in turn."""
    tables = {
        name: paper_models.measures_of_all_papers(name)
        for name in paper_models.MATCH_CERTAINTIES
    }
    rows = []
    for x, y in pairs:
        row = {
            "x": x,
            "y": y,
            "pair": f"{short_name_of_measure(x)} × {short_name_of_measure(y)}",
        }
        for name, table in tables.items():
            both = table[[x, y]].dropna()
            rho, p, n, _ = _tested(both, x, y)
            row |= {f"n, {name}": n, f"rho, {name}": rho, f"p, {name}": p}
        both = tables[least][[x, y]].dropna()
        here = _unsure((x, y), least)["model"]
        here = here[here.isin(both.index)]
        left = {each: _tested(both.drop(each), x, y) for each in here.unique()}
        left = pd.DataFrame(left, index=stats.RankTest._fields, dtype=float).T
        rhos, ps = left["rho"].dropna(), left["p"].dropna()
        far = (rhos - row[f"rho, {least}"]).abs()
        row |= {"doubtful": len(here), "least": rhos.min(), "most": rhos.max()}
        row |= {"doubt": far.idxmax() if len(far) else "", "moved": far.max()}
        rows.append(row | {"smallest": ps.min(), "largest": ps.max()})
    return pd.DataFrame(rows)


def _tested(both: pd.DataFrame, x: str, y: str) -> stats.RankTest:
    """Test a rank correlation over enough models."""
    if len(both) < stats.FEWEST_MODELS:
        return stats.RankTest(np.nan, np.nan, len(both), 0)
    return stats.rank_correlation_test(both[x], both[y])


def correlations_with_model_size(
    measures: Collection[str] = MAIN_MEASURES,
    least: str = "probably",
    seed: int = 0,
    **draws: int,
) -> pd.DataFrame:
    """Correlate measures with the number of parameters, over all models that a paper prints."""
    table = paper_models.measures_of_all_papers(least)
    rows = []
    for measure in measures:
        part = table.dropna(subset=[measure, "billion"])
        both = part[[measure, "billion"]].to_numpy(dtype=float)
        drawn = stats.bootstrap_over_groups(
            both, part["family"], stats.spearman_correlation, seed=seed, **draws
        )
        row = {"measure": measure, "n": len(part), "families": drawn.groups}
        row |= {"estimate": drawn.estimate, "low": drawn.low, "high": drawn.high}
        rows.append(row | {"p": stats.rank_correlation_test(*both.T, seed=seed).p})
    found = pd.DataFrame(rows)
    return found.assign(p_holm=stats.holm_adjusted_p_values(found["p"]))


def models_in_both_papers(
    x: str = LKE_ACCURACY, y: str = NCCR_ZERO_SHOT, least: str = "probably"
) -> pd.DataFrame:
    """Return the models that two papers print; ``doubtful``: a match may be of other weights."""
    rows = paper_models.measures_of_all_papers(least)[["family", "kind", x, y]].dropna()
    unsure = _unsure((x, y), least)["model"]
    return rows.assign(doubtful=rows.index.isin(unsure)).rename(
        columns={x: short_name_of_measure(x), y: short_name_of_measure(y)}
    )


def _unsure(measures: Collection[str], least: str) -> pd.DataFrame:
    """Return the matches to the papers of some measures that may be of other weights."""
    found = paper_models.model_matches(least)
    papers = paper_models.published_measures()["paper"].reindex(measures)
    return found[
        found["paper"].isin(papers)
        & (found["certainty"] != paper_models.MATCH_CERTAINTIES[0])
    ]


def rank_differences_of_models(
    x: str = LKE_ACCURACY, y: str = NCCR_ZERO_SHOT, least: str = "probably"
) -> pd.DataFrame:
    """Return how differently two measures rank each model, the largest difference first."""
    better = paper_models.published_measures()["better"].replace(0, 1)
    rows = paper_models.measures_of_all_papers(least)[["family", "kind", x, y]].dropna()
    rank_x, rank_y = (rows[name].rank(ascending=better[name] < 0) for name in (x, y))
    standard = [(rank - rank.mean()) / rank.std(ddof=0) for rank in (rank_x, rank_y)]
    found = rows.assign(rank_x=rank_x, rank_y=rank_y, gap=standard[0] - standard[1])
    unsure, known = _unsure((x, y), least), []
    for model, row in rows.iterrows():
        parts = ["tuned"] if row["kind"] == "tuned" else []
        matches = unsure[unsure["model"] == model].itertuples()
        parts += [f"match in {each.paper}: {each.certainty}" for each in matches]
        guessed = [
            each for each in (x, y) if row[each] <= GUESSING_ACCURACY.get(each, -np.inf)
        ]
        known.append(
            "; ".join(
                parts
                + [
                    f"{short_name_of_measure(each)} not above guessing"
                    for each in guessed
                ]
            )
        )
    found = found.assign(known=known)
    return found.sort_values("gap", key=np.abs, ascending=False, kind="stable")


def pairs_with_doubtful_matches(
    doubted: pd.DataFrame, least: str
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the pairs with matches to leave out, and in which one of these moves p across 0.05."""
    rows = doubted.dropna(subset=[f"p, {least}", "moved"])
    rows = rows[rows["doubtful"] > 0]
    before = rows[f"p, {least}"] < SIGNIFICANCE_LEVEL
    return rows, before & (rows["largest"] >= SIGNIFICANCE_LEVEL) | ~before & (
        rows["smallest"] < SIGNIFICANCE_LEVEL
    )


def correlations_where_up_is_better(sized: pd.DataFrame) -> pd.DataFrame:
    """Turn the correlations of measures of which a lower one is better, so that up is better."""
    rows = sized.dropna(subset=["estimate"])
    up = (
        paper_models.published_measures()["better"]
        .reindex(rows["measure"])
        .replace(0, 1)
        .to_numpy()
        > 0
    )
    low, high = (
        np.where(up, rows["low"], -rows["high"]),
        np.where(up, rows["high"], -rows["low"]),
    )
    return rows.assign(low=low, high=high)


def comparisons_for_appendix(
    compared: pd.DataFrame, crossed: pd.Series, least: str, **draws: int
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    loose = correlations_of_measures(
        [(LKE_ACCURACY, y) for y in MONITOR_MEASURES], "same family", **draws
    )
    pairs = pd.concat([compared, loose.assign(pair=loose["pair"] + ", same family")])
    rows = pairs.dropna(subset=["rho"]).rename(columns={"rho": "estimate"})
    yield from appendix.labelled_estimates(rows, "ρ of {pair}")
    yield (
        "pairs that one doubtful match decides",
        share_without_interval(crossed.sum(), len(crossed)),
    )
    sized = correlations_where_up_is_better(
        correlations_with_model_size(least=least, **draws)
    )
    sized = sized.assign(
        estimate=sized["estimate"].abs(),
        short=sized["measure"].map(short_name_of_measure),
    )
    yield from appendix.labelled_estimates(sized, "better if larger, {short}")


def rank_differences_by_measure(others: Iterable[str], least: str) -> pd.DataFrame:
    """Tell how differently IC-LKE and each other measure rank the models."""
    parts = [
        rank_differences_of_models(LKE_ACCURACY, y, least)
        .assign(other=short_name_of_measure(y))
        .reset_index()
        for y in others
    ]
    return pd.concat(parts)[["model", "other", "rank_x", "rank_y", "gap", "known"]]


def draw_models_by_family(
    table: pd.DataFrame, x: str, y: str, ax: Axes | None = None
) -> Axes:
    """Draw two measures of models, coloured by family, marked by kind; ``doubtful`` hollow."""
    table = table.dropna(subset=[x, y])
    if table.empty:
        return empty_panel(ax, f"No model has both {x} and {y}.")
    ax = ax or plt.subplots(figsize=(6, 4.4))[1]
    rows = table.assign(doubtful=table.get("doubtful", False)).reset_index(
        names="model"
    )
    for row in rows.to_dict("records"):
        colour = family_colour(row["family"])
        face = "white" if row["doubtful"] else colour
        ax.plot(
            row[x],
            row[y],
            KIND_MARKERS[row["kind"]],
            ms=7,
            color=colour,
            mfc=face,
            mew=1.5,
        )
    ax.set(xlabel=drawable_text(x), ylabel=drawable_text(y))
    ax.margins(0.16, 0.12)
    _legends(ax, rows)
    name_points(ax, rows, x, y, "model")
    return ax


def _legends(ax: Axes, rows: pd.DataFrame) -> None:
    look = {"color": GREY, "ls": "", "ms": 7, "mew": 1.5}
    kinds = {
        kind: {"marker": KIND_MARKERS[kind]}
        for kind in KIND_MARKERS
        if kind in set(rows["kind"])
    }
    if rows["doubtful"].any():
        kinds["match in doubt"] = {"marker": "o", "mfc": "white"}
    named = {
        family_colour(name): name for name in sorted(set(rows["family"]), reverse=True)
    }
    named |= {GREY: "other families"} if GREY in named else {}
    order = sorted(named.items(), key=lambda item: (item[0] == GREY, item[1]))
    families = {
        drawable_text(name): {"marker": "s", "color": colour} for colour, name in order
    }
    spaces = {"borderaxespad": 0.3, "columnspacing": 1.0, "handletextpad": 0.2}
    for part, most, height in ((families, 5, 1.07), (kinds, 3, 1)):
        if above := ax.get_legend():
            ax.add_artist(above).set_clip_on(False)  # else the layout leaves it no room
        handles = [
            Line2D([], [], label=name, **look | own) for name, own in part.items()
        ]
        place = {"loc": "lower right", "bbox_to_anchor": (1, height)}
        ax.legend(handles=handles, ncols=min(most, len(handles)), **place, **spaces)


def draw_correlation_robustness(compared: pd.DataFrame) -> Axes:
    """Draw correlations with their intervals, their values at equal size and without a family."""
    names = {"rho": "estimate", "given_size": "ρ at equal size"}
    rows = compared.dropna(subset=["rho"]).rename(columns=names)
    rows = rows.assign(label=rows["y"].map(short_name_of_measure))
    ax = shared_figures.forest_plot(
        rows, mark="ρ at equal size", xlabel="ρ with IC-LKE accuracy"
    )
    if len(rows):
        for column, label in (
            ("least", "lowest and highest without a family"),
            ("most", None),
        ):
            ax.plot(rows[column], range(len(rows)), "|", color=INK, ms=9, label=label)
        ax.set_xticks(np.linspace(-1, 1, 5))
        put_legend_above(ax)
    return ax
