"""Every finding of the calibration chapter, in each of its wordings, on made-up tables."""

import re

import numpy as np
import pandas as pd
import pytest

from helpers.runs.panel import findings as told
from helpers.runs.panel import levels
from helpers.runs.panel.levels import ATLAS, SHOWN
from helpers.studies import STUDIES

nan = float("nan")
HOLDS, OPPOSITE, UNDECIDED, UNDEFINED = "holds", "opposite", "undecided", "undefined"
DRAW = {"n_resamples": 50, "seed": 0}


def contest(*rows, **more):
    """Return a contest's means: method, estimate, how far behind with its interval."""
    columns = ["method", "estimate", "behind", "behind_low", "behind_high"]
    table = pd.DataFrame(rows, columns=columns).assign(model="mean", n=168, **more)
    table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
    return table.assign(tied=~(table["behind_low"] > 0))


ONCE, LIST = ("asked once", 0.8, 0.0, 0.0, 0.0), ("IC-LKE", 0.6, 0.2, 0.1, 0.3)
AHEAD = ("MONITOR", 0.9, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        (
            [ONCE, LIST, ("MONITOR", 0.78, 0.02, -0.01, 0.06)],
            HOLDS,
            "0.80 [0.70, 0.90] for asking once, 0.78",
        ),
        ([ONCE, LIST, ("MONITOR", 0.78, 0.02, -0.1, 0.14)], UNDECIDED, "for MONITOR, the best of"),
        (
            [ONCE, ("MONITOR", 0.7, 0.1, 0.04, 0.16), LIST],
            HOLDS,
            "Asking once, in the wording that training used most, separates facts that were read "
            "from facts never read better than any of the four measures: area 0.80 [0.70, 0.90], "
            "against 0.70 [0.60, 0.80] for MONITOR, the "
            "best of the four (asking once minus the best: 0.100 [0.040, 0.160], 168 facts).",
        ),
        ([("asked once", 0.7, 0.2, 0.1, 0.3), AHEAD], OPPOSITE, "larger by 0.200 [0.100, 0.300]"),
        ([("asked once", 0.8, 0.1, -0.1, 0.3), AHEAD, LIST], UNDECIDED, "-0.100 [-0.300, 0.100]"),
        ([("asked once", nan, nan, nan, nan), LIST], UNDEFINED, "lacks facts"),
        ([], UNDEFINED, "lacks facts"),
    ],
)
def test_asked_once(rows, decision, words):
    found = told.asked_once(contest(*rows, contrast="shown or never"), "shown or never")
    assert (found.decision, words in found.sentence) == (decision, True), found
    assert found.n == (168 if decision != UNDEFINED else 0)


UNREAD, OTHER = "asked once, unread wording A", ("asked once, unread wording B", 0.5, 0.4, 0.3, 0.5)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        ([(UNREAD, 0.8, 0.1, 0.04, 0.16), OTHER, AHEAD], OPPOSITE, "area 0.80 and 0.50, against "),
        ([(UNREAD, 0.8, 0.1, -0.1, 0.3), OTHER, AHEAD, LIST], UNDECIDED, "-0.100 [-0.300, 0.100]"),
        ([(UNREAD, 0.8, 0, 0, 0), OTHER, LIST], HOLDS, "0.60 [0.50, 0.70] for IC-LKE"),
        ([AHEAD, LIST], UNDEFINED, "No wording that training left out"),
        ([], UNDEFINED, "No wording that training left out"),
    ],
)
def test_asking_once_is_also_read_in_wordings_that_no_model_read(rows, decision, words):
    found = told.asked_once_unread(contest(*rows))
    assert (found.decision, words in found.sentence) == (decision, True), found


SECOND = ("knowledge base", 0.8, 0.1, 0.04, 0.16)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        (
            [LIST, AHEAD, SECOND],
            HOLDS,
            "MONITOR (0.90) separates facts that were read from facts never read better than the "
            "knowledge base (0.80) and IC-LKE (0.60): by 0.10 [0.04, 0.16] for the nearest of "
            "them (areas; paired, 168 facts).",
        ),
        (
            [("multiplicity", 0.88, 0.02, -0.01, 0.05), AHEAD, LIST],
            HOLDS,
            "better than IC-LKE (0.60): by 0.20 [0.10, 0.30] for the nearest of them (areas; "
            "paired, 168 facts); not decided: multiplicity (0.88).",
        ),
        ([AHEAD, ("IC-LKE", 0.88, 0.02, -0.1, 0.1)], UNDECIDED, "is behind by 0.02 [-0.10, 0.10]"),
        ([AHEAD, ("IC-LKE", nan, nan, nan, nan)], UNDEFINED, "is undefined here"),
        ([], UNDEFINED, "is undefined here"),
    ],
)
def test_methods_differ(rows, decision, words):
    found = told.methods_differ(contest(*rows, contrast="shown or never"), "shown or never")
    assert (found.decision, words in found.sentence) == (decision, True), found


@pytest.mark.parametrize(
    ("estimate", "decision"), [(0.7, HOLDS), (0.3, OPPOSITE), (0.55, UNDECIDED), (nan, UNDEFINED)]
)
def test_trace(estimate, decision):
    row = ("asked once", estimate, 0.0, 0.0, 0.0)
    assert told.trace(contest(row, contrast="seldom or never")).decision == decision
    assert told.trace(contest(contrast="seldom or never")).decision == UNDEFINED


@pytest.mark.parametrize(
    ("slopes", "decision", "words"),
    [
        ([(1.0, 0.5, 1.5), (0.7, 0.6, 0.8)], HOLDS, "2.23] (m1, s) to 2.72 [1.65, 4.48] (m0"),
        ([(-1.0, -1.5, -0.5), (-0.7, -0.8, -0.6)], OPPOSITE, "at most 0.50 [0.45, 0.55] (m1, s)"),
        ([(1.0, 0.5, 1.5), (0.7, -0.1, 1.5), (np.inf, nan, nan)], UNDECIDED, "1 of 2 are above"),
        ([(nan, nan, nan)], UNDEFINED, "too few facts"),
        ([], UNDEFINED, "too few facts"),
    ],
)  # fmt: skip
def test_follows_exposure(slopes, decision, words):
    rows = pd.DataFrame(slopes, columns=["estimate", "low", "high"], dtype=float)
    rows["method"] = [f"m{place}" for place in range(len(rows))]
    rows = rows.assign(model="s", measure="log odds a doubling", n=90)
    found = told.follows_exposure(rows)
    assert (found.decision, words in found.sentence) == (decision, True), found


def verdict_table(columns, n=40, exposures=0, **more):
    """Return verdicts of one model: method to the share of the facts that it calls known."""
    place = np.arange(n)
    rows = [
        pd.DataFrame({"model": "m", "method": method, "item": [f"f{i}" for i in place],
                      "exposures": exposures, "known": (place < share * n).astype(float)})
        for method, share in columns.items()
    ]  # fmt: skip
    return ATLAS.mark(pd.concat(rows, ignore_index=True)).assign(**more)


@pytest.mark.parametrize(
    ("options", "free", "decision"),
    [(0.5, 0.0, HOLDS), (0.0, 0.5, OPPOSITE), (0.5, 0.5, UNDECIDED), (0.0, 0.0, UNDECIDED)],
)
def test_guesses(options, free, decision):
    table = verdict_table({"multiplicity": options, "knowledge base": free, "MONITOR": 1.0})
    found = told.guesses(table, **DRAW)
    assert (found.decision, found.n) == (decision, 40)
    assert told.guesses(table.assign(exposures=4), **DRAW).decision == UNDEFINED


def parts_table(first, second, better):
    """Return two parts of a method; `better` says which of them follows exposure."""
    random, exposures = np.random.default_rng(0), np.repeat([0, 64], 40)
    scores = {
        name: exposures / 64 * 3 * (better in (place, "both")) + random.random(80)
        for place, name in ((0, first), (1, second))
    }
    tables = [
        verdict_table({name: 0.5}, 80, exposures, score=score) for name, score in scores.items()
    ]
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize(
    ("better", "decision"), [(0, HOLDS), (1, OPPOSITE), (None, UNDECIDED), ("both", UNDECIDED)]
)
def test_parts(better, decision):
    table = parts_table("MONITOR: anchor", "MONITOR: deviation", better)
    found = told.anchor(table, "shown or never", **DRAW)
    assert (found.decision, found.n) == (decision, 80)
    assert told.anchor(table.head(0), "often or seldom", **DRAW).decision == UNDEFINED
    pair = ("multiplicity: accuracy", "multiplicity: self-consistency")
    assert told.key(parts_table(*pair, better), **DRAW).decision == decision


@pytest.mark.parametrize(
    ("kappas", "decision", "words"),
    [
        ([(0.5, 0.4, 0.6), (0.7, 0.6, 0.8)], HOLDS, "lowest for a0 and b, 0.50"),
        ([(-0.5, -0.6, -0.4), (0.7, 0.6, 0.8)], OPPOSITE, "of a0 and b is -0.50"),
        ([(0.1, -0.1, 0.3), (0.7, 0.6, 0.8)], UNDECIDED, "highest for a1 and b, 0.70"),
        ([(0.5, 0.1, 0.9), (0.4, 0.3, 0.5)], HOLDS, "lowest for a1 and b, 0.40"),
        ([(nan, nan, nan)], UNDEFINED, "all facts known, or none"),
    ],
)
def test_agreement(kappas, decision, words):
    table = pd.DataFrame(kappas, columns=["estimate", "low", "high"])
    table["first"] = [f"a{place}" for place in range(len(table))]
    found = told.agreement(table.assign(second="b", n=90))
    assert (found.decision, words in found.sentence) == (decision, True), found


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [(0.06, 0.2, HOLDS), (0.0, 0.04, OPPOSITE), (0.0, 0.2, UNDECIDED)],
)
def test_unanimous(low, high, decision):
    row = {"read": "never", "measure": "by 4", "estimate": (low + high) / 2, "n": 48}
    table = pd.DataFrame([row | {"low": low, "high": high}])
    found = told.unanimous(table)
    assert found.decision == decision
    assert "48 facts" in found.sentence
    assert told.unanimous(table.head(0)).decision == UNDEFINED


@pytest.mark.parametrize(
    ("rows", "decision"),
    [
        ([AHEAD, LIST], HOLDS),
        ([("MONITOR", 0.7, 0.2, 0.1, 0.3), ("IC-LKE", 0.9, 0.0, 0.0, 0.0)], OPPOSITE),
        ([AHEAD, ("IC-LKE", 0.8, 0.1, -0.1, 0.3)], UNDECIDED),
        ([], UNDEFINED),
    ],
)
def test_cheapest(rows, decision):
    methods = [("m", "MONITOR"), ("m", "IC-LKE")]
    index = pd.MultiIndex.from_tuples(methods, names=["model", "method"])
    price = pd.DataFrame({"tokens": [100.0, 20.0], "forwarded": [20.0, 90.0]}, index)
    assert told.cheapest(contest(*rows), price).decision == decision
    assert told.cheapest(contest(), price.head(0)).decision == UNDEFINED
    turned = {HOLDS: OPPOSITE, OPPOSITE: HOLDS}.get(decision, decision)
    assert told.cheapest(contest(*rows), price[::-1].set_axis(index)).decision == turned


@pytest.mark.parametrize(
    ("misled", "known", "decision"),
    [(1.0, 0.1, HOLDS), (0.1, 1.0, OPPOSITE), (0.5, 0.5, UNDECIDED)],
)
def test_false_beliefs(misled, known, decision):
    table = verdict_table({"IC-LKE": known, "multiplicity": known}, 20, false_exposures=9)
    named = (np.arange(20) < 20 * misled).astype(float)
    found = told.false_beliefs(table.assign(misled=np.tile(named, 2)), **DRAW)
    assert (found.decision, found.n) == (decision, 20)
    assert told.false_beliefs(table.assign(misled=nan), **DRAW).decision == UNDEFINED


OWN = levels.of("own", [0] * 30 + [1] * 30 + [5] * 30 + [80] * 30)
LARGE, LOW = ("asked once", 0.8, 0.1, 0.04, 0.2), ("asked once", 0.3, 0.0, 0.0, 0.0)
AREAS = {"contrast": "seldom or never"}


def _price():
    methods = [("m", "MONITOR"), ("m", "IC-LKE")]
    index = pd.MultiIndex.from_tuples(methods, names=["model", "method"])
    return pd.DataFrame({"tokens": [100.0, 900.0], "forwarded": [90.0, 20.0]}, index)


def _slopes(estimate, low, high):
    row = {"method": "x", "model": "s", "measure": "log odds a doubling", "n": 90}
    return pd.DataFrame([row | {"estimate": estimate, "low": low, "high": high}])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda of: told.asked_once(contest(ONCE, LIST, **AREAS), "seldom or never", of),
            "separates facts that occur 1 to 4 times in the searched corpus from facts absent "
            "from it better",
        ),
        (
            lambda of: told.methods_differ(
                contest(AHEAD, LIST, contrast="often or seldom"), "often or seldom", of
            ),
            "separates facts that occur 80 times or more in the searched corpus from facts that "
            "occur there 1 to 4 times better",
        ),
        (
            lambda of: told.methods_differ(contest(contrast=SHOWN), SHOWN, of),
            "facts that occur in the searched corpus from facts absent from it equally well is",
        ),
        (lambda of: told.trace(contest(LARGE, **AREAS), of), "Low counts already show: the "),
        (lambda of: told.trace(contest(LOW, **AREAS), of), "mostly lower for facts that occur 1"),
        (
            lambda of: told.trace(contest(("asked once", 0.5, 0, 0, 0), **AREAS), of),
            "higher for facts that occur 1 to 4 times in the searched corpus than for absent",
        ),
        (lambda of: told.follows_exposure(_slopes(1, 0.5, 1.5), of), "rise with the count in the"),
        (lambda of: told.follows_exposure(_slopes(-1, -2, -0.5), of), "fall with the count in the"),
        (lambda of: told.follows_exposure(_slopes(1, -2, 4), of), "a doubling of the count in the"),
        (
            lambda of: told.guesses(
                verdict_table({"multiplicity": 0.5, "knowledge base": 0.0}), of, **DRAW
            ),
            "Of 40 facts absent from the searched corpus, multiplicity",
        ),
        (
            lambda of: told.unanimous(
                pd.DataFrame([{"read": "absent", "measure": "by 4", "estimate": 0.5, "low": 0.4,
                               "high": 0.6, "n": 48}]), of),
            "does not prove that a fact occurs in the searched corpus",
        ),
        (
            lambda of: told.cheapest(contest(AHEAD, LIST), _price(), levels=of),
            "about whether a fact occurs in the searched corpus per token",
        ),
        (
            lambda of: told.false_beliefs(
                verdict_table({"IC-LKE": 1.0}, misled=nan, false_exposures=0), of, **DRAW
            ),
            "counts of your own do not say what the models read that is false",
        ),
        (
            lambda of: told.anchor(
                parts_table("MONITOR: anchor", "MONITOR: deviation", 0),
                "shown or never", of, **DRAW),
            "at separating facts that occur in the searched corpus from facts absent from it",
        ),
    ],
)  # fmt: skip
def test_counts_of_ones_own_are_no_readings(make, words):
    said = make(OWN).sentence
    assert words in said
    assert not re.search(r"never read|were read|was read|readings|training text", said)
    atlas = make(ATLAS).sentence
    assert "corpus" not in atlas


def test_a_question_without_an_answer_speaks_for_no_method():
    table = {"one": question("x"), "two": question("x")}
    empty = {"three": ("figure", True, contest(("x", nan, nan, nan, nan)))}
    assert told.no_leader(table | empty) == told.no_leader(table)


def test_examples_and_lesson_follow_the_groups_of_counts():
    exposures = pd.Series({"a": 0, "b": 1, "c": 80, "d": 5})
    known = pd.DataFrame({"x": [1.0, 0.0, 1.0, 1.0], "y": [0.0, 1.0, 1.0, 1.0]}, list("abcd"))
    assert told.examples(known, exposures, OWN) == ["a", "b", "c"]
    assert told.lesson(known.loc[list("abc")], exposures, OWN) == (
        "The fact absent from the searched corpus is called known by 1 of the methods; the fact "
        "that occurs there once is called known by 1 of the methods; the fact that occurs there "
        "80 times is called known by all of the methods."
    )


def question(*leaders):
    """Return a contest that these methods lead, tied if there are several."""
    rows = [
        (name, 0.9, 0.0, 0.0, 0.0) if name in leaders else (name, 0.5, 0.4, 0.3, 0.5)
        for name in ("x", "y")
    ]
    return "figure", True, contest(*rows)


@pytest.mark.parametrize(
    ("asked", "decision"),
    [
        ([("x",), ("y",)], HOLDS),
        ([("x",), ("x", "y"), ("y",)], HOLDS),
        ([("x",), ("x",)], OPPOSITE),
        ([("x",), ("x", "y")], UNDECIDED),
    ],
)
def test_no_leader(asked, decision):
    table = {f"question {place}": question(*names) for place, names in enumerate(asked)}
    found = told.no_leader(table)
    assert (found.decision, found.n) == (decision, len(asked))
    once = ("figure", True, contest(ONCE, LIST))
    said = "Asking once is among the best for 1 of the 1 questions that it can answer, and alone"
    assert said in told.no_leader({**table, "once": once}).sentence
    nothing = {"question": ("figure", True, contest())}
    assert told.no_leader(nothing).decision == UNDEFINED


def test_examples_show_the_lesson_and_say_so():
    exposures = pd.Series({"a": 0, "b": 0, "c": 4, "d": 8, "e": 64, "f": 128, "g": 32})
    counts = {"a": 0, "b": 3, "c": 0, "d": 2, "e": 1, "f": 4, "g": 4}
    verdicts = {item: [1.0] * n + [0.0] * (4 - n) for item, n in counts.items()}
    known = pd.DataFrame.from_dict(
        verdicts, "index", columns=[study.TITLE for study in STUDIES.values()]
    )
    picked = told.examples(known, exposures)
    assert picked == ["b", "d", "f"]
    assert told.lesson(known.loc[picked], exposures) == (
        "The fact never read is called known by 3 of the methods, a guess; the fact read 8 times "
        "is called known by 2 of the methods; the fact read 128 times is called known by all of "
        "the methods."
    )
    assert "by none of the methods" in told.lesson(known.loc[["c"]], exposures)
    assert told.examples(known.loc[["g"]], exposures) == []
    assert told.lesson(pd.DataFrame(), exposures) == "The panel has no such facts."
