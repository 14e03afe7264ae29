"""MONITOR of several models: four wordings, accuracy and its deviation, size."""

import numpy as np
import pandas as pd
import pytest

from helpers.metrics import monitor
from notebooks.analysis import comparison, monitor_of_models
from notebooks.analysis.monitor_of_models import MonitorOfModel
from tests import saved_runs
from tests.plots.figure_texts import draw_figure


def made_up(millions, scores, in_four, base=0.5, deviation=0.1, solid=0.9):
    """Return a model with scores on P17, on P36 and on all facts."""
    columns = ["P17", "P36", "all"]
    choices = pd.DataFrame(in_four, columns=columns)
    return MonitorOfModel(
        millions, pd.Series(scores, columns), choices, base, deviation, solid
    )


MODELS = {
    "small": made_up(1, [0.5, 0.6, 0.55], [[0.4, 0.5, 0.45], [0.6, 0.7, 0.65]]),
    "large": made_up(4, [0.3, 0.7, 0.5], [[0.2, 0.6, 0.4], [0.4, 0.9, 0.7]], 0.51, 0.2),
}
PAIRS = [("large", "small")]


def test_the_table_has_the_ends_over_choices():
    found = monitor_of_models.stability_of_models(MODELS)
    row = found.loc["large"]
    assert row["million parameters"] == 4
    assert row["MONITOR"] == 0.5
    four = row[["first four wordings", "least of four", "largest of four"]]
    assert four.tolist() == [0.4, 0.4, 0.7]
    rest = row[["base accuracy, %", "deviation, points", "anchors above 0.8, %"]]
    assert rest.tolist() == pytest.approx([51, 20, 90])


def test_the_order_is_kept_in_one_of_two_choices():
    said = monitor_of_models.sentence_on_wordings(MODELS)
    assert said.startswith("In 1 of 2 choices of four wordings the 2 models have")
    assert monitor_of_models.sentence_on_wordings({"small": MODELS["small"]}) == ""
    assert monitor_of_models.sentence_on_wordings({}) == ""


def test_models_of_like_accuracy_are_held_against_each_other():
    table = monitor_of_models.stability_of_models(MODELS)
    said = monitor_of_models.sentence_on_models_of_equal_accuracy(table)
    # The larger one has the lower MONITOR and the higher deviation.
    assert said == (
        "In 0 of 1 pair of models within 3 points of base accuracy of each other, the "
        "one of lower MONITOR has the lower deviation.\n"
    )
    table.loc["large", "deviation, points"] = 5
    said = monitor_of_models.sentence_on_models_of_equal_accuracy(table)
    assert said.startswith("In 1 of 1 pair")
    table.loc["large", "base accuracy, %"] = 60
    said = monitor_of_models.sentence_on_models_of_equal_accuracy(table)
    assert said.startswith("No two models")


def test_steps_and_correlation_are_compared():
    compared = dict(monitor_of_models.comparisons_for_appendix(MODELS, PAIRS))
    r, steps = compared.values()
    first_four = [0.4, 0.5, 0.2, 0.6]
    whole = [0.5, 0.6, 0.3, 0.7]
    assert r.r == pytest.approx(np.corrcoef(first_four, whole)[0, 1])
    assert r.n == 4
    assert steps[0] == 0.5  # it falls on P17 alone
    assert steps[3] == 2
    nothing = dict(monitor_of_models.comparisons_for_appendix({}, PAIRS))
    assert [statistic[-1] for statistic in nothing.values()] == [0, 0]


def test_each_model_is_drawn_and_each_step():
    axes = monitor_of_models.draw_monitor_by_size(MODELS, PAIRS)
    for ax in axes:
        draw_figure(ax)
    assert {text.get_text() for text in axes[0].texts} == {"BLOOMZ", "Vicuna"}
    assert {text.get_text() for text in axes[1].texts} == {"small", "large"}
    thin = [line for line in axes[1].get_lines() if line.get_linewidth() < 1]
    assert sorted(line.get_ydata().tolist() for line in thin) == [
        [0.5, 0.3],
        [0.6, 0.7],
    ]
    monitor_of_models.draw_monitor_by_size({}, [])


def test_saved_runs_are_read_and_sorted_by_size(tmp_path):
    saved_runs.write_made_up_runs(tmp_path, "big", 0.8, ("monitor",), size=9_000_000)
    saved_runs.write_made_up_runs(tmp_path, "tiny", 0.3, ("monitor",), size=1_000_000)
    here = comparison.load_comparable_runs(tmp_path)
    models = monitor_of_models.monitor_by_model(here)
    assert {name: one.millions for name, one in models.items()} == {"tiny": 1, "big": 9}
    assert list(models) == ["tiny", "big"]
    one = models["big"]
    deviation = np.sqrt((0.2**2 + 0.3**2 + 0.2 * 0.3) / 3)
    assert one.in_all["all"] == pytest.approx(deviation / 0.8)
    assert one.in_four.empty  # two wordings were asked
    assert one.solid == 0  # all anchors are 0.8
    right = (saved_runs.made_up_facts()["hard"] < 0.8).mean()
    assert one.base == pytest.approx(right)
    # Two wordings are answered alike, the prompt after a wrong word never.
    assert one.deviation == pytest.approx(np.std([right, right, 0], ddof=1))
    table = monitor_of_models.stability_of_models(models)
    assert table["first four wordings"].isna().all()
    assert monitor_of_models.sentence_on_wordings(models) == ""
    assert monitor.ratio_of_sums(np.array([[deviation, 0.8]])) == pytest.approx(
        one.in_all["all"]
    )
