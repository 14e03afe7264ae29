"""Grade a measure of knowledge by models whose reading of each fact is known."""

from collections.abc import Hashable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import testbed
from helpers.datasets.cells import visible_text
from helpers.io import files
from helpers.metrics.roc_curve import area_of_run
from helpers.stats import holm_adjusted_p_values
from helpers.stats.over_runs import POWER, EstimateOfRun, mean_over_runs

# The rival of every measure, named before any was graded: one plain question.
RIVAL = "qa0 right"
# Exposures from, to; each level is compared with facts that were never read.
LEVELS = {
    "read or never": (1, np.inf),
    "1 to 4 or never": (1, 4),
    "8 to 32 or never": (8, 32),
    "64 and more or never": (64, np.inf),
}
MAIN_LEVEL = "read or never"
# Measures that a new one is graded beside: a title for each column of the runs.
MEASURES_BESIDE = {
    "qa0 right": "plain question",
    "qa0 per token": "plain question, per token",
    "qa0 written": "plain question, right or wrong",
    "wp0 right": "sentence to be completed",
    "mean over wordings": "mean over seven questions",
    "pmi": "plain question less the same without its subject",
    "share among choices": "plain question, share among six objects",
    "knowledge risk ratio": "KaRR, two ratios",
    "least likely tokens": "Min-K % of the sentence",
    "judged true": "judged true, log odds",
    "consistency of wordings": "ParaRel consistency",
    "certainty of wordings": "semantic entropy over wordings, negative",
    "monitor score": "MONITOR",
    "monitor anchor": "MONITOR's anchor",
    "monitor stability": "MONITOR's stability",
    "knowledge_base score": "knowledge base",
    "knowledge_base agreement": "knowledge base's consistency",
    "latent_knowledge score": "IC-LKE",
    "multiplicity score": "multiplicity",
    "multiplicity self_consistency": "multiplicity's self-consistency",
}
FEWEST_FACTS = 20
RUN_OF_BUNDLED_MODEL = {"atlas-xs": "xs-0", "atlas-s": "s-0", "atlas-m": "m-0"}


def read_scores(path: str | Path) -> pd.DataFrame:
    """Read the scores of a measure: columns ``model, fact, score``.

    Parameters
    ----------
    path
        A table as CSV.

    Returns
    -------
    DataFrame
        ``run, item, score``, as :func:`grade_measure` takes it.

    Raises
    ------
    UserError
        If a column is missing, a score is not a number, or a fact stands there twice.
    """
    columns = ("model", "fact", "score")
    rows = files.read_csv_rows(Path(path), columns, numbers=("score",))
    table = pd.DataFrame(rows, columns=[*columns, "where"])
    table[["model", "fact"]] = table[["model", "fact"]].map(visible_text)
    score = pd.to_numeric(table["score"], errors="coerce")
    is_number = np.isfinite(score)
    if not is_number.all():
        raise UserError(
            f"{table.loc[~is_number, 'where'].iloc[0]} has a score that is no finite"
            " number: give each fact a number, the larger the surer that the model"
            " knows it."
        )
    scores = pd.DataFrame(
        {
            "run": table["model"].replace(RUN_OF_BUNDLED_MODEL),
            "item": table["fact"],
            "score": score.astype(float),
        }
    )
    repeated = scores[scores.duplicated(["run", "item"])]
    if not repeated.empty:
        first = repeated.iloc[0]
        raise UserError(
            f"{path} scores fact {first['item']} of {first['run']} twice: once is asked"
            " for."
        )
    return scores


def grade_measure(
    scores: pd.DataFrame,
    runs: pd.DataFrame | None = None,
    *,
    split: str = "all",
    title: str = "your measure",
) -> pd.DataFrame:
    """Say how well a measure tells facts that were read from facts that never were.

    The area under the ROC curve is over pairs of facts of one relation, averaged over
    the runs. Its variance is DeLong et al.'s (1988), summed over relations; over
    several runs that of a mean over runs is added, as another training run would give
    another area. Facts that a text states falsely, and those never stated whose names
    meet in another fact, are left out. One rival was named in advance, the plain
    question; the differences from all others are corrected together by Holm's method.

    Parameters
    ----------
    scores : DataFrame
        ``run, item, score``, larger the surer that the fact is known.
    runs : DataFrame, optional
        As :func:`helpers.datasets.testbed.load_testbed_runs` returns them, by default
        those that come with the package.
    split : {"all", "choosing", "reporting"}
        Which half of the facts; choose a measure on one and report the other.
    title : str
        Of the measure in the table.

    Returns
    -------
    DataFrame
        A row a measure and level. ``auc`` in [0, 1] with its interval of 95 %;
        ``less_rival`` the area less the rival's on the same facts, ``p`` of that
        difference, and ``detectable``, the difference that would be told apart in four
        of five samples. At the first level ``p_holm`` is of the difference between each
        other measure and the graded one, but for the rival's, which `p` is of.

    Raises
    ------
    UserError
        If no score is of a run and fact of the testbed, or too few are.
    """
    runs = testbed.load_testbed_runs() if runs is None else runs
    if split not in ("all", *testbed.SPLITS):
        raise UserError(
            f'The split is "all", "choosing" or "reporting", not "{split}".'
        )
    known = with_derived_measures(runs)
    unknown = sorted(set(scores["run"]) - set(known["run"]))
    if unknown:
        names = ", ".join(sorted(set(known["run"])))
        raise UserError(
            f"The testbed has no run of {unknown[0]}: name one of {names}, or a bundled"
            f" model that was not tuned ({', '.join(RUN_OF_BUNDLED_MODEL)})."
        )
    strange = sorted(set(scores["item"]) - set(known["item"]))
    if strange:
        raise UserError(
            f"The testbed has no fact {strange[0]} ({len(strange)} such): take the ids"
            f" from the column fact of {testbed.TESTBED_FACTS_FILE.name}."
        )
    table = known.merge(scores, on=["run", "item"])
    table = table[testbed.is_exposure_clear(table)]
    if split != "all":
        table = table[testbed.split_of_facts(table["item"]) == split]
    if len(table) < FEWEST_FACTS:
        raise UserError(
            f"{len(table)} scores are of facts that count, and grading needs"
            f" {FEWEST_FACTS}: score all facts of {testbed.TESTBED_FACTS_FILE.name}."
        )
    if title in MEASURES_BESIDE.values():
        title = f"{title} (yours)"
    rows = []
    for level, (least, most) in LEVELS.items():
        rows += _rows_of_level(table, level, least, most, title)
    grades = pd.DataFrame(rows)
    if np.isnan(grades["auc"].iloc[0]):
        raise UserError(
            "In no relation both facts that were read and facts that never were are"
            f" scored: score all facts of {testbed.TESTBED_FACTS_FILE.name}."
        )
    p_of_level = grades.pop("p_of_pair").where(grades["level"] == MAIN_LEVEL)
    return grades.assign(p_holm=holm_adjusted_p_values(p_of_level))


def with_derived_measures(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with the measures that are computed from several columns."""
    questions = [f"qa{frame} right" for frame in range(7)]
    return runs.assign(
        **{
            "mean over wordings": np.exp(runs[questions]).mean(axis=1),
            "pmi": runs["qa0 right"] - runs["qa0 without subject"],
            "monitor stability": -runs["monitor deviation"],
        }
    )


def _rows_of_level(
    table: pd.DataFrame, level: str, least: float, most: float, title: str
) -> list[dict[str, object]]:
    """Return the rows of one level: the graded measure first, then all others."""
    is_read = table["exposures"].between(least, most)
    rows_of_level = table[is_read | (table["exposures"] == 0)]
    rows = []
    for column, name in {"score": title, **MEASURES_BESIDE}.items():
        if column not in rows_of_level:
            continue  # runs of one's own may lack a measure
        there = rows_of_level.dropna(subset=column)  # the facts that have both
        if there.empty:
            continue
        areas = areas_by_run(there, column)
        row = _grade_row(areas, areas_by_run(there, RIVAL))
        p_of_pair = float("nan")
        if column not in ("score", RIVAL):
            p_of_pair = mean_over_runs(areas, areas_by_run(there, "score")).p
        rows.append({"measure": name, "level": level, **row, "p_of_pair": p_of_pair})
    return rows


def areas_by_run(table: pd.DataFrame, column: str) -> dict[Hashable, EstimateOfRun]:
    """Return the area of a column within relations, in each run."""
    areas: dict[Hashable, EstimateOfRun] = {}
    for run, rows in table.groupby("run"):
        of_fact = rows.set_index("item")
        area = area_of_run(
            of_fact[column], of_fact["exposures"] > 0, of_fact["relation"]
        )
        if np.isfinite(area.estimate):
            areas[run] = area
    return areas


def _grade_row(
    areas: Mapping[Hashable, EstimateOfRun], rival: Mapping[Hashable, EstimateOfRun]
) -> dict[str, float]:
    """Return the mean area over runs, and how far it is from the rival's."""
    area = mean_over_runs(areas, null=0.5)
    gap = mean_over_runs(areas, rival)
    return {
        "runs": area.n_runs,
        "facts": area.n,
        "auc": area.estimate,
        "low": area.low,
        "high": area.high,
        "less_rival": gap.estimate,
        "less_rival_low": gap.low,
        "less_rival_high": gap.high,
        "p": gap.p,
        "detectable": gap.detectable,
    }


def grades_in_words(grades: pd.DataFrame) -> str:
    """Return the grades as lines for a terminal: what counts first, then a table."""
    main = grades[grades["level"] == MAIN_LEVEL]
    own = main.iloc[0]
    lines = [
        f"{own['measure']}: AUC {own['auc']:.3f} [{own['low']:.3f}, {own['high']:.3f}],"
        f" {own['facts']} facts, {own['runs']} training runs.",
        _sentence_on_rival(own),
        "",
        "AUC within relations, facts read against facts never read; intervals of 95 %."
        " p: of the difference from the graded measure, by Holm's method.",
        _table_of_levels(grades),
    ]
    return "\n".join(lines)


def _sentence_on_rival(own: pd.Series) -> str:
    """Say whether a measure is told apart from one plain question."""
    gap = (
        f"{own['less_rival']:+.3f}"
        f" [{own['less_rival_low']:.3f}, {own['less_rival_high']:.3f}]"
    )
    if np.isnan(own["less_rival_low"]) and own["less_rival"] == 0:
        return "It orders all facts as one plain question does."
    if np.isnan(own["less_rival_low"]):
        return (
            f"It differs from one plain question by {own['less_rival']:+.3f}; these"
            " facts do not vary enough for an interval."
        )
    if own["less_rival_low"] > 0:
        verdict = "It tells more than one plain question does"
    elif own["less_rival_high"] < 0:
        verdict = "It tells less than one plain question does"
    else:
        verdict = "It cannot be told apart from one plain question"
    return (
        f"{verdict} ({gap}). A difference of {own['detectable']:.3f} would be found in"
        f" {POWER:.0%} of such samples."
    )


def _table_of_levels(grades: pd.DataFrame) -> str:
    """Return a line a measure, the best first, and a column a level."""
    main = grades[grades["level"] == MAIN_LEVEL].set_index("measure")
    wide = grades.pivot_table(
        "auc", "measure", "level", sort=False, aggfunc="first", dropna=False
    )
    wide["p"] = main["p_holm"]
    wide = wide.sort_values(MAIN_LEVEL, ascending=False)
    return wide.to_string(float_format="{:.3f}".format, na_rep="")
