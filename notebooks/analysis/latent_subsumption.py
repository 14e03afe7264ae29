"""What models know together: the subsumption of Wu et al. 2025, section 4.2."""

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

PAIR_COLUMNS = [
    "smaller, larger",
    "η",
    "η at least",
    "η by chance",
    "gain, points",
    "one alone",
    "exact p",
]


def subsumption_beyond_chance(values: np.ndarray) -> np.ndarray:
    r"""Compute how far the subsumption rate exceeds that of unrelated knowledge.

    What two models know is unrelated within relations.

    .. math:: \eta - \frac{\sum_r n_r a_r b_r}{\sum_r n_r a_r}

    Both know one and the same of two facts, where chance would have them share half of
    one:

    >>> float(subsumption_beyond_chance(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])))
    0.5
    """
    first, second, relation = np.moveaxis(values, -1, 0)
    shared_by_chance = np.zeros(values.shape[:-2])
    for code in np.unique(relation):
        is_inside = relation == code
        known_to_first = (first * is_inside).sum(-1)
        known_to_second = (second * is_inside).sum(-1)
        n_facts = np.maximum(is_inside.sum(-1), 1)
        shared_by_chance += known_to_first * known_to_second / n_facts
    with np.errstate(invalid="ignore", divide="ignore"):
        rate_by_chance = shared_by_chance / first.sum(-1)
        return subsumption.subsumption_statistic(values) - rate_by_chance


def least_subsumption_rate(small: float, large: float) -> float:
    """Compute the least rate that two accuracies allow: max(0, a + b - 1) / a."""
    if small <= 0:
        return float("nan")
    return max(0.0, small + large - 1) / small


def facts_known_by_each_model(
    lm: LanguageModel,
    scores: pd.DataFrame,
    settings: Mapping[str, Any],
    folder: Path,
    ask: Callable[[LanguageModel], pd.DataFrame],
) -> tuple[pd.DataFrame, tuple[str, str]]:
    """Return what models know, by size, and the names of the smallest and the largest.

    The models are this one, those of finished runs, and the bundled ones as siblings.
    """
    own_name = lm.name.rstrip("/").rpartition("/")[2]
    dataset = datasets.source_record(settings["dataset"])["name"]
    known, sizes = runs_against_papers.measure_by_fact_and_model(
        "latent_knowledge", dataset, "right", folder
    )
    own_marks = scores.set_index("item")["right"]
    known = known.drop(columns=own_name, errors="ignore").reindex(own_marks.index)
    known[own_name] = own_marks
    sizes[own_name] = lm.n_parameters or math.inf
    if settings["siblings"] and dataset == "atlas" and _is_bundled(settings["model"]):
        for name in models.bundled_models():
            if name not in known:
                sibling = models.load(name)
                known[name] = study.facts(ask(sibling)).set_index("item")["right"]
                sizes[name] = sibling.n_parameters
    by_size = sorted((sizes[name], name) for name in known)
    known = known[[name for _, name in by_size]].dropna()
    smallest = min(known, key=sizes.__getitem__)
    largest = max(known, key=sizes.__getitem__)
    return known, (smallest, largest)


def _is_bundled(model: str) -> bool:
    """Tell whether a model's training text is known, as it is of the bundled ones."""
    return datasets.training_exposure(model) is not None


def subsumption_of_pair(
    known: pd.DataFrame, scores: pd.DataFrame, pair: Sequence[str], **draws: int
) -> tuple:
    """Estimate how far a model holds another's facts beyond chance; rates in words."""
    codes, _ = pd.factorize(_relation_of_each_fact(known, scores))
    rows = known[list(pair)].assign(relation=codes).to_numpy(dtype=float)
    if pair[0] == pair[1]:  # one model tells nothing
        codes = codes[:0]
        rows = rows[:0]
    beyond_chance = stats.bootstrap(rows, subsumption_beyond_chance, codes, **draws)
    rate = float("nan")
    if len(rows):
        rate = float(subsumption.subsumption_statistic(rows))
    rates_in_words = {
        "rate": result_tables.interval(rate, digits=2),
        "chance": result_tables.interval(rate - beyond_chance.estimate, digits=2),
    }
    return beyond_chance, rates_in_words


def _relation_of_each_fact(known: pd.DataFrame, scores: pd.DataFrame) -> pd.Index:
    return known.index.map(scores.set_index("item")["relation"])


def subsumption_by_model_pair(
    known: pd.DataFrame, scores: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Tabulate each two models' subsumption rate, its bounds, and the larger's gain."""
    strata = _relation_of_each_fact(known, scores)
    rows = []
    for small, large in combinations(known, 2):
        pair = known[[small, large]]
        rate = stats.bootstrap(pair, subsumption.subsumption_statistic, strata, **draws)
        least_rate = least_subsumption_rate(pair[small].mean(), pair[large].mean())
        _, rates = subsumption_of_pair(known, scores, (small, large), **draws)
        gain = stats.paired_difference(pair[large], pair[small], strata=strata, **draws)
        n_small_alone = (pair[small] > pair[large]).sum()
        n_large_alone = (pair[large] > pair[small]).sum()
        row = {
            "smaller, larger": f"{small}, {large}",
            "η": result_tables.interval(*rate[:3], digits=2),
            "η at least": result_tables.interval(least_rate, digits=2),
            "η by chance": rates["chance"],
            "gain, points": result_tables.interval(*gain[:3], digits=1, scale=100),
            "one alone": f"{n_small_alone} : {n_large_alone}",
            "exact p": _exact_p_in_words(n_small_alone, n_large_alone),
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=PAIR_COLUMNS).set_index("smaller, larger")


def _exact_p_in_words(n_first_alone: int, n_second_alone: int) -> str:
    """Write the p-value of McNemar's exact test."""
    n = n_first_alone + n_second_alone
    p = binomtest(n_first_alone, n).pvalue if n else 1.0
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def accuracy_by_model(
    known: pd.DataFrame, scores: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Return the accuracy of each model, by its size."""
    strata = _relation_of_each_fact(known, scores)
    rates = [stats.bootstrap(known[name], strata=strata, **draws) for name in known]
    return pd.DataFrame(rates, index=known.columns).rename_axis("model")
