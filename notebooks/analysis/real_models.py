"""The four papers' measures of the same models, in pairs: how alike they order them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

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
ACCURACY_MEASURES = tuple(f"multiplicity: {name} accuracy" for name in BENCHMARK_NAMES)
AMBIGUITY_MEASURES = tuple(
    f"multiplicity: {name} ambiguity" for name in BENCHMARK_NAMES
)
BINARY_AMBIGUITY_MEASURES = tuple(
    f"multiplicity: {name} binary ambiguity" for name in BENCHMARK_NAMES
)
MEASURES_BESIDE_LKE = (
    *KNOWING_MEASURES,
    *UNSEEN_MEASURES,
    *MONITOR_MEASURES,
    *ACCURACY_MEASURES,
    *AMBIGUITY_MEASURES,
    *BINARY_AMBIGUITY_MEASURES,
)
HEADLINE_PAIRS = [
    *((LKE_ACCURACY, measure) for measure in MEASURES_BESIDE_LKE),
    *((NCCR_ZERO_SHOT, measure) for measure in ACCURACY_MEASURES),
]
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
MATCH_IN_DOUBT = "match in doubt"
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
    "given_size",
    "given_low",
    "given_high",
)
MeasurePairs = Sequence[tuple[str, str]]


def short_name_of_measure(measure: str) -> str:
    """Name a measure without its paper, where the rest says enough."""
    paper, name = measure.split(": ")
    if paper in ("knowledge bases", "multiplicity"):
        return name
    return f"{paper} {name}"


def _name_of_pair(x: str, y: str) -> str:
    """Name a pair of measures."""
    return f"{short_name_of_measure(x)} × {short_name_of_measure(y)}"


def p_value_in_words(p: float) -> str:
    """Write a p-value; one that was not computed is empty."""
    if np.isnan(p):
        return ""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}"


def correlations_of_measures(
    pairs: MeasurePairs = HEADLINE_PAIRS,
    least: str = "probably",
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Correlate pairs of measures over the models that both papers print, if six.

    ``rho, p`` (Spearman, exact to 16 models), ``low, high`` (families drawn), ``least,
    most`` (rho without each family), ``r`` (Pearson), ``given_size`` (rho given the
    number of parameters).
    """
    table = paper_models.measures_of_all_papers(least)
    rows = [_correlation_row(table, x, y, n_resamples, seed) for x, y in pairs]
    compared = pd.DataFrame(rows)
    return compared.assign(p_holm=stats.holm_adjusted_p_values(compared["p"]))


def _correlation_row(
    table: pd.DataFrame, x: str, y: str, n_resamples: int, seed: int
) -> dict[str, object]:
    """Return the row of a pair of :func:`correlations_of_measures`."""
    models = table.dropna(subset=[x, y])
    n_families = models["family"].nunique()
    row: dict[str, object] = {
        "x": x,
        "y": y,
        "pair": _name_of_pair(x, y),
        "n": len(models),
        "families": n_families,
        "note": NOTE_TOO_FEW_MODELS,
        **dict.fromkeys(NUMERIC_COLUMNS, np.nan),
    }
    if len(models) < stats.FEWEST_MODELS:
        return row
    both = models[[x, y]].to_numpy(dtype=float)
    families = models["family"].to_numpy()
    test = stats.rank_correlation_test(*both.T)
    rank = stats.bootstrap_over_groups(
        both, families, stats.spearman_correlation, n_resamples, seed
    )
    left_out = stats.correlations_without_each_group(*both.T, families, "spearman")
    left_out = left_out.dropna()
    farthest_family = ""
    if len(left_out):
        farthest = (left_out["r"] - test.rho).abs().idxmax()
        farthest_family = left_out.loc[farthest, "without"]
    note = "exact p"
    if test.draws:
        note = "drawn p"
    row |= {"note": note, "rho": test.rho, "p": test.p}
    row |= {"low": rank.low, "high": rank.high, "left_out": rank.left_out}
    row |= {"least": left_out["r"].min(), "most": left_out["r"].max()}
    row["without"] = farthest_family
    pearson = stats.correlation(*both.T)
    row |= {"r": pearson.r, "r_low": pearson.low, "r_high": pearson.high}
    given_size = _correlation_given_size(models, x, y, n_resamples, seed)
    row["given_size"] = given_size.estimate
    row |= {"given_low": given_size.low, "given_high": given_size.high}
    if n_families < FEWEST_FAMILIES:
        row |= dict.fromkeys(("low", "high", "given_low", "given_high"), np.nan)
    base_models = models[models["kind"] == "base"]
    base = _rank_test_of_enough_models(base_models, x, y)
    return row | {"base_n": len(base_models), "base": base.rho}


def _correlation_given_size(
    models: pd.DataFrame, x: str, y: str, n_resamples: int, seed: int
) -> stats.GroupInterval:
    """Return the rank correlation given the number of parameters, families drawn."""
    sized = models.dropna(subset=["billion"])
    columns = [sized[[x, y]], np.log10(sized["billion"])]
    return stats.bootstrap_over_groups(
        np.column_stack(columns).astype(float),
        sized["family"],
        stats.partial_spearman_correlation,
        n_resamples,
        seed,
    )


def correlations_with_ic_lke(
    compared: pd.DataFrame, y: Collection[str]
) -> pd.DataFrame:
    """Return the computed pairs of IC-LKE with other measures."""
    rows = compared[(compared["x"] == LKE_ACCURACY) & compared["y"].isin(list(y))]
    return rows.dropna(subset=["rho"])


def is_clear_correlation(rows: pd.DataFrame, sign: int = 1) -> pd.Series:
    """Return which correlations clearly have a sign, by Holm's p and the interval."""
    nearest = rows["low"]
    if sign < 0:
        nearest = -rows["high"]
    return (rows["p_holm"] < SIGNIFICANCE_LEVEL) & (nearest.round(2) > 0)


def clear_count_and_decision(rows: pd.DataFrame, sign: int = 1) -> tuple[int, str]:
    """Count clear correlations, and decide the claim that all are clear.

    Its opposite holds where some are clear against it and none for it.
    """
    n_clear = int(is_clear_correlation(rows, sign).sum())
    n_against = int(is_clear_correlation(rows, -sign).sum())
    decision = decision_of_claim(
        n_clear == len(rows), n_against > 0 and n_clear == 0, there=len(rows) > 0
    )
    return n_clear, decision


def median_without_interval(values: pd.Series, n: float) -> ShareStatistic:
    """Return a median of correlations, without an interval; n of none is 0."""
    if values.empty:
        return values.median(), np.nan, np.nan, 0
    return values.median(), np.nan, np.nan, int(n)


def strongest_correlation(rows: pd.DataFrame) -> tuple[float, float, float, int]:
    """Return the correlation that is farthest from 0, with its interval."""
    if rows.empty:
        return median_without_interval(rows["rho"], 0)
    row = rows.loc[rows["rho"].abs().idxmax()]
    return row["rho"], row["low"], row["high"], row["n"]


def number_of_models_in_words(n: pd.Series) -> str:
    """Write over how many models correlations are."""
    if n.empty:
        return "0"
    if n.min() == n.max():
        return f"{n.min():.0f}"
    return f"{n.min():.0f} to {n.max():.0f}"


def correlation_range_in_words(rho: pd.Series) -> str:
    """Write the range of correlations, and their median.

    >>> correlation_range_in_words(pd.Series([0.5, 0.9, 0.8]))
    '0.50 to 0.90, median 0.80'
    >>> correlation_range_in_words(pd.Series(dtype=float))
    'not computed'
    """
    if not rho.count():
        return "not computed"
    return f"{rho.min():.2f} to {rho.max():.2f}, median {rho.median():.2f}"


def correlations_for_display(compared: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table of :func:`correlations_of_measures` for reading."""
    rows = []
    for row in compared.itertuples():
        without = ""
        if row.n >= stats.FEWEST_MODELS:
            without = f"{row.least:.2f} to {row.most:.2f} ({row.without})"
        texts = {
            "ρ": result_tables.interval(row.rho, row.low, row.high, digits=2),
            "p": p_value_in_words(row.p),
            "p, Holm": p_value_in_words(row.p_holm),
            "without a family": without,
            "given size": result_tables.interval(
                row.given_size, row.given_low, row.given_high, digits=2
            ),
        }
        rows.append(texts)
    written = pd.DataFrame(rows, index=compared.index)
    names = {"base": "base alone", "r": "Pearson", "note": "note"}
    numbers = compared[list(names)].rename(columns=names)
    return compared[["pair", "n", "families"]].join([written, numbers])


def sensitivity_to_doubtful_matches(
    pairs: MeasurePairs = HEADLINE_PAIRS, least: str = "probably"
) -> pd.DataFrame:
    """Correlate pairs at each certainty of matches, and without each doubtful match."""
    tables = {}
    for certainty in paper_models.MATCH_CERTAINTIES:
        tables[certainty] = paper_models.measures_of_all_papers(certainty)
    rows = []
    for x, y in pairs:
        row = {"x": x, "y": y, "pair": _name_of_pair(x, y)}
        for certainty, table in tables.items():
            test = _rank_test_of_enough_models(table, x, y)
            row[f"n, {certainty}"] = test.n
            row[f"rho, {certainty}"] = test.rho
            row[f"p, {certainty}"] = test.p
        rho = row[f"rho, {least}"]
        rows.append(row | _moves_by_doubtful_matches(tables[least], x, y, least, rho))
    return pd.DataFrame(rows)


def _moves_by_doubtful_matches(
    table: pd.DataFrame, x: str, y: str, least: str, rho: float
) -> dict[str, object]:
    """Return how far leaving out one doubtful match moves a correlation of `rho`."""
    both = table[[x, y]].dropna()
    doubtful = _doubtful_matches((x, y), least)["model"]
    doubtful = doubtful[doubtful.isin(both.index)]
    tests = {}
    for model in doubtful.unique():
        tests[model] = _rank_test_of_enough_models(both.drop(model), x, y)
    left_out = pd.DataFrame(tests, index=stats.RankTest._fields, dtype=float).T
    rhos = left_out["rho"].dropna()
    p_values = left_out["p"].dropna()
    moves = (rhos - rho).abs()
    farthest = ""
    if len(moves):
        farthest = moves.idxmax()
    return {
        "doubtful": len(doubtful),
        "least": rhos.min(),
        "most": rhos.max(),
        "doubt": farthest,
        "moved": moves.max(),
        "smallest": p_values.min(),
        "largest": p_values.max(),
    }


def _rank_test_of_enough_models(table: pd.DataFrame, x: str, y: str) -> stats.RankTest:
    """Return the test of a rank correlation over the models that have both measures."""
    both = table[[x, y]].dropna()
    if len(both) < stats.FEWEST_MODELS:
        return stats.RankTest(np.nan, np.nan, len(both), 0)
    return stats.rank_correlation_test(both[x], both[y])


def correlations_with_model_size(
    measures: Collection[str] = MAIN_MEASURES,
    least: str = "probably",
    seed: int = 0,
    **draws: int,
) -> pd.DataFrame:
    """Correlate measures with the number of parameters, over all models of a paper."""
    table = paper_models.measures_of_all_papers(least)
    rows = []
    for measure in measures:
        sized = table.dropna(subset=[measure, "billion"])
        both = sized[[measure, "billion"]].to_numpy(dtype=float)
        interval = stats.bootstrap_over_groups(
            both, sized["family"], stats.spearman_correlation, seed=seed, **draws
        )
        row = {
            "measure": measure,
            "n": len(sized),
            "families": interval.groups,
            "estimate": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "p": stats.rank_correlation_test(*both.T, seed=seed).p,
        }
        rows.append(row)
    correlations = pd.DataFrame(rows)
    return correlations.assign(p_holm=stats.holm_adjusted_p_values(correlations["p"]))


def models_in_both_papers(
    x: str = LKE_ACCURACY, y: str = NCCR_ZERO_SHOT, least: str = "probably"
) -> pd.DataFrame:
    """Return the models of two papers; ``doubtful``: perhaps of other weights."""
    table = paper_models.measures_of_all_papers(least)
    rows = table[["family", "kind", x, y]].dropna()
    doubtful = _doubtful_matches((x, y), least)["model"]
    rows = rows.assign(doubtful=rows.index.isin(doubtful))
    short_names = {name: short_name_of_measure(name) for name in (x, y)}
    return rows.rename(columns=short_names)


def _doubtful_matches(measures: Collection[str], least: str) -> pd.DataFrame:
    """Return the matches to the measures' papers that may be of other weights."""
    matches = paper_models.model_matches(least)
    papers = paper_models.published_measures()["paper"].reindex(measures)
    is_sure = matches["certainty"] == paper_models.MATCH_CERTAINTIES[0]
    return matches[matches["paper"].isin(papers) & ~is_sure]


def rank_differences_of_models(
    x: str = LKE_ACCURACY, y: str = NCCR_ZERO_SHOT, least: str = "probably"
) -> pd.DataFrame:
    """Return how differently two measures rank each model, largest difference first.

    ``rank_x, rank_y`` are 1 for the best; ``gap`` is between standardised ranks;
    ``known`` says what else is known of the model.
    """
    better = paper_models.published_measures()["better"].replace(0, 1)
    table = paper_models.measures_of_all_papers(least)
    models = table[["family", "kind", x, y]].dropna()
    rank_x = models[x].rank(ascending=better[x] < 0)
    rank_y = models[y].rank(ascending=better[y] < 0)
    doubtful = _doubtful_matches((x, y), least)
    known = []
    for model, row in models.iterrows():
        matches = doubtful[doubtful["model"] == model]
        known.append(_caveats_on_model(row, (x, y), matches))
    models = models.assign(
        rank_x=rank_x,
        rank_y=rank_y,
        gap=_standardised(rank_x) - _standardised(rank_y),
        known=known,
    )
    return models.sort_values("gap", key=np.abs, ascending=False, kind="stable")


def _standardised(rank: pd.Series) -> pd.Series:
    """Return ranks of mean 0 and standard deviation 1."""
    return (rank - rank.mean()) / rank.std(ddof=0)


def _caveats_on_model(
    row: pd.Series, measures: Iterable[str], doubtful: pd.DataFrame
) -> str:
    """Say that a model is tuned, its match in doubt, its accuracy that of guessing."""
    caveats = []
    if row["kind"] == "tuned":
        caveats.append("tuned")
    for match in doubtful.itertuples():
        caveats.append(f"match in {match.paper}: {match.certainty}")
    for measure in measures:
        if row[measure] <= GUESSING_ACCURACY.get(measure, -np.inf):
            caveats.append(f"{short_name_of_measure(measure)} not above guessing")
    return "; ".join(caveats)


def pairs_with_doubtful_matches(
    doubted: pd.DataFrame, least: str
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the pairs with matches to leave out, and where one moves p across 0.05."""
    rows = doubted.dropna(subset=[f"p, {least}", "moved"])
    rows = rows[rows["doubtful"] > 0]
    significant = rows[f"p, {least}"] < SIGNIFICANCE_LEVEL
    is_lost = significant & (rows["largest"] >= SIGNIFICANCE_LEVEL)
    is_won = ~significant & (rows["smallest"] < SIGNIFICANCE_LEVEL)
    return rows, is_lost | is_won


def correlations_where_up_is_better(sized: pd.DataFrame) -> pd.DataFrame:
    """Turn the bounds of measures of which less is better, so that up is better."""
    rows = sized.dropna(subset=["estimate"])
    better = paper_models.published_measures()["better"].reindex(rows["measure"])
    is_up_better = better.replace(0, 1).to_numpy() > 0
    return rows.assign(
        low=np.where(is_up_better, rows["low"], -rows["high"]),
        high=np.where(is_up_better, rows["high"], -rows["low"]),
    )


def comparisons_for_appendix(
    compared: pd.DataFrame, crossed: pd.Series, least: str, **draws: int
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    monitor_pairs = [(LKE_ACCURACY, measure) for measure in MONITOR_MEASURES]
    loose = correlations_of_measures(monitor_pairs, "same family", **draws)
    loose = loose.assign(pair=loose["pair"] + ", same family")
    rows = pd.concat([compared, loose]).dropna(subset=["rho"])
    rows = rows.rename(columns={"rho": "estimate"})
    yield from appendix.labelled_estimates(rows, "ρ of {pair}")
    share = share_without_interval(crossed.sum(), len(crossed))
    yield "pairs that one doubtful match decides", share
    sized = correlations_with_model_size(least=least, **draws)
    sized = correlations_where_up_is_better(sized)
    short_names = sized["measure"].map(short_name_of_measure)
    sized = sized.assign(estimate=sized["estimate"].abs(), short=short_names)
    yield from appendix.labelled_estimates(sized, "better if larger, {short}")


def rank_differences_by_measure(others: Iterable[str], least: str) -> pd.DataFrame:
    """Return how differently IC-LKE and each other measure rank the models."""
    parts = []
    for measure in others:
        ranks = rank_differences_of_models(LKE_ACCURACY, measure, least)
        ranks = ranks.assign(other=short_name_of_measure(measure))
        parts.append(ranks.reset_index())
    return pd.concat(parts)[["model", "other", "rank_x", "rank_y", "gap", "known"]]


def draw_models_by_family(
    table: pd.DataFrame, x: str, y: str, ax: Axes | None = None
) -> Axes:
    """Draw two measures of models, families coloured, kinds marked, doubtful hollow."""
    table = table.dropna(subset=[x, y])
    if table.empty:
        return empty_panel(ax, f"No model has both {x} and {y}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 4.4))
    if "doubtful" not in table:
        table = table.assign(doubtful=False)
    rows = table.reset_index(names="model")
    for row in rows.to_dict("records"):
        colour = family_colour(row["family"])
        face = colour
        if row["doubtful"]:
            face = "white"
        marker = KIND_MARKERS[row["kind"]]
        ax.plot(row[x], row[y], marker, ms=7, color=colour, mfc=face, mew=1.5)
    ax.set(xlabel=drawable_text(x), ylabel=drawable_text(y))
    ax.margins(0.16, 0.12)
    _draw_legends(ax, rows)
    name_points(ax, rows, x, y, "model")
    return ax


def _draw_legends(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw a legend of kinds above the axes, and one of families above it."""
    families = _looks_of_families(rows["family"])
    _draw_legend(ax, families, height=1.07, most_columns=5)
    ax.add_artist(ax.get_legend()).set_clip_on(False)  # else the layout has no room
    kinds = {}
    for kind, marker in KIND_MARKERS.items():
        if kind in set(rows["kind"]):
            kinds[kind] = {"marker": marker}
    if rows["doubtful"].any():
        kinds[MATCH_IN_DOUBT] = {"marker": "o", "mfc": "white"}
    _draw_legend(ax, kinds, height=1, most_columns=3)


def _looks_of_families(families: pd.Series) -> dict[str, dict[str, str]]:
    """Return by name in the legend the look of each family that has its own colour.

    Families of one colour have one name: the first, or "other families", which is last.
    """
    name_of_colour = {}
    for name in sorted(set(families), reverse=True):
        name_of_colour[family_colour(name)] = name
    looks = {}
    for colour, name in sorted(name_of_colour.items(), key=itemgetter(1)):
        if colour != GREY:
            looks[drawable_text(name)] = {"marker": "s", "color": colour}
    if GREY in name_of_colour:
        looks[drawable_text("other families")] = {"marker": "s", "color": GREY}
    return looks


def _draw_legend(
    ax: Axes, looks: Mapping[str, Mapping[str, str]], height: float, most_columns: int
) -> None:
    """Draw a legend of points at a height of the axes, 1 at their upper end."""
    usual = {"color": GREY, "ls": "", "ms": 7, "mew": 1.5}
    handles = []
    for label, look in looks.items():
        handles.append(Line2D([], [], label=label, **{**usual, **look}))
    ax.legend(
        handles=handles,
        ncols=min(most_columns, len(handles)),
        loc="lower right",
        bbox_to_anchor=(1, height),
        borderaxespad=0.3,
        columnspacing=1.0,
        handletextpad=0.2,
    )


def draw_correlation_robustness(compared: pd.DataFrame) -> Axes:
    """Draw correlations with intervals, at equal size, and without a family."""
    given_size = "ρ at equal size"
    rows = compared.dropna(subset=["rho"])
    rows = rows.rename(columns={"rho": "estimate", "given_size": given_size})
    rows = rows.assign(label=rows["y"].map(short_name_of_measure))
    ax = shared_figures.forest_plot(
        rows, mark=given_size, xlabel="ρ with IC-LKE accuracy"
    )
    if rows.empty:
        return ax
    places = range(len(rows))
    label = "lowest and highest without a family"
    ax.plot(rows["least"], places, "|", color=INK, ms=9, label=label)
    ax.plot(rows["most"], places, "|", color=INK, ms=9)
    ax.set_xticks(np.linspace(-1, 1, 5))
    put_legend_above(ax)
    return ax
