r"""What kind of response is it? Correct, wrong, or one of three uninformative kinds.

The rules, each tried in this order; the first that holds decides. They see the answer
without thoughts and markup (`helpers.metrics.answer_text`).

1. *correct*: a true answer or alias (`helpers.metrics.canonical`). The paper's measures
   count none about unseen knowledge (:func:`unseen_guesses_as_wrong`).
2. *repetition*: one to eight words four times in a row; one to four letters six times
   in a row; five letters or more four times in a row inside a word; or twenty words or
   more of which fewer than three in ten are different.
3. *none*: nothing but punctuation, a placeholder ("none", "n/a", "answer"); the
   question again: at least six tenths of its words, and no other word but fillers; or
   four words or more, all of them fillers. Fillers are the words of ``fillers.txt``,
   such as "the", "answer", "depends", unless spelt as a code: "IS", ".is", or "is"
   before a full stop.
4. *unsure*: a phrase of ``unsure.txt``, in English and twenty-one other languages, but
   not with the capitals of a title and other words beside it ("Nobody Knows My Name"),
   nor within quotation marks beside other words.
5. *wrong*: anything else.

Rules 3 and 4 also read the answer without words such as "The answer is"; rule 4 also
its first sentence alone.

Source: Zheng, Lapata and Pan 2024, section 3.3 and Table 3, describe the kinds
("regular expressions and word frequency analysis"); the rules and their limits are
ours.
"""

import re
from collections.abc import Iterable

import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.answer_text import (
    answer_text,
    lines_of_list,
    plain_text,
    without_words_before,
)
from helpers.metrics.canonical import contains_answer, same_answer
from helpers.metrics.matching import normalise_text

# Raised where the same response becomes one of another kind.
RESPONSES_VERSION = "5"
RESPONSE_KINDS = ("correct", "wrong", "repetition", "none", "unsure")
UNINFORMATIVE_KINDS = RESPONSE_KINDS[2:]
CORRECTNESS_RULES = {"exact": same_answer, "contains": contains_answer}
PLACEHOLDER_ANSWERS = frozenset(
    (
        "none",
        "n a",
        "na",
        "nil",
        "tba",
        "tbd",
        "null",
        "nan",
        "blank",
        "empty",
        "answer",
        "question",
        "your answer",
        "answer here",
        "question answer",
        "response",
        "instruction",
        "the answer is",
        "it depends",
    )
)


UNSURE_PHRASES = lines_of_list("unsure.txt")
FILLERS = frozenset(" ".join(lines_of_list("fillers.txt")).split())
LONGEST_CODE = 3  # letters, of those that are also English words
FEWEST_FILLERS = 4  # that are no answer by themselves: shorter ones may be a title
_UNSURE = re.compile("|".join(f"(?:{phrase})" for phrase in UNSURE_PHRASES))
MOST_WORDS_OF_TITLE = 8  # where all is in capitals, which tell nothing then
# What a refusal spelt as a title may hold besides the phrase.
_WORDS_BESIDE_REFUSALS = (
    "a about am an answer at available but currently enough exactly for given have help"
    " data i im in is it know me name of on or provided publicly question sorry sure"
    " tell that the there this to with you yet"
)
_WORDS_OF_REFUSALS = frozenset(_WORDS_BESIDE_REFUSALS.split())
_ACRONYMS = ("ai", "llm")  # of phrases, which have capitals everywhere
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s")
# A text within quotation marks, where more is said outside.
_QUOTED = re.compile('["“”„«][^"“”„«»\\n]+["“”»]')
_DOMAIN = re.compile(r"(?<![\w.])\.\w")  # a dot that begins a word
_LETTERS = re.compile(r"([^\W\d_]{1,4}?)\1{5,}|([^\W\d_]{5,50}?)\2{3,}")


def response_kind(
    text: str,
    question: str = "",
    answers: str | Iterable[str] = (),
    match: str = "exact",
) -> str:
    """Name the kind of a response.

    >>> response_kind(" Paris.", "Capital of France?", ["Paris"])
    'correct'
    >>> response_kind("Lyon", "Capital of France?", ["Paris"])
    'wrong'
    >>> response_kind("I'm not sure."), response_kind("  ?")
    ('unsure', 'none')
    >>> response_kind("one, one, one, one, one")
    'repetition'
    """
    if match not in CORRECTNESS_RULES:
        rules = " or ".join(CORRECTNESS_RULES)
        raise UserError(f'A response matches by {rules}, not by "{match}".')
    if CORRECTNESS_RULES[match](text, answers):
        return "correct"
    response = plain_text(answer_text(text))
    if is_repetition(response):
        return "repetition"
    readings = [response, without_words_before(response) or response]
    if any(_is_none(reading, question) for reading in readings):
        return "none"
    readings += _SENTENCE_END.split(readings[-1], maxsplit=1)[:1]
    if any(is_unsure(reading, question) for reading in readings):
        return "unsure"
    return "wrong"


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
    longest = min(8, len(words) // 4)
    return any(_repeats_four_times(words, size) for size in range(1, longest + 1))


def _repeats_four_times(words: list[str], size: int) -> bool:
    """Say whether so many words stand four times in a row."""
    run = 0
    # In four rounds, the last three are each the same as the round before.
    for word, word_a_round_later in zip(words, words[size:], strict=False):
        if word == word_a_round_later:
            run += 1
        else:
            run = 0
        if run >= 3 * size:
            return True
    return False


def is_unsure(response: str, question: str = "") -> bool:
    """Say whether a response says that it does not know (rule 4).

    A phrase with the capitals of a title is one: "Nobody Knows My Name" is an answer,
    "Nobody Knows" says nothing else. So is one within quotation marks, where more is
    said outside. Where all is in capitals, a short response is a
    title if it holds words that neither refusals nor the question have.

    >>> is_unsure("Nobody knows."), is_unsure("Nobody Knows")
    (True, True)
    >>> is_unsure('"nobody knows my name" (1961)')
    False
    >>> is_unsure("Nobody Knows My Name"), is_unsure("I Don't Know How to Love Him")
    (False, False)
    """
    unquoted = _QUOTED.sub(" ", response)
    if re.search(r"\w", unquoted):
        response = unquoted
    words = normalise_text(response)
    phrases = list(_UNSURE.finditer(words))
    if not phrases:
        return False
    other_words = set(_UNSURE.sub(" ", words).split())
    if response.isupper():
        asked = set(normalise_text(question).split())
        is_refusal = other_words <= _WORDS_OF_REFUSALS | FILLERS | asked
        return is_refusal or len(words.split()) > MOST_WORDS_OF_TITLE
    if not _spelt_as_titles(response, [phrase[0] for phrase in phrases]):
        return True
    return other_words <= _WORDS_OF_REFUSALS


def _spelt_as_titles(response: str, phrases: list[str]) -> bool:
    """Say whether all phrases have the capitals of a title, where others have some."""
    words = []
    has_capital = []
    for token in response.split():
        for word in normalise_text(token).split():
            words.append(word)
            first = token.lstrip("\"'“‘«(*_")[:1]
            has_capital.append(first.isupper() and word not in _ACRONYMS)
    text = " ".join(words)
    for phrase in phrases:
        at = text.find(phrase)
        if at < 0:
            return False
        start = text[:at].count(" ")
        n_capitals = 0
        for place in range(start, start + phrase.count(" ") + 1):
            if len(words[place]) >= 4 and not has_capital[place]:
                return False
            # The first word has a capital anyway, and so has "I".
            if place and len(words[place]) > 1:
                n_capitals += has_capital[place]
        if n_capitals == 0:
            return False
    return True


def mark_responses(texts: pd.DataFrame, match: str = "exact") -> pd.DataFrame:
    """Add ``kind`` and ``label`` of responses, by ``text, question, answers`` alone."""
    check_columns(texts, ("text", "question", "answers"), "responses")
    responses = zip(texts["text"], texts["question"], texts["answers"], strict=True)
    kinds = [
        response_kind(text, question, answers, match)
        for text, question, answers in responses
    ]
    return texts.assign(kind=kinds, label=response_labels(kinds))


def unseen_guesses_as_wrong(marked: pd.DataFrame) -> pd.DataFrame:
    """Call no response about unseen knowledge correct, as the paper's measures do."""
    guessed = ~marked["seen"].astype(bool) & (marked["kind"] == "correct")
    kinds = marked["kind"].mask(guessed, "wrong")
    return marked.assign(kind=kinds, label=response_labels(kinds))


def response_labels(kinds: Iterable[str]) -> list[str]:
    """Return the labels of kinds: the three uninformative ones become one."""
    return ["uninformative" if kind in UNINFORMATIVE_KINDS else kind for kind in kinds]


def response_kind_shares(marked: pd.DataFrame, by: pd.Series) -> pd.DataFrame:
    """Tabulate how the responses of each group divide into kinds: shares, and ``n``."""
    counts = pd.crosstab(by, marked["kind"])
    counts = counts.reindex(columns=list(RESPONSE_KINDS), fill_value=0)
    n = counts.sum(axis=1)
    return counts.div(n, axis=0).assign(n=n).loc[by.unique()]


def apply_judge_verdicts(marked: pd.DataFrame, verdicts: pd.Series) -> pd.DataFrame:
    """Call wrong responses correct that a judge of `notebooks.analysis` accepts."""
    accepted = verdicts.reindex(marked.index, fill_value=False).astype(bool)
    accepted &= marked["seen"].astype(bool) & (marked["kind"] == "wrong")
    kinds = marked["kind"].mask(accepted, "correct")
    return marked.assign(kind=kinds, label=response_labels(kinds))


def _is_none(response: str, question: str) -> bool:
    """Say whether a response holds no answer (rule 3)."""
    text = normalise_text(response)
    if not text:
        return True
    if text in PLACEHOLDER_ANSWERS and not _DOMAIN.search(response):
        return True
    words = text.split()
    if len(words) >= FEWEST_FILLERS and _adds_only_fillers(response, ""):
        return True
    question_words = normalise_text(question).split()
    if len(question_words) < 3:
        return False
    asked = set(question_words)
    covered = len(asked.intersection(words)) / len(asked)
    return covered >= 0.6 and _adds_only_fillers(response, question)


def _adds_only_fillers(response: str, question: str) -> bool:
    """Say whether all words of a response are fillers or stand in the question."""
    asked = set(normalise_text(question).split())
    tokens_asked = set(question.split())
    if response.isupper():
        response = response.lower()  # capitals mark no code where all is capitals
    begins_sentence = True
    for token in response.split():
        words = set(normalise_text(token).split())
        if not words <= asked | FILLERS:
            return False
        is_code = _is_spelt_as_code(token, begins_sentence)
        if words & FILLERS and is_code and token not in tokens_asked:
            return False
        begins_sentence = token.endswith((".", "!", "?", ":"))
    return True


def _is_spelt_as_code(token: str, begins_sentence: bool) -> bool:
    """Say whether a filler has a dot or capitals that no sentence gives it.

    >>> _is_spelt_as_code("is", False), _is_spelt_as_code("It", True)
    (False, False)
    >>> _is_spelt_as_code("IS", True), _is_spelt_as_code("As", False)
    (True, True)
    >>> _is_spelt_as_code(".is", False), _is_spelt_as_code("I", False)
    (True, False)
    >>> _is_spelt_as_code("is.", False), _is_spelt_as_code("things.", False)
    (True, False)
    """
    if _DOMAIN.search(token):
        return True
    # Few sentences end in "to", "is" or "an".
    if token.endswith(".") and len(token) <= LONGEST_CODE + 1:
        return True
    if begins_sentence or token == "I":
        token = token[:1].lower() + token[1:]
    return token != token.lower()
