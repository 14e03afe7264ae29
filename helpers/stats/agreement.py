"""How far verdicts on the same facts agree, and what a verdict tells of the truth."""

import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import stats


def cohen_kappa(values: np.ndarray) -> np.ndarray:
    """Compute Cohen's kappa (1960): agreement of two verdicts beyond chance.

    (p_o - p_e) / (1 - p_e); a statistic for :func:`helpers.stats.bootstrap` of 0 and 1,
    shape (..., n, 2). Not a number where both say the same of all facts.

    >>> float(cohen_kappa(np.array([[1, 1], [1, 0], [0, 0], [0, 0]])))
    0.5
    """
    verdicts = np.asarray(values) > 0
    first = verdicts[..., 0]
    second = verdicts[..., 1]
    observed = (first == second).mean(axis=-1)
    rate = first.mean(axis=-1)
    rate_of_second = second.mean(axis=-1)
    expected = rate * rate_of_second + (1 - rate) * (1 - rate_of_second)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def mutual_information(values: np.ndarray) -> np.ndarray:
    """Compute how many bits a verdict tells of a yes-or-no truth, on average a fact.

    The mutual information of two columns of 0 and 1, shape (..., n, 2), less its bias
    for two times two cells, 1 / (2 n ln 2) (Miller 1955): 1 if the verdict tells an
    even truth without fail, about 0 if it tells nothing, exactly 0 if verdict or truth
    is the same for all.
    """
    marks = np.asarray(values) > 0
    verdict = marks[..., 0]
    truth = marks[..., 1]
    n = verdict.shape[-1]
    bits = np.zeros(verdict.shape[:-1])
    for row in (verdict, ~verdict):
        for column in (truth, ~truth):
            joint = (row & column).mean(axis=-1)
            independent = row.mean(axis=-1) * column.mean(axis=-1)
            ones = np.ones_like(joint)
            ratio = np.divide(joint, independent, out=ones, where=joint > 0)
            bits = bits + joint * np.log2(ratio)
    verdict_varies = verdict.any(axis=-1) & ~verdict.all(axis=-1)
    truth_varies = truth.any(axis=-1) & ~truth.all(axis=-1)
    bias = 1 / (2 * n * np.log(2))
    return np.where(verdict_varies & truth_varies, bits - bias, 0.0)


def pairwise_agreement(
    wide: pd.DataFrame,
    measure: Callable[[np.ndarray], np.ndarray],
    strata: pd.Series,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure how far every two methods agree, on average over models.

    `wide` has a column for each model and method; the result a row for two methods.
    """
    methods = list(dict.fromkeys(method for _, method in wide.columns))
    models = list(dict.fromkeys(model for model, _ in wide.columns))
    layers = strata.loc[wide.index].to_numpy()

    def mean_over_models(values: np.ndarray) -> np.ndarray:
        """Return the mean of the measure over pairs of columns, one pair a model."""
        columns = range(0, 2 * len(models), 2)
        of_models = [measure(values[..., left : left + 2]) for left in columns]
        with warnings.catch_warnings():
            # Where no model gives a number, the mean is not a number.
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.nanmean(of_models, axis=0)

    rows = []
    for first, second in combinations(methods, 2):
        pairs = [wide[[(model, first), (model, second)]].to_numpy() for model in models]
        interval = stats.bootstrap(
            np.hstack(pairs), mean_over_models, layers, n_resamples, seed
        )
        rows.append((first, second, *interval))
    columns = ["first", "second", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)
