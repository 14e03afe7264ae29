"""Does a model know when it is right? Its confidence in its own answers, by method."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import stats
from helpers.metrics import accuracy, confidence
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES
from notebooks.analysis.calibration_verdicts import METHOD_TITLES
from notebooks.kit.plots import result_tables, shared_figures, style

ArrayStatistic = Callable[[np.ndarray], np.ndarray]
PLAIN_QUESTION = "plain question"
SENTENCE = "sentence to be completed"
FORM_TITLES = {"qa": PLAIN_QUESTION, "wp": SENTENCE}
LISTS = METHOD_TITLES["latent_knowledge"]
NOT_UNSURE = 'not "unsure"'
N_COVERAGES = 20
CONFIDENCE_COLUMNS = ["model", "method", "item", "relation", "confidence", "right"]
OVERCONFIDENCE = "confidence less share right"


def share_wrong(rows: np.ndarray) -> np.ndarray:
    """Return the share of answers that are wrong."""
    return 1 - rows[..., 1].mean(axis=-1)


def mean_overconfidence(rows: np.ndarray) -> np.ndarray:
    """Return mean confidence less the share of answers that are right."""
    return (rows[..., 0] - rows[..., 1]).mean(axis=-1)


# What is computed of a method's answers, averaged over models.
STATISTICS = {
    "share wrong": share_wrong,
    OVERCONFIDENCE: mean_overconfidence,
    "calibration error": confidence.expected_calibration_error,
    "Brier score": confidence.brier_score,
    "risk over all coverages": confidence.area_under_risk_coverage,
}


def confidence_in_answers(used: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Return how sure each model is of its own answer, and whether that is right.

    Rows are a model, method and fact: ``model, method, item, relation, confidence,
    right``. The confidence is the probability of the answer that the model writes, and
    in IC-LKE the share of the choice that it ranks first.
    """
    parts = []
    for run in used[used["chapter"] == "monitor"].to_dict("records"):
        answers = panel_answers.panel_forms(run["folder"])
        answers = answers[answers["correct"].astype(bool)]
        marked = accuracy.mark_texts(answers)
        for kind, method in FORM_TITLES.items():
            of_form = marked[marked["kind"] == kind]
            part = of_form[["item", "relation"]].assign(
                model=run["model"],
                method=method,
                confidence=np.exp(of_form["own_logprob"].astype(float)),
                right=of_form["right"].astype(float),
            )
            parts.append(part)
    lists = plain[plain["method"] == LISTS]
    if "top" in lists:
        of_lists = lists[["model", "item", "relation", "right"]].assign(
            method=LISTS, confidence=lists["top"]
        )
        parts.append(of_lists)
    if not parts:
        return pd.DataFrame(columns=CONFIDENCE_COLUMNS)
    whole = pd.concat(parts, ignore_index=True)
    wanted = plain[["model", "item"]].drop_duplicates()
    whole = whole.merge(wanted, on=["model", "item"])
    return whole.dropna(subset=["confidence", "right"])


def confidence_by_method(table: pd.DataFrame, **draw: int) -> pd.DataFrame:
    """Return each statistic of each method, averaged over models, with intervals."""
    rows = []
    for method, answers in table.groupby("method", sort=False):
        values, relation = _values_by_fact(answers)
        for name, statistic in STATISTICS.items():
            of_models = partial(_mean_over_models, statistic)
            interval = stats.bootstrap(values, of_models, relation, **draw)
            rows.append({"method": method, "measure": name, **interval._asdict()})
    return pd.DataFrame(rows, columns=["method", "measure", *stats.Interval._fields])


def _mean_over_models(statistic: ArrayStatistic, rows: np.ndarray) -> np.ndarray:
    """Return the mean of a statistic over models, whose confidences stand first."""
    n_models = rows.shape[-1] // 2
    of_models = []
    for place in range(n_models):
        of_models.append(statistic(rows[..., [place, n_models + place]]))
    return np.mean(of_models, axis=0)


def _values_by_fact(answers: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return confidences, then marks, a column a model; and each fact's relation."""
    wide = answers.pivot_table(["confidence", "right"], "item", "model").dropna()
    relation = answers.drop_duplicates("item").set_index("item")["relation"]
    values = wide[["confidence", "right"]].to_numpy()
    return values, relation.loc[wide.index].to_numpy()


def risk_by_coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Return the share wrong among the surest answers, by how many are given."""
    rows = []
    for method, answers in table.groupby("method", sort=False):
        for coverage in np.linspace(1 / N_COVERAGES, 1, N_COVERAGES):
            risks = []
            for _, of_model in answers.groupby("model"):
                ordered = of_model.sort_values("confidence", ascending=False)
                given = ordered.head(max(1, round(coverage * len(ordered))))
                risks.append(1 - given["right"].mean())
            rows.append(
                {"method": method, "coverage": coverage, "risk": np.mean(risks)}
            )
    return pd.DataFrame(rows, columns=["method", "coverage", "risk"])


def questions_not_declined(table: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Return the plain question's answers, and where the model is not unsure.

    ``given`` is 1 where the model, asked by the knowledge-base study, which lets it
    say that it is unsure, gives an answer to the same question; ``kept`` is 1 for as
    many answers of the same relation, the surest.
    """
    method = STUDIES["knowledge_base"].TITLE
    asked = plain[plain["method"] == method]
    answers = table[table["method"] == PLAIN_QUESTION]
    if "tested" not in asked or answers.empty:
        return answers.head(0).assign(given=[], kept=[])
    said = asked.set_index(["model", "item"])[["correct", "wrong"]].dropna()
    given = (said.sum(axis=1) > 0).astype(float).rename("given")
    both = answers.join(given, on=["model", "item"]).dropna(subset="given")
    groups = both.groupby(["model", "relation"])
    rank = groups["confidence"].rank(method="first", ascending=False)
    n_given = groups["given"].transform("sum")
    return both.assign(kept=(rank <= n_given).astype(float))


def threshold_against_declining(
    both: pd.DataFrame, **draw: int
) -> tuple[stats.Interval, dict[str, str]]:
    """Return how much more often answers are wrong that "unsure" lets through.

    Both choose among the plain question's answers, and as many in each relation: those
    to questions that the model does not decline, and the surest.
    """
    if both.empty:
        nothing = stats.Interval(float("nan"), float("nan"), float("nan"), 0)
        return nothing, {"declining": "", "threshold": "", "coverage": ""}
    wrong = 1 - both["right"]
    both = both.assign(
        wrong_given=both["given"] * wrong, wrong_kept=both["kept"] * wrong
    )
    columns = ["wrong_given", "given", "wrong_kept", "kept"]
    by_fact = both.groupby(["relation", "item"])[columns].sum().reset_index()
    interval = stats.bootstrap(
        by_fact[columns].to_numpy(), _difference_of_risks, by_fact["relation"], **draw
    )
    totals = by_fact[columns].sum()
    words = {
        "declining": f"{100 * totals['wrong_given'] / totals['given']:.0f}",
        "threshold": f"{100 * totals['wrong_kept'] / totals['kept']:.0f}",
        "coverage": f"{100 * totals['given'] / len(both):.0f}",
    }
    return interval, words


def _difference_of_risks(rows: np.ndarray) -> np.ndarray:
    """Return the first share wrong less the second, each of a pair of columns."""
    sums = rows.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3]


def overconfidence_of_plain_question(by_method: pd.DataFrame) -> list[float]:
    """Return estimate, bounds and n of the plain question's overconfidence."""
    of_question = by_method["method"] == PLAIN_QUESTION
    row = by_method[of_question & (by_method["measure"] == OVERCONFIDENCE)]
    if row.empty:
        return [np.nan, np.nan, np.nan, 0]
    return row[["estimate", "low", "high", "n"]].iloc[0].tolist()


def table_of_confidence(by_method: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics of confidence, a row a method and a column a statistic."""
    titles = {name: name for name in STATISTICS}
    wide = result_tables.wide_interval_table(by_method, titles, digits=2, by="method")
    return wide.reset_index()


def draw_risk_by_coverage(risks: pd.DataFrame, both: pd.DataFrame) -> Axes:
    """Draw the share wrong by how many answers are given, and where "unsure" stands."""
    lines = risks.rename(columns={"risk": "estimate"})
    ax = shared_figures.curve_plot(
        lines,
        "coverage",
        "method",
        xlabel="answers given, the surest first",
        ylabel="wrong among them",
        points=False,
        nothing="No model's answers were asked for their probability.",
    )
    if len(both):
        coverage = both.groupby("model")["given"].mean().mean()
        given = both[both["given"] > 0]
        risk = 1 - given.groupby("model")["right"].mean().mean()
        ax.plot(coverage, risk, "D", color="black", ms=7)
        ax.annotate(
            NOT_UNSURE,
            (coverage, risk),
            (-8, 4),
            textcoords="offset points",
            ha="right",
        )
    style.show_axis_in_percent(ax.xaxis)
    return ax
