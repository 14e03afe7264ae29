"""Which exposures are compared with which, and their names in sentences and figures."""

import tomllib
from collections.abc import Sequence
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
SHOWN_OR_NEVER = "shown or never"
OFTEN_OR_SELDOM = "often or seldom"
SELDOM_OR_NEVER = "seldom or never"
EXPOSURE_CONTRASTS = (SHOWN_OR_NEVER, OFTEN_OR_SELDOM, SELDOM_OR_NEVER)
MOST_POINTS = 8  # of a curve, apart from exposure 0
MOST_GROUPS = 3  # of a table, apart from exposure 0

CountRange = tuple[int, float]  # the lowest count and the highest
ContrastSides = tuple[CountRange, CountRange]  # the facts above, the facts below
UNLIMITED = float("inf")
NEVER_RANGE: CountRange = (0, 0)
SHOWN_RANGE: CountRange = (1, UNLIMITED)
EMPTY_RANGE: CountRange = (1, 0)


@dataclass(frozen=True)
class ExposureLevels:
    """Groups of exposure and their contrasts, with their names in `LEVEL_WORDS`."""

    groups: dict[str, CountRange]  # of tables; the first is exposure 0
    contrasts: dict[str, ContrastSides]
    starts: tuple[int, ...]  # lowest count of each point of a curve; none: every count
    centres: tuple[int, ...]  # the median count of each point, exposure 0 first
    said: dict[str, str]
    labels: dict[str, str]
    questions: list[str]
    never: str
    form: str
    dose: str
    unread: str
    alarm: str
    times: str
    axis: str
    note: str

    def mark(self, table: pd.DataFrame) -> pd.DataFrame:
        """Add ``level`` (of a curve), ``group``, and contrasts: 1 above, 0 below."""
        counts = table["exposures"]
        level = counts
        if self.starts:
            place = np.searchsorted(self.starts, counts, side="right")
            level = np.array(self.centres)[place]
        in_group = [counts.between(*ends) for ends in self.groups.values()]
        marks = {"level": level, "group": np.select(in_group, list(self.groups), "")}
        for name, sides in self.contrasts.items():
            on_side = [counts.between(*ends) for ends in sides]
            marks[name] = np.select(on_side, [1.0, 0.0], np.nan)
        return table.assign(**marks)


def _levels_in_words(
    kind: str,
    groups: dict[str, CountRange],
    contrasts: Sequence[ContrastSides],
    points: Sequence[CountRange] = (),
    counts: pd.Series | None = None,
    **words: str,
) -> ExposureLevels:
    """Return levels in the texts of a kind, whose places `words` fill.

    With `points` a curve has exposure 0 and one point for each range of `counts`.
    """
    texts = dict(LEVEL_WORDS[kind])
    for name in ("axis", "note"):
        texts[name] = texts[name].format(**words)
    for name in ("said", "labels"):
        filled = [text.format(**words) for text in texts[name]]
        texts[name] = dict(zip(EXPOSURE_CONTRASTS, filled, strict=True))
    return ExposureLevels(
        groups=groups,
        contrasts=dict(zip(EXPOSURE_CONTRASTS, contrasts, strict=True)),
        starts=tuple(start for start, _ in points),
        centres=_centres_of_points(points, counts),
        **texts,
    )


def _centres_of_points(
    points: Sequence[CountRange], counts: pd.Series | None
) -> tuple[int, ...]:
    """Return the median count of each point of a curve, exposure 0 first."""
    if counts is None:
        return ()
    medians = [int(counts[counts.between(*ends)].median()) for ends in points]
    return (0, *medians)


ATLAS_LEVELS = _levels_in_words(
    "atlas",
    groups={
        "never": NEVER_RANGE,
        "1 to 4": (1, 4),
        "8 to 32": (5, 63),
        "64 or more": (64, UNLIMITED),
    },
    contrasts=[
        (SHOWN_RANGE, NEVER_RANGE),
        ((64, UNLIMITED), (1, 4)),
        ((1, 8), NEVER_RANGE),
    ],
)


def levels_of_dataset(dataset: str, table: pd.DataFrame) -> ExposureLevels:
    """Return the levels of a data set: the atlas's, or some that its counts suggest."""
    counts = table.drop_duplicates("item")["exposures"].dropna()
    if "stand_in" in table:
        return levels_of_name_frequencies(counts)
    if dataset == "atlas":
        return ATLAS_LEVELS
    return levels_of_corpus_counts(counts)


def levels_of_name_frequencies(counts: pd.Series) -> ExposureLevels:
    """Return halves and thirds of facts by the frequency of their subject's name."""
    middle = 0
    if len(counts):
        middle = int(counts.median())
    thirds = counts.quantile([1 / 3, 2 / 3]).fillna(0)
    low, high = (int(bound) for bound in thirds)
    rare = (0, middle)
    frequent = (middle + 1, UNLIMITED)
    rarest_third = (0, low)
    return _levels_in_words(
        "frequency",
        groups={"rare": rare, "frequent": frequent},
        contrasts=[
            (frequent, rare),
            ((high + 1, UNLIMITED), rarest_third),
            ((low + 1, high), rarest_third),
        ],
        points=_ranges_of_similar_size(counts, MOST_POINTS),
        counts=counts,
        stand_in=STAND_IN,
    )


def levels_of_corpus_counts(counts: pd.Series) -> ExposureLevels:
    """Return the levels of counts: 0 is apart, others are in groups of like size."""
    thirds = _ranges_of_similar_size(counts, MOST_GROUPS)
    low, high = EMPTY_RANGE, EMPTY_RANGE
    words = {"often": "often", "seldom": "seldom", "much": "often", "little": "seldom"}
    if thirds:
        low = thirds[0]
        words |= {"seldom": _range_in_words(*low), "little": _range_in_short(*low)}
    often_and_seldom = (EMPTY_RANGE, EMPTY_RANGE)
    if len(thirds) > 1:
        high = thirds[-1]
        words |= {"often": _range_in_words(*high), "much": _range_in_short(*high)}
        often_and_seldom = (high, low)
    groups = {"absent": NEVER_RANGE}
    for ends in thirds:
        groups[_range_without_unit(*ends)] = ends
    return _levels_in_words(
        "counts",
        groups=groups,
        contrasts=[
            (SHOWN_RANGE, NEVER_RANGE),
            often_and_seldom,
            (low, NEVER_RANGE),
        ],
        points=_ranges_of_similar_size(counts, MOST_POINTS),
        counts=counts,
        **words,
    )


def _ranges_of_similar_size(counts: pd.Series, most: int) -> list[CountRange]:
    """Cut counts above 0 into at most `most` ranges of `FEWEST_FACTS` facts or more."""
    facts_by_count = counts[counts > 0].value_counts().sort_index()
    least = max(FEWEST_FACTS, facts_by_count.sum() / most)
    starts: list[int] = []
    size = least  # so that the first count starts a range
    for count, n_facts in facts_by_count.items():
        if size >= least:
            starts.append(int(count))
            size = 0
        size += n_facts
    if size < FEWEST_FACTS and len(starts) > 1:
        starts.pop()
    return [(low, high - 1) for low, high in pairwise([*starts, UNLIMITED])]


def _range_in_words(low: int, high: float) -> str:
    """Write a range of counts as a sentence does."""
    if low < high < UNLIMITED:
        return f"{low:,} to {high:,} times"
    words = f"{low:,} times"
    if low == 1:
        words = "once"
    if high == UNLIMITED:
        words = f"{words} or more"
    return words


def _range_in_short(low: int, high: float) -> str:
    """Write a range of counts as a label does."""
    if low < high < UNLIMITED:
        return f"{low:,}-{high:,} times"
    if low > 1 and high == UNLIMITED:
        return f"{low:,}+ times"
    return _range_in_words(low, high)


def _range_without_unit(low: int, high: float) -> str:
    """Write a range of counts as the name of a group does."""
    return _range_in_words(low, high).replace(" times", "")
