r"""Is a model reliable as a knowledge base? Factuality, consistency, and both together.

A response to a question about *seen* knowledge is correct, uninformative or wrong; one
about *unseen* knowledge is uninformative or wrong. With N questions, of which N_c, N_u
and N_w are answered so, and Cons the share of multiple-choice questions in which a
response is chosen again:

- CR = N_c / N, WR = N_w / N, NCR = CR - WR (seen); UR = N_u / N (unseen);
- Cons_c, Cons_w_seen, Cons_w_unseen: means of Cons over correct and over wrong
  responses; Cons_w: the mean of the two latter, of one alone where there is no other;
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
    "CR",
    "WR",
    "NCR",
    "UR",
    "Cons_c",
    "Cons_w_seen",
    "Cons_w_unseen",
    "Cons_w",
    "CCR",
    "CWR",
    "NCCR",
    "IUR",
)
RESPONSE_LABELS = ("correct", "uninformative", "wrong")
HIGHER_IS_BETTER = ("CR", "NCR", "UR", "Cons_c", "CCR", "NCCR", "IUR")


def _correct_of_seen(indicators: np.ndarray) -> np.ndarray:
    seen, correct, _, _, _ = indicators.T
    return correct[seen == 1]


def _wrong_of_seen(indicators: np.ndarray) -> np.ndarray:
    seen, _, wrong, _, _ = indicators.T
    return wrong[seen == 1]


def _uninformative_of_unseen(indicators: np.ndarray) -> np.ndarray:
    seen, correct, wrong, _, _ = indicators.T
    return (1 - correct - wrong)[seen == 0]


# Rate to its zeros and ones, one a question that counts, from `response_indicators`.
RATE_MARKS = {
    "CR": _correct_of_seen,
    "WR": _wrong_of_seen,
    "UR": _uninformative_of_unseen,
}


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

    >>> measures = measures_from_rates(0.6073, 0.3040, 0.8170, 0.8710, 0.6179, 0.2365)
    >>> names = ("NCR", "CCR", "CWR", "IUR")
    >>> [round(100 * float(measures[name]), 2) for name in names]
    [30.33, 52.9, 18.78, 95.67]
    """
    cr = np.asarray(cr, dtype=float)
    wr = np.asarray(wr, dtype=float)
    ur = np.asarray(ur, dtype=float)
    cons_c = np.asarray(cons_c, dtype=float)
    cons_w_seen = np.asarray(cons_w_seen, dtype=float)
    cons_w_unseen = np.asarray(cons_w_unseen, dtype=float)
    cons_w = (cons_w_seen + cons_w_unseen) / 2
    cons_w = np.where(np.isnan(cons_w_unseen), cons_w_seen, cons_w)
    cons_w = np.where(np.isnan(cons_w_seen), cons_w_unseen, cons_w)
    ccr = _product(cr, cons_c)
    cwr = _product(wr, cons_w_seen)
    return {
        "CR": cr,
        "WR": wr,
        "NCR": cr - wr,
        "UR": ur,
        "Cons_c": cons_c,
        "Cons_w_seen": cons_w_seen,
        "Cons_w_unseen": cons_w_unseen,
        "Cons_w": cons_w,
        "CCR": ccr,
        "CWR": cwr,
        "NCCR": ccr - cwr,
        "IUR": 1 - _product(1 - ur, cons_w_unseen),
    }


def response_indicators(responses: pd.DataFrame) -> np.ndarray:
    """Return for each response: seen, correct, wrong, tested (0 or 1); consistency."""
    check_columns(responses, ("seen", "label"), "responses")
    unknown = sorted(set(responses["label"]) - set(RESPONSE_LABELS))
    if unknown:
        raise UserError(
            f'A label is one of {", ".join(RESPONSE_LABELS)}; "{unknown[0]}" is none.'
        )
    seen = responses["seen"].to_numpy(dtype=bool)
    label = responses["label"].to_numpy()
    if (label[~seen] == "correct").any():
        raise UserError(
            "A question about unseen knowledge has no known answer, "
            'so no label "correct".'
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
    """Compute all measures of :func:`response_indicators`, for a bootstrap."""
    seen, correct, wrong, tested, consistency = np.moveaxis(values, -1, 0)
    unseen = 1 - seen
    uninformative = 1 - (correct + wrong)
    consistency = consistency * tested
    measures = measures_from_rates(
        cr=_ratio_of_sums(seen * correct, seen),
        wr=_ratio_of_sums(seen * wrong, seen),
        ur=_ratio_of_sums(unseen * uninformative, unseen),
        cons_c=_ratio_of_sums(seen * correct * consistency, seen * correct * tested),
        cons_w_seen=_ratio_of_sums(seen * wrong * consistency, seen * wrong * tested),
        cons_w_unseen=_ratio_of_sums(
            unseen * wrong * consistency, unseen * wrong * tested
        ),
    )
    return np.stack([measures[name] for name in MEASURE_NAMES], axis=-1)


def measure_statistic(name: str) -> Statistic:
    """Return the statistic of one measure, a rate's with the marks that it averages."""

    def measure_of_indicators(values: np.ndarray) -> np.ndarray:
        return measures_of_indicators(values)[..., MEASURE_NAMES.index(name)]

    if name in RATE_MARKS:
        # An attribute of the function, which helpers.stats.bootstrap looks for.
        measure_of_indicators.marks = RATE_MARKS[name]  # type: ignore[attr-defined]
    return measure_of_indicators


def measures_of_responses(responses: pd.DataFrame) -> pd.Series:
    """Compute all measures of a table of responses.

    >>> responses = pd.DataFrame({
    ...     "seen": [True, True, True, True, False, False],
    ...     "label": ["correct", "correct", "wrong", "uninformative",
    ...               "uninformative", "wrong"],
    ...     "consistency": [1.0, 0.5, 0.2, np.nan, np.nan, 0.4]})
    >>> measures = measures_of_responses(responses).round(3)
    >>> measures[["CR", "WR", "NCR", "UR", "Cons_c", "Cons_w"]].tolist()
    [0.5, 0.25, 0.25, 0.5, 0.75, 0.3]
    >>> measures[["CCR", "CWR", "NCCR", "IUR"]].tolist()
    [0.375, 0.05, 0.325, 0.8]
    """
    measures = measures_of_indicators(response_indicators(responses))
    return pd.Series(measures, index=list(MEASURE_NAMES))


def consistency_by_response(marked: pd.DataFrame) -> pd.DataFrame:
    """Compute Cons of each response from its multiple-choice questions (equation 4)."""
    by_item = marked.groupby("item", sort=False)["right"]
    return by_item.agg(consistency="mean", n_choices="size").reset_index()


def add_consistency(responses: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Add how often each response is chosen again, and of how many questions."""
    by_response = consistency_by_response(marked).set_index("item")
    keys = responses["item"] + " " + responses["text"].str.strip()
    return responses.assign(
        consistency=keys.map(by_response["consistency"]),
        n_choices=keys.map(by_response["n_choices"]),
    )


def _product(rate: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Multiply, where nothing times a missing mean is nothing."""
    return np.where(rate == 0, 0.0, rate * mean)


def _ratio_of_sums(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide sums over the last axis; not a number where that below is 0."""
    top = numerator.sum(axis=-1)
    bottom = np.asarray(denominator.sum(axis=-1), dtype=float)
    undefined = np.full(bottom.shape, np.nan)
    return np.divide(top, bottom, out=undefined, where=bottom > 0)
