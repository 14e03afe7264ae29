"""Counts by group, worked out by hand, and the tables that are kept."""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from notebooks.kit.public_answers import load_counts, tables

NAMES = ("contradictions", "reruns", "confidence", "recall", "recall_measures")


def test_facts_are_counted_by_their_answers():
    answers = """
model  relation  subject  occurrences  source
m      capital   Lyon               7      PK
m      capital   Lyon               7      CK
m      capital   Oslo              99      CK
m      capital   Oslo              99      PK
m      capital   Rome             100      ND
"""
    counts = tables.count_kept_answers(pd.read_csv(io.StringIO(answers), sep=r"\s+"))
    assert counts.to_numpy().tolist() == [
        ["m", "capital", 0, 2, 1, 0, 2],  # Lyon and Oslo: one of two answers stays
        ["m", "capital", 100, 1, 0, 1, 1],
    ]


def repeated_answers(answers: dict[tuple, str]) -> pd.DataFrame:
    """Return answers to one question: A, but for those given by change and version."""
    rows = []
    prompts = [("none", 0, setup) for setup in range(5)]
    prompts += [(name, k, 0) for name in ("typo", "blank_space") for k in range(3)]
    for method in ("moreinfo", "token", "calibration", "embedding"):
        for change, version, setup in prompts:
            answer = answers.get((method, change, version, setup), "A")
            rows.append(("1b", method, change, version, setup, 0, answer))
    columns = ["model", "method", "change", "version", "setup", "question", "answer"]
    return pd.DataFrame(rows, columns=columns)


def counts_of_change(answers: pd.DataFrame, change: str) -> list[list]:
    counted = tables.count_changed_answers(answers)
    rows = counted[counted["change"] == change]
    columns = ["answers", "reruns_changed", "prompts_changed", "questions"]
    return rows[columns].to_numpy().tolist()


def test_pairs_that_differ_are_counted():
    """The second run of the first pair differs, and one typo's in the second pair."""
    other = {("token", "none", 0, 0): "B", ("embedding", "typo", 2, 0): "C"}
    answers = repeated_answers(other)
    assert counts_of_change(answers, "typo") == [["all", 1, 1, 1], ["read", 1, 1, 1]]
    # The base of a pair is its first run, which has not changed.
    assert counts_of_change(answers, "example") == [
        ["all", 1, 0, 1],
        ["read", 1, 0, 1],
    ]


def test_questions_with_an_answer_that_was_not_read_are_counted_apart():
    answers = repeated_answers({("token", "typo", 0, 0): "Z"})
    assert counts_of_change(answers, "typo") == [["all", 0, 1, 1]]
    assert len(counts_of_change(answers, "blank_space")) == 2


def test_changes_are_counted_by_the_confidence_of_another_prompt():
    """Ten questions, two a fifth; the least sure of each prompt changes."""
    sure = np.arange(10, dtype=float)
    logits = np.zeros((3, 10, 2))
    logits[:, :, 0] = sure  # ever surer of the first option
    logits[2, :2, 1] = 50  # under the third prompt the first two say the second
    counts = tables.count_by_confidence({"a": logits, "b": logits})
    own = counts[(counts["model"] == "a") & (counts["confidence"] == "own")]
    changed = own.pivot_table(index="prompt", columns="fifth", values="changed")
    assert changed.loc["base"].tolist() == [2, 0, 0, 0, 0]
    assert changed.loc["task"].tolist() == [0, 0, 0, 0, 0]  # the other two agree
    assert (counts["questions"] == 2).all()
    # Two equal models: that of the other tells the same.
    others = counts[(counts["model"] == "a") & (counts["confidence"] != "own")]
    assert others["changed"].tolist() == own["changed"].tolist()


def scored_facts() -> pd.DataFrame:
    """Return two facts of a relation with two options, of shares 3:1 and 1:1."""
    scores = [np.log([0.3, 0.1]), np.log([0.2, 0.2])]
    return pd.DataFrame(
        {
            "model": "m",
            "relation": "P17",
            "answer": [0, 1],
            "scores": scores,
            "occurrences": [5, 0],
        }
    )


def test_scores_of_options_by_hand():
    first, second = tables.score_options(scored_facts()).to_dict("records")
    assert first["sum_right"] == pytest.approx(np.log(0.3))
    assert first["sum_other"] == pytest.approx(np.log(0.1))
    assert first["lead_right"] == pytest.approx(np.log(3))
    assert first["share_right"] == pytest.approx(np.log(0.75))
    assert first["PMI_right"] == pytest.approx(np.log(0.75 / 0.5))
    assert first["PMI_other"] == pytest.approx(np.log(0.25 / 0.5))
    assert (first["answer_right"], first["answer_other"]) == (1, 0)
    # With all subjects the first option has 0.75 + 0.5: it is the favourite.
    assert (first["favourite"], second["favourite"]) == (1, 0)
    assert second["PMI_right"] == pytest.approx(np.log(0.5 / 0.25))
    counts = tables.count_right_answers(tables.score_options(scored_facts()))
    columns = ["occurrences", "facts", "right", "other", "favourite"]
    assert counts[columns].to_numpy().tolist() == [[0, 1, 0, 1, 0], [4, 1, 1, 0, 1]]


def test_correlations_equal_scipy_within_one_relation():
    rng = np.random.default_rng(0)
    n = 40
    scores = [rng.normal(size=4) for _ in range(n)]
    facts = pd.DataFrame(
        {
            "model": "m",
            "relation": "P17",
            "answer": rng.integers(4, size=n),
            "scores": scores,
            "occurrences": rng.integers(100, size=n),
        }
    )
    scored = tables.score_options(facts)
    found = tables.correlate_scores_and_occurrences(scored, n_resamples=20)
    by_name = found.set_index(["score", "object"])["estimate"]
    for score in tables.SCORES:
        for kind in ("right", "other"):
            rho, _ = scipy.stats.spearmanr(
                scored[f"{score}_{kind}"], scored["occurrences"]
            )
            assert by_name[score, kind] == pytest.approx(rho)
        difference = by_name[score, "right"] - by_name[score, "other"]
        assert by_name[score, "difference"] == pytest.approx(difference)
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()


def test_kept_tables_count_all_that_was_published():
    contradictions = load_counts("contradictions")
    assert (contradictions["asked"] * contradictions["facts"]).sum() == 29_361
    recall = load_counts("recall")
    assert recall.groupby("model")["facts"].sum().tolist() == [7_731, 7_731]
    reruns = load_counts("reruns")
    everything = reruns[reruns["answers"] == "all"]
    assert set(everything.groupby(["model", "change"])["questions"].sum()) == {1_000}
    confidence = load_counts("confidence")
    assert confidence["model"].nunique() == 16
    keys = ["model", "prompt", "confidence"]
    assert set(confidence.groupby(keys)["questions"].sum()) == {10_000}


@pytest.mark.parametrize("name", NAMES)
def test_kept_tables_hold_no_text_of_others(name):
    table = load_counts(name)
    texts = table.select_dtypes(exclude="number")
    allowed = {"model", "relation", "change", "answers", "prompt", "confidence"}
    assert set(texts.columns) <= allowed | {"score", "object"}
    assert texts.map(len).to_numpy().max() < 40
