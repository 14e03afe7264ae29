"""The MONITOR chapter, run on the bundled model as a reader would run it."""

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, models, probing, prompts, runs
from helpers.metrics import anchors, monitor
from tests.chapters import finished_runs

SMALL = [
    "n_facts=4",
    "n_panel=0",
    "relations=P17,P36,P30",
    "attribution=no",
    "n_bootstrap=50",
]
SMALL += ["n_focus=8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run(
        "monitor", "atlas-s", SMALL, tmp_path_factory.mktemp("runs")
    )


def test_the_run_is_whole(folder):
    finished_runs.check_finished_run(folder, SMALL)
    assert 0 < runs.load_manifest(folder)["coverage"] <= 1


def test_facts_that_were_not_read_plainly_serve_as_examples(tmp_path):
    told = datasets.training_exposure("atlas-xs")
    seeds = (
        datasets.load("atlas", ["P36"], n=1, seed=seed)["fact"].item()
        for seed in range(99)
    )
    seed = next(seed for seed, fact in enumerate(seeds) if not told.loc[fact, "plain"])
    words = [
        "n_facts=1",
        "relations=P36",
        f"seed={seed}",
        "n_panel=0",
        "n_bootstrap=20",
    ]
    words += ["n_focus=4", "attribution=no"]
    finished_runs.check_finished_run(
        finished_runs.run("monitor", "atlas-xs", words, tmp_path), words
    )


def test_metrics_can_be_computed_again_from_the_saved_answers(answers, metrics):
    assert len(answers) == 3 * 4 * (13 + 5 + 1)
    known = anchors.known_facts(answers)
    scores = monitor.fact_scores(answers, known)
    assert known.any()
    saved = metrics.query("level == 'run' and measure == 'MONITOR'")["estimate"].item()
    assert saved == pytest.approx(monitor.monitor_score(scores), abs=1e-12)
    facts = metrics.query("level == 'fact' and measure == 'pfd'").set_index("item")[
        "estimate"
    ]
    again = scores.set_index("item")["pfd"]
    pd.testing.assert_series_equal(facts, again, check_names=False)


def test_the_grid_is_every_frame_after_every_wrong_word(folder, metrics):
    parameters = runs.load_manifest(folder)["parameters"]
    lm = models.load("atlas-s")
    facts = datasets.load(
        "atlas", parameters["relations"], n=parameters["n_facts"], seed=0
    )
    frames = datasets.prompt_frames("atlas", parameters["relations"])
    asked = prompts.question_probes(facts, frames, contexts=("wrong",), n_frames=7)
    said = probing.generate(lm, asked, progress=False)
    right = said["text"].str.strip().str.rstrip(".") == said["object"]
    cells = right.groupby(
        [said["relation"], said["frame"], said["context_index"]]
    ).mean()
    assert len(cells) == 3 * 7 * 5
    saved = metrics.query("level == 'relation'").pivot_table(
        "estimate", "relation", "measure"
    )
    for how, reduced in {"average": "mean", "maximum": "max", "minimum": "min"}.items():
        expected = cells.groupby(level=0).agg(reduced)
        assert saved[f"grid {how}"].to_dict() == pytest.approx(expected.to_dict())


def test_findings_and_comparisons_hold_what_was_counted(
    found, compared, answers, metrics
):
    saved = metrics.query("level == 'run' and measure == 'MONITOR'")
    assert found["moves_by_more_than_half"].estimate == saved["estimate"].item()
    right = answers["text"].str.strip().str.rstrip(".") == answers["object"]
    rates = right.groupby([answers["context"], answers["item"]]).mean()
    alone = (answers["context"] == "none") & (answers["frame"] == 0)
    base = right[alone].groupby(answers["item"]).mean()
    cost = (base - rates["wrong"]).mean()
    label = "accuracy: nothing first, less a wrong answer first"
    assert compared.loc[label, "estimate"] == pytest.approx(cost)
    loss = (rates["unrelated"] - rates["wrong"]).mean()
    assert compared.loc["wrong word costs accuracy", "estimate"] == pytest.approx(loss)
    label = "accuracy: a noun first, less a wrong answer first"
    loss = (rates["noun"] - rates["wrong"]).mean()
    assert compared.loc[label, "estimate"] == pytest.approx(loss)
    net = 100 * (base - rates["unrelated"]).mean()
    assert f" {net:.1f} [" in found["wrong_word_costs_accuracy"].sentence
    label = "an unrelated word: {}, of the facts {} with nothing first"
    lost, gained = (
        compared.loc[label.format(*words), "estimate"]
        for words in (("lost", "right"), ("gained", "wrong"))
    )
    known = base.mean()  # the net loss is made of both
    assert lost * known - gained * (1 - known) == pytest.approx(net / 100)


def test_both_readings_agree_where_the_model_says_the_object(answers):
    said = answers["text"].str.strip() == answers["object"]
    pairs = zip(answers["anchor_logprobs"], answers["logprobs"])
    gaps = np.array(
        [np.abs(np.exp(free) - np.exp(forced)).max() for free, forced in pairs]
    )
    assert said.sum() > 20
    assert gaps[said].max() < 1e-4
    assert (
        gaps[~said].max() > 1e-4
    )  # elsewhere the later tokens follow the model's own words


def test_second_run_takes_all_from_the_cache_and_gives_the_same(folder):
    cache = folder.parent / "cache"
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*.parquet")}
    first = runs.load_metrics(folder)
    finished_runs.run("monitor", "atlas-s", SMALL, folder.parent.parent)
    assert {
        path: path.stat().st_mtime_ns for path in cache.rglob("*.parquet")
    } == before
    pd.testing.assert_frame_equal(runs.load_metrics(folder), first)


def test_fktc_folder_runs_through(shared, tmp_path):
    data = shared / "data" / "fktc" / "FKTC"
    words = [f"dataset={data}", "n_facts=1", "match=starts_with", "attribution=no"]
    done = finished_runs.run(
        "monitor", "atlas-xs", [*words, "n_bootstrap=20"], tmp_path
    )
    counts = runs.load_answers(done).groupby("item").size()
    relations = runs.load_answers(done).groupby("item")["relation"].first()
    assert relations.nunique() == 20
    assert (counts[relations.isin(["P264", "P276"])] == 12 + 5 + 1).all()
    assert (counts[~relations.isin(["P264", "P276"])] == 13 + 5 + 1).all()
    assert runs.load_manifest(done)["dataset"]["name"] == "fktc"
