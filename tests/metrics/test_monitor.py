"""MONITOR against cases worked by hand, its bounds, and an independent computation by loops."""

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics import monitor
from helpers.metrics.anchors import anchor_probabilities, known_facts
from helpers.prompts import labels


def table(facts, column="logprobs"):
    """Return answers from {item: {variant: probabilities}}."""
    rows = []
    for item, variants in facts.items():
        for variant, probabilities in variants.items():
            with np.errstate(divide="ignore"):
                logs = np.log(np.array([float(p) for p in probabilities]))
            rows.append((item, item.split("-")[0], variant, logs.tolist()))
    answers = pd.DataFrame(rows, columns=["item", "relation", "variant", column])
    return labels.add_columns(answers)


THREE = {
    "P17-a": {
        "right": [F(9, 10), F(1)],
        "frame0": [F(8, 10), F(1)],
        "frame1": [F(5, 10), F(3, 4)],
        "wrong0": [F(1, 10), F(1, 2)],
        "wrong1": [F(9, 10), F(1, 2)],
    },
    "P17-b": {
        "right": [F(1, 2)],
        "frame0": [F(1, 2)],
        "frame1": [F(3, 4)],
        "wrong0": [F(0)],
        "wrong1": [F(1, 4)],
    },
    "P36-c": {
        "right": [F(4, 5)],
        "frame0": [F(4, 5)],
        "frame1": [F(4, 5)],
        "wrong0": [F(4, 5)],
        "wrong1": [F(4, 5)],
    },
}
# By hand. a: frames move by (1/10, 0) and (4/10, 1/4), so PFD = (1/20 + 13/40) / 2 =
# 3/16; wrong contexts by (8/10, 1/2) and (0, 1/2), so IRD = (13/20 + 1/4) / 2 = 9/20;
# anchor 19/20. b: PFD = (0 + 1/4) / 2 = 1/8; IRD = (1/2 + 1/4) / 2 = 3/8; anchor 1/2. c
# does not move.
PFD = [F(3, 16), F(1, 8), F(0)]
IRD = [F(9, 20), F(3, 8), F(0)]
ANCHOR = [F(19, 20), F(1, 2), F(4, 5)]


def test_three_facts_by_hand():
    facts = monitor.fact_scores(table(THREE))
    np.testing.assert_allclose(facts["pfd"], [float(x) for x in PFD], atol=1e-12)
    np.testing.assert_allclose(facts["ird"], [float(x) for x in IRD], atol=1e-12)
    np.testing.assert_allclose(facts["anchor"], [float(x) for x in ANCHOR], atol=1e-12)
    assert facts["n_tokens"].tolist() == [2, 1, 1]
    assert facts["n_frames"].tolist() == facts["n_interferences"].tolist() == [2, 2, 2]
    summands = [math.sqrt((p * p + i * i + p * i) / 3) for p, i in zip(PFD, IRD)]
    np.testing.assert_allclose(facts["deviation"], summands, atol=1e-12)
    assert monitor.monitor_score(facts) == pytest.approx(
        sum(summands) / float(sum(ANCHOR))
    )


# By hand. a: after unrelated words its tokens move by (2/10, 1/4) and (1/10, 0), so the
# control is (9/40 + 1/20) / 2 = 11/80; after the noun by (4/10, 1/2), so it is 9/20. b: it
# moves by 1/4 after the one word said, and has no noun. c has neither.
CONTROL = {
    "P17-a": {
        "unrelated0": [F(7, 10), F(3, 4)],
        "unrelated1": [F(1), F(1)],
        "noun0": [F(5, 10), F(1, 2)],
    },
    "P17-b": {"unrelated0": [F(3, 4)]},
}


def controlled(control=CONTROL):
    return table({item: asked | control.get(item, {}) for item, asked in THREE.items()})


def test_control_ird_by_hand():
    facts = monitor.fact_scores(controlled())
    assert facts["control_ird"][:2].tolist() == pytest.approx(
        [11 / 80, 1 / 4], abs=1e-12
    )
    assert math.isnan(facts["control_ird"][2])
    assert facts["noun_ird"][0] == pytest.approx(9 / 20, abs=1e-12)
    assert facts["noun_ird"].isna().tolist() == [False, True, True]
    paper = monitor.fact_scores(table(THREE))
    other = monitor.fact_scores(
        controlled({"P17-b": {"unrelated0": [F(1, 2), F(1, 2)]}})
    )
    assert other["control_ird"].isna().all()  # its tokens are others
    controls = ["control_ird", "noun_ird"]
    for found in (facts, other):
        found = found.drop(columns=controls)
        pd.testing.assert_frame_equal(
            found, paper.drop(columns=controls), check_exact=True
        )
        assert monitor.monitor_score(found) == monitor.monitor_score(paper)


def test_unrelated_words_change_no_verdict_on_a_fact():
    texts = controlled().assign(text="Rome", object="Rome")
    texts.loc[~texts["context"].isin(["unrelated", "noun"]), "text"] = "Oslo"
    assert not known_facts(texts, counts="any").any()


def by_loops(variants):
    """Compute anchor, PFD, IRD and control of a fact as the equations read."""
    plus, length = variants["right"], len(variants["right"])
    distances = {"frame": [], "wrong": [], "unrelated": []}
    for name, other in variants.items():
        total = 0.0
        for position in range(length):
            total += abs(plus[position] - other[position])
        distances.setdefault(name.rstrip("0123456789"), []).append(total / length)
    means = [
        sum(each) / len(each)
        for each in (distances[kind] for kind in ("frame", "wrong"))
    ]
    control = distances["unrelated"]
    return (
        sum(plus) / length,
        *means,
        sum(control) / len(control) if control else math.nan,
    )


OTHERS = ("right2", "wrong", "spoilt1")  # prompts that are none of MONITOR's


def random_facts(seed, n=6):
    generator = np.random.default_rng(seed)
    facts = {}
    for item in range(n):
        length = int(generator.integers(1, 5))
        counts = {"frame": (1, 8), "wrong": (1, 6), "unrelated": (0, 3)}
        names = [
            f"{k}{j}"
            for k, ends in counts.items()
            for j in range(generator.integers(*ends))
        ]
        names += ["right", *OTHERS]
        facts[f"P{item % 3}-{item}"] = {
            name: generator.random(length) for name in names
        }
    return facts


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.tuples(*[st.floats(0, 2)] * 3).filter(any),
    st.sets(st.integers(0, 5)),
)
def test_random_answers_agree_with_loops_in_any_order(seed, alphas, unknown):
    raw = random_facts(seed)
    known = pd.Series({item: n not in unknown for n, item in enumerate(raw) if n != 5})
    answers = table(raw).sample(frac=1, random_state=seed)
    facts = monitor.fact_scores(answers, known, alphas=alphas).set_index("item")
    expected = {}
    for item, asked in raw.items():
        for name in OTHERS:
            del asked[name]
        anchor, pfd, ird, control = by_loops(asked)
        top = (alphas[0] * pfd**2 + alphas[1] * ird**2 + alphas[2] * pfd * ird) ** 0.5
        expected[item] = [anchor, pfd, ird, control, top, known.get(item, False)]
    columns = ["anchor", "pfd", "ird", "control_ird", "deviation", "counted"]
    wanted = pd.DataFrame.from_dict(expected, orient="index", columns=columns)
    found = facts.loc[list(raw), columns]
    np.testing.assert_allclose(found.astype(float), wanted.astype(float), atol=1e-12)
    wanted = wanted[wanted["counted"]]
    ratio = (
        wanted["deviation"].sum() / wanted["anchor"].sum() if len(wanted) else math.nan
    )
    assert monitor.monitor_score(facts, alphas) == pytest.approx(ratio, nan_ok=True)


def test_nothing_known_and_anchors_of_zero_give_no_number():
    facts = monitor.fact_scores(table(THREE), pd.Series({"P17-a": False}))
    empty = monitor.fact_scores(table(THREE).iloc[:0])
    zero = {"P17-a": {"right": [0], "frame0": [0.5], "wrong0": [0]}}
    for none in (facts, empty, monitor.fact_scores(table(zero))):
        assert math.isnan(monitor.monitor_score(none))
    assert empty.empty


def test_free_running_column_and_zeros_past_the_end():
    answers = table(THREE, "anchor_logprobs")
    answers["tokens"] = [
        [str(n)] for n in range(len(answers))
    ]  # of the model's own text: differ
    facts = monitor.fact_scores(answers, column="anchor_logprobs")
    forced = monitor.fact_scores(table(THREE))
    pd.testing.assert_frame_equal(facts, forced)
    assert answers["anchor_logprobs"].iloc[8] == [-np.inf]


def test_facts_cut_into_other_tokens_do_not_count():
    answers = table(THREE)
    answers["tokens"] = [["x"] * len(p) for p in answers["logprobs"]]
    answers.at[6, "tokens"] = ["y"]  # noqa: PD008 a list as one cell
    facts = monitor.fact_scores(answers)
    assert facts["aligned"].tolist() == [True, False, True]
    assert math.isnan(facts["pfd"][1])
    expected = monitor.monitor_score(monitor.fact_scores(table(THREE)).drop(index=1))
    assert monitor.monitor_score(facts) == pytest.approx(expected)
    longer = table({**THREE, "P17-b": {**THREE["P17-b"], "wrong0": [0.5, 0.5]}})
    assert monitor.fact_scores(longer)["aligned"].tolist() == [True, False, True]


def test_anchors_of_gives_probabilities():
    anchors = anchor_probabilities(table(THREE))
    right = anchors[anchors["context"] == "right"]
    assert right["probability"].tolist() == pytest.approx([float(x) for x in ANCHOR])
    assert anchors["context"].value_counts().to_dict() == {
        "none": 6,
        "wrong": 6,
        "right": 3,
    }


def test_shapes_that_do_not_compare_are_refused():
    with pytest.raises(ValueError, match="do not compare"):
        monitor.mean_distance_from_primary([0.1, 0.2], [[0.1]])


def test_known_facts_by_either_rule():
    texts = pd.DataFrame(
        {
            "item": ["a", "b", "c", "c"],
            "context": ["right", "right", "right", "none"],
            "text": [" Lima\n", "Lima, in Peru", "Rome", "Lima"],
            "object": "Lima",
        }
    )
    assert known_facts(texts).to_dict() == {"a": True, "b": False, "c": False}
    assert known_facts(texts, "starts_with").to_dict() == {
        "a": True,
        "b": True,
        "c": False,
    }
    assert known_facts(texts, counts="any").to_dict() == {
        "a": True,
        "b": False,
        "c": True,
    }
    with pytest.raises(UserError, match="lacks the column text"):
        known_facts(texts.drop(columns="text"))
    with pytest.raises(ValueError, match="none of base, any"):
        known_facts(texts, counts="all")


def without(context):
    answers = table({"P17-b": THREE["P17-b"]})
    return answers[answers["context"] != context]


def first(value):
    return table(THREE).assign(
        logprobs=lambda t: [[value], *t["logprobs"].tolist()[1:]]
    )


TWICE = pd.concat([table(THREE), table(THREE).iloc[[1]]])
REFUSED = [
    (
        table({"P17-a": CONTROL["P17-a"]}),
        {},
        'P17-a has no answer with the context "right"',
    ),
    *(
        (without(context), {}, f'P17-b .*the context "{context}"')
        for context in ("right", "none", "wrong")
    ),
    (TWICE, {}, "P17-a has more than one answer to frame0"),
    *((first(value), {}, "P17-a") for value in (0.5, float("nan"))),
    (table(THREE), {"column": "anchor_logprobs"}, "lacks the column anchor_logprobs"),
    *(
        (table(THREE), {"alphas": alphas}, "three alphas")
        for alphas in (
            *((1, 1), (1, -1, 1), (1, float("nan"), 1), (1, 1, 1, 1), (0, 0, 0)),
        )
    ),
]


@pytest.mark.parametrize(("answers", "settings", "sentence"), REFUSED)
def test_what_has_no_score_is_refused_with_its_reason(answers, settings, sentence):
    with pytest.raises(UserError, match=sentence):
        monitor.fact_scores(answers, **settings)


TEXTS = pd.DataFrame({"context": ["right"] * 4 + ["none"]})
TEXTS["text"] = [" and so on", " and so on ", "\x1b[31m<b>\n", 50 * "long", "other"]
SAID = "'and so on', '\\x1b[31m<b>', 'long"  # what the model answered, safe to print


@pytest.mark.parametrize(
    ("known", "counted", "told"),
    [
        ([True] * 10, [True] * 10, []),
        ([True] * 10, [True] * 9 + [False], ["Only 9 of 10 facts count,"]),
        ([True, False], [True, False], ["Only 1 of 2 facts counts,"]),
        (
            [False] * 4,
            [False] * 4,
            ["none of 4 facts", SAID, "prompt_format=auto or match="],
        ),
        ([True, False], [False, False], ["(1 of 2) in more than one way"]),
    ],
)
def test_what_is_said_where_few_facts_count_or_none(known, counted, told):
    facts = pd.DataFrame({"known": known, "counted": counted})
    found = " ".join(monitor.caution_about_monitor(facts, TEXTS).split())
    assert bool(found) == bool(told)
    assert all(part in found for part in told)
    assert not any(part in found for part in (11 * "long", "other"))


# Some of the wordings.


def counted_scores(answers):
    """Return the scores of facts that all count."""
    return monitor.fact_scores(answers).assign(counted=True)


def test_distances_by_frame_are_those_worked_out_by_hand():
    distances = monitor.distances_by_frame(table(THREE))
    expected = {0: [F(1, 20), F(0), F(0)], 1: [F(13, 40), F(1, 4), F(0)]}
    assert distances.index.tolist() == list(THREE)
    for frame, column in expected.items():
        assert distances[frame].tolist() == pytest.approx([float(x) for x in column])
    assert distances.mean(axis=1).tolist() == pytest.approx([float(x) for x in PFD])


def test_a_frame_that_a_fact_lacks_or_whose_tokens_differ_has_no_distance():
    other = {name: list(p) for name, p in THREE["P17-b"].items()}
    other["frame1"] = [F(1, 2), F(1, 2)]
    fewer = {name: p for name, p in THREE["P36-c"].items() if name != "frame0"}
    distances = monitor.distances_by_frame(table({"P17-b": other, "P36-c": fewer}))
    assert distances.isna().to_numpy().tolist() == [[False, True], [True, False]]
    assert distances.loc["P36-c", 1] == 0


def test_monitor_in_one_of_two_frames_by_hand():
    answers = table({name: THREE[name] for name in ("P17-a", "P36-c")})
    scores = counted_scores(answers)
    distances = monitor.distances_by_frame(answers)
    found = monitor.scores_of_frame_subsets(scores, distances, 1)
    assert found.index.tolist() == [(0,), (1,)]
    for row, pfd in enumerate((F(1, 20), F(13, 40))):
        ird = F(9, 20)
        deviation = math.sqrt((pfd**2 + ird**2 + pfd * ird) / 3)
        assert found["P17"].iloc[row] == pytest.approx(deviation / 0.95)
        assert found["all"].iloc[row] == pytest.approx(deviation / (0.95 + 0.8))
        assert found["P36"].iloc[row] == 0


@given(
    st.lists(
        st.lists(st.floats(0.01, 1), min_size=5, max_size=5), min_size=1, max_size=6
    ),
    st.integers(1, 4),
)
@settings(max_examples=25)
def test_a_choice_of_frames_is_as_if_no_other_frame_had_been_asked(facts, n_frames):
    variants = ("right", "wrong0", "frame0", "frame1", "frame2")
    made = {f"P{i % 2}-{i}": dict(zip(variants, p)) for i, p in enumerate(facts)}
    answers = table({k: {v: [p] for v, p in row.items()} for k, row in made.items()})
    found = monitor.scores_of_frame_subsets(
        counted_scores(answers), monitor.distances_by_frame(answers), n_frames
    )
    assert len(found) == math.comb(3, n_frames)
    for frames in found.index:
        left_out = {0, 1, 2} - set(frames)
        is_asked = (answers["context"] != "none") | ~answers["frame"].isin(left_out)
        alone = monitor.monitor_score(counted_scores(answers[is_asked]))
        place = found.index.get_loc(frames)
        assert found["all"].iloc[place] == pytest.approx(alone)


def test_facts_that_do_not_count_enter_no_choice_of_frames():
    answers = table(THREE)
    scores = counted_scores(answers)
    scores.loc[0, "counted"] = False
    found = monitor.scores_of_frame_subsets(
        scores, monitor.distances_by_frame(answers), 2
    )
    assert found["all"].item() == pytest.approx(monitor.monitor_score(scores))
