"""What a run of the chapter on MONITOR found.

Tables of facts have one row a fact, with ``item`` and ``relation``; `measured` is the tidy table of
`helpers.stats.intervals`. ``draws`` are ``n_resamples`` and ``seed`` of the bootstrap over facts
within relations.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import plots, stats
from helpers.datasets.exposure import WEIGHTS
from helpers.findings import FEW, HOLDS, OPPOSITE, UNDECIDED, Finding, decide
from helpers.metrics import accuracy, detection, monitor
from helpers.plots import tables
from helpers.probing import attribution
from helpers.published import load
from helpers.stats import agreement

PLAIN = {"digits": 2, "scale": 1.0, "unit": ""}
PERCENT = {"unit": " %"}
NO_FACT_COUNTS = "No fact counts, so there is no {} here."
KINDS = ("steady", "shaky", "unknown")
OFTEN = 16  # exposures from which a fact is read often


def kinds_of_facts(marks: pd.DataFrame) -> pd.Series:
    """Sort facts into steady, shaky and unknown ones."""
    marks = marks.sort_values("right", ascending=False, kind="stable")
    other = marks.drop(columns=["item", "relation", "right"]).astype(bool)
    everywhere = other.all(axis=1) & marks["right"].astype(bool)
    names = np.select([everywhere, ~other.any(axis=1)], ["steady", "unknown"], "shaky")
    kinds = pd.Series(names, index=marks["item"], name="kind")
    return kinds.sort_values(key=lambda column: column.map(KINDS.index), kind="stable")


def three_facts(kinds: pd.Series, marks: pd.DataFrame, subjects: Mapping[str, str]) -> Finding:
    """Describe how the model answers three facts, the first of each kind; a kind may be missing."""
    heard = marks.set_index("item")["right"].astype(bool)
    said = []
    for item, kind in kinds.drop_duplicates().items():
        last = "only after the answer was said first" if heard[item] else "in none"
        when = {"steady": "in all four cases", "shaky": "in some"}.get(kind, last)
        said.append(f"about {subjects[item]} {when}")
    missing = [kind for kind in KINDS if kind not in set(kinds)]
    counts = kinds.value_counts()
    counts = ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in KINDS)
    words = "Of these {n} facts of one relation: {counts}. The model is right {answers}."
    return decide(
        "three_kinds_of_facts",
        (len(said), np.nan, np.nan, len(kinds)),
        decision=HOLDS if not missing else UNDECIDED,
        holds=words,
        opposite=words,
        undecided=f"{words} There is no example of a fact that is {' or '.join(missing)}.",
        counts=counts,
        answers=", ".join(said),
    )


def coverage(scores: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether most facts count: the model is right after hearing the answer."""
    said = "the model gives the right answer after hearing it for {value} of {n} facts"
    return decide(
        "most_facts_count",
        stats.bootstrap(scores["counted"], strata=scores["relation"], **draws),
        holds=f"Most facts count: {said}.",
        opposite=f"Fewer than half of the facts count: {said}. MONITOR says nothing about the "
        "rest.",
        undecided=f"These {{n}} facts do not decide whether most facts count: {said}.",
        null=0.5,
        **PERCENT,
    )


def wider_rule(narrow: pd.DataFrame, wide: pd.DataFrame) -> Finding:
    """Count the facts that are added if a right answer to any prompt is enough (footnote 3)."""
    more = int(wide["counted"].sum() - narrow["counted"].sum())
    sums = (rows.loc[rows["counted"], ["deviation", "anchor"]] for rows in (narrow, wide))
    one, two = (tables.interval(float(monitor.ratio_of_sums(rows)), digits=3) for rows in sums)
    return decide(
        "the_wider_rule_counts_more_facts",
        (more, np.nan, np.nan, len(narrow)),
        decision=HOLDS if more else UNDECIDED,
        holds="Counting a fact as soon as any of its prompts is answered correctly adds {more} of "
        f"{{n}} facts; MONITOR {'stays' if one == two else f'is {two} instead of'} {one}.",
        opposite="",
        undecided="The same facts count if a right answer to any of their prompts is enough.",
        more=f"{more:,}",
    )


def level(measured: pd.DataFrame) -> Finding:
    """Decide whether probabilities move by more than half of the anchor."""
    moves = "MONITOR is {value} over the {n} facts that count: on average, the probability of the "
    moves += "right answer"
    anchor = "its anchor, the probability after hearing the answer"
    return decide(
        "moves_by_more_than_half",
        _row(measured, "MONITOR"),
        holds=f"{moves} moves by more than half of {anchor}.",
        opposite=f"{moves} moves by less than half of {anchor}.",
        undecided=f"{moves} moves by about half of {anchor}; whether more or less is not decided.",
        undefined=NO_FACT_COUNTS.format("MONITOR"),
        null=0.5,
        digits=3,
        scale=1.0,
        unit="",
    )


def cheap_average(cheap: pd.DataFrame, grid: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether R + M prompts give a higher average than all R x M combinations."""
    both = grid[["item"]].merge(cheap.drop(columns="right", errors="ignore"), on="item")
    one, two = (table.iloc[:, 2:].mean(axis=1) for table in (both, grid))
    named = {"cheap": f"{100 * one.mean():.1f}", "every": f"{100 * two.mean():.1f}"}
    means = "({cheap} and {every} %; paired, {n} facts)"
    return decide(
        "cheap_average_is_higher",
        stats.paired_difference(one, two, strata=grid["relation"], **draws),
        holds="The average accuracy over MONITOR's own R + M prompts is {size} above that over all "
        f"R × M combinations {means}.",
        opposite="The average accuracy over MONITOR's own R + M prompts is {size} below that over "
        f"all R × M combinations {means}.",
        undecided="These {n} facts do not decide whether the R + M prompts give another average "
        "accuracy than the R × M combinations: the difference is {value}.",
        **named,
    )


def best_and_worst(grid: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the best combination of frame and wrong word beats the worst, luck aside."""
    relations = [rows for _, rows in grid.groupby("relation", sort=False)]
    each = [accuracy.held_out_gaps(rows.iloc[:, 2:].to_numpy()) for rows in relations]
    labels = [rows["relation"] for rows in relations]
    gaps = pd.DataFrame({"gap": np.hstack([*each, []]), "relation": np.hstack([*labels, []])})
    gaps = gaps.dropna()
    chosen = "chosen on one half of a relation's facts, {} on the other half ({{n}} facts)."
    return decide(
        "best_combination_beats_worst",
        stats.bootstrap(gaps["gap"], strata=gaps["relation"], **draws),
        holds="The best combination of frame and wrong word is better than the worst by more than "
        f"luck: {chosen.format('it is {size} ahead')}",
        opposite="The best and the worst combination of frame and wrong word are luck: "
        f"{chosen.format('the best is {size} behind')}",
        undecided="These {n} facts do not decide whether the best combination of frame and wrong "
        f"word is better than the worst by more than luck: {chosen.format('it is {value} ahead')}",
        undefined="A relation of one fact has no best and worst combination.",
    )


def base_frame(by_fact: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the base frame gets more right answers than the other frames."""
    others = by_fact.filter(regex="^frame[1-9]").mean(axis=1)
    there = others.notna()
    result = stats.paired_difference(
        by_fact.loc[there, "frame0"], others[there], strata=by_fact.loc[there, "relation"], **draws
    )
    return decide(
        "base_frame_is_easier",
        result,
        holds="The base frame is answered correctly more often than the other frames, by {size} "
        "(paired, {n} facts).",
        opposite="The base frame is answered correctly less often than the other frames, by {size} "
        "(paired, {n} facts).",
        undecided="These {n} facts do not decide whether the base frame is easier than the other "
        "frames: the paired difference is {value}.",
        undefined="There is only one frame.",
    )


def questions_or_gaps(wide: Mapping[str, pd.DataFrame], **draws: Any) -> Finding:
    """Decide whether questions are easier than gaps; few facts do not."""
    rates = {kind: table.set_index("item").iloc[:, 1:].mean(axis=1) for kind, table in wide.items()}
    rates = pd.DataFrame(rates).reindex(columns=["QA", "WP"]).dropna()
    few = 0 < len(rates) < FEW
    result = stats.paired_difference(rates["QA"], rates["WP"], **draws)
    start = f"The {{n}} facts of the close-up {'are too few to' if few else 'do not'} decide"
    undecided = f"{start} whether questions or gaps are easier: the paired difference is {{value}}."
    if few and (result.low > 0 or result.high < 0):
        easier, harder = ("Questions", "gaps") if result.low > 0 else ("Gaps", "questions")
        ends = sorted(map(abs, result[1:3]))
        size = tables.interval(abs(result.estimate), *ends, digits=1, scale=100)
        undecided = f"{easier} are {size} points easier than {harder} for these {{n}} facts; with "
        undecided += f"fewer than {FEW} facts we draw no conclusion."
    return decide(
        "questions_are_easier_than_gaps",
        result,
        holds="The {n} facts of the close-up are answered correctly more often as questions than "
        "as gaps, by {size} (paired).",
        opposite="The {n} facts of the close-up are answered correctly more often as gaps than "
        "as questions, by {size} (paired).",
        undecided=undecided,
        decision=UNDECIDED if few else "",
        undefined="The relation of the close-up has no frames with gaps.",
    )


def framing_or_interference(counted: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether other wordings take a probability farther from its anchor than wrong words."""
    pairs = "(paired, {n} facts that count)"
    return decide(
        "framing_moves_more_than_interference",
        stats.paired_difference(
            counted["pfd"], counted["ird"], strata=counted["relation"], **draws
        ),
        holds="Other wordings move the probability of the right answer farther from its anchor "
        f"than wrong words do: PFD exceeds IRD by {{size}} {pairs}.",
        opposite="Wrong words move the probability of the right answer farther from its anchor "
        f"than other wordings do: IRD exceeds PFD by {{size}} {pairs}.",
        undecided="These {n} facts do not decide whether other wordings or wrong words move the "
        "probability of the right answer farther from its anchor: PFD minus IRD is {value}.",
        undefined=NO_FACT_COUNTS.format("PFD or IRD"),
        **PLAIN | {"digits": 3},
    )


def interference_or_distraction(counted: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether wrong answers take a probability farther from its anchor than any word."""
    both = counted.dropna(subset="control_ird")
    means = both[["ird", "control_ird"]].mean()
    means = f"IRD is {means['ird']:.3f}, with unrelated words {means['control_ird']:.3f}"
    return decide(
        "interference_is_more_than_distraction",
        stats.paired_difference(both["ird"], both["control_ird"], strata=both["relation"], **draws),
        holds=f"Wrong answers move the probability of the right answer farther from its anchor "
        f"than unrelated words do, by {{size}} (paired, {{n}} facts that count). {means}.",
        opposite="Unrelated words move the probability of the right answer farther from its anchor "
        f"than wrong answers do, by {{size}} (paired, {{n}} facts that count). {means}.",
        undecided="These {n} facts that count do not decide whether wrong answers move the "
        f"probability farther than unrelated words: the difference is {{value}}. {means}.",
        undefined="No fact that counts was asked after unrelated words, so IRD has no control.",
        **PLAIN | {"digits": 3},
    )


def context_rates(
    by_context: pd.DataFrame, training: pd.DataFrame | None, **draws: Any
) -> pd.DataFrame:
    """Return accuracy by what is said first, and by exposure where the training text is known.

    As :func:`helpers.plots.context_curves` draws them.
    """
    rates = {name: ([name], stats.mean) for name in plots.CONTEXTS if name in by_context}
    if training is None:
        rows = stats.intervals(by_context, rates, **draws).query("relation == 'all'")
    else:
        known = by_context.join(training[["exposures", "plain"]], on="item").query("plain")
        rows = stats.intervals(known, rates, by="exposures", **draws)
        rows = rows.query("exposures not in ['all', 'mean']")
    return rows.rename(columns={"measure": "context"})


def wrong_hint(by_context: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether a wrong answer costs more than an unrelated word does (section 3.2).

    Among facts that are answered correctly with nothing said first: what else is there to lose?
    """
    change = load("monitor_table3")["wrong_change"]
    ends = f"{-change.max():.2f} to {-change.min():.2f}"
    paper = f"In Table 3 of Wang et al. 2024 (country) a wrong answer costs {ends} points, "
    paper += "without this control."
    known = by_context[by_context["none"] == 1]
    known = known.reindex(columns=["relation", "unrelated", "wrong"]).dropna()
    lost = stats.bootstrap(1 - known["unrelated"], strata=known["relation"], **draws)
    lost = tables.interval(*lost[:3], digits=1, scale=100)
    of = f"Of facts answered correctly with nothing said first, an unrelated word loses {lost} %"
    loss = _contexts(by_context, "none", "wrong", draws)
    loss = tables.interval(*loss[:3], digits=1, scale=100) + " points"
    return decide(
        "wrong_word_costs_accuracy",
        _contexts(known, "unrelated", "wrong", draws),
        holds=f"{of} and a wrong answer {{size}} more (paired, {{n}} facts). {paper}",
        opposite=f"{of} and a wrong answer {{size}} less (paired, {{n}} facts). {paper}",
        undecided=f"{of}; whether a wrong answer costs more is not decided: {{value}} (paired, "
        f"{{n}} facts). {paper}",
        undefined=f"A wrong answer said first costs {loss}; what an unrelated word costs is not "
        f"known of any fact answered correctly without one. {paper}",
    )


def words_first(by_context: pd.DataFrame, **draws: Any) -> pd.DataFrame:
    """Set accuracy after each kind of word beside the loss from an unrelated one, as texts.

    Of all facts, and of those answered correctly with nothing said first (known).
    """
    whole = by_context.reindex(columns=["relation", *plots.CONTEXTS])
    rows = {}
    for name, title in plots.CONTEXTS.items():
        row = rows[title] = {}
        for who, part in {"all": whole, "known": whole[whole["none"] == 1]}.items():
            rate = stats.bootstrap(part[name], strata=part["relation"], **draws)
            change = _contexts(part, name, "unrelated", draws)
            row[f"{who} (n = {len(part):,}), %"] = tables.interval(*rate[:3], digits=1, scale=100)
            row[f"{who}, change"] = tables.interval(*change[:3], digits=1, scale=100)
    return pd.DataFrame(rows).T.rename_axis("said")


def trained_with_hints(model: str, weights: Path = WEIGHTS) -> str:
    """Say how many documents of a model's training text put a word first; "" if it is not known."""
    report = weights / model / "training.json"
    if not model or not report.is_file():
        return ""
    documents = json.loads(report.read_text(encoding="utf-8"))["text"]["documents"]
    right, wrong, other = (
        f"{documents[f'hint, {kind}']:,}" for kind in ("right", "wrong", "other")
    )
    return (
        f"{model} was trained to listen: {right} documents of its training text say the right "
        f"answer before a question, {wrong} a wrong one, {other} any object.\n"
    )


def right_hint(by_context: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the right word before the question raises accuracy."""
    change = load("monitor_table3")["right_change"]
    paper = (
        f"in Table 3 of Wang et al. 2024 (country) the change is between {change.min():.2f} and "
        f"{change.max():.2f} points"
    )
    same = "(base frame, paired, {n} facts)"
    return decide(
        "right_word_raises_accuracy",
        _contexts(by_context, "right", "none", draws),
        holds=f"Saying the right answer before the question raises accuracy by {{size}} {same}; "
        f"{paper}.",
        opposite="Even saying the right answer before the question lowers accuracy, by {size} "
        f"{same}; {paper}.",
        undecided="These {n} facts do not decide whether saying the right answer before the "
        f"question raises accuracy: the change is {{value}}; {paper}.",
    )


def echoes(echoed: pd.DataFrame, by_context: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the model repeats a wrong word more often than it answers correctly."""
    both = echoed.merge(by_context, on=["item", "relation"], suffixes=("", "_right"))
    rates = 100 * both[["wrong", "wrong_right"]].mean()
    each = f"({rates.iloc[0]:.1f} and {rates.iloc[1]:.1f} %; paired"
    how = f"{each}, {{n}} facts)"
    return decide(
        "repeats_the_wrong_word",
        stats.paired_difference(
            both["wrong"], both["wrong_right"], strata=both["relation"], **draws
        ),
        holds="After a wrong word the model repeats that word more often than it gives the right "
        f"answer, by {{size}} {how}.",
        opposite="After a wrong word the model gives the right answer more often than it repeats "
        f"that word, by {{size}} {how}.",
        undecided="These {n} facts do not decide whether the model, after a wrong word, repeats it "
        f"more often than it gives the right answer: the difference is {{value}} {each}).",
    )


def steadiness(relations: pd.DataFrame) -> Finding:
    """Decide whether MONITOR goes with the spread over prompts, base accuracy fixed (6.1)."""
    paper = load("monitor_table6")[["MONITOR", "base", "std"]]
    there = f"Among the twelve models of Table 6 it is {_partial(paper)[0]:.2f}."
    r = "the correlation, base accuracy held fixed, is {value} over {n} relations"
    return decide(
        "monitor_goes_with_spread",
        _partial(relations[["MONITOR", "base", "deviation"]]),
        holds=f"Of relations with the same base accuracy, those with a higher MONITOR have "
        f"accuracies that spread more from prompt to prompt: {r}. {there}",
        opposite=f"Of relations with the same base accuracy, those with a higher MONITOR have "
        f"accuracies that spread less from prompt to prompt: {r}. {there}",
        undecided="This run does not decide whether relations with a higher MONITOR have "
        f"accuracies that spread more from prompt to prompt: {r}. {there}",
        undefined="Too few relations have a MONITOR to compare it with the spread over prompts.",
        **PLAIN,
    )


def solid(counted: pd.DataFrame, threshold: float = 0.8, **draws: Any) -> Finding:
    """Decide whether most primary anchors are solid: above 0.8."""
    said = f"{{value}} of the {{n}} primary anchors lie above {threshold}"
    printed = load("monitor_figure5")["solid_percent"]
    paper = " and ".join(f"{share:.0f}" for share in printed)
    paper = f"in Figure 5 of Wang et al. 2024 (P37) {paper} % for two models"
    return decide(
        "most_anchors_are_solid",
        stats.bootstrap(counted["anchor"] > threshold, strata=counted["relation"], **draws),
        holds=f"Most primary anchors are solid: {said}; {paper}.",
        opposite=f"Fewer than half of the primary anchors are solid: {said}; {paper}.",
        undecided="These {n} facts do not decide whether most primary anchors are solid: "
        f"{said}; {paper}.",
        undefined=NO_FACT_COUNTS.format("anchor"),
        null=0.5,
        **PERCENT,
    )


def attributed(table: pd.DataFrame, heard: str) -> Finding:
    """Decide whether a misled answer comes from the wrong word, if that can be settled.

    It cannot where the integral has not converged, or scores that exceed any probability cancel.
    """
    first = table[table["step"] == table["step"].min()]
    total, change = first["score"].sum(), first["change"].iloc[0]
    top = first.loc[first["score"].idxmax()]
    own = _tokens_of(heard, first)["score"]
    sizes = f"from {first['score'].min():.2f} to {first['score'].max():.2f}"
    off = f"{abs(total - change) / max(abs(change), 1e-12):.0%}"
    cancel = first["score"].abs().max() > 1
    said = "The attribution does not show which token misled the model:"
    if not attribution.converged(table):
        open_question = f"{said} the scores sum to {total:.2f}, {off} off the {change:.2f} that "
        open_question += "they should divide, so the integral has not converged."
    else:
        open_question = f"{said} the integral has converged, but the scores run {sizes} and nearly "
        open_question += f"cancel (sum {total:.2f}), so they cannot be read as shares."
    most = own.sum() >= first.drop(own.index)["score"].max()
    decision = HOLDS if most else OPPOSITE
    if cancel or not attribution.converged(table):
        decision = UNDECIDED
    return decide(
        "attributed_to_the_wrong_word",
        (own.sum(min_count=1), np.nan, np.nan, 1),
        decision=decision if len(own) else "",
        holds="The misled answer owes more of its probability to the wrong word before the "
        f"question than to any other token: {own.sum():.2f} of {change:.2f}.",
        opposite="The misled answer owes more of its probability to another token than to the wrong"
        f" word: {top['score']:.2f} of {change:.2f} to {{token}}, {own.sum():.2f} to the word.",
        undefined="No token of the prompt is the wrong word alone: see the figure.",
        undecided=open_question,
        token=f'"{top["token"]}"',
    )


def cost(costs: pd.DataFrame, n: int) -> Finding:
    """Decide whether answering the grid takes longer than answering MONITOR's prompts."""
    seconds = costs["seconds"].astype(float)
    times = seconds["grid, answered"] / seconds["MONITOR, answered"]
    both = seconds["grid, answered"] / seconds["MONITOR, both at once"]
    span = " to ".join(sorted({f"{times:.1f}", f"{both:.1f}"}, key=float))
    saved = load("monitor_table8")["saved"].item()
    same = f"({{n}} facts, the shorter of two times); Table 8 of Wang et al. 2024 has {saved:.2f}"
    return decide(
        "grid_is_dearer",
        (times, np.nan, np.nan, n),
        decision=HOLDS if times > 1 else OPPOSITE,
        holds=f"Answering the grid took {span} times as long as MONITOR's prompts, answered alone "
        f"or answered and scored at once {same}.",
        opposite=f"Answering the grid took no longer than answering MONITOR's prompts: {times:.1f} "
        f"times as long {same}.",
        undecided="",
    )


def four_frames(pairs: pd.DataFrame, some: int, others: int) -> Finding:
    """Decide whether frames order relations by PFD as others do: rank correlation above 0.5.

    The two sets share no frame: four frames and all seven, of which they are part, must agree.
    """
    columns = [f"PFD, first {some} frames", f"PFD, other {others} frames"]
    result = stats.correlation(*pairs[columns].to_numpy(dtype=float).T, method="spearman")
    start, as_others = f"The first {some} frames order the relations", f"the other {others}"
    r = "rank correlation of PFD {value}, {n} relations"
    return decide(
        "four_frames_keep_the_order",
        result,
        holds=f"{start} much as {as_others} do: {r}.",
        opposite=f"{start} unlike {as_others}: {r}.",
        undecided=f"We cannot tell whether the first {some} frames order the relations as "
        f"{as_others} do: {r}.",
        undefined="Too few relations have a PFD from two sets of frames to compare their order.",
        null=0.5,
        **PLAIN,
    )


def weights(counted: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the weights of PFD, IRD and their product move MONITOR by more than 0.1.

    The estimate is the range of the score over the weightings that sum to one, in quarters.
    """
    shares = np.array(monitor.alpha_grid(4))
    terms = [counted["pfd"] ** 2, counted["ird"] ** 2, counted["pfd"] * counted["ird"]]
    roots = np.sqrt(np.column_stack(terms) @ shares.T)
    values = np.column_stack([roots, counted["anchor"]])
    result = stats.bootstrap(values, _range, counted["relation"], **draws)
    scores = _ratios(values)
    said = f"between {scores.min():.3f} and {scores.max():.3f}" if len(counted) else ""
    range_is = "a range of {value} ({n} facts that count)"
    return decide(
        "weights_move_the_score",
        result,
        holds=f"The weights matter: over all of them MONITOR is {said}, {range_is}, more than 0.1.",
        opposite=f"The weights matter little: over all of them MONITOR is {said}, {range_is}, "
        "less than 0.1.",
        undecided="These {n} facts do not decide whether the weights move MONITOR by more or less "
        f"than 0.1: over all of them it is {said}, a range of {{value}}.",
        undefined=NO_FACT_COUNTS.format("MONITOR"),
        null=0.1,
        **PLAIN | {"digits": 3},
    )


def accuracy_correlation(relations: pd.DataFrame) -> Finding:
    """Decide whether MONITOR falls as the grid's accuracy rises, from relation to relation.

    Accuracy over MONITOR's own prompts shares their noise, so it is only told beside.
    """
    result = stats.correlation(-relations["MONITOR"], relations["grid average"])
    shared = stats.correlation(-relations["MONITOR"], relations["average"])
    printed = load("monitor_table4_correlation")["pearson"].item()
    beside = f"r = {_turned(result)} over {{n}} relations with the grid's accuracy "
    beside += f"({_turned(shared)} over MONITOR's own prompts; over the paper's models {printed})"
    return decide(
        "monitor_falls_as_accuracy_rises",
        result,
        holds=f"Relations that are answered correctly more often are steadier: {beside}.",
        opposite=f"Relations that are answered correctly more often are shakier: {beside}.",
        undecided="We cannot tell whether relations that are answered correctly more often are "
        f"steadier: {beside}.",
        undefined="Too few relations have a MONITOR to correlate it with accuracy.",
    )


def exposure(truth: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the deviation falls as facts are read more often."""
    result = stats.bootstrap(
        truth[["deviation", "exposures"]] * [-1, 1],
        agreement.rank_correlation,
        truth["relation"],
        **draws,
    )
    groups = {
        "read once or twice": truth["exposures"].between(1, 2),
        f"read {OFTEN} times or more": truth["exposures"] >= OFTEN,
    }
    values = [
        f"{monitor.ratio_of_sums(truth.loc[rows, ['deviation', 'anchor']]):.2f} for facts {name}"
        for name, rows in groups.items()
        if rows.any()
    ]
    rank = f"rank correlation {_turned(result)}, {{n}} facts that count"
    rank += f"; MONITOR is {' and '.join(values)}" if values else ""
    return decide(
        "deviation_falls_with_exposure",
        result,
        holds="The more often the training text states a fact, the less its probability moves "
        f"({rank}).",
        opposite="The more often the training text states a fact, the more its probability moves "
        f"({rank}).",
        undecided="These {n} facts do not decide whether probabilities move less for facts read "
        f"more often ({rank.replace(', {n} facts that count', '')}).",
        undefined="The deviation cannot be ordered by exposure: too few facts count.",
    )


def first_readings(truth: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether MONITOR is lower for facts read once or twice than for those never read."""
    rows = truth[truth["exposures"] <= 2]
    read = rows["exposures"] > 0
    result = (np.nan, np.nan, np.nan, 0)
    values = ["", ""]
    if read.any() and not read.all():
        columns = rows[["deviation", "anchor"]].assign(read=read)
        result = stats.bootstrap(columns, _fall, read, **draws)
        values = [
            f"{monitor.ratio_of_sums(part[['deviation', 'anchor']]):.2f}"
            for part in (rows[read], rows[~read])
        ]
    both = f"MONITOR is {values[0]} after them and {values[1]} without any"
    return decide(
        "first_readings_steady",
        result,
        holds=f"The first one or two readings make a fact steadier: {both}, {{size}} lower "
        "({n} facts that count).",
        opposite=f"The first one or two readings make a fact shakier: {both}, {{size}} higher "
        "({n} facts that count).",
        undecided="These {n} facts that count do not decide whether the first one or two readings "
        f"make a fact steadier: {both} (a fall of {{value}}).",
        undefined="Facts read once or twice, or never, are missing among the facts that count.",
        **PLAIN,
    )


def anchor_or_deviation(truth: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether the anchor separates read from unread facts better than the deviation."""
    read = truth["exposures"] > 0
    scores = {"anchor": truth["anchor"], "deviation": -truth["deviation"]}
    both = {name: np.column_stack([score, read]) for name, score in scores.items()}
    result = stats.paired_difference(
        both["anchor"], both["deviation"], detection.area, truth["relation"], **draws
    )
    a, d = (float(detection.area(values)) for values in both.values())
    at = "at separating facts that were read from facts never read"
    areas = f"areas under the ROC curve {a:.2f} and {d:.2f}"
    same = f"({areas}; paired difference {{value}}, {{n}} facts that count)"
    return decide(
        "anchor_separates_better_than_deviation",
        result,
        holds=f"The anchor is better than the deviation {at} {same}.",
        opposite=f"The deviation is better than the anchor {at} {same}.",
        undecided="These {n} facts that count do not decide whether the anchor or the deviation is "
        f"better {at} ({areas}; paired difference {{value}}).",
        undefined="Read and unread facts cannot be separated: one kind is missing among the facts "
        "that count.",
        **PLAIN,
    )


def unread(truth: pd.DataFrame, **draws: Any) -> Finding:
    """Decide whether facts that were never read count, although the model cannot know them."""
    never = truth[truth["exposures"] == 0]
    rates = 100 * never[["counted", "frame0"]].astype(float).mean()
    how = f"({rates['counted']:.1f} and {rates['frame0']:.1f} %; paired, {{n}} facts)"
    return decide(
        "unread_facts_count",
        stats.paired_difference(
            never["counted"], never["frame0"], strata=never["relation"], **draws
        ),
        holds="Coverage also counts copying: the model answers facts that it never read correctly "
        f"more often after hearing the answer than without it, by {{size}} {how}.",
        opposite="The model answers facts that it never read correctly less often after hearing "
        f"the answer than without it, by {{size}} {how}.",
        undecided="These {n} facts do not decide whether the model answers facts that it never "
        "read correctly more often after hearing the answer than without it: the difference is "
        f"{{value}} {how}.",
        undefined="All facts asked here were read.",
    )


def _row(measured: pd.DataFrame, measure: str) -> tuple[float, ...]:
    """Return a measure's estimate over all facts, its interval and n from a tidy table."""
    rows = measured[(measured["measure"] == measure) & (measured["relation"] == "all")]
    values = rows[["estimate", "low", "high", "n"]].to_numpy(dtype=float)
    return tuple(values[0]) if len(values) else (np.nan, np.nan, np.nan, 0)


def _contexts(
    by_context: pd.DataFrame, first: str, second: str, draws: Mapping[str, Any]
) -> stats.Difference:
    return stats.paired_difference(
        by_context[first], by_context[second], strata=by_context["relation"], **draws
    )


def _partial(table: pd.DataFrame) -> stats.Correlation:
    """Correlate the first column with the last, the middle one held fixed (n less by one)."""
    rows = table.dropna().to_numpy(dtype=float)
    if len(rows) < 3:
        return stats.correlation([], [])
    fixed = np.column_stack([np.ones(len(rows)), rows[:, 1]])
    left = rows[:, [0, 2]] - fixed @ np.linalg.lstsq(fixed, rows[:, [0, 2]], rcond=None)[0]
    found = stats.correlation(*left.T)
    ends = (np.nan, np.nan)
    if len(rows) > 4 and abs(found.r) < 1:
        ends = stats.fisher(found.r, len(rows) - 1)
    return found._replace(low=ends[0], high=ends[1])


def _turned(result: stats.Correlation | stats.Interval) -> str:
    """Write a correlation with the sign turned round, and its interval if there is one."""
    r, high, low = (-number for number in result[:3])
    return f"{r:.2f}" + (f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else "")


def _ratios(values: np.ndarray) -> np.ndarray:
    """Divide the sum of each column by that of the last one, which is left out."""
    pairs = [monitor.ratio_of_sums(values[..., [c, -1]]) for c in range(values.shape[-1] - 1)]
    return np.stack(pairs, axis=-1)


def _range(values: np.ndarray) -> np.ndarray:
    return np.ptp(_ratios(values), axis=-1)


def _fall(rows: np.ndarray) -> np.ndarray:
    """Return MONITOR of the rows that are not marked less that of the marked ones."""
    marked = rows[..., 2:]
    first, second = (monitor.ratio_of_sums(rows[..., :2] * part) for part in (1 - marked, marked))
    return first - second


def _tokens_of(word: str, tokens: pd.DataFrame) -> pd.DataFrame:
    """Return the first run of tokens that spells a word; none where no run does."""
    pieces = tokens["token"].str.replace("[Ġ▁]", " ", regex=True).tolist()
    for start in range(len(pieces)):
        for end in range(start + 1, len(pieces) + 1):
            if "".join(pieces[start:end]).strip() == word:
                return tokens.iloc[start:end]
    return tokens.iloc[:0]
