"""The circumstances of a run: versions, machine, time, memory and commit."""

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
    """Return the circumstances of what began at ``started`` and ends now.

    ``on`` is the device of the model, "" if there is none.
    """
    versions = {"python": platform.python_version()}
    for package in RECORDED_PACKAGES:
        versions[package] = version(package)
    return {
        "versions": versions,
        "device": _device(on),
        "seconds": round(time.monotonic() - started, 1),
        "peak_memory_mib": _peak_memory(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def _peak_memory() -> dict[str, float]:
    """Return the most memory that was used so far, in MiB, by kind of device."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    in_process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    peak = {"cpu": round(in_process / 2**20, 1)}
    torch = _torch_with_accelerator()
    if torch is not None:
        peak["cuda"] = round(torch.cuda.max_memory_allocated() / 2**20, 1)
    return peak


def _torch_with_accelerator() -> Any:  # a module, imported elsewhere
    """Return torch if it is loaded and sees an accelerator, else None.

    It is never imported here: a run without a model needs none.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch
    return None


def json_value(value: Any) -> object:  # any value that a manifest holds
    """Return a path, a numpy number or a set as something that JSON can hold."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    # Of numpy's numbers and arrays; anything else is a mistake worth raising.
    return value.tolist()


def _device(on: str) -> str:
    """Return the accelerator if the model is on one, else the processor."""
    torch = _torch_with_accelerator()
    if torch is not None and not on.startswith("cpu"):
        return torch.cuda.get_device_name()
    return f"cpu ({platform.machine()}, {os.cpu_count()} cores)"


def _commit() -> str | None:
    """Return the project's commit, with ``+changes`` if files differ from it.

    None without git.
    """
    try:
        # A copy of the project may lie inside some other repository.
        if Path(_git("rev-parse", "--show-toplevel")) != SOURCE_FOLDER:
            return None
        commit = _git("rev-parse", "HEAD")
        changes = _git("status", "--porcelain", "-uno")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{commit}+changes" if changes else commit


def _git(*arguments: str) -> str:
    """Return what git says of the project's folder."""
    command = ["git", "-C", str(SOURCE_FOLDER), *arguments]
    output = subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL)
    return output.strip()
