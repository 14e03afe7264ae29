"""Many equivalent prompts for one question: wordings, demonstrations, order of options.

Variation 0 of every kind is the default prompt: the first wording, the demonstrations as they
stand, the options in their order. The same demonstrations, in the same order, serve all items of
one variation, so that what they share need be read once.

Source: Ganesh, Shokri and Farnadi 2026, appendix A of the earlier version.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts import formats
from helpers.prompts.frames import fill

KINDS = ("frames", "order", "demonstrations", "options", "paraphrases")


def probes(
    items: pd.DataFrame,
    kind: str,
    n_variations: int = 10,
    style: str = "line",
    pool: pd.DataFrame | None = None,
    n_shots: int = 6,
    frames: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Put every item in `n_variations` equivalent ways, one row an option.

    `kind` says what varies. ``frames``: the wording of a fact, first its question frames, then its
    gaps, then its questions as QUESTION and ANSWER lines. ``order``: that of the first `n_shots`
    demonstrations. ``demonstrations``: which `n_shots` are drawn from the pool. ``options``: their
    order in the prompt. ``paraphrases``: the question itself, then those given.

    `items` have ``item, relation, question, options, answer``; for ``frames`` also ``subject``, for
    ``paraphrases`` the lists of that name. `pool` has demonstrations in the same columns: one with
    a relation serves that relation alone, and none serves an item with its name or its question.

    >>> items = pd.DataFrame({"item": ["a"], "relation": [""], "question": ["Up?"],
    ...                       "options": [["yes", "no"]], "answer": [0]})
    >>> for row in probes(items, "options", 2).itertuples():
    ...     print(row.variant, repr(row.prompt), row.continuation, row.correct)
    options0 'QUESTION: Up?\nOPTIONS: yes; no\nANSWER:'  yes True
    options0 'QUESTION: Up?\nOPTIONS: yes; no\nANSWER:'  no False
    options1 'QUESTION: Up?\nOPTIONS: no; yes\nANSWER:'  yes True
    options1 'QUESTION: Up?\nOPTIONS: no; yes\nANSWER:'  no False
    """
    _check(kind, style, n_variations, n_shots)
    random = np.random.default_rng([seed, crc32(kind.encode())])
    if kind == "frames":
        puts = _wordings(items, frames, n_variations)
    elif kind == "paraphrases":
        puts = _paraphrases(items, formats.STYLES[style], n_variations)
    elif kind == "options":
        shown = formats.STYLES[formats.SHOWN.get(style, style)]
        puts = _option_orders(items, shown, n_variations, random)
    else:
        before = _demonstrations(items, kind, pool, n_shots, n_variations, random)
        puts = _after(items, formats.STYLES[style], before)
    return pd.DataFrame(_rows(items, kind, puts))


def plan(
    items: pd.DataFrame,
    kinds: Sequence[str],
    n_variations: int,
    pool: pd.DataFrame,
    n_shots: int,
    frames: pd.DataFrame | None = None,
) -> tuple[dict[str, int], int, list[str]]:
    """Return what of the variations asked for can be made.

    That is each kind with its number of variations (kinds with fewer than two are left out), the
    demonstrations that every item can have, and a sentence on each thing that there is less of.
    """
    for kind in kinds:
        _check(kind, "line", n_variations, n_shots)
    ways, notes = {}, []
    if {"order", "demonstrations"} & set(kinds) and n_shots:
        spare = _spare(items, pool, max(n_shots, n_variations))
        if spare < n_shots:
            number = f"{spare} demonstration{'s' * (spare != 1)}"
            notes.append(f"Prompts have {number}, not {n_shots}: the data hold no more.")
            n_shots = spare
    for kind in dict.fromkeys(kinds):
        if kind == "frames":
            there, need = _least_wordings(items, frames), "facts with more than one wording"
        elif kind == "paraphrases":
            need = "a column `paraphrases`, or a paraphraser"
            there = min((len(_texts(item)) for item in items.to_dict("records")), default=0)
        elif kind == "options":
            there, need = n_variations, ""
        elif kind == "order":
            there, need = math.factorial(n_shots), "two demonstrations or more"
        else:
            there = math.perm(spare, n_shots) if n_shots else 0
            need = "two demonstrations or more to draw from"
        if there < 2:
            notes.append(f'The kind "{kind}" is left out: it needs {need}.')
            continue
        ways[kind] = min(there, n_variations)
        if there < n_variations:
            notes.append(
                f'The kind "{kind}" has {there} variations, not {n_variations}: there are no more.'
            )
    if not ways:
        raise UserError(" ".join([*notes, "So no prompt can be varied: name other kinds."]))
    return ways, n_shots, notes


def fitting(
    make: Callable[[int], pd.DataFrame],
    n_shots: int,
    count: Callable[[str], int],
    limit: int | None,
) -> pd.DataFrame:
    """Make probes with so many demonstrations, or say how many a model's context can hold."""
    found = make(n_shots)
    if limit is None or _fits(found, count, limit):
        return found
    for fewer in range(n_shots - 1, -1, -1):
        try:
            fits = _fits(make(fewer), count, limit)
        except UserError:  # so few demonstrations have too few orders
            break
        if fits:
            raise UserError(
                f"{n_shots} demonstrations do not fit into the context of {limit} tokens; {fewer} "
                "do."
            )
    raise UserError(
        f"The longest question does not fit into the context of {limit} tokens, even with the "
        "fewest demonstrations that can be varied: leave it out or take another model."
    )


def orders(n_things: int, n: int, random: np.random.Generator) -> list[list[int]]:
    """Return n orders of so many things, the given one first, none twice while there are others."""
    distinct = min(n, math.factorial(n_things))
    found = [tuple(range(n_things))]
    while len(found) < distinct:
        order = tuple(int(place) for place in random.permutation(n_things))
        if order not in found:
            found.append(order)
    return [list(found[k % distinct]) for k in range(n)]


# What is put to the model: the prompt, and for each option its continuation.
_Put = tuple[str, list[str]]


def _rows(items: pd.DataFrame, kind: str, puts: Iterator[list[_Put]]) -> list[dict[str, Any]]:
    rows = []
    for item, ways in zip(items.to_dict("records"), puts, strict=True):
        about = {key: item[key] for key in ("item", "relation", "answer")}
        for variation, (prompt, scored) in enumerate(ways):
            one = {**about, "variant": f"{kind}{variation}", "kind": kind, "variation": variation}
            for option, (text, continuation) in enumerate(zip(item["options"], scored)):
                correct = option == item["answer"]
                told = {"option": option, "continuation": continuation, "correct": correct}
                rows.append({**one, "prompt": prompt, **told, "text": text})
    return rows


def _wordings(items: pd.DataFrame, frames: pd.DataFrame | None, n: int) -> Iterator[list[_Put]]:
    if frames is None or "subject" not in items:
        raise UserError('Variations of the kind "frames" need facts, such as those of the atlas.')
    by_relation = _templates(frames)
    for item in items.to_dict("records"):
        ways = by_relation.get(item["relation"], [])
        _enough(len(ways), n, f"wordings of relation {item['relation']}")
        scored = formats.continuations(formats.STYLES["line"], item["options"])
        yield [(fill(way, item["subject"]), scored) for way in ways[:n]]


def _templates(frames: pd.DataFrame) -> dict[str, list[str]]:
    """Return each relation's wordings: questions, gaps, and questions as QUESTION and ANSWER."""
    found = {}
    rows = frames.sort_values("frame", kind="stable")
    for relation, part in rows.groupby("relation", sort=False):
        asked = list(part.loc[part["kind"] == "qa", "template"])
        clozes = part.loc[part["kind"] == "wp", "template"]
        gaps = [text.partition("[Y]")[0].rstrip() for text in clozes]
        found[relation] = [*asked, *gaps, *map(formats.shot, asked)]
    return found


def _least_wordings(items: pd.DataFrame, frames: pd.DataFrame | None) -> int:
    """Return how many wordings the relation with the fewest has."""
    if frames is None or "subject" not in items:
        return 0
    texts = _templates(frames[frames["relation"].isin(items["relation"])])
    return min((len(texts.get(name, [])) for name in items["relation"]), default=0)


def _texts(item: dict[str, Any]) -> list[str]:
    """Return the different wordings of a question, its own first."""
    return list(dict.fromkeys([item["question"], *item.get("paraphrases", [])]))


def _paraphrases(items: pd.DataFrame, style: formats.Style, n: int) -> Iterator[list[_Put]]:
    if "paraphrases" not in items or not any(items["paraphrases"]):
        raise UserError(
            'Variations of the kind "paraphrases" need a column `paraphrases`, or a paraphraser.'
        )
    for item in items.to_dict("records"):
        texts = _texts(item)
        _enough(len(texts), n, f"different wordings of item {item['item']}")
        scored = formats.continuations(style, item["options"])
        ask = [style.head + style.ask(text, item["options"]) for text in texts[:n]]
        yield [(prompt, scored) for prompt in ask]


def _option_orders(
    items: pd.DataFrame, style: formats.Style, n: int, random: np.random.Generator
) -> Iterator[list[_Put]]:
    for item in items.to_dict("records"):
        ways = []
        for order in orders(len(item["options"]), n, random):
            shown = [item["options"][place] for place in order]
            at_place = formats.continuations(style, shown)
            scored = [at_place[order.index(option)] for option in range(len(order))]
            ways.append((style.head + style.ask(item["question"], shown), scored))
        yield ways


def _demonstrations(
    items: pd.DataFrame,
    kind: str,
    pool: pd.DataFrame | None,
    n_shots: int,
    n: int,
    random: np.random.Generator,
) -> Iterator[list[list[dict[str, Any]]]]:
    """Yield for each item, and each variation of it, the demonstrations before it."""
    if pool is None or pool.empty:
        raise UserError(f'There are no demonstrations to vary: the kind "{kind}" needs some.')
    if kind == "order" and math.factorial(n_shots) < n:
        raise UserError(
            f"{n_shots} demonstrations have {math.factorial(n_shots)} orders, not {n}: take more "
            "demonstrations or fewer variations."
        )
    drawn: dict[str, list[list[dict[str, Any]]]] = {}
    shuffled = orders(n_shots, n, random)
    for relation, rows in pool.groupby("relation", sort=False):
        shots = rows.to_dict("records")
        queues = [shots] * n
        if kind == "demonstrations":
            queues = [[shots[p] for p in random.permutation(len(shots))] for _ in range(n)]
        drawn[str(relation)] = queues
    for item in items.to_dict("records"):
        queues = drawn.get(item["relation"], drawn.get("", []))
        chosen = [list(islice(_others(queue, item), n_shots)) for queue in queues]
        _enough(min(map(len, chosen), default=0), n_shots, f"demonstrations for {item['item']}")
        if kind == "order":
            chosen = [[shots[p] for p in order] for shots, order in zip(chosen, shuffled)]
        yield chosen


def _spare(items: pd.DataFrame, pool: pd.DataFrame, most: int) -> int:
    """Return how many demonstrations, up to `most`, the item with the fewest has to draw from."""
    queues = {str(name): rows.to_dict("records") for name, rows in pool.groupby("relation")}
    found = (
        islice(_others(queues.get(item["relation"], queues.get("", [])), item), most)
        for item in items[["item", "relation", "question"]].to_dict("records")
    )
    return min((len(list(shots)) for shots in found), default=0)


def _others(queue: Sequence[dict[str, Any]], item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the demonstrations that are not the item itself."""
    for shot in queue:
        if shot["item"] != item["item"] and shot["question"] != item["question"]:
            yield shot


def _after(
    items: pd.DataFrame, style: formats.Style, before: Iterator[list[list[dict[str, Any]]]]
) -> Iterator[list[_Put]]:
    """Yield each item's prompts after its demonstrations."""
    keys = ("question", "options", "answer")
    for item, ways in zip(items.to_dict("records"), before, strict=True):
        scored = formats.continuations(style, item["options"])
        asked = style.ask(item["question"], item["options"])
        told = [
            "".join(formats.demonstrate(style, *(shot[key] for key in keys)) for shot in shots)
            for shots in ways
        ]
        yield [(style.head + shots + asked, scored) for shots in told]


def _fits(table: pd.DataFrame, count: Callable[[str], int], limit: int) -> bool:
    """Say whether every prompt with its continuation keeps to the limit."""
    texts = table["prompt"] + table["continuation"]
    # A token is at least a byte, so only long texts need be counted; one for a beginning mark.
    long = [text for text in texts if len(text.encode()) + 1 > limit]
    return all(count(text) <= limit for text in long)


def _enough(there: int, wanted: int, what: str) -> None:
    if there < wanted:
        raise UserError(f"There are {there} {what}, and {wanted} are asked for: ask for fewer.")


def _check(kind: str, style: str, n_variations: int, n_shots: int) -> None:
    if kind not in KINDS:
        raise UserError(f'"{kind}" is no kind of variation: give one of {", ".join(KINDS)}.')
    if style not in formats.STYLES:
        raise UserError(f'"{style}" is no style: give one of {", ".join(formats.STYLES)}.')
    if n_variations < 2:
        raise UserError(f"Multiplicity needs at least 2 prompt variations, not {n_variations}.")
    if n_shots < 0:
        raise UserError(f"The number of demonstrations is 0 or more, not {n_shots}.")
