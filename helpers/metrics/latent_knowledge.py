"""What a model ranks first among many objects: the metrics of IC-LKE.

*Answers* have one row a choice, with ``item, relation, variant, option, correct, logprobs``;
*scores* have one row a fact, from :func:`fact_scores`.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", sections 2.2 and 3,
Appendices C, D and H.7. How far models know the same facts: :mod:`helpers.metrics.subsumption`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.matching import holds
from helpers.metrics.ranking import KEYS, choice_matrix, hits, probabilities


def fact_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce the choices of each fact to one row.

    Parameters
    ----------
    answers : DataFrame
        Columns ``item, relation, variant, option, correct, logprobs`` and, for `said`, ``choice``.

    Returns
    -------
    DataFrame
        ``item, relation, variant``; ``right`` (float, 0 or 1: is the true choice the likeliest,
        alone), whose mean is the accuracy of equation 4; ``mass`` (normalised probability of the
        true choice) and ``top`` (of the likeliest); ``chance`` (1 over the number of choices);
        ``said``, the likeliest choice.

    Raises
    ------
    UserError
        If a column is missing, or a fact has not exactly one correct choice in a variant.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": "ic", "option": [0, 1],
    ...                         "correct": [False, True], "logprobs": [[np.log(0.1)],
    ...                         [np.log(0.3)]], "choice": ["Peru", "Chad"]})
    >>> fact_scores(answers).iloc[:, 3:].round(3).values.tolist()
    [[1.0, 0.75, 0.75, 0.5, 'Chad']]
    """
    logs = choice_matrix(answers)
    shares = probabilities(logs)
    made = logs.index.to_frame(index=False)
    made["right"] = hits(shares).astype(float)
    made["mass"], made["top"] = shares[:, -1], np.nanmax(shares, axis=1)
    made["chance"] = 1 / (~np.isnan(shares)).sum(axis=1)
    if "choice" in answers:
        sums = answers["logprobs"].map(np.sum)
        best = sums.reset_index(drop=True).groupby([answers[key].to_numpy() for key in KEYS])
        said = answers["choice"].to_numpy()[best.idxmax()]
        said = pd.Series(said, index=best.idxmax().index, name="said").rename_axis(KEYS)
        made = made.merge(said.reset_index(), on=KEYS, how="left")
    return made


def commonest(tests: pd.DataFrame, pool: pd.DataFrame) -> pd.Series:
    """Tell of each fact whether its object is the commonest among its relation's examples.

    Parameters
    ----------
    tests, pool : DataFrame
        Facts, from :func:`helpers.prompts.lists.split`: ``relation, object`` and, in `tests`,
        ``fact``.

    Returns
    -------
    Series
        Fact to 0 or 1; of objects that are equally common, the first in the alphabet counts.

    Examples
    --------
    >>> pool = pd.DataFrame({"relation": "r", "object": ["x", "y", "y"]})
    >>> commonest(pd.DataFrame({"fact": ["a", "b"], "relation": "r", "object": ["x", "y"]}), pool)
    fact
    a    0.0
    b    1.0
    dtype: float64
    """
    usual = pool.groupby("relation")["object"].agg(lambda objects: objects.mode().iloc[0])
    right = tests["object"] == tests["relation"].map(usual)
    return right.astype(float).set_axis(tests["fact"])


def above(scores: pd.DataFrame, thresholds: Sequence[float]) -> pd.DataFrame:
    """Stack the facts above each threshold of confidence, to tabulate accuracy@K with intervals.

    Parameters
    ----------
    scores : DataFrame
        From :func:`fact_scores`.
    thresholds : sequence of float
        Values of K.

    Returns
    -------
    DataFrame
        The rows with ``top`` above K, for one K after the other, with the column ``K``.

    Notes
    -----
    The mean of ``right`` at one K is accuracy@K of the paper's Appendix D.

    Examples
    --------
    >>> scores = pd.DataFrame({"top": [0.2, 0.6], "right": [0.0, 1.0]})
    >>> above(scores, [0.0, 0.5]).groupby("K")["right"].mean().to_dict()
    {0.0: 0.5, 0.5: 1.0}
    """
    check_columns(scores, ("top",), "scores")
    parts = [scores[scores["top"] > threshold].assign(K=threshold) for threshold in thresholds]
    return pd.concat(parts, ignore_index=True)


def brier_score(scores: pd.DataFrame) -> float:
    """Average the squared distance of confidence from correctness; lower is better.

    Parameters
    ----------
    scores : DataFrame
        Columns ``top`` (probability of the likeliest choice) and ``right`` (0 or 1).

    Returns
    -------
    float
        In [0, 1]; not a number without facts.

    Notes
    -----
    Brier 1950, of the one event that the likeliest choice is true.

    Examples
    --------
    >>> brier_score(pd.DataFrame({"top": [0.5, 1.0], "right": [1.0, 1.0]}))
    0.125
    """
    check_columns(scores, ("top", "right"), "scores")
    return float(((scores["top"] - scores["right"]) ** 2).mean())


def reliability(scores: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Group facts by confidence, and set mean confidence beside accuracy.

    Parameters
    ----------
    scores : DataFrame
        Columns ``top`` and ``right``.
    bins : int
        Groups of equal width between 0 and 1; the upper end belongs to a group.

    Returns
    -------
    DataFrame
        For each group that is not empty ``low, high`` (its ends), ``confidence`` (mean of top),
        ``accuracy`` (mean of right), ``n``.

    Raises
    ------
    UserError
        If a column is missing, or there is not at least one bin.

    Examples
    --------
    >>> scores = pd.DataFrame({"top": [0.2, 0.4, 0.9], "right": [0.0, 1.0, 1.0]})
    >>> reliability(scores, bins=2)[["confidence", "accuracy", "n"]].round(2).values.tolist()
    [[0.3, 0.5, 2.0], [0.9, 1.0, 1.0]]
    """
    check_columns(scores, ("top", "right"), "scores")
    if bins < 1:
        raise UserError(f"A reliability diagram needs at least 1 bin, not {bins}.")
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.ceil(scores["top"].to_numpy() * bins).astype(int) - 1, 0, bins - 1)
    groups = scores.assign(low=edges[place], high=edges[place + 1]).groupby(["low", "high"])
    found = groups.agg(confidence=("top", "mean"), accuracy=("right", "mean"), n=("top", "size"))
    return found.reset_index()


def mark_generations(texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``right``: whether a greedy text contains the true object, as whole words.

    Case and punctuation do not count (:func:`helpers.metrics.matching.normalise`).

    Parameters
    ----------
    texts : DataFrame
        Columns ``text`` (50 tokens in the paper) and ``object``.

    Returns
    -------
    DataFrame
        The texts with the column ``right`` (bool).

    Raises
    ------
    UserError
        If a column is missing.

    Notes
    -----
    Appendix H.7 of the paper. The authors' code looks for the letters anywhere, so that "Oman" is
    found in "Romania"; whole words are stricter.

    Examples
    --------
    >>> texts = pd.DataFrame({"text": ["is Paris, too", "Romania"], "object": ["Paris", "Oman"]})
    >>> mark_generations(texts)["right"].tolist()
    [True, False]
    """
    check_columns(texts, ("text", "object"), "texts")
    return texts.assign(right=[holds(*pair) for pair in zip(texts["text"], texts["object"])])


def examples_needed(curve: Mapping[int, float] | pd.Series, share: float = 0.95) -> int | None:
    """Find the fewest examples that reach a share of the accuracy with the most examples.

    Parameters
    ----------
    curve : mapping
        Number of examples to accuracy.
    share : float
        Of the accuracy at the largest number.

    Returns
    -------
    int or None
        None where that accuracy is 0 or there is none.

    Notes
    -----
    The dashed lines of the paper's Figure 1.

    Examples
    --------
    >>> examples_needed({1: 0.2, 5: 0.77, 50: 0.8})
    5
    """
    numbers: Sequence[int] = sorted(dict(curve))
    if not numbers or not dict(curve)[numbers[-1]] > 0:
        return None
    return next(n for n in numbers if dict(curve)[n] >= share * dict(curve)[numbers[-1]])
