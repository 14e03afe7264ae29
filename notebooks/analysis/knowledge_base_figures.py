"""The knowledge-base paper's figures: models in planes, silence by type of answer.

What it says of answers, it reads from saved tables, so that a comparison of finished
runs can draw it without a model.
"""

import textwrap
from collections.abc import Collection

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import runs, stats
from helpers.datasets.unseen_questions import QUESTION_TEMPLATES
from helpers.metrics import responses
from notebooks.kit.plots import scatters
from notebooks.kit.published import load_published_table

# Panels of Figure 2: the measures, and models that the text names of it. That (a) is of
# CR and WR the text says; the other axes are inferred from what it reads off there.
FIGURE_2_PANELS = {
    "a": ("CR", "WR", ("GPT-3.5 Turbo", "Llama 1 13B", "Gemma-Instruct 7B")),
    "b": ("NCR", "UR", ("GPT-3.5 Turbo",)),
    "c": ("Cons_w_seen", "Cons_w_unseen", ("Llama2chat 7B",)),
    "d": ("Cons_c", "Cons_w", ("Llama3Instruct 70B", "Llama3Instruct 8B")),
    "e": ("CCR", "CWR", ("GPT-3.5 Turbo", "Llama3Instruct 8B")),
    "f": ("NCCR", "IUR", ("GPT-3.5 Turbo",)),
}
TEMPLATE_NAMES = [template.name for template in QUESTION_TEMPLATES]
UNINFORMATIVE_KINDS = ("repetition", "none", "unsure")
LONGEST_EXAMPLE = 60  # letters
UNINFORMATIVE_COLUMNS = [
    "models",
    "setting",
    "how many",
    "kind",
    "answers",
    "of",
    "percent",
    "the commonest",
]


def draw_planes_of_figure_2(models: pd.DataFrame, measured: pd.DataFrame) -> list[Axes]:
    """Draw the paper's models in the planes of Figure 2, and a run's settings beside.

    `models` has the printed measures by model, `measured` those of the run by setting.
    """
    printed = models.rename_axis("label").reset_index()
    printed["published"] = ~printed["tuned"]
    ours = measures_of_settings(measured)
    n_rows = len(FIGURE_2_PANELS)
    # A layout that is computed anew for each name would take seconds.
    _, grid = plt.subplots(
        n_rows,
        2,
        figsize=(7.2, 2.6 * n_rows),
        sharex="row",
        sharey="row",
        layout="none",
        gridspec_kw={"hspace": 0.5},
    )
    for (letter, panel), axes in zip(FIGURE_2_PANELS.items(), grid, strict=True):
        x, y, names = panel
        paper_axes, own_axes = axes
        scatters.scatter_plot(printed, x, y, paper_axes)
        scatters.scatter_plot(ours, x, y, own_axes)
        correlation = paper_axes.get_title(loc="left")
        paper_axes.set_title(f"({letter}) {correlation}", loc="left")
        for name in names:
            place = models.loc[name, [x, y]]
            _write_beside_point(paper_axes, name, place)
    return list(grid.flat)


def _write_beside_point(ax: Axes, name: str, place: pd.Series) -> None:
    """Write a name on the side of a point where the axes have more room."""
    offset, alignment = (4, -9), "left"
    if place.iloc[0] > np.mean(ax.get_xlim()):
        offset, alignment = (-4, -9), "right"
    style = {"ha": alignment, "va": "center", "fontsize": 9}
    ax.annotate(name, tuple(place), offset, textcoords="offset points", **style)


def measures_of_settings(measured: pd.DataFrame) -> pd.DataFrame:
    """Lay out a run's measures as a scatter takes them: a row for each setting."""
    columns = {}
    for name, rows in measured.groupby("measure"):
        by_setting = rows.set_index("setting")
        columns[name] = by_setting["estimate"]
        columns[f"{name}_low"] = by_setting["low"]
        columns[f"{name}_high"] = by_setting["high"]
    table = pd.DataFrame(columns).reindex(measured["setting"].unique())
    return table.rename_axis("label").reset_index()


def unanswered_rate_by_answer_type(replies: pd.DataFrame) -> pd.DataFrame:
    """Estimate how often UnseenQA is left unanswered by type of answer and setting.

    The interval is Student's over the templates of a type, for other questions of the
    type would have other templates.

    >>> replies = pd.DataFrame({
    ...     "setting": "zero-shot", "type": "number", "group": ["T1", "T2"],
    ...     "label": ["uninformative", "wrong"]})
    >>> unanswered_rate_by_answer_type(replies)["estimate"].tolist()
    [0.5]
    """
    rates = _unanswered_rate_by_template(replies)
    rows = []
    for (answer_type, setting), part in rates.groupby(["type", "setting"], sort=False):
        estimate, low, high, n = stats.student_interval(part["rate"])
        if np.ptp(part["rate"]) == 0:  # it cannot vary, so it bounds nothing
            low, high = float("nan"), float("nan")
        rows.append((answer_type, setting, estimate, max(low, 0.0), min(high, 1.0), n))
    columns = ["type", "setting", "estimate", "low", "high", "templates"]
    return pd.DataFrame(rows, columns=columns)


def unanswered_percent_by_template(replies: pd.DataFrame) -> pd.DataFrame:
    """Tabulate UR, in percent, of each template of the paper's Table 1 by setting."""
    rates = _unanswered_rate_by_template(replies)
    table = rates.pivot_table(index="group", columns="setting", values="rate") * 100
    table = table[rates["setting"].unique()].add_prefix("UR, ")
    printed = load_published_table("kb_table1")
    return printed.join(table).rename_axis("template of Table 1")


def _unanswered_rate_by_template(replies: pd.DataFrame) -> pd.DataFrame:
    asked = replies[replies["group"].isin(TEMPLATE_NAMES)]
    asked = asked.assign(rate=asked["label"] == "uninformative")
    keys = ["type", "group", "setting"]
    return asked.groupby(keys, sort=False)["rate"].mean().reset_index()


def unseen_responses_by_model(
    here: pd.DataFrame, tuned: Collection[str]
) -> pd.DataFrame:
    """Read what the compared models answered to UnseenQA, base models first.

    `here` are runs in comparable groups; ``models`` says which kind a model is of.
    """
    parts = []
    is_compared = (here["chapter"] == "knowledge_base") & (here["group"] == 0)
    for run in here[is_compared].itertuples():
        replies = runs.load_answers(run.folder)
        replies = replies[replies["group"].isin(TEMPLATE_NAMES)]
        kind = "tuned" if run.label in tuned else "base"
        parts.append(replies.assign(model=run.label, models=kind))
    if not parts:
        columns = ["model", "models", "setting", "kind", "text"]
        return pd.DataFrame(columns=columns)
    replies = pd.concat(parts, ignore_index=True)
    return replies.sort_values("models", kind="stable")


def response_shares_by_model(replies: pd.DataFrame) -> pd.DataFrame:
    """Tabulate kinds of responses by model and setting, n in brackets (Figure 5)."""
    if replies.empty:
        return pd.DataFrame()
    labels = replies["model"] + ", " + replies["setting"]
    shares = responses.response_kind_shares(replies, labels)
    shares.index += shares.pop("n").map(" ({:,.0f})".format)
    return shares.loc[:, shares.any()]


def uninformative_responses(replies: pd.DataFrame) -> pd.DataFrame:
    """Count uninformative responses by kind of model, with the commonest (Table 3).

    A row is a kind in one prompt setting, for models may differ in the settings asked.
    """
    rows = []
    groups = replies.groupby(["models", "setting"], sort=False)
    for (models, setting), of_models in groups:
        n_models = of_models["model"].nunique()
        for kind in UNINFORMATIVE_KINDS:
            texts = of_models.loc[of_models["kind"] == kind, "text"].str.strip()
            n = len(of_models)
            commonest = next(iter(texts.value_counts().index), "")
            example = textwrap.shorten(commonest, LONGEST_EXAMPLE)
            percent = 100 * len(texts) / n
            counts = (n_models, kind, len(texts), n)
            rows.append((models, setting, *counts, percent, example))
    return pd.DataFrame(rows, columns=UNINFORMATIVE_COLUMNS)
