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
    """Log odds a doubling with its interval, two-sided p-value, facts and relations that tell."""

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
    r"""Estimate how much the log odds of being known rise with every doubling of exposure.

    .. math:: \operatorname{logit} P(\mathrm{known}_c) = \alpha_{r(c)} + \beta \log_2(1 + e_c)

    Conditional logit (Chamberlain 1980), since effects of relations estimated from a
    handful of facts each would bias the slope upwards. Errors are clustered by relation
    (sandwich, factor G / (G - 1), Student's t with G - 1 degrees).

    >>> found = dose_response_slope([0, 1, 0, 1, 0, 1, 1, 0], [0, 1] * 4, list("aabbccdd"))
    >>> round(found.estimate, 3), found.n, found.relations  # three pairs to one: log(3 / 1)
    (1.099, 8, 4)
    """
    table = pd.DataFrame({"known": known, "relation": relation})
    if not len(table) == np.size(exposures):
        raise UserError(
            f"{len(table)} verdicts need as many exposures, not {np.size(exposures)}."
        )
    table["dose"] = log_dose(exposures)
    groups = table.groupby("relation")
    varies = (groups["known"].transform("nunique") > 1) & (
        groups["dose"].transform("nunique") > 1
    )
    table = table[varies].sort_values("relation", kind="stable")
    n, count, nothing = len(table), table["relation"].nunique(), float("nan")
    if not count:
        return DoseResponseSlope(nothing, nothing, nothing, nothing, n, count)
    if sign := _parted(table):
        return DoseResponseSlope(
            sign * float("inf"), nothing, nothing, nothing, n, count
        )
    names = table["relation"].to_numpy()
    model = ConditionalLogit(
        table["known"].to_numpy(int), table[["dose"]].to_numpy(), groups=names
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = model.fit(method="bfgs", disp=0)
    estimate = float(fit.params[0])
    if count < 3:
        return DoseResponseSlope(estimate, nothing, nothing, nothing, n, count)
    scores = np.array([float(model.score_grp(g, fit.params)[0]) for g in range(count)])
    bread = float(np.asarray(fit.cov_params()).item())
    error = np.sqrt(count / (count - 1) * (scores**2).sum()) * bread
    t = scipy.stats.t(count - 1)
    reach = t.ppf((1 + CONFIDENCE_LEVEL) / 2) * error
    p = float(2 * t.sf(abs(estimate) / error))
    return DoseResponseSlope(estimate, estimate - reach, estimate + reach, p, n, count)


def exposures_of_half_known(
    known: npt.ArrayLike, exposures: npt.ArrayLike, relation: npt.ArrayLike
) -> Interval:
    r"""Estimate after how many exposures half of the facts are known.

    With the logistic curve :math:`a + b \log_2(1 + e)` these are :math:`2^{-a/b} - 1`; the interval
    is by the delta method on the scale of doses, with errors clustered by relation.

    >>> known = [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]  # a quarter, a half, three quarters
    >>> found = exposures_of_half_known(known, [0] * 4 + [1] * 4 + [3] * 4, list("abcd") * 3)
    >>> round(found.estimate, 3), found.n
    (1.0, 12)
    """
    known, doses = np.asarray(known, dtype=float), log_dose(exposures)
    labels = pd.factorize(np.asarray(relation))[0]
    if not known.size == doses.size == labels.size:
        raise UserError(
            f"{known.size} verdicts need as many exposures, not {doses.size}."
        )
    nothing = Interval(*[float("nan")] * 3, known.size)
    table = pd.DataFrame({"known": known, "dose": doses, "relation": 0})
    if np.ptp(known) == 0 or np.ptp(doses) == 0 or _parted(table) or labels.max() < 2:
        return nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        clustered = {"cov_type": "cluster", "cov_kwds": {"groups": labels}}
        fit = sm.Logit(known, sm.add_constant(doses)).fit(disp=0, **clustered)
    a, b = fit.params
    if b <= 0:
        return nothing
    middle, gradient = -a / b, np.array([-1 / b, a / b**2])
    error = np.sqrt(gradient @ fit.cov_params() @ gradient)
    reach = scipy.stats.t(labels.max()).ppf((1 + CONFIDENCE_LEVEL) / 2) * error
    ends = np.array([middle, middle - reach, middle + reach])
    with np.errstate(over="ignore"):  # a curve that hardly rises: the bound is infinite
        return Interval(*map(float, np.maximum(0, 2**ends - 1)), known.size)


def _parted(table: pd.DataFrame) -> int:
    """Say whether doses part known from unknown facts in every relation: 1 up, -1 down, else 0."""
    ends = table.pivot_table("dose", "relation", "known", aggfunc=["min", "max"])
    lows, highs = ends["min"].to_numpy(), ends["max"].to_numpy()
    if (highs[:, 0] <= lows[:, 1]).all():
        return 1
    return -1 if (highs[:, 1] <= lows[:, 0]).all() else 0
