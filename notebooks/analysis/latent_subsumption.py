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
from helpers.prompts import prompt_formats
from helpers.studies import latent_knowledge as study
from notebooks.kit import runs_against_papers
from notebooks.kit.plots import result_tables

# Facts that the training text states never, 1 to 4 times, 8 to 16 times, more often.
EXPOSURE_EDGES = [-1, 0, 4, 16, np.inf]
EXPOSURE_GROUPS = ["never", "1 to 4 times", "5 to 16 times", "17 times or more"]
STATED_FALSELY = "stated falsely"
PAIR_COLUMNS = [
    "smaller, larger",
    "η",
    "η at least",
    "η beyond chance",
    "η beyond relations",
    "gain, points",
    "one alone",
    "exact p",
]


def shared_knowledge_by_group(
    first: np.ndarray, second: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Count in each group what the first model knows, and what of it the second knows.

    A row a group of two facts or more, whose columns are the numbers of facts, of those
    that the first knows, of those that both know, and of those that both would know if
    they were unrelated within the group: for each fact that the first knows, the share
    of the *other* facts that the second knows, for no fact is its own control.

    >>> first, second = np.array([1, 1, 0]), np.array([1, 0, 0])
    >>> shared_knowledge_by_group(first, second, np.array(["a", "a", "a"]))
    array([[3. , 2. , 1. , 0.5]])
    """
    rows = []
    for name in np.unique(groups):
        is_inside = groups == name
        n = is_inside.sum()
        if n < 2:
            continue
        known_to_first = first[is_inside].sum()
        known_to_second = second[is_inside].sum()
        known_to_both = (first * second)[is_inside].sum()
        # Pairs of two different facts: the first model knows one, the second the other.
        n_pairs = known_to_first * known_to_second - known_to_both
        rows.append((n, known_to_first, known_to_both, n_pairs / (n - 1)))
    return np.array(rows, dtype=float).reshape(-1, 4)


def subsumption_beyond_chance(groups: np.ndarray) -> np.ndarray:
    r"""Compute how far the subsumption rate exceeds that of unrelated knowledge.

    `groups` are those of :func:`shared_knowledge_by_group`, shape (..., n, 4): of
    :math:`n_g` facts the models know :math:`a_g` and :math:`b_g`, and both :math:`s_g`.

    .. math:: \frac{\sum_g s_g - (a_g b_g - s_g) / (n_g - 1)}{\sum_g a_g}

    >>> float(subsumption_beyond_chance(np.array([[3, 2, 1, 0.5]])))
    0.25
    """
    _, known, shared, by_chance = np.moveaxis(groups, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (shared.sum(-1) - by_chance.sum(-1)) / known.sum(-1)


def exposure_group_of_each_fact(
    facts: Sequence[str], pair: Sequence[str]
) -> pd.Series | None:
    """Say how often both models' text states each fact; None where that is not known.

    In four groups, and one of facts that it states falsely.
    """
    groups = []
    for name in pair:
        training = datasets.training_exposure(name)
        if training is None or not training.index.isin(facts).any():
            return None
        read = training.reindex(facts)
        times = pd.cut(read["exposures"], EXPOSURE_EDGES, labels=EXPOSURE_GROUPS)
        group = times.astype(str)  # of a fact that is not in the plan: "nan"
        groups.append(group.mask(read["false_exposures"] > 0, STATED_FALSELY))
    return groups[0] + ", " + groups[1]


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
    own_name = prompt_formats.model_title(lm.name)
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
    known: pd.DataFrame,
    scores: pd.DataFrame,
    pair: Sequence[str],
    same_exposure: bool = True,
    **draws: int,
) -> tuple[stats.Interval, dict[str, str]]:
    """Estimate how far a model holds another's facts beyond chance; rates in words.

    By chance: as two models unrelated within each relation would, and where the
    training text of both is known, within facts of one relation that it states equally
    often. The interval draws these groups, whose facts share a control.
    """
    groups = pd.Series(_relation_of_each_fact(known, scores), known.index)
    cause = "relation"
    exposure = exposure_group_of_each_fact(known.index, pair)
    if same_exposure and exposure is not None:
        groups = groups + ", " + exposure
        cause = "relation, among facts that both read about equally often"
    first, second = known[list(pair)].to_numpy(dtype=float).T
    counts = shared_knowledge_by_group(first, second, groups.to_numpy(dtype=str))
    if pair[0] == pair[1]:  # one model tells nothing
        counts = counts[:0]
    beyond_chance = stats.bootstrap(counts, subsumption_beyond_chance, **draws)
    n_facts, n_known, n_shared, n_by_chance = counts.sum(axis=0)
    rate = n_shared / n_known if n_known else np.nan
    chance = n_by_chance / n_known if n_known else np.nan
    rates_in_words = {
        "rate": result_tables.interval(rate, digits=2),
        "chance": result_tables.interval(chance, digits=2),
        "cause": cause,
    }
    return beyond_chance._replace(n=int(n_facts)), rates_in_words


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
        beyond, _ = subsumption_of_pair(known, scores, (small, large), **draws)
        beyond_relation, _ = subsumption_of_pair(
            known, scores, (small, large), same_exposure=False, **draws
        )
        gain = stats.paired_difference(pair[large], pair[small], strata=strata, **draws)
        n_small_alone = (pair[small] > pair[large]).sum()
        n_large_alone = (pair[large] > pair[small]).sum()
        row = {
            "smaller, larger": f"{small}, {large}",
            "η": result_tables.interval(*rate[:3], digits=2),
            "η at least": result_tables.interval(least_rate, digits=2),
            "η beyond chance": result_tables.interval(*beyond[:3], digits=2),
            "η beyond relations": result_tables.interval(
                *beyond_relation[:3], digits=2
            ),
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
