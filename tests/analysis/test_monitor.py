"""What the chapter on MONITOR computes: by hand, by another way, and where there is nothing."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, stats
from helpers.metrics import monitor as measure
from helpers.probing import attribution
from notebooks.analysis import monitor as analysis
from notebooks.kit import exposure_means, running_example
from tests.plots.figure_texts import draw_figure, label_texts, legend_texts

DRAWS = {"n_resamples": 200, "seed": 0}
TRAINING = pd.DataFrame(
    {"exposures": [0, 0, 4, 4, 4], "plain": [True, True, True, True, False]},
    index=list("abcde"),
)
HIDDEN = np.repeat(np.arange(5.0), 4)
NOISE = np.array([1, -1, -1, 1, -1, 1, 1, -1] * 2 + [1, -1, -1, 1])


def facts(n=40, **columns):
    """Return n facts of two relations with the columns given, each a number or n of them."""
    head = {"item": [f"f{i}" for i in range(n)], "relation": ["P17", "P36"] * (n // 2)}
    return pd.DataFrame(head | columns)


EMPTY = facts(0, counted=[], pfd=[], ird=[], anchor=[], deviation=[], exposures=[])


def test_the_running_example_is_lyon_where_it_is():
    facts = datasets.load("atlas", ["P36", "P17"])
    assert running_example.fact_of_running_example(facts, "P17")[
        "subject"
    ].tolist() == ["Lyon"]
    first = running_example.fact_of_running_example(facts, "P36")
    assert first["fact"].item() == facts.loc[facts["relation"] == "P36", "fact"].iloc[0]
    assert len(running_example.fact_of_running_example(facts, "no such")) == 1


def test_the_running_example_comes_first_and_the_fact_read_least_last():
    training = datasets.training_exposure("atlas-m")
    rows = pd.DataFrame({"relation": ["P36", "P17"]})
    three = analysis.three_example_facts("atlas", "P17", rows, training)
    assert three["subject"][0] == "Lyon"
    assert three["exposures"].iloc[[0, -1]].tolist() == [64, 0]
    other = analysis.three_example_facts(
        "atlas", "P37", rows, None
    )  # a relation that was not asked
    assert set(other["relation"]) == {"P36"}
    assert len(other) == 3


def test_hints_of_the_training_are_those_recorded(tmp_path):
    said = analysis.sentence_on_hints_in_training("atlas-m")
    assert "9,351 documents" in said
    assert "3,196 a wrong one, 3,114 any object" in said
    assert analysis.sentence_on_hints_in_training("some/other-model") == ""
    counts = {"hint, right": 1234, "hint, wrong": 5, "hint, other": 6}
    (tmp_path / "m").mkdir()
    told = json.dumps({"text": {"documents": counts}})
    (tmp_path / "m" / "training.json").write_text(told)
    assert "1,234 documents" in analysis.sentence_on_hints_in_training("m", tmp_path)


def test_facts_of_known_exposure_are_those_stated_plainly():
    table = pd.DataFrame(
        {"item": list("abcdex"), "relation": "P17", "none": [0, 1, 1, 1, 0, 1.0]}
    )
    assert exposure_means.facts_of_known_exposure(table, TRAINING)[
        "item"
    ].tolist() == list("abcd")
    assert exposure_means.facts_of_known_exposure(table, None).empty
    rows = exposure_means.means_by_exposure(
        table, {"none": "nothing first"}, TRAINING, **DRAWS
    )
    assert rows[["exposures", "estimate"]].to_numpy().tolist() == [[0, 0.5], [4, 1.0]]
    (whole,) = exposure_means.means_by_exposure(
        table, {"none": "nothing first"}, None, **DRAWS
    )["estimate"]
    assert whole == pytest.approx(4 / 6)


@pytest.mark.parametrize("training", [TRAINING, None])
def test_curves_where_exposures_are_known_and_dots_elsewhere(training):
    table = pd.DataFrame(
        {"item": list("abcde"), "relation": "P17", "none": 0.5, "wrong": 0.25}
    )
    titles = {"none": "nothing first", "wrong": "wrong answer first"}
    ax = draw_figure(
        exposure_means.draw_means_by_exposure(
            exposure_means.means_by_exposure(table, titles, training, **DRAWS),
            "accuracy",
        )
    )
    if training is None:
        assert label_texts(ax.get_yticklabels()) == list(titles.values())
    else:
        assert legend_texts(ax) == list(titles.values())
        assert label_texts(ax.get_xticklabels()) == ["0", "4"]


def test_accuracies_over_prompts_and_combinations():
    rows = [
        ("a", "frame0", "none", 1),
        ("a", "frame1", "none", 0),
        ("a", "right", "right", 1),
        ("a", "wrong0", "wrong", 0),
        ("a", "unrelated0", "unrelated", 1),
        ("a", "noun0", "noun", 1),
    ]
    marks = pd.DataFrame(rows, columns=["item", "variant", "context", "right"])
    grid = pd.DataFrame({"item": ["a"], "relation": "P17", "x": 1.0, "y": 0.5})
    both = pd.DataFrame({"item": ["a"], "relation": "P17", "control_ird": 0.25})
    both["noun_ird"] = 0.5
    found = analysis.control_ird_and_accuracies(
        both, marks.assign(relation="P17"), grid, **DRAWS
    )
    found = found.query("relation == 'all'").set_index("measure")["estimate"]
    assert found[["control_ird", "noun_ird"]].tolist() == [0.25, 0.5]
    assert found[["average", "maximum", "minimum", "base"]].tolist() == [1 / 3, 1, 0, 1]
    assert found[["grid average", "grid maximum", "grid minimum"]].tolist() == [
        0.75,
        1,
        0.5,
    ]
    assert "grid base" not in found


@pytest.mark.parametrize("sign", [1, -1])
def test_base_accuracy_is_held_fixed(sign):
    base = np.tile([0.2, 0.4, 0.6, 0.8], 5)
    table = pd.DataFrame({"MONITOR": HIDDEN - 9 * base, "base": base})
    table["deviation"] = sign * HIDDEN + 0.3 * NOISE + 5 * base
    r = table.corr().to_numpy()
    by_formula = (r[0, 2] - r[0, 1] * r[1, 2]) / np.sqrt(
        (1 - r[0, 1] ** 2) * (1 - r[1, 2] ** 2)
    )
    found = analysis.correlation_at_equal_accuracy(table)
    assert found.r == pytest.approx(by_formula)
    assert found.n == 20
    assert found.low < found.r < found.high
    assert np.sign([found.low, found.high]).tolist() == [sign, sign]
    assert np.isnan(analysis.correlation_at_equal_accuracy(table.head(2)).r)


def test_best_and_worst_are_compared_on_other_facts():
    sure = facts(x=1.0, y=0.0)
    assert analysis.gap_of_best_and_worst_prompts(sure, **DRAWS) == pytest.approx(
        stats.wilson_interval(40, 40)
    )
    random = np.random.default_rng(0)
    luck = facts(
        **{f"p{i}": random.integers(0, 2, 40).astype(float) for i in range(30)}
    )
    found = analysis.gap_of_best_and_worst_prompts(luck, **DRAWS)
    assert found.low < 0 < found.high
    assert np.isnan(
        analysis.gap_of_best_and_worst_prompts(facts(2, x=1.0, y=0.0), **DRAWS).estimate
    )


@pytest.mark.parametrize(("pfd", "ird"), [(0.2, 0.6), (0.4, 0.4), (0.4, 0.49)])
def test_range_over_weights(pfd, ird):
    """At the corners one part counts alone, so the range is that of the two degrees."""
    counted = facts(pfd=pfd, ird=ird, anchor=0.9, counted=True)
    found = analysis.monitor_range_over_weights(counted, **DRAWS)
    assert found.estimate == pytest.approx((ird - pfd) / 0.9)
    corners = [measure.monitor_score(counted, w) for w in ((1, 0, 0), (0, 1, 0))]
    assert found.estimate == pytest.approx(np.ptp(corners))
    assert np.isnan(analysis.monitor_range_over_weights(EMPTY, **DRAWS).estimate)


@pytest.mark.parametrize("change", [-0.3, 0.3, 0.0])
def test_first_readings(change):
    exposures = np.repeat([0, 1, 2, 256], 20)
    deviation = 0.5 + change * (exposures > 0) + np.tile([-0.01, 0.01], 40)
    truth = facts(80, exposures=exposures, deviation=deviation, anchor=0.5)
    assert analysis.monitor_drop_after_first_readings(truth, **DRAWS)[
        0
    ] == pytest.approx(-change / 0.5)
    for lacking in ("exposures > 0", "exposures == 0"):
        assert np.isnan(
            analysis.monitor_drop_after_first_readings(truth.query(lacking), **DRAWS)[0]
        )
    assert np.isnan(analysis.monitor_drop_after_first_readings(EMPTY, **DRAWS)[0])


def test_anchor_and_deviation_by_pairs_in_order():
    read = np.repeat([0, 0, 1, 2, 16, 64, 128, 256], 5)
    truth = facts(exposures=read, deviation=np.tile([0.4, 0.6], 20), anchor=read / 256)
    found = analysis.area_of_anchor_less_deviation(truth, **DRAWS)
    assert found.estimate == pytest.approx(0.5)  # an area of 1 less one of a half
    alone = truth.query("exposures > 0")
    assert np.isnan(analysis.area_of_anchor_less_deviation(alone, **DRAWS).estimate)


def test_scores_follow_exposure_within_relations_by_hand():
    """Of four facts in each of two relations, the second of which scores higher."""
    exposures = [0, 1, 2, 4] * 2
    truth = pd.DataFrame(
        {
            "item": [f"f{place}" for place in range(8)],
            "relation": ["P17"] * 4 + ["P36"] * 4,
            "exposures": exposures,
            "counted": [False, True, True, True] * 2,
            "anchor": 1.0,
            "deviation": [0.9, 0.6, 0.4, 0.5, 0.3, 0.2, 0.0, 0.1],
            "asked_once": [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9],
            "ird": [0.4, 0.3, 0.2, 0.1] * 2,
            "control_ird": [0.1, 0.2, 0.3, 0.4] * 2,
        }
    )
    by_score = analysis.stability_and_exposure(truth)
    # A fact that does not count has the stability 0, whatever its deviation.
    assert by_score["stability"].tolist() == pytest.approx(
        [0, 0.4, 0.6, 0.5, 0, 0.8, 1.0, 0.9]
    )
    # Ranks 1, 2, 4, 3 against 1, 2, 3, 4: r = 1 - 6 * 2 / (4 * 15) in each relation.
    rank = analysis.exposure_rank_correlation(by_score, "stability", **DRAWS)
    assert rank.estimate == pytest.approx(0.8)
    once = analysis.exposure_rank_correlation(by_score, "asked once", **DRAWS)
    assert once.estimate == pytest.approx(1)
    lead = analysis.exposure_rank_correlation_difference(
        by_score, "asked once", "stability", **DRAWS
    )
    assert (lead.estimate, lead.n) == (pytest.approx(0.2), 8)
    # Distances after wrong answers fall with exposure, those after other words rise.
    control = analysis.exposure_rank_correlation_difference(
        by_score, "after wrong answers", "after unrelated words", **DRAWS
    )
    assert control.estimate == pytest.approx(2)
    by_score.loc[0, "after unrelated words"] = np.nan
    control = analysis.exposure_rank_correlation_difference(
        by_score, "after wrong answers", "after unrelated words", **DRAWS
    )
    assert control.n == 7


def test_losses_and_gains_of_an_unrelated_word_by_hand():
    table = facts(
        8, none=[1, 1, 1, 1, 0, 0, 0, 0], unrelated=[1, 1, 0.5, 0, 0, 0, 0, 0.4]
    )
    truth = pd.DataFrame(
        {"item": ["f0", "f2", "f3", "f7"], "exposures": [64, 32, 256, 16]}
    )
    found = {
        name: row
        for name, row, _ in analysis.comparisons_of_unrelated_word(
            table.set_index("item"), truth, **DRAWS
        )
    }
    lost, gained, often = found.values()
    assert (lost.estimate, lost.n) == (0.375, 4)
    assert (gained.estimate, gained.n) == (0.1, 4)
    assert (often.estimate, often.n) == (0.5, 3)


def test_costs_by_form_of_the_object_by_hand():
    facts = datasets.load("atlas", ["P17", "P298"], n=2)  # words, and codes of capitals
    table = pd.DataFrame({"item": facts["fact"], "relation": facts["relation"]})
    is_word = facts["relation"] == "P17"
    table["none"] = 1.0
    table["unrelated"] = np.where(is_word, 0.8, 1.0)
    table["noun"] = np.where(is_word, [0.0, 1.0] * 2, 0.75)
    table["wrong"] = 0.4
    found = analysis.costs_by_form(table, facts, "atlas", **DRAWS)
    assert list(found.index) == ["words", "codes", "all"]
    assert found["facts"].tolist() == [2, 2, 4]
    costs = found.drop(columns="facts").map(lambda cell: float(cell.split(" [")[0]))
    assert costs.loc["words"].tolist() == [20, 50, 60, 40, 10]
    assert costs.loc["codes"].tolist() == [0, 25, 60, 60, 35]
    assert costs.loc["all"].tolist() == [10, 37.5, 60, 50, 22.5]
    older = table.assign(noun=np.nan)  # answers from before there were nouns
    assert analysis.costs_by_form(older, facts, "atlas", **DRAWS)["facts"].tolist() == [
        0
    ]


def test_attribution_keeps_tokens_in_order_though_they_repeat(monkeypatch):
    tokens = ["Danish", ".", "Ġthe", "Ġthe", "$"]
    parts = [
        {
            "step": step,
            "token": tokens,
            "step_token": said,
            "score": np.arange(5) * sign,
        }
        for step, (said, sign) in enumerate((("ĠFin", 1.0), ("nish", -1.0)))
    ]
    table = pd.concat([pd.DataFrame(part).assign(change=10.0) for part in parts])
    table["position"] = table.groupby("step").cumcount()
    lm = SimpleNamespace(at_hand=True)
    misled = pd.DataFrame(
        {"prompt": ["Danish. Who?"], "text": ["Finnish"], "heard": ["Finnish"]}
    )
    monkeypatch.setattr(attribution, "attribute_until_converged", lambda *asked: table)
    ax = draw_figure(analysis.draw_attribution_map(lm, misled))
    assert label_texts(ax.get_yticklabels()) == ["Danish", ".", "␣the", "␣the", "$"]
    assert label_texts(ax.get_xticklabels()) == ["␣Fin", "nish"]
    image = ax.get_images()[0]
    np.testing.assert_allclose(image.get_array(), [[n, -n] for n in range(5)])
    assert image.get_clim() == (-4, 4)
    assert ax.get_title(loc="left").endswith("sum to 10.00 of 10.00")
    assert label_texts(
        draw_figure(analysis.draw_attribution_map(lm, misled.head(0))).texts
    )
    assert label_texts(
        draw_figure(
            analysis.draw_attribution_map(SimpleNamespace(at_hand=False), misled)
        ).texts
    )
