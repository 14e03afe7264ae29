"""Methods compared on the same facts: each one's figure, and how far it is behind."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import stats
from helpers.metrics import roc_curve
from helpers.stats import agreement
from notebooks.analysis.calibration_verdicts import (
    ASKED_ONCE,
    METHOD_TITLES,
    PLAIN_WORDING,
    UNREAD_WORDINGS,
    column_by_fact,
    column_by_model_and_method,
    scores_of_asking_once,
    verdicts_of_asking_once,
)
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    EXPOSURE_CONTRASTS,
    SHOWN_OR_NEVER,
    ExposureLevels,
)

EQUIVALENCE_MARGIN = 0.02  # of an area: what counts as better at all
FALSE_ALARM_RATE = 0.05  # the share of false alarms at which methods are compared
NO_ESTIMATE = (float("nan"),) * 3
ESTIMATE_COLUMNS = ["estimate", "low", "high", "n"]
GAP_COLUMNS = ["behind", "behind_low", "behind_high"]
LEAD_COLUMNS = ["lead", "lead_low", "lead_high"]
METHOD_COMPARISON_COLUMNS = [
    "model",
    "method",
    *ESTIMATE_COLUMNS,
    *GAP_COLUMNS,
    "tied",
    *LEAD_COLUMNS,
    "leader",
]
COMPARED_PARTS = (  # of a method: what it takes for knowledge, and for stability
    ("MONITOR: anchor", "MONITOR: deviation"),
    ("multiplicity: accuracy", "multiplicity: self-consistency"),
)
# With every prompt read in full a list would be read again for each of its hundred
# objects.
TOKEN_QUESTION = (
    "Which is most informative per token, if shared beginnings are read once?"
)

ArrayMeasure = Callable[[np.ndarray], np.ndarray]
MethodWeights = Mapping[tuple[str, str], float]  # by model and method
# Question: the figure that answers it, and which method has which.
QuestionComparisons = Mapping[str, tuple[str, pd.DataFrame]]


def compare_methods(
    wide: pd.DataFrame,
    truth: pd.Series,
    measure: ArrayMeasure,
    relation: pd.Series,
    *,
    scale: MethodWeights | None = None,
    leader: str = "",
    n_rivals: int | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure methods by model and on average, and compare each with the best.

    `leader` is named in advance: it is compared with each other method, in intervals
    that hold all at once, so that it does not matter which of them turns out best.

    All are computed on the same bootstrap samples of facts, drawn within relations
    among those of the same truth.

    Parameters
    ----------
    wide
        A row a fact, a column a model and method
        (:func:`~notebooks.analysis.calibration_verdicts.column_by_model_and_method`).
    truth
        What each fact is to be told by, such as 1 if a model was shown it, else 0.
    measure
        From arrays of shape (..., facts, 3), score, truth and the relation as a whole
        number, to figures, shape (...). It may have ``bounds``, a function that returns
        its intervals.
    relation
        Of each fact.
    scale
        A factor of the figures of a model and method, 1 where none is given.
    leader
        A method, or none.
    n_rivals
        How many comparisons with the leader hold at once; by default all in `wide`.

    Returns
    -------
    DataFrame
        `METHOD_COMPARISON_COLUMNS`, a row a model and method, then the means over
        models. ``behind`` is the best figure of the model less this one; ``tied``
        says that it is not clearly above 0: the methods that may be the best (Hsu 1981,
        with Bonferroni's intervals). ``lead`` is the figure of the leader less this
        one.
    """
    if wide.empty:
        return _no_comparison()
    pairs = list(wide.columns)
    methods = list(dict.fromkeys(method for _, method in pairs))
    figures = _figures_by_pair_and_method(pairs, methods, measure, scale or {})
    marks = truth.loc[wide.index].to_numpy(dtype=float)
    relations, _ = pd.factorize(relation.loc[wide.index])
    values = np.column_stack([wide.to_numpy(dtype=float), marks, relations])
    layers, _ = pd.factorize(pd.MultiIndex.from_arrays([relations, marks]))
    estimates = figures(values)
    draws = stats.bootstrap_replicates(values, figures, layers, n_resamples, seed)

    means = [("mean", method) for method in methods]
    rows = pd.DataFrame([*pairs, *means], columns=["model", "method"])
    rows["estimate"] = estimates
    rows["n"] = len(values)
    own_bounds = getattr(measure, "bounds", None)
    if own_bounds:
        rows["low"], rows["high"] = own_bounds(estimates, draws, values)
    else:
        rows["low"], rows["high"] = stats.interval_bounds(draws, len(values), layers)
    level = stats.simultaneous_level(n_rivals or len(methods) - 1)
    for places in rows.groupby("model").indices.values():
        best = places[np.nan_to_num(estimates[places], nan=-np.inf).argmax()]
        rows.loc[places, "behind"] = estimates[best] - estimates[places]
        gaps = draws[:, [best]] - draws[:, places]
        low, high = stats.interval_bounds(gaps, len(values), layers, level=level)
        rows.loc[places, "behind_low"] = low
        rows.loc[places, "behind_high"] = high
    rows["tied"] = ~(rows["behind_low"] > 0)
    rows[LEAD_COLUMNS] = np.nan
    rows["leader"] = leader
    for places in rows.groupby("model").indices.values():
        of_leader = places[rows.loc[places, "method"] == leader]
        others = np.setdiff1d(places, of_leader)
        if not len(of_leader) or not len(others):
            continue
        rows.loc[others, "lead"] = estimates[of_leader] - estimates[others]
        leads = draws[:, of_leader] - draws[:, others]
        low, high = stats.interval_bounds(leads, len(values), layers, level=level)
        rows.loc[others, "lead_low"] = low
        rows.loc[others, "lead_high"] = high
    return rows[METHOD_COMPARISON_COLUMNS]


def _no_comparison() -> pd.DataFrame:
    """Return the comparison of methods on no facts."""
    kinds = dict.fromkeys(METHOD_COMPARISON_COLUMNS[2:], float)
    kinds |= {"n": int, "tied": bool, "leader": str}
    return pd.DataFrame(columns=METHOD_COMPARISON_COLUMNS).astype(kinds)


def _figures_by_pair_and_method(
    pairs: list[tuple[str, str]],
    methods: list[str],
    measure: ArrayMeasure,
    scale: MethodWeights,
) -> ArrayMeasure:
    """Return a statistic: the figure of each model and method, then each method's mean.

    It reads arrays of shape (..., facts, pairs + 2), whose last columns are the truth
    and the relation.
    """

    def figures(values: np.ndarray) -> np.ndarray:
        truth = values[..., -2]
        relation = values[..., -1]
        of_pairs = []
        for place, pair in enumerate(pairs):
            scored = np.stack([values[..., place], truth, relation], axis=-1)
            of_pairs.append(measure(scored) * scale.get(pair, 1.0))
        means = []
        for method in methods:
            of_method = [
                figure
                for (_, name), figure in zip(pairs, of_pairs, strict=True)
                if name == method
            ]
            means.append(np.mean(of_method, axis=0))
        return np.stack([*of_pairs, *means], axis=-1)

    return figures


def areas_by_method(
    table: pd.DataFrame,
    column: str,
    contrast: str,
    measure: ArrayMeasure = roc_curve.area_within_relations,
    *,
    ties_of: str = "",
    leader: str = "",
    n_rivals: int | None = None,
    **draw: int,
) -> pd.DataFrame:
    """Measure how well a column tells facts of different exposure apart, by method.

    The area is over pairs of the same relation, unless `measure` is another figure.
    Asking once gets as few different scores as the method `ties_of` has.
    """
    rows = table[table[contrast].notna()]
    wide = column_by_model_and_method(rows, column)
    for model, method in wide.columns:
        if method == ASKED_ONCE and (model, ties_of) in wide:
            place = wide[model, method].rank(method="first").astype(int) - 1
            wide[model, method] = np.sort(wide[model, ties_of])[place]
    wide = wide.rank(method="dense") - 1  # areas and shares found rest on the order
    label = column_by_fact(rows, wide.index, contrast)
    relation = column_by_fact(rows, wide.index, "relation")
    areas = compare_methods(
        wide, label, measure, relation, leader=leader, n_rivals=n_rivals, **draw
    )
    return areas.assign(contrast=contrast)


def areas_by_level(
    table: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS, **draw: int
) -> pd.DataFrame:
    """Measure the areas of scores at each level of exposure, against the lowest one."""
    lowest, *higher = levels.groups
    parts = []
    for group in higher:
        rows = table[table["group"].isin([lowest, group])]
        in_group = (rows["group"] == group).astype(float)
        areas = areas_by_method(
            rows.assign(in_group=in_group), "score", "in_group", **draw
        )
        parts.append(areas.assign(contrast=f"{group} / {lowest}"))
    return pd.concat(parts, ignore_index=True)


def areas_pooled_and_within_relations(
    table: pd.DataFrame, contrast: str, **draw: int
) -> pd.DataFrame:
    """Measure areas in three ways: within relations, relations alike, and pooled."""
    measures = {
        "pairs of the same relation": roc_curve.area_within_relations,
        "each relation counts alike": roc_curve.mean_area_of_relations,
        "all pairs, relations pooled": area_over_all_pairs,
    }
    parts = []
    for name, measure in measures.items():
        areas = areas_by_method(table, "score", contrast, measure, **draw)
        parts.append(areas.assign(pairs=name))
    return pd.concat(parts, ignore_index=True)


def area_over_all_pairs(values: np.ndarray) -> np.ndarray:
    """Compute the area of arrays of shape (..., facts, 3), whatever the relation."""
    return roc_curve.area_under_roc_curve(values[..., :2])


def areas_of_method_pairs(
    table: pd.DataFrame, contrast: str, **draw: int
) -> pd.DataFrame:
    """Compare all methods two by two, each with those after it; all hold at once."""
    methods = list(table["method"].unique())
    n_pairs = len(methods) * (len(methods) - 1) // 2
    parts = []
    for place, leader in enumerate(methods[:-1]):
        rows = table[table["method"].isin(methods[place:])]
        areas = areas_by_method(
            rows, "score", contrast, leader=leader, n_rivals=n_pairs, **draw
        )
        parts.append(areas)
    if not parts:
        return _no_comparison()
    return pd.concat(parts, ignore_index=True)


def areas_of_compared_parts(
    parts: pd.DataFrame, contrasts: Sequence[str], **draw: int
) -> pd.DataFrame:
    """Compare the areas of a method's parts, two by two: the first is the leader."""
    compared = []
    for contrast in contrasts:
        for first, second in COMPARED_PARTS:
            pair = parts[parts["method"].isin([first, second])]
            areas = areas_by_method(pair, "score", contrast, leader=first, **draw)
            compared.append(areas)
    return pd.concat(compared, ignore_index=True)


def sensitivity_at_alarm_rate(values: np.ndarray) -> np.ndarray:
    """Compute the share of facts above found where few of those below are found.

    `FALSE_ALARM_RATE` of those below are. Of scores tied at the threshold such a part
    counts that the share is met.

    >>> scores = np.array([[3.0, 1], [1.0, 1], [2.0, 0], [0.0, 0]])
    >>> float(sensitivity_at_alarm_rate(scores))
    0.5
    >>> float(sensitivity_at_alarm_rate(np.minimum(scores, [[2.0, 1.0]])))
    0.05
    """
    score = values[..., 0]
    above = values[..., 1] > 0
    descending = np.sort(np.where(above, -np.inf, score), axis=-1)[..., ::-1]
    alarms = FALSE_ALARM_RATE * (~above).sum(axis=-1, keepdims=True)
    place = np.maximum(np.ceil(alarms), 1).astype(int) - 1
    threshold = np.take_along_axis(descending, place, axis=-1)
    n_over = (descending > threshold).sum(axis=-1, keepdims=True)
    n_tied = (descending == threshold).sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        tied_part = (score == threshold) * (alarms - n_over) / n_tied
        counted = (score > threshold) + tied_part
        share = (counted * above).sum(axis=-1) / above.sum(axis=-1)
    return np.where((~above).any(axis=-1), share, np.nan)


def mean_verdicts_by_method(
    table: pd.DataFrame, column: str, draw: dict[str, int], leader: str = ""
) -> pd.DataFrame:
    """Compare methods' mean verdicts on some facts, `draw` for `compare_methods`."""
    wide = column_by_model_and_method(table, column)
    relation = column_by_fact(table, wide.index, "relation")
    same_truth = pd.Series(1.0, index=wide.index)
    means = compare_methods(
        wide, same_truth, _mean_score, relation, leader=leader, **draw
    )
    return with_wilson_intervals(means)


def _mean_score(values: np.ndarray) -> np.ndarray:
    """Average the scores of arrays of shape (..., facts, 3)."""
    return values[..., 0].mean(axis=-1)


def with_wilson_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Give shares of none and of all Wilson's interval: resampling gives them none."""
    rows = rows.copy()
    for place, row in rows[rows["estimate"].isin((0.0, 1.0))].iterrows():
        n = int(row["n"])
        interval = stats.wilson_interval(int(row["estimate"] * row["n"]), n)
        rows.loc[place, ["low", "high"]] = interval.low, interval.high
    return rows


def comparison_by_question(
    plain: pd.DataFrame,
    misled: pd.DataFrame,
    tokens: pd.DataFrame,
    levels: ExposureLevels = ATLAS_LEVELS,
    **draw: int,
) -> QuestionComparisons:
    """Compare the methods, and asking once, for each question of a reader's.

    `misled` has the verdicts on facts that the text also states falsely, `tokens` what
    each model and method takes for a fact.
    """
    asked_once = scores_of_asking_once(plain, PLAIN_WORDING | UNREAD_WORDINGS)
    scored = pd.concat([plain, asked_once])
    comparisons = {}
    # The last question is about all that was shown, at a fixed rate of false alarms.
    for question, contrast in zip(levels.questions, EXPOSURE_CONTRASTS, strict=False):
        areas = areas_by_method(scored, "score", contrast, **draw)
        comparisons[question] = f"AUC, {contrast}", areas
    shares = areas_by_method(
        scored, "score", SHOWN_OR_NEVER, sensitivity_at_alarm_rate, **draw
    )
    figure = f"share found with {100 * FALSE_ALARM_RATE:.0f} % of the others"
    comparisons[levels.questions[-1]] = figure, with_wilson_intervals(shares)
    keyless = areas_by_method(plain, "blind", SHOWN_OR_NEVER, **draw)
    question = "What if there is no answer key?"
    comparisons[question] = "AUC of the keyless score", keyless
    if levels is ATLAS_LEVELS:
        more_often_false = misled[misled["false_exposures"] > misled["exposures"]]
        asked_once = verdicts_of_asking_once(more_often_false)
        verdicts = pd.concat([more_often_false, asked_once])
        named = mean_verdicts_by_method(verdicts, "misled", draw)
        question = "Does the model hold the false belief?"
        comparisons[question] = "false object named", named
    bits = _bits_per_thousand_tokens(plain, tokens, **draw)
    comparisons[TOKEN_QUESTION] = "bits per 1,000 tokens forwarded", bits
    return comparisons


def _bits_per_thousand_tokens(
    plain: pd.DataFrame, tokens: pd.DataFrame, **draw: int
) -> pd.DataFrame:
    """Compare what verdicts tell of having been shown for a thousand tokens."""
    known = column_by_model_and_method(plain, "known")
    shown = column_by_fact(plain, known.index, SHOWN_OR_NEVER)
    relation = column_by_fact(plain, known.index, "relation")
    facts_per_thousand = (1000 / tokens["forwarded"]).to_dict()
    mean_tokens = tokens["forwarded"].groupby("method").mean()
    shortest = ""
    if len(mean_tokens):
        shortest = str(mean_tokens.idxmin())
    return compare_methods(
        known,
        shown,
        agreement.mutual_information,
        relation,
        scale=facts_per_thousand,
        leader=shortest,
        **draw,
    )


def leading_and_other_methods(
    comparison: pd.DataFrame,
) -> tuple[list[str], list[str]]:
    """Return the methods that lead on average over models, and the rest, best first."""
    means = comparison[comparison["model"] == "mean"].dropna(subset=["estimate"])
    means = means.sort_values("estimate", ascending=False)
    tied = means["tied"].astype(bool)
    return list(means.loc[tied, "method"]), list(means.loc[~tied, "method"])


def lead_over_closest_rival(
    comparison: pd.DataFrame, model: str = "mean"
) -> tuple[list[float], str]:
    """Return the leader's lead that decides (< 0: behind), with n, and over whom.

    It is over a method that is clearly ahead, if any is, else the least certain lead.
    The intervals of the leads over all methods hold at once (`compare_methods`). By
    default it is that of the means over models.
    """
    rows = comparison[comparison["model"] == model].dropna(subset=["lead"])
    if rows.empty:
        return [*NO_ESTIMATE, 0], ""
    rows = rows.set_index("method")
    bound = rows["lead_high"]
    if not (bound < 0).any():
        bound = rows["lead_low"].fillna(rows["lead"])
    rival = str(bound.idxmin())
    lead = rows.loc[rival, LEAD_COLUMNS].astype(float).tolist()
    return [*lead, int(rows["n"].max())], rival


def least_lead_at_equal_ties(
    scored: pd.DataFrame, contrast: str, **draw: int
) -> tuple[list[float], str]:
    """Return asking once's least lead over a method when as often tied, and which."""
    rivals = list(METHOD_TITLES.values())
    parts = []
    for name in rivals:
        pair = scored[scored["method"].isin([ASKED_ONCE, name])]
        areas = areas_by_method(
            pair,
            "score",
            contrast,
            ties_of=name,
            leader=ASKED_ONCE,
            n_rivals=len(rivals),
            **draw,
        )
        parts.append(areas)
    lead, rival = lead_over_closest_rival(pd.concat(parts))
    return lead, method_name_in_sentence(rival)


def mean_estimate_of_method(comparison: pd.DataFrame, name: str) -> list[float]:
    """Return a method's figure, on average over models, with its interval and n."""
    of_method = (comparison["model"] == "mean") & (comparison["method"] == name)
    row = comparison[of_method]
    if row.empty:
        return [*NO_ESTIMATE, 0]
    return row[ESTIMATE_COLUMNS].astype(float).to_numpy()[0].tolist()


def method_name_in_sentence(method: str) -> str:
    """Name a method as a sentence does."""
    return method.replace("knowledge base", "the knowledge base")
