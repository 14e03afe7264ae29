"""The slow tests in as many minutes as there are, those of what changed first.

``python -m tests.slow_tier --minutes 40`` runs each file of slow tests in a process of
its own, one for each core, begins no file that would take longer than what is left, and
names the files that were not run. It fails if a test failed, or if a file took several
times as long as it ever did. ``tests/slow_tier.csv`` says how many seconds of one core
a file takes and which folders it tests.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".csv")
MARK = "pytest.mark.slow"
UNKNOWN = 60  # seconds of a file that is not in the table
PATIENCE, LEAST = 4, 600  # a file hangs after so many times its seconds, and not before
COMMITS = 10  # how far back something counts as changed, where there is no other branch
PYTEST = ("-m", "pytest", "-q", "-n", "0", "-m", "slow", "-p", "no:cacheprovider")
PAUSE = 0.2  # seconds between two looks at what runs


class Slow(NamedTuple):
    """A file of slow tests."""

    path: str
    seconds: float
    tests: tuple[str, ...] = ()  # folders and files whose changes it is for

    @property
    def patience(self) -> float:
        """Return the seconds after which it hangs."""
        return max(LEAST, PATIENCE * self.seconds)

    def touched(self, changed: Collection[str]) -> bool:
        """Return whether one of the paths that changed is its own, or one that it tests."""
        return any(path.startswith((self.path, *self.tests)) for path in changed)


def slow_files(root: Path = ROOT, table: Path = TABLE) -> list[Slow]:
    """Return the files of tests that hold a slow one, in the order of their names."""
    known = pd.read_csv(table, keep_default_na=False).set_index("file")
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        if MARK not in path.read_text(encoding="utf-8"):
            continue
        name = path.relative_to(root).as_posix()
        if name in known.index:
            row = known.loc[name]
            found.append(Slow(name, float(row["seconds"]), tuple(row["tests"].split())))
        else:
            found.append(Slow(name, UNKNOWN))
    return found


def git(root: Path, *words: str) -> str:
    """Return what git says, or nothing where it cannot tell."""
    command = ["git", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def changed_paths(root: Path = ROOT) -> set[str]:
    """Return what changed since the branch left main; on main, in its last commits."""
    base = git(root, "merge-base", "HEAD", "origin/main")
    if base in ("", git(root, "rev-parse", "HEAD")):
        history = git(root, "rev-list", "--first-parent", "HEAD").split()
        base = history[: COMMITS + 1][-1] if history else ""
    if not base:
        return set()
    return set(git(root, "diff", "--name-only", base).splitlines())


def in_order(files: Sequence[Slow], changed: Collection[str], seed: str) -> list[Slow]:
    """Return the files in the order of their turns: those that test what changed first.

    Both parts are shuffled by the commit, so that no file is always the one that time is
    too short for.
    """
    shuffled = list(files)
    random.Random(seed).shuffle(shuffled)
    return sorted(shuffled, key=lambda file: not file.touched(changed))


class Running:
    """A file whose tests run, in a session of processes that can be ended together."""

    def __init__(self, file: Slow, folder: Path) -> None:
        """Start it; what it prints goes to a file, which no process can keep waiting for."""
        self.file, self.begun = file, time.monotonic()
        self.log = folder / f"{file.path.replace('/', '-')}.log"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, *PYTEST, file.path],
                cwd=ROOT,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def end(self) -> None:
        """Kill it and what it started, if any of them is left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def outcome(self) -> str:
        """Return how it went: nothing while it runs."""
        status = self.process.poll()
        if status is None:
            return "hangs" if self.seconds() > self.file.patience else ""
        return "passed" if status == 0 else "failed"


class Told(NamedTuple):
    """What became of the files: what those that failed printed, and which were not run."""

    failed: dict[str, str]
    left: list[str]


def run(files: Sequence[Slow], minutes: float, processes: int, folder: Path) -> Told:
    """Run files in their order while there is time."""
    end = time.monotonic() + 60 * minutes
    queue, running = list(files), []
    failed, left = {}, []
    try:
        while queue or running:
            remaining = end - time.monotonic()
            while queue and len(running) < processes:
                file = queue.pop(0)
                if file.seconds <= remaining:
                    running.append(Running(file, folder))
                else:
                    left.append(file.path)
            for one in list(running):
                outcome = one.outcome() or ("not finished" if remaining <= 0 else "")
                if not outcome:
                    continue
                one.end()
                running.remove(one)
                print(f"{one.file.path}: {outcome}, {one.seconds():.0f} s", flush=True)
                if outcome == "not finished":
                    left.append(one.file.path)
                elif outcome != "passed":
                    failed[one.file.path] = one.log.read_text("utf-8", "replace")
            time.sleep(PAUSE)
    finally:
        for one in running:
            one.end()
    return Told(failed, left)


def main(words: Sequence[str] | None = None) -> int:
    """Run what there is time for; return 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends what runs, too
    files = in_order(slow_files(), changed_paths(), git(ROOT, "rev-parse", "HEAD"))
    folder = Path(tempfile.mkdtemp())
    try:
        told = run(files, given.minutes, given.processes, folder)
    finally:
        shutil.rmtree(folder)
    print(
        f"{len(files) - len(told.left)} of {len(files)} files of slow tests were run."
    )
    for path in told.left:
        print(f"not run: {path}")
    for path, printed in told.failed.items():
        print(f"\n{path} failed:\n{printed[-20_000:]}")
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
