"""Sentences of Wang et al. 2024, each judged by the paper's tables."""

from itertools import combinations, pairwise

import pandas as pd

from helpers import stats
from tests.published.judges.reading import Reading, about_all, in_general, parts
from tests.published.recomputed import Load

BLOOMZ = ("BLOOMZ-560m", "BLOOMZ-1b1", "BLOOMZ-3b", "BLOOMZ-7b1")
SERIES = (BLOOMZ, ("Vicuna-7b", "Vicuna-13b"))  # those of Figures 7 and 8
EQUIVALENT = 3.0  # points of base accuracy; the pairs in bold type differ by up to 1.1
NOTICEABLE, LARGE = 1.0, 10.0  # points of accuracy


def sizes(load: Load) -> Reading:
    """Compare number and sizes with Table 2."""
    billion = load("monitor_table2")["size_billion"]
    low, high = billion.min(), billion.max()
    says = f"Table 2 lists {len(billion)} models of {low:g} to {high:g} billion parameters."
    return parts(says, len(billion) == 12, low == 0.56, high == 30)


def templates_vary(load: Load) -> Reading:
    """Ask of each model how far its accuracies of Table 2 lie apart."""
    table = load("monitor_table2")[["WP", "QA", "FC-pos", "FC-neg"]]
    spread = table.max(axis=1) - table.min(axis=1)
    says = (
        f"Templates differ by more than {LARGE:g} points of accuracy for {{k}} of {{n}} models, "
        f"by {spread.min():.0f} to {spread.max():.0f} points. No test of significance is given."
    )
    return about_all(says, spread > LARGE)


def strong_interference(load: Load) -> Reading:
    """Ask of each model whether a wrong hint costs a noticeable part of its accuracy."""
    change = load("monitor_table3")["wrong_change"]
    says = (
        f"A wrong hint costs more than {NOTICEABLE:g} point for {{k}} of {{n}} models; "
        f"{change.idxmax()} loses {-change.max():.2f}."
    )
    return about_all(says, change < -NOTICEABLE)


def hint_helps(load: Load) -> Reading:
    """Ask of each model whether a right hint raises its accuracy."""
    change = load("monitor_table3")["right_change"]
    says = f"A right hint raises accuracy for {{k}} of {{n}} models; {_least(change)}."
    return in_general(says, change > 0)


def largest_changes(load: Load) -> Reading:
    """Compare both figures with the largest changes of Table 3."""
    table = load("monitor_table3")
    up, down = table["right_change"], table["wrong_change"]
    says = f"{up.idxmax()} gains {up.max():.2f}, {down.idxmin()} loses {-down.min():.2f} points."
    return parts(says, up.max() == 43.67, down.min() == -56.54)


def corpus(load: Load) -> Reading:
    """Multiply facts by prompts a fact, and count Table 10's relations."""
    row = load("monitor_corpus").loc["FKTC"]
    prompts, relations = row["facts"] * 13, len(load("monitor_table10"))
    says = (
        f"{row['facts']:,.0f} facts with 7 + 1 + 5 prompts are {prompts:,.0f} prompts; "
        f"Table 10 has {relations} relations."
    )
    return parts(says, prompts == 210158, relations == 20)


def fewer_prompts(load: Load) -> Reading:
    """Divide the corpus's prompts by its facts."""
    row = load("monitor_corpus").loc["FKTC"]
    each = row["prompts"] / row["facts"]
    return parts(f"The corpus has {each:g} prompts a fact: 7 + (1 + 5), not 7 x 5.", each == 13)


def accuracy_range(load: Load) -> Reading:
    """Ask of each model whether a maximum over test sets is above each of them."""
    most = load("monitor_table4")["max"]
    three = load("monitor_table5").filter(regex=" avg$")
    above = three.max(axis=1)[most.index] > most
    first, relation = most.index[0], three.loc[most.index[0]].idxmax().removesuffix(" avg")
    says = (
        "The maximum of Table 4 is at least each average of Table 5 for {k} of {n} models: "
        f"{first} has {most.iloc[0]:.1f} there, and {three.loc[first].max():.1f} on average on "
        f"{relation}, one of those test sets."
    )
    return about_all(says, ~above)


def most_capable(load: Load) -> Reading:
    """Sort Table 4 by MONITOR."""
    order = load("monitor_table4")["MONITOR"].nsmallest(3)
    says = "The smallest MONITOR: " + ", ".join(f"{m} {v:g}" for m, v in order.items()) + "."
    named = {"LLaMa-30b-ins.": 0.479, "Vicuna-13b": 0.484, "Vicuna-7b": 0.504}
    return parts(says, order.to_dict() == named, list(order.index) == list(named))


def correlates(load: Load) -> Reading:
    """Compute the correlation of Table 4."""
    table = load("monitor_table4")
    found = stats.correlation(table["MONITOR"], table["avg"])
    says = f"r = {found.r:.3f} over {found.n} models, p = {found.p:.4f}; the sign is negative."
    return parts(says, abs(abs(found.r) - 0.846) <= 0.002, found.p < 0.05)


def same_accuracy(load: Load) -> Reading:
    """Compare both models on P37."""
    two = load("monitor_table5").loc[["BLOOMZ-3b", "Vicuna-7b"]]
    gap = two["P37 avg"].diff().abs().iloc[1]
    scores = two["P37 MONITOR"].tolist()
    says = (
        f"Their accuracies differ by {gap:.2f} points; MONITOR: {scores[0]:.3f}, {scores[1]:.3f}."
    )
    return parts(says, gap < 1, scores == [0.570, 0.432])


def loses_its_edge(load: Load) -> Reading:
    """Look for the smallest MONITOR on P37."""
    score = load("monitor_table5")["P37 MONITOR"]
    says = f"On P37 {score.idxmin()} has {score.min()}, LLaMa-30b-ins. {score['LLaMa-30b-ins.']}."
    return parts(says, score.idxmin() != "LLaMa-30b-ins.")


def tuning_is_no_rule(load: Load) -> Reading:
    """Compare both models on the three relations of Table 5."""
    score = load("monitor_table5").filter(regex=" MONITOR$")
    worse = score.loc["BLOOMZ-3b"] > score.loc["OPT-2b7"]
    says = f"OPT-2b7 has the smaller MONITOR on {worse.sum()} of {len(worse)} relations."
    return parts(says, worse.any())


def steadier(load: Load) -> Reading:
    """Ask of each pair with like base accuracy whether MONITOR orders the deviations."""
    table = load("monitor_table6")
    holds = {}
    for a, b in combinations(table.index, 2):
        if abs(table.loc[a, "base"] - table.loc[b, "base"]) <= EQUIVALENT:
            one, two = table.loc[a], table.loc[b]
            holds[a, b] = (one["MONITOR"] < two["MONITOR"]) == (one["std"] < two["std"])
    others = "; ".join(" and ".join(pair) for pair, right in holds.items() if not right)
    says = f"Of {{n}} pairs within {EQUIVALENT:g} points of base accuracy it holds for {{k}}" + (
        f", not for {others}." if others else "."
    )
    return in_general(says, holds.values())


def higher_probabilities(load: Load) -> Reading:
    """Compare the probabilities of Table 7."""
    table = load("monitor_table7")
    more = table.loc["Vicuna-7b"] > table.loc["BLOOMZ-3b"]
    says = "Vicuna-7b's probability is higher for {k} of {n} prompts, all about one fact (Haiti)."
    return about_all(says, more)


def solid_share(load: Load) -> Reading:
    """Compare the shares of Figure 5."""
    share = load("monitor_figure5")["solid_percent"]
    says = f"Printed in Figure 5: {share['BLOOMZ-3b']:g} % and {share['Vicuna-7b']:g} %."
    return parts(says, share["Vicuna-7b"] > share["BLOOMZ-3b"])


def saving(load: Load) -> Reading:
    """Divide the hours of Table 8."""
    row = load("monitor_table8").iloc[0]
    ratio = row["accuracy"] / row["MONITOR"]
    says = f"{row['accuracy']} over {row['MONITOR']} GPU hours is {ratio:.3f}, for one relation."
    return parts(says, abs(ratio - 2.97) <= 0.015)


def scale_overall(load: Load) -> Reading:
    """Ask of each step to a larger model of a series whether MONITOR falls."""
    score = load("monitor_table4")["MONITOR"]
    falls = [score[b] < score[a] for series in SERIES for a, b in pairwise(series)]
    says = "MONITOR of Table 4 falls at {k} of {n} steps to the next larger BLOOMZ or Vicuna."
    return in_general(says, falls, 0.75)


def scale_by_fact(load: Load) -> Reading:
    """Ask of each relation whether the largest BLOOMZ has a smaller MONITOR."""
    score = load("monitor_table10")[list(BLOOMZ)]
    whole = (score.diff(axis=1).iloc[:, 1:] < 0).all(axis=1).sum()
    says = (
        "The largest BLOOMZ has a smaller MONITOR than the smallest on {k} of {n} relations "
        f"(Table 10); it falls at every step on {whole}."
    )
    return in_general(says, score[BLOOMZ[-1]] < score[BLOOMZ[0]])


def scale_may_fail(load: Load) -> Reading:
    """Look for relations where BLOOMZ's MONITOR rises with size."""
    score = load("monitor_table10")[list(BLOOMZ)]
    rises = (score.diff(axis=1).iloc[:, 1:] > 0).any(axis=1)
    says = f"BLOOMZ's MONITOR rises at some step on {rises.sum()} of {len(rises)} relations."
    return parts(says, rises.any())


def distinct_scores(load: Load) -> Reading:
    """Compare both figures with Table 5."""
    score = load("monitor_table5")["P37 MONITOR"][["OPT-2b7", "BLOOMZ-3b"]].tolist()
    return parts(f"Table 5 has {score[0]:.3f} and {score[1]:.3f} on P37.", score == [0.471, 0.570])


def _least(change: pd.Series) -> str:
    """Name the case with the lowest value."""
    return f"{change.idxmin()} changes by {change.min():+.2f} points"
