"""Stage 1 of the training: copying, learnt on random tokens that mean nothing."""

import numpy as np

from notebooks.atlas.documents import NO_TARGET, Batch
from notebooks.atlas.recipe import RecipeOptions


def copying_batch(
    design: RecipeOptions, vocabulary: int, pool: int, seed: int, step: int
) -> Batch:
    """Return random rows that repeat themselves, with loss where the repeat decides the token."""
    tokens = np.random.default_rng([seed, 0]).permutation(vocabulary)[:pool]
    rng = np.random.default_rng([seed, 1, step])
    ways = [(_tiled, _patched)[row % 2] for row in range(design.rows)]
    text = np.stack([way(tokens, design.length + 1, rng) for way in ways])
    targets = np.where(is_decided_by_repetition(text), text[:, 1:], NO_TARGET)
    return Batch(text[:, :-1], targets, (targets != NO_TARGET).astype(np.float32))


def is_decided_by_repetition(text: np.ndarray) -> np.ndarray:
    """Return where a token occurred before, and the same token followed every time."""
    now, following = text[:, :-1], text[:, 1:]
    before = np.tril(np.ones((now.shape[1], now.shape[1]), dtype=bool), k=-1)
    seen = (now[:, :, None] == now[:, None, :]) & before
    agree = seen & (following[:, :, None] == following[:, None, :])
    return seen.any(-1) & (seen == agree).all(-1)


def next_pool_size(
    design: RecipeOptions, pool: int, accuracy: float, vocabulary: int
) -> int:
    """Return the pool's size after a step."""
    grow = accuracy > design.enough
    return min(vocabulary, int(np.ceil(pool * design.growth))) if grow else pool


def _tiled(tokens: np.ndarray, length: int, rng: np.random.Generator) -> np.ndarray:
    return np.resize(rng.choice(tokens, rng.integers(4, length // 2 + 1)), length)


def _patched(tokens: np.ndarray, length: int, rng: np.random.Generator) -> np.ndarray:
    row = rng.choice(tokens, length)
    place = int(rng.integers(8, length // 2)) if length > 16 else length // 2
    while place < length:
        size = int(rng.integers(2, 10))
        start = int(rng.integers(0, max(1, place - size)))
        piece = row[start : start + size][: length - place]
        row[place : place + len(piece)] = piece
        place += len(piece) + int(rng.integers(0, 4))
    return row
