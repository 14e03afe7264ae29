"""Whether a way of scoring gives what plain batches give, tried on random texts.

A model is tried once. That it has passed is kept in the user's cache, by model, device,
format, length of packs, versions of the libraries and state of this code.
"""

import contextlib
import functools
import itertools
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from helpers import UserError
from helpers.io import user_cache
from helpers.models import Local, families, gpu, model_checks
from helpers.models.language_model import Method
from helpers.models.tokens import Row
from helpers.probing import result_cache as caches
from helpers.probing.engine import plain

LOG = logging.getLogger(__name__)
T = TypeVar("T")
Scores = Iterator[dict[Row, tuple[float, ...]]]
ScoringWay = Callable[[list[Row], int], Scores]  # of scoring rows in packs of a length
# The sliding window during a trial of short texts, so that they are longer than what a
# token sees.
TRIAL_WINDOW = 6
# Packs so short that the tree of short texts is cut.
SHORT_PACK_LENGTH = 8
# Into how many branches a full pack is cut: fewer have longer texts, more repeat their
# beginning.
N_BRANCHES = 16


def method_by_trial(model: Local, length: int, way: ScoringWay) -> Method:
    """Return the method that a model passes its trial with; plain where it fails."""
    attention = str(model.config._attn_implementation)
    name, reason = families.scoring_method_and_reason(model.config, attention)

    def method_and_passed() -> tuple[dict[str, Any], bool]:
        if name == "plain":
            method = Method(name, reason, batches=_widest_exact_batches(model))
            return asdict(method), True
        reference = functools.partial(plain.score_in_batches, model)
        difference, failure = trial_difference_and_failure(
            model, length, way, reference
        )
        if not failure:
            return asdict(Method(name, reason, difference)), True
        reason_of_plain = f"{name} fails its check: {failure}"
        batches = _widest_exact_batches(model)
        method = Method("plain", reason_of_plain, difference, batches)
        return asdict(method), False  # what fails is tried again

    method = Method(**trial_outcome(model, "scored", length, method_and_passed))
    if method.method == "plain":
        LOG.warning(
            "%s is scored in plain batches, which is slow: %s.",
            model.name,
            method.reason,
        )
    return method


def _widest_exact_batches(model: Local) -> str:
    """Return which rows a batch may join without changing what one alone scores."""
    ways = {
        kind: functools.partial(plain.score_in_batches, model, batches=kind)
        for kind in plain.BATCH_KINDS
    }
    alone = ways[plain.BATCH_KINDS[-1]]
    for kind, way in ways.items():
        try:
            difference = largest_score_difference(model, way, alone)
        except Exception as error:  # whatever a model raises, smaller batches remain
            if isinstance(error, UserError) or gpu.is_out_of_memory(error):
                raise
            LOG.info("%s: batches %s fail (%s).", model.name, kind, error)
            continue
        if difference <= model_checks.log_probability_tolerance(model):
            return kind
    raise UserError(
        f"{model.name} does not give the same log-probabilities twice for the same "
        "text; choose another model."
    )


def trial_difference_and_failure(
    model: Local,
    length: int,
    way: ScoringWay,
    reference: Callable[[list[Row]], Scores],
    scored: int | None = None,
) -> tuple[float | None, str]:
    """Return how far scores in packs are from the reference, and why they fail.

    Packs are tried that are cut, and then full ones.
    """
    tolerance = model_checks.log_probability_tolerance(model)

    def in_short_packs(rows: list[Row]) -> Scores:
        return way(rows, SHORT_PACK_LENGTH)

    def in_full_packs(rows: list[Row]) -> Scores:
        return way(rows, length)

    try:
        difference = largest_score_difference(model, in_short_packs, reference)
        if difference <= tolerance:
            filling = rows_that_fill_pack(model, length, scored)
            difference_of_full = largest_score_difference(
                model, in_full_packs, reference, filling
            )
            difference = max(difference, difference_of_full)
    except UserError:
        raise
    except Exception as error:  # whatever a model raises, the plain way remains
        return None, f"{type(error).__name__}: {error}"
    if difference <= tolerance:
        return difference, ""
    return difference, (
        f"log-probabilities differ by {difference:.2g} from plain batches"
    )


def largest_score_difference(
    model: Local,
    way: Callable[[list[Row]], Scores],
    reference: Callable[[list[Row]], Scores],
    filling: list[Row] | None = None,
) -> float:
    """Return the largest difference of two ways, over random rows or those that fill.

    In half precision, of rows that fill a pack: what 99 % do not exceed.
    """
    if filling is None:
        rows = sample_rows(model)
        with _narrow_window(model):
            left = _scores_of_rows(way, rows)
            right = _scores_of_rows(reference, rows)
    else:
        rows = filling
        left = _scores_of_rows(way, rows)
        right = _scores_of_rows(reference, rows)
    pairs: list[tuple[float, float]] = []
    for row in rows:
        pairs += zip(left[row], right[row], strict=True)
    numbers = itertools.chain.from_iterable(pairs)
    model_checks.refuse_invalid_log_probabilities(model, numbers)
    share = 0.99
    if filling is None or model.dtype == torch.float32:
        share = 1
    return float(np.quantile(np.abs(np.diff(pairs)), share))


def _scores_of_rows(
    way: Callable[[list[Row]], Scores], rows: list[Row]
) -> dict[Row, tuple[float, ...]]:
    """Return all that a way yields for rows."""
    scores: dict[Row, tuple[float, ...]] = {}
    for part in way(rows):
        scores |= part
    return scores


def rows_that_fill_pack(
    model: Local, length: int, scored: int | None = None
) -> list[Row]:
    """Return random rows below one beginning that fill a pack.

    `scored`: how many tokens at the end are scored; None: all.
    """
    text = model_checks.random_text_sampler(model)
    size = max(2, length // N_BRANCHES)
    if model.max_length is not None:
        # With a beginning of half of it.
        size = min(size, 2 * model.max_length // 3 - 1)
    head = text(max(1, size // 2))
    source = text(size) if model.kind == "seq2seq" else ()
    rows = []
    for _ in range(length // size + 1):
        ids = head + text(size + 1)
        start = 1 if scored is None else len(ids) - scored
        rows.append(Row.of_ids(ids, start, source))
    return rows


def sample_rows(model: Local) -> list[Row]:
    """Return random rows that share much and little, longer than the trial's window."""
    text = model_checks.random_text_sampler(model)
    heads = [text(2 * TRIAL_WINDOW), text(3)]
    sources: list[tuple[int, ...]] = [(), ()]
    if model.kind == "seq2seq":
        sources = [text(5), text(9)]
    rows = []
    for head, source in zip(heads, sources, strict=True):
        for subject in (text(1), text(2)):
            shared_choice = text(2)
            for choice in (shared_choice, shared_choice + text(2), text(1), text(3)):
                before = head + subject
                rows.append(Row.of_ids(before + choice, len(before), source))
    return list(dict.fromkeys(rows))


@contextmanager
def _narrow_window(model: Local) -> Iterator[None]:
    """Shorten a model's sliding window, which its masks are made from at each pass."""
    config = families.text_config(model.config)
    window = getattr(config, "sliding_window", None)
    if not window:
        yield
        return
    config.sliding_window = min(window, TRIAL_WINDOW)
    try:
        yield
    finally:
        config.sliding_window = window


def trial_outcome(
    model: Local,
    name: str,
    length: int,
    outcome_and_passed: Callable[[], tuple[T, bool]],
) -> T:
    """Return the outcome of a trial, kept from before or new; it is kept if passed."""
    if not model.weights_sha:  # a model in training, which is another at each step
        return outcome_and_passed()[0]
    file = _outcome_file(model, name, length)
    with contextlib.suppress(OSError, ValueError):
        return json.loads(file.read_bytes())
    outcome, passed = outcome_and_passed()
    if passed:
        whole = file.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            whole.write_text(json.dumps(outcome), encoding="utf-8")
            whole.replace(file)
    return outcome


def _outcome_file(model: Local, name: str, length: int) -> Path:
    """Return the file of an outcome, which names all that decides it."""
    kernels = torch.backends.cpu.get_cpu_capability()
    if model.device.type == "cuda":
        kernels = torch.cuda.get_device_name(model.device)
    attention = str(model.config._attn_implementation)
    parts = (name, str(model.device), kernels, attention, length, _checksum_of_code())
    key = caches.result_key(caches.model_identity_hash(model), (), *parts)
    return outcomes_folder() / f"{key}.json"


def outcomes_folder() -> Path:
    """Return where outcomes are kept."""
    return user_cache.cache_folder("checks")


@functools.cache
def _checksum_of_code() -> str:
    """Return a checksum of all code and data that a trial rests on."""
    files: list[Path] = []
    for folder in (Path(__file__).parent, Path(model_checks.__file__).parent):
        files += folder.glob("*.py")
        files += folder.glob("*.toml")
    return user_cache.checksum_of_files(sorted(files))
