"""The form in which a question reaches a model: bare, as in the papers, or one that it is used to.

Sentences to complete and statements to judge stay as they are in ``qa_format_text`` and ``shots``.
"""

from itertools import islice
from zlib import crc32

import pandas as pd

from helpers import UserError
from helpers.metrics.matching import contains_words
from helpers.prompts.frames import question_probes

PROMPT_FORMATS = (
    "bare",
    "qa",
    "shots",
    "chat",
)  # chat: models put their template around any prompt
N_SHOTS = 5
N_SPARE_DEMONSTRATIONS = (
    40  # demonstrations to choose five from that do not touch the fact asked for
)


def check_prompt_format(name: str, more: tuple[str, ...] = ("", "auto")) -> str:
    """Return the name of a prompt format; `more` is what else a chapter accepts."""
    if name not in (*PROMPT_FORMATS, *more):
        raise UserError(
            f'prompt_format is one of {", ".join(PROMPT_FORMATS)} or auto, not "{name}".'
        )
    return name


def model_label(name: str, prompt_format: str) -> str:
    """Return a model's name as tables show it: its last part, and a format but for bare."""
    last = str(name).rstrip("/").rpartition("/")[2]
    return last if prompt_format == "bare" else f"{last} ({prompt_format})"


def qa_format_text(question: str, answer: str = "") -> str:
    """Return a question with its answer, or up to where that would stand."""
    given = f" {answer}\n\n" if answer else ""
    return f"Question: {question}\nAnswer:{given}"


def wrap_questions(
    probes: pd.DataFrame, prompt_format: str, shots: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Put the questions of a table into a format; nothing but the column `prompt` changes."""
    check_prompt_format(prompt_format, ())
    if prompt_format in ("bare", "chat"):
        return probes
    asked = probes["kind"] == "qa"
    prompts = probes["prompt"].mask(
        asked, [qa_format_text(prompt) for prompt in probes["prompt"]]
    )
    if prompt_format == "shots":
        facts = list(zip(probes["subject"], probes["object"]))
        told = list(shots[["question", "object", "subject"]].itertuples(index=False))
        before = {}
        for fact in dict.fromkeys(
            facts
        ):  # what names neither its subject nor its object
            free = (
                t
                for t in told
                if not any(contains_words(text, name) for text in t for name in fact)
            )
            before[fact] = "".join(
                qa_format_text(*texts[:2]) for texts in islice(free, N_SHOTS)
            )
        given = [before[fact] + prompt for fact, prompt in zip(facts, prompts)]
        prompts = prompts.mask(asked, given)
    return probes.assign(prompt=prompts)


def draw_demonstrations(
    facts: pd.DataFrame, frames: pd.DataFrame, asked: pd.DataFrame, seed: int = 0
) -> pd.DataFrame:
    """Draw answered questions of many relations, first of facts that are not asked."""
    known = facts[
        facts["relation"].isin(frames.loc[frames["kind"] == "qa", "relation"])
    ]
    drawn = [crc32(f"shots {seed} {fact}".encode()) for fact in known["fact"]]
    known = known.assign(asked=known["subject"].isin(asked["subject"]), drawn=drawn)
    known = known.sort_values("drawn", kind="stable")
    known["turn"] = known.groupby(["asked", "relation"]).cumcount()
    known = known.sort_values(["asked", "turn", "drawn"], kind="stable").head(
        N_SPARE_DEMONSTRATIONS
    )
    known["question"] = question_probes(known, frames, n_frames=1)["prompt"].to_numpy()
    return known[["question", "subject", "object"]].reset_index(drop=True)
