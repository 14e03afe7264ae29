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
from helpers.io import files, user_cache
from helpers.models import file_faults

# What is said of the file, and the sizes of what was read from it.
GGUF_RECORD_FILE = "gguf.json"
FETCH_ANEW_REMEDY = "fetch the file anew"
UNQUANTISED_REMEDY = "give the folder or the hub id of the model that it was made from"


def dequantised_model_folder(file: Path, name: str) -> tuple[Path, dict[str, str]]:
    """Return the folder of a file's float32 model and tokenizer, made where missing."""
    import transformers

    files.refuse_unreadable_file(file)
    with reraise_as_user_error(f"{file} cannot be read", FETCH_ANEW_REMEDY, OSError):
        file_faults.refuse_other_weights(file)
        sha = user_cache.checksum_of_files([file])
    version = transformers.__version__
    folder = user_cache.cache_folder("gguf") / f"{sha[:32]}-{version}"
    quantization = _recorded_quantization(folder)
    if quantization is None:
        print(f"Dequantising {name}, once for all times", file=sys.stderr)
        place = f"{name} is dequantised into {folder.parent}, which"
        bars = contextlib.redirect_stderr(io.StringIO())  # the library's
        with reraise_failed_write(place, "make room there, then run again"), bars:
            quantization = _fill_folder(folder, file, name)
    return folder, {"file": file.name, "sha256": sha, "quantization": quantization}


def _recorded_quantization(folder: Path) -> str | None:
    """Return how a cached folder's file was quantised; None if it is not whole."""
    try:
        record = json.loads((folder / GGUF_RECORD_FILE).read_text(encoding="utf-8"))
        whole = _file_sizes(folder) == record["sizes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not whole:
        return None
    return record["quantization"]


def _fill_folder(folder: Path, file: Path, name: str) -> str:
    """Dequantise a file into a folder of the cache; return how it was quantised."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
        new_folder = Path(part) / "made"
        new_folder.mkdir()
        quantization = _convert(file, name, new_folder)
        record = {"quantization": quantization, "sizes": _file_sizes(new_folder)}
        record_file = new_folder / GGUF_RECORD_FILE
        record_file.write_text(json.dumps(record), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)  # damaged, or not there
        try:
            new_folder.replace(folder)
        except OSError:
            # Else another process was first.
            if _recorded_quantization(folder) is None:
                raise
    return quantization


def _file_sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of a folder's files, but for the record, by name."""
    return {
        file.name: file.stat().st_size
        for file in folder.iterdir()
        if file.name != GGUF_RECORD_FILE
    }


def _convert(file: Path, name: str, folder: Path) -> str:
    """Write a file's model and tokenizer into a folder; return how it was quantised."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    quantization, n_numbers = _quantization_and_size(file, name)
    settings: dict[str, Any] = {"gguf_file": "model.gguf", "trust_remote_code": False}
    # In a folder of its own, nothing that lies beside the file is read.
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / settings["gguf_file"]).symlink_to(file.resolve())
        with file_faults.reraise_true_cause(
            f"The architecture of {name} cannot be read from its GGUF file",
            UNQUANTISED_REMEDY,
        ):
            config = AutoConfig.from_pretrained(place, **settings)
        with file_faults.reraise_true_cause(
            f"{name} holds no tokenizer that transformers can read", UNQUANTISED_REMEDY
        ):
            tokenizer = AutoTokenizer.from_pretrained(place, **settings)
        with file_faults.reraise_true_cause(
            f"The weights of {name} cannot be dequantised",
            f"{FETCH_ANEW_REMEDY}, or {UNQUANTISED_REMEDY}",
        ):
            # A pair, which transformers does not annotate.
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                place,
                config=config,
                dtype=torch.float32,
                output_loading_info=True,
                **settings,
            )
    model, report = loaded
    missing = sorted(report["missing_keys"])
    if missing:  # which would be random
        raise UserError(
            f"{name} lacks {len(missing)} tensors of "
            f"{type(model).__name__} (such as {missing[0]}): "
            f"{FETCH_ANEW_REMEDY}, or {UNQUANTISED_REMEDY}."
        )
    # Weights that share their memory count once.
    sizes = {}
    for key, weight in model.state_dict().items():
        if key != "lm_head.weight":
            sizes[weight.data_ptr()] = weight.numel()
    n_read = sum(sizes.values())
    if n_read < n_numbers:
        raise UserError(
            f"{name} holds {n_numbers:,} numbers below its output, of which "
            f"transformers reads {n_read:,}: its answers would be another model's; "
            f"{UNQUANTISED_REMEDY}."
        )
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None:  # the weights are plain numbers by now
        quantizer.remove_quantization_config(model)
    try:
        model.save_pretrained(folder)
    except SafetensorError as error:  # its word for a full disk, too
        raise OSError(first_line_of_error(error)) from error
    tokenizer.save_pretrained(folder)
    return quantization


def _quantization_and_size(file: Path, name: str) -> tuple[str, int]:
    """Return how most bytes are stored, and how many numbers are below the output."""
    try:
        import gguf
    except ModuleNotFoundError as error:
        raise UserError(
            f"{name} is in llama.cpp's format (GGUF), which the package gguf reads: "
            "`pip install gguf`, then run again."
        ) from error
    broken = f"{file} is not a whole GGUF file"
    with file_faults.reraise_true_cause(broken, "fetch it anew"):
        reader = gguf.GGUFReader(file)
        settings = {
            key: field.contents()
            for key, field in reader.fields.items()
            if "tokenizer" not in key
        }
        bytes_of_kinds: dict[str, int] = {}
        n_numbers = 0
        for tensor in reader.tensors:
            kind = tensor.tensor_type.name
            n_bytes = int(tensor.n_bytes)
            bytes_of_kinds[kind] = bytes_of_kinds.get(kind, 0) + n_bytes
            # The output may be there though transformers takes the embedding for it,
            # as in Falcon.
            if tensor.name != "output.weight":
                n_numbers += int(tensor.n_elements)
        names = [tensor.name for tensor in reader.tensors]
        architecture = settings["general.architecture"]
    if settings.get("split.count", 1) > 1:
        raise UserError(
            f"{name} is one of {settings['split.count']} parts of a model: join them "
            "with `llama-gguf-split --merge FIRST_PART ONE_FILE`, and give that file."
        )
    if not bytes_of_kinds:
        raise UserError(f"{name} holds no weights; give a GGUF file that does.")
    scaling = settings.get(f"{architecture}.rope.scaling.type", "none")
    tables = [tensor_name for tensor_name in names if tensor_name.startswith("rope_")]
    if (scaling != "none" and architecture != "gpt-oss") or tables:
        raise UserError(
            f"{name} scales its positions ({tables[0] if tables else scaling}), which "
            "transformers does not read from GGUF files: its answers would be another "
            f"model's; {UNQUANTISED_REMEDY}."
        )
    return max(bytes_of_kinds, key=bytes_of_kinds.__getitem__), n_numbers
