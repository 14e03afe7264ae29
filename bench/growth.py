"""Seconds of host and network, and memory, as work grows: ``python -m bench.growth``.

What grows is measured in a process of its own, on one thread, the smallest size first.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bench import published_procedure, scoring_costs, scoring_methods, workloads
from bench.workloads import ListShape
from helpers import models, probing
from helpers.models import LanguageModel, tokens
from helpers.studies import multiplicity
from notebooks.atlas.training_loop import reproducible_sums

RANDOM_MODEL = "random-gpt-2"
LIST_SHAPE = ListShape(24, choices=24, examples=16, tokens=(1, 9), relation="P17")
# What grows, and its smallest size: of lists, of MONITOR, of questions with options.
SMALLEST = {"subjects": 6, "choices": 3, "examples": 1, "facts": 3, "questions": 2}
FACTORS = (1, 4, 16, 64)
COSTS = ["host_seconds", "network_seconds", "peak_mib"]


def run_of_size(model: LanguageModel, grows: str, size: int) -> Callable[[], Any]:
    """Return what asks a model, with one thing of a size."""
    if grows == "questions":
        return partial(multiplicity.ask, model, n_items=size)
    if grows == "facts":
        monitor_probes = published_procedure.monitor_probes(size)
        run = published_procedure.object_logprobs_with_greedy_text
        return partial(run, model, monitor_probes)
    shape = replace(LIST_SHAPE, **{grows: size})
    probes = workloads.list_probes(model, shape)
    return partial(scoring_methods.helpers_scores, model, probes)


def costs_of_sizes(
    name: str, factors: Sequence[int], grows: str
) -> list[dict[str, Any]]:
    """Return what each size costs a model, and the most memory that was used so far."""
    if name == RANDOM_MODEL:
        model = workloads.random_model()
    else:
        model = models.load(name, device="cpu", dtype="float32")
    # The first call for a model makes a check, which is not to be timed.
    probing.scoring_method(model)
    costs = []
    for factor in sorted(factors):
        size = factor * SMALLEST[grows]
        run = run_of_size(model, grows, size)
        tokens.forget_token_ids(model)
        with reproducible_sums(1), scoring_costs.count_work(model) as work:
            spent, _ = scoring_costs.seconds_and_last_result(run)
        cost = {
            "grows": grows,
            "size": size,
            "host_seconds": spent.clock[0] - work.network_seconds,
            "network_seconds": work.network_seconds,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        costs.append(cost)
    return costs


def growth_table(name: str, factors: Sequence[int]) -> pd.DataFrame:
    """Return the costs of all that grows, a row a size."""
    # A process that was forked would begin with the memory of its parent.
    spawn = multiprocessing.get_context("spawn")
    costs_of_growth = partial(costs_of_sizes, name, factors)
    with ProcessPoolExecutor(1, spawn, max_tasks_per_child=1) as processes:
        costs = processes.map(costs_of_growth, SMALLEST)
        return pd.DataFrame(itertools.chain.from_iterable(costs))


def exponents(costs: pd.DataFrame) -> pd.DataFrame:
    """Return the powers of the size with which costs grow: 1 where in proportion."""
    powers = {}
    for grows, rows in costs.groupby("grows", sort=False):
        powers[grows] = np.polyfit(np.log(rows["size"]), np.log(rows[COSTS]), 1)[0]
    return pd.DataFrame.from_dict(powers, orient="index", columns=COSTS)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--model", default="atlas-m", help=f"or {RANDOM_MODEL}")
    parser.add_argument("--factors", type=int, nargs="+", default=FACTORS)
    settings = parser.parse_args(arguments)
    costs = growth_table(settings.model, settings.factors)
    print(costs.to_markdown(index=False, floatfmt=".3g"))
    print(exponents(costs).to_markdown(floatfmt=".2f"))


if __name__ == "__main__":
    main()
