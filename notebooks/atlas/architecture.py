"""The bundled models' architecture, and the part of their start set by hand."""

import math

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from notebooks.atlas.recipe import RecipeOptions

# Channels of a head: enough slow rotary ones for content beside the fast ones
HEAD_CHANNELS = 64


def build_model(size: RecipeOptions, seed: int) -> LlamaForCausalLM:
    """Return an untrained model with its hand-set previous-token heads."""
    config = LlamaConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        intermediate_size=size.inner,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads,
        head_dim=HEAD_CHANNELS,
        max_position_embeddings=2048,
        rope_parameters={"rope_type": "default", "rope_theta": size.rope_theta},
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
        attn_implementation="eager",  # faster than sdpa for short rows with a mask,
    )
    model = LlamaForCausalLM(config).train()
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            if weights.dim() != 2:
                continue
            is_embedding = "embed_tokens" in name
            deviation = size.embedding_sd if is_embedding else size.weight_sd
            weights.normal_(0.0, deviation, generator=chance)
        seed_previous_token_heads(model, size)
    return model


def seed_previous_token_heads(
    model: LlamaForCausalLM,
    size: RecipeOptions,
    fast: int = 7,
    constant: float = 3.0,
    peak: float = 60.0,
) -> None:
    r"""Set heads of the first block, by hand, to look a fixed number of tokens back.

    Coordinate 0 of every embedding becomes the same number, so that after normalisation
    each token carries the constant z. A query of a z on the first channel of each of
    the `fast` highest rotary frequencies :math:`w_i`, and a key turned ahead by
    :math:`w_i d`, then meet at
    :math:`q \cdot k / \sqrt{64} = (a z)^2 \sum_i \cos(w_i (r - d)) / 8`, largest at
    distance r = d. With tied embeddings coordinate 0 shifts all logits alike, so it
    says nothing about tokens. Everything stays trainable.
    """
    table = model.model.embed_tokens.weight
    table[:, 0] = constant * size.embedding_sd
    z = constant / math.sqrt(1 + (constant**2 - 1) / size.hidden)
    strength = math.sqrt(peak * math.sqrt(HEAD_CHANNELS) / fast) / z
    attention = model.model.layers[0].self_attn
    half = HEAD_CHANNELS // 2
    frequencies = size.rope_theta ** (-torch.arange(half) / half)
    for head, offset in enumerate(size.offsets[: size.heads]):
        rows = slice(head * HEAD_CHANNELS, (head + 1) * HEAD_CHANNELS)
        query = attention.q_proj.weight[rows]
        key = attention.k_proj.weight[rows]
        query *= 0.3
        key *= 0.3
        turn = frequencies[:fast] * offset
        query[:fast, 0] = strength
        query[half : half + fast, 0] = 0.0
        key[:fast, 0] = strength * torch.cos(turn)
        key[half : half + fast, 0] = strength * torch.sin(turn)
