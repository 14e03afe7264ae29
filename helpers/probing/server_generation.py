"""Greedy text from a server, with the probability of anchors along the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from helpers import UserError
from helpers.models import LanguageModel, tokens
from helpers.models.address import Server
from helpers.models.server import completions
from helpers.models.server.session import Session
from helpers.models.tokens import Row
from helpers.probing import server_scoring
from helpers.probing.engine import decoding
from helpers.probing.engine.decoding import Rules, Task, Text


def continuations(
    model: LanguageModel, tasks: Sequence[Task], rules: Rules, batch_size: int | None = None
) -> Iterator[list[Text]]:
    """Yield the continuations of tasks as the server gives them.

    Where a text ends is decided here, by the same rules as for a model at hand; the server only
    stops early where it may.
    """
    jobs = (partial(_continue, model, task, rules) for task in tasks)
    yield from server_scoring.at_once(model.model, jobs, batch_size)


async def _continue(model: LanguageModel, task: Task, rules: Rules, session: Session) -> list[Text]:
    server: Server = model.model
    text = Text(task)
    named = sorted(set(task.anchor)) if "nodes" in server.ways else []
    named = named if len(named) <= completions.NAMED else []
    taken = 0
    while text.kept is None:
        room = rules.max_new_tokens - len(text.ids)
        asked = completions.greedy(
            server.settings, (*task.ids, *text.ids), room, rules.stop, rules.ends, named
        )
        steps, reason = await session.ask(completions.PATH, *asked)
        taken += _take(model, text, steps, rules, bool(named))
        if text.kept is None and not isinstance(reason, str):
            taken += _end(text, reason)
        elif text.kept is None and not steps:
            raise UserError(
                f"The server at {server.address.url} ended a text without a token and without a "
                "reason; nothing of it is kept."
            )
    if task.anchor and not named:
        await _read_anchor(server, text, taken, session)
    return [text]


def _take(
    model: LanguageModel, text: Text, steps: Sequence[completions.Step], rules: Rules, read: bool
) -> int:
    """Add tokens, and what was read of the anchor, until a text has ended; return how many."""
    for count, step in enumerate(steps):
        if text.kept is not None:
            return count
        at = len(text.ids)
        if read and at < len(text.task.anchor):
            text.anchor_logprobs.append(step.others[f"token_id:{text.task.anchor[at]}"])
        decoding.add(model, text, tokens.named(model, step.name), step.logprob, rules)
    return len(steps)


def _end(text: Text, token: int | None) -> int:
    """Note that the server ended a text at a token; return 1 if that is not among its steps."""
    shown = token is not None and text.ids[-1:] == [token]
    if shown:
        text.ids.pop()
        text.logprobs.pop()
    text.kept = len(text.ids)
    return 0 if shown else 1


async def _read_anchor(server: Server, text: Text, taken: int, session: Session) -> None:
    """Ask for the anchor's tokens after the model's own, where no step has told them."""
    ids, anchor = text.task.ids, text.task.anchor
    steps = min(len(anchor), text.kept + 1, taken)
    rows = [Row((*ids, *text.ids[:at], anchor[at]), len(ids) + at) for at in range(steps)]
    groups = server_scoring.groups(rows)
    found = await server_scoring.together(
        server_scoring.score_group(server, group, session) for group in groups
    )
    values = {row: value for part in found for row, (value,) in part.items()}
    text.anchor_logprobs = [values[row] for row in rows]
