"""Sentences of Wu et al. 2025, each judged by the paper's tables."""

import re
from itertools import pairwise

import pandas as pd

from helpers.published import parameters
from tests.published import recomputed as grid
from tests.published.judges.reading import Reading, about_all, in_general, parts
from tests.published.recomputed import Load

SEVEN_BILLION = {  # the models that the paper compares families by
    "Mistral-7B": True,
    "Llama2-7B": True,
    "Gemma-7B": True,
    "Llama-7B": False,
    "Falcon-7B": False,
    "MPT-7B": False,
    "OPT-6.7B": False,
    "GPT-J-6B": False,
    "Pythia-6.9B": False,
    "Bloom-7.1B": False,
}


def models(load: Load) -> Reading:
    """Count Table 7's models by name, and the links of Table 6 to tuned ones."""
    names = load("lke_table7").index
    tuned = [name for name in names if grid.is_tuned(name)]
    base = load("lke_table6")["repository"][lambda links: links.str.contains("bloomz")]
    says = (
        f"Table 7 has {len(names) - len(tuned)} base models and {len(tuned)} tuned ones by name; "
        f"{len(base)} of the former link, in Table 6, to bloomz, which is instruction-tuned "
        "(MONITOR's Table 2)."
    )
    return parts(says, len(names) - len(tuned) == 35, len(tuned) == 14, base.empty)


def facts(load: Load) -> Reading:
    """Multiply Table 8's relations by the facts of each."""
    relations = len(load("lke_table8"))
    says = f"{relations} relations with 100 and 400 facts are {relations * 100:,} and "
    return parts(f"{says}{relations * 400:,}.", relations == 50)


def knowing_families(load: Load) -> Reading:
    """Compare models of about 7B with the three families that are named."""
    accuracy = load("lke_table7")["accuracy"]
    named = min(accuracy[name] for name, more in SEVEN_BILLION.items() if more)
    holds = [accuracy[name] < named for name, more in SEVEN_BILLION.items() if not more]
    says = (
        f"At about 7B, {{k}} of {{n}} other families know less than the least of the three "
        f"({named:.3f}), by Table 7's averages."
    )
    return in_general(says, holds)


def larger_models(load: Load) -> Reading:
    """Ask of each step of a family outside OPT whether accuracy rises, and of OPT's."""
    accuracy = load("lke_table7")["accuracy"]
    named = [
        re.fullmatch(r"(Llama2?|Gemma|OPT|Pythia|Bloom)-([\d.]+[MB])", m) for m in accuracy.index
    ]
    sizes = pd.DataFrame(
        [(m[1], parameters(m[2]), accuracy[m[0]], m[0]) for m in named if m],
        columns=["family", "size", "accuracy", "model"],
    ).sort_values("size")
    steps = [
        (name, one.model, two.model, two.accuracy > one.accuracy)
        for name, rows in sizes.groupby("family")
        for one, two in pairwise(rows.itertuples())
    ]
    others = [step for step in steps if step[0] != "OPT"]
    falls = ", ".join(f"{a} to {b}" for _, a, b, rises in others if not rises)
    rising = sum(step[3] for step in others)
    says = f"Accuracy rises at {rising} of {len(others)} steps outside OPT" + (
        f"; it falls from {falls}." if falls else "."
    )
    opt = [step[3] for step in steps if step[0] == "OPT"]
    says += f" Within OPT it rises at {sum(opt)} of {len(opt)}."
    return parts(says, rising >= 0.75 * len(others), not all(opt))


def low_subsumption(load: Load) -> Reading:
    """Compare the rates of Table 1 with both bounds."""
    table = load("lke_table1")
    eta, less = table["subsumption"], table["subsumption"] < table["largest accuracy"]
    low, rest = eta[["OPT", "Pythia", "Bloom"]], eta.drop(["OPT", "Pythia", "Bloom"])
    says = (
        f"Printed: {', '.join(f'{v:.3f}' for v in low)}; the others reach {rest.max():.3f}. In "
        f"{less.sum()} of {len(less)} families that is less than the larger model knows of all "
        "facts."
    )
    return parts(says, (low < 0.5).all(), rest.max().round(1) == 0.8)


def same_average(load: Load) -> Reading:
    """Compare the averages of Table 1 with those of Table 7."""
    first, seventh = grid.ends(load), load("lke_table7")["accuracy"]
    other = seventh[[grid.TABLE_7[name] for name in first.index]].set_axis(first.index)
    gap = (first - other).abs()
    says = f"{{k}} of {{n}} averages are those of Table 7; they differ by up to {gap.max():.3f}."
    return about_all(says, gap <= 0.0006)


def tuned_models(load: Load) -> Reading:
    """Ask of each tuned model whether its accuracy is below its base's."""
    table = grid.tuned(load)
    less = table["accuracy"] < table["base accuracy"]
    says = "It is so for {k} of {n} (Tables 6 and 7)" + (
        f", not for {', '.join(table.index[~less])}." if not less.all() else "."
    )
    return in_general(says, less, 0.75)


def every_pair(load: Load) -> Reading:
    """Look for each tuned model of Table 6 in Table 10."""
    table = grid.tuned(load)
    there = table["in Table 10"].isin(load("lke_table10").index)
    says = "Table 10 has {k} of {n} tuned models of Table 6" + (
        f"; not {', '.join(table.index[~there])}." if not there.all() else "."
    )
    return in_general(says, there)


def high_subsumption(load: Load) -> Reading:
    """Ask of each pair of Table 10 whether most is shared."""
    eta = load("lke_table10")["subsumption"]
    says = f"It is above a half in {{k}} of {{n}} pairs, {eta.min():.3f} to {eta.max():.3f}."
    return in_general(says, eta > 0.5, 0.75)


def caption_subsumption(load: Load) -> Reading:
    """Ask of each pair of Table 10 whether less than half is shared."""
    eta = load("lke_table10")["subsumption"]
    says = (
        f"It is below a half in {{k}} of {{n}} pairs ({eta.min():.3f} to {eta.max():.3f}), and the "
        "text calls the same figures high."
    )
    return in_general(says, eta < 0.5, 0.75)


def order_of_models(load: Load) -> Reading:
    """Ask whether Table 7 falls."""
    table = load("lke_table7")["accuracy"]
    says = f"The {len(table)} averages are in falling order."
    return parts(says, table.is_monotonic_decreasing, len(table) == 49)


def order_of_relations(load: Load) -> Reading:
    """Compare the means of Tables 7 and 8."""
    relations, every = load("lke_table8")["accuracy"], load("lke_table7")["accuracy"]
    base = every[[not grid.is_tuned(name) for name in every.index]]
    says = (
        f"The mean of Table 8 is {relations.mean():.3f}; Table 7's is {every.mean():.3f} over all "
        f"{len(every)} models and {base.mean():.3f} over the {len(base)} base ones."
    )
    return parts(says, abs(relations.mean() - every.mean()) < 1e-3)


def guessing(load: Load) -> Reading:
    """Divide one by the number of choices."""
    choices = load("lke_text")["value"]["choices"]
    least = load("lke_table7")["accuracy"].nsmallest(1)
    says = (
        f"One of {choices:g} choices is {1 / choices:g}. {least.index[0]}, with "
        f"{least.iloc[0]:.5f}, is below it, which the text does not mention."
    )
    return parts(says, 1 / choices == grid.CHANCE)
