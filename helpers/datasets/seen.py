"""SeenQA: short questions of fact from three published sets, as Zheng et al. 2024 chose them.

Kept are questions without "why", with one answer (aliases aside) of at most five words, whose
answer does not change with time. What changes is told by a stated rule, or by a judge.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import questions

LONGEST = 5  # words of an answer

Judge = Callable[[Sequence[str]], Sequence[bool]]

_ROLES = (
    "president|prime minister|chancellor|king|queen|governor|mayor|ceo|chief executive|chairman|"
    "chairperson|head|leader|minister|secretary|speaker|senator|captain|coach|manager|champion|"
    "owner|director general|chief justice|quarterback|ambassador|commissioner|judge"
)
_CHANGING = re.compile(
    r"\b(?:currently|current|now|nowadays|today|todays|latest|newest|recent|recently|so far|still|"
    r"upcoming|at the moment|right now|to date|as of|this (?:year|season|month|week|seasons?)|"
    r"(?:last|next) (?:year|season|month|week|time|episode|game|one|super ?bowl|world cup)|"
    r"coming out|come out next|is next|how old is)\b"
    rf"|\bwho(?: is|s| are) (?:(?!of )\w+ ){{0,7}}(?:{_ROLES})s?\b"
    r"|\b(?:holds?|has|have|is|are|s) the (?:\w+ )?(?:record|most (?!common|famous|basic)|richest|"
    r"oldest living|highest paid)\b"
    r"|\bhow many\b.*\b(?:are there|have there been|does\b.*\bhave|do\b.*\bhave|has|have)\b"
    r"|\b(?:population|salary|net worth|ranked|ranking|price|rate|gdp)\b"
)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")


def seen_qa(
    sources: Sequence[str | Path] = tuple(questions.PUBLISHED),
    n: int = 1000,
    seed: int = 0,
    judge: Judge | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `n` seen questions of each source, and those that were left over, for shots."""
    if n < 1 or seed < 0:
        raise UserError(f"n is {n} and the seed {seed}: give at least 1 question and seed 0.")
    asked, rest = [], []
    for source in sources:
        table = factoid(questions.read(source))
        changing = (judge or changes)(table["question"].tolist())
        table = table[~np.asarray(changing, dtype=bool)].reset_index(drop=True)
        if len(table) < 2:
            raise UserError(
                f"Of {source} fewer than two questions are left after filtering: give a file with "
                "more short questions of fact."
            )
        name = table["group"].iloc[0]
        order = np.random.default_rng([seed, zlib.crc32(name.encode())]).permutation(len(table))
        many = min(n, len(table) - max(1, len(table) // 5))
        asked.append(table.iloc[sorted(order[:many])])
        rest.append(table.iloc[sorted(order[many:])])
    if not asked:
        raise UserError("No source of questions is given: name at least one.")
    return tuple(_finished(parts) for parts in (asked, rest))


def factoid(table: pd.DataFrame) -> pd.DataFrame:
    """Keep short questions of fact: no "why", one answer, of five words at most.

    An answer without a letter or figure (NQ-open has ")" and "---") is none.

    >>> table = pd.DataFrame({"question": ["why is it so", "who was it", "who were they"],
    ...                       "answers": [["so"], ["he"], ["he", "she"]], "n_answers": [1, 1, 2]})
    >>> factoid(table)["question"].tolist()
    ['who was it']
    """
    why = table["question"].str.contains(r"\bwhy\b", case=False, regex=True)
    short = table["answers"].map(lambda answers: len(answers[0].split()) <= LONGEST)
    short &= table["answers"].map(lambda answers: any(c.isalnum() for c in answers[0]))
    return table[~why & (table["n_answers"] == 1) & short].reset_index(drop=True)


def changes(asked: Sequence[str]) -> list[bool]:
    """Tell of each question whether its answer is likely to change with time, by its words.

    One that names a year does not. Else it does if it says "current" or "last year", asks who *is*
    something, for a record or count as they stand, or for a population, price or rank.

    >>> changes(["who is the president of Peru", "who was the first president of Peru"])
    [True, False]
    """
    plain = [re.sub(r"[^\w\s]", "", question.casefold()) for question in asked]
    return [bool(_CHANGING.search(text)) and not _YEAR.search(text) for text in plain]


def answer_type(question: str, answer: str) -> str:
    """Guess the type of an answer: number, person, time, location or other.

    >>> answer_type("when was it built", "1889"), answer_type("Who built it?", "Gustave Eiffel")
    ('time', 'person')
    """
    text = question.casefold()
    if re.search(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b", text):
        return "time"
    if re.search(r"\bhow (?:many|much|old|long|tall|far)\b", text) or re.fullmatch(
        r"[\d.,]+", answer
    ):
        return "number"
    if re.search(r"\bwho(?:m|se)?\b|\bwhos\b", text):
        return "person"
    places = "country|city|town|state|continent|county|place|island|capital|province|river"
    if re.search(rf"\bwhere\b|\b(?:what|which) (?:\w+ )?(?:{places})\b|\bcapital of\b", text):
        return "location"
    return "other"


def _finished(parts: list[pd.DataFrame]) -> pd.DataFrame:
    table = pd.concat(parts, ignore_index=True)
    kinds = [answer_type(q, a[0]) for q, a in zip(table["question"], table["answers"])]
    return table.drop(columns="n_answers").assign(type=kinds, seen=True)
