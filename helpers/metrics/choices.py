"""From scored options to choices, and from choices to one row an item."""

import logging
from collections.abc import Callable

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics import multiplicity

# The text of an answer that names no option, or several alike.
NO_OPTION = "(no option)"
ROUNDING = 1e-9  # by which equal scores may differ, as means of equal numbers do


def _mean_logprob(logprobs: list[float], text: str) -> float:
    return float(np.mean(logprobs))


def _summed_logprob(logprobs: list[float], text: str) -> float:
    return float(np.sum(logprobs))


def _logprob_per_character(logprobs: list[float], text: str) -> float:
    return float(np.sum(logprobs)) / len(text.strip())


OPTION_SCORE_RULES: dict[str, Callable[[list[float], str], float]] = {
    "mean": _mean_logprob,
    "sum": _summed_logprob,
    "per_character": _logprob_per_character,
}


def chosen_options(answers: pd.DataFrame, rule: str = "mean") -> pd.DataFrame:
    """Reduce scored options to the one that the model chooses under each prompt.

    The paper chooses by perplexity (``mean``: its logarithm is minus the mean
    log-probability of a token). Added are ``score`` (by the rule), ``logprob`` (always
    the mean), ``right`` and ``tied``. Where the best options are tied, the model
    chooses none: the answer is wrong, and its ``option`` is a number of its own, which
    no other prompt of the item has, so that it agrees with none.

    >>> answers = pd.DataFrame({"item": "a", "variant": "v", "option": [0, 1],
    ...     "continuation": [" Rome", " New York"], "correct": [True, False],
    ...     "logprobs": [[-2.0], [-1.9, -0.3]]})
    >>> rules = ("mean", "sum", "per_character")
    >>> [int(chosen_options(answers, rule)["option"][0]) for rule in rules]
    [1, 0, 1]
    >>> alike = answers.assign(logprobs=[[-2.0], [-2.0]])
    >>> chosen_options(alike)[["option", "right", "tied"]].values.tolist()
    [[2, False, True]]
    """
    needed = ("item", "variant", "option", "continuation", "correct", "logprobs")
    check_columns(answers, needed, "answers")
    score = option_score_rule(rule)
    correct = answers.groupby(["item", "variant"], sort=False)["correct"]
    single = correct.size() < 2
    if single.any():
        item, _ = single.idxmax()
        raise UserError(f"Item {item} has one option only: give at least two.")
    ill_keyed = correct.sum() != 1
    if ill_keyed.any():
        item, _ = ill_keyed.idxmax()
        raise UserError(f"Item {item} needs exactly one correct option.")
    options = zip(answers["logprobs"], answers["continuation"], strict=True)
    scores = [score(logprobs, text) for logprobs, text in options]
    means = [float(np.mean(logprobs)) for logprobs in answers["logprobs"]]
    scored = answers.assign(score=scores, logprob=means)
    chosen = likeliest_options(scored, "score")
    chosen["right"] = chosen["correct"].astype(bool)
    chosen["tied"] = _is_tied(scored, chosen)
    return _with_ties_unanswered(chosen, scored)


def _is_tied(scored: pd.DataFrame, chosen: pd.DataFrame) -> np.ndarray:
    """Say of each prompt whether several options have the best score."""
    prompt = ["item", "variant"]
    best = scored.groupby(prompt, sort=False)["score"].transform("max")
    is_best = scored["score"] > best - ROUNDING
    n_best = is_best.groupby([scored[name] for name in prompt]).sum()
    return n_best.loc[pd.MultiIndex.from_frame(chosen[prompt])].to_numpy() > 1


def _with_ties_unanswered(chosen: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Return choices of which a tied one is an answer of its own, and wrong."""
    tied = chosen["tied"]
    if not tied.any():
        return chosen
    logging.getLogger(__name__).warning(
        "%d of %d prompts have equal scores at the top, which count as no answer.",
        tied.sum(),
        len(chosen),
    )
    n_options = scored["option"].max() + 1
    place = chosen.groupby("item").cumcount()
    chosen["option"] = chosen["option"].mask(tied, n_options + place)
    chosen["right"] &= ~tied
    for column in ("text", "continuation"):
        if column in chosen:
            chosen[column] = chosen[column].mask(tied, NO_OPTION)
    return chosen


def likeliest_options(answers: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the row of the best option under each prompt; in a tie a wrong one's.

    Of several tied wrong options it is the first. Those that may agree with others are
    told apart by :func:`chosen_options`.

    >>> tied = pd.DataFrame({"item": "a", "variant": "v", "option": [0, 1], "p": 0.5})
    >>> likeliest_options(tied.assign(correct=[True, False]), "p")["option"].tolist()
    [1]
    """
    prompt = answers.groupby(["item", "variant"], sort=False)
    best = answers[score] == prompt[score].transform("max")
    winners = answers.assign(order=prompt.ngroup())[best]
    first = winners.sort_values(["order", "correct", "option"]).drop_duplicates("order")
    return first.drop(columns="order").reset_index(drop=True)


def option_score_rule(name: str) -> Callable[[list[float], str], float]:
    """Return a rule by name: of log-probabilities and text; higher is likelier."""
    if name not in OPTION_SCORE_RULES:
        rules = ", ".join(OPTION_SCORE_RULES)
        raise UserError(f'An option is scored by {rules}; "{name}" is none of them.')
    return OPTION_SCORE_RULES[name]


def choices_by_variation(chosen: pd.DataFrame, column: str = "option") -> pd.DataFrame:
    """Spread choices to one row an item, one column a variation, the default first."""
    check_columns(chosen, ("item", "variation", column), "choices")
    # Unlike pivot_table, pivot refuses two choices of one item under one variation.
    wide = chosen.pivot(index="item", columns="variation", values=column)  # noqa: PD010
    lacking = wide.isna().any(axis=1)
    if lacking.any():
        item = lacking.idxmax()
        raise UserError(
            f"Item {item} lacks some of the variations: ask all items in all of them."
        )
    return wide.loc[chosen["item"].unique()]


def item_scores(
    chosen: pd.DataFrame,
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> pd.DataFrame:
    """Compute all that multiplicity says of each item, for one kind of variation.

    `chosen` is from :func:`chosen_options`, with ``answer``, the correct option.
    ``logprob`` is the chosen option's mean token log-probability averaged over
    variations, ``confidence`` the average of its exponential, which is 1 / perplexity.

    >>> chosen = pd.DataFrame({"item": "a", "relation": "r", "variation": [0, 1, 2],
    ...     "answer": 0, "option": [0, 0, 1], "logprob": [-0.1, -0.2, -0.3]})
    >>> scores = item_scores(chosen, tau=0.5)
    >>> scores[["accuracy", "self_consistency", "class"]].round(3).values[0]
    array([0.667, 0.333, 'randomness'], dtype=object)
    """
    check_columns(chosen, ("relation", "answer"), "choices")
    options = choices_by_variation(chosen)
    logprobs = choices_by_variation(chosen, "logprob").to_numpy(dtype=float)
    items = chosen.drop_duplicates("item").set_index("item").loc[options.index]
    correct = items["answer"].to_numpy()
    table = options.to_numpy()
    right = table == correct[:, None]
    ambiguous = multiplicity.is_ambiguous(table)
    ambiguous_binary = multiplicity.is_binary_ambiguous(table, correct)
    majority = multiplicity.majority_option(table)
    scores = pd.DataFrame(
        {
            "item": options.index,
            "relation": items["relation"].to_numpy(),
            "default": right[:, 0].astype(float),
            "accuracy": right.mean(axis=1),
            "ambiguous": ambiguous.astype(float),
            "ambiguous_binary": ambiguous_binary.astype(float),
            "self_consistency": multiplicity.self_consistency(table, replacement),
            "entropy": multiplicity.answer_entropy(table),
            "majority": majority,
            "majority_right": majority == correct,
            "logprob": logprobs.mean(axis=1),
            "confidence": np.exp(logprobs).mean(axis=1),
        }
    )
    scores["class"] = multiplicity.taxonomy_classes(
        table, correct, tau, replacement, correct_by
    )
    for name in multiplicity.CLASSES:
        scores[name] = (scores["class"] == name).astype(float)
    if "tied" in chosen:
        scores["tied"] = choices_by_variation(chosen, "tied").mean(axis=1).to_numpy()
    return scores


def scores_on_even_and_odd_prompts(
    chosen: pd.DataFrame,
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> pd.DataFrame:
    """Score items on the even prompts, and their uncertainty on the odd ones.

    No rows where there are fewer than four prompts.
    """
    if chosen["variation"].nunique() < 4:
        return item_scores(chosen, tau, replacement, correct_by).head(0)
    even = chosen["variation"] % 2 == 0
    scores = item_scores(chosen[even], tau, replacement, correct_by)
    on_odd = item_scores(chosen[~even], tau, replacement, correct_by)
    on_odd = on_odd.set_index("item").loc[scores["item"]]
    for name in ("entropy", "logprob", "confidence"):
        scores[name] = on_odd[name].to_numpy()
    return scores


def multiplicity_cells(scores: pd.DataFrame, correct_by: str = "default") -> pd.Series:
    """Name the cell of each item: agnostic or sensitive, correct or wrong.

    `correct_by` says whose answer is correct or wrong: that of the default prompt, as
    in the paper's Table 2, or the majority's, where a tie is wrong.
    """
    column = multiplicity.CORRECT_BY_COLUMNS[multiplicity.check_correct_by(correct_by)]
    sensitivity = np.where(scores["class"] == "randomness", "sensitive", "agnostic")
    correctness = np.where(scores[column].astype(bool), "correct", "wrong")
    pairs = zip(sensitivity, correctness, strict=True)
    cells = [f"{sensitive} {right}" for sensitive, right in pairs]
    return pd.Series(cells, index=scores.index, dtype=object)
