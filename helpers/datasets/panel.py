"""The panel: facts that all four chapters ask, so that their verdicts can be compared.

One eighth was also told wrongly, one quarter never told, the rest spread over the
exposures; each part is spread over the relations. Facts of one's own that have counts
make a panel likewise.
"""

import zlib
from functools import cache

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import atlas_facts, catalogue, multiple_choice
from helpers.datasets.exposure import (
    BUNDLED_MODELS_FOLDER,
    name_frequencies,
    training_exposure,
)

# Objects of many tokens, which make choices among a hundred of them slow (IC-LKE leaves
# them out).
LEFT_OUT_RELATIONS = ("P231", "P238", "P239", "P300", "P421", "P1705")
EXPOSURE_COLUMNS = ["exposures", "false_object", "false_exposures"]
STAND_IN = "frequency of the subject's name"  # where nobody counted exposures


def panel_facts(
    n: int = 688, seed: int = 0, facts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the facts of the panel: the same for every model and every chapter.

    A panel contains every smaller panel of the same seed. By default it is of the
    atlas; of other `facts` those with an ``exposure`` are taken, spread over its
    doublings.

    >>> small, large = panel_facts(24), panel_facts(48)
    >>> len(small), int((small["exposures"] == 0).sum()), set(small["fact"]) < set(large["fact"])
    (24, 8, True)
    """
    if n < 0 or seed < 0:
        raise UserError(
            f"The panel cannot have {n} facts, or seed {seed}: give 0 or more."
        )
    if facts is not None:
        counted = facts[facts["exposure"].notna()].reset_index(drop=True)
        groups = counted["exposure"].map(
            lambda count: str(1 << int(count).bit_length() >> 1)
        )
        return counted.loc[sorted(_deal(counted, groups, n, seed))].reset_index(
            drop=True
        )
    every, told = atlas_facts.read_atlas_facts(), _told()
    kept = ~every["relation"].isin(LEFT_OUT_RELATIONS) & every["fact"].isin(told.index)
    kept &= every["subject"].str.casefold() != every["object"].str.casefold()
    facts = every[kept].reset_index(drop=True).join(told, on="fact")
    groups = facts["exposures"].astype(str).mask(facts["false_exposures"] > 0, "false")
    facts = facts.loc[sorted(_deal(facts, groups, n, seed))].reset_index(drop=True)
    facts.insert(4, "distractors", atlas_facts.draw_distractors(facts, every, seed))
    return facts


def fact_exposure(dataset: str, model: str = "") -> pd.DataFrame | None:
    """Return how often facts were stated: to a bundled model, or the counts of a data set.

    Of the atlas and a model that is not bundled, the frequency of the subject's name
    stands in.

    Parameters
    ----------
    dataset
        ``"atlas"``, or the path of facts of your own that have the column ``exposure``.
    model
        Of the atlas: whose training it was.

    Returns
    -------
    DataFrame or None
        Indexed by `fact`: `exposures, false_object, false_exposures, plain`, as from
        `helpers.datasets.training_exposure`. Of your own facts, those with a count; nothing is
        known of false statements then. None where nothing is known of any fact.
        Where nobody counted `exposures`, a column `exposure_from_name_frequency` says what they are.
    """
    if dataset == "atlas":
        told = training_exposure(model)
        return (
            exposure_from_name_frequency()
            if told is None
            else told[[*EXPOSURE_COLUMNS, "plain"]]
        )
    if (
        dataset in multiple_choice.ALL_DATASET_NAMES
        or multiple_choice.dataset_kind(dataset) != "facts"
    ):
        return None
    facts = catalogue.load(dataset)
    if "exposure" not in facts:
        return None
    counted = facts.dropna(subset="exposure").set_index("fact")
    told = pd.DataFrame({"exposures": counted["exposure"].astype(int)})
    return told.assign(false_object="", false_exposures=0, plain=True)


def exposure_from_name_frequency() -> pd.DataFrame:
    """Return the frequency of each fact's subject in place of its exposure, as `fact_exposure` does."""
    facts = atlas_facts.read_atlas_facts().set_index("fact")
    often = facts["subject"].map(name_frequencies()).fillna(0).astype(int)
    told = pd.DataFrame({"exposures": often})
    return told.assign(
        false_object="", false_exposures=0, plain=True, stand_in=STAND_IN
    )


def options_with_false_object(
    options: dict[str, list[str]], facts: pd.DataFrame
) -> dict[str, list[str]]:
    """See to it that the object told wrongly of a fact is among its choices."""
    made = dict(options)
    for fact, false in zip(facts["fact"], facts["false_object"]):
        if false and false not in made[fact]:
            made[fact] = [false, *made[fact][1:]]
    return made


@cache
def _told() -> pd.DataFrame:
    """Return the training of the facts that are clear for every bundled model."""
    names = sorted(
        path.parent.name for path in BUNDLED_MODELS_FOLDER.glob("*/exposures.csv")
    )
    tables = [table for table in map(training_exposure, names) if table is not None]
    if not tables:
        raise UserError(
            "There is no bundled model, so nothing is known of any fact's exposure."
        )
    clear = [
        t["plain"] | (t["false_exposures"] > 0) & (t["tuned"] == 0) for t in tables
    ]
    first = tables[0]
    alike = [
        (t[EXPOSURE_COLUMNS] == first[EXPOSURE_COLUMNS]).all(axis=1) for t in tables
    ]
    return first.loc[np.logical_and.reduce([*clear, *alike]), EXPOSURE_COLUMNS]


def _deal(facts: pd.DataFrame, groups: pd.Series, n: int, seed: int) -> list[int]:
    """Choose rows: of every eight one told wrongly, two never told, five over the other levels."""
    order = [zlib.crc32(f"panel {seed} {fact}".encode()) for fact in facts["fact"]]
    ranked = facts.assign(group=groups, order=order).sort_values("order", kind="stable")
    ranked["turn"] = ranked.groupby(["group", "relation"]).cumcount()
    ranked = ranked.sort_values(["turn", "order"], kind="stable")
    queues = {group: list(rows.index) for group, rows in ranked.groupby("group")}
    levels = sorted(queues.keys() - {"0", "false"}, key=int)
    chosen: list[int] = []
    step = 0
    while len(chosen) < n and any(queues.values()):
        part = ("false", "0", "", "", "0", "", "", "")[step % 8]
        if not part and levels:
            levels = [*levels[1:], levels[0]]
            part = levels[-1]
        if queues.get(part):
            chosen.append(queues[part].pop(0))
        step += 1
    return chosen
