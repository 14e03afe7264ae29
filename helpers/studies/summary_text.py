"""A summary as people read it: a table with titles, and what its numbers cannot say."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from helpers.studies.measures import Measure

FEW_FACTS = 10
DECIMALS = 3
MOST_DECIMALS = 6  # where both bounds would read alike with fewer
NO_INTERVAL = "-"
NOTE_ON_NO_INTERVAL = "-: every sample of these facts gives the same, so no interval."


def summary_as_text(summary: pd.DataFrame, measures: Iterable[Measure] = ()) -> str:
    """Return a summary as a table, with notes below it.

    Parameters
    ----------
    summary : DataFrame
        Rows of one relation, or of all facts, of what a study's ``summary`` returns.
    measures : iterable of Measure
        Those whose title and meaning are told.

    Returns
    -------
    str
        Lines without an end of the last. An interval without width is none and is left
        out, and measures of fewer than ten facts are named.

    Examples
    --------
    >>> rows = [("base", 0.25, 0.125, 0.5, 12), ("average", 0.0, 0.0, 0.0, 12)]
    >>> columns = ["measure", "estimate", "low", "high", "n"]
    >>> print(summary_as_text(pd.DataFrame(rows, columns=columns)))
    measure estimate   low  high  n
       base    0.250 0.125 0.500 12
    average    0.000     -     - 12
    -: every sample of these facts gives the same, so no interval.
    """
    described = {measure.name: measure for measure in measures}
    shown = summary[["measure"]].copy()
    if described:
        titles = {name: measure.title for name, measure in described.items()}
        shown["title"] = shown["measure"].map(titles).fillna("")
    numbers = summary[["estimate", "low", "high"]].to_numpy(float)
    shown[["estimate", "low", "high"]] = list(map(_numbers_as_texts, numbers))
    shown["n"] = summary["n"]
    lines = [shown.to_string(index=False)]
    for name in shown["measure"]:
        if name in described and described[name].meaning:
            lines.append(f"{name}: {described[name].meaning}.")
    if (shown["low"] == NO_INTERVAL).any():
        lines.append(NOTE_ON_NO_INTERVAL)
    lines += _note_on_few_facts(summary)
    return "\n".join(lines)


def _numbers_as_texts(numbers: np.ndarray) -> list[str]:
    """Return an estimate and its bounds, with the decimals that tell these apart."""
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        texts = [f"{number:.{decimals}f}" for number in numbers]
        if texts[1] != texts[2]:
            return texts
    return [f"{numbers[0]:.{DECIMALS}f}", NO_INTERVAL, NO_INTERVAL]


def _note_on_few_facts(summary: pd.DataFrame) -> list[str]:
    """Return a line on the measures of few facts, if there are any."""
    few = summary[summary["n"] < FEW_FACTS]
    if few.empty:
        return []
    counts = few["measure"] + " (" + few["n"].astype(str) + ")"
    return [
        f"Fewer than {FEW_FACTS} facts or questions count for {', '.join(counts)}: too "
        "few to say anything of the model. Take a hundred."
    ]
