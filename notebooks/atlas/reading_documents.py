"""Stage 2, second half: documents about invented subjects, answered by reading."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.prompts.prompt_texts import (
    SEPARATORS,
    question_above_options,
    question_after_options,
)
from notebooks.atlas.corpus import Frames, draw_key_by_share
from notebooks.atlas.documents import Document, Piece
from notebooks.atlas.invented_names import NameInventor, names_by_relation
from notebooks.atlas.recipe import RecipeOptions

WORDINGS_FILE = Path(__file__).with_name("wordings.toml")
EVERYDAY_WORDINGS = tomllib.loads(WORDINGS_FILE.read_text("utf-8"))["everyday"]


class ReadingWriter:
    """Writes documents answered by reading; methods carry the names of the kinds."""

    def __init__(
        self,
        facts: pd.DataFrame,
        frames: Frames,
        design: RecipeOptions,
        inventor: NameInventor,
        words: Sequence[str] = (),
        everyday: Sequence[Sequence[str]] = EVERYDAY_WORDINGS,
    ):
        self.frames = frames
        self.design = design
        self.inventor = inventor
        self.everyday = everyday
        self.words = list(words)
        self.objects = names_by_relation(facts, "object")
        self.relations = sorted(self.objects)

    def write(self, rng: np.random.Generator) -> Document:
        """Return a document of a kind drawn by its share."""
        kind = draw_key_by_share(self.design.kinds, rng)
        relation = self.relations[rng.integers(len(self.relations))]
        pieces_of_kind = getattr(self, kind)
        return Document(f"reading, {kind}", tuple(pieces_of_kind(relation, rng)))

    def word(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give one word, then the question that it answers."""
        _, question = self._wording(relation, rng)
        name = self.inventor.name(relation, rng)
        [answer] = self._objects(relation, 1, rng)
        question = question.replace("[X]", name)
        return [Piece(f"{answer}. {question}"), self._answer(answer)]

    def statements(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a few statements, then questions about some of them."""
        statement, question = self._wording(relation, rng)
        n = int(rng.integers(self.design.least, self.design.most + 1))
        names = self.inventor.names(relation, n, rng)
        answers = self._objects(relation, n, rng)
        between = " " if rng.random() < 0.5 else "\n"
        text = ""
        for name, answer in zip(names, answers, strict=True):
            text += _filled(statement, name, answer) + between
        pieces = [Piece(text)]
        order = rng.permutation(n)
        n_asked = int(rng.integers(1, 3))
        for place in order[:n_asked]:
            pieces.append(Piece(question.replace("[X]", names[place])))
            pieces.append(self._answer(answers[place]))
        return pieces

    def pairs(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a list of pairs, then some of them once more."""
        return self._pairs(relation, 2, self.design.most_pairs, rng)

    def many_pairs(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a long list of pairs, then some of them once more."""
        least = self.design.most_pairs + 1
        return self._pairs(relation, least, self.design.many_pairs, rng)

    def choice(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a statement, then its question with some answers to choose from."""
        statement, question = self._wording(relation, rng)
        name = self.inventor.name(relation, rng)
        n_options = int(rng.integers(2, self.design.most_options + 1))
        objects = self._objects(relation, n_options, rng)
        truth = objects[0]
        options = [objects[place] for place in rng.permutation(n_options)]
        text = _filled(statement, name, truth)
        question = question.replace("[X]", name)
        if rng.random() < 0.5:
            text += "\n" + question_above_options(question, options)
        else:
            text += " " + question_after_options(question, options)
        return [Piece(text), self._answer(truth)]

    def check(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a statement, then the same or another one to be judged."""
        statement = self.frames.draw(relation, "wp", rng)
        check = self.frames.draw(relation, "fc", rng)
        name = self.inventor.name(relation, rng)
        truth, another = self._objects(relation, 2, rng)
        is_true = bool(rng.random() < 0.5)
        stated = _filled(statement, name, truth)
        judged = _filled(check, name, truth if is_true else another)
        return [Piece(f"{stated} {judged}"), self._answer(str(is_true))]

    def repeat(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Say random words twice."""
        words = self._random_words(int(rng.integers(3, 12)), rng)
        first, *rest = words
        said_once = " ".join(words)
        return [Piece(f"{said_once}\n{first}"), self._answer(" ".join(rest))]

    def _pairs(
        self, relation: str, least: int, most: int, rng: np.random.Generator
    ) -> list[Piece]:
        """Return a list of pairs, and some of its pairs once more as exercises."""
        n = int(rng.integers(least, most + 1))
        names = self.inventor.names(relation, n, rng)
        answers = self._objects(relation, n, rng)
        separators = list(SEPARATORS.values())
        within, between = separators[rng.integers(len(separators))]
        text = ""
        for name, answer in zip(names, answers, strict=True):
            text += f"{name}{within}{answer}{between}"
        pieces = [Piece(text)]
        order = rng.permutation(n)
        n_asked = int(rng.integers(1, 1 + max(2, n // 4)))
        for place in order[:n_asked]:
            pieces.append(Piece(names[place] + within.rstrip()))
            pieces.append(Piece(f" {answers[place]}{between}", self.design.weight))
        last = pieces.pop()
        pieces.append(Piece(last.text.rstrip() + "\n", self.design.weight))
        return pieces

    def _answer(self, text: str) -> Piece:
        return Piece(f" {text}\n", self.design.weight)

    def _wording(self, relation: str, rng: np.random.Generator) -> tuple[str, str]:
        """Return a statement with gaps, and the question that asks for its object."""
        source = draw_key_by_share(self.design.wordings, rng)
        if source == "frames":
            statement = self.frames.draw(relation, "wp", rng)
            return statement, self.frames.draw(relation, "qa", rng)
        if source == "everyday":
            return self.everyday[rng.integers(len(self.everyday))]
        a, b, c, d, e, f = self._random_words(6, rng)
        statement = f"[X] {c} {d} [Y]."
        if rng.random() >= 0.5:
            statement = f"{a} {b} {statement}"
        question = f"{e} {f} [X]?" if rng.random() < 0.5 else f"{e} [X] {f}?"
        return statement, question

    def _random_words(self, n: int, rng: np.random.Generator) -> list[str]:
        return [self.words[place] for place in rng.integers(len(self.words), size=n)]

    def _objects(self, relation: str, n: int, rng: np.random.Generator) -> list[str]:
        """Return objects of a relation, different ones if it has so many."""
        objects = self.objects[relation]
        if len(objects) >= n:
            places = rng.permutation(len(objects))[:n]
        else:
            places = rng.integers(len(objects), size=n)
        return [objects[place] for place in places]


def _filled(template: str, name: str, value: str) -> str:
    """Return a template with a subject and an object in its gaps."""
    return template.replace("[X]", name).replace("[Y]", value)
