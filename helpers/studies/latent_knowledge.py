"""IC-LKE: how much many bare examples bring out, without prompt engineering.

Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", WSDM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from helpers import datasets
from helpers.metrics import latent_knowledge as lke
from helpers.prompts import lists
from helpers.studies.measures import FIRM, check_firm, most, rate, summarised

if TYPE_CHECKING:
    from helpers.models import LanguageModel

TITLE = "IC-LKE"
FIGURES = {"mass": ("mass", 1), "top": ("top", 1)}
MEASURES = (
    rate(
        "right",
        "list accuracy",
        source="accuracy, Tables 1, 7, 8 and 10",
        meaning="facts whose object is the likeliest choice after a list of examples",
    ),
    rate("mass", "mean probability", meaning="the object's share of the choices' probability"),
)


def ask(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    relations: Sequence[str] = (),
    left_out: Sequence[str] = (),
    n_facts: int = 8,
    n_examples: int = 50,
    n_choices: int = 100,
    separator: str = "space",
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Put each fact behind a list of its relation, and score every choice of an object.

    Parameters
    ----------
    model : LanguageModel
    facts : DataFrame, optional
        As from `helpers.datasets.load`; by default `n_facts` of each relation (0: all) from the
        half of the data set that gives no examples. No example is about a subject of these facts.
    dataset : str
        Where examples and choices come from: a name or a path.
    relations : sequence of str
        All of the data set but `left_out` if empty.
    left_out : sequence of str
    n_facts, n_examples, n_choices : int
    separator : str
        A name of `helpers.prompts.formats.SEPARATORS`, or a template.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row a choice: ``item, relation, variant, option, choice, correct, prompt,
        continuation, logprobs, tokens, read``.
    """
    from helpers import probing

    every = _load(dataset, relations, left_out, seed)
    roles = _roles(every, seed)
    if facts is None:
        facts = _tests(roles, n_facts)
    pool = roles[roles["role"] == "example"]
    subjects = pd.MultiIndex.from_frame(facts[["relation", "subject"]])
    pool = pool[~pd.MultiIndex.from_frame(pool[["relation", "subject"]]).isin(subjects)]
    options = lists.choices(facts, every, n_choices, seed)
    if "false_object" in facts:
        options = datasets.offered(options, facts)
    probes = lists.ic_lke(facts, pool, options, n_examples, separator, seed)
    return probing.score(model, probes, cache=cache)


def drawn(given: Mapping[str, Any], model: str) -> pd.Series:
    """Return the facts of the atlas that settings test."""
    every = _load("atlas", given["relations"], given.get("left_out", ()), given["seed"])
    return _tests(_roles(every, given["seed"]), given["n_facts"])["fact"]


def sizes(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    return {"n_facts": most(answers), "n_choices": most(answers, "option", "item")}


def _load(
    dataset: str, relations: Sequence[str], left_out: Sequence[str], seed: int
) -> pd.DataFrame:
    """Load the facts of some relations, or of all but some; of all if these are all there are."""
    every = datasets.load(dataset, list(relations) or None, seed=seed)
    kept = every[~every["relation"].isin(left_out)]
    return every if relations or kept.empty else kept


def _roles(facts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Divide facts into tests and examples."""
    return lists.split(lists.divisible(facts, seed)[0], seed=seed)


def _tests(roles: pd.DataFrame, n_facts: int) -> pd.DataFrame:
    """Return the first tests of each relation; 0 takes all."""
    return roles[roles["role"] == "test"].groupby("relation").head(n_facts or len(roles))


def facts(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce the choices of each fact to one row.

    Parameters
    ----------
    answers : DataFrame
        From :func:`ask`; of a chapter's run, those of its part ``lists`` count.

    Returns
    -------
    DataFrame
        As from `helpers.metrics.latent_knowledge.fact_scores`, all in [0, 1], higher: more known.
    """
    if "part" in answers:
        answers = answers[answers["part"] == "lists"]
    return lke.fact_scores(answers).drop(columns="variant")


def verdict(facts: pd.DataFrame, firm: float = FIRM) -> pd.DataFrame:
    """Call facts known whose true choice is the likeliest.

    Parameters
    ----------
    facts : DataFrame
        From :func:`facts`.
    firm : float
        Unused: the paper's rule needs no threshold.

    Returns
    -------
    DataFrame
        ``known`` (0 or 1); ``score``, the true choice's share of the probability; ``blind``, the
        likeliest choice's; ``asserted``, the likeliest choice.
    """
    check_firm(firm)
    columns = {"right": "known", "mass": "score", "top": "blind", "said": "asserted"}
    return facts[list(columns)].set_axis(list(columns.values()), axis=1)


summary = partial(summarised, MEASURES)
