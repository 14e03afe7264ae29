"""How often each fact is to be seen: dealt out by relation, the same to a pair that comes twice."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

LEVELS = (0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256)


def assign(facts: pd.DataFrame, levels: Sequence[int] = LEVELS, seed: int = 0) -> pd.Series:
    """Deal exposures out to facts, each relation with equal shares of all levels.

    Two facts about the same pair of names, in either order (Paris is in France, the capital of
    France is Paris), get the same exposure, so that at 0 the two names never meet.

    Parameters
    ----------
    facts : DataFrame
        Columns `fact`, `relation`, `subject`, `object`.
    levels : sequence of int
        One entry a share; a level named twice gets two shares.
    seed : int
        Decides who gets what.

    Returns
    -------
    Series of int
        Exposures, indexed by `fact`.

    Examples
    --------
    >>> facts = pd.DataFrame({"fact": ["a", "b", "c"], "relation": ["P17", "P17", "P36"],
    ...     "subject": ["Paris", "Lima", "France"], "object": ["France", "Peru", "Paris"]})
    >>> dealt = assign(facts, levels=[1, 5])
    >>> sorted(dealt[["a", "b"]]), bool(dealt["a"] == dealt["c"])
    ([1, 5], True)
    """
    rng = np.random.default_rng(seed)
    dealt: dict[str, int] = {}
    by_pair: dict[frozenset, int] = {}
    for _, group in facts.groupby("relation", sort=True):
        used = rng.permutation(len(levels)) / (10 * len(levels))  # breaks ties by chance
        pairs = [frozenset(pair) for pair in zip(group["subject"], group["object"], strict=True)]
        fresh = [row for row, pair in enumerate(pairs) if pair not in by_pair]
        for pair in (pair for pair in pairs if pair in by_pair):
            same = [share for share, level in enumerate(levels) if level == by_pair[pair]]
            used[min(same, key=lambda share: used[share])] += 1
        for row in rng.permutation(fresh):
            if pairs[row] not in by_pair:
                share = int(used.argmin())
                by_pair[pairs[row]] = levels[share]
                used[share] += 1
        dealt |= {fact: by_pair[pair] for fact, pair in zip(group["fact"], pairs, strict=True)}
    return pd.Series(dealt, name="exposures", dtype=int).reindex(facts["fact"])
