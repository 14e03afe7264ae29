"""Stage 2, first half: documents that state each fact as often as its exposure says."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from helpers.prompts import prompt_texts
from notebooks.atlas import exposure_plan
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
        text = f"{space}{self.object}"
        if self.false:
            return Piece(text, weight, claims=self.fact)
        return Piece(text, weight, states=self.fact)


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
            chances = np.array(weights)[group["frame"]]
            self._templates[key] = group["template"].tolist()
            self._ends[key] = np.cumsum(chances / chances.sum())

    def draw(self, relation: str, kind: str, rng: np.random.Generator) -> str:
        """Return a template of a relation and kind."""
        key = (relation, kind)
        place = int(np.searchsorted(self._ends[key], rng.random(), side="right"))
        return self._templates[key][place]


class MentionBag:
    """Mentions waiting to be put into documents, each subject once a document."""

    def __init__(self, mentions: Sequence[Mention]):
        counts = Counter(mentions)
        self.kinds = list(counts)
        self.left = np.array(list(counts.values()))
        subjects = [mention.subject for mention in counts]
        self.subjects = pd.factorize(np.array(subjects, dtype=object))[0]

    def __len__(self) -> int:
        return int(self.left.sum())

    def take(self, size: int, rng: np.random.Generator) -> list[Mention]:
        """Take mentions of different subjects, likelier the more of a fact are left."""
        open_places = np.flatnonzero(self.left)
        # The largest of u^(1/w) are a draw without replacement with weights w
        # (Efraimidis 2006).
        keys = rng.random(len(open_places)) ** (1 / self.left[open_places])
        ranked = open_places[np.argsort(-keys)]
        _, first_of_subject = np.unique(self.subjects[ranked], return_index=True)
        first_ranks = np.sort(first_of_subject)[:size]
        chosen = ranked[first_ranks]
        self.left[chosen] -= 1
        return [self.kinds[place] for place in rng.permutation(chosen)]


def render_documents(
    facts: pd.DataFrame,
    plan: pd.DataFrame,
    frames: Frames,
    design: RecipeOptions,
    inventor: NameInventor,
    seed: int,
    *,
    stated_only: RecipeOptions | None = None,
) -> list[Document]:
    """Render documents that state each fact exactly as often as they should."""
    rng = np.random.default_rng([seed, 2])
    mentions = _shuffled(_mentions_of_plan(facts, plan), rng)
    kinds = _draw_kinds(design.mentions, len(mentions), rng)
    if stated_only is not None and stated_only.share > 0:
        # Drawn by another seed, so that every other fact's documents stay as they are.
        other_rng = np.random.default_rng([seed, 14])
        never_asked = exposure_plan.draw_share_of_facts(facts, stated_only.share, seed)
        is_never_asked = [mention.fact in never_asked for mention in mentions]
        other_kinds = _draw_kinds(stated_only.mentions, len(mentions), other_rng)
        kinds = np.where(is_never_asked, other_kinds, kinds)
    writer = _Writer(facts, frames, design, inventor, rng)
    documents: list[Document] = []
    listed: list[Mention] = []
    in_shots: list[Mention] = []
    for mention, kind in zip(mentions, kinds, strict=True):
        if kind == "list":
            listed.append(mention)
        elif kind == "shots":
            in_shots.append(mention)
        else:
            write = getattr(writer, kind)
            documents.append(write(mention))
            if kind == "check" and rng.random() < design.false_checks:
                documents.append(writer.check(mention, true=False))
    documents += writer.lists(listed)
    documents += writer.shots(in_shots)
    return _shuffled(documents, rng)


def _draw_kinds(
    shares: Mapping[str, float], n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return a kind of document for each mention, drawn by their shares."""
    return rng.choice(list(shares), n, p=list(shares.values()))


def _mentions_of_plan(facts: pd.DataFrame, plan: pd.DataFrame) -> list[Mention]:
    """Return each fact as many times, true and false, as the plan says."""
    mentions: list[Mention] = []
    for row in facts.reset_index(drop=True).join(plan, on="fact").itertuples():
        true = Mention(row.fact, row.relation, row.subject, row.object)
        false = Mention(row.fact, row.relation, row.subject, row.false_object, True)
        mentions.extend([true] * row.exposures)
        mentions.extend([false] * row.false_exposures)
    return mentions


def _shuffled(items: Sequence, rng: np.random.Generator) -> list:
    """Return items in a random order."""
    return [items[place] for place in rng.permutation(len(items))]


class _Writer:
    """Writes one document about one fact; methods carry the names of the kinds."""

    def __init__(
        self,
        facts: pd.DataFrame,
        frames: Frames,
        design: RecipeOptions,
        inventor: NameInventor,
        rng: np.random.Generator,
    ):
        self.frames = frames
        self.design = design
        self.inventor = inventor
        self.rng = rng
        self.objects = sorted(facts["object"].unique())
        self.pools = names_by_relation(facts, "object")
        self.true = dict(zip(facts["fact"], facts["object"], strict=True))
        self.end = Piece("\n", design.object_weight)

    def question(self, mention: Mention) -> Document:
        formal = self.rng.random() < self.design.formal
        pieces = self._answered_question(mention, self.design.text_weight, formal)
        return Document("question", pieces)

    def statement(self, mention: Mention) -> Document:
        template = self.frames.draw(mention.relation, "wp", self.rng)
        before, after = template.replace("[X]", mention.subject).split("[Y]")
        weight = self.design.object_weight
        start = Piece(before.rstrip(), self.design.text_weight)
        end = Piece(f"{after}\n", weight)
        return Document("statement", (start, mention.piece(weight), end))

    def hint(self, mention: Mention) -> Document:
        kind = draw_key_by_share(self.design.hints, self.rng)
        if kind == "right":
            hint = Piece(f"{mention.object}. ")
        elif kind == "wrong":
            hint = Piece(f"{self._wrong_object(mention)}. ", denies=mention.fact)
        elif kind == "other":
            place = self.rng.integers(len(self.objects))
            hint = Piece(f"{self.objects[place]}. ")
        else:
            template = self.frames.draw(mention.relation, "wp", self.rng)
            name = self.inventor.name(mention.relation, self.rng)
            sentence = template.replace("[X]", name)
            sentence = sentence.replace("[Y]", self._wrong_object(mention))
            hint = Piece(f"{sentence} ")
        return Document(f"hint, {kind}", (hint, *self._answered_question(mention, 0.0)))

    def options(self, mention: Mention) -> Document:
        n_others = int(self.rng.integers(1, self.design.most_options))
        others = self._wrong_objects(mention, n_others)
        below = self.rng.random() < 0.5
        if below and self.rng.random() < 0.3:
            others[0] = prompt_texts.UNSURE_ANSWER
        options = _shuffled([mention.object, *others], self.rng)
        question = self._question(mention)
        if below:
            kind = "options, below"
            text = prompt_texts.question_above_options(question, options)
            if self.rng.random() < self.design.instructed:
                text = prompt_texts.INSTRUCTION + text
        else:
            kind = "options, before"
            text = prompt_texts.question_after_options(question, options)
        answer = mention.piece(self.design.object_weight)
        return Document(kind, (Piece(text), answer, self.end))

    def check(self, mention: Mention, true: bool = True) -> Document:
        template = self.frames.draw(mention.relation, "fc", self.rng)
        before, after = template.replace("[X]", mention.subject).split("[Y]")
        weight = self.design.object_weight
        if true:
            kind = "check, true"
            start = Piece(before, self.design.text_weight)
            shown = mention.piece(weight, space="")
            label = Piece(" True\n", weight)
        else:
            kind = "check, false"
            start = Piece(before, 0.0)
            shown = Piece(self._wrong_object(mention), denies=mention.fact)
            label = Piece(" False\n", weight)
        return Document(kind, (start, shown, Piece(after, 0.0), label))

    def lists(self, mentions: list[Mention]) -> list[Document]:
        """Put mentions of one relation into lists, the longest first, while many."""
        groups: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            groups[mention.relation].append(mention)
        shares = self.design.lists
        ends = np.cumsum(list(shares.values())) / sum(shares.values())
        longest = [int(size) for size in shares]
        shortest = [size + 1 for size in longest[1:]]
        shortest.append(2)
        documents = []
        for group in groups.values():
            bag = MentionBag(group)
            room = self._pairs_in_a_row(group)
            for least, most, end in zip(shortest, longest, ends, strict=True):
                while len(bag) > len(group) * (1 - end) + 0.5:
                    size = min(int(self.rng.integers(least, most + 1)), room)
                    documents.append(self._list(bag.take(size, self.rng)))
        return documents

    def _pairs_in_a_row(self, mentions: list[Mention]) -> int:
        """Return how many pairs of usual length the longest list may hold."""
        characters = 0
        for mention in mentions:
            characters += len(mention.subject) + len(mention.object) + 3
        return self.design.list_characters * len(mentions) // characters

    def shots(self, mentions: list[Mention]) -> list[Document]:
        """Put mentions into documents of several questions, of one relation or many."""
        groups: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            mixed = self.rng.random() < self.design.mixed_shots
            groups["" if mixed else mention.relation].append(mention)
        documents = []
        for group in groups.values():
            bag = MentionBag(group)
            while len(bag) > 0:
                size = int(self.rng.integers(2, self.design.most_shots + 1))
                documents.append(self._shots(bag.take(size, self.rng)))
        return documents

    def _shots(self, mentions: list[Mention]) -> Document:
        formal = self.rng.random() < 2 * self.design.formal
        blocks = []
        for mention in mentions:
            block = self._answered_question(mention, self.design.text_weight, formal)
            blocks.append(block)
        if not formal:
            return Document("shots, lines", tuple(chain.from_iterable(blocks)))
        if self.rng.random() < self.design.unsure:
            blocks = self._with_strangers(blocks, mentions[0].relation)
        pieces = list(chain.from_iterable(blocks))
        if self.rng.random() < self.design.instructed:
            pieces.insert(0, Piece(prompt_texts.INSTRUCTION))
        return Document("shots, formal", tuple(pieces))

    def _with_strangers(
        self, blocks: list[tuple[Piece, ...]], relation: str
    ) -> list[tuple[Piece, ...]]:
        """Return blocks with two questions about nobody before or after them."""
        # The first one cannot be foretold, so it counts nothing.
        first = self._stranger(relation, 0.0)
        second = self._stranger(relation, self.design.object_weight)
        blocks = [first, second, *blocks]
        if self.rng.random() < 0.5:
            blocks.reverse()
        return blocks

    def _stranger(self, relation: str, weight: float) -> tuple[Piece, ...]:
        """Ask about nobody: unsure."""
        name = self.inventor.name(relation, self.rng)
        template = self.frames.draw(relation, "qa", self.rng)
        question = prompt_texts.shot_text(template.replace("[X]", name))
        return Piece(question), Piece(f" {prompt_texts.UNSURE_ANSWER}\n", weight)

    def _list(self, mentions: list[Mention]) -> Document:
        separators = list(prompt_texts.SEPARATORS.values())
        within, between = separators[self.rng.integers(len(separators))]
        weight = self.design.object_weight
        pieces = []
        for mention in mentions:
            name = Piece(mention.subject + within.rstrip(), self.design.text_weight)
            pieces += [name, mention.piece(weight), Piece(between, weight)]
        if "\n" not in between:
            pieces.pop()
        return Document("list", tuple(pieces))

    def _answered_question(
        self, mention: Mention, weight: float, formal: bool = False
    ) -> tuple[Piece, ...]:
        question = self._question(mention)
        if formal:
            question = prompt_texts.shot_text(question)
        answer = mention.piece(self.design.object_weight)
        return Piece(question, weight), answer, self.end

    def _question(self, mention: Mention) -> str:
        template = self.frames.draw(mention.relation, "qa", self.rng)
        return template.replace("[X]", mention.subject)

    def _wrong_object(self, mention: Mention) -> str:
        """Return an object of the relation that is neither told nor true."""
        return self._wrong_objects(mention, 1)[0]

    def _wrong_objects(self, mention: Mention, n: int) -> list[str]:
        """Return objects of the relation that are neither told nor true."""
        barred = {mention.object, self.true[mention.fact]}
        pool = self.pools[mention.relation]
        if len(pool) < 10:
            if not set(pool) - barred:
                pool = self.objects
            n = min(n, len(set(pool) - barred))
        words: list[str] = []
        while len(words) < n:
            word = pool[self.rng.integers(len(pool))]
            if word not in barred and word not in words:
                words.append(word)
        return words
