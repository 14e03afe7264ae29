"""The text of stage 2: what it states and how often, its tokenizer, and its rows."""

from dataclasses import dataclass
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
        some = self.rows[step]
        return [
            documents.batch_of_rows(self.encoded, r.members, r.length, self.pad)
            for r in some
        ]


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
    inventor, drawn = NameInventor(facts), Frames(frames, recipe.corpus.frame_weights)
    about_facts = render_documents(
        facts, wanted, drawn, recipe.corpus, inventor, recipe.seed
    )
    exposures = plan_with_counted_mentions(about_facts, wanted)
    if not exposures.equals(wanted):
        raise RuntimeError(
            "the documents do not state the facts as often as they should"
        )
    words = learn_tokenizer(facts, frames, recipe.shape.vocabulary)
    to_read = _practice(
        recipe, facts, drawn, inventor, sum(len(d.text) for d in about_facts)
    )
    return TrainingText(about_facts, to_read, exposures, words)


def plan_with_counted_mentions(
    about_facts: list[Document], wanted: pd.DataFrame
) -> pd.DataFrame:
    """Return the plan with the numbers of mentions as they are in the documents."""
    marks = {"exposures": "states", "false_exposures": "claims"}
    counts = {
        name: documents.count_exposures(about_facts, marks[name]) for name in marks
    }
    return wanted.assign(
        **{n: [told[fact] for fact in wanted.index] for n, told in counts.items()}
    )


def learn_tokenizer(
    facts: pd.DataFrame, frames: pd.DataFrame, vocabulary: int
) -> PreTrainedTokenizerFast:
    """Learn the tokenizer from each fact once and each template once."""
    blank = frames["template"].str.replace("[X]", "").str.replace("[Y]", "")
    wordings = [
        text.replace("[X]", "").replace("[Y]", "")
        for pair in EVERYDAY_WORDINGS
        for text in pair
    ]
    formal = [
        INSTRUCTION,
        question_above_options("", [UNSURE_ANSWER]),
        UNSURE_ANSWER,
        "True",
        "False",
    ] * 20
    texts = [*facts["subject"], *facts["object"], *blank, *wordings, *formal]
    return tokenizer.learn_byte_level_tokenizer(texts, vocabulary)


def _practice(
    recipe: RecipeOptions,
    facts: pd.DataFrame,
    frames: Frames,
    inventor: NameInventor,
    characters: int,
) -> list[Document]:
    rng = np.random.default_rng([recipe.seed, 3])
    words = sorted(
        {
            word
            for text, _ in EVERYDAY_WORDINGS
            for word in text.split()
            if "[" not in word
        }
    )
    words += [invented_name(rng).lower().split()[0] for _ in range(400)] + sorted(
        set(facts["object"])
    )
    reader = ReadingWriter(facts, frames, recipe.reading, inventor, words)
    wanted = characters * recipe.context_share / (1 - recipe.context_share)
    found, written = [], 0
    while written < wanted:
        found.append(reader.write(rng))
        written += len(found[-1].text)
    return found


def training_steps_of(text: TrainingText, recipe: RecipeOptions) -> TrainingSteps:
    """Tokenise the text, mix its halves, pack them into rows and deal the rows out to steps."""
    everything = text.about_facts + text.to_read
    encoded = documents.encode_documents(everything, text.tokenizer, recipe.seed)
    lengths = np.diff(encoded.starts)
    limits = (recipe.length, *recipe.longer)
    if lengths[: len(text.about_facts)].max() > limits[-1]:
        raise RuntimeError("a document about facts is longer than the longest row")
    order = np.random.default_rng([recipe.start, 4]).permutation(len(everything))
    packed, least = [], 0
    for limit in limits:
        some = order[(lengths[order] > least) & (lengths[order] <= limit)]
        rows = documents.pack_into_rows(lengths[some].tolist(), limit)
        packed.append([[int(some[place]) for place in row] for row in rows])
        least = limit
    starts = range(0, len(packed[0]), recipe.rows)
    steps = [
        [PackedRows(recipe.length, packed[0][at : at + recipe.rows])] for at in starts
    ]
    for limit, rows in zip(recipe.longer, packed[1:], strict=True):
        for place, row in enumerate(rows):
            steps[place * len(steps) // len(rows)].append(PackedRows(limit, [row]))
    return TrainingSteps(encoded, steps, text.tokenizer.pad_token_id)
