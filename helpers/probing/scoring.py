"""Teacher-forced log-probabilities of continuations, exact and simple.

Rows are sorted by length, padded on the right and forwarded in batches. With causal attention no
real token sees a pad, so the padding changes nothing but the rounding of the last digits.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import torch

from helpers import gpu
from helpers.errors import UserError
from helpers.models import LanguageModel
from helpers.probing import cache as caches
from helpers.probing import progress as lines
from helpers.probing import tokens
from helpers.probing.tokens import Row

NEEDED = ("item", "variant", "option", "prompt", "continuation")
# The most numbers of one batch's logits, and of the part of it that is turned to float32 at once.
LOGITS = 1 << 27
CHUNK = 1 << 24


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
        With columns `item, variant, option, prompt, continuation`; others are kept.
    cache : str or Path, optional
        Folder of finished results; a run that was interrupted goes on from there.
    progress : bool
        Whether a line on stderr tells what is done.
    batch_size : int, optional
        Rows of one forward pass; by default as many as `helpers.gpu.tokens_per_batch` tells.

    Returns
    -------
    DataFrame
        The probes, index and order kept, with `logprobs` (list of float, natural logarithm, at
        most 0, one a token; higher is more probable), `tokens` (list of str) and `read` (str, what
        the model read before the continuation).

    Raises
    ------
    UserError
        Where a column is missing, a continuation is empty or has nothing before it, or prompt and
        continuation are longer than the model's context.
    """
    check_columns(probes, NEEDED, texts=("prompt", "continuation"))
    prompts = list(probes["prompt"])
    groups = list(zip(probes["item"], probes["variant"]))
    rows = tokens.rows(model, prompts, list(probes["continuation"]), groups)
    for row, group in zip(rows, groups):
        tokens.check_length(model, row, "Prompt {1!r} of item {0!r}".format(*group))
    identity = caches.identity(model)
    keys = {row: caches.key(identity, "score", row.ids, row.start, row.source) for row in set(rows)}
    store = caches.open_store(cache, keys.values())
    missing = [row for row, key in keys.items() if key not in store.known]
    show = lines.line("score", len(keys), progress)
    try:
        for done in _forward(model, missing, batch_size):
            caches.add(store, {keys[row]: caches.Result(values) for row, values in done.items()})
            show(len(store.known))
    finally:
        caches.flush(store)
    return probes.assign(
        logprobs=_column([list(store.known[keys[row]].logprobs) for row in rows], probes.index),
        tokens=_column([tokens.pieces(model, row.scored) for row in rows], probes.index),
        read=_column(tokens.read(model, prompts), probes.index),
    )


def check_columns(frame: pd.DataFrame, needed: Sequence[str], texts: Sequence[str]) -> None:
    """Refuse a table that lacks columns, or whose texts are not all strings.

    Parameters
    ----------
    frame : DataFrame
    needed, texts : sequences of str
        Names of columns that must be there, and of those that must hold strings.

    Raises
    ------
    UserError
        Naming the columns, or the row.
    """
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise UserError(f"The table of probes lacks the columns {', '.join(missing)}; add them.")
    for name in texts:
        for row, text in zip(frame.index, frame[name]):
            if not isinstance(text, str):
                raise UserError(f"Row {row} of the probes has the {name} {text!r}; give a string.")


def _column(values: list, index: pd.Index) -> pd.Series:
    return pd.Series(values, index=index, dtype=object)


def _forward(
    model: LanguageModel, rows: list[Row], batch_size: int | None
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows, batch by batch."""
    vocabulary = model.model.get_input_embeddings().weight.shape[0]
    for batch in _batches(model, rows, batch_size, vocabulary):
        yield dict(zip(batch, gpu.in_halves(lambda part: score_batch(model, part), batch)))


def _batches(
    model: LanguageModel, rows: list[Row], batch_size: int | None, vocabulary: int
) -> Iterator[list[Row]]:
    """Yield rows of like length together, the longest first, within the memory that they need."""
    budget = gpu.tokens_per_batch(model.device)
    batch: list[Row] = []
    longest = lowest = 0
    # Start and ids break ties, so that the batches do not depend on the order of the probes.
    ordered = sorted(rows, key=lambda r: (_length(r), -r.start, r.ids, r.source), reverse=True)
    for row in ordered:
        if batch:
            heads = (longest - min(lowest, row.start)) * (len(batch) + 1) * vocabulary
            full = len(batch) + 1 > (batch_size or budget)
            wide = batch_size is None and _length(batch[0]) * (len(batch) + 1) > budget
            if full or wide or heads > LOGITS:
                yield batch
                batch = []
        if not batch:
            longest, lowest = len(row.ids), row.start
        batch.append(row)
        longest, lowest = max(longest, len(row.ids)), min(lowest, row.start)
    if batch:
        yield batch


def _length(row: Row) -> int:
    return len(row.ids) + len(row.source)


@torch.inference_mode()
def score_batch(model: LanguageModel, batch: list[Row]) -> list[tuple[float, ...]]:
    """Return the log-probabilities of the scored tokens of rows, in one forward pass.

    Parameters
    ----------
    model : LanguageModel
    batch : list of Row

    Returns
    -------
    list of tuple of float
        For each row one value a scored token.
    """
    first = min(row.start for row in batch) - 1
    last = max(len(row.ids) for row in batch) - 1
    ids, mask = pad(model, [row.ids for row in batch])
    if model.kind == "seq2seq":
        source, source_mask = pad(model, [row.source for row in batch])
        inputs = {
            "input_ids": source,
            "attention_mask": source_mask,
            "decoder_input_ids": ids,
            "decoder_attention_mask": mask,
        }
    else:
        inputs = {"input_ids": ids, "attention_mask": mask}
    if "logits_to_keep" in inspect.signature(model.model.forward).parameters:
        inputs["logits_to_keep"] = torch.arange(first, last, device=model.device)
        logits = model.model(**inputs, use_cache=False).logits
    else:
        logits = model.model(**inputs, use_cache=False).logits[:, first:last]
    places = [(i, j) for i, row in enumerate(batch) for j in range(row.start, len(row.ids))]
    rows_at, columns = torch.tensor(places, device=model.device).T
    values = _gather(logits, rows_at, columns - 1 - first, ids[rows_at, columns])
    flat = iter(values)
    return [tuple(next(flat) for _ in row.scored) for row in batch]


def pad(model: LanguageModel, ids: list[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids padded on the right to one length, and the mask of the real ones.

    Parameters
    ----------
    model : LanguageModel
    ids : list of tuple of int

    Returns
    -------
    tuple of Tensor
        Each of shape (len(ids), longest), on the model's device.
    """
    longest = max(map(len, ids))
    # Any id will do: no real token sees a pad.
    padded = [row + (0,) * (longest - len(row)) for row in ids]
    mask = [(1,) * len(row) + (0,) * (longest - len(row)) for row in ids]
    return torch.tensor(padded, device=model.device), torch.tensor(mask, device=model.device)


def _gather(
    logits: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, targets: torch.Tensor
) -> list[float]:
    """Return the log-softmax of logits at places, of the target ids, in chunks of float32."""
    step = max(1, CHUNK // logits.shape[-1])
    values: list[float] = []
    for at in range(0, len(targets), step):
        part = slice(at, at + step)
        chunk = logits[rows[part], columns[part]].float()
        chosen = chunk.gather(1, targets[part, None])[:, 0]
        values += (chosen - chunk.logsumexp(-1)).tolist()
    return values
