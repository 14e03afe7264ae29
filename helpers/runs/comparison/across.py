"""Many models together: which facts they share, how measures go along, what a run saved."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from helpers import UserError, runs, stats
from helpers.runs.comparison import board, facts
from helpers.runs.comparison.board import Tables
from helpers.runs.comparison.groups import grouped, labelled
from helpers.studies import STUDIES, Measure, rate

NONE = (
    "There are no finished runs of the four chapters here yet. This makes them:\n"
    "    make book MODEL=path/to/a/model"
)
SECOND = (
    "Only {label} has finished runs here. A second model, as in\n"
    "    make book MODELS=path/to/another\n"
    "adds to every table the paired difference on the same facts, with its interval; to the "
    "figures its size, and from six models on a correlation with an interval."
)
APART = (
    "No two models here have finished the same chapter with the same data and settings, so no "
    "difference can be taken. One command runs both alike:\n"
    "    make book MODEL=path/to/one MODELS=path/to/another"
)
RATES = {  # what the worked example averages: one number a fact
    "monitor": ("average", "accuracy, R + M prompts"),
    "knowledge_base": ("correct", "correct responses"),
    "latent_knowledge": ("mass", "mean probability"),
    "multiplicity": ("accuracy", "choice accuracy"),
}


class Example(NamedTuple):
    """Two models' facts and a rate of them: ``one`` and ``two`` have the column ``part``.

    ``chapter`` is that of the runs; empty if the example is made up.
    """

    first: str
    second: str
    measure: Measure
    one: pd.DataFrame
    two: pd.DataFrame
    chapter: str = ""

    @property
    def part(self) -> str:
        """Column that the rate averages."""
        return self.measure.columns[0]


def choose(folder: str, labels: Sequence[str] = ()) -> pd.DataFrame:
    """Load finished runs, sorted into groups, of some models or of all."""
    table = runs.load(folder or None)
    table = labelled(table[table["chapter"].isin(STUDIES)].reset_index(drop=True))
    known = sorted(table["label"].unique())
    for label in labels:
        if label not in known:
            raise UserError(f"No run is of {label}: there are {', '.join(known) or 'none'}.")
    return grouped(table[table["label"].isin(labels)] if labels else table)


def lacking(found: Tables) -> str:
    """Say which run a comparison lacks; empty if two models have a chapter in common.

    >>> print(lacking({"monitor": {"m": pd.DataFrame()}}).splitlines()[0])
    Only m has finished runs here. A second model, as in
    >>> lacking({"monitor": {"m": pd.DataFrame(), "n": pd.DataFrame()}})
    ''
    """
    labels = {label for models in found.values() for label in models}
    if len(labels) < 2:
        return SECOND.format(label=min(labels)) if labels else NONE
    return "" if any(len(models) > 1 for models in found.values()) else APART


def example(found: Tables) -> Example:
    """Pick two models for a worked example: the largest and the smallest of a chapter.

    >>> made = example({})
    >>> made.first, (made.one[made.part] - made.two[made.part]).tolist()
    ('A (made up)', [0.0, 0.0, 1.0, 0.0])
    """
    for chapter, models in found.items():
        labels = list(models)
        second, first = labels[0], labels[-1]
        measure = rate(*RATES.get(chapter, RATES["monitor"]))
        one, two = (models[name].dropna(subset=list(measure.columns)) for name in (first, second))
        if first != second and len(one.index.intersection(two.index)) > 1:
            return Example(first, second, measure, one, two, chapter)
    made = pd.DataFrame({"relation": "made up"}, [f"fact {number}" for number in range(1, 5)])
    one, two = made.assign(right=[1.0, 1.0, 1.0, 0.0]), made.assign(right=[1.0, 1.0, 0.0, 0.0])
    measure = rate("right", "right answers")
    return Example("A (made up)", "B (made up)", measure, one, two)


def called(rows: pd.DataFrame, picked: Example, table: pd.DataFrame) -> pd.DataFrame:
    """Name the facts of an example by what its first model was asked, not by their numbers."""
    if not picked.chapter:
        return rows
    same = table.query("group == 0 and chapter == @picked.chapter and label == @picked.first")
    names = facts.named(runs.answers(same["folder"].iloc[0]))
    return names.loc[rows.index].join(rows).reset_index(drop=True)


def three(pair: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Pick facts that show what a paired difference leaves out, and say what they show.

    >>> pair = pd.DataFrame({"one": [1.0, 1, 1, 0], "two": [1.0, 1, 0, 0]}, index=list("abcd"))
    >>> rows, said = three(pair.assign(difference=pair["one"] - pair["two"]))
    >>> list(rows.index)
    ['d', 'a', 'c']
    """
    apart, total = pair["difference"].abs(), pair["one"] + pair["two"]
    least = total[apart == apart.min()]
    chosen = pair.loc[list(dict.fromkeys([least.idxmin(), least.idxmax(), apart.idxmax()]))]
    n, differ = len(pair), int((apart > 0).sum())
    if not differ:
        return chosen, f"The two models do equally well on all {n} facts: nothing tells them apart."
    most = f"{pair.loc[apart.idxmax(), 'difference']:+.2f}"
    if apart.min() > 0:
        return chosen, f"All {n} facts tell the models apart, the last one most: by {most}."
    same = (total[chosen.index[:-1]] / 2).map("{:.2f}".format)
    which = "first two facts" if len(same) > 1 else "first fact"
    alike = f"On the {which} the models do equally well ({' and '.join(same)})."
    if same.tolist() == ["0.00", "1.00"]:
        alike = "Both models get the first fact wrong and the second right."
    return chosen, (
        f"{alike} Such facts add\n"
        "the same to both scores and nothing to their difference. The last one tells the models\n"
        f"apart, by {most}. They differ on {differ} of the {n} facts."
    )


def overlap(found: Tables) -> pd.DataFrame:
    """Count each model's facts, and those that all models of the chapter were asked.

    >>> facts = {"m": pd.DataFrame(index=["a", "b"]), "n": pd.DataFrame(index=["b"])}
    >>> overlap({"monitor": facts}).values.tolist()
    [['monitor', 'm', 2, 1], ['monitor', 'n', 1, 1]]
    """
    rows = [
        (chapter, label, len(table), len(board.shared(models)))
        for chapter, models in found.items()
        for label, table in models.items()
    ]
    return pd.DataFrame(rows, columns=["chapter", "model", "facts", "shared"])


def agreement(found: Tables, table: pd.DataFrame) -> pd.DataFrame:
    """Compute each run's measures again from its facts, and set them beside what it saved."""
    rows = []
    for run in table.query("group == 0").itertuples():
        given, metrics = run.manifest["parameters"], runs.metrics(run.folder)
        level = metrics[metrics["level"] == "run"]
        where = given.get("setting") if level["relation"].eq(given.get("setting")).any() else "all"
        saved = level[level["relation"] == where].drop_duplicates("measure")
        saved = saved.set_index("measure")["estimate"]
        for measure in STUDIES[run.chapter].MEASURES:
            if measure.name in saved:
                again = board.value(found[run.chapter][run.label], measure)
                rows.append((run.chapter, run.label, measure.name, saved[measure.name], again))
    columns = ["chapter", "model", "measure", "saved", "again"]
    return pd.DataFrame(rows, columns=columns).astype({"saved": float, "again": float})


def correlations(standings: pd.DataFrame, method: str = "pearson") -> pd.DataFrame:
    """Correlate measures over models, each pair over the models that have both.

    >>> rows = pd.DataFrame({"model": list("abab"), "measure": ["x", "x", "y", "y"],
    ...                      "estimate": [1.0, 2.0, 4.0, 2.0]})
    >>> correlations(rows)[["first", "second", "r", "n"]].values.tolist()
    [['x', 'y', -1.0, 2]]
    """
    wide = standings.pivot_table(index="model", columns="measure", values="estimate", dropna=False)
    wide = wide.reindex(columns=standings["measure"].unique())
    rows = [
        {"first": a, "second": b} | stats.correlation(wide[a], wide[b], method)._asdict()
        for a, b in combinations(wide, 2)
    ]
    return pd.DataFrame(rows, columns=["first", "second", *stats.Correlation._fields])


def by_relation(models: dict[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """Average a column for each relation and model, over the facts that all were asked.

    >>> facts = pd.DataFrame({"relation": ["P17", "P17"], "right": [1.0, 0.0]}, index=["a", "b"])
    >>> by_relation({"m": facts}, "right").loc["P17", "m"]
    np.float64(0.5)
    """
    both = board.shared(models)
    rows = {
        name: table.loc[both].groupby("relation")[column].mean() for name, table in models.items()
    }
    return pd.DataFrame(rows)
