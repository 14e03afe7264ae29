"""How many examples models need, how sure they are, and which relations they know.

After Figures 1, 5, 8 and 14 and Table 9 of Wu et al. 2025.
"""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from helpers import stats
from notebooks.kit.plots import result_tables, shared_figures

SHARE_OF_FINAL = 0.95  # of the accuracy behind the longest list
THRESHOLDS = tuple(number / 10 for number in range(10))  # K of accuracy@K
MEAN_RIGHT = {"right": (["right"], stats.mean)}


def fewest_examples(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    r"""Return the first number of examples whose accuracy is 95 % of the last one's.

    `rows` have a column for each of `counts`, in order, shape (..., n, k).

    >>> rows = np.array([[0.0, 1, 1], [0, 1, 0], [1, 0, 1]])
    >>> int(fewest_examples(rows, np.array([0, 5, 50])))
    5
    """
    accuracies = rows.mean(axis=-2)
    reached = accuracies >= SHARE_OF_FINAL * accuracies[..., -1:]
    return counts[reached.argmax(axis=-1)]


def examples_needed(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Tabulate by model the accuracy behind the longest list, and how few give 95 %.

    The interval of the number draws facts anew within relations. Beside it stands how
    far the accuracies of the draws of examples scatter, with one and with most.
    """
    rows = []
    for model, of_model in facts.groupby("model", sort=False):
        by_draw = of_model.groupby(["examples", "draw"])["right"].mean()
        scatter = by_draw.groupby("examples").std(ddof=1).mul(100)
        wide = of_model.pivot_table("right", ["relation", "item"], "examples")
        counts = wide.columns.to_numpy(dtype=float)
        relations = wide.index.get_level_values("relation")
        needed = stats.bootstrap(
            wide, partial(fewest_examples, counts=counts), relations, **draws
        )
        most = stats.bootstrap(wide.iloc[:, -1], strata=relations, **draws)
        row = {
            "model": model,
            "facts": len(wide),
            "examples at most": int(counts[-1]),
            "accuracy there, %": result_tables.interval(*most[:3], 1, 100),
            "enough for 95 % of it": result_tables.interval(*needed[:3], digits=0),
            "SD of draws, 1 example": scatter.get(1, np.nan),
            "SD of draws, most": scatter.iloc[-1],
        }
        rows.append(row)
    return pd.DataFrame(rows).set_index("model").round(1)


def draw_examples_needed(facts: pd.DataFrame, **draws: int) -> Axes:
    """Draw accuracy by number of examples, and where 95 % is reached."""
    parts = []
    for model, rows in facts.groupby("model", sort=False):
        means = rows.groupby(["relation", "item", "examples"])["right"].mean()
        rates = stats.intervals_by_group(
            means.reset_index(), MEAN_RIGHT, by="examples", strata="relation", **draws
        )
        rates = rates[~rates["examples"].isin(["all", "mean"])]
        parts.append(rates.assign(model=model))
    curves = pd.concat(parts).astype({"examples": int})
    ax = shared_figures.curve_plot(
        curves,
        "examples",
        "model",
        axis="even",
        xlabel="examples",
        ylabel="accuracy",
    )
    counts = np.array(sorted(curves["examples"].unique()))
    lines = dict(zip(curves["model"].unique(), ax.get_lines()[::2], strict=True))
    for model, rows in curves.groupby("model", sort=False):
        estimates = rows.sort_values("examples")["estimate"].to_numpy()
        needed = fewest_examples(estimates[None, :], counts)
        place = np.searchsorted(counts, needed)
        ax.axvline(place, color=lines[model].get_color(), ls="--", lw=1.5, zorder=1)
    return ax


def accuracy_at_confidence(facts: pd.DataFrame) -> pd.DataFrame:
    r"""Compute accuracy@K: that of facts with a confidence above K (Appendix D).

    .. math:: D_K = \{c : P_\theta(\text{choice of } \theta) > K\}

    >>> facts = pd.DataFrame({"model": "m", "top": [0.4, 0.9], "right": [0.0, 1.0]})
    >>> table = accuracy_at_confidence(facts)
    >>> table[table["K"].isin([0.3, 0.5])][["estimate", "n"]].to_numpy().tolist()
    [[0.5, 2.0], [1.0, 1.0]]
    """
    rows = []
    for model, of_model in facts.groupby("model", sort=False):
        for threshold in THRESHOLDS:
            sure = of_model.loc[of_model["top"] > threshold, "right"]
            if len(sure):
                share = stats.wilson_interval(float(sure.sum()), len(sure))
                rows.append({"model": model, "K": threshold, **share._asdict()})
    return pd.DataFrame(rows)


def table_of_accuracy_at_confidence(facts: pd.DataFrame) -> pd.DataFrame:
    """Lay out accuracy@K by model, with the number of facts above K."""
    table = accuracy_at_confidence(facts)
    cells = []
    for row in table.itertuples():
        share = result_tables.interval(row.estimate, row.low, row.high, 1, 100)
        cells.append(f"{share}, n = {row.n}")
    table["cell"] = cells
    return table.pivot_table("cell", "K", "model", aggfunc="first", sort=False)


def draw_accuracy_at_confidence(facts: pd.DataFrame) -> Axes:
    """Draw accuracy@K, a line a model."""
    return shared_figures.curve_plot(
        accuracy_at_confidence(facts),
        "K",
        "model",
        xlabel="K: facts with a confidence above it",
        ylabel="accuracy@K",
    )


def accuracy_by_relation_and_model(
    known: pd.DataFrame, relations: pd.Series
) -> pd.DataFrame:
    """Average what models know by relation, the best known first.

    `known` has a row a fact and a column a model, `relations` the relation of each.
    """
    table = known.groupby(relations.reindex(known.index)).mean()
    order = table.mean(axis=1).sort_values(ascending=False, kind="stable")
    return table.loc[order.index]


def draw_relations_by_model(table: pd.DataFrame, labels: pd.Series) -> Axes:
    """Draw a map of accuracies, relations by models."""
    titled = table.set_axis([f"{name} {labels.get(name, '')}" for name in table.index])
    _, ax = plt.subplots(figsize=(6.2, 1.1 + 0.26 * len(table)))
    return shared_figures.heat_map(titled, ax=ax)


def correlations_between_models(table: pd.DataFrame) -> pd.DataFrame:
    """Correlate the accuracies of each two models over relations, with intervals."""
    matrix = pd.DataFrame("", index=table.columns, columns=table.columns)
    for first in table:
        for second in table:
            if first == second:
                continue
            r = stats.correlation(table[first], table[second])
            cell = result_tables.interval(*r[:3], digits=2)
            matrix.loc[first, second] = cell
    return matrix.rename_axis("model").rename_axis(None, axis="columns")


def best_and_worst_relations(
    table: pd.DataFrame, labels: pd.Series, n: int = 3
) -> pd.DataFrame:
    """Name by model the relations that it knows best and worst (Table 9)."""
    rows = []
    for model, accuracies in table.items():
        best = accuracies.sort_values(ascending=False, kind="stable")
        worst = accuracies.sort_values(kind="stable")
        row = {
            "model": model,
            "best known": _first_relations(best, labels, n),
            "least known": _first_relations(worst, labels, n),
        }
        rows.append(row)
    return pd.DataFrame(rows).set_index("model")


def _first_relations(ordered: pd.Series, labels: pd.Series, n: int) -> str:
    """Write the first relations with their accuracies, and how many equal the last."""
    first = ordered.iloc[:n]
    words = [f"{labels.get(name, name)} {100 * a:.0f} %" for name, a in first.items()]
    n_alike = int((ordered.iloc[n:] == first.iloc[-1]).sum())
    alike = f" ({n_alike} more alike)" if n_alike else ""
    return ", ".join(words) + alike
