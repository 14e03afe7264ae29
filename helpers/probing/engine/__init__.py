"""Exact scores of rows of token ids, each distinct token computed once where a model allows it.

`scorer_of_model` chooses a model's `Scorer`, tries it against plain batches, and nothing after
that asks what kind of model it is:

=========  ==================  ============================================
Texts are continued by `decoding`, in packs by `branching`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

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
    "scoring_method",
    "pack_length_of_model",
    "scorer_of_model",
]
TextBatches = Iterator[list[ContinuedText]]
NO_TASKS: Set[ContinuationTask] = frozenset()
SERVER_PACK_LENGTH = (
    512  # tokens of a pack by which the work of a server's model is counted
)


@dataclass(frozen=True)
class Scorer:
    """A model as it is scored and continued: whole rows in batches, and texts of equal length."""

    model: Local
    method: Method
    length: int  # of a pack, in tokens
    price: float = trie.PASS_PRICE
    joins = False  # whether `texts` can score anchors on the way

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        """Yield the log-probabilities of distinct rows, in batches of at most `size`."""
        return plain.score_in_batches(
            self.model, rows, size, self.method.batches or plain.BATCH_KINDS[0]
        )

    def texts(
        self,
        tasks: list[ContinuationTask],
        rules: StoppingRules,
        size: int | None = None,
        scored: Set[ContinuationTask] = NO_TASKS,
    ) -> TextBatches:
        """Yield the continuations of distinct tasks, some at a time; `scored`: see `joins`."""
        for batch in decoding.batches_of_equal_length(self.model, tasks, rules, size):
            yield gpu.run_in_halves(
                partial(decoding.continue_batch, self.model, rules), batch
            )


class EncoderScorer(Scorer):
    """Continuations in packs, each source encoded once."""

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        return packing.run_with_shrinking_packs(
            partial(encoder.score_by_source, self.model), rows, self.length
        )


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
        run = partial(
            packed_continuations.continue_in_packs,
            self.model,
            rules=rules,
            scored=scored,
        )
        return map(
            list,
            map(dict.values, packing.run_with_shrinking_packs(run, tasks, self.length)),
        )


@dataclass(frozen=True)
class Remote:
    """A model on a server, as it is scored and continued: by requests."""

    model: Served
    method: Method
    joins = False

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
    """Return what scores a model and continues its texts; the trial is made once a model."""
    if isinstance(model, Served):
        ways = " or ".join(model.server.ways)
        return Remote(model, Method("server", ways, model.server.difference))
    trials = model.trials
    if trials.method is None:
        trials.pack_length = pack_length_of_model(model)
        in_packs = partial(_score_in_packs, model)
        trials.method = trial.method_by_trial(model, trials.pack_length, in_packs)
    return scorer_by_method(model, trials.method, trials.pack_length)


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
    # Passes are free, so that beginnings are kept.
    return scorer_by_method(model, Method("packed", ""), length, price=0).score(rows)


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
        `scoring_method` ("packed", "plain", "server"), `reason`, `checked_max_abs_diff` (float
        or None) and `batches` (of the plain method; see `plain.BATCH_KINDS`); `warning`
        (str) where the model gets no first token, though its family reads one.
    """
    said = tokens.missing_first_token_warning(model)
    return asdict(scorer_of_model(model).method) | ({"warning": said} if said else {})


def pack_length_of_model(model: LanguageModel) -> int:
    """Return how many tokens a pack of a model holds, with the logits of all within memory."""
    if isinstance(model, Served):
        return SERVER_PACK_LENGTH
    vocabulary, width = model.model.get_input_embeddings().weight.shape
    return gpu.pack_length_on_device(model.device, width, vocabulary)
