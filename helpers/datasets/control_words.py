"""Words that could not be an answer: what any word costs that is said before a question."""

import re
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.datasets import catalogue


def draw_unrelated_words(
    name: str | Path, facts: pd.DataFrame, seed: int = 0
) -> list[list[str]]:
    """Draw for each fact as many unrelated words as it has distractors.

    They are objects of relations of another type (:func:`helpers.datasets.relation_table`;
    of any where types are not known) that have no object in common with the fact's
    relation, case and marks aside, and stand in no fact with the subject or object. The
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
        For the column ``draw_unrelated_words`` of `helpers.prompts.monitor_probes`; lists are empty where
        the data set has no such relation.
    """
    pool, kinds = catalogue.load(name), catalogue.relation_table(name)
    kinds = kinds.set_index("relation")["object_type"].to_dict()
    objects = pool.groupby("relation")["object"].agg(set)
    answers = pool.groupby("relation")["distractors"].agg(
        lambda lists: set().union(*lists)
    )
    # By their letters and digits: ".fr" would be right where "FR" is asked for.
    answers = {
        r: {
            re.sub(r"[\W_]", "", word.casefold()) or word
            for word in objects[r] | answers[r]
        }
        for r in objects.index
    }
    far = {}
    for relation in facts["relation"].unique():
        kept = [
            objects[other]
            for other in objects.index
            if (kinds[other] != kinds[relation] or not kinds[relation])
            and not answers[other] & answers[relation]
        ]
        far[relation] = sorted(set().union(*kept))
    near = defaultdict(set)
    for one, two in zip(pool["subject"], pool["object"]):
        near[one].add(two)
        near[two].add(one)
    drawn = []
    for fact in facts.itertuples():
        skipped = near[fact.subject] | near[fact.object] | {fact.subject, fact.object}
        words = far[fact.relation]
        random = np.random.default_rng([seed, zlib.crc32(fact.fact.encode()), 1])
        most = min(len(fact.distractors) + len(skipped), len(words))
        picked = random.choice(len(words), most, replace=False)
        picked = [words[at] for at in picked if words[at] not in skipped]
        drawn.append(picked[: len(fact.distractors)])
    return drawn
