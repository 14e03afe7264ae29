"""Whether a server's numbers depend on what it has read before, or reads meanwhile.

A prefix cache keeps what was computed of a text's beginning, and in some versions of
some servers the log-probabilities of a text then depend on the texts before it. So
texts that share a beginning are asked when it is new and when it was read, in two
orders, one by one and many at once.
"""

import math
import secrets
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from typing import Any

from helpers.models.server import completions, session
from helpers.models.server.completions import Ids
from helpers.models.server.session import RequestRefused, Session
from helpers.models.server_address import (
    SAMPLE_TOLERANCE,
    ServerAddress,
    ServerLimits,
)

N_SHARED_TOKENS = 512  # several blocks of any cache
N_OWN_TOKENS = 8  # of a text, behind the shared ones
N_NEW_TOKENS = 8  # at the beginning, drawn so that no server has read it before
N_TEXTS = 4
MOST_AT_ONCE = 32
CACHE_REMEDY = (
    "start it without its prefix cache (vLLM: --no-enable-prefix-caching), and measure "
    "into an empty folder"
)
LOAD_REMEDY = "lower SERVER_IN_FLIGHT, or serve the model with --dtype float32"
Values = dict[Hashable, float]  # log-probabilities by place
AskText = Callable[[Ids, Session], Values]


def differences_of_cached_texts(
    address: ServerAddress,
    limits: ServerLimits,
    examined: dict[str, Any],
    ids: Ids,
    longest: int | None,
) -> dict[str, Any]:
    """Return how far log-probabilities move with what a server reads besides a text.

    Parameters
    ----------
    address, limits
        Those of the server.
    examined : dict
        Its `ways` and `settings`, as `examine_server` has found them.
    ids : sequence of int
        A sample text of the model's tokens.
    longest : int or None
        The most tokens that the server reads, if it says so.

    Returns
    -------
    dict
        ``shared_tokens``, 0 if the server refuses such texts; ``in_flight``, how many
        were asked at once; ``warm``, the largest difference between a text of a new
        beginning and texts of the same beginning afterwards, one by one;
        ``many_at_once``, the same where many are asked at once.
    """
    n_shared = N_SHARED_TOKENS
    if longest:
        n_shared = min(n_shared, longest - N_OWN_TOKENS)
    many = replace(limits, in_flight=min(MOST_AT_ONCE, limits.in_flight))
    checked: dict[str, Any] = {"shared_tokens": 0, "in_flight": many.in_flight}
    checked |= {"warm": 0.0, "many_at_once": 0.0}
    if n_shared <= N_NEW_TOKENS:
        return checked
    try:
        for way in examined["ways"]:
            ask = partial(_values, examined["settings"], way, n_shared)
            texts = _texts_of_new_beginning(ids, n_shared)
            warm = _difference_one_by_one(address, limits, ask, texts)
            texts = _texts_of_new_beginning(ids, n_shared)
            many_at_once = _difference_of_many(address, many, ask, texts)
            checked["warm"] = max(checked["warm"], warm)
            checked["many_at_once"] = max(checked["many_at_once"], many_at_once)
    except RequestRefused:  # of so many tokens, where the server says no limit
        return checked
    return checked | {"shared_tokens": n_shared}


def _difference_one_by_one(
    address: ServerAddress, limits: ServerLimits, ask: AskText, texts: Sequence[Ids]
) -> float:
    """Return how far texts differ from the first that is asked, in two orders."""
    jobs = [partial(ask, text) for text in (*texts, *reversed(texts))]
    answers = session.results_of_jobs(address, replace(limits, in_flight=1), jobs)
    return largest_difference(answers)


def _difference_of_many(
    address: ServerAddress, limits: ServerLimits, ask: AskText, texts: Sequence[Ids]
) -> float:
    """Return how far texts that are asked at once differ from one asked before."""
    jobs = [partial(ask, text) for text in texts]
    n_copies = math.ceil(limits.in_flight / len(texts))
    answers = list(session.results_of_jobs(address, limits, jobs[:1]))
    answers.extend(session.results_of_jobs(address, limits, jobs * n_copies))
    return largest_difference(answers)


def cache_warning(checked: dict[str, Any]) -> str:
    """Return what to say of differences that matter, with the remedy; else nothing."""
    if max(checked["warm"], checked["many_at_once"]) <= SAMPLE_TOLERANCE:
        return ""
    if checked["warm"] > SAMPLE_TOLERANCE:
        difference, cause, remedy = checked["warm"], "it has read before", CACHE_REMEDY
    else:
        difference = checked["many_at_once"]
        cause, remedy = "it reads at the same time", LOAD_REMEDY
    return (
        f"The server's log-probabilities depend on what {cause}: those of one text "
        f"differ by up to {difference:.3f} nats. Differences of this size in the "
        f"results mean nothing; {remedy}."
    )


def largest_difference(answers: Iterable[Values]) -> float:
    """Return the largest difference of a place's value from the first one there.

    >>> largest_difference([{0: -1.0, 1: -2.0}, {0: -1.0}, {0: -1.25, 2: -9.0}])
    0.25
    """
    firsts: Values = {}
    largest = 0.0
    for answer in answers:
        for place, value in answer.items():
            first = firsts.setdefault(place, value)
            largest = max(largest, abs(value - first))
    return largest


def _texts_of_new_beginning(ids: Ids, n_shared: int) -> list[tuple[int, ...]]:
    """Return texts that share a beginning which the server has not read before."""
    new = [secrets.choice(ids[1:]) for _ in range(N_NEW_TOKENS)]
    filling = islice(cycle(ids[1:]), n_shared)
    shared = [*ids[:1], *new, *filling][:n_shared]
    texts = []
    for start in range(1, N_TEXTS + 1):
        texts.append((*shared, *ids[start : start + N_OWN_TOKENS]))
    return texts


def _values(
    settings: dict[str, Any],
    way: str,
    n_shared: int,
    text: Ids,
    opened: Session,
) -> Values:
    """Return a text's log-probabilities; shared places have one name in all texts."""
    if way == "nodes":
        named = sorted(set(text[-N_OWN_TOKENS:]))
        request = completions.next_tokens_request(settings, text, named)
        by_token = opened.ask(completions.COMPLETIONS_PATH, *request)
        return {(text, token): value for token, value in by_token.items()}
    request = completions.WHOLE_TEXT_REQUESTS[way](settings, text)
    logprobs = opened.ask(completions.COMPLETIONS_PATH, *request)
    values: Values = {}
    for place, value in enumerate(logprobs[1:], 1):
        values[place if place < n_shared else (text, place)] = value
    return values
