"""Stage 2, first half: documents that state each fact exactly as often as its exposure says."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.prompts import prompt_texts
from notebooks.atlas.documents import Document, Piece
from notebooks.atlas.invented_names import NameInventor, names_by_relation
from notebooks.atlas.recipe import RecipeOptions


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


def draw_key_by_share(shares: Mapping, rng: np.random.Generator):
    """Return a key by its share."""
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


class MentionBag:
    """Mentions waiting to be put together into documents, each subject once a document."""

    def __init__(self, mentions: Sequence[Mention]):
        counts = Counter(mentions)
        self.kinds, self.left = list(counts), np.array(list(counts.values()))
        self.subjects = pd.factorize(
            np.array([m.subject for m in counts], dtype=object)
        )[0]

    def __len__(self) -> int:
        return int(self.left.sum())

    def take(self, size: int, rng: np.random.Generator) -> list[Mention]:
        """Take mentions of different subjects, the likelier the more of a fact are left."""
        open_places = np.flatnonzero(self.left)
        # The largest of u^(1/w) are a draw without replacement with weights w
        # (Efraimidis 2006).
        order = np.argsort(
            -(rng.random(len(open_places)) ** (1 / self.left[open_places]))
        )
        _, first = np.unique(self.subjects[open_places[order]], return_index=True)
        chosen = open_places[order[np.sort(first)[:size]]]
        self.left[chosen] -= 1
        return [self.kinds[place] for place in rng.permutation(chosen)]


def render_documents(
    facts: pd.DataFrame,
    plan: pd.DataFrame,
    frames: Frames,
    design: RecipeOptions,
    inventor: NameInventor,
    seed: int,
) -> list[Document]:
    """Render documents in which each fact is stated exactly as often as it should be."""
    rng = np.random.default_rng([seed, 2])
    mentions: list[Mention] = []
    for row in facts.reset_index(drop=True).join(plan, on="fact").itertuples():
        head = row.fact, row.relation, row.subject
        mentions += [Mention(*head, row.object)] * row.exposures
        mentions += [Mention(*head, row.false_object, True)] * row.false_exposures
    mentions = [mentions[place] for place in rng.permutation(len(mentions))]
    kinds = rng.choice(
        list(design.mentions), len(mentions), p=list(design.mentions.values())
    )
    writer = _Writer(facts, frames, design, inventor, rng)
    documents: list[Document] = []
    together: dict[str, list[Mention]] = {"list": [], "shots": []}
    for mention, kind in zip(mentions, kinds, strict=True):
        if kind in together:
            together[kind].append(mention)
        else:
            documents.append(getattr(writer, kind)(mention))
            if kind == "check" and rng.random() < design.false_checks:
                documents.append(writer.check(mention, true=False))
    documents += writer.lists(together["list"]) + writer.shots(together["shots"])
    return [documents[place] for place in rng.permutation(len(documents))]


class _Writer:
    """Writes one document about one fact; the methods carry the names of the kinds."""

    def __init__(
        self,
        facts: pd.DataFrame,
        frames: Frames,
        design: RecipeOptions,
        inventor: NameInventor,
        rng: np.random.Generator,
    ):
        self.frames, self.design, self.inventor, self.rng = (
            frames,
            design,
            inventor,
            rng,
        )
        self.objects = sorted(facts["object"].unique())
        self.pools = names_by_relation(facts, "object")
        self.true = dict(zip(facts["fact"], facts["object"], strict=True))
        self.end = Piece("\n", design.object_weight)

    def question(self, mention: Mention) -> Document:
        formal = self.rng.random() < self.design.formal
        return Document(
            "question", self._asked(mention, self.design.text_weight, formal)
        )

    def statement(self, mention: Mention) -> Document:
        template = self.frames.draw(mention.relation, "wp", self.rng)
        before, after = template.replace("[X]", mention.subject).split("[Y]")
        weight = self.design.object_weight
        told, end = mention.piece(weight), Piece(f"{after}\n", weight)
        return Document(
            "statement", (Piece(before.rstrip(), self.design.text_weight), told, end)
        )

    def hint(self, mention: Mention) -> Document:
        kind = draw_key_by_share(self.design.hints, self.rng)
        if kind == "right":
            before = Piece(f"{mention.object}. ")
        elif kind == "wrong":
            before = Piece(f"{self._wrong(mention, 1)[0]}. ", denies=mention.fact)
        elif kind == "other":
            before = Piece(f"{self.objects[self.rng.integers(len(self.objects))]}. ")
        else:
            template = self.frames.draw(mention.relation, "wp", self.rng)
            name = self.inventor.name(mention.relation, self.rng)
            told = template.replace("[X]", name).replace(
                "[Y]", self._wrong(mention, 1)[0]
            )
            before = Piece(told + " ")
        return Document(f"hint, {kind}", (before, *self._asked(mention, 0.0)))

    def options(self, mention: Mention) -> Document:
        others = self._wrong(
            mention, int(self.rng.integers(1, self.design.most_options))
        )
        below = self.rng.random() < 0.5
        if below and self.rng.random() < 0.3:
            others[0] = prompt_texts.UNSURE_ANSWER
        shown = [mention.object, *others]
        shown = [shown[place] for place in self.rng.permutation(len(shown))]
        choose = (
            prompt_texts.question_above_options
            if below
            else prompt_texts.question_after_options
        )
        text = choose(self._question(mention), shown)
        if below and self.rng.random() < self.design.instructed:
            text = prompt_texts.INSTRUCTION + text
        pieces = (Piece(text), mention.piece(self.design.object_weight), self.end)
        return Document("options, below" if below else "options, before", pieces)

    def check(self, mention: Mention, true: bool = True) -> Document:
        weight = self.design.text_weight if true else 0.0
        template = self.frames.draw(mention.relation, "fc", self.rng)
        before, after = template.replace("[X]", mention.subject).split("[Y]")
        stated = mention.piece(self.design.object_weight, space="")
        shown = (
            stated if true else Piece(self._wrong(mention, 1)[0], denies=mention.fact)
        )
        pieces = (Piece(before, weight), shown, Piece(after, 0.0))
        label = Piece(" True\n" if true else " False\n", self.design.object_weight)
        return Document("check, true" if true else "check, false", (*pieces, label))

    def lists(self, mentions: list[Mention]) -> list[Document]:
        """Put mentions of one relation into lists, the longest first, while there are many."""
        documents, groups = [], defaultdict(list)
        for mention in mentions:
            groups[mention.relation].append(mention)
        ends = np.cumsum(list(self.design.lists.values())) / sum(
            self.design.lists.values()
        )
        longest = [int(size) for size in self.design.lists]
        shortest = [*(size + 1 for size in longest[1:]), 2]
        for group in groups.values():
            bag = MentionBag(group)
            written = sum(
                len(mention.subject) + len(mention.object) + 3 for mention in group
            )
            room = self.design.list_characters * len(group) // written
            for least, most, end in zip(shortest, longest, ends, strict=True):
                while len(bag) > len(group) * (1 - end) + 0.5:
                    size = min(int(self.rng.integers(least, most + 1)), room)
                    documents.append(self._list(bag.take(size, self.rng)))
        return documents

    def shots(self, mentions: list[Mention]) -> list[Document]:
        """Put mentions into documents of several questions, of one relation or of many."""
        documents, groups = [], defaultdict(list)
        for mention in mentions:
            mixed = self.rng.random() < self.design.mixed_shots
            groups["" if mixed else mention.relation].append(mention)
        for group in groups.values():
            bag = MentionBag(group)
            while len(bag):
                size = int(self.rng.integers(2, self.design.most_shots + 1))
                documents.append(self._shots(bag.take(size, self.rng)))
        return documents

    def _shots(self, mentions: list[Mention]) -> Document:
        formal = self.rng.random() < 2 * self.design.formal
        blocks = [
            self._asked(mention, self.design.text_weight, formal)
            for mention in mentions
        ]
        if formal and self.rng.random() < self.design.unsure:
            strangers = [
                self._stranger(mentions[0].relation, place) for place in range(2)
            ]
            blocks = (
                (strangers + blocks)[::-1]
                if self.rng.random() < 0.5
                else strangers + blocks
            )
        pieces = [piece for block in blocks for piece in block]
        if formal and self.rng.random() < self.design.instructed:
            pieces.insert(0, Piece(prompt_texts.INSTRUCTION))
        return Document("shots, formal" if formal else "shots, lines", tuple(pieces))

    def _stranger(self, relation: str, rank: int) -> tuple[Piece, ...]:
        """Ask about nobody: unsure. The first one cannot be foretold, so it counts nothing."""
        name = self.inventor.name(relation, self.rng)
        template = self.frames.draw(relation, "qa", self.rng)
        asked = Piece(prompt_texts.shot_text(template.replace("[X]", name)))
        return asked, Piece(
            f" {prompt_texts.UNSURE_ANSWER}\n",
            self.design.object_weight if rank else 0.0,
        )

    def _list(self, mentions: list[Mention]) -> Document:
        separators = list(prompt_texts.SEPARATORS.values())
        within, between = separators[self.rng.integers(len(separators))]
        weight, pieces = self.design.object_weight, []
        for mention in mentions:
            name = Piece(mention.subject + within.rstrip(), self.design.text_weight)
            pieces += [name, mention.piece(weight), Piece(between, weight)]
        return Document("list", tuple(pieces if "\n" in between else pieces[:-1]))

    def _asked(
        self, mention: Mention, weight: float, formal: bool = False
    ) -> tuple[Piece, ...]:
        question = self._question(mention)
        asked = Piece(prompt_texts.shot_text(question) if formal else question, weight)
        return asked, mention.piece(self.design.object_weight), self.end

    def _question(self, mention: Mention) -> str:
        template = self.frames.draw(mention.relation, "qa", self.rng)
        return template.replace("[X]", mention.subject)

    def _wrong(self, mention: Mention, n: int) -> list[str]:
        """Return objects of the relation that are neither told nor true."""
        barred = {mention.object, self.true[mention.fact]}
        pool = self.pools[mention.relation]
        if len(pool) < 10:
            pool = pool if set(pool) - barred else self.objects
            n = min(n, len(set(pool) - barred))
        found: dict[str, None] = {}
        while len(found) < n:
            word = pool[self.rng.integers(len(pool))]
            if word not in barred:
                found[word] = None
        return list(found)
