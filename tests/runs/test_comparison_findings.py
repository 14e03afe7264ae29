"""What the comparison says it found: every claim through its wordings, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from helpers.findings import Finding
from helpers.runs.comparison import findings as claims
from helpers.studies import STUDIES, comparison, measure_named

COLUMNS = ["first", "second", "measure", "estimate", "low", "high", "n", "better"]
PAIR = [("m", "s")]
SIZES = {"s": 1e6, "m": 4e6, "m-chat": 4e6}
NONE = pd.DataFrame(columns=COLUMNS)


def gaps(*rows):
    """Return differences (first, second, measure, estimate, half a width) as the board does."""
    cells = []
    for first, second, name, estimate, reach in rows:
        low, high = estimate - reach, estimate + reach
        better = comparison._better(
            dict(first=first, second=second, low=low, high=high), measure_named(name)
        )
        cells.append((first, second, name, estimate, low, high, 90, better))
    return pd.DataFrame(cells, columns=COLUMNS)


def scores(**estimates):
    rows = [(m, name, e) for name, each in estimates.items() for m, e in zip("abc", each)]
    return pd.DataFrame(rows, columns=["model", "measure", "estimate"])


def said(finding, decision, *words):
    assert finding.decision == decision
    assert [word for word in words if word not in finding.sentence] == []
    assert "{" not in finding.sentence
    assert "nan" not in finding.sentence


@pytest.mark.parametrize(
    ("one", "two", "decision", "words"),
    [
        ([1, 0, 1, 0] * 9, [1, 0, 1, 1] * 9, "holds", "a and b find the same facts hard"),
        ([1, 0, 1, 0] * 9, [0, 1, 0, 1] * 9, "opposite", "hard for a is easy for b"),
        ([1, 0, 1, 0] * 9, [1, 1, 0, 0] * 9, "undecided", "These 36 facts do not decide"),
        ([1, 1, 1, 1] * 9, [1, 1, 0, 0] * 9, "undefined", "the same answer to every fact"),
    ],
)
def test_pairing(one, two, decision, words):
    pair = pd.DataFrame({"one": one, "two": two}, dtype=float)
    pair["difference"] = pair["one"] - pair["two"]
    strata = pd.Series(["P17", "P36"]).repeat(18)
    said(claims.pairing(pair, strata, ("a", "b"), 99, 0), decision, words)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        (
            [("a", "b", 0.2), ("c", "a", -0.3)],
            "holds",
            ["each of the other 2 models after Holm", "than b by 20"],
        ),
        ([("a", "b", -0.2), ("c", "a", -0.3)], "opposite", ["b is better by 20.0 [10.0, 30.0]"]),
        (
            [("a", "b", 0.05), ("c", "a", -0.02)],
            "undecided",
            ["No model leads in list accuracy: a has", "keep its lead over c, 2.0 [-8.0, 12.0]"],
        ),
        (  # the interval excludes 0, and among three comparisons such a lead may be chance
            [("a", "b", 0.11), ("c", "a", -0.3)],
            "undecided",
            ["keep its lead over b, 11.0 [1.0, 21.0]"],
        ),
    ],
)
def test_the_leader_has_to_beat_every_other(rows, decision, words):
    table = gaps(*((first, second, "right", gap, 0.1) for first, second, gap in rows))
    table = pd.concat([table, gaps(("b", "c", "right", 0.0, 0.1))])
    said(claims.leader(scores(right=[0.9, 0.8, 0.7]), table, "right"), decision, *words)


def test_the_leader_in_a_measure_of_which_less_is_better():
    table = gaps(("b", "a", "MONITOR", 0.2, 0.1))
    finding = claims.leader(scores(MONITOR=[0.3, 0.5]), table, "MONITOR")
    said(finding, "holds", "a leads in MONITOR", "by 0.200 [0.100, 0.300] (paired, 90 facts that")


@pytest.mark.parametrize("figures", [[], [0.5], [0.5, np.nan]])
def test_no_leader_of_fewer_than_two(figures):
    table = scores(right=figures).astype({"estimate": float})
    said(claims.leader(table, NONE, "right"), "undefined", "it takes two models")


@pytest.mark.parametrize(
    ("decisions", "decision", "words"),
    [
        (
            ["holds", "holds"],
            "holds",
            [
                "In each main measure",
                "3 comparisons (MONITOR: a, by 0.100; NCR: b, by 10.0 points)",
            ],
        ),
        (["opposite", "undecided"], "undecided", ["No model leads: ", "(MONITOR, NCR)"]),
        (["holds", "undecided"], "holds", ["In 1 of the 2", "(MONITOR: a, by 0.100);", "(NCR)"]),
        (["undefined", "undecided"], "undecided", ["No model leads: ", "(NCR)"]),
        (["undefined", "undefined"], "undefined", ["it takes two models"]),
        ([], "undefined", ["it takes two models"]),
    ],
)
def test_leads(decisions, decision, words):
    named = zip(("leader_MONITOR", "leader_NCR"), decisions)
    each = [Finding(claim, told, "x", 0.1, 0.0, 0.2, 9) for claim, told in named]
    figures = scores(MONITOR=[0.3, 0.5], NCR=[0.3, 0.5])
    table = gaps(*(("a", "b", name, -0.2, 0.1) for name in ("MONITOR", "NCR", "right")))
    said(claims.leads(each, figures, table), decision, *words)


@pytest.mark.parametrize(
    ("estimates", "decision", "words"),
    [
        ([0.3, 0.4], "holds", "All 2 differences"),
        ([0.12] + [0.0] * 9, "opposite", "None of the 1 differences"),
        ([0.4, 0.12] + [0.0] * 9, "undecided", "1 of the 2 differences"),
        ([0.01], "undecided", "None of the 1 comparisons"),
        ([], "undefined", "No difference can be tested"),
    ],
)
def test_what_survives_the_correction(estimates, decision, words):
    table = gaps(*(("a", "b", "right", estimate, 0.1) for estimate in estimates))
    said(claims.survive(table), decision, words)


@pytest.mark.parametrize("claim", [claims.larger, claims.tuned])
@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        ({"MONITOR": -0.4, "UR": 0.01}, "holds", "of 2 comparisons of"),
        (
            {"MONITOR": 0.4, "UR": 0.01},
            "opposite",
            "models do worse",
        ),
        ({"MONITOR": 0.4, "UR": 0.5}, "undecided", "models do better in some measures and worse"),
        ({"MONITOR": 0.01, "UR": 0.01}, "undecided", "It is not decided whether"),
        ({"coverage": 0.4}, "undefined", "it takes"),  # it has no better side
        ({}, "undefined", "it takes"),
    ],
)
def test_what_a_step_makes_better(claim, rows, decision, words):
    table = gaps(*(("m", "s", name, gap, 0.1) for name, gap in rows.items()))
    said(claim(table, PAIR), decision, words)


def test_measures_are_named_with_the_pairs_they_tell_apart():
    rises = (("m", "s", "UR", 0.4, 0.1), ("l", "m", "UR", 0.4, 0.1), ("l", "m", "NCR", 0.4, 0.1))
    pairs = [*PAIR, ("l", "m")]
    said(claims.larger(gaps(*rises), pairs), "holds", "of 3 comparisons", "(2 pairs), 3 favour")
    finding = claims.larger(gaps(*rises, ("m", "s", "right", -0.4, 0.1)), pairs)
    said(finding, "undecided", "larger (UR, 2 pairs; NCR) and 1", "smaller (list accuracy).")


@pytest.mark.parametrize(
    ("estimates", "decision", "words"),
    [
        ([0.2], "holds", "UR rises with size in one training run of each: from s to m by 20.0"),
        ([0.3, 0.2], "holds", "in each of 2 pairs, least from m to l by 20.0"),
        ([-0.2], "opposite", "UR falls with size in one training run of each: from s to m by 20.0"),
        ([0.05], "undecided", "from s to m it changes by 5.0"),
        ([0.4, -0.2], "undecided", "it rises in 1 of 2 pairs and falls in 1"),
        ([], "undefined", "no pair of models here differs in it alone"),
    ],
)
def test_what_rises(estimates, decision, words):
    pairs = [*PAIR, ("l", "m")]
    table = gaps(*((*pair, "UR", gap, 0.1) for pair, gap in zip(pairs, estimates)))
    said(claims.change(table, pairs, "size", "UR"), decision, words)


@pytest.mark.parametrize(
    ("estimate", "decision", "words"),
    [
        (-0.2, "holds", "m, has a better MONITOR than the smallest, s, by 0.200"),
        (0.2, "opposite", "m, has a worse MONITOR"),
        (0.0, "undecided", "These 90 facts do not decide"),
        (None, "undefined", "it takes two untuned models"),
    ],
)
def test_the_largest_against_the_smallest(estimate, decision, words):
    table = NONE if estimate is None else gaps(("m", "s", "MONITOR", estimate, 0.1))
    said(claims.ends(table, SIZES, "MONITOR"), decision, words)


def test_the_ends_are_of_one_format():
    labels = {"a": 1, "b": 2, "c (qa)": 3, "d (qa)": 4}
    table = gaps(("b", "a", "right", 0.2, 0.1), ("d (qa)", "a", "right", 0.9, 0.1))
    table = pd.concat([table, gaps(("d (qa)", "c (qa)", "right", 0.1, 0.01))])
    assert claims.ends(table, labels, "right").estimate == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        ([(0.9, 0.8, 0.95), (0.6, 0.3, 0.8)], "holds", "All 2 pairs of models find the same"),
        ([(-0.9, -0.95, -0.8)], "opposite", "The two models find different relations easy"),
        ([(0.9, 0.8, 0.95), (0.1, -0.3, 0.5)], "undecided", "is 0.10 [-0.30, 0.50], the pair"),
        ([(0.5, np.nan, np.nan)], "undecided", "These 30 relations do not decide"),
        ([(np.nan, np.nan, np.nan)], "undefined", "it takes two models"),
        ([], "undefined", "it takes two models"),
    ],
)
def test_relations(rows, decision, words):
    table = pd.DataFrame(rows, columns=["r", "low", "high"], dtype=float)
    said(claims.alike(table.assign(first="a", second="b"), 30), decision, words)


@pytest.mark.parametrize(
    ("rows", "decision", "words"),
    [
        ({"MONITOR": -0.4, "UR": 0.4}, "holds", "of 1 pair of models that two"),
        ({"MONITOR": 0.4, "UR": 0.5}, "opposite", "m is better than s in UR and worse in MONITOR"),
        ({"MONITOR": 0.4, "UR": 0.01}, "undecided", "(pairs of models: 1)"),
        ({}, "undefined", "it takes two models"),
    ],
)
def test_whether_measures_agree(rows, decision, words):
    table = gaps(*(("m", "s", name, gap, 0.1) for name, gap in rows.items()))
    said(claims.agree(table), decision, words)


@pytest.mark.parametrize(
    ("accuracies", "decision", "words"),
    [
        ([0.9, 0.8, 0.7, 0.6, 0.4, 0.5], "holds", "have a lower MONITOR: r = -0.94"),
        ([0.4, 0.5, 0.6, 0.7, 0.9, 0.8], "opposite", "have a higher MONITOR: r = 0.94"),
        ([0.5, 0.7, 0.6, 0.5, 0.7, 0.6], "undecided", "6 models do not decide"),
        (
            [0.9, 0.8, 0.7, 0.6, 0.5],
            "undefined",
            "no correlation is given over fewer than six models",
        ),
        ([0.9, 0.8, 0.7, 0.6, 0.5], "undefined", "and 5 here have both"),
        ([0.5] * 6, "undefined", "and 6 here have both"),
        ([], "undefined", "and 0 here have both"),
    ],
)
def test_across_models(accuracies, decision, words):
    scores = [(f"m{i}", "MONITOR", 0.1 * i) for i, _ in enumerate(accuracies)]
    scores += [(f"m{i}", "average", value) for i, value in enumerate(accuracies)]
    table = pd.DataFrame(scores, columns=["model", "measure", "estimate"])
    said(claims.correlation(table.astype({"estimate": float})), decision, words)


@pytest.mark.parametrize(
    ("moved", "apart", "decision", "words"),
    [
        (
            0.001,
            0.2,
            "holds",
            "“half the width” leaves MONITOR most room to move: for m, -0.0010 [-0.041",
        ),
        (0.001, 0.2, "holds", "Twice the outer end of that interval, 0.0820, is less than 0.2000"),
        (0.001, 0.08, "opposite", "interval, 0.0820, is not less than 0.0800"),
        (0.15, 0.2, "opposite", "not less than 0.2000, the smallest difference"),
        (0.001, 0.02, "undecided", "No two models here differ in MONITOR"),
    ],
)
def test_the_noise_floor(moved, apart, decision, words):
    rows = [("half the width", -moved, "MONITOR"), ("batches", 0.0, "MONITOR"), ("x", 9, "base")]
    far = pd.DataFrame(rows, columns=["variant", "estimate", "measure"]).assign(n=90)
    far["low"], far["high"] = far["estimate"] - 0.04, far["estimate"] + 0.04
    table = gaps(("m", "s", "MONITOR", apart, 0.05))
    said(claims.floor({"m": far}, table), decision, words)


def test_without_repeated_runs_there_is_no_floor():
    said(claims.floor({}, gaps(("m", "s", "MONITOR", 0.5, 0.1))), "undefined", "cannot be said")


def test_a_models_name_is_no_format():
    table = gaps(("{n}", "s", "UR", 0.4, 0.1))
    assert "{n}" in claims.change(table, [("{n}", "s")], "size", "UR").sentence
    main = [{m.name for m in study.MEASURES} & set(claims.MAIN) for study in STUDIES.values()]
    assert all(main)
