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
from notebooks.atlas.corpus import Frames, render_documents
from notebooks.atlas.documents import Document
from notebooks.atlas.evaluation import (
    accuracy_by_exposure,
    marked_answers,
    marks_of_commonest_object,
)
from notebooks.atlas.invented_names import NameInventor
from notebooks.atlas.training_loop import TrainingStage, reproducible_sums
from notebooks.atlas.training_text import (
    TrainingText,
    learn_tokenizer,
    plan_with_counted_mentions,
    training_steps_of,
)


@dataclass(frozen=True)
class TaughtToy:
    """A toy that has been taught."""

    lm: Local
    exposures: pd.Series  # mentions counted in its text, indexed by `fact`
    documents: list[Document]
    stage: TrainingStage  # steps, tokens, seconds and curve of the lesson


def build_toy_that_copies(
    seed: int, steps: int, **shape: object
) -> tuple[LlamaForCausalLM, TrainingStage]:
    """Build a toy and let it practise copying; `offsets=[]` sets no head by hand."""
    design = recipe.load_recipe("toy", seed, copying={"steps": steps}, shape=shape)
    llama = architecture.build_model(design.shape, seed)
    with tempfile.TemporaryDirectory() as folder, reproducible_sums():
        stage = train.run_copying_stage(llama, design, Path(folder))
    return llama, stage


def teach_toy(
    llama: LlamaForCausalLM, facts: pd.DataFrame, frames: pd.DataFrame, seed: int
) -> TaughtToy:
    """Write the text about some facts and let a toy, trained in place, read it once."""
    design = recipe.load_recipe("toy", seed)
    told = exposure_plan.assign_exposures(facts, design.plan, seed)
    drawn = Frames(frames, design.corpus.frame_weights)
    written = render_documents(
        facts, told, drawn, design.corpus, NameInventor(facts), seed
    )
    words = learn_tokenizer(facts, frames, design.shape.vocabulary)
    steps = training_steps_of(TrainingText(written, [], told, words), design)
    stage = TrainingStage("facts")
    with reproducible_sums():
        training_loop.train_stage(
            llama, stage, steps.batches, len(steps.rows), design.second
        )
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
    return TaughtToy(
        lm, plan_with_counted_mentions(written, told)["exposures"], written, stage
    )


def toy_accuracy_by_exposure(
    lesson: TaughtToy, facts: pd.DataFrame, frames: pd.DataFrame
) -> pd.DataFrame:
    """Ask the toy, and return its accuracy by exposure and that of the commonest object."""
    said = marked_answers(lesson.lm, prompts.question_probes(facts, frames, n_frames=1))
    guesses = marks_of_commonest_object(said, facts).assign(
        condition="commonest object"
    )
    found = accuracy_by_exposure(
        pd.concat([said.assign(condition="toy"), guesses]), lesson.exposures
    )
    return found.rename(columns={"condition": "measure", "accuracy": "estimate"})
