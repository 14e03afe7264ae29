"""Facts to probes: one row for every prompt and continuation that a model is to score.

A frame is a sentence with ``[X]`` for the subject and, in cloze and fact-checking
frames, ``[Y]`` for the object. A context is one entity put before the question:
"France. Which ...?"; ours beside the paper's is an unrelated word, which could not be
an answer.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
Table 1.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from helpers import UserError, check_columns

# What every table of probes has, and these beside it.
PROBE_COLUMNS = (
    "item",
    "relation",
    "variant",
    "option",
    "prompt",
    "continuation",
    "correct",
)
QUESTION_COLUMNS = (
    *PROBE_COLUMNS,
    "kind",
    "frame",
    "context",
    "context_index",
    "subject",
    "object",
)
CONTEXTS = ("none", "right", "wrong", "unrelated")
VERDICTS = (" True", " False")

_SLOT = re.compile(r"\[([XY])\]")


def question_probes(
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    kind: str = "qa",
    contexts: Sequence[str] = ("none",),
    n_frames: int | None = None,
) -> pd.DataFrame:
    """Ask every fact in every frame, under every kind of context asked for.

    Parameters
    ----------
    facts : DataFrame
        Columns ``fact, relation, subject, object``, for wrong contexts ``distractors``,
        and for unrelated ones ``unrelated`` (:func:`helpers.datasets.draw_unrelated_words`).
    frames : DataFrame
        Columns ``relation, kind, frame, template``.
    kind : {"qa", "wp"}
        Questions, or cloze sentences whose prompt ends where the object would stand.
    contexts : sequence of {"none", "right", "wrong", "unrelated"}
        ``"wrong"`` gives one probe for each of the fact's distractors, ``"unrelated"``
        one for each of its unrelated words.
    n_frames : int, optional
        Only the first so many frames of each relation; by default all.

    Returns
    -------
    DataFrame
        Probes, one option each, which is correct; variants are named ``qa0``,
        ``qa0+right``, ``qa0+wrong2``, ``qa0+unrelated2``, ``wp3``.

    Raises
    ------
    UserError
        For an unknown kind or context, or a relation that has no frames of the kind.

    Examples
    --------
    >>> facts = pd.DataFrame({"fact": ["P17-1"], "relation": ["P17"], "subject": ["Lyon"],
    ...                       "object": ["France"], "distractors": [["Peru", "Chad"]]})
    >>> frames = pd.DataFrame({"relation": ["P17", "P17"], "kind": ["qa", "wp"], "frame": [0, 0],
    ...                        "template": ["Where is [X]?", "[X] is located in [Y]."]})
    >>> question_probes(facts, frames, contexts=["wrong"])[["variant", "prompt"]].values.tolist()
    [['qa0+wrong0', 'Peru. Where is Lyon?'], ['qa0+wrong1', 'Chad. Where is Lyon?']]
    >>> question_probes(facts, frames, kind="wp").prompt[0]
    'Lyon is located in'
    """
    if kind not in ("qa", "wp"):
        raise UserError(f'The kind of a question is "qa" or "wp", not "{kind}".')
    if unknown := [context for context in contexts if context not in CONTEXTS]:
        raise UserError(
            f'A context is one of {", ".join(CONTEXTS)}; "{unknown[0]}" is none.'
        )
    words = ("unrelated",) if "unrelated" in contexts else ()
    check_columns(facts, ("fact", "relation", "subject", "object", *words), "facts")
    by_relation = _frames_of(facts, frames, kind, n_frames)
    rows = []
    for fact in facts.to_dict("records"):
        for frame, template in by_relation[fact["relation"]]:
            prompt = fill_template(template, fact["subject"])
            for context, index, word in _contexts(fact, contexts):
                suffix = {"none": "", "right": "+right"}.get(
                    context, f"+{context}{index}"
                )
                variant = f"{kind}{frame}{suffix}"
                text = _with_context(word, prompt)
                rows.append(
                    _answer_row(fact, variant, text, kind, frame, context, index)
                )
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def monitor_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n_frames: int = 7
) -> pd.DataFrame:
    """Make the R + 1 + M prompts a fact that MONITOR needs.

    ``right`` is the base frame after the true object (the primary anchor), ``frame0``
    ... are the R frames without context, ``wrong0`` ... the base frame after each of
    the M distractors. Where facts have unrelated words, ``unrelated0`` ... follow: the
    control, which MONITOR leaves out.

    Parameters
    ----------
    facts, frames : DataFrame
        As for :func:`question_probes`; distractors are needed.
    n_frames : int
        R: the first so many question frames. A relation that has fewer gives fewer
        prompts.

    Returns
    -------
    DataFrame
        Probes of kind ``qa``, one option each.

    Raises
    ------
    UserError
        For a relation without question frames, or a fact without distractors.

    Examples
    --------
    >>> facts = pd.DataFrame({"fact": ["P17-1"], "relation": ["P17"], "subject": ["Lyon"],
    ...                       "object": ["France"], "distractors": [["Peru"]]})
    >>> frames = pd.DataFrame({"relation": "P17", "kind": "qa", "frame": [0, 1],
    ...                        "template": ["Where is [X]?", "In what country is [X]?"]})
    >>> monitor(facts, frames)[["variant", "prompt"]].values.tolist()[:2]
    [['right', 'France. Where is Lyon?'], ['frame0', 'Where is Lyon?']]
    """
    check_columns(
        facts, ("fact", "relation", "subject", "object", "distractors"), "facts"
    )
    by_relation = _frames_of(facts, frames, "qa", n_frames)
    contexts = ("wrong", "unrelated") if "unrelated" in facts else ("wrong",)
    rows = []
    for fact in facts.to_dict("records"):
        asked = [
            (n, fill_template(text, fact["subject"]))
            for n, text in by_relation[fact["relation"]]
        ]
        base, base_prompt = asked[0]
        right = _with_context(fact["object"], base_prompt)
        rows.append(_answer_row(fact, "right", right, "qa", base, "right", 0))
        for frame, prompt in asked:
            rows.append(
                _answer_row(fact, f"frame{frame}", prompt, "qa", frame, "none", -1)
            )
        for context, index, word in _contexts(fact, contexts):
            text = _with_context(word, base_prompt)
            rows.append(
                _answer_row(fact, f"{context}{index}", text, "qa", base, context, index)
            )
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def fact_check_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n_frames: int | None = None
) -> pd.DataFrame:
    """Let the model judge true and false statements of every fact: options True and False.

    Here ``context`` says which object stands in the statement: ``right`` (the fact's
    own, variant ``fc0+pos``) or ``wrong`` (distractor m, variant ``fc0+neg{m}``).

    Parameters
    ----------
    facts, frames : DataFrame
        As for :func:`question_probes`; distractors are needed, and frames of kind ``fc``.
    n_frames : int, optional
        Only the first so many frames of each relation; by default all.

    Returns
    -------
    DataFrame
        Probes with two options, ``" True"`` (0) and ``" False"`` (1).

    Raises
    ------
    UserError
        For a relation without fact-checking frames, or a fact without distractors.

    Examples
    --------
    >>> facts = pd.DataFrame({"fact": ["P17-1"], "relation": ["P17"], "subject": ["Lyon"],
    ...                       "object": ["France"], "distractors": [["Peru"]]})
    >>> frames = pd.DataFrame({"relation": ["P17"], "kind": ["fc"], "frame": [0],
    ...                        "template": ["[X] is in [Y]. True or False?"]})
    >>> fact_check_probes(facts, frames)[["variant", "continuation", "correct"]].values.tolist()[:2]
    [['fc0+pos', ' True', True], ['fc0+pos', ' False', False]]
    """
    check_columns(
        facts, ("fact", "relation", "subject", "object", "distractors"), "facts"
    )
    by_relation = _frames_of(facts, frames, "fc", n_frames)
    rows = []
    for fact in facts.to_dict("records"):
        head = (fact["fact"], fact["relation"])
        for frame, template in by_relation[fact["relation"]]:
            for context, index, word in _contexts(fact, ("right", "wrong")):
                prompt = fill_template(template, fact["subject"], word)
                variant = (
                    f"fc{frame}+pos" if context == "right" else f"fc{frame}+neg{index}"
                )
                tail = ("fc", frame, context, index, fact["subject"], fact["object"])
                for option, verdict in enumerate(VERDICTS):
                    correct = (option == 0) == (context == "right")
                    rows.append(
                        (*head, variant, option, prompt, verdict, correct, *tail)
                    )
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def fill_template(template: str, subject: str, obj: str = "") -> str:
    """Put the subject for ``[X]`` and the object for ``[Y]``, both in one pass.

    >>> fill_template("[X] is in [Y].", "the [Y] tower", "France")
    'the [Y] tower is in France.'
    """
    values = {"X": subject, "Y": obj}
    return _SLOT.sub(lambda match: values[match.group(1)], template)


def _with_context(word: str | None, prompt: str) -> str:
    return prompt if word is None else f"{word}. {prompt}"


def _contexts(
    fact: dict[str, Any], kinds: Sequence[str]
) -> Iterator[tuple[str, int, str | None]]:
    """Yield the context's kind, its number and the word, in the order asked for."""
    for context in kinds:
        if context == "none":
            yield "none", -1, None
        elif context == "right":
            yield "right", 0, fact["object"]
        elif context == "unrelated":
            for index, word in enumerate(fact["unrelated"]):
                yield "unrelated", index, word
        else:
            distractors = fact.get("distractors")
            if distractors is None or len(distractors) == 0:
                raise UserError(
                    f"Fact {fact['fact']} has no distractors, which wrong contexts and false "
                    "statements are made from; add some or leave the fact out."
                )
            for index, word in enumerate(distractors):
                yield "wrong", index, word


def _answer_row(fact: dict[str, Any], variant: str, prompt: str, *asked: Any) -> tuple:
    """Return the probe whose one continuation is the fact's object, in the order of COLUMNS."""
    head = (
        fact["fact"],
        fact["relation"],
        variant,
        0,
        prompt,
        f" {fact['object']}",
        True,
    )
    return (*head, *asked, fact["subject"], fact["object"])


def _frames_of(
    facts: pd.DataFrame, frames: pd.DataFrame, kind: str, n_frames: int | None
) -> dict[str, list[tuple[int, str]]]:
    """Return relation -> (frame, template) in order, the base frame first."""
    check_columns(frames, ("relation", "kind", "frame", "template"), "frames")
    if n_frames is not None and n_frames < 1:
        raise UserError(f"The number of frames must be at least 1, not {n_frames}.")
    chosen = frames[
        (frames["kind"] == kind) & frames["relation"].isin(facts["relation"])
    ]
    if missing := sorted(set(facts["relation"]) - set(chosen["relation"])):
        raise UserError(
            f'There are no frames of kind "{kind}" for {", ".join(missing)}; '
            "choose other relations or another kind, or add frames."
        )
    found = {}
    for relation, group in chosen.sort_values("frame", kind="stable").groupby(
        "relation"
    ):
        rows = list(zip(group["frame"].astype(int), group["template"]))[:n_frames]
        found[relation] = [(frame, _asked(template, kind)) for frame, template in rows]
    return found


def _asked(template: str, kind: str) -> str:
    """Return a frame's template, of a cloze sentence the part before its object."""
    asked = template.partition("[Y]")[0].rstrip() if kind == "wp" else template
    needed = [("[X]", asked)] + [("[Y]", template)] * (kind != "qa")
    if missing := [slot for slot, text in needed if slot not in text]:
        raise UserError(
            f'The frame "{template}" lacks {missing[0]}; '
            "a cloze frame needs [X] before [Y], a question [X], a statement both."
        )
    return asked
