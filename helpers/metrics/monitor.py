"""MONITOR: how far belief in a fact moves with the prompt, per unit of belief.

Of each fact the table of answers holds the probabilities of the object's tokens. What
stands before the question is told by ``context``:

- ``right``: the base frame after the true object, the primary anchor p+;
- ``none``: each of the R frames without context, foreign anchors;
- ``wrong``: the base frame after each of M other objects, foreign anchors;
- ``unrelated``: the base frame after objects of other relations, which could not be an
  answer, if there are any; ``noun``: after words that are nobody's object. They are our
  controls of IRD and enter none of the paper's numbers.

Rows with other contexts are left aside.

A fact is compared token by token. Where the object is cut into other tokens in one of
its prompts that cannot be done: such a fact is marked ``aligned = False`` and not
counted.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
eqs. 1-3.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from textwrap import fill
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.anchors import PAPER, anchor_probabilities

EQUAL_WEIGHTS = (1 / 3, 1 / 3, 1 / 3)
FEWEST_COUNTED_FACTS = 10  # from so many there is nothing to caution of


def mean_distance_from_primary(primary: npt.ArrayLike, foreign: npt.ArrayLike) -> float:
    """Average |p+ - p| over tokens and prompts, in [0, 1]; lower is better.

    PFD if the prompts are frames (equation 1), IRD if they are wrong contexts (2).

    >>> round(mean_distance_from_primary([0.9, 1.0], [[0.7, 1.0], [0.5, 0.6]]), 6)
    0.25
    """
    primary = np.asarray(primary, dtype=float)
    foreign = np.asarray(foreign, dtype=float)
    if primary.ndim != 1 or foreign.ndim != 2 or foreign.shape[1] != len(primary):
        raise ValueError(
            f"anchors of shapes {primary.shape} and {foreign.shape} do not compare"
        )
    return float(np.abs(primary - foreign).mean())


def combined_deviation(
    pfd: npt.ArrayLike, ird: npt.ArrayLike, alphas: Sequence[float] = EQUAL_WEIGHTS
) -> np.ndarray:
    """Join the two degrees of each fact: the root in the numerator of equation 3.

    >>> combined_deviation([0.3, 0.2], [0.3, 0.0], alphas=(1, 0, 0)).tolist()
    [0.3, 0.2]
    >>> combined_deviation([0.3], [0.3]).round(6).tolist()
    [0.3]
    """
    first, second, both = check_alphas(alphas)
    pfd = np.asarray(pfd, dtype=float)
    ird = np.asarray(ird, dtype=float)
    return np.sqrt(first * pfd**2 + second * ird**2 + both * pfd * ird)


def check_alphas(alphas: Sequence[float]) -> tuple[float, float, float]:
    """Return the three weights as floats, or refuse what is not three of at least 0."""
    weights = np.array([float(alpha) for alpha in alphas])
    if len(weights) != 3 or not np.isfinite(weights).all() or (weights < 0).any():
        raise UserError(
            "MONITOR needs three alphas of at least 0, such as 1/3, 1/3, 1/3, "
            f"not {list(alphas)}."
        )
    if not weights.any():
        raise UserError("MONITOR's three alphas are all 0: give one above 0.")
    first, second, both = weights.tolist()
    return first, second, both


def fact_scores(
    answers: pd.DataFrame,
    known: pd.Series | None = None,
    column: str = "logprobs",
    alphas: Sequence[float] = EQUAL_WEIGHTS,
) -> pd.DataFrame:
    """Compute PFD, IRD and their union for each fact (equations 1 and 2).

    Parameters
    ----------
    answers : DataFrame
        Columns ``item, relation, variant, context`` and `column`; one row for each
        prompt of a fact (`variant` is its label).
    known : Series of bool, index ``item``, optional
        From :func:`helpers.metrics.anchors.known_facts`; a fact it lacks is not known.
        Without it all facts count.
    column : {"logprobs", "anchor_logprobs"}
        Natural log-probabilities of the object's tokens: teacher-forced (from scoring),
        or read along the model's own continuation (free-running; minus infinity past
        its end).
    alphas : three floats
        Weights of :func:`combined_deviation`.

    Returns
    -------
    DataFrame
        One row a fact, in the order of the answers: ``item, relation, n_tokens,
        n_frames, n_interferences, anchor`` (mean p+ over the tokens), ``pfd, ird,
        aligned, control_ird, noun_ird`` (IRD's formula with unrelated words and with
        nouns in place of wrong objects; not numbers where there are none, or their
        tokens differ), ``deviation, known, counted`` (known and aligned).

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17",
    ...     "variant": ["right", "frame0", "frame1", "wrong0"],
    ...     "context": ["right", "none", "none", "wrong"],
    ...     "logprobs": [[np.log(0.8)], [np.log(0.6)], [np.log(0.4)], [np.log(0.5)]]})
    >>> scores = fact_scores(answers)
    >>> scores[["anchor", "pfd", "ird", "deviation"]].round(6).values.tolist()
    [[0.8, 0.3, 0.3, 0.3]]
    """
    table = anchor_probabilities(answers, column)
    # The tokens of the object are those of `logprobs`, not of the model's own text.
    has_tokens = column == "logprobs" and "tokens" in table
    anchors_by_item: dict[str, list[_Anchor]] = {}
    for row in table.itertuples():
        tokens = tuple(row.tokens) if has_tokens else ()
        anchor = _Anchor(row.relation, row.variant, row.context, row.p, tokens)
        anchors_by_item.setdefault(row.item, []).append(anchor)
    rows = [_fact_row(item, anchors) for item, anchors in anchors_by_item.items()]
    scores = pd.DataFrame(rows, columns=list(_FactRow._fields))
    scores["deviation"] = combined_deviation(scores["pfd"], scores["ird"], alphas)
    scores["known"] = True
    if known is not None:
        known_items = known.index[known.to_numpy(dtype=bool)]
        scores["known"] = scores["item"].isin(known_items)
    scores["counted"] = scores["known"] & scores["aligned"]
    return scores


def caution_about_monitor(facts: pd.DataFrame, texts: pd.DataFrame) -> str:
    """Say why MONITOR is undefined or rests on few facts; nothing if it is sound."""
    n = len(facts)
    known = int(facts["known"].sum())
    counted = int(facts["counted"].sum())
    if counted >= FEWEST_COUNTED_FACTS:
        return ""
    if counted:
        verb = "counts" if counted == 1 else "count"
        caution = (
            f"Only {counted} of {n} facts {verb}, so MONITOR, PFD, IRD and the anchors "
            "rest on little: look at their intervals, and set n_facts higher."
        )
    elif known:
        caution = (
            "MONITOR is undefined for this model: its tokenizer cuts the object of "
            f"every fact that it answers rightly ({known} of {n}) in more than one "
            "way, so that probabilities cannot be compared token by token. Set n_facts "
            "higher."
        )
    else:
        after_answer = texts.loc[texts["context"] == "right", "text"]
        beginnings = after_answer.str.strip().str[:40]
        commonest = beginnings.value_counts().index[:3]
        quoted = ", ".join(repr(beginning) for beginning in commonest)
        caution = (
            f"MONITOR is undefined for this model: none of {n} facts is answered "
            "rightly, even with the answer said before it. Answers look like "
            f"{quoted}. Try prompt_format=auto or match=contains."
        )
    return fill(caution, 80)


def monitor_score(
    facts: pd.DataFrame, alphas: Sequence[float] = EQUAL_WEIGHTS
) -> float:
    r"""Compute MONITOR over the counted facts (equation 3).

    Lower is better, 0 is perfectly stable.

    .. math:: \mathrm{MONITOR} = \frac{\sum_c \sqrt{\alpha_1 \mathrm{PFD}_c^2
              + \alpha_2 \mathrm{IRD}_c^2 + \alpha_3 \mathrm{PFD}_c \mathrm{IRD}_c}}
              {\sum_c \frac1{L_c} \sum_l p^+_{c,l}}

    >>> facts = pd.DataFrame({"pfd": [0.3, 0.2], "ird": [0.3, 0.2],
    ...     "anchor": [0.8, 0.2], "counted": [True, True]})
    >>> round(monitor_score(facts), 6)
    0.5
    """
    counted = facts[facts["counted"]]
    deviations = combined_deviation(counted["pfd"], counted["ird"], alphas)
    return float(ratio_of_sums(np.column_stack([deviations, counted["anchor"]])))


def distances_by_frame(answers: pd.DataFrame, column: str = "logprobs") -> pd.DataFrame:
    """Compute each fact's distance from its anchor in every question frame.

    Parameters
    ----------
    answers : DataFrame
        As for :func:`fact_scores`, with a column ``frame``.
    column : {"logprobs", "anchor_logprobs"}
        Natural log-probabilities of the object's tokens.

    Returns
    -------
    DataFrame
        One row a fact (index ``item``) and one column a frame, in [0, 1]; PFD is the
        mean of a row (equation 1). Not a number where the fact has no such frame, or
        its object is cut into more or fewer tokens.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "frame": [0, 0, 1, 0],
    ...     "variant": ["right", "frame0", "frame1", "wrong0"],
    ...     "context": ["right", "none", "none", "wrong"],
    ...     "logprobs": [[np.log(0.8)], [np.log(0.6)], [np.log(0.4)], [np.log(0.5)]]})
    >>> distances_by_frame(answers).round(6).values.tolist()
    [[0.2, 0.4]]
    """
    check_columns(answers, ("frame",), "answers")
    compared = answers[answers["context"].isin(["right", "none"])]
    compared = anchor_probabilities(compared, column)
    is_primary = compared["context"] == "right"
    primary = compared[is_primary].set_index("item")["p"]
    foreign = compared[~is_primary]
    distances = []
    for item, p in zip(foreign["item"], foreign["p"], strict=True):
        distance = np.nan
        if len(p) == len(primary[item]):
            distance = float(np.abs(primary[item] - p).mean())
        distances.append(distance)
    table = foreign[["item", "frame"]].assign(distance=distances)
    table = table.pivot_table("distance", "item", "frame", dropna=False)
    return table.reindex(answers["item"].unique()).rename_axis(columns=None)


def scores_of_frame_subsets(
    facts: pd.DataFrame,
    distances: pd.DataFrame,
    n_frames: int = 4,
    alphas: Sequence[float] = EQUAL_WEIGHTS,
) -> pd.DataFrame:
    """Compute MONITOR in every choice of some of the question frames (section 6.5).

    Anchors and IRD stay as they are; PFD is the mean over the frames chosen.

    Parameters
    ----------
    facts : DataFrame
        Columns ``item, relation, anchor, ird, counted``, as from :func:`fact_scores`.
    distances : DataFrame
        From :func:`distances_by_frame`, of the same answers.
    n_frames : int
        How many frames are chosen at a time.
    alphas : three floats
        Weights of :func:`combined_deviation`.

    Returns
    -------
    DataFrame
        One row a choice (index ``frames``, tuples), empty if there are fewer frames;
        one column a relation, and ``all`` over all facts that count.

    Examples
    --------
    >>> facts = pd.DataFrame({"item": ["a"], "relation": "P17", "anchor": 0.8,
    ...                       "ird": 0.3, "counted": True})
    >>> distances = pd.DataFrame({0: [0.2], 1: [0.3]}, index=["a"])
    >>> scores_of_frame_subsets(facts, distances, 1)["all"].round(3).tolist()
    [0.315, 0.375]
    """
    counted = facts[facts["counted"]].set_index("item")
    distances = distances.loc[counted.index]
    deviations = {}
    for frames in combinations(distances.columns, n_frames):
        pfd = distances[list(frames)].mean(axis=1)
        deviations[frames] = combined_deviation(pfd, counted["ird"], alphas)
    chosen = pd.Index(list(deviations), name="frames", tupleize_cols=False)
    table = pd.DataFrame(dict(enumerate(deviations.values())), index=counted.index)
    # A fact without a frame has no deviation in it, and its anchor does not count.
    anchors = table.notna().mul(counted["anchor"], axis="index")
    sums = table.groupby(counted["relation"]).sum()
    anchors = anchors.groupby(counted["relation"]).sum()
    scores = (sums / anchors).T
    scores["all"] = sums.sum() / anchors.sum()
    return scores.set_axis(chosen, axis=0).rename_axis(columns=None)


def ratio_of_sums(values: np.ndarray) -> np.ndarray:
    """Divide the sum of deviations by that of anchors: MONITOR as a statistic.

    For a bootstrap of values of shape (..., n, 2).
    """
    sums = np.asarray(values, dtype=float).sum(axis=-2)
    deviations = sums[..., 0]
    anchors = sums[..., 1]
    undefined = np.full(anchors.shape, np.nan)
    return np.divide(deviations, anchors, out=undefined, where=anchors > 0)


class _Anchor(NamedTuple):
    """The probabilities of the object's tokens in one prompt."""

    relation: str
    variant: str
    context: str
    p: np.ndarray
    tokens: tuple[str, ...]


class _FactRow(NamedTuple):
    """A row of :func:`fact_scores`, but for what depends on weights or answers."""

    item: str
    relation: str
    n_tokens: int
    n_frames: int
    n_interferences: int
    anchor: float
    pfd: float
    ird: float
    aligned: bool
    control_ird: float
    noun_ird: float


def _fact_row(item: str, anchors: list[_Anchor]) -> _FactRow:
    """Compare the anchors of one fact; what cannot be compared is not a number."""
    _check_anchors(item, anchors)
    of_paper = [anchor for anchor in anchors if anchor.context in PAPER]
    primary = _probabilities(anchors, "right")[0]
    frames = _probabilities(anchors, "none")
    wrong = _probabilities(anchors, "wrong")
    row = _FactRow(
        item=item,
        relation=of_paper[0].relation,
        n_tokens=len(primary),
        n_frames=len(frames),
        n_interferences=len(wrong),
        anchor=float(primary.mean()) if len(primary) else float("nan"),
        pfd=float("nan"),
        ird=float("nan"),
        aligned=_are_aligned(of_paper),
        control_ird=float("nan"),
        noun_ird=float("nan"),
    )
    if not row.aligned:
        return row
    return row._replace(
        pfd=mean_distance_from_primary(primary, frames),
        ird=mean_distance_from_primary(primary, wrong),
        control_ird=_control_ird(anchors, "unrelated"),
        noun_ird=_control_ird(anchors, "noun"),
    )


def _control_ird(anchors: list[_Anchor], context: str) -> float:
    """Return IRD with a control's words in place of wrong ones, nan without any."""
    words = _probabilities(anchors, context)
    of_both = (*PAPER, context)
    compared = [anchor for anchor in anchors if anchor.context in of_both]
    if not words or not _are_aligned(compared):
        return float("nan")
    primary = _probabilities(anchors, "right")[0]
    return mean_distance_from_primary(primary, words)


def _check_anchors(item: str, anchors: list[_Anchor]) -> None:
    """Refuse a fact that lacks a context of the paper, or a prompt with two answers."""
    for context in PAPER:
        if not _probabilities(anchors, context):
            raise UserError(
                f'Fact {item} has no answer with the context "{context}"; ask it first.'
            )
    variants = Counter(anchor.variant for anchor in anchors)
    variant, count = variants.most_common(1)[0]
    if count > 1:
        raise UserError(
            f"Fact {item} has more than one answer to {variant}; keep one option each."
        )


def _probabilities(anchors: list[_Anchor], context: str) -> list[np.ndarray]:
    """Return the probabilities after a context, in the order of the anchors."""
    return [anchor.p for anchor in anchors if anchor.context == context]


def _are_aligned(anchors: list[_Anchor]) -> bool:
    """Say whether the object is cut into the same tokens everywhere, at least one."""
    lengths = {len(anchor.p) for anchor in anchors}
    tokens = {anchor.tokens for anchor in anchors}
    return len(lengths) == 1 and 0 not in lengths and len(tokens) == 1
