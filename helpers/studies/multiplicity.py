"""Prompt multiplicity: which errors are belief, and which are chance of the prompt.

Ganesh, Shokri and Farnadi 2026, "Rethinking Hallucinations", EACL.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from helpers import datasets, schemas, stats
from helpers.datasets import fact_identity, multiple_choice
from helpers.metrics import choices, multiplicity
from helpers.models import LanguageModel
from helpers.prompts import prompt_formats, variations
from helpers.studies.identity_columns import (
    add_identity_columns,
    check_names_of_facts,
    texts_by_item,
)
from helpers.studies.measures import (
    FIRM_THRESHOLD,
    Half,
    Printed,
    Run,
    add_columns,
    check_firm,
    every_other,
    measures_of_study,
    most_distinct_in_group,
    right_texts,
    summary_of_measures,
)

TITLE = "multiplicity"
FOR_VERDICT = {"focus": "frames"}
AS_PRINTED = {"n_variations": 10, "rule": "mean"}
INSTANCES_MEAN = "accuracy"
FIGURES = {"accuracy": ("accuracy", 1), "self_consistency": ("self-consistency", 1)}
MEASURES = tuple(measures_of_study("multiplicity").values())


class Benchmark(NamedTuple):
    """How the paper asked a benchmark.

    It has the `name` there; its files have so many `rows`. The `kind` of variation is
    what varies, behind so many `shots`.
    """

    name: str
    rows: tuple[int, ...]
    kind: str
    shots: int


BENCHMARKS = {
    "truthfulqa": Benchmark("TruthfulQA", (817,), "order", 6),
    "factor": Benchmark("Wiki-FACTOR", (2994,), "paraphrases", 0),
    "medhalt": Benchmark("Med-HALT", (1858,), "options", 0),
    "commonsenseqa": Benchmark("CommonsenseQA", (1221,), "demonstrations", 16),
    # The study took the shared task's development set; the public file holds half.
    "fever": Benchmark("FEVER", (9999, 19998), "demonstrations", 16),
    "truefalse": Benchmark("True-False", (6084,), "demonstrations", 16),
}


def check(settings: Mapping[str, Any]) -> None:
    """Refuse a rule, a threshold or a prompt format that there is not."""
    prompt_formats.check_prompt_format(settings["prompt_format"])
    choices.option_score_rule(settings["rule"])
    multiplicity.check_tau(settings["tau"])
    multiplicity.check_correct_by(settings["correct_by"])


def ask(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    relations: Sequence[str] = (),
    n_items: int = 120,
    n_options: int = 5,
    n_variations: int = 10,
    focus: str = "",
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Let the model choose an option under every variation of the question."""
    from helpers import probing

    benchmark_of_seed = partial(
        multiple_choice.load_benchmark,
        dataset,
        seed=seed,
        n_options=n_options,
        model=model.name,
    )
    if facts is None:
        bench = benchmark_of_seed(n=n_items or None, relations=list(relations) or None)
        n_shots = bench.n_shots
    else:
        check_names_of_facts(dataset, facts)
        bench = benchmark_of_seed(only=set(facts["fact"]))
        n_shots = 0
    items = bench.items
    frames = datasets.prompt_frames(dataset) if "subject" in items else None
    kind = focus or ("frames" if frames is not None else bench.kinds[0])
    n_of_kinds, n_shots, _ = variations.plan_variations(
        items, [kind], n_variations, bench.pool, n_shots, frames
    )
    probes = variations.variation_probes(
        items,
        kind,
        n_of_kinds[kind],
        style=bench.style,
        pool=bench.pool,
        n_shots=n_shots,
        frames=frames,
        seed=seed,
    )
    answers = probing.score(model, probes, cache=cache)
    if "false_object" in items:
        false_objects = items.set_index("item")["false_object"]
        answers = answers.assign(false_object=answers["item"].map(false_objects))
    by_name = items.set_index("item")
    identity = fact_identity.question_identities(by_name)
    if "subject" in items:
        identity = fact_identity.fact_identities(by_name)
    answers = add_identity_columns(
        answers,
        bench.about["checksum"],
        identity=identity,
        wordings=texts_by_item(probes, "prompt"),
        wrong_words=texts_by_item(probes[~probes["correct"]], "text"),
    )
    return schemas.table_with_checked_columns(answers, "answers", "multiplicity")


def source(settings: Mapping[str, Any], model: str) -> dict[str, str]:
    """Return what a manifest says of the questions that settings ask a model."""
    return _benchmark_of_settings(settings["dataset"], settings, model).about


def items_drawn_by_settings(settings: Mapping[str, Any], model: str) -> pd.Series:
    """Return the questions of the atlas that settings draw."""
    return _benchmark_of_settings("atlas", settings, model).items["item"]


def _benchmark_of_settings(
    dataset: str, settings: Mapping[str, Any], model: str
) -> multiple_choice.Benchmark:
    """Return the questions of a data set that settings ask a model."""
    return multiple_choice.load_benchmark(
        dataset,
        n=settings["n_items"] or None,  # 0 takes all
        seed=settings["seed"],
        n_options=settings["n_options"],
        relations=list(settings["relations"]) or None,
        model=model,
    )


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    return {
        "n_items": answers["item"].nunique(),
        "n_options": most_distinct_in_group(answers, "option", "item"),
        "n_variations": most_distinct_in_group(answers, "variation", "kind"),
    }


def facts(
    answers: pd.DataFrame,
    *,
    focus: str = "",
    rule: str = "mean",
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> pd.DataFrame:
    """Reduce the choices of each question to one row.

    Parameters
    ----------
    answers : DataFrame
        From :func:`ask`.
    focus : str
        Kind of variation; by default the first.
    rule : str
        Score of an option: ``"mean"``, ``"sum"`` or ``"per_character"``.
    tau, replacement, correct_by
        As for `helpers.metrics.multiplicity.taxonomy_classes`.

    Returns
    -------
    DataFrame
        As from `helpers.metrics.choices.item_scores`, with ``said``, the text of the
        majority's option, and ``stratum``: questions are drawn from all alike.
    """
    if "kind" in answers:
        answers = _answers_under_kind(answers, focus)
    chosen = choices.chosen_options(answers, rule)
    scores = choices.item_scores(chosen, tau, replacement, correct_by)
    scores = scores.assign(said=majority_texts(scores, answers), stratum="all")
    scores = add_columns(
        scores,
        answers,
        MEASURES,
        rule=rule,
        tau=tau,
        replacement=replacement,
        correct_by=correct_by,
    )
    return schemas.table_with_checked_columns(scores, "facts", "multiplicity")


def _answers_under_kind(answers: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the answers under one kind of variation, by default the first."""
    kind = kind or answers["kind"].iloc[0]
    return answers[answers["kind"] == kind]


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: the right option, "" where none is marked."""
    true = answers[answers["correct"].astype(bool)]
    return right_texts(true, "text", answers["item"])


def instances(
    answers: pd.DataFrame, *, focus: str = "", rule: str = "mean"
) -> pd.DataFrame:
    """Return a row for each question and prompt of a kind: ``said, right, target``."""
    prompt = ["item", "variant"]
    answers = _answers_under_kind(answers, focus)
    chosen = choices.chosen_options(answers, rule)
    true = answers[answers["correct"]].set_index(prompt)["text"]
    texts = true[pd.MultiIndex.from_frame(chosen[prompt])]
    return chosen.assign(said=chosen["text"], target=[[text] for text in texts])


def halves(answers: pd.DataFrame) -> Half:
    """Return the choices under every other prompt."""
    return every_other(answers, ["variation"])


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's measures of a benchmark that it asked."""
    if run.dataset not in BENCHMARKS:
        return
    benchmark = BENCHMARKS[run.dataset].name
    table = run.facts
    columns = {
        "accuracy": "accuracy",
        "ambiguity": "ambiguous",
        "binary ambiguity": "ambiguous_binary",
    }
    for measure, column in columns.items():
        title = f"multiplicity: {benchmark} {measure}"
        yield Printed(title, table, [column], stats.mean, "all")


def majority_texts(scores: pd.DataFrame, answers: pd.DataFrame) -> np.ndarray:
    """Return the text of the majority's option of each item."""
    options = answers.drop_duplicates(["item", "option"])
    texts = options.set_index(["item", "option"])["text"]
    majorities = pd.MultiIndex.from_frame(scores[["item", "majority"]])
    return texts.reindex(majorities).to_numpy()


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known that are answered rightly whatever the prompt (factuality)."""
    check_firm(firm)
    steady = facts["class"].isin(["factuality", "error"])
    columns = {
        "known": facts["factuality"],
        "score": facts["accuracy"],
        "blind": facts["self_consistency"],
        "asserted": np.where(steady, facts["said"], ""),
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summary_of_measures, MEASURES)
