"""A course with a seed: other numbers on paper, as hard, each answer right, old keys wrong."""

import re
from itertools import combinations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import roc_auc_score

from book.tools import render
from book.tools.course import checks, exercises
from book.tools.jobs import TEMPLATES
from helpers.datasets import files
from helpers.runs import sharing
from notebooks.analysis import smollm2

ALL = {
    one.label: one
    for name in render.chapters()
    for one in exercises.read(TEMPLATES / f"{name}.ipynb")
}
ON_PAPER = {label for label, one in ALL.items() if one.kind == "on paper"}
DRAWS = [(label, n) for label, given in exercises.PAPER.items() for n in range(len(given["draws"]))]


def reach(n):
    """Return the smallest correlation over n models whose interval leaves out 0."""
    return np.tanh(scipy_stats.norm.ppf(0.975) / np.sqrt(n - 3))


def monitor(p, a, b, w):
    pfd, ird = np.mean([abs(p - a), abs(p - b)]), abs(p - w)
    deviation = np.sqrt((pfd**2 + ird**2 + pfd * ird) / 3)
    return [f"= {round(pfd, 9):g}$", f"{round(deviation, 9):g}", f"{deviation / p:.3f}"]


def latent(p, first):
    shares = np.array(p) / np.sum(p)
    assert shares.argmax() == ["first", "second", "third"].index(first)
    assert shares.max() <= 0.5
    return [f"Mass {shares[3]:g}", f"confidence {shares.max():g}"]


def multiplicity(word, k, right):
    answers = ["A"] * k + ["B"]
    assert len(answers) == {"Four": 4, "Five": 5, "Six": 6}[word]
    pairs = [a == b for a, b in combinations(answers, 2)]
    both = [a == b for a in answers for b in answers]
    assert 0.5 <= np.mean(pairs) < 0.75
    assert 0.5 <= np.mean(both) < 0.75
    kind = "factuality" if right == "A" else "error"
    return [f"= {np.mean(pairs):.3g}$", f"= {np.mean(both):.3g}$", f"agnostic {kind}"]


def fisher(r, n, m, least):
    assert reach(n) < r <= reach(n - 1)
    assert least == pytest.approx(reach(m), abs=0.005)
    return [f"takes {n}.", f"about {least} "]


ANSWERS = {  # what the notes have to say, computed in another way
    "ex-atlas-hand": lambda a, b, c, d: [f"France {sum((a, b, c))}, Peru {d}."],
    "ex-monitor-hand": monitor,
    "ex-kb-bounds": lambda n, word: [f"IUR = {(n - 1) / n}:"],
    "ex-latent-hand": latent,
    "ex-multiplicity-hand": multiplicity,
    "ex-calibration-hand": lambda s, u, won, tied: [
        f"{roc_auc_score([1] * len(s) + [0] * len(u), s + u):.3f}"
    ],
    "ex-published-fisher": fisher,
}


def test_every_exercise_on_paper_can_be_drawn():
    assert set(exercises.PAPER) >= ON_PAPER


@pytest.mark.parametrize(("label", "number"), DRAWS)
def test_the_notes_of_each_draw_are_right(label, number):
    made = exercises.filled(label, number)
    right = ANSWERS[label](**exercises.PAPER[label]["draws"][number])
    assert all(answer in made["notes"] for answer in right), made["notes"]
    if number == 0:
        assert (ALL[label].text, ALL[label].notes) == (made["text"], made["notes"])
    else:  # as hard: the same words and steps, other numbers; the book's key is wrong
        book = ANSWERS[label](**exercises.PAPER[label]["draws"][0])
        assert made["text"] != ALL[label].text
        assert right != book
        shape = [re.sub(r"[\d.]+", "0", text["notes"]) for text in (made, vars(ALL[label]))]
        assert abs(len(shape[0]) - len(shape[1])) <= 12


@pytest.mark.parametrize("seed", [2027, 2028])
def test_solutions_pass_another_seed(seed):
    for one in ALL.values():
        again = exercises.drawn(one, seed)
        assert (again.text != one.text) == (one.label in exercises.PAPER)
        if one.kind == "code":
            assert again.hidden() != one.hidden()
            assert checks.run(again.solution, again.hidden(), one.label) is None


def test_the_kept_table_is_that_of_the_archive():
    answers = sharing.read(smollm2.ARCHIVE).files["monitor/answers.parquet"]
    facts = smollm2.by_fact(files.table(answers, "it")).round(3)
    (table,) = exercises.NOTEBOOKS.glob("weeks/smollm2.csv")
    kept = np.genfromtxt(table, delimiter=",", names=True, dtype=None, encoding="utf-8")
    for column in ("occurrences", "none", "unrelated", "wrong", "reworded"):
        assert kept[column] == pytest.approx(facts[column].to_numpy())
