"""Time scoring by vLLM beside scoring at hand: ``python -m tests.server.timing``.

The same probes, one thread each, the two in turn; medians and their ratio go to
``tests/server/results/scoring.json``. Processor seconds stand beside seconds by the
clock, for a machine that has other work; a server's tokens are those that its own
counters tell.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import torch
import transformers

from helpers import models, probing
from helpers.models import tokens
from tests.server.test_vllm import (
    MODEL,
    largest_difference,
    list_probes,
    monitor_probes,
)
from tests.server.vllm_server import VllmServer

RESULTS_FILE = Path(__file__).parent / "results" / "scoring.json"
WORKLOADS = {"MONITOR": monitor_probes, "IC-LKE": list_probes}


def scoring_time_rows(server: VllmServer, repeats: int) -> list[dict[str, object]]:
    """Return one row a workload: seconds and tokens of both, and how far their scores differ."""
    served = models.load(server.address)
    at_hand = models.load(MODEL, device="cpu", dtype="float32")
    rows = []
    for name, make in WORKLOADS.items():
        probes = make()
        ways = {"server": served, "here": at_hand}
        found = {
            way: probing.score(lm, probes, progress=False) for way, lm in ways.items()
        }
        times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        counted = []
        for _ in range(repeats):
            before = server.tokens()
            server.forget()  # else each repeat would find the texts of the last one
            for way, lm in ways.items():
                tokens.forget_token_ids(lm)
                who = server if way == "server" else None
                times[way].append(_timed(partial(_score, lm, probes), who))
            counted.append(
                {name: server.tokens()[name] - before[name] for name in before}
            )
        row = {"workload": name, **probing.scoring_work(at_hand, probes)}
        for way, taken in times.items():
            wall, processor = zip(*taken)
            row[f"{way}_seconds"] = round(statistics.median(wall), 3)
            row[f"{way}_processor_seconds"] = round(statistics.median(processor), 3)
        for kind in ("seconds", "processor_seconds"):
            pairs = zip(*(times[way] for way in ways))
            at = kind == "processor_seconds"
            ratio = statistics.median(a[at] / b[at] for a, b in pairs)
            row[f"server_over_here_{kind}"] = round(ratio, 2)
        asked, kept = (
            round(statistics.median(c[k] for c in counted)) for k in ("asked", "kept")
        )
        row |= {"server_tokens_sent": asked, "server_tokens_computed": asked - kept}
        row["max_abs_diff"] = largest_difference(
            found["server"]["logprobs"], found["here"]["logprobs"]
        )
        rows.append(row)
    return rows


def _score(lm: models.LanguageModel, probes: pd.DataFrame) -> None:
    probing.score(lm, probes, progress=False)


def _timed(
    work: Callable[[], None], server: VllmServer | None = None
) -> tuple[float, float]:
    """Return seconds by the clock, and the processor's of this process and of a server at work.

    (A server that waits spins: its seconds count only where it is asked.)
    """

    def processor() -> float:
        return time.process_time() + (server.processor_seconds() if server else 0.0)

    began, used = time.perf_counter(), processor()
    work()
    return time.perf_counter() - began, processor() - used


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    with (
        tempfile.TemporaryDirectory() as folder,
        VllmServer(MODEL, Path(folder) / "vllm.log") as server,
    ):
        rows, versions = scoring_time_rows(server, repeats), server.versions()
    report = {
        "model": MODEL,
        "server": versions,
        "here": {"torch": torch.__version__, "transformers": transformers.__version__},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, one thread each",
        "load": round(os.getloadavg()[0], 1),
        "repeats": repeats,
        "workloads": rows,
    }
    RESULTS_FILE.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(pd.DataFrame(rows).T.to_string(header=False))


if __name__ == "__main__":
    main()
