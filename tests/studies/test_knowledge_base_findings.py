"""Findings about knowledge bases: every wording, and what decides between them."""

import re

import numpy as np
import pandas as pd
import pytest

from helpers import published
from helpers.metrics import reliability
from helpers.published import knowledge_base as paper
from helpers.studies.findings import knowledge_base as told

DRAWS = {"n_resamples": 200}
RIGHT, WRONG, SILENT = "correct", "wrong", "uninformative"


def said(seen, unseen, steady=None, variant="four-shot"):
    """Return responses with these labels, and consistencies by label."""
    labels = [*seen, *unseen]
    rows = pd.DataFrame({"item": [f"q{i}" for i in range(len(labels))], "label": labels})
    rows["seen"] = [True] * len(seen) + [False] * len(unseen)
    rows["stratum"] = rows["seen"].map({True: "seen", False: "unseen"})
    rows["kind"] = rows["label"].replace(SILENT, "unsure")
    rows["consistency"] = rows["label"].map({RIGHT: 0.9, WRONG: 0.4} | (steady or {}))
    rows.loc[rows["label"] == SILENT, "consistency"] = np.nan
    return rows.assign(variant=variant, group="P17", type="other", question="Q?", text="unsure")


def level(function, seen, unseen):
    rows = said(seen, unseen)
    return function(reliability.by_setting(rows, 200), rows, "four-shot")


def contrast(function, seen, steady):
    return function(said(seen, [WRONG] * 4, steady), "four-shot", **DRAWS)


def change(before, after):
    rows = pd.concat([said([], before, variant="x"), said([], after, variant="y")])
    changes = reliability.changes(rows, ["x", "y"], ["UR"], 200)
    return told.prompt_effect(changes, rows, "x", "y", "UR")


def types(numbers, others):
    rows = said([], [*numbers, *others])
    return told.numbers_and_years(
        rows.assign(type=["time"] * len(numbers) + ["person"] * len(others)), **DRAWS
    )


def read(function, some, others, exposures):
    rows = said([*some, *others], [])
    counts = [exposures[0]] * len(some) + [exposures[1]] * len(others)
    return function(rows.assign(exposures=counts), "four-shot", **DRAWS)


def cost(low, high):
    row = {"change": "x → y", "before": 0.9, "after": 0.8, "n": 40}
    row |= {"estimate": (low + high) / 2, "low": low, "high": high}
    return told.known_cost(pd.DataFrame([row]), 64)


def tells(score):
    return told.consistency_tells("the answer is right", score, [1] * 20 + [0] * 20, **DRAWS)


def misled(n_false, n_right, steady=(0.5, 0.5)):
    rows = pd.DataFrame({"answer": ["the false one"] * n_false + [RIGHT] * n_right})
    held = np.repeat(steady, [n_false, n_right]) + np.tile([0.1, -0.1], 50)[: len(rows)]
    return rows.assign(consistency=held, exposures=16, false_exposures=48)


def shares(mostly, equally):
    """Return the finding on facts of two kinds, 30 of each, with as many false answers."""
    rows = pd.concat([misled(mostly, 30 - mostly), misled(equally, 30 - equally)])
    rows["false_exposures"] = [48] * 30 + [16] * 30
    return told.false_share(rows.reset_index(drop=True), **DRAWS)


def pairs(gains):
    gains = np.array(gains, dtype=float)
    return {
        "tuned": (pd.DataFrame({"NCR": 0 * gains}), pd.DataFrame({"NCR": gains})),
        "larger": (pd.DataFrame({"NCR": [np.nan]}), pd.DataFrame({"NCR": [1.0]})),
    }


def models(sign, noise=0.0):
    places = np.linspace(0, 1, 26)
    other = sign * places + noise * np.tile([1, -1], 13)
    return told.seen_and_unseen(pd.DataFrame({"NCR": places, "UR": other}), "four-shot")


MIXED = [RIGHT, WRONG, SILENT] * 8
CASES = {
    "net_correct": (
        lambda: level(told.net_correct, [RIGHT] * 30 + [WRONG] * 5, [SILENT]),
        lambda: level(told.net_correct, [RIGHT] * 5 + [WRONG] * 30, [SILENT]),
        lambda: level(told.net_correct, MIXED, [SILENT]),
    ),
    "restraint": (
        lambda: level(told.restraint, [RIGHT], [SILENT] * 30 + [WRONG] * 5),
        lambda: level(told.restraint, [RIGHT], [SILENT] * 5 + [WRONG] * 30),
        lambda: level(told.restraint, [RIGHT], [SILENT, WRONG] * 10),
    ),
    "right_steadier": (
        lambda: contrast(told.right_steadier, MIXED, {}),
        lambda: contrast(told.right_steadier, MIXED, {RIGHT: 0.2}),
        lambda: contrast(told.right_steadier, MIXED, {RIGHT: 0.4}),
    ),
    "consistency_lifts": (
        lambda: contrast(told.consistency_lifts, [RIGHT, WRONG] * 20, {}),
        lambda: contrast(told.consistency_lifts, [RIGHT] * 36 + [WRONG] * 4, {RIGHT: 0.2}),
        lambda: contrast(told.consistency_lifts, [RIGHT, WRONG] * 20, {RIGHT: 0.5, WRONG: 0.5}),
    ),
    "prompt_effect": (
        lambda: change([WRONG] * 30, [SILENT] * 25 + [WRONG] * 5),
        lambda: change([SILENT] * 30, [SILENT] * 5 + [WRONG] * 25),
        lambda: change([SILENT, WRONG] * 10, [WRONG, SILENT] * 10),
    ),
    "numbers_and_years": (
        lambda: types([WRONG] * 20, [SILENT] * 20),
        lambda: types([SILENT] * 20, [WRONG] * 20),
        lambda: types([SILENT, WRONG] * 10, [WRONG, SILENT] * 10),
    ),
    "reading_helps": (
        lambda: read(told.reading_helps, [RIGHT] * 20, [WRONG] * 20, (8, 7)),
        lambda: read(told.reading_helps, [WRONG] * 20, [RIGHT] * 20, (8, 7)),
        lambda: read(told.reading_helps, MIXED, MIXED, (8, 7)),
    ),
    "silence_when_unread": (
        lambda: read(told.silence_when_unread, [SILENT] * 20, [RIGHT] * 20, (0, 1)),
        lambda: read(told.silence_when_unread, [WRONG] * 20, [SILENT] * 20, (0, 1)),
        lambda: read(told.silence_when_unread, MIXED, MIXED, (0, 1)),
    ),
    "known_cost": (
        lambda: cost(-0.3, -0.1),
        lambda: cost(0.1, 0.3),
        lambda: cost(-0.1, 0.1),
    ),
    "consistency_tells": (
        lambda: tells([0.9] * 20 + [0.1] * 20),
        lambda: tells([0.1] * 20 + [0.9] * 20),
        lambda: tells([0.1, 0.9] * 20),
    ),
    "false_beliefs": (
        lambda: told.false_beliefs(misled(25, 5), **DRAWS),
        lambda: told.false_beliefs(misled(5, 25), **DRAWS),
        lambda: told.false_beliefs(misled(15, 15), **DRAWS),
    ),
    "false_share": (
        lambda: shares(25, 5),
        lambda: shares(5, 25),
        lambda: shares(15, 15),
    ),
    "false_steadier": (
        lambda: told.false_steadier(misled(15, 15, (0.8, 0.3)), **DRAWS),
        lambda: told.false_steadier(misled(15, 15, (0.3, 0.8)), **DRAWS),
        lambda: told.false_steadier(misled(16, 16), **DRAWS),
    ),
    "in_pairs": (
        lambda: told.in_pairs("tuned", pairs([0.1, 0.2] * 10), "NCR", **DRAWS),
        lambda: told.in_pairs("tuned", pairs([-0.1, -0.2] * 10), "NCR", **DRAWS),
        lambda: told.in_pairs("tuned", pairs([0.1, -0.1] * 10), "NCR", **DRAWS),
    ),
    "seen_and_unseen": (
        lambda: models(1, 0.1),
        lambda: models(-1, 0.1),
        lambda: models(0, 1.0),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_three_wordings(name):
    found = [case() for case in CASES[name]]
    assert [finding.decision for finding in found] == ["holds", "opposite", "undecided"]
    assert len({finding.claim for finding in found}) == 1
    assert len({finding.sentence for finding in found}) == 3
    for finding in found:
        assert finding.low <= finding.estimate <= finding.high
        assert " nan" not in finding.sentence
        assert "undefined" not in finding.sentence
        assert finding.sentence.endswith(".")
    assert re.search("do not decide|cannot tell", found[2].sentence)


@pytest.mark.parametrize(
    "finding",
    [
        lambda rows, changes: told.net_correct(reliability.by_setting(rows, 9), rows, "x"),
        lambda rows, changes: told.restraint(reliability.by_setting(rows, 9), rows, "x"),
        lambda rows, changes: told.right_steadier(rows, "x"),
        lambda rows, changes: told.consistency_lifts(rows, "x"),
        lambda rows, changes: told.prompt_effect(changes, rows, "x", "y", "UR"),
        lambda rows, changes: told.numbers_and_years(rows),
        lambda rows, changes: told.reading_helps(rows, "x"),
        lambda rows, changes: told.silence_when_unread(rows, "x"),
        lambda rows, changes: told.known_cost(changes, 64),
        lambda rows, changes: told.consistency_tells("it is so", [], []),
        lambda rows, changes: told.false_beliefs(rows.assign(answer="")),
        lambda rows, changes: told.false_share(rows.assign(answer="", false_exposures=0.0)),
        lambda rows, changes: told.false_steadier(rows.assign(answer="")),
        lambda rows, changes: told.in_pairs("larger", pairs([]), "NCR"),
        lambda rows, changes: told.seen_and_unseen(rows.assign(NCR=0.0, UR=0.0), "x"),
    ],
)
def test_without_responses_a_finding_is_undefined(finding):
    rows = said([RIGHT], [WRONG]).assign(exposures=0.0)[:0]
    found = finding(rows, reliability.changes(rows, ["x", "y"], n_resamples=9)[:0])
    assert found.decision == "undefined"
    assert found.sentence.endswith(".")


def test_a_model_that_says_nothing_has_levels_and_no_consistency():
    rows = said([SILENT] * 24, [SILENT] * 24)
    measured = reliability.by_setting(rows, 50)
    assert told.net_correct(measured, rows, "four-shot").decision == "undecided"
    assert told.restraint(measured, rows, "four-shot").decision == "holds"
    assert told.right_steadier(rows, "four-shot", 50).decision == "undefined"


def test_levels_count_the_questions_that_they_are_about():
    rows = said(MIXED, [SILENT] * 7)
    measured = reliability.by_setting(rows, 50)
    assert told.net_correct(measured, rows, "four-shot").n == 24
    assert told.restraint(measured, rows, "four-shot").n == 7


def test_the_balance_is_told_by_exposure():
    """The sample's share of rarely stated facts sets NCR, so each part is told."""
    rows = said([RIGHT] * 3 + [WRONG] * 3, [SILENT])
    rows["exposures"] = [8.0, 16.0, 7.0, 8.0, 1.0, 2.0, np.nan]
    measured = reliability.by_setting(rows, 50)
    # often: two right, one wrong; rarer: one right, two wrong
    assert told.net_correct(measured, rows, "four-shot").sentence.endswith(
        ": 33.3 for 3 facts stated 8 times or more, -33.3 for 3 rarer ones."
    )
    alike = rows.assign(exposures=9.0)
    assert told.net_correct(measured, alike, "four-shot").sentence.endswith("four-shot).")


def test_facts_never_read_are_told_from_unseen_qa():
    rows = said([RIGHT], [SILENT] * 3 + [WRONG] * 7).assign(
        exposures=[1.0] + [0.0] * 4 + [np.nan] * 6
    )
    measured = reliability.by_setting(rows, 50)
    found = told.restraint(measured, rows, "four-shot").sentence
    assert found.endswith(
        ": 75.0 % for 4 facts that it never read, 0.0 % for 6 questions of UnseenQA."
    )
    alone = rows.assign(exposures=np.nan)
    assert "UnseenQA" not in told.restraint(measured, alone, "four-shot").sentence


def test_few_questions_of_a_type_decide_nothing():
    few = types([WRONG] * 9, [SILENT] * 30)
    assert few.decision == "undecided"
    said_of_both = "UR is 100.0 % for other answers (30) and 0.0 % for numbers and years (9)"
    assert said_of_both in few.sentence
    assert "a difference of 100.0 [" in few.sentence  # other answers less numbers and years
    assert types([WRONG] * 10, [SILENT] * 30).decision == "holds"
    assert told.false_steadier(misled(9, 15, (0.8, 0.3)), 50).decision == "undecided"


def test_pairs_are_counted_on_both_sides():
    found = told.in_pairs("tuned", pairs([0.1, 0.2, 0.0, -0.1]), "NCR", 50)
    assert "NCR is higher in 2 pairs and lower in 1, by" in found.sentence
    assert found.n == 4


def test_the_papers_sentences_in_pairs():
    compared = paper.pairs()
    decisions = {
        (name, measure): told.in_pairs(name, compared, measure).decision
        for name, measure in (
            ("larger", "NCR"),  # "larger LLMs perform better on seen knowledge
            ("larger", "IUR"),  # but worse on unseen"
            ("tuned", "UR"),  # "both UR and IUR increase significantly"
            ("tuned", "NCR"),  # "the decline in NCR": not in pairs
            ("unsure shots", "CR"),  # "also lowers the correct rate"
        )
    }
    assert list(decisions.values()) == ["holds", "undecided", "holds", "undecided", "opposite"]


def test_counts_of_the_papers_tables():
    rows = pd.DataFrame({"pair": ["a", "b"], "low": [0.1, -0.1], "high": [0.3, 0.2]})
    one, all_of_them = (told.all_correlated(part, "four-two") for part in (rows, rows[:1]))
    assert one.decision == "opposite"
    assert "1 of the 2 correlations in the paper's Table 2 include 0: b." in one.sentence
    assert all_of_them.decision == "holds"
    about = published.load("kb_table4")
    found = told.cutoffs_printed(about)
    assert found.decision == "opposite"
    assert "7 of the 26 models" in found.sentence
    known = about[about["knowledge cutoff"] != "Unknown"]
    assert told.cutoffs_printed(known).sentence.endswith("for all 19 models.")


class TestThreeKinds:
    """The questions that are gone through by hand."""

    def test_they_show_what_a_response_can_be(self):
        rows = pd.concat(
            [
                said([WRONG, RIGHT], [WRONG, SILENT], variant="zero-shot"),
                said([WRONG, RIGHT], [WRONG, WRONG], variant="four-shot"),
            ]
        )
        items, lesson = told.three_kinds(rows, "four-shot")
        assert items == ["q1", "q3"]
        assert lesson.startswith(
            "Question 1 is answered correctly (four-shot). Question 2 is about"
        )
        assert lesson.endswith('No question is answered with "unsure" in this run (four-shot).')

        rows = pd.concat([rows, said([], [SILENT], variant="four-two").assign(item="q9")])
        items, lesson = told.three_kinds(rows, "four-shot")
        assert items == ["q1", "q3", "q9"]
        assert lesson.endswith('Question 3 is answered with "unsure" (four-two).')

    def test_what_was_read_most_comes_first(self):
        rows = said([RIGHT, RIGHT], []).assign(exposures=[4, 64])
        assert told.three_kinds(rows, "four-shot")[0] == ["q1"]

    def test_a_run_without_them_says_so(self):
        rows = said([SILENT] * 4, []).assign(kind="none")
        items, lesson = told.three_kinds(rows, "four-shot")
        assert items == ["q0", "q1", "q2"]
        assert lesson.count("No question") == 3
