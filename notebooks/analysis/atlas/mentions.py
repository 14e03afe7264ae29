"""What documents about facts are put together from: mentions, frames, and how they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from notebooks.analysis.atlas.documents import Piece


@dataclass(frozen=True)
class Mention:
    """A fact as one document tells it."""

    fact: str
    relation: str
    subject: str
    object: str  # the one that is told
    false: bool = False  # whether that is the fact's false object

    def piece(self, weight: float, space: str = " ") -> Piece:
        """Return the piece that tells the object, marked as what it is."""
        mark = {"claims": self.fact} if self.false else {"states": self.fact}
        return Piece(f"{space}{self.object}", weight, **mark)


def draw(shares: Mapping, rng: np.random.Generator):
    """Return a key by its share.

    >>> draw({"never": 0.0, "always": 1.0}, np.random.default_rng(0))
    'always'
    """
    left = rng.random() * sum(shares.values())
    for key, share in shares.items():
        left -= share
        if left < 0:
            return key
    return key


class Frames:
    """The frames of all relations, drawn by the weights of their numbers."""

    def __init__(self, frames: pd.DataFrame, weights: Sequence[float]):
        self._templates: dict[tuple[str, str], list[str]] = {}
        self._ends: dict[tuple[str, str], np.ndarray] = {}
        for key, group in frames.sort_values("frame").groupby(["relation", "kind"]):
            chances = np.array([weights[number] for number in group["frame"]])
            self._templates[key] = group["template"].tolist()
            self._ends[key] = np.cumsum(chances / chances.sum())

    def draw(self, relation: str, kind: str, rng: np.random.Generator) -> str:
        """Return a template of a relation and kind."""
        key = (relation, kind)
        place = int(np.searchsorted(self._ends[key], rng.random(), side="right"))
        return self._templates[key][place]


class Bag:
    """Mentions waiting to be put together into documents, each subject once a document."""

    def __init__(self, mentions: Sequence[Mention]):
        kinds = list(dict.fromkeys(mentions))
        places = {mention: place for place, mention in enumerate(kinds)}
        self.kinds = kinds
        self.left = np.bincount([places[m] for m in mentions], minlength=len(kinds))
        subjects = {m.subject: rank for rank, m in enumerate(kinds)}
        self.subjects = np.array([subjects[m.subject] for m in kinds])

    def __len__(self) -> int:
        return int(self.left.sum())

    def take(self, size: int, rng: np.random.Generator) -> list[Mention]:
        """Take up to `size` mentions of different subjects, in random order.

        The more mentions of a fact are left, the likelier it is taken.
        """
        open_places = np.flatnonzero(self.left)
        # The largest of u^(1/w) are a draw without replacement with weights w (Efraimidis 2006).
        order = np.argsort(-(rng.random(len(open_places)) ** (1 / self.left[open_places])))
        _, first = np.unique(self.subjects[open_places[order]], return_index=True)
        chosen = open_places[order[np.sort(first)[:size]]]
        self.left[chosen] -= 1
        return [self.kinds[place] for place in rng.permutation(chosen)]
