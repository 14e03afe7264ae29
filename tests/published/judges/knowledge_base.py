"""Sentences of Zheng, Lapata and Pan 2024, each judged by the paper's tables.

Unless a sentence names another setting it is judged by the four-shot tables, as the paper says.
What size and tuning do is judged twice: by the means of the groups that the paper names, and by
pairs of models of one family, like with like.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.stats

from helpers import stats
from helpers.published import knowledge_base as paper
from tests.published.judges.reading import (
    Reading,
    about_all,
    in_general,
    no_change,
    no_rise,
    parts,
)
from tests.published.recomputed import Load

LEVEL = 0.05
GROUPS = {"small": (0.08, 3), "medium": (7, 13), "large": (65, 70)}  # section 3.1, billions
STEPS = {"shots": ("zero-shot", "four-shot"), "unsure shots": ("four-shot", "four-two")}


class Change(NamedTuple):
    """A mean difference over pairs of models, in points, with Student's 95 % interval."""

    mean: float
    low: float
    high: float
    up: int
    n: int

    def __str__(self) -> str:
        """Write it for a sentence."""
        ends = f"{self.mean:+.1f} [{self.low:.1f}, {self.high:.1f}]"
        return f"{ends} points, up in {self.up} of {self.n}"


def change(name: str, measure: str, load: Load) -> Change:
    """Return how a measure changes from the first to the second model of each pair."""
    first, second = _pairs()[name]
    settings = STEPS.get(name, ("four-shot", "four-shot"))
    before, after = (paper.measures(setting, load)[measure] for setting in settings)
    moved = after[second].to_numpy() - before[first].to_numpy()
    ends = scipy.stats.ttest_1samp(moved, 0).confidence_interval()
    return Change(moved.mean(), ends.low, ends.high, int((moved > 0).sum()), len(moved))


@cache
def _pairs() -> dict[str, tuple[pd.Index, pd.Index]]:
    """Return the names of the models of each comparison, paired."""
    return {name: (first.index, second.index) for name, (first, second) in paper.pairs().items()}


def means(measure: str, load: Load) -> list[float]:
    """Return the means of a measure over small, medium and large models, four-shot."""
    sizes = pd.to_numeric(load("kb_table4")["params"].str.removesuffix("B"), errors="coerce")
    values = paper.measures("four-shot", load)[measure]
    return [values[sizes.between(*ends)].mean() for ends in GROUPS.values()]


def tuned_means(measure: str, load: Load) -> list[float]:
    """Return the means of a measure over base and over tuned models, four-shot."""
    about = load("kb_table4")
    tuned = (about["instruction tuning"] == "yes") | (about["RLHF"] == "yes")
    values = paper.measures("four-shot", load)[measure]
    return [values[~tuned].mean(), values[tuned].mean()]


def _written(values: list[float]) -> str:
    return " to ".join(f"{value:.1f}" for value in values)


def _four_shot(load: Load) -> pd.DataFrame:
    return paper.measures("four-shot", load)


def _rank(values: pd.Series, model: str, high: bool = True) -> int:
    return int(values.rank(ascending=not high, method="min")[model])


def _r(setting: str, pair: str, load: Load) -> stats.Correlation:
    table = paper.measures(setting, load)
    return stats.correlation(*(table[name] for name in pair.split(" vs. ")))


def balanced(load: Load) -> Reading:
    """Ask whether the model is in the upper half by all four measures."""
    table, model = _four_shot(load), "GPT-3.5 Turbo"
    ranks = [_rank(table[m], model, m != "Cons_w") for m in ("NCR", "UR", "Cons_c", "Cons_w")]
    says = f"Of {len(table)} models it is number {', '.join(map(str, ranks))} by NCR, UR, Cons_c "
    return parts(says + "and Cons_w.", all(rank <= len(table) / 2 for rank in ranks))


def more_right_more_wrong(load: Load) -> Reading:
    """Compare both models by three measures."""
    table = _four_shot(load).loc[["Llama3 70B", "GPT-3.5 Turbo"], ["CR", "WR", "Cons_w"]]
    pairs = ", ".join(f"{name} {a:.1f} and {b:.1f}" for name, (a, b) in table.items())
    says = f"Llama3 70B and GPT-3.5 Turbo: {pairs}."
    return parts(says, *(table.loc["Llama3 70B"] > table.loc["GPT-3.5 Turbo"]))


def both_rates(load: Load) -> Reading:
    """Ask of each model and step whether both rates move the same way."""
    same = []
    for first, second in STEPS.values():
        moved = paper.measures(second, load) - paper.measures(first, load)
        same += list(np.sign(moved["CR"]) == np.sign(moved["WR"]))
    says = "Both rates move the same way in {k} of {n} steps of a model to more shots."
    return in_general(says, same, 0.75)


def sizes(load: Load) -> Reading:
    """Ask of each size in Table 4 whether it lies in a range."""
    billion = pd.to_numeric(load("kb_table4")["params"].str.removesuffix("B"), errors="coerce")
    inside = [any(a <= size <= b for a, b in GROUPS.values()) for size in billion.dropna()]
    says = "{k} of {n} sizes of Table 4 lie in these ranges; that of GPT-3.5 is unknown."
    return about_all(says, inside)


def unseen_questions(load: Load) -> Reading:
    """Multiply Table 1's templates by 150."""
    templates = len(load("kb_table1"))
    says = f"Table 1 has {templates} templates, and {templates} x 150 is {templates * 150:,}."
    return parts(says, templates == 20)


def cut_offs(load: Load) -> Reading:
    """Ask whether all cut-offs are known, and none is earlier."""
    dates = load("kb_table4")["knowledge cutoff"]
    known = pd.to_datetime(dates[dates != "Unknown"], format="mixed")
    first = pd.Timestamp("2019-04-01")
    says = (
        f"Table 4 prints a cut-off for {len(known)} of {len(dates)} models, April 2019 itself for "
        f"{(known == first).sum()}, and Unknown for {len(dates) - len(known)}."
    )
    return parts(says, (known >= first).all(), len(known) == len(dates))


def released_before(load: Load) -> Reading:
    """Ask of each model whether Table 4's release is before the date."""
    dates = pd.to_datetime(load("kb_table4")["release"], format="mixed", dayfirst=True)
    late = dates.index[dates >= pd.Timestamp("2024-04-13")]
    says = "{k} of {n} were" + (f"; not {', '.join(late)} (18 April 2024)." if len(late) else ".")
    return about_all(says, dates < pd.Timestamp("2024-04-13"))


def most_factual(load: Load) -> Reading:
    """Look for the highest NCR and UR."""
    table = _four_shot(load)
    says = f"The highest NCR is that of {table['NCR'].idxmax()}, the highest UR that of "
    named = table["NCR"].idxmax() == "GPT-3.5 Turbo", table["UR"].idxmax() == "Gemma-Instruct 7B"
    return parts(f"{says}{table['UR'].idxmax()}.", *named)


def both_sets(load: Load) -> Reading:
    """Add each model's places by NCR and UR."""
    places = _four_shot(load)[["NCR", "UR"]].rank(ascending=False)
    best = places.sum(axis=1).nsmallest(2)
    says = "The smallest sums of both places: " + ", ".join(f"{m} {v:g}" for m, v in best.items())
    return parts(f"{says}.", set(best.index) == {"GPT-3.5 Turbo", "Llama2chat 70B"})


def hidden_by_cr(load: Load) -> Reading:
    """Subtract one model from the other."""
    gap = _four_shot(load).loc["Llama 1 13B"] - _four_shot(load).loc["Gemma-Instruct 7B"]
    says = "Llama 1 13B minus Gemma-Instruct 7B: " + ", ".join(
        f"{name} {gap[name]:+.2f}" for name in ("CR", "WR", "NCR")
    )
    return parts(f"{says}.", gap["CR"] > 0, abs(gap["WR"] - 33.5) < 0.01, gap["NCR"] < 0)


def most_consistent(load: Load) -> Reading:
    """Look for the highest Cons_c and the lowest Cons_w."""
    table = _four_shot(load)
    right, wrong = table["Cons_c"].idxmax(), table["Cons_w"].idxmin()
    says = f"The highest Cons_c is that of {right}, the lowest Cons_w that of {wrong}."
    return parts(says, right == "Llama3Instruct 70B", wrong == "Llama2chat 7B")


def balanced_consistency(load: Load) -> Reading:
    """Look for the largest difference of Cons_c and Cons_w."""
    table = _four_shot(load)
    gap = table["Cons_c"] - table["Cons_w"]
    says = f"Cons_c minus Cons_w is largest for {gap.idxmax()}, {gap.max():.1f} points."
    return parts(says, gap.idxmax() == "Llama3Instruct 8B")


def most_reliable(load: Load) -> Reading:
    """Look for the highest NCCR and IUR."""
    table = _four_shot(load)
    best = table.index[table["IUR"] == table["IUR"].max()]
    says = f"The highest NCCR is that of {table['NCCR'].idxmax()}, the highest IUR that of "
    named = table["NCCR"].idxmax() == "GPT-3.5 Turbo", "Gemma-Instruct 7B" in best
    return parts(f"{says}{' and '.join(best)}.", *named)


def not_most_reliable(load: Load) -> Reading:
    """Rank the model by NCR and NCCR."""
    table = _four_shot(load)
    ncr, nccr = (_rank(table[name], "Llama3Instruct 8B") for name in ("NCR", "NCCR"))
    return parts(f"It is number {ncr} by NCR and {nccr} by NCCR.", ncr > 15, nccr == 13)


def unrelated(load: Load) -> Reading:
    """Ask of each correlation whether p is above the level."""
    pairs = ("NCR vs. UR", "NCCR vs. IUR")
    found = [_r(setting, pair, load) for setting in ("zero-shot", "four-shot") for pair in pairs]
    says = f"{{k}} of {{n}} have p above {LEVEL:g}; the smallest is {min(f.p for f in found):.2f}."
    return about_all(says, [each.p > LEVEL for each in found])


def all_significant(load: Load) -> Reading:
    """Ask of each four-two correlation whether p is below the level."""
    found = {pair: _r("four-two", pair, load).p for pair in load("kb_table2").index}
    others = ", ".join(f"{pair} (p = {p:.3f})" for pair, p in found.items() if p >= LEVEL)
    says = f"{{k}} of {{n}} four-two correlations have p below {LEVEL:g}" + (
        f"; not {others}." if others else "."
    )
    return about_all(says, [p < LEVEL for p in found.values()])


def right_more_consistent(load: Load) -> Reading:
    """Ask of each model and setting whether Cons_c exceeds Cons_w."""
    tables = [paper.measures(setting, load) for setting in paper.SETTINGS]
    holds = [case for table in tables for case in table["Cons_c"] > table["Cons_w"]]
    return in_general("Cons_c exceeds Cons_w in {k} of {n} cells of Table 10.", holds, 0.75)


def both_consistencies(load: Load) -> Reading:
    """Ask of each setting whether the correlation is positive, p below the level."""
    found = [_r(setting, "Cons_c vs. Cons_w", load) for setting in paper.SETTINGS]
    values = ", ".join(f"{each.r:.2f}" for each in found)
    says = f"r = {values}; {{k}} of {{n}} are positive with p below {LEVEL:g}."
    return about_all(says, [each.r > 0 and each.p < LEVEL for each in found])


def factual_and_consistent(load: Load) -> Reading:
    """Ask for sign, order of settings and p of the last four rows of Table 2."""
    pairs = [f"{a} vs. {b}" for a in ("NCR", "UR") for b in ("Cons_c", "Cons_w")]
    r = {s: [_r(s, pair, load) for pair in pairs] for s in paper.SETTINGS}
    every = [each for found in r.values() for each in found]
    means = {setting: np.mean([each.r for each in found]) for setting, found in r.items()}
    clear = [each for each in every if each.p < LEVEL]
    says = (
        f"{sum(each.r > 0 for each in every)} of {len(every)} are positive, {len(clear)} with p "
        f"below {LEVEL:g}; the mean r is highest {max(means, key=means.get)} "
        f"({max(means.values()):.2f})."
    )
    positive, first = all(each.r > 0 for each in every), max(means, key=means.get) == "zero-shot"
    return parts(says, positive, first, len(clear) == len(every))


def _moves(name: str, directions: dict[str, int], load: Load) -> Reading:
    """Judge a sentence on size or tuning, by groups and by pairs of models."""
    of = means if name == "larger" else tuned_means
    said, holds = [], []
    for measure, sign in directions.items():
        groups, pairs = of(measure, load), change(name, measure, load)
        steps = np.diff(groups) * sign > 0
        holds += [steps.all(), sign * pairs.mean > 0 and pairs.low * pairs.high > 0]
        said.append(f"{measure}: groups {_written(groups)}; pairs {pairs}")
    return parts(". ".join(said) + ".", *holds)


def larger_on_unseen(load: Load) -> Reading:
    """Ask whether NCR and NCCR rise with size, and UR and IUR fall."""
    return _moves("larger", {"NCR": 1, "NCCR": 1, "UR": -1, "IUR": -1}, load)


def larger_on_seen(load: Load) -> Reading:
    """Ask whether NCR and NCCR rise with size."""
    return _moves("larger", {"NCR": 1, "NCCR": 1}, load)


def larger_ur_iur(load: Load) -> Reading:
    """Ask whether UR rises and IUR falls with size."""
    return _moves("larger", {"UR": 1, "IUR": -1}, load)


def larger_consistency(load: Load) -> Reading:
    """Ask whether both consistencies rise with size."""
    return _moves("larger", {"Cons_c": 1, "Cons_w": 1}, load)


def tuned_on_unseen(load: Load) -> Reading:
    """Ask whether UR and IUR are higher after tuning."""
    return _moves("tuned", {"UR": 1, "IUR": 1}, load)


def tuned_on_seen(load: Load) -> Reading:
    """Ask whether NCR and NCCR are lower after tuning."""
    return _moves("tuned", {"NCR": -1, "NCCR": -1}, load)


def tuned_consistency(load: Load) -> Reading:
    """Ask whether the intervals of both changes leave out all but small ones."""
    found = {measure: change("tuned", measure, load) for measure in ("Cons_c", "Cons_w")}
    says = "; ".join(f"{measure} {each}" for measure, each in found.items()) + "."
    return parts(says, *(no_change(each.low, each.high) for each in found.values()))


def shots_on_seen(load: Load) -> Reading:
    """Ask of both kinds of shots whether the intervals of NCR and NCCR leave out a rise."""
    found = {
        f"{measure} with {name}": change(name, measure, load)
        for name in STEPS
        for measure in ("NCR", "NCCR")
    }
    says = "; ".join(f"{what} {each}" for what, each in found.items()) + "."
    return parts(says, *(no_rise(each.low, each.high) for each in found.values()))


def shots_on_rates(load: Load) -> Reading:
    """Ask whether CR clearly rises with shots, and WR rises."""
    right, wrong = (change("shots", measure, load) for measure in ("CR", "WR"))
    return parts(f"CR {right}; WR {wrong}.", right.low > 0, wrong.mean > 0)


def unsure_on_rates(load: Load) -> Reading:
    """Ask whether both rates clearly fall with unsure shots."""
    right, wrong = (change("unsure shots", measure, load) for measure in ("CR", "WR"))
    return parts(f"CR {right}; WR {wrong}.", right.high < 0, wrong.high < 0)


def unsure_on_unseen(load: Load) -> Reading:
    """Ask whether UR and IUR clearly rise with unsure shots."""
    ur, iur = (change("unsure shots", measure, load) for measure in ("UR", "IUR"))
    return parts(f"UR {ur}; IUR {iur}.", ur.low > 0, iur.low > 0)


def unsure_on_consistency(load: Load) -> Reading:
    """Ask whether Cons_w falls with unsure shots, and clearly."""
    found = change("unsure shots", "Cons_w", load)
    return parts(f"Cons_w {found}.", found.mean < 0, found.high < 0)
