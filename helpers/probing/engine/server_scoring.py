"""Exact scores and greedy text from a server, each group of choices in its cheapest way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from helpers import UserError
from helpers.models import Served, tokens
from helpers.models.prefix_tokenising import common_prefix_length
from helpers.models.server import completions
from helpers.models.server.session import Session, results_of_jobs
from helpers.models.server_address import Server
from helpers.models.tokens import Row
from helpers.probing.engine import decoding
from helpers.probing.engine.decoding import (
    ContinuationTask,
    ContinuedText,
    StoppingRules,
)

# What a request costs besides the tokens that it has computed, in tokens.
REQUEST_PRICE = 24
# Tokens at a text's end that a prefix cache does not hold, for it keeps whole blocks
# only.
CACHE_BLOCK_LENGTH = 16
Ids = tuple[int, ...]
Scores = dict[Row, tuple[float, ...]]
T = TypeVar("T")


@dataclass(frozen=True)
class RowGroup:
    """Rows that are scored from the same place of the same text on."""

    before: Ids  # before the first scored one
    rows: tuple[Row, ...]
    new: int  # ids of `before` that the group sent before this one does not begin with


def score_on_server(
    server: Server, rows: Sequence[Row], size: int | None = None
) -> Iterator[Scores]:
    """Yield the log-probabilities of rows, a text or a group of choices at a time."""
    yield from run_jobs_on_server(server, scoring_jobs(server, rows), size)


def run_jobs_on_server(
    server: Server, jobs: Iterable[Callable[[Session], T]], batch_size: int | None
) -> Iterator[T]:
    """Yield the results of jobs as they come, at most `batch_size` requests waiting at once."""
    bounds = replace(server.limits, in_flight=batch_size or server.limits.in_flight)
    return results_of_jobs(server.address, bounds, jobs)


def groups_of_rows(rows: Iterable[Row]) -> list[RowGroup]:
    """Return rows by what stands before their scored tokens, alike beginnings one after another."""
    found: dict[Ids, list[Row]] = {}
    for row in rows:
        found.setdefault(row.ids[: row.start], []).append(row)
    made: list[RowGroup] = []
    for before in sorted(found):
        shared = common_prefix_length(before, made[-1].before) if made else 0
        made.append(RowGroup(before, tuple(found[before]), len(before) - shared))
    return made


def children_of_beginnings(rows: Iterable[Row]) -> dict[Ids, list[int]]:
    """Return what follows each beginning of the rows' scored tokens."""
    found: dict[Ids, dict[int, None]] = {}
    for row in rows:
        for at, token in enumerate(row.scored):
            found.setdefault(row.scored[:at], {})[token] = None
    return {beginning: list(children) for beginning, children in found.items()}


def cheapest_way(group: RowGroup, ways: Sequence[str]) -> str:
    """Return the cheapest of a server's ways for a group; a request counts as `REQUEST_PRICE` tokens.

    >>> few = groups_of_rows([Row((7, 8, 1, 2), 2)])[0]
    >>> many = groups_of_rows([Row((*range(90), choice), 90) for choice in range(50)])[0]
    >>> [cheapest_way(group, ["nodes", "prompt_logprobs"]) for group in (few, many)]
    ['prompt_logprobs', 'nodes']
    """
    whole = [way for way in ways if way != "nodes"]
    if "nodes" not in ways or not whole:
        return ways[0]
    texts = sum(REQUEST_PRICE + len(row.ids) for row in group.rows)
    branches = children_of_beginnings(group.rows).values()
    requests = sum(
        -(-len(children) // completions.MOST_NAMED_TOKENS) for children in branches
    )
    nodes = (
        max(group.new, CACHE_BLOCK_LENGTH)
        + requests * REQUEST_PRICE
        + (requests - 1) * CACHE_BLOCK_LENGTH
    )
    return "nodes" if nodes < texts else whole[0]


def scoring_jobs(
    server: Server, rows: Iterable[Row]
) -> Iterator[Callable[[Session], Scores]]:
    """Yield what asks for the log-probabilities of rows: of a text, or of a group by its nodes."""
    for group in groups_of_rows(rows):
        way = cheapest_way(group, server.ways)
        if way == "nodes":
            yield partial(_by_nodes, server, group)
        else:
            yield from (partial(_whole, server, way, row) for row in group.rows)


def _whole(server: Server, way: str, row: Row, session: Session) -> Scores:
    request = getattr(completions, way)(server.settings, row.ids)
    return {
        row: tuple(session.ask(completions.COMPLETIONS_PATH, *request)[row.start :])
    }


def _by_nodes(server: Server, group: RowGroup, session: Session) -> Scores:
    known: dict[Ids, dict[int, float]] = {}
    # The first request leaves the text before the choices in the server's prefix cache.
    for beginning, named in children_of_beginnings(group.rows).items():
        ids, known[beginning] = (*group.before, *beginning), {}
        for at in range(0, len(named), completions.MOST_NAMED_TOKENS):
            request = completions.next_tokens_request(
                server.settings, ids, named[at : at + completions.MOST_NAMED_TOKENS]
            )
            known[beginning] |= session.ask(completions.COMPLETIONS_PATH, *request)
    return {
        row: tuple(known[row.scored[:at]][token] for at, token in enumerate(row.scored))
        for row in group.rows
    }


def continue_on_server(
    model: Served,
    tasks: Sequence[ContinuationTask],
    rules: StoppingRules,
    batch_size: int | None = None,
) -> Iterator[list[ContinuedText]]:
    """Yield the continuations of tasks; where a text ends is decided here, not by the server."""
    jobs = (partial(_continue, model, task, rules) for task in tasks)
    yield from run_jobs_on_server(model.server, jobs, batch_size)


def _continue(
    model: Served, task: ContinuationTask, rules: StoppingRules, session: Session
) -> list[ContinuedText]:
    server = model.server
    text = ContinuedText(task)
    named = sorted(set(task.anchor)) if "nodes" in server.ways else []
    named = named if len(named) <= completions.MOST_NAMED_TOKENS else []
    taken = 0
    while text.kept is None:
        room = rules.max_new_tokens - len(text.ids)
        asked = completions.greedy_request(
            server.settings, (*task.ids, *text.ids), room, rules.stop, rules.ends, named
        )
        steps, reason = session.ask(completions.COMPLETIONS_PATH, *asked)
        taken += _take(model, text, steps, rules, bool(named))
        if text.kept is None and not isinstance(reason, str):
            taken += _end(text, reason)
        elif text.kept is None and not steps:
            raise UserError(
                f"The server at {server.address.url} ended a text without a token and without a "
                "reason; nothing of it is kept."
            )
    if (
        task.anchor and not named
    ):  # no step has told the anchor's tokens after the model's own
        steps = range(min(len(task.anchor), text.kept + 1, taken))
        before = [(*task.ids, *text.ids[:at]) for at in steps]
        rows = [Row((*ids, task.anchor[at]), len(ids)) for at, ids in enumerate(before)]
        values = {
            row: v
            for job in scoring_jobs(server, rows)
            for row, (v,) in job(session).items()
        }
        text.anchor_logprobs = [values[row] for row in rows]
    return [text]


def _take(
    model: Served,
    text: ContinuedText,
    steps: Sequence[completions.GeneratedToken],
    rules: StoppingRules,
    read: bool,
) -> int:
    """Add tokens, and what was read of the anchor, until a text has ended; return how many."""
    for count, step in enumerate(steps):
        if text.kept is not None:
            return count
        at = len(text.ids)
        if read and at < len(text.task.anchor):
            text.anchor_logprobs.append(step.others[f"token_id:{text.task.anchor[at]}"])
        decoding.append_token(
            model, text, tokens.token_id_of_name(model, step.name), step.logprob, rules
        )
    return len(steps)


def _end(text: ContinuedText, token: int | None) -> int:
    """Note that the server ended a text at a token; return 1 if that is not among its steps."""
    shown = token is not None and text.ids[-1:] == [token]
    if shown:
        text.ids.pop()
        text.logprobs.pop()
    text.kept = len(text.ids)
    return 0 if shown else 1
