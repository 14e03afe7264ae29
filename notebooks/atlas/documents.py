"""Documents made of pieces: counting what they state, and packing them into rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from tokenizers import Encoding
from transformers import PreTrainedTokenizerFast

NO_TARGET = -100
TOKENISED_AT_ONCE = 20_000  # documents that are tokenised at once


class Batch(NamedTuple):
    """Some rows of equal length, each array of shape (rows, length)."""

    inputs: np.ndarray
    # The token to predict at each place, or -100 where nothing is asked
    targets: np.ndarray
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
    # The fact whose false object this piece gives as if it were true
    claims: str | None = None


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
    """Count how often pieces state each fact, or bear another mark."""
    counts: Counter[str] = Counter()
    for document in documents:
        for piece in document.pieces:
            fact = getattr(piece, mark)
            if fact:
                counts[fact] += 1
    return counts


def table_of_documents(
    documents: Iterable[Document], length: int = 160
) -> pd.DataFrame:
    """Return kind and beginning of documents; an arrow stands for the end of a line."""
    rows = []
    for document in documents:
        beginning = document.text[:length].strip()
        rows.append((document.kind, beginning.replace("\n", " ⏎ ")))
    return pd.DataFrame(rows, columns=["kind", "text"])


def document_counts_and_examples(
    documents: Sequence[Document], near: int = 120
) -> pd.DataFrame:
    """Return the number of documents of each kind, and the one nearest to a length."""

    def distance(document: Document) -> int:
        return abs(len(document.text) - near)

    closest = sorted(documents, key=distance)
    examples = table_of_documents(closest).drop_duplicates("kind").sort_values("kind")
    counts = Counter(document.kind for document in documents)
    examples.insert(1, "documents", examples["kind"].map(counts))
    return examples


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
    """Tokenise documents; a token has its piece's weight, below 1 drawn as 0 or 1."""
    tokens, targets, weights, lengths = [], [], [], []
    for first in range(0, len(documents), TOKENISED_AT_ONCE):
        portion = documents[first : first + TOKENISED_AT_ONCE]
        texts = [document.text for document in portion]
        encodings = tokenizer.backend_tokenizer.encode_batch(texts)
        for document, encoding in zip(portion, encodings, strict=True):
            ids = np.array(encoding.ids, dtype=np.int64)
            tokens.append(ids)
            targets.append(np.append(ids[1:], tokenizer.eos_token_id))
            weights.append(_weights_of_targets(document, encoding))
            lengths.append(len(ids))
    drawn = np.concatenate(weights)
    partly = (drawn > 0) & (drawn < 1)
    chances = np.random.default_rng([seed, 5]).random(len(drawn), dtype=np.float32)
    drawn[partly] = chances[partly] < drawn[partly]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedDocuments(
        np.concatenate(tokens), np.concatenate(targets), drawn, starts
    )


def _weights_of_targets(document: Document, encoding: Encoding) -> np.ndarray:
    """Return the weight of the piece in which each target ends, EOS with the last."""
    weights = np.array([piece.weight for piece in document.pieces], dtype=np.float32)
    sizes = [len(piece.text) for piece in document.pieces]
    by_character = np.repeat(weights, sizes)
    last_characters = np.array(encoding.offsets, dtype=np.int64)[1:, 1] - 1
    return np.append(by_character[last_characters], by_character[-1])


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
    """Lay packed rows out as a batch, documents numbered so that none sees another."""
    alone = all(len(members) == 1 for members in rows)
    if alone:
        documents = np.array(rows)[:, 0]
        sizes = encoded.starts[documents + 1] - encoded.starts[documents]
        length = min(length, int(sizes.max()))
    shape = (len(rows), length)
    inputs = np.full(shape, pad)
    targets = np.full(shape, NO_TARGET)
    weights = np.zeros(shape, dtype=np.float32)
    numbers = np.full(shape, -1)
    for row, members in enumerate(rows):
        place = 0
        for number, document in enumerate(members):
            start = encoded.starts[document]
            size = min(int(encoded.starts[document + 1] - start), length - place)
            source = slice(start, start + size)
            target = slice(place, place + size)
            inputs[row, target] = encoded.tokens[source]
            targets[row, target] = encoded.targets[source]
            weights[row, target] = encoded.weights[source]
            numbers[row, target] = number
            place += size
    return Batch(inputs, targets, weights, None if alone else numbers)
