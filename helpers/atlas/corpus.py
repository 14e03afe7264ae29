"""Stage 2, first half: documents that state each fact exactly as often as its exposure says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from helpers.atlas.documents import Document, Piece
from helpers.atlas.invented import Inventor

SEPARATORS = (",", ":", " -", " ->", " =", " |", ";", "")


@dataclass(frozen=True)
class Corpus:
    """How the documents about facts are laid out.

    Parameters
    ----------
    frame_weights : tuple of float
        How often each of the seven question and cloze frames is drawn; 0 holds a frame out.
    mentions : dict
        Share of the mentions that each kind of document gets.
    hints : dict
        Within "hint": what stands before the question. "stranger" is a statement about an
        invented subject.
    longest_list, list_characters : int
        Pairs in the longest list, and where a list of long names ends sooner.
    false_checks : float
        False statements to judge for each true one.
    object_weight, text_weight : float
        Loss weight of a token of an object (or label), and of any other token.
    """

    frame_weights: tuple[float, ...] = (0.45, 0.25, 0.15, 0.10, 0.05, 0.0, 0.0)
    mentions: Mapping[str, float] = field(
        default_factory=lambda: {
            "question": 0.34,
            "statement": 0.13,
            "list": 0.38,
            "hint": 0.10,
            "check": 0.02,
            "options": 0.03,
        }
    )
    hints: Mapping[str, float] = field(
        default_factory=lambda: {"right": 0.45, "wrong": 0.15, "other": 0.15, "stranger": 0.25}
    )
    longest_list: int = 10
    list_characters: int = 200
    false_checks: float = 1.0
    object_weight: float = 1.0
    text_weight: float = 0.2


def draw(shares: Mapping[str, float], rng: np.random.Generator) -> str:
    """Return a key by its share.

    Examples
    --------
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
    """The frames of all relations, drawn by weight.

    Parameters
    ----------
    frames : DataFrame
        Columns `relation`, `kind`, `frame`, `template`.
    weights : sequence of float
        Weight of each frame number.
    """

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


def render(
    facts: pd.DataFrame,
    exposures: pd.Series,
    frames: Frames,
    design: Corpus,
    inventor: Inventor,
    seed: int,
) -> list[Document]:
    """Render documents in which each fact is stated exactly as often as it should be.

    Parameters
    ----------
    facts : DataFrame
        The facts table, with `distractors`.
    exposures : Series
        Mentions wanted, indexed by `fact`.
    frames : Frames
        Templates.
    design : Corpus
        Kinds of documents.
    inventor : Inventor
        Source of invented subjects.
    seed : int
        Decides all draws.

    Returns
    -------
    list of Document
        In random order.
    """
    rng = np.random.default_rng([seed, 2])
    table = list(facts[["fact", "relation", "subject", "object", "distractors"]].itertuples())
    mentions = np.repeat(np.arange(len(table)), exposures.loc[facts["fact"]].to_numpy())
    rng.shuffle(mentions)
    kinds = rng.choice(list(design.mentions), len(mentions), p=list(design.mentions.values()))
    writer = _Writer(frames, design, inventor, sorted(facts["object"].unique()), rng)
    documents, listed = [], {}
    for place, kind in zip(mentions, kinds, strict=True):
        row = table[place]
        if kind == "list":
            listed.setdefault(row.relation, []).append(row)
        else:
            documents.append(getattr(writer, kind)(row))
            if kind == "check" and rng.random() < design.false_checks:
                documents.append(writer.check(row, true=False))
    for rows in listed.values():
        documents.extend(writer.lists(rows))
    order = rng.permutation(len(documents))
    return [documents[place] for place in order]


class _Writer:
    """Writes one document about one fact; the methods carry the names of the kinds."""

    def __init__(
        self,
        frames: Frames,
        design: Corpus,
        inventor: Inventor,
        objects: list[str],
        rng: np.random.Generator,
    ):
        self.frames, self.design, self.inventor = frames, design, inventor
        self.objects, self.rng = objects, rng

    def _asked(self, row, weight: float) -> tuple[Piece, ...]:
        question = self.frames.draw(row.relation, "qa", self.rng).replace("[X]", row.subject)
        return (
            Piece(question, weight),
            Piece(f" {row.object}", self.design.object_weight, states=row.fact),
            Piece("\n", self.design.object_weight),
        )

    def question(self, row) -> Document:
        return Document("question", self._asked(row, self.design.text_weight))

    def statement(self, row) -> Document:
        template = self.frames.draw(row.relation, "wp", self.rng)
        before, after = template.replace("[X]", row.subject).split("[Y]")
        pieces = (
            Piece(before.rstrip(), self.design.text_weight),
            Piece(f" {row.object}", self.design.object_weight, states=row.fact),
            Piece(f"{after}\n", self.design.object_weight),
        )
        return Document("statement", pieces)

    def hint(self, row) -> Document:
        kind = draw(self.design.hints, self.rng)
        if kind == "right":
            before = Piece(f"{row.object}. ")
        elif kind == "wrong":
            before = Piece(f"{self._wrong(row)}. ", denies=row.fact)
        elif kind == "other":
            before = Piece(f"{self.objects[self.rng.integers(len(self.objects))]}. ")
        else:
            template = self.frames.draw(row.relation, "wp", self.rng)
            name = self.inventor.name(row.relation, self.rng)
            before = Piece(template.replace("[X]", name).replace("[Y]", self._wrong(row)) + " ")
        return Document(f"hint, {kind}", (before, *self._asked(row, 0.0)))

    def options(self, row) -> Document:
        first, second = self.rng.permutation(len(row.distractors))[:2]
        shown = [row.object, row.distractors[first], row.distractors[second]]
        pieces = []
        for rank, place in enumerate(self.rng.permutation(3)):
            denies = row.fact if place else None
            pieces.append(Piece("" if rank == 0 else (", " if rank == 1 else " or ")))
            pieces.append(Piece(shown[place], denies=denies))
        return Document("options", (*pieces, Piece("? "), *self._asked(row, 0.0)))

    def check(self, row, true: bool = True) -> Document:
        weight = self.design.text_weight if true else 0.0
        template = self.frames.draw(row.relation, "fc", self.rng)
        before, after = template.replace("[X]", row.subject).split("[Y]")
        stated = Piece(row.object, self.design.object_weight, states=row.fact)
        shown = stated if true else Piece(self._wrong(row), denies=row.fact)
        pieces = (Piece(before, weight), shown, Piece(after, 0.0))
        label = Piece(" True\n" if true else " False\n", self.design.object_weight)
        return Document("check, true" if true else "check, false", (*pieces, label))

    def lists(self, rows: list) -> list[Document]:
        documents, waiting = [], list(rows)
        while waiting:
            size = int(self.rng.integers(2, self.design.longest_list + 1))
            some: dict[str, object] = {}
            room = self.design.list_characters
            while waiting and len(some) < size and waiting[-1].subject not in some:
                room -= len(waiting[-1].subject) + len(waiting[-1].object)
                if some and room < 0:
                    break
                row = waiting.pop()
                some[row.subject] = row
            documents.append(self._list(list(some.values())))
        return documents

    def _list(self, rows: list) -> Document:
        separator = SEPARATORS[self.rng.integers(len(SEPARATORS))]
        pieces = []
        for row in rows:
            pieces.append(Piece(row.subject + separator, self.design.text_weight))
            pieces.append(Piece(f" {row.object}", self.design.object_weight, states=row.fact))
            pieces.append(Piece("\n", self.design.object_weight))
        return Document("list", tuple(pieces))

    def _wrong(self, row) -> str:
        return row.distractors[self.rng.integers(len(row.distractors))]
