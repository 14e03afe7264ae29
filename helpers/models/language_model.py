"""A model with its tokenizer, wherever it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

# torch and transformers take seconds to import: only loading a model pays for them.
if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from helpers.models.address import Server


@dataclass(frozen=True)
class LanguageModel:
    """A model with its tokenizer, and what tells it from every other model.

    Attributes
    ----------
    name, slug : str
        What the user asked for, and that in a form that can name a folder.
    model, tokenizer
        The transformers objects, the model in evaluation mode; on a server `model` is a
        `helpers.models.address.Server`.
    kind : {"causal", "seq2seq"}
    device : torch.device or str
        The server's address for a model on a server.
    dtype : torch.dtype or str
    max_length : int or None
        The most tokens that the model can read; None where its positions have no end.
    weights_sha : str or None
        SHA-256 over the safetensors files in name order, an adapter's after those of
        its base, or over the GGUF file; None on a server.
    revision : str or None
        The hub's commit; None for a folder.
    n_parameters : int or None
        None where the files of a model on a server are not to be found.
    prompt_format : str
        One of `helpers.prompts.wrapping.FORMATS`. In ``chat``, prompts go through the
        tokenizer's template; `wrapping.wrap` makes the other forms.
    quantization : str or None
        ``"4bit"`` where the weights are; then `dtype` is that of the rest.
    base : str or None
        For an adapter, the folder of the model into which it is merged.
    gguf : dict or None
        For a GGUF file, its name, SHA-256 and quantization (as that of most of its
        bytes).
    files_sha : str or None
        SHA-256 over what else decides its numbers: configuration, tokenizer, template,
        code.
    """

    name: str
    slug: str
    model: PreTrainedModel | Server
    tokenizer: PreTrainedTokenizerBase
    kind: str
    device: torch.device | str
    dtype: torch.dtype | str
    max_length: int | None
    weights_sha: str | None
    revision: str | None
    n_parameters: int | None
    prompt_format: str = "bare"
    quantization: str | None = None
    base: str | None = None
    gguf: dict[str, str] | None = None
    files_sha: str | None = None

    @property
    def chat(self) -> bool:
        """Whether prompts go through the tokenizer's chat template."""
        return self.prompt_format == "chat"

    @property
    def at_hand(self) -> bool:
        """Whether the weights are in this process, for gradients and hidden states."""
        return self.weights_sha is not None
