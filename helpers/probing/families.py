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
    *("cohere", "cohere2", "codegen", "deepseek_v3", "falcon", "gemma", "gemma2", "gemma3_text"),
    *("glm4", "gpt2", "gpt_bigcode", "gpt_neox", "gpt_oss", "gptj", "granite", "llama", "mistral"),
    *("mixtral", "nemotron", "olmo", "olmo2", "olmo3", "opt", "phi", "phi3", "qwen2", "qwen3"),
    *("qwen3_moe", "smollm3", "stablelm", "starcoder2", "xglm"),
}
# Families without position ids: their attention bias is built from the positions of the pack.
HOOKED = {"bloom", "mpt", "mt5", "t5"}
# Families whose bias or window counts places in the sequence and cannot be told otherwise.
ROWS = {"gpt_neo"}
# Kinds of rotary positions whose values depend on the longest text of a batch.
LENGTH_BOUND = ("dynamic", "longrope")
LAYERS = {"full_attention", "sliding_attention"}
NAMES = ("packed", "rows", "plain")


def choose(config: PretrainedConfig, attention: str) -> tuple[str, str]:
    """Return how a model is scored, and why.

    Parameters
    ----------
    config : PretrainedConfig
    attention : str
        Name of the implementation of attention that the model runs with.

    Returns
    -------
    method, reason : str
        The method is ``"packed"``, ``"rows"`` or ``"plain"``.

    Examples
    --------
    >>> from transformers import FalconConfig, GPT2Config, MambaConfig
    >>> choose(GPT2Config(), "sdpa")
    ('packed', 'gpt2 with sdpa attention')
    >>> choose(FalconConfig(alibi=True), "sdpa")[0], choose(MambaConfig(), "eager")[0]
    ('rows', 'plain')
    """
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


def length_bound(config: PretrainedConfig) -> bool:
    """Return whether a model's positions depend on the longest text of a batch.

    Parameters
    ----------
    config : PretrainedConfig

    Returns
    -------
    bool
    """
    return any(kind in _rope_types(config) for kind in LENGTH_BOUND)


def windows(config: PretrainedConfig) -> dict[str, int | None] | int | None:
    """Return how far back a token sees: a number, None (all), or one for each kind of layer.

    Parameters
    ----------
    config : PretrainedConfig

    Returns
    -------
    dict, int or None

    Examples
    --------
    >>> from transformers import Gemma2Config, LlamaConfig, MistralConfig
    >>> windows(LlamaConfig()), windows(MistralConfig(sliding_window=9))
    (None, 9)
    >>> windows(Gemma2Config(sliding_window=9))
    {'full_attention': None, 'sliding_attention': 9}
    """
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
