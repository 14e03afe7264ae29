"""What each of the four methods says of single facts, in one form: known or not, and how surely."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.metrics import anchors, canonical, choices, monitor, responses
from helpers.metrics import latent_knowledge as lke

METHODS = {
    "monitor": "MONITOR",
    "knowledge_base": "knowledge base",
    "latent_knowledge": "IC-LKE",
    "multiplicity": "multiplicity",
}
FIRM = 0.5
COLUMNS = ["item", "relation", "known", "score", "blind", "misled"]


def verdicts(
    chapter: str,
    answers: pd.DataFrame,
    settings: Mapping[str, Any],
    false: Mapping[str, str] | None = None,
    firm: float = FIRM,
) -> pd.DataFrame:
    r"""Turn a chapter's answers about facts into one verdict a fact.

    A verdict follows from the answers and the answer key alone: that a fact was never in the
    training text makes no right answer wrong. Columns such as ``seen`` or ``exposures`` are unread.

    ==============  ============================================  ============================
    method          known                                         score
    ==============  ============================================  ============================
    MONITOR         right after the hint, and steadiness          steadiness, 0 if not right
                    :math:`1 - d_c / p^+_c \ge` firm              after the hint
    knowledge base  correct, and consistency at least firm        consistency; negative where
                                                                  wrong, 0 if uninformative
    IC-LKE          the true choice is the likeliest              its probability
    multiplicity    prompt-agnostic factuality                    share of prompts answered
                                                                  rightly
    ==============  ============================================  ============================

    >>> answers = pd.DataFrame({"item": "a", "group": "P17", "question": "Where is Lima?",
    ...                         "text": [" Peru"], "answers": [["Peru"]], "consistency": [0.75]})
    >>> verdicts("knowledge_base", answers, {"match": "exact"})[["known", "score"]].values.tolist()
    [[1.0, 0.75]]
    """
    if chapter not in WAYS:
        raise UserError(f'No verdicts are known of "{chapter}": give {", ".join(WAYS)}.')
    check_firm(firm)
    found = WAYS[chapter](answers, settings, dict(false or {}), firm)
    told = [bool((false or {}).get(item)) for item in found["item"]]
    found["misled"] = found["misled"].astype(float).where(told)
    found["known"] = found["known"].astype(float)
    return found[[*COLUMNS, *(name for name in found if name not in COLUMNS)]]


def check_firm(firm: float) -> float:
    """Return the threshold, or say that it is no share.

    Examples
    --------
    >>> check_firm(0.5)
    0.5
    """
    if not 0 <= firm <= 1:
        raise UserError(f"firm is {firm}: give a share between 0 and 1.")
    return firm


def _monitor(answers: pd.DataFrame, settings: Mapping, false: dict, firm: float) -> pd.DataFrame:
    known = anchors.known_facts(answers, settings["match"])
    found = monitor.fact_scores(answers, known, alphas=settings["alphas"])
    steady = 1 - found["deviation"] / found["anchor"]
    found["score"] = steady.clip(lower=0).where(found["counted"], 0.0)
    found["known"] = found["counted"] & (steady >= firm)
    base = answers[answers["variant"] == "frame0"].set_index("item")["logprobs"]
    found["asked_once"] = np.exp(found["item"].map(base).map(np.sum))
    kept = ["item", "relation", "known", "score", "anchor", "pfd", "ird", "deviation"]
    return found[[*kept, "counted", "asked_once"]].assign(blind=np.nan, misled=np.nan)


def _knowledge_base(
    answers: pd.DataFrame, settings: Mapping, false: dict, firm: float
) -> pd.DataFrame:
    # Judged anew: a label may follow the paper, for which no answer about unseen facts is correct.
    label = responses.mark(answers, settings["match"])["label"]
    told, correct = label != "uninformative", label == "correct"
    consistency = answers["consistency"].fillna(0.0).where(told, 0.0)
    wrong = [
        bool(false.get(item)) and canonical.same_answer(text, [false[item]])
        for item, text in zip(answers["item"], answers["text"])
    ]
    found = {
        "item": answers["item"],
        "relation": answers["group"],
        "known": correct & (consistency >= firm),
        "score": consistency.where(correct, 0.0 - consistency),
        "blind": consistency,
        "misled": np.array(wrong, dtype=bool) & (consistency >= firm),
        "correct": correct.astype(float),
        "consistency": consistency,
    }
    return pd.DataFrame(found).reset_index(drop=True)


def _latent_knowledge(
    answers: pd.DataFrame, settings: Mapping, false: dict, firm: float
) -> pd.DataFrame:
    found = lke.fact_scores(answers).drop(columns="variant")
    found = found.assign(known=found["right"], score=found["mass"], blind=found["top"])
    return found.assign(misled=found["said"] == found["item"].map(false))


def _multiplicity(
    answers: pd.DataFrame, settings: Mapping, false: dict, firm: float
) -> pd.DataFrame:
    chosen = choices.choose(answers, settings["rule"])
    how = [settings[name] for name in ("tau", "replacement", "correct_by")]
    found = choices.item_scores(chosen, *how)
    texts = answers.drop_duplicates(["item", "option"]).set_index(["item", "option"])["text"]
    keys = pd.MultiIndex.from_frame(found[["item", "majority"]])
    said = texts.reindex(keys).to_numpy()
    misled = (said == found["item"].map(false)) & (found["class"] == "error")
    found = found.assign(known=found["factuality"], score=found["accuracy"], misled=misled)
    kept = ["item", "relation", "known", "score", "misled", "accuracy", "self_consistency", "class"]
    return found[kept].assign(blind=found["self_consistency"])


WAYS: dict[str, Callable[..., pd.DataFrame]] = {
    "monitor": _monitor,
    "knowledge_base": _knowledge_base,
    "latent_knowledge": _latent_knowledge,
    "multiplicity": _multiplicity,
}
