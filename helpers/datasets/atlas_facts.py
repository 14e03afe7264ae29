"""The bundled facts: read them and draw distractors that are never true."""

import hashlib
import zlib
from functools import cache

import numpy as np
import pandas as pd

from helpers.datasets.registry import DATA_FOLDER, SOURCES, FactsAndFrames

ATLAS_FILES = ("atlas.csv.gz", "atlas_frames.csv", "atlas_relations.csv")
N_DISTRACTORS = 5
HELD_OUT_FRAMES = (5, 6)  # question frames that are in no bundled model's training text


def read_atlas_facts() -> pd.DataFrame:
    """Return all facts of the atlas, without distractors."""
    return pd.read_csv(DATA_FOLDER / "atlas.csv.gz", dtype=str, keep_default_na=False)


def read_atlas() -> FactsAndFrames:
    """Return the facts, frames and source of the atlas."""
    frames = pd.read_csv(
        DATA_FOLDER / "atlas_frames.csv", dtype={"frame": int}, keep_default_na=False
    )
    return FactsAndFrames(
        read_atlas_facts(), frames, SOURCES["atlas"].about(_checksum())
    )


def draw_distractors(
    facts: pd.DataFrame, pool: pd.DataFrame, seed: int
) -> list[list[str]]:
    """Draw up to five objects of each fact's relation that are not true of its subject."""
    objects = {r: sorted(set(group)) for r, group in pool.groupby("relation")["object"]}
    places = {
        r: {name: at for at, name in enumerate(names)} for r, names in objects.items()
    }
    true = pool.groupby(["relation", "subject"])["object"].agg(set).to_dict()
    drawn = []
    for fact, relation, subject in zip(
        facts["fact"], facts["relation"], facts["subject"]
    ):
        names = objects[relation]
        skipped = sorted(places[relation][name] for name in true[relation, subject])
        picked = list(_picked(seed, fact, len(names) - len(skipped)))
        for place in skipped:  # the picks count the wrong objects alone
            picked = [at + (at >= place) for at in picked]
        drawn.append([names[at] for at in picked])
    return drawn


@cache
def _picked(seed: int, fact: str, count: int) -> tuple[int, ...]:
    """Draw which of so many wrong objects a fact is given; a chapter loads the facts many times."""
    random = np.random.default_rng([seed, zlib.crc32(fact.encode())])
    return tuple(
        random.choice(count, size=min(N_DISTRACTORS, count), replace=False).tolist()
    )


@cache
def _checksum() -> str:
    """Return the SHA-256 of the files of the atlas, unpacked, one after the other."""
    digest = hashlib.sha256()
    digest.update(read_atlas_facts().to_csv(index=False, lineterminator="\n").encode())
    for name in ATLAS_FILES[1:]:
        digest.update((DATA_FOLDER / name).read_bytes())
    return digest.hexdigest()
