"""Faults of whole sweeps: minutes each, so `make faults` runs them and `make test` does not."""

import contextlib
import os
import signal
import subprocess

import pandas as pd
import pytest

from tests import small_project
from tests.faults.conftest import wait_until

pytestmark = pytest.mark.slow
fault = pytest.mark.fault
SWEEP = ["sweep", "monitor", "--models", "./a", "--cores", "1", "--set"]


@pytest.fixture
def project(tmp_path):
    return small_project.copy_small_project(tmp_path / "the project", "a")


@pytest.fixture
def begin(project):
    """Return a function that starts a command of the project, which ends with the test."""
    begun = []

    def start(*words):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        begun.append(
            subprocess.Popen(
                small_project.book_tools_command(*words),
                cwd=project,
                env=small_project.copy_environment(),
                start_new_session=True,
                **streams,
            )
        )
        return begun[-1]

    yield start
    for process in begun:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def log(project):
    return list((project / "runs").glob("a-*/monitor/run.log"))


@fault("two sweeps at once in one folder")
def test_a_second_sweep_is_refused(project, begin):
    first = begin(*SWEEP, "pause=5")
    wait_until((project / "runs" / ".lock").exists)
    second = small_project.run_book_tools(project, *SWEEP, "pause=5")
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "Another sweep or make book is at work in" in second.stderr
    told, _ = first.communicate(timeout=400)
    assert first.returncode == 0
    assert "1 done (1 of them now), 0 failed, 0 left" in told


@fault("kill -9 of a sweep with all that it started")
def test_a_killed_sweep_starts_again_without_ado(project, begin):
    first = begin(*SWEEP, "pause=600")
    wait_until(
        lambda: log(project) and "Executing Cell 3" in log(project)[0].read_text()
    )
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    again = small_project.run_book_tools(project, *SWEEP, "pause=0")
    assert again.returncode == 0
    assert again.stdout.splitlines()[-1] == "1 done (1 of them now), 0 failed, 0 left"
    table = pd.read_parquet(log(project)[0].with_name("answers.parquet"))
    assert list(table["n"]) == [0, 1, 2]


@fault("kill -9 of a run in a sweep")
def test_a_run_that_is_killed_is_told_apart(project, begin):
    first = begin(*SWEEP, "pause=600")
    wait_until(
        lambda: log(project) and "Executing Cell 3" in log(project)[0].read_text()
    )
    call = ["pgrep", "-s", str(first.pid), "-f", "book.tools run monitor --model ./a"]
    pids = subprocess.check_output(call, text=True).split()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    told, _ = first.communicate(timeout=400)
    assert first.returncode == 2
    assert "0 done (0 of them now), 1 failed, 0 left" in told
    assert "It was ended from outside: by a signal" in told
