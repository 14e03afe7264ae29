"""The slow tests begin with what changed and end in time."""

import os
import time
from pathlib import Path

import pandas as pd
import pytest

from tests import slow_tier
from tests.slow_tier import Slow

ROOT = Path(__file__).resolve().parent.parent
PASSES = "print('good')"
FAILS = "raise SystemExit('why')"
HANGS = """import subprocess, time
started = subprocess.Popen(["sleep", "600"])
open({pid!r}, "w").write(str(started.pid))
time.sleep(600)
"""


def test_the_table_holds_all_files_of_slow_tests_and_what_they_are_for():
    rows = pd.read_csv(slow_tier.TABLE)
    assert rows["file"].tolist() == [file.path for file in slow_tier.slow_files()]
    assert (rows["seconds"] > 0).all()
    for place in set(" ".join(rows["tests"]).split()):
        parent, name = (ROOT / place).parent, Path(place).name
        assert list(parent.glob(f"{name}*")), place


FILES = [
    Slow("tests/test_a.py", 30, ("helpers/runs",)),
    Slow("tests/test_b.py", 20, ("helpers/runs", "book")),
    *(Slow(f"tests/test_{name}.py", 10) for name in "cdef"),
]


def test_what_changed_comes_first_and_the_others_take_turns():
    changed = {"helpers/runs/saving.py", "tests/test_d.py"}
    orders = [slow_tier.in_order(FILES, changed, seed) for seed in "12345678"]
    for order in orders:
        assert set(order) == set(FILES)
        assert {file.path[-4] for file in order[:3]} == {"a", "b", "d"}
    assert len({order[0] for order in orders}) > 1
    assert len({order[-1] for order in orders}) > 1


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    slow_tier.git(folder, "add", name)
    slow_tier.git(folder, *author, "commit", "-m", name)


def test_what_changed_is_told_in_a_clone_of_any_kind(tmp_path):
    assert slow_tier.changed_paths(tmp_path) == set()  # no clone at all
    first = tmp_path / "first"
    first.mkdir()
    slow_tier.git(first, "init", "--initial-branch=main")
    for n in range(14):
        commit(first, f"file{n}")
    assert slow_tier.changed_paths(first) == {f"file{n}" for n in range(4, 14)}
    slow_tier.git(tmp_path, "clone", "--depth=3", first.as_uri(), "short")
    assert slow_tier.changed_paths(tmp_path / "short") == {"file12", "file13"}
    slow_tier.git(tmp_path, "clone", first.as_uri(), "second")
    second = tmp_path / "second"
    assert len(slow_tier.changed_paths(second)) == 10  # it is as main is
    commit(second, "mine")
    assert slow_tier.changed_paths(second) == {"mine"}


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Return a function that runs texts as programs, in the place of files of tests."""
    monkeypatch.setattr(slow_tier, "ROOT", tmp_path)
    monkeypatch.setattr(slow_tier, "PYTEST", ())

    def run(texts, minutes, seconds=1.0):
        files = []
        for name, text in texts.items():
            (tmp_path / f"test_{name}.py").write_text(text)
            files.append(Slow(f"test_{name}.py", seconds))
        return slow_tier.run(files, minutes, 2, tmp_path)

    return run


def gone(pid: Path) -> bool:
    """Return whether the process of a file with its number has ended."""
    try:
        os.kill(int(pid.read_text()), 0)
    except ProcessLookupError:
        return True
    # Nobody may have taken notice of its end yet.
    state = Path(f"/proc/{pid.read_text()}/stat")
    return state.is_file() and state.read_text().split()[2] == "Z"


def test_a_failure_is_told_with_what_was_printed(in_folder, capsys):
    told = in_folder({"a": FAILS, "b": PASSES}, minutes=5)
    assert told.failed.keys() == {"test_a.py"}
    assert "why" in told.failed["test_a.py"]
    assert told.left == []
    assert "test_b.py: passed" in capsys.readouterr().out


def test_a_file_that_hangs_fails_and_leaves_no_process(
    in_folder, tmp_path, monkeypatch
):
    pid = tmp_path / "pid"
    monkeypatch.setattr(slow_tier, "LEAST", 3)
    told = in_folder({"a": HANGS.format(pid=str(pid))}, minutes=5)
    assert told.failed.keys() == {"test_a.py"}
    assert gone(pid)


def test_no_file_is_begun_that_would_end_too_late(in_folder):
    assert in_folder({"a": FAILS}, minutes=1, seconds=61).left == ["test_a.py"]
    assert in_folder({"a": FAILS}, minutes=0).left == ["test_a.py"]


def test_what_is_not_finished_in_time_has_not_failed(in_folder, tmp_path, capsys):
    begun = time.monotonic()
    told = in_folder({"a": HANGS.format(pid=str(tmp_path / "pid"))}, minutes=0.05)
    assert told == slow_tier.Told({}, ["test_a.py"])
    assert time.monotonic() - begun < 30
    assert "test_a.py: not finished" in capsys.readouterr().out
