"""Which way of scoring each family of models takes, told from the configuration.

========  ============================================================================
packed    branches of many rows in one sequence, with a mask and positions of their own
plain     batches of whole rows
========  ============================================================================
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PretrainedConfig

FAMILIES = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
PACKED_FAMILIES = frozenset(FAMILIES["packed"])
HOOKED_FAMILIES = frozenset(FAMILIES["hooked"])
# Kinds of rotary positions whose values depend on the longest text of a batch.
LENGTH_BOUND_ROPE_TYPES = ("dynamic", "longrope")
KNOWN_LAYER_TYPES = {"full_attention", "sliding_attention"}


def scoring_method_and_reason(
    config: PretrainedConfig, attention: str
) -> tuple[str, str]:
    """Return how a model is scored, and why."""
    config = text_config(config)
    name = config.model_type
    layers = set(getattr(config, "layer_types", None) or KNOWN_LAYER_TYPES)
    if attention not in ("sdpa", "eager"):
        return "plain", f"{attention} attention takes no mask of its own"
    if depends_on_batch_length(config):
        kinds = _rope_types(config)
        return "plain", f"its rotary positions ({kinds}) depend on the batch"
    if getattr(config, "attention_chunk_size", None) or not layers <= KNOWN_LAYER_TYPES:
        return "plain", f"{name} has layers other than full or sliding attention"
    reason = f"{name} with {attention} attention"
    if name in PACKED_FAMILIES:
        return "packed", reason
    if name in HOOKED_FAMILIES:
        return "packed", f"{reason}, its position bias replaced"
    return "plain", f"{name} is not in the table of families"


def text_config(config: PretrainedConfig) -> PretrainedConfig:
    """Return the part of a configuration that tells how text is read."""
    if config.is_encoder_decoder:
        return config
    return config.get_text_config(decoder=True)


def depends_on_batch_length(config: PretrainedConfig) -> bool:
    """Return whether a model's positions depend on the longest text of a batch."""
    rope_types = _rope_types(text_config(config))
    return any(kind in rope_types for kind in LENGTH_BOUND_ROPE_TYPES)


def attention_windows(config: PretrainedConfig) -> dict[str, int | None] | int | None:
    """Return how far back a token sees: a number, None (all), or one per layer kind."""
    config = text_config(config)
    window = getattr(config, "sliding_window", None)
    layers = set(getattr(config, "layer_types", None) or ())
    if not layers:
        return window
    windows = {"full_attention": None, "sliding_attention": window}
    if len(layers) > 1:
        return windows
    return windows[layers.pop()]


def _rope_types(config: PretrainedConfig) -> str:
    """Return the kinds of rotary positions, of the model and of kinds of layers."""
    settings: dict[str, Any] = getattr(config, "rope_parameters", None) or {}
    nested = [part for part in settings.values() if isinstance(part, dict)]
    kinds = [str(part.get("rope_type", "default")) for part in [settings, *nested]]
    return " ".join(kinds)
