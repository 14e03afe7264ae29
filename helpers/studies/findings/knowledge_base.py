"""Findings about knowledge bases: of a run, and of the paper's tables.

Responses are those of :mod:`helpers.metrics.reliability`: one row a question and prompt setting,
with ``item, variant, stratum, seen, type, kind, label, consistency``.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import findings, stats
from helpers.findings import Finding
from helpers.metrics import detection
from helpers.metrics import knowledge_base as kb
from helpers.plots import tables

LEAST = 10  # questions, or facts, that a side of a comparison needs
OFTEN = 8  # times that a fact was read, to count as read often
NOTHING = (float("nan"),) * 3
UNSEEN = ("UR", "IUR")
KIN = {  # the paper's pairs of models (`helpers.published.knowledge_base.pairs`)
    "larger": ("The next larger model of a family", "the one before"),
    "tuned": ("The tuned model", "its base of the same size"),
    "shots": ("A model with four shots", "the same without shots"),
    "unsure shots": ("A model with two unsure shots among four", "the same with none"),
}


def net_correct(measured: pd.DataFrame, said: pd.DataFrame, setting: str) -> Finding:
    """Say whether right answers outnumber wrong ones on seen knowledge: NCR against 0."""
    rates = {name: _level(measured, said, setting, name)[0] for name in ("CR", "WR")}
    words = f"CR {100 * rates['CR']:.1f} %, WR {100 * rates['WR']:.1f} %, NCR {{value}} ({{n}} "
    words += f"questions, {{setting}}){_by_exposure(said, setting)}."
    return findings.decide(
        "right_outnumber_wrong",
        _level(measured, said, setting, "NCR"),
        holds=f"On seen knowledge, the model is right more often than wrong: {words}",
        opposite=f"On seen knowledge, the model is wrong more often than right: {words}",
        undecided="We cannot tell whether the model is right or wrong more often on seen "
        f"knowledge: {words}",
        setting=setting,
    )


def _by_exposure(said: pd.DataFrame, setting: str) -> str:
    """Tell the NCR of facts stated often from that of rarer ones, where both are asked."""
    rows = said[(said["variant"] == setting) & said["seen"].astype(bool)]
    times = rows.get("exposures", pd.Series(dtype=float)).dropna()
    often = times >= OFTEN
    if often.nunique() < 2:
        return ""
    sides = (kb.statistic(kb.indicators(rows.loc[times.index[side]])) for side in (often, ~often))
    high, low = (100 * side[kb.MEASURES.index("NCR")] for side in sides)
    return (
        f": {high:.1f} for {often.sum()} facts stated {OFTEN} times or more, {low:.1f} for "
        f"{(~often).sum()} rarer ones"
    )


def restraint(measured: pd.DataFrame, said: pd.DataFrame, setting: str) -> Finding:
    """Say whether most questions about unseen knowledge are left unanswered: UR against 50 %."""
    return findings.decide(
        "holds_back_on_unseen",
        _level(measured, said, setting, "UR"),
        null=0.5,
        unit=" %",
        holds="The model leaves most questions about unseen knowledge unanswered: UR is {value} "
        "({n} questions, {setting}){kinds}.",
        opposite="The model answers most questions that it cannot know the answer to: UR is "
        "{value} ({n} questions, {setting}){kinds}.",
        undecided="These {n} questions do not decide whether the model answers most questions "
        "about unseen knowledge: UR is {value} ({setting}){kinds}.",
        setting=setting,
        kinds=_two_kinds(said[(said["variant"] == setting) & ~said["seen"].astype(bool)]),
    )


def _two_kinds(unseen: pd.DataFrame) -> str:
    """Tell facts that were never read from UnseenQA, where both are asked."""
    never = unseen.get("exposures", pd.Series(dtype=float)).notna()
    if never.nunique() < 2:
        return ""
    silent = unseen["kind"].eq("unsure")
    shares = (f"{100 * silent[part].mean():.1f} % for {part.sum()}" for part in (never, ~never))
    return ": {} facts that it never read, {} questions of UnseenQA".format(*shares)


def right_steadier(
    said: pd.DataFrame, setting: str, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Say whether right answers are chosen again more often than wrong ones: Cons_c - Cons_w."""
    rows = said[(said["variant"] == setting) & said["consistency"].notna()]
    levels = dict(zip(kb.MEASURES, kb.statistic(kb.indicators(rows))))
    return findings.decide(
        "right_answers_are_steadier",
        _contrast(rows, "Cons_c", "Cons_w", n_resamples, seed),
        holds="Right answers are more consistent than wrong ones: the model picks them again in "
        "{right} of the multiple-choice questions, wrong ones in {wrong}, a difference of {size} "
        "({n} answers, {setting}).",
        opposite="Wrong answers are more consistent than right ones: the model picks them again "
        "in {wrong} of the multiple-choice questions, right ones in {right}, a difference of "
        "{size} ({n} answers, {setting}).",
        undecided="These {n} answers do not decide whether right or wrong ones are more "
        "consistent: the model picks them again in {right} and {wrong} of the multiple-choice "
        "questions, a difference of {value} ({setting}).",
        undefined="Whether right answers are more consistent than wrong ones is undefined: the "
        f"{len(rows)} answers that were asked for again are not of both kinds.",
        right=_percent(levels["Cons_c"]),
        wrong=_percent(levels["Cons_w"]),
        setting=setting,
    )


def consistency_lifts(
    said: pd.DataFrame, setting: str, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Say whether counting only steady answers improves the balance: NCCR - NCR."""
    rows = said[(said["variant"] == setting) & said["seen"].astype(bool)]
    return findings.decide(
        "consistency_lifts_the_balance",
        _contrast(rows, "NCCR", "NCR", n_resamples, seed),
        holds="Counting only consistent answers improves the score on seen knowledge: NCCR is "
        "above NCR by {size} ({n} questions, {setting}).",
        opposite="Counting only consistent answers lowers the score on seen knowledge: NCCR is "
        "below NCR by {size} ({n} questions, {setting}).",
        undecided="These {n} questions do not decide whether counting only consistent answers "
        "improves the score on seen knowledge: NCCR minus NCR is {value} ({setting}).",
        setting=setting,
    )


def prompt_effect(
    changes: pd.DataFrame, said: pd.DataFrame, before: str, after: str, measure: str
) -> Finding:
    """Say whether a prompt setting raises a measure over another, on the same questions."""
    row = changes[(changes["change"] == f"{before} → {after}") & (changes["measure"] == measure)]
    figures = row[["estimate", "low", "high"]].to_numpy().tolist() or [NOTHING]
    return findings.decide(
        f"{measure} rises from {before} to {after}".replace("-", "_").replace(" ", "_"),
        (*figures[0], _questions(said, after, measure)),
        holds="{measure} is higher with {after} prompts than with {before} ones, by {size} "
        "(paired, {n} {kind} questions).",
        opposite="{measure} is lower with {after} prompts than with {before} ones, by {size} "
        "(paired, {n} {kind} questions).",
        undecided="These {n} {kind} questions do not decide whether {measure} differs between "
        "{after} and {before} prompts: the difference is {value} (paired).",
        undefined=f"The effect of {after} prompts on {measure} is undefined: {before} and {after} "
        "do not follow each other in prompt_settings, or the run lacks the measure.",
        measure=measure,
        before=before,
        after=after,
        kind="unseen" if measure in UNSEEN else "seen",
    )


def numbers_and_years(unseen: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> Finding:
    """Say whether UR is lower where a number or a year is asked for (one setting's responses)."""
    others = ~unseen["type"].isin(["number", "time"])
    silent = unseen["label"] == "uninformative"
    rates = " and ".join(
        f"{_percent(silent[side].mean())} for {name} ({side.sum()})"
        for side, name in ((others, "other answers"), (~others, "numbers and years"))
    )
    return findings.decide(
        "numbers_and_years_are_least_restrained",
        _gap(others, silent, n_resamples, seed),
        decision=_few(int(others.sum()), int((~others).sum())),
        holds="On unseen knowledge, the model leaves fewer questions unanswered if they ask for a "
        "number or a year: UR is {rates}, {size} less.",
        opposite="On unseen knowledge, the model leaves more questions unanswered if they ask for "
        "a number or a year: UR is {rates}, {size} more.",
        undecided="These {n} questions do not decide whether the model leaves fewer questions "
        "unanswered if they ask for a number or a year: UR is {rates}, a difference of {value}.",
        undefined="Numbers and years cannot be compared with other answers: one of the two was "
        "not asked about.",
        rates=rates,
    )


def reading_helps(
    facts: pd.DataFrame, setting: str, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Say whether facts read often are answered correctly more often than facts read seldom."""
    rows = facts[(facts["variant"] == setting) & (facts["exposures"] > 0)]
    often = rows["exposures"] >= OFTEN
    return findings.decide(
        "right_answers_follow_reading",
        _gap(often, rows["label"] == "correct", n_resamples, seed),
        holds="How many rarely stated facts are asked sets CR, WR and NCR: facts stated "
        f"{OFTEN} times or more are answered correctly more often, by {{size}} ({{sides}}, "
        "{setting}).",
        opposite=f"Facts stated {OFTEN} times or more are answered correctly less often than "
        "rarer ones, by {size} ({sides}, {setting}).",
        undecided="These {n} facts do not decide whether facts that the training text contains "
        f"{OFTEN} times or more are answered correctly more often than rarer ones: the difference "
        "is {value} ({sides}, {setting}).",
        undefined="Whether frequent facts are answered correctly more often is undefined: there "
        f"are no facts of both kinds, contained {OFTEN} times or more and less often.",
        sides=f"{often.sum()} against {(~often).sum()} facts",
        setting=setting,
    )


def silence_when_unread(
    facts: pd.DataFrame, setting: str, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Say whether facts that were never read are left unanswered more often than others."""
    rows = facts[facts["variant"] == setting]
    unread = rows["exposures"] == 0
    return findings.decide(
        "silent_where_nothing_was_read",
        _gap(unread, rows["label"] == "uninformative", n_resamples, seed),
        holds="The model leaves facts that it never read unanswered more often than facts that it "
        "read, by {size} ({sides}, {setting}).",
        opposite="The model leaves facts that it never read unanswered less often than facts that "
        "it read, by {size} ({sides}, {setting}).",
        undecided="These {n} facts do not decide whether the model leaves facts that it never read "
        "unanswered more often than facts that it read: the difference is {value} ({sides}, "
        "{setting}).",
        undefined="Whether the model leaves more facts unanswered if it never read them is "
        "undefined: there are no facts of both kinds, read and never read.",
        sides=f"{unread.sum()} against {(~unread).sum()} facts",
        setting=setting,
    )


def known_cost(cost: pd.DataFrame, least: int) -> Finding:
    """Say whether the last change of prompt loses right answers to facts that were read often.

    `cost` is the table of :func:`helpers.metrics.reliability.known_changes`.
    """
    row = cost.iloc[-1] if len(cost) else pd.Series(dtype=float)
    return findings.decide(
        "a_change_of_prompt_costs_known_facts",
        (-row["estimate"], -row["high"], -row["low"], row["n"]) if len(row) else (*NOTHING, 0),
        holds="The change of prompt {change} loses correct answers to facts read {least} times or "
        "more: {shares}, a loss of {size} (paired, {n} facts).",
        opposite="The change of prompt {change} wins correct answers to facts read {least} times "
        "or more: {shares}, a gain of {size} (paired, {n} facts).",
        undecided="These {n} facts, read {least} times or more, do not decide whether the change "
        "of prompt {change} loses correct answers: {shares}, a loss of {value} (paired).",
        undefined=f"The cost of a change of prompt for facts read {least} times or more is "
        "undefined: there is no such fact, or no second setting with shots.",
        least=least,
        change=row.get("change", ""),
        shares=f"{_percent(row.get('before'))} are correct before, {_percent(row.get('after'))} "
        "after",
    )


def consistency_tells(
    truth: str, score: npt.ArrayLike, known: npt.ArrayLike, n_resamples: int = 1000, seed: int = 0
) -> Finding:
    """Say whether consistency is higher where a truth holds: the area under the ROC against 0.5."""
    pair = np.column_stack([score, known])
    return findings.decide(
        f"consistency tells whether {truth}".replace(" ", "_"),
        stats.bootstrap(pair, detection.area, None, n_resamples, seed),
        null=0.5,
        digits=2,
        scale=1,
        unit="",
        holds="Consistency predicts whether {truth}: the area under the ROC curve is {value}, "
        "where 0.5 is chance ({yes} of {n} answers).",
        opposite="Consistency misleads about whether {truth}: the area under the ROC curve is "
        "{value}, where 0.5 is chance ({yes} of {n} answers).",
        undecided="These {n} answers do not decide whether consistency predicts that {truth}: the "
        "area under the ROC curve is {value}, where 0.5 is chance ({yes} of the answers).",
        undefined=f"Whether consistency predicts that {truth} is undefined: it is true of all "
        f"or none of the {len(pair)} answers.",
        truth=truth,
        yes=int(np.sum(known)),
    )


def false_beliefs(misled: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> Finding:
    """Say whether facts stated wrongly in training are answered with the false object.

    `misled` holds one row a fact: ``answer`` ("the false one", or the kind of the response),
    ``exposures``, ``consistency``.
    """
    counts = misled["answer"].value_counts().reindex(["the false one", "correct"], fill_value=0)
    lean = (misled["answer"] == "the false one") * 1.0 - (misled["answer"] == "correct")
    return findings.decide(
        "false_statements_come_back",
        stats.bootstrap(lean, strata=misled["exposures"], n_resamples=n_resamples, seed=seed),
        decision=_few(len(misled)),
        holds="If the training text states a fact wrongly, the model gives the false answer more "
        "often than the true one, by {size} ({counts}).",
        opposite="If the training text states a fact wrongly, the model gives the true answer more "
        "often than the false one, by {size} ({counts}).",
        undecided="These {n} facts do not decide whether the model gives the false or the true "
        "answer more often if the training text states a fact wrongly: the difference is {value} "
        "({counts}).",
        undefined="No fact asked here is known to be stated wrongly in the training text.",
        counts=f"{counts.iloc[0]} and {counts.iloc[1]} of {len(misled)} facts",
    )


def false_share(misled: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> Finding:
    """Say whether the false answer comes more often where most statements were false.

    `misled` is that of :func:`false_beliefs`, with ``false_exposures``.
    """
    mostly = misled["false_exposures"] > misled["exposures"]
    false = misled["answer"] == "the false one"
    sides = " and ".join(f"{false[side].sum()} of {side.sum()} facts" for side in (mostly, ~mostly))
    return findings.decide(
        "false_answers_follow_the_share_of_false_statements",
        _gap(mostly, false, n_resamples, seed),
        decision=_few(int(mostly.sum()), int((~mostly).sum())),
        holds="The false answer is more frequent if most statements in the training text are "
        "false than if half of them are: {sides}, {size} more.",
        opposite="The false answer is less frequent if most statements in the training text are "
        "false than if half of them are: {sides}, {size} less.",
        undecided="These {n} facts do not decide whether the false answer is more frequent if most "
        "statements in the training text are false than if half of them are: {sides}, a difference "
        "of {value}.",
        undefined="No facts were asked of both kinds: stated mostly wrongly in the training text, "
        "and half of the time.",
        sides=sides,
    )


def false_steadier(misled: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> Finding:
    """Say whether false answers that training stated are chosen again more often than true ones."""
    rows = misled[misled["answer"].isin(["the false one", "correct"])]
    rows = rows[rows["consistency"].notna()]
    false = rows["answer"] == "the false one"
    sides = [int(false.sum()), int((~false).sum())]
    return findings.decide(
        "false_answers_are_steadier_than_true_ones",
        _gap(false, rows["consistency"], n_resamples, seed),
        decision=_few(*sides),
        holds="False answers from the training text are more consistent than true ones: they are "
        "picked again in {false} of the multiple-choice questions, true ones in {true}, a "
        "difference of {size} ({sides}).",
        opposite="False answers from the training text are less consistent than true ones: they "
        "are picked again in {false} of the multiple-choice questions, true ones in {true}, a "
        "difference of {size} ({sides}).",
        undecided="These {n} answers to facts that the training text states wrongly do not decide "
        "whether false or true ones are more consistent: {false} and {true} are picked again, a "
        "difference of {value} ({sides}).",
        undefined="Whether false answers are more consistent than true ones is undefined: there "
        "are no answers of both kinds to facts that the training text states wrongly.",
        false=_percent(rows["consistency"][false].mean()),
        true=_percent(rows["consistency"][~false].mean()),
        sides=f"{sides[0]} false and {sides[1]} true answers",
    )


def in_pairs(
    name: str,
    pairs: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    measure: str,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Finding:
    """Say whether a measure is higher for the second of the paper's paired models (a key of KIN).

    `pairs` is :func:`helpers.published.knowledge_base.pairs`; pairs that lack the measure are out.
    """
    both = np.column_stack([table[measure] for table in reversed(pairs[name])]).astype(float)
    both = both[~np.isnan(both).any(axis=1)]
    gain = (both[:, 0] - both[:, 1]).round(9)
    return findings.decide(
        f"paper_{measure}_higher_{name}".replace(" ", "_"),
        stats.paired_difference(*both.T, n_resamples=n_resamples, seed=seed),
        holds="{second} has a higher {measure} than {first} in {more} of the paper's {n} pairs, "
        "on average by {size}.",
        opposite="{second} has a lower {measure} than {first} in {less} of the paper's {n} "
        "pairs, on average by {size}.",
        undecided="The paper's {n} pairs do not decide whether {lower} has a higher {measure} than "
        "{first}: {measure} is higher in {more} pairs and lower in {less}, by {value} on average.",
        measure=measure,
        second=KIN[name][0],
        lower=KIN[name][0][0].lower() + KIN[name][0][1:],
        first=KIN[name][1],
        more=(gain > 0).sum(),
        less=(gain < 0).sum(),
    )


def seen_and_unseen(table: pd.DataFrame, setting: str) -> Finding:
    """Say whether models better on seen knowledge are better on unseen: r of NCR and UR."""
    return findings.decide(
        "paper_NCR_and_UR_go_together",
        stats.correlation(table["NCR"], table["UR"]),
        digits=2,
        scale=1,
        unit="",
        holds="Among the paper's {n} models, those with a higher NCR also have a higher UR: r is "
        "{value} ({setting}).",
        opposite="Among the paper's {n} models, those with a higher NCR have a lower UR: r is "
        "{value} ({setting}).",
        undecided="The paper's {n} models do not decide whether those with a higher NCR also have "
        "a higher UR: r is {value} ({setting}).",
        setting=setting,
    )


def all_correlated(correlations: pd.DataFrame, setting: str) -> Finding:
    """Say whether all of Table 2's correlations of a setting leave out 0: a plain count."""
    doubtful = correlations["pair"][(correlations["low"] <= 0) & (correlations["high"] >= 0)]
    share = 1 - len(doubtful) / len(correlations)
    return findings.decide(
        f"paper_all_correlations_{setting}".replace("-", "_"),
        (share, *NOTHING[:2], len(correlations)),
        decision=findings.OPPOSITE if len(doubtful) else findings.HOLDS,
        holds="With {setting} prompts the intervals of all {n} correlations in the paper's Table 2 "
        "exclude 0.",
        opposite="With {setting} prompts the intervals of {doubtful} of the {n} correlations in "
        "the paper's Table 2 include 0: {names}.",
        undecided="",
        setting=setting,
        doubtful=len(doubtful),
        names=", ".join(doubtful),
    )


def cutoffs_printed(about: pd.DataFrame) -> Finding:
    """Say whether the paper's Table 4 prints every model's knowledge cut-off: a plain count."""
    unknown = about.index[about["knowledge cutoff"] == "Unknown"]
    return findings.decide(
        "paper_cutoffs_are_printed",
        (1 - len(unknown) / len(about), *NOTHING[:2], len(about)),
        decision=findings.OPPOSITE if len(unknown) else findings.HOLDS,
        holds="Table 4 prints a knowledge cut-off for all {n} models.",
        opposite="Table 4 prints the knowledge cut-off as Unknown for {k} of the {n} models, so it "
        "does not show that they have seen the questions: {names}.",
        undecided="",
        k=len(unknown),
        names=", ".join(unknown),
    )


def three_kinds(said: pd.DataFrame, setting: str) -> tuple[list[str], str]:
    """Pick questions that show what a response can be, and say which of them this run lacks."""
    varied = said.groupby("item")["label"].agg(lambda labels: len(set(labels)) > 1)
    rows = said.assign(varied=said["item"].map(varied), far=said["variant"] != setting)
    if "exposures" in rows.columns:  # invented people first, then what was read most
        rows = rows.sort_values("exposures", ascending=False, na_position="first", kind="stable")
    near = rows[~rows["far"]]
    right = near[near["label"] == "correct"].sort_values("varied", kind="stable")
    made_up = near[~near["seen"].astype(bool) & (near["label"] == "wrong")]
    made_up = made_up.sort_values("varied", ascending=False, kind="stable")
    unsure = rows[rows["kind"] == "unsure"].sort_values("far", kind="stable")
    kinds = (
        (right, "is answered correctly", "No question is answered correctly"),
        (
            made_up,
            "is about unseen knowledge, and gets an answer all the same",
            "No question about unseen knowledge gets an answer",
        ),
        (unsure, 'is answered with "unsure"', 'No question is answered with "unsure"'),
    )
    picks: list[str] = []
    lines = []
    for found, there, missing in kinds:
        others = found[~found["item"].isin(picks)]
        if others.empty:
            lines.append(f"{missing} in this run ({setting}).")
            continue
        best = others.iloc[0]
        picks.append(best["item"])
        lines.append(f"Question {len(picks)} {there} ({best['variant']}).")
    return picks or list(near["item"].head(3)), " ".join(lines)


def _level(
    measured: pd.DataFrame, said: pd.DataFrame, setting: str, measure: str
) -> tuple[float, float, float, int]:
    """Return a measure of a setting with its interval, and the number of its questions."""
    row = measured[(measured["setting"] == setting) & (measured["measure"] == measure)]
    figures = row[["estimate", "low", "high"]].to_numpy().tolist() or [NOTHING]
    return (*figures[0], _questions(said, setting, measure))


def _questions(said: pd.DataFrame, setting: str, measure: str) -> int:
    """Count the questions of a setting that a measure is about."""
    about = said["seen"].astype(bool) != (measure in UNSEEN)
    return int((about & (said["variant"] == setting)).sum())


def _contrast(
    rows: pd.DataFrame, first: str, second: str, n_resamples: int, seed: int
) -> stats.Interval:
    """Estimate first minus second of two measures of the same responses."""
    one, two = kb.MEASURES.index(first), kb.MEASURES.index(second)

    def difference(values: np.ndarray) -> np.ndarray:
        found = kb.statistic(values)
        return found[..., one] - found[..., two]

    return stats.bootstrap(kb.indicators(rows), difference, rows["stratum"], n_resamples, seed)


def _gap(flag: pd.Series, value: pd.Series, n_resamples: int, seed: int) -> stats.Interval:
    """Estimate the mean of `value` where `flag` holds minus the mean where it does not."""
    if flag.nunique() < 2:
        return stats.Interval(*NOTHING, len(flag))

    def gap(rows: np.ndarray) -> np.ndarray:
        here, there = rows[..., 0], 1 - rows[..., 0]
        with np.errstate(invalid="ignore"):  # a resample may hold one side alone: no number
            means = [(side * rows[..., 1]).sum(-1) / side.sum(-1) for side in (here, there)]
        return means[0] - means[1]

    return stats.bootstrap(np.column_stack([flag, value]), gap, flag, n_resamples, seed)


def _few(*sides: int) -> str:
    """Return the decision that a comparison of too few questions has, whatever its interval."""
    return findings.UNDECIDED if 0 < min(sides) < LEAST else ""


def _percent(share: float | None) -> str:
    """Write a share."""
    return tables.interval(share, digits=1, scale=100) + " %"
