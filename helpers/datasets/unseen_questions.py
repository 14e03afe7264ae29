"""Questions whose answers no model can have read: about what is to come, and nobody's lives.

The 20 templates are those of Zheng, Lapata and Pan 2024, Table 1, counted from a date,
with places of National Olympic Committees, events of Paris 2024 and made-up people
whose names nobody joins.
"""

import datetime
import json

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
OLYMPIC_EVENTS = [
    f"{who} {event}" if sport == "ball sport" else f"{who} {event} in {sport}"
    for sport, events in NAME_LISTS["events"].items()
    for who in ("men's", "women's")
    for event in events
]


def draw_unseen_questions(
    as_of: str = DEFAULT_AS_OF, n: int = N_PLACES, seed: int = 0
) -> pd.DataFrame:
    """Return UnseenQA: `n` questions from each of 20 templates, unseen by models up to a date.

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
    times, names = coming_editions_and_years(as_of), _names(seed)
    rows = []
    for template in QUESTION_TEMPLATES:
        text = template.text.format(**times)
        for place, name in enumerate(names[template.slot][:n]):
            head = (
                f"{template.name}-{place:03d}",
                template.name,
                text.replace("[X]", name),
            )
            rows.append((*head, [], template.type, False, name))
    columns = ["item", "group", "question", "answers", "type", "seen", "subject"]
    return pd.DataFrame(rows, columns=columns)


def coming_editions_and_years(as_of: str) -> dict[str, str]:
    """Return the editions and years that lie ahead of a date, as far as they did for the paper."""
    try:
        day = datetime.date.fromisoformat(as_of)
    except (TypeError, ValueError):
        raise UserError(
            f"as_of is {as_of!r}: give a date, such as {DEFAULT_AS_OF!r}."
        ) from None
    games = _edition(day, first=1896, month=7)
    cup = _edition(day, first=2022, month=6) + 21 + 2
    ending = (
        "th"
        if cup % 100 in (11, 12, 13)
        else {1: "st", 2: "nd", 3: "rd"}.get(cup % 10, "th")
    )
    return {
        "next": _roman(games),
        "later": _roman(games + 1),
        "cup": f"{cup}{ending}",
        "far": str(day.year + 16),
        "soon": str(day.year + 4),
        "before": str(day.year - 9),
    }


def invented_answers(kind: str) -> list[str]:
    """Return plausible answers of a type, to stand beside a model's own where no truth is known."""
    random = np.random.default_rng([0, ANSWER_TYPES.index(kind)])
    if kind == "number":
        return [str(number) for number in range(N_INVENTED_ANSWERS)]
    if kind == "person":
        first, last = (
            random.permutation(NAME_LISTS[part]) for part in ("first", "last")
        )
        return [f"{a} {b}" for a, b in zip(first, last)][:N_INVENTED_ANSWERS]
    words = {
        "time": np.arange(1901, 2025),
        "location": NAME_LISTS["places"],
        "other": NAME_LISTS["others"],
    }
    drawn = random.permutation(words[kind])[:N_INVENTED_ANSWERS]
    return [
        str(word).removeprefix("the " if kind == "location" else "") for word in drawn
    ]


def _names(seed: int) -> dict[str, list[str]]:
    """Draw the names of each slot, in an order of their own."""
    random = np.random.default_rng([seed, 1])
    place, event = (
        random.permutation(names)[:N_PLACES]
        for names in (NAME_LISTS["places"], OLYMPIC_EVENTS)
    )
    parts = [NAME_LISTS[part] for part in ("first", "middle", "last")]
    persons: dict[str, None] = {}
    while len(persons) < N_PLACES:
        persons[" ".join(str(random.choice(part)) for part in parts)] = None
    names = {"place": place, "event": event, "person": list(persons)}
    return {slot: [str(name) for name in found] for slot, found in names.items()}


def _edition(day: datetime.date, first: int, month: int) -> int:
    """Return the number of the next edition of what is held every four years."""
    number = (day.year - first) // 4 + 1
    held = datetime.date(first + 4 * (number - 1), month, 1)
    return number if held > day else number + 1


def _roman(number: int) -> str:
    text = ""
    for value, letters in ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X")):
        text += letters * (number // value)
        number %= value
    return text + ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")[number]
