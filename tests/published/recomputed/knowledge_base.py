"""Checks of Zheng et al. 2024: every measure from its parts, counts of questions, Table 2."""

from collections.abc import Callable

import pandas as pd

from helpers.published import load as published
from helpers.published import unknown
from tests.published.recomputed.check import Check, Load, check, nearest
from helpers.published.knowledge_base import SETTINGS, measures

N_QUESTIONS = 3000  # seen, and as many unseen
N_CHOICES = 20
FACTUALITY = ("WR", "CR", "NCR", "UR")
# Rounding to two decimals: of a sum of two printed percentages; of a product of two; of a share
# whose step is 1 / 30 of a percentage point.
SUM, PRODUCT, STEP = 0.015, 0.015, 0.005
R = 0.0055  # of r: 0.005, and what the rounding of its 52 numbers leaves open


def checks(load: Load = published) -> list[Check]:
    """Return the checks of the knowledge-base paper.

    >>> [one.differing for one in checks() if one.name == "Table 11: CWR"]
    [['Llama 2 7B, zero-shot', 'Gemma-Instruct 7B, four-shot']]
    """
    of = {n: _measures(load, n) for n in (9, 10, 11)}
    return [*_differences(of), *_products(of), *_counts(of), *_text(load)]


def _measures(load: Load, number: int) -> Callable[[str], pd.DataFrame]:
    """Return a function that picks one measure from a table: models by setting."""
    table = load(f"kb_table{number}")

    def pick(measure: str) -> pd.DataFrame:
        return table[[f"{s} {measure}" for s in SETTINGS]].set_axis(SETTINGS, axis=1)

    return pick


def _differences(of: dict) -> list[Check]:
    facts, steady, both = of[9], of[10], of[11]
    mean = (steady("Cons_w_seen") + steady("Cons_w_unseen")) / 2
    mean = mean.fillna(steady("Cons_w_seen"))  # a dash: no wrong response to average
    return [
        check(
            "Table 9: NCR",
            "NCR is CR minus WR",
            ["kb_table9"],
            facts("NCR"),
            facts("CR") - facts("WR"),
            SUM,
        ),
        check(
            "Table 10: Cons_w",
            "Cons_w is the mean of seen and unseen",
            ["kb_table10"],
            steady("Cons_w"),
            mean,
            0.01,
        ),
        check(
            "Table 11: NCCR",
            "NCCR is CCR minus CWR",
            ["kb_table11"],
            both("NCCR"),
            both("CCR") - both("CWR"),
            SUM,
        ),
    ]


def _products(of: dict) -> list[Check]:
    facts, steady, both = of[9], of[10], of[11]
    wrong = (100 - facts("UR")) * steady("Cons_w_unseen").fillna(0) / 100
    parts = {
        "CWR": ("CWR is WR times Cons_w on seen questions", facts("WR"), steady("Cons_w_seen")),
        "CCR": ("CCR is CR times Cons_c", facts("CR"), steady("Cons_c")),
    }
    found = [
        check(
            f"Table 11: {name}",
            claim,
            ["kb_table11", "kb_table9", "kb_table10"],
            both(name),
            rate * share / 100,
            PRODUCT,
        )
        for name, (claim, rate, share) in parts.items()
    ]
    found.append(
        check(
            "Table 11: IUR",
            "IUR is 1 minus (1 minus UR) times Cons_w on unseen questions",
            ["kb_table11", "kb_table9", "kb_table10"],
            both("IUR"),
            100 - wrong,
            PRODUCT,
        )
    )
    return found


def _counts(of: dict) -> list[Check]:
    facts, steady = of[9], of[10]
    rates = pd.concat({measure: facts(measure) for measure in FACTUALITY}, axis=1)
    rates.columns = [" ".join(pair[::-1]) for pair in rates.columns]
    found = [
        check(
            "Table 9: counts",
            f"each rate is a whole number of {N_QUESTIONS} questions",
            ["kb_table9"],
            rates,
            nearest(rates, N_QUESTIONS),
            STEP,
        )
    ]
    asked = {
        "Cons_w_seen": facts("WR"),
        "Cons_w_unseen": 100 - facts("UR"),
        "Cons_c": facts("CR"),
    }
    for measure, rate in asked.items():
        counts = (rate * N_QUESTIONS / 100).round() * N_CHOICES
        shares = steady(measure)
        possible = (shares * counts / 100).round() / counts * 100
        claim = f"{measure} is a whole number of {N_CHOICES} choices a response of its kind"
        name = f"Table 10: counts of {measure}"
        found.append(check(name, claim, ["kb_table10", "kb_table9"], shares, possible, STEP))
    return found


def _text(load: Load) -> list[Check]:
    printed = unknown("kb_table2", load("kb_table2"))
    tables = {setting: measures(setting, load) for setting in SETTINGS}
    r = {
        setting: {pair: table[pair.split(" vs. ")].corr().iloc[0, 1] for pair in printed.index}
        for setting, table in tables.items()
    }
    said = load("kb_text")["value"]
    ranked = {name: _claimed(name, tables["four-shot"]) for name in said.index if ": " in name}
    sizes = {
        "unseen questions": said["unseen templates"] * said["questions a template"],
        "unseen templates": len(load("kb_table1")),
        "models": len(load("kb_table9")),
    }
    every = ["kb_table2", "kb_table9", "kb_table10", "kb_table11"]
    return [
        check(
            "Table 2: correlations",
            "Pearson's r over 26 models follows from Tables 9 to 11 (without two of NCCR with "
            "IUR: this copy of the paper lost their signs)",
            every,
            printed,
            pd.DataFrame(r),
            R,
        ),
        check(
            "Text: figures",
            "differences and ranks in the text are those of the four-shot tables",
            ["kb_text", "kb_table9", "kb_table10", "kb_table11"],
            said[list(ranked)],
            pd.Series(ranked),
            0.0051,
        ),
        check(
            "Text: sizes",
            "questions, templates and models count up",
            ["kb_text", "kb_table1", "kb_table9"],
            said[list(sizes)],
            pd.Series(sizes),
            0,
        ),
    ]


def _claimed(name: str, table: pd.DataFrame) -> float:
    """Work out a difference or a rank that the text states, such as ``UR: rank of Phi2 3B``."""
    measure, _, rest = name.partition(": ")
    if rest.startswith("rank of "):
        ranks = table[measure].rank(ascending=False, method="min")
        return float(ranks[rest.removeprefix("rank of ")])
    first, _, second = rest.partition(" minus ")
    return float(table.loc[first, measure] - table.loc[second, measure])
