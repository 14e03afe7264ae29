"""The chapter on prompt multiplicity, run on the bundled model as a reader would run it."""

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, models, runs
from tests import own_facts
from tests.chapters import finished_runs, forward_pass

KINDS = {"frames", "order", "demonstrations", "options"}
SMALL = ["n_panel=0", "n_items=12", "n_variations=4", "n_bootstrap=20"]
CLASSES = ["factuality", "randomness", "error"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run(
        "multiplicity", "atlas-s", SMALL, tmp_path_factory.mktemp("runs")
    )


def test_the_run_is_whole(folder):
    tables = {"three_questions", "overall", "beside_paper", "cells", "truth", "draws"}
    finished_runs.check_finished_run(
        folder, SMALL, {*tables, "kinds", "every_item", "this_run"}
    )


def test_one_question_gets_its_chapter(tmp_path):
    words = ["n_panel=0", "n_variations=2", "n_bootstrap=20", "n_items=1"]
    folder = finished_runs.run("multiplicity", "atlas-xs", words, tmp_path)
    finished_runs.check_finished_run(folder, words, {"truth", "kinds"})


def test_every_question_is_asked_in_every_way(answers):
    assert set(answers["kind"]) == KINDS
    ways = answers.groupby(["kind", "variation"])["item"].nunique()
    assert len(ways) == 16
    assert (ways == 12).all()
    assert (answers.groupby(["item", "variant"])["option"].count() == 5).all()
    assert (answers.groupby(["item", "variant"])["correct"].sum() == 1).all()


def test_metrics_can_be_computed_again_from_the_saved_answers(answers, metrics):
    mean = answers["logprobs"].map(np.mean)
    best = answers.loc[mean.groupby([answers["item"], answers["variant"]]).idxmax()]
    frames = best[best["kind"] == "frames"]
    table = frames.pivot_table(index="item", columns="variation", values="option")
    marks = frames.pivot_table(index="item", columns="variation", values="correct")
    agree = [
        np.mean([row[i] == row[j] for i in range(4) for j in range(4) if i != j])
        for row in table.to_numpy()
    ]
    steady = np.array(agree) >= 0.75  # of four prompts: all alike
    right = marks.mean(axis=1).to_numpy() > 0.5
    saved = metrics.query("level == 'run' and kind == 'frames' and relation == 'all'")
    saved = saved[~saved["measure"].str.contains(":")].set_index("measure")["estimate"]
    expected = {
        "accuracy": marks.to_numpy().mean(),
        "deviation": marks.mean().std(ddof=1),
        "ambiguous": table.ne(table[0], axis=0).any(axis=1).mean(),
        "ambiguous_binary": marks.ne(marks[0], axis=0).any(axis=1).mean(),
        "self_consistency": np.mean(agree),
        "factuality": (steady & right).mean(),
        "error": (steady & ~right).mean(),
        "randomness": (~steady).mean(),
        "default": marks[0].mean(),
    }
    assert saved[list(expected)].to_dict() == pytest.approx(expected)
    each = metrics.query("level == 'item' and kind == 'frames'")
    shares = each.pivot_table(index="item", columns="measure", values="estimate")[
        CLASSES
    ]
    assert (shares.sum(axis=1) == 1).all()
    assert shares.mean().sum() == pytest.approx(1)


def test_findings_rest_on_the_saved_metrics(found, metrics, compared):
    each = metrics.query("level == 'item' and kind == 'frames'")
    each = each.pivot_table(index="item", columns="measure", values="estimate")
    wrong = each[each["default"] == 0]
    assert found["errors_are_steady"].n == len(wrong)
    stay = compared.loc["errors that stay (against a half)"]
    assert stay["estimate"] == pytest.approx(wrong["error"].mean())
    change = compared.loc["answers that change under the prompts (against a half)"]
    assert change["estimate"] == pytest.approx(each["ambiguous"].mean())
    assert found["accuracy_moves"].n == 12
    row = compared.loc["accuracy at the default prompt, less factuality"]
    assert row["estimate"] == pytest.approx(
        each["default"].mean() - each["factuality"].mean()
    )
    planted = compared[compared.index.str.startswith("errors that stay, of facts ")]
    assert planted["n"].sum() == len(wrong)
    assert (planted["estimate"] * planted["n"]).sum() == pytest.approx(
        wrong["error"].sum()
    )


def test_the_control_draws_from_the_default_prompt(found, answers, metrics, compared):
    frames = answers[answers["kind"] == "frames"]
    changed, steady, right = (
        [],
        {},
        metrics.query("level == 'item' and kind == 'frames'"),
    )
    right = right[right["measure"] == "default"].set_index("item")["estimate"]
    for item, rows in frames.groupby("item", sort=False):
        logs = rows.loc[rows["variation"] == 0, "logprobs"].map(np.sum)
        alike = (np.exp(logs) / np.exp(logs).sum()) ** 4
        best = rows.loc[
            rows["logprobs"].map(np.mean).groupby(rows["variation"]).idxmax()
        ]
        changed.append((len(set(best["option"])) > 1) - (1 - alike.sum()))
        steady[item] = alike.sum()  # of four draws, three alike are not enough for 0.75
    assert found["answers_change"].estimate == pytest.approx(np.mean(changed))
    chance = pd.Series(steady)[right.index[right == 0]].mean()
    stay = compared.loc["errors that stay (against a half)", "estimate"]
    errors = found["errors_are_steady"]
    assert errors.estimate == pytest.approx(stay - chance, abs=0.02)
    assert f"{100 * stay:.1f} % " in errors.sentence


def test_answers_about_facts_never_read_are_compared_with_draws(
    found, answers, metrics
):
    known = datasets.training_exposure("atlas-s").loc[answers["item"].unique()]
    is_never_read = (known["false_exposures"] == 0) & (known["exposures"] == 0)
    never = known.index[is_never_read]
    each = metrics.query("level == 'item' and kind == 'frames'")
    random = each[each["measure"] == "randomness"].set_index("item")["estimate"]
    frames = answers.query("kind == 'frames' and variation == 0")
    chances = []
    for item in never:
        logs = frames.loc[frames["item"] == item, "logprobs"].map(np.sum)
        chances.append(((np.exp(logs) / np.exp(logs).sum()) ** 4).sum())
    steady = found["steady_is_not_known"]
    expected = (1 - random[never]).mean() - np.mean(chances)
    assert steady.estimate == pytest.approx(expected, abs=0.02)
    assert steady.n == len(never) == 3


def test_the_papers_rule_sorts_steady_answers_by_the_default_prompt(tmp_path):
    words = [*SMALL, "correct_by=default", "kinds=frames", "n_variations=10"]
    done = finished_runs.run("multiplicity", "atlas-xs", words, tmp_path)
    each = runs.load_metrics(done).query("level == 'item' and kind == 'frames'")
    each = each.pivot_table(index="item", columns="measure", values="estimate")
    assert (each["default"] >= each["factuality"]).all()
    assert (each["default"] <= 1 - each["error"]).all()
    told = pd.read_csv(done / "tables" / "compared.csv").set_index("what")["decision"]
    assert (
        told["ambiguity at 10 prompts: frames, less the next kind, none"] == "undefined"
    )


def test_probabilities_are_those_of_one_forward_pass_an_option(answers):
    lm = models.load("atlas-s")
    for row in answers.groupby("kind").tail(2).itertuples():
        forward_pass.check_logprobs(lm, row)


def test_no_question_stands_among_its_own_demonstrations(answers):
    shots = answers[answers["kind"].isin(["order", "demonstrations"])]
    for row in shots.drop_duplicates(["item", "variant"]).itertuples():
        *before, asked = row.prompt.split("\n")
        assert len(before) == 6
        assert not any(line.startswith(asked) for line in before)


def test_planted_beliefs_are_asked_beside_facts_never_shown(folder, answers):
    known = datasets.training_exposure("atlas-s").loc[answers["item"].unique()]
    assert (known["false_exposures"] > 0).sum() == 3
    plain = known[known["false_exposures"] == 0]
    assert (plain["exposures"] == 0).sum() == 3
    texts = answers.groupby("item")["text"].agg(set)
    for item, row in known[known["false_exposures"] > 0].iterrows():
        assert row["false_object"] in texts[item]
    truth = pd.read_csv(folder / "tables" / "truth.csv", index_col="lesson")
    assert truth["n"].sum() == 12


def test_own_questions_run_through(tmp_path):
    path = tmp_path / "own.csv"
    lines = [f"Is {n} even?,yes | no,{'yes' if n % 2 == 0 else 'no'}" for n in range(8)]
    path.write_text("\n".join(["question,options,answer", *lines]), encoding="utf-8")
    words = [f"dataset={path}", "n_variations=3", "n_bootstrap=20", "n_shots=3"]
    done = finished_runs.run("multiplicity", "atlas-s", words, tmp_path / "runs")
    found = runs.load_answers(done)
    assert set(found["kind"]) == {"demonstrations", "order", "options"}
    first = found.query("kind == 'options' and variation == 0 and item == 'row-0000'")
    assert first["prompt"].unique().tolist() == [
        "QUESTION: Is 0 even?\nOPTIONS: yes; no\nANSWER:"
    ]
    assert runs.load_manifest(done)["dataset"]["name"] == "own"


def test_own_facts_are_asked_in_the_words_they_have(tmp_path):
    place = own_facts.write_own_facts(tmp_path / "books", 12)
    words = [
        f"dataset={place}",
        "n_variations=3",
        "n_bootstrap=20",
        "n_items=4",
        "n_options=4",
    ]
    done = finished_runs.run("multiplicity", "atlas-s", words, tmp_path / "runs")
    found = runs.load_answers(done).groupby("kind")["variation"].nunique()
    assert found.to_dict() == {
        "frames": 2,
        "order": 3,
        "demonstrations": 3,
        "options": 3,
    }
    said = finished_runs.printed_text(done)
    assert "Questions have 3 options, not 4" in said
    assert '"frames" has 2 variations, not 3' in said
