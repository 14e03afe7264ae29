"""Plan from finished runs how many facts an interval or a difference needs.

The spread of a measure is that of each fact's influence within its relation, by leaving
it out.
"""

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats

from helpers import UserError
from helpers.exchange import record
from helpers.exchange.verification import shared_runs
from helpers.stats.resampling import (
    CONFIDENCE_LEVEL,
    Statistic,
    as_matrix,
    mean,
    pooled_strata,
)
from helpers.studies import STUDIES, Measure, member

MOST_FACTS = 100_000  # facts: a plan that needs more is none
UPPER_BOUND = (1 + CONFIDENCE_LEVEL) / 2
# Shares whose quantiles times a standard error add up to a width, and to a difference
# that is told four times in five.
WIDTH_QUANTILES = (UPPER_BOUND, UPPER_BOUND)
DIFFERENCE_QUANTILES = (UPPER_BOUND, 0.8)


class MeasureSpread(NamedTuple):
    """How far one fact moves a measure: standard deviation within strata, and counts.

    ``n`` counts the facts, ``strata`` the strata.
    """

    sd: float
    n: int
    strata: int


class StudyFacts(NamedTuple):
    """A study's facts, from all of its wordings or samples and from about half of them.

    ``n`` and ``n_half`` count the wordings, or samples.
    """

    facts: pd.DataFrame
    half: pd.DataFrame | None
    n: int
    n_half: int


class Goal(NamedTuple):
    """What is planned for: a width, a difference, and how many wordings of a fact."""

    width: float
    difference: float
    wordings: int | None


def facts_needed_by_measure(
    place: str | Path,
    beside: str | Path | None = None,
    width: float = 0.1,
    difference: float = 0.1,
    wordings: int | None = None,
) -> pd.DataFrame:
    """Return how many facts each measure of a model's runs needs.

    Parameters
    ----------
    place, beside : path
        Folder of a model's runs, or an archive of them. Without a second model, the
        difference is that between two models that err independently, as far as this one
        does: an upper bound.
    width, difference : float
        Of the 95 % interval from bound to bound; between two models, told in four of
        five samples. Both on the measure's scale, on which a share lies between 0 and
        1.
    wordings : int, optional
        Of each fact, or samples of its answer; by default as many as the run has.

    Returns
    -------
    DataFrame
        ``study, measure, n`` (facts of the run), ``wordings`` (of each fact, or
        samples; 1 where it is asked once), ``width`` (of its interval, planned),
        ``paired`` (facts that both models were asked, 0 without a second one),
        ``for_width``, ``for_difference`` (facts needed, in as many wordings as are
        wanted; infinite beyond 100,000).

    Raises
    ------
    UserError
        If a number is not above 0, or nothing can be planned from the runs.
    """
    goal = Goal(width, abs(difference), wordings)
    for name, value in goal._asdict().items():
        if value is not None and not value > 0:
            raise UserError(f"{name} is {value}: give a number above 0.")
    others = {} if beside is None else _facts_of_studies(beside)
    rows = []
    for name, facts in _facts_of_studies(place).items():
        for measure in STUDIES[name].MEASURES:
            # Too few facts have it, or all are alike.
            with contextlib.suppress(UserError):
                row = _plan_of_measure(measure, facts, others.get(name), goal)
                rows.append({"study": name} | row)
    if not rows:
        raise UserError(
            f"{place} has no measure to plan from: measure twenty facts or more."
        )
    return pd.DataFrame(rows)


def _plan_of_measure(
    measure: Measure, run: StudyFacts, other: StudyFacts | None, goal: Goal
) -> dict[str, Any]:
    """Return how many facts a measure needs, from one model's run or from two."""
    other_facts = None
    other_half = None
    if other is not None:
        other_facts = other.facts
        other_half = other.half
    measured, gap, n_paired = _spreads(measure, run.facts, other_facts)
    spread = measured
    if goal.wordings is not None and run.half is not None:
        half, gap_of_half, _ = _spreads(measure, run.half, other_half)
        wordings = (run.n, run.n_half, goal.wordings)
        spread = spread_with_wordings(measured, half, *wordings)
        gap = spread_with_wordings(gap, gap_of_half, *wordings)
    width = standard_error_times_quantiles(measured, measured.n, WIDTH_QUANTILES)
    return {
        "measure": measure.name,
        "n": measured.n,
        "wordings": run.n,
        "width": float(width),
        "paired": n_paired,
        "for_width": fewest_facts_needed(spread, goal.width, WIDTH_QUANTILES),
        "for_difference": fewest_facts_needed(
            gap, goal.difference, DIFFERENCE_QUANTILES
        ),
    }


def _spreads(
    measure: Measure, facts: pd.DataFrame, other: pd.DataFrame | None
) -> tuple[MeasureSpread, MeasureSpread, int]:
    """Return a measure's spread, that of its gap to another model, and paired facts."""
    columns = list(measure.columns)
    complete = facts.dropna(subset=columns)
    values = complete[columns].astype(float)
    spread = measure_spread(values, measure.statistic, _strata(complete))
    if other is None:
        # Two models that err independently, as far as this one does.
        gap = spread._replace(sd=spread.sd * np.sqrt(2))
        return spread, gap, 0
    paired = complete.merge(
        other.dropna(subset=columns), on="item", suffixes=("", "_other")
    )
    other_columns = [f"{column}_other" for column in columns]
    paired_values = paired[columns + other_columns].astype(float)

    def difference(rows: np.ndarray) -> np.ndarray | float:
        first, second = np.split(rows, 2, axis=-1)
        return measure.statistic(first) - measure.statistic(second)

    gap = measure_spread(paired_values, difference, _strata(paired))
    return spread, gap, len(paired)


def _strata(facts: pd.DataFrame) -> pd.Series:
    """Return the strata of facts: those that a study names, or the relations."""
    return facts.get("stratum", facts["relation"])


def measure_spread(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
) -> MeasureSpread:
    """Return the spread of the jackknife's influences, n - 1 times what one fact moves.

    >>> spread = measure_spread([1.0, 0.0] * 10)
    >>> round(spread.sd, 3), spread.n, spread.strata
    (0.513, 20, 1)
    """
    table = as_matrix(values)
    layers = pooled_strata(np.zeros(len(table)) if strata is None else strata)
    names, places = np.unique(layers, return_inverse=True)
    freedom = len(table) - len(names)
    if freedom < 2:
        raise UserError(
            f"{len(table)} facts are too few to plan from: measure twenty or more."
        )
    left_out = np.empty(len(table))
    for place in range(len(table)):
        left_out[place] = statistic(np.delete(table, place, 0))
    influence = (len(table) - 1) * (float(statistic(table)) - left_out)
    middle = np.bincount(places, influence) / np.bincount(places)
    sd = np.sqrt(((influence - middle[places]) ** 2).sum() / freedom)
    if np.isclose(sd, 0):
        raise UserError(
            "These facts are all alike, so they show no spread to plan from."
        )
    return MeasureSpread(float(sd), len(table), len(names))


def spread_with_wordings(
    whole: MeasureSpread, half: MeasureSpread, asked: int, asked_half: int, wanted: int
) -> MeasureSpread:
    """Return the spread if each fact were asked in more or fewer wordings, or samples.

    >>> whole = MeasureSpread(0.5**0.5, 20, 1)
    >>> half = MeasureSpread(0.75**0.5, 20, 1)
    >>> spread = spread_with_wordings(whole, half, 4, 2, 16)
    >>> round(spread.sd**2, 6)
    0.3125
    """
    slope = (half.sd**2 - whole.sd**2) / (1 / asked_half - 1 / asked)
    slope = min(max(slope, 0.0), whole.sd**2 * asked)
    variance = whole.sd**2 + slope * (1 / wanted - 1 / asked)
    return whole._replace(sd=float(np.sqrt(variance)))


def standard_error_times_quantiles(
    spread: MeasureSpread, n: npt.ArrayLike, shares: tuple[float, float]
) -> np.ndarray:
    """Return the standard error of n facts times Student's quantiles of two shares.

    The two products are added.

    >>> spread = MeasureSpread(0.5, 20, 1)
    >>> round(float(standard_error_times_quantiles(spread, 100, WIDTH_QUANTILES)), 3)
    0.198
    """
    n = np.asarray(n, dtype=float)
    freedom = np.where(n > spread.strata, n - spread.strata, np.nan)
    first = scipy.stats.t.ppf(shares[0], freedom)
    second = scipy.stats.t.ppf(shares[1], freedom)
    return first * spread.sd / np.sqrt(n) + second * spread.sd / np.sqrt(n)


def fewest_facts_needed(
    spread: MeasureSpread, wanted: float, shares: tuple[float, float]
) -> float:
    """Return the fewest facts that bring the product of error and quantiles down.

    The product is that of :func:`standard_error_times_quantiles`, and it is at most
    what is wanted.

    >>> fewest_facts_needed(MeasureSpread(0.5, 20, 1), 0.1, WIDTH_QUANTILES)
    387.0
    >>> fewest_facts_needed(MeasureSpread(0.7, 20, 1), 0.1, DIFFERENCE_QUANTILES)
    387.0
    """
    n = np.arange(spread.strata + 1, MOST_FACTS + 1)
    products = standard_error_times_quantiles(spread, n, shares)
    enough = np.flatnonzero(products <= wanted)
    if len(enough) == 0:
        return float("inf")
    return float(n[enough[0]])


def _facts_of_studies(place: str | Path) -> dict[str, StudyFacts]:
    """Return each study's facts, of a folder of runs or of an archive that holds."""
    shared = shared_runs(place)
    facts_by_study = {}
    for name, run in shared.record["runs"].items():
        settings = run["parameters"]
        answers = shared.answers(name)
        facts = record.facts_from_answers(name, settings, answers)
        half = member(STUDIES[name], "halves")(answers)
        half_facts = None
        if half.answers is not None:
            half_facts = record.facts_from_answers(name, settings, half.answers)
        facts_by_study[name] = StudyFacts(facts, half_facts, half.n, half.n_half)
    return facts_by_study
