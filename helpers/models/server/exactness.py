"""What a server offers, found by asking, and whether its numbers agree."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from helpers import UserError
from helpers.models.server import completions, session
from helpers.models.server.completions import (
    TOKEN_ID_SETTINGS,
    GeneratedToken,
    Ids,
)
from helpers.models.server.session import RequestRefused, UnusableAnswer
from helpers.models.server_address import ServerAddress, ServerLimits

# Largest difference of a log-probability between two ways that counts as agreement:
# bfloat16 moves them by less; a wrong place, a template or a bent probability by more.
WAY_TOLERANCE = 0.2
# The most probable of so many tokens has at least one part in as many of all
# probability.
LEAST_TOP_LOG_PROBABILITY = -math.log(1 << 24)
# Tokens at the end of the sample that are scored as a choice.
N_CHOICE_TOKENS = 8
SAMPLE_TEXT = (
    "The capital of France is Paris, and the capital of Japan is Tokyo. "
    "1, 2, 3, 5, 8, 13, 21.\n"
    "Which country is Lyon in? France"
)
SERVER_REMEDY = "serve the model with vLLM (vllm serve NAME), or load it here"
AskServer = Callable[[tuple[dict[str, Any], Callable[[Any], Any]]], Any]


def examine_server(
    address: ServerAddress,
    limits: ServerLimits,
    ids: Sequence[int],
    name_to_id: Callable[[str], int],
) -> dict[str, Any]:
    """Return the fields of a `Server` found by asking, if they allow exact scores."""
    ask = _asker(address, limits)
    settings = accepted_settings(address, limits, ids[:-N_CHOICE_TOKENS])
    beginning, step = _beginning_and_step(ask, settings, ids, address.url)
    scores = _scores_by_way(ask, settings, ids, address.url)
    chosen = (*beginning, name_to_id(step.name))
    pairs = []
    for way in scores:
        score = _scores(ask, settings, way, chosen, 1)[-1]
        pairs.append((score, step.logprob))
    for left, right in combinations(scores.values(), 2):
        # One way may score all tokens, another the last ones alone.
        pairs.extend(zip(left[::-1], right[::-1], strict=False))
    first, second = max(pairs, key=_difference)
    if not abs(first - second) <= WAY_TOLERANCE:
        raise UserError(
            f"The server at {address.url} gives one token the log-probabilities "
            f"{first:.3f} and {second:.3f}, asked for in two ways, so neither can be "
            f"trusted; {SERVER_REMEDY}."
        )
    sample = scores.get("prompt_logprobs") or scores.get("echo") or scores["nodes"]
    return {
        "ways": tuple(scores),
        "settings": settings,
        "sample": tuple(sample),
        "difference": abs(first - second),
    }


def _beginning_and_step(
    ask: AskServer, settings: dict[str, Any], ids: Ids, url: str
) -> tuple[Ids, GeneratedToken]:
    """Return a beginning at which the model goes on, and its next token."""
    for last in range(N_CHOICE_TOKENS, len(ids) - 1, N_CHOICE_TOKENS):
        beginning = ids[:-last]
        steps, _ = ask(completions.greedy_request(settings, beginning, 1))
        if steps:
            break
    else:
        raise UserError(
            f"The server at {url} adds no token to any text, so that its "
            f"log-probabilities cannot be checked; {SERVER_REMEDY}."
        )
    step = steps[0]
    if step.logprob < LEAST_TOP_LOG_PROBABILITY:
        raise UserError(
            f"The server at {url} gives the most probable token the "
            f"log-probability {step.logprob:.3g}, which no vocabulary allows; "
            f"{SERVER_REMEDY}."
        )
    return beginning, step


def _scores_by_way(
    ask: AskServer, settings: dict[str, Any], ids: Ids, url: str
) -> dict[str, list[float]]:
    """Return the sample's log-probabilities by each way that the server knows."""
    scores: dict[str, list[float]] = {}
    missing = []
    for way in completions.SCORING_WAYS:
        if way == "echo" and "prompt_logprobs" in scores:
            continue  # the same by another name
        try:
            scores[way] = _scores(ask, settings, way, ids, N_CHOICE_TOKENS)
        except RequestRefused as error:
            missing.append(f"{way}: refused, status {error.status}")
        except UnusableAnswer as error:
            missing.append(f"{way}: {error.__cause__}")
    if not scores:
        raise UserError(
            f"The server at {url} gives the most probable tokens alone, or "
            "nothing, where the log-probabilities of given tokens are asked for "
            f"({'; '.join(missing)}); {SERVER_REMEDY}."
        )
    return scores


def _difference(pair: tuple[float, float]) -> float:
    """Return how far apart two numbers are."""
    return abs(pair[0] - pair[1])


def _asker(address: ServerAddress, limits: ServerLimits) -> AskServer:
    """Return a function that asks the server for completions."""
    return lambda request: session.ask_server(
        address, limits, completions.COMPLETIONS_PATH, *request
    )


def accepted_settings(
    address: ServerAddress, limits: ServerLimits, ids: Sequence[int]
) -> dict[str, Any]:
    """Return the settings that a server takes; on token ids only if it heeds them."""
    ask = _asker(address, limits)
    plain = {"model": address.model, **completions.GREEDY_SETTINGS}
    for settings in ({**plain, **completions.EXTRA_SETTINGS}, plain):
        try:
            steps, _ = ask(completions.greedy_request(settings, ids, 1))
            if all(step.name.startswith("token_id:") for step in steps):
                return settings
            return {
                name: value
                for name, value in settings.items()
                if name not in TOKEN_ID_SETTINGS
            }
        except RequestRefused as error:
            refusal = error
            if error.status in (404, 405, 501):
                raise UserError(
                    f"The server at {address.url} has no completions "
                    f"({completions.COMPLETIONS_PATH}), only chat, which gives no "
                    f"exact scores; {SERVER_REMEDY}."
                ) from error
        except UnusableAnswer as error:
            raise UserError(
                f"The server at {address.url} gives no log-probabilities with its "
                f"answers ({error.__cause__}); {SERVER_REMEDY}."
            ) from error
    raise UserError(
        f"The server at {address.url} does not take a prompt of token ids and tell "
        f"log-probabilities; {SERVER_REMEDY}. ({refusal})"
    ) from refusal


def _scores(
    ask: AskServer, settings: dict[str, Any], way: str, ids: Ids, last: int
) -> list[float]:
    """Return log-probabilities of a text's last tokens; by whole texts, of all."""
    if way in completions.WHOLE_TEXT_REQUESTS:
        return ask(completions.WHOLE_TEXT_REQUESTS[way](settings, ids))[1:]
    values = []
    for at in range(len(ids) - last, len(ids)):
        # Tokens that hardly follow are named too: a list of the most probable would
        # lack them.
        named = list(dict.fromkeys([ids[at], *ids[1:4]]))
        answer = ask(completions.next_tokens_request(settings, ids[:at], named))
        values.append(answer[ids[at]])
    return values
