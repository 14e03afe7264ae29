"""Functions of a network that torch computes in one kernel, where the model spells them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

# torch and transformers take seconds to import: only loading a model pays for them.
if TYPE_CHECKING:
    from transformers import PreTrainedModel


def gelu(model: PreTrainedModel) -> PreTrainedModel:
    """Have one kernel compute each GELU in its tanh form, instead of eight; return the model."""
    from torch import nn
    from transformers import activations

    spelt_out = (activations.NewGELUActivation, activations.FastGELUActivation)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, spelt_out):
                setattr(module, name, nn.GELU(approximate="tanh"))
    return model
