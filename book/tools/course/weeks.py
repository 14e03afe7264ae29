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

# What chapters take from nothing.
COURSE_TIMES_FILE = render.BOOK_FOLDER / "course_times.csv"
NUMBER_OF_WEEKS = 6
# Of silent reading: the mean of 190 studies, Brysbaert 2019.
READING_WORDS_PER_MINUTE = 238
PLACE_BY_EXERCISE_KIND = {
    "on paper": "In class",
    "code": "At home",
    "to be argued": "To hand in",
}
CLASS_MINUTES = 120
BREAK_MINUTES = 10
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
    all_exercises: Sequence[Exercise], table: Path = COURSE_TIMES_FILE
) -> list[Week]:
    """Return the weeks of exercises; minutes of runs are read from a table."""
    times = pd.read_csv(table)
    run_minutes: Mapping[str, float] = times.groupby("notebook")["minutes"].first()
    first_labels: dict[str, str] = {}
    for exercise in all_exercises:
        first_labels.setdefault(exercise.chapter, exercise.label)
    minutes = []
    for exercise in all_exercises:
        of_run = 0.0
        if exercise.label == first_labels[exercise.chapter]:
            of_run = run_minutes.get(exercise.chapter, 0.0)
        minutes.append(exercise.minutes + of_run)
    weeks = []
    begin = 0
    for number, end in enumerate(week_ends(minutes), start=1):
        of_week = list(all_exercises[begin:end])
        new_chapters = []
        for exercise in of_week:
            if exercise.label == first_labels[exercise.chapter]:
                new_chapters.append(exercise.chapter)
        week_minutes = math.fsum(minutes[begin:end])
        weeks.append(Week(number, of_week, new_chapters, week_minutes))
        begin = end
    return weeks


def week_ends(minutes: Sequence[float], weeks: int = NUMBER_OF_WEEKS) -> list[int]:
    """Return where weeks end, so that the squares of their minutes have the least sum.

    >>> week_ends([10, 10, 20, 5, 5, 30], weeks=3)
    [2, 5, 6]
    """
    # By the number of exercises done: the least sum, and the ends that reach it.
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [])}
    for _ in range(weeks):
        longer = {}
        for end in range(len(minutes) + 1):
            candidates = []
            for begin, (total, ends) in best.items():
                if begin <= end:
                    total += math.fsum(minutes[begin:end]) ** 2
                    candidates.append((total, [*ends, end]))
            longer[end] = min(candidates)
        best = longer
    _, ends = best[len(minutes)]
    return ends


def weeks_of_book() -> list[Week]:
    """Return the weeks of all exercises of the book."""
    all_exercises = []
    for name in render.chapter_names():
        all_exercises += exercises.read_exercises(TEMPLATES / f"{name}.ipynb")
    return plan_weeks(all_exercises)


def reading_minutes(template: Path) -> int:
    """Return the minutes that a chapter's text takes to read, without exercises."""
    words = 0
    for cell in nbformat.read(template, as_version=4).cells:
        if cell.cell_type == "markdown":
            words += exercises.count_words(cell.source)
    return round(words / READING_WORDS_PER_MINUTE)


def slide_minutes(name: str) -> tuple[int, int]:
    """Return the minutes of a chapter's slides: of the core, and of optional ones."""
    outline = (OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    core = 0
    optional = 0
    for minutes, optional_mark in SPEAKER_NOTE_LINE.findall(outline):
        if optional_mark:
            optional += int(minutes)
        else:
            core += int(minutes)
    return core, optional


def class_activities(week: Week) -> list[tuple[int, str]]:
    """Return what happens in a week's class: minutes, and what in Markdown."""
    text = (TEMPLATES / "weeks" / "class.yaml").read_text(encoding="utf-8")
    other_activities = yaml.safe_load(text)[week.number]
    activities = []
    optional = 0
    for name in week.chapters:
        core_minutes, optional_minutes = slide_minutes(name)
        activities.append((core_minutes, f"Slides of {chapter_reference(name)}"))
        optional += optional_minutes
    activities.insert(1, (BREAK_MINUTES, "Break"))
    activities += [(minutes, words) for minutes, words in other_activities]
    rest = CLASS_MINUTES - sum(minutes for minutes, _ in activities)
    if rest:
        words = (
            f"Questions, and of {optional} minutes of optional slides "
            "what the class asks for"
        )
        activities.append((rest, words))
    return activities


def chapter_reference(name: str) -> str:
    """Return a reference to a chapter, in Markdown."""
    return f"{{ref}}`{name.replace('_', '-')}`"


def timetable_markdown(week: Week) -> str:
    """Return a week's class as a table, with the minutes of each part."""
    rows = ["| minute | in class |", "|---|---|"]
    begin = 0
    for minutes, words in class_activities(week):
        end = begin + minutes
        rows.append(f"| {begin}-{end} | {words} |")
        begin = end
    return "\n".join(rows)


def week_markdown(week: Week) -> str:
    """Return a week's chapters, its exercises by place, and its load, in Markdown."""
    parts = [f"**Week {week.number}.**"]
    readings = []
    for name in week.chapters:
        minutes = reading_minutes(TEMPLATES / f"{name}.ipynb")
        readings.append(f"{chapter_reference(name)} ({minutes} minutes)")
    if readings:
        parts.append(f"Read {' and '.join(readings)}.")
    for kind, place in PLACE_BY_EXERCISE_KIND.items():
        links = [
            f"{{ref}}`{exercise.title} <{exercise.label}>`"
            for exercise in week.exercises
            if exercise.kind == kind
        ]
        if links:
            parts.append(f"{place}: {', '.join(links)}.")
    parts.append(f"*{week.minutes:.0f} minutes, {week.points} points.*")
    return " ".join(parts)
