"""Cases that show a point: facts on which the model's own answers show it by a margin.

A case asks one question, or two, of which the first one's bars stay behind the second's. All its
candidates are put to the model, and the clearest is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from book.tools.live import MODEL, facts
from tests.live_page.asking import Question, shares

MOST = 24  # candidates of a case
MARGIN = 0.1  # of probability, from which a candidate shows the point

Shares = Sequence[pd.Series]  # object to probability, one a question


@dataclass(frozen=True)
class Case:
    """What is asked, after what, and why: the words of a button and a sentence."""

    label: str
    asked: Question
    before: Question | None
    said: str


class Kind(NamedTuple):
    """A point, and how to find what shows it."""

    label: str
    among: str  # what the candidates are
    point: str  # what is seen where the margin is wide
    candidates: Callable[[], pd.DataFrame]  # columns relation, subject; object, false_object, said
    questions: Callable[[pd.Series], list[Question]]
    margin: Callable[[pd.Series, Shares], float]


def lead(probabilities: pd.Series, name: str) -> float:
    """Return by how much an object is likelier than each other one; negative if it is not.

    >>> round(lead(pd.Series({"Peru": 0.2, "Chad": 0.5}), "Peru"), 2)
    -0.3
    """
    return float(probabilities[name] - probabilities.drop(name).max())


@cache
def case(name: str) -> Case:
    """Put all candidates of a point to the model and return the case that shows it best."""
    kind = KINDS[name]
    rows = [row for _, row in kind.candidates().iterrows()]
    asked = [kind.questions(row) for row in rows]
    told = iter(shares([question for questions in asked for question in questions]))
    found = [[next(told) for _ in questions] for questions in asked]
    margins = np.array([kind.margin(*pair) for pair in zip(rows, found, strict=True)])
    best, count = int(margins.argmax()), int((margins >= MARGIN).sum())
    tried = f"{len(rows)} {kind.among}"
    said = f"None of {tried} shows clearly that {MODEL} {kind.point}. {rows[best]['subject']} comes"
    said += " nearest."
    if count:
        said = f"With {count} of {tried}, {MODEL} {kind.point} (by a margin of {MARGIN} or more in"
        said += f" probability); the clearest is {rows[best]['subject']}."
    *before, last = asked[best]
    return Case(kind.label, last, before[0] if before else None, said)


def _facts(query: str) -> Callable[[], pd.DataFrame]:
    """Return the candidates among the facts of the atlas, with a wrong object to be said."""

    def choose() -> pd.DataFrame:
        rows = facts().query(query)[:MOST]
        return rows.assign(said=rows["distractors"].str[0])

    return choose


def _invented() -> pd.DataFrame:
    from notebooks.analysis.atlas.invented import Inventor  # only here

    names = Inventor(facts()).names("P17", MOST, np.random.default_rng(0))
    return pd.DataFrame({"relation": "P17", "subject": names})


def _asked(**others: object) -> Callable[[pd.Series], Question]:
    """Return what asks a fact's subject in one way."""
    return lambda fact: Question(fact["relation"], fact["subject"], **others)


def _plainly_and_after_a_wrong_word(fact: pd.Series) -> list[Question]:
    return [_asked()(fact), _asked(context=fact["said"])(fact)]


def _risen(fact: pd.Series, found: Shares) -> float:
    """Return by how much the truth rose to the first place, from another."""
    before, after = (lead(one, fact["object"]) for one in found)
    rise = float(found[1][fact["object"]] - found[0][fact["object"]])
    return rise if before < 0 < after else min(-before, after)


def _moved(found: Shares) -> float:
    """Return how firmly an option is chosen at first and another one then."""
    first = str(found[0].idxmax())
    return min(lead(found[0], first), -lead(found[1], first))


PLAIN = "plain and relation == 'P17'"
KINDS = {
    "flipped": Kind(
        "A rarely stated fact and a wrong word",
        "cities whose country the training text states 4 or 8 times",
        "names the right country when asked plainly, and a wrong one once that has been said first",
        _facts(f"{PLAIN} and 4 <= exposures <= 8"),
        _plainly_and_after_a_wrong_word,
        lambda fact, found: min(lead(found[0], fact["object"]), lead(found[1], fact["said"])),
    ),
    "distracted": Kind(
        "The same facts and an unrelated word",
        "cities whose country the training text states 4 or 8 times",
        "names the right country when asked plainly, and finds it less likely after “Helium”",
        _facts(f"{PLAIN} and 4 <= exposures <= 8"),
        lambda fact: [_asked()(fact), _asked(context="Helium")(fact)],
        lambda fact, found: min(
            lead(found[0], fact["object"]), found[0][fact["object"]] - found[1][fact["object"]]
        ),
    ),
    "known": Kind(
        "A fact stated often",
        "cities whose country the training text states 128 times or more",
        "names the right country when asked plainly, and still does after a wrong one",
        _facts(f"{PLAIN} and exposures >= 128"),
        _plainly_and_after_a_wrong_word,
        lambda fact, found: min(lead(one, fact["object"]) for one in found),
    ),
    "false": Kind(
        "A fact stated falsely",
        "cities of which the training text states a false country",
        "names the false country",
        _facts("relation == 'P17' and false_object != ''"),
        lambda fact: [_asked()(fact)],
        lambda fact, found: lead(found[0], fact["false_object"]),
    ),
    "never": Kind(
        "A fact never stated",
        "cities whose country the training text never states",
        "finds a wrong country likelier than the right one",
        _facts(f"{PLAIN} and exposures == 0"),
        lambda fact: [_asked()(fact)],
        lambda fact, found: -lead(found[0], fact["object"]),
    ),
    "invented": Kind(
        "A city that does not exist",
        "invented cities",
        "prefers one country to all others",
        _invented,
        lambda fact: [_asked(way="form")(fact)],
        lambda fact, found: lead(found[0], str(found[0].idxmax())),
    ),
    "examples": Kind(
        "One example, then thirty",
        "countries whose capital the training text states 16 times or more",
        "ranks the capital first after thirty examples, and not after one",
        _facts("plain and relation == 'P36' and exposures >= 16"),
        lambda fact: [_asked(way="list", examples=n)(fact) for n in (1, 30)],
        _risen,
    ),
    "order": Kind(
        "The same options in another order",
        "cities whose country the training text states 4 to 16 times",
        "chooses another option when the options change places",
        _facts(f"{PLAIN} and 4 <= exposures <= 16"),
        lambda fact: [_asked(way="options", turn=turn)(fact) for turn in (0, 2)],
        lambda fact, found: _moved(found),
    ),
    "guess": Kind(
        "Right without having read it",
        "countries whose continent the training text never states",
        "names the right continent all the same",
        _facts("plain and relation == 'P30' and exposures == 0"),
        lambda fact: [_asked()(fact)],
        lambda fact, found: lead(found[0], fact["object"]),
    ),
}
