"""That a model has passed a check, kept in the user's cache, so that the check is made once.

An outcome is of one model, device, number format, length of packs, version of the libraries and
state of the engine's own modules. One that cannot be kept or read only costs the check again.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from pathlib import Path
from typing import Any

import torch

from helpers.datasets import download
from helpers.models import LanguageModel, check
from helpers.probing import cache as caches


def read(model: LanguageModel, name: str, length: int) -> Any:
    """Return the outcome of a check of packs of a length; None where none is kept."""
    if not model.weights_sha:  # a model in training, which is another at each step
        return None
    try:
        return json.loads(_file(model, name, length).read_bytes())
    except (OSError, ValueError):
        return None


def keep(model: LanguageModel, name: str, length: int, outcome: Any) -> None:
    """Keep the outcome of a check of packs of a length."""
    file = _file(model, name, length)
    whole = file.with_suffix(f".{os.getpid()}.tmp")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(json.dumps(outcome), encoding="utf-8")
        whole.replace(file)


def folder() -> Path:
    """Return where outcomes are kept."""
    return download.cache("checks")


def _file(model: LanguageModel, name: str, length: int) -> Path:
    kernels = torch.backends.cpu.get_cpu_capability()
    if model.device.type == "cuda":
        kernels = torch.cuda.get_device_name(model.device)
    attention = str(model.model.config._attn_implementation)
    said = (name, str(model.device), kernels, attention, length, _code())
    return folder() / f"{caches.key(caches.identity(model), (), *said)}.json"


@functools.cache
def _code() -> str:
    folders = Path(__file__).parent, Path(check.__file__).parent
    return download.checksum(sorted(file for part in folders for file in part.glob("*.py")))
