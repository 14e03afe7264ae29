"""What a study is: the functions and tables that its module holds, and how they are summed up."""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pandas as pd

from helpers import UserError, schemas, stats
from helpers.stats import Statistic

FIRM_THRESHOLD = 0.5  # how sure a verdict must be, where a study sets no threshold
ARGUMENTS_BESIDE_SETTINGS = (
    "cache",
    "texts",
    "control",
)  # arguments of `ask` that change no verdict: no settings
MEASURES_OF_STUDIES = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
# Which facts are asked.
SAMPLE_SETTINGS = (
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
    bounds : tuple of float
        The least and the largest value that it can have.
    from_answers : callable, optional
        Computes its one column: (answers, settings by keyword) -> a number an item, a
        Series by item. None where the study's `facts` has the columns.
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
    bounds: tuple[float, float] = (0, 1)
    from_answers: Callable[..., pd.Series] | None = None

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


def mean_measure(
    name: str,
    title: str,
    higher: bool | None = True,
    **about: Any,  # further fields of `Measure`, of several types
) -> Measure:
    """Return the mean of one column of facts as a measure."""
    return Measure(name, title, (name,), stats.mean, higher, **about)


def measures_of_study(study: str, **own: Mapping[str, Any]) -> dict[str, Measure]:
    """Return a study's measures as `measures.toml` tells them; means, but for what is their own."""
    found = {}
    for name, told in MEASURES_OF_STUDIES[study].items():
        fields = {"columns": (name,), "statistic": stats.mean, "higher": None}
        fields |= told | own.get(name, {})
        fields["bounds"] = tuple(fields.get("bounds", (0, 1)))
        found[name] = Measure(name, **fields)
    return found


class Half(NamedTuple):
    """Answers to about half of the wordings or samples, and how many of them there are.

    ``answers`` is None where there are too few to halve; ``n`` counts the wordings, or
    samples, of the whole and ``n_half`` those of the half.
    """

    answers: pd.DataFrame | None
    n: int
    n_half: int


class Printed(NamedTuple):
    """A figure that the paper prints: its name there and what it is computed from.

    ``level`` is the row to take of `helpers.stats.intervals_by_group`: ``"all"`` facts alike, or
    the ``"mean"`` over relations.
    """

    name: str
    facts: pd.DataFrame
    columns: list[str]
    statistic: Statistic
    level: str


class Run(Protocol):
    """A finished run, as :meth:`Study.printed` reads it."""

    settings: Mapping[str, Any]
    dataset: str

    @property
    def answers(self) -> pd.DataFrame:
        """The saved answers."""

    @property
    def facts(self) -> pd.DataFrame:
        """What the study's `facts` makes of them; ``relation`` is the stratum."""


class Study(Protocol):
    """The module of a study: `helpers.studies.STUDIES` names them all.

    A module may leave out the members that have a body here: :func:`member` returns
    this body in their place. It may also leave out ``FOR_VERDICT`` (arguments of `ask`
    that suffice for a verdict), ``FIGURES`` (other columns of the facts that may tell
    what is known: their titles, and 1 or -1 for their direction), ``INSTANCES_MEAN``
    (of a study that chooses among options: the measure that is the mean of its
    instances' ``right``), ``AS_PRINTED`` (settings that change a figure, as the paper
    has them), and two functions by which answers from elsewhere are checked,
    ``sizes`` (answers -> the settings of size that they show) and ``drawn`` (settings,
    a bundled model's name or "" -> the items of the atlas that these settings draw).
    A study that settles settings on the model has ``choose`` (arguments of `ask` ->
    those settings); one whose questions are not the data set's own has ``source``
    (settings, the model's name -> what a manifest says of them).
    """

    TITLE: str
    MEASURES: tuple[Measure, ...]
    # (model, facts, settings) -> answers, one row a probe
    ask: Callable[..., pd.DataFrame]
    # (answers, settings) -> one row a fact or item
    facts: Callable[..., pd.DataFrame]
    # (facts, firm) -> known, score, blind, asserted
    verdict: Callable[..., pd.DataFrame]
    # (facts) -> measures with intervals
    summary: Callable[..., pd.DataFrame]

    @staticmethod
    def check(settings: Mapping[str, Any]) -> None:
        """Refuse settings that the study cannot have, before a model is loaded."""

    @staticmethod
    def right(answers: pd.DataFrame) -> pd.DataFrame:
        """Return ``item, right``: each text that counts as right of it, "" if none does."""
        return pd.DataFrame(columns=["item", "right"])

    @staticmethod
    def instances(answers: pd.DataFrame, **settings: Any) -> pd.DataFrame:
        """Return a row a prompt: ``said``, its mark ``right``, and ``target``, right texts."""
        raise UserError("This study has no instances to export: write `instances`.")

    @staticmethod
    def halves(answers: pd.DataFrame) -> Half:
        """Return the answers to about half of the wordings, or of the samples."""
        return Half(None, 1, 1)

    @staticmethod
    def printed(run: Run) -> Iterable[Printed]:
        """Return the figures of a run that the paper prints, too."""
        return ()


def member(study: Study, name: str) -> Callable[..., Any]:
    """Return a function of a study; if its module has none, that of `Study`.

    >>> member(object(), "halves")(pd.DataFrame())
    Half(answers=None, n=1, n_half=1)
    """
    return getattr(study, name, getattr(Study, name))


def add_columns(
    facts: pd.DataFrame,
    answers: pd.DataFrame,
    measures: Iterable[Measure],
    **settings: Any,
) -> pd.DataFrame:
    """Add the columns that measures compute from answers, each with the settings it takes."""
    found = facts.copy()
    for measure in measures:
        if measure.from_answers is None:
            continue
        taken = settings_for_function(measure.from_answers, settings)
        (column,) = measure.columns
        values = measure.from_answers(answers, **taken)
        found[column] = found["item"].map(values).astype(float)
    return found


def measurable(study: Study, *facts: pd.DataFrame) -> list[Measure]:
    """Return the measures whose columns are in all tables of facts, in the study's order.

    Tables that an older version has saved lack the columns of newer measures.
    """
    there = set.intersection(*(set(table.columns) for table in facts))
    return [measure for measure in study.MEASURES if there.issuperset(measure.columns)]


def right_texts(rows: pd.DataFrame, column: str, items: Iterable[str]) -> pd.DataFrame:
    """Return ``item, right`` of rows that are right; "" for those of the items without one."""
    found = pd.DataFrame({"item": rows["item"], "right": rows[column].str.strip()})
    without = sorted(set(items) - set(found["item"]))
    none = pd.DataFrame({"item": without, "right": ""})
    return pd.concat([found, none]).drop_duplicates(ignore_index=True)


def every_other(answers: pd.DataFrame, columns: list[str]) -> Half:
    """Return the answers whose wordings have even numbers, if the first column has four."""
    n = answers[columns[0]].nunique()
    if n < 4:
        return Half(None, n, 1)
    even = answers[columns].clip(lower=0) % 2 == 0
    half = answers[even.all(axis=1)]
    return Half(half, n, half[columns[0]].nunique())


def most_distinct_in_group(
    answers: pd.DataFrame, of: str = "item", by: str = "relation"
) -> int:
    """Return the most different items (options ...) of any relation (item ...)."""
    return int(answers.groupby(by)[of].nunique().max()) if len(answers) else 0


def default_settings(study: Study) -> dict[str, Any]:
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
    return {
        name: value for name, value in taken if name not in ARGUMENTS_BESIDE_SETTINGS
    }


def settings_for_function(
    function: Callable, given: Mapping[str, Any]
) -> dict[str, Any]:
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


def summary_of_measures(
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
            found = stats.estimate_with_interval(
                values, measure.statistic, strata, n_resamples, seed
            )
            found = found._replace(n=measure.n(counted))
            rows.append({"relation": name, "measure": measure.name} | found._asdict())
    return schemas.checked(pd.DataFrame(rows), "summary")
