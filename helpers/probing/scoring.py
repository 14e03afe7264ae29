"""Teacher-forced log-probabilities of continuations, exact: the table in and out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError, check_columns
from helpers.models import LanguageModel, check, tokens
from helpers.models import progress as lines
from helpers.models.tokens import Row
from helpers.probing import cache as caches
from helpers.probing import engine, metering

TEXTS = ("prompt", "continuation")
NAMES = ("item", "variant", "option")


def score(
    model: LanguageModel,
    probes: pd.DataFrame,
    cache: str | Path | None = None,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    r"""Return probes with the log-probability of each token of their continuations.

    .. math:: \log P(w_l \mid \text{prompt}, w_1, \dots, w_{l-1}), \quad l = 1, \dots, L

    Prompt and continuation are tokenised as one string; all options of one (item, variant) are
    scored from the same token on, the first at which any of them leaves the tokens of the prompt
    alone. For a sequence-to-sequence model the encoder reads the prompt and the decoder the
    continuation. The values do not depend on order, batch size or padding (float32: 1e-5).

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
        With columns `prompt, continuation` and `item, variant, option`; others are kept. Without
        these three, each prompt is an item, and its continuations are the options.
    cache : str or Path, optional
        Folder of finished results; a run that was interrupted goes on from there.
    progress : bool
        Whether a line on stderr tells what is done.
    batch_size : int, optional
        The most rows of one forward pass, for models that are scored in batches of rows (see
        `method`); by default as many as `helpers.models.gpu.tokens_per_batch` tells.

    Returns
    -------
    DataFrame
        The probes, index and order kept, with `logprobs` (list of float, natural logarithm, at
        most 0, one a token; higher is more probable), `tokens` (list of str) and `read` (str, what
        the model read before the continuation).

    Raises
    ------
    UserError
        Where a column is missing, a continuation is empty or has nothing before it, prompt and
        continuation are longer than the model's context, or a probability is not a number.

    Examples
    --------
    >>> from helpers import models
    >>> lm = models.load("atlas-xs")
    >>> asked = {"prompt": "Which country is Lyon in?", "continuation": [" France", " Peru"]}
    >>> score(lm, pd.DataFrame(asked), progress=False)[["item", "option"]].values.tolist()
    [['Which country is Lyon in?', 0], ['Which country is Lyon in?', 1]]
    """
    probes = _named(probes)
    rows = _rows(model, probes)
    for row, item, variant in zip(rows, probes["item"], probes["variant"]):
        tokens.check_length(model, row, f"Prompt {variant!r} of item {item!r}")
    identity = caches.identity(model)
    keys = {row: caches.key(identity, "score", row.ids, row.start, row.source) for row in set(rows)}

    def run(missing: list[Row]) -> Iterator[dict[Row, caches.Result]]:
        for done in engine.run(model, missing, batch_size):
            check.refuse_nan(model, itertools.chain.from_iterable(done.values()))
            yield {row: caches.Result(values) for row, values in done.items()}

    found = caches.completed(cache, keys, run, lines.line("score", len(keys), progress))
    metering.add(lambda: work(model, probes))
    return probes.assign(
        logprobs=_column([list(found[row].logprobs) for row in rows], probes.index),
        tokens=_column([tokens.pieces(model, row.scored) for row in rows], probes.index),
        read=_column(tokens.read(model, list(probes["prompt"])), probes.index),
    )


def work(model: LanguageModel, probes: pd.DataFrame) -> dict[str, int]:
    """Count the tokens that scoring probes takes: each probe read whole, and what is shared once.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
        As for `score`.

    Returns
    -------
    dict
        `probes`, `tokens` (of all probes one by one), `forwarded` (what goes through the model
        where it takes packs, see `method`).
    """
    rows = _rows(model, _named(probes))
    counted = engine.count_tokens(rows, engine.pack_length(model))
    return {
        "probes": len(rows),
        "tokens": counted["plain"],
        "forwarded": counted.get("forwarded", 0),
    }


def spoken(model: LanguageModel, texts: pd.DataFrame) -> dict[str, int]:
    """Count, as `work` does, what greedy answers took: what was read, and what was said.

    An empty answer counts as a line's end, which ended it.
    """
    said = texts["text"].where(texts["text"] != "", "\n")
    numbered = texts.assign(option=0, continuation=said, correct=True)
    for name in ("item", "variant"):
        if name not in numbered:
            numbered[name] = range(len(numbered))
    return work(model, numbered)


def _named(probes: pd.DataFrame) -> pd.DataFrame:
    """Return probes that have names: where they have none, each prompt is an item."""
    check_texts(probes, TEXTS, texts=TEXTS)
    if not set(NAMES) & set(probes.columns):
        option = probes.groupby("prompt").cumcount()
        probes = probes.assign(item=probes["prompt"], variant="", option=option)
    check_columns(probes, NAMES, "probes")
    return probes


def _rows(model: LanguageModel, probes: pd.DataFrame) -> list[Row]:
    groups = list(zip(probes["item"], probes["variant"]))
    return tokens.rows(model, list(probes["prompt"]), list(probes["continuation"]), groups)


def check_texts(frame: pd.DataFrame, needed: Sequence[str], texts: Sequence[str]) -> None:
    """Refuse a table that lacks columns, or whose texts are not all strings."""
    check_columns(frame, needed, "probes")
    for name in texts:
        for row, text in zip(frame.index, frame[name]):
            if not isinstance(text, str):
                raise UserError(f"Row {row} of the probes has the {name} {text!r}; give a string.")


def _column(values: list, index: pd.Index) -> pd.Series:
    return pd.Series(values, index=index, dtype=object)
