"""What a fact is: its relation, subject and object, whatever its row is called.

A quiz's question is known by its text, its options and its key. Case, white space,
invisible characters and the ways in which Unicode writes a letter, an apostrophe or a
hyphen do not count. Where a fact that stands twice would be asked twice, or a true
object be called wrong, coarser spellings are one, too
(:func:`helpers.metrics.canonical.comparison_key`): accents, articles, punctuation.
"""

import json
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache

import pandas as pd

from helpers import UserError, check_columns, printable_line
from helpers.metrics.answer_text import (
    with_plain_apostrophes,
    without_unseen_characters,
)
from helpers.metrics.canonical import comparison_key

FACT_COLUMNS = ("relation", "subject", "object")
NAMES_OF_TOTALS = ("all", "mean")  # rows of results over relations
LONGEST_NAME = 60  # characters of a stranger's text in a sentence
# Signs that keyboards and word processors put in each other's place.
_SIGNS_ALIKE = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)


@lru_cache(maxsize=2**16)
def folded_text(text: str) -> str:
    r"""Return a text without differences of case, space and Unicode's spelling.

    >>> folded_text(" LYON\u200b") == folded_text("Lyon")
    True
    >>> folded_text("Cote\u0301 d\u2019Ivoire") == folded_text("Coté d'Ivoire")
    True
    """
    text = _with_plain_signs(without_unseen_characters(text))
    text = without_unseen_characters(unicodedata.normalize("NFKC", text))
    return " ".join(unicodedata.normalize("NFKC", text.casefold()).split())


def identity_text(*parts: str | Sequence[str]) -> str:
    """Return texts as one that names a fact; the order of a list does not count.

    >>> identity_text("country", " LYON", "France")
    '["country", "lyon", "france"]'
    >>> identity_text("Where is Lyon?", ["Peru", "France"], "France")
    '["where is lyon?", ["france", "peru"], "france"]'
    """
    folded: list[str | list[str]] = []
    for part in parts:
        if isinstance(part, str):
            folded.append(folded_text(part))
            continue
        texts = sorted(folded_text(text) for text in part)
        folded.append(texts[0] if len(texts) == 1 else texts)
    return json.dumps(folded, ensure_ascii=False)


def fact_identities(facts: pd.DataFrame) -> pd.Series:
    """Return the identity of each row: its relation, subject and object."""
    check_columns(facts, FACT_COLUMNS, "facts")
    columns = [facts[name].astype(str) for name in FACT_COLUMNS]
    identities = [identity_text(*parts) for parts in zip(*columns, strict=True)]
    return pd.Series(identities, facts.index, dtype=object)


def question_identities(items: pd.DataFrame) -> pd.Series:
    """Return the identity of each question with options: text, options and key."""
    identities = []
    for item in items.itertuples():
        key = item.options[item.answer]
        identities.append(identity_text(item.question, item.options, key))
    return pd.Series(identities, items.index, dtype=object)


def repeated_facts(facts: pd.DataFrame) -> pd.Series:
    """Return for each row whether it repeats an earlier fact, in any spelling.

    Where facts are split into examples and tests, each part may have a fact once.
    """
    check_columns(facts, FACT_COLUMNS, "facts")
    keys = facts[list(FACT_COLUMNS)].astype(str)
    for column in ("subject", "object"):
        keys[column] = keys[column].map(comparison_key)
    if "split" in facts:
        keys["split"] = facts["split"]
    return keys.duplicated()


def facts_once(facts: pd.DataFrame, name: object) -> pd.DataFrame:
    """Return facts without those that repeat an earlier one, and warn of these."""
    is_repeated = repeated_facts(facts)
    if not is_repeated.any():
        return facts
    first = facts[is_repeated].iloc[0]
    warnings.warn(
        f"{printable_line(name)} repeats {is_repeated.sum()} of its facts, such as "
        f"{_shown(first['subject'])}, {_shown(first['object'])}: each counts once.",
        stacklevel=3,
    )
    return facts[~is_repeated].reset_index(drop=True)


def facts_with_other_objects(facts: pd.DataFrame) -> pd.DataFrame:
    """Set the several objects of a subject apart from wrong ones.

    Where subjects of a relation have several objects, the column ``other_objects``
    lists those of other rows, which count as right, too. None of them stays in
    ``distractors`` or ``choices``. Facts that have the column keep it: they may be a
    sample, which does not hold all objects of its subjects.
    """
    if "other_objects" in facts:
        return facts
    keys = facts["subject"].astype(str).map(comparison_key)
    subjects = facts["relation"].astype(str) + "\n" + keys
    if not subjects.duplicated().any():
        return facts
    _warn_of_joined_subjects(facts, subjects)
    objects_of_subject = facts["object"].groupby(subjects).agg(list)
    true_objects = subjects.map(objects_of_subject)
    facts = facts.copy()
    others = []
    for own, objects in zip(facts["object"], true_objects, strict=True):
        others.append(_without(dict.fromkeys(objects), [own]))
    for column in ("distractors", "choices"):
        if column in facts:
            pairs = zip(facts[column], true_objects, strict=True)
            facts[column] = [_without(texts, objects) for texts, objects in pairs]
    return facts.assign(other_objects=others)


def _warn_of_joined_subjects(facts: pd.DataFrame, subjects: pd.Series) -> None:
    """Say where subjects of two spellings, such as "Co" and "CO", are taken as one."""
    names = facts["subject"].astype(str).groupby(subjects).unique()
    spelt_twice = names[names.map(len) > 1]
    if len(spelt_twice):
        spellings = " and ".join(_shown(name) for name in spelt_twice.iloc[0])
        warnings.warn(
            f"The subjects {spellings} are taken as one: each counts the objects of the"
            " other as right.",
            stacklevel=3,
        )


def _without(texts: Iterable[str], barred: Iterable[str]) -> list[str]:
    """Return the texts that are no spelling of a barred one."""
    keys = {comparison_key(text) for text in barred}
    return [text for text in texts if comparison_key(text) not in keys]


def check_one_key_a_question(items: pd.DataFrame, name: object) -> None:
    """Refuse a question whose right option stands among its wrong ones elsewhere.

    Another spelling may be another question ("Co" and "CO"): that is warned of.
    """
    seen: dict[str, list[tuple[str, str, frozenset[str]]]] = {}
    for item in items.itertuples():
        key = item.options[item.answer]
        options = frozenset(folded_text(text) for text in item.options)
        earlier_questions = seen.setdefault(comparison_key(item.question), [])
        for question, earlier_key, earlier_options in earlier_questions:
            is_same = folded_text(key) == folded_text(earlier_key)
            is_apart = folded_text(key) not in earlier_options
            if is_same or (is_apart and folded_text(earlier_key) not in options):
                continue
            sentence = (
                f"{printable_line(name)} asks {_shown(item.question)} with the answer "
                f"{_shown(earlier_key)} and with the answer {_shown(key)}"
            )
            if _normal_text(question) == _normal_text(item.question):
                raise UserError(f"{sentence}: leave one of the two out.")
            warnings.warn(f"{sentence}, in another spelling.", stacklevel=3)
        earlier_questions.append((item.question, key, options))


def check_names_of_relations(relations: Iterable[str], name: object) -> None:
    """Refuse a relation that is called as rows of results over relations are."""
    for relation in NAMES_OF_TOTALS:
        if relation in set(relations):
            raise UserError(
                f"{printable_line(name)} has a relation called {relation!r}, as "
                "results over all relations are: give it another name."
            )


def _normal_text(text: str) -> str:
    """Return a text without differences of space and of signs that look alike."""
    text = _with_plain_signs(without_unseen_characters(text))
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _with_plain_signs(text: str) -> str:
    """Write apostrophes, quotation marks and dashes as keyboards do."""
    return with_plain_apostrophes(text).translate(_SIGNS_ALIKE)


def _shown(text: str) -> str:
    """Return a stranger's text as a sentence shows it."""
    return repr(printable_line(text)[:LONGEST_NAME])


def questions_once(
    items: pd.DataFrame, name: object
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return questions without those that repeat an earlier one, and notes on them."""
    questions = items["question"].map(comparison_key)
    is_repeated = question_identities(items.assign(question=questions)).duplicated()
    once = items[~is_repeated].reset_index(drop=True)
    folded_questions = once["question"].map(folded_text)
    is_asked_otherwise = folded_questions.duplicated()
    notes = []
    if is_repeated.any():
        first = items.loc[is_repeated, "question"].iloc[0]
        notes.append(
            f"Questions that {printable_line(name)} repeats: {is_repeated.sum()}, such "
            f"as {_shown(first)}; each counts once."
        )
    if is_asked_otherwise.any():
        first = folded_questions[is_asked_otherwise].iloc[0]
        alike = once[folded_questions == first]
        pairs = zip(alike["options"], alike["answer"], strict=True)
        keys = dict.fromkeys(options[answer] for options, answer in pairs)
        notes.append(
            f"Questions that {printable_line(name)} asks with other options, too: "
            f"{is_asked_otherwise.sum()}, such as {_shown(alike['question'].iloc[0])} "
            f"with the right answer {' and '.join(map(_shown, keys))}."
        )
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return once, tuple(notes)


def without_contradicted_questions(
    items: pd.DataFrame, name: object
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out questions that stand twice with one set of options and two keys."""
    asked = []
    keys = []
    for item in items.itertuples():
        keys.append(folded_text(item.options[item.answer]))
        question = comparison_key(item.question)
        asked.append(identity_text(question, ["", *item.options]))
    is_contradicted = pd.Series(keys).groupby(asked).transform("nunique") > 1
    if not is_contradicted.any():
        return items, ()
    first = items.loc[is_contradicted.to_numpy(), "question"].iloc[0]
    note = (
        f"Questions of {printable_line(name)} left out, since it gives them two right "
        f"answers among the same options: {is_contradicted.sum()}, such as "
        f"{_shown(first)}."
    )
    warnings.warn(note, stacklevel=3)
    return items[~is_contradicted.to_numpy()].reset_index(drop=True), (note,)
