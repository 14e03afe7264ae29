"""Grading a measure: areas, their errors, the file of scores, the sentence."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, stats
from helpers.datasets import testbed
from helpers.exchange import grading
from helpers.metrics import roc_curve
from helpers.stats.over_runs import mean_over_runs


def made_up_runs(n_relations=12, n_facts=30, runs=("one",), seed=0, signal=1.0):
    """Return made-up runs: the plain question follows what was read."""
    rng = np.random.default_rng(seed)
    parts = []
    for run in runs:
        rows = []
        for relation in range(n_relations):
            for fact in range(n_facts):
                level = int(rng.choice([0, 0, 2, 16, 64]))
                rows.append((run, f"{relation}-{fact}", f"P{relation}", level))
        table = pd.DataFrame(rows, columns=["run", "item", "relation", "exposures"])
        strength = signal * (table["exposures"] > 0)
        for column in ("qa0 right", "qa0 without subject", "monitor deviation"):
            table[column] = strength + rng.normal(size=len(table))
        for frame in range(1, 7):
            table[f"qa{frame} right"] = strength + rng.normal(size=len(table))
        table["false_exposures"] = 0
        table["pair_exposures"] = 0
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def scores_of(runs, column="qa0 right"):
    return runs[["run", "item"]].assign(score=runs[column])


def test_the_area_is_over_pairs_of_one_relation():
    rows = pd.DataFrame(
        {
            "item": list("abcd"),
            "relation": ["P1", "P1", "P2", "P2"],
            "exposures": [8, 0, 8, 0],
            "score": [9.0, 8.0, 2.0, 2.0],
            "run": "one",
        }
    )
    area = grading.areas_by_run(rows, "score")["one"]
    assert area.estimate == pytest.approx(0.75)  # one pair in order, one tied


def test_it_is_the_area_of_the_chapters():
    runs = made_up_runs()
    area = grading.areas_by_run(runs, "qa0 right")["one"]
    relations, _ = pd.factorize(runs["relation"])
    values = np.column_stack([runs["qa0 right"], runs["exposures"] > 0, relations])
    assert area.estimate == pytest.approx(
        float(roc_curve.area_within_relations(values))
    )


def test_the_error_by_hand():
    # Two read facts above 2 and 1 of the two that were not: shares 1 and .5; of the
    # others .5 and 1. Each part: two facts at .25 from their mean, n - 1 = 1.
    rows = pd.DataFrame(
        {
            "item": list("abcd"),
            "relation": "P1",
            "exposures": [8, 8, 0, 0],
            "score": [9.0, 7.0, 8.0, 6.0],
            "run": "one",
        }
    )
    area = grading.areas_by_run(rows, "score")["one"]
    assert area.estimate == pytest.approx(0.75)
    by_hand = 2 * (0.25**2 + 0.25**2) / 1 / 2  # variance of each kind's mean, added
    assert (area.influence**2).sum() == pytest.approx(by_hand)


def test_the_error_is_that_of_the_bootstrap():
    runs = made_up_runs(seed=3)
    _, low, high, *_ = mean_over_runs(grading.areas_by_run(runs, "qa0 right"))
    relations, _ = pd.factorize(runs["relation"])
    is_read = runs["exposures"] > 0
    values = np.column_stack([runs["qa0 right"], is_read, relations])
    draws = stats.bootstrap_replicates(
        values, roc_curve.area_within_relations, 2 * relations + is_read, 2000
    )
    assert (high - low) / 2 / 1.96 == pytest.approx(draws.std(), rel=0.1)


def test_a_measure_that_is_the_rival_orders_the_same():
    runs = made_up_runs()
    grades = grading.grade_measure(scores_of(runs), runs)
    own = grades.iloc[0]
    assert own["less_rival"] == 0
    assert "as one plain question does" in grading.grades_in_words(grades)


def test_a_better_and_a_worse_measure_are_told_apart():
    runs = made_up_runs(signal=1.0)
    rng = np.random.default_rng(1)
    better = scores_of(runs).assign(
        score=3.0 * (runs["exposures"] > 0) + rng.normal(size=len(runs))
    )
    worse = scores_of(runs).assign(score=rng.normal(size=len(runs)))
    for scores, word in ((better, "tells more"), (worse, "tells less")):
        grades = grading.grade_measure(scores, runs)
        assert word in grading.grades_in_words(grades)
    reversed_order = grading.grade_measure(better.assign(score=-better["score"]), runs)
    once = grading.grade_measure(better, runs)
    assert reversed_order["auc"][0] == pytest.approx(1 - once["auc"][0])


def test_facts_told_falsely_and_names_met_elsewhere_are_left_out():
    runs = made_up_runs()
    whole = grading.grade_measure(scores_of(runs), runs)["facts"][0]
    runs.loc[:9, "false_exposures"] = 4
    runs.loc[10:19, "exposures"] = 0
    runs.loc[10:19, "pair_exposures"] = 4
    assert grading.grade_measure(scores_of(runs), runs)["facts"][0] == whole - 20


def test_the_halves_make_the_whole():
    runs = made_up_runs()
    scores = scores_of(runs)
    facts = [
        grading.grade_measure(scores, runs, split=split)["facts"][0]
        for split in ("all", "choosing", "reporting")
    ]
    assert facts[0] == facts[1] + facts[2]


def test_more_runs_that_differ_widen_the_interval():
    runs = made_up_runs(runs=("one", "two", "three"))
    same = pd.concat(
        [made_up_runs().assign(run=run) for run in ("one", "two", "three")]
    )
    widths = []
    for table in (runs, same):
        areas = grading.areas_by_run(table, "qa0 right")
        _, low, high, *_ = mean_over_runs(areas)
        widths.append(high - low)
    one = grading.areas_by_run(made_up_runs(), "qa0 right")
    _, low, high, *_ = mean_over_runs(one)
    assert widths[1] == pytest.approx(high - low, rel=0.01)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"split": "third"}, '"all", "choosing" or "reporting"'),
        ({"scores": "none"}, "grading needs 20"),
        ({"scores": "strange"}, "has no fact P0-0-0 .360 such"),
        ({"scores": "read"}, "In no relation both facts that were read and"),
        ({"scores": "run"}, "has no run of nowhere: name one of one"),
    ],
)
def test_what_cannot_be_graded_is_refused(change, says):
    runs = made_up_runs()
    scores = scores_of(runs)
    if change.get("scores") == "strange":
        scores = scores.assign(item="P0-" + scores["item"])
    if change.get("scores") == "read":
        scores = scores[runs["exposures"] > 0]
    if change.get("scores") == "none":
        scores = scores.head(3)
    if change.get("scores") == "run":
        scores = scores.assign(run="nowhere")
    with pytest.raises(UserError, match=says):
        grading.grade_measure(scores, runs, split=change.get("split", "all"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model,fact\na,b\n", "lacks the column score"),
        (
            "model,fact,score\nxs-0,P17-0003,much\n",
            "line 2 has a score that is no finite number",
        ),
        (
            "model,fact,score\nxs-0,P17-0003,inf\n",
            "line 2 has a score that is no finite number",
        ),
        ("model,fact,score\nxs-0,f,1\natlas-xs,f,2\n", "scores fact f of xs-0 twice"),
    ],
)
def test_a_file_of_scores_that_says_something_else_is_refused(tmp_path, text, says):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        grading.read_scores(path)


def test_a_bundled_model_is_the_run_of_its_size(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,fact,score\natlas-xs,a,1\nxs-seed-1,a,2\n")
    assert grading.read_scores(path)["run"].tolist() == ["xs-0", "xs-seed-1"]


@pytest.mark.parametrize(
    "text",
    [
        "Model, FACT ,score\natlas-xs\u200b, a\u00a0,-2.5\n",
        "model;fact;score\natlas-xs;a;-2,5\n",
        'model\tfact\tscore\natlas-xs\ta\t"-2,5"\n',
    ],
)
def test_the_same_scores_from_other_programs(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    assert grading.read_scores(path).to_numpy().tolist() == [["xs-0", "a", -2.5]]


def test_a_comma_that_parts_cells_is_no_decimal_point(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('model,fact,score\natlas-xs,a,"2,500"\n')
    with pytest.raises(UserError, match="no finite number"):
        grading.read_scores(path)


@pytest.mark.slow
def test_random_scores_are_at_one_half_in_as_many_intervals_as_promised():
    """2,000 random scores of runs that come with the package."""
    runs = testbed.load_testbed_runs()
    runs = runs[runs["run"].isin(["xs-0", "s-0", "m-0"])]
    table = runs[testbed.is_exposure_clear(runs)]
    rng = np.random.default_rng(5)
    for names in (["xs-0"], ["xs-0", "s-0", "m-0"]):
        rows = table[table["run"].isin(names)]
        covered = 0
        for _ in range(2000):
            scores = rng.normal(size=len(rows))
            areas = grading.areas_by_run(rows.assign(score=scores), "score")
            _, low, high, *_ = mean_over_runs(areas)
            covered += low <= 0.5 <= high
        assert 0.93 <= covered / 2000 <= 0.97, names


@pytest.mark.slow
def test_the_command_grades_a_file(tmp_path):
    runs = testbed.load_testbed_runs().query("run == 'xs-0'")
    table = runs.rename(columns={"run": "model", "item": "fact", "qa0 right": "score"})
    path = tmp_path / "mine.csv"
    table[["model", "fact", "score"]].to_csv(path, index=False)
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "grade", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("mine: AUC 0.")
    assert "plain question" in done.stdout
