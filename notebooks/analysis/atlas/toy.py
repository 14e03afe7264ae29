"""Train a toy of the family while the reader waits: the same code, fewer facts, a smaller model."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from helpers import UserError
from notebooks.analysis.atlas import documents, exposure, loop, model, train
from notebooks.analysis.atlas.copying import Copying
from notebooks.analysis.atlas.corpus import Corpus, render
from notebooks.analysis.atlas.documents import Document
from notebooks.analysis.atlas.exposure import Plan
from notebooks.analysis.atlas.invented import Inventor
from notebooks.analysis.atlas.loop import Optimisation, Stage, same_sums
from notebooks.analysis.atlas.mentions import Frames
from notebooks.analysis.atlas.recipe import Recipe, Text, count, learn_tokenizer, steps_of
from helpers.models import LanguageModel

LEAST_STEPS = 50  # each so many steps give a point of the curve
SIZE = model.Size(hidden=96, layers=2, heads=2, inner=192, vocabulary=1024)
RECIPE = Recipe(
    plan=Plan(levels=(0, 1, 2, 4, 8, 16, 32, 64), false_share=0.0),
    rows=2,
    longer=(),
    copying=Copying(steps=300),
    corpus=Corpus(
        mentions={"question": 0.5, "statement": 0.2, "list": 0.3},
        lists={10: 1.0},
        list_characters=250,
        formal=0.0,
    ),
    first=Optimisation(rate=2e-3),
    second=Optimisation(rate=3e-3, beta2=0.98, decay=0.01, cosine=True),
)


@dataclass(frozen=True)
class Lesson:
    """A toy that has been taught."""

    lm: LanguageModel
    exposures: pd.Series  # mentions counted in its text, indexed by `fact`
    documents: list[Document]
    stage: Stage  # steps, tokens, seconds and curve of the lesson


def check(steps: int) -> int:
    """Return the steps of the copying stage if they give a curve to be drawn.

    Raises
    ------
    UserError
        If they are too few.

    Examples
    --------
    >>> check(300)
    300
    """
    if steps < LEAST_STEPS:
        raise UserError(f"copying_steps is {steps}: the toy needs at least {LEAST_STEPS} of them.")
    return steps


def start(seed: int, steps: int, offsets: Sequence[int] = SIZE.offsets) -> tuple:
    """Build a toy and let it practise copying.

    Parameters
    ----------
    seed : int
        Of the random start and of the rows.
    steps : int
        Of stage 1.
    offsets : sequence of int
        One head set by hand for each, looking so many tokens back; none leaves all to chance.

    Returns
    -------
    llama : LlamaForCausalLM
    stage : Stage
        With the curve.
    """
    recipe = replace(RECIPE, seed=seed, copying=replace(RECIPE.copying, steps=steps))
    llama = model.build(replace(SIZE, offsets=tuple(offsets)), seed)
    with tempfile.TemporaryDirectory() as folder, same_sums():
        stage = train.copy_stage(llama, recipe, Path(folder))
    return llama, stage


def teach(llama, facts: pd.DataFrame, frames: pd.DataFrame, seed: int) -> Lesson:
    """Write the text about some facts and let a toy read it once.

    Parameters
    ----------
    llama : LlamaForCausalLM
        As `start` gives it; trained in place.
    facts, frames : DataFrame
        The tables of `helpers.datasets`.
    seed : int
        Deals out the exposures and decides the text.

    Returns
    -------
    Lesson
    """
    recipe = replace(RECIPE, seed=seed)
    told = exposure.assign(facts, recipe.plan, seed)
    drawn = Frames(frames, recipe.corpus.frame_weights)
    written = render(facts, told, drawn, recipe.corpus, Inventor(facts), seed)
    words = learn_tokenizer(facts, frames, SIZE.vocabulary)
    encoded, steps = steps_of(Text(written, [], told, words), recipe)

    def batches_at(step: int, _memory: dict) -> list:
        pad = words.pad_token_id
        return [documents.batch(encoded, r.members, r.length, pad) for r in steps[step]]

    stage = Stage("facts")
    with same_sums():
        loop.run(llama, stage, batches_at, len(steps), recipe.second)
    llama.set_attn_implementation("sdpa")
    lm = LanguageModel(
        name="toy",
        slug="toy",
        model=llama.eval(),
        tokenizer=words,
        kind="causal",
        device=torch.device("cpu"),
        dtype=torch.float32,
        max_length=llama.config.max_position_embeddings,
        weights_sha="",
        revision=None,
        n_parameters=sum(weights.numel() for weights in llama.parameters()),
    )
    return Lesson(lm, count(written, told)["exposures"], written, stage)


def glance(llama, heads: Sequence[int], farthest: int = 6, seed: int = 0) -> pd.DataFrame:
    """Return how far back heads of the first block look, on random tokens.

    Parameters
    ----------
    llama : LlamaForCausalLM
        Any model of the family.
    heads : sequence of int
        Heads of the first block.
    farthest : int
        Greatest distance shown.
    seed : int
        Of the tokens.

    Returns
    -------
    DataFrame
        `head, distance, attention`: the mean share of a head's attention that goes so many tokens
        back, between 0 and 1.
    """
    tokens = np.random.default_rng(seed).integers(3, llama.config.vocab_size, (8, 64))
    before = llama.config._attn_implementation
    llama.set_attn_implementation("eager")  # the only one that gives its attention out
    with torch.no_grad():
        first = llama(torch.from_numpy(tokens), output_attentions=True).attentions[0]
    llama.set_attn_implementation(before)
    rows = [
        (head, distance, float(first[:, head].diagonal(-distance, dim1=1, dim2=2)[:, 8:].mean()))
        for head in heads
        for distance in range(farthest + 1)
    ]
    return pd.DataFrame(rows, columns=["head", "distance", "attention"])
