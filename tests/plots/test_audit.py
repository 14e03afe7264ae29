"""Figures of differences and of correlations."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from helpers import plots
from tests.plots.drawn import draw


def test_differences_stand_on_their_side_of_the_line():
    cells = pd.DataFrame(
        {
            "check": ["a", "a", "b", "b"],
            "difference": [0.0, 0.5, 3.0, np.nan],
            "tolerance": [0.0, 1.0, 0.0, 1.0],
            "agrees": [True, True, False, False],
        }
    )
    ax = plots.differences(cells)
    good, bad = (line.get_xdata() for line in ax.get_lines()[:2])
    assert good.tolist() == [0.01, 0.5]
    assert bad.tolist() == [1000.0, 1000.0]
    assert not any("$" in text.get_text() for text in ax.get_xticklabels())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]


def test_a_forest_draws_estimates_prints_and_ranges():
    table = pd.DataFrame(
        {
            "pair": ["one", "two"],
            "estimate": [0.5, -0.2],
            "low": [0.1, -0.6],
            "high": [0.8, 0.3],
            "printed": [0.4, np.nan],
            "least": [0.3, -0.4],
            "most": [0.6, 0.1],
        }
    )
    ax = plots.forest(table, names=("ours", "theirs"))
    drawn = {line.get_label(): line.get_xdata() for line in ax.get_lines()}
    assert list(drawn["ours"]) == [0.5, -0.2]
    assert drawn["theirs"][0] == 0.4
    draw(ax)
    assert ax.get_position().width > 0.4  # names and legend leave room
    bare = plots.forest(table, ticks=None)
    assert len(bare.get_lines()) == len(ax.get_lines()) - 3


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
