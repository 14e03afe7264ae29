"""Requests to a completions server for exact log-probabilities, and their answers.

Prompts go out as token ids, so that what is read is what was meant. Every answer is
checked before a number of it is used: the server must have read as many tokens as were
sent, and each log-probability must be there and be one.

=======================  ========================  ==============================
way                      asks                      answers
=======================  ========================  ==============================
nodes                    what may follow a         of up to 128 named tokens,
                         beginning                 each one's
prompt_logprobs          the whole text            one of each token of the text
echo                     the whole text, repeated  one of each token of the text
=======================  ========================  ==============================
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helpers.models.model_checks import LARGEST_ROUNDING
from helpers.models.server.session import UnusableContent

COMPLETIONS_PATH = "/v1/completions"
SCORING_WAYS = ("nodes", "prompt_logprobs", "echo")
# vLLM's bound on the tokens named in one request.
MOST_NAMED_TOKENS = 128
# Greedy, and nothing that bends probabilities, whatever the server's defaults are.
GREEDY_SETTINGS = {
    "temperature": 0.0,
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "seed": 0,
}
# The same for what only some servers know, and tokens named by their ids; others pass
# over it or refuse it.
TOKEN_ID_SETTINGS = {"return_token_ids": True, "return_tokens_as_token_ids": True}
EXTRA_SETTINGS = {
    "repetition_penalty": 1.0,
    "min_p": 0.0,
    "top_k": 0,
    "add_special_tokens": False,
    **TOKEN_ID_SETTINGS,
}
Ids = Sequence[int]
RequestSettings = dict[str, Any]
AnswerReader = Callable[[Any], Any]


@dataclass(frozen=True)
class GeneratedToken:
    """One generated token: its name, log-probability, and those of tokens asked for."""

    name: str
    logprob: float
    others: dict[str, float]


def next_tokens_request(
    settings: RequestSettings, ids: Ids, children: Ids
) -> tuple[dict[str, Any], AnswerReader]:
    """Return the request for what may follow a beginning, and its reader."""
    body = {**settings, "prompt": list(ids), "max_tokens": 1}
    # The number of tokens stands for what servers send that do not know named tokens.
    body |= {"logprobs": len(children), "logprob_token_ids": list(children)}

    def read(content: Any) -> dict[int, float]:
        choice = _choice(content, len(ids))
        tops = _field(_field(choice, "logprobs"), "top_logprobs")
        if not tops or not isinstance(tops[0], dict):
            raise UnusableContent("no log-probabilities")
        return {child: _number(tops[0], f"token_id:{child}") for child in children}

    return body, read


def prompt_logprobs_request(
    settings: RequestSettings, ids: Ids
) -> tuple[dict[str, Any], AnswerReader]:
    """Return vLLM's request for all tokens of a text, and its reader."""
    body = {**settings, "prompt": list(ids), "max_tokens": 1, "prompt_logprobs": 0}

    def read(content: Any) -> list[float]:
        entries = _field(_choice(content, len(ids)), "prompt_logprobs")
        _check_count(entries, ids)
        named = [
            _field(entry, str(token))
            for entry, token in zip(entries[1:], ids[1:], strict=True)
        ]
        return [math.nan, *(_number(entry, "logprob") for entry in named)]

    return body, read


def echo_request(
    settings: RequestSettings, ids: Ids
) -> tuple[dict[str, Any], AnswerReader]:
    """Return the request that repeats a text with log-probabilities, and its reader."""
    body = {
        **settings,
        "prompt": list(ids),
        "max_tokens": 0,
        "echo": True,
        "logprobs": 1,
    }

    def read(content: Any) -> list[float]:
        part = _field(_choice(content, len(ids)), "logprobs")
        logprobs = _field(part, "token_logprobs")
        names = _field(part, "tokens")
        _check_count(logprobs, ids)
        # The server's list of names may be shorter.
        for name, token in zip(names, ids, strict=False):
            if name.startswith("token_id:") and name != f"token_id:{token}":
                raise UnusableContent("other tokens than were sent")
        values = {str(index): value for index, value in enumerate(logprobs)}
        numbers = [_number(values, str(index)) for index in range(1, len(ids))]
        return [math.nan, *numbers]

    return body, read


# What asks for a whole text, by a server's way.
WHOLE_TEXT_REQUESTS = {
    "prompt_logprobs": prompt_logprobs_request,
    "echo": echo_request,
}


def greedy_request(
    settings: RequestSettings,
    ids: Ids,
    n: int,
    stop: Sequence[str] = (),
    ends: Ids = (),
    named: Ids = (),
) -> tuple[dict[str, Any], AnswerReader]:
    """Return the request for the most probable next tokens, and the reader."""
    body = {**settings, "prompt": list(ids), "max_tokens": n, "logprobs": 1}
    # Else it is unclear which tokens a stop leaves out.
    known = "return_token_ids" in settings
    if stop and known:
        body |= {"stop": list(stop), "include_stop_str_in_output": True}
    if ends and known:
        body["stop_token_ids"] = list(ends)
    if named:
        body |= {"logprobs": len(named), "logprob_token_ids": list(named)}

    def read(content: Any) -> tuple[list[GeneratedToken], str | int | None]:
        choice = _choice(content, len(ids))
        part = _field(choice, "logprobs")
        names = _field(part, "tokens")
        values = _field(part, "token_logprobs")
        shown = choice.get("token_ids")
        if shown is not None:
            names = [f"token_id:{i}" for i in shown]
        tops = part.get("top_logprobs") or [{}] * len(names)
        if not len(names) == len(values) == len(tops):
            raise UnusableContent(
                f"{len(values)} log-probabilities of {len(names)} tokens"
            )
        numbers = [_number({"": value}, "") for value in values]
        others = [{name: _number(top, name) for name in top} for top in tops]
        end = choice.get("stop_reason")
        if choice.get("finish_reason") == "length":
            end = "length"
            if len(names) != n:
                raise UnusableContent(f"{len(names)} tokens, where {n} were asked for")
        return list(map(GeneratedToken, names, numbers, others)), end

    return body, read


def _check_count(values: Sequence[Any], ids: Ids) -> None:
    """Refuse an answer that has not one value for each token that was sent."""
    if len(values) != len(ids):
        raise UnusableContent(
            f"log-probabilities of {len(values)} tokens, not of the {len(ids)} sent"
        )


def _choice(content: Any, sent: int) -> dict[str, Any]:
    """Return the one choice of an answer, if the server read all tokens sent."""
    usage = content.get("usage") if isinstance(content, dict) else None
    choices = _field(content, "choices")
    if not isinstance(choices, list) or len(choices) != 1:
        raise UnusableContent("not one choice")
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if counted is not None and counted != sent:
        raise UnusableContent(f"{counted} tokens read, where {sent} were sent")
    return choices[0]


def _field(part: Any, name: str) -> Any:
    """Return a part of an answer, which must be there."""
    value = part.get(name) if isinstance(part, dict) else None
    if value is None:
        if name.isdecimal():
            raise UnusableContent("no entry for a token that was sent")
        raise UnusableContent(f"no {name}")
    return value


def _number(values: dict[str, Any], name: str) -> float:
    """Return a log-probability, at most 0."""
    if name not in values:
        raise UnusableContent("no log-probability of a token that was asked for")
    value = values[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise UnusableContent(f"a log-probability that is no finite number: {value}")
    if value > LARGEST_ROUNDING:
        raise UnusableContent(f"a log-probability of {value:.3g}, which is above 0")
    return float(min(value, 0.0))
