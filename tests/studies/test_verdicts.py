"""Each method's verdict on single facts, from answers made by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from helpers import UserError
from helpers.prompts import labels
from helpers.studies import STUDIES
from notebooks.analysis import calibration

EQUAL = {"match": "exact_match", "alphas": [1 / 3] * 3}
OPEN = {"match": "exact"}
CHOICE = {
    "focus": "",
    "rule": "sum",
    "tau": 0.75,
    "replacement": False,
    "correct_by": "majority",
}


def verdicts(name, answers, settings, false=None, firm=0.5):
    """Return a study's verdicts, one row a fact."""
    return calibration.verdicts_of_study(
        STUDIES[name], answers, settings, false or {}, firm
    )


def _monitor(right, others, said="France"):
    """Return the answers of one fact with one token: probabilities after each prompt."""
    variants = ["right", "frame0", "frame1", "wrong0"]
    logs = [[float(np.log(p))] for p in (right, *others)]
    table = pd.DataFrame(
        {"item": "a", "relation": "P17", "variant": variants, "logprobs": logs}
    )
    table = table.assign(object="France", text=[said, None, None, None])
    return labels.add_columns(table)


def test_monitor_by_hand():
    found = verdicts("monitor", _monitor(0.8, (0.6, 0.4, 0.5)), EQUAL).iloc[0]
    # PFD = (0.2 + 0.4) / 2 = 0.3, IRD = 0.3, so the deviation is 0.3 and 1 - 0.3 / 0.8
    # is left.
    assert found["score"] == pytest.approx(1 - 0.3 / 0.8)
    assert found["known"] == 1
    assert found["asked_once"] == pytest.approx(0.6)
    assert found["asked_frame1"] == pytest.approx(0.4)
    assert np.isnan(found["blind"])
    assert np.isnan(found["misled"])


def test_monitor_counts_no_fact_that_is_wrong_after_the_hint():
    found = verdicts("monitor", _monitor(0.8, (0.8, 0.8, 0.8), "Peru"), EQUAL).iloc[0]
    assert (found["known"], found["score"]) == (0, 0)


def test_monitor_needs_steadiness_at_the_threshold():
    answers = _monitor(
        0.8, (0.4, 0.4, 0.4)
    )  # deviation 0.4, steadiness exactly one half
    assert verdicts("monitor", answers, EQUAL, firm=0.49)["known"].item() == 1
    assert verdicts("monitor", answers, EQUAL, firm=0.51)["known"].item() == 0


def _responses():
    return pd.DataFrame(
        {
            "item": ["a", "b", "c", "d"],
            "group": "P17",
            "question": "Which country is it in?",
            "answers": [["France"], ["Peru"], ["Mali"], ["Mali"]],
            "consistency": [0.9, 0.3, 0.7, np.nan],
            "variant": "four-shot",
            "setting": "four-shot",
            "text": ["France", "Peru", "Chad", "unsure"],
        }
    )


def test_knowledge_base_by_hand():
    false = {"c": "Chad", "d": "Mali"}
    found = verdicts("knowledge_base", _responses(), OPEN, false)
    assert found["known"].tolist() == [1, 0, 0, 0]
    assert found["score"].tolist() == [0.9, 0.3, -0.7, 0.0]
    assert found["blind"].tolist() == [0.9, 0.3, 0.7, 0.0]
    assert found["misled"].tolist()[2:] == [1.0, 0.0]
    assert found["misled"].isna().tolist() == [True, True, False, False]
    assert not np.signbit(found["score"].iloc[3])  # nothing said is no negative zero


def test_a_false_belief_below_the_threshold_is_not_named_firmly():
    found = verdicts("knowledge_base", _responses(), OPEN, {"c": "Chad"}, firm=0.8)
    assert found["misled"].tolist()[2] == 0.0


def _choices(logs, false=1):
    """Return the choices of one fact: log-probabilities, the true object first."""
    names = ["France", "Chad", "Peru"][: len(logs)]
    table = pd.DataFrame(
        {"item": "a", "relation": "P17", "variant": "ic"}, index=range(len(logs))
    )
    table["option"], table["correct"] = (
        range(len(logs)),
        [True] + [False] * (len(logs) - 1),
    )
    return table.assign(logprobs=[[x] for x in logs], choice=names)


def test_ic_lke_by_hand():
    found = verdicts("latent_knowledge", _choices(np.log([0.3, 0.1, 0.1])), {}).iloc[0]
    assert found["known"] == 1
    assert found["score"] == found["blind"] == pytest.approx(0.6)
    answers = _choices(np.log([0.1, 0.3, 0.1]))
    misled = verdicts("latent_knowledge", answers, {}, {"a": "Chad"}).iloc[0]
    assert (misled["known"], misled["misled"]) == (0, 1)
    assert misled["score"] == pytest.approx(0.2)
    assert misled["blind"] == pytest.approx(0.6)


def _wordings(chosen):
    """Return one question in several wordings, in each of which one of three options is chosen."""
    rows = []
    for variation, option_chosen in enumerate(chosen):
        for option, text in enumerate(["France", "Chad", "Peru"]):
            log = [-0.1 if option == option_chosen else -5.0]
            rows.append(
                ("a", "P17", f"v{variation}", variation, option, text, option == 0, log)
            )
    columns = [
        "item",
        "relation",
        "variant",
        "variation",
        "option",
        "text",
        "correct",
        "logprobs",
    ]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(
        continuation=" " + table["text"], answer=0, prompt=table["variant"]
    )


def test_multiplicity_by_hand():
    steady = verdicts("multiplicity", _wordings([0] * 4), CHOICE, {"a": "Chad"}).iloc[0]
    assert (steady["known"], steady["score"], steady["misled"]) == (1, 1, 0)
    misled = verdicts("multiplicity", _wordings([1] * 4), CHOICE, {"a": "Chad"}).iloc[0]
    assert (misled["known"], misled["score"], misled["misled"]) == (0, 0, 1)
    assert misled["blind"] == 1  # without the key it looks like knowledge
    wavers = verdicts("multiplicity", _wordings([0, 1, 0, 2]), CHOICE, {"a": "Chad"})
    assert wavers[["known", "score", "misled"]].to_numpy().tolist() == [[0, 0.5, 0]]


@limits(max_examples=20)
@given(st.lists(st.floats(-8, -0.01), min_size=3, max_size=3), st.floats(0, 1))
def test_known_and_score_stay_in_their_ranges(logs, firm):
    found = verdicts("latent_knowledge", _choices(logs), {}, firm=firm).iloc[0]
    assert found["known"] in (0, 1)
    assert 0 <= found["score"] <= found["blind"] <= 1
    found = verdicts("monitor", _monitor(0.99, np.exp(logs)), EQUAL)
    assert 0 <= found["score"].item() <= 1


def test_what_is_refused():
    with pytest.raises(UserError, match="share between 0 and 1"):
        verdicts("knowledge_base", _responses(), OPEN, firm=1.5)
