"""Multiple choice from facts: the object among distractors, and what training put in its place.

Of the atlas a quarter is stated wrongly, a quarter never read, the rest spread over
exposures.
"""

import zlib
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import catalogue, exposure
from helpers.datasets.multiple_choice.items import ITEM_COLUMNS, Benchmark

VARIATION_KINDS = ("frames", "order", "demonstrations", "options")
POOL_SIZE = 40  # demonstrations a relation, from which variations draw
N_SHOTS = 6  # demonstrations a prompt
# What a model read of a fact: how often it is stated, or that it is stated wrongly,
# too.
LESSONS = ("never read", "read 1–4 times", "read 8–32 times", "read 64+ times")
LESSONS += ("stated both ways", "mostly stated wrongly")


def benchmark_from_facts(
    name: str,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    relations: Sequence[str] | None = None,
    model: str = "",
    only: Collection[str] | None = None,
) -> Benchmark:
    """Return facts as questions with options."""
    if not 2 <= n_options <= 6:
        raise UserError(
            f"An item has 2 to 6 options, its answer included, not {n_options}."
        )
    if n is not None and n < 1:
        raise UserError(f"The number of items must be at least 1, not {n}.")
    facts = catalogue.load(name, relations, seed=seed)
    alone = facts.loc[facts["distractors"].str.len() == 0, "fact"]
    if len(alone):
        raise UserError(
            f"Fact {alone.iloc[0]} has no wrong objects to choose from: add some."
        )
    known = training_exposure_or_stand_in(model) if name == "atlas" else None
    groups = (
        pd.Series("", index=facts.index) if known is None else _groups(facts, known)
    )
    if only is None:
        chosen = _spread(facts, groups, n, seed)
    else:
        chosen = list(facts.index[facts["fact"].isin(only)])
    false = "" if known is None else facts["fact"].map(known["false_object"]).fillna("")
    facts = facts.assign(
        false_object=false, question=catalogue.base_questions(name, facts)
    )
    rest = facts.drop(index=chosen)
    rest = rest[rest["false_object"] == ""] if len(chosen) < len(facts) else facts
    items = _items(facts.loc[sorted(chosen)], n_options, seed)
    pool = _items(_pool(facts, rest, seed), n_options, seed)
    notes = catalogue.notes_on_facts(name, relations)
    fewest, most = items["options"].str.len().agg(["min", "max"])
    if fewest < n_options:
        number = str(most) if fewest == most else f"{fewest} to {most}"
        notes.append(
            f"Questions have {number} options, not {n_options}: facts list no more."
        )
    return Benchmark(
        items,
        pool,
        "line",
        VARIATION_KINDS,
        N_SHOTS,
        catalogue.source_record(name),
        tuple(notes),
    )


def training_exposure_or_stand_in(model: str) -> pd.DataFrame | None:
    """Return what a bundled model read of each fact; for others, what the first bundled one did."""
    names = [
        model,
        *sorted(
            path.parent.name
            for path in exposure.BUNDLED_MODELS_FOLDER.glob("*/exposures.csv")
        ),
    ]
    found = (exposure.training_exposure(name) for name in names if name)
    return next((table for table in found if table is not None), None)


def lesson_of_each_fact(known: pd.DataFrame) -> pd.Series:
    """Name what a model read of each fact."""
    shown, false = known["exposures"], known["false_exposures"]
    names = np.select(
        [
            false > shown,
            (false > 0) & (false == shown),
            shown == 0,
            shown < 8,
            shown < 64,
        ],
        [*LESSONS[:3:-1], *LESSONS[:3]],
        LESSONS[3],
    )
    return pd.Series(names, index=known.index)


def expected_class(lesson: pd.Series) -> pd.Series:
    """Return the class that each lesson should lead to; "" where nothing firm can be said."""
    due = ("randomness", "", "factuality", "factuality", "", "error")
    return lesson.map(dict(zip(LESSONS, due, strict=True))).fillna("")


def lesson_of_each_item(items: pd.DataFrame, known: pd.DataFrame | None) -> pd.Series:
    """Return the lesson of each item, indexed by item; "" where nothing is known."""
    if known is None:
        return pd.Series("", index=pd.Index(items["item"]))
    return lesson_of_each_fact(known).reindex(items["item"]).fillna("")


def _groups(facts: pd.DataFrame, known: pd.DataFrame) -> pd.Series:
    """Name the share of the sample that each fact may fill; "-" for none."""
    told = known.reindex(facts["fact"]).set_index(facts.index)
    false = told["false_exposures"] > 0
    # A fact that was not in the plan, or whose names met in other facts, tells nothing
    # certain.
    unclear = told["exposures"].isna() | ~(told["plain"].eq(True) | false)
    groups = told["exposures"].map("{:.0f}".format)
    return groups.mask(false, "false").mask(unclear, "-")


def _spread(
    facts: pd.DataFrame, groups: pd.Series, n: int | None, seed: int
) -> list[int]:
    """Draw n facts: a quarter false, a quarter never read, the rest even over the levels."""
    if n is None or n >= len(facts):
        return list(facts.index)
    order = np.array([zlib.crc32(f"{seed} {fact}".encode()) for fact in facts["fact"]])
    queues = {
        group: list(rows.index[np.argsort(order[rows.index], kind="stable")])
        for group, rows in facts.groupby(groups)
    }
    spare = queues.pop("-", [])
    chosen = queues.get("false", [])[: n // 4]
    if queues.keys() - {"0", "false", ""}:
        chosen += queues.get("0", [])[: n // 4]
        queues = {
            group: rows for group, rows in queues.items() if group not in ("0", "false")
        }
    while len(chosen) < n and any(queues.values()):
        for group in sorted(queues, key=len):
            if queues[group] and len(chosen) < n:
                chosen.append(queues[group].pop(0))
    return (chosen + [place for place in spare if place not in chosen])[:n]


def _pool(facts: pd.DataFrame, rest: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Draw facts to demonstrate with: of each relation, or of all for a relation with too few."""
    pool = (
        rest.groupby("relation").sample(frac=1, random_state=seed)
        if len(rest)
        else rest
    )
    pool = pool.groupby("relation", sort=False).head(POOL_SIZE)
    size = pool.groupby("relation")["fact"].transform("size")
    pool = pool[
        size >= N_SHOTS + (len(rest) == len(facts))
    ]  # no item demonstrates itself
    if set(pool["relation"]) == set(facts["relation"]):
        return pool
    every = (
        facts[facts["false_object"] == ""]
        .sample(frac=1, random_state=seed)
        .head(POOL_SIZE)
    )
    return pd.concat([pool, every.assign(relation="")])


def _items(facts: pd.DataFrame, n_options: int, seed: int) -> pd.DataFrame:
    rows = []
    for fact in facts.to_dict("records"):
        wrong = [fact["false_object"]] if fact["false_object"] else []
        wrong += [text for text in fact["distractors"] if text not in wrong]
        options = [fact["object"], *wrong[: n_options - 1]]
        random = np.random.default_rng([seed, zlib.crc32(fact["fact"].encode())])
        options = [options[place] for place in random.permutation(len(options))]
        answer = options.index(fact["object"])
        rows.append(fact | {"item": fact["fact"], "options": options, "answer": answer})
    return pd.DataFrame(
        rows, columns=[*ITEM_COLUMNS, "subject", "object", "false_object"]
    )
