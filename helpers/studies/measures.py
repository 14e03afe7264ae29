"""What a study is: the members of its module, its measures, and their summary.

`Study` says what a module must hold and `StudyDefaults` what it may hold; `Measure` is
a number of its table of results.
"""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pandas as pd

from helpers import UserError, datasets, schemas, stats
from helpers.metrics.matching import holds_answer
from helpers.models import LanguageModel
from helpers.stats import Statistic
from helpers.studies.identity_columns import add_identity_of_answers

FIRM_THRESHOLD = 0.5  # how sure a verdict must be, where a study sets no threshold
# Arguments of `ask` that change no verdict: they are no settings.
ARGUMENTS_BESIDE_SETTINGS = ("cache", "texts", "control")
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
    """A number that sums up facts: what it is computed from, and which way is better.

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
        unit = ", %" if self.percent else ""
        return f"{self.title}{arrow}{unit}"

    def n(self, facts: pd.DataFrame) -> int:
        """Count the facts that it is of, among those that have its columns."""
        if self.seen is None:
            return len(facts)
        return int((facts["seen"] == self.seen).sum())


def mean_measure(
    name: str,
    title: str,
    higher: bool | None = True,
    **about: Any,  # further fields of `Measure`, of several types
) -> Measure:
    """Return the mean of one column of facts as a measure."""
    return Measure(name, title, (name,), stats.mean, higher, **about)


def measures_of_study(study: str, **own: Mapping[str, Any]) -> dict[str, Measure]:
    """Return a study's measures by name, as `measures.toml` describes them.

    A measure is the mean of the column of its name, unless `own` gives it other
    ``columns`` and another ``statistic``.
    """
    measures = {}
    for name, described in MEASURES_OF_STUDIES[study].items():
        fields: dict[str, Any] = {  # of `Measure`, of several types
            "columns": (name,),
            "statistic": stats.mean,
            "higher": None,
        }
        fields |= described
        fields |= own.get(name, {})
        fields["bounds"] = tuple(fields.get("bounds", (0, 1)))
        measures[name] = Measure(name, **fields)
    return measures


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

    ``level`` is the row to take of `helpers.stats.intervals_by_group`: ``"all"`` facts
    alike, or the ``"mean"`` over relations.
    """

    name: str
    facts: pd.DataFrame
    columns: list[str]
    statistic: Statistic
    level: str


class Run(Protocol):
    """A finished run, as :meth:`StudyDefaults.printed` reads it."""

    settings: Mapping[str, Any]
    dataset: str

    @property
    def answers(self) -> pd.DataFrame:
        """The saved answers."""

    @property
    def facts(self) -> pd.DataFrame:
        """What the study's `facts` makes of them; ``relation`` is the stratum."""


class Study(Protocol):
    """What the module of a study must hold; `helpers.studies.STUDIES` names them all.

    ``ask`` and ``facts`` declare the study's settings: their keyword-only arguments,
    with defaults (:func:`default_settings`). What a module may hold besides is in
    `StudyDefaults`.

    Attributes
    ----------
    TITLE : str
        The study as readers see it.
    MEASURES : tuple of Measure
        What is computed from the table of facts, in the order of reports.
    """

    TITLE: str
    MEASURES: tuple[Measure, ...]

    # The arguments of `ask` and `facts` differ between studies: `Any` stands for them.
    def ask(
        self,
        model: LanguageModel,
        facts: pd.DataFrame | None = None,
        *args: Any,
        **settings: Any,
    ) -> pd.DataFrame:
        """Ask a model about facts.

        Parameters
        ----------
        model : LanguageModel
        facts : DataFrame, optional
            As from `helpers.datasets.load`; by default the study draws its own, of the
            data set and the size that the settings name.
        **settings
            Keyword-only and with defaults. ``cache``, a folder, spares what has been
            asked before.

        Returns
        -------
        DataFrame
            The answers, one row a probe, with the columns of the stage ``answers`` in
            `helpers.schemas`. They are saved, and all else is computed from them.
        """

    def facts(self, answers: pd.DataFrame, *args: Any, **settings: Any) -> pd.DataFrame:
        """Reduce answers to one row a fact or question.

        Parameters
        ----------
        answers : DataFrame
            As ``ask`` returned them, or as they were saved.
        **settings
            Keyword-only and with defaults.

        Returns
        -------
        DataFrame
            ``item``, ``relation`` and the columns of ``MEASURES``; where the bootstrap
            is to draw within other groups than relations, also ``stratum``.
        """

    def verdict(
        self, facts: pd.DataFrame, firm: float = FIRM_THRESHOLD
    ) -> pd.DataFrame:
        """Say which facts the model knows; what it has read is not consulted.

        Parameters
        ----------
        facts : DataFrame
            As from ``facts``.
        firm : float
            How sure a verdict must be, in [0, 1].

        Returns
        -------
        DataFrame
            A row a fact, in their order: ``known``, 0 or 1; ``score``, larger the more
            surely it is known; ``blind``, how sure the model is without an answer key,
            nan if the study cannot tell; ``asserted``, the text that it takes the model
            to believe, "" if it is none, None if the study cannot tell.
        """

    def summary(
        self, facts: pd.DataFrame, n_resamples: int = 1000, seed: int = 0
    ) -> pd.DataFrame:
        """Return ``MEASURES`` with their intervals, as :func:`summary_of_measures`."""


class StudyDefaults:
    """What stands in for the members that the module of a study leaves out.

    Attributes
    ----------
    WRAPPED : bool
        Whether its questions may be put into any prompt format.
    FOR_VERDICT : mapping of str to object
        Arguments of ``ask`` that suffice for a verdict.
    FIGURES : mapping of str to tuple
        Other columns of the facts that may tell what is known: their titles, and 1 if
        more means better known or -1 if less does.
    INSTANCES_MEAN : str
        Of a study that chooses among options: the measure that is the mean of the
        column ``right`` of its instances.
    AS_PRINTED : mapping of str to object
        Settings that change a figure, as the paper has them.
    ASKS_FORMS : bool
        Whether the panel asks the other forms of its plain question with it.
    DEFINITIONS : mapping of str to str
        Versions of the rules by which ``facts`` marks answers, if they have any. A
        record names them; figures of other versions are computed anew.

    Notes
    -----
    Two functions by which archives from elsewhere are checked
    (`helpers.exchange.verification`) have no stand-in, and without them nothing of it
    is checked: ``size_settings_of_answers``, from answers to the settings of size that
    they show, a dict of str to int; and ``items_drawn_by_settings``, from settings and
    a bundled model's name, or "", to the items of the atlas that these settings draw, a
    Series.
    """

    WRAPPED: bool = False
    FOR_VERDICT: Mapping[str, Any] = {}
    FIGURES: Mapping[str, tuple[str, int]] = {}
    INSTANCES_MEAN: str = ""
    AS_PRINTED: Mapping[str, Any] = {}
    ASKS_FORMS: bool = False
    DEFINITIONS: Mapping[str, str] = {}

    @staticmethod
    def check(settings: Mapping[str, Any]) -> None:
        """Refuse settings that the study cannot have, before a model is loaded."""

    @staticmethod
    def settings_chosen_on_model(
        model: LanguageModel, facts: pd.DataFrame | None = None
    ) -> dict[str, Any]:
        """Return the settings of ``ask`` that the study itself chooses on the model.

        A study's own takes keyword-only settings of ``ask`` besides, ``cache`` among
        them. What it returns goes to ``ask`` and into the run's manifest.
        """
        return {}

    @staticmethod
    def source(settings: Mapping[str, Any], model: str) -> dict[str, str]:
        """Return what a manifest says of the questions that settings ask a model."""
        return datasets.source_record(settings["dataset"])

    @staticmethod
    def right(answers: pd.DataFrame) -> pd.DataFrame:
        """Return ``item, right``: each text that counts as right of it, "" if none."""
        return pd.DataFrame(columns=["item", "right"])

    @staticmethod
    def instances(answers: pd.DataFrame, **settings: Any) -> pd.DataFrame:
        """Return a row a prompt with its text ``said``, its mark ``right``, ``target``.

        ``target`` is a list of the right texts, ``right`` is in [0, 1].
        """
        raise UserError("This study has no instances to export: write `instances`.")

    @staticmethod
    def halves(answers: pd.DataFrame) -> Half:
        """Return the answers to about half of the wordings, or of the samples."""
        return Half(None, 1, 1)

    @staticmethod
    def printed(run: Run) -> Iterable[Printed]:
        """Return the figures of a run that the paper prints, too."""
        return ()


def member(study: Study, name: str) -> Any:  # members are of several types
    """Return a member of a study; if its module has none, that of `StudyDefaults`.

    >>> member(object(), "halves")(pd.DataFrame())
    Half(answers=None, n=1, n_half=1)
    """
    return getattr(study, name, getattr(StudyDefaults, name))


def add_columns(
    facts: pd.DataFrame,
    answers: pd.DataFrame,
    measures: Iterable[Measure],
    **settings: Any,  # of several types
) -> pd.DataFrame:
    """Add the columns that measures compute from answers, with their settings.

    What answers say of the identity of their items is carried over, too.
    """
    facts = add_identity_of_answers(facts, answers)
    for measure in measures:
        if measure.from_answers is None:
            continue
        own_settings = settings_for_function(measure.from_answers, settings)
        (column,) = measure.columns
        values = measure.from_answers(answers, **own_settings)
        facts[column] = facts["item"].map(values).astype(float)
    return facts


def measurable(study: Study, *facts: pd.DataFrame) -> list[Measure]:
    """Return the measures whose columns are in all tables of facts.

    They are in the study's order. Tables that an older version has saved lack the
    columns of newer measures.
    """
    columns_of_tables = [set(table.columns) for table in facts]
    shared = set.intersection(*columns_of_tables)
    return [measure for measure in study.MEASURES if shared.issuperset(measure.columns)]


def texts_without_answer(texts: pd.Series) -> pd.Series:
    """Return 1 for each text in which no answer can be found, else 0."""
    return 1.0 - texts.map(holds_answer).astype(float)


def right_texts(rows: pd.DataFrame, column: str, items: Iterable[str]) -> pd.DataFrame:
    """Return ``item, right`` of rows that are right; "" for the items without one."""
    right = pd.DataFrame({"item": rows["item"], "right": rows[column].str.strip()})
    without = sorted(set(items) - set(right["item"]))
    empty = pd.DataFrame({"item": without, "right": ""})
    return pd.concat([right, empty]).drop_duplicates(ignore_index=True)


def every_other(answers: pd.DataFrame, columns: list[str]) -> Half:
    """Return the answers whose wordings have even numbers in all columns.

    They are halved if the first column numbers four wordings or more.
    """
    n = answers[columns[0]].nunique()
    if n < 4:
        return Half(None, n, 1)
    even = answers[columns].clip(lower=0) % 2 == 0
    half = answers[even.all(axis=1)]
    return Half(half, n, half[columns[0]].nunique())


def most_distinct_in_group(
    answers: pd.DataFrame, column: str = "item", by: str = "relation"
) -> int:
    """Return the most different items (options ...) of any relation (item ...)."""
    if answers.empty:
        return 0
    return int(answers.groupby(by)[column].nunique().max())


def default_settings(study: Study) -> dict[str, Any]:
    """Return a study's settings with their defaults: what `ask` and `facts` take.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict
        Name to default.
    """
    settings = _keyword_defaults(study.ask) | _keyword_defaults(study.facts)
    for name in ARGUMENTS_BESIDE_SETTINGS:
        settings.pop(name, None)
    return settings


def settings_for_function(
    function: Callable, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return those of the settings that a function takes."""
    names = _keyword_defaults(function)
    return {name: settings[name] for name in names if name in settings}


def _keyword_defaults(function: Callable) -> dict[str, Any]:
    """Return the keyword-only arguments of a function with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    defaults = {}
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY:
            defaults[parameter.name] = parameter.default
    return defaults


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
    """Sum facts up: each measure with its interval, over all facts and by relation.

    Parameters
    ----------
    measures : iterable of Measure
    facts : DataFrame
        ``relation`` and the columns of the measures; the bootstrap draws within
        ``stratum``, or within ``relation`` where there is none.
    n_resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``relation, measure, estimate, low, high, n``; relation ``"all"`` comes first,
        and alone where there is one relation only. Where the facts have a column
        ``unanswered``, so has the summary: its mean, the share of the texts in which
        no answer can be found. They count as not right.
    """
    groups = [("all", facts)]
    if len(set(facts["relation"])) > 1:
        groups += facts.groupby("relation")
    rows = []
    for relation, group in groups:
        for measure in measures:
            row = {"relation": relation, "measure": measure.name}
            row |= _interval_of_measure(measure, group, n_resamples, seed)._asdict()
            if "unanswered" in group:
                row["unanswered"] = group["unanswered"].mean()
            rows.append(row)
    return schemas.table_with_checked_columns(pd.DataFrame(rows), "summary")


def _interval_of_measure(
    measure: Measure, facts: pd.DataFrame, n_resamples: int, seed: int
) -> stats.Interval:
    """Return a measure with its interval, over the facts that have its columns."""
    columns = list(measure.columns)
    counted = facts.dropna(subset=columns)
    strata = counted.get("stratum", counted["relation"])
    values = counted[columns].astype(float)
    interval = stats.estimate_with_interval(
        values, measure.statistic, strata, n_resamples, seed
    )
    return interval._replace(n=measure.n(counted))
