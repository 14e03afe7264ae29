"""Plan a measurement from finished runs: how many facts an interval or a difference needs."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers import UserError, stats
from helpers.datasets.files import table
from helpers.runs.sharing import record
from helpers.runs.sharing.verification import shared
from helpers.studies import STUDIES, Measure


class Asked(NamedTuple):
    """A study's facts, those from about half of its wordings or samples, and how many these are."""

    facts: pd.DataFrame
    half: pd.DataFrame | None
    n: int
    n_half: int


def plan(
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
        Folder of a model's runs, or an archive of them. Without a second model, the difference is
        that between two models that err independently, as far as this one does: an upper bound.
    width, difference : float
        Of the 95 % interval from bound to bound; between two models, told in four of five samples.
        Both on the measure's scale, on which a share lies between 0 and 1.
    wordings : int, optional
        Of each fact, or samples of its answer; by default as many as the run has.

    Returns
    -------
    DataFrame
        ``study, measure, n`` (facts of the run), ``wordings`` (of each fact, or samples; 1 where
        it is asked once), ``width`` (of its interval, planned), ``paired`` (facts that both models
        were asked, 0 without a second one), ``for_width``, ``for_difference`` (facts needed, in as
        many wordings as are wanted; infinite beyond 100,000).
    """
    rows, other = [], {} if beside is None else _tables(beside)
    for name, asked in _tables(place).items():
        for measure in STUDIES[name].MEASURES:
            try:
                rows.append(_row(measure, asked, other.get(name), width, difference, wordings))
            except UserError:  # too few facts have it, or all are alike
                continue
            rows[-1] = {"study": name} | rows[-1]
    if not rows:
        raise UserError(f"{place} has no measure to plan from: measure twenty facts or more.")
    return pd.DataFrame(rows)


def _row(
    measure: Measure,
    asked: Asked,
    other: Asked | None,
    width: float,
    difference: float,
    wordings: int | None,
) -> dict[str, object]:
    whole, gap, paired = _spreads(measure, asked.facts, other and other.facts)
    found = whole
    if wordings is not None and asked.half is not None:
        halves = _spreads(measure, asked.half, other and other.half)
        found, gap = (
            stats.reworded(*both, asked.n, asked.n_half, wordings)
            for both in ((whole, halves[0]), (gap, halves[1]))
        )
    return {
        "measure": measure.name,
        "n": whole.n,
        "wordings": asked.n,
        "width": float(stats.planned_width(whole, whole.n)),
        "paired": paired,
        "for_width": stats.facts_for_width(found, width),
        "for_difference": stats.facts_for_difference(gap, difference),
    }


def _spreads(
    measure: Measure, facts: pd.DataFrame, other: pd.DataFrame | None
) -> tuple[stats.Spread, stats.Spread, int]:
    """Return the spread of a measure, that of the difference to another model, and paired facts."""
    columns = list(measure.columns)
    one = facts.dropna(subset=columns)
    found = stats.spread(
        one[columns].astype(float), measure.statistic, one.get("stratum", one["relation"])
    )
    if other is None:
        return found, found._replace(sd=found.sd * np.sqrt(2)), 0
    both = one.merge(other.dropna(subset=columns), on="item", suffixes=("", "_other"))
    k = len(columns)
    values = both[[*columns, *(f"{column}_other" for column in columns)]].astype(float)

    def apart(rows: np.ndarray) -> np.ndarray:
        return measure.statistic(rows[..., :k]) - measure.statistic(rows[..., k:])

    return found, stats.spread(values, apart, both.get("stratum", both["relation"])), len(both)


def _tables(place: str | Path) -> dict[str, Asked]:
    """Return each study's facts, of a folder of runs or of an archive that holds."""
    found, tables = shared(place), {}
    for name, run in found.record["runs"].items():
        answers = table(found.files[run["answers"]["file"]], "it")
        half, n, n_half = _halved(name, answers)
        tables[name] = Asked(
            record.facts(name, run["parameters"], answers),
            None if half is None else record.facts(name, run["parameters"], half),
            n,
            n_half,
        )
    return tables


def _halved(name: str, answers: pd.DataFrame) -> tuple[pd.DataFrame | None, int, int]:
    """Return answers to every other wording, or half of the samples, and both numbers of them."""
    if name == "knowledge_base" and "n_choices" in answers:
        n = int(answers["n_choices"].max())
        again = answers["consistency"].fillna(0) * answers["n_choices"]
        chance = np.random.default_rng(0)
        drawn = chance.hypergeometric(
            again.round().astype(int), n - again.round().astype(int), n // 2
        )
        share = pd.Series(drawn / (n // 2), answers.index).where(answers["consistency"].notna())
        return answers.assign(consistency=share), n, n // 2
    columns = {"multiplicity": ["variation"], "monitor": ["frame", "context_index"]}.get(name, [])
    if not columns or answers[columns[0]].nunique() < 4:
        return None, 1 if not columns else answers[columns[0]].nunique(), 1
    half = answers[(answers[columns].clip(lower=0) % 2 == 0).all(axis=1)]
    return half, answers[columns[0]].nunique(), half[columns[0]].nunique()
