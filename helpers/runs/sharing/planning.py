"""Plan a measurement from finished runs: how many facts an interval or a difference needs."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, stats
from helpers.datasets.files import table
from helpers.runs.sharing import record
from helpers.runs.sharing.verification import shared
from helpers.studies import STUDIES, Measure


def plan(
    place: str | Path, beside: str | Path | None = None, width: float = 0.1, difference: float = 0.1
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

    Returns
    -------
    DataFrame
        ``study, measure, n`` (facts of the run), ``width`` (of its interval, planned), ``paired``
        (facts that both models were asked, 0 without a second one), ``for_width``,
        ``for_difference`` (facts needed; infinite beyond 100,000).
    """
    rows, other = [], {} if beside is None else _tables(beside)
    for name, facts in _tables(place).items():
        for measure in STUDIES[name].MEASURES:
            try:
                rows.append(_row(measure, facts, other.get(name), width, difference))
            except UserError:  # too few facts have it, or all are alike
                continue
            rows[-1] = {"study": name} | rows[-1]
    if not rows:
        raise UserError(f"{place} has no measure to plan from: measure twenty facts or more.")
    return pd.DataFrame(rows)


def _row(
    measure: Measure,
    facts: pd.DataFrame,
    other: pd.DataFrame | None,
    width: float,
    difference: float,
) -> dict[str, object]:
    columns = list(measure.columns)
    one = facts.dropna(subset=columns)
    found = stats.spread(
        one[columns].astype(float), measure.statistic, one.get("stratum", one["relation"])
    )
    gap, paired = found._replace(sd=found.sd * np.sqrt(2)), 0
    if other is not None:
        both = one.merge(other.dropna(subset=columns), on="item", suffixes=("", "_other"))
        k, paired = len(columns), len(both)
        values = both[[*columns, *(f"{column}_other" for column in columns)]].astype(float)

        def apart(rows: np.ndarray) -> np.ndarray:
            return measure.statistic(rows[..., :k]) - measure.statistic(rows[..., k:])

        gap = stats.spread(values, apart, both.get("stratum", both["relation"]))
    return {
        "measure": measure.name,
        "n": found.n,
        "width": float(stats.planned_width(found, found.n)),
        "paired": paired,
        "for_width": stats.facts_for_width(found, width),
        "for_difference": stats.facts_for_difference(gap, difference),
    }


def _tables(place: str | Path) -> dict[str, pd.DataFrame]:
    """Return each study's table of facts, of a folder of runs or of an archive that holds."""
    found = shared(place)
    return {
        name: record.facts(
            name, run["parameters"], table(found.files[run["answers"]["file"]], "it")
        )
        for name, run in found.record["runs"].items()
    }
