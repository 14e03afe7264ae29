"""What the MONITOR paper shows beside its score: wordings, anchors, formats, BLEU."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import datasets
from helpers.metrics import monitor
from helpers.prompts import labels
from notebooks.analysis import monitor_paper as paper
from notebooks.kit import published
from tests.plots.figure_texts import draw_figure

DRAWS = {"n_resamples": 100, "seed": 0}


def made_up_answers(n_frames=7, n_facts=8):
    """Return answers about facts of two relations, a wording each weaker than the last."""
    rows = []
    for i in range(n_facts):
        relation = ("P17", "P37")[i % 2]
        strengths = {"right": 0.95, "wrong0": 0.3 + 0.05 * i}
        strengths |= {f"frame{j}": 0.9 - 0.1 * j - 0.01 * i for j in range(n_frames)}
        for variant, p in strengths.items():
            rows.append((f"{relation}-{i}", relation, variant, [float(np.log(p))]))
    table = pd.DataFrame(rows, columns=["item", "relation", "variant", "logprobs"])
    return labels.add_columns(table)


def test_the_first_four_wordings_lie_within_all_choices():
    answers = made_up_answers()
    scores = monitor.fact_scores(answers)
    distances = monitor.distances_by_frame(answers)
    found = paper.monitor_in_four_and_all_frames(scores, distances)
    assert found.index.tolist() == ["P17", "P37", "all"]
    assert found.loc["all", "all wordings"] == pytest.approx(
        monitor.monitor_score(scores)
    )
    # Each wording is weaker than the last, so the first four are the steadiest.
    assert found["four"].tolist() == pytest.approx(found["low"].tolist())
    assert (found["four"] < found["all wordings"]).all()
    assert (found["all wordings"] < found["others"]).all()
    assert (found["others"] > found["high"]).all()
    ax = draw_figure(paper.draw_monitor_in_four_and_all_frames(found))
    assert ax.get_lines()[0].get_xdata().tolist() == found["all wordings"].tolist()[:2]


def test_four_wordings_are_all_there_are():
    answers = made_up_answers(n_frames=4)
    found = paper.monitor_in_four_and_all_frames(
        monitor.fact_scores(answers), monitor.distances_by_frame(answers)
    )
    assert found.empty
    paper.draw_monitor_in_four_and_all_frames(found)
    compared = list(paper.comparisons_for_appendix(found, made_up_wordings()))
    assert [statistic[-1] for _, statistic, _ in compared] == [0, 0, 1]


def test_anchors_are_sorted_by_strength():
    rows = [
        ("P37-a", "P37", "right", 0.9),
        ("P37-a", "P37", "frame0", 0.8),
        ("P37-a", "P37", "frame1", 0.1),
        ("P37-a", "P37", "wrong0", 0.5),
        ("P17-b", "P17", "right", 0.7),
        ("P17-b", "P17", "frame0", 0.95),
        ("P17-b", "P17", "wrong0", 0.3),
        ("P17-c", "P17", "right", 1.0),
    ]
    table = pd.DataFrame(rows, columns=["item", "relation", "variant", "p"])
    answers = labels.add_columns(table.assign(logprobs=[[np.log(p)] for p in table.p]))
    scores = pd.DataFrame(
        {"item": ["P37-a", "P17-b", "P17-c"], "counted": [True, True, False]}
    )
    found = paper.shares_by_anchor_strength(answers, scores, "logprobs", **DRAWS)
    names = list(paper.STRENGTHS)
    shares = found[names].to_dict("index")
    assert shares["P37: right answer first"]["above 0.8"] == 1
    assert shares["P37: nothing first"]["0.6 to 0.8"] == 0.5  # 0.8 is not above 0.8
    assert shares["P37: nothing first"]["up to 0.2"] == 0.5
    assert shares["all: right answer first"] == dict(zip(names, (0.5, 0.5, 0, 0, 0)))
    assert shares["all: nothing first"] == dict(zip(names, (0.5, 0.25, 0, 0, 0.25)))
    assert shares["all: wrong answer first"] == dict(zip(names, (0, 0, 0.5, 0.5, 0)))
    assert found[names].sum(axis=1).tolist() == [1] * 6
    others = answers[answers["relation"] != "P37"]
    found = paper.shares_by_anchor_strength(others, scores, "logprobs", **DRAWS)
    assert len(found) == 3


def test_one_fact_in_each_format():
    fact = datasets.load("atlas", ["P17"]).head(1)
    frames = datasets.prompt_frames("atlas", ["P17"])
    found = paper.formats_of_one_fact(fact, frames).set_index("format")
    assert list(found.index) == ["WP", "QA", "[Y]. QA", "[Y_]. QA", "FC-pos", "FC-neg"]
    subject, right = fact["subject"].item(), fact["object"].item()
    wrong = fact["distractors"].item()[0]
    assert found.loc["WP", "prompt"] == f"{subject} is located in"
    assert found.loc["[Y]. QA", "prompt"].startswith(f"{right}. Which country")
    assert found.loc["[Y_]. QA", "prompt"].startswith(f"{wrong}. Which country")
    assert f"in {wrong}. The statement" in found.loc["FC-neg", "prompt"]
    assert found["counts as right"].str.strip().tolist() == [right] * 4 + [
        "True",
        "False",
    ]
    questions = frames[frames["kind"] == "qa"]
    assert len(paper.formats_of_one_fact(fact, questions)) == 3


def test_accuracy_by_format_stands_above_table_2():
    marks = pd.DataFrame(
        {"item": ["a", "b"], "relation": "P17", 0: [1.0, 0.0], 1: [1.0, 1.0]}
    )
    by_frame = paper.accuracy_by_format_and_frame({"QA": marks, "WP": marks})
    assert by_frame["format"].tolist() == ["WP", "WP", "QA", "QA"]
    assert by_frame["accuracy"].tolist() == [0.5, 1.0] * 2
    found = paper.accuracy_beside_table_2(by_frame, "mine", other_questions=False)
    assert found.loc["mine", ["WP", "QA"]].tolist() == ["75.00", "75.00"]
    assert list(found.index)[1:] == list(
        published.load_published_table("monitor_table2").index
    )


def test_three_prompts_of_one_fact_stand_above_table_7():
    rows = [("right", 0, 0, 0.9), ("none", -1, 0, 0.8), ("none", -1, 1, 0.7)]
    rows += [("wrong", 0, 0, 0.6), ("wrong", 1, 0, 0.5)]
    asked = pd.DataFrame(
        rows, columns=["context", "context_index", "frame", "probability"]
    )
    found = paper.probabilities_beside_table_7(asked, "mine")
    assert found.iloc[0].tolist() == ["0.900", "0.600", "0.700"]
    assert found.loc["Vicuna-7b"].tolist() == ["0.928", "0.622", "0.849"]


# BLEU.


def made_up_wordings():
    templates = ["Where in the world is [X]?", "Where in the world lies [X]?"]
    return paper.similarity_of_wordings(
        pd.DataFrame(
            {"relation": "P1", "kind": "qa", "frame": [0, 1], "template": templates}
        ),
        7,
    )


@pytest.mark.parametrize(
    ("candidate", "reference", "order", "expected"),
    [
        ("a b c d e", "a b c d f", 4, (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25),
        ("a b c d", "a b c d e", 4, np.exp(1 - 5 / 4)),  # shorter than its reference
        ("a b c d e", "a b c d", 4, (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25),
        ("the the the the", "the cat the mat", 1, 2 / 4),  # as often as it has it
        ("a b c d", "d c b a", 2, 0.0),
        ("a b c", "a b c", 4, 0.0),  # too short for a run of four
    ],
)
def test_bleu_by_hand(candidate, reference, order, expected):
    found = paper.sentence_bleu(candidate.split(), reference.split(), order)
    assert found == pytest.approx(expected)


WORDS = st.lists(st.sampled_from("abc"), min_size=4, max_size=9)


@given(WORDS, WORDS)
def test_bleu_lies_between_nothing_and_the_same(first, second):
    assert 0 <= paper.sentence_bleu(first, second) <= 1
    assert paper.sentence_bleu(first, first) == pytest.approx(1)
    if paper.sentence_bleu(first, second) == pytest.approx(1):
        assert first == second


def test_a_slot_and_a_mark_are_words():
    words = paper.WORD_OR_MARK.findall("Which [X], the two-letter one?")
    assert words == ["Which", "[X]", ",", "the", "two", "-", "letter", "one", "?"]


def test_one_pair_of_the_atlas_would_be_refused():
    found = paper.similarity_of_wordings(datasets.prompt_frames("atlas"), 7)
    assert len(found) == 30 * 21
    refused = found[found["BLEU"] >= paper.MOST_ALIKE]
    assert refused["relation"].tolist() == ["P36"]
    assert refused["BLEU"].item() == pytest.approx(0.701, abs=5e-4)
    assert paper.sentence_on_similar_wordings(found) == (
        "Of 630 pairs of wordings of one relation, 1 has a BLEU of 0.7 or more.\n"
    )
    assert len(paper.similarity_of_wordings(datasets.prompt_frames("atlas"), 2)) == 30


def test_fktc_has_one_question_twice_and_no_other_pair_that_is_alike(root, shared):
    frames = datasets.prompt_frames(str(shared / "data" / "fktc" / "FKTC"))
    found = paper.similarity_of_wordings(frames, 7)
    assert len(found) == 408
    assert found["BLEU"].head(1).tolist() == pytest.approx([1])
    assert found["BLEU"].iloc[1] < 0.6
    chapter = (root / "notebooks" / "monitor.ipynb").read_text(encoding="utf-8")
    assert "of its 408 pairs one is" in chapter
