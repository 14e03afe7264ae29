"""Prompt multiplicity: which errors are belief, and which are chance of the prompt.

Ganesh, Shokri and Farnadi 2026, "Rethinking Hallucinations", EACL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.datasets import multiple_choice
from helpers.metrics import choices, multiplicity
from helpers.prompts import variations
from helpers.studies.measures import FIRM, check_firm, rate, summarised

if TYPE_CHECKING:
    from helpers.models import LanguageModel

TITLE = "multiplicity"
FOR_VERDICT = {"focus": "frames"}
FIGURES = {"accuracy": ("accuracy", 1), "self_consistency": ("self-consistency", 1)}
_rate = partial(rate, counts="questions")
MEASURES = (
    _rate("accuracy", "choice accuracy", source="accuracy, Tables 1 and 3"),
    _rate("self_consistency", "self-consistency", None),
    _rate("factuality", "steadily right"),
    _rate("randomness", "unsteady", False),
    _rate("error", "steadily wrong", False),
)


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
    """Let the model choose an option under every variation of the question.

    Parameters
    ----------
    model : LanguageModel
    facts : DataFrame, optional
        Facts of the data set that are made into questions; by default `n_items` (0: all) of it.
    dataset : str
        Facts or a benchmark of questions: a name or a path.
    relations : sequence of str
        Of facts; all if empty.
    n_items, n_options, n_variations : int
    focus : str
        Kind of variation; by default wordings for facts, else the benchmark's first.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row an option and prompt: ``item, relation, kind, variation, option, text, prompt,
        continuation, correct, logprobs, tokens, read`` and, for facts, ``false_object``.
    """
    from helpers import probing

    if facts is None:
        wanted = list(relations) or None
        bench = multiple_choice.load(dataset, n_items or None, seed, n_options, wanted, model.name)
    else:
        only = set(facts["fact"])
        bench = multiple_choice.atlas.load(dataset, None, seed, n_options, None, model.name, only)
    items = bench.items
    frames = datasets.frames(dataset) if "subject" in items else None
    kind = focus or ("frames" if frames is not None else bench.kinds[0])
    ways, n_shots, _ = variations.plan(
        items, [kind], n_variations, bench.pool, bench.n_shots if facts is None else 0, frames
    )
    probes = variations.probes(
        items, kind, ways[kind], style=bench.style, pool=bench.pool, n_shots=n_shots,
        frames=frames, seed=seed,
    )  # fmt: skip
    scored = probing.score(model, probes, cache=cache)
    scored.attrs["source"] = bench.about
    if "false_object" not in items:
        return scored
    return scored.assign(false_object=scored["item"].map(items.set_index("item")["false_object"]))


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
        As for `helpers.metrics.multiplicity.taxonomy`.

    Returns
    -------
    DataFrame
        As from `helpers.metrics.choices.item_scores`, with ``said``, the text of the majority's
        option, and ``stratum``: questions are drawn from all alike.
    """
    if "kind" in answers:
        answers = answers[answers["kind"] == (focus or answers["kind"].iloc[0])]
    found = choices.item_scores(choices.choose(answers, rule), tau, replacement, correct_by)
    texts = answers.drop_duplicates(["item", "option"]).set_index(["item", "option"])["text"]
    keys = pd.MultiIndex.from_frame(found[["item", "majority"]])
    return found.assign(said=texts.reindex(keys).to_numpy(), stratum="all")


def verdict(facts: pd.DataFrame, firm: float = FIRM) -> pd.DataFrame:
    """Call facts known that are answered rightly whatever the prompt (prompt-agnostic factuality).

    Parameters
    ----------
    facts : DataFrame
        From :func:`facts`.
    firm : float
        Unused: the threshold is `tau`.

    Returns
    -------
    DataFrame
        ``known`` (0 or 1); ``score``, the share of prompts answered rightly; ``blind``, the
        self-consistency; ``asserted``, the text that is chosen whatever the prompt, "" if none is.
    """
    check_firm(firm)
    steady = facts["class"].isin(["factuality", "error"])
    columns = {
        "known": facts["factuality"],
        "score": facts["accuracy"],
        "blind": facts["self_consistency"],
        "asserted": np.where(steady, facts["said"], ""),
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summarised, MEASURES)
