"""Each finding of the chapter on MONITOR, through all that it can say, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from helpers.studies.findings import monitor as claims

DRAWS = {"n_resamples": 200, "seed": 0}
nan = float("nan")


def facts(n=40, **columns):
    """Return n facts of two relations with the columns given, each a number or n of them."""
    head = {"item": [f"f{i}" for i in range(n)], "relation": ["P17", "P36"] * (n // 2)}
    return pd.DataFrame(head | columns)


def spread(middle, n=40):
    """Return n numbers near a middle."""
    return middle + np.linspace(-0.1, 0.1, n)


def by_fact(**rates):
    """Return marks of 40 facts: under each prompt the first share of them is right."""
    marks = {name: (np.arange(40) < 40 * rate).astype(float) for name, rate in rates.items()}
    return facts(**marks)


def measured(estimate, low, high):
    columns = ["relation", "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame([("all", "MONITOR", estimate, low, high, 90)], columns=columns)


def check(finding, decision, *parts):
    """Assert the decision, and that the sentence is whole and says what it should."""
    assert finding.decision == decision, finding.sentence
    assert finding.sentence.endswith(".")
    assert not {"{", "}"} & set(finding.sentence)
    assert [part for part in parts if part not in finding.sentence] == []


EMPTY = facts(0, counted=[], pfd=[], ird=[], anchor=[], deviation=[], exposures=[], frame0=[])


def test_facts_are_sorted_by_their_answers():
    marks = by_fact(right=0.9, frame0=0.5, wrong0=0.25)
    kinds = claims.kinds_of_facts(marks)
    assert kinds.value_counts(sort=False).to_dict() == {"steady": 10, "shaky": 10, "unknown": 20}
    assert kinds.drop_duplicates().to_dict() == {"f0": "steady", "f10": "shaky", "f20": "unknown"}
    subjects = {item: f"{{{item}}}" for item in marks["item"]}
    finding = claims.three_facts(kinds, marks, subjects)
    assert finding.decision == "holds"
    assert "40 facts of one relation: 10 steady, 10 shaky, 20 unknown" in finding.sentence
    assert (
        "about {f0} in all four cases, about {f10} in some, about {f20} only after"
        in finding.sentence
    )
    unknown = kinds[kinds == "unknown"]
    check(
        claims.three_facts(unknown, marks.assign(right=0.0), dict.fromkeys(subjects, "Rome")),
        "undecided",
        "about Rome in none. There is no example of a fact that is steady or shaky.",
    )


def test_of_unknown_facts_one_that_is_right_after_hearing_the_answer_comes_first():
    marks = by_fact(right=0.5, frame0=0.0, wrong0=0.0).iloc[::-1]
    assert claims.kinds_of_facts(marks).index[0] == "f19"


@pytest.mark.parametrize(
    ("share", "decision", "part"),
    [
        (
            0.9,
            "holds",
            "Most facts count: the model gives the right answer after hearing it for 90",
        ),
        (0.1, "opposite", "MONITOR says nothing about the rest"),
        (0.5, "undecided", "These 40 facts do not decide"),
    ],
)
def test_coverage(share, decision, part):
    scores = facts(counted=(np.arange(40) // 2 % 10 < 10 * share))
    check(claims.coverage(scores, **DRAWS), decision, part)


def test_a_wider_rule_lets_more_facts_count():
    narrow = facts(counted=np.arange(40) < 20, deviation=0.2, anchor=0.8)
    wide = narrow.assign(counted=True, deviation=0.4)
    check(claims.wider_rule(narrow, wide), "holds", "adds 20 of 40 facts", "0.500 instead of 0.250")
    check(claims.wider_rule(narrow, narrow), "undecided", "The same facts count")
    none = narrow.assign(counted=False)
    check(claims.wider_rule(none, narrow), "holds", "0.250 instead of undefined")


@pytest.mark.parametrize(
    ("table", "decision", "part"),
    [
        (measured(0.7, 0.6, 0.8), "holds", "0.700 [0.600, 0.800] over the 90 facts that count"),
        (measured(0.3, 0.2, 0.4), "opposite", "by less than half"),
        (measured(0.5, 0.4, 0.6), "undecided", "is not decided"),
        (measured(nan, nan, nan), "undefined", "No fact counts, so there is no MONITOR here"),
        (measured(0, 0, 0).head(0), "undefined", "No fact counts"),
    ],
)
def test_level(table, decision, part):
    check(claims.level(table), decision, part)


@pytest.mark.parametrize(
    ("cheap", "grid", "decision"),
    [(0.9, 0.2, "holds"), (0.2, 0.9, "opposite"), (0.5, 0.5, "undecided")],
)
def test_the_cheap_average_against_the_grid(cheap, grid, decision):
    one = by_fact(right=1.0, frame0=cheap, wrong0=cheap)
    two = by_fact(**{"qa0+wrong0": grid, "qa1+wrong0": grid})
    finding = claims.cheap_average(one, two.head(30), **DRAWS)
    check(finding, decision, "0 facts")
    assert finding.n == 30  # those of the grid
    expected = one.head(30)["frame0"].mean() - two.head(30)["qa0+wrong0"].mean()
    assert finding.estimate == pytest.approx(expected)  # without the prompt that has the answer


def grid(marks):
    """Return facts of two relations under two combinations."""
    return facts(len(marks), a=[float(m[0]) for m in marks], b=[float(m[1]) for m in marks])


@pytest.mark.parametrize(
    ("marks", "decision", "part"),
    [
        (["10"] * 40, "holds", "it is 100.0 [100.0, 100.0] points ahead"),
        (["10", "10", "01", "01"] * 10, "opposite", "are luck"),
        (["11"] * 40, "undecided", "by more than luck"),
        (["10", "10"], "undefined", "A relation of one fact"),
        ([], "undefined", "A relation of one fact"),
    ],
)
def test_best_and_worst_combination(marks, decision, part):
    check(claims.best_and_worst(grid(marks), **DRAWS), decision, part)


@pytest.mark.parametrize(
    ("base", "other", "decision"),
    [(0.9, 0.3, "holds"), (0.3, 0.9, "opposite"), (0.5, 0.5, "undecided")],
)
def test_base_frame_and_kinds_of_prompt(base, other, decision):
    table = by_fact(frame0=base, frame1=other, frame10=other, wrong0=1.0)
    check(claims.base_frame(table, **DRAWS), decision, "40 facts")
    wide = {"QA": by_fact(f0=base), "WP": by_fact(f0=other)}
    check(claims.questions_or_gaps(wide, **DRAWS), decision, "The 40 facts of the close-up")


def test_few_facts_do_not_tell_questions_from_gaps():
    wide = {"QA": by_fact(f0=1.0).head(13), "WP": by_fact(f0=0.0).head(13)}
    said = "are too few to decide", "difference is 100.0 points."
    check(claims.questions_or_gaps(wide, **DRAWS), "undecided", *said)
    mixed = by_fact(f0=1.0).head(13)
    mixed.loc[mixed.index[::2], "f0"] = 0.0
    said = "Gaps are 53.8 [", "] points easier than questions"
    check(claims.questions_or_gaps({"QA": mixed, "WP": wide["QA"]}, **DRAWS), "undecided", *said)
    check(claims.questions_or_gaps({"QA": mixed, "WP": mixed}, **DRAWS), "undecided", "too few")


def test_one_frame_and_no_gaps():
    check(claims.base_frame(by_fact(frame0=0.5), **DRAWS), "undefined", "only one frame")
    wide = {"QA": by_fact(f0=0.5)}
    check(claims.questions_or_gaps(wide, **DRAWS), "undefined", "no frames with gaps")


@pytest.mark.parametrize(
    ("pfd", "ird", "decision", "part"),
    [
        (0.6, 0.2, "holds", "PFD exceeds IRD by 0.400"),
        (0.2, 0.6, "opposite", "IRD exceeds PFD by 0.400"),
        (0.4, 0.4, "undecided", "These 40 facts do not decide"),
    ],
)
def test_framing_and_interference(pfd, ird, decision, part):
    counted = facts(pfd=spread(pfd), ird=spread(ird)[::-1])
    check(claims.framing_or_interference(counted, **DRAWS), decision, part)
    check(claims.framing_or_interference(EMPTY, **DRAWS), "undefined", "No fact counts")


@pytest.mark.parametrize(
    ("none", "right", "wrong", "decisions"),
    [
        (0.5, 1.0, 0.1, ("holds", "holds", "holds")),
        (0.5, 0.1, 0.9, ("opposite", "opposite", "opposite")),
        (0.5, 0.5, 0.5, ("undecided", "undecided", "undecided")),
    ],
)
def test_a_word_before(none, right, wrong, decisions):
    table = by_fact(none=none, right=right, wrong=wrong)
    echoed = by_fact(wrong=1 - wrong)
    check(claims.right_hint(table, **DRAWS), decisions[1], "-29.86 and 43.67")
    finding = claims.echoes(echoed, table, **DRAWS)
    check(finding, decisions[2], f"{100 * (1 - wrong):.1f} and {100 * wrong:.1f} %")


@pytest.mark.parametrize(
    ("unrelated", "wrong", "decision", "parts"),
    [
        (
            0.6,
            0.2,
            "holds",
            ["loses 25.0 [", "and a wrong answer 50.0 [", "more (paired, 32 facts)"],
        ),
        (
            0.2,
            0.6,
            "opposite",
            ["loses 75.0 [", "a wrong answer 50.0 [", "less (paired, 32 facts)"],
        ),
        (0.6, 0.6, "undecided", ["loses 25.0 [", "is not decided: 0.0 "]),
    ],
)
def test_a_wrong_answer_against_an_unrelated_word(unrelated, wrong, decision, parts):
    table = by_fact(none=0.8, right=1.0, unrelated=unrelated, wrong=wrong)
    finding = claims.wrong_hint(table, **DRAWS)
    check(finding, decision, *parts, "a wrong answer costs 0.25 to 56.54 points")
    never = table["none"] == 0  # nothing to lose: what is said before these changes nothing
    other = table.assign(
        wrong=table["wrong"].mask(never, 1), unrelated=table["unrelated"].mask(never, 0)
    )
    assert claims.wrong_hint(other, **DRAWS) == finding
    assert finding.estimate == pytest.approx((unrelated - wrong) / 0.8)


def test_words_first_beside_each_other():
    table = claims.words_first(by_fact(none=0.5, right=1.0, unrelated=0.4, wrong=0.1), **DRAWS)
    assert list(table.columns) == [
        *("all (n = 40), %", "all, change", "known (n = 20), %", "known, change")
    ]
    middles = table.map(lambda text: float(text.split()[0])).to_numpy().tolist()
    assert middles == [  # right, nothing, unrelated, wrong
        [100.0, 60.0, 100.0, 20.0],
        [50.0, 10.0, 100.0, 20.0],
        [40.0, 0.0, 80.0, 0.0],
        [10.0, -30.0, 20.0, -60.0],
    ]
    without = claims.words_first(by_fact(none=0.5, right=1.0, wrong=0.1), **DRAWS)
    assert without.loc["wrong answer first", "all, change"] == "undefined"
    assert without.loc["wrong answer first", "all (n = 40), %"].startswith("10.0 ")


def test_hints_of_the_training_are_those_recorded():
    said = claims.trained_with_hints("atlas-m")
    assert "9,351 documents" in said
    assert "3,196 a wrong one, 3,114 any object" in said
    assert claims.trained_with_hints("some/other-model") == ""


def test_a_wrong_answer_without_its_control():
    table = by_fact(none=0.5, wrong=0.25)
    says = "A wrong answer said first costs 25.0 [", "what an unrelated word costs is not known"
    check(claims.wrong_hint(table, **DRAWS), "undefined", *says)
    nothing = by_fact(none=0.0, unrelated=0.5, wrong=0.25)
    check(claims.wrong_hint(nothing, **DRAWS), "undefined", "costs -25.0 [")


@pytest.mark.parametrize(
    ("control", "decision", "part"),
    [
        (0.2, "holds", "by 0.400 [0.400, 0.400] (paired, 38 facts that count)"),
        (0.9, "opposite", "Unrelated words move the probability"),
        (0.6, "undecided", "These 38 facts that count do not decide"),
    ],
)
def test_ird_against_its_control(control, decision, part):
    counted = facts(ird=spread(0.6), control_ird=spread(control)[:: 1 if control != 0.6 else -1])
    counted.loc[[0, 39], "control_ird"] = nan  # missing
    both = f"IRD is 0.600, with unrelated words {control:.3f}."
    check(claims.interference_or_distraction(counted, **DRAWS), decision, part, both)
    without = counted.assign(control_ird=nan)
    check(claims.interference_or_distraction(without, **DRAWS), "undefined", "no control")


RELATIONS = pd.DataFrame({"base": np.tile([0.2, 0.4, 0.6, 0.8], 5)})
HIDDEN = np.repeat(np.arange(5.0), 4)
NOISE = np.array([1, -1, -1, 1, -1, 1, 1, -1] * 2 + [1, -1, -1, 1])


@pytest.mark.parametrize(
    ("sign", "decision"), [(1, "holds"), (-1, "opposite"), (0, "undecided"), (nan, "undefined")]
)
def test_steadiness_at_equal_accuracy(sign, decision):
    table = RELATIONS.assign(MONITOR=HIDDEN - 9 * RELATIONS["base"])
    table["deviation"] = sign * HIDDEN + 0.3 * NOISE + 5 * RELATIONS["base"]
    check(claims.steadiness(table), decision)


def test_base_accuracy_is_held_fixed():
    table = RELATIONS.assign(MONITOR=RELATIONS["base"] + 0.01 * NOISE)
    table["deviation"] = RELATIONS["base"] + 0.01 * np.roll(NOISE, 2)
    r = table[["MONITOR", "base", "deviation"]].corr().to_numpy()
    by_formula = (r[0, 2] - r[0, 1] * r[1, 2]) / np.sqrt((1 - r[0, 1] ** 2) * (1 - r[1, 2] ** 2))
    finding = claims.steadiness(table)
    assert r[0, 2] > 0.9
    assert finding.estimate == pytest.approx(by_formula)
    assert finding.n == 20


@pytest.mark.parametrize(
    ("anchors", "decision"),
    [([0.9] * 40, "holds"), ([0.5] * 40, "opposite"), ([0.9, 0.9, 0.5, 0.5] * 10, "undecided")],
)
def test_solid_anchors(anchors, decision):
    check(claims.solid(facts(anchor=anchors), **DRAWS), decision, "40 primary anchors")
    check(claims.solid(EMPTY, **DRAWS), "undefined", "No fact counts")


@pytest.mark.parametrize(
    ("pfd", "ird", "decision"),
    [(0.2, 0.6, "holds"), (0.4, 0.4, "opposite"), (0.4, 0.49, "undecided")],
)
def test_weights(pfd, ird, decision):
    counted = facts(pfd=spread(pfd), ird=spread(ird), anchor=0.9)
    finding = claims.weights(counted, **DRAWS)
    check(finding, decision, f"between {pfd / 0.9:.3f} and {ird / 0.9:.3f}")
    assert finding.estimate == pytest.approx((ird - pfd) / 0.9)
    check(claims.weights(EMPTY, **DRAWS), "undefined", "No fact counts")


def attributions(scores, change, tokens=("<s>", "ĠCape", "ĠVerde", ".", "Ġin")):
    return pd.DataFrame({"step": 0, "token": tokens, "score": scores, "change": change})


@pytest.mark.parametrize(
    ("table", "decision", "part"),
    [
        (attributions([0.1, 0.3, 0.3, 0, 0], 0.7), "holds", "0.60 of 0.70"),
        (attributions([0.5, 0.1, 0.1, 0, 0], 0.7), "opposite", '0.50 of 0.70 to "<s>"'),
        (attributions([0.5, 0.1, 0.1, 0, 0], 0.9), "undecided", "22% off the 0.90"),
        (attributions([8.4, -7.7, 0, 0, 0], 0.7), "undecided", "from -7.70 to 8.40 and nearly"),
        (attributions([0.7] + [0] * 4, 0.7, list("<{ap}")), "undefined", "No token"),
    ],
)
def test_attribution(table, decision, part):
    finding = claims.attributed(table, "Cape Verde")
    assert (finding.decision, part in finding.sentence) == (decision, True), finding.sentence


def test_cost():
    names = ["MONITOR, scored", "MONITOR, answered", "MONITOR, both at once", "grid, answered"]
    costs = pd.DataFrame({"seconds": [1.0, 2.0, 2.5, 6.0]}, index=names)
    check(claims.cost(costs, 15), "holds", "took 2.4 to 3.0 times", "15 facts", "2.97")
    cheap = costs.assign(seconds=[1, 2, 2, 1])
    check(claims.cost(cheap, 15), "opposite", "no longer", "0.5 times")


@pytest.mark.parametrize(
    ("few", "decision"),
    [
        (HIDDEN, "holds"),
        (-HIDDEN, "opposite"),
        (HIDDEN + 3 * NOISE, "undecided"),
        (HIDDEN * nan, "undefined"),
    ],
)
def test_four_frames(few, decision):
    pairs = pd.DataFrame({"PFD, first 4 frames": few, "PFD, other 3 frames": HIDDEN})
    check(claims.four_frames(pairs, 4, 3), decision)


@pytest.mark.parametrize(
    ("average", "decision", "part"),
    [
        (-HIDDEN + NOISE / 9, "holds", "accuracy (1.00 [1.00, 1.00] over MONITOR's own"),
        (HIDDEN + NOISE / 9, "opposite", "are shakier"),
        (NOISE, "undecided", "models -0.846)"),
        (HIDDEN * nan, "undefined", "Too few relations"),
    ],
)
def test_accuracy_correlation(average, decision, part):
    """The grid's accuracy decides, whatever that of MONITOR's own prompts says."""
    table = pd.DataFrame({"MONITOR": HIDDEN, "average": HIDDEN, "grid average": average})
    check(claims.accuracy_correlation(table), decision, part)


READ = np.repeat([0, 0, 1, 2, 16, 64, 128, 256], 5)


@pytest.mark.parametrize(
    ("deviation", "decision", "part"),
    [
        (1 - READ / 256, "holds", "MONITOR is 1.99 for facts read once or twice and 1.09"),
        (READ / 256, "opposite", "the more its probability moves"),
        (np.tile([0.4, 0.6], 20), "undecided", "These 40 facts do not decide"),
        (np.full(40, 0.4), "undefined", "too few facts count"),
    ],
)
def test_exposure(deviation, decision, part):
    truth = facts(exposures=READ, deviation=deviation, anchor=0.5)
    check(claims.exposure(truth, **DRAWS), decision, part)
    check(claims.exposure(EMPTY, **DRAWS), "undefined")


@pytest.mark.parametrize(
    ("change", "decision", "part"),
    [
        (-0.3, "holds", "MONITOR is 0.40 after them and 1.00 without any, 0.60"),
        (0.3, "opposite", "shakier"),
        (0.0, "undecided", "These 40 facts that count do not decide"),
    ],
)
def test_first_readings(change, decision, part):
    exposures = np.repeat([0, 1, 2, 256], 20)
    deviation = 0.5 + change * (exposures > 0) + np.tile([-0.01, 0.01], 40)
    truth = facts(80, exposures=exposures, deviation=deviation, anchor=0.5)
    check(claims.first_readings(truth.drop(index=range(20, 40)), **DRAWS), decision, part)
    for lacking in ("exposures > 0", "exposures == 0"):
        check(claims.first_readings(truth.query(lacking), **DRAWS), "undefined", "are missing")
    check(claims.first_readings(EMPTY, **DRAWS), "undefined")


@pytest.mark.parametrize(
    ("anchor", "deviation", "decision"),
    [
        (READ / 256, np.tile([0.4, 0.6], 20), "holds"),
        (np.tile([0.4, 0.6], 20), 1 - READ / 256, "opposite"),
        (READ / 256, 1 - READ / 256, "undecided"),
    ],
)
def test_anchor_and_deviation(anchor, deviation, decision):
    truth = facts(exposures=READ, deviation=deviation, anchor=anchor)
    check(claims.anchor_or_deviation(truth, **DRAWS), decision, "areas under the ROC curve")
    alone = truth.query("exposures > 0")
    check(claims.anchor_or_deviation(alone, **DRAWS), "undefined", "one kind is missing")
    check(claims.anchor_or_deviation(EMPTY, **DRAWS), "undefined")


@pytest.mark.parametrize(
    ("counted", "base", "decision"),
    [(0.9, 0.1, "holds"), (0.1, 0.9, "opposite"), (0.5, 0.5, "undecided")],
)
def test_unread_facts(counted, base, decision):
    marks = by_fact(counted=counted, frame0=base).assign(exposures=0)
    check(claims.unread(marks, **DRAWS), decision, "paired, 40 facts")
    check(claims.unread(marks.assign(exposures=4), **DRAWS), "undefined", "were read")
