"""Maps name their corners and tokens and show the tables' values."""

import numpy as np
import pandas as pd
import pytest

from helpers import plots
from tests.plots.drawn import draw, texts


@pytest.mark.parametrize("flat", [False, True])
def test_alpha_map_names_its_corners(ax, flat):
    steps = 4
    rows = [
        (a / steps, b / steps, (steps - a - b) / steps)
        for a in range(steps + 1)
        for b in range(steps + 1 - a)
    ]
    table = pd.DataFrame(rows, columns=["alpha_pfd", "alpha_ird", "alpha_both"])
    table["monitor"] = 0.5 if flat else 0.5 + table["alpha_ird"] / 10
    draw(plots.alpha_map(table, ax))
    assert texts(ax.texts) == ["PFD only", "IRD only", "product only"]
    assert ax.figure.axes[1].get_ylabel() == "MONITOR (lower is better)"


def test_attribution_keeps_tokens_in_order_though_they_repeat():
    tokens = ["Danish", ".", "Ġthe", "Ġthe", "$"]
    table = pd.concat(
        [
            pd.DataFrame({"token": tokens, "step_token": step, "score": np.arange(5) * sign})
            for step, sign in (("ĠFin", 1.0), ("nish", -1.0))
        ]
    )
    ax = draw(plots.attribution_heatmap(table))
    assert texts(ax.get_yticklabels()) == ["Danish", ".", "␣the", "␣the", "$"]
    assert texts(ax.get_xticklabels()) == ["␣Fin", "nish"]
    image = ax.get_images()[0]
    np.testing.assert_allclose(image.get_array(), [[n, -n] for n in range(5)])
    assert image.get_clim() == (-4, 4)


def test_attribution_of_nothing_but_zeros():
    table = pd.DataFrame({"token": ["a"], "step_token": ["b"], "score": [0.0]})
    assert draw(plots.attribution_heatmap(table)).get_images()[0].get_clim() == (-1, 1)
