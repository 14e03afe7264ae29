"""Tests of what makes a run out of date: its settings, and the content of what it is made from."""

import json
import shutil

import pandas as pd
import pytest

from book.tools import jobs, render
from tests import small_project, tiny_models

# What is edited, and the runs that are then out of date; all but those of another
# setting.
EDITS = {
    "notebooks/monitor.ipynb": {"monitor"},
    "notebooks/claims/monitor.yaml": {"monitor"},
    "notebooks/analysis/more.py": None,
    "notebooks/kit/plots/style.py": None,
    "notebooks/kit/published/more.csv": None,
    "helpers/models/weights/atlas-m/model.safetensors": None,
    "book/tools/noise_floor_runs.py": {"noise"},
    "mine/P17.jsonl": {"own"},
    "book/tools/chapters.py": set(),
    "book/index.md": set(),
    "tests/conftest.py": set(),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory, root):
    """Return a copy of the project with small files for weights."""
    top = tmp_path_factory.mktemp("copy")
    hidden = shutil.ignore_patterns(
        "__pycache__", "weights", "_build", "chapters", "_extra"
    )
    for name in ("helpers", "book", "notebooks"):
        shutil.copytree(root / name, top / name, ignore=hidden)
    for edited in EDITS:
        (top / edited).parent.mkdir(parents=True, exist_ok=True)
        (top / edited).touch()
    return top


def states(top):
    """Return what the runs of a book in the copy would be made from now."""
    planned = {
        job.chapter: job
        for job in jobs.plan_jobs(["monitor", "published"], "atlas-m", ["./x"])
    }
    planned |= {"noise": jobs.noise_floor_job("atlas-m")}
    planned |= {
        "own": jobs.Job("own/monitor", "monitor", "atlas-m", {"dataset": "mine"})
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "PROJECT_FOLDER", top)
        folders = (top / "helpers", top / "notebooks/kit", top / "notebooks/analysis")
        patch.setattr(jobs, "CODE_FOLDERS", folders)
        patch.setattr(jobs, "TOOLS_FOLDER", top / "book" / "tools")
        return {
            name: jobs.job_fingerprint(job, top / "runs", top / "notebooks")
            for name, job in planned.items()
        }


@pytest.fixture(scope="module")
def before(project):
    return states(project)


@pytest.mark.parametrize("edited", EDITS)
def test_an_edit_makes_what_it_belongs_to_out_of_date(project, before, edited):
    path = project / edited
    kept = path.read_bytes()
    more = b" " if path.suffix == ".ipynb" else b"\n# an edit\n"
    try:
        path.write_bytes(kept + more)
        now = states(project)
    finally:
        path.write_bytes(kept)
    changed = {name for name in before if now[name] != before[name]}
    expected = set(before) if EDITS[edited] is None else EDITS[edited]
    assert changed - {"own"} == expected - {"own"}
    assert ("own" in changed) == bool(expected & {"own", "monitor"})


def test_settings_their_folders_a_model_its_base_and_the_libraries_count(
    tmp_path, monkeypatch
):
    for name in ("one", "two", "base", "model"):
        (tmp_path / name).mkdir()
    told = {"base_model_name_or_path": str(tmp_path / "base")}
    (tmp_path / "model" / "adapter_config.json").write_text(json.dumps(told))
    sources = {"sources": [str(tmp_path / "one"), str(tmp_path / "two")]}

    def made(**more):
        model, settings = str(tmp_path / "model"), sources | more
        job = jobs.Job("m/x", "knowledge_base", model, settings)
        return jobs.job_fingerprint(job, tmp_path)

    seen = [made()]
    for name in ("one", "two", "base", "model"):
        (tmp_path / name / "model.safetensors").write_text("{}")
        seen.append(made())
    monkeypatch.setattr(jobs.identity, "version", lambda _: "0")
    seen.append(made())
    assert len({json.dumps(each) for each in seen}) == 6
    few, more = made(n_seen=5), made(n_seen=6)
    assert more["settings"] == few["settings"] | {"n_seen": 6}
    assert more["files"] == few["files"]


@pytest.mark.parametrize(
    ("change", "current"),
    [
        ({}, True),
        ({"sample": [-1.003, -2.0]}, True),
        ({"sample": [-1.1, -2.0]}, False),
        ({"sample": [-1.0]}, False),
        ({"server": ["2", "m"]}, False),
    ],
)
def test_a_server_is_asked_whether_it_holds_the_same(
    tmp_path, monkeypatch, change, current
):
    said = {"server": ["1", "m"], "sample": [-1.0, -2.0]}
    monkeypatch.setattr(jobs, "_served", lambda _: dict(said))
    job = jobs.Job("m/monitor", "monitor", "http://localhost:1#m")
    for part in job.parts:
        (tmp_path / "m" / "monitor" / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / "monitor" / part).write_text("{}")
    jobs.write_job_fingerprint(
        tmp_path / "m" / "monitor", jobs.job_fingerprint(job, tmp_path)
    )
    said |= change
    assert jobs.is_run_current(job, tmp_path) == current


def test_what_lies_behind_a_link_counts_by_the_name_of_the_link(tmp_path):
    for top in ("linked", "copied", "elsewhere"):
        (tmp_path / top).mkdir()
    for top in ("elsewhere", "copied"):
        place = tmp_path / top / "m"
        place.mkdir()
        (place / "run.json").write_text("{}")
    (tmp_path / "linked" / "m").symlink_to(tmp_path / "elsewhere" / "m")
    linked, copied = (
        jobs.files_digest((tmp_path / top).glob("*/run.json"), tmp_path / top)
        for top in ("linked", "copied")
    )
    assert linked == copied != jobs.files_digest([], tmp_path)


def test_the_pages_depend_on_prose_chapters_extensions_and_the_package(root):
    seen = {path.relative_to(root).as_posix() for path in render.book_source_files()}
    assert seen >= {
        "_config.yml",
        "book/index.md",
        "book/_static/custom.css",
        "book/_ext/live_probe.py",
        "book/tools/live_model.py",
        "helpers/models/weights/atlas-s/model.safetensors",
        "notebooks/monitor.ipynb",
        "notebooks/slides/monitor.md",
    }
    assert not [
        name for name in seen if name.startswith(("tests/", "runs/", "book/_build"))
    ]


ASKING = """import torch
from helpers import models, probing, runs
from notebooks.kit import plots
passes, forward = [], torch.nn.Embedding.forward
def counted(*given):
    passes.append(1)
    return forward(*given)
lm = models.load(model)  # tries it with two passes
torch.nn.Embedding.forward = counted
run = runs.start("monitor", dict(model=model, n_facts=n_facts, pause=pause), run_dir)
probes = pd.DataFrame({"item": "a", "prompt": "Lyon is in", "continuation": [" France", " Italy"]})
probes = probes.assign(variant="base", option=[0, 1], correct=[True, False])
answers = probing.score(lm, probes, cache=run.cache, progress=False)
table = answers.assign(passes=len(passes))"""


@pytest.mark.slow
def test_an_edit_of_a_plot_asks_the_model_nothing_again(tmp_path, monkeypatch):
    monkeypatch.setattr(small_project, "ASK_CELL", ASKING)
    top = small_project.copy_small_project(tmp_path / "project")
    tiny_models.save_tiny_model(top / "a")
    assert (
        small_project.run_book_tools(top, "run", "monitor", "--model", "./a").returncode
        == 0
    )
    table = next(top.glob("runs/*/monitor/answers.parquet"))
    first = pd.read_parquet(table)
    style = top / "notebooks" / "kit" / "plots" / "style.py"
    style.write_text(style.read_text() + "\n# an edit\n")
    done = small_project.run_book_tools(
        top, "sweep", "monitor", "--models", "./a", "--cores", "1"
    )
    assert done.stdout.splitlines()[-1].startswith("1 done (1 of them now)")
    second = pd.read_parquet(table)
    assert first["passes"].min() > 0
    assert second["passes"].max() == 0
    pd.testing.assert_frame_equal(
        first.drop(columns="passes"), second.drop(columns="passes")
    )
