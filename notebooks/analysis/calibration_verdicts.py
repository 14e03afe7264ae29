"""What every method says of each fact of the panel, beside what models were shown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.metrics import accuracy, canonical
from helpers.runs.panel import panel_answers
from helpers.studies import FIRM_THRESHOLD, STUDIES, Study, settings_for_function

METHOD_TITLES = {name: study.TITLE for name, study in STUDIES.items()}
ASKED_ONCE = "asked once"
PLAIN_WORDING = {ASKED_ONCE: "asked_once"}
# In questions that the atlas models' training left out: a reader's would be such, too.
UNREAD_WORDINGS = {
    f"{ASKED_ONCE}, other wording {letter}": f"asked_frame{frame}"
    for letter, frame in zip("AB", datasets.HELD_OUT_FRAMES, strict=True)
}
# Ways to score the one answer, from fine to coarse, and the placebo.
PROBABILITY = "probability"
EQUALLY_FILLED_STEPS = "in eleven steps, equally filled"
EQUALLY_WIDE_STEPS = "in eleven steps of equal width"
RIGHT_OR_WRONG = "answer right or wrong"
WRONG_OBJECT = "probability of a wrong object"
QUESTION_RIGHT_OR_WRONG = f"question: {RIGHT_OR_WRONG}"
PLACEBO_OF_QUESTION = f"question: {WRONG_OBJECT}"
N_STEPS = 11  # which the share of ten prompts has
NUMERIC_COLUMNS = ["known", "score", "blind", "misled", "exposures", "false_exposures"]


def verdicts_of_all_runs(
    panel_runs: pd.DataFrame,
    models: Sequence[str],
    firm: float = FIRM_THRESHOLD,
    dataset: str = "atlas",
) -> pd.DataFrame:
    """Return one row for each model, method and fact of the panel."""
    exposures = {model: datasets.fact_exposure(dataset, model) for model in models}
    with_stand_in = False
    for exposure in exposures.values():
        if exposure is not None and "stand_in" in exposure:
            exposures = dict.fromkeys(models, exposure)  # where nobody counted
            with_stand_in = True
            break
    complete = (panel_runs["left_out"] == "") & panel_runs["model"].isin(models)
    read_runs = panel_runs[complete]
    place_of_model = {model: place for place, model in enumerate(models)}
    places = read_runs["model"].map(place_of_model).sort_values(kind="stable")
    parts = []
    for run in read_runs.loc[places.index].to_dict("records"):
        exposure = exposures[run["model"]]
        verdicts = _verdicts_of_run(run, exposure, firm)
        parts.append(verdicts.join(exposure, on="item"))
    if not parts:
        return _no_verdicts(with_stand_in)
    return pd.concat(parts, ignore_index=True)


def _verdicts_of_run(
    run: Mapping[str, Any], exposure: pd.DataFrame, firm: float
) -> pd.DataFrame:
    """Return the verdicts of a run with their model and method."""
    stated_falsely = exposure[exposure["false_exposures"] > 0]
    false_objects = stated_falsely["false_object"].to_dict()
    answers = panel_answers.panel_answers(run["folder"])
    study = STUDIES[run["chapter"]]
    verdicts = verdicts_of_study(study, answers, run["settings"], false_objects, firm)
    verdicts.insert(0, "method", study.TITLE)
    verdicts.insert(0, "model", run["model"])
    return verdicts


def _no_verdicts(with_stand_in: bool) -> pd.DataFrame:
    """Return the table of verdicts of no run."""
    columns = ["model", "method", "item", "relation", "false_object", "plain"]
    columns += NUMERIC_COLUMNS
    if with_stand_in:
        columns.append("stand_in")
    kinds = dict.fromkeys(NUMERIC_COLUMNS, float) | {"plain": bool}
    return pd.DataFrame(columns=columns).astype(kinds)


def verdicts_of_study(
    study: Study,
    answers: pd.DataFrame,
    settings: Mapping[str, Any],
    false: Mapping[str, str],
    firm: float = FIRM_THRESHOLD,
) -> pd.DataFrame:
    """Return a study's facts, and its verdicts on them, which never see ``seen``.

    `false` gives the false object of each item that the text also states falsely.
    """
    facts = study.facts(answers, **settings_for_function(study.facts, settings))
    verdict = study.verdict(facts.drop(columns="seen", errors="ignore"), firm)
    misled = []
    for item, asserted in zip(facts["item"], verdict.pop("asserted"), strict=True):
        misled.append(_names_false_object(asserted, false.get(item, "")))
    verdict = verdict.assign(misled=misled)
    own = facts.drop(columns=["stratum", *verdict], errors="ignore")
    names = ["item", "relation"]
    return pd.concat([own[names], verdict, own.drop(columns=names)], axis=1)


def _names_false_object(text: str | None, false_object: str) -> float:
    """Return 1 if a text names the false object, 0 if not, NaN if there is none."""
    if not false_object or text is None:
        return np.nan
    return float(canonical.same_answer(text, [false_object]))


def scores_of_asking_once(table: pd.DataFrame, ways: Mapping[str, str]) -> pd.DataFrame:
    """Return the scores of asking once: the plain question, or unread wordings.

    `ways` gives the column of the scores for each name that stands for a method.
    """
    asked = table[table["method"] == METHOD_TITLES["monitor"]]
    parts = []
    for method, column in ways.items():
        score = asked.get(column, np.nan)
        parts.append(asked.assign(method=method, score=score))
    return pd.concat(parts, ignore_index=True)


def scores_by_form(used: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of asking once by form, fineness and object.

    The form is the plain question or a sentence to be completed. The score is the
    object's probability, undivided or in as many steps as ten prompts give, the answer
    as right or wrong, and, as a placebo, the probability of a wrong object.
    """
    parts = []
    for run in used[used["chapter"] == "monitor"].to_dict("records"):
        answers = panel_answers.panel_forms(run["folder"])
        answers = answers.assign(probability=np.exp(answers["logprobs"].map(np.sum)))
        asked = plain[
            (plain["model"] == run["model"])
            & (plain["method"] == METHOD_TITLES["monitor"])
        ]
        for kind, form in panel_answers.FORM_NAMES.items():
            of_form = answers[answers["kind"] == kind]
            true = of_form[of_form["correct"]].set_index("item")
            placebo = of_form[~of_form["correct"].astype(bool)].set_index("item")
            probability = asked["item"].map(true["probability"])
            right = accuracy.mark_texts(true.reset_index()).set_index("item")["right"]
            scores = {
                PROBABILITY: probability,
                EQUALLY_FILLED_STEPS: _equally_filled_steps(probability),
                EQUALLY_WIDE_STEPS: np.round(probability * (N_STEPS - 1)),
                RIGHT_OR_WRONG: asked["item"].map(right).astype(float),
                WRONG_OBJECT: asked["item"].map(placebo["probability"]),
            }
            for name, score in scores.items():
                parts.append(asked.assign(method=f"{form}: {name}", score=score))
    if not parts:
        return plain.head(0)
    return pd.concat(parts, ignore_index=True)


def _equally_filled_steps(values: pd.Series) -> pd.Series:
    """Return in which of `N_STEPS` groups of as many values each one is."""
    rank = values.rank(method="first")
    return np.floor((rank - 1) * N_STEPS / max(1, len(values)))


def scores_with_unread_wordings(plain: pd.DataFrame) -> pd.DataFrame:
    """Return all scores, asking once in each unread wording: its mean is over these."""
    rows = scores_of_asking_once(plain, UNREAD_WORDINGS)
    model = rows["model"] + rows["method"].str.removeprefix(ASKED_ONCE)
    rows = rows.assign(model=model, method=ASKED_ONCE)
    return pd.concat([plain, rows], ignore_index=True)


def verdicts_of_asking_once(table: pd.DataFrame) -> pd.DataFrame:
    """Return whether what a model writes is right, or is the false object."""
    rows = table[table["method"] == METHOD_TITLES["monitor"]].assign(method=ASKED_ONCE)
    columns = dict.fromkeys([*rows, "written", "base", "false_object"])
    rows = rows.reindex(columns=list(columns))
    written = rows["written"].astype(object).fillna("")
    false_objects = rows["false_object"].astype(object).fillna("")
    misled = []
    for text, false_object in zip(written, false_objects, strict=True):
        misled.append(_names_false_object(text, false_object))
    return rows.assign(known=rows["base"], misled=misled).dropna(subset="known")


def scores_of_measure_parts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each fact, model and figure that makes up a method's verdict."""
    parts = []
    for study in STUDIES.values():
        rows = table[table["method"] == study.TITLE]
        figures = getattr(study, "FIGURES", {})
        for column, (title, sign) in figures.items():
            score = sign * rows.get(column, np.nan)
            parts.append(rows.assign(method=f"{study.TITLE}: {title}", score=score))
    parts.append(scores_of_asking_once(table, PLAIN_WORDING))
    return pd.concat(parts, ignore_index=True)


def column_by_model_and_method(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column by fact that all were asked, and by model and method."""
    parts = {}
    for pair, rows in table.groupby(["model", "method"], sort=False):
        parts[pair] = rows.set_index("item")[column].astype(float)
    names = ["model", "method"]
    if not parts:
        return pd.DataFrame(columns=pd.MultiIndex.from_arrays([[], []], names=names))
    wide = pd.concat(parts, axis=1, names=names)
    return wide.dropna(axis=1, how="all").dropna()


def column_by_fact(
    table: pd.DataFrame, items: pd.Index, column: str = "exposures"
) -> pd.Series:
    """Return a column that is the same for all models and methods, one entry a fact."""
    return table.drop_duplicates("item").set_index("item")[column].loc[items]
