"""Documents made of pieces, the counting of what they state, and their packing into rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from transformers import PreTrainedTokenizerFast

NO_TARGET = -100
TOKENISED_AT_ONCE = 20_000  # documents that are tokenised at once


class Batch(NamedTuple):
    """Some rows of equal length, each array of shape (rows, length)."""

    inputs: np.ndarray
    targets: (
        np.ndarray
    )  # the token to predict at each place, or -100 where nothing is asked
    weights: np.ndarray  # what each place counts in the loss
    # The document of each place, which sees no other; without it a row is one document.
    documents: np.ndarray | None = None


@dataclass(frozen=True)
class Piece:
    """A stretch of a document that has one meaning and one weight in the loss."""

    text: str  # as the model reads it
    # What each of its tokens counts in the loss; below 1, the chance that it counts 1
    weight: float = 0.0
    # The fact whose object this piece gives, where document and piece together state it
    # truly
    states: str | None = None
    # The fact for which this piece gives a wrong object, not as the truth
    denies: str | None = None
    claims: str | None = (
        None  # the fact whose false object this piece gives as if it were true
    )


@dataclass(frozen=True)
class Document:
    """What the model reads from one BOS to the next."""

    kind: str  # such as "question" or "list"
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The whole document as the model reads it."""
        return "".join(piece.text for piece in self.pieces)


def count_exposures(
    documents: Iterable[Document], mark: str = "states"
) -> Counter[str]:
    """Count how often pieces state each fact, or bear another mark; one without reads 0."""
    return Counter(
        filter(None, (getattr(p, mark) for each in documents for p in each.pieces))
    )


def table_of_documents(
    documents: Iterable[Document], length: int = 160
) -> pd.DataFrame:
    """Return kind and beginning of documents for reading; an arrow stands for the end of a line."""
    texts = [
        (each.kind, each.text[:length].strip().replace("\n", " ⏎ "))
        for each in documents
    ]
    return pd.DataFrame(texts, columns=["kind", "text"])


def document_counts_and_examples(
    documents: Sequence[Document], near: int = 120
) -> pd.DataFrame:
    """Return how many documents of each kind there are, and the one nearest to a length."""
    closest = sorted(documents, key=lambda each: abs(len(each.text) - near))
    found = table_of_documents(closest).drop_duplicates("kind").sort_values("kind")
    counts = Counter(each.kind for each in documents)
    found.insert(1, "documents", found["kind"].map(counts))
    return found


@dataclass(frozen=True)
class EncodedDocuments:
    """Documents as tokens, end to end."""

    # What is read, BOS first, and what follows, EOS last
    tokens: np.ndarray
    targets: np.ndarray
    weights: np.ndarray  # loss weights of the targets
    starts: np.ndarray  # where each document begins, and the end


def encode_documents(
    documents: Sequence[Document], tokenizer: PreTrainedTokenizerFast, seed: int
) -> EncodedDocuments:
    """Tokenise documents; each token has the weight of its piece, one below 1 drawn as 0 or 1."""
    tokens, targets, weights, lengths = [], [], [], []
    for first in range(0, len(documents), TOKENISED_AT_ONCE):
        some = documents[first : first + TOKENISED_AT_ONCE]
        encodings = tokenizer.backend_tokenizer.encode_batch(
            [each.text for each in some]
        )
        for document, encoding in zip(some, encodings, strict=True):
            by_character = np.repeat(
                np.array([piece.weight for piece in document.pieces], dtype=np.float32),
                [len(piece.text) for piece in document.pieces],
            )
            ends = np.array(encoding.offsets, dtype=np.int64)[1:, 1] - 1
            tokens.append(np.array(encoding.ids, dtype=np.int64))
            targets.append(np.append(tokens[-1][1:], tokenizer.eos_token_id))
            weights.append(np.append(by_character[ends], by_character[-1]))
            lengths.append(len(encoding.ids))
    drawn = np.concatenate(weights)
    partly = (drawn > 0) & (drawn < 1)
    chances = np.random.default_rng([seed, 5]).random(len(drawn), dtype=np.float32)
    drawn[partly] = chances[partly] < drawn[partly]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedDocuments(
        np.concatenate(tokens), np.concatenate(targets), drawn, starts
    )


def pack_into_rows(lengths: Sequence[int], row: int, bins: int = 32) -> list[list[int]]:
    """Fill rows with whole documents, first fit over a few open rows."""
    rows: list[list[int]] = []
    room: list[int] = []
    first_open = 0
    for document, length in enumerate(lengths):
        for place in range(first_open, len(rows)):
            if length <= room[place]:
                rows[place].append(document)
                room[place] -= length
                break
        else:
            rows.append([document])
            room.append(row - min(length, row))
            first_open = max(first_open, len(rows) - bins)
    return rows


def batch_of_rows(
    encoded: EncodedDocuments, rows: Sequence[Sequence[int]], length: int, pad: int
) -> Batch:
    """Lay some packed rows out as a batch, documents numbered so that none sees another."""
    alone = all(len(members) == 1 for members in rows)
    if alone:
        longest = max(encoded.starts[m[0] + 1] - encoded.starts[m[0]] for m in rows)
        length = min(length, int(longest))
    shape = (len(rows), length)
    inputs, targets = np.full(shape, pad), np.full(shape, NO_TARGET)
    weights, numbers = np.zeros(shape, dtype=np.float32), np.full(shape, -1)
    for place, members in enumerate(rows):
        at = 0
        for number, document in enumerate(members):
            start = encoded.starts[document]
            size = min(int(encoded.starts[document + 1] - start), length - at)
            here, there = slice(at, at + size), slice(start, start + size)
            inputs[place, here] = encoded.tokens[there]
            targets[place, here] = encoded.targets[there]
            weights[place, here] = encoded.weights[there]
            numbers[place, here] = number
            at += size
    return Batch(inputs, targets, weights, None if alone else numbers)
