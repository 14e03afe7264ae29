"""What the page asks about a subject, in one of five ways, and the objects to choose from.

The page does the same in JavaScript (``book/_static/live/prompts.js``); the tests hold
both together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from book.tools.live_model import (
    LIVE_MODEL,
    N_OPTIONS,
    WAYS_OF_ASKING,
    WAYS_WITH_CONTEXT,
    facts_with_exposures,
)
from helpers import datasets
from helpers.prompts import frames, lists


@dataclass(frozen=True)
class Question:
    """What is asked."""

    relation: str = "P17"  # of the atlas
    subject: str = ""  # any
    way: str = "question"  # a name of WAYS
    frame: int = 0  # wording of the question or sentence, 0 for the base frame
    context: str = ""  # before the question, only in the ways of IN_CONTEXT
    examples: int = (
        8  # length of a list, at least 1; a relation with fewer facts gives all
    )
    turn: int = 0  # from which fact on the examples begin; of options: which order
    separator: str = (
        "colon and line"  # a name of SEPARATORS; this one IC-LKE chooses for MODEL
    )


@cache
def facts_of_relation(relation: str) -> pd.DataFrame:
    """Return the facts of a relation, in their order; none of one that is unknown."""
    return facts_with_exposures()[facts_with_exposures()["relation"] == relation]


@cache
def _frames(relation: str, kind: str) -> dict[int, str]:
    table = datasets.prompt_frames("atlas", [relation]).query("kind == @kind")
    return dict(zip(table["frame"], table["template"]))


def facts_about_subject(relation: str, subject: str) -> pd.DataFrame:
    """Return the facts of a relation about a subject, in whatever case and accents it is written.

    >>> facts_about_subject("P1376", "brasilia")["subject"].tolist()
    ['Brasília']
    """
    rows = facts_of_relation(relation)
    exact = rows[rows["subject"] == subject]
    return (
        exact
        if len(exact)
        else rows[rows["subject"].map(folded_name) == folded_name(subject)][:1]
    )


def folded_name(name: str) -> str:
    """Return a name without case, accents and outer space."""
    letters = unicodedata.normalize("NFD", name.strip().lower())
    return "".join(
        letter for letter in letters if not unicodedata.category(letter).startswith("M")
    )


def prompt_and_choices(asked: Question) -> tuple[str, list[str], list[str]]:
    r"""Return the prompt, the objects to choose from, and each object as it follows the prompt.

    >>> prompt_and_choices(Question("P17", "Lyon", context="Peru"))[0]
    'Peru. Which country is Lyon in?'
    >>> prompt, objects, continuations = prompt_and_choices(Question("P30", "Peru", way="options"))
    >>> prompt.splitlines()[0], len(objects), continuations[0] == f" {objects[0]}"
    ('QUESTION: Which continent is Peru on?', 5, True)
    """
    of_relation = facts_of_relation(asked.relation)
    objects = sorted(set(of_relation["object"]))
    if asked.way == "list":
        prompt, space = _list(asked, of_relation)
        return prompt, objects, [f"{space}{name}" for name in objects]
    _, _, wrap, joint = WAYS_OF_ASKING[asked.way]
    objects = (
        question_options(asked, of_relation) if asked.way == "options" else objects
    )
    put = {"Q": _framed(asked), "O": joint.join(objects)}
    prompt = re.sub(r"\[([QO])\]", lambda slot: put[slot[1]], wrap)
    return prompt, objects, [f" {name}" for name in objects]


def question_options(asked: Question, of_relation: pd.DataFrame) -> list[str]:
    """Return the options of a question: the truth, what was told falsely, and others.

    The others are spread evenly over the relation's objects, beginning at a place that
    the subject's letters decide. All stand in alphabetic order, turned by `turn`.
    """
    objects = sorted(set(of_relation["object"]))
    of_subject = facts_about_subject(asked.relation, asked.subject)
    first = [*of_subject["object"], *filter(None, of_subject["false_object"])]
    others = [name for name in objects if name not in first]
    missing = min(N_OPTIONS - len(first), len(others))
    begin, step = sum(map(ord, asked.subject)), max(1, len(others) // max(1, missing))
    first += [others[(begin + k * step) % len(others)] for k in range(missing)]
    return list(np.roll(sorted(first), -asked.turn))


def object_probabilities(asked: Question) -> pd.DataFrame:
    """Return the probability of each object, the likeliest first, with what is true of it."""
    (found,) = probabilities_by_question([asked])
    known = facts_about_subject(asked.relation, asked.subject)
    told = dict.fromkeys(known["false_object"], "false") | dict.fromkeys(
        known["object"], "true"
    )
    table = found.rename_axis("object").reset_index(name="probability")
    table["told"] = [told.get(name, "") for name in table["object"]]
    return table.sort_values("probability", ascending=False, ignore_index=True)


def probabilities_by_question(asked: Sequence[Question]) -> list[pd.Series]:
    """Return for each question the probability of each object."""
    from helpers import probing

    put = [prompt_and_choices(one) for one in asked]
    rows = [
        (item, option, prompt, continuation)
        for item, (prompt, _, continuations) in enumerate(put)
        for option, continuation in enumerate(continuations)
    ]
    probes = pd.DataFrame(rows, columns=["item", "option", "prompt", "continuation"])
    scored = probing.score(_model(), probes.assign(variant="live"), progress=False)
    found = np.exp([sum(values) for values in scored["logprobs"]])
    ends = np.cumsum([len(objects) for _, objects, _ in put])
    parts = np.split(found, ends[:-1])
    return [pd.Series(part, index=objects) for part, (_, objects, _) in zip(parts, put)]


@cache
def _model() -> object:
    from helpers import models

    return models.load(LIVE_MODEL, device="cpu")


def _framed(asked: Question) -> str:
    """Return the question or sentence, after its context."""
    kind = WAYS_OF_ASKING[asked.way][1]
    template = _frames(asked.relation, kind)[asked.frame]
    fact = {
        "fact": "",
        "relation": "",
        "subject": asked.subject,
        "object": asked.context,
    }
    frame = {"relation": "", "kind": kind, "frame": 0, "template": template}
    said = "right" if asked.context and asked.way in WAYS_WITH_CONTEXT else "none"
    probes = frames.question_probes(
        pd.DataFrame([fact]), pd.DataFrame([frame]), kind, (said,)
    )
    return probes["prompt"].item()


def _list(asked: Question, of_relation: pd.DataFrame) -> tuple[str, str]:
    """Return a list up to its open subject, and the space before an object."""
    names = of_relation["subject"].str.lower()
    own = names == of_relation["object"].str.lower()
    usable = of_relation[~own & (names != asked.subject.lower())]
    begin = (
        asked.turn * asked.examples % len(usable)
    )  # as a wheel turns, so that none runs out
    turned = pd.concat([usable[begin:], usable[:begin]])[: asked.examples]
    subject, space = lists.open_pair_and_space(asked.subject, asked.separator)
    return lists.example_list_text(turned, asked.separator) + subject, space
