"""Train a toy of the family while the reader waits: the same code, fewer facts, a smaller model."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import torch
from transformers import LlamaForCausalLM

from helpers import prompts
from helpers.models import Local
from notebooks.atlas import architecture, exposure_plan, recipe, train, training_loop
from notebooks.atlas.corpus import Frames, render
from notebooks.atlas.documents import Document
from notebooks.atlas.evaluation import always_commonest, answer, by_exposure
from notebooks.atlas.invented_names import Inventor
from notebooks.atlas.training_loop import Stage, same_sums
from notebooks.atlas.training_text import Text, count, learn_tokenizer, steps_of


@dataclass(frozen=True)
class Lesson:
    """A toy that has been taught."""

    lm: Local
    exposures: pd.Series  # mentions counted in its text, indexed by `fact`
    documents: list[Document]
    stage: Stage  # steps, tokens, seconds and curve of the lesson


def start(seed: int, steps: int, **shape: object) -> tuple[LlamaForCausalLM, Stage]:
    """Build a toy and let it practise copying; `offsets=[]` sets no head by hand."""
    design = recipe.load("toy", seed, copying={"steps": steps}, shape=shape)
    llama = architecture.build(design.shape, seed)
    with tempfile.TemporaryDirectory() as folder, same_sums():
        stage = train.copy_stage(llama, design, Path(folder))
    return llama, stage


def teach(
    llama: LlamaForCausalLM, facts: pd.DataFrame, frames: pd.DataFrame, seed: int
) -> Lesson:
    """Write the text about some facts and let a toy, trained in place, read it once."""
    design = recipe.load("toy", seed)
    told = exposure_plan.assign(facts, design.plan, seed)
    drawn = Frames(frames, design.corpus.frame_weights)
    written = render(facts, told, drawn, design.corpus, Inventor(facts), seed)
    words = learn_tokenizer(facts, frames, design.shape.vocabulary)
    steps = steps_of(Text(written, [], told, words), design)
    stage = Stage("facts")
    with same_sums():
        training_loop.run(llama, stage, steps.batches, len(steps.rows), design.second)
    llama.set_attn_implementation("sdpa")
    lm = Local(
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


def curve(lesson: Lesson, facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask the toy, and return its accuracy by exposure and that of the commonest object."""
    said = answer(lesson.lm, prompts.questions(facts, frames, n_frames=1))
    guesses = always_commonest(said, facts).assign(condition="commonest object")
    found = by_exposure(
        pd.concat([said.assign(condition="toy"), guesses]), lesson.exposures
    )
    return found.rename(columns={"condition": "measure", "accuracy": "estimate"})
