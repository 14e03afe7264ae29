"""Many facts of a relation in one sequence, and one sequence for each choice: EIC-LKE.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs",
Appendices C.2 and F.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts.frames import fill_template
from helpers.prompts.lists import (
    FactPrompt,
    draw_examples,
    example_list_text,
    open_pair_and_space,
    pair_template_and_separator,
    probes_with_choices,
)

# A comma parts pairs (C.2); the example of Appendix F has spaces alone.
SEQUENCE_SEPARATOR = "space and comma"
EXAMPLES_IN_SEQUENCE = 100
EXAMPLES_BETWEEN_TESTS = 5
ChoicesByFact = Mapping[str, Sequence[str]]


class _Sequence(NamedTuple):
    """Facts of a relation, and the examples that stand before each of them."""

    name: str
    facts: list[Any]  # rows of facts
    blocks: list[pd.DataFrame]


def eic_lke_probes(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: ChoicesByFact,
    *,
    n_examples: int = EXAMPLES_IN_SEQUENCE,
    every: int = EXAMPLES_BETWEEN_TESTS,
    separator: str = SEQUENCE_SEPARATOR,
    seed: int = 0,
    truths_before: bool = False,
) -> pd.DataFrame:
    """Put facts of a relation among its examples: in sequence j each bears choice j.

    The first fact follows half of the examples, and one more follows every `every`
    further examples, the last of all; what does not fit begins a new sequence. With 100
    examples these are 11 facts, after 50, 55, ..., 100 (C.2). A relation with fewer has
    proportionally fewer.

    The order of choices is drawn for each fact. In one order for all, such as with the
    truth last, one sequence would hold nothing but truths, and all others nothing but
    errors.

    Parameters
    ----------
    tests, pool : DataFrame
        Facts to test, and facts that give examples.
    options : mapping
        Fact to its choices, as from :func:`helpers.prompts.lists.draw_choices`.
    n_examples : int
        In a sequence; a relation with fewer in the pool gives all.
    every : int
    separator : str
        As in :func:`helpers.prompts.lists.ic_lke_probes`.
    seed : int
        Of the draws of examples and orders.
    truths_before : bool
        Have all facts bear their truth, so that the choices of one are compared behind
        the same text: the control of what the errors among the earlier facts do.

    Returns
    -------
    DataFrame
        Probes as of a list, with ``sequence``, a name, ``slot``, the place of the fact
        among those of its sequence, from 0, and ``option``, the number of the sequence
        that bears the choice. A fact with fewer choices than another of its sequence
        bears its first ones again.

    Raises
    ------
    UserError
        For `every` below 1, fewer than 2 examples in a sequence, a relation without
        examples, or an unknown separator.

    Examples
    --------
    >>> pool = pd.DataFrame({"relation": "P17", "subject": ["Lyon", "Turin"],
    ...                      "object": ["France", "Italy"]})
    >>> tests = pd.DataFrame({"fact": ["a", "b"], "relation": "P17",
    ...                       "subject": ["Bern", "Nice"],
    ...                       "object": ["Switzerland", "France"]})
    >>> options = {"a": ["Peru", "Switzerland"], "b": ["Chad", "France"]}
    >>> probes = eic_lke_probes(tests, pool, options, every=1, seed=2)
    >>> for text in probes["prompt"] + probes["continuation"]:
    ...     print(text)
    Turin Italy, Bern Peru
    Turin Italy, Bern Switzerland
    Turin Italy, Bern Peru, Lyon France, Nice Chad
    Turin Italy, Bern Switzerland, Lyon France, Nice France
    """
    if every < 1:
        raise UserError(
            f"A tested pair stands after every {every} examples: give at least 1."
        )
    if n_examples < 2:
        raise UserError(f"A sequence needs at least 2 examples, not {n_examples}.")
    examples = draw_examples(pool, n_examples, seed)
    drawn = _choices_in_drawn_order(options, seed)
    borne: ChoicesByFact = drawn
    if truths_before:
        objects = zip(tests["fact"], tests["object"], strict=True)
        borne = {fact: [obj] for fact, obj in objects}
    parts = []
    for sequence in _sequences(tests, examples, every):
        probes = _probes_of_sequence(sequence, drawn, borne, separator)
        parts.append(probes.assign(sequence=sequence.name))
    probes = pd.concat(parts, ignore_index=True)
    if truths_before:
        return probes.assign(way="EIC-LKE, truths before", variant="eic true")
    return probes


def _choices_in_drawn_order(options: ChoicesByFact, seed: int) -> dict[str, list[str]]:
    """Return choices in an order of each fact's own."""
    drawn = {}
    for fact, choices in options.items():
        random = np.random.default_rng([seed, zlib.crc32(fact.encode()), 2])
        order = random.permutation(len(choices))
        drawn[fact] = [choices[place] for place in order]
    return drawn


def _sequences(
    tests: pd.DataFrame, examples: pd.DataFrame, every: int
) -> Iterator[_Sequence]:
    """Yield sequences, each with as many facts as its examples have room for."""
    for relation, facts in tests.groupby("relation", sort=False):
        rows = examples[examples["relation"] == relation]
        if len(rows) < 2:
            raise UserError(
                f"There are {len(rows)} examples of {relation}, and a sequence needs "
                "at least 2: take more facts of it."
            )
        n_first = len(rows) // 2
        starts = [0, *range(n_first, len(rows) - every + 1, every)]
        ends = [n_first, *(start + every for start in starts[1:])]
        blocks = [rows.iloc[start:end] for start, end in zip(starts, ends, strict=True)]
        for number, first in enumerate(range(0, len(facts), len(blocks))):
            asked = list(facts.iloc[first : first + len(blocks)].itertuples())
            yield _Sequence(f"{relation} {number}", asked, blocks[: len(asked)])


def _probes_of_sequence(
    sequence: _Sequence,
    options: dict[str, list[str]],
    borne: ChoicesByFact,
    separator: str,
) -> pd.DataFrame:
    """Return the probes of one sequence of facts, in each of its versions.

    `borne` are the objects that a fact bears for the facts after it, one a version.
    """
    template, between = pair_template_and_separator(separator)
    n_versions = max(len(borne[fact.fact]) for fact in sequence.facts)
    texts = [""] * n_versions
    n_examples = 0
    parts = []
    slots = zip(sequence.facts, sequence.blocks, strict=True)
    for slot, (fact, block) in enumerate(slots):
        examples = example_list_text(block, separator)
        texts = [text + examples for text in texts]
        n_examples += len(block)
        subject, space = open_pair_and_space(fact.subject, separator)
        prompt = FactPrompt(
            fact,
            "eic",
            "",  # each choice has its own
            space,
            way="EIC-LKE",
            examples=n_examples,
            separator=separator,
        )
        probes = probes_with_choices([prompt], options)
        versions = probes["option"] % n_versions
        probes["prompt"] = [texts[version] + subject for version in versions]
        parts.append(probes.assign(slot=slot))
        objects = borne[fact.fact]
        for version in range(n_versions):
            obj = objects[version % len(objects)]
            texts[version] += fill_template(template, fact.subject, obj) + between
    return pd.concat(parts, ignore_index=True)
