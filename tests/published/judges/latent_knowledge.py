"""Sentences of Wu et al. 2025, each judged by the paper's tables."""

import re
from itertools import pairwise

import pandas as pd

from tests.published import table_checks as grid
from tests.published.judges.judgement import (
    judge_all_cases,
    judge_parts,
    judge_usual_case,
    parse_parameter_count,
)

KNOWING_MODELS = [
    "Mistral-7B",
    "Llama2-7B",
    "Gemma-7B",
]  # of about 7B, by which families are compared
OTHER_MODELS = [
    "Llama-7B",
    "Falcon-7B",
    "MPT-7B",
    "OPT-6.7B",
    "GPT-J-6B",
    "Pythia-6.9B",
    "Bloom-7.1B",
]


def models(load):
    names = load("lke_table7").index
    tuned = sum(grid.is_tuned_model(name) for name in names)
    linked = load("lke_table6")["repository"].str.contains("bloomz").sum()
    base = len(names) - tuned
    return judge_parts((base, tuned, linked), base == 35, tuned == 14, linked == 0)


def facts(load):
    relations = len(load("lke_table8"))
    return judge_parts((relations, relations * 100, relations * 400), relations == 50)


def knowing_families(load):
    accuracy = load("lke_table7")["accuracy"]
    least = accuracy[KNOWING_MODELS].min()
    return judge_usual_case(accuracy[OTHER_MODELS] < least, least)


def larger_models(load):
    """Accuracy has to rise with size in families outside OPT, and not always within it."""
    accuracy = load("lke_table7")["accuracy"]
    named = [
        re.fullmatch(r"(Llama2?|Gemma|OPT|Pythia|Bloom)-([\d.]+[MB])", m)
        for m in accuracy.index
    ]
    sizes = pd.DataFrame(
        [(m[1], parse_parameter_count(m[2]), accuracy[m[0]], m[0]) for m in named if m],
        columns=["family", "size", "accuracy", "model"],
    ).sort_values("size")
    steps = [
        (name, one.model, two.model, two.accuracy > one.accuracy)
        for name, rows in sizes.groupby("family")
        for one, two in pairwise(rows.itertuples())
    ]
    others = [step for step in steps if step[0] != "OPT"]
    falls = [f"{a} to {b}" for _, a, b, rises in others if not rises]
    opt = [step[3] for step in steps if step[0] == "OPT"]
    rising = sum(step[3] for step in others)
    told = rising, len(others), *falls, sum(opt), len(opt)
    return judge_parts(told, rising >= 0.75 * len(others), not all(opt))


def low_subsumption(load):
    table = load("lke_table1")
    eta, less = table["subsumption"], table["subsumption"] < table["largest accuracy"]
    low, rest = eta[["OPT", "Pythia", "Bloom"]], eta.drop(["OPT", "Pythia", "Bloom"])
    told = *low, rest.max(), less.sum(), len(less)
    return judge_parts(told, (low < 0.5).all(), rest.max().round(1) == 0.8)


def same_average(load):
    first, seventh = grid.table_1_accuracies(load), load("lke_table7")["accuracy"]
    other = seventh[[grid.TABLE_7[name] for name in first.index]].set_axis(first.index)
    gap = (first - other).abs()
    found = judge_all_cases(gap <= 0.0006)
    return found._replace(told=[*found.told[:2], "Table 1", gap.max()])


def tuned_models(load):
    table = grid.tuned_model_accuracies(load)
    less = table["accuracy"] < table["base accuracy"]
    return judge_usual_case(less, *table.index[~less], enough=0.75)


def every_pair(load):
    table = grid.tuned_model_accuracies(load)
    there = table["in Table 10"].isin(load("lke_table10").index)
    found = judge_usual_case(there, *table.index[~there])
    return found._replace(told=["Table 10", *found.told])


def high_subsumption(load):
    eta = load("lke_table10")["subsumption"]
    return judge_usual_case(eta > 0.5, eta.min(), eta.max(), enough=0.75)


def caption_subsumption(load):
    eta = load("lke_table10")["subsumption"]
    return judge_usual_case(eta < 0.5, eta.min(), eta.max(), enough=0.75)


def order_of_models(load):
    table = load("lke_table7")["accuracy"]
    return judge_parts([len(table)], table.is_monotonic_decreasing, len(table) == 49)


def order_of_relations(load):
    relations, every = load("lke_table8")["accuracy"], load("lke_table7")["accuracy"]
    base = every[[not grid.is_tuned_model(name) for name in every.index]]
    told = relations.mean(), every.mean(), len(every), base.mean(), len(base)
    return judge_parts(told, abs(relations.mean() - every.mean()) < 1e-3)


def guessing(load):
    choices = load("lke_text")["value"]["choices"]
    least = load("lke_table7")["accuracy"].nsmallest(1)
    return judge_parts(
        (choices, 1 / choices, least.index[0], least.iloc[0]),
        1 / choices == grid.CHANCE_OF_ONE_CHOICE,
    )
