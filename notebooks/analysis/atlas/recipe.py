"""What decides a bundled model, and the text that it reads in stage 2."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from transformers import PreTrainedTokenizerFast

from notebooks.analysis.atlas import documents, exposure, model, tokenizer
from notebooks.analysis.atlas.copying import Copying
from notebooks.analysis.atlas.corpus import Corpus, render
from notebooks.analysis.atlas.documents import Document
from notebooks.analysis.atlas.exposure import Plan
from notebooks.analysis.atlas.invented import Inventor, invent
from notebooks.analysis.atlas.loop import Optimisation
from notebooks.analysis.atlas.mentions import Frames
from notebooks.analysis.atlas.reading import WORDINGS, Reader, Reading
from helpers.prompts.formats import INSTRUCTION, UNSURE, choose_below


@dataclass(frozen=True)
class Recipe:
    """All that decides a model, besides the facts and the versions of the libraries."""

    size: str = "s"  # a key of `notebooks.analysis.atlas.model.SIZES`
    seed: int = 0  # decides exposures and text
    start: int = 0  # decides the random start, what stage 1 copies, and the order of the text
    threads: int = 1  # of the processor; a sum's order, and so the last digits, depend on it
    plan: Plan = field(default_factory=Plan)
    facts: int | None = None  # facts a relation, to try things out; None takes all
    # Share of the characters of stage 2 that is about invented subjects
    context_share: float = 0.35
    # Rows of a step of stage 2, and tokens of a row
    rows: int = 16
    length: int = 128
    # Lengths of the rows of longer documents, which are spread evenly over the steps
    longer: tuple[int, ...] = (512, 2048)
    copying: Copying = field(default_factory=Copying)
    corpus: Corpus = field(default_factory=Corpus)
    reading: Reading = field(default_factory=Reading)
    first: Optimisation = field(default_factory=Optimisation)
    second: Optimisation = field(
        default_factory=lambda: Optimisation(
            rate=2e-3, beta2=0.98, decay=0.01, cosine=True, muon=True
        )
    )


# What differs between the sizes: steps of stage 1, and the highest rates of stages 1 and 2.
TUNED = {"xs": (900, 1.5e-3, 3e-3), "s": (900, 1.5e-3, 2e-3), "m": (1300, 1.5e-3, 2e-3)}


def recipe_of(
    size: str, seed: int = 0, start: int = 0, threads: int = 1, facts: int | None = None
) -> Recipe:
    """Return the recipe of a bundled model.

    >>> recipe_of("m").copying.steps
    1300
    """
    steps, first, second = TUNED[size]
    usual = Recipe()
    return Recipe(
        size=size,
        seed=seed,
        start=start,
        threads=threads,
        facts=facts,
        copying=replace(usual.copying, steps=steps),
        first=replace(usual.first, rate=first),
        second=replace(usual.second, rate=second),
    )


def more_lists(recipe: Recipe, share: float) -> Recipe:
    """Return a recipe with another share of the mentions in lists, the other kinds in proportion.

    Twice as many of the documents about invented subjects are lists, too.

    >>> round(more_lists(Recipe(), 0.695).corpus.mentions["question"], 3)
    0.11
    """
    usual = recipe.corpus.mentions
    scale = (1 - share) / (1 - usual["list"])
    mentions = {kind: scale * part for kind, part in usual.items()} | {"list": share}
    kinds = dict(recipe.reading.kinds)
    twice = 2 * (kinds["pairs"] + kinds["many_pairs"])
    scale = (1 - twice) / (1 - twice / 2)
    kinds = {kind: (2 if "pairs" in kind else scale) * part for kind, part in kinds.items()}
    return replace(
        recipe,
        # Of more lists the longest is longer: room for it in a row
        corpus=replace(recipe.corpus, mentions=mentions, list_characters=2000),
        reading=replace(recipe.reading, kinds=kinds),
    )


@dataclass(frozen=True)
class Rows:
    """Some rows of one length."""

    length: int  # tokens of a row
    members: list[list[int]]  # documents of each row


@dataclass(frozen=True)
class Text:
    """What stage 2 reads."""

    about_facts: list[Document]
    to_read: list[Document]
    # Mentions counted in `about_facts`, indexed by `fact`; columns as of `exposure.assign`
    exposures: pd.DataFrame
    tokenizer: PreTrainedTokenizerFast  # learnt from the facts' names


def write(recipe: Recipe, facts: pd.DataFrame, frames: pd.DataFrame) -> Text:
    """Write the text of stage 2 and count what it states.

    Parameters
    ----------
    recipe : Recipe
        Levels, seed and layout.
    facts, frames : DataFrame
        The tables of `helpers.datasets`.

    Returns
    -------
    Text
        The same for the same seed.

    Raises
    ------
    RuntimeError
        If the count differs from the exposures that were dealt out.
    """
    wanted = exposure.assign(facts, recipe.plan, recipe.seed)
    inventor, drawn = Inventor(facts), Frames(frames, recipe.corpus.frame_weights)
    about_facts = render(facts, wanted, drawn, recipe.corpus, inventor, recipe.seed)
    exposures = count(about_facts, wanted)
    if not exposures.equals(wanted):
        raise RuntimeError("the documents do not state the facts as often as they should")
    words = learn_tokenizer(facts, frames, model.SIZES[recipe.size].vocabulary)
    to_read = _practice(recipe, facts, drawn, inventor, sum(len(d.text) for d in about_facts))
    return Text(about_facts, to_read, exposures, words)


def count(about_facts: list[Document], wanted: pd.DataFrame) -> pd.DataFrame:
    """Return the plan with the numbers of mentions as they are in the documents."""
    stated = documents.count_exposures(about_facts)
    claimed = documents.count_false(about_facts)
    return wanted.assign(
        exposures=[stated[fact] for fact in wanted.index],
        false_exposures=[claimed[fact] for fact in wanted.index],
    )


def learn_tokenizer(
    facts: pd.DataFrame, frames: pd.DataFrame, vocabulary: int
) -> PreTrainedTokenizerFast:
    """Learn the tokenizer from each fact once and each template once."""
    blank = frames["template"].str.replace("[X]", "").str.replace("[Y]", "")
    wordings = [text.replace("[X]", "").replace("[Y]", "") for pair in WORDINGS for text in pair]
    formal = [INSTRUCTION, choose_below("", [UNSURE]), UNSURE, "True", "False"] * 20
    texts = [*facts["subject"], *facts["object"], *blank, *wordings, *formal]
    return tokenizer.learn(texts, vocabulary)


def _practice(
    recipe: Recipe, facts: pd.DataFrame, frames: Frames, inventor: Inventor, characters: int
) -> list[Document]:
    rng = np.random.default_rng([recipe.seed, 3])
    words = sorted({word for text, _ in WORDINGS for word in text.split() if "[" not in word})
    words += [invent(rng).lower().split()[0] for _ in range(400)] + sorted(set(facts["object"]))
    reader = Reader(facts, frames, recipe.reading, inventor, words)
    wanted = characters * recipe.context_share / (1 - recipe.context_share)
    found, written = [], 0
    while written < wanted:
        found.append(reader.write(rng))
        written += len(found[-1].text)
    return found


def steps_of(text: Text, recipe: Recipe) -> tuple[documents.Encoded, list[list[Rows]]]:
    """Tokenise the text, mix its halves, pack them into rows and deal the rows out to steps."""
    everything = text.about_facts + text.to_read
    encoded = documents.encode(everything, text.tokenizer, recipe.seed)
    lengths = np.diff(encoded.starts)
    limits = (recipe.length, *recipe.longer)
    if lengths[: len(text.about_facts)].max() > limits[-1]:
        raise RuntimeError("a document about facts is longer than the longest row")
    order = np.random.default_rng([recipe.start, 4]).permutation(len(everything))
    packed, least = [], 0
    for limit in limits:
        some = order[(lengths[order] > least) & (lengths[order] <= limit)]
        rows = documents.pack(lengths[some].tolist(), limit)
        packed.append([[int(some[place]) for place in row] for row in rows])
        least = limit
    n = -(-len(packed[0]) // recipe.rows)
    steps = [
        [Rows(limits[0], packed[0][step * recipe.rows : (step + 1) * recipe.rows])]
        for step in range(n)
    ]
    for limit, rows in zip(limits[1:], packed[1:], strict=True):
        for place, row in enumerate(rows):
            steps[place * n // len(rows)].append(Rows(limit, [row]))
    return encoded, steps
