"""Words that could not be an answer: what any word before a question costs.

There are two kinds. An *unrelated word* is the object of another relation and looks
like the wrong answer that it stands beside: a word for a word, a code for a code, a
number for a number, as long as can be had. A *noun* is nobody's object.
"""

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers.datasets import catalogue
from helpers.datasets.object_forms import (
    FORMS,
    NUMBER_FORMS,
    WORD_FORMS,
    forms_of_relation,
    parts_of_name,
)
from helpers.datasets.registry import DATA_FOLDER

# Relations that share so much of their answers ask for the same kind of thing.
LEAST_SHARED_ANSWERS = 0.1
# Neighbours are 1 apart, but 2 where one is a number or a word and the other a code.
_PLACE_OF_FORM = {
    form: place + (form not in NUMBER_FORMS) + (form in WORD_FORMS)
    for place, form in enumerate(FORMS)
}
_FORM_OF_PLACE = {place: form for form, place in _PLACE_OF_FORM.items()}
# How candidates are ranked: by form, then by tie to answers, then by length.
_WEIGHT_OF_FORM = 1e6
_WEIGHT_OF_TIE = 1e4


class _Candidates(NamedTuple):
    """Words that may stand before the questions of one relation."""

    words: list[str]
    place_of_word: dict[str, int]
    places_of_forms: npt.NDArray[np.int_]
    lengths: npt.NDArray[np.int_]
    are_tied: npt.NDArray[np.bool_]  # stand in a fact with what the relation asks for


def draw_unrelated_words(
    name: str | Path, facts: pd.DataFrame, seed: int = 0
) -> list[list[str]]:
    """Draw for each wrong answer of a fact an unrelated word that looks like it.

    The word is the object of another relation. It has the form of the wrong answer
    (:func:`helpers.datasets.object_form`), or the nearest form that there is
    (:func:`relations_without_form`), and among those its length, or the nearest. It is
    no answer of the fact's relation, case, accents and signs aside, and stands in no
    fact with the subject or object. If it is a word, it contains no answer ("Mexico
    City" where countries are asked), and no relation has it that asks for the same kind
    of thing: its objects have the same type (:func:`helpers.datasets.relation_table`),
    or a tenth of its answers or more are answers here. Words that stand in no fact with
    anything of that kind come first: before a question about countries, no capital. The
    draw depends on seed and fact alone.

    Parameters
    ----------
    name
        Data set of the facts, as in :func:`helpers.datasets.load`.
    facts : DataFrame
        Columns ``fact, relation, subject, object, distractors``.
    seed
        Not negative.

    Returns
    -------
    list of list of str
        For the column ``unrelated`` of `helpers.prompts.monitor_probes`, in the order
        of the distractors; shorter where the data set has no more such words.
    """
    pool = catalogue.load(name)
    neighbours = _neighbours(pool)
    forms = _forms_by_relation(pool)
    candidates = _candidates_by_relation(
        name, pool, forms, neighbours, facts["relation"].unique()
    )
    unrelated = []
    for fact in facts.itertuples():
        related = neighbours[fact.subject] | neighbours[fact.object]
        related |= {fact.subject, fact.object, *fact.distractors}
        random = _random_of_fact(fact.fact, seed, 1)
        forms_here = forms[fact.relation]
        # A reader's own distractors may be no names of the data set.
        unknown = [word for word in fact.distractors if word not in forms_here]
        forms_here = forms_here | forms_of_relation(unknown)
        words = _words_like(
            fact.distractors, forms_here, candidates[fact.relation], related, random
        )
        unrelated.append(words)
    return unrelated


def draw_control_nouns(
    name: str | Path, facts: pd.DataFrame, seed: int = 0
) -> list[list[str]]:
    """Draw for each fact one English noun that is no name in the data set.

    It is as long as the fact's wrong answers are in the middle, or nearly so, and
    begins with a capital, as a prompt does. The draw depends on seed and fact alone.

    Parameters
    ----------
    name, facts, seed
        As in :func:`draw_unrelated_words`.

    Returns
    -------
    list of list of str
        For the column ``noun`` of `helpers.prompts.monitor_probes`; one word each.
    """
    pool = catalogue.load(name)
    names = pool["subject"].map(_letters_and_digits)
    taken = set(names).union(*_answers_by_relation(pool).values())
    nouns = [noun for noun in control_nouns() if _letters_and_digits(noun) not in taken]
    lengths = np.array([len(noun) for noun in nouns])
    drawn = []
    for fact in facts.itertuples():
        length = np.median([len(word) for word in fact.distractors])
        random = _random_of_fact(fact.fact, seed, 2)
        distances = np.abs(lengths - length)
        # Ties are decided at random: less than the least difference of two lengths.
        order = distances + 0.4 * random.random(len(nouns))
        drawn.append([nouns[int(order.argmin())].capitalize()])
    return drawn


def control_nouns() -> list[str]:
    """Return all nouns that may be drawn, in small letters."""
    text = (DATA_FOLDER / "control_nouns.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return " ".join(lines).split()


def relations_without_form(name: str | Path) -> pd.DataFrame:
    """Return which relations have answers of a form that no unrelated word has.

    Returns
    -------
    DataFrame
        ``relation, form`` (of some of its answers) and ``nearest``, the form that
        unrelated words have there, of which :func:`draw_unrelated_words` takes words of
        the nearest length.
    """
    pool = catalogue.load(name)
    forms = _forms_by_relation(pool)
    candidates = _candidates_by_relation(
        name, pool, forms, _neighbours(pool), list(forms)
    )
    rows = []
    for relation, form_of_name in forms.items():
        places = np.unique(candidates[relation].places_of_forms)
        for place in sorted({_PLACE_OF_FORM[form] for form in form_of_name.values()}):
            if place in places:
                continue
            distances = np.abs(places - place)
            nearest = places[distances == distances.min(initial=max(_FORM_OF_PLACE))]
            titles = " or ".join(_FORM_OF_PLACE[number] for number in nearest)
            rows.append((relation, _FORM_OF_PLACE[place], titles))
    return pd.DataFrame(rows, columns=["relation", "form", "nearest"])


def forms_of_objects(name: str | Path, facts: pd.DataFrame) -> pd.Series:
    """Return the form of each fact's object, with the index of the facts."""
    forms = _forms_by_relation(catalogue.load(name))
    of_facts = []
    for fact in facts.itertuples():
        form = forms[fact.relation].get(fact.object)
        of_facts.append(form or forms_of_relation([fact.object])[fact.object])
    return pd.Series(of_facts, index=facts.index, name="form", dtype=object)


def _words_like(
    wrong: Iterable[str],
    forms: Mapping[str, str],
    candidates: _Candidates,
    related: set[str],
    random: np.random.Generator,
) -> list[str]:
    """Return for each wrong answer a candidate like it, no related one and none twice.

    Among those that are equally like it, one is drawn.
    """
    order = random.random(len(candidates.words))
    order += _WEIGHT_OF_TIE * candidates.are_tied
    taken = related & candidates.place_of_word.keys()
    order[[candidates.place_of_word[word] for word in taken]] = np.inf
    words: list[str] = []
    for name in wrong:
        place_of_form = _PLACE_OF_FORM[forms[name]]
        form_distances = np.abs(candidates.places_of_forms - place_of_form)
        length_distances = np.abs(candidates.lengths - len(name))
        ranks = order + _WEIGHT_OF_FORM * form_distances + length_distances
        if not np.isfinite(ranks).any():
            break
        place = int(ranks.argmin())
        order[place] = np.inf
        words.append(candidates.words[place])
    return words


def _candidates_by_relation(
    name: str | Path,
    pool: pd.DataFrame,
    forms: Mapping[str, Mapping[str, str]],
    neighbours: Mapping[str, set[str]],
    relations: Iterable[str],
) -> dict[str, _Candidates]:
    """Return for each relation the objects of others that are unrelated to it."""
    table = catalogue.relation_table(name).set_index("relation")
    types = table["object_type"].to_dict()
    answers = _answers_by_relation(pool)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    form_of_object = {}
    for home, word in zip(pool["relation"], pool["object"], strict=True):
        homes[word].add(home)
        form_of_object[word] = forms[home][word]
    # What may be no answer: a code or a number itself, of a name each word as well.
    spellings = {}
    for word in homes:
        is_name = form_of_object[word] in WORD_FORMS
        whole = {_letters_and_digits(word)}
        spellings[word] = whole | _phrases_within(word) if is_name else whole
    candidates = {}
    for relation in relations:
        alike = _relations_of_same_kind(relation, types, answers)
        names_of_kind = set().union(*(forms[other] for other in alike))
        tied = set().union(*(neighbours[word] for word in names_of_kind))
        words = []
        for word in sorted(homes):
            # Codes and numbers of several relations coincide by chance, names do not.
            is_name = form_of_object[word] in WORD_FORMS
            unlike = homes[word].isdisjoint(alike) if is_name else True
            if unlike and answers[relation].isdisjoint(spellings[word]):
                words.append(word)
        places = [_PLACE_OF_FORM[form_of_object[word]] for word in words]
        candidates[relation] = _Candidates(
            words=words,
            place_of_word={word: place for place, word in enumerate(words)},
            places_of_forms=np.array(places, dtype=int),
            lengths=np.array([len(word) for word in words], dtype=int),
            are_tied=np.array([word in tied for word in words], dtype=bool),
        )
    return candidates


def _relations_of_same_kind(
    relation: str, types: Mapping[str, str], answers: Mapping[str, set[str]]
) -> set[str]:
    """Return the relations, with the one given, that ask for the same kind of thing."""
    alike = {relation}
    for other in answers:
        is_same_type = bool(types[relation]) and types[other] == types[relation]
        shared = len(answers[other] & answers[relation])
        fewest = min(len(answers[other]), len(answers[relation]))
        if is_same_type or shared >= LEAST_SHARED_ANSWERS * fewest:
            alike.add(other)
    return alike


def _names_by_relation(pool: pd.DataFrame) -> dict[str, set[str]]:
    """Return the objects and distractors of each relation."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    columns = (pool["relation"], pool["object"], pool["distractors"])
    for relation, word, distractors in zip(*columns, strict=True):
        names[relation].update([word, *distractors])
    return dict(names)


def _answers_by_relation(pool: pd.DataFrame) -> dict[str, set[str]]:
    """Return the objects and distractors of each relation, spelling aside."""
    answers = {}
    for relation, names in _names_by_relation(pool).items():
        answers[relation] = {_letters_and_digits(name) for name in names}
    return answers


def _forms_by_relation(pool: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the form of each object and distractor of each relation."""
    names = _names_by_relation(pool)
    return {relation: forms_of_relation(names[relation]) for relation in names}


def _neighbours(pool: pd.DataFrame) -> defaultdict[str, set[str]]:
    """Return for each name of the data set those that stand in a fact with it."""
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    for subject, word in zip(pool["subject"], pool["object"], strict=True):
        neighbours[subject].add(word)
        neighbours[word].add(subject)
    return neighbours


def _random_of_fact(fact: str, seed: int, draw: int) -> np.random.Generator:
    """Return the random numbers of a fact, which do not depend on other facts."""
    return np.random.default_rng([seed, zlib.crc32(fact.encode()), draw])


def _phrases_within(name: str) -> set[str]:
    """Return each word of a name, and each run of its words, spelling aside."""
    parts = parts_of_name(name)
    phrases = set()
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            phrases.add(_letters_and_digits(" ".join(parts[start:end])))
    return phrases


def _letters_and_digits(name: str) -> str:
    """Return a name's letters and digits: ".fr" is right where "FR" is asked for."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]", "", decomposed) or name
