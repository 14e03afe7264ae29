"""Tests of book.tools.sweeps: a run that fails is mended, and it alone is repeated."""

import os
import re
import shutil
import time

import pandas as pd
import pytest

from book.tools import __main__ as commands
from book.tools import runner, sweeps
from tests import small_project

pytestmark = pytest.mark.slow


def runs_of(project):
    """Return when each run of the project was finished, by its model's folder."""
    found = sorted((project / "runs").glob("*/monitor/run.json"))
    return {path.parts[-3].partition("-")[0]: path.stat().st_mtime_ns for path in found}


SWEEP = ["sweep", "monitor", "--models", "./a", "./b", "--cores", "1"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Return a project and two sweeps of it with what they left; the first has a broken model."""
    top = small_project.copy_small_project(
        tmp_path_factory.mktemp("copy") / "the project", "a", "b"
    )
    (top / "b" / "broken").touch()
    outcomes = [(small_project.run_book_tools(top, *SWEEP), runs_of(top))]
    shutil.copytree(next((top / "runs").glob("b-*/monitor")), top / "failed")
    (top / "b" / "broken").unlink()
    outcomes.append((small_project.run_book_tools(top, *SWEEP), runs_of(top)))
    return top, outcomes


@pytest.fixture
def project(swept):
    return swept[0]


def test_a_sweep_goes_on_past_a_bad_model_and_repeats_only_it(swept):
    project, ((first, done), (second, now)) = swept
    assert first.returncode == 2
    *lines, last = first.stdout.splitlines()
    assert last == "1 done (1 of them now), 1 failed, 0 left"
    assert len(lines) == 1
    assert lines[0].startswith("failed  b-")
    assert "./b is broken: remove the file broken." in lines[0]
    folder = next((project / "runs").glob("b-*/monitor"))
    assert f"{folder.relative_to(project)}/run.log" in lines[0]
    assert "Traceback" in (project / "failed" / "failed.ipynb").read_text()
    assert first.stderr.splitlines()[-1].startswith(
        "error: The sweep lacks 1 of 2 runs: mend"
    )
    assert set(done) == {"a"}

    assert second.returncode == 0
    assert second.stdout.splitlines()[-1] == "2 done (1 of them now), 0 failed, 0 left"
    told = second.stderr.splitlines()
    assert any(
        re.fullmatch(r"1 of 1 runs made in [\d.]+ minutes", line) for line in told
    )
    assert any(re.fullmatch(r"b-\w+/monitor: cell 1/\d, \d+ s", line) for line in told)
    assert now["a"] == done["a"]
    assert not (folder / "failed.ipynb").exists()


def plan(project, *words):
    """Return the first letters of the models that a sweep would run."""
    told = small_project.run_book_tools(
        project, *SWEEP, "--dry-run", *words
    ).stdout.splitlines()
    assert len(told) == 2
    return [line.split()[-1][0] for line in told if line.startswith("to do")]


def test_only_what_changed_is_out_of_date(project):
    assert plan(project, "--set", "n_facts=4") == ["a", "b"]
    config, before = project / "b" / "config.json", time.time()
    config.write_text('{"other": 1}')
    os.utime(config, (before - 1e8, before - 1e8))  # a file's time can lie
    assert plan(project) == ["b"]
    config.write_text("{}")
    os.utime(config, (before + 1e8, before + 1e8))
    assert plan(project) == []
    answers = next((project / "runs").glob("a-*/monitor/answers.parquet"))
    shutil.move(answers, answers.with_suffix(".away"))
    assert plan(project) == ["a"]
    shutil.move(answers.with_suffix(".away"), answers)


def test_a_runs_folder_that_was_moved_or_copied_says_itself_what_it_holds(project):
    for moved in ("copied", "copied with other times"):
        keep = shutil.copy2 if moved == "copied" else shutil.copy
        shutil.copytree(project / "runs", project / moved, copy_function=keep)
        assert plan(project, "--runs", moved) == []
    assert plan(project, "--runs", moved, "--set", "n_facts=4") == ["a", "b"]


def test_a_run_made_by_hand_counts_for_its_settings(project):
    by_hand = [
        "run",
        "monitor",
        "--model",
        "./a",
        "--runs",
        "by hand",
        "--set",
        "n_facts=5",
    ]
    assert small_project.run_book_tools(project, *by_hand).returncode == 0
    assert plan(project, "--runs", "by hand", "--set", "n_facts=5") == ["b"]
    assert plan(project, "--runs", "by hand") == ["a", "b"]


def test_chapters_that_ask_no_model_come_last_and_some_need_a_run(
    tmp_path, monkeypatch
):
    made = []

    def failing(jobs, runs, cores, profile):
        made.append([job.name for job in jobs])
        rows = [(job.name, "failed", True, "Why.", "") for job in jobs]
        return pd.DataFrame(rows, columns=runner.OUTCOME_COLUMNS)

    monkeypatch.setattr(runner, "_make", failing)
    chapters = ["comparison", "published", "real_models", "monitor"]
    planned = sweeps.plan_sweep_jobs(["atlas-s"], chapters, [])
    table = sweeps.run_sweep(planned, tmp_path).set_index("run")
    assert made == [
        ["atlas-s/monitor", "synthesis/published"],
        ["synthesis/real_models"],
    ]
    assert table.loc["synthesis/comparison", "state"] == "left"
    assert (
        table.loc["synthesis/comparison", "why"]
        == "No run is there that it could read."
    )
    earlier = tmp_path / "m" / "monitor" / "run.json"
    earlier.parent.mkdir(parents=True)
    earlier.touch()
    sweeps.run_sweep(planned, tmp_path)
    assert made[-1] == ["synthesis/comparison", "synthesis/real_models"]


def test_runs_begin_by_priority_and_a_large_model_has_the_cores_alone(
    tmp_path, monkeypatch
):
    at_work, seen = [], []

    def call(words, threads):
        name = f"{words[words.index('--model') + 1]}/{words[4]}"
        at_work.append(name)
        time.sleep(0.1)
        seen.append((name, threads, len(at_work)))
        at_work.remove(name)

    monkeypatch.setattr(runner, "_call", call)
    chapters, models = ["atlas", "monitor"], ["./large", "atlas-s", "atlas-m"]
    planned = sweeps.plan_sweep_jobs(models, chapters, [])
    runner._make_here(planned, tmp_path, cores=4)
    assert {name for name, *_ in seen[:2]} == {"atlas-s/monitor", "atlas-m/monitor"}
    assert [threads for _, threads, _ in seen] == [2] * 4 + [4] * 2
    assert max(side for *_, side in seen[:4]) == 2
    assert seen[4:] == [("./large/monitor", 4, 1), ("./large/atlas", 4, 1)]


def test_an_interrupted_sweep_begins_no_other_run(tmp_path, monkeypatch):
    begun = []

    def call(words, threads):
        begun.append(words)
        time.sleep(0.2)

    def interrupted(futures):
        if futures:
            raise KeyboardInterrupt
        return ()

    monkeypatch.setattr(runner, "_call", call)
    monkeypatch.setattr(runner, "as_completed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner._make_here(
            sweeps.plan_sweep_jobs(["./a", "./b", "./c"], ["monitor"], []),
            tmp_path,
            cores=1,
        )
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sweep"], 'A sweep needs models: name them, as in MODELS="atlas-s atlas-m".'),
        (["sweep", "moniter", "--models", "atlas-s"], "There is no chapter 'moniter'"),
        (
            ["sweep", "--models", "atlas-s", "--set", "n_fact=1"],
            "did you mean n_facts?",
        ),
        (
            ["sweep", "--models", "atlas-s", "--profile", "slum"],
            "There is no profile slum: choose",
        ),
    ],
)
def test_a_mistake_ends_a_sweep_at_once_with_one_sentence(
    words, sentence, capfd, tmp_path
):
    assert commands.main([*words, "--runs", str(tmp_path / "runs")]) == 2
    told = capfd.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_sweep_of_all_chapters_asks_no_chapter_of_one_model_and_none_twice():
    names = [
        job.name
        for job in sweeps.plan_sweep_jobs(["atlas-s", "atlas-s", "atlas-xs"], [], [])
    ]
    assert len(set(names)) == len(names)
    assert {"atlas-s/monitor", "atlas-xs/monitor", "synthesis/comparison"} <= set(names)
    assert "atlas-s/atlas" not in names
