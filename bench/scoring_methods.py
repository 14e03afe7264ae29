"""The ways to score the same probes: the plain ones, the peers', and ours.

Each takes a model and probes and returns, for each probe in order, the
log-probabilities of its continuation's tokens; a peer that tells only their sum returns
one value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
    """Score with the helpers' plain batches: whole rows, logits of scored tokens."""
    return _in_batches(_rows(model, probes), size, partial(plain.score_batch, model))


def full_logits_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score as the studies' scripts do: every row whole, logits of all its tokens."""
    score_batch = partial(_score_from_full_logits, model)
    return _in_batches(_rows(model, probes), size, score_batch)


@torch.inference_mode()
def _score_from_full_logits(model: LanguageModel, batch: list[Row]) -> TokenScores:
    ids, mask = network_inputs.pad_ids(model, [row.ids for row in batch])
    logits = model.model(input_ids=ids, attention_mask=mask).logits
    # The first logits predict the second token.
    return _scored_tokens(logits.log_softmax(-1), batch, first_position=1)


def cached_prefix_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with the prefix forwarded once, into a cache, and a row for each probe."""
    rows = _rows(model, probes)
    shared = _shared_prefix_length(rows)
    with torch.inference_mode():
        prefix = torch.tensor([rows[0].ids[:shared]])
        output = model.model(input_ids=prefix, use_cache=True, logits_to_keep=1)
    cache = output.past_key_values
    score_batch = partial(_score_after_prefix, model, cache, shared)
    return _in_batches(rows, size, score_batch)


def _shared_prefix_length(rows: list[Row]) -> int:
    """Return how many first tokens all rows share, at least one before a scored one."""
    first = rows[0]
    length = first.start - 1
    for row in rows:
        length = min(length, tokens.common_prefix_length(first.ids, row.ids))
    return length


@torch.inference_mode()
def _score_after_prefix(
    model: LanguageModel, prefix_cache: DynamicCache, shared: int, batch: list[Row]
) -> TokenScores:
    """Score rows whose first `shared` tokens stand in a cache of batch 1."""
    ids, mask = network_inputs.pad_ids(model, [row.ids[shared:-1] for row in batch])
    prefix_mask = mask.new_ones(len(batch), shared)
    first = min(row.start for row in batch) - 1 - shared
    logits = model.model(
        input_ids=ids,
        attention_mask=torch.cat([prefix_mask, mask], dim=1),
        past_key_values=_expanded_cache(prefix_cache, len(batch)),
        logits_to_keep=torch.arange(first, ids.shape[1]),
    ).logits
    return _scored_tokens(
        logits.log_softmax(-1), batch, first_position=shared + 1 + first
    )


def _expanded_cache(cache: DynamicCache, size: int) -> DynamicCache:
    """Return a cache of batch 1 as one of a larger batch, without a copy of it."""
    expanded = DynamicCache()
    for layer, states in enumerate(cache.layers):
        keys = states.keys.expand(size, -1, -1, -1)
        values = states.values.expand(size, -1, -1, -1)  # noqa: PD011 (no DataFrame)
        expanded.update(keys, values, layer)
    return expanded


def _scored_tokens(
    logprobs: torch.Tensor, batch: list[Row], first_position: int
) -> TokenScores:
    """Return the log-probabilities of the rows' scored tokens.

    Parameters
    ----------
    logprobs : Tensor
        Of shape (rows, positions, vocabulary).
    batch : list of Row
    first_position : int
        Where in a row the token stands that the first log-probabilities are about.

    Returns
    -------
    list of list of float
    """
    scores = []
    for row, row_logprobs in zip(batch, logprobs, strict=True):
        row_scores = []
        for position in range(row.start, len(row.ids)):
            token = row.ids[position]
            row_scores.append(row_logprobs[position - first_position, token].item())
        scores.append(row_scores)
    return scores


def lm_eval_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with `loglikelihood` of lm-evaluation-harness' HFLM, which tells sums."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=size)
    pairs = zip(probes["prompt"], probes["continuation"], strict=True)
    requests = []
    for place, pair in enumerate(pairs):
        requests.append(Instance("loglikelihood", {}, pair, place))
    answers = peer.loglikelihood(requests, disable_tqdm=True)
    return [[total] for total, _ in answers]


def minicons_scores(
    model: LanguageModel, probes: pd.DataFrame, size: int = BATCH_SIZE
) -> TokenScores:
    """Score with `conditional_score` of minicons' IncrementalLMScorer."""
    from minicons.scorer import IncrementalLMScorer

    peer = IncrementalLMScorer(model.model, "cpu", tokenizer=model.tokenizer)
    scores: TokenScores = []
    for start in range(0, len(probes), size):
        batch = probes.iloc[start : start + size]
        scores += peer.conditional_score(
            list(batch["prompt"]),
            list(batch["continuation"]),
            separator="",
            reduction=torch.Tensor.tolist,
        )
    return scores


def largest_score_difference(left: TokenScores, right: TokenScores) -> float:
    """Return two methods' largest difference; of sums, where one gives only those."""
    differences = []
    for left_scores, right_scores in zip(left, right, strict=True):
        if len(left_scores) == len(right_scores):
            for left_score, right_score in zip(left_scores, right_scores, strict=True):
                differences.append(abs(left_score - right_score))
        else:
            differences.append(abs(sum(left_scores) - sum(right_scores)))
    return max(differences)


def _rows(model: LanguageModel, probes: pd.DataFrame) -> list[Row]:
    groups = list(zip(probes["item"], probes["variant"], strict=True))
    return tokens.rows_of_continuations(
        model, list(probes["prompt"]), list(probes["continuation"]), groups
    )


def _in_batches(
    rows: list[Row], size: int, score_batch: Callable[[list[Row]], TokenScores]
) -> TokenScores:
    """Return the scores of rows, in their order; the longest are batched first."""
    longest_first = sorted(range(len(rows)), key=lambda place: -len(rows[place].ids))
    scores: dict[int, list[float]] = {}
    for start in range(0, len(rows), size):
        places = longest_first[start : start + size]
        batch_scores = score_batch([rows[place] for place in places])
        scores.update(zip(places, batch_scores, strict=True))
    return [list(scores[place]) for place in range(len(rows))]
