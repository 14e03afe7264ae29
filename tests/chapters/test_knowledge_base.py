"""The chapter on knowledge bases, run on a bundled model as a reader would run it."""

import numpy as np
import pandas as pd
import pytest

from helpers import runs
from helpers.metrics import accuracy, responses
from helpers.metrics import knowledge_base as kb
from notebooks.analysis import knowledge_base as analysis
from tests.chapters import finished_runs

SMALL = ["n_seen=1", "n_unseen=1", "n_choices=3", "n_truth=1", "n_panel=0"]
SMALL += ["n_bootstrap=40", "max_new_tokens=12"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run(
        "knowledge_base", "atlas-s", SMALL, tmp_path_factory.mktemp("runs")
    )


def test_the_run_is_whole(folder):
    finished_runs.check_finished_run(folder, SMALL)


def test_findings_say_what_the_tables_hold(found, answers, metrics, compared):
    now = metrics[metrics["setting"] == "four-shot"].set_index("measure")
    asked = answers[(answers["setting"] == "four-shot") & ~answers["seen"]]
    silent = (asked["label"] == "uninformative").groupby(asked["exposures"].isna())
    rates, sizes, told = (
        silent.mean(),
        silent.size(),
        found["silence_follows_the_question"],
    )
    assert told.estimate == pytest.approx(rates[True] - rates[False])
    assert told.n == len(asked)
    assert "facts that it never read" in told.sentence
    assert (rates * sizes).sum() / len(asked) == pytest.approx(
        now.loc["UR", "estimate"]
    )
    step = found["UR_rises_from_zero_shot_to_four_shot"]
    unseen = answers[~answers["seen"]]
    silent = (unseen["label"] == "uninformative").groupby(unseen["setting"]).mean()
    assert step.estimate == pytest.approx(silent["four-shot"] - silent["zero-shot"])
    labels = {
        "NCCR minus NCR",
        "UR of all unseen questions",
        "NCR, four-shot → four-two",
    }
    assert labels <= set(compared.index)
    assert compared.index.str.startswith("paper, ").sum() == 33


def test_every_question_is_asked_in_every_setting(answers):
    counts = answers.groupby("setting", sort=False)["item"].nunique()
    assert list(counts.index) == ["zero-shot", "four-shot", "four-two"]
    assert counts.min() == counts.max() >= 70
    shots = answers["prompt"].str.count("QUESTION: ")
    assert shots.groupby(answers["setting"]).agg(["min", "max"]).to_dict("index") == {
        "four-shot": {"min": 5, "max": 5},
        "four-two": {"min": 5, "max": 5},
        "zero-shot": {"min": 1, "max": 1},
    }
    unsure = answers["prompt"].str.count("ANSWER: unsure\n")
    assert unsure[answers["setting"] == "four-two"].eq(2).all()


def test_measures_can_be_computed_again_from_the_saved_answers(answers, metrics):
    again = analysis.measures_by_setting(answers, n_resamples=40, seed=0)
    saved = metrics[["setting", "measure", "estimate", "low", "high", "n"]]
    pd.testing.assert_frame_equal(again, saved.reset_index(drop=True))
    for name, rows in answers.groupby("setting"):
        seen = rows[rows["seen"]]
        found = metrics[metrics["setting"] == name].set_index("measure")["estimate"]
        assert found["CR"] == pytest.approx((seen["label"] == "correct").mean())
        assert found["NCR"] == pytest.approx(
            found["CR"] - (seen["label"] == "wrong").mean()
        )


def test_kinds_and_consistency_follow_from_what_was_saved(folder, answers):
    marked = responses.unseen_guesses_as_wrong(
        responses.mark_responses(answers.drop(columns=["kind", "label"]))
    )
    assert marked["kind"].tolist() == answers["kind"].tolist()
    choices = pd.read_parquet(folder / "choices.parquet")
    assert choices.groupby(["item", "variant"])["correct"].sum().eq(1).all()
    again = kb.add_consistency(answers, accuracy.mark_choices(choices))
    np.testing.assert_array_equal(again["consistency"], answers["consistency"])
    said_nothing = answers["label"] == "uninformative"
    assert answers["consistency"].isna().equals(said_nothing)


def test_the_truth_is_carried_along(answers):
    facts = answers[answers["exposures"].notna()]
    assert ((facts["exposures"] > 0) == facts["seen"]).all()
    assert answers.loc[answers["exposures"].isna(), "group"].str.match(r"T\d+$").all()


def test_the_manifest_counts_questions(folder, answers):
    manifest = runs.load_manifest(folder)
    assert manifest["n_questions"] == answers["item"].nunique()
    replies = answers[answers["label"] != "uninformative"]
    distinct = (replies["item"] + " " + replies["text"].str.strip()).nunique()
    assert manifest["choice_questions"] == 3 * distinct


def test_published_files_run_through(shared, tmp_path):
    sources = [str(shared / "data" / name) for name in ("nq_open", "triviaqa", "popqa")]
    words = ["dataset=seen_qa", f"sources={','.join(sources)}", "n_seen=6", *SMALL[1:]]
    words += ["prompt_settings=zero-shot", "setting=zero-shot", "choose_by=letter"]
    done = finished_runs.run("knowledge_base", "atlas-s", words, tmp_path)
    found = runs.load_answers(done)
    counts = found[found["seen"]].groupby(["variant", "group"])["item"].nunique()
    assert counts.tolist() == [6, 6, 6]
    choices = pd.read_parquet(done / "choices.parquet")
    assert set(choices["continuation"]) == {" A", " B", " C", " D", " E"}
    assert "exposures" not in found.columns
    assert runs.load_manifest(done)["dataset"]["name"] == "seen_qa"
    finished_runs.check_finished_run(done, words)


def test_findings_on_reading_can_be_computed_again(folder, found):
    """Those whose answers stand beside the chapter's own."""
    more = pd.read_parquet(folder / "answers_on_counted_facts.parquet")
    plain = more[more["setting"] == "four-shot"]
    assert set(plain["label"]) <= set(kb.RESPONSE_LABELS)
    silent = plain["label"] == "uninformative"
    told = found["silent_where_nothing_was_read"]
    expected = _difference_within(silent, plain["exposures"] == 0, plain["group"])
    assert told.estimate == pytest.approx(expected, nan_ok=True)
    read = plain[plain["exposures"] > 0]
    right, often = read["label"] == "correct", read["exposures"] >= 8
    told = found["right_answers_follow_reading"]
    expected = _difference_within(right, often, read["group"])
    assert told.estimate == pytest.approx(expected, nan_ok=True)
    misled = pd.read_parquet(folder / "answers_on_false_statements.parquet")
    always = misled[misled["exposures"] == 0]
    said = [
        row.text.strip().casefold() == row.false_object.casefold()
        for row in always.itertuples()
    ]
    right = [row.text.strip() in row.answers for row in always.itertuples()]
    told = found["false_statements_come_back"]
    assert told.estimate == pytest.approx(np.mean(said) - np.mean(right))


def _difference_within(values, is_first, groups):
    """Return the mean of one kind less the other's, over relations that have both."""
    gaps, weights = [], []
    for group in groups.unique():
        one = values[(groups == group) & is_first]
        other = values[(groups == group) & ~is_first]
        if len(one) and len(other):
            gaps.append(one.mean() - other.mean())
            weights.append(len(one) * len(other) / (len(one) + len(other)))
    return np.average(gaps, weights=weights) if gaps else np.nan
