"""Lists of facts that end with an open one: "Lyon France Turin Italy ... Bern", and its choices.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", sections
2 to 4.
"""

import re
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts.frames import PROBE_COLUMNS, fill_template
from helpers.prompts.prompt_texts import SEPARATORS

# How a fact is asked: behind a list (IC-LKE), or in a template of some kind (HGP, MMP).
WAY = ("way", "template", "examples", "draw", "separator")
LIST_COLUMNS = (*PROBE_COLUMNS, "subject", "object", "choice", *WAY)


class FactPrompt(NamedTuple):
    """A prompt about a fact, what stands between it and a choice, and how it was made."""

    fact: Any  # a row of facts
    variant: str
    prompt: str
    space: str
    way: str = "IC-LKE"
    template: int = 0
    examples: int = 0
    draw: int = 0
    separator: str = ""


def pair_template_and_separator(separator: str) -> tuple[str, str]:
    """Return a list's pair template and what parts pairs, by a separator's name or own template."""
    if separator in SEPARATORS:
        inner, between = SEPARATORS[separator]
        return f"[X]{inner}[Y]", between
    if re.fullmatch(r"[^\[]*\[X\][^\[]+\[Y\][^\[]*", separator, re.S):
        return separator, " "
    raise UserError(
        f'There is no separator "{separator}": choose from {", ".join(SEPARATORS)}, or give a '
        "template such as [X] is in [Y]."
    )


def divide_into_examples_and_tests(
    facts: pd.DataFrame, n_pool: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Divide facts by relation into examples and tests (``role``) about other subjects."""
    own = [s.strip().casefold() == o.strip().casefold() for s, o in _pairs(facts)]
    kept = facts[~np.array(own, dtype=bool)]
    parts = []
    for relation, rows in kept.groupby("relation", sort=False):
        if rows["object"].nunique() < 2:
            raise UserError(
                f"Relation {relation} has fewer than 2 different objects, so there is nothing to "
                "choose from: leave it out."
            )
        random = np.random.default_rng([seed, zlib.crc32(str(relation).encode())])
        rows = rows.iloc[random.permutation(len(rows))]
        if "split" in rows:  # a published one
            examples = rows["split"] == "train"
            seen = rows["subject"].isin(set(rows.loc[examples, "subject"]))
            rows = rows[examples | ~seen]
            examples = examples[rows.index]
        else:
            subjects = rows["subject"].unique()
            examples = rows["subject"].isin(subjects[: min(n_pool, len(subjects) // 2)])
        if examples.all():
            raise UserError(
                f"Relation {relation} has nothing to test: take more of its facts."
            )
        if (n := int(examples.sum())) < 2:
            raise UserError(
                f"Relation {relation} leaves {n} example{'s' * (n != 1)}, and a list needs at "
                "least 2: take more of its facts, or leave it out."
            )
        parts.append(rows.assign(role=np.where(examples, "example", "test")))
    return pd.concat(parts, ignore_index=True) if parts else kept.assign(role="")


def divisible_facts_and_notes(
    facts: pd.DataFrame, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the relations that can be divided and offer a choice; a sentence on each other one."""
    short, notes = [], []
    for relation, rows in facts.groupby("relation", sort=False):
        try:
            if divide_into_examples_and_tests(rows, seed=seed).empty:
                raise UserError(
                    f"Relation {relation} has only subjects that are their own object."
                )
            if "choices" not in rows:
                draw_choices(rows, rows, 2, seed)
        except UserError as error:
            short.append(relation)
            notes.append(str(error))
    if len(short) == facts["relation"].nunique():
        raise UserError(
            " ".join(notes) or "There are no facts to divide: name other relations."
        )
    return facts[~facts["relation"].isin(short)], notes


def draw_examples(pool: pd.DataFrame, n: int = 50, seed: int = 0) -> pd.DataFrame:
    """Draw examples of each relation; those for a smaller `n` begin those for a larger one."""
    if n < 1:
        raise UserError(f"A list needs at least 1 example, not {n}.")
    drawn = []
    for relation, rows in pool.groupby("relation", sort=False).indices.items():
        random = np.random.default_rng([seed, zlib.crc32(str(relation).encode()), 1])
        drawn.extend(random.permutation(rows)[:n])
    return pool.iloc[drawn].reset_index(drop=True)


def draw_choices(
    tests: pd.DataFrame, facts: pd.DataFrame, n: int = 100, seed: int = 0
) -> dict[str, list[str]]:
    """Draw up to `n` objects of a fact's relation, the wrong ones false of it, the true last."""
    if n < 2:
        raise UserError(f"A choice needs at least 2 objects, not {n}.")
    facts = facts[facts["relation"].isin(tests["relation"].unique())]
    objects = {
        r: sorted(set(group)) for r, group in facts.groupby("relation")["object"]
    }
    true = facts.groupby(["relation", "subject"])["object"].agg(set).to_dict()
    found = {}
    for row in tests.itertuples():
        barred = true[row.relation, row.subject] | {row.subject, row.object}
        given = getattr(row, "choices", None)
        wrong = [
            o
            for o in (objects[row.relation] if given is None else given)
            if o not in barred
        ]
        wrong = list(dict.fromkeys(wrong))
        if not wrong:
            raise UserError(f"Fact {row.fact} has no wrong object to choose: add some.")
        random = np.random.default_rng([seed, zlib.crc32(row.fact.encode())])
        order = (
            range(len(wrong)) if given is not None else random.permutation(len(wrong))
        )
        found[row.fact] = [*(wrong[i] for i in list(order)[: n - 1]), row.object]
    return found


def example_list_text(examples: pd.DataFrame, separator: str = "space") -> str:
    """Write examples as a list, up to where the next subject would stand."""
    template, between = pair_template_and_separator(separator)
    return "".join(fill_template(template, s, o) + between for s, o in _pairs(examples))


def open_pair_and_space(subject: str, separator: str) -> tuple[str, str]:
    """Return a subject with what follows it, and what precedes an object: its leading space.

    >>> open_pair_and_space("Bern", "space"), open_pair_and_space("Bern", "colon and comma"), open_pair_and_space("Bern", "[X] is in [Y].")
    (('Bern', ' '), ('Bern :', ' '), ('Bern is in', ' '))
    """
    before = pair_template_and_separator(separator)[0].partition("[Y]")[0]
    head = before.rstrip(" ")
    return fill_template(head, subject), before[len(head) :]


def ic_lke_probes(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    n_examples: int = 50,
    separator: str = "space",
    seed: int = 0,
    variant: str = "ic",
    draw_number: int = 0,
) -> pd.DataFrame:
    """Put each fact behind the one list of examples of its relation, with all its choices.

    `draw_number` counts the lists that are drawn of one relation, `variant` is a label.
    """
    examples = draw_examples(pool, n_examples, seed)
    heads = {
        r: example_list_text(rows, separator)
        for r, rows in examples.groupby("relation", sort=False)
    }
    if missing := sorted(set(tests["relation"]) - set(heads)):
        raise UserError(
            f"There is no example of {', '.join(missing)}: take more facts of it."
        )
    asked = []
    for row in tests.itertuples():
        subject, space = open_pair_and_space(row.subject, separator)
        prompt = heads[row.relation] + subject
        listed = {"examples": n_examples, "draw": draw_number, "separator": separator}
        asked.append(FactPrompt(row, variant, prompt, space, **listed))
    return probes_with_choices(asked, options)


def probes_with_choices(
    asked: Iterable[FactPrompt], options: dict[str, list[str]]
) -> pd.DataFrame:
    """Put all choices behind each prompt: one row a choice."""
    rows = []
    for row, variant, prompt, space, *way in asked:
        for option, choice in enumerate(options[row.fact]):
            head = (row.fact, row.relation, variant, option, prompt, f"{space}{choice}")
            tail = (choice == row.object, row.subject, row.object, choice)
            rows.append((*head, *tail, *way))
    return pd.DataFrame(rows, columns=list(LIST_COLUMNS))


def _pairs(facts: pd.DataFrame) -> Iterable[tuple[str, str]]:
    return zip(facts["subject"], facts["object"])
