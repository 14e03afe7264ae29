"""Tasks for other tools: their plain measures beside ours, and run by the tools themselves."""

import json
import os
import sys
from pathlib import Path

import pytest

from bench.plugins.make_tasks import write_tasks
from helpers import exchange
from helpers.io import files
from helpers.runs import measuring
from tests.program_calls import run_program

STUDIES = ("monitor", "multiplicity")
RELATIONS = ["P17", "P36", "P30", "P37"]


@pytest.fixture
def plain(monkeypatch):
    """Import the copied measures, which stand beside what they need, as a tool does."""

    def imported(folder):
        monkeypatch.syspath_prepend(str(folder))
        for name in ("knowledge_measures", "matching"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__("knowledge_measures")

    return imported


def told(shared, name):
    return {
        each["measure"]: each["estimate"]
        for each in shared.record["runs"][name]["measures"]
    }


def test_plain_measures_are_those_of_an_archive(root, tmp_path, plain):
    """The answers of the archive, in place of a tool's: two implementations of the measures."""
    shared = exchange.read_archive(root / "results" / "atlas-xs.zip")
    write_tasks(root / "results" / "atlas-xs.zip", tmp_path)
    knowledge = plain(tmp_path)
    tables = {
        name: files.read_parquet_table(shared.files[f"{name}/answers.parquet"], name)
        for name in STUDIES
    }

    answers = tables["monitor"].set_index(["item", "variant"])
    rows = []
    for doc in knowledge.read_documents("monitor"):
        said = [
            answers.loc[(doc["item"], prompt["variant"])] for prompt in doc["prompts"]
        ]
        rows.append(
            knowledge.monitor_measures(
                doc, [r["logprobs"] for r in said], [r["text"] for r in said]
            )
        )
    found = {
        name: knowledge.fmean(row[name] for row in rows)
        for name in rows[0]
        if name.islower()
    }
    found["MONITOR"] = knowledge.monitor_ratio([row["MONITOR"] for row in rows])
    assert found == pytest.approx(told(shared, "monitor"), abs=1e-12)

    answers = tables["multiplicity"].groupby(["item", "variation"], sort=False)[
        "logprobs"
    ]
    sums = answers.agg(lambda logs: [sum(each) for each in logs])
    rows = [
        knowledge.multiplicity_measures(doc, sums[doc["item"]])
        for doc in knowledge.read_documents("multiplicity")
    ]
    found = {name: knowledge.fmean(row[name] for row in rows) for name in rows[0]}
    assert found == pytest.approx(told(shared, "multiplicity"), abs=1e-12)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return what `measure` says of atlas-s, and the folder of the tasks."""
    place = tmp_path_factory.mktemp("plugins")
    given = {"n_facts": 1, "n_items": 10, "relations": RELATIONS, "n_bootstrap": 20}
    list(
        measuring.measure_model(
            "atlas-s", STUDIES, given | {"device": "cpu"}, place / "runs"
        )
    )
    write_tasks(place / "runs" / "atlas-s", place / "tasks")
    return exchange.describe_runs(place / "runs" / "atlas-s"), place / "tasks"


def ran(variable, *words, folder):
    """Run a tool by the interpreter that a variable names; skip where there is none."""
    if not (python := os.environ.get(variable)):
        pytest.skip(f"{variable} names no interpreter")
    run_program(
        python, "-m", *words, cwd=folder, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )


@pytest.mark.slow
def test_the_harness_finds_what_measure_does(measured, root, tmp_path):
    shared, tasks = measured
    model = f"pretrained={root}/helpers/models/weights/atlas-s,dtype=float32"
    words = [
        "lm_eval",
        "run",
        "--model",
        "hf",
        "--model_args",
        model,
        "--device",
        "cpu",
    ]
    words += [
        "--include_path",
        tasks,
        "--tasks",
        *STUDIES,
        "--output_path",
        tmp_path / "out",
    ]
    ran("PYTHON_OF_LM_EVAL", *words, "--batch_size", 16, folder=tmp_path)
    (path,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(path.read_text())["results"]
    for name in STUDIES:
        for measure, estimate in told(shared, name).items():
            assert found[name][f"{measure},none"] == pytest.approx(estimate, abs=1e-6)


@pytest.mark.slow
def test_inspect_finds_what_measure_does(measured, root, tmp_path):
    shared, tasks = measured
    words = ["inspect_ai", "eval", "inspect_tasks.py", "--log-format", "json"]
    words += [
        "-T",
        f"path={root}/helpers/models/weights/atlas-s",
        "--log-dir",
        tmp_path,
    ]
    ran("PYTHON_OF_INSPECT", *words, "--display", "plain", folder=tasks)
    found = {}
    for path in Path(tmp_path).glob("*.json"):
        log = json.loads(path.read_text())
        scores = log["results"]["scores"]
        found[log["eval"]["task"]] = {
            score["name"] if name == "mean" else "MONITOR": metric["value"]
            for score in scores
            for name, metric in score["metrics"].items()
        }
    assert found == {
        name: pytest.approx(told(shared, name), abs=1e-6) for name in STUDIES
    }
