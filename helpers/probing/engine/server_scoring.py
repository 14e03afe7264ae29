"""Exact scores and greedy text from a server, each group of choices cheapest."""

import math
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
    """Yield the results of jobs as they come, at most `batch_size` waiting at once."""
    in_flight = batch_size or server.limits.in_flight
    limits = replace(server.limits, in_flight=in_flight)
    return results_of_jobs(server.address, limits, jobs)


def groups_of_rows(rows: Iterable[Row]) -> list[RowGroup]:
    """Return rows by what is before their scored tokens, like beginnings in a row."""
    rows_of_beginnings: dict[Ids, list[Row]] = {}
    for row in rows:
        rows_of_beginnings.setdefault(row.before, []).append(row)
    groups: list[RowGroup] = []
    last: Ids = ()
    for before in sorted(rows_of_beginnings):
        n_new = len(before) - common_prefix_length(before, last)
        groups.append(RowGroup(before, tuple(rows_of_beginnings[before]), n_new))
        last = before
    return groups


def children_of_beginnings(rows: Iterable[Row]) -> dict[Ids, list[int]]:
    """Return what follows each beginning of the rows' scored tokens."""
    # The keys of each inner dict are what follows, each once and in order.
    children: dict[Ids, dict[int, None]] = {}
    for row in rows:
        for at, token in enumerate(row.scored):
            children.setdefault(row.scored[:at], {})[token] = None
    return {beginning: list(following) for beginning, following in children.items()}


def cheapest_way(group: RowGroup, ways: Sequence[str]) -> str:
    """Return the cheapest of a server's ways for a group.

    A request costs as much as `REQUEST_PRICE` tokens.

    >>> few = groups_of_rows([Row.of_ids((7, 8, 1, 2), 2)])[0]
    >>> many_rows = [Row.of_ids((*range(90), choice), 90) for choice in range(50)]
    >>> many = groups_of_rows(many_rows)[0]
    >>> [cheapest_way(group, ["nodes", "prompt_logprobs"]) for group in (few, many)]
    ['prompt_logprobs', 'nodes']
    """
    ways_of_whole = [way for way in ways if way != "nodes"]
    if "nodes" not in ways or not ways_of_whole:
        return ways[0]
    price_of_whole = sum(REQUEST_PRICE + row.length for row in group.rows)
    n_requests = 0
    for children in children_of_beginnings(group.rows).values():
        n_requests += math.ceil(len(children) / completions.MOST_NAMED_TOKENS)
    price_of_nodes = max(group.new, CACHE_BLOCK_LENGTH)
    price_of_nodes += n_requests * REQUEST_PRICE
    price_of_nodes += (n_requests - 1) * CACHE_BLOCK_LENGTH
    if price_of_nodes < price_of_whole:
        return "nodes"
    return ways_of_whole[0]


def scoring_jobs(
    server: Server, rows: Iterable[Row]
) -> Iterator[Callable[[Session], Scores]]:
    """Yield what asks for log-probabilities: of a text, or of a group by its nodes."""
    for group in groups_of_rows(rows):
        way = cheapest_way(group, server.ways)
        if way == "nodes":
            yield partial(_scores_by_nodes, server, group)
        else:
            for row in group.rows:
                yield partial(_scores_of_whole, server, way, row)


def _scores_of_whole(server: Server, way: str, row: Row, session: Session) -> Scores:
    """Ask for all of a row's tokens at once."""
    request = completions.WHOLE_TEXT_REQUESTS[way](server.settings, row.ids)
    logprobs = session.ask(completions.COMPLETIONS_PATH, *request)
    return {row: tuple(logprobs[row.start :])}


def _scores_by_nodes(server: Server, group: RowGroup, session: Session) -> Scores:
    """Ask for what follows each beginning in a group."""
    most = completions.MOST_NAMED_TOKENS
    logprobs: dict[Ids, dict[int, float]] = {}
    # The first request leaves the text before the choices in the server's prefix cache.
    for beginning, children in children_of_beginnings(group.rows).items():
        ids = (*group.before, *beginning)
        logprobs[beginning] = {}
        for at in range(0, len(children), most):
            named = children[at : at + most]
            request = completions.next_tokens_request(server.settings, ids, named)
            answer = session.ask(completions.COMPLETIONS_PATH, *request)
            logprobs[beginning].update(answer)
    scores = {}
    for row in group.rows:
        values = []
        for at, token in enumerate(row.scored):
            values.append(logprobs[row.scored[:at]][token])
        scores[row] = tuple(values)
    return scores


def continue_on_server(
    model: Served,
    tasks: Sequence[ContinuationTask],
    rules: StoppingRules,
    batch_size: int | None = None,
) -> Iterator[list[ContinuedText]]:
    """Yield the continuations of tasks; where a text ends is decided here."""
    jobs = (partial(_continue, model, task, rules) for task in tasks)
    yield from run_jobs_on_server(model.server, jobs, batch_size)


def _continue(
    model: Served, task: ContinuationTask, rules: StoppingRules, session: Session
) -> list[ContinuedText]:
    """Ask for a text's tokens until it has ended, and for its anchor."""
    server = model.server
    text = ContinuedText(task)
    named: list[int] = []
    if "nodes" in server.ways:
        named = sorted(set(task.anchor))
    if len(named) > completions.MOST_NAMED_TOKENS:
        named = []
    n_steps = 0
    while text.kept is None:
        ids = (*task.ids, *text.ids)
        room = rules.max_new_tokens - len(text.ids)
        request = completions.greedy_request(
            server.settings, ids, room, rules.stop, rules.ends, named
        )
        steps, reason = session.ask(completions.COMPLETIONS_PATH, *request)
        n_steps += _add_steps(model, text, steps, rules, bool(named))
        if text.kept is not None:
            break
        if not isinstance(reason, str):
            n_steps += _end(text, reason)
        elif not steps:
            raise UserError(
                f"The server at {server.address.url} ended a text without a token and "
                "without a reason; nothing of it is kept."
            )
    if task.anchor and not named:
        # No step has told the anchor's tokens after the model's own.
        n_read = min(len(task.anchor), text.kept + 1, n_steps)
        text.anchor_logprobs = _anchor_logprobs(server, text, n_read, session)
    return [text]


def _anchor_logprobs(
    server: Server, text: ContinuedText, n_read: int, session: Session
) -> list[float]:
    """Return the log-probabilities of an anchor's first tokens along a text."""
    rows = []
    for at in range(n_read):
        before = (*text.task.ids, *text.ids[:at])
        rows.append(Row(before, (text.task.anchor[at],)))
    scores: Scores = {}
    for job in scoring_jobs(server, rows):
        scores |= job(session)
    return [scores[row][0] for row in rows]


def _add_steps(
    model: Served,
    text: ContinuedText,
    steps: Sequence[completions.GeneratedToken],
    rules: StoppingRules,
    reads_anchor: bool,
) -> int:
    """Add tokens, and what was read of the anchor, to a text's end; return how many."""
    for count, step in enumerate(steps):
        if text.kept is not None:
            return count
        at = len(text.ids)
        if reads_anchor and at < len(text.task.anchor):
            name = f"token_id:{text.task.anchor[at]}"
            text.anchor_logprobs.append(step.others[name])
        token = tokens.token_id_of_name(model, step.name)
        decoding.append_token(model, text, token, step.logprob, rules)
    return len(steps)


def _end(text: ContinuedText, token: int | None) -> int:
    """Note that the server ended a text; return 1 if its end is no step, else 0."""
    is_among_steps = token is not None and text.ids[-1:] == [token]
    if is_among_steps:
        text.ids.pop()
        text.logprobs.pop()
    text.kept = len(text.ids)
    return 0 if is_among_steps else 1
