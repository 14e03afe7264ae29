"""What the classes of multiplicity are compared with: prompts, published figures, lessons."""

from itertools import combinations

import numpy as np
import pandas as pd

from helpers.metrics import multiplicity


def bounds(printed: pd.DataFrame, r: int) -> pd.DataFrame:
    """Bound the shares right and wrong under all r variations, from published figures.

    An item that is right under some variations only is so under at least one and at most r - 1,
    so of their share B between B/r and B - B/r enters the mean accuracy. The bounds are
    (1 - 2/r) B apart, less where the lower one would be negative or the upper one would exceed
    the share of items that never change.

    `printed` has the shares ``accuracy`` (mean over variations), ``ambiguity`` (Ambiguity-M) and
    ``ambiguity_binary`` (B). Returned are ``factuality`` (right under all; the middle of its bounds
    ``factuality_low`` and ``factuality_high``), ``randomness`` (any answer changes) and ``error``
    (one wrong answer under all), the classes of :func:`helpers.metrics.multiplicity.taxonomy` at a
    threshold of 1.

    >>> printed = pd.DataFrame({"accuracy": [0.5], "ambiguity": 0.3, "ambiguity_binary": 0.2})
    >>> bounds(printed, 10).round(2).values.tolist()
    [[0.4, 0.32, 0.48, 0.3, 0.3]]
    """
    scored, binary = printed["accuracy"], printed["ambiguity_binary"]
    low, high = (
        (scored - binary * part).clip(0, 1 - printed["ambiguity"]) for part in (1 - 1 / r, 1 / r)
    )
    found = pd.DataFrame({"factuality": (low + high) / 2})
    found["factuality_low"], found["factuality_high"] = low, high
    found["randomness"] = printed["ambiguity"]
    return found.assign(error=1 - found["randomness"] - found["factuality"])


def examples(scores: pd.DataFrame, due: pd.Series, n: int = 3) -> list[str]:
    """Pick items that show the classes: one of knowledge, one of chance, one of steady error.

    Within a class, items whose training should lead there come first, then the steadiest; of
    randomness those wrong at the default prompt, then the least steady. Where a class has none,
    another item takes its place.

    Parameters
    ----------
    scores : DataFrame
        ``item, class, default, self_consistency``, as from
        :func:`helpers.metrics.choices.item_scores`.
    due : Series of str, index ``item``
        The class that training should lead to, "" where nothing is known.
    n : int
        How many.

    Examples
    --------
    >>> scores = pd.DataFrame({"item": ["a", "b", "c"], "class": ["error", "error", "factuality"],
    ...                        "default": 0.0, "self_consistency": [1.0, 0.8, 1.0]})
    >>> examples(scores, pd.Series({"a": "", "b": "error", "c": ""}))
    ['c', 'b', 'a']
    """
    place = scores["class"].map({"factuality": 0, "randomness": 1, "error": 2})
    table = scores.assign(
        place=place,
        missed=scores["class"].to_numpy() != due.reindex(scores["item"]).to_numpy(),
        lucky=(place == 1) & (scores["default"] > 0),
        order=scores["self_consistency"] * np.where(place == 1, 1, -1),
    )
    ordered = table.sort_values(["place", "missed", "lucky", "order"], kind="stable")
    first = ordered.drop_duplicates("place")["item"].tolist()
    return [*first, *(item for item in ordered["item"] if item not in first)][:n]


def twins(right: pd.DataFrame) -> tuple[int, int]:
    """Return the two variations with the nearest accuracies whose marks differ most.

    `right` has one row an item, one column a variation. Accuracies count as equal if they round to
    the same hundredth.

    >>> twins(pd.DataFrame({0: [True, False], 1: [False, True], 2: [True, True]}))
    (0, 1)
    """
    multiplicity.need_two(right.shape[1])
    marks = right.to_numpy(dtype=bool)
    pairs = list(combinations(range(marks.shape[1]), 2))
    gaps = [round(abs(marks[:, a].mean() - marks[:, b].mean()), 2) for a, b in pairs]
    same = [(marks[:, a] == marks[:, b]).sum() for a, b in pairs]
    first, second = min(zip(gaps, same, pairs))[2]
    return right.columns[first], right.columns[second]


def balanced_hits(classes: pd.Series, due: pd.Series) -> np.ndarray:
    r"""Weigh hits so that their mean is the share of items in the class due, mean over classes.

    .. math:: h_k = \mathbb{1}[c_k = d_k] \, \frac{n}{C \, n_{d_k}}

    The mean is in [0, 1]; higher is better, 1/C for a guess among C classes.

    >>> found, due = pd.Series(["error"] * 4), pd.Series(["error"] * 3 + ["randomness"])
    >>> round(float(balanced_hits(found, due).mean()), 6)
    0.5
    """
    size = due.groupby(due).transform("size").to_numpy()
    hit = classes.to_numpy() == due.to_numpy()
    return hit * len(due) / (due.nunique() * size)
