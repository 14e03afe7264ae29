"""Sentences of Wang et al. 2024, each judged by the paper's tables."""

from itertools import combinations, pairwise

from helpers import stats
from tests.published.judges.judgement import (
    judge_all_cases,
    judge_parts,
    judge_usual_case,
)

BLOOMZ = ("BLOOMZ-560m", "BLOOMZ-1b1", "BLOOMZ-3b", "BLOOMZ-7b1")
SIZE_SERIES = (BLOOMZ, ("Vicuna-7b", "Vicuna-13b"))  # those of Figures 7 and 8
EQUIVALENCE_MARGIN = (
    3.0  # points of base accuracy; the pairs in bold type differ by up to 1.1
)
NOTICEABLE_CHANGE, LARGE_CHANGE = 1.0, 10.0  # points of accuracy


def sizes(load):
    billion = load("monitor_table2")["size_billion"]
    told = len(billion), billion.min(), billion.max()
    return judge_parts(
        told, *(a == b for a, b in zip(told, (12, 0.56, 30), strict=True))
    )


def templates_vary(load):
    table = load("monitor_table2")[["WP", "QA", "FC-pos", "FC-neg"]]
    spread = table.max(axis=1) - table.min(axis=1)
    return judge_all_cases(spread > LARGE_CHANGE, spread.min(), spread.max())


def strong_interference(load):
    change = load("monitor_table3")["wrong_change"]
    return judge_all_cases(change < -NOTICEABLE_CHANGE, change.idxmax(), -change.max())


def hint_helps(load):
    change = load("monitor_table3")["right_change"]
    return judge_usual_case(change > 0, change.idxmin(), change.min())


def largest_changes(load):
    up, down = (load("monitor_table3")[f"{kind}_change"] for kind in ("right", "wrong"))
    told = up.idxmax(), up.max(), down.idxmin(), -down.min()
    return judge_parts(told, up.max() == 43.67, down.min() == -56.54)


def corpus(load):
    facts, relations = (
        load("monitor_corpus").loc["FKTC", "facts"],
        len(load("monitor_table10")),
    )
    return judge_parts(
        (facts, facts * 13, relations), facts * 13 == 210158, relations == 20
    )


def fewer_prompts(load):
    row = load("monitor_corpus").loc["FKTC"]
    each = row["prompts"] / row["facts"]
    return judge_parts([each], each == 13)


def accuracy_range(load):
    """A maximum over test sets has to be at least each of them."""
    most = load("monitor_table4")["max"]
    three = load("monitor_table5").filter(regex=" avg$")
    first = most.index[0]
    told = first, most.iloc[0], three.loc[first].max(), three.loc[first].idxmax()[:4]
    return judge_all_cases(three.max(axis=1)[most.index] <= most, *told)


def most_capable(load):
    order = load("monitor_table4")["MONITOR"].nsmallest(3).to_dict()
    named = {"LLaMa-30b-ins.": 0.479, "Vicuna-13b": 0.484, "Vicuna-7b": 0.504}
    told = [part for pair in order.items() for part in pair]
    return judge_parts(told, order == named, list(order) == list(named))


def correlates(load):
    table = load("monitor_table4")
    found = stats.correlation(table["MONITOR"], table["avg"])
    return judge_parts(
        (found.r, found.n, found.p), abs(abs(found.r) - 0.846) <= 0.002, found.p < 0.05
    )


def same_accuracy(load):
    two = load("monitor_table5").loc[["BLOOMZ-3b", "Vicuna-7b"]]
    gap, scores = two["P37 avg"].diff().abs().iloc[1], two["P37 MONITOR"].tolist()
    return judge_parts([gap, *scores], gap < 1, scores == [0.570, 0.432])


def loses_its_edge(load):
    score = load("monitor_table5")["P37 MONITOR"]
    told = score.idxmin(), score.min(), "LLaMa-30b-ins.", score["LLaMa-30b-ins."]
    return judge_parts(told, score.idxmin() != "LLaMa-30b-ins.")


def tuning_is_no_rule(load):
    score = load("monitor_table5").filter(regex=" MONITOR$")
    worse = score.loc["BLOOMZ-3b"] > score.loc["OPT-2b7"]
    return judge_parts((worse.sum(), len(worse)), worse.any())


def steadier(load):
    """Of each pair with like base accuracy, MONITOR has to order the deviations."""
    table, holds = load("monitor_table6"), {}
    for a, b in combinations(table.index, 2):
        one, two = table.loc[a], table.loc[b]
        if abs(one["base"] - two["base"]) <= EQUIVALENCE_MARGIN:
            holds[a, b] = (one["MONITOR"] < two["MONITOR"]) == (one["std"] < two["std"])
    found = judge_usual_case(holds.values())
    others = [name for pair, right in holds.items() if not right for name in pair]
    return found._replace(told=[*found.told[::-1], *others])


def higher_probabilities(load):
    table = load("monitor_table7")
    return judge_all_cases(table.loc["Vicuna-7b"] > table.loc["BLOOMZ-3b"])


def solid_share(load):
    share = load("monitor_figure5")["solid_percent"]
    told = share["BLOOMZ-3b"], share["Vicuna-7b"]
    return judge_parts(told, told[1] > told[0])


def saving(load):
    row = load("monitor_table8").iloc[0]
    ratio = row["accuracy"] / row["MONITOR"]
    return judge_parts(
        (row["accuracy"], row["MONITOR"], ratio), abs(ratio - 2.97) <= 0.015
    )


def scale_overall(load):
    score = load("monitor_table4")["MONITOR"]
    falls = [score[b] < score[a] for series in SIZE_SERIES for a, b in pairwise(series)]
    return judge_usual_case(falls, enough=0.75)


def scale_by_fact(load):
    score = load("monitor_table10")[list(BLOOMZ)]
    whole = (score.diff(axis=1).iloc[:, 1:] < 0).all(axis=1).sum()
    return judge_usual_case(score[BLOOMZ[-1]] < score[BLOOMZ[0]], whole)


def scale_may_fail(load):
    score = load("monitor_table10")[list(BLOOMZ)]
    rises = (score.diff(axis=1).iloc[:, 1:] > 0).any(axis=1)
    return judge_parts((rises.sum(), len(rises)), rises.any())


def distinct_scores(load):
    score = load("monitor_table5")["P37 MONITOR"][["OPT-2b7", "BLOOMZ-3b"]].tolist()
    return judge_parts(score, score == [0.471, 0.570])


# Sentences of the slides.


def slides_types(load):
    return templates_vary(load)


def slides_larger(load):
    """A rank correlation whose interval holds 0 leaves the sentence open."""
    table = load("monitor_table2")
    templates = table[["WP", "QA", "FC-pos", "FC-neg"]]
    spread = templates.max(axis=1) - templates.min(axis=1)
    r = stats.correlation(table["size_billion"], spread, "spearman")
    falls = [
        spread[b] < spread[a] for series in SIZE_SERIES for a, b in pairwise(series)
    ]
    is_open = r.low < 0 < r.high
    told = r.r, r.low, r.high, r.n, sum(falls), len(falls)
    return judge_parts(told, None if is_open else r.high < 0)


def slides_negative(load):
    row = load("monitor_table2").loc["BLOOMZ-1b1"]
    told = row["FC-pos"], row["FC-neg"]
    return judge_parts(told, told[0] < 1, told[1] > 99)


def slides_conditions(load):
    conditions = load("monitor_table3")[["none", "right", "wrong"]]
    spread = conditions.max(axis=1) - conditions.min(axis=1)
    told = spread.idxmin(), spread.min()
    found = judge_usual_case(spread > LARGE_CHANGE, enough=0.75)
    return found._replace(told=[*found.told, *told])


def slides_hint(load):
    change = load("monitor_table3")["right_change"]
    near = change.abs().idxmin()
    told = change.idxmin(), -change.min(), NOTICEABLE_CHANGE, near, change[near]
    assert (change.abs() > NOTICEABLE_CHANGE).all()
    return judge_parts(told, change.min() < -NOTICEABLE_CHANGE)


def slides_averaged(load):
    score = load("monitor_slides")["MONITOR"]
    by_relation = load("monitor_table10")[score.index]
    is_mean = (by_relation.mean() - score).abs() <= 0.001
    is_divided = (by_relation.sum() / 21 - score).abs() <= 0.001
    told = len(by_relation), is_mean.sum(), len(score), is_divided.sum()
    return judge_parts(told, is_mean.all())


def slides_correlates(load):
    table = load("monitor_slides")
    r = stats.correlation(table["MONITOR"], table["avg"])
    return judge_parts((r.r, r.low, r.high, r.n), r.high < 0)


def slides_measures(load):
    table = load("monitor_table4")
    told, holds = [len(table)], []
    for measure in ("avg", "probs"):
        r = stats.correlation(table["MONITOR"], table[measure])
        told += [r.r, r.low, r.high]
        holds.append(r.high < 0)
    return judge_parts(told, *holds)


def slides_choice(load):
    two = load("monitor_table6").loc[["Vicuna-13b", "WizardLM-13b"]]
    gap = two["base"].diff().iloc[1]
    told = [abs(gap), *two["MONITOR"], *two["std"]]
    is_steadier = two["std"].iloc[0] < two["std"].iloc[1]
    is_like = abs(gap) <= EQUIVALENCE_MARGIN
    return judge_parts(
        told, is_like, two["MONITOR"].iloc[0] < two["MONITOR"].iloc[1], is_steadier
    )


def slides_corpus(load):
    prompts = load("monitor_corpus").loc["FKTC", "prompts"]
    return judge_parts([prompts], round(prompts, -4) == 210_000)
