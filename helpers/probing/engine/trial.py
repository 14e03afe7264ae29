"""Whether a way of scoring gives what plain batches give, tried once a model on random texts.

That a model has passed is kept in the user's cache, by model, device, format, length of
packs, versions of the libraries and state of this code.
"""

import contextlib
import functools
import itertools
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
    """Return the method that a model passes its trial with; a model that fails is plain."""
    attention = str(model.config._attn_implementation)
    name, reason = families.scoring_method_and_reason(model.config, attention)

    def found() -> tuple[dict[str, Any], bool]:
        if name == "plain":
            return asdict(Method(name, reason, batches=_batches(model))), True
        apart, why = trial_difference_and_failure(
            model, length, way, functools.partial(plain.score_in_batches, model)
        )
        if not why:
            return asdict(Method(name, reason, apart)), True
        failed = Method(
            "plain", f"{name} fails its check: {why}", apart, _batches(model)
        )
        return asdict(failed), False  # what fails is tried again

    made = Method(**trial_outcome(model, "scored", length, found))
    if made.method == "plain":
        LOG.warning(
            "%s is scored in plain batches, which is slow: %s.", model.name, made.reason
        )
    return made


def _batches(model: Local) -> str:
    """Return which rows plain batches may put together without changing what one alone scores."""
    ways = [
        functools.partial(plain.score_in_batches, model, batches=batches)
        for batches in plain.BATCH_KINDS
    ]
    for together, run in zip(plain.BATCH_KINDS, ways):
        try:
            apart = largest_score_difference(model, run, ways[-1])
        except Exception as error:  # whatever a model raises, smaller batches remain
            if isinstance(error, UserError) or gpu.is_out_of_memory(error):
                raise
            LOG.info("%s: batches %s fail (%s).", model.name, together, error)
            continue
        if apart <= model_checks.log_probability_tolerance(model):
            return together
    raise UserError(
        f"{model.name} does not give the same log-probabilities twice for the same text; choose "
        "another model."
    )


def trial_difference_and_failure(
    model: Local,
    length: int,
    way: ScoringWay,
    reference: Callable[[list[Row]], Scores],
    scored: int | None = None,
) -> tuple[float | None, str]:
    """Return how far scores in packs, cut and full, are from the reference, and why they fail."""
    try:
        apart = largest_score_difference(
            model, lambda rows: way(rows, SHORT_PACK_LENGTH), reference
        )
        if apart <= model_checks.log_probability_tolerance(model):
            rows = rows_that_fill_pack(model, length, scored)
            apart = max(
                apart,
                largest_score_difference(
                    model, lambda rows: way(rows, length), reference, rows
                ),
            )
    except UserError:
        raise
    except Exception as error:  # whatever a model raises, the plain way remains
        return None, f"{type(error).__name__}: {error}"
    why = f"log-probabilities differ by {apart:.2g} from plain batches"
    return apart, "" if apart <= model_checks.log_probability_tolerance(model) else why


def largest_score_difference(
    model: Local,
    way: Callable[[list[Row]], Scores],
    reference: Callable[[list[Row]], Scores],
    filling: list[Row] | None = None,
) -> float:
    """Return the largest difference of two ways; in half precision what 99 % do not exceed."""
    rows = sample_rows(model) if filling is None else filling
    with _narrow(model) if filling is None else nullcontext():
        left, right = (
            {row: values for part in run(rows) for row, values in part.items()}
            for run in (way, reference)
        )
    pairs = [(a, b) for row in rows for a, b in zip(left[row], right[row], strict=True)]
    model_checks.refuse_invalid_log_probabilities(
        model, (number for pair in pairs for number in pair)
    )
    whole = filling is None or model.dtype == torch.float32
    return float(np.quantile(np.abs(np.diff(pairs)), 1 if whole else 0.99))


def rows_that_fill_pack(
    model: Local, length: int, scored: int | None = None
) -> list[Row]:
    """Return random rows below one beginning, scored in full or at the end, that fill a pack."""
    text = model_checks.random_text_sampler(model)
    size = max(2, length // N_BRANCHES)
    if model.max_length is not None:
        size = min(
            size, 2 * model.max_length // 3 - 1
        )  # with a beginning of half of it
    head, source = (
        text(max(1, size // 2)),
        text(size) if model.kind == "seq2seq" else (),
    )
    rows = [head + text(size + 1) for _ in range(length // size + 1)]
    return [
        Row(ids, 1 if scored is None else len(ids) - scored, source) for ids in rows
    ]


def sample_rows(model: Local) -> list[Row]:
    """Return random rows that share much and little, longer than the trial's window."""
    text = model_checks.random_text_sampler(model)
    heads = [text(2 * TRIAL_WINDOW), text(3)]
    sources = [text(5), text(9)] if model.kind == "seq2seq" else [(), ()]
    rows = []
    for head, source in zip(heads, sources):
        for subject in (text(1), text(2)):
            shared_choice = text(2)
            for choice in (shared_choice, shared_choice + text(2), text(1), text(3)):
                before = head + subject
                rows.append(Row(before + choice, len(before), source))
    return list(dict.fromkeys(rows))


@contextmanager
def _narrow(model: Local) -> Iterator[None]:
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
    model: Local, name: str, length: int, found: Callable[[], tuple[Any, bool]]
) -> Any:
    """Return the outcome of a trial: a kept one, or the one that is found, kept if it passed."""
    if not model.weights_sha:  # a model in training, which is another at each step
        return found()[0]
    kernels = torch.backends.cpu.get_cpu_capability()
    if model.device.type == "cuda":
        kernels = torch.cuda.get_device_name(model.device)
    attention = str(model.config._attn_implementation)
    said = (name, str(model.device), kernels, attention, length, _code())
    file = (
        outcomes_folder()
        / f"{caches.result_key(caches.model_identity_hash(model), (), *said)}.json"
    )
    with contextlib.suppress(OSError, ValueError):
        return json.loads(file.read_bytes())
    told, passed = found()
    if passed:
        whole = file.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            whole.write_text(json.dumps(told), encoding="utf-8")
            whole.replace(file)
    return told


def outcomes_folder() -> Path:
    """Return where outcomes are kept."""
    return user_cache.cache_folder("checks")


@functools.cache
def _code() -> str:
    folders = Path(__file__).parent, Path(model_checks.__file__).parent
    found = (part.glob(kind) for part in folders for kind in ("*.py", "*.toml"))
    return user_cache.checksum_of_files(sorted(itertools.chain.from_iterable(found)))
