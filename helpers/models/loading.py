"""Load a model and its tokenizer by bundled name, local folder or hub id."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers import UserError
from helpers.io import files, user_cache
from helpers.models import (
    adapters,
    checkpoints,
    file_faults,
    identity,
    server_address,
    tokenizer_loading,
    weight_checks,
)
from helpers.models.checkpoints import Checkpoint, model_slug
from helpers.models.language_model import LanguageModel, Local

# torch and transformers take seconds to import: only loading a model pays for them.
if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

    from helpers.models.placement import Placement


def load(
    name: str | Path,
    *,
    device: str | None = None,
    dtype: str | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    chat: bool = False,
) -> LanguageModel:
    """Load a causal or sequence-to-sequence model with its tokenizer.

    The weights come from safetensors or GGUF files.

    Parameters
    ----------
    name : str or Path
        A bundled name (see `bundled`), a local folder, a hub id (``"org/model"``,
        ``"org/model@revision"``), a GGUF file (``"folder/file.gguf"``,
        ``"org/model:file.gguf"``), a model that packages carry (``"smollm2"``), or
        one on a server, where it stays (``"http://host:port#name"``).
    device : str, optional
        As in `gpu.device`; by default layers that one GPU does not hold are spread over
        all.
    dtype : str, optional
        float32, bfloat16, float16 or ``"4bit"`` (see `helpers.models.placement`), by
        default what `helpers.models.gpu.best_dtype` finds, whatever the files hold.
    revision : str, optional
        Branch, tag or commit on the hub, as after the ``@``.
    trust_remote_code : bool
        Whether code that comes with the model may run here.
    chat : bool
        Whether prompts go through the tokenizer's chat template.

    Returns
    -------
    Local, or Served where the name is a server's address

    Raises
    ------
    UserError
        Where there is no such model or device, no network to reach it, no weights in
        these formats, no tokenizer or chat template, or an architecture that is unknown
        or does not write text.

    Examples
    --------
    >>> load("no-such-folder/")
    Traceback (most recent call last):
    ...
    helpers.UserError: There is no folder no-such-folder/; ...
    """
    if server_address.is_server_address(name):
        if device or dtype or revision or trust_remote_code:
            raise UserError(
                f"{name} is on a server: its device, dtype and revision are chosen "
                "where the server is started; leave them out here."
            )
        from helpers.models.server import served_model

        return served_model.load_from_server(str(name), chat)
    from helpers.models import gpu, model_checks, placement

    gpu.choose_device(device)  # a wrong one is refused before anything is fetched
    if revision:
        name = _name_with_revision(str(name), revision)
    checkpoint = checkpoints.find_checkpoint(name, code=trust_remote_code)
    folders = [checkpoint.folder]
    folder = checkpoint.folder
    tokenizer_folder = checkpoint.folder
    if checkpoint.base is not None:
        folders.append(checkpoint.base)
        folder = checkpoint.base
        if not checkpoints.has_tokenizer(checkpoint.folder):
            tokenizer_folder = checkpoint.base
    config = read_config(folder, name, trust_remote_code)
    file_faults.refuse_contradictions(folder, str(name))
    kind, auto = model_kind_and_class(config, name)
    tokenizer = tokenizer_loading.load_tokenizer(
        tokenizer_folder, name, trust_remote_code
    )
    if chat and not tokenizer.chat_template:
        raise UserError(
            f"The tokenizer of {name} has no chat template; load it with chat=False."
        )
    placed = placement.choose_placement(name, checkpoint.weights, device, dtype)
    with _reraise_unusable_config(config, auto, name, trust_remote_code):
        model, report = _model_and_report(folder, name, auto, placed, trust_remote_code)
    method = weight_checks.quantization_method(config, checkpoint.weights)
    weight_checks.refuse_unfit_weights(model, report, checkpoint.weights, name, method)
    if checkpoint.base is not None:
        model = adapters.merge_adapter(model, checkpoint.folder, str(name))
    loaded = Local(
        name=str(name),
        slug=model_slug(name),
        model=fuse_gelu_activations(model).eval(),
        tokenizer=tokenizer,
        kind=kind,
        device=placed.device,
        dtype=placed.dtype,
        max_length=_max_length(config, model),
        weights_sha=_weights_sha(checkpoint),
        revision=checkpoint.revision,
        n_parameters=model.num_parameters(),
        prompt_format="chat" if chat else "bare",
        quantization=placed.quantization or method,
        base=str(checkpoint.base) if checkpoint.base else None,
        gguf=checkpoint.gguf,
        files_sha=identity.sha256_of_small_files(folders, model, config, tokenizer),
    )
    model_checks.refuse_unfit_model(loaded)
    return loaded


def describe_model(lm: LanguageModel) -> dict[str, Any]:
    """Return what a run's manifest says about a model, as plain values.

    Parameters
    ----------
    lm : LanguageModel

    Returns
    -------
    dict
        `name, slug, revision, weights_sha, files_sha, architecture, kind, n_parameters,
        max_length, device, dtype, quantization, device_map, prompt_format, base`; of a
        GGUF file also `gguf` (its name, checksum and quantization), of a model on a
        server `server`, dicts.
    """
    return lm.described()


def _name_with_revision(name: str, revision: str) -> str:
    """Return a hub id with a revision, before the file that it may name."""
    repo, colon, file = name.partition(":")
    return f"{repo}@{revision}{colon}{file}"


def _weights_sha(checkpoint: Checkpoint) -> str:
    """Return the SHA-256 over a GGUF file or over all safetensors files."""
    if checkpoint.gguf:
        return checkpoint.gguf["sha256"]
    return user_cache.checksum_of_files(checkpoint.weights)


def read_config(folder: Path, name: str | Path, code: bool) -> PretrainedConfig:
    """Return the configuration of a checkpoint, or say why it is none."""
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    unknown = f"The architecture of {name} is not known to the installed transformers"
    remedy = "install a newer transformers or choose another model"
    family = _named_family(folder)
    if family is None or family in CONFIG_MAPPING:
        unknown = f"The config.json of {name} cannot be used"
        remedy = "fetch or save it anew"
    with (
        file_faults.reraise_true_cause(unknown, remedy),
        tokenizer_loading.reraise_refused_code(name),
    ):
        return AutoConfig.from_pretrained(folder, trust_remote_code=code)


def _named_family(folder: Path) -> str | None:
    """Return the type of model that a folder's configuration names, if it does."""
    file = folder / "config.json"
    if not file.is_file():
        return None
    settings = files.parse_json(files.read_text(file), file.name)
    family = settings.get("model_type")
    return family if isinstance(family, str) else None


def model_kind_and_class(config: PretrainedConfig, name: str | Path) -> tuple[str, Any]:
    """Return what a model is, and the class of transformers that loads it."""
    import transformers

    auto: Any  # transformers' classes for loading have no base in common
    if config.is_encoder_decoder:
        kind = "seq2seq"
        auto = transformers.AutoModelForSeq2SeqLM
    else:
        kind = "causal"
        auto = transformers.AutoModelForCausalLM
    classes = getattr(config, "architectures", None) or []
    if not _encoder_only(classes) or getattr(config, "is_decoder", False):
        remote = getattr(config, "auto_map", None) or {}
        if type(config) in auto._model_mapping or auto.__name__ in remote:
            return kind, auto
        # Models of text and pictures or sound have no such class, but may continue text
        # alone.
        if classes:
            model_class = getattr(transformers, classes[0], object)
            if issubclass(model_class, transformers.GenerationMixin):
                return kind, model_class
    raise UserError(
        f"{name} ({config.model_type}) does not write text; choose a causal or a "
        "sequence-to-sequence language model."
    )


def _encoder_only(classes: list[str]) -> bool:
    """Return whether all of a configuration's classes are those of an encoder."""
    # An encoder such as BERT has a decoder's class in transformers too, but its weights
    # were not made for it.
    if not classes:
        return False
    return all("MaskedLM" in name or "ForPreTraining" in name for name in classes)


def _model_and_report(
    folder: Path, name: str | Path, auto: Any, place: Placement, code: bool
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return a model where it is wanted, and what transformers says of loading it."""
    from transformers.utils import logging

    from helpers.models import placement

    if not sys.stderr.isatty():
        # Its lines have no place in a notebook or a log file.
        logging.disable_progress_bar()
    failure = f"The weights of {name} cannot be loaded"
    with (
        file_faults.reraise_true_cause(failure, "fetch or save them anew"),
        placement.reraise_refused_weights(folder, name, place),
    ):
        model, report = auto.from_pretrained(
            folder,
            trust_remote_code=code,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused afterwards, by name
            **place.settings,
        )
    if "device_map" not in place.settings:
        model = model.to(place.device)
    return model, report


@contextlib.contextmanager
def _reraise_unusable_config(
    config: PretrainedConfig, auto: Any, name: str | Path, code: bool
) -> Iterator[None]:
    """Blame the settings where no model can be made of them, whatever its weights."""
    import torch

    try:
        yield
    except UserError as error:
        make = getattr(auto, "from_config", None) or auto._from_config
        unusable = f"The config.json of {name} cannot be used"
        remedy = "give the one that was saved with the weights"
        # On this device numbers are neither made nor kept.
        with torch.device("meta"), file_faults.reraise_true_cause(unusable, remedy):
            make(config, trust_remote_code=code)
        raise error


def fuse_gelu_activations(model: PreTrainedModel) -> PreTrainedModel:
    """Return the model with one kernel, not eight, for each GELU in its tanh form."""
    from torch import nn
    from transformers import activations

    spelt_out = (activations.NewGELUActivation, activations.FastGELUActivation)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, spelt_out):
                setattr(module, name, nn.GELU(approximate="tanh"))
    return model


def _max_length(config: PretrainedConfig, model: PreTrainedModel) -> int | None:
    """Return how many tokens a model reads at most; None where there is no end."""
    text = config.get_text_config(decoder=True)
    # T5's positions are relative and have no end; its number is the training length.
    if getattr(text, "relative_attention_num_buckets", None):
        return None
    names = ("max_position_embeddings", "n_positions", "max_seq_len")
    for name in names:
        limit = getattr(text, name, None)
        if limit and limit > 0:
            return limit - _positions_never_used(model, limit)
    return None


def _positions_never_used(model: PreTrainedModel, positions: int) -> int:
    """Return before which row a table of positions is not read, as in RoBERTa's.

    There the first token has the position after that of padding.
    """
    from torch import nn

    for name, module in model.named_modules():
        if not isinstance(module, nn.Embedding) or "position" not in name:
            continue
        if module.num_embeddings == positions and module.padding_idx is not None:
            return module.padding_idx + 1
    return 0
