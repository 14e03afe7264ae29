"""IC-LKE: how much many bare examples bring out, without prompt engineering.

Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", WSDM.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import datasets, schemas, stats
from helpers.datasets import fact_identity
from helpers.datasets.panel import LEFT_OUT_RELATIONS
from helpers.metrics import latent_knowledge as lke
from helpers.models import LanguageModel
from helpers.prompts import context_length, lists
from helpers.prompts.prompt_texts import SEPARATORS
from helpers.studies.identity_columns import (
    add_identity_columns,
    checksum_of_facts,
    texts_by_item,
)
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
N_TRIAL_FACTS = 3  # of a relation: separators are tried on them
N_TRIAL_CHOICES = 20  # of each of these facts
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
        A name of `helpers.prompts.prompt_texts.SEPARATORS`, or a template; ``""``: the
        one that finds most of some facts that are not tested (:func:`try_separators`).
        The paper has ``space``.
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

    checksum = checksum_of_facts(dataset, facts)
    every_fact = _facts_of_relations(dataset, relations, left_out, seed)
    roles = _facts_with_roles(every_fact, seed)
    if not separator:
        trials = try_separators(
            model,
            facts,
            dataset=dataset,
            n_examples=n_examples,
            seed=seed,
            cache=cache,
            divided=(every_fact, roles),
        )
        separator = trials.index[0]
    if facts is None:
        facts = _first_tests(roles, n_facts)
    examples = roles[roles["role"] == "example"]
    pool = _facts_about_other_subjects(examples, [facts])
    options = lists.draw_choices(facts, every_fact, n_choices, seed)
    if "false_object" in facts:
        options = datasets.options_with_false_object(options, facts)
    probes = lists.ic_lke_probes(facts, pool, options, n_examples, separator, seed)
    context_length.check_list_lengths(
        probes,
        pool,
        token_counter(model),
        model.max_length,
        n_examples,
        separator=separator,
        seed=seed,
    )
    answers = probing.score(model, probes, cache=cache)
    answers = add_identity_columns(
        answers,
        checksum,
        identity=fact_identity.fact_identities(facts.set_index("fact")),
        wordings=texts_by_item(probes, "prompt"),
        wrong_words=texts_by_item(probes[~probes["correct"]], "choice"),
    )
    return schemas.table_with_checked_columns(answers, "answers", "latent_knowledge")


def settings_chosen_on_model(
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
    """Return the separator that :func:`ask` would choose; nothing if one is named."""
    if separator:
        return {}
    trials = try_separators(
        model,
        facts,
        dataset=dataset,
        relations=relations,
        left_out=left_out,
        n_examples=n_examples,
        seed=seed,
        cache=cache,
    )
    return {"separator": trials.index[0]}


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
    """Try each separator on facts that are not tested, and order them, the best first.

    The facts tried are among those that give examples, of subjects that neither `facts`
    nor the panel have.

    Parameters
    ----------
    model, facts, dataset, relations, left_out, n_examples, seed, cache
        As in :func:`ask`.
    divided : tuple of DataFrame, optional
        The facts of the data set, and the same with their roles, where they have been
        loaded and divided before.

    Returns
    -------
    DataFrame
        By ``separator``: ``right``, the share of facts whose true choice is the
        likeliest, and the mean ``mass``, both in [0, 1], and ``n``, the number of
        facts.
    """
    from helpers import probing

    if divided is None:
        every_fact = _facts_of_relations(dataset, relations, left_out, seed)
        divided = every_fact, _facts_with_roles(every_fact, seed)
    every_fact, roles = divided
    examples = roles[roles["role"] == "example"]
    tests = [] if facts is None else [facts]
    if dataset == "atlas":  # of other facts the panel takes tests alone
        tests.append(datasets.panel_facts(seed=seed))
        in_panel = ~examples["relation"].isin(LEFT_OUT_RELATIONS)
        if in_panel.any():
            examples = examples[in_panel]
    tried = _facts_to_try(examples, tests)
    options = lists.draw_choices(tried, every_fact, N_TRIAL_CHOICES, seed)
    pool = _facts_about_other_subjects(examples, [tried])
    probes_of_separators = [
        lists.ic_lke_probes(tried, pool, options, n_examples, name, seed, variant=name)
        for name in SEPARATORS
    ]
    probes = pd.concat(probes_of_separators, ignore_index=True)
    probes = context_length.readable_probes(
        probes, token_counter(model), model.max_length
    )
    scores = lke.fact_scores(probing.score(model, probes, cache=cache))
    trials = scores.groupby("separator").agg(
        right=("right", "mean"), mass=("mass", "mean"), n=("item", "size")
    )
    trials = trials.reindex(pd.Index(SEPARATORS, name="separator"))
    trials = trials.fillna({"n": 0}).astype({"n": int})
    return trials.sort_values(["right", "mass"], ascending=False)


def _facts_to_try(
    examples: pd.DataFrame, tests: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return the first facts of each relation, of half of its subjects at most."""
    untested = _facts_about_other_subjects(examples, tests)
    untested = untested.drop_duplicates(["relation", "subject"])
    # As many are left for examples.
    half = examples.groupby("relation")["subject"].nunique() // 2
    most = untested["relation"].map(half).clip(upper=N_TRIAL_FACTS)
    place = untested.groupby("relation").cumcount()
    return untested[place < most]


def token_counter(model: LanguageModel) -> Callable[[str], int]:
    """Return what counts the tokens of a text."""

    def count(text: str) -> int:
        return len(model.tokenizer(text)["input_ids"])

    return count


def items_drawn_by_settings(settings: Mapping[str, Any], model: str) -> pd.Series:
    """Return the facts of the atlas that settings test."""
    seed = settings["seed"]
    left_out = settings.get("left_out", ())
    facts = _facts_of_relations("atlas", settings["relations"], left_out, seed)
    tests = _first_tests(_facts_with_roles(facts, seed), settings["n_facts"])
    return tests["fact"]


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    return {
        "n_facts": most_distinct_in_group(answers),
        "n_choices": most_distinct_in_group(answers, "option", "item"),
    }


def _facts_of_relations(
    dataset: str, relations: Sequence[str], left_out: Sequence[str], seed: int
) -> pd.DataFrame:
    """Load the facts of some relations; if none is named, of all that are not left out.

    If all there are are left out, none is.
    """
    facts = datasets.load(dataset, list(relations) or None, seed=seed)
    remaining = facts[~facts["relation"].isin(left_out)]
    if relations or remaining.empty:
        return facts
    return remaining


def _facts_with_roles(facts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return facts that are tests or examples, with their ``role``."""
    divisible, _ = lists.divisible_facts_and_notes(facts, seed)
    return lists.divide_into_examples_and_tests(divisible, seed=seed)


def _facts_about_other_subjects(
    pool: pd.DataFrame, tables: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return facts whose subject, in their relation, is in none of some tables."""
    columns = ["relation", "subject"]
    # The empty table is for where there are no others.
    about = [pool.head(0)[columns], *(table[columns] for table in tables)]
    barred = pd.MultiIndex.from_frame(pd.concat(about))
    return pool[~pd.MultiIndex.from_frame(pool[columns]).isin(barred)]


def _first_tests(roles: pd.DataFrame, n_facts: int) -> pd.DataFrame:
    """Return the first tests of each relation; 0 takes all."""
    tests = roles[roles["role"] == "test"]
    return tests.groupby("relation").head(n_facts or len(roles))


def facts(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce the choices of each fact to one row."""
    if "part" in answers:  # a chapter's, with its close-ups
        answers = answers[answers["part"] == "lists"]
    scores = lke.fact_scores(answers)
    scores = scores.drop(columns=["variant", *lke.TOLD], errors="ignore")
    scores = add_columns(scores, answers, MEASURES)
    return schemas.table_with_checked_columns(scores, "facts", "latent_knowledge")


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: the true choice, "" where none is marked."""
    true = answers[answers["correct"].astype(bool)]
    return right_texts(true, "continuation", answers["item"])


def instances(answers: pd.DataFrame) -> pd.DataFrame:
    """Return a row a fact, behind its list, with ``said, right, target``."""
    marks = facts(answers).set_index("item")[["right", "said"]]
    true = answers[answers["correct"]].drop_duplicates("item")
    true = true.drop(columns="logprobs")
    target = [[choice] for choice in true["choice"]]
    return true.join(marks, on="item").assign(target=target)


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's accuracy."""
    yield Printed("IC-LKE: accuracy", run.facts, ["right"], stats.mean, "mean")


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known whose true choice is the likeliest."""
    check_firm(firm)
    columns = {
        "known": facts["right"],
        "score": facts["mass"],
        "blind": facts["top"],
        "asserted": facts["said"],
    }
    return pd.DataFrame(columns)


summary = partial(summary_of_measures, MEASURES)
