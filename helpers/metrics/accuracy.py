"""Accuracy of answers: by prompt, over prompts, and of fact checks.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
sections 3 and 6.1, Tables 2, 3, 4 and 6.
"""

import numpy as np
import pandas as pd

from helpers import check_columns
from helpers.metrics.choices import likeliest_options
from helpers.metrics.matching import MATCH_RULES, match_rule

_FACT_COLUMNS = ["item", "relation"]


def mark_texts(texts: pd.DataFrame, rule: str = "exact_match") -> pd.DataFrame:
    """Add ``right``: is each greedy answer (``text``) the ``object``, by a rule.

    The ``other_objects`` of a row, if there are any, count as right, too.

    >>> answers = {"text": ["France.", "Peru"], "object": ["France", "Chad"]}
    >>> texts = pd.DataFrame(answers)
    >>> mark_texts(texts).right.tolist()
    [True, False]
    """
    matches = match_rule(rule)
    check_columns(texts, ("text", "object"), "texts")
    right = []
    for text, objects in zip(texts["text"], _true_objects(texts), strict=True):
        right.append(any(matches(text, gold) for gold in objects))
    return texts.assign(right=right)


def _true_objects(texts: pd.DataFrame) -> list[list[str]]:
    """Return the objects that count as right in each row, its own one first."""
    own = [[gold] for gold in texts["object"]]
    if "other_objects" not in texts:
        return own
    true = []
    for objects, others in zip(own, texts["other_objects"], strict=True):
        is_list = pd.api.types.is_list_like(others)
        true.append([*objects, *others] if is_list else objects)
    return true


def accuracy_and_coverage_by_rule(
    texts: pd.DataFrame, aligned: pd.Series
) -> pd.DataFrame:
    """Tabulate accuracy (before the answer is said) and coverage (after it) by rule."""
    texts = texts[texts["context"].isin(["none", "right", "wrong"])]
    rows = {}
    for rule in MATCH_RULES:
        marked = mark_texts(texts, rule)
        after_answer = marked["context"] == "right"
        wide = marks_by_fact_and_prompt(marked[~after_answer])
        accuracy = accuracy_over_prompts(wide.drop(columns=_FACT_COLUMNS).to_numpy())
        anchors = marked[after_answer]
        counted = anchors["right"] & anchors["item"].map(aligned)
        rows[rule] = (float(accuracy), float(counted.mean()))
    columns = ["accuracy", "coverage"]
    by_rule = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return by_rule.rename_axis("rule")


def mark_echoed_wrong_words(
    texts: pd.DataFrame, facts: pd.DataFrame, rule: str = "exact_match"
) -> pd.DataFrame:
    """Keep the answers after a wrong word (``heard``); mark those that repeat it."""
    check_columns(texts, ("item", "context", "context_index", "text"), "texts")
    check_columns(facts, ("fact", "distractors"), "facts")
    wrong_words = facts.set_index("fact")["distractors"]
    answers = texts[texts["context"] == "wrong"]
    contexts = zip(answers["item"], answers["context_index"], strict=True)
    heard = [wrong_words[fact][index] for fact, index in contexts]
    echoes = answers.drop(columns="other_objects", errors="ignore")
    marked = mark_texts(echoes.assign(object=heard), rule)
    return answers.assign(heard=heard, right=marked["right"])


def mark_choices(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce scored options to one row a prompt: is the likeliest, by sums, correct.

    >>> answers = pd.DataFrame({"item": "a", "variant": "fc0+pos", "option": [0, 1],
    ...     "correct": [True, False], "logprobs": [[-1.0, -0.1], [-0.9]]})
    >>> mark_choices(answers)[["option", "logprob", "right"]].values.tolist()
    [[1, -0.9, False]]
    """
    check_columns(
        answers, ("item", "variant", "option", "correct", "logprobs"), "answers"
    )
    sums = [float(np.sum(values)) for values in answers["logprobs"]]
    best = likeliest_options(answers.assign(logprob=sums), "logprob")
    return best.assign(right=best["correct"].astype(bool))


def marks_by_fact_and_prompt(
    marked: pd.DataFrame, prompt: str = "variant"
) -> pd.DataFrame:
    """Spread marks to one row a fact and one column a prompt, averages of several."""
    check_columns(marked, ("item", "relation", "right", prompt), "marks")
    marked = marked.assign(right=marked["right"].astype(float))
    wide = marked.pivot_table(
        index=["relation", "item"], columns=prompt, values="right", aggfunc="mean"
    )
    prompts = wide.columns
    if prompt == "context":
        prompts = prompts.union(["none", "noun", "right", "unrelated", "wrong"])
    wide = wide.reindex(columns=prompts).rename_axis(columns=None).reset_index()
    return wide[[*_FACT_COLUMNS, *prompts]]


def accuracy_over_prompts(values: np.ndarray, how: str = "average") -> np.ndarray:
    """Reduce a table of marks, one row a fact and one column a prompt, to one number.

    Wang et al. 2024, columns avg, max, min of Table 4; base acc and std of Table 6. By
    section 4.3 the prompts are the R x M combinations of a frame with a wrong word
    before it (:func:`helpers.prompts.question_probes`, context ``wrong``); over the
    R + M prompts of MONITOR the same reductions are other figures. Intervals of
    ``maximum``, ``minimum`` and ``deviation`` want ``centred=True`` in
    :func:`helpers.stats.bootstrap`.

    Two facts and four prompts:

    >>> grid = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    >>> float(accuracy_over_prompts(grid)), float(accuracy_over_prompts(grid, "base"))
    (0.5, 1.0)
    >>> float(accuracy_over_prompts(grid, "maximum"))
    1.0
    >>> float(accuracy_over_prompts(grid, "minimum"))
    0.0
    >>> deviation = accuracy_over_prompts(grid, "deviation")
    >>> round(float(deviation), 6)  # root of (1/4 + 0 + 0 + 1/4) / 3
    0.408248
    """
    accuracies = prompt_accuracies(values)
    if how == "average":
        return _mean(accuracies, -1)
    if how == "maximum":
        return np.fmax.reduce(accuracies, axis=-1)
    if how == "minimum":
        return np.fmin.reduce(accuracies, axis=-1)
    if how == "base":
        return accuracies[..., 0]
    if how == "deviation":
        deviation = np.ma.masked_invalid(accuracies).std(axis=-1, ddof=1)
        return np.ma.filled(deviation, np.nan)
    raise ValueError(f'"{how}" is none of average, maximum, minimum, base, deviation')


def held_out_prompt_gaps(values: np.ndarray) -> np.ndarray:
    """Compare the best prompt with the worst on facts that did not choose them.

    One gap a fact, in [-1, 1].

    Every second fact chooses the two (the first in a tie), the others compare them, and
    vice versa.

    >>> held_out_prompt_gaps(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    [1.0, 1.0, 0.0]
    """
    values = np.asarray(values, dtype=float)
    gaps = np.full(len(values), np.nan)
    even = np.arange(len(values)) % 2 == 0
    for half in (even, ~even):
        accuracies = prompt_accuracies(values[~half])
        if not np.isnan(accuracies).all():
            best = np.nanargmax(accuracies)
            worst = np.nanargmin(accuracies)
            gaps[half] = values[half, best] - values[half, worst]
    return gaps


def prompt_accuracies(values: np.ndarray) -> np.ndarray:
    """Return the accuracy of each prompt over the facts that have it."""
    return _mean(np.asarray(values, dtype=float), -2)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Average what is there; an empty slice gives not a number, without a warning."""
    if values.size and not np.isnan(values).any():
        return values.mean(axis=axis)
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=axis), np.nan)
