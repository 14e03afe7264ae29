"""What the chapter on latent knowledge says of a run, through all branches, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from helpers.studies.findings import latent_knowledge as claims

DRAW = {"n_resamples": 200, "seed": 0}
MORE, LESS = np.array([1.0] * 30 + [0.0] * 10), np.array([1.0] * 5 + [0.0] * 35)
EVEN, ODD = np.tile([1.0, 0.0], 20), np.tile([0.0, 1.0], 20)
NONE = np.array([])
PAIRS = {
    "holds": (MORE, LESS),
    "opposite": (LESS, MORE),
    "undecided": (EVEN, ODD),
    "undefined": (NONE, NONE),
}


def facts(right, **columns):
    """Return one row a fact, the facts of two relations in turn."""
    made = {"item": [f"f{k}" for k in range(len(right))], "right": right, **columns}
    return pd.DataFrame(made).assign(
        relation=["P17" if k % 2 else "P36" for k in range(len(right))]
    )


def ways(by, rights, **columns):
    """Return the facts once for each way of asking."""
    tables = [facts(right, **{by: way, **columns}) for way, right in rights.items()]
    return pd.concat(tables, ignore_index=True)


def spoilt(losses):
    """Return the places of a list behind pairs of each kind, with what their objects lose."""
    tables = [
        pd.DataFrame({"variant": f"{kind}, block", "place": range(len(loss)), "change": -loss})
        for kind, loss in losses.items()
    ]
    return pd.concat(tables).assign(status="other")


def draws(few, many):
    """Return two draws of examples that disagree on the facts marked, by number of examples."""
    told = {1: few, 50: many}
    same = ways("examples", {n: 0 * marks for n, marks in told.items()}, draw=0)
    return pd.concat([same, ways("examples", told, draw=1)])


def sure(first, second):
    """Return facts of which the model is sure, and as many of which it is not."""
    tops = [0.9] * len(first) + [0.2] * len(second)
    return facts(np.concatenate([first, second]), top=tops)


FINDINGS = {
    "above_chance": lambda a, b: claims.above_guessing(facts(a, chance=b), "m", "chance", **DRAW),
    "above_commonest": lambda a, b: claims.above_guessing(
        facts(a, commonest=b), "m", "commonest", **DRAW
    ),
    "more_examples": lambda a, b: claims.more_examples(ways("examples", {50: a, 1: b}), **DRAW),
    "still_rising": lambda a, b: claims.still_rising(
        ways("examples", {50: a, 20: b, 1: b}), 20, **DRAW
    ),
    "steadier": lambda a, b: claims.steadier(draws(a, b), **DRAW),
    "wrong_pairs_harm": lambda a, b: claims.pairs_harm(spoilt({"wrong": a - b}), "wrong", **DRAW),
    "unknown_pairs_harm": lambda a, b: claims.pairs_harm(
        spoilt({"unknown": a - b}), "unknown", **DRAW
    ),
    "wrong_harms_more": lambda a, b: claims.wrong_harms_more(
        spoilt({"wrong": a, "unknown": b}), **DRAW
    ),
    "list_against_HGP": lambda a, b: claims.list_against(
        ways("way", {"IC-LKE": a, "HGP": b}), "HGP", **DRAW
    ),
    "list_against_MMP_spoken": lambda a, b: claims.list_against(
        ways("way", {"IC-LKE": a, "MMP": b}), "MMP", spoken=True, **DRAW
    ),
    "choices_help_HGP": lambda a, b: claims.choices_help(
        facts(a, way="HGP", variant="HGP1"), facts(b, way="HGP", variant="HGP1"), "HGP", **DRAW
    ),
    "released_strings": lambda a, b: claims.released_strings(
        ways("separator", {"colon and comma": a, "released": b}), "m", 6e6, **DRAW
    ),
    "right_when_sure": lambda a, b: claims.right_when_sure(sure(a, b), "m", **DRAW),
    "overconfident": lambda a, b: claims.overconfident(facts(b, top=a), "m", **DRAW),
    "calls_unread_known": lambda a, b: claims.calls_unread_known(
        facts(a, chance=b, exposures=0), "m"
    ),
    "larger_knows_more": lambda a, b: claims.larger_knows_more(
        pd.DataFrame({"s": b, "l": a}), facts(a)["relation"], ("s", "l"), **DRAW
    ),
}


@pytest.mark.parametrize("decision", PAIRS)
@pytest.mark.parametrize("claim", FINDINGS)
def test_each_is_decided_by_what_the_facts_say(claim, decision):
    found = FINDINGS[claim](*PAIRS[decision])
    assert (found.claim, found.decision) == (claim, decision)
    assert found.sentence.endswith(".")
    assert "nan" not in found.sentence
    assert "{" not in found.sentence
    if decision != "undefined":
        assert found.n >= 40
        assert f"{abs(100 * found.estimate):.1f}" in found.sentence


@pytest.mark.parametrize(
    ("rights", "decision"),
    [
        ({0: LESS, 1: EVEN, 50: MORE}, "opposite"),  # the others help as well
        ({0: EVEN, 1: EVEN, 50: EVEN}, "opposite"),  # none is needed
        ({0: LESS, 1: MORE, 50: EVEN}, "holds"),
        ({0: LESS, 1: EVEN, 50: np.tile([1.0, 1.0, 0.0, 0.0], 10)}, "undecided"),
        ({0: np.tile([1.0, 1.0, 0.0, 0.0], 10), 1: EVEN, 50: EVEN}, "undecided"),
        ({0: LESS, 1: MORE}, "undefined"),
        ({0: NONE, 1: NONE, 50: NONE}, "undefined"),
    ],
)
def test_one_example_is_enough_where_the_others_add_less_than_five_points(rights, decision):
    found = claims.one_is_enough(ways("examples", rights), **DRAW)
    assert found.decision == decision
    assert "nan" not in found.sentence
    if decision == "opposite":
        needless = (rights[0] == rights[1]).all()
        begin = "Not even one example is needed" if needless else "One example is not enough"
        figures = "50.0 %, 50.0 % and 50.0 %" if needless else "12.5 %, 50.0 % and 75.0 %"
        assert found.sentence.startswith(begin)
        assert f"accuracy is {figures}: " in found.sentence


def test_sentences_turn_round_with_what_they_say():
    for claim, make in FINDINGS.items():
        said = {make(*PAIRS[name]).sentence for name in PAIRS}
        assert len(said) == len(PAIRS), claim


def test_facts_that_are_all_alike_decide_nothing():
    found = claims.above_guessing(facts(np.ones(3), chance=0.1), "m", "chance", **DRAW)
    assert found.decision == "undecided"
    assert "a difference of 90.0 points" in found.sentence


def test_a_difference_too_small_to_be_written_decides_nothing():
    found = claims.pairs_harm(spoilt({"wrong": (1 + MORE) / 1e5}), "wrong", **DRAW)
    assert found.decision == "undecided"


def test_pairs_that_harm_in_one_arrangement_harm():
    moved = pd.concat(
        [
            spoilt({"wrong": MORE}),
            spoilt({"wrong": EVEN - ODD}).assign(variant="wrong, scattered"),
        ]
    )
    found = claims.pairs_harm(moved, "wrong", **DRAW)
    assert (found.decision, found.estimate) == ("holds", 0.75)
    assert "] as a block (40 places) and 0.0 [" in found.sentence
    assert "] scattered (40 places); intervals adjusted for 2." in found.sentence
    said = "In one list, wrong pairs as a block harm the true ones behind them, while it is not "
    assert found.sentence.startswith(said + "decided for those scattered: ")
    alone = claims.pairs_harm(spoilt({"wrong": MORE}), "wrong", **DRAW)
    assert found.low <= alone.low  # widened


def test_models_of_sizes_between_are_mentioned():
    known = pd.DataFrame({"s": LESS, "between": EVEN, "l": MORE, "as large": ODD})
    found = claims.larger_knows_more(known, facts(MORE)["relation"], ("s", "l"), **DRAW)
    assert found.sentence.endswith("; between, between them in size, reaches 50.0 %.")
    alike = known.assign(s=0 * EVEN, l=ODD)
    said = claims.larger_knows_more(alike, facts(MORE)["relation"], ("s", "l"), **DRAW).sentence
    assert said.endswith(", and the 40 facts do not decide between it and l.")


def test_two_ways_are_compared_on_the_facts_asked_in_both():
    table = ways("way", {"IC-LKE": MORE, "HGP": LESS})
    table = table[(table["way"] == "IC-LKE") | (table["item"] < "f2")]  # f0, f1, f10 to f19
    found = claims.list_against(table, "HGP", **DRAW)
    assert found.n == 12
    assert "100.0 % against 16.7 %" in found.sentence
    offered = claims.list_against(table, "HGP", choices=20, **DRAW)
    assert offered.sentence.startswith("When up to 20 choices are ranked, a list")


def test_one_length_of_list_tells_nothing_of_others():
    alone = ways("examples", {50: EVEN})
    assert claims.more_examples(alone, **DRAW).decision == "undefined"
    assert claims.still_rising(alone, None, **DRAW).decision == "undefined"


def test_one_draw_tells_nothing_of_its_luck():
    found = claims.steadier(ways("examples", {1: EVEN, 50: ODD}), **DRAW)
    assert found.decision == "undefined"
    assert "n_seeds=2" in found.sentence


@pytest.mark.parametrize(
    ("rights", "decision", "named"),
    [
        ({"space": MORE, "arrow": LESS, "bar": MORE}, "holds", "with arrow"),
        ({"space": LESS, "arrow": MORE}, "holds", "with arrow"),
        ({"space": EVEN, "arrow": np.repeat([1.0, 0.0], 20)}, "undecided", "with arrow"),
        ({"space": np.tile(EVEN, 30), "arrow": np.tile(EVEN, 30)}, "opposite", "less"),
        ({"space": np.tile(EVEN, 30), "arrow": [0, 1, *np.tile(EVEN, 30)[2:]]}, "opposite", "less"),
        ({"space": 0 * EVEN, "arrow": 0 * EVEN}, "undecided", "0.0 % against 0.0 %"),
        ({"space": EVEN[:10], "arrow": EVEN[:10]}, "undecided", "10 facts"),
        ({"space": EVEN}, "undefined", "Only one separator"),
    ],
)
def test_separators_matter_where_one_of_them_moves_accuracy(rights, decision, named):
    found = claims.separator_matters(ways("separator", rights), "space", **DRAW)
    assert found.decision == decision
    assert named in found.sentence


EXPOSURES = np.tile([0, 1, 2, 4, 8, 16, 32, 64], 8)
WAVERING = np.tile([0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1], 4)
RELATIONS = np.repeat(list("abcd"), 16)


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        (WAVERING, "holds"),
        (1 - WAVERING, "opposite"),
        (np.tile([0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1], 4), "undecided"),
        (0 * WAVERING, "undefined"),
    ],
)
def test_knowledge_follows_exposure(known, decision):
    jitter = np.arange(64) % 16 == np.arange(64) // 16  # relations that differ a little
    known = np.where(jitter & (known.std() > 0), 1 - known, known)
    table = pd.DataFrame({"right": known, "exposures": EXPOSURES, "relation": RELATIONS})
    found = claims.follows_exposure(table, "m")
    assert found.decision == decision, found.sentence
    assert "nan" not in found.sentence


@pytest.mark.parametrize(
    ("small", "large", "decision"),
    [
        (EVEN, EVEN, "holds"),
        (EVEN, ODD, "opposite"),
        (EVEN, np.tile([1.0, 1.0, 0.0, 0.0], 10), "undecided"),
        (0 * EVEN, EVEN, "undefined"),
        (NONE, NONE, "undefined"),
    ],
)
def test_the_larger_model_holds_what_the_smaller_knows(small, large, decision):
    known = pd.DataFrame({"s": small, "l": large})
    relations = ["P17"] * (len(small) // 2) + ["P36"] * (len(small) // 2)
    found = claims.larger_holds_smaller(known, relations, ("s", "l"), **DRAW)
    assert found.decision == decision
    assert "nan" not in found.sentence


@pytest.mark.parametrize(
    ("small", "large", "decision"),
    [
        ([1, 2, 3, 4, 5, 6], [2, 2, 4, 4, 6, 6], "holds"),
        ([1, 2, 3, 4, 5, 6], [6, 6, 4, 4, 2, 2], "opposite"),
        ([1, 2, 3, 4, 5, 6], [3, 5, 2, 4, 6, 3], "undecided"),
        ([3, 3, 3, 3, 3, 3], [3, 5, 2, 4, 6, 3], "undefined"),
    ],
)
def test_relations_that_are_easy_for_both(small, large, decision):
    known = pd.DataFrame({"s": [k < n for n in small for k in range(8)]}, dtype=float)
    known["l"] = [float(k < n) for n in large for k in range(8)]
    found = claims.same_relations(known, np.repeat(list("abcdef"), 8), ("s", "l"))
    assert found.decision == decision
    assert found.n == 6


def test_models_of_one_size_are_not_ordered():
    known = pd.DataFrame({"s": EVEN})
    assert claims.same_relations(known, ["P17"] * 40, ("s", "s")).decision == "undefined"
    for claim in (claims.larger_holds_smaller, claims.larger_knows_more):
        assert claim(known, ["P17"] * 40, ("s", "s"), **DRAW).decision == "undefined"


def marks(*rights):
    names = [f"f{k}" for k in range(len(rights))]
    made = pd.DataFrame(rights, columns=["list", "sentence"], index=names)
    return made.assign(subject=[f"S{k}" for k in range(len(rights))])


def test_the_worked_example_shows_the_lessons():
    picked, told = claims.by_hand(marks((0, 1), (1, 1), (0, 0), (1, 0), (1, 0)))
    assert picked == ["f3", "f0", "f1", "f2"]
    first = "S3: the list gets it right, the sentence does not (as for 2 of 5 facts). S0: the"
    assert told.startswith(first)
    assert "No fact" not in told


def test_the_worked_example_says_which_lessons_are_missing():
    picked, told = claims.by_hand(marks((0, 0), (0, 0)))
    assert picked == ["f0"]
    assert "No fact of the 2 is a case of this: the list gets it right, the" in told
    assert claims.by_hand(marks((0, 1)))[0] == ["f0"]


def test_a_model_may_be_called_anything():
    found = claims.above_guessing(facts(MORE, chance=LESS), "{n}<b>", "chance", **DRAW)
    assert found.sentence.startswith("{n}<b> ranks")


@pytest.mark.parametrize(
    ("n_parameters", "start"),
    [
        (6_010_000, "In m (6.0 million parameters) with its own tokenizer, the slips"),
        (None, "In m with its own tokenizer, the slips"),
    ],
)
def test_what_slips_cost_is_said_of_one_model(n_parameters, start):
    table = ways("separator", {"colon and comma": MORE, "released": LESS})
    assert claims.released_strings(table, "m", n_parameters, **DRAW).sentence.startswith(start)
