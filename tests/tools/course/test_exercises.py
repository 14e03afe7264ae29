"""Exercises of every chapter: solutions, stubs, weeks, and a course with a seed: other keys."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import roc_auc_score

from book.tools import render
from book.tools.course import checks, exercises, weeks
from helpers import exchange
from helpers.io import files
from notebooks.analysis import smollm2

ROOT = Path(__file__).resolve().parents[3]
CHAPTERS = {
    name: exercises.read_exercises(ROOT / "notebooks" / f"{name}.ipynb")
    for name in render.chapter_names()
}
ALL = [exercise for several in CHAPTERS.values() for exercise in several]
CODE = [exercise for exercise in ALL if exercise.kind == "code"]
PLANNED = weeks.weeks_of_book()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_four_to_six_exercises_of_both_kinds(chapter):
    kinds = [exercise.kind for exercise in CHAPTERS[chapter]]
    assert 4 <= len(kinds) <= 6
    assert kinds.count("code") >= 2
    assert kinds.count("to be argued") >= 1
    text = (ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert len(kinds) == text.count("{exercise}") == text.count("{solution}")


@pytest.mark.parametrize("exercise", ALL, ids=lambda one: one.label)
def test_an_exercise_says_how_hard_and_how_long_it_is(exercise):
    assert [one.label for one in ALL].count(exercise.label) == 1
    assert exercise.difficulty in (1, 2, 3)
    assert 1 <= exercise.minutes <= 60
    assert min(len(exercise.text), len(exercise.notes)) > 80
    assert exercise.title


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_week_asks_for_functions_of_different_names(week):
    coded = [exercise for exercise in week.exercises if exercise.kind == "code"]
    names = [function.name for exercise in coded for function in exercise.functions()]
    assert len(set(names)) == len(names), "a grader tests the last of them"


@pytest.mark.parametrize("exercise", CODE, ids=lambda one: one.label)
def test_the_solution_passes_and_the_stub_fails(exercise):
    checks.check_exercise(exercise)
    signature = re.search(r"def (\w+\([^)]*\))", checks.stub_code(exercise))[1]
    assert f"`{signature}`" in exercise.text
    code = exercise.solution + exercise.test
    assert not re.search(
        r"models\.load|helpers\.models|import (torch|probing)|weights", code
    )
    assert max(map(len, code.splitlines())) <= 88
    assert len(exercise.solution.splitlines()) <= 25


def test_weeks_are_as_even_as_the_order_allows():
    minutes = [5, 10, 30, 5, 10, 20, 15, 5, 40, 10]
    cuts = [(0, *ends, 10) for ends in combinations(range(1, 10), 3)]
    best = min(sum(sum(minutes[a:b]) ** 2 for a, b in pairwise(c)) for c in cuts)
    ends = [0, *weeks.week_ends(minutes, weeks=4)]
    assert sum(sum(minutes[a:b]) ** 2 for a, b in pairwise(ends)) == best


def test_a_run_counts_where_its_chapter_begins(tmp_path):
    times = tmp_path / "times.csv"
    pd.DataFrame({"notebook": ["b"], "minutes": [15.0]}).to_csv(times)
    made = [
        replace(ALL[0], chapter=c, label=l, minutes=10)
        for c, l in ("ax", "by", "bz", "cw")
    ]
    planned = [week for week in weeks.plan_weeks(made, times) if week.exercises]
    minutes = {one.label: week.minutes for week in planned for one in week.exercises}
    assert minutes == {"x": 10, "y": 25, "z": 10, "w": 10}
    assert [week.chapters for week in planned] == [["a"], ["b"], [], ["c"]]


def test_the_plan_has_every_exercise_once_in_order():
    planned = PLANNED
    assert [one for week in planned for one in week.exercises] == ALL
    assert [
        name for week in planned for name in week.chapters
    ] == render.chapter_names()
    assert len(planned) == weeks.NUMBER_OF_WEEKS
    minutes = [week.minutes for week in planned]
    assert max(minutes) - min(minutes) <= max(one.minutes for one in ALL)
    assert sum(week.points for week in planned) == sum(one.points for one in ALL)


def test_the_page_names_them_all():
    text = "\n\n".join(map(weeks.week_markdown, PLANNED))
    assert re.findall(r"`([^`]+) <(ex-[\w-]+)>`", text.replace("\n", " ")) != []
    assert sorted(re.findall(r"<(ex-[\w-]+)>", text)) == sorted(
        one.label for one in ALL
    )
    assert text.count("**Week ") == weeks.NUMBER_OF_WEEKS


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_class_takes_two_hours(week):
    minutes = [minutes for minutes, _ in weeks.class_activities(week)]
    assert all(minute > 0 for minute in minutes)
    assert sum(minutes) == weeks.CLASS_MINUTES
    assert weeks.timetable_markdown(week).endswith("|")
    for name in week.chapters:
        core, optional = weeks.slide_minutes(name)
        assert 40 <= core <= 75
        assert core + optional <= 90


DRAWS = [
    (label, n)
    for label, given in exercises.PAPER_EXERCISES.items()
    for n in range(len(given["draws"]))
]


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
    assert {one.label for one in ALL if one.kind == "on paper"} <= set(
        exercises.PAPER_EXERCISES
    )


@pytest.mark.parametrize(("label", "number"), DRAWS)
def test_the_notes_of_each_draw_are_right(label, number):
    made, (one,) = (
        exercises.paper_exercise_texts(label, number),
        [one for one in ALL if one.label == label],
    )
    right = ANSWERS[label](**exercises.PAPER_EXERCISES[label]["draws"][number])
    assert all(answer in made["notes"] for answer in right), made["notes"]
    if number == 0:
        assert (one.text, one.notes) == (made["text"], made["notes"])
    else:  # as hard: the same words and steps, other numbers; the book's key is wrong
        book = ANSWERS[label](**exercises.PAPER_EXERCISES[label]["draws"][0])
        assert made["text"] != one.text
        assert right != book
        shape = [re.sub(r"[\d.]+", "0", text["notes"]) for text in (made, vars(one))]
        assert abs(len(shape[0]) - len(shape[1])) <= 12


@pytest.mark.parametrize("seed", [2027, 2028])
def test_solutions_pass_another_seed(seed):
    for one in ALL:
        again = exercises.exercise_with_draws(one, seed)
        assert (again.text != one.text) == (one.label in exercises.PAPER_EXERCISES)
        if one.kind == "code":
            assert again.hidden() != one.hidden()
            assert (
                checks.solution_failure(again.solution, again.hidden(), one.label)
                is None
            )


def test_the_kept_table_is_that_of_the_archive():
    answers = exchange.read_archive(smollm2.SMOLLM2_ARCHIVE).files[
        "monitor/answers.parquet"
    ]
    facts = smollm2.accuracy_by_fact_and_context(
        files.read_parquet_table(answers, "it")
    ).round(3)
    (table,) = exercises.NOTEBOOKS_FOLDER.glob("weeks/smollm2.csv")
    kept = np.genfromtxt(table, delimiter=",", names=True, dtype=None, encoding="utf-8")
    for column in ("occurrences", "none", "unrelated", "wrong", "reworded"):
        assert kept[column] == pytest.approx(facts[column].to_numpy())
