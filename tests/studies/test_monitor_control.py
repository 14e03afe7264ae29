"""The study of MONITOR with unrelated words: they add rows and a control, and that is all."""

import pandas as pd
import pytest

from helpers import datasets, models, prompts
from helpers.studies import monitor as study

FACTS = {"relations": ["P17", "P30"], "n": 6, "seed": 3}


@pytest.fixture(scope="module")
def answers():
    facts = datasets.load("atlas", **FACTS)
    return study.ask(models.load("atlas-xs"), facts, n_frames=2, seed=3)


def test_the_papers_prompts_are_asked_as_ever_and_as_many_more(answers):
    facts = datasets.load("atlas", **FACTS)
    paper = prompts.monitor_probes(facts, datasets.prompt_frames("atlas"), 2)
    told = answers[answers["context"] != "unrelated"]
    columns = ["item", "variant", "prompt", "continuation"]
    pd.testing.assert_frame_equal(told[columns].reset_index(drop=True), paper[columns])
    rows = answers[answers["context"] == "unrelated"]
    heard = rows["prompt"].str.split(". ", n=1, regex=False).str[0]
    heard = heard.groupby(rows["item"], sort=False).agg(list)
    assert heard.tolist() == datasets.draw_unrelated_words("atlas", facts, seed=3)
    assert len(rows) == 5 * len(facts)
    assert rows["text"].notna().all()


def test_words_of_ones_own_are_said_in_place_of_those_drawn():
    facts = datasets.load("atlas", **FACTS | {"n": 1}).assign(
        unrelated=[["Tuesday"], ["Friday"]]
    )
    rows = study.ask(models.load("atlas-xs"), facts, n_frames=1).query(
        "context == 'unrelated'"
    )
    assert rows["prompt"].str.partition(". ")[0].tolist() == ["Tuesday", "Friday"]


@pytest.mark.parametrize("mode", ["teacher_forced", "free_running"])
def test_no_figure_of_the_paper_moves(answers, mode):
    before = answers[answers["context"] != "unrelated"]
    found, paper = (study.facts(rows, anchor_mode=mode) for rows in (answers, before))
    kept = paper.columns.drop("control_ird")
    pd.testing.assert_frame_equal(found[kept], paper[kept], check_exact=True)
    pd.testing.assert_frame_equal(
        study.summary(found), study.summary(paper), check_exact=True
    )
    verdicts = (study.verdict(rows) for rows in (found, paper))
    pd.testing.assert_frame_equal(*verdicts, check_exact=True)
    assert found["control_ird"].between(0, 1).all()
    assert paper["control_ird"].isna().all()  # answers from before have no control
