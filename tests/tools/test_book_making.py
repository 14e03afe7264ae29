"""Tests of book.tools.book_making: the book is made by the commands that a user types.

They run in a copy of the project, with a stand-in for a chapter and a tiny random
model.
"""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from book.tools import __main__ as commands
from book.tools import book_making
from tests import small_project, tiny_models
from tests.program_calls import run_program, run_python
from tests.small_project import run_make_line
from tests.tools import stand_in_chapters

ROOT = Path(__file__).resolve().parents[2]


def test_a_model_from_a_package_begins_with_sizes_that_the_user_may_set(capsys):
    settings = book_making.settings_with_model_defaults("smollm2", {"n_facts": 9})
    assert settings.pop("n_facts") == 9
    words = capsys.readouterr().err.rstrip(".\n").split(": ")[1].split()
    assert book_making.settings_of_named_chapters([], words) == settings
    assert book_making.settings_with_model_defaults("atlas-m", {"n_facts": 9}) == {
        "n_facts": 9
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--models", "atlas-m", "nobody/nothing"], "There is no model nobody/nothing"),
        (["--set", "n_fact=1"], "has no parameter 'n_fact': did you mean n_facts?"),
        (
            ["atlas", "--set", "n_facts=3", "attribution=no"],
            "no parameter 'attribution'",
        ),
        (["--set", "toy_facts"], "sets nothing"),
        (["--model", "./nowhere"], "There is no folder ./nowhere"),
        (["--model", "nobody/nothing"], "There is no model nobody/nothing"),
        (["moniter"], "There is no chapter 'moniter'"),
    ],
)
def test_a_mistake_ends_at_once_in_one_sentence(
    words, sentence, capfd, tmp_path, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert commands.main(["book", "--runs", str(tmp_path / "runs"), *words]) == 2
    told = capfd.readouterr().err
    assert told.startswith("error: ")
    assert sentence in told
    assert told.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project: the stand-in for a chapter, a tiny model, two pages."""
    if not (Path(sys.prefix) / "installed").is_file():
        pytest.skip("the commands of the Makefile need its environment: run make test")
    top = small_project.copy_small_project(
        tmp_path_factory.mktemp("copy") / "the project"
    )
    stand_in_chapters.write_stand_in_template(top / "notebooks")
    (top / "book" / "index.md").write_text("# A book\n\nOne page.\n")
    (top / "book" / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters:\n  - file: chapters/monitor\n"
    )
    tiny_models.save_tiny_model(top / "helpers" / "models" / "weights" / "atlas-m")
    return top


@pytest.mark.slow
def test_make_book_shows_the_run_of_a_model_of_the_hub_that_is_in_the_cache(
    project, monkeypatch
):
    assert run_make_line(project, "make book").returncode == 0
    page = project / "book" / "_build" / "html" / "chapters" / "monitor.html"
    assert "said aloud" in page.read_text()
    first, snapshot = page.stat().st_mtime_ns, "0" * 40
    cache = project / "hub" / "models--someone--small"
    tiny_models.save_tiny_model(cache / "snapshots" / snapshot, "gpt2")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(snapshot)
    monkeypatch.setenv("HF_HUB_CACHE", str(project / "hub"))
    made = run_make_line(
        project, "make book MODEL=someone/small SET='n_facts=4' CHAPTERS=monitor"
    )
    assert made.returncode == 0
    answers = project / "runs" / "someone--small" / "monitor" / "answers.parquet"
    assert len(pd.read_parquet(answers)) == 4
    assert page.stat().st_mtime_ns > first


@pytest.mark.slow
def test_make_book_runs_the_measures_on_all_models_and_repeats_only_what_changed(
    project,
):
    weights, toc = (
        project / "helpers" / "models" / "weights",
        project / "book" / "_toc.yml",
    )
    text, bare = (
        toc.read_text(),
        project / "runs" / "atlas-m" / "monitor" / "notebook.ipynb",
    )
    small = weights / "atlas-s"
    try:
        tiny_models.save_tiny_model(small)
        stand_in_chapters.write_synthesis_template(project / "notebooks")
        toc.write_text(text + "  - file: chapters/summary\n")
        assert (
            run_make_line(project, "make book SET='n_facts=5' CORES=2").returncode == 0
        )
        folder = project / "runs" / "synthesis" / "summary"
        read = json.loads((folder / "run.json").read_text())["read"]
        assert {row["model"] for row in read} >= {"atlas-m", "atlas-s"}
        other = project / "runs" / "atlas-s" / "monitor"
        assert (
            json.loads((other / "run.json").read_text())["parameters"]["n_facts"] == 5
        )
        html = project / "book" / "_build" / "html" / "chapters" / "monitor.html"
        assert not (other / "notebook.ipynb").exists()  # measured, not executed
        pages = [bare, other / "run.json", folder / "notebook.ipynb", html]
        times = [page.stat().st_mtime_ns for page in pages]
        assert (
            run_make_line(project, "make book SET='n_facts=5' CORES=2").returncode == 0
        )
        assert [page.stat().st_mtime_ns for page in pages] == times
        again = run_make_line(project, "make book SET='n_facts=6' CHAPTERS=monitor")
        assert again.returncode == 0
        now = [page.stat().st_mtime_ns for page in pages]
        assert now[0] > times[0]
        assert now[1:3] == times[1:3]
        assert now[3] > times[3]
    finally:
        toc.write_text(text)
        shutil.rmtree(small)
        (project / "notebooks" / "summary.ipynb").unlink()


def test_a_chapter_that_fails_has_a_page_and_the_others_are_rendered(project):
    done = run_make_line(project, "make book SET='fail=bug'")
    assert done.returncode != 0
    assert (
        "error: 1 of 1 runs failed, and the book says so in their place." in done.stderr
    )
    assert "Traceback" not in done.stderr
    html = project / "book" / "_build" / "html"
    shown = (html / "chapters" / "monitor.html").read_text()
    assert "IndexError: list index out of range" in shown
    assert "A chapter" in shown
    assert "One page." in (html / "index.html").read_text()
    kept = nbformat.read(project / "runs" / "atlas-m" / "monitor" / "failed.ipynb", 4)
    assert any(
        out.output_type == "error"
        for cell in kept.cells
        for out in cell.get("outputs", [])
    )


@pytest.mark.slow
def test_a_page_with_a_warning_stops_the_build(project):
    index = project / "book" / "index.md"
    text = index.read_text()
    try:
        index.write_text(text + "\n{ref}`nowhere`\n")
        done = run_make_line(project, "make book")
    finally:
        index.write_text(text)
    assert done.returncode != 0
    assert re.search(
        r"error: The pages were not rendered: .*index\.md:\d+: WARNING", done.stderr
    )


def readme_commands() -> list[str]:
    """Return the commands of the README: its bash blocks, and `make ...` within the text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return sorted({*lines, *re.findall(r"`(make [^`]+)`", text)})


@pytest.mark.slow
@pytest.mark.parametrize("command", readme_commands())
def test_the_commands_of_the_readme_work(command, project, tmp_path):
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    line = rf"^in_time {re.escape(command)}\b(?! \w+=)"
    if re.search(line, script, flags=re.MULTILINE):
        return  # run on the whole project there
    if command == "make test":
        return  # that is this
    if command == "make course":
        return  # its exercises are those of the whole project: tests/tools/course
    if command.startswith(("export ", "pip ")):
        return  # the packages are here
    if command.startswith("python -m helpers measure "):  # on a bundled model
        words = shlex.split(command.replace("n_facts=5", "n_facts=1"))
        done = run_python(*words[1:], "--runs", tmp_path, cwd=ROOT)
        assert re.search(r"MONITOR +0\.\d+", done.stdout)
    else:
        done = run_make_line(project, command)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("interpreter", ["false", "no-such-python"])
def test_make_names_the_pythons_it_can_use(project, interpreter):
    done = run_program(
        "make", "install", f"PYTHON={interpreter}", "VENV=new", code=2, cwd=project
    )
    assert "Python 3.11, 3.12 or 3.13 is needed" in done.stderr
    assert not (project / "new").exists()
