"""Bars of shares with their counts, and differences between pairs."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from helpers import plots
from tests.plots.drawn import draw


def test_bars_of_verdicts_are_shares_with_their_counts():
    counts = pd.DataFrame(
        {"supported": [3, 0], "partly": [0, 1], "contradicted": [1, 99]}, index=["a", "b"]
    )
    ax = plots.verdict_bars(counts, xlabel="sentences")
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends, [0.75, 0.0, 0.75, 0.01, 1.0, 1.0])
    assert [text.get_text() for text in ax.texts] == ["3", "", "", "", "1", "99"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    draw(ax)


def test_a_row_of_paired_differences_has_its_colour_in_every_panel():
    table = pd.DataFrame({"measure": ["UR", "UR", "NCR"], "pair": ["a", "b", "b"]})
    table = table.assign(estimate=[0.1, -0.2, 0.3], low=-0.3, high=0.4)
    shades = {"b": "#ff0000"}
    panels = plots.gap_panels(table, 2, shades)
    drawn = [to_hex(c) for ax in panels for c in ax.collections[1].get_facecolor()]
    assert drawn == ["#0173b2", "#ff0000", "#ff0000"]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["a", "b"]
    draw(panels[0])
