"""Whether two ways of scoring agree for a model: a small random tree is scored by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from helpers.models import LanguageModel
from helpers.probing.tokens import Row

Scores = Iterator[dict[Row, tuple[float, ...]]]
# The window during the check, so that its short texts are longer than what a token sees.
WINDOW = 6


def difference(
    model: LanguageModel, first: Callable[[list[Row]], Scores], other: Callable[[list[Row]], Scores]
) -> float:
    """Return the largest difference of a log-probability between two ways of scoring.

    Parameters
    ----------
    model : LanguageModel
    first, other : callable
        From rows to parts of their scores, as `engine.run`.

    Returns
    -------
    float
        At least 0; lower is better.
    """
    rows = sample(model)
    with _narrow(model):
        left, right = (
            {row: values for part in run(rows) for row, values in part.items()}
            for run in (first, other)
        )
    pairs = [(a, b) for row in rows for a, b in zip(left[row], right[row], strict=True)]
    return float(np.abs(np.diff(pairs)).max())


def sample(model: LanguageModel) -> list[Row]:
    """Return random rows that share much and little, longer than the check's window.

    Parameters
    ----------
    model : LanguageModel

    Returns
    -------
    list of Row
    """
    vocabulary = model.model.get_input_embeddings().weight.shape[0]
    draw = np.random.default_rng(0)

    def text(n: int) -> tuple[int, ...]:
        return tuple(draw.integers(vocabulary, size=n).tolist())

    heads = [text(2 * WINDOW), text(3)]
    sources = [text(5), text(9)] if model.kind == "seq2seq" else [(), ()]
    rows = []
    for head, source in zip(heads, sources):
        for subject in (text(1), text(2)):
            shared_choice = text(2)
            for choice in (shared_choice, shared_choice + text(2), text(1), text(3)):
                before = head + subject
                rows.append(Row(before + choice, len(before), source))
    return list(dict.fromkeys(rows))


@contextmanager
def _narrow(model: LanguageModel) -> Iterator[None]:
    """Shorten a model's sliding window, which its masks are made from at each pass."""
    config = model.model.config
    window = getattr(config, "sliding_window", None)
    if not window:
        yield
        return
    config.sliding_window = min(window, WINDOW)
    try:
        yield
    finally:
        config.sliding_window = window
