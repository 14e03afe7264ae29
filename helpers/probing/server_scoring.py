"""Exact scores of rows of token ids on a server, each group of choices in its cheapest way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from helpers.models import LanguageModel
from helpers.models.address import Server
from helpers.models.server import completions
from helpers.models.server.session import Session, results
from helpers.models.splice import common_prefix
from helpers.models.tokens import Row

# What a request costs besides the tokens that it has computed, in tokens.
REQUEST = 24
# Tokens at a text's end that a prefix cache does not hold, for it keeps whole blocks only.
BLOCK = 16
Ids = tuple[int, ...]
Scores = dict[Row, tuple[float, ...]]
T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """Rows that are scored from the same place of the same text on."""

    before: Ids  # before the first scored one
    rows: tuple[Row, ...]
    new: int  # ids of `before` that the group sent before this one does not begin with


def run(model: LanguageModel, rows: Sequence[Row], batch_size: int | None = None) -> Iterator:
    """Yield the log-probabilities of rows, a group of choices at a time."""
    jobs = (partial(score_group, model.model, group) for group in groups(rows))
    yield from at_once(model.model, jobs, batch_size)


def at_once(
    server: Server, jobs: Iterable[Callable[[Session], Awaitable[T]]], batch_size: int | None
) -> Iterator[T]:
    """Yield the results of jobs as they come, at most `batch_size` requests waiting at once."""
    bounds = replace(server.limits, in_flight=batch_size or server.limits.in_flight)
    return results(server.address, bounds, jobs)


def groups(rows: Iterable[Row]) -> list[Group]:
    """Return rows by what stands before their scored tokens, alike beginnings one after another.

    >>> [(g.before, g.new, len(g.rows)) for g in groups([Row((7, 8, 1), 2), Row((7, 8, 2), 2)])]
    [((7, 8), 2, 2)]
    """
    found: dict[Ids, list[Row]] = {}
    for row in rows:
        found.setdefault(row.ids[: row.start], []).append(row)
    made: list[Group] = []
    for before in sorted(found):
        shared = common_prefix(before, made[-1].before) if made else 0
        made.append(Group(before, tuple(found[before]), len(before) - shared))
    return made


def tree(rows: Iterable[Row]) -> dict[Ids, list[int]]:
    """Return what follows each beginning of the rows' scored tokens.

    >>> tree([Row((7, 1, 2), 1), Row((7, 1, 3), 1), Row((7, 4), 1)])
    {(): [1, 4], (1,): [2, 3]}
    """
    found: dict[Ids, dict[int, None]] = {}
    for row in rows:
        for at, token in enumerate(row.scored):
            found.setdefault(row.scored[:at], {})[token] = None
    return {beginning: list(children) for beginning, children in found.items()}


def cheapest_way(group: Group, ways: Sequence[str]) -> str:
    """Return the cheapest of a server's ways for a group.

    Node by node, the server keeps what choices share; of whole texts it computes every token anew.
    A request counts as `REQUEST` tokens.

    >>> few = groups([Row((7, 8, 1, 2), 2)])[0]
    >>> many = groups([Row((*range(90), choice), 90) for choice in range(50)])[0]
    >>> [cheapest_way(group, ["nodes", "prompt_logprobs"]) for group in (few, many)]
    ['prompt_logprobs', 'nodes']
    """
    whole = [way for way in ways if way != "nodes"]
    if "nodes" not in ways or not whole:
        return ways[0]
    texts = sum(REQUEST + len(row.ids) for row in group.rows)
    branches = tree(group.rows).values()
    requests = sum(-(-len(children) // completions.NAMED) for children in branches)
    nodes = max(group.new, BLOCK) + requests * REQUEST + (requests - 1) * BLOCK
    return "nodes" if nodes < texts else whole[0]


async def score_group(server: Server, group: Group, session: Session) -> Scores:
    """Return the log-probabilities of one group's rows."""
    way = cheapest_way(group, server.ways)
    if way == "nodes":
        return await _by_nodes(server, group, session)
    ask = completions.prompt_logprobs if way == "prompt_logprobs" else completions.echo

    async def one(row: Row) -> tuple[float, ...]:
        values = await session.ask(completions.PATH, *ask(server.settings, row.ids))
        return tuple(values[row.start :])

    return dict(zip(group.rows, await together(one(row) for row in group.rows)))


async def _by_nodes(server: Server, group: Group, session: Session) -> Scores:
    branches = tree(group.rows)

    async def one(beginning: Ids) -> dict[int, float]:
        return await children(server, (*group.before, *beginning), branches[beginning], session)

    # The first request leaves the text before the choices in the server's prefix cache.
    known = {(): await one(())}
    rest = [beginning for beginning in branches if beginning]
    known |= dict(zip(rest, await together(one(beginning) for beginning in rest)))
    return {
        row: tuple(known[row.scored[:at]][token] for at, token in enumerate(row.scored))
        for row in group.rows
    }


async def children(
    server: Server, ids: Ids, wanted: Sequence[int], session: Session
) -> dict[int, float]:
    """Return the log-probability of each of some tokens after a text."""
    size = completions.NAMED
    parts = [wanted[at : at + size] for at in range(0, len(wanted), size)]
    asked = (completions.node(server.settings, ids, part) for part in parts)
    answers = await together(session.ask(completions.PATH, *one) for one in asked)
    return {token: value for answer in answers for token, value in answer.items()}


async def together(waiting: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of all, once all have ended; then the first error, if there is one."""
    ended: list[Any] = await asyncio.gather(*waiting, return_exceptions=True)
    for result in ended:
        if isinstance(result, BaseException):
            raise result
    return ended
