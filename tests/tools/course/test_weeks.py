"""Tests of the weeks: which exercises each holds, and how even they are."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import pandas as pd
import pytest

from book.tools import render
from book.tools.course import exercises, weeks
from book.tools.jobs import TEMPLATES


@pytest.fixture(scope="module")
def found():
    return [e for name in render.chapters() for e in exercises.read(TEMPLATES / f"{name}.ipynb")]


def test_weeks_are_as_even_as_the_order_allows():
    minutes = [5, 10, 30, 5, 10, 20, 15, 5, 40, 10]
    cuts = [(0, *ends, 10) for ends in combinations(range(1, 10), 3)]
    best = min(sum(sum(minutes[a:b]) ** 2 for a, b in pairwise(c)) for c in cuts)
    ends = [0, *weeks.divided(minutes, weeks=4)]
    assert sum(sum(minutes[a:b]) ** 2 for a, b in pairwise(ends)) == best


def test_a_run_counts_where_its_chapter_begins(found, tmp_path):
    times = tmp_path / "times.csv"
    pd.DataFrame({"notebook": ["b"], "minutes": [15.0]}).to_csv(times)
    made = [replace(found[0], chapter=c, label=l, minutes=10) for c, l in ("ax", "by", "bz", "cw")]
    planned = [week for week in weeks.plan(made, times) if week.exercises]
    minutes = {one.label: week.minutes for week in planned for one in week.exercises}
    assert minutes == {"x": 10, "y": 25, "z": 10, "w": 10}
    assert [week.chapters for week in planned] == [["a"], ["b"], [], ["c"]]


def test_the_plan_has_every_exercise_once_in_order(found):
    planned = weeks.plan(found)
    assert [one for week in planned for one in week.exercises] == found
    assert [name for week in planned for name in week.chapters] == render.chapters()
    assert len(planned) == weeks.WEEKS
    minutes = [week.minutes for week in planned]
    assert max(minutes) - min(minutes) <= max(one.minutes for one in found)
    assert sum(week.points for week in planned) == sum(one.points for one in found)


def test_the_page_names_them_all(found):
    text = "\n\n".join(map(weeks.paragraph, weeks.of_the_book()))
    assert re.findall(r"`([^`]+) <(ex-[\w-]+)>`", text.replace("\n", " ")) != []
    assert sorted(re.findall(r"<(ex-[\w-]+)>", text)) == sorted(one.label for one in found)
    assert text.count("**Week ") == weeks.WEEKS


@pytest.mark.parametrize("week", weeks.of_the_book(), ids=lambda week: week.name)
def test_a_class_takes_two_hours(week):
    minutes = [minutes for minutes, _ in weeks.in_class(week)]
    assert all(minute > 0 for minute in minutes)
    assert sum(minutes) == weeks.CLASS
    assert weeks.timetable(week).endswith("|")
    for name in week.chapters:
        core, optional = weeks.slides(name)
        assert 40 <= core <= 75
        assert core + optional <= 90
