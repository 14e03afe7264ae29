"""Train a toy of the family while the reader waits: the same code, fewer facts."""

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
    wanted = exposure_plan.assign_exposures(facts, design.plan, seed)
    weighted_frames = Frames(frames, design.corpus.frame_weights)
    documents = render_documents(
        facts, wanted, weighted_frames, design.corpus, NameInventor(facts), seed
    )
    tokenizer = learn_tokenizer(facts, frames, design.shape.vocabulary)
    text = TrainingText(documents, [], wanted, tokenizer)
    steps = training_steps_of(text, design)
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
        tokenizer=tokenizer,
        kind="causal",
        device=torch.device("cpu"),
        dtype=torch.float32,
        max_length=llama.config.max_position_embeddings,
        weights_sha="",
        revision=None,
        n_parameters=sum(weights.numel() for weights in llama.parameters()),
    )
    exposures = plan_with_counted_mentions(documents, wanted)["exposures"]
    return TaughtToy(lm, exposures, documents, stage)


def toy_accuracy_by_exposure(
    lesson: TaughtToy, facts: pd.DataFrame, frames: pd.DataFrame
) -> pd.DataFrame:
    """Return the accuracy of the toy, and of the commonest object, by exposure."""
    probes = prompts.question_probes(facts, frames, n_frames=1)
    answers = marked_answers(lesson.lm, probes)
    guesses = marks_of_commonest_object(answers, facts)
    marked = pd.concat(
        [
            answers.assign(condition="toy"),
            guesses.assign(condition="commonest object"),
        ]
    )
    accuracy = accuracy_by_exposure(marked, lesson.exposures)
    return accuracy.rename(columns={"condition": "measure", "accuracy": "estimate"})
