"""Variance components: how much of what differs between verdicts goes with each of their causes."""

import math
from collections.abc import Iterable

import numpy as np

DESIGN_AXES = (
    "fmsp"  # fact, model, training run (start; one belongs to one model), prompt
)


def variance_components(
    values: np.ndarray, sizes: np.ndarray, effects: Iterable[str]
) -> dict[str, np.ndarray]:
    """Estimate variance components of a balanced design of random effects by its mean squares.

    The classical estimates (Searle, Casella and McCulloch 1992, chapter 4): where none
    is negative they are those of restricted maximum likelihood. `values` have the shape
    (..., facts, models, starts, prompts), facts of one relation beside each other;
    `sizes` are the facts of each relation. An effect is named by the letters of `DESIGN_AXES`
    that it depends on, a run never without its model (``"ms"``); the largest one is the
    rest. Returns effect to component; ``"r"`` is the relation, ``"f"`` the fact within
    it.

    >>> known = np.array([1.0, 0.0])[:, None, None, None] * np.ones((1, 2, 1, 1))
    >>> found = variance_components(known, np.array([2]), ["f", "m", "fm"])  # two models judge alike
    >>> {name: round(float(value), 3) for name, value in found.items()}
    {'fm': 0.0, 'm': 0.0, 'f': 0.5, 'r': 0.0}
    """
    n = dict(zip(DESIGN_AXES, values.shape[-4:]))
    order = sorted(effects, key=len)

    def cells(effect: str) -> int:
        return math.prod(n[axis] for axis in DESIGN_AXES if axis not in effect)

    grand = values.mean(axis=(-4, -3, -2, -1), keepdims=True)
    terms, freedom, squares = {}, {}, {}
    for effect in order:
        gone = tuple(
            place - 4 for place, axis in enumerate(DESIGN_AXES) if axis not in effect
        )
        within = [other for other in terms if set(other) < set(effect)]
        means = values.mean(axis=gone, keepdims=True) - grand
        terms[effect] = means - sum(terms[other] for other in within)
        freedom[effect] = (
            math.prod(n[a] for a in effect) - 1 - sum(freedom[o] for o in within)
        )
        total = (terms[effect] ** 2).sum(axis=(-4, -3, -2, -1)) * cells(effect)
        squares[effect] = total / freedom[effect] if freedom[effect] else total
    between, inside = _one_way(terms["f"][..., 0, 0, 0], sizes)
    squares["f"] = inside * cells("f")
    found: dict[str, np.ndarray] = {}
    for effect in reversed(order):
        beyond = [other for other in found if set(effect) < set(other)]
        rest = sum(found[other] * cells(other) for other in beyond)
        found[effect] = (squares[effect] - rest) / cells(effect)
    return found | {"r": between}


def _one_way(means: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance between groups of facts, and the mean square within them."""
    starts, n, groups = np.cumsum(sizes) - sizes, sizes.sum(), len(sizes)
    middle = np.add.reduceat(means, starts, axis=-1) / sizes
    inside = ((means - np.repeat(middle, sizes, axis=-1)) ** 2).sum(-1) / max(
        1, n - groups
    )
    if groups == 1:
        return np.zeros_like(inside), inside
    off = middle - means.mean(axis=-1, keepdims=True)
    between = (sizes * off**2).sum(-1) / (groups - 1)
    return (between - inside) / ((n - (sizes**2).sum() / n) / (groups - 1)), inside
