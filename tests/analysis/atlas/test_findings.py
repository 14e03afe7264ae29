"""What the chapter on the atlas models says it found: every claim through its wordings."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from notebooks.analysis.atlas import family
from notebooks.analysis.atlas import findings as told
from notebooks.analysis.atlas.page import KNOWN
from helpers.stats import Interval, wilson

COLUMNS = ["model", "condition", "exposures", "n", "estimate", "low", "high"]


def records(*rows):
    """Return records of (condition, exposures, n, share), of "m" unless five are given."""
    cells = []
    for row in rows:
        model, (condition, level, n, share) = ("m", row) if len(row) == 4 else (row[0], row[1:])
        cells.append((model, condition, level, n, share, *wilson(round(share * n), n)[1:3]))
    return pd.DataFrame(cells, columns=COLUMNS)


def said(finding, decision, *words):
    assert finding.decision == decision
    assert [word for word in words if word not in finding.sentence] == []
    assert "{" not in finding.sentence
    assert "nan" not in finding.sentence


EXPOSURE, GUESS = f"none, {KNOWN}", f"commonest object, {KNOWN}"
CHAT = "chat, unsure, {} frames, new facts"
COMPARED = {  # each claim's two conditions, the first the one that holds where it is larger
    told.exposure: ((EXPOSURE, 64), (EXPOSURE, 0)),
    told.guesses: ((EXPOSURE, 0), (GUESS, 0)),
    "the_right_word_helps": (("right", 16), ("none", 16)),
    "a_wrong_word_hurts": (("none", 64), ("wrong", 64)),
    "a_wrong_word_is_more_than_distraction": (("unrelated", 64), ("wrong", 64)),
    "held_out_wordings_are_harder": (("question, trained", 64), ("question, held out", 64)),
    "examples_in_a_list_help": (("list, 20 examples", 64), ("list, 0 examples", 64)),
    "options_that_are_shown_hurt": (("choice of 4, not shown", 64), ("choice of 4, below", 64)),
    "wording_changes_more_than_order": (("changed by frame", 16), ("changed by order", 16)),
    "one_way_facts_stay_one_way": (("one way, as shown", 16), ("one way, reversed", 64)),
    partial(told.unsure, part="kept"): ((CHAT.format("kept"), 0), (CHAT.format("kept"), 256)),
    partial(told.unsure, part="new"): ((CHAT.format("new"), 0), (CHAT.format("new"), 256)),
}


def decided(claim, table, model="m"):
    """Return a claim's finding about a model; one of the module's tables is called by its name."""
    if callable(claim):
        return claim(table, model)
    kind = told.compared if claim in told.CONTRASTS else told.above_chance
    return kind(table, model, claim)


@pytest.mark.parametrize(
    ("shares", "decision"),
    [((0.8, 0.3), "holds"), ((0.3, 0.8), "opposite"), ((0.5, 0.48), "undecided")],
)
@pytest.mark.parametrize("claim", COMPARED)
def test_two_conditions(claim, shares, decision):
    rows = [(*where, 400, share) for where, share in zip(COMPARED[claim], shares)]
    said(decided(claim, records(*rows)), decision, f"{100 * shares[0]:.1f} %")


@pytest.mark.parametrize("claim", COMPARED)
def test_what_was_not_measured(claim):
    said(decided(claim, records(("other", 0, 9, 0.5))), "undefined", "was not measured for m")
    said(decided(claim, records()), "undefined", "was not measured for m")


def test_a_fact_of_several_answers_counts_once():
    rows = [("question, trained", 64, 400, 0.905), ("question, held out", 64, 200, 0.495)]
    finding = told.compared(records(*rows), "m", "held_out_wordings_are_harder")
    assert finding.n == 100
    assert finding.estimate == pytest.approx(0.41)  # of the answers: no fact is rounded


CHANCE = {  # claim to its condition and exposures, and the answers to a fact
    "letters_are_above_chance": ("choice of 4, by letter", 64, 1),
    "checks_are_above_chance": ("check, both", 64, 2),
    "one_of_four_subjects_is_picked": ("reading, four statements", -1, 1),
    "falsehoods_are_believed": ("false belief, falsehood given", 64, 1),
}


@pytest.mark.parametrize(
    ("share", "decision", "words"),
    [
        (0.9, "holds", "more often than"),
        (0.05, "opposite", "less often than"),
        (None, "undecided", "do not decide"),
    ],
)
@pytest.mark.parametrize("claim", CHANCE)
def test_one_share_and_chance(claim, share, decision, words):
    condition, level, answers = CHANCE[claim]
    table = records(
        (condition, level, 50 * answers, told.CHANCES[claim].null if share is None else share)
    )
    said(decided(claim, table), decision, words)


@pytest.mark.parametrize("claim", [*CHANCE, told.truth, told.half])
def test_one_share_that_was_not_measured(claim):
    said(decided(claim, records()), "undefined", "was not measured for m")


@pytest.mark.parametrize(
    ("true", "false", "decision"),
    [(0.7, 0.2, "holds"), (0.2, 0.7, "opposite"), (0.4, 0.4, "undecided")],
)
def test_truth_against_falsehood(true, false, decision):
    rows = [("truth", true), ("falsehood", false)]
    table = records(*((f"false belief, {kind} given", 32, 100, share) for kind, share in rows))
    said(told.truth(table, "m"), decision, "32 times each")


@pytest.mark.parametrize(
    ("shares", "decision", "words"),
    [
        ([0.1, 0.52, 0.9], "holds", "from 4 exposures on: 90.0"),
        ([0.9, 0.1, 0.8], "holds", "from 4 exposures on: 80.0"),
        ([0.1, 0.2, 0.3], "opposite", "at best 30.0"),
        ([0.1, 0.2, 0.52], "undecided", "at best 52.0"),
    ],
)
def test_half_of_the_facts(shares, decision, words):
    rows = [(EXPOSURE, level, 100, share) for level, share in zip((0, 2, 4), shares)]
    said(told.half(records(*rows), "m"), decision, words)


@pytest.mark.parametrize(
    ("shares", "decision", "words"),
    [
        ([0.2, 0.4, 0.8], "holds", "from s to m, by 20.0"),
        ([0.8, 0.4, 0.2], "opposite", "from s to m, by 40.0"),
        ([0.2, 0.4, 0.41], "undecided", "from m to l the share changes by 1.0"),
        ([0.2], "undefined", "it takes two sizes"),
        ([], "undefined", "it takes two sizes"),
    ],
)
def test_sizes(shares, decision, words):
    names = list("sml")[: len(shares)]
    table = records(*((name, EXPOSURE, 8, 400, share) for name, share in zip(names, shares)))
    said(told.larger(table, names), decision, words)


@pytest.mark.parametrize(
    ("ends", "decision"),
    [((0.9, 0.2), "holds"), ((0.2, 0.3), "opposite"), ((0.3, 0.2), "undecided")],
)
def test_copying_of_two_toys(ends, decision):
    rows = [(name, step, end * step / 9) for name, end in zip("ab", ends) for step in (1, 9)]
    learnt = pd.DataFrame(rows, columns=["model", "step", "estimate"])
    said(told.copying(learnt, "a", "b"), decision, "fter 9 steps")


@pytest.mark.parametrize(
    ("shares", "decision"),
    [
        ([0.1, 0.9], "holds"),
        ([0.9, 0.1], "opposite"),
        ([0.5, 0.52], "undecided"),
        ([0.1], "undefined"),
    ],
)
def test_the_toy(shares, decision):
    rows = [("toy", level, 90, share) for level, share in zip((0, 64), shares)]
    curve = pd.DataFrame(rows, columns=["measure", "exposures", "n", "estimate"])
    said(told.toy(curve), decision)


@pytest.mark.parametrize(
    ("ends", "decision", "words"),
    [
        ([0.95, 0.99], "holds", "each predicted at least 95.0 %"),
        ([0.2, 0.5], "opposite", "the best predicted 50.0 %"),
        ([0.2, 0.99], "undecided", "m0 predicted 20.0 %"),
        ([], "undefined", "No copying stage"),
    ],
)
def test_whether_all_copy(ends, decision, words):
    rows = [(f"m{i}", "copying", step, end * step) for i, end in enumerate(ends) for step in (0, 1)]
    curves = pd.DataFrame(rows, columns=["model", "stage", "step", "estimate"])
    said(told.trained(curves.astype({"estimate": float})), decision, words)


@pytest.mark.parametrize(
    ("live", "expected", "decision"),
    [
        (Interval(0.5, 0.4, 0.6, 90), 0.55, "holds"),
        (Interval(0.5, 0.4, 0.6, 90), 0.65, "opposite"),
        (Interval(0.5, np.nan, np.nan, 1), 0.65, "undecided"),
        (Interval(*[np.nan] * 3, 0), 0.65, "undefined"),
        (Interval(0.5, 0.4, 0.6, 90), np.nan, "undefined"),
    ],
)
def test_the_records(live, expected, decision):
    said(told.records_hold(live, expected, "m"), decision)


def answers(*rows):
    columns = ["exposures", "right", "text", "false_object"]
    return pd.DataFrame(rows, columns=columns).assign(object="Peru")


@pytest.mark.parametrize(
    ("rows", "chosen", "words"),
    [
        (
            [(0, True, "Peru", ""), (0, False, "Oslo", ""), (8, True, "Peru", "")],
            [1, 2],
            "never states is wrong; the one about the fact that it states 8 times is right.",
        ),
        (
            [(0, True, "Peru", ""), (8, False, "Oslo", ""), (8, True, " peru", "Peru")],
            [0, 1, 2],
            "lucky guesses); all those about facts that it states 8 times are wrong. For the last",
        ),
        (
            [(0, False, "Oslo", ""), (8, True, "Peru", ""), (8, False, "Oslo", "Rome")],
            [0, 1, 2],
            "The model gives no false object",
        ),
        ([(8, True, "Peru", "")], [0], "Too few exposures"),
        ([], [], "Too few exposures"),
    ],
)
def test_the_answers_shown_are_those_that_show_the_lesson(rows, chosen, words):
    shown, lesson = told.by_hand(answers(*rows).astype({"right": bool}))
    assert list(shown.index) == chosen
    assert words in lesson


def test_every_claim_is_decided_of_the_bundled_models():
    names = family.members()
    recorded = family.evaluation(names)
    claims = [*COMPARED, *CHANCE, told.truth, told.half]
    found = [decided(claim, recorded, name) for name in names for claim in claims]
    assert {finding.decision for finding in found} <= {"holds", "opposite", "undecided"}
    assert len({finding.claim for finding in found}) == len(claims)
