"""Variance components: how much of the differences of verdicts has which cause."""

import math
from collections.abc import Iterable

import numpy as np

# Fact, model, start (a training run, of one model), prompt.
DESIGN_AXES = "fmsp"
_ALL_AXES = (-4, -3, -2, -1)


def variance_components(
    values: np.ndarray, sizes: np.ndarray, effects: Iterable[str]
) -> dict[str, np.ndarray]:
    """Estimate variance components of a balanced random design by its mean squares.

    The classical estimates (Searle, Casella and McCulloch 1992, chapter 4): where none
    is negative they are those of restricted maximum likelihood. `values` have the shape
    (..., facts, models, starts, prompts), facts of one relation beside each other;
    `sizes` are the facts of each relation. An effect is named by the letters of
    `DESIGN_AXES` that it depends on, a run never without its model (``"ms"``); the
    largest one is the rest. Returns effect to component; ``"r"`` is the relation,
    ``"f"`` the fact within it.

    >>> known = np.array([1.0, 0.0])[:, None, None, None] * np.ones((1, 2, 1, 1))
    >>> variances = variance_components(known, np.array([2]), ["f", "m", "fm"])
    >>> {name: round(float(value), 3) for name, value in variances.items()}  # m agree
    {'fm': 0.0, 'm': 0.0, 'f': 0.5, 'r': 0.0}
    """
    values = np.asarray(values, dtype=np.float64)  # verdicts may come as 32-bit numbers
    lengths = dict(zip(DESIGN_AXES, values.shape[-4:], strict=True))
    smallest_first = sorted(effects, key=len)
    values_a_cell: dict[str, int] = {}  # how many a cell of the effect averages
    terms: dict[str, np.ndarray] = {}
    freedom: dict[str, int] = {}
    squares: dict[str, np.ndarray] = {}
    grand_mean = values.mean(axis=_ALL_AXES, keepdims=True)
    for effect in smallest_first:
        averaged = [axis for axis in DESIGN_AXES if axis not in effect]
        axes = tuple(DESIGN_AXES.index(axis) - len(DESIGN_AXES) for axis in averaged)
        values_a_cell[effect] = math.prod(lengths[axis] for axis in averaged)
        freedom[effect] = math.prod(lengths[axis] for axis in effect) - 1
        means = values.mean(axis=axes, keepdims=True) - grand_mean
        explained = np.zeros(())
        for other in terms:
            if set(other) < set(effect):
                explained = explained + terms[other]
                freedom[effect] -= freedom[other]
        terms[effect] = means - explained
        square = (terms[effect] ** 2).sum(axis=_ALL_AXES) * values_a_cell[effect]
        if freedom[effect]:
            square = square / freedom[effect]
        squares[effect] = square
    between, within = _one_way(terms["f"][..., 0, 0, 0], sizes)
    squares["f"] = within * values_a_cell["f"]
    variances: dict[str, np.ndarray] = {}
    for effect in reversed(smallest_first):
        from_larger = np.zeros(())
        for other, variance in variances.items():
            if set(effect) < set(other):
                from_larger = from_larger + variance * values_a_cell[other]
        variances[effect] = (squares[effect] - from_larger) / values_a_cell[effect]
    variances["r"] = between
    return variances


def _one_way(means: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance between groups of facts, and the mean square within them."""
    n = sizes.sum()
    n_groups = len(sizes)
    starts = np.cumsum(sizes) - sizes
    group_means = np.add.reduceat(means, starts, axis=-1) / sizes
    deviations = means - np.repeat(group_means, sizes, axis=-1)
    within = (deviations**2).sum(-1) / max(1, n - n_groups)
    if n_groups == 1:
        return np.zeros_like(within), within
    deviations_of_groups = group_means - means.mean(axis=-1, keepdims=True)
    between = (sizes * deviations_of_groups**2).sum(-1) / (n_groups - 1)
    average_size = (n - (sizes**2).sum() / n) / (n_groups - 1)
    return (between - within) / average_size, within
