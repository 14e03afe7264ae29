"""A model on a server, to be scored and asked like one that is at hand.

The tokenizer is loaded here, for prompts are sent as ids, and compared with the
server's own.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from transformers import AutoConfig, GenerationConfig, PreTrainedTokenizerBase

from helpers import UserError
from helpers.models import (
    checkpoints,
    hub,
    identity,
    model_checks,
    placement,
    tokenizer_loading,
    tokens,
)
from helpers.models import server_address as addresses
from helpers.models.checkpoints import model_slug
from helpers.models.language_model import LanguageModel, Served
from helpers.models.server import cache_check, completions, exactness, session
from helpers.models.server_address import Server, ServerAddress, ServerLimits

TOKENIZER_VARIABLE = "SERVER_TOKENIZER"

# Seconds in which a server must show up at the start; later it may be away for longer.
START_SECONDS = 10.0
# Texts that tokenizers tell apart: spaces, digits, other scripts, a smiley.
TOKENIZER_SAMPLES = (
    exactness.SAMPLE_TEXT,
    "  Zürich, 1984: 3.14 %\n\n\tΩ  東京 🙂 don't",
)


def load_from_server(name: str, chat: bool = False) -> Served:
    """Return a model on a server, once its numbers have been found to be exact."""
    address = addresses.parse_server_address(name)
    limits = addresses.limits_from_environment()
    soon = replace(limits, patience=min(START_SECONDS, limits.patience), tries=1)
    entry = session.models_on_server(address, soon)[address.model]
    # An unfit server is refused before its tokenizer is looked for.
    exactness.accepted_settings(address, soon, (1, 2, 3))
    tokenizer, place, folder = _tokenizer(address, entry.get("root"))
    if chat and not tokenizer.chat_template:
        raise UserError(
            f"The tokenizer of {name} has no chat template; load it with chat=False."
        )
    longest = entry.get("max_model_len")
    reader = LanguageModel(
        name=name,
        slug=model_slug(name),
        tokenizer=tokenizer,
        kind="causal",
        device=address.url,
        dtype="as served",
        # A server makes a token at least, for which there must be room.
        max_length=longest - 1 if longest else None,
        n_parameters=_count(place, folder),
        files_sha=identity.sha256_of_small_files([folder]),
    )
    _same_tokens(tokenizer, address, soon)
    ids = tokens.prompt_ids(reader, [exactness.SAMPLE_TEXT])[0]
    name_to_id = partial(tokens.token_id_of_name, reader)
    examined = exactness.examine_server(address, soon, ids, name_to_id)
    checked = cache_check.differences_of_cached_texts(
        address, limits, examined, ids, reader.max_length
    )
    warning = cache_check.cache_warning(checked)
    if warning:
        logging.getLogger(__name__).warning(warning)
    server = Server(
        address,
        limits,
        **examined,
        cache_check=checked,
        version=_version(address, soon),
        tokenizer=place,
        config=_read(
            lambda: AutoConfig.from_pretrained(folder, trust_remote_code=False)
        ),
        generation_config=_read(lambda: GenerationConfig.from_pretrained(folder)),
    )
    reader = replace(reader, prompt_format="chat" if chat else "bare")
    model = Served(**vars(reader), server=server)
    model_checks.warn_of_missing_first_token(model)
    return model


def _tokenizer(
    address: ServerAddress, root: str | None
) -> tuple[PreTrainedTokenizerBase, str, Path]:
    """Return the tokenizer set, or else by the server's names, with name and folder."""
    setting = os.environ.get(TOKENIZER_VARIABLE)
    if setting:
        places = [setting]
    else:
        places = [place for place in (root, address.model) if place]
    reason = "no folder or hub id with a tokenizer"
    for place in dict.fromkeys(places):
        try:
            folder = checkpoints.configuration_folder(place)
            if checkpoints.has_tokenizer(folder):
                tokenizer = tokenizer_loading.load_tokenizer(folder, place)
                return tokenizer, place, folder
        except UserError as error:  # not there, or unfit: the next place may do
            if Path(place).expanduser().is_dir():
                reason = str(error).rstrip(".")
        except Exception:  # of a server's odd names, any
            continue
    raise UserError(
        f"The tokenizer of {address.model} is not at hand ({' and '.join(places)}: "
        f"{reason}); name one in the environment, in {TOKENIZER_VARIABLE}."
    )


def _same_tokens(
    tokenizer: PreTrainedTokenizerBase, address: ServerAddress, limits: ServerLimits
) -> None:
    """Hold the tokenizer against the server's."""
    body = {"model": address.model, "max_tokens": 1, **completions.TOKEN_ID_SETTINGS}

    def read(content: Any) -> list[int] | int | None:
        choice = (content.get("choices") or [{}])[0]
        usage = content.get("usage") or {}
        return choice.get("prompt_token_ids") or usage.get("prompt_tokens")

    for text in TOKENIZER_SAMPLES:
        ours: list[list[int]] = []
        for special in (True, False):
            encoding = tokenizer(text, add_special_tokens=special)
            ours.append(list(encoding["input_ids"]))
        request = (completions.COMPLETIONS_PATH, {**body, "prompt": text}, read)
        try:
            theirs = session.ask_server(address, limits, *request)
        except session.RequestRefused:
            return  # the examination says in which way the server is unfit
        same = theirs is None or theirs in ours
        if isinstance(theirs, int):  # the server only counts its tokens
            same = theirs in [len(ids) for ids in ours]
        if not same:
            raise UserError(
                f"The server at {address.url} writes {text!r} in other tokens than the "
                f"tokenizer found for {address.model}; name the right one in the "
                f"environment, in {TOKENIZER_VARIABLE}."
            )


def _version(address: ServerAddress, limits: ServerLimits) -> str:
    """Return what the server says of its own version, as vLLM does; else nothing."""

    def read(content: Any) -> str:
        if not isinstance(content, dict):
            return ""
        version = str(content.get("version", ""))
        return "".join(filter(str.isprintable, version))[:100]

    try:
        return session.ask_server(address, limits, "/version", None, read, "GET")
    except UserError:
        return ""


def _count(place: str, folder: Path) -> int | None:
    """Return how many parameters a model has, where its files, or the hub, tell."""
    try:
        return placement.count_parameters(checkpoints.weight_files(folder, place))
    except UserError:
        pass
    try:
        source = checkpoints.repository_and_revision(place)
        if source is None:
            return None
        return hub.parameter_count_on_hub(*source)
    except Exception:  # no hub, no such model, no safetensors: it stays unknown
        return None


def _read(load: Callable[[], Any]) -> Any:
    """Return what a function loads; None where its file is missing or unfit."""
    try:
        return load()
    except (OSError, ValueError, KeyError):
        return None
