"""From scored options to choices: the three rules, ties, and one row an item."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics import choices, multiplicity


def answers(logprobs, texts=None, correct=0, item="a", variant="v0"):
    """Return the scored options of one prompt."""
    texts = texts or [f" {n}" for n in range(len(logprobs))]
    marks = [n == correct for n in range(len(logprobs))]
    columns = {"option": range(len(logprobs)), "continuation": texts, "correct": marks}
    return pd.DataFrame(
        {"item": item, "variant": variant, **columns, "logprobs": logprobs}
    )


def made(table, correct, logprob=-1.0):
    """Return choices as from `choose`, of a table of options."""
    rows = [
        {
            "item": f"i{n}",
            "relation": "r",
            "variation": v,
            "answer": correct[n],
            "option": option,
        }
        for n, row in enumerate(table)
        for v, option in enumerate(row)
    ]
    return pd.DataFrame(rows).assign(logprob=logprob)


@pytest.mark.parametrize(
    ("rule", "option"), [("mean", 1), ("sum", 0), ("per_character", 2)]
)
def test_each_rule_can_choose_another_option(rule, option):
    # mean -1, -0.8, -0.9; sum -1, -1.6, -1.8; by character -1 / 2, -1.6 / 4, -1.8 / 12
    table = answers(
        [[-1.0], [-0.6, -1.0], [-0.9, -0.9]], [" ab", " abcd", " abcdef ghijk"]
    )
    found = choices.chosen_options(table, rule)
    assert found["option"].tolist() == [option]
    assert found["right"].tolist() == [option == 0]
    assert found["logprob"].tolist() == pytest.approx([[-1.0, -0.8, -0.9][option]])


def test_each_item_and_variant_gets_one_row_in_order_of_appearance():
    parts = [
        answers([[-1.0], [-2.0]], item=item, variant=variant, correct=1).assign(
            kept=item
        )
        for item, variant in (("b", "v1"), ("a", "v1"), ("b", "v0"))
    ]
    found = choices.chosen_options(pd.concat(parts))
    expected = [["b", "v1"], ["a", "v1"], ["b", "v0"]]
    assert found[["item", "variant"]].to_numpy().tolist() == expected
    assert found["kept"].tolist() == ["b", "a", "b"]
    assert found["score"].tolist() == [-1.0] * 3


SCORES = st.lists(st.floats(-9, 0) | st.sampled_from([-1.5, -1.0]), min_size=2)


@given(SCORES, st.integers(0, 9), st.randoms())
def test_the_best_is_chosen_and_of_equals_none(logprobs, correct, random):
    correct %= len(logprobs)
    table = answers([[value] for value in logprobs], correct=correct)
    least = max(logprobs) - choices.ROUNDING
    best = [n for n, value in enumerate(logprobs) if value > least]
    rows = list(range(len(table)))
    random.shuffle(rows)
    found = choices.chosen_options(table.iloc[rows])
    option = best[0] if len(best) == 1 else len(table)
    assert found["option"].item() == option
    assert found["tied"].item() == (len(best) > 1)
    assert found["right"].item() == (best == [correct])


def scored_items(logprobs):
    """Return the scored options of items under four prompts each."""
    parts = []
    for item, values in logprobs.items():
        for variation, of_options in enumerate(values):
            part = answers(of_options, item=item, variant=f"v{variation}")
            part["text"] = part["continuation"]
            parts.append(part.assign(variation=variation, relation="r", answer=0))
    return pd.concat(parts, ignore_index=True)


def test_ties_are_no_answer_and_agree_with_none(caplog):
    # Means of equal numbers differ by rounding.
    alike = [[-2.1], [-2.1] * 3, [-2.1] * 7]
    first = [[-1.0], [-2.0], [-3.0]]
    table = scored_items({"all": [alike] * 4, "half": [first, alike, first, alike]})
    chosen = choices.chosen_options(table)
    assert "6 of 8 prompts have equal scores at the top" in caplog.text
    assert chosen["tied"].sum() == 6
    assert set(chosen.loc[chosen["tied"], "text"]) == {choices.NO_OPTION}
    scores = choices.item_scores(chosen).set_index("item")
    assert scores.loc["all", ["self_consistency", "accuracy", "error"]].tolist() == [
        0,
        0,
        0,
    ]
    assert scores.loc["all", "majority"] == multiplicity.NO_MAJORITY
    assert scores.loc["all", "randomness"] == 1
    assert scores["tied"].to_dict() == {"all": 1.0, "half": 0.5}
    # Two prompts of four agree: one pair of six.
    assert scores.loc["half", "self_consistency"] == pytest.approx(1 / 6)
    assert scores.loc["half", "accuracy"] == 0.5


def test_choices_spread_to_one_row_an_item_in_their_order():
    chosen = made([[1, 2], [0, 0]], [0, 0]).iloc[::-1]
    assert choices.choices_by_variation(chosen).to_dict("index") == {
        "i1": {0: 0, 1: 0},
        "i0": {0: 1, 1: 2},
    }
    assert list(choices.choices_by_variation(chosen).index) == ["i1", "i0"]


def test_scores_of_items_by_hand():
    chosen = made([[0, 0, 1], [1, 1, 1], [2, 1, 2], [0, 0, 0]], [0, 0, 0, 0])
    chosen["logprob"] = [-1.0, -2.0, -3.0] * 4
    found = choices.item_scores(chosen).set_index("item")
    assert found["relation"].eq("r").all()
    assert found["default"].tolist() == [1, 0, 0, 1]
    assert found["accuracy"].tolist() == pytest.approx([2 / 3, 0, 0, 1])
    assert found["ambiguous"].tolist() == [1, 0, 1, 0]
    assert found["ambiguous_binary"].tolist() == [1, 0, 0, 0]
    assert found["self_consistency"].tolist() == pytest.approx([1 / 3, 1, 1 / 3, 1])
    assert found["majority"].tolist() == [0, 1, 2, 0]
    assert found["class"].tolist() == [
        "randomness",
        "error",
        "randomness",
        "factuality",
    ]
    assert (found[list(multiplicity.CLASSES)].sum(axis=1) == 1).all()
    assert found["logprob"].tolist() == pytest.approx([-2] * 4)
    confidence = (np.exp(-1) + np.exp(-2) + np.exp(-3)) / 3
    assert found["confidence"].tolist() == pytest.approx([confidence] * 4)
    assert found["entropy"].tolist() == pytest.approx([0.918296, 0, 0.918296, 0])
    assert choices.multiplicity_cells(found).tolist() == [
        "sensitive correct",
        "agnostic wrong",
        "sensitive wrong",
        "agnostic correct",
    ]


def test_cells_follow_the_default_prompt_as_in_the_paper_or_the_majority():
    found = choices.item_scores(
        made([[0, 1, 1, 2], [1, 0, 0, 0], [0, 0, 1, 1]], [0, 0, 0])
    )
    assert choices.multiplicity_cells(found).str.split().str[1].tolist() == [
        "correct",
        "wrong",
        "correct",
    ]
    by_majority = choices.multiplicity_cells(found, "majority").str.split().str[1]
    assert by_majority.tolist() == [
        "wrong",
        "correct",
        "wrong",
    ]  # the last one is a tie
    with pytest.raises(
        UserError, match="correct_by is majority or default, not 'mode'"
    ):
        choices.multiplicity_cells(found, "mode")


def test_halves_take_classes_from_even_prompts_and_uncertainty_from_odd_ones():
    chosen = made([[0, 1, 0, 2], [0, 1, 1, 1]], [0, 1])
    chosen["logprob"] = [-1.0, -2.0, -1.0, -2.0] * 2
    found = choices.scores_on_even_and_odd_prompts(chosen)
    assert found["class"].tolist() == ["factuality", "randomness"]
    assert found["entropy"].tolist() == [1, 0]
    assert found["logprob"].tolist() == [-2, -2]
    assert found["confidence"].tolist() == pytest.approx([np.exp(-2)] * 2)
    assert found["default"].tolist() == [1, 0]


def test_fewer_than_four_prompts_have_no_halves():
    found = choices.scores_on_even_and_odd_prompts(made([[0, 0, 1]], [0]))
    assert found.empty
    assert {"class", "entropy", "logprob"} <= set(found)


def test_tau_and_replacement_reach_the_classes():
    chosen = made([[0, 0, 1]], [0])
    assert choices.item_scores(chosen, tau=0.3)["class"].tolist() == ["factuality"]
    assert choices.item_scores(chosen, tau=0.5)["class"].tolist() == ["randomness"]
    assert choices.item_scores(chosen, 0.5, replacement=True)["class"].tolist() == [
        "factuality"
    ]


TWO = answers([[-1.0]] * 2)
REFUSED = [
    (
        choices.chosen_options,
        (answers([[-1.0]]),),
        "Item a has one option only: give at least two",
    ),
    (
        choices.chosen_options,
        (answers([[-1.0]] * 2, correct=5),),
        "Item a needs exactly one correct opt",
    ),
    (
        choices.chosen_options,
        (TWO.assign(correct=True),),
        "Item a needs exactly one correct option",
    ),
    (choices.chosen_options, (TWO.drop(columns="logprobs"),), "logprobs"),
    (
        choices.chosen_options,
        (TWO, "best"),
        'mean, sum, per_character; "best" is none of them',
    ),
    (
        choices.choices_by_variation,
        (made([[1, 2], [0, 0]], [0, 0]).iloc[:-1],),
        "Item i1 lacks some of the var",
    ),
    (
        choices.item_scores,
        (made([[0], [1]], [0, 0]),),
        "at least 2 prompt variations, not 1",
    ),
]


@pytest.mark.parametrize(("call", "given", "sentence"), REFUSED)
def test_what_is_no_choice_is_refused(call, given, sentence):
    with pytest.raises(UserError, match=sentence):
        call(*given)
