"""Lists of facts that end with an open one: "Lyon France Turin Italy ... Bern".

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
from helpers.metrics.canonical import comparison_key
from helpers.prompts.frames import PROBE_COLUMNS, fill_template
from helpers.prompts.prompt_texts import SEPARATORS

# How a fact is asked: behind a list (IC-LKE), or in a template of some kind (HGP, MMP).
WAY = ("way", "template", "examples", "draw", "separator")
LIST_COLUMNS = (*PROBE_COLUMNS, "subject", "object", "choice", *WAY)


class FactPrompt(NamedTuple):
    """A prompt about a fact, the space between it and a choice, and how it was made."""

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
    """Return a list's pair template and what parts pairs, by a separator.

    This is a name of `SEPARATORS`, or a template of one's own.
    """
    if separator in SEPARATORS:
        inner, between = SEPARATORS[separator]
        return f"[X]{inner}[Y]", between
    if re.fullmatch(r"[^\[]*\[X\][^\[]+\[Y\][^\[]*", separator, re.S):
        return separator, " "
    raise UserError(
        f'There is no separator "{separator}": choose from {", ".join(SEPARATORS)}, '
        "or give a template such as [X] is in [Y]."
    )


def divide_into_examples_and_tests(
    facts: pd.DataFrame, n_pool: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Divide facts by relation into examples and tests (``role``).

    The subjects of examples are not those of tests, in whatever spelling. A published
    ``split`` decides; without one, `n_pool` subjects of a relation, or half of them,
    give the examples.
    """
    subject_keys = facts["subject"].map(comparison_key)
    is_own_object = subject_keys == facts["object"].map(comparison_key)
    facts = facts[~is_own_object]
    parts = []
    for relation, rows in facts.groupby("relation", sort=False):
        if rows["object"].map(comparison_key).nunique() < 2:
            raise UserError(
                f"Relation {relation} has fewer than 2 different objects, so there is "
                "nothing to choose from: leave it out."
            )
        random = np.random.default_rng([seed, zlib.crc32(str(relation).encode())])
        rows = rows.iloc[random.permutation(len(rows))]
        if "split" in rows:  # a published one
            rows = _without_tests_of_example_subjects(rows)
            in_examples = rows["split"] == "train"
        else:
            keys = rows["subject"].map(comparison_key)
            subjects = keys.unique()
            n_subjects = min(n_pool, len(subjects) // 2)
            in_examples = keys.isin(subjects[:n_subjects])
        n = int(in_examples.sum())
        if n == len(rows):
            raise UserError(
                f"Relation {relation} has nothing to test: take more of its facts."
            )
        if n < 2:
            examples = "1 example" if n == 1 else f"{n} examples"
            raise UserError(
                f"Relation {relation} leaves {examples}, and a list needs at least 2: "
                "take more of its facts, or leave it out."
            )
        parts.append(rows.assign(role=np.where(in_examples, "example", "test")))
    if not parts:
        return facts.assign(role="")
    return pd.concat(parts, ignore_index=True)


def _without_tests_of_example_subjects(facts: pd.DataFrame) -> pd.DataFrame:
    """Leave out the facts outside ``train`` whose subject has facts in it."""
    in_train = facts["split"] == "train"
    keys = facts["subject"].map(comparison_key)
    return facts[in_train | ~keys.isin(keys[in_train])]


def divisible_facts_and_notes(
    facts: pd.DataFrame, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the relations that can be divided and offer a choice.

    A sentence on each of the others is returned, too.
    """
    left_out = []
    notes = []
    for relation, rows in facts.groupby("relation", sort=False):
        try:
            if divide_into_examples_and_tests(rows, seed=seed).empty:
                raise UserError(
                    f"Relation {relation} has only subjects that are their own object."
                )
            if "choices" not in rows:
                draw_choices(rows, rows, 2, seed)
        except UserError as error:
            left_out.append(relation)
            notes.append(str(error))
    if len(left_out) == facts["relation"].nunique():
        raise UserError(
            " ".join(notes) or "There are no facts to divide: name other relations."
        )
    return facts[~facts["relation"].isin(left_out)], notes


def draw_examples(pool: pd.DataFrame, n: int = 50, seed: int = 0) -> pd.DataFrame:
    """Draw examples of each relation; those for a smaller `n` begin the others."""
    if n < 1:
        raise UserError(f"A list needs at least 1 example, not {n}.")
    places: list[int] = []
    for relation, rows in pool.groupby("relation", sort=False).indices.items():
        random = np.random.default_rng([seed, zlib.crc32(str(relation).encode()), 1])
        places.extend(random.permutation(rows)[:n])
    return pool.iloc[places].reset_index(drop=True)


def draw_choices(
    tests: pd.DataFrame, facts: pd.DataFrame, n: int = 100, seed: int = 0
) -> dict[str, list[str]]:
    """Draw up to `n` objects of each fact's relation, the wrong ones first.

    The wrong ones are false of the fact's subject, and the true one is the last. Where
    the facts have ``choices`` of their own, the first of these are taken.
    """
    if n < 2:
        raise UserError(f"A choice needs at least 2 objects, not {n}.")
    facts = facts[facts["relation"].isin(tests["relation"].unique())]
    objects = {}
    for relation, names in facts.groupby("relation")["object"]:
        objects[relation] = _names_by_key(sorted(set(names)))
    subject_keys = facts["subject"].map(comparison_key)
    object_keys = facts["object"].map(comparison_key)
    true = object_keys.groupby([facts["relation"], subject_keys]).agg(set).to_dict()
    options = {}
    for row in tests.itertuples():
        subject_key = comparison_key(row.subject)
        barred = {subject_key, comparison_key(row.object)}
        barred |= true[row.relation, subject_key]
        choices = getattr(row, "choices", None)
        candidates = objects[row.relation]
        if choices is not None:
            candidates = _names_by_key(choices)
        wrong = [name for key, name in candidates.items() if key not in barred]
        if not wrong:
            raise UserError(f"Fact {row.fact} has no wrong object to choose: add some.")
        if choices is None:
            random = np.random.default_rng([seed, zlib.crc32(row.fact.encode())])
            order = random.permutation(len(wrong))
            wrong = [wrong[place] for place in order]
        options[row.fact] = [*wrong[: n - 1], row.object]
    return options


def _names_by_key(names: Iterable[str]) -> dict[str, str]:
    """Return the first spelling of each name."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(comparison_key(name), name)
    return first


def example_list_text(examples: pd.DataFrame, separator: str = "space") -> str:
    """Write examples as a list, up to where the next subject would stand."""
    template, between = pair_template_and_separator(separator)
    text = ""
    for subject, obj in zip(examples["subject"], examples["object"], strict=True):
        text += fill_template(template, subject, obj) + between
    return text


def open_pair_and_space(subject: str, separator: str) -> tuple[str, str]:
    """Return a subject with what follows it, and the space that precedes an object.

    >>> open_pair_and_space("Bern", "space")
    ('Bern', ' ')
    >>> open_pair_and_space("Bern", "colon and comma")
    ('Bern :', ' ')
    >>> open_pair_and_space("Bern", "[X] is in [Y].")
    ('Bern is in', ' ')
    """
    template, _ = pair_template_and_separator(separator)
    before_object, _, _ = template.partition("[Y]")
    head = before_object.rstrip(" ")
    space = before_object[len(head) :]
    return fill_template(head, subject), space


def ic_lke_probes(  # noqa: PLR0917 - chapters call it in one line, by position
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    n_examples: int = 50,
    separator: str = "space",
    seed: int = 0,
    variant: str = "ic",
    draw_number: int = 0,
) -> pd.DataFrame:
    """Put each fact behind the one list of its relation, with all its choices.

    `draw_number` counts the lists that are drawn of one relation, `variant` is a label.
    """
    examples = draw_examples(pool, n_examples, seed)
    heads = {}
    for relation, rows in examples.groupby("relation", sort=False):
        heads[relation] = example_list_text(rows, separator)
    missing = sorted(set(tests["relation"]) - set(heads))
    if missing:
        raise UserError(
            f"There is no example of {', '.join(missing)}: take more facts of it."
        )
    prompts = []
    for fact in tests.itertuples():
        subject, space = open_pair_and_space(fact.subject, separator)
        prompt = FactPrompt(
            fact,
            variant,
            heads[fact.relation] + subject,
            space,
            examples=n_examples,
            draw=draw_number,
            separator=separator,
        )
        prompts.append(prompt)
    return probes_with_choices(prompts, options)


def probes_with_choices(
    prompts: Iterable[FactPrompt], options: dict[str, list[str]]
) -> pd.DataFrame:
    """Put all choices behind each prompt: one row a choice."""
    rows = []
    for prompt in prompts:
        fact = prompt.fact
        for option, choice in enumerate(options[fact.fact]):
            row = {
                "item": fact.fact,
                "relation": fact.relation,
                "variant": prompt.variant,
                "option": option,
                "prompt": prompt.prompt,
                "continuation": f"{prompt.space}{choice}",
                "correct": choice == fact.object,
                "subject": fact.subject,
                "object": fact.object,
                "choice": choice,
                "way": prompt.way,
                "template": prompt.template,
                "examples": prompt.examples,
                "draw": prompt.draw,
                "separator": prompt.separator,
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=list(LIST_COLUMNS))
