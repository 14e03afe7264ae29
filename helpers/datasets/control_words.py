"""Words that could not be an answer: what any word before a question costs."""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.datasets import catalogue


def draw_unrelated_words(
    name: str | Path, facts: pd.DataFrame, seed: int = 0
) -> list[list[str]]:
    """Draw for each fact as many unrelated words as it has distractors.

    They are objects of relations of another type
    (:func:`helpers.datasets.relation_table`; of any where types are not known) that
    have no object in common with the fact's relation, case and marks aside, and stand
    in no fact with the subject or object. The draw depends on seed and fact alone.

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
        For the column ``unrelated`` of `helpers.prompts.monitor_probes`; lists are
        empty where the data set has no such relation.
    """
    pool = catalogue.load(name)
    relations = catalogue.relation_table(name).set_index("relation")
    types = relations["object_type"].to_dict()
    asked_relations = facts["relation"].unique()
    words_of_relation = _unrelated_objects(asked_relations, pool, types)
    neighbours = defaultdict(set)
    for fact in pool.itertuples():
        neighbours[fact.subject].add(fact.object)
        neighbours[fact.object].add(fact.subject)
    unrelated = []
    for fact in facts.itertuples():
        related = neighbours[fact.subject] | neighbours[fact.object]
        related |= {fact.subject, fact.object}
        words = words_of_relation[fact.relation]
        n_wanted = len(fact.distractors)
        # So many that enough are left when the related ones are taken out.
        n_places = min(n_wanted + len(related), len(words))
        fact_number = zlib.crc32(fact.fact.encode())
        random = np.random.default_rng([seed, fact_number, 1])
        places = random.choice(len(words), n_places, replace=False)
        candidates = [words[place] for place in places]
        words_of_fact = [word for word in candidates if word not in related]
        unrelated.append(words_of_fact[:n_wanted])
    return unrelated


def _unrelated_objects(
    relations: Iterable[str], pool: pd.DataFrame, types: dict[str, str]
) -> dict[str, list[str]]:
    """Return for each relation the objects of relations that share no answer with it.

    Relations whose objects are known to be of the same type are left out.
    """
    objects = {}
    answers = {}
    for relation, rows in pool.groupby("relation"):
        objects[relation] = set(rows["object"])
        distractors = rows["distractors"]
        names = objects[relation].union(*distractors)
        answers[relation] = {_letters_and_digits(name) for name in names}
    unrelated = {}
    for relation in relations:
        kind = types[relation]
        words: set[str] = set()
        for other_relation in objects:
            if kind and types[other_relation] == kind:
                continue
            if answers[other_relation].isdisjoint(answers[relation]):
                words |= objects[other_relation]
        unrelated[relation] = sorted(words)
    return unrelated


def _letters_and_digits(name: str) -> str:
    """Return a name's letters and digits: ".fr" is right where "FR" is asked for."""
    return re.sub(r"[\W_]", "", name.casefold()) or name
