"""What the comparison of models found: who leads, what size and tuning change, what agrees."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import stats
from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED, Finding, decide
from helpers.plots import tables
from helpers.runs.comparison import reading, sizes
from helpers.studies import Measure, measure_named

MAIN = ("MONITOR", "NCR", "right", "accuracy")  # one measure of each chapter
NOTHING = (float("nan"),) * 3 + (0,)
Pairs = Sequence[tuple[str, str]]


def pairing(
    pair: pd.DataFrame, strata: pd.Series, models: tuple[str, str], n_resamples: int, seed: int
) -> Finding:
    """Decide whether two models find the same facts hard, by the correlation of `one` and `two`.

    Drawn within strata, as the paired difference is.
    """
    columns = pair[["one", "two"]].to_numpy(dtype=float)
    found = stats.bootstrap(columns, stats.pearson, strata, n_resamples, seed)
    apart, paired = np.sqrt(pair[["one", "two"]].var().sum()), pair["difference"].std()
    ratio = f"{paired / apart:.2f}" if apart > 0 else "no"
    return decide(
        "pairing_sharpens",
        found,
        holds="{first} and {second} find the same facts hard: r = {value} over {n} facts. This "
        "makes the standard error of their paired difference {ratio} times that of two separate "
        "samples.",
        opposite="What is hard for {first} is easy for {second}: r = {value} over {n} facts. This "
        "makes the standard error of their paired difference {ratio} times that of two separate "
        "samples.",
        undecided="These {n} facts do not decide whether {first} and {second} find the same facts "
        "hard: r = {value}. The standard error of their paired difference is {ratio} times that of "
        "two separate samples.",
        undefined="Whether {first} and {second} find the same facts hard cannot be said: one of "
        "them gives the same answer to every fact.",
        digits=2,
        scale=1,
        unit="",
        first=models[0],
        second=models[1],
        ratio=ratio,
    )


def leader(scores: pd.DataFrame, gaps: pd.DataFrame, name: str) -> Finding:
    """Decide whether the model with the best figure is better than each other model.

    By its paired difference from the nearest rival, after Holm's correction for all of `gaps`.
    """
    measure = measure_named(name)
    rows = scores[scores["measure"] == name].dropna(subset=["estimate"])
    claim = f"leader_{name}"
    best, ahead = _ahead(rows, gaps[gaps["measure"] == name], measure)
    if ahead.empty:
        said = f"Who leads in {measure.title} cannot be said: it takes two models that have it."
        return _undefined(claim, said)
    tested = reading.holm(gaps)
    kept = tested[(tested["measure"] == name) & tested["kept"].astype(bool)]
    of_best = kept[(kept[["first", "second"]] == best).any(axis=1)]
    firm = ahead["second"].isin([*of_best["first"], *of_best["second"]])
    beaten = ahead[firm & (ahead["estimate"] < 0)]
    near = next(part for part in (beaten, ahead[~firm], ahead) if len(part))
    nearest = near.loc[near["estimate"].idxmin()]
    others = "the other model" if len(ahead) == 1 else f"each of the other {len(ahead)} models"
    return decide(
        claim,
        _result(nearest),
        decision=OPPOSITE if len(beaten) else HOLDS if firm.all() else UNDECIDED,
        holds=f"{{best}} leads in {measure.title}: it is better than {others} after Holm's "
        "correction, than {rival} by {size} (paired, {n} {things} that count for both).",
        opposite=f"{{best}} has the best {measure.title} over what all models were asked, but on "
        "the {n} {things} that count for both, {rival} is better by {size}.",
        undecided=f"No model leads in {measure.title}: {{best}} has the best figure, but Holm's "
        "correction does not keep its lead over {rival}, {value} (paired, {n} {things} that count "
        "for both).",
        best=best,
        rival=nearest["second"],
        things=measure.counts,
        **reading.unit(measure),
    )


def leads(each: Sequence[Finding], scores: pd.DataFrame, gaps: pd.DataFrame) -> Finding:
    """Count the measures in which a model leads: `each` is a finding of :func:`leader`."""
    told = [one for one in each if one.decision != UNDEFINED]
    won = [_won(one, scores) for one in told if one.decision == HOLDS]
    open_ones = [_titled(one) for one in told if one.decision != HOLDS]
    corrected = f"after Holm's correction for all {len(reading.holm(gaps))} comparisons"
    some = "In {k} of the {n} main measures one model is better than every other {corrected} "
    some += "({won}); in the others no model leads ({left})."
    every = "In each main measure one model is better than every other {corrected} ({won})."
    return decide(
        "leaders_are_decided",
        (len(won) if told else np.nan, np.nan, np.nan, len(told)),
        decision=(HOLDS if won else UNDECIDED) if told else "",
        holds=some if open_ones else every,
        opposite="",
        undecided="No model leads: in none of the main measures ({left}) is one better than every "
        "other {corrected}.",
        undefined="Who leads cannot be said: it takes two models that have run the same chapter.",
        k=len(won),
        won="; ".join(won),
        left=", ".join(open_ones),
        corrected=corrected,
    )


def _named(lead: Finding) -> str:
    return lead.claim.removeprefix("leader_")


def _titled(lead: Finding) -> str:
    return measure_named(_named(lead)).title


def _won(lead: Finding, scores: pd.DataFrame) -> str:
    name = _named(lead)
    return f"{_titled(lead)}: {_best(scores, name)}, by {reading.amount(name, lead.estimate)}"


def survive(gaps: pd.DataFrame) -> Finding:
    """Count the differences with p < 0.05, and those that Holm's correction keeps."""
    tested = reading.holm(gaps)
    single, kept = int((tested["p_normal"] < 0.05).sum()), int(tested["kept"].sum())
    if tested.empty:
        return _undefined(
            "differences_survive_holm",
            "No difference can be tested: it takes two models with an interval of some width.",
        )
    part = "{kept} of the {single} differences with p < 0.05 survive Holm's correction for all "
    part += "{total} comparisons."
    none = "None of the {total} comparisons has p < 0.05, so there is nothing to correct."
    return decide(
        "differences_survive_holm",
        (kept / single if single else 0.0, np.nan, np.nan, len(tested)),
        decision=_one_side(kept, single - kept),
        holds="All {single} differences with p < 0.05 survive Holm's correction for all {total} "
        "comparisons.",
        opposite="None of the {single} differences with p < 0.05 survives Holm's correction for "
        "all {total} comparisons.",
        undecided=part if single else none,
        single=single,
        kept=kept,
        total=len(tested),
    )


def larger(gaps: pd.DataFrame, pairs: Pairs) -> Finding:
    """Decide whether the next larger model is better, counting measures after Holm's correction."""
    return _counted(
        "larger_models_do_better",
        gaps,
        pairs,
        asked="larger models do better",
        among=" in one training run of each",
        step="a model with the next smaller one",
        first="the larger",
        second="the smaller",
        needed="two untuned models of different size, asked in the same format",
    )


def tuned(gaps: pd.DataFrame, pairs: Pairs) -> Finding:
    """Decide whether the tuned model is better, counting measures after Holm's correction."""
    return _counted(
        "tuned_models_do_better",
        gaps,
        pairs,
        asked="tuned models do better",
        among=" in one training run of each",
        step="a tuned model with its base",
        first="the tuned one",
        second="the base",
        needed="a tuned model and its base",
    )


def change(gaps: pd.DataFrame, pairs: Pairs, kind: str, name: str) -> Finding:
    """Decide whether a measure rises from the second to the first model, in every pair of a kind.

    Shown by the smallest paired difference.
    """
    measure, rows = measure_named(name), reading.oriented(gaps[gaps["measure"] == name], pairs)
    rows = rows.dropna(subset=["estimate"])
    claim = f"{name}_rises_with_{kind}"
    if rows.empty:
        said = f"Whether {measure.title} rises with {kind} cannot be said: no pair of models here "
        return _undefined(claim, said + "differs in it alone and has the measure.")
    up, down = bool((rows["low"] > 0).all()), bool((rows["high"] < 0).all())
    row = rows.loc[rows["estimate"].abs().idxmin()]
    one = "from {second} to {first}"
    several = f"in each of {len(rows)} pairs, least {one}"
    where = one if len(rows) == 1 else several
    few = (
        one
        if len(rows) == 1
        else f"it rises in {{ups}} of {len(rows)} pairs and falls in {{downs}}; {one}"
    )
    return decide(
        claim,
        _result(row),
        decision=HOLDS if up else OPPOSITE if down else UNDECIDED,
        holds=f"{measure.title} rises with {kind} in one training run of each: {where} by "
        "{size} (paired, {n} {things}).",
        opposite=f"{measure.title} falls with {kind} in one training run of each: {where} by "
        "{size} (paired, {n} {things}).",
        undecided=f"The {{things}} do not decide whether {measure.title} rises with {kind}: {few} "
        "it changes by {value} (paired, {n} {things}).",
        first=row["first"],
        second=row["second"],
        ups=int((rows["low"] > 0).sum()),
        downs=int((rows["high"] < 0).sum()),
        things=measure.counts,
        **reading.unit(measure),
    )


def ends(gaps: pd.DataFrame, size: Mapping[str, float | None], name: str) -> Finding:
    """Decide whether the largest untuned model is better than the smallest, paired."""
    measure, rows = measure_named(name), gaps[(gaps["measure"] == name) & gaps["estimate"].notna()]
    there = {*rows["first"], *rows["second"]}
    steps = sizes.pairs({label: size.get(label) for label in size if label in there})["larger"]
    claim = f"largest_beats_smallest_{name}"
    if not steps:
        said = f"Whether {measure.title} gets better with size cannot be said: it takes two untuned"
        return _undefined(claim, said + " models of different size that have it.")
    small = min((label for pair in steps for label in pair), key=lambda label: size[label])
    format_of = sizes.FORMAT.findall
    same = [big for big, _ in steps if format_of(big) == format_of(small)]
    row = reading.gains(reading.oriented(rows, [(same[-1], small)]), measure).iloc[0]
    return decide(
        claim,
        _result(row),
        holds=f"The largest untuned model, {{first}}, has a better {measure.title} than the "
        "smallest, {second}, by {size} (paired, {n} {things}, one training run of each).",
        opposite=f"The largest untuned model, {{first}}, has a worse {measure.title} than the "
        "smallest, {second}, by {size} (paired, {n} {things}, one training run of each).",
        undecided="These {n} {things} do not decide whether the largest untuned model, {first}, "
        f"has a better {measure.title} than the smallest, {{second}}: its lead is {{value}}.",
        first=row["first"],
        second=row["second"],
        things=measure.counts,
        **reading.unit(measure),
    )


def alike(pairs: pd.DataFrame, n_relations: int) -> Finding:
    """Decide whether all models find the same relations easy, by their lowest correlation."""
    rows = pairs.dropna(subset=["r"])
    claim = "models_find_the_same_relations_easy"
    if rows.empty:
        said = "Whether models find the same relations easy cannot be said: it takes two models "
        return _undefined(claim, said + "and relations in which their accuracy differs.")
    row = rows.loc[rows["low"].fillna(-1).idxmin()]
    opposite = bool((rows["high"] < 0).all())
    only = "The two models" if len(rows) == 1 else f"All {len(rows)} pairs of models"
    return decide(
        claim,
        (row["r"], row["low"], row["high"], n_relations),
        decision=HOLDS if row["low"] > 0 else OPPOSITE if opposite else UNDECIDED,
        holds=f"{only} find the same relations easy: the correlation of their accuracies is "
        "{value} over {n} relations for {first} and {second}{least}.",
        opposite=f"{only} find different relations easy: the correlation of their accuracies is "
        "{value} over {n} relations for {first} and {second}.",
        undecided="These {n} relations do not decide whether all models find the same ones easy: "
        "the correlation of the accuracies of {first} and {second} is {value}{least}.",
        digits=2,
        scale=1,
        unit="",
        first=row["first"],
        second=row["second"],
        least="" if len(rows) == 1 else ", the pair that agrees least",
    )


def agree(gaps: pd.DataFrame) -> Finding:
    """Decide whether measures that tell two models apart (after Holm) name the same better one."""
    kept = _kept(_directed(gaps))
    several = [
        (pair, rows)
        for pair, rows in kept.groupby(["first", "second"], sort=False)
        if len(rows) > 1
    ]
    claim, clash = "measures_agree_who_is_better", []
    for (first, second), rows in several:
        sides = {
            up: [measure_named(m).title for m in part["measure"]] for up, part in rows.groupby("up")
        }
        if len(sides) > 1:
            clash.append(
                f"{first} is better than {second} in {_listed(sides[True])} "
                f"and worse in {_listed(sides[False])}"
            )
    n_pairs = len(gaps[["first", "second"]].drop_duplicates())
    if not n_pairs:
        said = "Whether the measures agree who is better cannot be said: it takes two models."
        return _undefined(claim, said)
    counted = f"of {_number(len(several), 'pair')} of models that two or more of them tell apart "
    counted += "after Holm's correction"
    return decide(
        claim,
        (len(several) - len(clash), np.nan, np.nan, n_pairs),
        decision=UNDECIDED if not several else OPPOSITE if clash else HOLDS,
        holds="The measures agree on which model is better: {counted}, they contradict each other "
        "on none.",
        opposite="The measures do not always agree on which model is better: {counted}, they "
        "contradict each other on {clashes}. For example, {example}.",
        undecided="Whether the measures agree on which model is better is not decided: no two of "
        "them tell the same two models apart after Holm's correction (pairs of models: {n}).",
        counted=counted,
        clashes=len(clash),
        example=clash[0] if clash else "",
    )


def correlation(scores: pd.DataFrame) -> Finding:
    """Decide whether MONITOR is lower for models of higher accuracy, as in the paper, over models.

    An r of -0.5 would need 16 models for an interval that leaves out 0.
    """
    wide = scores.pivot_table(index="model", columns="measure", values="estimate", dropna=False)
    wide = wide.reindex(columns=["MONITOR", "average"])
    found = stats.over_models(wide["MONITOR"], wide["average"])
    needed = "An r of -0.85 needs {large} models for an interval that excludes 0, one of -0.5 "
    needed += "needs {middle}."
    words = {"large": models_needed(0.85), "middle": models_needed(0.5)}
    return decide(
        "monitor_falls_with_accuracy",
        (-found.r, -found.high, -found.low, found.n),
        holds="Models of higher accuracy have a lower MONITOR: r = {r} over {n} models.",
        opposite="Models of higher accuracy have a higher MONITOR: r = {r} over {n} models.",
        undecided="{n} models do not decide whether MONITOR is lower for models of higher "
        "accuracy: r = {r}. " + needed,
        undefined="Whether MONITOR is lower for models of higher accuracy cannot be said: no "
        f"correlation is given over {tables.TOO_FEW} that differ, and {found.n} here have both "
        "figures. " + needed.format(**words),
        r=tables.interval(*found[:3], digits=2),
        **words,
    )


def models_needed(r: float) -> int:
    """Return the fewest models for which an interval of a correlation leaves out 0.

    >>> models_needed(0.5), models_needed(0.85)
    (16, 6)
    """
    return next(n for n in range(4, 10_000) if stats.fisher(abs(r), n)[0] > 0)


def floor(compared: Mapping[str, pd.DataFrame], gaps: pd.DataFrame) -> Finding:
    """Decide whether what should not matter moves MONITOR less than what tells two models apart.

    Twice the farthest end of an interval, since two models may move in opposite directions,
    against the smallest difference between models that Holm's correction keeps.
    """
    claim, parts = "noise_is_smaller_than_differences", [gaps.head(0).assign(who="", variant="")]
    parts += [far[far["measure"] == "MONITOR"].assign(who=who) for who, far in compared.items()]
    moved = pd.concat(parts, ignore_index=True).dropna(subset=["estimate"])
    if moved.empty:
        said = "How far MONITOR moves when nothing about a model changes cannot be said: no model "
        return _undefined(claim, said + "was asked about the same facts again.")
    row = moved.loc[moved[["estimate", "low", "high"]].abs().max(axis=1).idxmax()]
    most = float(row[["estimate", "low", "high"]].abs().max())
    kept = _kept(gaps)
    apart = kept.loc[kept["measure"] == "MONITOR", "estimate"].abs()
    least = float(apart.min()) if len(apart) else float("nan")
    none, smaller = bool(np.isnan(least)), 2 * most < least
    moves = "Of the changes that should not matter, “{variant}” leaves MONITOR most room to move: "
    moves += "for {who}, {value} ({n} facts). "
    twice = "Twice the outer end of that interval, {twice}, is "
    smallest = "less than {least}, the smallest difference of two models that Holm's correction "
    smallest += "keeps."
    return decide(
        claim,
        (row["estimate"], row["low"], row["high"], row["n"]),
        decision=UNDECIDED if none else HOLDS if smaller else OPPOSITE,
        holds=f"{moves}{twice}{smallest}",
        opposite=f"{moves}{twice}not {smallest}",
        undecided=moves + "No two models here differ in MONITOR after Holm's correction, so there "
        "is nothing to compare this with.",
        who=row["who"],
        variant=row["variant"],
        twice=f"{2 * most:.4f}",
        least=f"{least:.4f}",
        digits=4,
        scale=1,
        unit="",
    )


def _counted(
    claim: str,
    gaps: pd.DataFrame,
    pairs: Pairs,
    *,
    asked: str,
    step: str,
    first: str,
    second: str,
    needed: str,
    among: str = "",
) -> Finding:
    """Decide by how many comparisons favour one side, and whether any favours the other."""
    rows = _directed(reading.oriented(gaps, pairs).dropna(subset=["estimate"]))
    if rows.empty:
        return _undefined(claim, f"Whether {asked} cannot be said: it takes {needed}.")
    kept, n_pairs = _kept(rows), len(rows[["first", "second"]].drop_duplicates())
    better, worse = kept[kept["up"]], kept[~kept["up"]]
    counted = "of {n} comparisons of " + step + " (" + _number(n_pairs, "pair") + "), "
    favour, against = f"{{better}} favour {first}", f"{{worse}} favour {second}"
    corrected = " after Holm's correction"
    start = f"It is not decided whether {asked}{among}"
    if len(kept):
        start = f"{asked.capitalize()} in some measures and worse in others{among}"
    return decide(
        claim,
        ((len(better) - len(worse)) / len(rows), np.nan, np.nan, len(rows)),
        decision=_one_side(len(better), len(worse)),
        holds=f"Where a difference is decided, {asked}{among}: {counted}{favour}{corrected} "
        f"and none {second}.",
        opposite=f"Where a difference is decided, {asked.replace('better', 'worse')}{among}: "
        f"{counted}{against}{corrected} and none {first}.",
        undecided=f"{start}{corrected}: {counted}{favour}{{where_better}} and {against}"
        "{where_worse}.",
        better=len(better),
        worse=len(worse),
        where_better=_where(better, n_pairs),
        where_worse=_where(worse, n_pairs),
    )


def _one_side(one: int, other: int) -> str:
    """Decide by two counts of which only one may be above 0."""
    return UNDECIDED if bool(one) == bool(other) else HOLDS if one else OPPOSITE


def _directed(gaps: pd.DataFrame) -> pd.DataFrame:
    """Keep measures with a better side; `up` says whether the first model's figure is better."""
    ranked = gaps["measure"].map(lambda name: measure_named(name).higher is not None)
    rows = gaps[ranked.astype(bool)]
    more = np.array([measure_named(name).higher for name in rows["measure"]], dtype=bool)
    return rows.assign(up=(rows["estimate"].to_numpy() > 0) == more)


def _kept(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that survive Holm's correction for all of them."""
    found = reading.holm(rows)
    return found[found["kept"].astype(bool)]


def _ahead(scores: pd.DataFrame, gaps: pd.DataFrame, measure: Measure) -> tuple[str, pd.DataFrame]:
    """Return the model with the best figure and its leads over the others, positive if better."""
    if scores.empty:
        return "", gaps.head(0)
    best = _best(scores, measure.name)
    pairs = [(best, name) for name in scores["model"] if name != best]
    ahead = reading.oriented(gaps, pairs).dropna(subset=["estimate"])
    return best, reading.gains(ahead, measure)


def _best(scores: pd.DataFrame, name: str) -> str:
    """Return the model with the best figure in a measure."""
    figures = scores[scores["measure"] == name].set_index("model")["estimate"].dropna()
    return str(figures.idxmax() if measure_named(name).higher else figures.idxmin())


def _result(row: pd.Series) -> tuple[float, float, float, int]:
    return row["estimate"], row["low"], row["high"], row["n"]


def _undefined(claim: str, sentence: str) -> Finding:
    words = dict.fromkeys(("holds", "opposite", "undecided"), "")
    return decide(claim, NOTHING, undefined=sentence, **words)


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    """Join titles, which may hold commas, as a sentence does."""
    *others, last = names
    return f"{'; '.join(others)} and {last}" if others else last


def _where(rows: pd.DataFrame, n_pairs: int) -> str:
    """Name the measures, and in how many pairs each where there are several."""
    counts = rows["measure"].value_counts(sort=False)
    names = [measure_named(m).title + (f", {n} pairs" if n > 1 else "") for m, n in counts.items()]
    return f" ({'; '.join(names)})" if names else ""
