"""The circumstances of a run: versions, machine, time, memory and the project's commit."""

import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

SOURCE_FOLDER = Path(__file__).resolve().parents[2]
RECORDED_PACKAGES = ("torch", "transformers", "numpy", "pandas")


def describe_circumstances(started: float, on: str = "") -> dict[str, Any]:
    """Return the circumstances of what began at ``started`` and ends now, a model `on` a device."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    peak = {"cpu": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20}
    torch = sys.modules.get(
        "torch"
    )  # never imported here: a run without a model needs none
    if torch is not None and torch.cuda.is_available():
        peak["cuda"] = torch.cuda.max_memory_allocated() / 2**20
    return {
        "versions": {"python": platform.python_version()}
        | {p: version(p) for p in RECORDED_PACKAGES},
        "device": _device(on),
        "seconds": round(time.monotonic() - started, 1),
        "peak_memory_mib": {place: round(size, 1) for place, size in peak.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def json_value(value: object) -> object:
    """Return a path, a numpy number or a set as something that JSON can hold."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return (
        value.tolist()
    )  # numpy scalars and arrays; anything else is a mistake worth raising


def _device(on: str) -> str:
    """Return the accelerator if torch sees one and the model is on it, else the processor."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and not on.startswith("cpu"):
        return torch.cuda.get_device_name()
    return f"cpu ({platform.machine()}, {os.cpu_count()} cores)"


def _commit() -> str | None:
    """Return the project's git commit, with ``+changes`` if files differ; None without git."""
    try:
        git = ["git", "-C", str(SOURCE_FOLDER)]
        top = subprocess.check_output(
            [*git, "rev-parse", "--show-toplevel"], text=True, stderr=-3
        )
        if (
            Path(top.strip()) != SOURCE_FOLDER
        ):  # a copy of the project inside some other repository
            return None
        commit = subprocess.check_output(
            [*git, "rev-parse", "HEAD"], text=True, stderr=-3
        )
        changed = subprocess.check_output(
            [*git, "status", "--porcelain", "-uno"], text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.strip() + ("+changes" if changed.strip() else "")
