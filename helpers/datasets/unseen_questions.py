"""Questions whose answers no model can have read: about the future and nobody's lives.

The 20 templates are those of Zheng, Lapata and Pan 2024, Table 1, counted from a date,
with places of National Olympic Committees, events of Paris 2024 and made-up people
whose names nobody joins.
"""

import datetime
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets.registry import DATA_FOLDER

DEFAULT_AS_OF = "2026-12-31"
N_PLACES = 150  # of each kind of name, as in the paper
N_INVENTED_ANSWERS = 40  # answers of each type
ANSWER_TYPES = ("number", "person", "time", "location", "other")

_TABLE = pd.read_csv(DATA_FOLDER / "unseen_templates.csv", keep_default_na=False)
# The name of a template, the type of its answers, what fills it ("place" ...), and its
# text.
QUESTION_TEMPLATES = list(_TABLE.itertuples(index=False, name="Template"))
NAME_LISTS = json.loads((DATA_FOLDER / "unseen_names.json").read_text(encoding="utf-8"))
ROMAN_TENS = {100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X"}
ROMAN_UNITS = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")


def _olympic_events() -> list[str]:
    """Return the names of the events of men and of women in each sport."""
    names = []
    for sport, events in NAME_LISTS["events"].items():
        place = "" if sport == "ball sport" else f" in {sport}"
        for competitors in ("men's", "women's"):
            names += [f"{competitors} {event}{place}" for event in events]
    return names


OLYMPIC_EVENTS = _olympic_events()


def draw_unseen_questions(
    as_of: str = DEFAULT_AS_OF, n: int = N_PLACES, seed: int = 0
) -> pd.DataFrame:
    """Return UnseenQA: `n` questions of each of 20 templates, unseen up to a date.

    >>> paper = draw_unseen_questions("2024-04-13")
    >>> len(paper), paper["group"].nunique()
    (3000, 20)
    >>> paper.loc[paper["group"] == "T2", "question"].str[:26].unique().tolist()
    ['In the 25th FIFA World Cup']
    """
    if not 1 <= n <= N_PLACES:
        raise UserError(
            f"n is {n}, the number of questions a template: give 1 to {N_PLACES}."
        )
    if seed < 0:
        raise UserError(f"The seed is {seed}: give 0 or a positive whole number.")
    times = coming_editions_and_years(as_of)
    names = _names_of_slots(seed)
    rows = []
    for template in QUESTION_TEMPLATES:
        text = template.text.format(**times)
        for number, name in enumerate(names[template.slot][:n]):
            row = {
                "item": f"{template.name}-{number:03d}",
                "group": template.name,
                "question": text.replace("[X]", name),
                "answers": [],
                "type": template.type,
                "seen": False,
                "subject": name,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def coming_editions_and_years(as_of: str) -> dict[str, str]:
    """Return editions and years as far ahead of a date as they were for the paper."""
    try:
        day = datetime.date.fromisoformat(as_of)
    except (TypeError, ValueError):
        raise UserError(
            f"as_of is {as_of!r}: give a date, such as {DEFAULT_AS_OF!r}."
        ) from None
    games = _edition(day, first=1896, month=7)
    cup = _edition(day, first=2022, month=6) + 21 + 2
    return {
        "next": _roman(games),
        "later": _roman(games + 1),
        "cup": _ordinal(cup),
        "far": str(day.year + 16),
        "soon": str(day.year + 4),
        "before": str(day.year - 9),
    }


def invented_answers(kind: str) -> list[str]:
    """Return plausible answers of a type, as rivals of a model's own without truth."""
    type_number = ANSWER_TYPES.index(kind)
    random = np.random.default_rng([0, type_number])
    n = N_INVENTED_ANSWERS
    if kind == "number":
        return [str(number) for number in range(n)]
    if kind == "person":
        first = _draw(NAME_LISTS["first"], n, random)
        last = _draw(NAME_LISTS["last"], n, random)
        # There may be more names of one kind than of the other.
        return [" ".join(parts) for parts in zip(first, last, strict=False)]
    if kind == "time":
        return _draw(range(1901, 2025), n, random)
    if kind == "location":
        places = _draw(NAME_LISTS["places"], n, random)
        return [place.removeprefix("the ") for place in places]
    return _draw(NAME_LISTS["others"], n, random)


def _names_of_slots(seed: int) -> dict[str, list[str]]:
    """Draw the names of each slot, in an order of their own."""
    random = np.random.default_rng([seed, 1])
    places = _draw(NAME_LISTS["places"], N_PLACES, random)
    events = _draw(OLYMPIC_EVENTS, N_PLACES, random)
    persons: dict[str, None] = {}  # a set that keeps the order
    while len(persons) < N_PLACES:
        first = random.choice(NAME_LISTS["first"])
        middle = random.choice(NAME_LISTS["middle"])
        last = random.choice(NAME_LISTS["last"])
        persons[f"{first} {middle} {last}"] = None
    return {"place": places, "event": events, "person": list(persons)}


def _draw(
    values: Sequence[str] | Sequence[int], n: int, random: np.random.Generator
) -> list[str]:
    """Return the first n values in random order, as texts."""
    values_in_order = random.permutation(values)
    return [str(value) for value in values_in_order[:n]]


def _edition(day: datetime.date, first: int, month: int) -> int:
    """Return the number of the next edition of what is held every four years."""
    n_before = (day.year - first) // 4
    number = n_before + 1
    opening = datetime.date(first + 4 * n_before, month, 1)
    return number if opening > day else number + 1


def _ordinal(number: int) -> str:
    """Return a number as 1st, 2nd, 3rd, 4th ..."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10, 'th')}"


def _roman(number: int) -> str:
    """Return a number below 400 in Roman numerals."""
    text = ""
    for value, letters in ROMAN_TENS.items():
        text += letters * (number // value)
        number %= value
    return text + ROMAN_UNITS[number]
