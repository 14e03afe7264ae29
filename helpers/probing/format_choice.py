"""Which prompt format a model is asked in: the one that is named, or the best of those tried."""

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
    """A model with its prompt format, what puts probes into it, and the trial (may be empty)."""

    lm: LanguageModel
    wrap: WrapProbes
    tried: pd.DataFrame


def choose_prompt_format(
    lm: LanguageModel,
    wanted: str,
    dataset: str,
    facts: pd.DataFrame,
    seed: int = 0,
    rule: str = "exact_match",
    cache: str | Path | None = None,
) -> ChosenFormat:
    """Give a model the wanted prompt format; ``auto``: the best in coverage, then accuracy."""
    wanted = prompt_formats.check_prompt_format(wanted) or (
        "bare" if lm.name in bundled_models() else "auto"
    )
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
    """Return a model for a study whose prompts have their own form: all but ``chat`` keep it."""
    return _in_format(
        lm, "chat" if prompt_formats.check_prompt_format(wanted) == "chat" else "bare"
    )


def chosen_format_sentence(lm: LanguageModel, table: pd.DataFrame) -> str:
    """Say which format a model was given after a :func:`try_prompt_formats`."""
    best = table.loc[lm.prompt_format]
    if not best["coverage"]:
        return (
            f"In no prompt format is any of {best['facts']} facts answered rightly, even with the "
            "answer said before; the questions stay bare."
        )
    return (
        f"The prompt format is {lm.prompt_format}: with the answer said before, "
        f"{best['coverage']} of {best['facts']} facts are answered rightly."
    )


def probe_wrapper(
    lm: LanguageModel, dataset: str, facts: pd.DataFrame, seed: int = 0
) -> WrapProbes:
    """Return what puts the questions of a table of probes into a model's prompt format."""
    shots = None
    if lm.prompt_format == "shots":
        every, frames = (
            datasets.load(dataset, seed=seed),
            datasets.prompt_frames(dataset),
        )
        shots = prompt_formats.draw_demonstrations(every, frames, facts, seed)
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
    """Ask twenty facts, spread over the relations, in every format that a model can read."""
    few = facts.assign(turn=facts.groupby("relation").cumcount())
    few = few.sort_values("turn", kind="stable").head(N_TRIAL_FACTS)
    probes = prompts.monitor_probes(
        few, datasets.prompt_frames(dataset, few["relation"].unique()), 1
    )
    probes = probes[probes["context"].isin(["right", "none"])]
    rows = {}
    for name in prompt_formats.PROMPT_FORMATS:
        asked = replace(lm, prompt_format=name)
        if asked.chat and not lm.tokenizer.chat_template:
            continue
        table = probe_wrapper(asked, dataset, facts, seed)(probes)
        longest = max(
            map(len, tokens.prompt_ids(asked, list(table["prompt"]))), default=0
        )
        if lm.max_length is not None and longest + ANSWER_LENGTH > lm.max_length:
            continue
        said = generate(asked, table, ANSWER_LENGTH, cache=cache, progress=False)
        marks = accuracy.mark_texts(said, rule)
        right = marks.groupby("context")["right"].sum()
        stopped = (marks["tokens"].map(len) < ANSWER_LENGTH).sum()
        rows[name] = (len(few), right.get("right", 0), right.get("none", 0), stopped)
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=TRIAL_COLUMNS
    ).rename_axis("format")


def _in_format(lm: LanguageModel, name: str) -> LanguageModel:
    if name == "chat" and not lm.tokenizer.chat_template:
        raise UserError(
            f"The tokenizer of {lm.name} has no chat template; take prompt_format=auto, or one of "
            f"{', '.join(prompt_formats.PROMPT_FORMATS[:-1])}."
        )
    return replace(lm, prompt_format=name)
