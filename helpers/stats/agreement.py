"""How far several verdicts on the same facts agree, and what a verdict tells of the truth."""

import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import stats


def cohen_kappa(values: np.ndarray) -> np.ndarray:
    """Compute Cohen's kappa (1960) of two verdicts: agreement beyond that by their rates alone.

    (p_o - p_e) / (1 - p_e); a statistic for :func:`helpers.stats.bootstrap` of 0 and 1,
    shape (..., n, 2). Not a number where both say the same of all facts.

    >>> float(cohen_kappa(np.array([[1, 1], [1, 0], [0, 0], [0, 0]])))
    0.5
    """
    first, second = (np.asarray(values)[..., i] > 0 for i in (0, 1))
    observed = (first == second).mean(axis=-1)
    one, two = first.mean(axis=-1), second.mean(axis=-1)
    expected = one * two + (1 - one) * (1 - two)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def mutual_information(values: np.ndarray) -> np.ndarray:
    """Compute how many bits a verdict tells of a yes-or-no truth, on average a fact.

    The mutual information of two columns of 0 and 1, shape (..., n, 2), less its bias
    for two times two cells, 1 / (2 n ln 2) (Miller 1955): 1 if the verdict tells an
    even truth without fail, about 0 if it tells nothing, exactly 0 if verdict or truth
    is the same for all.
    """
    verdict, truth = (np.asarray(values)[..., i] > 0 for i in (0, 1))
    n, total = verdict.shape[-1], np.zeros(verdict.shape[:-1])
    for said in (verdict, ~verdict):
        for true in (truth, ~truth):
            both = (said & true).mean(axis=-1)
            alone = said.mean(axis=-1) * true.mean(axis=-1)
            ratio = np.divide(both, alone, out=np.ones_like(both), where=both > 0)
            total = total + both * np.log2(ratio)
    varied = np.ones_like(total, dtype=bool)
    for marks in (verdict, truth):
        varied &= marks.any(axis=-1) & ~marks.all(axis=-1)
    return np.where(varied, total - 1 / (2 * n * np.log(2)), 0.0)


def pairwise_agreement(
    wide: pd.DataFrame,
    measure: Callable[[np.ndarray], np.ndarray],
    strata: pd.Series,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure how far every two methods agree, on average over models: a row for two methods."""
    methods = list(dict.fromkeys(method for _, method in wide.columns))
    models = list(dict.fromkeys(model for model, _ in wide.columns))
    rows = []
    for first, second in combinations(methods, 2):
        pairs = [wide[[(model, first), (model, second)]].to_numpy() for model in models]

        def figure(values: np.ndarray) -> np.ndarray:
            each = [measure(values[..., 2 * i : 2 * i + 2]) for i in range(len(models))]
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", RuntimeWarning
                )  # no model gives a number
                return np.nanmean(each, axis=0)

        layers = strata.loc[wide.index].to_numpy()
        found = stats.bootstrap(np.hstack(pairs), figure, layers, n_resamples, seed)
        rows.append((first, second, *found))
    return pd.DataFrame(
        rows, columns=["first", "second", "estimate", "low", "high", "n"]
    )
