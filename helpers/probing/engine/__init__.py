"""Exact scores of rows of token ids, each distinct token computed once where possible.

`scorer_of_model` chooses a model's `Scorer`, tries it against plain batches, and
nothing after that asks what kind of model it is:

===============  ==================  ===================================================
Scorer           for                 scores by
===============  ==================  ===================================================
`PackScorer`     most causal models  `packing`: branches of a tree of rows (`trie`) in
                                     one sequence
`EncoderScorer`  T5 and mT5          `encoder`: the same below each source's encoder
                                     states
`Scorer`         all others          `plain`: whole rows, the reference of all the
                                     others
`Remote`         models on a server  `server_scoring`: requests
===============  ==================  ===================================================

Texts are continued by `decoding`, in packs by `packed_continuations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, cast

from helpers.models import LanguageModel, Local, Served, gpu, tokens
from helpers.models.language_model import Method
from helpers.models.tokens import Row
from helpers.probing.engine import (
    decoding,
    encoder,
    packed_continuations,
    packing,
    plain,
    server_scoring,
    trial,
    trie,
)
from helpers.probing.engine.decoding import (
    ContinuationTask,
    ContinuedText,
    StoppingRules,
)
from helpers.probing.engine.trial import Scores
from helpers.probing.engine.trie import count_tokens

__all__ = [
    "Method",
    "Scorer",
    "count_tokens",
    "pack_length_of_model",
    "scorer_of_model",
    "scoring_method",
]
TextBatches = Iterator[list[ContinuedText]]
NO_TASKS: Set[ContinuationTask] = frozenset()
# Tokens of a pack by which the work of a server's model is counted.
SERVER_PACK_LENGTH = 512


@dataclass(frozen=True)
class Scorer:
    """A model scored by whole rows in batches, texts of equal length together."""

    model: Local
    method: Method
    length: int  # of a pack, in tokens
    price: float = trie.PASS_PRICE

    @property
    def joins(self) -> bool:
        """Whether `texts` can score anchors on the way."""
        return False

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        """Yield the log-probabilities of distinct rows, at most `size` in a batch."""
        batches = self.method.batches or plain.BATCH_KINDS[0]
        return plain.score_in_batches(self.model, rows, size, batches)

    def texts(
        self,
        tasks: list[ContinuationTask],
        rules: StoppingRules,
        size: int | None = None,
        scored: Set[ContinuationTask] = NO_TASKS,
    ) -> TextBatches:
        """Yield the continuations of distinct tasks, some at a time.

        The anchors of those in `scored` are scored on the way (see `joins`).
        """
        run = partial(decoding.continue_batch, self.model, rules)
        for batch in decoding.batches_of_equal_length(self.model, tasks, rules, size):
            yield gpu.run_in_halves(run, batch)


class EncoderScorer(Scorer):
    """Continuations in packs, each source encoded once."""

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        run = partial(encoder.score_by_source, self.model)
        return packing.run_with_shrinking_packs(run, rows, self.length)


class PackScorer(Scorer):
    """Rows in packs, and texts in packs where these pass their own trial."""

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        run = partial(packing.score_in_packs, self.model, price=self.price)
        return packing.run_with_shrinking_packs(run, rows, self.length)

    @property
    def joins(self) -> bool:
        """Whether texts are continued in packs; it is tried once a model."""
        trials = self.model.trials
        if trials.continues_in_packs is None:
            trials.continues_in_packs = packed_continuations.passes_continuation_trial(
                self.model, self.length
            )
        return trials.continues_in_packs

    def texts(
        self,
        tasks: list[ContinuationTask],
        rules: StoppingRules,
        size: int | None = None,
        scored: Set[ContinuationTask] = NO_TASKS,
    ) -> TextBatches:
        if not tasks or not self.joins:
            return super().texts(tasks, rules, size)
        return self._texts_in_packs(tasks, rules, scored)

    def _texts_in_packs(
        self,
        tasks: list[ContinuationTask],
        rules: StoppingRules,
        scored: Set[ContinuationTask],
    ) -> TextBatches:
        """Yield texts as they end."""
        run = partial(
            packed_continuations.continue_in_packs,
            self.model,
            rules=rules,
            scored=scored,
        )
        for texts in packing.run_with_shrinking_packs(run, tasks, self.length):
            yield list(texts.values())


@dataclass(frozen=True)
class Remote:
    """A model on a server, as it is scored and continued: by requests."""

    model: Served
    method: Method

    @property
    def joins(self) -> bool:
        """Whether `texts` can score anchors on the way."""
        return False

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        return server_scoring.score_on_server(self.model.server, rows, size)

    def texts(
        self,
        tasks: list[ContinuationTask],
        rules: StoppingRules,
        size: int | None = None,
        scored: Set[ContinuationTask] = NO_TASKS,
    ) -> TextBatches:
        return server_scoring.continue_on_server(self.model, tasks, rules, size)


def scorer_of_model(model: LanguageModel) -> Scorer | Remote:
    """Return what scores a model and continues its texts; each model is tried once."""
    if isinstance(model, Served):
        ways = " or ".join(model.server.ways)
        method = Method("server", ways, model.server.difference)
        return Remote(model, method)
    local = cast(Local, model)  # a model is served or local
    trials = local.trials
    if trials.method is None:
        trials.pack_length = pack_length_of_model(local)
        in_packs = partial(_score_in_packs, local)
        trials.method = trial.method_by_trial(local, trials.pack_length, in_packs)
    return scorer_by_method(local, trials.method, trials.pack_length)


def scorer_by_method(
    model: Local, method: Method, length: int, price: float = trie.PASS_PRICE
) -> Scorer:
    """Return what scores a model at hand by a method."""
    if method.method == "plain":
        return Scorer(model, method, length, price)
    if model.kind == "seq2seq":
        return EncoderScorer(model, method, length, price)
    return PackScorer(model, method, length, price)


def _score_in_packs(model: Local, rows: list[Row], length: int) -> Scores:
    """Yield the log-probabilities of rows as on trial, with a model not yet tried."""
    # Passes are free, so that beginnings are kept.
    scorer = scorer_by_method(model, Method("packed", ""), length, price=0)
    return scorer.score(rows)


def scoring_method(model: LanguageModel) -> dict[str, Any]:
    """Return how a model is scored, as plain values for a run's manifest.

    On first use two random trees are scored both by the method and in plain batches.
    Where they differ, plain batches are used, and a warning is logged; that they agree
    is kept in the user's cache, for this model, device, number format, length of packs
    and versions of the libraries.

    Parameters
    ----------
    model : LanguageModel

    Returns
    -------
    dict
        `method` ("packed", "plain", "server"), `reason`, `checked_max_abs_diff` (float
        or None) and `batches` (of the plain method; see `plain.BATCH_KINDS`); `warning`
        (str) where the model gets no first token, though its family reads one.
    """
    warning = tokens.missing_first_token_warning(model)
    method = asdict(scorer_of_model(model).method)
    if warning:
        method["warning"] = warning
    return method


def pack_length_of_model(model: LanguageModel) -> int:
    """Return how many tokens a pack holds, with the logits of all within memory."""
    if isinstance(model, Served):
        return SERVER_PACK_LENGTH
    local = cast(Local, model)  # a model is served or local
    # By its type, an embedding's weight might be no tensor.
    weight = local.model.get_input_embeddings().weight
    vocabulary, width = weight.shape  # type: ignore[misc]
    return gpu.pack_length_on_device(local.device, width, vocabulary)
