"""Plan a measurement from finished runs: how many facts an interval or a difference needs.

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
from helpers.io.files import read_parquet_table
from helpers.stats.resampling import (
    CONFIDENCE_LEVEL,
    Statistic,
    as_matrix,
    mean,
    pooled_strata,
)
from helpers.studies import STUDIES, Measure, member

MOST_FACTS = 100_000  # facts: a plan that needs more is none
# Quantiles that times a standard error add up to a width, or a difference told four
# times in five.
WIDTH_QUANTILES, DIFFERENCE_QUANTILES = (
    2 * ((1 + CONFIDENCE_LEVEL) / 2,),
    ((1 + CONFIDENCE_LEVEL) / 2, 0.8),
)


class MeasureSpread(NamedTuple):
    """How far one fact moves a measure: standard deviation within strata, and how many of each."""

    sd: float
    n: int
    strata: int


class StudyFacts(NamedTuple):
    """A study's facts, those from about half of its wordings or samples, and how many these are."""

    facts: pd.DataFrame
    half: pd.DataFrame | None
    n: int
    n_half: int


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
    wanted = {"width": width, "difference": abs(difference), "wordings": wordings}
    for name, value in wanted.items():
        if value is not None and not value > 0:
            raise UserError(f"{name} is {value}: give a number above 0.")
    rows, other = [], {} if beside is None else _tables(beside)
    for name, asked in _tables(place).items():
        for measure in STUDIES[name].MEASURES:
            with contextlib.suppress(
                UserError
            ):  # too few facts have it, or all are alike
                row = _row(measure, asked, other.get(name), wanted)
                rows.append({"study": name} | row)
    if not rows:
        raise UserError(
            f"{place} has no measure to plan from: measure twenty facts or more."
        )
    return pd.DataFrame(rows)


def _row(
    measure: Measure,
    asked: StudyFacts,
    other: StudyFacts | None,
    wanted: dict[str, Any],
) -> dict[str, Any]:
    whole, gap, paired = _spreads(measure, asked.facts, other and other.facts)
    found = whole
    if wanted["wordings"] is not None and asked.half is not None:
        halves = _spreads(measure, asked.half, other and other.half)
        told = asked.n, asked.n_half, wanted["wordings"]
        found, gap = (
            spread_with_wordings(whole, halves[0], *told),
            spread_with_wordings(gap, halves[1], *told),
        )
    return {
        "measure": measure.name,
        "n": whole.n,
        "wordings": asked.n,
        "width": float(standard_error_times_quantiles(whole, whole.n, WIDTH_QUANTILES)),
        "paired": paired,
        "for_width": fewest_facts_needed(found, wanted["width"], WIDTH_QUANTILES),
        "for_difference": fewest_facts_needed(
            gap, wanted["difference"], DIFFERENCE_QUANTILES
        ),
    }


def _spreads(
    measure: Measure, facts: pd.DataFrame, other: pd.DataFrame | None
) -> tuple[MeasureSpread, MeasureSpread, int]:
    """Return the spread of a measure, that of the difference to another model, and paired facts."""
    columns = list(measure.columns)
    one = facts.dropna(subset=columns)
    strata = one.get("stratum", one["relation"])
    found = measure_spread(one[columns].astype(float), measure.statistic, strata)
    if other is None:
        return found, found._replace(sd=found.sd * np.sqrt(2)), 0
    both = one.merge(other.dropna(subset=columns), on="item", suffixes=("", "_other"))
    k = len(columns)
    values = both[[*columns, *(f"{column}_other" for column in columns)]].astype(float)

    def apart(rows: np.ndarray) -> np.ndarray:
        return measure.statistic(rows[..., :k]) - measure.statistic(rows[..., k:])

    return (
        found,
        measure_spread(values, apart, both.get("stratum", both["relation"])),
        len(both),
    )


def measure_spread(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
) -> MeasureSpread:
    """Return the spread of the jackknife's influences: n - 1 times what leaving a fact out takes.

    >>> found = measure_spread([1.0, 0.0] * 10)
    >>> round(found.sd, 3), found.n, found.strata
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
    left_out = np.array(
        [float(statistic(np.delete(table, i, 0))) for i in range(len(table))]
    )
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

    >>> found = spread_with_wordings(MeasureSpread(0.5**0.5, 20, 1), MeasureSpread(0.75**0.5, 20, 1), 4, 2, 16)
    >>> round(found.sd**2, 6)
    0.3125
    """
    slope = (half.sd**2 - whole.sd**2) / (1 / asked_half - 1 / asked)
    slope = min(max(slope, 0.0), whole.sd**2 * asked)
    variance = whole.sd**2 + slope * (1 / wanted - 1 / asked)
    return whole._replace(sd=float(np.sqrt(variance)))


def standard_error_times_quantiles(
    found: MeasureSpread, n: npt.ArrayLike, shares: tuple[float, float]
) -> np.ndarray:
    """Return the standard error with n facts times the sum of Student's quantiles of two shares.

    >>> round(float(standard_error_times_quantiles(MeasureSpread(0.5, 20, 1), 100, WIDTH_QUANTILES)), 3)
    0.198
    """
    n = np.asarray(n, dtype=float)
    freedom = np.where(n > found.strata, n - found.strata, np.nan)
    quantiles = (scipy.stats.t.ppf(share, freedom) for share in shares)
    return sum(quantile * found.sd / np.sqrt(n) for quantile in quantiles)


def fewest_facts_needed(
    found: MeasureSpread, wanted: float, shares: tuple[float, float]
) -> float:
    """Return the fewest facts for which :func:`standard_error_times_quantiles` is at most what is wanted.

    >>> fewest_facts_needed(MeasureSpread(0.5, 20, 1), 0.1, WIDTH_QUANTILES), fewest_facts_needed(MeasureSpread(0.7, 20, 1), 0.1, DIFFERENCE_QUANTILES)
    (387.0, 387.0)
    """
    n = np.arange(found.strata + 1, MOST_FACTS + 1)
    enough = np.flatnonzero(standard_error_times_quantiles(found, n, shares) <= wanted)
    return float(n[enough[0]]) if len(enough) else float("inf")


def _tables(place: str | Path) -> dict[str, StudyFacts]:
    """Return each study's facts, of a folder of runs or of an archive that holds."""
    found = shared_runs(place)
    tables = {}
    for name, run in found.record["runs"].items():
        answers = read_parquet_table(found.files[run["answers"]["file"]], "it")
        facts = record.facts_from_answers(name, run["parameters"], answers)
        half = member(STUDIES[name], "halves")(answers)
        facts_of_half = None
        if half.answers is not None:
            facts_of_half = record.facts_from_answers(
                name, run["parameters"], half.answers
            )
        tables[name] = StudyFacts(facts, facts_of_half, half.n, half.n_half)
    return tables
