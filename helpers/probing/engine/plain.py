"""Rows in batches, each forwarded whole: the way that suits every model.

Rows are padded on the right, which no real token sees; where that changes a score
(`engine` tries it), rows of equal length are forwarded together, or each row alone.
"""

import functools
import itertools
from collections.abc import Iterator

import torch

from helpers.models import families, gpu, network_inputs
from helpers.models.language_model import Local
from helpers.models.tokens import Row

Ids = tuple[int, ...]
Lengths = tuple[int, int]
# The most numbers of the part of a batch's logits that is turned to float32 at once.
LOGITS_PER_CHUNK = 1 << 22
# Rows of any length, of equal length only, or none.
BATCH_KINDS = ("padded", "equal", "alone")


def score_in_batches(
    model: Local,
    rows: list[Row],
    batch_size: int | None = None,
    batches: str = BATCH_KINDS[0],
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows, batch by batch."""
    if batches == "alone":
        batch_size = 1
    score = functools.partial(score_batch, model)
    for batch in _batches(model, rows, batch_size, batches):
        scores = gpu.run_in_halves(score, batch)
        yield dict(zip(batch, scores, strict=True))


def _batches(
    model: Local, rows: list[Row], batch_size: int | None, batches: str
) -> Iterator[list[Row]]:
    """Yield rows of like length together, the longest first, as far as memory goes."""
    # By its type, an embedding's weight might be no tensor.
    weight = model.model.get_input_embeddings().weight
    vocabulary = weight.shape[0]  # type: ignore[index]
    budget = gpu.tokens_per_batch(model.device)
    any_lengths = batches == "padded"
    if families.depends_on_batch_length(model.config):
        any_lengths = False
    batch: list[Row] = []
    longest = 0
    lowest = 0
    for row in sorted(rows, key=_order, reverse=True):
        if batch:
            n_rows = len(batch) + 1
            n_logits = (longest - min(lowest, row.start)) * n_rows * vocabulary
            is_full = n_rows > (batch_size or budget)
            lengths_of_first = _lengths(batch[0])
            is_wide = batch_size is None and lengths_of_first[0] * n_rows > budget
            fits = any_lengths or _lengths(row) == lengths_of_first
            if is_full or is_wide or n_logits > gpu.MOST_LOGITS or not fits:
                yield batch
                batch = []
        if not batch:
            longest = row.length
            lowest = row.start
        batch.append(row)
        longest = max(longest, row.length)
        lowest = min(lowest, row.start)
    if batch:
        yield batch


def _order(row: Row) -> tuple[Lengths, int, Ids, Ids]:
    """Return what rows are ordered by: lengths, and what breaks ties.

    So the batches do not depend on the order of the probes.
    """
    return _lengths(row), -row.start, row.ids, row.source


def _lengths(row: Row) -> Lengths:
    """Return how many ids a row has in all, and how many without its source."""
    return row.length + len(row.source), row.length


@torch.inference_mode()
def score_batch(model: Local, batch: list[Row]) -> list[tuple[float, ...]]:
    """Return the log-probabilities of rows' scored tokens, in one forward pass."""
    ids, inputs = network_inputs.inputs_of_rows(model, batch)
    first = min(row.start for row in batch) - 1
    last = max(row.length for row in batch) - 1
    if network_inputs.forward_accepts_argument(type(model.model), "logits_to_keep"):
        # On the processor, where an index fits a head on whichever of several devices.
        inputs["logits_to_keep"] = torch.arange(first, last)
        logits = model.model(**inputs, use_cache=False).logits
    else:
        logits = model.model(**inputs, use_cache=False).logits[:, first:last]
    batch_rows: list[int] = []
    columns: list[int] = []
    for at, row in enumerate(batch):
        scored_columns = range(row.start, row.length)
        batch_rows += [at] * len(scored_columns)
        columns += scored_columns
    row_indices = torch.tensor(batch_rows, device=logits.device)
    column_indices = torch.tensor(columns, device=logits.device)
    targets = ids.to(logits.device)[row_indices, column_indices]
    # A token's logits are those of the column before.
    places = row_indices * logits.shape[1] + column_indices - 1 - first
    values = gather_log_probabilities(logits.flatten(0, 1), places, targets)
    remaining = iter(values)
    return [tuple(itertools.islice(remaining, len(row.scored))) for row in batch]


def gather_log_probabilities(
    logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor
) -> list[float]:
    """Return the log-softmax of logits at places, in float32; it overwrites the logits.

    Parameters
    ----------
    logits : Tensor of shape (places, vocabulary)
    rows, targets : Tensor of shape (values,)
        Place and token of each value; equal places follow each other.
    """
    chosen = logits[rows, targets]
    distinct, inverse = rows.unique_consecutive(return_inverse=True)
    if len(distinct) != len(logits):
        logits = logits[distinct]
    # A CPU's caches want small parts, a GPU few calls.
    largest_part = LOGITS_PER_CHUNK
    if logits.device.type != "cpu":
        largest_part = 16 * LOGITS_PER_CHUNK
    step = max(1, largest_part // logits.shape[-1])
    part_maxima = []
    part_log_sums = []
    for part in logits.split(step):
        part = part.float()
        maximum = part.amax(-1)
        log_sum = part.sub_(maximum[:, None]).exp_().sum(-1).log_()
        part_maxima.append(maximum)
        part_log_sums.append(log_sum)
    # Their sum may be large: in float64 the value keeps the digits that float32 logits
    # have.
    maxima = torch.cat(part_maxima).cpu().double()
    log_sums = torch.cat(part_log_sums).cpu().double()
    chosen = chosen.float().cpu().double()
    inverse = inverse.cpu()
    return (chosen - maxima[inverse] - log_sums[inverse]).tolist()
