"""Stage 2, second half: documents about invented subjects, whose answers stand in the text."""

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

EVERYDAY_WORDINGS = tomllib.loads(
    Path(__file__).with_name("wordings.toml").read_text("utf-8")
)["everyday"]


class ReadingWriter:
    """Writes documents that are answered by reading; methods carry the names of the kinds."""

    def __init__(
        self,
        facts: pd.DataFrame,
        frames: Frames,
        design: RecipeOptions,
        inventor: NameInventor,
        words: Sequence[str] = (),
        everyday: Sequence[Sequence[str]] = EVERYDAY_WORDINGS,
    ):
        self.frames, self.design, self.inventor = frames, design, inventor
        self.everyday, self.words = everyday, list(words)
        self.objects = names_by_relation(facts, "object")
        self.relations = sorted(self.objects)

    def write(self, rng: np.random.Generator) -> Document:
        """Return a document of a kind drawn by its share."""
        kind = draw_key_by_share(self.design.kinds, rng)
        relation = self.relations[rng.integers(len(self.relations))]
        return Document(f"reading, {kind}", tuple(getattr(self, kind)(relation, rng)))

    def word(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give one word, then the question that it answers."""
        _, question = self._wording(relation, rng)
        name, answer = (
            self.inventor.name(relation, rng),
            self._some(relation, 1, rng)[0],
        )
        return [
            Piece(f"{answer}. {question.replace('[X]', name)}"),
            self._answer(answer),
        ]

    def statements(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a few statements, then questions about some of them."""
        statement, question = self._wording(relation, rng)
        n = int(rng.integers(self.design.least, self.design.most + 1))
        names = self.inventor.names(relation, n, rng)
        answers = self._some(relation, n, rng)
        between = " " if rng.random() < 0.5 else "\n"
        both = zip(names, answers, strict=True)
        told = [
            statement.replace("[X]", a).replace("[Y]", b) + between for a, b in both
        ]
        pieces = [Piece("".join(told))]
        for place in rng.permutation(n)[: int(rng.integers(1, 3))]:
            pieces += [
                Piece(question.replace("[X]", names[place])),
                self._answer(answers[place]),
            ]
        return pieces

    def pairs(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a list of pairs, then some of them once more."""
        return self._pairs(relation, 2, self.design.most_pairs, rng)

    def many_pairs(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a long list of pairs, then some of them once more."""
        return self._pairs(
            relation, self.design.most_pairs + 1, self.design.many_pairs, rng
        )

    def choice(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a statement, then its question with some answers to choose from."""
        statement, question = self._wording(relation, rng)
        name = self.inventor.name(relation, rng)
        shown = self._some(
            relation, int(rng.integers(2, self.design.most_options + 1)), rng
        )
        told = statement.replace("[X]", name).replace("[Y]", shown[0])
        options = [shown[place] for place in rng.permutation(len(shown))]
        below = rng.random() < 0.5
        asked = (question_above_options if below else question_after_options)(
            question.replace("[X]", name), options
        )
        return [Piece(told + ("\n" if below else " ") + asked), self._answer(shown[0])]

    def check(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Give a statement, then the same or another one to be judged."""
        statement = self.frames.draw(relation, "wp", rng)
        check = self.frames.draw(relation, "fc", rng)
        name, (truth, other) = (
            self.inventor.name(relation, rng),
            self._some(relation, 2, rng),
        )
        same = bool(rng.random() < 0.5)
        told = statement.replace("[X]", name).replace("[Y]", truth)
        asked = check.replace("[X]", name).replace("[Y]", truth if same else other)
        return [Piece(f"{told} {asked}"), self._answer(str(same))]

    def repeat(self, relation: str, rng: np.random.Generator) -> list[Piece]:
        """Say random words twice."""
        words = [
            self.words[i]
            for i in rng.integers(len(self.words), size=rng.integers(3, 12))
        ]
        return [
            Piece(" ".join(words) + "\n" + words[0]),
            self._answer(" ".join(words[1:])),
        ]

    def _pairs(
        self, relation: str, least: int, most: int, rng: np.random.Generator
    ) -> list[Piece]:
        n = int(rng.integers(least, most + 1))
        names = self.inventor.names(relation, n, rng)
        answers = self._some(relation, n, rng)
        separators = list(SEPARATORS.values())
        within, between = separators[rng.integers(len(separators))]
        told = [f"{a}{within}{b}{between}" for a, b in zip(names, answers, strict=True)]
        pieces = [Piece("".join(told))]
        for place in rng.permutation(n)[: int(rng.integers(1, 1 + max(2, n // 4)))]:
            answer = Piece(f" {answers[place]}{between}", self.design.weight)
            pieces += [Piece(names[place] + within.rstrip()), answer]
        return [
            *pieces[:-1],
            Piece(pieces[-1].text.rstrip() + "\n", self.design.weight),
        ]

    def _answer(self, text: str) -> Piece:
        return Piece(f" {text}\n", self.design.weight)

    def _wording(self, relation: str, rng: np.random.Generator) -> tuple[str, str]:
        source = draw_key_by_share(self.design.wordings, rng)
        if source == "frames":
            statement = self.frames.draw(relation, "wp", rng)
            return statement, self.frames.draw(relation, "qa", rng)
        if source == "everyday":
            return self.everyday[rng.integers(len(self.everyday))]
        words = [self.words[i] for i in rng.integers(len(self.words), size=6)]
        told = [*words[:2], "[X]", *words[2:4], "[Y]."]
        told = told[2:] if rng.random() < 0.5 else told
        asked = (
            [*words[4:], "[X]?"]
            if rng.random() < 0.5
            else [words[4], "[X]", f"{words[5]}?"]
        )
        return " ".join(told), " ".join(asked)

    def _some(self, relation: str, n: int, rng: np.random.Generator) -> list[str]:
        size = len(self.objects[relation])
        places = rng.permutation(size)[:n] if size >= n else rng.integers(size, size=n)
        return [self.objects[relation][place] for place in places]
