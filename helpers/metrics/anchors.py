"""Anchors: the probabilities of the true object's tokens in each prompt of MONITOR.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge", section 4.
"""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.matching import rule_of

COLUMNS = {"teacher_forced": "logprobs", "free_running": "anchor_logprobs"}
_VARIANT = re.compile(r"(right|frame|wrong|unrelated)(\d*)")


def anchors_of(
    answers: pd.DataFrame, column: str = "logprobs", frames: Iterable[int] | None = None
) -> pd.DataFrame:
    """Take the rows that MONITOR compares, with the probabilities of the object's tokens.

    Parameters
    ----------
    answers : DataFrame
        Columns ``item, relation, variant`` and `column`.
    column : {"logprobs", "anchor_logprobs"}
        Natural log-probabilities of the object's tokens: teacher-forced (from scoring), or read
        along the model's own continuation (free-running; minus infinity past its end).
    frames : iterable of int, optional
        Numbers of the frames to keep; by default all.

    Returns
    -------
    DataFrame
        Those rows of the answers whose variant is ``right``, ``frame0`` ..., ``wrong0`` ... or
        ``unrelated0`` ... (the control, not the paper's), with ``role`` (``right``, ``frame``,
        ``wrong``, ``unrelated``), ``p`` (array of probabilities, one a token) and ``probability``
        (their mean, in [0, 1]).

    Raises
    ------
    UserError
        If a column is missing, or a log-probability is above 0 or not a number.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": ["right", "qa0+wrong1"],
    ...                         "logprobs": [[np.log(0.5), 0.0], [np.log(0.1), 0.0]]})
    >>> anchors_of(answers)[["role", "probability"]].values.tolist()
    [['right', 0.75]]
    """
    check_columns(answers, ("item", "relation", "variant", column), "answers")
    chosen = None if frames is None else frozenset(frames)
    roles = [_role(variant, chosen) for variant in answers["variant"]]
    table = answers.assign(role=roles)
    table = table[table["role"] != ""]
    table = table.assign(p=_probabilities(table, column))
    return table.assign(probability=[p.mean() if p.size else np.nan for p in table["p"]])


def column_of(mode: str) -> str:
    """Return the column of answers that holds the anchors of a mode.

    Parameters
    ----------
    mode : {"teacher_forced", "free_running"}
        The object behind every prompt, or read along the model's own continuation, as in the
        released code of Wang et al. 2024.

    Returns
    -------
    str
        For the `column` of :func:`anchors_of` and of
        :func:`helpers.metrics.monitor.fact_scores`.

    Raises
    ------
    UserError
        For another mode.

    Examples
    --------
    >>> column_of("teacher_forced")
    'logprobs'
    """
    if mode not in COLUMNS:
        raise UserError(f'There is no anchor mode "{mode}"; use {" or ".join(COLUMNS)}.')
    return COLUMNS[mode]


def known_facts(texts: pd.DataFrame, rule: str = "exact_match", counts: str = "base") -> pd.Series:
    """Say for each fact whether the model answers it rightly, so that its anchor is valid.

    Parameters
    ----------
    texts : DataFrame
        Greedy answers: columns ``item, variant, text, object``; MONITOR's variants are taken.
    rule : {"exact_match", "starts_with", "contains"}
        See :mod:`helpers.metrics.matching`.
    counts : {"base", "any"}
        Which answers are looked at: that to the base frame after the right object, whose anchor
        is the primary one, or those to all prompts of the fact, of which one has to be right.

    Returns
    -------
    Series of bool, index ``item``
        To be given to :func:`helpers.metrics.monitor.fact_scores`.

    Raises
    ------
    UserError
        If a column is missing or the rule is unknown.
    ValueError
        For another `counts`.

    Notes
    -----
    Wang et al. 2024, section 4: the anchor is checked "with Exact Match" (``base``), and footnote 3
    leaves out a triplet for which "none of the prompts works" (``any``, the wider rule).

    Examples
    --------
    >>> texts = pd.DataFrame({"item": ["a", "b", "b"], "variant": ["right", "right", "frame0"],
    ...                       "text": [" France.", " Paris", " Peru"],
    ...                       "object": ["France", "Peru", "Peru"]})
    >>> known_facts(texts).to_dict(), known_facts(texts, counts="any").to_dict()
    ({'a': True, 'b': False}, {'a': True, 'b': True})
    """
    roles = {"base": ("right",), "any": ("right", "frame", "wrong")}
    if counts not in roles:
        raise ValueError(f'"{counts}" is none of {", ".join(roles)}')
    matches = rule_of(rule)
    check_columns(texts, ("item", "variant", "text", "object"), "texts")
    asked = texts[[_role(variant, None) in roles[counts] for variant in texts["variant"]]]
    marks = [matches(text, gold) for text, gold in zip(asked["text"], asked["object"])]
    known = pd.Series(marks, pd.Index(asked["item"], name="item"), dtype=bool, name="known")
    return known.groupby(level="item", sort=False).any()


def coverage(facts: pd.DataFrame, by: str = "relation") -> pd.DataFrame:
    """Count the facts that MONITOR stands on: the score says nothing of the others.

    Parameters
    ----------
    facts : DataFrame
        From :func:`helpers.metrics.monitor.fact_scores`.
    by : str
        Column of groups.

    Returns
    -------
    DataFrame, index `by`
        ``n_facts, n_known, n_aligned, n_counted`` and ``coverage``, the share counted, in [0, 1].

    Examples
    --------
    >>> facts = pd.DataFrame({"relation": "P17", "known": [True, True, False, True],
    ...                       "aligned": [True, False, True, True]})
    >>> coverage(facts.assign(counted=facts.known & facts.aligned)).loc["P17"].tolist()
    [4.0, 3.0, 3.0, 2.0, 0.5]
    """
    groups = facts.groupby(by)
    counts = groups[["known", "aligned", "counted"]].sum().add_prefix("n_")
    counts.insert(0, "n_facts", groups.size())
    return counts.assign(coverage=counts["n_counted"] / counts["n_facts"])


def _role(variant: str, frames: frozenset[int] | None) -> str:
    """Say which part a variant plays; none if it is not MONITOR's or its frame is left out."""
    match = _VARIANT.fullmatch(variant)
    if match is None or (match[1] == "right") == bool(match[2]):
        return ""
    left_out = match[1] == "frame" and frames is not None and int(match[2]) not in frames
    return "" if left_out else match[1]


def _probabilities(answers: pd.DataFrame, column: str) -> list[np.ndarray]:
    """Return the probabilities of each row; rounding may put a log-probability just above 0."""
    logs = [np.asarray(values, dtype=float) for values in answers[column]]
    for item, values in zip(answers["item"], logs):
        if np.isnan(values).any() or (values > 1e-4).any():
            raise UserError(
                f"An answer for fact {item} holds {values.max():.3g} in {column}; natural "
                "log-probabilities are at most 0."
            )
    return [np.exp(np.minimum(values, 0.0)) for values in logs]
