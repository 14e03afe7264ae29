"""How a verdict depends on exposure: logistic regression with relations held fixed.

The dose of a fact is log2(1 + exposures): one more with every doubling.
"""

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats
import statsmodels.api as sm
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.tools.sm_exceptions import ConvergenceWarning, PerfectSeparationWarning

from helpers import UserError
from helpers.stats.resampling import CONFIDENCE_LEVEL
from helpers.stats.results import Interval


class DoseResponseSlope(NamedTuple):
    """Log odds a doubling, interval, two-sided p; facts and relations that vary."""

    estimate: float
    low: float
    high: float
    p: float
    n: int
    relations: int


def log_dose(exposures: npt.ArrayLike) -> np.ndarray:
    """Return log2(1 + exposures)."""
    counts = np.asarray(exposures, dtype=float)
    if not (counts >= 0).all():
        raise UserError("Exposures are counts of at least 0; one here is not.")
    return np.log2(1 + counts)


def dose_response_slope(
    known: npt.ArrayLike, exposures: npt.ArrayLike, relation: npt.ArrayLike
) -> DoseResponseSlope:
    r"""Estimate how the log odds of being known rise with each doubling of exposure.

    .. math:: \operatorname{logit} P(\mathrm{known}_c)
              = \alpha_{r(c)} + \beta \log_2(1 + e_c)

    Conditional logit (Chamberlain 1980), since effects of relations estimated from a
    handful of facts each would bias the slope upwards. Errors are clustered by relation
    (sandwich, factor G / (G - 1), Student's t with G - 1 degrees).

    >>> known = [0, 1, 0, 1, 0, 1, 1, 0]  # three pairs to one: log(3 / 1)
    >>> slope = dose_response_slope(known, [0, 1] * 4, list("aabbccdd"))
    >>> round(slope.estimate, 3), slope.n, slope.relations
    (1.099, 8, 4)
    """
    table = pd.DataFrame({"known": known, "relation": relation})
    if len(table) != np.size(exposures):
        raise UserError(
            f"{len(table)} verdicts need as many exposures, not {np.size(exposures)}."
        )
    table["dose"] = log_dose(exposures)
    by_relation = table.groupby("relation")
    known_varies = by_relation["known"].transform("nunique") > 1
    dose_varies = by_relation["dose"].transform("nunique") > 1
    table = table[known_varies & dose_varies]
    table = table.sort_values("relation", kind="stable")
    n = len(table)
    n_relations = table["relation"].nunique()
    undefined = DoseResponseSlope(np.nan, np.nan, np.nan, np.nan, n, n_relations)
    if n_relations == 0:
        return undefined
    direction = _direction_of_separation(table)
    if direction:
        return undefined._replace(estimate=direction * np.inf)
    model = ConditionalLogit(
        table["known"].to_numpy(int),
        table[["dose"]].to_numpy(),
        groups=table["relation"].to_numpy(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = model.fit(method="bfgs", disp=0)
    estimate = float(fit.params[0])
    if n_relations < 3:
        return undefined._replace(estimate=estimate)
    scores = [
        float(model.score_grp(group, fit.params)[0]) for group in range(n_relations)
    ]
    meat = n_relations / (n_relations - 1) * (np.array(scores) ** 2).sum()
    bread = float(np.asarray(fit.cov_params()).item())
    error = np.sqrt(meat) * bread
    t = scipy.stats.t(n_relations - 1)
    reach = t.ppf((1 + CONFIDENCE_LEVEL) / 2) * error
    return DoseResponseSlope(
        estimate=estimate,
        low=estimate - reach,
        high=estimate + reach,
        p=float(2 * t.sf(abs(estimate) / error)),
        n=n,
        relations=n_relations,
    )


def exposures_of_half_known(
    known: npt.ArrayLike, exposures: npt.ArrayLike, relation: npt.ArrayLike
) -> Interval:
    r"""Estimate after how many exposures half of the facts are known.

    With the logistic curve :math:`a + b \log_2(1 + e)` these are
    :math:`2^{-a/b} - 1`; the interval is by the delta method on the scale of doses,
    with errors clustered by relation.

    >>> known = [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]  # 1/4, 1/2 and 3/4
    >>> exposures = [0] * 4 + [1] * 4 + [3] * 4
    >>> half = exposures_of_half_known(known, exposures, list("abcd") * 3)
    >>> round(half.estimate, 3), half.n
    (1.0, 12)
    """
    known = np.asarray(known, dtype=float)
    doses = log_dose(exposures)
    labels = pd.factorize(np.asarray(relation))[0]
    if not known.size == doses.size == labels.size:
        raise UserError(
            f"{known.size} verdicts need as many exposures, not {doses.size}."
        )
    undefined = Interval(np.nan, np.nan, np.nan, known.size)
    if np.ptp(known) == 0 or np.ptp(doses) == 0:
        return undefined
    table = pd.DataFrame({"known": known, "dose": doses, "relation": 0})
    if _direction_of_separation(table) or labels.max() < 2:
        return undefined
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        model = sm.Logit(known, sm.add_constant(doses))
        fit = model.fit(disp=0, cov_type="cluster", cov_kwds={"groups": labels})
    a, b = fit.params
    if b <= 0:
        return undefined
    middle = -a / b
    gradient = np.array([-1 / b, a / b**2])
    error = np.sqrt(gradient @ fit.cov_params() @ gradient)
    t = scipy.stats.t(labels.max())
    reach = t.ppf((1 + CONFIDENCE_LEVEL) / 2) * error
    log_doses = np.array([middle, middle - reach, middle + reach])
    # Of a curve that hardly rises the upper bound is infinite.
    with np.errstate(over="ignore"):
        estimate, low, high = np.maximum(0, 2**log_doses - 1)
    return Interval(float(estimate), float(low), float(high), known.size)


def _direction_of_separation(table: pd.DataFrame) -> int:
    """Return 1 if in every relation doses of known facts are above all others, or -1.

    -1 is below all others, and 0 neither; equal doses at the border count as separate.
    """
    doses = table.pivot_table("dose", "relation", "known", aggfunc=["min", "max"])
    lowest = doses["min"].to_numpy()
    highest = doses["max"].to_numpy()
    if (highest[:, 0] <= lowest[:, 1]).all():
        return 1
    if (highest[:, 1] <= lowest[:, 0]).all():
        return -1
    return 0
