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
    *,
    separator: str = "space",
    seed: int = 0,
) -> None:
    """Refuse lists longer than a model can read, and say how many examples fit."""
    if limit is None:
        return
    too_long = []
    for relation, rows in probes.groupby("relation", sort=False):
        examples = draw_examples(pool[pool["relation"] == relation], n_examples, seed)
        head = example_list_text(examples, separator)
        tails = (rows["prompt"].str[len(head) :] + rows["continuation"]).unique()
        tail = max(sorted(tails, reverse=True), key=len)
        if count(head) + 2 * count(tail) <= limit:  # far from it: nothing more to count
            continue
        tail = max(tails, key=count)
        n_tokens = count(head + tail)
        if n_tokens > limit:
            n = count_fitting_examples(examples, tail, count, limit, separator)
            too_long.append((n, relation, n_tokens))
    if too_long:
        n, relation, n_tokens = min(too_long)
        raise UserError(
            f"The list of {n_examples} examples of {relation} is {n_tokens} tokens "
            f"long, but the model reads at most {limit}: set n_examples={n}, which "
            "fits."
        )


def count_fitting_examples(
    examples: pd.DataFrame,
    tail: str,
    count: CountTokens,
    limit: int | None,
    separator: str = "space",
) -> int:
    """Return how many of the first examples fit before `tail` into the context."""
    if limit is None:
        return len(examples)

    def n_tokens(n: int) -> int:
        return count(example_list_text(examples[:n], separator) + tail)

    return bisect_right(range(1, len(examples) + 1), limit, key=n_tokens)


def readable_probes(
    probes: pd.DataFrame, count: CountTokens, limit: int | None, more: int = 0
) -> pd.DataFrame:
    """Keep the ways of asking (``variant``) whose every text a model can read whole.

    `more` tokens are to be written behind each prompt; 0: continuations are scored.
    """
    if limit is None:
        return probes.reset_index(drop=True)
    most = limit - max(0, more - 1)
    counted = cache(count)

    def fits(prompt: str, continuation: str) -> bool:
        if more:
            return counted(prompt) <= most
        # Far from the limit the prompt alone is counted: a token is at least a byte.
        if counted(prompt) + 2 * len(continuation.encode()) + 8 <= most:
            return True
        return counted(prompt + continuation) <= most

    texts = zip(probes["prompt"], probes["continuation"], strict=True)
    fitting = [fits(prompt, continuation) for prompt, continuation in texts]
    by_probe = pd.Series(fitting, probes.index, dtype=bool)
    whole = by_probe.groupby(probes["variant"].to_numpy()).transform("all")
    return probes[whole.to_numpy()].reset_index(drop=True)
