"""What the audit of the papers' tables and sentences found.

`audited` is the table of `helpers.published.claims.audit`, `cells` that of
`helpers.published.checks.cells`, `every` the list of checks, and `measured` the table of
`helpers.published.correlations.table`. The figures are those of print: only correlations, and
digits that were planted, have intervals.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import stats
from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED, Finding, decide
from helpers.plots import tables
from helpers.published.checks import Check, latent_knowledge
from helpers.published.claims.reading import (
    CONTRADICTED,
    PARTLY,
    SEVERITIES,
    SUPPORTED,
    UNDECIDABLE,
)

R = {"digits": 2, "scale": 1.0, "unit": ""}
MOST = 4  # checks that a sentence names
NEAR = 2.0  # times the tolerance: differences up to there do not decide


def _share(
    claim: str, k: int, n: int, decision: str, wordings: Sequence[str], **words: object
) -> Finding:
    """Make a finding from a count; wordings for what holds, its opposite, and undecided."""
    share = k / n if n else np.nan
    holds, opposite, undecided = wordings
    return decide(
        claim,
        (share, np.nan, np.nan, n),
        holds=holds,
        opposite=opposite,
        undecided=undecided,
        decision=decision if n else UNDEFINED,
        k=k,
        **words,
    )


def _of(paper: str) -> tuple[str, str]:
    """Return how a claim's name ends and how its sentence names whose it is."""
    if not paper:
        return "", "the four papers"
    ending = paper.lower().replace(" ", "_").replace("-", "_")
    return f"_{ending}", f"the paper on {paper}"


def _listed(parts: Iterable[str]) -> str:
    """Join parts as a sentence does."""
    parts = list(parts)
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def sentences_hold(audited: pd.DataFrame, paper: str = "") -> Finding:
    """Most sentences that the tables can decide are supported: decided by their share."""
    ending, whose = _of(paper)
    verdicts = audited.loc[audited["paper"] == paper if paper else audited.index, "verdict"]
    count = verdicts.value_counts().reindex([SUPPORTED, PARTLY, CONTRADICTED, UNDECIDABLE])
    k, partly, wrong, rest = (int(number) for number in count.fillna(0))
    n = k + partly + wrong
    counted = (
        f": of {n} that a table can decide, {k} are supported, {partly} partly and {wrong} "
        f"contradicted; {rest} more are not decided."
    )
    return _share(
        f"sentences_hold{ending}",
        k,
        n,
        HOLDS if 2 * k > n else OPPOSITE if 2 * k < n else UNDECIDED,
        (
            f"Most of the sentences quoted from {whose} hold{counted}",
            f"Most of the sentences quoted from {whose} do not hold{counted}",
            f"Half of the sentences quoted from {whose} hold{counted}",
        ),
        undefined=f"No sentence quoted from {whose} can be decided by a table.",
    )


def none_contradicted(audited: pd.DataFrame) -> Finding:
    """No table contradicts a sentence: the opposite where one does, else by those partly right."""
    wrong = audited[audited["verdict"] == CONTRADICTED]
    n = int((audited["verdict"] != UNDECIDABLE).sum())
    counts = wrong["severity"].value_counts()
    worst = wrong[wrong["severity"] == SEVERITIES[0]]
    places = _listed(f"{row.paper} {row.section}" for row in worst.itertuples())
    graded = [
        f"{counts.get(SEVERITIES[0], 0)} in substance" + (f" ({places})" if places else ""),
        f"{counts.get(SEVERITIES[1], 0)} by exceptions",
        f"{counts.get(SEVERITIES[2], 0)} in a description",
    ]
    partly = (audited["verdict"] == PARTLY).any()
    return _share(
        "none_contradicted",
        n - len(wrong),
        n,
        OPPOSITE if len(wrong) else UNDECIDED if partly else HOLDS,
        (
            "No sentence is contradicted by a table of its own paper.",
            "The papers' own tables contradict {wrong} of {n} sentences: {graded}. We have not "
            "asked the authors.",
            "No sentence is contradicted by a table, but some of {n} hold in part only.",
        ),
        wrong=len(wrong),
        graded=_listed(graded),
    )


def numbers_agree(cells: pd.DataFrame, paper: str = "") -> Finding:
    """All comparisons agree: undecided where they differ by less than twice the tolerance."""
    ending, whose = _of(paper)
    part = cells[cells["paper"] == paper] if paper else cells
    wrong = part[~part["agrees"]]
    near = (wrong["difference"].abs() <= NEAR * wrong["tolerance"]).all()
    places = wrong["check"] if paper else wrong["paper"]
    most = [f"{place} ({count})" for place, count in places.value_counts().items()]
    if len(most) > MOST:
        most = [*most[:MOST], f"and {len(most) - MOST} more checks"]
    agree = f"In {whose}, {{k:,}} of {{n}} comparisons of a printed number with others agree"
    return _share(
        f"numbers_agree{ending}",
        len(part) - len(wrong),
        len(part),
        HOLDS if wrong.empty else UNDECIDED if near else OPPOSITE,
        (
            f"In {whose}, all {{n}} comparisons of a printed number with others agree.",
            f"{agree}. The rest, by {{by}}: {{places}}.",
            f"{agree}. The rest ({{places}}) differ by less than twice what rounding allows, "
            "which does not decide.",
        ),
        undefined=f"No number of {whose} was checked.",
        by="check" if paper else "paper",
        places="; ".join(most),
    )


def divisor(every: Iterable[Check]) -> Finding:
    """Table 4 fits sums over 21, not means: decided by how many models fit each."""
    named = {one.name: one for one in every}
    mean = named.get("Table 4: mean of relations")
    other = named.get("Table 4: sum over 21")
    n = len(mean.cells) if mean and other else 0
    fit = [n - len(one.differing) for one in (mean, other)] if n else [0, 0]
    decision = HOLDS if fit == [0, n] else OPPOSITE if fit[0] == n else UNDECIDED
    return _share(
        "divisor_21",
        fit[1],
        n,
        decision,
        (
            "The overall MONITOR of Table 4 equals, to rounding, the sum of Table 10's twenty "
            "relations over 21, not over 20, for all {n} models.",
            "The overall MONITOR of Table 4 is the mean of Table 10's relations for all of {n} "
            "models.",
            "The overall MONITOR of Table 4 is the mean of Table 10's relations for {mean} of {n} "
            "models, and their sum over 21 for {k}.",
        ),
        mean=fit[0],
    )


def one_cell(tested: pd.DataFrame, suspect: str) -> Finding:
    """One cell explains Table 2: undecided where others than the suspect do as well."""
    fits = list(tested.loc[tested["explains"], "model"])
    others = [model for model in fits if model != suspect]
    decision = OPPOSITE if suspect not in fits else UNDECIDED if others else HOLDS
    return _share(
        "one_cell",
        len(fits),
        len(tested),
        decision,
        (
            f"Another Cons_w of {suspect}, and of no other model, explains the three correlations.",
            f"No value of {suspect}'s Cons_w explains the three correlations of Table 2 that do "
            "not follow; changing that of one other model can, for {k} of {n} models ({others}).",
            f"Another Cons_w of {suspect} explains the three correlations, but so does another of "
            "{others}.",
        ),
        others=_listed(others) or "none",
    )


def base_models(every: Iterable[Check]) -> Finding:
    """Table 8 averages the base models alone: decided by which mean of Table 7 it has."""
    named = {one.name: one for one in every}
    checks = [named.get(f"Table 8: mean over {w}") for w in ("all 49 models", "the 35 base models")]
    n = 49 if all(checks) else 0
    whole, base = (not one.differing for one in checks) if n else (False, False)
    values = [one.cells["recomputed"].iloc[0] for one in checks] if n else [np.nan] * 2
    printed = checks[0].cells["published"].iloc[0] if n else np.nan
    found = (
        f"its relations average {printed:.3f}; Table 7 gives {values[0]:.3f} over all 49 and "
        f"{values[1]:.3f} over the 35 base ones."
    )
    return _share(
        "base_models_only",
        35,
        n,
        HOLDS if base and not whole else OPPOSITE if whole and not base else UNDECIDED,
        (
            f"Table 8 fits an average over the base models, not over all 49 models: {found}",
            f"Table 8 fits an average over all 49 models: {found}",
            f"The means do not decide which models Table 8 averages: {found}",
        ),
    )


def subsumption(rows: pd.DataFrame) -> Finding:
    """Rates are of the second model's facts: decided by which reading exceeds chance."""
    below = [int((rows["printed"] < rows[by] - 0.002).sum()) for by in ("second", "first")]
    n = len(rows)
    return _share(
        "subsumption_turned",
        n - below[1],
        n,
        HOLDS if below[0] and not below[1] else OPPOSITE if below[1] > below[0] else UNDECIDED,
        (
            "As the paper defines them, {below} of {n} subsumption rates lie below what two "
            "unrelated models would have; as shares of the other model's facts, none does.",
            "As the paper defines them, {below} of {n} subsumption rates lie below what two "
            "unrelated models would have; as shares of the other model's facts, {turned} do.",
            "The accuracies do not decide of which model's facts subsumption is a share: as "
            "defined, {below} of {n} rates lie below what two unrelated models would have; the "
            "other way round, {turned}.",
        ),
        below=below[0],
        turned=below[1],
    )


def twins(both: pd.DataFrame) -> Finding:
    """Tables 7 and 10 order two tuned models alike: decided by sign and size of the differences."""
    turned = both[np.sign(both["Table 7"]) != np.sign(both["Table 10"])]
    far = (turned["Table 10"] - turned["Table 7"]).abs() > latent_knowledge.APART
    return _share(
        "same_order_of_tuned_models",
        len(both) - len(turned),
        len(both),
        HOLDS if turned.empty else OPPOSITE if far.all() else UNDECIDED,
        (
            "Tables 7 and 10 put the two tuned models of all {n} bases in the same order.",
            "By the names of Table 6, FT-1 and FT-2 are exchanged in Table 10 for {turned}; for "
            "{k} of {n} bases the order is that of Table 7.",
            "The order of FT-1 and FT-2 differs between Tables 7 and 10 for {turned}, but by no "
            "more than the tables differ elsewhere.",
        ),
        turned=_listed(sorted(turned.index)),
    )


def sizes(fitting: Mapping[str, Sequence[int]], most: int) -> Finding:
    """Last digits give a benchmark's size: counted where all that fit are multiples of one."""
    one = {name: fits[0] for name, fits in fitting.items() if fits and _multiples(fits)}
    n = len(fitting)
    start = "Of the numbers of questions up to {most:,}, the printed ambiguities of"
    return _share(
        "sizes_from_digits",
        len(one),
        n,
        HOLDS if len(one) == n else UNDECIDED if one else OPPOSITE,
        (
            f"{start} all {{n}} benchmarks fit one and its multiples alone ({{which}}).",
            f"{start} none of {{n}} benchmarks fit one and its multiples alone.",
            f"{start} {{k}} of {{n}} benchmarks fit one and its multiples alone ({{which}}); those "
            "of the others fit none, or several.",
        ),
        which=", ".join(f"{name} {size:,}" for name, size in one.items()),
        most=most,
    )


def _multiples(fits: Sequence[int]) -> bool:
    return all(size % fits[0] == 0 for size in fits)


def monitor_and_accuracy(measured: pd.DataFrame) -> Finding:
    """MONITOR and accuracy rise together: decided by Fisher's interval of r."""
    row = measured.set_index("pair").loc["MONITOR, accuracy"]
    return decide(
        "monitor_rises_with_accuracy",
        (row["estimate"], row["low"], row["high"], row["n"]),
        holds="MONITOR rises with accuracy over {n} models: r = {value}.",
        opposite="MONITOR falls as accuracy rises over {n} models: r = {value}; without one family "
        "at a time r runs from {least:.2f} to {most:.2f}.",
        undecided="{n} models do not decide whether MONITOR rises or falls with accuracy: r = "
        "{value}.",
        least=row["least"],
        most=row["most"],
        **R,
    )


def knowing_and_limits(measured: pd.DataFrame) -> Finding:
    """NCR rises with UR once "unsure" is shown: decided by Pearson's and Spearman's intervals."""
    row = measured.set_index("pair").loc["NCR, UR (four-two)"]
    ends = [row["low"], row["rank_low"]], [row["high"], row["rank_high"]]
    decision = HOLDS if min(ends[0]) > 0 else OPPOSITE if max(ends[1]) < 0 else UNDECIDED
    both = (
        f"r = {tables.interval(row['estimate'], row['low'], row['high'], 2)}, by rank "
        f"{tables.interval(row['spearman'], row['rank_low'], row['rank_high'], 2)}, {row['n']} "
        "models."
    )
    return decide(
        "knowing_goes_with_limits",
        (row["estimate"], row["low"], row["high"], row["n"]),
        holds=f"With 'unsure' shown, models with a higher NCR have a higher UR: {both}",
        opposite=f"With 'unsure' shown, models with a higher NCR have a lower UR: {both}",
        undecided="With 'unsure' shown, the two kinds of correlation do not both decide that "
        f"models with a higher NCR have a higher UR: {both}",
        decision=decision,
        **R,
    )


def deviation_and_ambiguity(measured: pd.DataFrame) -> Finding:
    """Deviation goes with ambiguity over models: counted where both kinds of interval exceed 0.

    As everywhere, an interval is compared as it is written, with two digits.
    """
    rows = measured[measured["pair"].str.startswith("deviation, ambiguity")]
    names = rows["pair"].str.extract(r"\((.+)\)", expand=False)
    linear, ranks = (names[rows[low].round(2) > 0] for low in ("low", "rank_low"))
    k, n = len(set(linear) & set(ranks)), len(rows)
    found = (
        f"the interval of r lies above 0 on {_listed(linear) or 'none'}, that of the rank "
        f"correlation on {_listed(ranks) or 'none'}."
    )
    return _share(
        "deviation_goes_with_ambiguity",
        k,
        n,
        HOLDS if k == n else OPPOSITE if not len(linear) and not len(ranks) else UNDECIDED,
        (
            "Models whose accuracy varies more are more ambiguous on all {n} benchmarks.",
            "On none of {n} benchmarks is it clear that models whose accuracy varies more are more "
            "ambiguous.",
            "Models whose accuracy varies more are clearly more ambiguous on {k} of {n} "
            f"benchmarks by both kinds of correlation: {found}",
        ),
    )


def relations(each: pd.DataFrame) -> Finding:
    """MONITOR falls with accuracy on each relation: counted where the interval lies below 0."""
    k, n = int((each["high"].round(2) < 0).sum()), len(each)
    return _share(
        "falls_on_each_relation",
        k,
        n,
        HOLDS if k == n else OPPOSITE if (each["low"].round(2) > 0).any() else UNDECIDED,
        (
            "The interval of r between MONITOR and accuracy lies below 0 on all {n} relations.",
            "On some of {n} relations the interval of r between MONITOR and accuracy lies above 0.",
            "The interval of r between MONITOR and accuracy lies below 0 on {k} of {n} relations "
            "and contains 0 on the rest.",
        ),
    )


def noticed(guarded: pd.DataFrame) -> Finding:
    """Most wrong digits are noticed: decided by Wilson's interval of the share."""
    k, n = int(guarded["noticed"].sum()), int(guarded["planted"].sum())
    result = (*stats.wilson(k, n)[:3], n) if n else (np.nan, np.nan, np.nan, 0)
    return decide(
        "digits_noticed",
        result,
        null=0.5,
        unit=" %",
        holds="The checks notice most of {n} planted wrong digits, as many in each table that a "
        "check covers: {value}.",
        opposite="The checks miss most of {n} planted wrong digits, as many in each table that a "
        "check covers: they notice {value}.",
        undecided="{n} planted digits do not decide whether most are noticed: {value}.",
        undefined="No wrong digit was planted.",
    )
