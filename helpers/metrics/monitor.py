"""MONITOR: how far a model's belief in a fact moves with the prompt, per unit of belief.

Of each fact the table of answers holds the probabilities of the object's tokens. What
stands before the question is told by ``context``:

- ``right``: the base frame after the true object, the primary anchor p+;
- ``none``: each of the R frames without context, foreign anchors;
- ``wrong``: the base frame after each of M other objects, foreign anchors;
- ``unrelated``: the base frame after words that could not be an answer, if there are
  any. They are our control of IRD and enter none of the paper's numbers.

Rows with other contexts are left aside.

A fact is compared token by token. Where the object is cut into other tokens in one of
its prompts that cannot be done: such a fact is marked ``aligned = False`` and not
counted.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
eqs. 1-3.
"""

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError
from helpers.metrics.anchors import PAPER, anchor_probabilities

EQUAL_WEIGHTS = (1 / 3, 1 / 3, 1 / 3)
FEWEST_COUNTED_FACTS = (
    10  # facts that count: from so many there is nothing to caution of
)


def mean_probability_distance(primary: npt.ArrayLike, foreign: npt.ArrayLike) -> float:
    """Average |p+ - p| over tokens and prompts: PFD over frames (1), IRD over wrong contexts (2).

    >>> round(mean_probability_distance([0.9, 1.0], [[0.7, 1.0], [0.5, 0.6]]), 6)
    0.25
    """
    primary, foreign = (
        np.asarray(primary, dtype=float),
        np.asarray(foreign, dtype=float),
    )
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
    pfd, ird = np.asarray(pfd, dtype=float), np.asarray(ird, dtype=float)
    return np.sqrt(first * pfd**2 + second * ird**2 + both * pfd * ird)


def check_alphas(alphas: Sequence[float]) -> tuple[float, float, float]:
    """Return the three weights as floats, or refuse what is not three numbers of at least 0."""
    values = tuple(float(alpha) for alpha in alphas)
    if len(values) != 3 or not all(
        np.isfinite(alpha) and alpha >= 0 for alpha in values
    ):
        raise UserError(
            f"MONITOR needs three alphas of at least 0, such as 1/3, 1/3, 1/3, not {list(alphas)}."
        )
    return values


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
        aligned, control_ird`` (IRD's formula with unrelated words in place of wrong
        objects; not a number where there are none, or their tokens differ),
        ``deviation, known, counted`` (known and aligned).

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17",
    ...                         "variant": ["right", "frame0", "frame1", "wrong0"],
    ...                         "context": ["right", "none", "none", "wrong"],
    ...                         "logprobs": [[np.log(0.8)], [np.log(0.6)], [np.log(0.4)],
    ...                                      [np.log(0.5)]]})
    >>> fact_scores(answers)[["anchor", "pfd", "ird", "deviation"]].round(6).values.tolist()
    [[0.8, 0.3, 0.3, 0.3]]
    """
    table = anchor_probabilities(answers, column)
    pieces = (
        table["tokens"]
        if column == "logprobs" and "tokens" in table
        else [()] * len(table)
    )
    by_item: dict[str, list[_Anchor]] = {}
    told = (table[name] for name in ("item", "relation", "variant", "context", "p"))
    for item, *anchor, tokens in zip(*told, pieces):
        by_item.setdefault(item, []).append(_Anchor(*anchor, tuple(tokens)))
    rows = [_fact(item, anchors) for item, anchors in by_item.items()]
    result = pd.DataFrame(rows, columns=_FACT_COLUMNS)
    result["deviation"] = combined_deviation(result["pfd"], result["ird"], alphas)
    result["known"] = True
    if known is not None:
        result["known"] = result["item"].isin(known.index[known.to_numpy(dtype=bool)])
    result["counted"] = result["known"] & result["aligned"]
    return result


def caution_about_monitor(facts: pd.DataFrame, texts: pd.DataFrame) -> str:
    """Say why MONITOR is undefined or rests on few facts, and quote answers; else ""."""
    n, known, counted = (
        len(facts),
        int(facts["known"].sum()),
        int(facts["counted"].sum()),
    )
    if counted >= FEWEST_COUNTED_FACTS:
        return ""
    if counted:
        found = (
            f"Only {counted} of {n} facts count{'s' * (counted == 1)}, so MONITOR, PFD, IRD and "
            "the anchors rest on little: look at their intervals, and set n_facts higher."
        )
    elif known:
        found = (
            "MONITOR is undefined for this model: its tokenizer cuts the object of every fact that "
            f"it answers rightly ({known} of {n}) in more than one way, so that probabilities "
            "cannot be compared token by token. Set n_facts higher."
        )
    else:
        said = texts.loc[texts["context"] == "right", "text"].str.strip().str[:40]
        found = (
            f"MONITOR is undefined for this model: none of {n} facts is answered rightly, even "
            "with the answer said before it. Answers look like "
            f"{', '.join(map(repr, said.value_counts().index[:3]))}. Try prompt_format=auto or "
            "match=contains."
        )
    return fill(found, 80)


def monitor_score(
    facts: pd.DataFrame, alphas: Sequence[float] = EQUAL_WEIGHTS
) -> float:
    r"""Compute MONITOR over the counted facts (equation 3); lower is better, 0 is perfectly stable.

    .. math:: \mathrm{MONITOR} = \frac{\sum_c \sqrt{\alpha_1 \mathrm{PFD}_c^2
              + \alpha_2 \mathrm{IRD}_c^2 + \alpha_3 \mathrm{PFD}_c \mathrm{IRD}_c}}
              {\sum_c \frac1{L_c} \sum_l p^+_{c,l}}

    >>> facts = pd.DataFrame({"pfd": [0.3, 0.2], "ird": [0.3, 0.2], "anchor": [0.8, 0.2],
    ...                       "counted": [True, True]})
    >>> round(monitor_score(facts), 6)
    0.5
    """
    counted = facts[facts["counted"]]
    tops = combined_deviation(counted["pfd"], counted["ird"], alphas)
    return float(ratio_of_sums(np.column_stack([tops, counted["anchor"]])))


def ratio_of_sums(values: np.ndarray) -> np.ndarray:
    """Divide the sum of deviations by that of anchors, (..., n, 2): MONITOR as a statistic."""
    sums = np.asarray(values, dtype=float).sum(axis=-2)
    bottom = sums[..., 1]
    return np.divide(
        sums[..., 0], bottom, out=np.full(bottom.shape, np.nan), where=bottom > 0
    )


_FACT_COLUMNS = [
    *("item", "relation", "n_tokens", "n_frames", "n_interferences"),
    *("anchor", "pfd", "ird", "aligned", "control_ird"),
]


class _Anchor(NamedTuple):
    relation: str
    variant: str
    context: str
    p: np.ndarray
    tokens: tuple[str, ...]


def _fact(item: str, anchors: list[_Anchor]) -> tuple:
    """Return one fact's row, without its deviation."""
    control = [anchor for anchor in anchors if anchor.context == "unrelated"]
    asked = [anchor for anchor in anchors if anchor.context in PAPER]
    by_context: dict[str, list[np.ndarray]] = {context: [] for context in PAPER}
    for anchor in asked:
        by_context[anchor.context].append(anchor.p)
    for context, found in by_context.items():
        if not found:
            raise UserError(
                f'Fact {item} has no answer with the context "{context}"; ask it first.'
            )
    variants = Counter(anchor.variant for anchor in anchors)
    twice, times = variants.most_common(1)[0]
    if times > 1:
        raise UserError(
            f"Fact {item} has more than one answer to {twice}; keep one option each."
        )
    primary, relation = by_context["right"][0], asked[0].relation
    frames, wrong = by_context["none"], by_context["wrong"]
    head = (item, relation, len(primary), len(frames), len(wrong))
    if not _comparable(asked):
        mean = float(primary.mean()) if len(primary) else float("nan")
        return (*head, mean, float("nan"), float("nan"), False, float("nan"))
    pfd = mean_probability_distance(primary, frames)
    ird = mean_probability_distance(primary, wrong)
    compared = bool(control) and _comparable([*asked, *control])
    beside = (
        mean_probability_distance(primary, [each.p for each in control])
        if compared
        else float("nan")
    )
    return (*head, float(primary.mean()), pfd, ird, True, beside)


def _comparable(anchors: list[_Anchor]) -> bool:
    """Say whether the object is cut into the same tokens everywhere, at least one."""
    lengths = {len(anchor.p) for anchor in anchors}
    return (
        len(lengths) == 1 and 0 not in lengths and len({a.tokens for a in anchors}) == 1
    )
