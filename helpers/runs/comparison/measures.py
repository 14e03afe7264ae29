"""The measures of the four chapters, as statistics of facts that two models may share."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from helpers import stats
from helpers.metrics import knowledge_base as kb
from helpers.metrics import monitor
from helpers.stats import Statistic

CHAPTERS = ("monitor", "knowledge_base", "latent_knowledge", "multiplicity")
BASIC = ("seen", "correct", "wrong", "tested", "consistency")  # columns of kb.indicators


@dataclass(frozen=True)
class Measure:
    """A measure: its chapter and name there, its title, what it is computed from, its direction.

    ``columns`` are those of `helpers.runs.comparison.facts.read`; ``statistic`` reduces them to one
    number; ``higher`` tells whether more is better (None: neither).
    """

    chapter: str
    name: str
    title: str
    columns: tuple[str, ...]
    statistic: Statistic
    higher: bool | None
    percent: bool = True

    @property
    def heading(self) -> str:
        """Title with an arrow to the better side and the unit."""
        arrow = {True: " ↑", False: " ↓", None: ""}[self.higher]
        return f"{self.title}{arrow}{', %' if self.percent else ''}"


def _of_responses(name: str, title: str) -> Measure:
    place = kb.MEASURES.index(name)
    higher = name in kb.HIGHER_IS_BETTER
    statistic = partial(_one_of_responses, place=place)
    return Measure("knowledge_base", name, title, BASIC, statistic, higher)


def _one_of_responses(values: np.ndarray, place: int) -> np.ndarray:
    return kb.statistic(values)[..., place]


def rate(chapter: str, name: str, title: str, higher: bool | None = True) -> Measure:
    """Return the mean of one column of facts as a measure."""
    return Measure(chapter, name, title, (name,), stats.mean, higher)


MEASURES = (
    Measure(
        "monitor",
        "MONITOR",
        "MONITOR",
        ("deviation", "anchor"),
        monitor.ratio_of_sums,
        higher=False,
        percent=False,
    ),
    rate("monitor", "coverage", "coverage", higher=None),
    rate("monitor", "base", "accuracy, base prompt"),
    rate("monitor", "average", "accuracy, R + M prompts"),
    _of_responses("NCR", "NCR"),
    _of_responses("UR", "UR"),
    _of_responses("Cons_c", "Cons, correct"),
    _of_responses("Cons_w", "Cons, wrong"),
    _of_responses("NCCR", "NCCR"),
    _of_responses("IUR", "IUR"),
    rate("latent_knowledge", "right", "list accuracy"),
    rate("latent_knowledge", "mass", "mean probability"),
    rate("multiplicity", "accuracy", "choice accuracy"),
    rate("multiplicity", "self_consistency", "self-consistency", higher=None),
    rate("multiplicity", "factuality", "steadily right"),
    rate("multiplicity", "randomness", "unsteady", higher=False),
    rate("multiplicity", "error", "steadily wrong", higher=False),
)


def of(chapter: str) -> list[Measure]:
    """Return the measures of a chapter.

    >>> [measure.heading for measure in of("monitor")][:2]
    ['MONITOR ↓', 'coverage, %']
    """
    return [measure for measure in MEASURES if measure.chapter == chapter]


def named(name: str) -> Measure:
    """Return the measure of a name.

    >>> named("MONITOR").higher
    False
    """
    return next(measure for measure in MEASURES if measure.name == name)
