"""Many equivalent prompts for one question: wordings, demonstrations, order of options.

Variation 0 of every kind is the default prompt. One variation has the same
demonstrations for all items. Source: Ganesh, Shokri and Farnadi 2026, appendix A of the
earlier version.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.metrics.canonical import comparison_key
from helpers.prompts import prompt_texts
from helpers.prompts.context_length import CountTokens
from helpers.prompts.frames import fill_template

# What varies, and what there must be for it.
VARIATION_NEEDS = prompt_texts.PROMPT_TEXTS["variations"]
WORDING_KINDS = ("frames", "paraphrases")
# An item to ask, or a demonstration: values by column.
Record = dict[str, Any]


class Variation(NamedTuple):
    """One way of asking an item: a text before its question, and the order of options.

    Without an order they stand as they are given.
    """

    before: str
    question: str
    order: list[int] | None = None


def variation_probes(
    items: pd.DataFrame,
    kind: str,
    n_variations: int = 10,
    style: str = "line",
    pool: pd.DataFrame | None = None,
    n_shots: int = 6,
    *,
    frames: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Put every item in `n_variations` equivalent ways of a kind of `VARIATION_NEEDS`.

    `frames` are needed for the kind of that name, and a `pool` of demonstrations for
    ``order`` and ``demonstrations``.
    """
    _check_variations(kind, style, n_variations, n_shots)
    random = np.random.default_rng([seed, crc32(kind.encode())])
    variations: Iterable[list[Variation]]
    if kind in WORDING_KINDS:
        if kind == "frames":
            style = "line"
        variations = _variations_of_wording(items, kind, frames)
    elif kind == "options":
        style = prompt_texts.STYLE_WITH_OPTIONS_SHOWN.get(style, style)
        variations = _variations_of_order(items, n_variations, random)
    else:
        shots = _demonstrations(items, kind, pool, n_shots, n_variations, random)
        variations = _variations_of_demonstrations(items, shots, style)
    question_style = prompt_texts.QUESTION_STYLES[style]
    rows = _probe_rows(items, kind, question_style, variations, n_variations)
    return pd.DataFrame(rows)


def _variations_of_wording(
    items: pd.DataFrame, kind: str, frames: pd.DataFrame | None
) -> list[list[Variation]]:
    """Return the wordings of each item; some item must have two."""
    wordings = _wordings(items, kind, frames)
    if wordings and max(map(len, wordings)) < 2:
        raise UserError(
            f'Variations of the kind "{kind}" need {VARIATION_NEEDS[kind]}.'
        )
    return [[Variation("", text) for text in texts] for texts in wordings]


def _variations_of_order(
    items: pd.DataFrame, n_variations: int, random: np.random.Generator
) -> Iterator[list[Variation]]:
    """Yield each item's question with its options in several orders."""
    for question, options in zip(items["question"], items["options"], strict=True):
        orders = draw_orders(len(options), n_variations, random)
        yield [Variation("", question, order) for order in orders]


def _variations_of_demonstrations(
    items: pd.DataFrame, shots: Iterable[list[list[Record]]], style: str
) -> Iterator[list[Variation]]:
    """Yield each item's question behind the demonstrations of each variation."""
    for question, shots_of_item in zip(items["question"], shots, strict=True):
        texts = [_demonstrations_text(queue, style) for queue in shots_of_item]
        yield [Variation(text, question) for text in texts]


def _demonstrations_text(shots: Sequence[Record], style: str) -> str:
    """Return demonstrations as they stand before a question."""
    question_style = prompt_texts.QUESTION_STYLES[style]
    texts = []
    for shot in shots:
        text = prompt_texts.demonstration_text(
            question_style, shot["question"], shot["options"], shot["answer"]
        )
        texts.append(text)
    return "".join(texts)


def plan_variations(
    items: pd.DataFrame,
    kinds: Sequence[str],
    n_variations: int,
    pool: pd.DataFrame,
    n_shots: int,
    frames: pd.DataFrame | None = None,
) -> tuple[dict[str, int], int, list[str]]:
    """Return what can be made of the variations that are asked for.

    Returns
    -------
    dict of str to int
        Numbers of variations of the kinds that there can be.
    int
        The number of demonstrations.
    list of str
        A sentence on everything that is less than what was asked for.
    """
    for kind in kinds:
        _check_variations(kind, "line", n_variations, n_shots)
    notes = []
    spare = n_shots
    if {"order", "demonstrations"} & set(kinds) and n_shots:
        most = max(n_shots, n_variations)  # no more need be counted
        spare = _fewest_demonstrations(items, pool, most)
        if spare < n_shots:
            number = "1 demonstration" if spare == 1 else f"{spare} demonstrations"
            notes.append(
                f"Prompts have {number}, not {n_shots}: the data hold no more."
            )
            n_shots = spare
    n_of_kinds = {}
    for kind in dict.fromkeys(kinds):
        if kind in WORDING_KINDS:
            possible = min(map(len, _wordings(items, kind, frames)), default=0)
        elif kind == "options":
            possible = n_variations
        else:
            possible = _n_of_demonstrations(kind, spare, n_shots)
        if possible < 2:
            notes.append(
                f'The kind "{kind}" is left out: it needs {VARIATION_NEEDS[kind]}.'
            )
            continue
        n_of_kinds[kind] = min(possible, n_variations)
        if possible < n_variations:
            notes.append(
                f'The kind "{kind}" has {possible} variations, not {n_variations}: '
                "there are no more."
            )
    if not n_of_kinds:
        notes.append("So no prompt can be varied: name other kinds.")
        raise UserError(" ".join(notes))
    return n_of_kinds, n_shots, notes


def _n_of_demonstrations(kind: str, spare: int, n_shots: int) -> int:
    """Return how many ways there are to order, or to choose, so many demonstrations."""
    if kind == "order":
        return math.factorial(n_shots)
    if n_shots == 0:
        return 0
    return math.perm(spare, n_shots)


def _fewest_demonstrations(items: pd.DataFrame, pool: pd.DataFrame, most: int) -> int:
    """Return how many demonstrations every item can have, counted up to `most`."""
    queues = _demonstrations_by_relation(pool)
    numbers = []
    for item in items[["item", "relation", "question"]].to_dict("records"):
        queue = queues.get(item["relation"], queues.get("", []))
        numbers.append(len(list(islice(_about_others(queue, item), most))))
    return min(numbers, default=0)


def _demonstrations_by_relation(pool: pd.DataFrame) -> dict[str, list[Record]]:
    """Return the demonstrations of each relation, in the order of the pool."""
    queues = {}
    for relation, rows in pool.groupby("relation", sort=False):
        queues[str(relation)] = rows.to_dict("records")
    return queues


def probes_that_fit_context(
    make: Callable[[int], pd.DataFrame],
    n_shots: int,
    count: CountTokens,
    limit: int | None,
) -> pd.DataFrame:
    """Make probes with so many demonstrations, or say how many the context can hold."""
    probes = make(n_shots)
    if limit is None or _all_fit(probes, count, limit):
        return probes
    for fewer in range(n_shots - 1, -1, -1):
        try:
            fits = _all_fit(make(fewer), count, limit)
        except UserError:  # so few demonstrations have too few orders
            break
        if fits:
            raise UserError(
                f"{n_shots} demonstrations do not fit into the context of {limit} "
                f"tokens; {fewer} do."
            )
    raise UserError(
        f"The longest question does not fit into the context of {limit} tokens, even "
        "with the fewest demonstrations that can be varied: leave it out or take "
        "another model."
    )


def draw_orders(n_things: int, n: int, random: np.random.Generator) -> list[list[int]]:
    """Return n orders of so many things, the given one first.

    None stands twice while there are others.
    """
    distinct = min(n, math.factorial(n_things))
    orders = [tuple(range(n_things))]
    while len(orders) < distinct:
        order = tuple(int(place) for place in random.permutation(n_things))
        if order not in orders:
            orders.append(order)
    return [list(orders[number % distinct]) for number in range(n)]


def _probe_rows(
    items: pd.DataFrame,
    kind: str,
    style: prompt_texts.QuestionStyle,
    variations: Iterable[list[Variation]],
    n: int,
) -> list[Record]:
    """Put each item in the first n of its variations, a row an option."""
    rows = []
    for item, every_variation in zip(items.to_dict("records"), variations, strict=True):
        wordings = f"different wordings of item {item['item']}"
        _check_number(len(every_variation), n, wordings)
        for number, variation in enumerate(every_variation[:n]):
            order = variation.order or list(range(len(item["options"])))
            shown = [item["options"][place] for place in order]
            question = style.ask(variation.question, shown)
            prompt = style.head + variation.before + question
            scored = prompt_texts.option_continuations(style, shown)
            for option, text in enumerate(item["options"]):
                row = {
                    "item": item["item"],
                    "relation": item["relation"],
                    "answer": item["answer"],
                    "variant": f"{kind}{number}",
                    "kind": kind,
                    "variation": number,
                    "prompt": prompt,
                    "option": option,
                    "continuation": scored[order.index(option)],
                    "correct": option == item["answer"],
                    "text": text,
                }
                rows.append(row)
    return rows


def _wordings(
    items: pd.DataFrame, kind: str, frames: pd.DataFrame | None
) -> list[list[str]]:
    """Return the different wordings of each item: of a fact's frames, or its own first.

    Frames are put as questions, as gaps, and as questions between QUESTION and ANSWER.
    """
    records = items.to_dict("records")
    if kind == "paraphrases":
        own = [[item["question"], *item.get("paraphrases", [])] for item in records]
        return [list(dict.fromkeys(texts)) for texts in own]
    if frames is None or "subject" not in items:
        return [[] for _ in records]
    templates = {}
    frames = frames.sort_values("frame", kind="stable")
    for relation, rows in frames.groupby("relation", sort=False):
        questions = list(rows.loc[rows["kind"] == "qa", "template"])
        clozes = rows.loc[rows["kind"] == "wp", "template"]
        gaps = [text.partition("[Y]")[0].rstrip() for text in clozes]
        open_shots = [prompt_texts.shot_text(question) for question in questions]
        templates[relation] = [*questions, *gaps, *open_shots]
    wordings = []
    for item in records:
        own_templates = templates.get(item["relation"], [])
        texts = [fill_template(text, item["subject"]) for text in own_templates]
        wordings.append(texts)
    return wordings


def _demonstrations(
    items: pd.DataFrame,
    kind: str,
    pool: pd.DataFrame | None,
    n_shots: int,
    n: int,
    random: np.random.Generator,
) -> Iterator[list[list[Record]]]:
    """Yield for each item, and each variation of it, the demonstrations before it."""
    if pool is None or pool.empty:
        raise UserError(
            f'There are no demonstrations to vary: the kind "{kind}" needs some.'
        )
    if kind == "order" and math.factorial(n_shots) < n:
        raise UserError(
            f"{n_shots} demonstrations have {math.factorial(n_shots)} orders, not {n}: "
            "take more demonstrations or fewer variations."
        )
    orders = draw_orders(n_shots, n, random)
    queues: dict[str, list[list[Record]]] = {}  # of each relation, one a variation
    for relation, shots in _demonstrations_by_relation(pool).items():
        if kind == "demonstrations":
            queues[relation] = _shuffled_copies(shots, n, random)
        else:
            queues[relation] = [shots] * n
    for item in items.to_dict("records"):
        own_queues = queues.get(item["relation"], queues.get("", []))
        shots_of_variations = []
        for queue in own_queues:
            shots_of_variations.append(
                list(islice(_about_others(queue, item), n_shots))
            )
        fewest = min(map(len, shots_of_variations), default=0)
        _check_number(fewest, n_shots, f"demonstrations for {item['item']}")
        if kind == "order":
            pairs = zip(shots_of_variations, orders, strict=True)
            yield [[shots[place] for place in order] for shots, order in pairs]
        else:
            yield shots_of_variations


def _shuffled_copies(
    shots: Sequence[Record], n: int, random: np.random.Generator
) -> list[list[Record]]:
    """Return the demonstrations in n random orders."""
    copies = []
    for _ in range(n):
        order = random.permutation(len(shots))
        copies.append([shots[place] for place in order])
    return copies


def _about_others(queue: Iterable[Record], item: Record) -> Iterator[Record]:
    """Yield the demonstrations that are not the item itself, in whatever wording."""
    own_keys = _question_keys(item)
    for shot in queue:
        if shot["item"] != item["item"] and own_keys.isdisjoint(_question_keys(shot)):
            yield shot


def _question_keys(item: Record) -> set[str]:
    """Return what the spellings of a question and of its paraphrases have in common."""
    return set(map(comparison_key, [item["question"], *item.get("paraphrases", [])]))


def _all_fit(probes: pd.DataFrame, count: CountTokens, limit: int) -> bool:
    """Return whether every prompt with its continuation keeps to the limit."""
    texts = probes["prompt"] + probes["continuation"]
    # A token is at least a byte, so only long texts need be counted; one for a
    # beginning mark.
    long = [text for text in texts if len(text.encode()) + 1 > limit]
    return all(count(text) <= limit for text in long)


def _check_number(available: int, needed: int, what: str) -> None:
    """Refuse to take more than there are."""
    if available < needed:
        raise UserError(
            f"There are {available} {what}, and {needed} are asked for: ask for fewer."
        )


def _check_variations(kind: str, style: str, n_variations: int, n_shots: int) -> None:
    """Refuse a kind, a style or a number that there cannot be."""
    if kind not in VARIATION_NEEDS:
        kinds = ", ".join(VARIATION_NEEDS)
        raise UserError(f'"{kind}" is no kind of variation: give one of {kinds}.')
    if style not in prompt_texts.QUESTION_STYLES:
        styles = ", ".join(prompt_texts.QUESTION_STYLES)
        raise UserError(f'"{style}" is no style: give one of {styles}.')
    if n_variations < 2:
        raise UserError(
            f"Multiplicity needs at least 2 prompt variations, not {n_variations}."
        )
    if n_shots < 0:
        raise UserError(f"The number of demonstrations is 0 or more, not {n_shots}.")
