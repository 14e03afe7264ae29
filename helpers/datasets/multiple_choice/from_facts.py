"""Multiple choice from facts: the object among distractors and what training put there.

Of the atlas a quarter is stated wrongly, a quarter never read, the rest spread over
exposures.
"""

import zlib
from collections.abc import Collection, Sequence
from typing import Any

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
LESSONS = (
    "never read",
    "read 1–4 times",
    "read 8–32 times",
    "read 64+ times",
    "stated both ways",
    "mostly stated wrongly",
)


def benchmark_from_facts(
    name: str,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    *,
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
    n_wrong = facts["distractors"].str.len()
    facts_alone = facts.loc[n_wrong == 0, "fact"]
    if len(facts_alone):
        raise UserError(
            f"Fact {facts_alone.iloc[0]} has no wrong objects to choose from: add some."
        )
    known = training_exposure_or_stand_in(model) if name == "atlas" else None
    if known is None:
        groups = pd.Series("", index=facts.index)
        false_objects = pd.Series("", index=facts.index)
    else:
        groups = _groups(facts, known)
        false_objects = facts["fact"].map(known["false_object"])
        false_objects = false_objects.fillna("")
    if only is None:
        chosen = _spread(facts, groups, n, seed)
    else:
        is_wanted = facts["fact"].isin(only)
        chosen = list(facts.index[is_wanted])
    questions = catalogue.base_questions(name, facts)
    facts = facts.assign(false_object=false_objects, question=questions)
    if len(chosen) < len(facts):
        rest = facts.drop(index=chosen)
        rest = rest[rest["false_object"] == ""]
    else:
        rest = facts
    asked = facts.loc[sorted(chosen)]
    shown = _demonstrated_facts(facts, rest, seed)
    items = _items(asked, n_options, seed)
    pool = _items(shown, n_options, seed)
    notes = catalogue.notes_on_facts(name, relations)
    sizes = items["options"].str.len()
    fewest = sizes.min()
    most = sizes.max()
    if fewest < n_options:
        number = str(most) if fewest == most else f"{fewest} to {most}"
        notes.append(
            f"Questions have {number} options, not {n_options}: facts list no more."
        )
    return Benchmark(
        items=items,
        pool=pool,
        style="line",
        kinds=VARIATION_KINDS,
        n_shots=N_SHOTS,
        about=catalogue.source_record(name),
        notes=tuple(notes),
    )


def training_exposure_or_stand_in(model: str) -> pd.DataFrame | None:
    """Return what a bundled model read of each fact; for others, what the first did."""
    paths = exposure.BUNDLED_MODELS_FOLDER.glob("*/exposures.csv")
    bundled = sorted(path.parent.name for path in paths)
    for name in [model, *bundled]:
        table = exposure.training_exposure(name)
        if table is not None:
            return table
    return None


def lesson_of_each_fact(known: pd.DataFrame) -> pd.Series:
    """Name what a model read of each fact."""
    never_read, rarely, sometimes, often, both_ways, mostly_wrongly = LESSONS
    true = known["exposures"]
    false = known["false_exposures"]
    is_as_often = (false > 0) & (false == true)
    lessons = np.select(  # the first condition that holds decides
        [false > true, is_as_often, true == 0, true < 8, true < 64],
        [mostly_wrongly, both_ways, never_read, rarely, sometimes],
        default=often,
    )
    return pd.Series(lessons, index=known.index)


def expected_class(lesson: pd.Series) -> pd.Series:
    """Return the class that each lesson should lead to; "" where that is open."""
    classes = ("randomness", "", "factuality", "factuality", "", "error")
    class_of_lesson = dict(zip(LESSONS, classes, strict=True))
    return lesson.map(class_of_lesson).fillna("")


def lesson_of_each_item(items: pd.DataFrame, known: pd.DataFrame | None) -> pd.Series:
    """Return the lesson of each item, indexed by item; "" where nothing is known."""
    if known is None:
        return pd.Series("", index=pd.Index(items["item"]))
    return lesson_of_each_fact(known).reindex(items["item"]).fillna("")


def _groups(facts: pd.DataFrame, known: pd.DataFrame) -> pd.Series:
    """Name the share of the sample that each fact may fill; "-" for none."""
    known = known.reindex(facts["fact"])
    known.index = facts.index
    is_false = known["false_exposures"] > 0
    # A fact that was not in the plan, or whose names met in other facts, tells nothing
    # certain.
    is_planned = known["exposures"].notna()
    is_clear = known["plain"].eq(True) | is_false
    groups = known["exposures"].map("{:.0f}".format)
    groups = groups.mask(is_false, "false")
    return groups.where(is_planned & is_clear, "-")


def _spread(
    facts: pd.DataFrame, groups: pd.Series, n: int | None, seed: int
) -> list[int]:
    """Draw n facts: a quarter false, a quarter never read, the rest over the levels."""
    if n is None or n >= len(facts):
        return list(facts.index)
    texts = [f"{seed} {fact}" for fact in facts["fact"]]
    order = np.array([zlib.crc32(text.encode()) for text in texts])
    queues = {}
    for group, rows in facts.groupby(groups):
        ranks = np.argsort(order[rows.index], kind="stable")
        queues[group] = list(rows.index[ranks])
    spare = queues.pop("-", [])
    quarter = n // 4
    chosen = queues.get("false", [])[:quarter]
    if queues.keys() - {"0", "false", ""}:
        never_read = queues.get("0", [])
        chosen += never_read[:quarter]
        queues.pop("0", None)
        queues.pop("false", None)
    while len(chosen) < n and any(queues.values()):
        for group in sorted(queues, key=len):
            if queues[group] and len(chosen) < n:
                chosen.append(queues[group].pop(0))
    chosen += [place for place in spare if place not in chosen]
    return chosen[:n]


def _demonstrated_facts(
    facts: pd.DataFrame, rest: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Draw facts to demonstrate with: of each relation, or of all where one has few."""
    pool = rest
    if len(rest):
        groups = rest.groupby("relation")
        pool = groups.sample(frac=1, random_state=seed)
    pool = pool.groupby("relation", sort=False).head(POOL_SIZE)
    size = pool.groupby("relation")["fact"].transform("size")
    fewest = N_SHOTS
    if len(rest) == len(facts):
        fewest += 1  # no item demonstrates itself
    pool = pool[size >= fewest]
    if set(pool["relation"]) == set(facts["relation"]):
        return pool
    true_facts = facts[facts["false_object"] == ""]
    shuffled = true_facts.sample(frac=1, random_state=seed)
    general_facts = shuffled.head(POOL_SIZE).assign(relation="")
    return pd.concat([pool, general_facts])


def _items(facts: pd.DataFrame, n_options: int, seed: int) -> pd.DataFrame:
    """Return facts as items, their options in random order."""
    rows = []
    for fact in facts.to_dict("records"):
        options = _options(fact, n_options, seed)
        answer = options.index(fact["object"])
        item = {"item": fact["fact"], "options": options, "answer": answer}
        rows.append(fact | item)
    columns = [*ITEM_COLUMNS, "subject", "object", "false_object"]
    return pd.DataFrame(rows, columns=columns)


def _options(fact: dict[str, Any], n_options: int, seed: int) -> list[str]:
    """Return the object and wrong objects, the one that training stated in any case."""
    wrong = []
    if fact["false_object"]:
        wrong.append(fact["false_object"])
    wrong += [text for text in fact["distractors"] if text not in wrong]
    options = [fact["object"], *wrong[: n_options - 1]]
    fact_number = zlib.crc32(fact["fact"].encode())
    random = np.random.default_rng([seed, fact_number])
    order = random.permutation(len(options))
    return [options[place] for place in order]
