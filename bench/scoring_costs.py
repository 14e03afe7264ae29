"""Seconds, tokens and arithmetic: what a method costs, seen from inside the model."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.pytorch_utils import Conv1D

from helpers.models import LanguageModel

PRODUCT_ROWS = 512  # of the products by which the ceiling is measured


@dataclass
class ModelWork:
    """What went through a model.

    Attributes
    ----------
    tokens : int
        Padding included.
    head_rows : int
        Tokens whose next word was asked for.
    pairs : int
        A token and one that it attends to; inside a pass over a cache only those in the
        cache.
    network_seconds : float
        By the clock, within the network; what is not, the host spends.
    """

    tokens: int = 0
    head_rows: int = 0
    pairs: int = 0
    network_seconds: float = 0.0


@contextmanager
def count_work(model: LanguageModel) -> Iterator[ModelWork]:
    """Count the work of a model inside the block, by any caller.

    Parameters
    ----------
    model : LanguageModel

    Yields
    ------
    Work
        Filled as the model is called.
    """
    work = ModelWork()
    starts: list[float] = []

    def start_clock(module: Any, inputs: tuple) -> None:
        starts.append(time.perf_counter())

    def stop_clock(module: Any, inputs: tuple, output: Any) -> None:
        work.network_seconds += time.perf_counter() - starts.pop()

    def count_pairs(module: Any, inputs: tuple, arguments: dict[str, Any]) -> None:
        ids = arguments["input_ids"] if "input_ids" in arguments else inputs[0]
        work.pairs += _attended_pairs(ids, arguments.get("past_key_values"))

    def count_tokens(module: Any, inputs: tuple, output: torch.Tensor) -> None:
        work.tokens += output.shape[:-1].numel()

    def count_head_rows(module: Any, inputs: tuple, output: torch.Tensor) -> None:
        work.head_rows += output.shape[:-1].numel()

    network = model.model
    hooks = [
        network.register_forward_pre_hook(count_pairs, with_kwargs=True),
        network.register_forward_pre_hook(start_clock),
        network.register_forward_hook(stop_clock),
        network.get_input_embeddings().register_forward_hook(count_tokens),
        network.get_output_embeddings().register_forward_hook(count_head_rows),
    ]
    try:
        yield work
    finally:
        for hook in hooks:
            hook.remove()


def _attended_pairs(ids: torch.Tensor, cache: Any) -> int:
    """Return how many pairs of a token and one that it sees a pass has."""
    cached = 0 if cache is None else cache.get_seq_length()
    if cached:
        return ids.numel() * cached
    return ids.numel() * (ids.shape[1] + 1) // 2


@dataclass
class SpentSeconds:
    """Seconds of each repeat, by the clock and of the processor.

    The processor's are less where other programs use it too.
    """

    clock: list[float]
    processor: list[float]


def seconds_and_last_result(
    run: Callable[[], Any], repeats: int = 1
) -> tuple[SpentSeconds, Any]:
    """Return the seconds of each repeat, and what the last one gave.

    Parameters
    ----------
    run : callable
    repeats : int

    Returns
    -------
    tuple of (Spent, any)
    """
    spent = SpentSeconds([], [])
    for _ in range(repeats):
        clock_start = time.perf_counter()
        processor_start = time.process_time()
        result = run()
        spent.clock.append(time.perf_counter() - clock_start)
        spent.processor.append(time.process_time() - processor_start)
    return spent, result


def matrix_operations(
    model: LanguageModel, work: ModelWork, attention: bool = True
) -> float:
    """Return the floating-point operations of a work's matrix products.

    Two for each weight and token, and for each channel of a head's query-key and
    weight-value products, with the keys alone that a token has to see; so a share of
    the ceiling that is made from this number never counts what a mask then throws away.

    Parameters
    ----------
    model : LanguageModel
    work : Work
    attention : bool
        Whether attention's products count.

    Returns
    -------
    float
    """
    body_weights = 0
    for (inputs, outputs), count in weight_shapes(model).items():
        body_weights += inputs * outputs * count
    head_weights = model.model.get_output_embeddings().weight.numel()
    products = body_weights * work.tokens + head_weights * work.head_rows
    if attention:
        products += _attention_channels(model) * work.pairs
    return 2.0 * products


def _attention_channels(model: LanguageModel) -> int:
    """Return how many channels of all heads' two products a pair of tokens has."""
    config = model.model.config
    heads = config.num_attention_heads
    head_size = getattr(config, "head_dim", None) or config.hidden_size // heads
    return 2 * config.num_hidden_layers * heads * head_size


def weight_shapes(model: LanguageModel) -> Counter[tuple[int, int]]:
    """Return the counts of the body's weight matrices by shape (inputs, outputs)."""
    head = model.model.get_output_embeddings()
    counts: Counter[tuple[int, int]] = Counter()
    for module in model.model.modules():
        if isinstance(module, torch.nn.Linear) and module is not head:
            counts[module.in_features, module.out_features] += 1
        elif isinstance(module, Conv1D):
            counts[tuple(module.weight.shape)] += 1
    return counts


@torch.inference_mode()
def peak_operations_per_second(
    model: LanguageModel, rows: int = PRODUCT_ROWS, repeats: int = 15
) -> float:
    """Return the operations a second that products of the body's shapes reach alone.

    Parameters
    ----------
    model : LanguageModel
    rows : int
        Tokens of a product.
    repeats : int
        The fastest of so many is taken for each shape.

    Returns
    -------
    float
    """
    seconds = 0.0
    operations = 0.0
    for (inputs, outputs), count in weight_shapes(model).items():
        left = torch.randn(rows, inputs)
        right = torch.randn(inputs, outputs)
        product = partial(torch.matmul, left, right)
        spent, _ = seconds_and_last_result(product, repeats)
        seconds += count * min(spent.clock)
        operations += count * 2.0 * rows * inputs * outputs
    return operations / seconds


def machine_description() -> dict[str, Any]:
    """Return what the figures hang on, in general terms."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gib": round(memory / 2**30),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    for line in lines:
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            return f"{name} ({platform.machine()})"
    return platform.machine()


def median_seconds(seconds: list[float]) -> float:
    """Return the median of repeats."""
    return statistics.median(seconds)
