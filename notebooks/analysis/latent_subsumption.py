"""What models know together, in the chapter on latent knowledge (Wu et al. 2025, section 4.2)."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from helpers import datasets, models, stats
from helpers.metrics import subsumption
from helpers.models import LanguageModel
from helpers.studies import latent_knowledge as study
from notebooks.kit import runs_against_papers
from notebooks.kit.plots import result_tables


def subsumption_beyond_chance(values: np.ndarray) -> np.ndarray:
    r"""Compute how far the subsumption rate exceeds that of knowledge unrelated within relations.

    .. math:: \eta - \frac{\sum_r n_r a_r b_r}{\sum_r n_r a_r}

    Both know one and the same of two facts, where chance would have them share half of
    one:

    >>> float(subsumption_beyond_chance(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])))
    0.5
    """
    first, second, relation = np.moveaxis(values, -1, 0)
    shared = np.zeros(values.shape[:-2])
    for code in np.unique(relation):
        here = relation == code
        shared += (
            (first * here).sum(-1)
            * (second * here).sum(-1)
            / np.maximum(here.sum(-1), 1)
        )
    with np.errstate(invalid="ignore", divide="ignore"):
        return subsumption.subsumption_statistic(values) - shared / first.sum(-1)


def least_subsumption_rate(small: float, large: float) -> float:
    """Compute the least subsumption rate that two accuracies allow: max(0, a + b - 1) / a."""
    return max(0.0, small + large - 1) / small if small > 0 else float("nan")


def facts_known_by_each_model(
    lm: LanguageModel,
    scores: pd.DataFrame,
    settings: Mapping[str, Any],
    folder: Path,
    ask: Callable[[LanguageModel], pd.DataFrame],
) -> tuple[pd.DataFrame, tuple[str, str]]:
    """Return what models know, by size: this, finished runs', bundled ones; smallest, largest."""
    who = lm.name.rstrip("/").rpartition("/")[2]
    dataset = datasets.source_record(settings["dataset"])["name"]
    known, sizes = runs_against_papers.measure_by_fact_and_model(
        "latent_knowledge", dataset, "right", folder
    )
    mine = scores.set_index("item")["right"]
    known = (
        known.drop(columns=who, errors="ignore")
        .reindex(mine.index)
        .assign(**{who: mine})
    )
    sizes[who] = lm.n_parameters or math.inf
    siblings = (
        settings["siblings"]
        and datasets.training_exposure(settings["model"]) is not None
    )
    for name in models.bundled_models() if siblings and dataset == "atlas" else []:
        if name not in known:
            other = models.load(name)
            known[name] = study.facts(ask(other)).set_index("item")["right"]
            sizes[name] = other.n_parameters
    known = known[sorted(known, key=lambda name: (sizes[name], name))].dropna()
    return known, (min(known, key=sizes.__getitem__), max(known, key=sizes.__getitem__))


def subsumption_of_pair(
    known: pd.DataFrame, scores: pd.DataFrame, pair: Sequence[str], **draws: int
) -> tuple:
    """Estimate how far one model holds another's facts beyond chance; the rates in words."""
    relations = known.index.map(scores.set_index("item")["relation"])
    codes = pd.factorize(relations)[0]
    rows = known[list(pair)].assign(relation=codes).to_numpy(dtype=float)
    rows = rows[: len(rows) * (pair[0] != pair[1])]
    found = stats.bootstrap(
        rows, subsumption_beyond_chance, codes[: len(rows)], **draws
    )
    rate = float(subsumption.subsumption_statistic(rows)) if len(rows) else float("nan")
    written = {"rate": rate, "chance": rate - found.estimate}
    return found, {
        name: result_tables.interval(value, digits=2) for name, value in written.items()
    }


def subsumption_by_model_pair(
    known: pd.DataFrame, scores: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Tabulate the subsumption rate of each two models, its bounds, and what the larger gains."""
    rows = []
    strata = known.index.map(scores.set_index("item")["relation"])
    for small, large in combinations(known, 2):
        two = known[[small, large]]
        eta = stats.bootstrap(two, subsumption.subsumption_statistic, strata, **draws)
        least = result_tables.interval(least_subsumption_rate(*two.mean()), digits=2)
        chance = subsumption_of_pair(known, scores, (small, large), **draws)[1][
            "chance"
        ]
        gain = stats.paired_difference(two[large], two[small], strata=strata, **draws)
        gained = result_tables.interval(*gain[:3], digits=1, scale=100)
        one, other = (
            (two[a] > two[b]).sum() for a, b in ((small, large), (large, small))
        )
        p = (
            binomtest(one, one + other).pvalue if one + other else 1.0
        )  # McNemar's test, exact
        exact = f"{p:.3f}" if p >= 0.001 else "< 0.001"
        row = (
            f"{small}, {large}",
            result_tables.interval(*eta[:3], digits=2),
            least,
            chance,
        )
        rows.append((*row, gained, f"{one} : {other}", exact))
    names = [
        "smaller, larger",
        "η",
        "η at least",
        "η by chance",
        "gain, points",
        "one alone",
    ]
    return pd.DataFrame(rows, columns=[*names, "exact p"]).set_index("smaller, larger")


def accuracy_by_model(
    known: pd.DataFrame, scores: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Return the accuracy of each model, by its size."""
    strata = known.index.map(scores.set_index("item")["relation"])
    found = [stats.bootstrap(known[name], strata=strata, **draws) for name in known]
    return pd.DataFrame(found, index=known.columns).rename_axis("model")
