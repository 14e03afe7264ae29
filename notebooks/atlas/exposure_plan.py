"""What the training text is to say of each fact, and how often: dealt out by relation."""

import numpy as np
import pandas as pd

from notebooks.atlas.recipe import RecipeOptions


def assign_exposures(
    facts: pd.DataFrame, plan: RecipeOptions, seed: int = 0
) -> pd.DataFrame:
    """Deal exposures out to facts, each relation with equal shares of all levels."""
    # Facts about one pair of names get the same exposure: at 0 the two names never
    # meet.
    pairs = [
        frozenset(pair) for pair in zip(facts["subject"], facts["object"], strict=True)
    ]
    table = facts[["fact", "relation", "subject", "object"]].assign(pair=pairs)
    special = _one_way(table, plan, seed)
    table["false_object"] = _false_objects(table, set(special), plan, seed)
    by_pair = _levels(table, {pairs[place] for place in special}, plan, seed)
    table["exposures"] = [by_pair.get(pair, 0) for pair in pairs]
    table.loc[list(special), "exposures"] = list(special.values())
    false = table["false_object"] != ""
    parts = np.resize(plan.false_parts, false.sum())
    table["false_exposures"] = 0
    table.loc[false, "false_exposures"] = np.rint(plan.false_total * parts).astype(int)
    table.loc[false, "exposures"] = plan.false_total - table["false_exposures"]
    together = table.groupby("pair")["exposures"].transform("sum")
    table["pair_exposures"] = together - table["exposures"]
    columns = ["exposures", "false_object", "false_exposures", "pair_exposures"]
    return table.set_index("fact")[columns]


def _one_way(table: pd.DataFrame, plan: RecipeOptions, seed: int) -> dict[int, int]:
    """Return the exposures of all facts about the pairs shown in one direction, by their place."""
    rng = np.random.default_rng([seed, 6])
    found: dict[int, int] = {}
    relations, places = table["relation"], table.groupby("pair").indices
    for first, second in plan.one_way:
        both = [w for w in places.values() if {first, second} <= set(relations.iloc[w])]
        for rank, place in enumerate(rng.permutation(len(both))):
            if rank % 3 == 2:
                continue  # shown in both directions, like any other pair
            shown = (first, second)[rank % 3]
            level = plan.one_way_levels[rank // 3 % len(plan.one_way_levels)]
            found |= {
                w: level * int(relations.iloc[w] == shown) for w in sorted(both[place])
            }
    return found


def _false_objects(
    table: pd.DataFrame, taken: set[int], plan: RecipeOptions, seed: int
) -> list[str]:
    """Give some facts of each relation a wrong object that their subject has in no other fact."""
    rng = np.random.default_rng([seed, 7])
    shared = table["pair"].duplicated(keep=False).to_numpy()
    known = set(table["pair"])
    objects = [""] * len(table)
    for _, where in sorted(table.groupby("relation").indices.items()):
        free = [place for place in where if place not in taken and not shared[place]]
        pool = sorted(set(table["object"].iloc[where]))
        wanted = round(plan.false_share * len(where))
        for place in rng.permutation(free)[:wanted]:
            subject = table["subject"].iloc[place]
            wrong = [word for word in pool if frozenset((subject, word)) not in known]
            if wrong:
                objects[place] = wrong[rng.integers(len(wrong))]
    return objects


def _levels(
    table: pd.DataFrame, one_way: set[frozenset], plan: RecipeOptions, seed: int
) -> dict:
    """Deal the levels to all other pairs of names, relation by relation."""
    rng = np.random.default_rng(seed)
    by_pair: dict[frozenset, int] = {}
    plain = table[(table["false_object"] == "") & ~table["pair"].isin(one_way)]
    for _, group in plain.groupby("relation", sort=True):
        used = rng.permutation(len(plan.levels)) / (
            10 * len(plan.levels)
        )  # breaks ties by chance
        pairs = group["pair"].tolist()
        fresh = [row for row, pair in enumerate(pairs) if pair not in by_pair]
        for pair in (pair for pair in pairs if pair in by_pair):
            same = [
                share
                for share, level in enumerate(plan.levels)
                if level == by_pair[pair]
            ]
            used[min(same, key=lambda share: used[share])] += 1
        for row in rng.permutation(fresh):
            if pairs[row] not in by_pair:
                share = int(used.argmin())
                by_pair[pairs[row]] = plan.levels[share]
                used[share] += 1
    return by_pair
