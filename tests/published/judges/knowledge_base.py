"""Sentences of Zheng, Lapata and Pan 2024, each judged by the paper's tables.

Unless a sentence names another setting it is judged by the four-shot tables, as the
paper says. What size and tuning do is judged twice: by the means of the groups that the
paper names, and by pairs of models of one family, like with like.
"""

from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.stats

from helpers import stats
from notebooks.kit.published import knowledge_base as paper
from tests.published.judges.judgement import (
    does_not_change,
    does_not_rise,
    judge_all_cases,
    judge_parts,
    judge_usual_case,
)

SIGNIFICANCE_LEVEL = 0.05
SIZE_GROUPS = {
    "small": (0.08, 3),
    "medium": (7, 13),
    "large": (65, 70),
}  # section 3.1, billions
SETTING_STEPS = {
    "shots": ("zero-shot", "four-shot"),
    "unsure shots": ("four-shot", "four-two"),
}


class MeanChange(NamedTuple):
    """A mean difference over pairs of models, in points, with Student's 95 % interval."""

    mean: float
    low: float
    high: float
    up: int
    n: int


def _change(name, measure, load):
    """Return how a measure changes from the first to the second model of each pair."""
    first, second = _paired()[name]
    settings = SETTING_STEPS.get(name, ("four-shot", "four-shot"))
    before, after = (
        paper.knowledge_base_measures(setting, load)[measure] for setting in settings
    )
    moved = after[second].to_numpy() - before[first].to_numpy()
    ends = scipy.stats.ttest_1samp(moved, 0).confidence_interval()
    return MeanChange(
        moved.mean(), ends.low, ends.high, int((moved > 0).sum()), len(moved)
    )


@cache
def _paired():
    """Return the names of the models of each comparison, paired."""
    return {
        name: (first.index, second.index)
        for name, (first, second) in paper.pairs_of_models().items()
    }


def _billion(load):
    return pd.to_numeric(
        load("kb_table4")["params"].str.removesuffix("B"), errors="coerce"
    )


def _means(name, measure, load):
    """Return the means of a measure over small, medium and large, or base and tuned, models."""
    about, values = load("kb_table4"), _four_shot(load)[measure]
    if name == "larger":
        return [
            values[_billion(load).between(*ends)].mean()
            for ends in SIZE_GROUPS.values()
        ]
    tuned = (about["instruction tuning"] == "yes") | (about["RLHF"] == "yes")
    return [values[~tuned].mean(), values[tuned].mean()]


def _four_shot(load):
    return paper.knowledge_base_measures("four-shot", load)


def _rank(values, model, high=True):
    return int(values.rank(ascending=not high, method="min")[model])


def _r(setting, pair, load):
    table = paper.knowledge_base_measures(setting, load)
    return stats.correlation(*(table[name] for name in pair.split(" vs. ")))


def balanced(load):
    table, model = _four_shot(load), "GPT-3.5 Turbo"
    ranks = [
        _rank(table[m], model, m != "Cons_w") for m in ("NCR", "UR", "Cons_c", "Cons_w")
    ]
    return judge_parts(
        [len(table), *ranks], all(rank <= len(table) / 2 for rank in ranks)
    )


def more_right_more_wrong(load):
    table = _four_shot(load).loc[
        ["Llama3 70B", "GPT-3.5 Turbo"], ["CR", "WR", "Cons_w"]
    ]
    told = [part for name, pair in table.items() for part in (name, *pair)]
    return judge_parts(told, *(table.loc["Llama3 70B"] > table.loc["GPT-3.5 Turbo"]))


def both_rates(load):
    same = []
    for first, second in SETTING_STEPS.values():
        moved = paper.knowledge_base_measures(
            second, load
        ) - paper.knowledge_base_measures(first, load)
        same += list(np.sign(moved["CR"]) == np.sign(moved["WR"]))
    return judge_usual_case(same, enough=0.75)


def sizes(load):
    known = _billion(load).dropna()
    return judge_all_cases(
        [any(a <= size <= b for a, b in SIZE_GROUPS.values()) for size in known]
    )


def unseen_questions(load):
    templates = len(load("kb_table1"))
    return judge_parts((templates, templates, templates * 150), templates == 20)


def cut_offs(load):
    dates = load("kb_table4")["knowledge cutoff"]
    known = pd.to_datetime(dates[dates != "Unknown"], format="mixed")
    first = pd.Timestamp("2019-04-01")
    told = len(known), len(dates), (known == first).sum(), len(dates) - len(known)
    return judge_parts(told, (known >= first).all(), len(known) == len(dates))


def released_before(load):
    dates = pd.to_datetime(load("kb_table4")["release"], format="mixed", dayfirst=True)
    before = dates < pd.Timestamp("2024-04-13")
    return judge_all_cases(before, *dates.index[~before])


def most_factual(load):
    best = _four_shot(load)[["NCR", "UR"]].idxmax()
    return judge_parts(
        best, best["NCR"] == "GPT-3.5 Turbo", best["UR"] == "Gemma-Instruct 7B"
    )


def both_sets(load):
    places = _four_shot(load)[["NCR", "UR"]].rank(ascending=False)
    best = places.sum(axis=1).nsmallest(2)
    told = [part for pair in best.items() for part in pair]
    return judge_parts(told, set(best.index) == {"GPT-3.5 Turbo", "Llama2chat 70B"})


def hidden_by_cr(load):
    gap = (
        _four_shot(load).loc["Llama 1 13B"] - _four_shot(load).loc["Gemma-Instruct 7B"]
    )
    told = [part for name in ("CR", "WR", "NCR") for part in (name, gap[name])]
    return judge_parts(
        told, gap["CR"] > 0, abs(gap["WR"] - 33.5) < 0.01, gap["NCR"] < 0
    )


def most_consistent(load):
    table = _four_shot(load)
    right, wrong = table["Cons_c"].idxmax(), table["Cons_w"].idxmin()
    return judge_parts(
        (right, wrong), right == "Llama3Instruct 70B", wrong == "Llama2chat 7B"
    )


def balanced_consistency(load):
    gap = _four_shot(load)["Cons_c"] - _four_shot(load)["Cons_w"]
    return judge_parts((gap.idxmax(), gap.max()), gap.idxmax() == "Llama3Instruct 8B")


def most_reliable(load):
    table = _four_shot(load)
    best, iurs = table["NCCR"].idxmax(), table.index[table["IUR"] == table["IUR"].max()]
    return judge_parts(
        (best, *iurs), best == "GPT-3.5 Turbo", "Gemma-Instruct 7B" in iurs
    )


def not_most_reliable(load):
    ncr, nccr = (
        _rank(_four_shot(load)[name], "Llama3Instruct 8B") for name in ("NCR", "NCCR")
    )
    return judge_parts((ncr, nccr), ncr > 15, nccr == 13)


def unrelated(load):
    pairs = ("NCR vs. UR", "NCCR vs. IUR")
    p = [
        _r(setting, pair, load).p
        for setting in ("zero-shot", "four-shot")
        for pair in pairs
    ]
    return judge_all_cases([each > SIGNIFICANCE_LEVEL for each in p], min(p))


def all_significant(load):
    found = {pair: _r("four-two", pair, load).p for pair in load("kb_table2").index}
    others = [
        part
        for pair, p in found.items()
        if p >= SIGNIFICANCE_LEVEL
        for part in (pair, p)
    ]
    return judge_all_cases([p < SIGNIFICANCE_LEVEL for p in found.values()], *others)


def right_more_consistent(load):
    tables = [
        paper.knowledge_base_measures(setting, load)
        for setting in paper.PROMPT_SETTINGS
    ]
    holds = [case for table in tables for case in table["Cons_c"] > table["Cons_w"]]
    return judge_usual_case(holds, enough=0.75)


def both_consistencies(load):
    found = [
        _r(setting, "Cons_c vs. Cons_w", load) for setting in paper.PROMPT_SETTINGS
    ]
    reading = judge_all_cases(
        [each.r > 0 and each.p < SIGNIFICANCE_LEVEL for each in found]
    )
    return reading._replace(told=[*(each.r for each in found), *reading.told])


def factual_and_consistent(load):
    """Signs, p, and in which setting the last four rows of Table 2 are highest."""
    pairs = [f"{a} vs. {b}" for a in ("NCR", "UR") for b in ("Cons_c", "Cons_w")]
    r = {s: [_r(s, pair, load) for pair in pairs] for s in paper.PROMPT_SETTINGS}
    every = [each for found in r.values() for each in found]
    means = {
        setting: np.mean([each.r for each in found]) for setting, found in r.items()
    }
    best, positive = max(means, key=means.get), sum(each.r > 0 for each in every)
    clear = sum(each.p < SIGNIFICANCE_LEVEL for each in every)
    told = positive, len(every), clear, best, means[best]
    return judge_parts(
        told, positive == len(every), best == "zero-shot", clear == len(every)
    )


def _moves(name, load, **directions):
    """Judge a sentence on size or tuning, by groups and by pairs of models."""
    told, holds = [], []
    for measure, sign in directions.items():
        groups, pairs = _means(name, measure, load), _change(name, measure, load)
        told += [measure, *groups, *pairs]
        steps = np.diff(groups) * sign > 0
        holds += [steps.all(), sign * pairs.mean > 0 and pairs.low * pairs.high > 0]
    return judge_parts(told, *holds)


larger_on_unseen = partial(_moves, "larger", NCR=1, NCCR=1, UR=-1, IUR=-1)
larger_on_seen = partial(_moves, "larger", NCR=1, NCCR=1)
larger_ur_iur = partial(_moves, "larger", UR=1, IUR=-1)
larger_consistency = partial(_moves, "larger", Cons_c=1, Cons_w=1)
tuned_on_unseen = partial(_moves, "tuned", UR=1, IUR=1)
tuned_on_seen = partial(_moves, "tuned", NCR=-1, NCCR=-1)


def _changes(load, holds, *asked):
    """Judge a sentence by changes, each a pair of comparison and measure."""
    found = [_change(name, measure, load) for name, measure in asked]
    told = [
        part for (_, measure), each in zip(asked, found) for part in (measure, *each)
    ]
    return judge_parts(told, *holds(*found))


def tuned_consistency(load):
    """Intervals have to leave out all but small changes."""
    asked = ("tuned", "Cons_c"), ("tuned", "Cons_w")
    return _changes(
        load,
        lambda *found: [does_not_change(each.low, each.high) for each in found],
        *asked,
    )


def shots_on_seen(load):
    asked = [(name, measure) for name in SETTING_STEPS for measure in ("NCR", "NCCR")]
    return _changes(
        load,
        lambda *found: [does_not_rise(each.low, each.high) for each in found],
        *asked,
    )


def shots_on_rates(load):
    """CR has to rise clearly."""
    asked = ("shots", "CR"), ("shots", "WR")
    return _changes(load, lambda right, wrong: [right.low > 0, wrong.mean > 0], *asked)


def unsure_on_rates(load):
    asked = ("unsure shots", "CR"), ("unsure shots", "WR")
    return _changes(load, lambda right, wrong: [right.high < 0, wrong.high < 0], *asked)


def unsure_on_unseen(load):
    asked = ("unsure shots", "UR"), ("unsure shots", "IUR")
    return _changes(load, lambda ur, iur: [ur.low > 0, iur.low > 0], *asked)


def unsure_on_consistency(load):
    asked = ("unsure shots", "Cons_w")
    return _changes(load, lambda found: [found.mean < 0, found.high < 0], asked)
