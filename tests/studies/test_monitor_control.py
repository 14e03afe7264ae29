"""The study of MONITOR with unrelated words: they add rows and a control, and that is all."""

import pandas as pd
import pytest

from helpers import datasets, models, prompts
from helpers.metrics import anchors
from helpers.studies import monitor as study
from tests import page_examples

FACTS = {"relations": ["P17", "P30"], "n": 6, "seed": 3}


@pytest.fixture(scope="module")
def answers():
    facts = datasets.load("atlas", **FACTS)
    return study.ask(models.load("atlas-xs"), facts, n_frames=2, seed=3)


def test_the_papers_prompts_are_asked_as_ever_and_as_many_more(answers):
    facts = datasets.load("atlas", **FACTS)
    paper = prompts.monitor_probes(facts, datasets.prompt_frames("atlas"), 2)
    told = answers[answers["context"].isin(anchors.PAPER)]
    columns = ["item", "variant", "prompt", "continuation"]
    pd.testing.assert_frame_equal(told[columns].reset_index(drop=True), paper[columns])
    rows = answers[answers["context"] == "unrelated"]
    heard = rows["prompt"].str.split(". ", n=1, regex=False).str[0]
    heard = heard.groupby(rows["item"], sort=False).agg(list)
    assert heard.tolist() == datasets.draw_unrelated_words("atlas", facts, seed=3)
    assert len(rows) == 5 * len(facts)
    assert rows["text"].notna().all()
    rows = answers[answers["context"] == "noun"]
    heard = rows["prompt"].str.split(". ", n=1, regex=False).str[0]
    nouns = datasets.draw_control_nouns("atlas", facts, seed=3)
    assert [[word] for word in heard] == nouns
    assert len(answers) == len(paper) + (5 + 1) * len(facts)


def test_words_of_ones_own_are_said_in_place_of_those_drawn():
    facts = datasets.load("atlas", **FACTS | {"n": 1}).assign(
        unrelated=[["Tuesday"], ["Friday"]], noun=[["Moon"], []]
    )
    answers = study.ask(models.load("atlas-xs"), facts, n_frames=1)
    rows = answers.query("context == 'unrelated'")
    assert rows["prompt"].str.partition(". ")[0].tolist() == ["Tuesday", "Friday"]
    rows = answers.query("context == 'noun'")
    assert rows["prompt"].str.partition(". ")[0].tolist() == ["Moon"]
    scores = study.facts(answers)
    assert scores["noun_ird"].notna().tolist() == [True, False]
    assert scores["noun_accuracy"].notna().tolist() == [True, False]


@pytest.mark.parametrize("mode", ["teacher_forced", "free_running"])
def test_no_figure_of_the_paper_moves(answers, mode):
    before = answers[answers["context"].isin(anchors.PAPER)]
    found, paper = (study.facts(rows, anchor_mode=mode) for rows in (answers, before))
    controls = ["control_ird", "noun_ird", "noun_accuracy"]
    kept = paper.columns.drop(controls)
    pd.testing.assert_frame_equal(found[kept], paper[kept], check_exact=True)
    pd.testing.assert_frame_equal(
        study.summary(found), study.summary(paper), check_exact=True
    )
    verdicts = (study.verdict(rows) for rows in (found, paper))
    pd.testing.assert_frame_equal(*verdicts, check_exact=True)
    assert found[controls].apply(lambda column: column.between(0, 1)).all(axis=None)
    assert paper[controls].isna().all(axis=None)  # answers from before have no control


def test_the_page_on_the_architecture_changes_the_control_word(root, tmp_path):
    page = (root / "book/architecture.md").read_text(encoding="utf-8")
    section = page.split("(change-the-control-word)=")[1].split("\n## ")[1]
    examples = page_examples.example_blocks(section)
    _, names = page_examples.run_examples(examples, tmp_path)
    answers = names["answers"]
    heard = answers["prompt"].str.partition(". ")[0]
    assert heard[answers["context"] == "unrelated"].tolist() == ["Banana"] * 3
    assert len(heard[answers["context"] == "noun"]) == 3


def test_control_is_one_setting_for_both():
    facts = datasets.load("atlas", **FACTS | {"n": 1})
    answers = study.ask(models.load("atlas-xs"), facts, n_frames=1, control=False)
    assert set(answers["context"]) == set(anchors.PAPER)
