"""What the MONITOR paper shows of several models, of the runs that are compared."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from helpers import runs, stats
from helpers.metrics import accuracy, anchors, monitor
from notebooks.analysis.monitor_paper import FEWER_FRAMES, SOLID
from notebooks.kit import published, runs_against_papers
from notebooks.kit.plots import style

# Points of base accuracy within which models are compared, as in Table 6
NEAREST_ACCURACY = 3.0
PAPER_SERIES = (
    ("BLOOMZ-560m", "BLOOMZ-1b1", "BLOOMZ-3b", "BLOOMZ-7b1"),
    ("Vicuna-7b", "Vicuna-13b"),
)


class MonitorOfModel(NamedTuple):
    """MONITOR of one run, by relation and over ``all`` facts that count."""

    millions: float  # parameters
    in_all: pd.Series  # in all question frames, by relation
    in_four: pd.DataFrame  # a row a choice of four frames, a column a relation
    base: float  # accuracy in the base prompt
    deviation: float  # of accuracy over the paper's prompts
    solid: float  # share of primary anchors above 0.8


def monitor_by_model(here: pd.DataFrame) -> dict[str, MonitorOfModel]:
    """Read MONITOR's compared runs, the smallest model first."""
    models = {}
    is_compared = (here["chapter"] == "monitor") & (here["group"] == 0)
    for run in here[is_compared].itertuples():
        models[run.label] = _monitor_of_run(run.folder, run.manifest)
    return dict(sorted(models.items(), key=_size_of_item))


def _size_of_item(item: tuple[str, MonitorOfModel]) -> float:
    """Return what to sort by; a model of unknown size comes last."""
    millions = item[1].millions
    return np.inf if np.isnan(millions) else millions


def _monitor_of_run(folder: Any, manifest: Mapping[str, Any]) -> MonitorOfModel:
    """Read one run."""
    settings = manifest["parameters"]
    answers = runs.load_answers(folder)
    scores = runs_against_papers.facts_of_run("monitor", folder).reset_index()
    column = anchors.anchor_column(settings["anchor_mode"])
    distances = monitor.distances_by_frame(answers, column)
    alphas = settings["alphas"]
    n_frames = len(distances.columns)
    in_all = monitor.scores_of_frame_subsets(scores, distances, n_frames, alphas)
    in_four = monitor.scores_of_frame_subsets(scores, distances, FEWER_FRAMES, alphas)
    marks = accuracy.mark_texts(answers, rule=settings["match"])
    marks = marks[marks["context"].isin(["none", "wrong"])]
    by_prompt = accuracy.marks_by_fact_and_prompt(marks)
    by_prompt = by_prompt.drop(columns=["item", "relation"]).to_numpy()
    counted = scores[scores["counted"]]
    return MonitorOfModel(
        millions=(manifest["model"].get("n_parameters") or np.nan) / 1e6,
        in_all=in_all.iloc[0],
        in_four=in_four,
        base=float(scores["base"].mean()),
        deviation=float(accuracy.accuracy_over_prompts(by_prompt, "deviation")),
        solid=float((counted["anchor"] > SOLID).mean()),
    )


def stability_of_models(models: Mapping[str, MonitorOfModel]) -> pd.DataFrame:
    """Lay out MONITOR beside accuracy and its deviation, a row a model (Table 6)."""
    rows = {}
    for label, model in models.items():
        four = model.in_four["all"]
        rows[label] = {
            "million parameters": model.millions,
            "MONITOR": model.in_all["all"],
            "first four wordings": four.iloc[0] if len(four) else np.nan,
            "least of four": four.min(),
            "largest of four": four.max(),
            "base accuracy, %": 100 * model.base,
            "deviation, points": 100 * model.deviation,
            "anchors above 0.8, %": 100 * model.solid,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def sentence_on_wordings(models: Mapping[str, MonitorOfModel]) -> str:
    """Say how often four wordings rank models as all do (Figure 9); "" of one model."""
    in_four = pd.DataFrame(
        {name: model.in_four["all"] for name, model in models.items()}
    )
    if len(models) < 2 or in_four.empty:
        return ""
    in_all = pd.Series({name: model.in_all["all"] for name, model in models.items()})
    is_same_order = (in_four.rank(axis=1) == in_all.rank()).all(axis=1)
    return (
        f"In {is_same_order.sum()} of {len(in_four)} choices of four wordings the "
        f"{len(models)} models have the order that they have in all.\n"
    )


def sentence_on_models_of_equal_accuracy(stability: pd.DataFrame) -> str:
    """Say whether the lower MONITOR has the lower deviation (section 6.1)."""
    n_pairs = n_alike = 0
    for first, second in combinations(stability.to_dict("records"), 2):
        gap = abs(first["base accuracy, %"] - second["base accuracy, %"])
        if gap <= NEAREST_ACCURACY:
            is_lower = first["MONITOR"] < second["MONITOR"]
            is_steadier = first["deviation, points"] < second["deviation, points"]
            n_pairs += 1
            n_alike += is_lower == is_steadier
    near = f"within {NEAREST_ACCURACY:.0f} points of base accuracy"
    if not n_pairs:
        return f"No two models are {near} of each other.\n"
    pairs = "pair" if n_pairs == 1 else "pairs"
    return (
        f"In {n_alike} of {n_pairs} {pairs} of models {near} of each other, the one "
        "of lower MONITOR has the lower deviation.\n"
    )


def comparisons_for_appendix(
    models: Mapping[str, MonitorOfModel], larger: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, Any]]:
    """Yield what is compared of models: labels and statistics."""
    four = []
    whole = []
    for model in models.values():
        if len(model.in_four):
            four.append(model.in_four.iloc[0].drop("all"))
            whole.append(model.in_all.drop("all"))
    r = stats.correlation([], [])
    if four:
        r = stats.correlation(pd.concat(four), pd.concat(whole))
    yield "MONITOR by model and relation: first four wordings and all, r", r
    n_falls = n_steps = 0
    for large, small in larger:
        if large in models and small in models:
            change = models[large].in_all - models[small].in_all
            change = change.drop("all").dropna()
            n_falls += int((change < 0).sum())
            n_steps += len(change)
    share = n_falls / n_steps if n_steps else np.nan
    label = "steps to a larger model, by relation, at which MONITOR falls"
    yield label, (share, np.nan, np.nan, n_steps)


# MONITOR by size: Figures 7 and 8.


def draw_monitor_by_size(
    models: Mapping[str, MonitorOfModel], larger: Sequence[tuple[str, str]]
) -> list[Axes]:
    """Draw MONITOR by size, the paper's series above and ours below.

    Thin lines are single relations, thick ones the mean of the paper's Table 10, and
    our facts of all relations. A model that no line leads to is a dot.
    """
    _, axes = plt.subplots(2, figsize=(style.FIGURE_WIDTH, 6), layout="constrained")
    _draw_published_series(axes[0])
    ax = axes[1]
    if not models:
        style.empty_panel(ax, "There is no run of the chapter on MONITOR.")
        return list(axes)
    in_series = [pair for pair in larger if set(pair) <= set(models)]
    for large, small in in_series:
        both = pd.DataFrame({name: models[name].in_all for name in (small, large)})
        sizes = [models[name].millions for name in (small, large)]
        _draw_series(ax, sizes, both)
    names_in_series = {name for pair in in_series for name in pair}
    for label, model in models.items():
        # The name of a dot without a line stands below it, clear of the others.
        height = 8 if label in names_in_series else -12
        _draw_named_dot(ax, (model.millions, model.in_all["all"]), label, height)
    _label_axes_of_sizes(ax)
    return list(axes)


def _draw_published_series(ax: Axes) -> None:
    """Draw the two series of Figures 7 and 8 from Table 10."""
    millions = 1000 * published.load_published_table("monitor_table2")["size_billion"]
    by_relation = published.load_published_table("monitor_table10")
    by_relation.loc["all"] = by_relation.mean()
    for series in PAPER_SERIES:
        for pair in pairwise(series):
            _draw_series(ax, millions[list(pair)].tolist(), by_relation[list(pair)])
        name = series[0].partition("-")[0]
        scores = by_relation.loc["all", list(series)]
        ax.plot(millions[list(series)], scores, "o", color=style.BLUE)
        _draw_named_dot(ax, (millions[series[0]], scores.iloc[0]), name, 10)
    _label_axes_of_sizes(ax)


def _draw_series(ax: Axes, sizes: list[float], by_relation: pd.DataFrame) -> None:
    """Draw the step between two models, of each relation and of all."""
    for _, values in by_relation.drop(index="all").dropna().iterrows():
        ax.plot(sizes, values, color=style.GREY, lw=0.6, alpha=0.5)
    ax.plot(sizes, by_relation.loc["all"], color=style.BLUE, lw=2.5)


def _draw_named_dot(
    ax: Axes, place: tuple[float, float], name: str, height: float
) -> None:
    ax.plot(*place, "o", color=style.BLUE)
    text = style.drawable_text(name)
    offset = {"textcoords": "offset points", "ha": "center", "va": "center"}
    ax.annotate(text, place, (0, height), fontsize=9, **offset)


def _label_axes_of_sizes(ax: Axes) -> None:
    style.set_log_scale(ax)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.margins(x=0.15)
    ax.set(xlabel="million parameters", ylabel="MONITOR")
