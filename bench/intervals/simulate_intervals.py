"""Put the intervals through the designs.

``python -m bench.intervals.simulate_intervals`` takes some minutes on one core and
writes ``results.csv``. Every design has a seed, so any row can be computed again alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

from bench.intervals import interval_formulas

HERE = Path(__file__).parent
DESIGNS_FILE = HERE / "designs.csv"
RESULTS_FILE = HERE / "results.csv"
N_SAMPLES = 2000
SEED = 59
SHARED = 0.7  # of what decides an answer beside its cluster: alike for two models
GRADED_SUM = 2  # of the two parameters of the beta distribution of graded scores


def read_designs() -> pd.DataFrame:
    """Return the designs, one a row, with whole numbers or none as clusters."""
    return pd.read_csv(DESIGNS_FILE, index_col="design", dtype={"clusters": "Int64"})


def cluster_labels(n: int, n_clusters: Any) -> np.ndarray | None:
    """Return the cluster of each item, in clusters as equal as can be; none without.

    >>> cluster_labels(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    if pd.isna(n_clusters):
        return None
    return np.arange(n) * int(n_clusters) // n


def weighted_sum(part: float, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return normal numbers of which a part of the variance is that of the first."""
    return np.sqrt(part) * one + np.sqrt(1 - part) * other


def simulated_scores(number: int, n_samples: int = N_SAMPLES) -> np.ndarray:
    """Return the scores of a design, shape (models, samples, items).

    An answer is right where a normal number lies below the quantile of the share. The
    number has a part that all items of a cluster share, for each model its own, and of
    the rest a part that both models share, so that hard items are hard for both. The
    correlation of two answers of a cluster is the `icc` at a share of one half. Of
    repeated samples the item is the cluster, and its score their mean. Graded scores
    are quantiles of a beta distribution in place of answers.
    """
    design = read_designs().loc[number]
    generator = np.random.default_rng([SEED, number])
    n_models = 2 if design["of"] == "difference" else 1
    n_items = int(design["n"])
    repeats = int(design["repeats"])
    labels = cluster_labels(n_items, design["clusters"])
    if labels is None:
        labels = np.arange(n_items)
    labels = np.repeat(labels, repeats)
    of_cluster = np.sin(np.pi / 2 * design["icc"])
    n_clusters = labels.max() + 1
    n_answers = len(labels)
    by_cluster = generator.normal(size=(n_models, n_samples, n_clusters))
    by_item = generator.normal(size=(1, n_samples, n_answers))
    own = generator.normal(size=(n_models, n_samples, n_answers))
    rest = weighted_sum(SHARED, by_item, own)
    number_of_answer = weighted_sum(of_cluster, by_cluster[..., labels], rest)
    share = design["share"]
    if design["kind"] == "graded":
        ranks = scipy.stats.norm.cdf(number_of_answer)
        first = GRADED_SUM * share
        second = GRADED_SUM - first
        return scipy.stats.beta.ppf(ranks, first, second)
    quantile = scipy.stats.norm.ppf(share)
    is_right = number_of_answer < quantile
    shape = (n_models, n_samples, n_items, repeats)
    return is_right.reshape(shape).mean(axis=-1)


def rows_of_design(number: int, names: list[str] | None = None) -> list[dict]:
    """Return a row for each formula that a design is put through, or for some."""
    design = read_designs().loc[number]
    scores = simulated_scores(number)
    clusters = cluster_labels(int(design["n"]), design["clusters"])
    formulas: dict[str, Any] = interval_formulas.MEANS
    if design["of"] == "difference":
        formulas = interval_formulas.DIFFERENCES
    elif clusters is not None:
        formulas = interval_formulas.MEANS_OF_CLUSTERS
    rows = []
    for name in names or formulas:
        made = formulas[name](*scores, clusters)
        if design["of"] == "difference":
            rate = made.is_called.mean()
            width = made.width
        else:
            truth = design["share"]
            begins_below = made.low <= truth
            ends_above = truth <= made.high
            rate = (begins_below & ends_above).mean()
            width = made.high - made.low
        row = {
            "design": number,
            "formula": name,
            "samples": len(scores[0]),
            "rate": round(float(rate), 4),
            "width": round(float(width.mean()), 4),
        }
        rows.append(row)
    return rows


def main() -> None:
    """Write the results of all designs."""
    rows = []
    for number in read_designs().index:
        rows.extend(rows_of_design(int(number)))
        pd.DataFrame(rows).to_csv(RESULTS_FILE, index=False, lineterminator="\n")
        print(f"design {number} of {len(read_designs())}", flush=True)


if __name__ == "__main__":
    main()
