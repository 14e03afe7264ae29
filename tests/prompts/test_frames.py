"""Probes are the exact strings that the paper's templates give."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, prompts

DISTRACTORS = ["Peru", "Chad", "Laos", "Oman", "Mali"]


@pytest.fixture
def facts():
    return pd.DataFrame(
        {
            "fact": ["P17-1", "P17-2", "P36-1"],
            "relation": ["P17", "P17", "P36"],
            "subject": ["Lyon", "the [Y] of [X]", "Peru"],
            "object": ["France", "Chad", "Lima"],
            "distractors": [DISTRACTORS, DISTRACTORS[::-1], ["Paris", "Bern"]],
        }
    )


@pytest.fixture
def frames():
    rows = [("P17", "qa", n, f"Frame {n}: where is [X]?") for n in range(7)]
    rows += [("P36", "qa", n, f"Frame {n}: capital of [X]?") for n in range(6)]
    rows += [
        ("P17", "wp", 0, "[X] is located in [Y]."),
        ("P17", "wp", 1, "[X] lies in [Y] !"),
    ]
    rows += [("P17", "fc", n, f"{n}. [X] is in [Y]. True or False?") for n in range(2)]
    return pd.DataFrame(rows[::-1], columns=["relation", "kind", "frame", "template"])


def test_monitor_makes_r_plus_one_plus_m_prompts(facts, frames):
    probes = prompts.monitor_probes(facts, frames)
    assert probes.groupby("item").size().to_dict() == {
        "P17-1": 13,
        "P17-2": 13,
        "P36-1": 6 + 1 + 2,
    }
    assert not probes.duplicated(["item", "variant"]).any()
    assert list(probes[probes["item"] == "P17-1"]["variant"]) == [
        "right",
        *(f"frame{n}" for n in range(7)),
        *(f"wrong{m}" for m in range(5)),
    ]


def test_monitor_puts_contexts_before_the_base_frame(facts, frames):
    probes = prompts.monitor_probes(facts, frames).set_index(["item", "variant"])
    assert probes.loc[("P17-1", "right"), "prompt"] == "France. Frame 0: where is Lyon?"
    assert probes.loc[("P17-1", "wrong1"), "prompt"] == "Chad. Frame 0: where is Lyon?"
    assert probes.loc[("P17-1", "frame4"), "prompt"] == "Frame 4: where is Lyon?"
    assert (probes.loc["P17-1"]["continuation"] == " France").all()
    wrong = probes.loc[("P17-2", "wrong1")]
    assert (wrong["context"], wrong["context_index"], wrong["frame"]) == ("wrong", 1, 0)


def test_unrelated_words_only_add_prompts(facts, frames):
    said = facts.assign(unrelated=[["Helium", "EUR"], ["Helium"], []])
    probes = prompts.monitor_probes(said, frames)
    control = probes["context"] == "unrelated"
    before = prompts.monitor_probes(facts, frames)
    pd.testing.assert_frame_equal(probes[~control].reset_index(drop=True), before)
    columns = ["item", "variant", "context_index", "prompt", "continuation"]
    assert probes.loc[control, columns].to_numpy().tolist() == [
        ["P17-1", "unrelated0", 0, "Helium. Frame 0: where is Lyon?", " France"],
        ["P17-1", "unrelated1", 1, "EUR. Frame 0: where is Lyon?", " France"],
        [
            "P17-2",
            "unrelated0",
            0,
            "Helium. Frame 0: where is the [Y] of [X]?",
            " Chad",
        ],
    ]
    asked = prompts.question_probes(
        said, frames, contexts=("none", "unrelated"), n_frames=1
    )
    assert asked["variant"].tolist() == [
        *("qa0", "qa0+unrelated0", "qa0+unrelated1", "qa0", "qa0+unrelated0", "qa0")
    ]
    with pytest.raises(UserError, match="lacks the column unrelated"):
        prompts.question_probes(facts, frames, contexts=("unrelated",))


def test_nouns_follow_unrelated_words(facts, frames):
    unrelated = facts.assign(unrelated=[["Helium"], ["Helium"], []])
    probes = prompts.monitor_probes(unrelated.assign(noun=[["Lamp"], [], []]), frames)
    noun = probes["context"] == "noun"
    before = prompts.monitor_probes(unrelated, frames)
    pd.testing.assert_frame_equal(probes[~noun].reset_index(drop=True), before)
    columns = ["item", "variant", "frame", "context_index", "prompt"]
    assert probes.loc[noun, columns].to_numpy().tolist() == [
        ["P17-1", "noun0", 0, 0, "Lamp. Frame 0: where is Lyon?"]
    ]
    with pytest.raises(UserError, match="lacks the column noun"):
        prompts.question_probes(facts, frames, contexts=("noun",))


def test_n_frames_takes_the_first(facts, frames):
    probes = prompts.monitor_probes(facts, frames, n_frames=4)
    assert set(probes[probes["context"] == "none"]["frame"]) == {0, 1, 2, 3}
    assert prompts.question_probes(facts, frames, n_frames=1)[
        "variant"
    ].unique().tolist() == ["qa0"]


def test_questions_cross_frames_and_contexts(facts, frames):
    contexts = ("none", "right", "wrong")
    probes = prompts.question_probes(facts.iloc[:1], frames, contexts=contexts)
    assert len(probes) == 7 * (1 + 1 + 5)
    rows = probes.set_index("variant")
    assert rows.loc["qa3", "prompt"] == "Frame 3: where is Lyon?"
    assert rows.loc["qa0+right", "prompt"] == "France. Frame 0: where is Lyon?"
    assert rows.loc["qa6+wrong2", "prompt"] == "Laos. Frame 6: where is Lyon?"
    assert rows.loc["qa6+wrong2", "context_index"] == 2
    assert rows.loc["qa3", "context_index"] == -1


def test_cloze_ends_where_the_object_stood(facts, frames):
    probes = prompts.question_probes(facts.iloc[:2], frames, kind="wp").set_index(
        ["item", "variant"]
    )
    assert probes.loc[("P17-1", "wp0"), "prompt"] == "Lyon is located in"
    assert probes.loc[("P17-1", "wp1"), "prompt"] == "Lyon lies in"
    assert probes.loc[("P17-2", "wp0"), "prompt"] == "the [Y] of [X] is located in"


def test_fact_checks_name_both_options(facts, frames):
    probes = prompts.fact_check_probes(facts.iloc[:1], frames)
    assert len(probes) == 2 * (1 + 5) * 2
    assert probes.groupby("variant")["correct"].sum().eq(1).all()
    rows = probes.set_index(["variant", "option"])
    assert rows.loc[("fc1+neg4", 1), "prompt"] == "1. Lyon is in Mali. True or False?"
    assert rows.loc[("fc1+neg4", 1), "correct"]
    assert rows.loc[("fc0+pos", 0), "continuation"] == " True"
    assert rows.loc[("fc0+pos", 0), "correct"]
    assert (probes["object"] == "France").all()


def test_all_tables_have_the_same_columns(facts, frames):
    part = facts.iloc[:1]
    tables = [
        prompts.question_probes(part, frames),
        prompts.monitor_probes(part, frames),
        prompts.fact_check_probes(part, frames),
        prompts.question_probes(facts.iloc[:0], frames),
    ]
    for table in tables:
        assert tuple(table.columns) == prompts.QUESTION_COLUMNS
    assert tables[-1].empty


def test_probes_do_not_depend_on_the_order_of_frames(facts, frames):
    other = frames.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        prompts.monitor_probes(facts, frames), prompts.monitor_probes(facts, other)
    )


@given(st.text(), st.text())
def test_fill_puts_both_in_one_pass(subject, obj):
    assert prompts.fill_template("<[X]|[Y]>", subject, obj) == f"<{subject}|{obj}>"


def asked(**settings):
    return lambda facts, frames: prompts.question_probes(facts, frames, **settings)


def slot(template):
    """Return what asks with a cloze that lacks a slot."""
    row = {"relation": ["P17"], "kind": ["wp"], "frame": [0], "template": [template]}
    return lambda facts, _: prompts.question_probes(
        facts.iloc[:1], pd.DataFrame(row), kind="wp"
    )


def bare(facts):
    return facts.assign(distractors=[[], *facts["distractors"][1:]])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (asked(kind="wp"), r'kind "wp" for P36'),
        (prompts.fact_check_probes, r'kind "fc" for P36'),
        (
            lambda a, b: prompts.monitor_probes(a.assign(relation="P99"), b),
            r'kind "qa" for P99',
        ),
        (asked(kind="fc"), 'is "qa" or "wp", not "fc"'),
        (asked(contexts=("none", "left")), '"left" is none'),
        (asked(n_frames=0), "at least 1, not 0"),
        (lambda a, b: prompts.monitor_probes(bare(a), b), "P17-1 has no distractors"),
        (
            lambda a, b: prompts.fact_check_probes(a.drop(columns="distractors"), b),
            "lacks the column dis",
        ),
        *(
            (slot(text), "lacks")
            for text in ("Where is it?", "In [Y] lies [X].", "[X] is there.")
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(facts, frames, call, sentence):
    with pytest.raises(UserError, match=sentence):
        call(facts, frames)
    assert (
        len(prompts.question_probes(bare(facts), frames)) == 7 + 7 + 6
    )  # which need no distractors
