"""Exact scores of rows of token ids, each distinct token computed once where a model allows it.

`scorer` chooses a model's `Scorer`, tries it against plain batches, and nothing after
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
from helpers.probing.engine.decoding import Rules, Task, Text
from helpers.probing.engine.trial import Scores
from helpers.probing.engine.trie import count_tokens

__all__ = ["Method", "Scorer", "count_tokens", "method", "pack_length", "scorer"]
Texts = Iterator[list[Text]]
NONE: Set[Task] = frozenset()
SERVED = 512  # tokens of a pack by which the work of a server's model is counted


@dataclass(frozen=True)
class Scorer:
    """A model as it is scored and continued: whole rows in batches, and texts of equal length."""

    model: Local
    method: Method
    length: int  # of a pack, in tokens
    price: float = trie.PASS
    joins = False  # whether `texts` can score anchors on the way

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        """Yield the log-probabilities of distinct rows, in batches of at most `size`."""
        return plain.run(
            self.model, rows, size, self.method.batches or plain.TOGETHER[0]
        )

    def texts(
        self,
        tasks: list[Task],
        rules: Rules,
        size: int | None = None,
        scored: Set[Task] = NONE,
    ) -> Texts:
        """Yield the continuations of distinct tasks, some at a time; `scored`: see `joins`."""
        for batch in decoding.batches(self.model, tasks, rules, size):
            yield gpu.in_halves(
                partial(decoding.continue_batch, self.model, rules), batch
            )


class Encoded(Scorer):
    """Continuations in packs, each source encoded once."""

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        return packing.halving(partial(encoder.run, self.model), rows, self.length)


class Packed(Scorer):
    """Rows in packs, and texts in packs where these pass their own trial."""

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        run = partial(packing.run, self.model, price=self.price)
        return packing.halving(run, rows, self.length)

    @property
    def joins(self) -> bool:
        """Whether texts are continued in packs; it is tried once a model."""
        trials = self.model.trials
        if trials.continues_in_packs is None:
            trials.continues_in_packs = packed_continuations.tried(
                self.model, self.length
            )
        return trials.continues_in_packs

    def texts(
        self,
        tasks: list[Task],
        rules: Rules,
        size: int | None = None,
        scored: Set[Task] = NONE,
    ) -> Texts:
        if not tasks or not self.joins:
            return super().texts(tasks, rules, size)
        run = partial(packed_continuations.run, self.model, rules=rules, scored=scored)
        return map(list, map(dict.values, packing.halving(run, tasks, self.length)))


@dataclass(frozen=True)
class Remote:
    """A model on a server, as it is scored and continued: by requests."""

    model: Served
    method: Method
    joins = False

    def score(self, rows: list[Row], size: int | None = None) -> Scores:
        return server_scoring.score(self.model.server, rows, size)

    def texts(
        self,
        tasks: list[Task],
        rules: Rules,
        size: int | None = None,
        scored: Set[Task] = NONE,
    ) -> Texts:
        return server_scoring.continuations(self.model, tasks, rules, size)


def scorer(model: LanguageModel) -> Scorer | Remote:
    """Return what scores a model and continues its texts; the trial is made once a model."""
    if isinstance(model, Served):
        ways = " or ".join(model.server.ways)
        return Remote(model, Method("server", ways, model.server.difference))
    trials = model.trials
    if trials.method is None:
        trials.pack_length = pack_length(model)
        in_packs = partial(_score_in_packs, model)
        trials.method = trial.method(model, trials.pack_length, in_packs)
    return scorer_by(model, trials.method, trials.pack_length)


def scorer_by(
    model: Local, method: Method, length: int, price: float = trie.PASS
) -> Scorer:
    """Return what scores a model at hand by a method."""
    if method.method == "plain":
        return Scorer(model, method, length, price)
    if model.kind == "seq2seq":
        return Encoded(model, method, length, price)
    return Packed(model, method, length, price)


def _score_in_packs(model: Local, rows: list[Row], length: int) -> Scores:
    # Passes are free, so that beginnings are kept.
    return scorer_by(model, Method("packed", ""), length, price=0).score(rows)


def method(model: LanguageModel) -> dict[str, Any]:
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
        or None) and `batches` (of the plain method; see `plain.TOGETHER`); `warning`
        (str) where the model gets no first token, though its family reads one.
    """
    said = tokens.unbegun(model)
    return asdict(scorer(model).method) | ({"warning": said} if said else {})


def pack_length(model: LanguageModel) -> int:
    """Return how many tokens a pack of a model holds, with the logits of all within memory."""
    if isinstance(model, Served):
        return SERVED
    vocabulary, width = model.model.get_input_embeddings().weight.shape
    return gpu.pack_length(model.device, width, vocabulary)
