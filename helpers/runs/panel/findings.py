"""What the calibration chapter finds: which verdicts follow what the training text contains.

Tables come from `runs.panel.analyses` and `runs.panel.contests`. Differences between
methods are paired: all are asked about the same facts, and averaged over the same models. What is
said of a fact's exposure follows from the levels: counts of one's own are no record of training.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import stats
from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, Finding, decide
from helpers.plots import tables
from helpers.runs.panel import analyses
from helpers.runs.panel.levels import ATLAS, OFTEN, SELDOM, SHOWN, Levels
from helpers.studies import STUDIES

MARGIN = 0.02  # of an area: what counts as better at all
AREA = {"scale": 1.0, "digits": 2, "unit": ""}
NOTHING = (float("nan"),) * 3


def asked_once(areas: pd.DataFrame, contrast: str, levels: Levels = ATLAS) -> Finding:
    """Claim that no method beats asking once by `MARGIN`: the lead of asking once over the best."""
    result, rival, figures = _lead(areas[areas["contrast"] == contrast], analyses.YARDSTICK)
    once, other = figures.get(analyses.YARDSTICK, ""), figures.get(rival, "")
    best = f"{_named(rival)}, the best of the four"
    groups, pair = levels.said[contrast], "asking once minus the best: {value}"
    asking = "Asking once"
    asking += ", in the wording that training used most," if levels is ATLAS else ""
    better = f"{asking} separates {groups} better than any of the four measures: area {once}, "
    better += f"against {other} for {best} ({pair}, {{n}} facts)."
    as_good = f"No measure is ahead of asking once by {MARGIN} or more in separating {groups}: "
    as_good += f"area {once} for asking once, {other} for {best} ({pair}, {{n}} facts)."
    return decide(
        f"no_measure_beats_asking_once_{contrast.replace(' ', '_')}",
        result,
        holds=better if result[1] > 0 else as_good,
        opposite=f"{_named(rival, True)} separates {groups} better than asking once does: its area "
        "under the ROC curve is larger by {size} (paired, {n} facts).",
        undecided=f"These {{n}} facts do not decide whether asking once or the best measure "
        f"separates {groups} better: area {once} for asking once, {other} for {best} ({pair}).",
        undefined=f"How well the measures separate {groups} is undefined: the panel "
        "lacks facts of one of the two kinds.",
        decision=HOLDS if result[1] > -MARGIN else "",
        **(AREA | {"digits": 3}),
    )


def asked_once_unread(areas: pd.DataFrame) -> Finding:
    """Decide whether asking once is as good in a wording that no model has read.

    Of the wordings that were left out of training, the best one is compared with the best measure.
    """
    mean = areas[(areas["model"] == "mean") & areas["method"].isin(analyses.UNREAD)]
    each = mean.sort_values("estimate", ascending=False, kind="stable")
    first = each["method"].iloc[0] if len(each) else ""
    result, rival, figures = _lead(areas[~areas["method"].isin(each["method"].iloc[1:])], first)
    best = f"{figures.get(rival, '')} for {_named(rival)}, the best measure"
    unread = _and([f"{value:.2f}" for value in each["estimate"]])
    said = f"area {unread}, against {best} ({{value}}; paired, {{n}} facts)."
    return decide(
        "asking_once_holds_in_an_unread_wording",
        result,
        holds=f"Asking once beats every measure also in wordings that training left out: {said}",
        opposite="Asked once in a wording that training left out, a model separates facts less "
        f"well than by the best measure: {said}",
        undecided="In wordings that training left out, we cannot tell asking once from the best "
        f"measure: {said}",
        undefined="No wording that training left out was asked of these models.",
        **(AREA | {"digits": 3}),
    )


def methods_differ(areas: pd.DataFrame, contrast: str, levels: Levels = ATLAS) -> Finding:
    """Name the methods that separate facts worse than the best one does, and those tied with it."""
    mean = areas[(areas["contrast"] == contrast) & (areas["model"] == "mean")]
    mean = mean.dropna(subset=["estimate"]).sort_values("estimate", ascending=False)
    claim = f"methods_differ_{contrast.replace(' ', '_')}"
    groups = levels.said[contrast]
    if len(mean) < 2:
        said = f"Whether the methods separate {groups} equally well is undefined here."
        words = dict.fromkeys(("holds", "opposite", "undecided"), "")
        return decide(claim, (*NOTHING, 0), **words, undefined=said)
    figures = [f"{_named(row.method)} ({row.estimate:.2f})" for row in mean.itertuples()]
    clear = (mean["behind_low"] > 0).tolist()
    worse = [text for text, late in zip(figures, clear) if late]
    tied = [text for text, late in zip(figures[1:], clear[1:]) if not late]
    rows = mean[mean["behind_low"] > 0] if worse else mean.iloc[1:]
    nearest = rows.loc[rows["behind"].idxmin()]
    best, also = figures[0], f"; not decided: {_and(tied)}" if tied else ""
    return decide(
        claim,
        nearest[["behind", "behind_low", "behind_high", "n"]].to_numpy(dtype=float),
        holds=f"{best[0].upper()}{best[1:]} separates {groups} better than "
        f"{_and(worse)}: by {{size}} for the nearest of them (areas; paired, {{n}} facts){also}.",
        opposite="",
        undecided=f"These {{n}} facts decide for no two methods which separates {groups} "
        f"better: {best} has the largest area, and the nearest is behind by {{value}} (paired).",
        **AREA,
    )


def trace(areas: pd.DataFrame, levels: Levels = ATLAS) -> Finding:
    """Claim that few readings leave a trace, by the area of the plain question."""
    rows = areas[(areas["contrast"] == SELDOM) & (areas["model"] == "mean")]
    row = rows[rows["method"] == analyses.YARDSTICK]
    result = row[["estimate", "low", "high", "n"]].to_numpy(float)
    start = "probability of the answer, asked once, is mostly"
    return decide(
        "few_readings_leave_a_trace",
        result[0] if len(result) else (*NOTHING, 0),
        holds=f"{levels.trace}: the {start} higher {levels.after} "
        "(area under the ROC curve {value}, chance is ½, {n} facts).",
        opposite=f"The {start} lower {levels.after} "
        "(area under the ROC curve {value}, chance is ½, {n} facts).",
        undecided="These {n} facts do not decide whether the probability of the answer is mostly "
        f"higher {levels.after} (area under the ROC curve {{value}}, chance is ½).",
        null=0.5,
        **AREA,
    )


def follows_exposure(doses: pd.DataFrame, levels: Levels = ATLAS) -> Finding:
    """Claim that verdicts rise with exposure, for every method and model: all slopes decide."""
    slopes = doses[doses["measure"] == "log odds a doubling"].dropna(subset=["low", "high"])
    n_slopes, numbers = len(slopes), ["estimate", "low", "high", "n"]
    up, down = int((slopes["low"] > 0).sum()), int((slopes["high"] < 0).sum())
    decision = {up: HOLDS, down: OPPOSITE}.get(n_slopes, UNDECIDED)
    ranked = slopes.sort_values("low" if decision == UNDECIDED else "estimate")
    row = ranked.iloc[-1 if decision == OPPOSITE else 0] if n_slopes else None
    if row is None:
        decision, factor, who, most, top = "", "", "", "", ""
    else:
        last = ranked.loc[ranked["estimate"].idxmax()]
        factor, most = (
            tables.interval(*np.exp(r[numbers[:3]].astype(float)), digits=2) for r in (row, last)
        )
        who, top = (f"{r['method']}, {r['model']}" for r in (row, last))
    return decide(
        "verdicts_follow_exposure",
        (*NOTHING, 0) if row is None else row[numbers].tolist(),
        holds=f"In every model the verdicts of every method rise with {levels.dose}: each doubling "
        f"multiplies the odds of being called known by {factor} ({who}) to {most} ({top}).",
        opposite=f"In every model the verdicts of every method fall with {levels.dose}: each "
        f"doubling multiplies the odds of being called known by at most {factor} ({who}).",
        undecided=f"These facts do not decide every slope: {up} of {n_slopes} are above zero "
        f"and {down} below. In the least certain case ({who}, {{n}} facts) a doubling of "
        f"{levels.dose} multiplies the odds of being called known by {factor}.",
        undefined="No slope can be estimated: the panel has too few facts or fewer than three "
        "relations, or each method gives all facts of a relation the same verdict.",
        decision=decision,
    )


def guesses(
    plain: pd.DataFrame, levels: Levels = ATLAS, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Claim that multiplicity takes more guesses for knowledge than the knowledge base does."""
    closed, free = (STUDIES[name].TITLE for name in ("multiplicity", "knowledge_base"))
    never = plain[(plain["exposures"] == 0) & plain["method"].isin([closed, free])]
    draw = {"n_resamples": n_resamples, "seed": seed}
    result, _, figures = _lead(analyses.rates(never, "known", draw), closed, scale=100, digits=1)
    rates = f"{figures.get(closed, '')} % against {figures.get(free, '')} %"
    return decide(
        "options_invite_guesses",
        result,
        holds=f"Of {{n}} {levels.never}, multiplicity, which offers options, calls more known than "
        f"the knowledge base, which asks openly: {rates} (paired difference {{size}}).",
        opposite=f"Of {{n}} {levels.never}, multiplicity, which offers options, calls fewer known "
        f"than the knowledge base, which asks openly: {rates} (paired difference {{size}}).",
        undecided=f"{{n}} {levels.never} do not decide whether multiplicity, which offers options, "
        f"calls more known than the knowledge base, which asks openly: {rates} (paired difference "
        "{value}).",
        undefined=f"This cannot be compared: the panel has no {levels.never}.",
    )


def anchor(
    parts: pd.DataFrame,
    contrast: str,
    levels: Levels = ATLAS,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Finding:
    """Claim that MONITOR's anchor separates better than its deviation, the numerator."""
    return _parts(
        parts,
        "MONITOR: anchor",
        "MONITOR: deviation",
        contrast,
        f"anchor_beats_deviation_{contrast.replace(' ', '_')}",
        "MONITOR's anchor",
        "MONITOR's deviation",
        levels,
        n_resamples,
        seed,
    )


def key(
    parts: pd.DataFrame, levels: Levels = ATLAS, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Claim that being right separates better than being steady, which needs no answer key."""
    return _parts(
        parts,
        "multiplicity: accuracy",
        "multiplicity: self-consistency",
        SHOWN,
        "key_beats_steadiness",
        "the share of prompts answered correctly",
        "the agreement of prompts (which needs no answer key)",
        levels,
        n_resamples,
        seed,
    )


def agreement(kappas: pd.DataFrame) -> Finding:
    """Claim that any two methods agree beyond chance: the pair with the lowest bound."""
    found = kappas.dropna(subset=["low"]).sort_values("low")
    if found.empty:
        result, pair, most, top = (*NOTHING, 0), "", "", ""
    else:
        ends = found["estimate"]
        lowest = ends.idxmin() if found["low"].iloc[0] > 0 else found.index[0]
        row, last = found.loc[lowest], found.loc[ends.idxmax()]
        result = row[["estimate", "low", "high", "n"]].tolist()
        pair, top = (f"{r['first']} and {r['second']}" for r in (row, last))
        most = tables.interval(*last[["estimate", "low", "high"]], digits=2)
    return decide(
        "methods_agree",
        result,
        holds="Any two methods agree on single facts beyond chance: Cohen's kappa is lowest for "
        f"{pair}, {{value}}, and highest for {top}, {most} ({{n}} facts).",
        opposite=f"Two of the methods contradict each other: Cohen's kappa of {pair} is {{value}}, "
        "less than by chance ({n} facts).",
        undecided=f"These {{n}} facts do not decide whether {pair} agree beyond chance: Cohen's "
        f"kappa is {{value}}. It is highest for {top}, {most}.",
        undefined="Whether the methods agree is undefined: each calls all facts known, or none.",
        **AREA,
    )


def unanimous(by_how_many: pd.DataFrame, levels: Levels = ATLAS) -> Finding:
    """Claim that all methods call one never-read fact in twenty known, or more."""
    never = by_how_many[by_how_many["read"] == next(iter(levels.groups))]
    row = never[never["measure"] == f"by {len(STUDIES)}"][["estimate", "low", "high", "n"]]
    start = f"Of {{n}} {levels.never}, all four methods call"
    return decide(
        "all_call_unread_facts_known",
        row.iloc[0].tolist() if len(row) else (*NOTHING, 0),
        holds=f"{start} {{value}} % known, more than one in twenty: their agreement does not prove "
        f"that {levels.read}.",
        opposite=f"{start} {{value}} % known, fewer than one in twenty.",
        undecided=f"{{n}} {levels.never} do not decide whether all four methods call more than one "
        "in twenty of them known: the share is {value} %.",
        null=0.05,
        unit="",
    )


def cheapest(
    bits: pd.DataFrame,
    price: pd.DataFrame,
    levels: Levels = ATLAS,
) -> Finding:
    """Claim that the method that takes the fewest tokens tells most a token."""
    found = price["forwarded"].groupby("method").mean()
    few = str(found.idxmin()) if len(found) else ""
    result, rival, amounts = _lead(bits, few)
    how = "With shared beginnings read once"
    first, other = _named(few), _named(rival)
    figures = f"{amounts.get(few, '')} bits per 1,000 tokens against {amounts.get(rival, '')}"
    what = f"about whether {levels.read}"
    return decide(
        "cheapest_tells_most_a_token",
        result,
        holds=f"{how}, {first} takes the fewest tokens and gives the most information "
        f"{what} per token: {figures} for {other}, the next (paired difference {{size}}, {{n}} "
        "facts).",
        opposite=f"{how}, {first} takes the fewest tokens, but {other} gives more "
        f"information {what} per token: {amounts.get(rival, '')} bits per 1,000 tokens against "
        f"{amounts.get(few, '')} (paired difference {{size}}, {{n}} facts).",
        undecided=f"{how}, these {{n}} facts do not decide whether {first}, which takes "
        f"the fewest tokens, or {other} gives more information {what} per token: {figures} "
        "(paired difference {value}).",
        undefined="Information per token is undefined: the panel has too few facts.",
        **AREA,
    )


def false_beliefs(
    misled: pd.DataFrame, levels: Levels = ATLAS, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Claim that repeated falsehoods are named more often than the truth is called known."""
    rows = misled[(misled["false_exposures"] > misled["exposures"]) & misled["misled"].notna()]
    each = rows.groupby("item")[["misled", "known"]].mean()
    pair = stats.paired_difference(
        each["misled"], each["known"], n_resamples=n_resamples, seed=seed
    )
    false, true = (f"{100 * each[name].mean():.0f} %" for name in each)
    what = "facts that the training text states falsely more often than truly"
    able = "the methods that can name an object"
    return decide(
        "false_objects_are_named",
        pair,
        holds=f"Of {{n}} {what}, {able} name the false object in {false} of cases and call the "
        f"truth known in {true} (paired difference {{size}}).",
        opposite=f"Of {{n}} {what}, {able} call the truth known in {true} of cases and name "
        f"the false object in {false} (paired difference {{size}}).",
        undecided=f"{{n}} {what} do not decide whether {able} name the false object more often "
        f"than they call the truth known: {false} against {true} of cases (paired difference "
        "{value}).",
        undefined="The panel has no facts that the training text states falsely more often than "
        "truly."
        if levels is ATLAS
        else "Whether false objects are named is undefined: counts of your own do not say what "
        "the models read that is false.",
    )


def no_leader(asked: Mapping[str, tuple[str, bool, pd.DataFrame]]) -> Finding:
    """Claim that no method leads in all questions; ties count on the leader's behalf."""
    alone: dict[str, int] = {}
    among: dict[str, int] = {}
    part = 0  # questions in which asking once takes part
    # A question that these facts cannot answer speaks for no method.
    asked = {name: each for name, each in asked.items() if each[2]["estimate"].notna().any()}
    for _, _, found in asked.values():
        mean = found[(found["model"] == "mean") & found["estimate"].notna()]
        part += int(mean["method"].eq(analyses.YARDSTICK).any())
        tied = list(mean.loc[mean["tied"].astype(bool), "method"])
        for name in mean["method"]:
            among[name] = among.get(name, 0) + (name in tied)
            alone[name] = alone.get(name, 0) + (tied == [name])
    once = f" Asking once is among the best for {among.pop(analyses.YARDSTICK, 0)} of the {part} "
    once += f"questions that it can answer, and alone for {alone.get(analyses.YARDSTICK, 0)}."
    once = once if part else ""
    n, first = len(asked), max(among, key=among.__getitem__, default="")
    most, sole = among.get(first, 0), alone.get(first, 0)
    decision = OPPOSITE if sole == n else HOLDS if most < n else UNDECIDED
    result = (1 - most / n, 1 - most / n, 1 - sole / n, n) if among else (*NOTHING, n)
    return decide(
        "no_method_leads_everywhere",
        result,
        holds="Which measure is best depends on the question: none is among the best for all {n} "
        f"of them. {_named(first, True)} is among the best most often, for {most}, and alone for "
        f"{sole}.{once}",
        opposite=f"One measure is best for all {{n}} questions: {_named(first)}.",
        undecided="The {n} questions do not decide whether one measure is best for all: "
        f"{_named(first)} is among the best for each, but alone for {sole}.{once}",
        undefined="No question can be answered: the panel has too few facts.",
        decision=decision if among else "",
    )


def examples(known: pd.DataFrame, exposures: pd.Series, levels: Levels = ATLAS) -> list[str]:
    """Pick one fact read often, one read seldom and one never read, to show the lesson.

    The lesson is that the methods agree on what was read often, differ on what was read seldom,
    and that some call known what was never read.
    """
    count, half = known.sum(axis=1), known.shape[1] / 2
    wanted = (
        (exposures == 0, count),
        (exposures.between(*levels.contrasts[SELDOM][0]), -(count - half).abs()),
        (exposures.between(*levels.contrasts[OFTEN][0]), count),
    )
    picked = [score[which.loc[score.index]] for which, score in wanted]
    return [str(score.idxmax()) for score in picked if len(score)]


def lesson(known: pd.DataFrame, exposures: pd.Series, levels: Levels = ATLAS) -> str:
    """Say what the examples show, in a sentence that depends on the verdicts."""
    said = []
    for item, count in known.sum(axis=1).items():
        times = exposures[item]
        read = levels.fact[min(times, 2)].format(times)
        calls = {0: "none", known.shape[1]: "all"}.get(int(count), str(int(count)))
        guess = levels.guess if not times and count else ""
        said.append(f"the fact {read} is called known by {calls} of the methods{guess}")
    return "; ".join(said).capitalize() + "." if said else "The panel has no such facts."


def _parts(
    parts: pd.DataFrame,
    first: str,
    second: str,
    contrast: str,
    claim: str,
    one: str,
    other: str,
    levels: Levels,
    n_resamples: int,
    seed: int,
) -> Finding:
    """Compare the areas of two parts of methods on the same facts."""
    pair = parts[parts["method"].isin([first, second])]
    found = analyses.areas(pair, "score", contrast, n_resamples, seed)
    result, _, sizes = _lead(found, first)
    figures = f"{sizes.get(first, '')} and {sizes.get(second, '')}"
    one_first, other_first = (_named(name, True) for name in (one, other))
    at = f"at separating {levels.said[contrast]}"
    return decide(
        claim,
        result,
        holds=f"{one_first} is better than {other} {at}: the areas are {figures} (paired "
        "difference {size}, {n} facts).",
        opposite=f"{other_first} is better than {one} {at}: the areas are "
        f"{sizes.get(second, '')} and {sizes.get(first, '')} (paired difference {{size}}, "
        "{n} facts).",
        undecided=f"These {{n}} facts do not decide whether {one} or {other} is better {at}: the "
        f"areas are {figures} (paired difference {{value}}).",
        **AREA,
    )


def _lead(
    contest: pd.DataFrame, name: str, scale: float = 1, digits: int = 2
) -> tuple[tuple[float, float, float, int], str, dict[str, str]]:
    """Compare a method with the best other one of a contest, on average over models.

    Returns the method's lead (estimate, low, high, n), negative where it is behind; the other
    method; and the figure of every method as text.
    """
    mean = contest[(contest["model"] == "mean") & contest["estimate"].notna()]
    mean = mean.set_index("method")
    others = mean.drop(index=name, errors="ignore")
    if name not in mean.index or others.empty:
        return (*NOTHING, 0), "", {}
    rows = {m: row[["estimate", "low", "high"]] for m, row in mean.iterrows()}
    levels = {m: tables.interval(*row, digits=digits, scale=scale) for m, row in rows.items()}
    gap, n = ["behind", "behind_low", "behind_high"], int(mean["n"].max())
    leads = (others["behind"] >= 0).all() and mean.loc[name, gap].fillna(0).eq(0).all()
    rival = str((others if leads else mean)["behind"].idxmin())
    behind, low, high = mean.loc[rival if leads else name, gap].astype(float)
    return ((behind, low, high, n) if leads else (-behind, -high, -low, n)), rival, levels


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _named(method: str, first: bool = False) -> str:
    """Name a method as a sentence does, as its first word or later."""
    name = method.replace("knowledge", "the knowledge")
    return name[:1].upper() + name[1:] if first else name
