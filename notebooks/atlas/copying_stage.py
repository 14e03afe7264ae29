"""Stage 1 of the training: copying, learnt on random tokens that mean nothing."""

import numpy as np

from notebooks.atlas.documents import NO_TARGET, Batch
from notebooks.atlas.recipe import RecipeOptions


def copying_batch(
    design: RecipeOptions, vocabulary: int, pool: int, seed: int, step: int
) -> Batch:
    """Return random rows that repeat themselves, with loss where a repeat decides."""
    tokens = np.random.default_rng([seed, 0]).permutation(vocabulary)[:pool]
    rng = np.random.default_rng([seed, 1, step])
    rows = []
    for number in range(design.rows):
        row_of_kind = _tiled_row if number % 2 == 0 else _patched_row
        rows.append(row_of_kind(tokens, design.length + 1, rng))
    text = np.stack(rows)
    targets = np.where(is_decided_by_repetition(text), text[:, 1:], NO_TARGET)
    return Batch(text[:, :-1], targets, (targets != NO_TARGET).astype(np.float32))


def is_decided_by_repetition(text: np.ndarray) -> np.ndarray:
    """Return where a token occurred before, and the same token followed every time."""
    now = text[:, :-1]
    following = text[:, 1:]
    before = np.tril(np.ones((now.shape[1], now.shape[1]), dtype=bool), k=-1)
    seen = (now[:, :, None] == now[:, None, :]) & before
    agree = seen & (following[:, :, None] == following[:, None, :])
    return seen.any(-1) & (seen == agree).all(-1)


def next_pool_size(
    design: RecipeOptions, pool: int, accuracy: float, vocabulary: int
) -> int:
    """Return the pool's size after a step."""
    if accuracy <= design.enough:
        return pool
    return min(vocabulary, int(np.ceil(pool * design.growth)))


def _tiled_row(tokens: np.ndarray, length: int, rng: np.random.Generator) -> np.ndarray:
    """Return a row that repeats its beginning to the end."""
    beginning = rng.choice(tokens, rng.integers(4, length // 2 + 1))
    return np.resize(beginning, length)


def _patched_row(
    tokens: np.ndarray, length: int, rng: np.random.Generator
) -> np.ndarray:
    """Return a random row with short pieces that repeat what stood before."""
    row = rng.choice(tokens, length)
    place = int(rng.integers(8, length // 2)) if length > 16 else length // 2
    while place < length:
        size = int(rng.integers(2, 10))
        start = int(rng.integers(0, max(1, place - size)))
        piece = row[start : start + size][: length - place]
        row[place : place + len(piece)] = piece
        place += len(piece) + int(rng.integers(0, 4))
    return row
