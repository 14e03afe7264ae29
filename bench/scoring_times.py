"""Time the scoring against the plain ways and two peers: ``python -m bench.scoring_times``.

One process, one number of threads, the same requests for every method. Ours is always
measured whole; a slow method may be measured on the first requests and scaled by the
count of requests, and its row says so.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from bench import published_procedure, scoring_costs, scoring_methods, workloads
from bench.scoring_methods import TokenScores
from bench.workloads import ListShape
from helpers import probing
from helpers.models import LanguageModel, tokens
from notebooks.atlas.training_loop import reproducible_sums

RESULTS_FILE = Path(__file__).parent / "results" / "scoring.json"
OUR_METHOD = "ours, packed"
LIST_SHAPE = ListShape()
TRAINED_LIST_SHAPE = ListShape(tokens=(1, 9))
WHOLE_RELATION_SHAPE = ListShape(subjects=390, tokens=(1, 9), relation="P17")


@dataclass(frozen=True)
class ScoringMethod:
    """A way to score, how often it is measured, on a part or whole, and the package it needs."""

    name: str
    run: Callable[[LanguageModel, pd.DataFrame], TokenScores]
    repeats: int = 1
    whole: bool = False
    package: str = ""


SCORING_METHODS = (
    ScoringMethod(OUR_METHOD, scoring_methods.helpers_scores, repeats=5, whole=True),
    ScoringMethod(
        "cached prefix, batch 16", scoring_methods.cached_prefix_scores, whole=True
    ),
    ScoringMethod(
        "cached prefix, batch 64",
        partial(scoring_methods.cached_prefix_scores, size=64),
        whole=True,
    ),
    ScoringMethod(
        "plain, batch 16, choice's logits", scoring_methods.plain_batch_scores
    ),
    ScoringMethod("naive, batch 16, all logits", scoring_methods.full_logits_scores),
    ScoringMethod(
        "lm-evaluation-harness, batch 16",
        scoring_methods.lm_eval_scores,
        package="lm_eval",
    ),
    ScoringMethod(
        "minicons, batch 16", scoring_methods.minicons_scores, package="minicons"
    ),
)


def method_cost_records(
    model: LanguageModel,
    probes: pd.DataFrame,
    requests: int | None = None,
    peers: bool = True,
    repeats: int | None = None,
) -> list[dict[str, Any]]:
    """Return one record a method: seconds, tokens, ratio, share of the ceiling, difference.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
        From `workloads.list_probes`.
    requests : int, optional
        On how many requests, from the first on, the slow methods are measured; by
        default on all.
    peers : bool
        Whether packages of others are measured too, those that are installed.
    repeats : int, optional
        Of our method; the median counts.

    Returns
    -------
    list of dict
        ``name, seconds, tokens, head_rows, ratio_to_ours, ceiling_share, max_abs_diff,
        measured_requests, scaled, repeats``.
    """
    records, answers = [], []
    asked = [
        m for m in SCORING_METHODS if not m.package or (peers and find_spec(m.package))
    ]
    part = probes.iloc[:requests]
    top = scoring_costs.peak_operations_per_second(model)
    for method in asked:
        given = probes if method.whole else part
        times = (
            (repeats or method.repeats) if method.name == OUR_METHOD else method.repeats
        )
        record, found = method_cost_and_scores(
            model, given, method.run, times, len(probes)
        )
        answers = answers or found
        ours = [answers[i] for i in probes.index.get_indexer(given.index)]
        record["max_abs_diff"] = scoring_methods.largest_score_difference(found, ours)
        records.append({"name": _named(method), **record})
        print(
            f"  {method.name}: {record['seconds']:.1f} s", file=sys.stderr, flush=True
        )
    return records_with_ratios(
        records, max(top, scoring_costs.peak_operations_per_second(model))
    )


def method_cost_and_scores(
    model: LanguageModel,
    probes: pd.DataFrame,
    run: Callable[[LanguageModel, pd.DataFrame], TokenScores],
    repeats: int,
    requests: int,
) -> tuple[dict[str, Any], TokenScores]:
    """Return what one method costs on probes, scaled to a number of requests, and its scores.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
    run : callable
    repeats : int
    requests : int
        Of the whole workload.

    Returns
    -------
    tuple of (dict, list)
    """

    def run_anew() -> TokenScores:
        tokens.forget_token_ids(model)  # tokenisation counts, for everybody
        return run(model, probes)

    with scoring_costs.count_work(model) as work:
        spent, found = scoring_costs.seconds_and_last_result(run_anew, repeats)
    work = scoring_costs.ModelWork(*(count // repeats for count in vars(work).values()))
    typical, scale = scoring_costs.median_seconds(spent.clock), requests / len(probes)
    weights, all_products = (
        scoring_costs.matrix_operations(model, work, both) for both in (False, True)
    )
    record = {
        "seconds": typical * scale,
        "tokens": round(work.tokens * scale),
        "head_rows": round(work.head_rows * scale),
        "gflop": all_products * scale / 1e9,
        "gflop_without_attention": weights * scale / 1e9,
        "measured_requests": len(probes),
        "measured_seconds": spent.clock,
        "processor_seconds": scoring_costs.median_seconds(spent.processor) * scale,
        "scaled": scale != 1,
    }
    return record, found


def records_with_ratios(
    records: list[dict[str, Any]], top: float
) -> list[dict[str, Any]]:
    """Return records with what they are in relation to others.

    Parameters
    ----------
    records : list of dict
        Ours first.
    top : float
        Operations a second that the processor reaches at best.

    Returns
    -------
    list of dict
        With `ratio_to_ours`, how many times as long as the first, and the shares of the
        ceiling.
    """
    first, made = records[0]["seconds"], []
    for record in records:
        more = {"ratio_to_ours": record["seconds"] / first}
        for name in ("", "_without_attention"):
            if f"gflop{name}" in record:
                rate = record[f"gflop{name}"] / record["seconds"]
                more[f"ceiling_share{name}"] = rate * 1e9 / top
        made.append({**record, **more})
    return made


def monitor_costs(model: LanguageModel, n_facts: int, sample: int) -> dict[str, Any]:
    """Return MONITOR's cost by the published procedure and by ours.

    Parameters
    ----------
    model : LanguageModel
    n_facts : int
    sample : int
        How many of the facts the published procedure is measured on.

    Returns
    -------
    dict
        `workload` and `methods`, as in the results file.
    """
    probes, top = (
        published_procedure.monitor_probes(n_facts),
        scoring_costs.peak_operations_per_second(model),
    )
    kept = list(dict.fromkeys(probes["item"]))[:: -(-n_facts // sample)]
    part = probes[probes["item"].isin(kept)]
    records = []
    for name, run in published_procedure.MONITOR_METHODS.items():
        theirs = run is published_procedure.beam_logprobs
        times, given = (1, part) if theirs else (3, probes)
        record, _ = method_cost_and_scores(model, given, run, times, len(probes))
        records.append({"name": name, **record})
        print(f"  {name}: {record['seconds']:.1f} s", file=sys.stderr, flush=True)
    workload = {
        "name": "MONITOR",
        "model": model.name,
        "facts": n_facts,
        "requests": len(probes),
    }
    return {
        "workload": workload,
        "methods": records_with_ratios(
            records, max(top, scoring_costs.peak_operations_per_second(model))
        ),
    }


def whole_relation_costs(
    model: LanguageModel, shape: ListShape, known: dict[str, Any]
) -> dict[str, Any]:
    """Return the cost of a whole relation by ours, and an estimate of the naive way.

    Parameters
    ----------
    model : LanguageModel
    shape : Shape
    known : dict
        The naive method's record on the first workload; its seconds a token are taken
        over.

    Returns
    -------
    dict
        `workload` and `methods`; the naive record has ``estimated: true``.
    """
    probes = workloads.list_probes(model, shape)
    told = workloads.workload_description(model, probes)
    top = scoring_costs.peak_operations_per_second(model)
    record, _ = method_cost_and_scores(
        model, probes, scoring_methods.helpers_scores, 1, len(probes)
    )
    length = told["prefix_tokens"] + told["subject_tokens"] + told["choice_tokens"]
    n_tokens = round(length * len(probes))
    guess = {
        "name": known["name"],
        "seconds": known["seconds"] / known["tokens"] * n_tokens,
        "tokens": n_tokens,
        "estimated": True,
    }
    records = records_with_ratios(
        [{"name": OUR_METHOD, **record}, guess],
        max(top, scoring_costs.peak_operations_per_second(model)),
    )
    return {"workload": {"name": "a whole relation", **told}, "methods": records}


def _named(method: ScoringMethod) -> str:
    if not method.package:
        return method.name
    first, comma, rest = method.name.partition(",")
    return f"{first} {metadata.version(method.package)}{comma}{rest}"


def methods_table(result: dict[str, Any]) -> str:
    """Return one workload's methods as a table for the terminal."""
    frame = pd.DataFrame(result["methods"])
    columns = [
        "name",
        "seconds",
        "tokens",
        "ratio_to_ours",
        "ceiling_share",
        "max_abs_diff",
    ]
    shown = frame.reindex(columns=columns).astype(object)
    forms = ("{}", "{:.2f}", "{:,}", "{:.1f}", "{:.0%}", "{:.1e}")
    for column, form in zip(columns, forms):
        shown[column] = [form.format(x) if pd.notna(x) else "" for x in shown[column]]
    marks = [r.get("estimated") or r.get("scaled") for r in result["methods"]]
    shown["seconds"] = [
        f"~{s}" if mark else s for s, mark in zip(shown["seconds"], marks)
    ]
    title = ", ".join(f"{k} {v}" for k, v in result["workload"].items())
    right = ("left", *["right"] * (len(columns) - 1))
    return f"{title}\n{shown.to_markdown(index=False, colalign=right)}\n"


def benchmark_results(settings: argparse.Namespace) -> dict[str, Any]:
    """Return all results: machine, the first workload and its methods, and the others."""
    model = workloads.random_model(settings.seed)
    probing.scoring_method(
        model
    )  # the first time it makes a check, which is not to be timed
    probes = workloads.list_probes(model, LIST_SHAPE, settings.seed)
    told = {
        "name": "lists, randomly initialised GPT-2",
        **workloads.workload_description(model, probes),
    }
    print(told["name"], file=sys.stderr, flush=True)
    records = method_cost_records(model, probes, settings.requests, settings.peers)
    result = {
        "machine": {
            **scoring_costs.machine_description(),
            "ceiling_gflops": records[0]["gflop"]
            / records[0]["seconds"]
            / records[0]["ceiling_share"],
        },
        "workload": told,
        "methods": records,
        "more": [],
    }
    if settings.relation:
        known = next(r for r in records if r["name"].startswith("naive"))
        result["more"].append(whole_relation_costs(model, WHOLE_RELATION_SHAPE, known))
    trained = workloads.trained_model()
    if trained is not None:
        probing.scoring_method(trained)
        probes = workloads.list_probes(trained, TRAINED_LIST_SHAPE, settings.seed)
        told = {
            "name": "lists, atlas-s",
            **workloads.workload_description(trained, probes),
        }
        print(told["name"], file=sys.stderr, flush=True)
        result["more"].append(
            {
                "workload": told,
                "methods": method_cost_records(
                    trained, probes, TRAINED_LIST_SHAPE.choices, settings.peers
                ),
            }
        )
        result["more"].append(monitor_costs(trained, settings.facts, settings.sample))
    return result


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write the results file."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scoring_times", description=__doc__
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="threads of every method"
    )
    parser.add_argument(
        "--requests", type=int, default=32, help="of 800, for the slow methods"
    )
    parser.add_argument("--facts", type=int, default=200, help="of MONITOR")
    parser.add_argument(
        "--sample", type=int, default=20, help="of them, for the published way"
    )
    both = argparse.BooleanOptionalAction
    parser.add_argument(
        "--relation", action=both, default=True, help="390 subjects, by ours"
    )
    parser.add_argument(
        "--peers", action=both, default=True, help="packages of others, too"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS_FILE)
    settings = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    with reproducible_sums(settings.threads):
        result = benchmark_results(settings)
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    settings.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    for part in (result, *result["more"]):
        print(methods_table(part))


if __name__ == "__main__":
    main()
