"""Curves over exposures, sizes and numbers hold what the tables hold."""

import numpy as np
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


def by_size(*rows):
    """Return models: series, parameters, estimate, interval, questions."""
    columns = ["series", "parameters", "estimate", "low", "high", "questions"]
    return pd.DataFrame(rows, columns=columns)


NAN = (np.nan, np.nan)
BLOOMZ = [("BLOOMZ", 3e9, 0.6, *NAN, "paper"), ("BLOOMZ", 1e9, 0.7, *NAN, "paper")]
SMALL = ("here", 4e6, 0.5, 0.4, 0.6, "other")


def points(ax):
    return [line for line in ax.get_lines() if line.get_marker() not in ("", "None", None)]


def test_no_line_joins_models_of_two_sizes():
    for ax in plots.size_panels(
        {"MONITOR": by_size(*BLOOMZ, SMALL, ("here", 1e6, 0.6, *SMALL[3:]))}
    ):
        assert {line.get_linestyle() for line in draw(ax).get_lines()} == {"None"}
        for bars in ax.collections:  # an interval goes straight up
            assert all(np.ptp(segment[:, 0]) == 0 for segment in bars.get_segments())


def test_runs_on_the_papers_questions_are_outlined_among_its_models():
    (ax,) = plots.size_panels({"accuracy": by_size(*BLOOMZ, (*SMALL[:5], "same"))})
    paper, ours = points(draw(ax))
    assert paper.get_xdata().tolist() == [3e9, 1e9]
    assert paper.get_markerfacecolor() == paper.get_color()
    assert ours.get_markerfacecolor() == "white"
    assert legend(ax) == ["BLOOMZ", "here"]
    assert ax.patch.get_hatch() is None


def test_runs_on_other_questions_have_a_hatched_panel_and_scales_of_their_own():
    table = by_size(*BLOOMZ, ("near", 2e9, 0.65, *NAN, "same"), SMALL)
    above, below = plots.size_panels({"MONITOR": table})
    assert [line.get_marker() for line in points(draw(below))] == ["X"]
    assert points(below)[0].get_xdata().tolist() == [4e6]
    assert all(4e6 not in line.get_xdata() for line in points(above))
    assert (above.patch.get_hatch(), below.patch.get_hatch()) == (None, "///")
    assert below.get_legend().get_title().get_text() == "other questions"
    assert above.get_xlim() != below.get_xlim()
    assert not above.get_shared_y_axes().joined(above, below)
    assert {ax.get_ylabel() for ax in (above, below)} == {"MONITOR"}


def test_each_measure_has_its_panels_and_sizes_count_in_millions():
    alone = by_size(SMALL, ("tuned", 1e6, 0.7, *SMALL[3:]))
    unknown = by_size(("here", np.inf, 0.5, *NAN, "other"))
    one, two, three, none = plots.size_panels(
        {"one": by_size(*BLOOMZ, SMALL), "two": alone, "none": unknown}
    )
    assert [ax.get_ylabel() for ax in (one, two, three, none)] == ["one", "one", "two", "none"]
    assert {"1 M", "2 M"} <= set(texts(draw(three).get_xticklabels()))
    assert legend(three) == ["here", "tuned"]
    assert "no model of known size" in texts(none.texts)[0].replace("\n", " ")


def test_lines_by_number_have_points_and_bars_where_there_are_intervals(ax):
    table = pd.DataFrame(
        {
            "model": ["atlas-s", "atlas-s", "atlas-m", "atlas-m"],
            "examples": [0, 50, 50, 0],
            "estimate": [0.1, 0.4, 0.6, 0.2],
        }
    )
    draw(plots.line_curve(table, "examples", ax, even=True))
    assert texts(ax.get_xticklabels()) == ["0", "50"]
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        [[0, 0.1], [1, 0.4]],
        [[0, 0.2], [1, 0.6]],
    ]
    assert [line.get_color() for line in ax.lines] == [
        plots.model_colour(name) for name in ("atlas-s", "atlas-m")
    ]
    bare = len(ax.collections)
    other = draw(plots.line_curve(table.assign(low=0.0, high=1.0), "examples", xlabel="shots"))
    assert other.get_xlabel() == "shots"
    assert len(other.collections) == bare + 2 * 2  # a band and its bars for each model
    assert other.lines[0].get_xdata().tolist() == [0, 50]
