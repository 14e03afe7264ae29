"""Programs that tests start: what they say is kept and printed, and how they must end."""

import subprocess
import sys
from typing import Any


def run_program(
    *words: object, code: int | None = 0, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Return a program that has ended, with this code unless it is None."""
    told = [str(word) for word in words]
    done = subprocess.run(told, capture_output=True, text=True, check=False, **how)
    print(done.stdout[-3000:], done.stderr[-6000:])
    assert code in (None, done.returncode)
    return done


def run_python(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Call this interpreter."""
    return run_program(sys.executable, *words, **how)
