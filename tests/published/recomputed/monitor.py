"""Checks of Wang et al. 2024: correlations, repeated rows, means, differences, counts."""

import numpy as np
import pandas as pd
import scipy.stats

from helpers.published import load as published
from tests.published.recomputed.check import Check, Load, check

FOCUS = ("P178", "P108", "P37")  # the relations of Table 5
WRONG_HINTS = 5


def checks(load: Load = published) -> list[Check]:
    """Return the checks of the MONITOR paper.

    >>> [one.name for one in checks() if "Table 8" in one.name]
    ['Table 8: ratio']
    """
    return [*_correlations(load), *_repeated(load), *_overall(load), *_counts(load), *_text(load)]


def _correlations(load: Load) -> list[Check]:
    overall, three = load("monitor_table4"), load("monitor_table5")
    printed = load("monitor_table4_correlation")["pearson"]
    r = pd.Series(overall["MONITOR"].corr(overall["avg"]), index=printed.index)
    single = load("monitor_table11")
    found = {p: three[f"{p} MONITOR"].corr(three[f"{p} avg"]) for p in FOCUS}
    both = pd.concat([single, load("monitor_table4_correlation")])
    # Three digits of MONITOR leave the third digit of r open, in Table 4 by 0.0015 (simulated).
    return [
        check(
            "Table 4: correlation",
            "r(MONITOR, average accuracy) follows from the twelve models",
            ["monitor_table4", "monitor_table4_correlation"],
            printed,
            r,
            0.002,
        ),
        check(
            "Table 11: correlations",
            "r of P178, P108 and P37 follows from Table 5",
            ["monitor_table11", "monitor_table5"],
            single.loc[list(FOCUS), "pearson"],
            pd.Series(found),
            0.001,
        ),
        _p_values(both["pearson"], both["p_value"], len(overall)),
    ]


def _p_values(r: pd.Series, printed: pd.Series, n: int) -> Check:
    """Compare p-values with those of r and n; 0.001 means at most that."""

    def p(values: pd.Series) -> np.ndarray:
        values = values.clip(upper=1 - 1e-12)  # a misprint may exceed 1
        t = values * np.sqrt((n - 2) / (1 - values**2))
        return 2 * scipy.stats.t.sf(t, n - 2)

    size = r.abs()
    found = pd.Series(p(size), index=r.index)
    found = found.mask((printed <= 0.001) & (found <= 0.001), 0.001)
    reach = (p(size - 0.0005) - p(size + 0.0005)) / 2  # what the rounding of r leaves open
    return check(
        "Tables 4, 11: p-values",
        f"p follows from r and n = {n}",
        ["monitor_table11", "monitor_table4_correlation"],
        printed,
        found,
        pd.Series(0.0005 + reach, index=r.index),
    )


def _repeated(load: Load) -> list[Check]:
    by_relation, three, one = (load(f"monitor_table{n}") for n in (10, 5, 6))
    own = three[[f"{p} MONITOR" for p in FOCUS]].set_axis(FOCUS, axis=1)
    asked = load("monitor_table2")["QA"]
    return [
        check(
            "Table 5: repeats Table 10",
            "MONITOR of three relations is the same in both tables",
            ["monitor_table5", "monitor_table10"],
            own,
            by_relation.loc[list(FOCUS)].T.loc[own.index],
            0,
        ),
        check(
            "Table 6: repeats Table 10",
            "MONITOR of P1412 is the same in both tables",
            ["monitor_table6", "monitor_table10"],
            one["MONITOR"],
            by_relation.loc["P1412"],
            0,
        ),
        check(
            "Table 2: repeats Table 3",
            "accuracy on P17 by question is that without a hint",
            ["monitor_table2", "monitor_table3"],
            asked,
            load("monitor_table3")["none"],
            0,
        ),
    ]


def _overall(load: Load) -> list[Check]:
    overall, by_relation = load("monitor_table4"), load("monitor_table10")
    tables, sums = ["monitor_table4", "monitor_table10"], by_relation.sum()
    hints = load("monitor_table3")
    gains = hints[["right_change", "wrong_change"]].set_axis(["right", "wrong"], axis=1)
    middle = overall["avg"].clip(overall["min"], overall["max"])
    return [
        check(
            "Table 4: mean of relations",
            "overall MONITOR is the mean of Table 10's twenty relations",
            tables,
            overall["MONITOR"],
            sums[overall.index] / len(by_relation),
            0.001,
        ),
        check(
            "Table 4: sum over 21",
            "overall MONITOR is the sum of Table 10's twenty relations, divided by 21",
            tables,
            overall["MONITOR"],
            sums[overall.index] / 21,
            0.001,
        ),
        check(
            "Table 4: order",
            "average accuracy lies between minimum and maximum",
            ["monitor_table4"],
            overall["avg"],
            middle,
            0,
        ),
        check(
            "Table 3: changes",
            "the change in brackets is accuracy with a hint minus without",
            ["monitor_table3"],
            gains,
            hints[["right", "wrong"]].sub(hints["none"], axis=0),
            0.015,
        ),
    ]


def _counts(load: Load) -> list[Check]:
    hours, corpus = load("monitor_table8"), load("monitor_corpus").loc["FKTC"]
    a_fact = corpus["frames"] + 1 + WRONG_HINTS
    counts = {"prompts": corpus["facts"] * a_fact}
    counts |= {"relations": len(load("monitor_table10")), "models": len(load("monitor_table4"))}
    return [
        check(
            "Table 8: ratio",
            "the saving is the ratio of the GPU hours",
            ["monitor_table8"],
            hours["saved"],
            hours["accuracy"] / hours["MONITOR"],
            0.015,
        ),
        check(
            "Text: corpus",
            "prompts are facts times 7 frames, 1 right and 5 wrong hints; relations and models "
            "are those of the tables",
            ["monitor_corpus", "monitor_table10", "monitor_table4"],
            corpus[list(counts)],
            pd.Series(counts),
            0,
        ),
    ]


def _text(load: Load) -> list[Check]:
    hints, overall, said = load("monitor_table3"), load("monitor_table4"), load("monitor_text")
    p37 = load("monitor_table5")["P37 MONITOR"]
    found = {
        "largest gain by a right hint": hints["right_change"].max(),
        "largest loss by a wrong hint": hints["wrong_change"].min(),
    }
    for name in said.index[2:]:
        model = name.rpartition(" of ")[2]
        found[name] = p37[model] if name.startswith("P37") else overall.loc[model, "MONITOR"]
    return [
        check(
            "Text: figures",
            "figures in the text are those of Tables 3, 4 and 5",
            ["monitor_text", "monitor_table3", "monitor_table4", "monitor_table5"],
            said["value"],
            pd.Series(found),
            0,
        )
    ]
