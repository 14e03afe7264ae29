"""Tests of helpers.publishing.dependencies: which edit makes which run out of date."""

import shutil

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from helpers.publishing import dependencies, jobs, render
from tests import small_project, tiny

MEASURES = {"monitor", "knowledge_base", "latent_knowledge", "multiplicity"}
ALL = {
    "atlas",
    "calibration",
    "comparison",
    "published",
    "real_models",
    "noise",
    "others",
    *MEASURES,
}
CORE = "helpers/prompts/frames.py", "helpers/datasets/data/atlas_frames.csv"
# What is edited, and the chapters whose runs are then out of date. Two models: atlas-m, atlas-s.
EDITS = {
    "notebooks/monitor.ipynb": {"monitor"},
    "helpers/__init__.py": ALL,
    "helpers/probing/paraphrasing.py": {"multiplicity"},
    "helpers/metrics/matching.py": ALL - {"published"},
    "helpers/plots/style.py": ALL - {"noise", "others"},
    "helpers/atlas/corpus.py": {"atlas"},
    "helpers/published/kb_table1.csv": {"comparison", "published", "real_models", *MEASURES},
    "helpers/datasets/data/atlas_frames.csv": ALL,
    "helpers/models/weights/atlas-s/model.safetensors": {"atlas", "others"},
    "helpers/models/weights/atlas-m/model.safetensors": {"atlas", "noise", *MEASURES},
    "mine/P17.jsonl": {"monitor"},
    "helpers/publishing/render.py": set(),
    "helpers/publishing/chapters.py": set(),
    "helpers/publishing/noise.py": {"noise"},
    "helpers/publishing/course/checks.py": set(),
    "helpers/publishing/live/asking.py": set(),
    "helpers/publishing/pdf.py": set(),
    "helpers/__main__.py": set(),
    "book/_static/custom.css": set(),
    "book/index.md": set(),
    "tests/conftest.py": set(),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory, root):
    """Return a copy of the project with small files for weights."""
    top = tmp_path_factory.mktemp("copy")
    hidden = shutil.ignore_patterns("__pycache__", "weights", "_build", "chapters", "_extra")
    for name in ("helpers", "book", "notebooks"):
        shutil.copytree(root / name, top / name, ignore=hidden)
    for edited in EDITS:
        (top / edited).parent.mkdir(parents=True, exist_ok=True)
        (top / edited).touch()
    return top


def states(top):
    """Return what the runs of a book in the copy would be made from now, by their names."""
    planned = jobs.plan(render.chapters(), "atlas-m", ["atlas-s"], ["n_facts=5"])
    own = jobs.Job("own/monitor", "monitor", "atlas-m", ("dataset=mine",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependencies, "HOME", top)
        patch.setattr(dependencies, "ROOT", top)
        patch.setattr(dependencies, "WEIGHTS", top / "helpers" / "models" / "weights")
        patch.setattr(jobs, "HERE", top / "helpers" / "publishing")
        return {
            job.name: (job.chapter, jobs.made_from(job, top / "runs", top / "notebooks"))
            for job in [*planned, jobs.noise("atlas-m"), own]
        }


@pytest.fixture(scope="module")
def before(project):
    return states(project)


@pytest.mark.parametrize("edited", EDITS)
def test_an_edit_makes_only_what_depends_on_it_out_of_date(project, before, edited):
    path = project / edited
    kept = path.read_bytes()
    more = b" " if path.suffix == ".ipynb" else b"\n# an edit\n"
    try:
        path.write_bytes(kept + more)
        now = states(project)
    finally:
        path.write_bytes(kept)
    changed = {name for name in before if now[name] != before[name]}
    assert {before[name][0] for name in changed} == EDITS[edited]
    if "weights/atlas-s" in edited:
        assert "atlas-m/monitor" not in changed
    if edited.startswith("mine"):
        assert changed == {"own/monitor"}


def test_a_setting_counts_by_its_value(project):
    few, more = (
        jobs.made_from(jobs.Job("m/monitor", "monitor", "atlas-m", (f"n_facts={n}",)), project)
        for n in (5, 6)
    )
    assert more["settings"] == few["settings"] | {"n_facts": 6}
    assert more["files"] == few["files"]


def test_no_chapter_imports_the_machinery(root):
    for template in sorted((root / "notebooks").glob("*.ipynb")):
        machinery = root / "helpers" / "publishing"
        found = [path for path in dependencies.code([template]) if machinery in path.parents]
        assert found == [], template.name


def test_the_pages_depend_on_prose_chapters_extensions_and_the_live_page(root):
    seen = {path.relative_to(root).as_posix() for path in render.sources()}
    assert seen >= {
        "_config.yml",
        "book/index.md",
        "book/_static/custom.css",
        "book/_ext/live_probe.py",
        "helpers/publishing/live/asking.py",
        "helpers/models/weights/atlas-s/model.safetensors",
        *CORE,
    }
    assert not [name for name in seen if name.startswith(("tests/", "runs/"))]


def test_imports_are_those_that_import_linter_finds(root):
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("helpers", cache_dir=None)
    for template in sorted((root / "notebooks").glob("*.ipynb")):
        named = {
            ".".join(path.relative_to(root).with_suffix("").parts)
            for path in dependencies.code([template])
        }
        named = {name.removesuffix(".__init__") for name in named}
        for name in named:
            imported = graph.find_modules_directly_imported_by(name)
            parents = {module.rpartition(".")[0] for module in imported} - {""}
            assert imported | parents <= named, name


def test_lazy_imports_and_names_in_strings_count(tmp_path, monkeypatch):
    files = {
        "__init__": "",
        "a/__init__": "import helpers.b",
        "a/one": "def f():\n    from helpers import c\n",
        "a/two": "",
        "b": "import importlib\nname = 'one'\nimportlib.import_module(f'helpers.d.{name}')",
        "c": "",
        "d/__init__": "",
        "d/one": "from helpers.a import two",
        "e": "",
    }
    for name, text in files.items():
        path = tmp_path / "helpers" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(dependencies, "HOME", tmp_path)
    cell = new_code_cell("%matplotlib inline\n!ls\nfrom helpers.a.one import f as g")
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "x.ipynb")
    found = {
        str(p.relative_to(tmp_path / "helpers").with_suffix(""))
        for p in dependencies.code([tmp_path / "x.ipynb"])
    }
    assert found == set(files) - {"e"}


def test_a_list_of_folders_in_a_setting_counts(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "P17.jsonl").write_text("{}")
    values = [[str(tmp_path / "one"), str(tmp_path / "two")], 3, "", "exact_match"]
    template = jobs.TEMPLATES / "monitor.ipynb"
    seen = dependencies.files(template, values, "atlas-xs")
    assert {tmp_path / "one" / "P17.jsonl", tmp_path / "two" / "P17.jsonl"} <= seen
    assert set((dependencies.WEIGHTS / "atlas-xs").iterdir()) <= seen
    assert not [path for path in seen if "atlas" in path.parts]


ASKING = """import torch
from helpers import models, plots, probing, runs
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
    monkeypatch.setattr(small_project, "ASK", ASKING)
    top = small_project.make(tmp_path / "project")
    tiny.save(top / "a")
    assert small_project.call(top, "run", "monitor", "--model", "./a").returncode == 0
    table = next(top.glob("runs/*/monitor/answers.parquet"))
    first = pd.read_parquet(table)
    style = top / "helpers" / "plots" / "style.py"
    style.write_text(style.read_text() + "\n# an edit\n")
    done = small_project.call(top, "sweep", "monitor", "--models", "./a", "--cores", "1")
    assert done.stdout.splitlines()[-1].startswith("1 done (1 of them now)")
    second = pd.read_parquet(table)
    assert first["passes"].min() > 0
    assert second["passes"].max() == 0
    pd.testing.assert_frame_equal(first.drop(columns="passes"), second.drop(columns="passes"))


def test_what_lies_behind_a_link_counts_by_the_name_of_the_link(tmp_path):
    for top in ("linked", "copied", "elsewhere"):
        (tmp_path / top).mkdir()
    for top in ("elsewhere", "copied"):
        place = tmp_path / top / "m"
        place.mkdir()
        (place / "run.json").write_text("{}")
    (tmp_path / "linked" / "m").symlink_to(tmp_path / "elsewhere" / "m")
    linked, copied = (
        dependencies.digest((tmp_path / top).glob("*/run.json"), tmp_path / top)
        for top in ("linked", "copied")
    )
    assert linked == copied != dependencies.digest([], tmp_path)
