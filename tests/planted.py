"""Check the checks: plant faults that anyone could make, one at a time, and see which test fails.

Each fault of `planted.toml` is planted in a copy of the package and its tests, in a
temporary folder. First the tests of its package that name the module run, then its
docstrings' examples, and only if these hold, everything fast that rests on it. Run as
`python -m tests.planted`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPIED_FOLDERS = (
    "helpers",
    "tests",
    "book",
    "notebooks",
)  # some tests read the pages and templates
PACKAGES = ("metrics", "stats", "probing", "prompts")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.M)


class PlantedFault(NamedTuple):
    """A fault: in the module one text stands for another."""

    module: str
    what: str
    right: str
    wrong: str


def planted_faults() -> list[PlantedFault]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [PlantedFault(**fault) for fault in tomllib.loads(text)["fault"]]


def faulty_source(fault: PlantedFault) -> str:
    """Return the source of a module with the fault, which must have one place and compile."""
    source = (ROOT / fault.module).read_text(encoding="utf-8")
    if (times := source.count(fault.right)) != 1:
        raise ValueError(
            f"{fault.right!r} stands in {fault.module} {times} times, not once"
        )
    changed = source.replace(fault.right, fault.wrong)
    compile(changed, fault.module, "exec")
    return changed


def catching_test(fault: PlantedFault) -> str:
    """Return the test that fails because of a fault; "" if there is none."""
    found = (first_failing_test(tests, fault) for tests in _stages(fault.module))
    return next(filter(None, found), "")


def first_failing_test(tests: list[str], fault: PlantedFault | None = None) -> str:
    """Return the first of some tests that fails in a copy of the package; "" if all pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED_FOLDERS:
            shutil.copytree(
                ROOT / name, copy / name, ignore=shutil.ignore_patterns("_build")
            )
        shutil.copy(ROOT / ".pytest.ini", copy)
        if fault is not None:
            (copy / fault.module).write_text(faulty_source(fault), encoding="utf-8")
        options = ["-x", "-q", "--hypothesis-seed=0"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=copy,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 1, 5):  # 1: a test has failed; 5: there are none
        raise RuntimeError(done.stdout + done.stderr)
    return _FAILED.findall(done.stdout)[0] if done.returncode == 1 else ""


def _stages(module: str) -> Iterator[list[str]]:
    """Yield which tests to run, one list after the other, while none fails."""
    package, stem = Path(module).parts[1], Path(module).stem
    files = [
        path.relative_to(ROOT)
        for path in sorted(ROOT.glob(f"tests/{package}/test_*.py"))
    ]
    word = re.compile(rf"\b(?:test_)?{stem}\b")
    named = [
        str(f)
        for f in files
        if word.search(f"{f}\n{(ROOT / f).read_text(encoding='utf-8')}")
    ]
    named.sort(key=lambda name: not name.endswith(f"/test_{stem}.py"))
    yield [*named, module]
    yield [f"tests/{name}" for name in PACKAGES]
    yield [*(f"helpers/{name}" for name in PACKAGES), "tests/studies"]


def main() -> int:
    """Print what catches each fault; return 1 if one is missed, or a test fails without it too."""
    caught = {}
    for fault in planted_faults():
        caught[fault] = catching_test(fault)
        print(
            f"{fault.module}: {fault.what}\n    {caught[fault] or 'MISSED'}", flush=True
        )
    tests = sorted(set(caught.values()) - {""})
    if failing := first_failing_test(tests) if tests else "":
        print(f"{failing} fails without a fault too")
    return int(bool(failing) or not all(caught.values()))


if __name__ == "__main__":
    sys.exit(main())
