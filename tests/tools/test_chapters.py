"""Tests of book.tools.chapters: what a run leaves, and what is said of one that fails.

The chapter is a stand-in that runs in seconds.
"""

import json
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook
from papermill.exceptions import PapermillExecutionError

from book.tools import chapters
from helpers import UserError, runs
from tests.tools import stand_in_chapters

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the stand-in and returns its folder."""
    templates = stand_in_chapters.write_stand_in_template(tmp_path / "notebooks")

    def execute(model="some/model", **settings):
        return chapters.run_chapter(
            "monitor", model, settings, tmp_path / "runs", templates
        )

    return execute


def test_a_run_leaves_notebook_tables_and_log(run, tmp_path, capfd):
    failed = tmp_path / "runs" / "some--model" / "monitor" / "failed.ipynb"
    failed.parent.mkdir(parents=True)
    failed.touch()  # of an earlier run
    folder = run(n_facts=2, attribution=False)
    assert folder == failed.parent
    table = pd.read_parquet(folder / "answers.parquet")
    assert table["n"].tolist() == [0, 1]
    assert set(table["folder"]) == {str(ROOT)}
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    injected = [
        c for c in notebook.cells if "injected-parameters" in c.metadata.get("tags", [])
    ]
    exec(injected[0].source, values := {})
    given = {"model": "some/model", "n_facts": 2, "attribution": False}
    assert given.items() <= values.items()
    assert Path(values["run_dir"]) == folder
    log, terminal = (folder / "run.log").read_text(), capfd.readouterr().err
    assert "said aloud" in log
    assert "progress 1/1" in log
    assert "progress 1/1" in terminal
    assert re.search(
        r"^some--model/monitor: cell 3/7, \d+ s$", terminal, flags=re.MULTILINE
    )
    left = {path.name for path in folder.iterdir()} - {".lock"}
    assert left == {*chapters.RUN_FILES, "notebook.ipynb", "run.log"}


def test_a_failed_cell_is_named_and_its_traceback_kept(run, tmp_path):
    with pytest.raises(UserError) as caught:
        run(fail="bug")
    folder = tmp_path / "runs" / "some--model" / "monitor"
    assert str(caught.value) == (
        'The chapter monitor stopped in cell 4 (`if fail == "bug": [][1]`): IndexError: list index '
        f"out of range (log: {folder / 'run.log'}, traceback: {folder / 'failed.ipynb'})"
    )
    assert (folder / "run.log").read_text().endswith(f"error: {caught.value}\n")
    assert not (folder / "notebook.ipynb").exists()
    assert "Traceback" in (folder / "failed.ipynb").read_text()


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("UserError", stand_in_chapters.FAILING_CELL, "in cell 4: Choose\nP17."),
        (
            "KeyError",
            stand_in_chapters.FAILING_CELL,
            "in cell 4 (`x = y[3]`): KeyError: Choose\nP17.",
        ),
        ("UserError", "n_facts = 3", "in the parameters: Choose\nP17."),
    ],
)
def test_a_failure_says_where_and_why(tmp_path, name, source, sentence):
    template = stand_in_chapters.write_stand_in_template(tmp_path) / "monitor.ipynb"
    traced = ["\x1b[1mTraceback\x1b[0m", "      1 y = []", "----> 2 x = y[3]"]
    error = PapermillExecutionError(4, 4, source, name, "Choose\nP17.", traced)
    if name == "UserError":
        error.traceback = []
    assert chapters._failure(error, template, template) == sentence.replace("\n", " ")


def test_a_process_that_died_is_named_by_its_last_cell(run, monkeypatch, tmp_path):
    def die(template, output, settings, **others):
        begun = [
            (stand_in_chapters.RUN_CELL, "1"),
            (stand_in_chapters.FAILING_CELL, "2"),
            (stand_in_chapters.SAVE_CELL, None),
        ]
        cells = [
            new_code_cell(s, metadata={"papermill": {"start_time": t}})
            for s, t in begun
        ]
        nbformat.write(new_notebook(cells=cells), output)
        raise DeadKernelError("died")

    monkeypatch.setattr(chapters.papermill, "execute_notebook", die)
    with pytest.raises(UserError) as caught:
        run()
    told = "The chapter monitor stopped in cell 4: the Python process died, most likely for want of"
    assert str(caught.value).startswith(told)
    assert next(tmp_path.glob("runs/*/monitor/*.ipynb")).name == "failed.ipynb"


def test_what_runs_nothing_or_saves_nothing_is_refused(run, monkeypatch, tmp_path):
    with pytest.raises(UserError, match="has no parameter 'n_fact'"):
        run(n_fact=2)
    assert not (tmp_path / "runs").exists()
    (tmp_path / "taken").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot be written .*--runs"):
        chapters.run_chapter(
            "monitor", "m", {}, tmp_path / "taken", tmp_path / "notebooks"
        )
    monkeypatch.setattr(
        chapters.papermill,
        "execute_notebook",
        lambda template, output, settings, **others: Path(output).touch(),
    )
    with pytest.raises(UserError, match=r"ended without answers\.parquet"):
        run()


def test_a_synthesis_reads_the_runs_of_all_models(tmp_path):
    folder = tmp_path / "runs {seed} {none}"  # which papermill would fill in
    table = pd.DataFrame({"n": [0]})
    for name in ("some/model", "other/model"):
        begun = runs.start(
            "monitor", {"model": name}, folder / name.replace("/", "--") / "monitor"
        )
        about = {"model": {"name": name}, "dataset": {"name": "none"}}
        runs.save(begun, answers=table, metrics=table, **about)
    earlier = runs.start("summary", {"seed": 0}, folder / "synthesis" / "earlier")
    runs.save(earlier, metrics=table)  # not among what is read
    stand_in_chapters.write_synthesis_template(tmp_path)
    made = chapters.run_chapter("summary", "ignored", {"seed": 4}, folder, tmp_path)
    assert made == folder / "synthesis" / "summary"
    files = {path.name for path in made.iterdir()} - {".lock"}
    assert files == {"metrics.parquet", "run.json", "notebook.ipynb", "run.log"}
    assert sorted(runs.load_metrics(made)["model"]) == ["other/model", "some/model"]
    assert json.loads((made / "run.json").read_text())["seed"] == 4


def test_folders_may_have_braces(tmp_path):
    folder = tmp_path / "{b}"
    templates = stand_in_chapters.write_stand_in_template(folder / "notebooks")
    settings = {"n_facts": 2}
    made = chapters.run_chapter("monitor", "m/m", settings, folder / "runs", templates)
    assert (made / "notebook.ipynb").is_file()
