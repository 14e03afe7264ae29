"""Figures are drawn without a warning, carry their labels and show what the tables hold."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from helpers import plots, published


@pytest.fixture(autouse=True)
def _careful():
    """Draw on the plain backend, with every warning an error, and leave no figure behind."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.use_style()
        yield
    plt.close("all")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def draw(ax):
    ax.figure.canvas.draw()
    return ax


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture
def accuracies():
    table = pd.DataFrame(
        [(probe, frame) for probe in ("WP", "QA", "FC-pos") for frame in range(7)],
        columns=["probe", "frame"],
    )
    table["accuracy"] = np.linspace(0.1, 0.9, len(table))
    return table.assign(low=table["accuracy"] - 0.05, high=table["accuracy"] + 0.05)


def test_boxes_stand_in_the_order_asked_for(ax, accuracies):
    found = draw(plots.accuracy_boxes(accuracies, ax, order=["QA", "WP", "FC-pos"]))
    assert found is ax
    assert labels(ax.get_xticklabels()) == ["QA", "WP", "FC-pos"]
    assert len(ax.containers) == 3 * 7
    assert legend(ax) == ["base frame"]
    assert len(ax.patches) == 3


def test_boxes_draw_each_points_interval(ax, accuracies):
    plots.accuracy_boxes(accuracies, ax)
    first = ax.containers[0]
    _, _, (bars,) = first
    np.testing.assert_allclose(bars.get_segments()[0][:, 1], [0.05, 0.15])


def test_boxes_of_two_models_have_their_colours(ax, accuracies):
    both = pd.concat([accuracies.assign(model=m) for m in ("atlas-s", "atlas-m")])
    plots.accuracy_boxes(both.drop(columns=["low", "high"]), draw(ax))
    assert legend(ax) == ["atlas-s", "atlas-m", "base frame"]
    assert len(ax.patches) == 6
    edges = {mpl.colors.to_hex(patch.get_edgecolor()) for patch in ax.patches}
    assert edges == {plots.model_colour("atlas-s"), plots.model_colour("atlas-m")}


def test_dots_are_sorted_with_the_summary_at_the_foot():
    table = pd.DataFrame(
        {
            "relation": ["P36", "P17", "P37", "all", "mean"],
            "estimate": [0.6, 0.4, 0.5, 0.45, 0.5],
            "low": [0.5, 0.3, np.nan, 0.4, 0.45],
            "high": [0.7, 0.5, np.nan, 0.5, 0.55],
        }
    )
    ax = draw(plots.dots(table, published={"P17": 0.52}, published_label="Vicuna-7b"))
    assert labels(ax.get_yticklabels()) == ["P17", "P37", "P36", "all", "mean"]
    assert ax.get_xlabel() == "MONITOR (lower is better)"
    assert legend(ax) == ["this model", "Vicuna-7b"]
    lines = [line.get_xdata().tolist() for line in ax.get_lines()]
    assert [0.3, 0.5] in lines
    assert [0.52] in lines


def test_anchor_curve_falls_to_the_share_above(ax):
    values = [0.1, 0.5, 0.8, 0.85, 0.9, np.nan]
    draw(plots.anchor_distribution({"atlas-s": values}, ax))
    assert legend(ax) == ["atlas-s: 40% [12%, 77%], n = 5"]
    curve = ax.get_lines()[0]
    at = np.searchsorted(curve.get_xdata(), 0.8, side="right") - 1
    assert curve.get_ydata()[at] == pytest.approx(0.4)
    assert (np.diff(curve.get_ydata()) <= 0).all()
    assert ax.get_xlabel() == "probability of the primary anchor"


def test_scatter_names_every_point_and_tells_r(ax):
    table = published.load("monitor_table4").reset_index().assign(published=True)
    draw(plots.scatter(table, "MONITOR", "avg", ax, label="row"))
    assert sorted(labels(ax.texts)) == sorted(table["row"])
    assert ax.get_title("left") == "r = −0.85 [−0.96, −0.53], n = 12"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("MONITOR", "avg")


def test_scatter_draws_both_intervals(ax):
    table = pd.DataFrame(
        {
            "label": ["a", "b"],
            "x": [0.1, 0.2],
            "x_low": [0.05, np.nan],
            "x_high": [0.2, np.nan],
            "y": [1.0, 2.0],
            "y_low": [0.5, 1.5],
            "y_high": [1.5, 2.5],
        }
    )
    draw(plots.scatter(table, "x", "y", ax, identity=True))
    bars = [len(container[2]) for container in ax.containers]
    assert bars == [2, 1]
    across, up = ax.containers[0][2]
    np.testing.assert_allclose(across.get_segments()[0][:, 0], [0.05, 0.2])
    np.testing.assert_allclose(up.get_segments()[0][:, 1], [0.5, 1.5])
    assert ax.get_aspect() == 1


def test_names_do_not_lie_on_each_other(ax):
    table = pd.DataFrame({"label": ["first", "second"], "x": [0.5, 0.501], "y": [0.5, 0.5]})
    draw(plots.scatter(table, "x", "y", ax))
    first, second = (text.get_window_extent() for text in ax.texts)
    assert not first.overlaps(second)


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
    assert labels(ax.texts) == ["PFD only", "IRD only", "product only"]
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
    assert labels(ax.get_yticklabels()) == ["Danish", ".", "␣the", "␣the", "$"]
    assert labels(ax.get_xticklabels()) == ["␣Fin", "nish"]
    image = ax.get_images()[0]
    np.testing.assert_allclose(image.get_array(), [[n, -n] for n in range(5)])
    assert image.get_clim() == (-4, 4)


def test_attribution_of_nothing_but_zeros():
    table = pd.DataFrame({"token": ["a"], "step_token": ["b"], "score": [0.0]})
    assert draw(plots.attribution_heatmap(table)).get_images()[0].get_clim() == (-1, 1)


def test_exposure_axis_is_logarithmic_with_zero_at_its_left(ax):
    table = pd.DataFrame({"exposures": [8, 0, 1, 2], "estimate": [0.9, 0.1, 0.2, 0.4]})
    table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
    both = pd.concat([table.assign(model=m) for m in ("atlas-s", "atlas-m")])
    draw(plots.exposure_curve(both, ax))
    assert labels(ax.get_xticklabels()) == ["0", "1", "2", "8"]
    assert ax.get_xticks()[1:].tolist() == [0, 1, 3]
    assert ax.get_xticks()[0] < 0
    assert legend(ax) == ["atlas-s", "atlas-m"]
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 1, 3]


def test_scale_axis_counts_in_millions(ax):
    table = pd.DataFrame(
        {"series": "atlas", "parameters": [4e6, 1e6], "estimate": [0.5, 0.7]}
    ).assign(low=0.4, high=0.8)
    draw(plots.scale_curve(table, ax))
    assert {"1 M", "2 M"} <= set(labels(ax.get_xticklabels()))
    assert ax.get_lines()[0].get_xdata().tolist() == [1e6, 4e6]


def test_a_model_has_one_colour():
    assert plots.model_colour("runs/atlas-s/") == plots.model_colour("atlas-s")
    assert plots.model_colour("EleutherAI/pythia-70m") == plots.model_colour("pythia-70m")
    models = published.load("monitor_table4").index
    assert len({plots.model_colour(model) for model in models}) == 12
    bundled = [f"atlas-{size}" for size in ("xs", "s", "m", "l", "xl")]
    assert len({plots.model_colour(model) for model in bundled}) == 5


def test_curves_of_one_figure_differ_in_colour(ax):
    names = ["right word before", "frames alone", "wrong word before", "other", "more", "atlas-s"]
    plots.anchor_distribution({name: [0.5, 0.9] for name in names}, ax)
    seen = [line.get_color() for line in ax.get_lines()][0:-1:2]
    assert len(set(seen)) == len(names)
    assert seen[-1] == plots.model_colour("atlas-s")


def test_points_without_an_interval_are_drawn_beside_those_with_one(ax):
    table = pd.DataFrame(
        {
            "series": ["BLOOMZ", "BLOOMZ", "runs"],
            "parameters": [1e9, 3e9, 4e6],
            "estimate": [0.7, 0.6, 0.5],
            "low": [np.nan, np.nan, 0.4],
            "high": [np.nan, np.nan, 0.6],
        }
    )
    draw(plots.scale_curve(table, ax))
    assert legend(ax) == ["BLOOMZ", "runs"]


def test_any_text_is_drawn_as_it_is(ax):
    names = ["$x_$", "100 %", "京都", r"\frac", "a_b^c"]
    table = pd.DataFrame({"label": names, "x": range(5), "y": range(5)})
    draw(plots.scatter(table, "x", "y", ax))
    assert "▯▯" in labels(ax.texts)


def test_a_name_with_dollars_is_no_formula(ax):
    ax.set_title("$_$")  # as a formula, it would be a mistake and stop the run
    draw(ax)


def test_scatter_of_many_points_leaves_the_names_out():
    many = pd.DataFrame({"label": list("abcdefghijklmnopqrst"), "x": range(20), "y": range(20)})
    few = many.head(5)
    for table, names in ((few, list("abcde")), (many, [])):
        _, ax = plt.subplots()
        plots.scatter(table, "x", "y", ax)
        assert [text.get_text() for text in ax.texts] == names
        plt.close(ax.figure)


def test_lines_by_number_have_points_and_bars_where_there_are_intervals(ax):
    table = pd.DataFrame(
        {
            "model": ["atlas-s", "atlas-s", "atlas-m", "atlas-m"],
            "examples": [0, 50, 50, 0],
            "estimate": [0.1, 0.4, 0.6, 0.2],
        }
    )
    draw(plots.line_curve(table, "examples", ax, even=True))
    assert labels(ax.get_xticklabels()) == ["0", "50"]
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
