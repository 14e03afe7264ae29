"""Sentences of the multiplicity paper's earlier version, each judged by its tables."""

import re
from itertools import pairwise

import pandas as pd

from helpers.published import parameters
from notebooks.analysis.published import BENCHMARKS
from tests.published import recomputed as grid
from tests.published.judges.reading import Reading, about_all, in_general, parts
from tests.published.recomputed import Load

MAIN, MORE = BENCHMARKS["multiplicity_table1"], BENCHMARKS["multiplicity_table3"]
STABLE = 2.0  # points of standard deviation; the main text calls up to 1.54 low
FAMILIES = ("GPT", "Pythia", "Bloom", "Llama2", "Llama3", "OPT")


def _first(load: Load, measure: str) -> pd.DataFrame:
    return grid.pick(load("multiplicity_table1"), MAIN, measure)


def _both(load: Load, measure: str) -> pd.DataFrame:
    more = grid.pick(load("multiplicity_table3"), MORE, measure)
    return pd.concat([_first(load, measure), more], axis=1)


def sizes(load: Load) -> Reading:
    """Count the models and families of Table 1."""
    first, third = (load(f"multiplicity_table{n}").index for n in (1, 3))
    families = {f for f in FAMILIES for name in first if name.startswith(f)}
    says = (
        f"Table 1 has {len(first)} models of {len(families)} families, with GPT-J and GPT-NeoX as "
        f"one; Table 3 has {len(third)} of them."
    )
    return parts(says, len(first) == 16, len(families) == 6)


def half_change(load: Load) -> Reading:
    """Look for models of which more than half of the marks change on Med-HALT."""
    binary = _first(load, "ambiguity_binary")["Med-HALT"]
    above = binary[binary > 50]
    says = (
        f"Binary ambiguity on Med-HALT is above 50 % for {len(above)} of {len(binary)} models, "
        f"at most {binary.max():.2f} %, {binary.mean():.1f} % on average."
    )
    return parts(says, len(above) > 0)


def stable_accuracy(load: Load) -> Reading:
    """Ask of each benchmark whether all standard deviations are small."""
    most = _both(load, "deviation").max()
    others = ", ".join(f"{name} {value:.1f}" for name, value in most.items() if value > STABLE)
    says = f"The standard deviation is at most {STABLE:g} points on {{k}} of {{n}} benchmarks" + (
        f"; it reaches {others}." if others else "."
    )
    return in_general(says, most <= STABLE)


def low_variance(load: Load) -> Reading:
    """Ask whether all standard deviations of Table 1 are small."""
    deviation = _first(load, "deviation")
    says = f"All {deviation.size} standard deviations of Table 1 are at most "
    return parts(
        f"{says}{deviation.max(axis=None):.2f} points.", deviation.max(axis=None) <= STABLE
    )


def one_row(load: Load) -> Reading:
    """Compare the rounded figures with the row of Table 1, to a point."""
    row = load("multiplicity_table1").loc["Llama2-7B"].filter(like="TruthfulQA")
    row.index = [name.removeprefix("TruthfulQA ") for name in row.index]
    said = {"accuracy": 25, "ambiguity": 16, "ambiguity_binary": 9}
    says = ", ".join(f"{name.replace('_', ', ')} {value}" for name, value in row.items())
    near = [abs(row[name] - value) < 1 for name, value in said.items()]
    return parts(f"Printed: {says}, each within a point.", *near, row["deviation"] < 1)


def order_of_benchmarks(load: Load) -> Reading:
    """Sort the benchmarks by mean ambiguity."""
    whole = _first(load, "ambiguity")
    means = whole.mean()
    each = (whole["TruthfulQA"] < whole["Wiki-FACTOR"]) & (whole["Wiki-FACTOR"] < whole["Med-HALT"])
    says = "Means over models: " + ", ".join(f"{name} {v:.1f} %" for name, v in means.items())
    says += f". Model by model the order holds for {each.sum()} of {len(each)}."
    return parts(says, list(means.sort_values().index) == list(MAIN))


def higher_when_steady(load: Load) -> Reading:
    """Ask of each model whether both steady scores exceed both others."""
    table = load("multiplicity_table2")
    steady, rest = table.filter(like="agnostic"), table.filter(like="sensitive")
    says = (
        "The lower of the two steady scores exceeds the higher of the others in {k} of {n} models."
    )
    return about_all(f"{says} No test is given.", steady.min(axis=1) > rest.max(axis=1))


def blind_to_truth(load: Load) -> Reading:
    """Ask of both kinds of answers whether correct ones score higher in most models."""
    table = load("multiplicity_table2")
    gaps = {k: table[f"{k} correct"] - table[f"{k} wrong"] for k in ("agnostic", "sensitive")}
    more = {kind: int((gap > 0).sum()) for kind, gap in gaps.items()}
    less = {kind: int((gap < 0).sum()) for kind, gap in gaps.items()}
    says = "; ".join(
        f"among prompt-{kind} answers the correct ones score higher in {more[kind]} and lower in "
        f"{less[kind]} of {len(table)} models"
        for kind in gaps
    )
    return parts(says.capitalize() + ".", *(more[kind] < 0.75 * len(table) for kind in gaps))


def llama_on_wiki(load: Load) -> Reading:
    """Ask of each Llama model whether it exceeds the best of the others."""
    accuracy = _first(load, "accuracy")["Wiki-FACTOR"]
    llama = accuracy[accuracy.index.str.startswith("Llama")]
    best = accuracy.drop(llama.index).nlargest(1)
    others = ", ".join(f"{m} has {v:.2f} %" for m, v in llama.items() if v < best.iloc[0])
    says = f"{{k}} of {{n}} exceed {best.index[0]} ({best.iloc[0]:.2f} %)" + (
        f"; {others}." if others else "."
    )
    return about_all(says, llama > best.iloc[0])


def falls_with_size(load: Load) -> Reading:
    """Ask of each step to a larger model of a series whether accuracy falls."""
    accuracy = _first(load, "accuracy")["TruthfulQA"]
    series: dict[str, list[tuple[float, float]]] = {}
    for model, value in accuracy.items():
        family, size, kind = re.fullmatch(r"(.+)-([\d.]+B)(-.)?", model).groups(default="")
        series.setdefault(family + kind, []).append((parameters(size), value))
    falls = {
        name: [b[1] < a[1] for a, b in pairwise(sorted(values))]
        for name, values in series.items()
        if len(values) > 1
    }
    whole = [name for name, steps in falls.items() if all(steps)]
    steps = [step for each in falls.values() for step in each]
    says = (
        "Accuracy on TruthfulQA falls at {k} of {n} steps to a larger model; all the way in "
        f"{len(whole)} of {len(falls)} series ({', '.join(whole)})."
    )
    return in_general(says, steps, 0.75)


def best_on_truthfulqa(load: Load) -> Reading:
    """Look for the highest accuracy; the other half of the sentence has no table."""
    best = _first(load, "accuracy")["TruthfulQA"].nlargest(2)
    says = (
        f"{best.index[0]} has {best.iloc[0]:.2f} %, {best.index[1]} {best.iloc[1]:.2f} %. "
        "Only Figure 4 shows prompt-agnostic factuality."
    )
    return parts(says, best.index[0] == "Llama3-8B-I")


def steady_errors(load: Load) -> Reading:
    """Bound the share of errors that no prompt changes: 1 - ambiguity / errors."""
    errors = 100 - _first(load, "accuracy")["TruthfulQA"]
    least = 1 - _first(load, "ambiguity")["TruthfulQA"] / errors
    says = (
        "Questions whose answer never changes are more than half of the errors for {k} of {n} "
        f"models, whatever the threshold: at least {100 * least.min():.0f} %."
    )
    return about_all(says, least > 0.5)


def what_is_shuffled(load: Load) -> Reading:
    """Ask of each benchmark with demonstrations what appendix A says is varied."""
    how = load("multiplicity_appendix")["variation"].drop("Wiki-FACTOR")
    order = how.str.contains("shuffle the order of these")
    others = "; ".join(f"{name}: {text}" for name, text in how[~order].items())
    says = "By appendix A that is so for {k} of the {n} benchmarks" + (
        f" ({others})." if others else "."
    )
    return about_all(says, order)


def volatile(load: Load) -> Reading:
    """Compare mean and spread of ambiguity with those of the main benchmarks."""
    whole = _both(load, "ambiguity")
    means, spread = whole.mean(), whole.std()
    says = "Mean and standard deviation of ambiguity over models: " + ", ".join(
        f"{name} {means[name]:.0f} and {spread[name]:.0f}" for name in whole
    )
    more, main = list(MORE), list(MAIN)
    return parts(
        f"{says}.", means[more].min() > means[main].max(), spread[more].min() > spread[main].max()
    )
