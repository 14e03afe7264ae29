"""Divide the exercises among the weeks of a course: in the book's order, evenly."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pandas as pd
import yaml

from book.tools import render
from book.tools.course import exercises
from book.tools.course.exercises import Exercise
from book.tools.jobs import TEMPLATES

COURSE_TIMES_FILE = (
    render.BOOK_FOLDER / "course_times.csv"
)  # what chapters take from nothing
NUMBER_OF_WEEKS = 6
READING_WORDS_PER_MINUTE = (
    238  # words a minute of silent reading: the mean of 190 studies, Brysbaert 2019
)
PLACE_BY_EXERCISE_KIND = {
    "on paper": "In class",
    "code": "At home",
    "to be argued": "To hand in",
}
CLASS_MINUTES, BREAK_MINUTES = 120, 10  # minutes
OUTLINES_FOLDER = TEMPLATES / "slides"
SPEAKER_NOTE_LINE = re.compile(
    r"^Note: (\d+) minutes?(, optional)?$", flags=re.MULTILINE
)


@dataclass(frozen=True)
class Week:
    """One week of the course."""

    number: int
    exercises: list[Exercise]
    chapters: list[str]  # that begin in it
    minutes: float  # of its exercises, and of these chapters' runs

    @property
    def name(self) -> str:
        """Return the name of its assignment."""
        return f"week-{self.number}"

    @property
    def points(self) -> int:
        """Return what its exercises are worth."""
        return sum(exercise.points for exercise in self.exercises)


def plan_weeks(
    found: Sequence[Exercise], table: Path = COURSE_TIMES_FILE
) -> list[Week]:
    """Return the weeks of the exercises given; minutes of runs are read from a table."""
    ran: Mapping[str, float] = pd.read_csv(table).groupby("notebook")["minutes"].first()
    first = {one.chapter: one.label for one in reversed(found)}
    minutes = [
        one.minutes
        + (ran.get(one.chapter, 0.0) if one.label == first[one.chapter] else 0.0)
        for one in found
    ]
    ends = week_ends(minutes)
    weeks = []
    for number, (begin, end) in enumerate(zip([0, *ends], ends), start=1):
        part = list(found[begin:end])
        chapters = [one.chapter for one in part if one.label == first[one.chapter]]
        weeks.append(Week(number, part, chapters, math.fsum(minutes[begin:end])))
    return weeks


def week_ends(minutes: Sequence[float], weeks: int = NUMBER_OF_WEEKS) -> list[int]:
    """Return where each week ends, so that the squares of their minutes have the least sum.

    >>> week_ends([10, 10, 20, 5, 5, 30], weeks=3)
    [2, 5, 6]
    """
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [])}
    for _ in range(weeks):
        best = {
            end: min(
                (total + math.fsum(minutes[begin:end]) ** 2, [*ends, end])
                for begin, (total, ends) in best.items()
                if begin <= end
            )
            for end in range(len(minutes) + 1)
        }
    return best[len(minutes)][1]


def weeks_of_book() -> list[Week]:
    """Return the weeks of all exercises of the book."""
    templates = (TEMPLATES / f"{name}.ipynb" for name in render.chapter_names())
    return plan_weeks(
        [exercise for path in templates for exercise in exercises.read_exercises(path)]
    )


def reading_minutes(template: Path) -> int:
    """Return the minutes that the text of a chapter takes to read, its exercises left out."""
    cells = nbformat.read(template, as_version=4).cells
    texts = (cell.source for cell in cells if cell.cell_type == "markdown")
    return round(sum(map(exercises.count_words, texts)) / READING_WORDS_PER_MINUTE)


def slide_minutes(name: str) -> tuple[int, int]:
    """Return the minutes of a chapter's slides: of the core, and of the optional ones."""
    found = SPEAKER_NOTE_LINE.findall(
        (OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    )
    return sum(int(n) for n, more in found if not more), sum(
        int(n) for n, more in found if more
    )


def class_activities(week: Week) -> list[tuple[int, str]]:
    """Return what happens in a week's class: minutes, and what in Markdown."""
    beside = yaml.safe_load(
        (TEMPLATES / "weeks" / "class.yaml").read_text(encoding="utf-8")
    )
    decks = [(name, *slide_minutes(name)) for name in week.chapters]
    done = [
        (core, f"Slides of {{ref}}`{name.replace('_', '-')}`")
        for name, core, _ in decks
    ]
    done.insert(1, (BREAK_MINUTES, "Break"))
    done += map(tuple, beside[week.number])
    rest = CLASS_MINUTES - sum(minutes for minutes, _ in done)
    optional = sum(more for _, _, more in decks)
    more = f"Questions, and of {optional} minutes of optional slides what the class asks for"
    return [*done, (rest, more)] if rest else done


def timetable_markdown(week: Week) -> str:
    """Return a week's class as a table in Markdown, with the minute at which each part begins."""
    rows, begin = ["| minute | in class |", "|---|---|"], 0
    for minutes, what in class_activities(week):
        rows.append(f"| {begin}-{begin + minutes} | {what} |")
        begin += minutes
    return "\n".join(rows)


def week_markdown(week: Week) -> str:
    """Return in Markdown a week's chapters, its exercises by where they are done, and its load."""
    parts = [f"**Week {week.number}.**"]
    if week.chapters:
        read = [
            f"{{ref}}`{name.replace('_', '-')}` ({reading_minutes(TEMPLATES / f'{name}.ipynb')} minutes)"
            for name in week.chapters
        ]
        parts.append(f"Read {' and '.join(read)}.")
    for kind, where in PLACE_BY_EXERCISE_KIND.items():
        named = [
            f"{{ref}}`{e.title} <{e.label}>`" for e in week.exercises if e.kind == kind
        ]
        parts += [f"{where}: {', '.join(named)}."] if named else []
    return " ".join([*parts, f"*{week.minutes:.0f} minutes, {week.points} points.*"])
