"""Facts to probes: one row for every prompt and continuation that a model is to score.

A frame is a sentence with ``[X]`` for the subject and, in cloze and fact-checking
frames, ``[Y]`` for the object. A context is one entity put before the question:
"France. Which ...?". Two are ours and not the paper's, controls that could not be an
answer: an unrelated word, the object of another relation, and a noun, which is nobody's
object.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
Table 1.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.anchors import CONTROLS

# What every table of probes has.
PROBE_COLUMNS = (
    "item",
    "relation",
    "variant",
    "option",
    "prompt",
    "continuation",
    "correct",
)
# What those of single questions have.
QUESTION_COLUMNS = (
    *PROBE_COLUMNS,
    "kind",
    "frame",
    "context",
    "context_index",
    "subject",
    "object",
)
CONTEXTS = ("none", "right", "wrong", *CONTROLS)
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
        and for controls ``unrelated`` and ``noun``, lists of words
        (:func:`helpers.datasets.draw_unrelated_words` and
        :func:`helpers.datasets.draw_control_nouns`).
    frames : DataFrame
        Columns ``relation, kind, frame, template``.
    kind : {"qa", "wp"}
        Questions, or cloze sentences whose prompt ends where the object would stand.
    contexts : sequence of {"none", "right", "wrong", "unrelated", "noun"}
        ``"wrong"`` gives one probe for each of the fact's distractors, ``"unrelated"``
        one for each of its unrelated words, ``"noun"`` one for each of its nouns.
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
    >>> fact = {"fact": "P17-1", "relation": "P17", "subject": "Lyon"}
    >>> fact |= {"object": "France", "distractors": ["Peru", "Chad"]}
    >>> facts = pd.DataFrame([fact])
    >>> frames = pd.DataFrame({"relation": "P17", "kind": ["qa", "wp"], "frame": 0,
    ...                        "template": ["Where is [X]?", "[X] is located in [Y]."]})
    >>> probes = question_probes(facts, frames, contexts=["wrong"])
    >>> probes[["variant", "prompt"]].values.tolist()
    [['qa0+wrong0', 'Peru. Where is Lyon?'], ['qa0+wrong1', 'Chad. Where is Lyon?']]
    >>> question_probes(facts, frames, kind="wp").prompt[0]
    'Lyon is located in'
    """
    if kind not in ("qa", "wp"):
        raise UserError(f'The kind of a question is "qa" or "wp", not "{kind}".')
    unknown = [context for context in contexts if context not in CONTEXTS]
    if unknown:
        raise UserError(
            f'A context is one of {", ".join(CONTEXTS)}; "{unknown[0]}" is none.'
        )
    columns = ["fact", "relation", "subject", "object"]
    columns += [context for context in contexts if context in CONTROLS]
    check_columns(facts, columns, "facts")
    templates = _templates_by_relation(facts, frames, kind, n_frames)
    rows = []
    for fact in facts.to_dict("records"):
        for frame, template in templates[fact["relation"]]:
            question = fill_template(template, fact["subject"])
            for context, index, word in _contexts_of_fact(fact, contexts):
                suffix = f"+{context}{index}"
                if context == "none":
                    suffix = ""
                elif context == "right":
                    suffix = "+right"
                row = _question_row(
                    fact,
                    variant=f"{kind}{frame}{suffix}",
                    prompt=_question_after_context(word, question),
                    kind=kind,
                    frame=frame,
                    context=context,
                    context_index=index,
                )
                rows.append(row)
    return _probe_table(rows, facts)


def monitor_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n_frames: int = 7
) -> pd.DataFrame:
    """Make the R + 1 + M prompts a fact that MONITOR needs.

    ``right`` is the base frame after the true object (the primary anchor), ``frame0``
    ... are the R frames without context, ``wrong0`` ... the base frame after each of
    the M distractors. Where facts have unrelated words or nouns, ``unrelated0`` ... and
    ``noun0`` ... follow: the controls, which MONITOR leaves out.

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
    >>> fact = {"fact": "P17-1", "relation": "P17", "subject": "Lyon"}
    >>> facts = pd.DataFrame([fact | {"object": "France", "distractors": ["Peru"]}])
    >>> templates = ["Where is [X]?", "In what country is [X]?"]
    >>> frames = pd.DataFrame({"frame": [0, 1], "template": templates})
    >>> frames = frames.assign(relation="P17", kind="qa")
    >>> probes = monitor_probes(facts, frames)
    >>> probes[["variant", "prompt"]].values.tolist()[:2]
    [['right', 'France. Where is Lyon?'], ['frame0', 'Where is Lyon?']]
    """
    columns = ("fact", "relation", "subject", "object", "distractors")
    check_columns(facts, columns, "facts")
    templates = _templates_by_relation(facts, frames, "qa", n_frames)
    controls = [context for context in CONTROLS if context in facts]
    misleading = ("wrong", *controls)
    rows = []
    for fact in facts.to_dict("records"):
        base_frame, base_template = templates[fact["relation"]][0]
        base_question = fill_template(base_template, fact["subject"])
        row = _question_row(
            fact,
            variant="right",
            prompt=_question_after_context(fact["object"], base_question),
            kind="qa",
            frame=base_frame,
            context="right",
            context_index=0,
        )
        rows.append(row)
        for frame, template in templates[fact["relation"]]:
            row = _question_row(
                fact,
                variant=f"frame{frame}",
                prompt=fill_template(template, fact["subject"]),
                kind="qa",
                frame=frame,
                context="none",
                context_index=-1,
            )
            rows.append(row)
        for context, index, word in _contexts_of_fact(fact, misleading):
            row = _question_row(
                fact,
                variant=f"{context}{index}",
                prompt=_question_after_context(word, base_question),
                kind="qa",
                frame=base_frame,
                context=context,
                context_index=index,
            )
            rows.append(row)
    return _probe_table(rows, facts)


def fact_check_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n_frames: int | None = None
) -> pd.DataFrame:
    """Let the model judge true and false statements of every fact.

    The options are True and False.

    Here ``context`` says which object stands in the statement: ``right`` (the fact's
    own, variant ``fc0+pos``) or ``wrong`` (distractor m, variant ``fc0+neg{m}``).

    Parameters
    ----------
    facts, frames : DataFrame
        As for :func:`question_probes`; distractors are needed, and frames of kind
        ``fc``.
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
    >>> fact = {"fact": "P17-1", "relation": "P17", "subject": "Lyon"}
    >>> facts = pd.DataFrame([fact | {"object": "France", "distractors": ["Peru"]}])
    >>> frames = pd.DataFrame({"relation": ["P17"], "kind": ["fc"], "frame": [0],
    ...                        "template": ["[X] is in [Y]. True or False?"]})
    >>> probes = fact_check_probes(facts, frames)
    >>> probes[["variant", "continuation", "correct"]].values.tolist()[:2]
    [['fc0+pos', ' True', True], ['fc0+pos', ' False', False]]
    """
    columns = ("fact", "relation", "subject", "object", "distractors")
    check_columns(facts, columns, "facts")
    templates = _templates_by_relation(facts, frames, "fc", n_frames)
    rows = []
    for fact in facts.to_dict("records"):
        for frame, template in templates[fact["relation"]]:
            true = fill_template(template, fact["subject"], fact["object"])
            rows += _statement_rows(fact, f"fc{frame}+pos", true, frame, "right", 0)
            for index, word in enumerate(_distractors(fact)):
                variant = f"fc{frame}+neg{index}"
                false = fill_template(template, fact["subject"], word)
                rows += _statement_rows(fact, variant, false, frame, "wrong", index)
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def _statement_rows(
    fact: dict[str, Any],
    variant: str,
    statement: str,
    frame: int,
    context: str,
    index: int,
) -> list[dict[str, Any]]:
    """Return the probes that judge one statement, a row a verdict."""
    rows = []
    true_option = 0 if context == "right" else 1
    for option, verdict in enumerate(VERDICTS):
        row = _question_row(
            fact,
            variant=variant,
            prompt=statement,
            kind="fc",
            frame=frame,
            context=context,
            context_index=index,
        )
        row["option"] = option
        row["continuation"] = verdict
        row["correct"] = option == true_option
        rows.append(row)
    return rows


def fill_template(template: str, subject: str, obj: str = "") -> str:
    """Put the subject for ``[X]`` and the object for ``[Y]``, both in one pass.

    >>> fill_template("[X] is in [Y].", "the [Y] tower", "France")
    'the [Y] tower is in France.'
    """
    values = {"X": subject, "Y": obj}

    def value_of_slot(match: re.Match[str]) -> str:
        return values[match[1]]

    return _SLOT.sub(value_of_slot, template)


def _question_after_context(word: str | None, question: str) -> str:
    """Return a question, after one word if there is one."""
    return question if word is None else f"{word}. {question}"


def _contexts_of_fact(
    fact: dict[str, Any], kinds: Sequence[str]
) -> Iterator[tuple[str, int, str | None]]:
    """Yield the context's kind, its number and the word, in the order asked for."""
    for context in kinds:
        if context == "none":
            yield "none", -1, None
            continue
        words: Sequence[str]
        if context == "right":
            words = [fact["object"]]
        elif context in CONTROLS:
            words = fact[context]
        else:
            words = _distractors(fact)
        for index, word in enumerate(words):
            yield context, index, word


def _distractors(fact: dict[str, Any]) -> Sequence[str]:
    """Return the wrong objects of a fact, of which it must have some."""
    distractors = fact.get("distractors")
    if distractors is None or len(distractors) == 0:
        raise UserError(
            f"Fact {fact['fact']} has no distractors, which wrong contexts and false "
            "statements are made from; add some or leave the fact out."
        )
    return distractors


def _question_row(
    fact: dict[str, Any],
    *,
    variant: str,
    prompt: str,
    kind: str,
    frame: int,
    context: str,
    context_index: int,
) -> dict[str, Any]:
    """Return the probe whose one continuation is the fact's object, by column."""
    row = {
        "item": fact["fact"],
        "relation": fact["relation"],
        "variant": variant,
        "option": 0,
        "prompt": prompt,
        "continuation": f" {fact['object']}",
        "correct": True,
        "kind": kind,
        "frame": frame,
        "context": context,
        "context_index": context_index,
        "subject": fact["subject"],
        "object": fact["object"],
    }
    if "other_objects" in fact:
        row["other_objects"] = fact["other_objects"]
    return row


def _probe_table(rows: list[dict[str, Any]], facts: pd.DataFrame) -> pd.DataFrame:
    """Return probes as a table, with other right objects where facts have any."""
    columns = list(QUESTION_COLUMNS)
    if "other_objects" in facts:
        columns.append("other_objects")
    return pd.DataFrame(rows, columns=columns)


def _templates_by_relation(
    facts: pd.DataFrame, frames: pd.DataFrame, kind: str, n_frames: int | None
) -> dict[str, list[tuple[int, str]]]:
    """Return relation -> (frame, template) in order, the base frame first."""
    check_columns(frames, ("relation", "kind", "frame", "template"), "frames")
    if n_frames is not None and n_frames < 1:
        raise UserError(f"The number of frames must be at least 1, not {n_frames}.")
    asked_for = frames["relation"].isin(facts["relation"])
    frames = frames[(frames["kind"] == kind) & asked_for]
    missing = sorted(set(facts["relation"]) - set(frames["relation"]))
    if missing:
        raise UserError(
            f'There are no frames of kind "{kind}" for {", ".join(missing)}; '
            "choose other relations or another kind, or add frames."
        )
    frames = frames.sort_values("frame", kind="stable")
    templates = {}
    for relation, group in frames.groupby("relation"):
        rows = group.iloc[:n_frames]
        numbers = rows["frame"].astype(int)
        texts = [_open_template(template, kind) for template in rows["template"]]
        templates[relation] = list(zip(numbers, texts, strict=True))
    return templates


def _open_template(template: str, kind: str) -> str:
    """Return a frame's template, of a cloze sentence the part before its object."""
    open_part = template
    if kind == "wp":
        open_part = template.partition("[Y]")[0].rstrip()
    missing = ""
    if "[X]" not in open_part:
        missing = "[X]"
    elif kind != "qa" and "[Y]" not in template:
        missing = "[Y]"
    if missing:
        raise UserError(
            f'The frame "{template}" lacks {missing}; '
            "a cloze frame needs [X] before [Y], a question [X], a statement both."
        )
    return open_part
