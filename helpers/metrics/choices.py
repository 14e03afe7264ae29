"""From scored options to choices, and from choices to one row an item."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics import multiplicity

OPTION_SCORE_RULES: dict[str, Callable[[list[float], str], float]] = {
    "mean": lambda logprobs, text: float(np.mean(logprobs)),
    "sum": lambda logprobs, text: float(np.sum(logprobs)),
    "per_character": lambda logprobs, text: float(np.sum(logprobs)) / len(text.strip()),
}


def chosen_options(answers: pd.DataFrame, rule: str = "mean") -> pd.DataFrame:
    """Reduce scored options to the one that the model chooses under each prompt.

    The paper chooses by perplexity (``mean``: its logarithm is minus the mean
    log-probability of a token). Added are ``score`` (by the rule), ``logprob`` (always
    the mean) and ``right``.

    >>> answers = pd.DataFrame({"item": "a", "variant": "v", "option": [0, 1],
    ...     "continuation": [" Rome", " New York"], "correct": [True, False],
    ...     "logprobs": [[-2.0], [-1.9, -0.3]]})
    >>> [int(chosen_options(answers, rule)["option"][0]) for rule in ("mean", "sum", "per_character")]
    [1, 0, 1]
    """
    check_columns(
        answers,
        ("item", "variant", "option", "continuation", "correct", "logprobs"),
        "answers",
    )
    score = option_score_rule(rule)
    sizes = answers.groupby(["item", "variant"], sort=False)["correct"].agg(
        ["size", "sum"]
    )
    for bad, what in (
        (sizes["size"] < 2, "has one option only: give at least two"),
        (sizes["sum"] != 1, "needs exactly one correct option"),
    ):
        if bad.any():
            raise UserError(f"Item {bad.idxmax()[0]} {what}.")
    scores = [score(*row) for row in zip(answers["logprobs"], answers["continuation"])]
    means = [float(np.mean(values)) for values in answers["logprobs"]]
    chosen = likeliest_options(answers.assign(score=scores, logprob=means), "score")
    return chosen.assign(right=chosen["correct"].astype(bool))


def likeliest_options(answers: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the row of the best option under each prompt; in a tie a wrong one's, the lowest.

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
    """Return the rule of that name: log-probabilities and text to a score, higher is likelier."""
    if name not in OPTION_SCORE_RULES:
        raise UserError(
            f'An option is scored by {", ".join(OPTION_SCORE_RULES)}; "{name}" is none of them.'
        )
    return OPTION_SCORE_RULES[name]


def choices_by_variation(chosen: pd.DataFrame, column: str = "option") -> pd.DataFrame:
    """Spread choices to one row an item and one column a variation, the default prompt first."""
    check_columns(chosen, ("item", "variation", column), "choices")
    wide = chosen.pivot(index="item", columns="variation", values=column)  # noqa: PD010
    if wide.isna().any(axis=None):
        item = wide.index[wide.isna().any(axis=1)][0]
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
    """Compute everything that multiplicity says of each item, for one kind of variation.

    `chosen` is from :func:`chosen_options`, with ``answer``, the correct option. ``logprob`` is
    the chosen option's mean token log-probability averaged over variations,
    ``confidence`` the average of its exponential, which is 1 / perplexity.

    >>> chosen = pd.DataFrame({"item": "a", "relation": "r", "variation": [0, 1, 2], "answer": 0,
    ...                        "option": [0, 0, 1], "logprob": [-0.1, -0.2, -0.3]})
    >>> item_scores(chosen, tau=0.5)[["accuracy", "self_consistency", "class"]].round(3).values[0]
    array([0.667, 0.333, 'randomness'], dtype=object)
    """
    check_columns(chosen, ("relation", "answer"), "choices")
    options, logprobs = (
        choices_by_variation(chosen),
        choices_by_variation(chosen, "logprob").to_numpy(dtype=float),
    )
    about = chosen.drop_duplicates("item").set_index("item").loc[options.index]
    correct, table = about["answer"].to_numpy(), options.to_numpy()
    right, most = table == correct[:, None], multiplicity.majority_option(table)
    found = pd.DataFrame(
        {"item": options.index, "relation": about["relation"].to_numpy()}
    )
    found["default"] = right[:, 0].astype(float)
    found["accuracy"] = right.mean(axis=1)
    found["ambiguous"] = multiplicity.is_ambiguous(table).astype(float)
    found["ambiguous_binary"] = multiplicity.is_binary_ambiguous(table, correct).astype(
        float
    )
    found["self_consistency"] = multiplicity.self_consistency(table, replacement)
    found["entropy"] = multiplicity.answer_entropy(table)
    found["majority"], found["majority_right"] = most, most == correct
    found["logprob"] = logprobs.mean(axis=1)
    found["confidence"] = np.exp(logprobs).mean(axis=1)
    found["class"] = multiplicity.taxonomy_classes(
        table, correct, tau, replacement, correct_by
    )
    for name in multiplicity.CLASSES:
        found[name] = (found["class"] == name).astype(float)
    return found


def scores_on_even_and_odd_prompts(
    chosen: pd.DataFrame,
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> pd.DataFrame:
    """Score items on the even prompts, and their uncertainty on the odd ones, if there are four."""
    if chosen["variation"].nunique() < 4:
        return item_scores(chosen, tau, replacement, correct_by).iloc[:0]
    even = chosen["variation"] % 2 == 0
    first, second = (
        item_scores(part, tau, replacement, correct_by)
        for part in (chosen[even], chosen[~even])
    )
    other = second.set_index("item").loc[
        first["item"], ["entropy", "logprob", "confidence"]
    ]
    return first.assign(**{name: other[name].to_numpy() for name in other})


def multiplicity_cells(scores: pd.DataFrame, correct_by: str = "default") -> pd.Series:
    """Name the cell of each item: agnostic or sensitive, correct or wrong.

    `correct_by` says whose answer is correct or wrong: that of the default prompt, as
    in the paper's Table 2, or the majority's, where a tie is wrong.
    """
    column = multiplicity.CORRECT_BY_COLUMNS[multiplicity.check_correct_by(correct_by)]
    steady = np.where(scores["class"] == "randomness", "sensitive", "agnostic")
    right = np.where(scores[column].astype(bool), "correct", "wrong")
    return pd.Series(
        [f"{a} {b}" for a, b in zip(steady, right)], index=scores.index, dtype=object
    )
