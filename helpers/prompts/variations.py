"""Many equivalent prompts for one question: wordings, demonstrations, order of options.

Variation 0 of every kind is the default prompt. One variation has the same
demonstrations for all items. Source: Ganesh, Shokri and Farnadi 2026, appendix A of the
earlier version.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts import prompt_texts
from helpers.prompts.context_length import CountTokens
from helpers.prompts.frames import fill_template

VARIATION_NEEDS = prompt_texts.PROMPT_TEXTS[
    "variations"
]  # what varies, and what there must be for it
WORDING_KINDS = ("frames", "paraphrases")


def variation_probes(
    items: pd.DataFrame,
    kind: str,
    n_variations: int = 10,
    style: str = "line",
    pool: pd.DataFrame | None = None,
    n_shots: int = 6,
    frames: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Put every item in `n_variations` equivalent ways of one of the kinds in `VARIATION_NEEDS`."""
    _check(kind, style, n_variations, n_shots)
    random = np.random.default_rng([seed, crc32(kind.encode())])
    records = items.to_dict("records")
    ways: Iterable[list[_Way]]
    if kind in WORDING_KINDS:
        texts = _wordings(items, kind, frames)
        if max(map(len, texts), default=2) < 2:
            raise UserError(
                f'Variations of the kind "{kind}" need {VARIATION_NEEDS[kind]}.'
            )
        style = "line" if kind == "frames" else style
        ways = [[("", text, None) for text in each] for each in texts]
    elif kind == "options":
        style = prompt_texts.STYLE_WITH_OPTIONS_SHOWN.get(style, style)
        ways = (
            [("", item["question"], order)
             for order in draw_orders(len(item["options"]), n_variations, random)]
            for item in records
        )  # fmt: skip
    else:
        before = _demonstrations(items, kind, pool, n_shots, n_variations, random)

        def put(shots: list[dict[str, Any]]) -> str:
            told = (
                (shot["question"], shot["options"], shot["answer"]) for shot in shots
            )
            return "".join(
                prompt_texts.demonstration_text(
                    prompt_texts.QUESTION_STYLES[style], *each
                )
                for each in told
            )

        ways = (
            [(put(shots), item["question"], None) for shots in each]
            for item, each in zip(records, before, strict=True)
        )
    return pd.DataFrame(
        _rows(records, kind, prompt_texts.QUESTION_STYLES[style], ways, n_variations)
    )


def plan_variations(
    items: pd.DataFrame,
    kinds: Sequence[str],
    n_variations: int,
    pool: pd.DataFrame,
    n_shots: int,
    frames: pd.DataFrame | None = None,
) -> tuple[dict[str, int], int, list[str]]:
    """Return what can be made of the variations: kinds and numbers, demonstrations, and notes."""
    for kind in kinds:
        _check(kind, "line", n_variations, n_shots)
    ways, notes = {}, []
    if {"order", "demonstrations"} & set(kinds) and n_shots:
        most = max(n_shots, n_variations)  # no more need be counted
        queues = {
            str(name): rows.to_dict("records")
            for name, rows in pool.groupby("relation")
        }
        found = (
            islice(
                _others(queues.get(item["relation"], queues.get("", [])), item), most
            )
            for item in items[["item", "relation", "question"]].to_dict("records")
        )
        spare = min((len(list(shots)) for shots in found), default=0)
        if spare < n_shots:
            number = f"{spare} demonstration{'s' * (spare != 1)}"
            notes.append(
                f"Prompts have {number}, not {n_shots}: the data hold no more."
            )
            n_shots = spare
    for kind in dict.fromkeys(kinds):
        if kind in WORDING_KINDS:
            there = min(map(len, _wordings(items, kind, frames)), default=0)
        elif kind == "options":
            there = n_variations
        elif kind == "order":
            there = math.factorial(n_shots)
        else:
            there = math.perm(spare, n_shots) if n_shots else 0
        if there < 2:
            notes.append(
                f'The kind "{kind}" is left out: it needs {VARIATION_NEEDS[kind]}.'
            )
            continue
        ways[kind] = min(there, n_variations)
        if there < n_variations:
            notes.append(
                f'The kind "{kind}" has {there} variations, not {n_variations}: there are no more.'
            )
    if not ways:
        raise UserError(
            " ".join([*notes, "So no prompt can be varied: name other kinds."])
        )
    return ways, n_shots, notes


def probes_that_fit_context(
    make: Callable[[int], pd.DataFrame],
    n_shots: int,
    count: CountTokens,
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


def draw_orders(n_things: int, n: int, random: np.random.Generator) -> list[list[int]]:
    """Return n orders of so many things, the given one first, none twice while there are others."""
    distinct = min(n, math.factorial(n_things))
    found = [tuple(range(n_things))]
    while len(found) < distinct:
        order = tuple(int(place) for place in random.permutation(n_things))
        if order not in found:
            found.append(order)
    return [list(found[k % distinct]) for k in range(n)]


# What stands before the question, the question, and the order of its options; None: as
# they stand.
_Way = tuple[str, str, list[int] | None]


def _rows(
    items: list[dict[str, Any]],
    kind: str,
    style: prompt_texts.QuestionStyle,
    puts: Iterable[list[_Way]],
    n: int,
) -> list[dict[str, Any]]:
    """Put each item in the first n of its ways."""
    rows = []
    for item, ways in zip(items, puts, strict=True):
        _enough(len(ways), n, f"different wordings of item {item['item']}")
        about = {key: item[key] for key in ("item", "relation", "answer")}
        for variation, (before, question, given) in enumerate(ways[:n]):
            order = given or list(range(len(item["options"])))
            shown = [item["options"][place] for place in order]
            prompt = style.head + before + style.ask(question, shown)
            scored = prompt_texts.option_continuations(style, shown)
            one = {
                **about,
                "variant": f"{kind}{variation}",
                "kind": kind,
                "variation": variation,
            }
            for option, text in enumerate(item["options"]):
                correct, continuation = (
                    option == item["answer"],
                    scored[order.index(option)],
                )
                told = {
                    "option": option,
                    "continuation": continuation,
                    "correct": correct,
                }
                rows.append({**one, "prompt": prompt, **told, "text": text})
    return rows


def _wordings(
    items: pd.DataFrame, kind: str, frames: pd.DataFrame | None
) -> list[list[str]]:
    """Return the different wordings of each item: of a fact's frames, or its own first."""
    records = items.to_dict("records")
    if kind == "paraphrases":
        texts = ([item["question"], *item.get("paraphrases", [])] for item in records)
        return [list(dict.fromkeys(each)) for each in texts]
    if frames is None or "subject" not in items:
        return [[] for _ in records]
    found = {}  # of each relation: questions, gaps, and questions as QUESTION and ANSWER
    rows = frames.sort_values("frame", kind="stable")
    for relation, part in rows.groupby("relation", sort=False):
        asked = list(part.loc[part["kind"] == "qa", "template"])
        clozes = part.loc[part["kind"] == "wp", "template"]
        gaps = [text.partition("[Y]")[0].rstrip() for text in clozes]
        found[relation] = [*asked, *gaps, *map(prompt_texts.shot_text, asked)]
    return [
        [fill_template(t, item["subject"]) for t in found.get(item["relation"], [])]
        for item in records
    ]


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
        raise UserError(
            f'There are no demonstrations to vary: the kind "{kind}" needs some.'
        )
    if kind == "order" and math.factorial(n_shots) < n:
        raise UserError(
            f"{n_shots} demonstrations have {math.factorial(n_shots)} orders, not {n}: take more "
            "demonstrations or fewer variations."
        )
    drawn: dict[str, list[list[dict[str, Any]]]] = {}
    shuffled = draw_orders(n_shots, n, random)
    for relation, rows in pool.groupby("relation", sort=False):
        shots = rows.to_dict("records")
        queues = [shots] * n
        if kind == "demonstrations":
            queues = [
                [shots[p] for p in random.permutation(len(shots))] for _ in range(n)
            ]
        drawn[str(relation)] = queues
    for item in items.to_dict("records"):
        queues = drawn.get(item["relation"], drawn.get("", []))
        chosen = [list(islice(_others(queue, item), n_shots)) for queue in queues]
        _enough(
            min(map(len, chosen), default=0),
            n_shots,
            f"demonstrations for {item['item']}",
        )
        if kind == "order":
            chosen = [
                [shots[p] for p in order] for shots, order in zip(chosen, shuffled)
            ]
        yield chosen


def _others(
    queue: Sequence[dict[str, Any]], item: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the demonstrations that are not the item itself."""
    for shot in queue:
        if shot["item"] != item["item"] and shot["question"] != item["question"]:
            yield shot


def _fits(table: pd.DataFrame, count: CountTokens, limit: int) -> bool:
    """Say whether every prompt with its continuation keeps to the limit."""
    texts = table["prompt"] + table["continuation"]
    # A token is at least a byte, so only long texts need be counted; one for a
    # beginning mark.
    long = [text for text in texts if len(text.encode()) + 1 > limit]
    return all(count(text) <= limit for text in long)


def _enough(there: int, wanted: int, what: str) -> None:
    if there < wanted:
        raise UserError(
            f"There are {there} {what}, and {wanted} are asked for: ask for fewer."
        )


def _check(kind: str, style: str, n_variations: int, n_shots: int) -> None:
    if kind not in VARIATION_NEEDS:
        raise UserError(
            f'"{kind}" is no kind of variation: give one of {", ".join(VARIATION_NEEDS)}.'
        )
    if style not in prompt_texts.QUESTION_STYLES:
        raise UserError(
            f'"{style}" is no style: give one of {", ".join(prompt_texts.QUESTION_STYLES)}.'
        )
    if n_variations < 2:
        raise UserError(
            f"Multiplicity needs at least 2 prompt variations, not {n_variations}."
        )
    if n_shots < 0:
        raise UserError(f"The number of demonstrations is 0 or more, not {n_shots}.")
