"""The form in which a question reaches a model: bare, as in the papers, or another.

Sentences to complete and statements to judge stay as they are in ``qa`` and ``shots``.
"""

from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

import pandas as pd

from helpers import UserError
from helpers.metrics.matching import contains_words
from helpers.prompts.frames import question_probes

# With `chat`, models put their template around any prompt.
PROMPT_FORMATS = ("bare", "qa", "shots", "chat")
N_SHOTS = 5
# To choose five from that do not touch the fact asked for.
N_SPARE_DEMONSTRATIONS = 40


def check_prompt_format(name: str, more: tuple[str, ...] = ("", "auto")) -> str:
    """Return the name of a prompt format; `more` is what else a chapter accepts."""
    if name not in (*PROMPT_FORMATS, *more):
        formats = ", ".join(PROMPT_FORMATS)
        raise UserError(f'prompt_format is one of {formats} or auto, not "{name}".')
    return name


def model_title(name: str | Path) -> str:
    """Return what people call a model: no folder, no server and no ending of a file.

    >>> names = ("atlas-s", "org/model", "/a/folder/tiny.gguf", "http://host:8000#a/b")
    >>> [model_title(name) for name in names]
    ['atlas-s', 'model', 'tiny', 'b']
    """
    text = str(name)
    if text.startswith(("http://", "https://")):
        text = text.partition("#")[2]
    title = text.rstrip("/").rpartition("/")[2]
    if title in ("", ".", "..", "~"):
        title = Path(text).expanduser().resolve().name
    if title.lower().endswith(".gguf"):
        return title[: -len(".gguf")]
    return title


def model_titles(names: Iterable[str]) -> dict[str, str]:
    """Return the titles of models by name; of equal ones, all but the first numbered.

    >>> model_titles(["a/m", "b/m", "m2"])
    {'a/m': 'm', 'b/m': 'm (2)', 'm2': 'm2'}
    """
    titles: dict[str, str] = {}
    for name in dict.fromkeys(names):
        title = model_title(name)
        number = 1
        while title in titles.values():
            number += 1
            title = f"{model_title(name)} ({number})"
        titles[name] = title
    return titles


def model_label(name: str, prompt_format: str) -> str:
    """Return a model's title in tables, and its format if not bare."""
    title = model_title(name)
    return title if prompt_format == "bare" else f"{title} ({prompt_format})"


def qa_format_text(question: str, answer: str = "") -> str:
    """Return a question with its answer, or up to where that would stand."""
    answer_line = f" {answer}\n\n" if answer else ""
    return f"Question: {question}\nAnswer:{answer_line}"


def wrap_questions(
    probes: pd.DataFrame, prompt_format: str, shots: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Put the questions of a table into a format; only the column `prompt` changes.

    `shots`, needed for that format, are as from :func:`draw_demonstrations`.
    """
    check_prompt_format(prompt_format, ())
    if prompt_format in ("bare", "chat"):
        return probes
    prompts = [qa_format_text(prompt) for prompt in probes["prompt"]]
    if prompt_format == "shots":
        if shots is None:
            raise ValueError('The format "shots" needs a table of shots.')
        before = _shots_before_probes(probes, shots)
        pairs = zip(before, prompts, strict=True)
        prompts = [texts + prompt for texts, prompt in pairs]
    is_question = probes["kind"] == "qa"
    return probes.assign(prompt=probes["prompt"].mask(is_question, prompts))


def _shots_before_probes(probes: pd.DataFrame, shots: pd.DataFrame) -> list[str]:
    """Return the text of each probe's shots."""
    text_of_fact: dict[tuple[str, str], str] = {}
    texts = []
    for fact in zip(probes["subject"], probes["object"], strict=True):
        if fact not in text_of_fact:
            text_of_fact[fact] = _shots_before_fact(fact, shots)
        texts.append(text_of_fact[fact])
    return texts


def _shots_before_fact(fact: tuple[str, str], shots: pd.DataFrame) -> str:
    """Return the first shots that name neither the fact's subject nor its object."""
    texts: list[str] = []
    for shot in shots[["question", "object", "subject"]].itertuples(index=False):
        if any(contains_words(text, name) for text in shot for name in fact):
            continue
        texts.append(qa_format_text(shot.question, shot.object))
        if len(texts) == N_SHOTS:
            break
    return "".join(texts)


def draw_demonstrations(
    facts: pd.DataFrame, frames: pd.DataFrame, asked: pd.DataFrame, seed: int = 0
) -> pd.DataFrame:
    """Draw answered questions of many relations, first of facts that are not asked."""
    with_questions = frames.loc[frames["kind"] == "qa", "relation"]
    known = facts[facts["relation"].isin(with_questions)]
    order = [crc32(f"shots {seed} {fact}".encode()) for fact in known["fact"]]
    known = known.assign(asked=known["subject"].isin(asked["subject"]), order=order)
    known = known.sort_values("order", kind="stable")
    known["turn"] = known.groupby(["asked", "relation"]).cumcount()
    known = known.sort_values(["asked", "turn", "order"], kind="stable")
    known = known.head(N_SPARE_DEMONSTRATIONS)
    known["question"] = question_probes(known, frames, n_frames=1)["prompt"].to_numpy()
    return known[["question", "subject", "object"]].reset_index(drop=True)
