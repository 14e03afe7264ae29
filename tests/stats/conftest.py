"""Fixtures that the tests of statistics share."""

import numpy as np
import pytest

from helpers import stats


@pytest.fixture
def ratio():
    """Return a statistic of two columns: the sum of the first over that of the second."""

    def divide(values):
        sums = values.sum(axis=-2)
        return sums[..., 0] / sums[..., 1]

    return divide


@pytest.fixture
def measures(ratio):
    """Return measures as the tables of intervals take them."""
    return {"ratio": (["top", "bottom"], ratio), "top": (["top"], stats.mean)}


@pytest.fixture
def sample():
    """Return 200 pairs whose first is a share of the second."""
    generator = np.random.default_rng(1)
    bottom = generator.uniform(0.5, 1, 200)
    return np.column_stack([bottom * generator.beta(2, 3, 200), bottom])
