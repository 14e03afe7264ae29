"""Accuracy of answers: by prompt, over prompts, and of fact checks.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
sections 3 and 6.1, Tables 2, 3, 4 and 6.
"""

import numpy as np
import pandas as pd

from helpers import check_columns
from helpers.metrics.choices import likeliest_options
from helpers.metrics.matching import MATCH_RULES, match_rule


def mark_texts(texts: pd.DataFrame, rule: str = "exact_match") -> pd.DataFrame:
    """Add ``right``: whether each greedy answer (``text``) is the ``object``, by a rule.

    >>> texts = pd.DataFrame({"text": ["France.", "Peru"], "object": ["France", "Chad"]})
    >>> mark_texts(texts).right.tolist()
    [True, False]
    """
    matches = match_rule(rule)
    check_columns(texts, ("text", "object"), "texts")
    return texts.assign(
        right=[matches(*pair) for pair in zip(texts["text"], texts["object"])]
    )


def accuracy_and_coverage_by_rule(
    texts: pd.DataFrame, aligned: pd.Series
) -> pd.DataFrame:
    """Set accuracy (without the answer said) and coverage (after it) beside each other, by rule."""
    rows = {}
    texts = texts[texts["context"].isin(["none", "right", "wrong"])]
    for rule in MATCH_RULES:
        marked = mark_texts(texts, rule)
        told = marked["context"] == "right"
        wide = marks_by_fact_and_prompt(marked[~told]).iloc[:, 2:].to_numpy()
        counted = marked.loc[told, "right"] & marked.loc[told, "item"].map(aligned)
        rows[rule] = (float(accuracy_over_prompts(wide)), float(counted.mean()))
    columns = ["accuracy", "coverage"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis(
        "rule"
    )


def mark_echoed_wrong_words(
    texts: pd.DataFrame, facts: pd.DataFrame, rule: str = "exact_match"
) -> pd.DataFrame:
    """Keep the answers after a wrong word (``heard``), and mark those that are that very word."""
    check_columns(texts, ("item", "context", "context_index", "text"), "texts")
    check_columns(facts, ("fact", "distractors"), "facts")
    words = facts.set_index("fact")["distractors"]
    after = texts[texts["context"] == "wrong"]
    heard = [
        words[fact][index] for fact, index in zip(after["item"], after["context_index"])
    ]
    marked = mark_texts(after.assign(object=heard), rule)
    return after.assign(heard=heard, right=marked["right"])


def mark_choices(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce scored options to one row a prompt: is the likeliest, by summed logs, correct.

    >>> answers = pd.DataFrame({"item": "a", "variant": "fc0+pos", "option": [0, 1],
    ...                         "correct": [True, False], "logprobs": [[-1.0, -0.1], [-0.9]]})
    >>> mark_choices(answers)[["option", "logprob", "right"]].values.tolist()
    [[1, -0.9, False]]
    """
    check_columns(
        answers, ("item", "variant", "option", "correct", "logprobs"), "answers"
    )
    sums = [float(np.sum(values)) for values in answers["logprobs"]]
    best = likeliest_options(answers.assign(logprob=sums), "logprob")
    return best.assign(right=best["correct"].astype(bool))


def accuracy_by_prompt(marked: pd.DataFrame) -> pd.DataFrame:
    """Compute each prompt's accuracy, wrong contexts of a fact averaged first; higher is better."""
    by = ["relation", "kind", "frame", "context"]
    check_columns(marked, ("item", "right", *by), "marks")
    facts = marked.groupby([*by, "item"], sort=True)["right"].mean()
    return facts.groupby(level=by).agg(accuracy="mean", n="size").reset_index()


def marks_by_fact_and_prompt(
    marked: pd.DataFrame, prompt: str = "variant"
) -> pd.DataFrame:
    """Spread the marks to one row a fact and one column a prompt; several marks are averaged."""
    check_columns(marked, ("item", "relation", "right", prompt), "marks")
    marked = marked.assign(right=marked["right"].astype(float))
    keys = ["relation", "item"]
    wide = marked.pivot_table(
        index=keys, columns=prompt, values="right", aggfunc="mean"
    )
    if prompt == "context":
        wide = wide.reindex(
            columns=wide.columns.union(["none", "right", "unrelated", "wrong"])
        )
    wide = wide.rename_axis(columns=None).reset_index()
    return wide[["item", "relation", *wide.columns[2:]]]


def accuracy_over_prompts(values: np.ndarray, how: str = "average") -> np.ndarray:
    """Reduce a table of marks, one row a fact and one column a prompt, to one number.

    Wang et al. 2024, columns avg, max, min of Table 4; base acc and std of Table 6. By
    section 4.3 the prompts are the R x M combinations of a frame with a wrong word
    before it (:func:`helpers.prompts.question_probes`, context ``wrong``); over the R + M
    prompts of MONITOR the same reductions are other figures. Intervals of ``maximum``,
    ``minimum`` and ``deviation`` want ``centred=True`` in
    :func:`helpers.stats.bootstrap`.

    >>> grid = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])  # two facts, four prompts
    >>> [float(accuracy_over_prompts(grid, how)) for how in ("average", "maximum", "minimum", "base")]
    [0.5, 1.0, 0.0, 1.0]
    >>> round(float(accuracy_over_prompts(grid, "deviation")), 6)  # root of (1/4 + 0 + 0 + 1/4) / 3
    0.408248
    """
    rates = prompt_accuracies(values)
    reductions = {
        "average": lambda: _mean(rates, -1),
        "maximum": lambda: np.fmax.reduce(rates, axis=-1),
        "minimum": lambda: np.fmin.reduce(rates, axis=-1),
        "base": lambda: rates[..., 0],
        "deviation": lambda: np.ma.filled(
            np.ma.masked_invalid(rates).std(axis=-1, ddof=1), np.nan
        ),
    }
    if how not in reductions:
        raise ValueError(f'"{how}" is none of {", ".join(reductions)}')
    return reductions[how]()


def held_out_prompt_gaps(values: np.ndarray) -> np.ndarray:
    """Compare the best prompt with the worst on facts that did not choose them: one gap a fact.

    Every second fact chooses the two (the first in a tie), the others compare them, and
    vice versa.

    >>> held_out_prompt_gaps(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])).tolist()
    [1.0, 1.0, 0.0]
    """
    values = np.asarray(values, dtype=float)
    gaps = np.full(len(values), np.nan)
    even = np.arange(len(values)) % 2 == 0
    for half in (even, ~even):
        rates = prompt_accuracies(values[~half])
        if not np.isnan(rates).all():
            best, worst = np.nanargmax(rates), np.nanargmin(rates)
            gaps[half] = values[half, best] - values[half, worst]
    return gaps


def prompt_accuracies(values: np.ndarray) -> np.ndarray:
    """Compute the accuracy of each prompt over the facts that have it; higher is better."""
    return _mean(np.asarray(values, dtype=float), -2)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Average what is there; an empty slice gives not a number, without a warning."""
    if values.size and not np.isnan(values).any():
        return values.mean(axis=axis)
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=axis), np.nan)
