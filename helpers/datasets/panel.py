"""The panel: facts that all four chapters ask, so that their verdicts can be compared.

One eighth was also told wrongly, one quarter never told, the rest spread over the
exposures; each part is spread over the relations. Facts of one's own that have counts
make a panel likewise.
"""

import itertools
import zlib
from functools import cache

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
# Of every eight facts one was told wrongly, two were never told, and five are of the
# other levels.
OTHER = ""
TURNS = ("false", "0", OTHER, OTHER, "0", OTHER, OTHER, OTHER)


def panel_facts(
    n: int = 688, seed: int = 0, facts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the facts of the panel: the same for every model and every chapter.

    A panel contains every smaller panel of the same seed. By default it is of the
    atlas; of other `facts` those with an ``exposure`` are taken, spread over its
    doublings.

    >>> small, large = panel_facts(24), panel_facts(48)
    >>> len(small), int((small["exposures"] == 0).sum())
    (24, 8)
    >>> set(small["fact"]) < set(large["fact"])
    True
    """
    if n < 0 or seed < 0:
        raise UserError(
            f"The panel cannot have {n} facts, or seed {seed}: give 0 or more."
        )
    if facts is not None:
        is_counted = facts["exposure"].notna()
        counted = facts[is_counted].reset_index(drop=True)
        levels = counted["exposure"].map(_doubling)
        return _deal(counted, levels, n, seed)
    every = atlas_facts.read_atlas_facts()
    exposure = _exposure_clear_for_all_models()
    has_clear_exposure = every["fact"].isin(exposure.index)
    is_left_out = every["relation"].isin(LEFT_OUT_RELATIONS)
    subjects = every["subject"].str.casefold()
    objects = every["object"].str.casefold()
    suitable = every[has_clear_exposure & ~is_left_out & (subjects != objects)]
    suitable = suitable.reset_index(drop=True)
    suitable = suitable.join(exposure, on="fact")
    levels = suitable["exposures"].astype(str)
    levels = levels.mask(suitable["false_exposures"] > 0, "false")
    panel = _deal(suitable, levels, n, seed)
    distractors = atlas_facts.draw_distractors(panel, every, seed)
    place = panel.columns.get_loc("object") + 1
    panel.insert(place, "distractors", distractors)
    return panel


def _doubling(count: int) -> str:
    """Return the largest power of two that is not above a count; "0" for 0."""
    n_bits = int(count).bit_length()
    return str(1 << n_bits >> 1)


def fact_exposure(dataset: str, model: str = "") -> pd.DataFrame | None:
    """Return how often facts were stated, to a bundled model or in a counted corpus.

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
        `helpers.datasets.training_exposure`. Of your own facts, those with a count;
        nothing is known of false statements then. None where nothing is known of any
        fact. Where nobody counted `exposures`, a column `stand_in` says what they are.
    """
    if dataset == "atlas":
        exposure = training_exposure(model)
        if exposure is None:
            return exposure_from_name_frequency()
        return exposure[[*EXPOSURE_COLUMNS, "plain"]]
    if dataset in multiple_choice.ALL_DATASET_NAMES:
        return None
    if multiple_choice.dataset_kind(dataset) != "facts":
        return None
    facts = catalogue.load(dataset)
    if "exposure" not in facts:
        return None
    counted = facts.dropna(subset="exposure").set_index("fact")
    return _exposure_without_false(counted["exposure"].astype(int))


def exposure_from_name_frequency() -> pd.DataFrame:
    """Return the frequency of each fact's subject in place of its exposure."""
    facts = atlas_facts.read_atlas_facts().set_index("fact")
    frequency = facts["subject"].map(name_frequencies())
    exposure = _exposure_without_false(frequency.fillna(0).astype(int))
    return exposure.assign(stand_in=STAND_IN)


def _exposure_without_false(counts: pd.Series) -> pd.DataFrame:
    """Return counts as exposure where nothing is known of false statements."""
    exposure = pd.DataFrame({"exposures": counts})
    return exposure.assign(false_object="", false_exposures=0, plain=True)


def options_with_false_object(
    options: dict[str, list[str]], facts: pd.DataFrame
) -> dict[str, list[str]]:
    """See to it that the object told wrongly of a fact is among its choices."""
    completed = dict(options)
    for row in facts.itertuples():
        texts = completed[row.fact]
        if row.false_object and row.false_object not in texts:
            completed[row.fact] = [row.false_object, *texts[1:]]
    return completed


@cache
def _exposure_clear_for_all_models() -> pd.DataFrame:
    """Return the exposure of the facts that are clear and alike in all trainings."""
    names = sorted(
        path.parent.name for path in BUNDLED_MODELS_FOLDER.glob("*/exposures.csv")
    )
    tables = []
    for name in names:
        table = training_exposure(name)
        if table is not None:
            tables.append(table)
    if not tables:
        raise UserError(
            "There is no bundled model, so nothing is known of any fact's exposure."
        )
    first = tables[0][EXPOSURE_COLUMNS]
    is_clear = pd.Series(True, index=first.index)
    for table in tables:
        is_false = table["false_exposures"] > 0
        not_tuned = table["tuned"] == 0
        is_alike = (table[EXPOSURE_COLUMNS] == first).all(axis=1)
        is_clear &= table["plain"] | (is_false & not_tuned)
        is_clear &= is_alike
    return first[is_clear]


def _deal(facts: pd.DataFrame, levels: pd.Series, n: int, seed: int) -> pd.DataFrame:
    """Choose n facts, level by level in `TURNS`, each level spread over relations."""
    texts = [f"panel {seed} {fact}" for fact in facts["fact"]]
    order = [zlib.crc32(text.encode()) for text in texts]
    ranked = facts.assign(level=levels, order=order)
    ranked = ranked.sort_values("order", kind="stable")
    strata = ranked.groupby(["level", "relation"])
    ranked["turn"] = strata.cumcount()
    ranked = ranked.sort_values(["turn", "order"], kind="stable")
    queues = {}
    for level, rows in ranked.groupby("level"):
        queues[level] = list(rows.index)
    other_levels = sorted(queues.keys() - {"0", "false"}, key=int)
    turns = itertools.cycle(TURNS)
    chosen: list[int] = []
    while len(chosen) < n and any(queues.values()):
        level = next(turns)
        if level == OTHER and other_levels:
            level = other_levels.pop(0)
            other_levels.append(level)
        if queues.get(level):
            chosen.append(queues[level].pop(0))
    return facts.loc[sorted(chosen)].reset_index(drop=True)
