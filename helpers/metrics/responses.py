r"""What kind of response is it? Correct, wrong, or one of three uninformative kinds.

The rules, each tried in this order; the first that holds decides.

1. *correct*: a true answer or alias (`helpers.metrics.canonical`). The paper's measures count none
   about unseen knowledge (:func:`unseen_guesses_as_wrong`).
2. *repetition*: one to eight words four times in a row; one to four letters six times in a row;
   five letters or more four times in a row inside a word; or twenty words or more of
   which fewer than three in ten are different.
3. *none*: nothing but punctuation, a placeholder ("none", "n/a", "answer"), or the question again:
   at least nine tenths of the response's words stand in the question, and it holds at
   least six tenths of the question's words.
4. *unsure*: one of the phrases of ``unsure.txt``, in English and twelve other languages.
5. *wrong*: anything else.

Source: Zheng, Lapata and Pan 2024, section 3.3 and Table 3, describe the kinds
("regular expressions and word frequency analysis"); the rules and their limits are
ours.
"""

import re
from collections.abc import Iterable
from importlib.resources import files

import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.canonical import contains_answer, same_answer
from helpers.metrics.matching import normalise_text, text_without_thoughts

RESPONSE_KINDS = ("correct", "wrong", "repetition", "none", "unsure")
UNINFORMATIVE_KINDS = RESPONSE_KINDS[2:]
CORRECTNESS_RULES = {"exact": same_answer, "contains": contains_answer}
PLACEHOLDER_ANSWERS = frozenset(
    (
        *(
            "none",
            "n a",
            "na",
            "nil",
            "null",
            "nan",
            "blank",
            "empty",
            "answer",
            "question",
        ),
        *("your answer", "answer here", "question answer", "response", "instruction"),
    )
)
UNSURE_PHRASES = tuple(
    line
    for line in files(__package__)
    .joinpath("unsure.txt")
    .read_text("utf-8")
    .splitlines()
    if line and not line.startswith("#")
)
_UNSURE = re.compile("|".join(f"(?:{phrase})" for phrase in UNSURE_PHRASES))
_LETTERS = re.compile(r"([^\W\d_]{1,4}?)\1{5,}|([^\W\d_]{5,50}?)\2{3,}")


def response_kind(
    text: str, question: str = "", answers: Iterable[str] = (), match: str = "exact"
) -> str:
    """Name the kind of a response.

    >>> response_kind(" Paris.", "Capital of France?", ["Paris"]), response_kind("I'm not sure.")
    ('correct', 'unsure')
    >>> response_kind("one, one, one, one, one"), response_kind("  ?"), response_kind("Lyon", "", ["Paris"])
    ('repetition', 'none', 'wrong')
    """
    if match not in CORRECTNESS_RULES:
        raise UserError(
            f'A response matches by {" or ".join(CORRECTNESS_RULES)}, not by "{match}".'
        )
    text = text_without_thoughts(text)
    words = normalise_text(text)
    if CORRECTNESS_RULES[match](text, answers):
        return "correct"
    if is_repetition(words):
        return "repetition"
    if _is_none(words, normalise_text(question)):
        return "none"
    return "unsure" if _UNSURE.search(words) else "wrong"


def is_repetition(text: str) -> bool:
    """Say whether a response echoes one string over and over (rule 2).

    >>> is_repetition("the best of the best of the best of the best of the best")
    True
    >>> is_repetition("Walla Walla"), is_repetition("hahahahahahaha")
    (False, True)
    """
    words = normalise_text(text).split()
    if len(words) >= 20 and len(set(words)) < 0.3 * len(words):
        return True
    if _LETTERS.search(" ".join(words)):
        return True
    for size in range(1, min(8, len(words) // 4) + 1):
        same = [a == b for a, b in zip(words, words[size:])]
        run = 0
        for equal in same:
            run = run + 1 if equal else 0
            if run >= 3 * size:
                return True
    return False


def mark_responses(texts: pd.DataFrame, match: str = "exact") -> pd.DataFrame:
    """Mark responses with their ``kind`` and ``label``, by ``text, question, answers`` alone."""
    check_columns(texts, ("text", "question", "answers"), "responses")
    triples = zip(texts["text"], texts["question"], texts["answers"])
    kinds = [response_kind(*triple, match) for triple in triples]
    return texts.assign(kind=kinds, label=response_labels(kinds))


def unseen_guesses_as_wrong(marked: pd.DataFrame) -> pd.DataFrame:
    """Call no response about unseen knowledge correct, as the paper's measures have it."""
    guessed = ~marked["seen"].astype(bool) & (marked["kind"] == "correct")
    kinds = marked["kind"].mask(guessed, "wrong")
    return marked.assign(kind=kinds, label=response_labels(kinds))


def response_labels(kinds: Iterable[str]) -> list[str]:
    """Return the labels of kinds: the three uninformative ones become one."""
    return ["uninformative" if kind in UNINFORMATIVE_KINDS else kind for kind in kinds]


def response_kind_shares(marked: pd.DataFrame, by: pd.Series) -> pd.DataFrame:
    """Tabulate how the responses of each group divide into kinds: shares, and ``n``."""
    counts = pd.crosstab(by, marked["kind"]).reindex(
        columns=list(RESPONSE_KINDS), fill_value=0
    )
    n = counts.sum(axis=1)
    return counts.div(n, axis=0).assign(n=n).loc[by.unique()]


def apply_judge_verdicts(marked: pd.DataFrame, verdicts: pd.Series) -> pd.DataFrame:
    """Call those wrong responses correct that a judge accepts (`notebooks.analysis.judges`)."""
    yes = verdicts.reindex(marked.index, fill_value=False).astype(bool)
    yes &= marked["seen"].astype(bool) & (marked["kind"] == "wrong")
    kinds = marked["kind"].mask(yes, "correct")
    return marked.assign(kind=kinds, label=response_labels(kinds))


def _is_none(words: str, question: str) -> bool:
    if not words or words in PLACEHOLDER_ANSWERS:
        return True
    said, asked = words.split(), question.split()
    if len(asked) < 3:
        return False
    inside = sum(word in set(asked) for word in said)
    covered = len(set(said) & set(asked)) / len(set(asked))
    return inside >= 0.9 * len(said) and covered >= 0.6
