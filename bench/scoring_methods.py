"""The ways to score the same probes: the plain ones, the peers', and ours.

Each takes a model and probes and returns, for each probe in order, the
log-probabilities of its continuation's tokens; a peer that tells only their sum returns
one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import torch
from transformers import DynamicCache

from helpers import probing
from helpers.models import LanguageModel, network_inputs, tokens
from helpers.models.tokens import Row
from helpers.probing.engine import plain

TokenScores = list[list[float]]
BATCH_SIZE = 16


def helpers_scores(model: LanguageModel, probes: pd.DataFrame) -> TokenScores:
    """Score with `helpers.probing.score`, tokenisation and all."""
    return list(probing.score(model, probes, progress=False)["logprobs"])


def plain_batch_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with the helpers' plain batches: every row whole, the head on scored tokens only."""
    return _in_batches(
        _rows(model, probes), size, lambda part: plain.score_batch(model, part)
    )


def full_logits_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score as the studies' scripts do: every row whole, logits of all its tokens."""

    @torch.inference_mode()
    def run(batch: list[Row]) -> TokenScores:
        ids, mask = network_inputs.pad_ids(model, [row.ids for row in batch])
        chances = model.model(input_ids=ids, attention_mask=mask).logits.log_softmax(-1)
        return [
            [
                chances[i, at - 1, row.ids[at]].item()
                for at in range(row.start, len(row.ids))
            ]
            for i, row in enumerate(batch)
        ]

    return _in_batches(_rows(model, probes), size, run)


def cached_prefix_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with the prefix in a cache, forwarded once, and a row for each subject and choice."""
    rows = _rows(model, probes)
    shared = min(min(_common(rows[0].ids, row.ids) for row in rows), rows[0].start - 1)
    with torch.inference_mode():
        prefix = torch.tensor([rows[0].ids[:shared]])
        kept = model.model(
            input_ids=prefix, use_cache=True, logits_to_keep=1
        ).past_key_values
    return _in_batches(
        rows, size, lambda part: _after_prefix(model, kept, shared, part)
    )


@torch.inference_mode()
def _after_prefix(
    model: LanguageModel, kept: DynamicCache, shared: int, batch: list[Row]
) -> TokenScores:
    """Score rows whose first `shared` tokens stand in a cache of batch 1."""
    ids, mask = network_inputs.pad_ids(model, [row.ids[shared:-1] for row in batch])
    first = min(row.start for row in batch) - 1 - shared
    cache = DynamicCache()
    for layer, pair in enumerate(kept.layers):
        wide = [t.expand(len(batch), -1, -1, -1) for t in (pair.keys, pair.values)]  # noqa: PD011
        cache.update(*wide, layer)
    logits = model.model(
        input_ids=ids,
        attention_mask=torch.cat([mask.new_ones(len(batch), shared), mask], dim=1),
        past_key_values=cache,
        logits_to_keep=torch.arange(first, ids.shape[1]),
    ).logits.log_softmax(-1)
    at = shared + 1 + first  # position of the token that the first logits foretell
    return [
        [logits[i, n - at, row.ids[n]].item() for n in range(row.start, len(row.ids))]
        for i, row in enumerate(batch)
    ]


def lm_eval_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with `loglikelihood` of lm-evaluation-harness' HFLM, which tells sums."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=size)
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=i)
        for i, pair in enumerate(zip(probes["prompt"], probes["continuation"]))
    ]
    return [[total] for total, _ in peer.loglikelihood(requests, disable_tqdm=True)]


def minicons_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with `conditional_score` of minicons' IncrementalLMScorer."""
    from minicons.scorer import IncrementalLMScorer

    peer = IncrementalLMScorer(model.model, "cpu", tokenizer=model.tokenizer)
    prompts, said = list(probes["prompt"]), list(probes["continuation"])
    found: TokenScores = []
    for at in range(0, len(probes), size):
        batch = prompts[at : at + size], said[at : at + size]
        found += peer.conditional_score(
            *batch, separator="", reduction=torch.Tensor.tolist
        )
    return found


def largest_score_difference(left: TokenScores, right: TokenScores) -> float:
    """Return the largest difference of two methods' scores, of sums where one tells only those."""
    pairs = []
    for a, b in zip(left, right, strict=True):
        same = len(a) == len(b)
        pairs += zip(a, b) if same else [(sum(a), sum(b))]
    return max(abs(a - b) for a, b in pairs)


def _rows(model: LanguageModel, probes: pd.DataFrame) -> list[Row]:
    groups = list(zip(probes["item"], probes["variant"]))
    return tokens.rows_of_continuations(
        model, list(probes["prompt"]), list(probes["continuation"]), groups
    )


def _common(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return tokens.common_prefix_length(left, right)


def _in_batches(
    rows: list[Row], size: int, run: Callable[[list[Row]], TokenScores]
) -> TokenScores:
    """Return the scores of rows that are batched by length, in the order given."""
    found: dict[int, list[float]] = {}
    for batch in _batches(rows, size):
        found |= zip(batch, run([rows[i] for i in batch]))
    return [list(found[i]) for i in range(len(rows))]


def _batches(rows: list[Row], size: int) -> Iterator[list[int]]:
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
    for at in range(0, len(order), size):
        yield order[at : at + size]
