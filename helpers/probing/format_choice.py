"""Which prompt format a model is asked in: the one named, or the best on trial."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from helpers import UserError, datasets, prompts
from helpers.metrics import accuracy
from helpers.models import LanguageModel, tokens
from helpers.models.checkpoints import bundled_models
from helpers.probing.generation import generate
from helpers.prompts import prompt_formats

N_TRIAL_FACTS = 20
ANSWER_LENGTH = 15  # of an answer, in tokens, as `generate` has it by default
TRIAL_COLUMNS = ["facts", "coverage", "accuracy", "stopped"]

WrapProbes = Callable[[pd.DataFrame], pd.DataFrame]


class ChosenFormat(NamedTuple):
    """A model with its format, what puts probes into it, and the trial, if any."""

    lm: LanguageModel
    wrap: WrapProbes
    tried: pd.DataFrame


def choose_prompt_format(  # noqa: PLR0917 - a chapter gives all by position
    lm: LanguageModel,
    wanted: str,
    dataset: str,
    facts: pd.DataFrame,
    seed: int = 0,
    rule: str = "exact_match",
    cache: str | Path | None = None,
) -> ChosenFormat:
    """Give a model the wanted format; ``auto``: the best in coverage, then accuracy."""
    wanted = prompt_formats.check_prompt_format(wanted)
    if not wanted:
        wanted = "bare" if lm.name in bundled_models() else "auto"
    table = pd.DataFrame(columns=TRIAL_COLUMNS)
    if wanted == "auto":
        table = try_prompt_formats(lm, dataset, facts, seed, rule, cache)
        best = table.sort_values(
            ["coverage", "accuracy"], ascending=False, kind="stable"
        )
        wanted = best.index[0] if table["coverage"].any() else "bare"
    chosen = _in_format(lm, wanted)
    return ChosenFormat(chosen, probe_wrapper(chosen, dataset, facts, seed), table)


def model_with_bare_or_chat_format(lm: LanguageModel, wanted: str) -> LanguageModel:
    """Return a model for prompts of their own form, which all but ``chat`` keep."""
    is_chat = prompt_formats.check_prompt_format(wanted) == "chat"
    return _in_format(lm, "chat" if is_chat else "bare")


def chosen_format_sentence(lm: LanguageModel, table: pd.DataFrame) -> str:
    """Say which format a model was given after a :func:`try_prompt_formats`."""
    best = table.loc[lm.prompt_format]
    if not best["coverage"]:
        return (
            f"In no prompt format is any of {best['facts']} facts answered rightly, "
            "even with the answer said before; the questions stay bare."
        )
    return (
        f"The prompt format is {lm.prompt_format}: with the answer said before, "
        f"{best['coverage']} of {best['facts']} facts are answered rightly."
    )


def probe_wrapper(
    lm: LanguageModel, dataset: str, facts: pd.DataFrame, seed: int = 0
) -> WrapProbes:
    """Return what puts the questions of probes into a model's prompt format."""
    shots = None
    if lm.prompt_format == "shots":
        all_facts = datasets.load(dataset, seed=seed)
        frames = datasets.prompt_frames(dataset)
        shots = prompt_formats.draw_demonstrations(all_facts, frames, facts, seed)
    return partial(
        prompt_formats.wrap_questions, prompt_format=lm.prompt_format, shots=shots
    )


def try_prompt_formats(
    lm: LanguageModel,
    dataset: str,
    facts: pd.DataFrame,
    seed: int = 0,
    rule: str = "exact_match",
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Ask twenty facts, spread over relations, in each format that a model can read."""
    trial_facts = _trial_facts(facts)
    frames = datasets.prompt_frames(dataset, trial_facts["relation"].unique())
    probes = prompts.monitor_probes(trial_facts, frames, n_frames=1)
    probes = probes[probes["context"].isin(["right", "none"])]
    outcomes = {}
    for name in prompt_formats.PROMPT_FORMATS:
        lm_in_format = replace(lm, prompt_format=name)
        if lm_in_format.chat and not lm.tokenizer.chat_template:
            continue
        wrap = probe_wrapper(lm_in_format, dataset, facts, seed)
        wrapped = wrap(probes)
        ids = tokens.prompt_ids(lm_in_format, list(wrapped["prompt"]))
        longest = max(map(len, ids), default=0)
        if lm.max_length is not None and longest + ANSWER_LENGTH > lm.max_length:
            continue
        answers = generate(
            lm_in_format, wrapped, ANSWER_LENGTH, cache=cache, progress=False
        )
        marks = accuracy.mark_texts(answers, rule)
        right = marks.groupby("context")["right"].sum()
        outcomes[name] = {
            "facts": len(trial_facts),
            "coverage": right.get("right", 0),
            "accuracy": right.get("none", 0),
            "stopped": (marks["tokens"].map(len) < ANSWER_LENGTH).sum(),
        }
    table = pd.DataFrame.from_dict(outcomes, orient="index", columns=TRIAL_COLUMNS)
    return table.rename_axis("format")


def _trial_facts(facts: pd.DataFrame) -> pd.DataFrame:
    """Return the first facts of each relation, taken in turn, twenty in all."""
    turns = facts.groupby("relation").cumcount()
    in_turn = facts.assign(turn=turns).sort_values("turn", kind="stable")
    return in_turn.head(N_TRIAL_FACTS)


def _in_format(lm: LanguageModel, name: str) -> LanguageModel:
    """Return a model with a prompt format, refused where it has no chat template."""
    if name == "chat" and not lm.tokenizer.chat_template:
        others = ", ".join(prompt_formats.PROMPT_FORMATS[:-1])
        raise UserError(
            f"The tokenizer of {lm.name} has no chat template; take "
            f"prompt_format=auto, or one of {others}."
        )
    return replace(lm, prompt_format=name)
