"""Invented subjects, names that belong to nothing, for documents that can only be read."""

import numpy as np
import pandas as pd

ONSETS = [
    "b",
    "br",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
]
ONSETS += ["pl", "qu", "r", "s", "sh", "sk", "st", "t", "th", "tr", "v", "w", "y", "z"]
CORES = ["a", "e", "i", "o", "u", "ai", "ea", "ia", "io", "oo"]
CODAS = ["", "", "", "n", "r", "l", "s", "m", "th", "nd", "rk", "x", "ng"]


def names_by_relation(facts: pd.DataFrame, column: str) -> dict[str, list[str]]:
    """Return the different subjects, or objects, of each relation."""
    return {name: sorted(set(part)) for name, part in facts.groupby("relation")[column]}


class NameInventor:
    """Makes names of no fact: half of syllables, half of two subjects of the relation."""

    def __init__(self, facts: pd.DataFrame):
        self._real = {
            str(name).lower()
            for name in facts[["subject", "object"]].to_numpy().ravel()
        }
        self._subjects = names_by_relation(facts, "subject")

    def name(self, relation: str | None, rng: np.random.Generator) -> str:
        """Return an invented name, like the relation's subjects half of the time."""
        while True:
            blend = relation is not None and rng.random() < 0.5
            name = self._blend(relation, rng) if blend else invented_name(rng)
            if name.lower() not in self._real:
                return name

    def names(
        self, relation: str | None, n: int, rng: np.random.Generator
    ) -> list[str]:
        """Return n different invented names."""
        found: dict[str, None] = {}
        while len(found) < n:
            found[self.name(relation, rng)] = None
        return list(found)

    def _blend(self, relation: str, rng: np.random.Generator) -> str:
        pool = self._subjects[relation]
        first, second = pool[rng.integers(len(pool))], pool[rng.integers(len(pool))]
        return (first[: (len(first) + 1) // 2] + second[len(second) // 2 :]).replace(
            "  ", " "
        )


def invented_name(rng: np.random.Generator) -> str:
    """Return a capitalised word of two or three syllables, sometimes two of them.

    >>> chance = np.random.default_rng(0)
    >>> all(invented_name(chance)[0].isupper() for _ in range(50))
    True
    """
    words = []
    for _ in range(1 + int(rng.random() < 0.2)):
        parts = []
        for _ in range(int(rng.integers(2, 4))):
            parts += [
                ONSETS[rng.integers(len(ONSETS))],
                CORES[rng.integers(len(CORES))],
            ]
        words.append(("".join(parts) + CODAS[rng.integers(len(CODAS))]).capitalize())
    return " ".join(words)
