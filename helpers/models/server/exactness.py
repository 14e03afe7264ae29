"""What a server offers, found by asking it, and whether its numbers agree with each other."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from helpers import UserError
from helpers.models.server import completions, session
from helpers.models.server.completions import NAMES, Ids
from helpers.models.server.session import Refused, UnusableAnswer
from helpers.models.server_address import Address, Limits

# Largest difference of a log-probability between two ways that counts as agreement:
# bfloat16 moves them by less; a wrong place, a template or a bent probability by more.
TOLERANCE = 0.2
# The most probable of so many tokens has at least one part in as many of all
# probability.
LEAST = -math.log(1 << 24)
# Tokens at the end of the sample that are scored as a choice.
CHOICE = 8
TEXT = (
    "The capital of France is Paris, and the capital of Japan is Tokyo. 1, 2, 3, 5, 8, 13, 21.\n"
    "Which country is Lyon in? France"
)
REMEDY = "serve the model with vLLM (vllm serve NAME), or load it here"
Ask = Callable[[tuple[dict[str, Any], Callable[[Any], Any]]], Any]


def examine(
    address: Address,
    limits: Limits,
    ids: Sequence[int],
    name_to_id: Callable[[str], int],
) -> dict[str, Any]:
    """Return what is found of a `Server` by asking it, if that is enough for exact scores."""
    ask, settings = _asker(address, limits), taken(address, limits, ids[:-CHOICE])
    # A beginning of the sample at which the model goes on, and its next token.
    for last in range(CHOICE, len(ids) - 1, CHOICE):
        beginning = ids[:-last]
        steps, _ = ask(completions.greedy(settings, beginning, 1))
        if steps:
            break
    else:
        raise UserError(
            f"The server at {address.url} adds no token to any text, so that its log-probabilities "
            f"cannot be checked; {REMEDY}."
        )
    step = steps[0]
    if step.logprob < LEAST:
        raise UserError(
            f"The server at {address.url} gives the most probable token the log-probability "
            f"{step.logprob:.3g}, which no vocabulary allows; {REMEDY}."
        )
    found: dict[str, list[float]] = {}
    missing = []
    for way in completions.WAYS:
        if way == "echo" and "prompt_logprobs" in found:
            continue  # the same by another name
        try:
            found[way] = _scores(ask, settings, way, ids, CHOICE)
        except Refused as error:
            missing.append(f"{way}: refused, status {error.status}")
        except UnusableAnswer as error:
            missing.append(f"{way}: {error.__cause__}")
    if not found:
        raise UserError(
            f"The server at {address.url} gives the most probable tokens alone, or nothing, where "
            f"the log-probabilities of given tokens are asked for ({'; '.join(missing)}); {REMEDY}."
        )
    chosen = (*beginning, name_to_id(step.name))
    pairs = [
        (_scores(ask, settings, way, chosen, 1)[-1], step.logprob) for way in found
    ]
    pairs += [
        pair
        for a, b in combinations(found.values(), 2)
        for pair in zip(a[::-1], b[::-1])
    ]
    first, other = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
    if not abs(first - other) <= TOLERANCE:
        raise UserError(
            f"The server at {address.url} gives one token the log-probabilities {first:.3f} and "
            f"{other:.3f}, asked for in two ways, so neither can be trusted; {REMEDY}."
        )
    sample = tuple(found.get("prompt_logprobs") or found.get("echo") or found["nodes"])
    told = {"ways": tuple(found), "settings": settings, "sample": sample}
    return told | {"difference": abs(first - other)}


def _asker(address: Address, limits: Limits) -> Ask:
    return lambda request: session.ask(address, limits, completions.PATH, *request)


def taken(address: Address, limits: Limits, ids: Sequence[int]) -> dict[str, Any]:
    """Return the settings that a server takes, those that tell token ids only if it does."""
    ask = _asker(address, limits)
    plain = {"model": address.model, **completions.PLAIN}
    for settings in ({**plain, **completions.EXTRAS}, plain):
        try:
            steps, _ = ask(completions.greedy(settings, ids, 1))
            told = all(step.name.startswith("token_id:") for step in steps)
            return {k: v for k, v in settings.items() if told or k not in NAMES}
        except Refused as error:
            refusal = error
            if error.status in (404, 405, 501):
                raise UserError(
                    f"The server at {address.url} has no completions ({completions.PATH}), only "
                    f"chat, which gives no exact scores; {REMEDY}."
                ) from error
        except UnusableAnswer as error:
            raise UserError(
                f"The server at {address.url} gives no log-probabilities with its answers "
                f"({error.__cause__}); {REMEDY}."
            ) from error
    raise UserError(
        f"The server at {address.url} does not take a prompt of token ids and tell "
        f"log-probabilities; {REMEDY}. ({refusal})"
    ) from refusal


def _scores(
    ask: Ask, settings: dict[str, Any], way: str, ids: Ids, last: int
) -> list[float]:
    """Return the log-probabilities of the last tokens of a text; by whole texts, of all."""
    if way != "nodes":
        request = getattr(completions, way)
        return ask(request(settings, ids))[1:]
    values = []
    for at in range(len(ids) - last, len(ids)):
        # Tokens that hardly follow are named too: a list of the most probable would
        # lack them.
        named = list(dict.fromkeys([ids[at], *ids[1:4]]))
        values.append(ask(completions.node(settings, ids[:at], named))[ids[at]])
    return values
