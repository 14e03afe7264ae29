"""Every figure is drawn in the book's style, without a warning, and closed."""

import warnings

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from notebooks.kit import plots


@pytest.fixture(autouse=True)
def _careful():
    """Draw on the plain backend, with every warning an error, and leave no figure behind."""
    plt.switch_backend("agg")
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.use_style()
        yield
    plt.close("all")


@pytest.fixture
def ax():
    """Return empty axes."""
    return Figure(layout="constrained").subplots()
