"""Which exposures are compared with which, and how sentences, tables and figures call them.

The bundled models read their facts 0, 1, 2, 4, ... 256 times by design. Counts of one's own may be
any numbers, so their groups are chosen by size; so are those of frequencies that stand in.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

LEAST = 20  # facts of a group
SHOWN, OFTEN, SELDOM = "shown or never", "often or seldom", "seldom or never"
Range = tuple[int, float]  # the lowest count and the highest
MANY, NONE = float("inf"), (1, 0)


@dataclass(frozen=True)
class Levels:
    """Groups of exposure and the contrasts between them, with their names.

    ``said`` completes "separates ..."; the other words are parts of the chapter's wordings.
    """

    groups: dict[str, Range]  # of tables; the first is exposure 0
    contrasts: dict[str, tuple[Range, Range]]  # name: the facts above, the facts below
    said: dict[str, str]
    labels: dict[str, str]
    never: str = "facts never read"
    dose: str = "exposure"
    unread: str = "that training left out"
    alarm: str = "known though never read"
    questions: tuple[str, ...] = (
        "Has the model read this at all?",
        "Has it read it often?",
        "Is there a trace of few readings?",
        "Which is fooled least by what was never read?",
    )
    times: str = "times read"
    axis: str = "times the training text states the fact"
    note: str = ""  # what the counts cannot show
    starts: tuple[int, ...] = ()  # the lowest count of each point of a curve; none: every count
    centres: tuple[int, ...] = ()  # the median count of each point, exposure 0 first

    def mark(self, table: pd.DataFrame) -> pd.DataFrame:
        """Add what follows from ``exposures``: ``level`` (of a curve), ``group``, the contrasts.

        A contrast is 1 for the facts above, 0 for those below and missing for the others.
        """
        counts, names = table["exposures"], list(self.groups)
        place = [counts.between(*ends) for ends in self.groups.values()]
        marks = {
            name: np.select([counts.between(*above), counts.between(*below)], [1.0, 0.0], np.nan)
            for name, (above, below) in self.contrasts.items()
        }
        level = counts
        if self.starts:
            level = np.array(self.centres)[np.searchsorted(self.starts, counts, side="right")]
        return table.assign(level=level, group=np.select(place, names, ""), **marks)


ATLAS = Levels(
    groups={"never": (0, 0), "1 to 8": (1, 8), "16 to 32": (9, 32), "64 or more": (33, MANY)},
    contrasts={SHOWN: ((1, MANY), (0, 0)), OFTEN: ((64, MANY), (1, 4)), SELDOM: ((1, 8), (0, 0))},
    said={
        SHOWN: "facts that were read from facts never read",
        OFTEN: "facts read 64 times or more from facts read one to four times",
        SELDOM: "facts read one to eight times from facts never read",
    },
    labels={
        SHOWN: "read / never read",
        OFTEN: "64+ times / 1-4 times",
        SELDOM: "1-8 times / never read",
    },
)


def of(dataset: str, table: pd.DataFrame) -> Levels:
    """Return the levels of a data set: those of the atlas, or some that its counts suggest.

    Facts with count 0 are a group by themselves. The others are sorted by count and cut, never
    between equal counts, into three groups of much the same size for contrasts, and up to eight for
    curves; a group has at least `LEAST` facts, so there may be fewer.
    """
    counts = table.drop_duplicates("item")["exposures"].dropna()
    if table.attrs.get("stand_in"):
        return _frequent(counts, table.attrs["stand_in"])
    if dataset == "atlas":
        return ATLAS
    thirds, points = (_ranges(counts, most) for most in (3, 8))
    low, high = (thirds[0], thirds[-1]) if thirds else (NONE, NONE)
    several = len(thirds) > 1
    often = _times(*high) if several else "often"
    seldom, first = (_times(*low) if thirds else "seldom"), (0, 0)
    absent = "facts absent from the searched corpus"
    much, little = (t.replace(" times or more", "+ times").replace(" to ", "-")
                    for t in (often, seldom))  # fmt: skip
    return Levels(
        groups={"absent": first} | {_times(*ends).replace(" times", ""): ends for ends in thirds},
        contrasts={
            SHOWN: ((1, MANY), first),
            OFTEN: (high, low) if several else (NONE, NONE),
            SELDOM: (low, first),
        },
        said={
            SHOWN: "facts that occur in the searched corpus from facts absent from it",
            OFTEN: f"facts that occur {often} in the searched corpus from facts that occur there "
            + seldom,
            SELDOM: f"facts that occur {seldom} in the searched corpus from facts absent from it",
        },
        labels={
            SHOWN: "present / absent",
            OFTEN: f"{much} / {little}",
            SELDOM: f"{little} / absent",
        },
        never=absent,
        dose="the count in the searched corpus",
        alarm="known though absent",
        questions=(
            "Does the corpus contain it at all?",
            "Does the corpus contain it often?",
            "Is there a trace of low counts?",
            "Which takes least for known that the corpus lacks?",
        ),
        times="count",
        axis="occurrences in the searched corpus, median of the group",
        starts=tuple(start for start, _ in points),
        centres=(0, *(int(counts[counts.between(*ends)].median()) for ends in points)),
    )  # fmt: skip


def _frequent(counts: pd.Series, stand_in: str) -> Levels:
    """Return levels of a stand-in for exposure: frequent and rare subjects, cut at the median."""
    middle = int(counts.median()) if len(counts) else 0
    low, high = (int(q) for q in counts.quantile([1 / 3, 2 / 3]).fillna(0))
    points = _ranges(counts, 8)
    rare = (0, middle)
    return Levels(
        groups={"rare": rare, "frequent": (middle + 1, MANY)},
        contrasts={
            SHOWN: ((middle + 1, MANY), rare),
            OFTEN: ((high + 1, MANY), (0, low)),
            SELDOM: ((low + 1, high), (0, low)),
        },
        said={
            SHOWN: "facts about frequent subjects from facts about rare ones",
            OFTEN: "facts about the most frequent third of subjects from the rarest third",
            SELDOM: "facts about the middle third of subjects from the rarest third",
        },
        labels={SHOWN: "frequent / rare subject", OFTEN: "top / bottom third",
                SELDOM: "middle / bottom third"},
        never="facts about rare subjects",
        dose="the frequency of the subject's name",
        unread="of the same question",
        alarm="known though the subject is rare",
        questions=(
            "Is the subject frequent?",
            "Is the subject among the most frequent third?",
            "Is the subject in the middle third or in the rarest?",
            "Which calls fewest facts about rare subjects known?",
        ),
        times="frequency",
        axis=f"{stand_in}, per thousand million words",
        note=f"Nobody counted what these models read: the {stand_in} stands in for exposure. A "
        "frequent name is not a frequent fact, common words are names too (Nice, Reading), and a "
        "fact about a rare subject may have been read.",
        starts=tuple(start for start, _ in points),
        centres=(0, *(int(counts[counts.between(*ends)].median()) for ends in points)),
    )  # fmt: skip


def _ranges(counts: pd.Series, most: int) -> list[Range]:
    """Cut counts above 0 into at most `most` groups, each of them of `LEAST` facts or more."""
    sizes = counts[counts > 0].value_counts().sort_index()
    least = max(LEAST, sizes.sum() / most)
    starts: list[int] = []
    size = least
    for count, facts in sizes.items():
        if size >= least:
            starts.append(int(count))
            size = 0
        size += facts
    if size < LEAST and len(starts) > 1:
        starts.pop()
    return [(low, high - 1) for low, high in pairwise([*starts, MANY])]


def _times(low: int, high: float) -> str:
    """Write a range of counts."""
    if low < high < MANY:
        return f"{low:,} to {high:,} times"
    return ("once" if low == 1 else f"{low:,} times") + " or more" * (high == MANY)
