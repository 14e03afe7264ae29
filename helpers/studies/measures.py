"""What a study is: the functions and tables that its module holds, and how they are summed up."""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from helpers import UserError, stats
from helpers.stats import Statistic

FIRM = 0.5  # how sure a verdict must be, where a study sets no threshold
OUTSIDE = (
    "cache",
    "texts",
    "control",
)  # arguments of `ask` that change no verdict: no settings
LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# Which facts are asked.
SAMPLE = (
    "dataset",
    "relations",
    "left_out",
    "n_facts",
    "n_items",
    "n_seen",
    "n_unseen",
)


@dataclass(frozen=True)
class Measure:
    """A number that sums up facts, with what it is computed from and which way is better.

    Attributes
    ----------
    name, title : str
        In tables of metrics, and as readers see it.
    columns : tuple of str
        Of the table of facts; a fact that lacks one of them does not count.
    statistic : callable
        Reduces these columns, shape (..., n, columns), to one number.
    higher : bool or None
        Whether more is better; None: neither.
    percent : bool
        Whether it is shown in percent; it always lies on the scale of a share itself.
    counts : str
        What `n` counts.
    seen : bool or None
        Of which questions it tells, by their column ``seen``; None: of all.
    source : str
        The paper's symbol and where it prints figures of it.
    meaning : str
        What it says, in a clause.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    statistic: Statistic
    higher: bool | None
    percent: bool = True
    counts: str = "facts"
    seen: bool | None = None
    source: str = ""
    meaning: str = ""

    @property
    def heading(self) -> str:
        """Title with an arrow to the better side and the unit."""
        arrow = {True: " ↑", False: " ↓", None: ""}[self.higher]
        return f"{self.title}{arrow}{', %' if self.percent else ''}"

    def n(self, facts: pd.DataFrame) -> int:
        """Count the facts that it is of, among those that have its columns."""
        return (
            len(facts) if self.seen is None else int((facts["seen"] == self.seen).sum())
        )


def rate(name: str, title: str, higher: bool | None = True, **about: str) -> Measure:
    """Return the mean of one column of facts as a measure."""
    return Measure(name, title, (name,), stats.mean, higher, **about)


def listed(study: str, **own: Mapping[str, Any]) -> dict[str, Measure]:
    """Return a study's measures as `measures.toml` tells them; means, but for what is their own."""
    found = {}
    for name, told in LISTED[study].items():
        usual = {"columns": (name,), "statistic": stats.mean, "higher": None}
        found[name] = Measure(name, **usual | told | own.get(name, {}))
    return found


class Study(Protocol):
    """The module of a study: `helpers.studies.STUDIES` names them all.

    These may be left out: ``FOR_VERDICT`` (arguments of `ask` that suffice for a
    verdict), ``FIGURES`` (other columns of the facts that may tell what is known: their
    titles, and 1 or -1 for their direction), and two functions by which answers from
    elsewhere are checked, ``sizes`` (answers -> the settings of size that they show)
    and ``drawn`` (settings, a bundled model's name or "" -> the items of the atlas that
    these settings draw). A study that settles settings on the model has ``choose``
    (arguments of `ask` -> those settings); one whose questions are not the data set's
    own has ``source`` (settings, the model's name -> what a manifest says of them).
    """

    TITLE: str
    MEASURES: tuple[Measure, ...]
    ask: Callable[
        ..., pd.DataFrame
    ]  # (model, facts, settings) -> answers, one row a probe
    facts: Callable[..., pd.DataFrame]  # (answers, settings) -> one row a fact or item
    verdict: Callable[
        ..., pd.DataFrame
    ]  # (facts, firm) -> known, score, blind, asserted
    summary: Callable[..., pd.DataFrame]  # (facts) -> measures with intervals


def most(answers: pd.DataFrame, of: str = "item", by: str = "relation") -> int:
    """Return the most different items (options ...) of any relation (item ...)."""
    return int(answers.groupby(by)[of].nunique().max()) if len(answers) else 0


def settings(study: Study) -> dict[str, Any]:
    """Return the settings of a study with their defaults: what its `ask` and `facts` take.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict
        Name to default.
    """
    taken = [*_keywords(study.ask).items(), *_keywords(study.facts).items()]
    return {name: value for name, value in taken if name not in OUTSIDE}


def fitting(function: Callable, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given settings that a function takes."""
    return {name: given[name] for name in _keywords(function) if name in given}


def _keywords(function: Callable) -> dict[str, Any]:
    found = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in found if each.kind is each.KEYWORD_ONLY}


def check_firm(firm: float) -> float:
    """Return the threshold, or say that it is no share."""
    if not 0 <= firm <= 1:
        raise UserError(f"firm is {firm}: give a share between 0 and 1.")
    return firm


def summarised(
    measures: Iterable[Measure],
    facts: pd.DataFrame,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Sum facts up: each measure with its interval, over all facts and relation by relation."""
    parts = [("all", facts)]
    if len(set(facts["relation"])) > 1:
        parts += facts.groupby("relation")
    rows = []
    for name, part in parts:
        for measure in measures:
            counted = part.dropna(subset=list(measure.columns))
            strata = counted.get("stratum", counted["relation"])
            values = counted[list(measure.columns)].astype(float)
            found = stats.estimate(values, measure.statistic, strata, n_resamples, seed)
            found = found._replace(n=measure.n(counted))
            rows.append({"relation": name, "measure": measure.name} | found._asdict())
    return pd.DataFrame(rows)
