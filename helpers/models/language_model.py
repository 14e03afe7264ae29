"""A model with its tokenizer, wherever it is: `Local` or `Served`.

What was found out about a model lives with it: which ids its texts have (`Known`), how
it passed its trials (`Trials`), and who counts its work (`meters`).
`dataclasses.replace` hands them on, as it should to the same model in another prompt
format; beside another network or tokenizer, give new ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

# torch and transformers take seconds to import: only loading a model pays for them.
if TYPE_CHECKING:
    import torch
    from transformers import (
        GenerationConfig,
        PretrainedConfig,
        PreTrainedModel,
        PreTrainedTokenizerBase,
    )

    from helpers.models.server_address import Server

# Settings of a config that say where and with what it was saved, not what the model
# computes.
INCIDENTAL = {
    "_name_or_path",
    "dtype",
    "torch_dtype",
    "transformers_version",
    "use_cache",
}


@dataclass(frozen=True)
class Method:
    """How a model is scored."""

    method: str  # "packed" or "plain" (see `families`), or "server"
    reason: str
    checked_max_abs_diff: float | None = None  # of a log-probability from plain batches
    # The rows that plain batches put together (`plain.TOGETHER`).
    batches: str | None = None


@dataclass
class Trials:
    """What trying a model has shown; None: not tried yet."""

    method: Method | None = None
    pack_length: int = 0  # in tokens, with which the method was tried
    continues_in_packs: bool | None = None
    keeps_state: bool | None = None


@dataclass
class Known:
    """What a tokenizer has said before, so that it is asked once."""

    # With special tokens or without, and the text: its ids.
    ids: dict[tuple[bool, str], tuple[int, ...]] = field(default_factory=dict)
    characters: int = 0  # of the texts in `ids`
    # The ids before new ones, and the new ones: their text.
    texts: dict[tuple[tuple[int, ...], tuple[int, ...]], str] = field(
        default_factory=dict
    )
    # Whether no token goes across the space before a word; None: not asked yet.
    words_are_apart: bool | None = None
    # The text of a token alone: all tokens that have it.
    by_text: dict[str, list[int]] = field(default_factory=dict)
    # The special tokens that tell thoughts and answers apart; None: not asked yet.
    marks: frozenset[int] | None = None
    # Whether a user was told that its template leaves thoughts open
    warned_of_thoughts: bool = False


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """A tokenizer, and what is known of its model: enough to tell what the model reads.

    Attributes
    ----------
    name, slug : str
        What the user asked for, and that in a form that can name a folder.
    tokenizer : PreTrainedTokenizerBase
    kind : {"causal", "seq2seq"}
    device : torch.device or str
        The server's address for a model on a server.
    dtype : torch.dtype or str
    max_length : int or None
        The most tokens that the model can read; None where its positions have no end.
    n_parameters : int or None
        None where the files of a model on a server are not to be found.
    prompt_format : str
        One of `helpers.prompts.prompt_formats.PROMPT_FORMATS`. In ``chat``, prompts go
        through the tokenizer's template; `wrapping.wrap` makes the other forms.
    files_sha : str or None
        SHA-256 over what besides the weights decides its numbers: configuration,
        tokenizer, template, code.
    known : Known
        Ids of texts and texts of ids.
    meters : list of Counter
        What `helpers.probing.work_counter` counts into while its block is open.
    """

    # Whether the weights are in this process, for gradients and hidden states.
    at_hand: ClassVar[bool] = False

    name: str
    slug: str
    tokenizer: PreTrainedTokenizerBase
    kind: str
    device: torch.device | str
    dtype: torch.dtype | str
    max_length: int | None
    n_parameters: int | None
    prompt_format: str = "bare"
    files_sha: str | None = None
    known: Known = field(default_factory=Known, repr=False, compare=False)
    meters: list[Counter[str]] = field(default_factory=list, repr=False, compare=False)

    @property
    def chat(self) -> bool:
        """Whether prompts go through the tokenizer's chat template."""
        return self.prompt_format == "chat"

    @property
    def config(self) -> PretrainedConfig | None:
        """The model's configuration; None where it is not known."""
        return None

    @property
    def generation_config(self) -> GenerationConfig | None:
        """How the model writes by default; None where it is not known."""
        return None

    @property
    def number_format(self) -> str:
        """The name of `dtype`, such as ``"float32"``."""
        return str(self.dtype).removeprefix("torch.")

    def identity(self) -> tuple[object, ...]:
        """Return all that decides the model's numbers."""
        raise NotImplementedError

    def described(self) -> dict[str, object]:
        """Return what a run's manifest says about the model, as plain values."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Local(LanguageModel):
    """A model whose weights are in this process.

    Attributes
    ----------
    model : PreTrainedModel
        In evaluation mode.
    weights_sha : str
        SHA-256 over the safetensors files in name order, an adapter's after those of
        its base, or over the GGUF file; empty for a model in training.
    revision : str or None
        The hub's commit; None for a folder.
    quantization : str or None
        ``"4bit"`` where the weights are; then `dtype` is that of the rest.
    base : str or None
        For an adapter, the folder of the model into which it is merged.
    gguf : dict or None
        For a GGUF file, its name, SHA-256 and quantization (as that of most of its
        bytes).
    trials : Trials
        How it is scored and continued, found on first use.
    """

    at_hand: ClassVar[bool] = True

    model: PreTrainedModel
    device: torch.device
    dtype: torch.dtype
    weights_sha: str
    revision: str | None
    quantization: str | None = None
    base: str | None = None
    gguf: dict[str, str] | None = None
    trials: Trials = field(default_factory=Trials, repr=False, compare=False)

    @property
    def config(self) -> PretrainedConfig:
        """The network's configuration."""
        return self.model.config

    @property
    def generation_config(self) -> GenerationConfig | None:
        """How the network writes by default."""
        return getattr(self.model, "generation_config", None)

    def identity(self) -> tuple[object, ...]:
        """Return all that decides the model's numbers: weights, files, format."""
        config = self.config.to_dict()
        config = {name: config[name] for name in config if name not in INCIDENTAL}
        return (
            self.weights_sha,
            self.files_sha,
            str(self.dtype),
            self.quantization,
            self.kind,
            config,
        )

    def described(self) -> dict[str, object]:
        """Return what a run's manifest says about the model, as plain values."""
        devices = getattr(self.model, "hf_device_map", {}).values()
        description: dict[str, object] = {
            "name": self.name,
            "slug": self.slug,
            "kind": self.kind,
            "device": str(self.device),
            "dtype": self.number_format,
            "max_length": self.max_length,
            "weights_sha": self.weights_sha,
            "revision": self.revision,
            "n_parameters": self.n_parameters,
            "prompt_format": self.prompt_format,
            "quantization": self.quantization,
            "base": self.base,
            "files_sha": self.files_sha,
            "architecture": type(self.model).__name__,
            "device_map": sorted({str(device) for device in devices}),
        }
        if self.gguf:
            description["gguf"] = self.gguf
        return description


@dataclass(frozen=True, kw_only=True)
class Served(LanguageModel):
    """A model on a server.

    Attributes
    ----------
    server : Server
        What the server gives, and how it is asked.
    """

    server: Server

    @property
    def config(self) -> PretrainedConfig | None:
        """The configuration beside the tokenizer, if it is there."""
        return self.server.config

    @property
    def generation_config(self) -> GenerationConfig | None:
        """How the model writes by default, from beside the tokenizer."""
        return self.server.generation_config

    def identity(self) -> tuple[object, ...]:
        """Return all that decides the model's numbers: the server's name and sample."""
        return (
            "server",
            self.server.address.model,
            self.server.fingerprint,
            self.server.version,
            self.server.settings,
            self.files_sha,
        )

    def described(self) -> dict[str, object]:
        """Return what a run's manifest says about the model, as plain values."""
        return {
            "name": self.name,
            "slug": self.slug,
            "kind": self.kind,
            "n_parameters": self.n_parameters,
            "max_length": self.max_length,
            "dtype": self.dtype,
            "prompt_format": self.prompt_format,
            "server": self.server.described(),
        }
