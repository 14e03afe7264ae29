"""IC-LKE: how much many bare examples bring out, without prompt engineering.

Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", WSDM.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import datasets, schemas, stats
from helpers.datasets.panel import LEFT_OUT_RELATIONS
from helpers.metrics import latent_knowledge as lke
from helpers.models import LanguageModel
from helpers.prompts import context_length, lists
from helpers.prompts.prompt_texts import SEPARATORS
from helpers.studies.measures import (
    FIRM_THRESHOLD,
    Printed,
    Run,
    add_columns,
    check_firm,
    measures_of_study,
    most_distinct_in_group,
    right_texts,
    summary_of_measures,
)

TITLE = "IC-LKE"
N_TRIAL_FACTS, N_TRIAL_CHOICES = (
    3,
    20,
)  # facts of a relation that separators are tried on, and choices
AS_PRINTED = {"n_examples": 50, "n_choices": 100, "separator": "space"}
INSTANCES_MEAN = "right"
FIGURES = {"mass": ("mass", 1), "top": ("top", 1)}
MEASURES = tuple(measures_of_study("latent_knowledge").values())


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
    separator: str = "",
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Put each fact behind a list of its relation, and score every choice of an object.

    Parameters
    ----------
    model : LanguageModel
    facts : DataFrame, optional
        As from `helpers.datasets.load`; by default `n_facts` of each relation (0: all)
        from the half of the data set that gives no examples. No example is about a
        subject of these facts.
    dataset : str
        Where examples and choices come from: a name or a path.
    relations : sequence of str
        All of the data set but `left_out` if empty.
    left_out : sequence of str
    n_facts, n_examples, n_choices : int
    separator : str
        A name of `helpers.prompts.prompt_texts.SEPARATORS`, or a template; ``""``: the one
        that finds most of some facts that are not tested (:func:`try_separators`). The
        paper has ``space``.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row a choice: ``item, relation, variant, option, choice, correct, prompt,
        continuation, way, examples, draw, separator, logprobs, tokens, read``.
    """
    from helpers import probing

    every = _load(dataset, relations, left_out, seed)
    roles = _roles(every, seed)
    if not separator:
        how = {
            "dataset": dataset,
            "n_examples": n_examples,
            "seed": seed,
            "cache": cache,
        }
        tried = try_separators(model, facts, **how, divided=(every, roles))
        separator = tried.index[0]
    if facts is None:
        facts = _tests(roles, n_facts)
    pool = _without(roles[roles["role"] == "example"], facts)
    options = lists.draw_choices(facts, every, n_choices, seed)
    if "false_object" in facts:
        options = datasets.options_with_false_object(options, facts)
    probes = lists.ic_lke_probes(facts, pool, options, n_examples, separator, seed)
    context_length.check_list_lengths(
        probes,
        pool,
        token_counter(model),
        model.max_length,
        n_examples,
        separator,
        seed,
    )
    answers = probing.score(model, probes, cache=cache)
    return schemas.checked(answers, "answers", "latent_knowledge")


def choose(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    relations: Sequence[str] = (),
    left_out: Sequence[str] = (),
    n_examples: int = 50,
    separator: str = "",
    seed: int = 0,
    cache: str | Path | None = None,
) -> dict[str, str]:
    """Return the separator that :func:`ask` would choose, if none is named."""
    if separator:
        return {}
    tried = try_separators(
        model,
        facts,
        dataset=dataset,
        relations=relations,
        left_out=left_out,
        n_examples=n_examples,
        seed=seed,
        cache=cache,
    )
    return {"separator": tried.index[0]}


def try_separators(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    relations: Sequence[str] = (),
    left_out: Sequence[str] = (),
    n_examples: int = 50,
    seed: int = 0,
    cache: str | Path | None = None,
    divided: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Score facts that give examples and are no other's behind lists with each separator."""
    from helpers import probing

    if divided is None:
        every = _load(dataset, relations, left_out, seed)
        divided = every, _roles(every, seed)
    every, roles = divided
    tested = [] if facts is None else [facts]
    pool = roles[roles["role"] == "example"]
    if dataset == "atlas":  # of other facts the panel takes tests alone
        tested.append(datasets.panel_facts(seed=seed))
        short = pool[~pool["relation"].isin(LEFT_OUT_RELATIONS)]
        pool = pool if short.empty else short
    free = _without(pool, *tested).drop_duplicates(["relation", "subject"])
    most = (
        pool.groupby("relation")["subject"].nunique() // 2
    )  # as many are left for examples
    place = free.groupby("relation").cumcount()
    tried = free[place < free["relation"].map(most).clip(upper=N_TRIAL_FACTS)]
    options = lists.draw_choices(tried, every, N_TRIAL_CHOICES, seed)
    rest = _without(pool, tried)
    ways = [
        lists.ic_lke_probes(tried, rest, options, n_examples, s, seed, s)
        for s in SEPARATORS
    ]
    probes = pd.concat(ways, ignore_index=True)
    probes = context_length.readable_probes(
        probes, token_counter(model), model.max_length
    )
    scores = lke.fact_scores(probing.score(model, probes, cache=cache))
    found = scores.groupby("separator").agg(
        right=("right", "mean"), mass=("mass", "mean"), n=("item", "size")
    )
    found = found.reindex(pd.Index(SEPARATORS, name="separator")).fillna({"n": 0})
    return found.astype({"n": int}).sort_values(["right", "mass"], ascending=False)


def token_counter(model: LanguageModel) -> Callable[[str], int]:
    """Return what counts the tokens of a text."""
    return lambda text: len(model.tokenizer(text)["input_ids"])


def items_drawn_by_settings(given: Mapping[str, Any], model: str) -> pd.Series:
    """Return the facts of the atlas that settings test."""
    every = _load("atlas", given["relations"], given.get("left_out", ()), given["seed"])
    return _tests(_roles(every, given["seed"]), given["n_facts"])["fact"]


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    return {
        "n_facts": most_distinct_in_group(answers),
        "n_choices": most_distinct_in_group(answers, "option", "item"),
    }


def _load(
    dataset: str, relations: Sequence[str], but: Sequence[str], seed: int
) -> pd.DataFrame:
    """Load the facts of some relations, or of all but some; of all if these are all there are."""
    every = datasets.load(dataset, list(relations) or None, seed=seed)
    kept = every[~every["relation"].isin(but)]
    return every if relations or kept.empty else kept


def _roles(facts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Divide facts into tests and examples."""
    return lists.divide_into_examples_and_tests(
        lists.divisible_facts_and_notes(facts, seed)[0], seed=seed
    )


def _without(pool: pd.DataFrame, *others: pd.DataFrame) -> pd.DataFrame:
    """Return facts about other subjects than those of some facts, relation by relation."""
    about = ["relation", "subject"]
    barred = pd.MultiIndex.from_frame(
        pd.concat([pool[:0][about], *(o[about] for o in others)])
    )
    return pool[~pd.MultiIndex.from_frame(pool[about]).isin(barred)]


def _tests(roles: pd.DataFrame, n_facts: int) -> pd.DataFrame:
    """Return the first tests of each relation; 0 takes all."""
    return (
        roles[roles["role"] == "test"].groupby("relation").head(n_facts or len(roles))
    )


def facts(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce the choices of each fact (of a chapter, in its part ``lists``) to one row."""
    if "part" in answers:
        answers = answers[answers["part"] == "lists"]
    scores = lke.fact_scores(answers)
    scores = scores.drop(columns=["variant", *lke.TOLD], errors="ignore")
    scores = add_columns(scores, answers, MEASURES)
    return schemas.checked(scores, "facts", "latent_knowledge")


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: the true choice, "" where none is marked."""
    true = answers[answers["correct"].astype(bool)]
    return right_texts(true, "continuation", answers["item"])


def instances(answers: pd.DataFrame) -> pd.DataFrame:
    """Return a row a fact, behind its list, with ``said, right, target``."""
    marks = facts(answers).set_index("item")[["right", "said"]]
    asked = answers[answers["correct"]].drop_duplicates("item").drop(columns="logprobs")
    target = [[choice] for choice in asked["choice"]]
    return asked.join(marks, on="item").assign(target=target)


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's accuracy."""
    yield Printed("IC-LKE: accuracy", run.facts, ["right"], stats.mean, "mean")


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known whose true choice is the likeliest."""
    check_firm(firm)
    columns = {"right": "known", "mass": "score", "top": "blind", "said": "asserted"}
    return facts[list(columns)].set_axis(list(columns.values()), axis=1)


summary = partial(summary_of_measures, MEASURES)
