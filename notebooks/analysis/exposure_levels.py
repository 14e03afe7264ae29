"""Which exposures are compared with which, and how sentences, tables and figures call them."""

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.datasets.panel import STAND_IN

LEVEL_WORDS = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
FEWEST_FACTS = 20  # facts of a group
EXPOSURE_CONTRASTS = SHOWN_OR_NEVER, OFTEN_OR_SELDOM, SELDOM_OR_NEVER = (
    "shown or never",
    "often or seldom",
    "seldom or never",
)
CountRange = tuple[int, float]  # the lowest count and the highest
UNLIMITED, EMPTY_RANGE = float("inf"), (1, 0)


@dataclass(frozen=True)
class ExposureLevels:
    """Groups of exposure and the contrasts between them, with their names in `LEVEL_WORDS`."""

    groups: dict[str, CountRange]  # of tables; the first is exposure 0
    contrasts: dict[
        str, tuple[CountRange, CountRange]
    ]  # name: the facts above, the facts below
    starts: tuple[
        int, ...
    ]  # the lowest count of each point of a curve; none: every count
    centres: tuple[int, ...]  # the median count of each point, exposure 0 first
    said: dict[str, str]
    labels: dict[str, str]
    questions: list[str]
    never: str
    dose: str
    unread: str
    alarm: str
    times: str
    axis: str
    note: str

    def mark(self, table: pd.DataFrame) -> pd.DataFrame:
        """Add ``level`` (of a curve), ``group``, and contrasts: 1 above, 0 below, else missing."""
        counts = level = table["exposures"]
        if self.starts:
            level = np.array(self.centres)[
                np.searchsorted(self.starts, counts, side="right")
            ]
        place = [counts.between(*ends) for ends in self.groups.values()]
        marks = {"level": level, "group": np.select(place, list(self.groups), "")}
        for name, sides in self.contrasts.items():
            marks[name] = np.select(
                [counts.between(*ends) for ends in sides], [1.0, 0.0], np.nan
            )
        return table.assign(**marks)


def _named(
    kind: str, groups: dict, contrasts: list, points: dict, **filled: str
) -> ExposureLevels:
    """Return levels in the words of a kind, their places filled."""
    words = dict(LEVEL_WORDS[kind], axis=LEVEL_WORDS[kind]["axis"].format(**filled))
    words["note"] = words["note"].format(**filled)
    for name in ("said", "labels"):
        words[name] = dict(
            zip(EXPOSURE_CONTRASTS, (text.format(**filled) for text in words[name]))
        )
    return ExposureLevels(
        groups, dict(zip(EXPOSURE_CONTRASTS, contrasts)), **points, **words
    )


ATLAS_GROUPS = {
    "never": (0, 0),
    "1 to 8": (1, 8),
    "16 to 32": (9, 32),
    "64 or more": (33, UNLIMITED),
}
ATLAS_CONTRASTS = [
    ((1, UNLIMITED), (0, 0)),
    ((64, UNLIMITED), (1, 4)),
    ((1, 8), (0, 0)),
]
ATLAS_LEVELS = _named(
    "atlas", ATLAS_GROUPS, ATLAS_CONTRASTS, {"starts": (), "centres": ()}
)


def levels_of_dataset(dataset: str, table: pd.DataFrame) -> ExposureLevels:
    """Return the levels of a data set: those of the atlas, or some that its counts suggest."""
    # Facts of count 0 are apart; others are cut into groups of much the same size.
    counts, first = table.drop_duplicates("item")["exposures"].dropna(), (0, 0)
    cut = _ranges(counts, 8)
    centres = (int(counts[counts.between(*ends)].median()) for ends in cut)
    points = {"starts": tuple(start for start, _ in cut), "centres": (0, *centres)}
    if "stand_in" in table:
        middle = int(counts.median()) if len(counts) else 0
        low, high = (int(q) for q in counts.quantile([1 / 3, 2 / 3]).fillna(0))
        groups = {"rare": (0, middle), "frequent": (middle + 1, UNLIMITED)}
        contrasts = [(groups["frequent"], groups["rare"])]
        contrasts += [((high + 1, UNLIMITED), (0, low)), ((low + 1, high), (0, low))]
        return _named("frequency", groups, contrasts, points, stand_in=STAND_IN)
    if dataset == "atlas":
        return ATLAS_LEVELS
    thirds = _ranges(counts, 3)
    low, high = (thirds[0], thirds[-1]) if thirds else (EMPTY_RANGE, EMPTY_RANGE)
    several = len(thirds) > 1
    words = {"often": _times(*high) if several else "often"}
    words |= {"seldom": _times(*low) if thirds else "seldom"}
    for short, name in (("much", "often"), ("little", "seldom")):
        words[short] = (
            words[name].replace(" times or more", "+ times").replace(" to ", "-")
        )
    groups = {"absent": first} | {
        _times(*ends).replace(" times", ""): ends for ends in thirds
    }
    contrasts = [
        ((1, UNLIMITED), first),
        (high, low) if several else (EMPTY_RANGE, EMPTY_RANGE),
        (low, first),
    ]
    return _named("counts", groups, contrasts, points, **words)


def _ranges(counts: pd.Series, most: int) -> list[CountRange]:
    """Cut counts above 0 into at most `most` groups, each of them of `FEWEST_FACTS` facts or more."""
    sizes = counts[counts > 0].value_counts().sort_index()
    least = max(FEWEST_FACTS, sizes.sum() / most)
    starts, size = [], least
    for count, facts in sizes.items():
        if size >= least:
            starts.append(int(count))
            size = 0
        size += facts
    if size < FEWEST_FACTS and len(starts) > 1:
        starts.pop()
    return [(low, high - 1) for low, high in pairwise([*starts, UNLIMITED])]


def _times(low: int, high: float) -> str:
    """Write a range of counts."""
    if low < high < UNLIMITED:
        return f"{low:,} to {high:,} times"
    return ("once" if low == 1 else f"{low:,} times") + " or more" * (high == UNLIMITED)
