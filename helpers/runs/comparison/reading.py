"""Paired differences made ready to be read: which pairs, which side first, in which unit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.stats

from helpers import UserError, stats
from helpers.plots import tables
from helpers.studies import Measure, measure_named


def check(reference: str, labels: Sequence[str]) -> str:
    """Return the reference, or say that no such model is compared.

    >>> check("", ["m"]), check("m", ["m"])
    ('', 'm')
    """
    if reference and reference not in labels:
        known = f"name one of {', '.join(labels)}" if labels else "no model has finished runs"
        raise UserError(f"The reference {reference} is not compared here: {known}.")
    return reference


def oriented(gaps: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the differences of some pairs, turned so that each pair's first model comes first.

    >>> gaps = pd.DataFrame({"first": ["b"], "second": ["a"], "measure": ["UR"],
    ...                      "estimate": [0.2], "low": [0.1], "high": [0.4]})
    >>> oriented(gaps, [("a", "b")])[["first", "estimate", "low", "high"]].values.tolist()
    [['a', -0.2, -0.4, -0.1]]
    """
    parts = [gaps.head(0)]
    for first, second in pairs:
        parts.append(gaps[(gaps["first"] == first) & (gaps["second"] == second)])
        turned = gaps[(gaps["first"] == second) & (gaps["second"] == first)]
        ends = {"estimate": -turned["estimate"], "low": -turned["high"], "high": -turned["low"]}
        parts.append(turned.assign(first=first, second=second, **ends))
    return pd.concat(parts, ignore_index=True)


def against(standings: pd.DataFrame, gaps: pd.DataFrame, reference: str = "") -> pd.DataFrame:
    """Return each model's differences from one model, or from the first of each measure.

    >>> standings = pd.DataFrame({"model": ["a", "b"], "measure": "UR", "estimate": [0.2, 0.4]})
    >>> gaps = pd.DataFrame({"first": ["b"], "second": ["a"], "measure": ["UR"],
    ...                      "estimate": [0.2], "low": [0.1], "high": [0.3]})
    >>> against(standings, gaps)[["first", "second", "estimate"]].values.tolist()
    [['a', 'b', -0.2]]
    """
    parts = [gaps.head(0)]
    for measure, rows in standings.dropna(subset=["estimate"]).groupby("measure", sort=False):
        up = measure_named(measure).higher is not False
        best = rows.set_index("model")["estimate"].sort_values(ascending=not up).index[0]
        base = reference or best
        pairs = [(name, base) for name in rows["model"] if name != base]
        parts.append(oriented(gaps[gaps["measure"] == measure], pairs))
    return pd.concat(parts, ignore_index=True)


def gains(gaps: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Turn the differences of a measure so that more is better."""
    if measure.higher is not False:
        return gaps
    return gaps.assign(estimate=-gaps["estimate"], low=-gaps["high"], high=-gaps["low"])


def behind(
    standings: pd.DataFrame, gaps: pd.DataFrame, measures: Sequence[str], reference: str = ""
) -> pd.DataFrame:
    """Lay out for a figure how far models are behind the best one, or behind the reference.

    Below 0 is worse in every measure; shares are in points, and the model compared with is at 0.

    >>> standings = pd.DataFrame({"model": ["a", "b"], "measure": "UR", "estimate": [0.2, 0.4]})
    >>> gaps = pd.DataFrame({"first": ["b"], "second": ["a"], "measure": ["UR"], "n": [40],
    ...                      "estimate": [0.2], "low": [0.1], "high": [0.3]})
    >>> behind(standings, gaps, ["UR"])[["measure", "pair", "estimate"]].values.tolist()
    [['UR, points (n = 40)', 'a', -20.0], ['UR, points (n = 40)', 'b', 0.0]]
    """
    rows = against(standings, gaps, reference).dropna(subset=["estimate"])
    order, ends = list(standings["model"].unique()), ["estimate", "low", "high"]
    parts = [rows.head(0).assign(pair="")]
    for name in measures:
        measure, part = measure_named(name), rows[rows["measure"] == name]
        if part.empty:
            continue
        unit, fewest, most = ", points" * measure.percent, part["n"].min(), part["n"].max()
        n = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        base = pd.DataFrame({"first": part["second"].head(1)}).assign(**dict.fromkeys(ends, 0.0))
        part = pd.concat([gains(part, measure), base])
        part[ends] *= 100 if measure.percent else 1
        parts.append(part.assign(measure=f"{measure.title}{unit} (n = {n})", pair=part["first"]))
    found = pd.concat(parts, ignore_index=True)[["measure", "pair", *ends]]
    return found.sort_values("pair", key=lambda pair: pair.map(order.index), kind="stable")


def undefined(standings: pd.DataFrame) -> str:
    """Say which figures of a board are not numbers, and why; empty if none is.

    >>> rows = pd.DataFrame({"model": ["a", "b", "b"], "measure": ["MONITOR", "Cons_c", "UR"],
    ...                      "estimate": [np.nan, np.nan, 0.5], "n": [0, 9, 9]})
    >>> print(undefined(rows))
    Undefined here; the chapter of the measure says what to try:
    - MONITOR (a): no fact that all models were asked counts
    - Cons, correct (b): none of the 9 answers is of the kind that is averaged
    """
    rows = standings[standings["estimate"].isna()]
    each = rows.groupby(["measure", "n"], sort=False)["model"].agg(", ".join).reset_index()
    lines = []
    for (n, models), part in each.groupby(["n", "model"], sort=False):
        titles = ", ".join(measure_named(name).title for name in part["measure"])
        reason = f"none of the {n} answers is of the kind that is averaged"
        if not n:
            reason = "no fact that all models were asked counts"
        lines.append(f"- {titles} ({models}): {reason}")
    head = ["Undefined here; the chapter of the measure says what to try:"]
    return "\n".join(head + lines) if lines else ""


def readable(gaps: pd.DataFrame) -> pd.DataFrame:
    """Lay out differences for a page, shares in points.

    >>> gaps = pd.DataFrame({"first": ["b"], "second": ["a"], "measure": ["UR"], "better": ["b"],
    ...                      "estimate": [0.2], "low": [0.1], "high": [0.3], "n": [40],
    ...                      "facts_of": ["panel"]})
    >>> readable(gaps)[["minus", "difference", "facts", "of the", "better"]].values.tolist()
    [['a', '20.0 [10.0, 30.0]', 40, 'panel', 'b']]
    """
    cells, better = [], []
    for row in gaps.itertuples():
        form = {"digits": 1, "scale": 100} if measure_named(row.measure).percent else {"digits": 3}
        cells.append(tables.interval(row.estimate, row.low, row.high, **form))
        decided = row.low > 0 or row.high < 0
        better.append(row.better or ("neither direction" if decided else "not decided"))
    return pd.DataFrame(
        {
            "measure": [measure_named(name).title for name in gaps["measure"]],
            "model": gaps["first"].to_numpy(),
            "minus": gaps["second"].to_numpy(),
            "difference": cells,
            "facts": gaps["n"].to_numpy(),
            "of the": gaps["facts_of"].to_numpy(),
            "better": better,
        }
    )


def holm(gaps: pd.DataFrame, level: float = 0.05) -> pd.DataFrame:
    """Test all differences at once: p-values of the normal approximation, corrected after Holm.

    The standard error is that of the interval, (high - low) / (2 · 1.96). (The p-values of the
    bootstrap itself cannot be smaller than two over the number of resamples, too coarse to be
    corrected for many comparisons.)

    >>> gaps = pd.DataFrame({"estimate": [0.3, 0.1], "low": [0.104, -0.096],
    ...                      "high": [0.496, 0.296]})
    >>> found = holm(gaps)
    >>> found["p_holm"].round(4).tolist(), found["kept"].tolist()
    ([0.0054, 0.3173], [True, False])
    """
    rows = gaps[gaps["high"] > gaps["low"]]
    if rows.empty:
        return rows.assign(p_normal=np.nan, p_holm=np.nan, kept=False)
    error = (rows["high"] - rows["low"]) / (2 * scipy.stats.norm.ppf(0.975))
    p = 2 * scipy.stats.norm.sf(rows["estimate"].abs() / error)
    corrected = stats.holm(p)
    return rows.assign(p_normal=p, p_holm=corrected, kept=corrected <= level)


def unit(measure: Measure) -> dict[str, object]:
    """Return how findings write the numbers of a measure that is no share."""
    return {} if measure.percent else {"digits": 3, "scale": 1, "unit": ""}


def amount(name: str, value: float) -> str:
    """Write a difference in a measure with its unit.

    >>> amount("UR", 0.0612), amount("MONITOR", 0.0612)
    ('6.1 points', '0.061')
    """
    return f"{100 * value:.1f} points" if measure_named(name).percent else f"{value:.3f}"
