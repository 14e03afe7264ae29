"""Models in llama.cpp's format (GGUF), dequantised once, as transformers reads them.

What was read in a minute is kept in the user's cache, by the file's checksum and
transformers' version.
"""

import contextlib
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from helpers import (
    UserError,
    first_line_of_error,
    reraise_as_user_error,
    reraise_failed_write,
)
from helpers.io import user_cache

GGUF_RECORD_FILE = (
    "gguf.json"  # what is said of the file, and the sizes of what was read from it
)
FETCH_ANEW_REMEDY = "fetch the file anew"
UNQUANTISED_REMEDY = "give the folder or the hub id of the model that it was made from"


def dequantised_model_folder(file: Path, name: str) -> tuple[Path, dict[str, str]]:
    """Return the folder with a file's float32 model and tokenizer, made where missing."""
    import transformers

    with reraise_as_user_error(f"{file} cannot be read", FETCH_ANEW_REMEDY, OSError):
        sha = user_cache.checksum_of_files([file])
    kept = user_cache.cache_folder("gguf") / f"{sha[:32]}-{transformers.__version__}"
    if (quantization := _kept(kept)) is None:
        print(f"Dequantising {name}, once for all times", file=sys.stderr)
        place = f"{name} is dequantised into {kept.parent}, which"
        bars = contextlib.redirect_stderr(io.StringIO())  # the library's
        with reraise_failed_write(place, "make room there, then run again"), bars:
            quantization = _make(kept, file, name)
    return kept, {"file": file.name, "sha256": sha, "quantization": quantization}


def _kept(kept: Path) -> str | None:
    """Return how a kept folder's file was quantised; None if the folder is not whole."""
    try:
        about = json.loads((kept / GGUF_RECORD_FILE).read_text(encoding="utf-8"))
        whole = _sizes(kept) == about["sizes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return about["quantization"] if whole else None


def _make(kept: Path, file: Path, name: str) -> str:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".part-") as part:
        made = Path(part) / "made"
        made.mkdir()
        about = {"quantization": _convert(file, name, made)}
        (made / GGUF_RECORD_FILE).write_text(
            json.dumps(about | {"sizes": _sizes(made)}), encoding="utf-8"
        )
        shutil.rmtree(kept, ignore_errors=True)  # damaged, or not there
        try:
            made.replace(kept)
        except OSError:
            if _kept(kept) is None:  # else another process was first
                raise
    return about["quantization"]


def _sizes(folder: Path) -> dict[str, int]:
    return {
        file.name: file.stat().st_size
        for file in folder.iterdir()
        if file.name != GGUF_RECORD_FILE
    }


def _convert(file: Path, name: str, made: Path) -> str:
    """Write a file's model and tokenizer into a folder; return how it was quantised."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    quantization, numbers = _examined(file, name)
    given: dict[str, Any] = {"gguf_file": "model.gguf", "trust_remote_code": False}
    with (
        tempfile.TemporaryDirectory() as place
    ):  # nothing that lies beside the file is read
        (Path(place) / given["gguf_file"]).symlink_to(file.resolve())
        with reraise_as_user_error(
            f"The architecture of {name} cannot be read from its GGUF file",
            UNQUANTISED_REMEDY,
        ):
            config = AutoConfig.from_pretrained(place, **given)
        with reraise_as_user_error(
            f"{name} holds no tokenizer that transformers can read", UNQUANTISED_REMEDY
        ):
            tokenizer = AutoTokenizer.from_pretrained(place, **given)
        with reraise_as_user_error(
            f"The weights of {name} cannot be dequantised",
            f"{FETCH_ANEW_REMEDY}, or {UNQUANTISED_REMEDY}",
        ):
            model, report = AutoModelForCausalLM.from_pretrained(
                place,
                config=config,
                dtype=torch.float32,
                output_loading_info=True,
                **given,
            )
    if report["missing_keys"]:  # which would be random
        raise UserError(
            f"{name} lacks {len(report['missing_keys'])} tensors of "
            f"{type(model).__name__} (such as {sorted(report['missing_keys'])[0]}): "
            f"{FETCH_ANEW_REMEDY}, or {UNQUANTISED_REMEDY}."
        )
    weights = [
        weight for key, weight in model.state_dict().items() if key != "lm_head.weight"
    ]
    read = sum({weight.data_ptr(): weight.numel() for weight in weights}.values())
    if read < numbers:
        raise UserError(
            f"{name} holds {numbers:,} numbers below its output, of which transformers "
            f"reads {read:,}: its answers would be another model's; "
            f"{UNQUANTISED_REMEDY}."
        )
    if (quantizer := getattr(model, "hf_quantizer", None)) is not None:
        quantizer.remove_quantization_config(
            model
        )  # its weights are plain numbers by now
    try:
        model.save_pretrained(made)
    except SafetensorError as error:  # its word for a full disk, too
        raise OSError(first_line_of_error(error)) from error
    tokenizer.save_pretrained(made)
    return quantization


def _examined(file: Path, name: str) -> tuple[str, int]:
    """Return how most bytes are stored, and how many numbers are below the output."""
    try:
        import gguf
    except ModuleNotFoundError as error:
        raise UserError(
            f"{name} is in llama.cpp's format (GGUF), which the package gguf reads: "
            "`pip install gguf`, then run again."
        ) from error
    with reraise_as_user_error(f"{file} is not a whole GGUF file", "fetch it anew"):
        reader = gguf.GGUFReader(file)
        fields = {
            key: each for key, each in reader.fields.items() if "tokenizer" not in key
        }
        said = {key: field.contents() for key, field in fields.items()}
        sizes: dict[str, int] = {}
        for tensor in reader.tensors:
            kind = tensor.tensor_type.name
            sizes[kind] = sizes.get(kind, 0) + int(tensor.n_bytes)
        names = [tensor.name for tensor in reader.tensors]
        # The output may be there though transformers takes the embedding for it, as in
        # Falcon.
        below = [tensor for tensor in reader.tensors if tensor.name != "output.weight"]
        numbers = sum(int(tensor.n_elements) for tensor in below)
        architecture = said["general.architecture"]
    if said.get("split.count", 1) > 1:
        raise UserError(
            f"{name} is one of {said['split.count']} parts of a model: join them with "
            "`llama-gguf-split --merge FIRST_PART ONE_FILE`, and give that file."
        )
    if not sizes:
        raise UserError(f"{name} holds no weights; give a GGUF file that does.")
    scaling = said.get(f"{architecture}.rope.scaling.type", "none")
    tables = [each for each in names if each.startswith("rope_")]
    if (scaling != "none" and architecture != "gpt-oss") or tables:
        raise UserError(
            f"{name} scales its positions ({tables[0] if tables else scaling}), which "
            "transformers does not read from GGUF files: its answers would be another "
            f"model's; {UNQUANTISED_REMEDY}."
        )
    return max(sizes, key=sizes.__getitem__), numbers
