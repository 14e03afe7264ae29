"""The bundled facts: read them and draw distractors that are never true."""

import hashlib
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from helpers.datasets.registry import DATA_FOLDER, SOURCES, FactsAndFrames
from helpers.metrics.canonical import comparison_key

ATLAS_FILES = ("atlas.csv.gz", "atlas_frames.csv", "atlas_relations.csv")
N_DISTRACTORS = 5
HELD_OUT_FRAMES = (5, 6)  # question frames that are in no bundled model's training text


def read_atlas_facts() -> pd.DataFrame:
    """Return all facts of the atlas, without distractors."""
    return pd.read_csv(DATA_FOLDER / "atlas.csv.gz", dtype=str, keep_default_na=False)


def read_atlas() -> FactsAndFrames:
    """Return the facts, frames and source of the atlas."""
    path = DATA_FOLDER / "atlas_frames.csv"
    frames = pd.read_csv(path, dtype={"frame": int}, keep_default_na=False)
    about = SOURCES["atlas"].about(_checksum())
    return FactsAndFrames(read_atlas_facts(), frames, about)


def draw_distractors(
    facts: pd.DataFrame, pool: pd.DataFrame, seed: int
) -> list[list[str]]:
    """Draw up to five objects of a fact's relation that are not true of its subject.

    A true object is none of them in another spelling, either.
    """
    objects = {}
    places: dict[str, dict[str, list[int]]] = {}
    for relation, rows in pool.groupby("relation"):
        objects[relation] = sorted(set(rows["object"]))
        places[relation] = {}
        for place, name in enumerate(objects[relation]):
            places[relation].setdefault(comparison_key(name), []).append(place)
    subjects = pool["subject"].map(comparison_key)
    groups = pool["object"].groupby([pool["relation"], subjects])
    true_objects = groups.agg(set).to_dict()
    distractors = []
    for row in facts.itertuples():
        names = objects[row.relation]
        true_names = true_objects[row.relation, comparison_key(row.subject)]
        true_places = []
        for key in set(map(comparison_key, true_names)):
            true_places.extend(places[row.relation][key])
        true_places.sort()
        n_wrong = len(names) - len(true_places)
        ranks = _draw_ranks(seed, row.fact, n_wrong)
        wrong_places = _places_of_ranks(ranks, true_places)
        distractors.append([names[place] for place in wrong_places])
    return distractors


@cache  # a chapter loads the facts many times
def _draw_ranks(seed: int, fact: str, n_wrong: int) -> tuple[int, ...]:
    """Draw which of so many wrong objects a fact gets, counted from 0."""
    fact_number = zlib.crc32(fact.encode())
    random = np.random.default_rng([seed, fact_number])
    n_distractors = min(N_DISTRACTORS, n_wrong)
    ranks = random.choice(n_wrong, size=n_distractors, replace=False)
    return tuple(ranks.tolist())


def _places_of_ranks(ranks: Sequence[int], true_places: Sequence[int]) -> list[int]:
    """Turn ranks among the wrong objects into places among all objects."""
    places = list(ranks)
    # In ascending order: a place moves up by one for each true object before it.
    for true_place in true_places:
        for index, place in enumerate(places):
            if place >= true_place:
                places[index] += 1
    return places


@cache
def _checksum() -> str:
    """Return the SHA-256 of the files of the atlas, unpacked, one after the other."""
    _, *other_files = ATLAS_FILES
    text = read_atlas_facts().to_csv(index=False, lineterminator="\n")
    digest = hashlib.sha256(text.encode())
    for name in other_files:
        path = DATA_FOLDER / name
        digest.update(path.read_bytes())
    return digest.hexdigest()
