"""The chapter that joins the four papers, run as a reader would run it."""

import shutil

import pandas as pd
import pytest

from book.tools import jobs, parameters
from helpers import runs
from notebooks.analysis import real_models as joint
from notebooks.analysis import smollm2
from notebooks.kit.published import paper_models
from tests.chapters import finished_runs

SMALL = ["n_bootstrap=50"]


@pytest.fixture(scope="module")
def given(root, tmp_path_factory):
    """Return the words that set few draws of families, and one contributed archive."""
    place = tmp_path_factory.mktemp("given")
    shutil.copy(root / "results" / "atlas-xs.zip", place)
    return [*SMALL, f"contributed={place}"]


@pytest.fixture(scope="module")
def folder(given, tmp_path_factory):
    return finished_runs.run("real_models", "", given, tmp_path_factory.mktemp("runs"))


def test_the_run_is_whole(folder, given):
    finished_runs.check_finished_run(folder, given)
    assert finished_runs.stream_text(folder, "stderr") == ""


def test_it_is_a_synthesis_and_asks_no_model(root, folder):
    declared = parameters.declared_parameters(root / "notebooks" / "real_models.ipynb")
    names = {"seed", "n_bootstrap", "least", "runs_dir", "contributed", "run_dir"}
    assert set(declared) == names
    assert declared["least"] == "probably"
    assert folder.parts[-2:] == ("synthesis", "real_models")


def test_the_saved_pairs_are_those_of_the_library(folder, metrics, compared, found):
    again = joint.correlations_of_measures(n_resamples=50)
    pd.testing.assert_frame_equal(metrics, again, check_dtype=False)
    manifest = runs.load_manifest(folder)
    assert manifest["n_models"] == len(paper_models.measures_of_all_papers()) == 69
    assert manifest["n_pairs"] == (again["n"] >= 6).sum()
    assert set("ρ of " + metrics.dropna(subset=["rho"])["pair"]) <= set(compared.index)
    assert found["studies_order_alike"].n == 15
    assert found["accuracy_rises_with_frequency"].n == 450
    share = smollm2.accuracy_by_fact_and_context(
        smollm2.read_answers_and_measures()[0]
    )[["none", "unrelated", "wrong", "reworded"]].mean()
    word = found["wrong_word_costs_more"]
    assert word.estimate == pytest.approx(share["unrelated"] - share["wrong"])
    cost = share["none"] - share["unrelated"]
    assert f"SmolLM2 {100 * cost:.1f} [" in word.sentence
    answers = smollm2.read_answers_and_measures()[0]
    changed = smollm2.changed_answers_by_fact(answers, "right").drop(columns="relation")
    wording = found["another_wording_changes_more"]
    mean = changed.mean()
    assert wording.estimate == pytest.approx(mean["reworded"] - mean["unrelated"])
    assert f" {100 * mean['reworded']:.1f} % " in wording.sentence
    assert f" {100 * mean['wrong']:.1f} %" in wording.sentence


def test_what_was_joined_and_what_is_in_doubt_can_be_downloaded(folder):
    tables = folder / "tables"
    listed = pd.read_csv(tables / "doubtful_matches.csv")
    assert listed.to_dict("records") == paper_models.doubtful_model_matches().to_dict(
        "records"
    )
    table = pd.read_csv(tables / "joined.csv", index_col="model")
    assert table.index.tolist() == paper_models.measures_of_all_papers().index.tolist()
    assert set(paper_models.published_measures().index) <= set(table)
    given = pd.read_csv(tables / "runs_beside.csv").query("origin == 'contributed run'")
    assert "atlas-xs (contributed)" in set(given["label"])
    assert set(given["measure"]) <= set(paper_models.published_measures().index)


def test_another_archive_makes_the_chapter_run_again(tmp_path):
    def made():
        settings = {"contributed": str(tmp_path)}
        job = jobs.Job("m/real_models", "real_models", settings=settings)
        return jobs.job_fingerprint(job, tmp_path)

    before = made()
    (tmp_path / "another.zip").touch()
    assert made() != before


def test_the_prose_states_what_was_computed(folder):
    three = pd.read_csv(folder / "tables" / "three_models.csv").drop(columns="model")
    assert all(three[column].is_monotonic_increasing for column in three)
    assert "Seven models have $\\rho = -1$" in finished_runs.markdown_text(folder)
    monitor = joint.models_in_both_papers(
        joint.LKE_ACCURACY, joint.MONITOR_MEASURES[0], "same family"
    )
    assert monitor["family"].value_counts().to_dict() == {
        "BLOOM": 4,
        "Llama 1": 2,
        "OPT": 1,
    }


@pytest.mark.slow
@pytest.mark.parametrize("least", ["same weights", "same family"])
def test_it_runs_at_every_certainty(least, tmp_path):
    done = finished_runs.run("real_models", "", [*SMALL, f"least={least}"], tmp_path)
    finished_runs.check_findings(done)
