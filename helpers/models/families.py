"""Which way of scoring each family of models takes, told from the configuration.

========  =========================================================================================
packed    branches of many rows in one sequence, with a mask and positions of their own
rows      batches of rows over the kept keys of what they share
plain     batches of whole rows
========  =========================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PretrainedConfig

# Families whose `forward` takes position ids and a ready mask, with torch's attention ("sdpa") or,
# where transformers has none for them (gptj, codegen, xglm, gemma2, gpt_oss), its own ("eager").
PACKED = {
    *("afmoe", "apertus", "arcee", "aria_text", "axk1", "beam", "biogpt", "bitnet", "codegen"),
    *("cohere", "cohere2", "cohere_compass_text", "ctrl", "cwm", "dbrx", "deepseek_v2"),
    *("deepseek_v3", "diffllama", "dots1", "emu3_text_model", "ernie4_5", "ernie4_5_moe"),
    *("exaone4", "exaone_moe", "falcon", "flex_olmo", "flint", "gemma", "gemma2", "gemma3_text"),
    *("gemma3n_text", "gemma4_text", "gemma4_unified_text", "glm", "glm4", "glm4_moe"),
    *("glm4_moe_lite", "gpt2", "gpt_bigcode", "gpt_neox", "gpt_neox_japanese", "gpt_oss", "gptj"),
    *("granite", "granite_swa", "granitemoe", "granitemoe_swa", "granitemoeshared", "helium"),
    *("hunyuan_v1_dense", "hunyuan_v1_moe", "hy_v3", "hyperclovax", "internlm3", "iquestcoder"),
    *("jais2", "kolibri1", "laguna", "llama", "longcat_flash", "mellum", "mimo_v2_flash"),
    *("minicpm3", "minimax_m2", "ministral", "ministral3", "mistral", "mixtral"),
    *("mllama_text_model", "nanochat", "nemotron", "olmo", "olmo2", "olmo3", "olmoe", "opt"),
    *("persimmon", "phi", "phi3", "phi4_multimodal", "phimoe", "qwen2", "qwen2_moe", "qwen3"),
    *("qwen3_moe", "seed_oss", "smollm3", "solar_open", "stablelm", "starcoder2", "xglm", "youtu"),
}
# Families without position ids: their attention bias is built from the positions of the pack.
HOOKED = {"bloom", "mpt", "mt5", "t5"}
# Families whose bias or window counts places in the sequence and cannot be told otherwise.
ROWS = {"gpt_neo"}
# Kinds of rotary positions whose values depend on the longest text of a batch.
LENGTH_BOUND = ("dynamic", "longrope")
LAYERS = {"full_attention", "sliding_attention"}
NAMES = ("packed", "rows", "plain")


def method_and_reason(config: PretrainedConfig, attention: str) -> tuple[str, str]:
    """Return how a model is scored, and why.

    >>> from transformers import FalconConfig, GPT2Config, MambaConfig
    >>> method_and_reason(GPT2Config(), "sdpa")
    ('packed', 'gpt2 with sdpa attention')
    >>> method_and_reason(FalconConfig(alibi=True), "sdpa")[0]
    'rows'
    >>> method_and_reason(MambaConfig(), "eager")[0]
    'plain'
    """
    config = text(config)
    name = config.model_type
    layers = set(getattr(config, "layer_types", None) or LAYERS)
    if attention not in ("sdpa", "eager"):
        return "plain", f"{attention} attention takes no mask of its own"
    if length_bound(config):
        return "plain", f"its rotary positions ({_rope_types(config)}) depend on the batch"
    if getattr(config, "attention_chunk_size", None) or not layers <= LAYERS:
        return "plain", f"{name} has layers other than full or sliding attention"
    if name in ROWS:
        return "rows", f"{name} counts its window in places of the sequence"
    if name == "falcon" and config.alibi:
        return "rows", "falcon builds its position bias from a mask of two dimensions"
    if name in PACKED:
        return "packed", f"{name} with {attention} attention"
    if name in HOOKED:
        return "packed", f"{name} with {attention} attention, its position bias replaced"
    return "plain", f"{name} is not in the table of families"


def text(config: PretrainedConfig) -> PretrainedConfig:
    """Return the part of a configuration that tells how text is read."""
    return config if config.is_encoder_decoder else config.get_text_config(decoder=True)


def length_bound(config: PretrainedConfig) -> bool:
    """Return whether a model's positions depend on the longest text of a batch."""
    return any(kind in _rope_types(text(config)) for kind in LENGTH_BOUND)


def windows(config: PretrainedConfig) -> dict[str, int | None] | int | None:
    """Return how far back a token sees: a number, None (all), or one for each kind of layer.

    >>> from transformers import Gemma2Config, LlamaConfig, MistralConfig
    >>> windows(LlamaConfig()), windows(MistralConfig(sliding_window=9))
    (None, 9)
    >>> windows(Gemma2Config(sliding_window=9))
    {'full_attention': None, 'sliding_attention': 9}
    """
    config = text(config)
    window = getattr(config, "sliding_window", None)
    layers = set(getattr(config, "layer_types", None) or ())
    if not layers:
        return window
    kinds = {"full_attention": None, "sliding_attention": window}
    if len(layers) > 1:
        return kinds
    return kinds[layers.pop()]


def _rope_types(config: PretrainedConfig) -> str:
    settings: Any = getattr(config, "rope_parameters", None) or {}
    nested = [part for part in settings.values() if isinstance(part, dict)]
    return " ".join(str(part.get("rope_type", "default")) for part in [settings, *nested])
