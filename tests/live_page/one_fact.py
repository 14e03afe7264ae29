"""One fact put through the four studies, for the page that compares them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from book.tools.live import percent
from helpers import datasets, models
from helpers.studies import STUDIES

MODEL = "atlas-s"


class Reading(NamedTuple):
    """What one study shows the model about a fact, what came of it, and whether it is known."""

    study: str
    prompts: list[str]
    result: str
    known: bool | None


def through(fact: str, model: str = MODEL) -> list[Reading]:
    """Ask a model one fact of the atlas in the way of each study."""
    one = datasets.load("atlas").query("fact == @fact")
    lm = models.load(model, device="cpu")
    readings = []
    for name, study in STUDIES.items():
        answers = study.ask(lm, one)
        facts = study.facts(answers)
        known = study.verdict(facts)["known"].iloc[0]
        prompts, result = SAID[name](answers, facts.iloc[0], one["object"].iloc[0])
        readings.append(Reading(name, prompts, result, None if pd.isna(known) else bool(known)))
    return readings


def _monitor(answers: pd.DataFrame, fact: pd.Series, truth: str) -> tuple[list[str], str]:
    asked = answers.drop_duplicates("variant").set_index("variant")["prompt"]
    prompts = [asked[name] for name in ("frame0", f"frame{fact['n_frames'] - 1}", "wrong0")]
    return prompts, (
        f"Over {fact['n_frames']} wordings and {fact['n_interferences']} wrong words the "
        f"probability of {truth} is on average {fact['deviation']:.2f} away from the "
        f"{fact['anchor']:.2f} that it has once {truth} has been said; "
        f"{percent(fact['average'])} of the answers are right."
    )


def _knowledge_base(answers: pd.DataFrame, fact: pd.Series, truth: str) -> tuple[list[str], str]:
    lines = answers["prompt"].iloc[0].strip().splitlines()
    again = int(answers["n_choices"].iloc[0])
    result = f"The model answers “{fact['said'].strip()}”, which counts as {fact['label']}."
    if fact["tested"]:
        result += f" Asked {again} times with options, it picks it again in "
        result += f"{percent(fact['consistency'])} of the cases."
    return ["… " + " ".join(lines[-2:])], result


def _latent_knowledge(answers: pd.DataFrame, fact: pd.Series, truth: str) -> tuple[list[str], str]:
    words = answers["prompt"].iloc[0]
    totals = np.array([sum(values) for values in answers["logprobs"]])
    rank = int((totals > totals[answers["correct"].to_numpy()].max()).sum()) + 1
    result = f"Of {len(answers)} objects the likeliest is {fact['said']} ({percent(fact['top'])})"
    result += "." if rank == 1 else f"; {truth} is number {rank} ({percent(fact['mass'])})."
    return ["… " + words[-60:].partition(" ")[2].replace("\n", " ⏎ ")], result


def _multiplicity(answers: pd.DataFrame, fact: pd.Series, truth: str) -> tuple[list[str], str]:
    asked = answers.drop_duplicates("variant")["prompt"]
    options = ", ".join(sorted(answers["text"].unique()))
    return [f"{asked.iloc[0]} ({options})", f"{asked.iloc[-1]} ({options})"], (
        f"Over {len(asked)} prompts {percent(fact['accuracy'])} of the choices are right; two "
        "randomly drawn prompts agree with probability "
        f"{fact['self_consistency']:.2f}, most often on {fact['said']}."
    )


SAID: dict[str, Callable[[pd.DataFrame, pd.Series, str], tuple[list[str], str]]] = {
    "monitor": _monitor,
    "knowledge_base": _knowledge_base,
    "latent_knowledge": _latent_knowledge,
    "multiplicity": _multiplicity,
}
