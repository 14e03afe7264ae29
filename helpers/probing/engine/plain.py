"""Rows in batches, each forwarded whole: the way that suits every model.

Rows are padded on the right, which no real token sees; where that changes a score
(`engine` tries it), rows of equal length are forwarded together, or each row alone.
"""

from collections.abc import Iterator

import torch

from helpers.models import families, gpu, network_inputs
from helpers.models.language_model import Local
from helpers.models.tokens import Row

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
    for batch in _batches(
        model, rows, 1 if batches == "alone" else batch_size, batches
    ):
        yield dict(
            zip(batch, gpu.run_in_halves(lambda part: score_batch(model, part), batch))
        )


def _batches(
    model: Local, rows: list[Row], batch_size: int | None, together: str
) -> Iterator[list[Row]]:
    """Yield rows of like length together, the longest first, within the memory that they need."""
    vocabulary = model.model.get_input_embeddings().weight.shape[0]
    budget = gpu.tokens_per_batch(model.device)
    ragged = together == "padded" and not families.depends_on_batch_length(model.config)
    batch: list[Row] = []
    longest = lowest = 0
    # Start and ids break ties, so that the batches do not depend on the order of the
    # probes.
    ordered = sorted(
        rows, key=lambda r: (_lengths(r), -r.start, r.ids, r.source), reverse=True
    )
    for row in ordered:
        if batch:
            heads = (longest - min(lowest, row.start)) * (len(batch) + 1) * vocabulary
            full = len(batch) + 1 > (batch_size or budget)
            wide = (
                batch_size is None and _lengths(batch[0])[0] * (len(batch) + 1) > budget
            )
            fits = ragged or _lengths(row) == _lengths(batch[0])
            if full or wide or heads > gpu.MOST_LOGITS or not fits:
                yield batch
                batch = []
        if not batch:
            longest, lowest = len(row.ids), row.start
        batch.append(row)
        longest, lowest = max(longest, len(row.ids)), min(lowest, row.start)
    if batch:
        yield batch


def _lengths(row: Row) -> tuple[int, int]:
    return len(row.ids) + len(row.source), len(row.ids)


@torch.inference_mode()
def score_batch(model: Local, batch: list[Row]) -> list[tuple[float, ...]]:
    """Return the log-probabilities of the scored tokens of rows, in one forward pass."""
    ids, inputs = network_inputs.inputs_of_rows(model, batch)
    first = min(row.start for row in batch) - 1
    last = max(len(row.ids) for row in batch) - 1
    if network_inputs.forward_accepts_argument(type(model.model), "logits_to_keep"):
        # On the processor, where an index fits a head on whichever of several devices.
        inputs["logits_to_keep"] = torch.arange(first, last)
        logits = model.model(**inputs, use_cache=False).logits
    else:
        logits = model.model(**inputs, use_cache=False).logits[:, first:last]
    places = [
        (i, j) for i, row in enumerate(batch) for j in range(row.start, len(row.ids))
    ]
    at, columns = torch.tensor(places, device=logits.device).T
    targets = ids.to(logits.device)[at, columns]
    values = iter(
        gather_log_probabilities(
            logits.flatten(0, 1), at * logits.shape[1] + columns - 1 - first, targets
        )
    )
    return [tuple(next(values) for _ in row.scored) for row in batch]


def gather_log_probabilities(
    logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor
) -> list[float]:
    """Return the log-softmax of logits at places, in float32; the logits are overwritten."""
    chosen = logits[rows, targets]
    distinct, back = rows.unique_consecutive(return_inverse=True)
    logits = logits if len(distinct) == len(logits) else logits[distinct]
    # A CPU's caches want small parts, a GPU few calls.
    most = LOGITS_PER_CHUNK if logits.device.type == "cpu" else 16 * LOGITS_PER_CHUNK
    step = max(1, most // logits.shape[-1])
    tops, sums = [], []
    for part in logits.split(step):
        part = part.float()
        tops.append(part.amax(-1))
        sums.append(part.sub_(tops[-1][:, None]).exp_().sum(-1).log_())
    # Their sum may be large: in float64 the value keeps the digits that float32 logits
    # have.
    top, rest = torch.cat(tops).cpu().double(), torch.cat(sums).cpu().double()
    value, back = chosen.float().cpu().double(), back.cpu()
    return (value - top[back] - rest[back]).tolist()
