"""Compare methods on the same facts: each figure with its interval, and who is behind the best."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from helpers import stats
from helpers.plots import tables

COLUMNS = ["model", "method", "estimate", "low", "high", "n"]
COLUMNS += ["behind", "behind_low", "behind_high", "tied"]
Measure = Callable[[np.ndarray], np.ndarray]


def contest(
    wide: pd.DataFrame,
    truth: pd.Series,
    measure: Measure,
    strata: pd.Series,
    higher: bool = True,
    scale: Mapping[tuple[str, str], float] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure every method, by model and on average, and compare each with the best one.

    All columns are resampled together: a fact that is hard for every method and every model does
    not blur their differences.

    >>> wide = pd.DataFrame({("m", "x"): [1.0, 1.0, 0.0], ("m", "y"): [1.0, 0.0, 0.0]})
    >>> ones = pd.Series([1, 1, 1])
    >>> found = contest(wide, ones, lambda pairs: pairs[..., 0].mean(-1), ones, n_resamples=99)
    >>> found[["model", "method", "tied"]].values.tolist()
    [['m', 'x', True], ['m', 'y', True], ['mean', 'x', True], ['mean', 'y', True]]
    """
    if wide.empty:
        kinds = dict.fromkeys(COLUMNS[2:], float) | {"n": int, "tied": bool}
        return pd.DataFrame(columns=COLUMNS).astype(kinds)
    keys, factors = list(wide.columns), dict(scale or {})
    methods = list(dict.fromkeys(method for _, method in keys))
    marks = truth.loc[wide.index].to_numpy(dtype=float)

    def figures(values: np.ndarray) -> np.ndarray:
        said, true = values[..., :-1], values[..., -1]
        each = [
            measure(np.stack([said[..., place], true], axis=-1)) * factors.get(key, 1.0)
            for place, key in enumerate(keys)
        ]
        means = [
            np.mean([each[place] for place, key in enumerate(keys) if key[1] == method], axis=0)
            for method in methods
        ]
        return np.stack([*each, *means], axis=-1)

    values = np.column_stack([wide.to_numpy(dtype=float), marks])
    layers = strata.loc[wide.index].to_numpy()
    estimates = figures(values)
    draws = stats.replicates(values, figures, layers, n_resamples, seed)
    rows = pd.DataFrame([*keys, *(("mean", method) for method in methods)])
    rows.columns = ["model", "method"]
    rows["estimate"], rows["n"] = estimates, len(values)
    if own := getattr(measure, "bounds", None):
        rows["low"], rows["high"] = own(estimates, draws, values)
    else:
        rows["low"], rows["high"] = stats.bounds(draws, len(values), layers)
    sign = 1 if higher else -1
    for places in rows.groupby("model").indices.values():
        best = places[np.nan_to_num(sign * estimates[places], nan=-np.inf).argmax()]
        behind = sign * (draws[:, [best]] - draws[:, places])
        rows.loc[places, "behind"] = sign * (estimates[best] - estimates[places])
        low, high = stats.bounds(behind, len(values), layers)
        rows.loc[places, "behind_low"], rows.loc[places, "behind_high"] = low, high
    rows["tied"] = ~(rows["behind_low"] > 0)
    return rows[COLUMNS]


def lines(contests: Mapping[str, tuple[str, bool, pd.DataFrame]]) -> pd.DataFrame:
    """Tell for each question which method answers it best, from its contest."""
    rows = []
    for question, (figure, higher, found) in contests.items():
        mean = found[found["model"] == "mean"].set_index("method")
        cells = {
            name: f"{name} {tables.interval(row.estimate, row.low, row.high, digits=2)}"
            for name, row in mean.iterrows()
        }
        leading, others = ranking(found, higher)
        best = cells[leading[0]] if leading else "n/a"
        row = {"question": question, "figure": figure, "best": best}
        row["tied with it"] = "; ".join(map(cells.get, leading[1:])) or "–"
        behind = (f"{name} {mean.loc[name, 'estimate']:.2f}" for name in others)
        row["behind"] = "; ".join(behind) or "–"
        rows.append(row | {"n": int(mean["n"].max()) if len(mean) else 0})
    return pd.DataFrame(rows).set_index("question")


def ranking(found: pd.DataFrame, higher: bool = True) -> tuple[list[str], list[str]]:
    """Name the methods that lead a contest on average over models, and the rest, best first.

    >>> found = pd.DataFrame({"model": "mean", "method": ["x", "y", "z"], "tied": [0, 1, 1],
    ...                       "estimate": [0.2, 0.9, 0.8]})
    >>> ranking(found)
    (['y', 'z'], ['x'])
    """
    mean = found[(found["model"] == "mean") & found["estimate"].notna()]
    mean = mean.sort_values("estimate", ascending=not higher)
    tied = mean["tied"].astype(bool)
    return list(mean.loc[tied, "method"]), list(mean.loc[~tied, "method"])
