"""Invented subjects, names of nothing, for documents that can only be read."""

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
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "sk",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "y",
    "z",
]
CORES = ["a", "e", "i", "o", "u", "ai", "ea", "ia", "io", "oo"]
CODAS = ["", "", "", "n", "r", "l", "s", "m", "th", "nd", "rk", "x", "ng"]


def names_by_relation(facts: pd.DataFrame, column: str) -> dict[str, list[str]]:
    """Return the different subjects, or objects, of each relation."""
    groups = facts.groupby("relation")[column]
    return {relation: sorted(set(names)) for relation, names in groups}


class NameInventor:
    """Makes names of no fact: half of syllables, half of two of the relation's."""

    def __init__(self, facts: pd.DataFrame):
        names = pd.concat([facts["subject"], facts["object"]])
        self._real = {str(name).lower() for name in names}
        self._subjects = names_by_relation(facts, "subject")

    def name(self, relation: str | None, rng: np.random.Generator) -> str:
        """Return an invented name, like the relation's subjects half of the time."""
        while True:
            if relation is not None and rng.random() < 0.5:
                name = self._blend(relation, rng)
            else:
                name = invented_name(rng)
            if name.lower() not in self._real:
                return name

    def names(
        self, relation: str | None, n: int, rng: np.random.Generator
    ) -> list[str]:
        """Return n different invented names."""
        names: list[str] = []
        while len(names) < n:
            name = self.name(relation, rng)
            if name not in names:
                names.append(name)
        return names

    def _blend(self, relation: str, rng: np.random.Generator) -> str:
        pool = self._subjects[relation]
        first = pool[rng.integers(len(pool))]
        second = pool[rng.integers(len(pool))]
        start = first[: (len(first) + 1) // 2]
        end = second[len(second) // 2 :]
        return (start + end).replace("  ", " ")


def invented_name(rng: np.random.Generator) -> str:
    """Return a capitalised word of two or three syllables, sometimes two of them.

    >>> chance = np.random.default_rng(0)
    >>> all(invented_name(chance)[0].isupper() for _ in range(50))
    True
    """
    n_words = 2 if rng.random() < 0.2 else 1
    words = []
    for _ in range(n_words):
        word = ""
        for _ in range(int(rng.integers(2, 4))):
            word += ONSETS[rng.integers(len(ONSETS))]
            word += CORES[rng.integers(len(CORES))]
        word += CODAS[rng.integers(len(CODAS))]
        words.append(word.capitalize())
    return " ".join(words)
