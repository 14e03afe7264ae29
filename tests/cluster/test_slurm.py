"""A sweep on a real SLURM: one run cannot be made, the others are; mended, only its model runs."""

import json
import shutil
import sys

import pytest

from helpers import runs
from tests.cluster import slurm_node
from tests.program_calls import run_program

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(slurm_node.missing_program_reason()),
        reason=slurm_node.missing_program_reason() or "SLURM is here",
    ),
]
SMALL = ["n_facts=2", "relations=P17,P36", "attribution=no", "n_bootstrap=20"]
SMALL += ["n_items=4", "n_variations=3", "n_panel=0"]  # whose prompts are longer
CHAPTERS = ["monitor", "multiplicity"]
SHORT = 40  # tokens: enough for the prompts of MONITOR, too few for several shots


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """Return the environment of a cluster of one node."""
    with slurm_node.running_slurm_node(
        tmp_path_factory.mktemp("slurm") / "node"
    ) as environment:
        yield environment


@pytest.fixture(scope="module")
def models(root, tmp_path_factory):
    """Return a bundled model, and a copy of it that reads a few words at a time only."""
    folder = tmp_path_factory.mktemp("models") / "short"
    shutil.copytree(root / "helpers" / "models" / "weights" / "atlas-xs", folder)
    context(folder, SHORT)
    return ["atlas-xs", str(folder)]


def context(folder, length):
    config = json.loads((folder / "config.json").read_text())
    before = config["max_position_embeddings"]
    (folder / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": length})
    )
    return before


def sweep(root, environment, models, folder, *more):
    """Do what `make sweep PROFILE=slurm` does."""
    words = [
        *CHAPTERS,
        "--models",
        *models,
        "--runs",
        str(folder),
        "--profile",
        "slurm",
    ]
    command = [
        sys.executable,
        "-m",
        "book.tools",
        "sweep",
        *words,
        *more,
        "--set",
        *SMALL,
    ]
    # the profile's times are those of a real cluster
    quick = {"PYTHONUNBUFFERED": "1"}
    return run_program(
        *command, code=None, cwd=root, env=environment | quick, timeout=1500
    )


def finished(folder):
    found = runs.load(folder)
    return {
        str(p.relative_to(folder)): when
        for p, when in zip(found.folder, found.finished)
    }


def test_a_sweep_on_slurm(root, slurm, models, tmp_path):
    folder = tmp_path / "runs"
    first = sweep(root, slurm, models, folder)
    assert first.returncode == 2
    lines = first.stdout.splitlines()
    assert lines[-1] == "3 done (3 of them now), 1 failed, 0 left"
    failed = next(line for line in lines if line.startswith("failed"))
    assert "short-" in failed.split(":")[0]
    assert failed.split(":")[0].endswith("/multiplicity")
    assert str(SHORT) in failed
    assert "run.log" in failed
    place = folder / failed.split()[1].rstrip(":")
    assert "Traceback" in (place / "failed.ipynb").read_text()
    jobs = slurm_node.job_states(slurm)
    assert len(jobs) == 4
    assert jobs.count("FAILED") == 1
    before = finished(folder)
    assert len(before) == 3

    context(root.__class__(models[1]), 2048)  # mended: both of its runs are out of date
    second = sweep(root, slurm, models, folder)
    assert second.returncode == 0, second.stdout
    assert second.stdout.splitlines()[-1] == "4 done (2 of them now), 0 failed, 0 left"
    after = finished(folder)
    assert {run for run in before if before[run] == after[run]} == {
        f"atlas-xs/{chapter}" for chapter in CHAPTERS
    }
    assert len(slurm_node.job_states(slurm)) == 6

    (folder / "atlas-xs" / "monitor" / "metrics.parquet").unlink()
    plan = sweep(root, slurm, models, folder, "--dry-run").stdout.splitlines()
    assert [line.split() for line in plan if line.startswith("to do")] == [
        ["to", "do", "atlas-xs/monitor"]
    ]
    assert len(slurm_node.job_states(slurm)) == 6
