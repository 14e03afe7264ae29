"""Adapters: files of weights that change a base model, as the peft library writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from helpers import UserError
from helpers.io import files
from helpers.models import file_faults, weight_checks

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel

ADAPTER_CONFIG_FILE = "adapter_config.json"
ADAPTER_WEIGHTS_FILE = "adapter_model.safetensors"
# In the names of the tensors that an adapter adds to a layer.
LAYER_OF_ADAPTER = ".lora_"


def base_model_name(folder: Path, name: str) -> str:
    """Return the name of an adapter's base model, with its revision if there is one."""
    try:
        text = files.read_text(folder / ADAPTER_CONFIG_FILE)
        config = files.parse_json(text, ADAPTER_CONFIG_FILE)
        base = str(config["base_model_name_or_path"] or config["base"])
        revision = config.get("revision")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"The {ADAPTER_CONFIG_FILE} of {name} names no base model; write its "
            "folder or hub id there as base_model_name_or_path."
        ) from error
    if revision:
        return f"{base}@{revision}"
    return base


def merge_adapter(model: PreTrainedModel, folder: Path, name: str) -> PreTrainedModel:
    """Return a base model with an adapter's weights added to its own."""
    from peft import PeftModel

    unfit = f"The adapter {name} does not fit its base model {model.name_or_path}"
    with file_faults.reraise_true_cause(
        unfit, "give the base that it was trained on as base_model_name_or_path"
    ):
        adapted = PeftModel.from_pretrained(model, str(folder))
    _refuse_unread_weights(adapted, folder, unfit)
    if not hasattr(adapted.base_model, "merge_and_unload"):
        kind = adapted.active_peft_config.peft_type.value
        raise UserError(
            f"The adapter {name} ({kind}) cannot be merged into its base model; give "
            "one that changes weights, such as LoRA."
        )
    return adapted.merge_and_unload()


def _refuse_unread_weights(adapted: PeftModel, folder: Path, unfit: str) -> None:
    """Refuse an adapter of which weights are missing or found no place in the base."""
    from peft import get_peft_model_state_dict

    stored = set(weight_checks.stored_tensors([folder / ADAPTER_WEIGHTS_FILE]))
    placed = set(get_peft_model_state_dict(adapted, save_embedding_layers=False))
    strange = sorted(key for key in stored ^ placed if LAYER_OF_ADAPTER in key)
    if strange:
        raise UserError(
            f"{unfit} ({len(strange)} tensors, such as {strange[0]}, are in one and "
            "not in the other): give the base that it was trained on as "
            "base_model_name_or_path."
        )
