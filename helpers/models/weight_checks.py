"""Whether all of a checkpoint's weights went where its configuration has a place.

Transformers leaves out tensors for which a model has no place, draws at random those
that are missing, and takes whole numbers for what they spell: each gives another model.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers import UserError
from helpers.models import file_faults

# torch and transformers take seconds to import: only loading a model pays for them.
if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel

# Numbers that stand for themselves, by the names that safetensors has for them.
PLAIN_FORMATS = {"F64", "F32", "F16", "BF16"}
# What is computed anew and was saved all the same.
COMPUTED_TENSORS = re.compile(
    r"(^|\.)(inv_freq|masked_bias|position_ids|cos_cached|sin_cached|_extra_state"
    r"|_float_tensor|num_batches_tracked)$|rotary_emb\.|rope\.freqs$"
)
# Masks of attention, which old checkpoints hold, have batch, head, row and column.
N_MASK_DIMENSIONS = 4


class StoredTensor(NamedTuple):
    """How a file of weights holds a tensor."""

    number_format: str
    n_dimensions: int


def stored_tensors(weights: Sequence[Path]) -> dict[str, StoredTensor]:
    """Return how safetensors files hold their tensors, by name; none is read."""
    from safetensors import safe_open

    tensors = {}
    for file in weights:
        broken = f"{file} is no whole file of weights"
        with (
            file_faults.reraise_true_cause(broken, "fetch or save it anew"),
            safe_open(file, framework="pt") as opened,
        ):
            names = opened.keys()  # not a mapping: it cannot be iterated over
            for key in names:
                part = opened.get_slice(key)
                shape = part.get_shape()
                tensors[key] = StoredTensor(str(part.get_dtype()), len(shape))
    return tensors


def refuse_unfit_weights(
    model: PreTrainedModel,
    report: Mapping[str, Any],
    weights: Sequence[Path],
    name: str | Path,
    method: str | None,
) -> None:
    """Refuse weights that are not wholly those of a model as it is configured.

    Parameters
    ----------
    model : PreTrainedModel
        As loaded.
    report : mapping
        What transformers says of loading: `missing_keys, mismatched_keys,
        unexpected_keys`.
    weights : sequence of Path
        The safetensors files.
    name : str or Path
        What the user calls the model.
    method : str or None
        How they were quantised, as :func:`quantization_method` says.

    Raises
    ------
    UserError
        Where tensors are missing, have other shapes, have no place in modules that the
        model has, or hold numbers that do not stand for themselves.
    """
    kind = type(model).__name__
    missing = sorted(report["missing_keys"])
    unexpected = sorted(report["unexpected_keys"])
    if missing:
        of_file = ""
        if unexpected:
            of_file = f" and hold {len(unexpected)} of other names ({unexpected[0]})"
        raise UserError(
            f"The weights of {name} lack {len(missing)} tensors of {kind} (such as "
            f"{missing[0]}){of_file}; give the folder of a complete model, as "
            "save_pretrained writes it."
        )
    mismatched = sorted(report["mismatched_keys"])
    if mismatched:
        key, stored, configured = mismatched[0]
        raise UserError(
            f"The weights of {name} have other shapes than its config.json says "
            f"({key}: {list(stored)}, not {list(configured)}); give the config.json "
            "that was saved with them."
        )
    tensors = stored_tensors(weights)
    _refuse_weights_without_place(model, unexpected, tensors, name)
    coded = _coded(tensors)
    if method is None:
        wrong = _codes_without_method(model, coded)
    else:
        wrong = _codes_taken_for_weights(model, coded, weights)
    if wrong:
        raise UserError(
            f"The weights of {name} are quantised ({wrong[0]}: "
            f"{tensors[wrong[0]].number_format}), and its config.json does not say how "
            "to read them (in a quantization_config that transformers knows); choose "
            "the model's unquantised weights."
        )


def quantization_method(
    config: PretrainedConfig, weights: Sequence[Path]
) -> str | None:
    """Return how weights were quantised; None for plain ones and unknown methods."""
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING

    if not _coded(stored_tensors(weights)):
        return None
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return None
    if not isinstance(settings, dict):
        settings = settings.to_dict()
    method = settings.get("quant_method")
    method = str(getattr(method, "value", method))
    for known in AUTO_QUANTIZER_MAPPING:
        # The library tells two kinds of bitsandbytes apart.
        if method == known.removesuffix("_4bit").removesuffix("_8bit"):
            return method
    return None


def _refuse_weights_without_place(
    model: PreTrainedModel,
    unexpected: Sequence[str],
    tensors: Mapping[str, StoredTensor],
    name: str | Path,
) -> None:
    """Refuse tensors that belong into modules of the model, which has none for them."""
    modules = {path for path, _ in model.named_modules()}
    without_place = []
    of_other_parts = []
    for key in sorted(unexpected):
        if _is_computed(key, tensors):
            continue
        if _is_within_module(key, modules, model.base_model_prefix):
            without_place.append(key)
        else:
            of_other_parts.append(key)
    if without_place:
        raise UserError(
            f"The weights of {name} hold {len(without_place)} tensors for which its "
            f"config.json has no place (such as {without_place[0]}): it describes a "
            "smaller or another model; give the config.json that was saved with them."
        )
    if of_other_parts:
        logging.getLogger(__name__).warning(
            "%s is read without %d tensors of parts that %s does not have (such as "
            "%s).",
            name,
            len(of_other_parts),
            type(model).__name__,
            of_other_parts[0],
        )


def _is_computed(key: str, tensors: Mapping[str, StoredTensor]) -> bool:
    """Return whether a tensor is none that was trained: positions or masks."""
    if COMPUTED_TENSORS.search(key):
        return True
    stored = tensors.get(key)
    is_mask = stored is not None and stored.n_dimensions == N_MASK_DIMENSIONS
    return is_mask and key.endswith(".bias")


def _is_within_module(key: str, modules: set[str], base: str) -> bool:
    """Return whether a tensor's name begins with a module below the model's top."""
    for path in (key, f"{base}.{key}"):
        parts = path.split(".")
        for end in range(1, len(parts)):
            module = ".".join(parts[:end])
            if module in modules and module != base:
                return True
    return False


def _coded(tensors: Mapping[str, StoredTensor]) -> list[str]:
    """Return the names of tensors whose numbers may stand for others."""
    coded = []
    for key, stored in sorted(tensors.items()):
        if stored.number_format not in PLAIN_FORMATS:
            coded.append(key)
    return coded


def _codes_without_method(model: PreTrainedModel, coded: Sequence[str]) -> list[str]:
    """Return which tensors in codes are weights, and so were read as plain numbers."""
    parameters = _parameters(model)
    weights = []
    for key in coded:
        if key in parameters or key.endswith(("weight", "_blocks", "_scales")):
            weights.append(key)
    return weights


def _codes_taken_for_weights(
    model: PreTrainedModel, coded: Sequence[str], weights: Sequence[Path]
) -> list[str]:
    """Return which tensors in codes have become weights of the same numbers."""
    from safetensors import safe_open

    parameters = _parameters(model)
    plain = []
    for file in weights:
        with safe_open(file, framework="pt") as opened:
            for key in sorted(set(opened.keys()) & set(coded) & set(parameters)):
                first_row = opened.get_slice(key)[:1]
                if _has_same_numbers(*parameters[key], first_row):
                    plain.append(key)
    return plain


def _has_same_numbers(
    layer: torch.nn.Module, weight: torch.Tensor, first_row: torch.Tensor
) -> bool:
    """Return whether a layer computes with codes as if they were plain numbers."""
    import torch

    if weight.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        # Layers of other types are made for codes.
        return type(layer) in (torch.nn.Linear, torch.nn.Embedding)
    return torch.equal(first_row.to(weight.device, weight.dtype), weight[:1])


def _parameters(
    model: PreTrainedModel,
) -> dict[str, tuple[torch.nn.Module, torch.Tensor]]:
    """Return a model's parameters with their layers, by each name that files use."""
    parameters = {}
    base = f"{model.base_model_prefix}."
    for path, layer in model.named_modules():
        for name, parameter in layer.named_parameters(path, recurse=False):
            parameters[name] = (layer, parameter)
            # Files of the base model alone leave its name out.
            parameters[name.removeprefix(base)] = (layer, parameter)
    return parameters
