"""Curves over exposures hold what the tables hold."""

import pandas as pd

from helpers import plots
from tests.plots.drawn import draw, legend, texts


def test_exposure_axis_is_logarithmic_with_zero_at_its_left(ax):
    table = pd.DataFrame({"exposures": [8, 0, 1, 2], "estimate": [0.9, 0.1, 0.2, 0.4]})
    table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
    both = pd.concat([table.assign(model=m) for m in ("atlas-s", "atlas-m")])
    draw(plots.exposure_curve(both, ax))
    assert texts(ax.get_xticklabels()) == ["0", "1", "2", "8"]
    assert ax.get_xticks()[1:].tolist() == [0, 1, 3]
    assert ax.get_xticks()[0] < 0
    assert legend(ax) == ["atlas-s", "atlas-m"]
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 1, 3]
