"""Methods compared on the same facts: each one's figure, and how far it is behind."""

from collections.abc import Callable, Mapping

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
METHOD_COMPARISON_COLUMNS = [
    "model",
    "method",
    *ESTIMATE_COLUMNS,
    *GAP_COLUMNS,
    "tied",
]
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
    strata: pd.Series,
    *,
    scale: MethodWeights | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure methods by model and on average, and compare each with the best.

    All are computed on the same bootstrap samples of facts, drawn within `strata`.

    Parameters
    ----------
    wide
        A row a fact, a column a model and method
        (:func:`~notebooks.analysis.calibration_verdicts.column_by_model_and_method`).
    truth
        What each fact is to be told by, such as 1 if a model was shown it, else 0.
    measure
        From arrays of shape (..., facts, 2), score and truth, to figures, shape (...).
        It may have ``bounds``, a function that returns its intervals.
    scale
        A factor of the figures of a model and method, 1 where none is given.

    Returns
    -------
    DataFrame
        `METHOD_COMPARISON_COLUMNS`, a row a model and method, then the means over
        models. ``behind`` is the best figure of the model less this one; ``tied``
        says that it is not clearly above 0.
    """
    if wide.empty:
        return _no_comparison()
    pairs = list(wide.columns)
    methods = list(dict.fromkeys(method for _, method in pairs))
    figures = _figures_by_pair_and_method(pairs, methods, measure, scale or {})
    marks = truth.loc[wide.index].to_numpy(dtype=float)
    values = np.column_stack([wide.to_numpy(dtype=float), marks])
    layers = strata.loc[wide.index].to_numpy()
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
    for places in rows.groupby("model").indices.values():
        best = places[np.nan_to_num(estimates[places], nan=-np.inf).argmax()]
        rows.loc[places, "behind"] = estimates[best] - estimates[places]
        gaps = draws[:, [best]] - draws[:, places]
        low, high = stats.interval_bounds(gaps, len(values), layers)
        rows.loc[places, "behind_low"] = low
        rows.loc[places, "behind_high"] = high
    rows["tied"] = ~(rows["behind_low"] > 0)
    return rows[METHOD_COMPARISON_COLUMNS]


def _no_comparison() -> pd.DataFrame:
    """Return the comparison of methods on no facts."""
    kinds = dict.fromkeys(METHOD_COMPARISON_COLUMNS[2:], float)
    kinds |= {"n": int, "tied": bool}
    return pd.DataFrame(columns=METHOD_COMPARISON_COLUMNS).astype(kinds)


def _figures_by_pair_and_method(
    pairs: list[tuple[str, str]],
    methods: list[str],
    measure: ArrayMeasure,
    scale: MethodWeights,
) -> ArrayMeasure:
    """Return a statistic: the figure of each model and method, then each method's mean.

    It reads arrays of shape (..., facts, pairs + 1), whose last column is the truth.
    """

    def figures(values: np.ndarray) -> np.ndarray:
        truth = values[..., -1]
        of_pairs = []
        for place, pair in enumerate(pairs):
            scored = np.stack([values[..., place], truth], axis=-1)
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
    measure: ArrayMeasure = roc_curve.area_under_roc_curve,
    ties_of: str = "",
    **draw: int,
) -> pd.DataFrame:
    """Measure how well a column tells facts of different exposure apart, by method.

    Asking once gets as few different scores as the method `ties_of` has.
    """
    rows = table[table[contrast].notna()]
    wide = column_by_model_and_method(rows, column)
    for model, method in wide.columns:
        if method == ASKED_ONCE and (model, ties_of) in wide:
            place = wide[model, method].rank(method="first").astype(int) - 1
            wide[model, method] = np.sort(wide[model, ties_of])[place]
    label = column_by_fact(rows, wide.index, contrast)
    areas = compare_methods(wide, label, measure, label, **draw)
    return areas.assign(contrast=contrast)


def areas_in_unread_wordings(
    plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS, **draw: int
) -> pd.DataFrame:
    """Measure the areas of asking once in each unread wording, by contrast."""
    scored = scores_of_asking_once(plain, UNREAD_WORDINGS)
    parts = []
    for contrast in levels.contrasts:
        parts.append(areas_by_method(scored, "score", contrast, **draw))
    return pd.concat(parts, ignore_index=True)


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
    table: pd.DataFrame, column: str, draw: dict[str, int]
) -> pd.DataFrame:
    """Compare methods' mean verdicts on some facts, `draw` for `compare_methods`."""
    wide = column_by_model_and_method(table, column)
    one_stratum = pd.Series(1.0, index=wide.index)
    means = compare_methods(wide, one_stratum, _mean_score, one_stratum, **draw)
    return with_wilson_intervals(means)


def _mean_score(values: np.ndarray) -> np.ndarray:
    """Average the scores of arrays of shape (..., facts, 2)."""
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
        comparisons[question] = f"area, {contrast}", areas
    shares = areas_by_method(
        scored, "score", SHOWN_OR_NEVER, sensitivity_at_alarm_rate, **draw
    )
    figure = f"share found with {100 * FALSE_ALARM_RATE:.0f} % of the others"
    comparisons[levels.questions[-1]] = figure, with_wilson_intervals(shares)
    keyless = areas_by_method(plain, "blind", SHOWN_OR_NEVER, **draw)
    question = "What if there is no answer key?"
    comparisons[question] = "area of the keyless score", keyless
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
    facts_per_thousand = (1000 / tokens["forwarded"]).to_dict()
    return compare_methods(
        known,
        shown,
        agreement.mutual_information,
        shown,
        scale=facts_per_thousand,
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


def lead_over_best_rival(
    comparison: pd.DataFrame, name: str
) -> tuple[list[float], str]:
    """Return a method's lead over the best other one (< 0: behind), and its rival."""
    means = comparison[comparison["model"] == "mean"].dropna(subset=["estimate"])
    means = means.set_index("method")
    rivals = means.drop(index=name, errors="ignore")
    if name not in means.index or rivals.empty:
        return [*NO_ESTIMATE, 0], ""
    n = int(means["n"].max())
    own_gap = means.loc[name, GAP_COLUMNS]
    is_best = own_gap.fillna(0).eq(0).all()
    if is_best and (rivals["behind"] >= 0).all():
        rival = str(rivals["behind"].idxmin())
        gap = means.loc[rival, GAP_COLUMNS].astype(float)
        return [*gap.tolist(), n], rival
    rival = str(means["behind"].idxmin())
    behind, low, high = own_gap.astype(float).tolist()
    return [-behind, -high, -low, n], rival


def least_lead_at_equal_ties(
    scored: pd.DataFrame, contrast: str, **draw: int
) -> tuple[list[float], str]:
    """Return asking once's least lead over a method when as often tied, and which."""
    leads = {}
    for name in METHOD_TITLES.values():
        pair = scored[scored["method"].isin([ASKED_ONCE, name])]
        areas = areas_by_method(pair, "score", contrast, ties_of=name, **draw)
        leads[name], _ = lead_over_best_rival(areas, ASKED_ONCE)
    estimates = pd.Series({name: lead[0] for name, lead in leads.items()})
    least = estimates.fillna(np.inf).idxmin()
    return leads[least], method_name_in_sentence(least)


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
