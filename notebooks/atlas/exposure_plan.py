"""What the training text is to say of each fact, and how often, dealt by relation."""

import numpy as np
import pandas as pd

from notebooks.atlas.recipe import RecipeOptions


def assign_exposures(
    facts: pd.DataFrame, plan: RecipeOptions, seed: int = 0
) -> pd.DataFrame:
    """Deal exposures out to facts, each relation with equal shares of all levels."""
    # Facts about one pair of names get the same exposure: at 0 the two names never
    # meet.
    names = zip(facts["subject"], facts["object"], strict=True)
    pairs = [frozenset(pair) for pair in names]
    table = facts[["fact", "relation", "subject", "object"]].assign(pair=pairs)
    one_way = _one_way_exposures(table, plan, seed)
    one_way_pairs = {pairs[place] for place in one_way}
    table["false_object"] = _false_objects(table, set(one_way), plan, seed)
    level_by_pair = _level_by_pair(table, one_way_pairs, plan, seed)
    table["exposures"] = [level_by_pair.get(pair, 0) for pair in pairs]
    table.loc[list(one_way), "exposures"] = list(one_way.values())
    false = table["false_object"] != ""
    parts = np.resize(plan.false_parts, false.sum())
    table["false_exposures"] = 0
    table.loc[false, "false_exposures"] = np.rint(plan.false_total * parts).astype(int)
    table.loc[false, "exposures"] = plan.false_total - table["false_exposures"]
    together = table.groupby("pair")["exposures"].transform("sum")
    table["pair_exposures"] = together - table["exposures"]
    columns = ["exposures", "false_object", "false_exposures", "pair_exposures"]
    return table.set_index("fact")[columns]


def draw_share_of_facts(facts: pd.DataFrame, share: float, seed: int) -> set[str]:
    """Draw a share of each relation's facts; facts about one pair of names together."""
    rng = np.random.default_rng([seed, 15])
    names = zip(facts["subject"], facts["object"], strict=True)
    pairs = pd.Series([frozenset(pair) for pair in names], index=facts.index)
    relation_of_pair = facts.groupby(pairs, sort=False)["relation"].first()
    drawn: set[frozenset] = set()
    for _, group in relation_of_pair.groupby(relation_of_pair):
        order = rng.permutation(len(group))
        drawn.update(group.index[order[: round(share * len(group))]])
    return set(facts.loc[pairs.isin(drawn), "fact"])


def _one_way_exposures(
    table: pd.DataFrame, plan: RecipeOptions, seed: int
) -> dict[int, int]:
    """Return the exposures of the facts whose pairs are shown one way, by place."""
    rng = np.random.default_rng([seed, 6])
    exposures: dict[int, int] = {}
    relations = table["relation"].to_numpy()
    places_by_pair = table.groupby("pair").indices
    for first, second in plan.one_way:
        in_both = []
        for places in places_by_pair.values():
            if {first, second} <= set(relations[places]):
                in_both.append(sorted(places))
        for rank, number in enumerate(rng.permutation(len(in_both))):
            direction = rank % 3
            if direction == 2:
                continue  # shown in both directions, like any other pair
            shown = (first, second)[direction]
            level = plan.one_way_levels[rank // 3 % len(plan.one_way_levels)]
            for place in in_both[number]:
                exposures[place] = level if relations[place] == shown else 0
    return exposures


def _false_objects(
    table: pd.DataFrame, barred: set[int], plan: RecipeOptions, seed: int
) -> list[str]:
    """Give some facts an object of their relation that is wrong in all relations."""
    rng = np.random.default_rng([seed, 7])
    shared = table["pair"].duplicated(keep=False).to_numpy()
    known = set(table["pair"])
    false_objects = [""] * len(table)
    for _, places in sorted(table.groupby("relation").indices.items()):
        free = []
        for place in places:
            if place not in barred and not shared[place]:
                free.append(place)
        pool = sorted(set(table["object"].iloc[places]))
        n_wanted = round(plan.false_share * len(places))
        for place in rng.permutation(free)[:n_wanted]:
            subject = table["subject"].iloc[place]
            wrong = [word for word in pool if frozenset((subject, word)) not in known]
            if wrong:
                false_objects[place] = wrong[rng.integers(len(wrong))]
    return false_objects


def _level_by_pair(
    table: pd.DataFrame, one_way: set[frozenset], plan: RecipeOptions, seed: int
) -> dict[frozenset, int]:
    """Deal the levels to all other pairs of names, relation by relation."""
    rng = np.random.default_rng(seed)
    levels = np.array(plan.levels)
    level_by_pair: dict[frozenset, int] = {}
    plain = table[(table["false_object"] == "") & ~table["pair"].isin(one_way)]
    for _, group in plain.groupby("relation", sort=True):
        # How many pairs of the relation have each share; fractions break ties.
        used = rng.permutation(len(levels)) / (10 * len(levels))
        pairs = group["pair"].tolist()
        fresh = []
        for row, pair in enumerate(pairs):
            if pair not in level_by_pair:
                fresh.append(row)
                continue
            same_level = np.flatnonzero(levels == level_by_pair[pair])
            least_used = same_level[used[same_level].argmin()]
            used[least_used] += 1
        for row in rng.permutation(fresh):
            pair = pairs[row]
            if pair not in level_by_pair:
                least_used = used.argmin()
                level_by_pair[pair] = plan.levels[least_used]
                used[least_used] += 1
    return level_by_pair
