"""Models in llama.cpp's format (GGUF), dequantised once, as transformers reads them.

Reading such a file takes transformers a minute, of which most is its list of tokens; so what it
read is kept in the user's cache, as safetensors with the tokenizer's files, under the checksum of
the file and the version of transformers.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers import UserError, first_line
from helpers.datasets import download

ABOUT = "gguf.json"  # what is said of the file, beside what was read from it


def folder(file: Path, name: str) -> Path:
    """Return the folder with a file's model in float32 and its tokenizer, made where missing."""
    import transformers

    sha = download.checksum([file])
    kept = download.cache("gguf") / f"{sha[:32]}-{transformers.__version__}"
    if (kept / ABOUT).is_file():
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".part-") as part:
            about = {"file": file.name, "sha256": sha, "quantization": _convert(file, name, part)}
            (Path(part) / ABOUT).write_text(json.dumps(about), encoding="utf-8")
            with contextlib.suppress(FileExistsError):  # another process was first
                (made := Path(part) / "made").mkdir()
                for each in [path for path in Path(part).iterdir() if path != made]:
                    each.replace(made / each.name)
                made.replace(kept)
    except OSError as error:
        raise UserError(
            f"{name} is dequantised into {kept.parent}, which cannot be written "
            f"({error.strerror or error}): make room there, then run again."
        ) from error
    return kept


def about(folder: Path) -> dict[str, str] | None:
    """Return what is said of the file that a folder was read from; None for any other folder."""
    path = folder / ABOUT
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _convert(file: Path, name: str, part: str) -> str:
    """Write a file's model and tokenizer into a folder, and return how it was quantised."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    quantization = _quantization(file, name)
    with _alone(file) as place:
        given: dict[str, Any] = {"gguf_file": file.name, "trust_remote_code": False}
        try:
            config = AutoConfig.from_pretrained(place, **given)
        except Exception as error:  # whatever the file makes the library run into
            raise UserError(
                f"The architecture of {name} cannot be read from its GGUF file "
                f"({first_line(error)}); give the folder or the hub id of the model that it was "
                "made from."
            ) from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(place, **given)
        except Exception as error:
            raise UserError(
                f"{name} holds no tokenizer that transformers can read ({first_line(error)}); "
                "give the folder or the hub id of the model that it was made from."
            ) from error
        try:
            model = AutoModelForCausalLM.from_pretrained(
                place, config=config, dtype=torch.float32, **given
            )
        except Exception as error:
            raise UserError(
                f"The weights of {name} cannot be dequantised ({first_line(error)}); fetch the "
                "file anew, or give the model that it was made from."
            ) from error
    if (quantizer := getattr(model, "hf_quantizer", None)) is not None:
        quantizer.remove_quantization_config(model)  # its weights are plain numbers by now
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    return quantization


def _quantization(file: Path, name: str) -> str:
    """Return how most of a file's tensors are stored, such as Q4_1; refuse what is no such file."""
    try:
        import gguf
    except ModuleNotFoundError as error:
        raise UserError(
            f"{name} is in llama.cpp's format (GGUF), which the package gguf reads: "
            "`pip install gguf`, then run again."
        ) from error
    try:
        tensors = gguf.GGUFReader(file).tensors
        sizes: dict[str, int] = {}
        for tensor in tensors:
            kind = tensor.tensor_type.name
            sizes[kind] = sizes.get(kind, 0) + int(tensor.n_bytes)
        return max(sizes, key=sizes.__getitem__)
    except Exception as error:  # a reader of foreign bytes fails in many ways
        raise UserError(
            f"{file} is not a whole GGUF file ({first_line(error)}): fetch it anew."
        ) from error


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[str]:
    """Show a file in a folder of its own: nothing that lies beside it is read."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / file.name).symlink_to(file.resolve())
        yield place
