"""The text of stage 2: what it states and how often, its tokenizer, and its rows."""

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from transformers import PreTrainedTokenizerFast

from helpers.prompts.prompt_texts import (
    INSTRUCTION,
    UNSURE_ANSWER,
    question_above_options,
)
from notebooks.atlas import documents, exposure_plan, tokenizer
from notebooks.atlas.corpus import Frames, render_documents
from notebooks.atlas.documents import Document
from notebooks.atlas.invented_names import NameInventor, invented_name
from notebooks.atlas.reading_documents import EVERYDAY_WORDINGS, ReadingWriter
from notebooks.atlas.recipe import RecipeOptions


class PackedRows(NamedTuple):
    """Some rows of one length: tokens of a row, and the documents of each."""

    length: int
    members: list[list[int]]


class TrainingSteps(NamedTuple):
    """The text as tokens, and the rows that each step reads."""

    encoded: documents.EncodedDocuments
    rows: list[list[PackedRows]]
    pad: int

    def batches(self, step: int, _memory: dict) -> list[documents.Batch]:
        """Return what a step reads."""
        batches = []
        for rows in self.rows[step]:
            batch = documents.batch_of_rows(
                self.encoded, rows.members, rows.length, self.pad
            )
            batches.append(batch)
        return batches


@dataclass(frozen=True)
class TrainingText:
    """What stage 2 reads."""

    about_facts: list[Document]
    to_read: list[Document]
    # Mentions counted in `about_facts`, indexed by `fact`; columns as of
    # `exposure_plan.assign_exposures`
    exposures: pd.DataFrame
    tokenizer: PreTrainedTokenizerFast  # learnt from the facts' names


def write_training_text(
    recipe: RecipeOptions, facts: pd.DataFrame, frames: pd.DataFrame
) -> TrainingText:
    """Write the text of stage 2 and count what it states."""
    wanted = exposure_plan.assign_exposures(facts, recipe.plan, recipe.seed)
    inventor = NameInventor(facts)
    weighted_frames = Frames(frames, recipe.corpus.frame_weights)
    about_facts = render_documents(
        facts,
        wanted,
        weighted_frames,
        recipe.corpus,
        inventor,
        recipe.seed,
        stated_only=recipe.stated_only,
    )
    exposures = plan_with_counted_mentions(about_facts, wanted)
    if not exposures.equals(wanted):
        raise RuntimeError(
            "the documents do not state the facts as often as they should"
        )
    learnt_tokenizer = learn_tokenizer(facts, frames, recipe.shape.vocabulary)
    characters = sum(len(document.text) for document in about_facts)
    to_read = _documents_to_read(recipe, facts, weighted_frames, inventor, characters)
    return TrainingText(about_facts, to_read, exposures, learnt_tokenizer)


def plan_with_counted_mentions(
    about_facts: list[Document], wanted: pd.DataFrame
) -> pd.DataFrame:
    """Return the plan with the numbers of mentions as they are in the documents."""
    stated = documents.count_exposures(about_facts, "states")
    claimed = documents.count_exposures(about_facts, "claims")
    return wanted.assign(
        exposures=[stated[fact] for fact in wanted.index],
        false_exposures=[claimed[fact] for fact in wanted.index],
    )


def learn_tokenizer(
    facts: pd.DataFrame, frames: pd.DataFrame, vocabulary: int
) -> PreTrainedTokenizerFast:
    """Learn the tokenizer from each fact once and each template once."""
    blank = frames["template"].str.replace("[X]", "").str.replace("[Y]", "")
    wordings = pd.Series(list(chain.from_iterable(EVERYDAY_WORDINGS)))
    wordings = wordings.str.replace("[X]", "").str.replace("[Y]", "")
    options = question_above_options("", [UNSURE_ANSWER])
    formal = [INSTRUCTION, options, UNSURE_ANSWER, "True", "False"] * 20
    texts = [*facts["subject"], *facts["object"], *blank, *wordings, *formal]
    return tokenizer.learn_byte_level_tokenizer(texts, vocabulary)


def _documents_to_read(
    recipe: RecipeOptions,
    facts: pd.DataFrame,
    frames: Frames,
    inventor: NameInventor,
    characters: int,
) -> list[Document]:
    """Write documents about invented subjects, in proportion to those about facts."""
    rng = np.random.default_rng([recipe.seed, 3])
    words = _words_for_repeating(facts, rng)
    reader = ReadingWriter(facts, frames, recipe.reading, inventor, words)
    wanted = characters * recipe.context_share / (1 - recipe.context_share)
    to_read = []
    written = 0
    while written < wanted:
        document = reader.write(rng)
        to_read.append(document)
        written += len(document.text)
    return to_read


def _words_for_repeating(facts: pd.DataFrame, rng: np.random.Generator) -> list[str]:
    """Return words of the everyday statements, invented words, and all objects."""
    everyday: set[str] = set()
    for statement, _ in EVERYDAY_WORDINGS:
        everyday.update(word for word in statement.split() if "[" not in word)
    words = sorted(everyday)
    for _ in range(400):
        name = invented_name(rng).lower()
        words.append(name.split()[0])
    words.extend(sorted(set(facts["object"])))
    return words


def training_steps_of(text: TrainingText, recipe: RecipeOptions) -> TrainingSteps:
    """Tokenise the text, mix its halves, and pack them into the rows of the steps."""
    everything = text.about_facts + text.to_read
    encoded = documents.encode_documents(everything, text.tokenizer, recipe.seed)
    lengths = np.diff(encoded.starts)
    limits = (recipe.length, *recipe.longer)
    if lengths[: len(text.about_facts)].max() > limits[-1]:
        raise RuntimeError("a document about facts is longer than the longest row")
    order = np.random.default_rng([recipe.start, 4]).permutation(len(everything))
    rows_by_limit = []
    least = 0
    for limit in limits:
        fitting = order[(lengths[order] > least) & (lengths[order] <= limit)]
        packed = documents.pack_into_rows(lengths[fitting].tolist(), limit)
        rows_by_limit.append([fitting[members].tolist() for members in packed])
        least = limit
    short_rows, *longer_rows = rows_by_limit
    steps = []
    for start in range(0, len(short_rows), recipe.rows):
        members = short_rows[start : start + recipe.rows]
        steps.append([PackedRows(recipe.length, members)])
    for limit, rows in zip(recipe.longer, longer_rows, strict=True):
        for rank, row in enumerate(rows):
            step = rank * len(steps) // len(rows)
            steps[step].append(PackedRows(limit, [row]))
    return TrainingSteps(encoded, steps, text.tokenizer.pad_token_id)
