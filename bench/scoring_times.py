"""Time the scoring against plain ways and two peers: ``python -m bench.scoring_times``.

One process, one number of threads, the same requests for every method. Ours is always
measured whole; a slow method may be measured on the first requests and scaled by the
count of requests, and its row says so.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
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
# The columns of the table for the terminal.
COLUMN_FORMATS = {
    "name": "{}",
    "seconds": "{:.2f}",
    "tokens": "{:,}",
    "ratio_to_ours": "{:.1f}",
    "host_share": "{:.0%}",
    "ceiling_share": "{:.0%}",
    "max_abs_diff": "{:.1e}",
}


@dataclass(frozen=True)
class ScoringMethod:
    """A way to score and how it is measured.

    Attributes
    ----------
    name : str
    run : callable
    repeats : int
        How often it is measured.
    whole : bool
        Whether on all requests, however long it takes.
    package : str
        The package that it needs, if any.
    """

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
    """Return one record a method: its cost, share of the ceiling and difference.

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
    records = []
    our_scores: TokenScores = []
    first_probes = probes.iloc[:requests]
    peak = scoring_costs.peak_operations_per_second(model)
    for method in _measured_methods(peers):
        method_probes = probes if method.whole else first_probes
        method_repeats = method.repeats
        if method.name == OUR_METHOD and repeats:
            method_repeats = repeats
        record, scores = method_cost_and_scores(
            model, method_probes, method.run, method_repeats, len(probes)
        )
        if method.name == OUR_METHOD:
            our_scores = scores
        record["max_abs_diff"] = scoring_methods.largest_score_difference(
            scores, our_scores[: len(method_probes)]
        )
        records.append({"name": _name_with_version(method), **record})
        _report(f"  {method.name}: {record['seconds']:.1f} s")
    peak = max(peak, scoring_costs.peak_operations_per_second(model))
    return records_with_ratios(records, peak)


def _measured_methods(peers: bool) -> list[ScoringMethod]:
    """Return the methods to measure: ours first, and packages that are installed."""
    methods = []
    for method in SCORING_METHODS:
        if not method.package or (peers and find_spec(method.package)):
            methods.append(method)
    return methods


def _name_with_version(method: ScoringMethod) -> str:
    if not method.package:
        return method.name
    package, comma, rest = method.name.partition(",")
    return f"{package} {metadata.version(method.package)}{comma}{rest}"


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def method_cost_and_scores(
    model: LanguageModel,
    probes: pd.DataFrame,
    run: Callable[[LanguageModel, pd.DataFrame], TokenScores],
    repeats: int,
    requests: int,
) -> tuple[dict[str, Any], TokenScores]:
    """Return a method's cost on probes, scaled to a number of requests, and its scores.

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

    with scoring_costs.count_work(model) as total:
        spent, scores = scoring_costs.seconds_and_last_result(run_anew, repeats)
    work = scoring_costs.ModelWork(
        tokens=total.tokens // repeats,
        head_rows=total.head_rows // repeats,
        pairs=total.pairs // repeats,
    )
    scale = requests / len(probes)
    operations = scoring_costs.matrix_operations(model, work)
    without_attention = scoring_costs.matrix_operations(model, work, attention=False)
    record = {
        "seconds": scoring_costs.median_seconds(spent.clock) * scale,
        "tokens": round(work.tokens * scale),
        "head_rows": round(work.head_rows * scale),
        "gflop": operations * scale / 1e9,
        "gflop_without_attention": without_attention * scale / 1e9,
        "measured_requests": len(probes),
        "measured_seconds": spent.clock,
        "processor_seconds": scoring_costs.median_seconds(spent.processor) * scale,
        "host_share": 1 - total.network_seconds / sum(spent.clock),
        "scaled": scale != 1,
    }
    return record, scores


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
    our_seconds = records[0]["seconds"]
    extended = []
    for record in records:
        ratios = {"ratio_to_ours": record["seconds"] / our_seconds}
        for suffix in ("", "_without_attention"):
            if f"gflop{suffix}" in record:
                rate = record[f"gflop{suffix}"] / record["seconds"]
                ratios[f"ceiling_share{suffix}"] = rate * 1e9 / top
        extended.append({**record, **ratios})
    return extended


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
    probes = published_procedure.monitor_probes(n_facts)
    peak = scoring_costs.peak_operations_per_second(model)
    items = list(dict.fromkeys(probes["item"]))
    sampled_items = items[:: math.ceil(n_facts / sample)]
    sampled_probes = probes[probes["item"].isin(sampled_items)]
    records = []
    for name, run in published_procedure.MONITOR_METHODS.items():
        if run is published_procedure.beam_logprobs:
            method_probes = sampled_probes
            repeats = 1
        else:
            method_probes = probes
            repeats = 3
        record, _ = method_cost_and_scores(
            model, method_probes, run, repeats, len(probes)
        )
        records.append({"name": name, **record})
        _report(f"  {name}: {record['seconds']:.1f} s")
    workload = {
        "name": "MONITOR",
        "model": model.name,
        "facts": n_facts,
        "requests": len(probes),
    }
    peak = max(peak, scoring_costs.peak_operations_per_second(model))
    return {"workload": workload, "methods": records_with_ratios(records, peak)}


def whole_relation_costs(
    model: LanguageModel, shape: ListShape, known: dict[str, Any]
) -> dict[str, Any]:
    """Return the cost of a whole relation by ours, and an estimate of the naive way.

    Parameters
    ----------
    model : LanguageModel
    shape : ListShape
    known : dict
        The naive method's record on the first workload; its seconds a token are taken
        over.

    Returns
    -------
    dict
        `workload` and `methods`; the naive record has ``estimated: true``.
    """
    probes = workloads.list_probes(model, shape)
    description = workloads.workload_description(model, probes)
    peak = scoring_costs.peak_operations_per_second(model)
    record, _ = method_cost_and_scores(
        model, probes, scoring_methods.helpers_scores, 1, len(probes)
    )
    parts = ("prefix_tokens", "subject_tokens", "choice_tokens")
    tokens_per_text = sum(description[part] for part in parts)
    n_tokens = round(tokens_per_text * len(probes))
    ours = {"name": OUR_METHOD, **record}
    naive = {
        "name": known["name"],
        "seconds": known["seconds"] / known["tokens"] * n_tokens,
        "tokens": n_tokens,
        "estimated": True,
    }
    peak = max(peak, scoring_costs.peak_operations_per_second(model))
    return {
        "workload": {"name": "a whole relation", **description},
        "methods": records_with_ratios([ours, naive], peak),
    }


def methods_table(result: dict[str, Any]) -> str:
    """Return one workload's methods as a table for the terminal."""
    records = pd.DataFrame(result["methods"])
    table = records.reindex(columns=list(COLUMN_FORMATS)).astype(object)
    for column, column_format in COLUMN_FORMATS.items():
        texts = []
        for value in table[column]:
            texts.append(column_format.format(value) if pd.notna(value) else "")
        table[column] = texts
    seconds = []
    for text, record in zip(table["seconds"], result["methods"], strict=True):
        is_estimate = record.get("estimated") or record.get("scaled")
        seconds.append(f"~{text}" if is_estimate else text)
    table["seconds"] = seconds
    title = ", ".join(f"{name} {value}" for name, value in result["workload"].items())
    alignments = ["left"] + ["right"] * (len(COLUMN_FORMATS) - 1)
    return f"{title}\n{table.to_markdown(index=False, colalign=alignments)}\n"


def benchmark_results(settings: argparse.Namespace) -> dict[str, Any]:
    """Return all results: machine, the first workload's methods, other workloads."""
    model = workloads.random_model(settings.seed)
    first = list_costs(
        "lists, randomly initialised GPT-2",
        model,
        LIST_SHAPE,
        settings,
        requests=settings.requests,
    )
    records = first["methods"]
    ours = records[0]
    ceiling = ours["gflop"] / ours["seconds"] / ours["ceiling_share"]
    machine = {**scoring_costs.machine_description(), "ceiling_gflops": ceiling}
    more = []
    if settings.relation:
        naive = [record for record in records if record["name"].startswith("naive")]
        more.append(whole_relation_costs(model, WHOLE_RELATION_SHAPE, naive[0]))
    trained = workloads.trained_model()
    if trained is not None:
        lists = list_costs(
            "lists, atlas-s",
            trained,
            TRAINED_LIST_SHAPE,
            settings,
            requests=TRAINED_LIST_SHAPE.choices,
        )
        more.append(lists)
        more.append(monitor_costs(trained, settings.facts, settings.sample))
    return {"machine": machine, **first, "more": more}


def list_costs(
    name: str,
    model: LanguageModel,
    shape: ListShape,
    settings: argparse.Namespace,
    requests: int,
) -> dict[str, Any]:
    """Return the cost of a list workload by every method.

    Parameters
    ----------
    name : str
        Of the workload.
    model : LanguageModel
    shape : ListShape
    settings : Namespace
        Its `seed` and `peers` are read.
    requests : int
        On how many the slow methods are measured.

    Returns
    -------
    dict
        `workload` and `methods`, as in the results file.
    """
    # The first call for a model makes a check, which is not to be timed.
    probing.scoring_method(model)
    probes = workloads.list_probes(model, shape, settings.seed)
    description = workloads.workload_description(model, probes)
    _report(name)
    records = method_cost_records(model, probes, requests, settings.peers)
    return {"workload": {"name": name, **description}, "methods": records}


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
    yes_or_no = argparse.BooleanOptionalAction
    parser.add_argument(
        "--relation", action=yes_or_no, default=True, help="390 subjects, by ours"
    )
    parser.add_argument(
        "--peers", action=yes_or_no, default=True, help="packages of others, too"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS_FILE)
    settings = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    with reproducible_sums(settings.threads):
        result = benchmark_results(settings)
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    settings.out.write_text(text, encoding="utf-8")
    for workload_result in (result, *result["more"]):
        print(methods_table(workload_result))


if __name__ == "__main__":
    main()
