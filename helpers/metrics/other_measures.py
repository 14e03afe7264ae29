"""Measures of knowledge that no chapter is about, to be graded beside those that are.

Each gives one number for one fact, larger where the model seems to know more.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from helpers.metrics.answer_text import first_sentence, without_words_before
from helpers.metrics.canonical import canonical_answer


def share_among_choices(logprobs: npt.ArrayLike) -> float:
    r"""Return the first choice's share of the probability of all choices.

    :math:`p_1 / \sum_i p_i`, with the probability of a whole continuation in place of
    Petroni et al.'s (2019) ranking of the vocabulary.

    Parameters
    ----------
    logprobs : array_like of float
        Summed log-probabilities of the choices, the right one first.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    Probabilities of .2, .1 and .1:

    >>> round(share_among_choices(np.log([0.2, 0.1, 0.1])), 6)
    0.5
    """
    logs = np.asarray(logprobs, dtype=float)
    return float(np.exp(logs[0] - np.logaddexp.reduce(logs)))


def log_mean_probability(logprobs: npt.ArrayLike) -> float:
    """Return the logarithm of the mean of probabilities, given as logarithms.

    Parameters
    ----------
    logprobs : array_like of float
        Natural logarithms, of one object after several prompts.

    Returns
    -------
    float
        At most 0.

    Examples
    --------
    >>> round(float(np.exp(log_mean_probability(np.log([0.2, 0.4])))), 6)
    0.3
    """
    logs = np.asarray(logprobs, dtype=float)
    return float(np.logaddexp.reduce(logs) - np.log(logs.size))


def log_knowledge_risk_ratio(
    known: npt.ArrayLike, without_subject: npt.ArrayLike, without_relation: float
) -> float:
    r"""Return the logarithm of the risk ratio of KaRR, from three probabilities.

    KaRR (Dong et al. 2023) asks how much likelier an object is after prompts that name
    subject and relation than after those that name one of them: the geometric mean of
    :math:`P(o | s, r) / P(o | r)` and :math:`P(o | s, r) / P(o | s)`, each averaged
    over the wordings. Without the subject its place holds "it", where the authors
    average over subjects; without the relation the prompt is the subject.

    Parameters
    ----------
    known, without_subject : array_like of float
        Log-probabilities of the object in each wording.
    without_relation : float
        After the subject alone.

    Returns
    -------
    float
        0 where the fact makes the object no likelier; larger is more known.

    Examples
    --------
    .4 after the fact's prompts, .1 after the relation's, .05 after the subject: the
    ratios are 4 and 8, and their geometric mean is the root of 32.

    >>> ratio = log_knowledge_risk_ratio(np.log([0.4]), np.log([0.1]), np.log(0.05))
    >>> round(float(np.exp(2 * ratio)), 6)
    32.0
    """
    of_fact = log_mean_probability(known)
    of_relation = log_mean_probability(without_subject)
    return float(of_fact - (of_relation + without_relation) / 2)


def mean_of_least_likely(logprobs: npt.ArrayLike, share: float = 0.2) -> float:
    """Return the mean log-probability of a text's least likely tokens.

    Min-K % of Shi et al. (2024), who use it to tell whether a text was read.

    Parameters
    ----------
    logprobs : array_like of float
        Of each token of the text.
    share : float, default 0.2
        Of the tokens, rounded down, and at least one.

    Returns
    -------
    float
        At most 0.

    Examples
    --------
    A fifth of ten tokens is two:

    >>> mean_of_least_likely([-1, -9, -1, -1, -1, -1, -1, -5, -1, -1])
    -7.0
    """
    logs = np.sort(np.asarray(logprobs, dtype=float))
    n_least = max(1, int(share * logs.size))
    return float(logs[:n_least].mean())


def consistency_of_answers(texts: Sequence[str]) -> float:
    """Return the share of pairs of answers that say the same.

    ParaRel's consistency (Elazar et al. 2021) of answers to paraphrases. Answers are
    compared as :func:`helpers.metrics.canonical.canonical_answer` writes them.

    Parameters
    ----------
    texts : sequence of str
        At least two.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(consistency_of_answers(["France", "france.", "Peru"]), 3)
    0.333
    """
    answers = _canonical_answers(texts)
    pairs = list(combinations(answers, 2))
    equal = sum(first == second for first, second in pairs)
    return equal / len(pairs)


def certainty_of_answers(texts: Sequence[str]) -> float:
    r"""Return the negative entropy of answers, those that say the same taken together.

    :math:`\sum_c p_c \log p_c` over groups of equal answers: discrete semantic entropy
    (Farquhar et al. 2024) with its sign turned, where equal short answers stand for
    texts that entail each other.

    Parameters
    ----------
    texts : sequence of str
        Answers to one question, sampled or to paraphrases.

    Returns
    -------
    float
        In nats, 0 where all say the same, and :math:`-\log n` where no two do.

    Examples
    --------
    >>> round(certainty_of_answers(["France", "France", "Peru", "Chad"]), 4)
    -1.0397
    """
    counts = np.array(list(Counter(_canonical_answers(texts)).values()))
    shares = counts / counts.sum()
    return float((shares * np.log(shares)).sum())


def _canonical_answers(texts: Sequence[str]) -> list[str]:
    """Return each answer's first sentence in one spelling; none is like no other."""
    answers = []
    for place, text in enumerate(texts):
        words = without_words_before(first_sentence(text))
        answers.append(canonical_answer(words) or f"(no answer {place})")
    return answers
