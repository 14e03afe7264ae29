"""How many examples of a list fit into what a model can read."""

from bisect import bisect_right
from collections.abc import Callable
from functools import cache

import pandas as pd

from helpers import UserError
from helpers.prompts.lists import draw_examples, example_list_text

CountTokens = Callable[[str], int]  # of the tokens of a text


def check_list_lengths(
    probes: pd.DataFrame,
    pool: pd.DataFrame,
    count: CountTokens,
    limit: int | None,
    n_examples: int,
    separator: str = "space",
    seed: int = 0,
) -> None:
    """Refuse lists that are longer than a model can read, and say how many examples fit."""
    if limit is None:
        return
    most, worst = n_examples, ("", 0)
    for relation, rows in probes.groupby("relation", sort=False):
        examples = draw_examples(pool[pool["relation"] == relation], n_examples, seed)
        head = example_list_text(examples, separator)
        tails = (rows["prompt"].str[len(head) :] + rows["continuation"]).unique()
        tail = max(tails, key=lambda tail: (len(tail), tail))
        if count(head) + 2 * count(tail) <= limit:  # far from it: nothing more to count
            continue
        tail = max(tails, key=count)
        if count(head + tail) > limit:
            n = count_fitting_examples(examples, tail, count, limit, separator)
            most, worst = min((most, worst), (n, (relation, count(head + tail))))
    if worst[1]:
        raise UserError(
            f"The list of {n_examples} examples of {worst[0]} is {worst[1]} tokens long, but the "
            f"model reads at most {limit}: set n_examples={most}, which fits."
        )


def count_fitting_examples(
    examples: pd.DataFrame,
    tail: str,
    count: CountTokens,
    limit: int | None,
    separator: str = "space",
) -> int:
    """Return how many of the first examples fit before `tail` into a model's context."""
    if limit is None:
        return len(examples)
    return bisect_right(
        range(1, len(examples) + 1),
        limit,
        key=lambda n: count(example_list_text(examples[:n], separator) + tail),
    )


def readable_probes(
    probes: pd.DataFrame, count: CountTokens, limit: int | None, more: int = 0
) -> pd.DataFrame:
    """Keep the ways of asking (``variant``) of which a model can read every text whole."""
    if limit is None:
        return probes.reset_index(drop=True)
    limit -= max(0, more - 1)
    counted = cache(count)

    def fits(prompt: str, said: str) -> bool:
        """Tell whether a text can be read; far from the limit its prompt alone is counted."""
        if more or counted(prompt) + 2 * len(said.encode()) + 8 > limit:
            return counted(prompt if more else prompt + said) <= limit
        return True

    asked = zip(probes["prompt"], probes["continuation"], strict=True)
    fitting = pd.Series([fits(*texts) for texts in asked], probes.index, dtype=bool)
    whole = fitting.groupby(probes["variant"].to_numpy()).transform("all")
    return probes[whole.to_numpy()].reset_index(drop=True)
