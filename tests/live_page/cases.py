"""Cases that show a point: facts on which the model's own answers show it by a margin.

A case asks one question, or two, of which the first one's bars stay behind the
second's. All its candidates are put to the model, and the clearest is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from book.tools.live_model import LIVE_MODEL, facts_with_exposures
from notebooks.atlas.invented_names import NameInventor
from tests.live_page.page_questions import Question, probabilities_by_question

MOST_CANDIDATES = 24  # candidates of a case
CLEAR_MARGIN = 0.1  # of probability, from which a candidate shows the point
CASE_KINDS = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)

ProbabilitySeries = Sequence[pd.Series]  # object to probability, one a question


@dataclass(frozen=True)
class Case:
    """What is asked, after what, and why: the words of a button and a sentence."""

    label: str
    asked: Question
    before: Question | None
    said: str


def lead_over_other_objects(probabilities: pd.Series, name: str) -> float:
    """Return by how much an object is likelier than each other one; negative if it is not.

    >>> round(lead_over_other_objects(pd.Series({"Peru": 0.2, "Chad": 0.5}), "Peru"), 2)
    -0.3
    """
    return float(probabilities[name] - probabilities.drop(name).max())


def _risen(fact: pd.Series, found: ProbabilitySeries) -> float:
    """Return by how much the truth rose to the first place, from another."""
    before, after = (lead_over_other_objects(one, fact["object"]) for one in found)
    rise = float(found[1][fact["object"]] - found[0][fact["object"]])
    return rise if before < 0 < after else min(-before, after)


def _moved(fact: pd.Series, found: ProbabilitySeries) -> float:
    """Return how firmly an option is chosen at first and another one then."""
    first = str(found[0].idxmax())
    return min(
        lead_over_other_objects(found[0], first),
        -lead_over_other_objects(found[1], first),
    )


def _less_likely(fact: pd.Series, found: ProbabilitySeries) -> float:
    """Return how firmly the truth leads at first, or how far it falls then, if that is less."""
    true = fact["object"]
    return min(lead_over_other_objects(found[0], true), found[0][true] - found[1][true])


MARGINS: dict[
    str, Callable[[pd.Series, ProbabilitySeries], float]
] = {  # of the answers to a candidate
    "flipped": lambda fact, found: min(
        map(lead_over_other_objects, found, (fact["object"], fact["said"]))
    ),
    "distracted": _less_likely,
    "known": lambda fact, found: min(
        lead_over_other_objects(one, fact["object"]) for one in found
    ),
    "false": lambda fact, found: lead_over_other_objects(
        found[0], fact["false_object"]
    ),
    "never": lambda fact, found: -lead_over_other_objects(found[0], fact["object"]),
    "invented": lambda fact, found: lead_over_other_objects(
        found[0], str(found[0].idxmax())
    ),
    "examples": _risen,
    "order": _moved,
    "guess": lambda fact, found: lead_over_other_objects(found[0], fact["object"]),
}


def case_candidates(name: str) -> pd.DataFrame:
    """Return what may show a point: relation and subject, and of a fact what is known of it."""
    if query := CASE_KINDS[name].get("facts"):
        rows = facts_with_exposures().query(query)[:MOST_CANDIDATES]
        return rows.assign(said=rows["distractors"].str[0])
    names = NameInventor(facts_with_exposures()).names(
        "P17", MOST_CANDIDATES, np.random.default_rng(0)
    )
    return pd.DataFrame({"relation": "P17", "subject": names})


@cache
def clearest_case(name: str) -> Case:
    """Put all candidates of a point to the model and return the case that shows it best."""
    kind, rows = CASE_KINDS[name], [row for _, row in case_candidates(name).iterrows()]
    asked = [
        [Question(row["relation"], row["subject"], **{k: row.get(v, v) for k, v in one.items()})
         for one in kind["questions"]]
        for row in rows
    ]  # fmt: skip
    told = iter(
        probabilities_by_question(
            [question for questions in asked for question in questions]
        )
    )
    found = [[next(told) for _ in questions] for questions in asked]
    margins = np.array([MARGINS[name](*pair) for pair in zip(rows, found, strict=True)])
    best, count = int(margins.argmax()), int((margins >= CLEAR_MARGIN).sum())
    tried, point = f"{len(rows)} {kind['among']}", kind["point"]
    said = f"None of {tried} shows clearly that {LIVE_MODEL} {point}. {rows[best]['subject']} comes"
    said += " nearest."
    if count:
        said = f"With {count} of {tried}, {LIVE_MODEL} {point} (by a margin of {CLEAR_MARGIN} or more in"
        said += f" probability); the clearest is {rows[best]['subject']}."
    *before, last = asked[best]
    return Case(kind["label"], last, before[0] if before else None, said)
