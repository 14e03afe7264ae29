"""Tests of helpers.publishing.chapters and helpers.publishing.publish: running, placing and rendering chapters.

The chapter is a small stand-in that runs in seconds; the model a tiny random one. Commands are
those that a user types, run in a copy of the project.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers import UserError
from helpers.publishing import chapters, grid, publish, state
from tests import tiny

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = """model = "atlas-s"  # bundled name, folder or hub id
n_facts = 3  # facts a relation
attribution = True
fail = ""  # how to fail
run_dir = ""  # where the run's files go"""
RUN = """import os, sys
import pandas as pd
from helpers import runs
from helpers.errors import UserError
run = runs.start("monitor", {"model": model, "n_facts": n_facts}, run_dir)
table = pd.DataFrame({"n": range(n_facts), "folder": os.getcwd()})
print("said aloud")
print("progress 1/1", file=sys.stderr)"""
FAIL = """# a comment first
if fail == "user": raise UserError("The relation P99 is not there: choose P17.")
if fail == "bug": [][1]
if fail == "death": os._exit(9)"""
SAVE = """kind = {"name": model}
if fail != "silence":
    runs.save(run, answers=table, metrics=table, model=kind, dataset={"name": "none"})"""

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write_template(folder: Path) -> Path:
    """Write the stand-in as folder/monitor.ipynb and return the folder."""
    cells = [
        new_markdown_cell("# A chapter"),
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        *map(new_code_cell, (RUN, FAIL, SAVE)),
        new_markdown_cell("## Summary"),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), folder / "monitor.ipynb")
    return folder


SYNTHESIS = """from helpers import runs
import pandas as pd
run = runs.start("summary", {"seed": seed}, run_dir)
read = runs.load(runs_dir)
runs.save_synthesis(run, metrics=read[["model", "chapter"]], read=read)"""


def write_synthesis(folder: Path) -> None:
    """Write a chapter that reads the runs of others as folder/summary.ipynb."""
    declared = 'runs_dir = ""  # all runs\nseed = 0  # none\nrun_dir = ""  # of this one'
    cells = [
        new_markdown_cell("# A summary"),
        new_code_cell(declared, metadata={"tags": ["parameters"]}),
        new_code_cell(SYNTHESIS),
        new_markdown_cell("## Its end"),
    ]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), folder / "summary.ipynb")


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the stand-in and returns its folder."""
    templates = write_template(tmp_path / "notebooks")

    def execute(*words, model="some/model"):
        return chapters.run("monitor", model, words, tmp_path / "runs", templates)

    return execute


def test_a_run_leaves_notebook_tables_and_log(run, tmp_path, capfd):
    folder = run("n_facts=2", "attribution=no")
    assert folder == tmp_path / "runs" / "some--model" / "monitor"
    table = pd.read_parquet(folder / "answers.parquet")
    assert table["n"].tolist() == [0, 1]
    assert set(table["folder"]) == {str(ROOT)}
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    injected = [c for c in notebook.cells if "injected-parameters" in c.metadata.get("tags", [])]
    values = {}
    exec(injected[0].source, values)
    assert values["model"] == "some/model"
    assert values["n_facts"] == 2
    assert values["attribution"] is False
    assert Path(values["run_dir"]) == folder
    log = (folder / "run.log").read_text()
    assert "said aloud" in log
    assert "progress 1/1" in log
    terminal = capfd.readouterr().err
    assert "progress 1/1" in terminal
    assert re.search(r"^some--model/monitor: cell 3/7, \d+ s$", terminal, flags=re.MULTILINE)
    assert {path.name for path in folder.iterdir()} == {
        *chapters.TABLES,
        "notebook.ipynb",
        "run.log",
    }


@pytest.mark.parametrize(
    ("fail", "sentence"),
    [
        ("user", "in cell 4: The relation P99 is not there: choose P17. (log"),
        ("bug", 'in cell 4 (`if fail == "bug": [][1]`): IndexError: list index out of range (log'),
        ("death", "in cell 4: the Python process died"),
    ],
)
def test_a_failed_cell_is_named_and_its_traceback_kept(run, tmp_path, fail, sentence):
    with pytest.raises(UserError) as caught:
        run(f"fail={fail}")
    told = str(caught.value)
    assert sentence in told
    assert "\n" not in told
    assert told.startswith("The chapter monitor stopped in cell 4")
    folder = tmp_path / "runs" / "some--model" / "monitor"
    assert str(folder / "run.log") in told
    assert str(folder / "failed.ipynb") in told
    assert not (folder / "notebook.ipynb").exists()
    if fail != "death":
        assert "Traceback" in (folder / "failed.ipynb").read_text()


def test_a_run_that_succeeds_removes_the_failed_notebook(run):
    with pytest.raises(UserError):
        run("fail=user")
    folder = run()
    assert (folder / "notebook.ipynb").exists()
    assert not (folder / "failed.ipynb").exists()


def test_a_chapter_that_saves_nothing_is_refused(run):
    with pytest.raises(UserError, match=r"ended without answers\.parquet"):
        run("fail=silence")


def test_a_synthesis_reads_the_runs_of_all_models(run, tmp_path):
    run(model="some/model")
    run(model="other/model")
    write_synthesis(tmp_path / "notebooks")
    at = tmp_path / "runs", tmp_path / "notebooks"
    folder = chapters.run("summary", "ignored", ["seed=4"], *at)
    assert folder == tmp_path / "runs" / "synthesis" / "summary"
    files = {path.name for path in folder.iterdir()}
    assert files == {"metrics.parquet", "run.json", "notebook.ipynb", "run.log"}
    table = pd.read_parquet(folder / "metrics.parquet")
    assert set(table["model"]) == {"some/model", "other/model"}
    assert json.loads((folder / "run.json").read_text())["seed"] == 4
    again = chapters.run("summary", "ignored", (), *at)  # its own folder is not among the runs
    assert len(pd.read_parquet(again / "metrics.parquet")) == 2
    with pytest.raises(UserError, match="runs_dir is set with --runs"):
        chapters.run("summary", "ignored", ["runs_dir=here"], *at)


def test_a_refused_setting_runs_nothing(run, tmp_path):
    with pytest.raises(UserError, match="did you mean n_facts"):
        run("n_fact=2")
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    templates = write_template(tmp_path / "notebooks")
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot write to .*--runs"):
        chapters.run("monitor", "m", (), tmp_path / "runs", templates)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "moniter", "--model", "m"], "There is no chapter 'moniter'"),
        (["run", "monitor", "--set", "n_fact=1"], "no parameter 'n_fact'"),
        (["check", "--model", "./nowhere"], "There is no folder ./nowhere"),
    ],
)
def test_commands_end_in_one_sentence(words, sentence, capfd):
    assert chapters.main(words) == 2
    told = capfd.readouterr().err
    assert told.startswith("error: ")
    assert sentence in told
    assert told.count("\n") == 1


def executed(path: Path, **changes) -> Path:
    """Write a notebook that looks executed, but for the changes to its second code cell."""
    cells = [new_code_cell(str(n), execution_count=n) for n in (1, 2)]
    cells[0].metadata["tags"] = ["injected-parameters"]
    cells[1].update(changes)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Return an empty book of one chapter."""
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "_toc.yml").write_text("chapters:\n  - file: chapters/monitor\n  - file: data\n")
    monkeypatch.setattr(publish, "BOOK", folder)
    return folder


def test_place_copies_the_models_chapters_and_drops_old_ones(tmp_path, book):
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    (book / "chapters").mkdir()
    (book / "chapters" / "old.ipynb").write_text("{}")
    copies = publish.place("m", tmp_path / "runs")
    assert copies == [book / "chapters" / "monitor.ipynb"]
    assert [path.name for path in (book / "chapters").glob("*.ipynb")] == ["monitor.ipynb"]
    injected = nbformat.read(copies[0], as_version=4).cells[0]
    assert "hide-input" in injected.metadata.tags


ERROR = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])


def page(path: Path) -> str:
    """Return what a placed notebook says: its sources, and its outputs as HTML."""
    cells = nbformat.read(path, as_version=4).cells
    shown = [out.data["text/html"] for c in cells for out in c.get("outputs", []) if "data" in out]
    return "\n".join([*(cell.source for cell in cells), *shown])


@pytest.mark.parametrize(
    "changes",
    [
        {"execution_count": None},
        {"outputs": [ERROR]},
        {"metadata": {"papermill": {"exception": True}}},
    ],
)
def test_a_chapter_that_failed_or_was_not_executed_has_a_page_that_says_so(tmp_path, book, changes):
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb", **changes)
    (copy,) = publish.place("m", tmp_path / "runs")
    assert re.search(r"Cell 2 of .* failed or has not run: see .*run\.log", page(copy))


def test_a_notebook_that_papermill_calls_failed_is_not_shown(tmp_path, book):
    path = executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    notebook = json.loads(path.read_text())
    notebook["metadata"]["papermill"] = {"exception": True}
    path.write_text(json.dumps(notebook))
    (copy,) = publish.place("m", tmp_path / "runs")
    assert "failed: run make book again" in page(copy)


def test_a_page_in_place_of_a_chapter_keeps_its_title_and_escapes_the_reason(tmp_path, book):
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    (copy,) = publish.place("m", tmp_path / "runs", {"monitor": "It said <script>."})
    text = page(copy)
    assert text.startswith("(monitor)=\n# Is a known fact stable?\n\n**The question.**")
    assert "It said &lt;script&gt;." in text
    before = copy.read_bytes()
    publish.place("m", tmp_path / "runs", {"monitor": "It said <script>."})
    assert copy.read_bytes() == before


def test_place_takes_a_synthesis_from_its_own_folder(tmp_path, book, monkeypatch):
    (book / "_toc.yml").write_text(
        "chapters:\n  - file: chapters/monitor\n  - file: chapters/published\n"
    )
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    copies = publish.place("m", tmp_path / "runs")
    assert "make book MODEL=m CHAPTERS=published" in page(copies[1])
    executed(tmp_path / "runs" / "synthesis" / "published" / "notebook.ipynb")
    copies = publish.place("m", tmp_path / "runs")
    assert [path.name for path in copies] == ["monitor.ipynb", "published.ipynb"]
    assert "make book" not in page(copies[1])


def test_each_chapter_takes_the_parameters_that_it_declares():
    given = ["n_facts=3", "attribution=no", "toy_facts=8"]
    assert grid.fitting("monitor", given) == given[:2]
    assert grid.fitting("atlas", given) == [given[0], given[2]]
    publish.check(["atlas", "monitor"], "atlas-s", given)
    for word, sentence in {
        "toy_fact=8": "The chapter atlas has no parameter 'toy_fact': did you mean toy_facts?",
        "attributions=no": "The chapter monitor has no parameter 'attributions'",
        "attribution=perhaps": "The parameter attribution takes yes or no",
        "run_dir=here": "is set with --runs",
        "toy_facts": "sets nothing",
    }.items():
        with pytest.raises(UserError, match=re.escape(sentence)):
            publish.check(["atlas", "monitor"], "atlas-s", [*given, word])


def test_a_chapter_depends_on_code_data_weights_and_local_files(tmp_path):
    (tmp_path / "P17.jsonl").write_text("{}")
    seen = state.sources("atlas-s", [f"dataset={tmp_path}", "n_facts=3", "mode="])
    assert tmp_path / "P17.jsonl" in seen
    assert ROOT / "helpers" / "runs.py" in seen
    assert set((ROOT / "helpers" / "datasets" / "data").glob("*.csv*")) <= set(seen)
    assert set((ROOT / "helpers" / "models" / "weights" / "atlas-s").iterdir()) <= set(seen)
    assert not [path for path in seen if path.is_relative_to(ROOT / "helpers" / "atlas")]
    assert not [path for path in seen if path.is_relative_to(ROOT / "tests")]


# the commands, as users type them


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project: the stand-in for a chapter, a tiny model, two pages."""
    if not (Path(sys.prefix) / "installed").is_file():
        pytest.skip("the commands of the Makefile need its environment: run make test")
    top = tmp_path_factory.mktemp("copy") / "the project"
    hidden = shutil.ignore_patterns("__pycache__", "weights", "_build", "chapters", "*.md")
    for name in ("helpers", "book"):
        shutil.copytree(ROOT / name, top / name, ignore=hidden)
    write_template(top / "notebooks")
    shutil.copy(ROOT / "notebooks" / "Snakefile", top / "notebooks")
    for name in ("Makefile", "requirements.txt", "_config.yml"):
        shutil.copy(ROOT / name, top)
    (top / "book" / "index.md").write_text("# A book\n\nOne page.\n")
    (top / "book" / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters:\n  - file: chapters/monitor\n"
    )
    tiny.save(top / "helpers" / "models" / "weights" / "atlas-m")
    return top


def type_in(project: Path, command: str) -> subprocess.CompletedProcess:
    """Run a make command in the copy, with this environment in place of .venv."""
    words = command.replace("make", f'make VENV="{sys.prefix}" PYTHON="{sys.executable}"', 1)
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    offline.pop("PYTHONPATH", None)
    done = subprocess.run(
        words, shell=True, cwd=project, env=offline, capture_output=True, text=True, timeout=300
    )
    print(done.stdout, done.stderr)
    return done


def test_make_book_renders_then_repeats_only_what_changed(project):
    assert type_in(project, "make book").returncode == 0
    page = project / "book" / "_build" / "html" / "chapters" / "monitor.html"
    assert "said aloud" in page.read_text()
    assert "github/what-language-models-know/book/blob/main/notebooks/monitor.ipynb" in (
        page.read_text()
    )
    notebook = project / "runs" / "atlas-m" / "monitor" / "notebook.ipynb"
    first = notebook.stat().st_mtime_ns, page.stat().st_mtime_ns
    assert type_in(project, "make book").returncode == 0
    assert (notebook.stat().st_mtime_ns, page.stat().st_mtime_ns) == first
    assert type_in(project, "make book SET='n_facts=4'").returncode == 0
    assert len(pd.read_parquet(notebook.with_name("answers.parquet"))) == 4
    assert page.stat().st_mtime_ns > first[1]


def test_make_book_runs_the_measures_on_all_models_and_what_reads_them_once(project):
    weights, toc = project / "helpers" / "models" / "weights", project / "book" / "_toc.yml"
    text, bare = toc.read_text(), project / "runs" / "atlas-m" / "monitor" / "notebook.ipynb"
    small = weights / "atlas-s"
    try:
        tiny.save(small)
        write_synthesis(project / "notebooks")
        toc.write_text(text + "  - file: chapters/summary\n")
        assert type_in(project, "make book SET='n_facts=5' CORES=2").returncode == 0
        folder = project / "runs" / "synthesis" / "summary"
        read = json.loads((folder / "run.json").read_text())["read"]
        assert {row["model"] for row in read} >= {"atlas-m", "atlas-s"}
        other = project / "runs" / "atlas-s" / "monitor"
        assert json.loads((other / "run.json").read_text())["parameters"]["n_facts"] == 5
        pages = [bare, other / "notebook.ipynb", folder / "notebook.ipynb"]
        times = [page.stat().st_mtime_ns for page in pages]
        assert type_in(project, "make book SET='n_facts=5' CORES=2").returncode == 0
        assert [page.stat().st_mtime_ns for page in pages] == times
        again = type_in(project, "make book SET='n_facts=6' CHAPTERS=monitor")
        assert again.returncode == 0
        now = [page.stat().st_mtime_ns for page in pages]
        assert now[0] > times[0]
        assert now[1:] == times[1:]
    finally:
        toc.write_text(text)
        shutil.rmtree(small)
        (project / "notebooks" / "summary.ipynb").unlink()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("make book MODELS='atlas-m nobody/nothing'", "There is no model nobody/nothing"),
        ("make book SET='fail=user'", "1 of 1 runs failed, and the book says so"),
        ("make book SET='n_fact=1'", "has no parameter 'n_fact': did you mean n_facts?"),
        ("make book MODEL=./nowhere", "There is no folder ./nowhere"),
        ("make book MODEL=nobody/nothing", "There is no model nobody/nothing"),
        ("make book CHAPTERS=moniter", "There is no chapter 'moniter'"),
    ],
)
def test_a_mistake_ends_make_with_its_sentence(project, command, sentence):
    done = type_in(project, command)
    assert done.returncode != 0
    own = [line for line in done.stderr.splitlines() if not re.match(r"make(\[\d+\])?: ", line)]
    assert own[-1].startswith("error: ")
    assert sentence in own[-1]
    assert "Traceback" not in done.stderr


def test_a_chapter_that_fails_has_a_page_and_the_others_are_rendered(project):
    assert type_in(project, "make book SET='fail=bug'").returncode != 0
    html = project / "book" / "_build" / "html"
    shown = (html / "chapters" / "monitor.html").read_text()
    assert "IndexError: list index out of range" in shown
    assert "A chapter" in shown
    assert "One page." in (html / "index.html").read_text()
    kept = nbformat.read(project / "runs" / "atlas-m" / "monitor" / "failed.ipynb", 4)
    assert any(out.output_type == "error" for cell in kept.cells for out in cell.get("outputs", []))


def test_a_page_with_a_warning_stops_the_build(project):
    index = project / "book" / "index.md"
    text = index.read_text()
    try:
        index.write_text(text + "\n{ref}`nowhere`\n")
        done = type_in(project, "make book")
    finally:
        index.write_text(text)
    assert done.returncode != 0
    assert re.search(r"error: The pages were not rendered: .*index\.md:\d+: WARNING", done.stderr)


def test_a_model_of_the_hub_is_read_from_the_cache(project, monkeypatch):
    snapshot = "0" * 40
    cache = project / "hub" / "models--someone--small"
    tiny.save(cache / "snapshots" / snapshot, "gpt2")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(snapshot)
    monkeypatch.setenv("HF_HUB_CACHE", str(project / "hub"))
    assert type_in(project, "make book MODEL=someone/small").returncode == 0
    assert (project / "runs" / "someone--small" / "monitor" / "notebook.ipynb").is_file()


def readme_commands() -> list[str]:
    """Return the commands of the README: its bash blocks, and `make ...` within the text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return sorted({*lines, *re.findall(r"`(make [^`]+)`", text)})


@pytest.mark.parametrize("command", readme_commands())
def test_the_commands_of_the_readme_work(command, project):
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    if re.search(rf"^{re.escape(command)}\b(?! \w+=)", script, flags=re.MULTILINE):
        return  # run on the whole project there
    if command == "make course":
        return  # its exercises are those of the whole project: tests/course
    done = type_in(project, command)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("python", ["false", "no-such-python"])
def test_make_names_the_pythons_it_can_use(project, python):
    done = subprocess.run(
        ["make", "install", f"PYTHON={python}", "VENV=new"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "Python 3.11, 3.12 or 3.13 is needed" in done.stderr
    assert not (project / "new").exists()
