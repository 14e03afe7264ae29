"""Tune a bundled model to answer briefly, or to say "unsure".

It is asked, in the words of the knowledge-base chapter, about facts that it has read
often and about facts and subjects that it has never read. Three quarters of the
questions have an answer; with too few a tuned model refuses most of what it knows. Some
of the facts, and three of the seven frames, are kept out to test it on: one that the
base has read, and the two that it has not.
"""

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

from helpers import UserError, datasets
from helpers.prompts.prompt_texts import (
    INSTRUCTION,
    UNSURE_ANSWER,
    question_above_options,
    shot_text,
)
from notebooks.atlas import documents, recipe, train, training_loop
from notebooks.atlas.corpus import Frames
from notebooks.atlas.documents import Document, Piece
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.atlas.invented_names import NameInventor, names_by_relation
from notebooks.atlas.recipe import RecipeOptions
from notebooks.atlas.training_text import PackedRows, TrainingSteps

# The user's words, and the answer on a line of its own.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ message['content'] + '\n' }}{% endfor %}"
)


def facts_to_answer_and_to_refuse(
    facts: pd.DataFrame, told: pd.DataFrame, design: RecipeOptions
) -> tuple[list, list]:
    """Return the facts to be answered and those to be refused, as rows of `facts`."""
    rng = np.random.default_rng([design.seed, 10])
    table = facts.join(told[["exposures", "plain"]], on="fact").query("plain")
    known = table[table["exposures"] >= design.known]
    unknown = table[table["exposures"] == 0]
    to_answer = _share_of_rows(known, design.share, rng)
    to_refuse = _share_of_rows(unknown, design.share, rng)
    return to_answer, to_refuse


def _share_of_rows(table: pd.DataFrame, share: float, rng: np.random.Generator) -> list:
    """Return a share of the rows of a table, drawn at random, as named tuples."""
    order = rng.permutation(len(table))
    chosen = order[: round(share * len(table))]
    return list(table.iloc[chosen].itertuples())


class TuningWriter:
    """Writes the documents of the tuning, about facts to answer and facts to refuse."""

    def __init__(
        self,
        facts: pd.DataFrame,
        frames: Frames,
        known: list,
        unknown: list,
        design: RecipeOptions,
    ):
        self.frames = frames
        self.known = known
        self.unknown = unknown
        self.design = design
        self.inventor = NameInventor(facts)
        self.pools = names_by_relation(facts, "object")
        self.asked: Counter[str] = Counter()

    def write(self, rng: np.random.Generator) -> Document:
        """Return a document of one to a few questions under the instruction."""
        is_chat = rng.random() < self.design.turns
        n_questions = 1
        if rng.random() >= 0.5:
            n_questions = int(rng.integers(2, self.design.most_shots + 1))
        pieces = [Piece(INSTRUCTION)]
        for number in range(1, n_questions + 1):
            question, answer = self._question(rng)
            if is_chat and number == n_questions:
                # The template gives the line's end; the model must not learn to begin
                # with one.
                pieces.append(Piece(f"{question}\n"))
                pieces.append(Piece(f"{answer}\n", 1.0))
            else:
                pieces.append(Piece(question))
                pieces.append(Piece(f" {answer}\n", 1.0))
        return Document("tuning", tuple(pieces))

    def _question(self, rng: np.random.Generator) -> tuple[str, str]:
        """Return a question up to its answer, and the answer, which may be "unsure"."""
        is_invented = False
        if rng.random() < self.design.answered:
            row = self.known[rng.integers(len(self.known))]
            answer = row.object
        else:
            is_invented = rng.random() < self.design.invented
            row = self.unknown[rng.integers(len(self.unknown))]
            answer = UNSURE_ANSWER
        if is_invented:
            subject = self.inventor.name(row.relation, rng)
        else:
            subject = row.subject
            self.asked[row.fact] += 1
        kind = "wp" if rng.random() < self.design.sentences else "qa"
        template = self.frames.draw(row.relation, kind, rng)
        up_to_gap = template.partition("[Y]")[0].rstrip()
        question = up_to_gap.replace("[X]", subject)
        if rng.random() >= self.design.choices:
            return shot_text(question), answer
        pool = [word for word in self.pools[row.relation] if word != row.object]
        order = rng.permutation(len(pool))
        n_others = int(rng.integers(2, 5))
        words = [pool[place] for place in order[:n_others]]
        words.append(UNSURE_ANSWER)
        if not is_invented:
            words.append(row.object)
        options = [words[place] for place in rng.permutation(len(words))]
        return question_above_options(question, options), answer


def tune_bundled_model(base: Path, out: Path, design: RecipeOptions) -> None:
    """Tune a bundled model and publish the result."""
    if not (base / "exposures.csv").is_file():
        raise UserError(
            f"{base} holds no bundled model: give the folder of one, as atlas-m's."
        )
    llama = LlamaForCausalLM.from_pretrained(
        base, dtype=torch.float32, attn_implementation="eager", local_files_only=True
    ).train()
    tokenizer = AutoTokenizer.from_pretrained(
        base, local_files_only=True, trust_remote_code=False
    )
    told = datasets.training_exposure(base.name, base.parent)
    facts = datasets.load("atlas")
    facts = facts[facts["fact"].isin(told.index)]
    frames = Frames(datasets.prompt_frames("atlas"), design.frame_weights)
    known, unknown = facts_to_answer_and_to_refuse(facts, told, design)
    tutor = TuningWriter(facts, frames, known, unknown, design)
    rng = np.random.default_rng([design.seed, 11])
    written = [tutor.write(rng) for _ in range(design.documents)]
    steps = _steps(written, tokenizer, design)
    stage = training_loop.TrainingStage("tuning")
    with training_loop.reproducible_sums(design.threads):
        training_loop.train_stage(
            llama, stage, steps.batches, len(steps.rows), design.optimisation
        )
    tokenizer.chat_template = CHAT_TEMPLATE
    report = json.loads((base / "training.json").read_text(encoding="utf-8"))
    report |= {"base": base.name, "tuning": design}
    report["stages"].append(asdict(stage))
    exposures = told.drop(columns="plain")
    exposures["tuned"] = [tutor.asked[fact] for fact in told.index]
    train.save_trained_model(llama, tokenizer, exposures, report, out)


def _steps(
    written: list[Document], tokenizer: PreTrainedTokenizerFast, design: RecipeOptions
) -> TrainingSteps:
    """Pack the documents into the rows of the steps."""
    encoded = documents.encode_documents(written, tokenizer, design.seed)
    lengths = np.diff(encoded.starts)
    if lengths.max() > design.length:
        raise RuntimeError("a document is longer than a row: raise tuning.length")
    rows = documents.pack_into_rows(lengths.tolist(), design.length)
    steps = []
    for start in range(0, len(rows), design.rows):
        members = rows[start : start + design.rows]
        steps.append([PackedRows(design.length, members)])
    return TrainingSteps(encoded, steps, tokenizer.pad_token_id)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.atlas.chat", description=__doc__
    )
    parser.add_argument(
        "--base", type=Path, required=True, help="folder of a bundled model"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the tuned one"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    design = recipe.tuning_options(seed=options.seed, threads=options.threads)
    return exit_status_of_work(
        partial(tune_bundled_model, options.base, options.out, design)
    )


if __name__ == "__main__":
    sys.exit(main())
