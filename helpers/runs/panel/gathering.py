"""Set the verdicts of several models and methods beside what the training text said."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.metrics import canonical
from helpers.runs.panel import reading
from helpers.runs.panel.levels import ATLAS, Levels
from helpers.studies import FIRM, STUDIES, Study, fitting

NUMBERS = ["known", "score", "blind", "misled", "exposures", "false_exposures"]


def gather(
    found: pd.DataFrame, models: Sequence[str], firm: float = FIRM, dataset: str = "atlas"
) -> pd.DataFrame:
    """Return one row for each model, method and fact of the panel."""
    parts = []
    good = found[(found["left_out"] == "") & found["model"].isin(models)]
    place = good["model"].map({model: number for number, model in enumerate(models)})
    for run in good.loc[place.sort_values(kind="stable").index].to_dict("records"):
        told = datasets.truth(dataset, run["model"])
        false = told.loc[told["false_exposures"] > 0, "false_object"].to_dict()
        said = reading.answers(run["folder"])
        study = STUDIES[run["chapter"]]
        table = verdicts(study, said, run["settings"], false, firm)
        table.insert(0, "method", study.TITLE)
        table.insert(0, "model", run["model"])
        parts.append(table.join(told, on="item"))
    if not parts:
        columns = [*("model", "method", "item", "relation", "false_object", "plain"), *NUMBERS]
        kinds = dict.fromkeys(NUMBERS, float) | {"plain": bool}
        parts = [pd.DataFrame(columns=columns).astype(kinds)]
    return pd.concat(parts, ignore_index=True)


def verdicts(
    study: Study,
    answers: pd.DataFrame,
    settings: Mapping[str, Any],
    false: Mapping[str, str],
    firm: float = FIRM,
) -> pd.DataFrame:
    """Return one row a fact: what a study found of it, and its verdict.

    A verdict follows from the answers and the answer key alone: that a fact was never in the
    training text makes no right answer wrong. ``seen`` is taken away before it is asked for.
    """
    found = study.facts(answers, **fitting(study.facts, settings))
    said = study.verdict(found.drop(columns="seen", errors="ignore"), firm)
    told = [false.get(item, "") for item in found["item"]]
    misled = [
        float(canonical.same_answer(text, [wrong])) if wrong and text is not None else np.nan
        for text, wrong in zip(said.pop("asserted"), told)
    ]
    verdict = said.assign(misled=misled)
    own = found.drop(columns=["stratum", *verdict], errors="ignore")
    return pd.concat([own[["item", "relation"]], verdict, own.iloc[:, 2:]], axis=1)


def spread(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Lay one column out with a row a fact and a column a model and method.

    Facts that some method was not asked are left out, and so are methods without the figure.

    >>> table = pd.DataFrame({"model": "m", "method": ["x", "x", "y"], "item": ["a", "b", "a"],
    ...                       "score": [0.1, 0.2, 0.3]})
    >>> spread(table, "score").reset_index().values.tolist()
    [['a', 0.1, 0.3]]
    """
    parts = {
        pair: rows.set_index("item")[column].astype(float)
        for pair, rows in table.groupby(["model", "method"], sort=False)
    }
    names = ["model", "method"]
    if not parts:
        return pd.DataFrame(columns=pd.MultiIndex.from_arrays([[], []], names=names))
    wide = pd.concat(parts, axis=1, names=names)
    return wide.dropna(axis=1, how="all").dropna()


def truth(table: pd.DataFrame, items: pd.Index, column: str = "exposures") -> pd.Series:
    """Return a column that is the same for all models and methods, one entry a fact.

    >>> table = pd.DataFrame({"item": ["a", "a", "b"], "exposures": [4, 4, 0]})
    >>> truth(table, pd.Index(["b", "a"])).tolist()
    [0, 4]
    """
    return table.drop_duplicates("item").set_index("item")[column].loc[items]


def truth_told(dataset: str, n_plain: int = 0, n_misled: int = 0) -> str:
    """Say what is known of the exposure of a panel's facts.

    >>> truth_told("atlas", 602, 86).partition(";")[0]
    'Of 602 the training text states only the truth, or nothing'
    """
    if dataset == "atlas":
        return (
            f"Of {n_plain} the training text states only the truth, or nothing; of {n_misled} it "
            "also states something false."
        )
    facts = datasets.load(dataset)
    missing = int(facts["exposure"].isna().sum()) if "exposure" in facts else len(facts)
    left_out = f" {missing} of the {len(facts)} facts have no count and are left out."
    return (
        f"Exposure here is a count that comes with the data set {dataset}: how often the searched "
        "corpus contains a fact. It is no record of what a model read: a corpus can name subject "
        "and object without stating the fact, and state it in words that the search missed."
        f"{left_out if missing else ''}"
    )


def sizes(table: pd.DataFrame, levels: Levels = ATLAS) -> pd.DataFrame:
    """Count the facts of a panel at each point of the curves, and those also stated falsely.

    >>> table = pd.DataFrame({"item": list("aab"), "exposures": [4, 4, 0], "plain": True})
    >>> sizes(ATLAS.mark(table))["facts"].to_dict()
    {0: 1, 4: 1}
    """
    each = table.drop_duplicates("item")
    found = each.groupby("level").agg(
        facts=("item", "size"),
        plain=("plain", "sum"),
        lowest=("exposures", "min"),
        highest=("exposures", "max"),
    )
    found["also stated falsely"] = found["facts"] - found.pop("plain")
    shown = ["facts", *(["lowest", "highest"] if levels.starts else ["also stated falsely"])]
    return found[shown].rename_axis("median" if levels.starts else "exposures")
