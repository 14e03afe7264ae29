r"""Is a model reliable as a knowledge base? Factuality, consistency, and both together.

A response to a question about *seen* knowledge is correct, uninformative or wrong; one
about *unseen* knowledge is uninformative or wrong. With N questions, of which N_c, N_u
and N_w are answered so, and Cons the share of multiple-choice questions in which a
response is chosen again:

- CR = N_c / N, WR = N_w / N, NCR = CR - WR (seen); UR = N_u / N (unseen);
- Cons_c, Cons_w_seen, Cons_w_unseen: means of Cons over correct and over wrong responses;
  Cons_w: the mean of the two latter, of one alone where there is no other;
- CCR = CR Cons_c, CWR = WR Cons_w_seen, NCCR = CCR - CWR (seen);
- IUR = 1 - (1 - UR) Cons_w_unseen (unseen).

CR, NCR, UR, Cons_c, CCR, NCCR and IUR: higher is better; WR, CWR and all Cons_w: lower.

Source: Zheng, Lapata and Pan 2024, "How Reliable are LLMs as Knowledge Bases?",
equations 1-10.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError, check_columns
from helpers.stats import Statistic

MEASURE_NAMES = (
    *("CR", "WR", "NCR", "UR", "Cons_c", "Cons_w_seen", "Cons_w_unseen", "Cons_w"),
    *("CCR", "CWR", "NCCR", "IUR"),
)
RESPONSE_LABELS = ("correct", "uninformative", "wrong")
# Of rows of `response_indicators`, 0 or 1 for each question about seen knowledge, or about
# unseen.
RATE_MARKS = {
    "CR": lambda rows: rows[rows[:, 0] == 1, 1],
    "WR": lambda rows: rows[rows[:, 0] == 1, 2],
    "UR": lambda rows: (1 - rows[:, 1] - rows[:, 2])[rows[:, 0] == 0],
}
HIGHER_IS_BETTER = ("CR", "NCR", "UR", "Cons_c", "CCR", "NCCR", "IUR")


def measures_from_rates(
    cr: npt.ArrayLike,
    wr: npt.ArrayLike,
    ur: npt.ArrayLike,
    cons_c: npt.ArrayLike,
    cons_w_seen: npt.ArrayLike,
    cons_w_unseen: npt.ArrayLike,
) -> dict[str, np.ndarray]:
    """Compute all measures from three rates and three mean consistencies.

    GPT-3.5 Turbo, zero-shot, from the paper's Tables 9 and 10:

    >>> found = measures_from_rates(0.6073, 0.3040, 0.8170, 0.8710, 0.6179, 0.2365)
    >>> [round(100 * float(found[name]), 2) for name in ("NCR", "CCR", "CWR", "IUR")]
    [30.33, 52.9, 18.78, 95.67]
    """
    cr, wr, ur, cons_c, seen, unseen = (
        np.asarray(values, dtype=float)
        for values in (cr, wr, ur, cons_c, cons_w_seen, cons_w_unseen)
    )
    ccr, cwr = _product(cr, cons_c), _product(wr, seen)
    both = np.where(
        np.isnan(seen), unseen, np.where(np.isnan(unseen), seen, (seen + unseen) / 2)
    )
    values = (cr, wr, cr - wr, ur, cons_c, seen, unseen, both, ccr, cwr, ccr - cwr)
    return dict(zip(MEASURE_NAMES, (*values, 1 - _product(1 - ur, unseen))))


def response_indicators(responses: pd.DataFrame) -> np.ndarray:
    """Return each response's marks, 0 or 1, for seen, correct, wrong, tested; and consistency."""
    check_columns(responses, ("seen", "label"), "responses")
    unknown = sorted(set(responses["label"]) - set(RESPONSE_LABELS))
    if unknown:
        raise UserError(
            f'A label is one of {", ".join(RESPONSE_LABELS)}; "{unknown[0]}" is none.'
        )
    seen, label = responses["seen"].to_numpy(dtype=bool), responses["label"].to_numpy()
    if (label[~seen] == "correct").any():
        raise UserError(
            'A question about unseen knowledge has no known answer, so no label "correct".'
        )
    consistency = np.full(len(responses), np.nan)
    if "consistency" in responses.columns:
        consistency = responses["consistency"].to_numpy(dtype=float)
    tested = ~np.isnan(consistency)
    columns = [
        seen,
        label == "correct",
        label == "wrong",
        tested,
        np.where(tested, consistency, 0),
    ]
    return np.column_stack(columns).astype(float)


def measures_of_indicators(values: np.ndarray) -> np.ndarray:
    """Compute all measures from rows of :func:`response_indicators`, for a bootstrap."""
    seen, correct, wrong, tested, consistency = np.moveaxis(values, -1, 0)
    unseen, informative = 1 - seen, correct + wrong
    total = consistency * tested
    found = measures_from_rates(
        _ratio(seen * correct, seen),
        _ratio(seen * wrong, seen),
        _ratio(unseen * (1 - informative), unseen),
        _ratio(seen * correct * total, seen * correct * tested),
        _ratio(seen * wrong * total, seen * wrong * tested),
        _ratio(unseen * wrong * total, unseen * wrong * tested),
    )
    return np.stack([found[name] for name in MEASURE_NAMES], axis=-1)


def measure_statistic(name: str) -> Statistic:
    """Return the statistic of one measure; of a rate it tells the marks, too, that it averages."""

    def one(values: np.ndarray) -> np.ndarray:
        return measures_of_indicators(values)[..., MEASURE_NAMES.index(name)]

    if name in RATE_MARKS:
        one.marks = RATE_MARKS[name]
    return one


def measures_of_responses(responses: pd.DataFrame) -> pd.Series:
    """Compute all measures of a table of responses.

    >>> responses = pd.DataFrame({
    ...     "seen": [True, True, True, True, False, False],
    ...     "label": ["correct", "correct", "wrong", "uninformative", "uninformative", "wrong"],
    ...     "consistency": [1.0, 0.5, 0.2, np.nan, np.nan, 0.4]})
    >>> found = measures_of_responses(responses).round(3)
    >>> found[["CR", "WR", "NCR", "UR", "Cons_c", "Cons_w"]].tolist()
    [0.5, 0.25, 0.25, 0.5, 0.75, 0.3]
    >>> found[["CCR", "CWR", "NCCR", "IUR"]].tolist()
    [0.375, 0.05, 0.325, 0.8]
    """
    return pd.Series(
        measures_of_indicators(response_indicators(responses)),
        index=list(MEASURE_NAMES),
    )


def consistency_by_response(marked: pd.DataFrame) -> pd.DataFrame:
    """Compute Cons of every response from its multiple-choice questions (equation 4)."""
    by_item = marked.groupby("item", sort=False)["right"]
    return by_item.agg(consistency="mean", n_choices="size").reset_index()


def add_consistency(responses: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Put the share of its questions in which a response is chosen again beside each response."""
    found = consistency_by_response(marked).set_index("item")
    keys = responses["item"] + " " + responses["text"].str.strip()
    return responses.assign(**{name: keys.map(found[name]) for name in found.columns})


def _product(rate: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Multiply, where nothing times a missing mean is nothing."""
    return np.where(rate == 0, 0.0, rate * mean)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide sums over the last axis; not a number where there is nothing below."""
    top, bottom = above.sum(axis=-1), np.asarray(below.sum(axis=-1), dtype=float)
    return np.divide(top, bottom, out=np.full(bottom.shape, np.nan), where=bottom > 0)
