"""What the records of the bundled models show: exposure, hints, wordings, skills, manners."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from notebooks.analysis.atlas import records
from notebooks.analysis.atlas.page import KNOWN
from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED, Finding, decide
from helpers.plots.tables import interval
from helpers.stats import Interval, wilson

HELPED, READ = (32, 64, 128), (1, 2, 4, 8, 16, 32)


class Contrast(NamedTuple):
    """Two shares that are compared: the claim holds where the first is larger."""

    first: str  # condition, of the records
    second: str
    levels: Collection[int] | None  # exposures, all of them if None
    on: str
    subject: str
    verbs: tuple[str, str] = ("raises", "lowers")  # what it does if the claim holds, and if not
    what: str = "the share of right answers"
    answers: tuple[int, int] = (1, 1)  # to a fact, on either side


CONTRASTS = {
    "the_right_word_helps": Contrast(
        *("right", "none", records.MIDDLE, "facts stated 8 to 32 times"),
        "the right word before the question",
    ),
    "a_wrong_word_hurts": Contrast(
        *("none", "wrong", HELPED, "facts stated 32 to 128 times"),
        "a wrong word before the question",
        ("lowers", "raises"),
    ),
    "a_wrong_word_is_more_than_distraction": Contrast(
        *("unrelated", "wrong", HELPED, "facts stated 32 to 128 times"),
        "a wrong word of the right kind, compared with an unrelated one,",
        ("lowers", "raises"),
    ),
    "held_out_wordings_are_harder": Contrast(
        *("question, trained", "question, held out", (64,), "facts stated 64 times"),
        "a wording that the text never used, compared with those that it used,",
        ("lowers", "raises"),
        answers=(4, 2),
    ),
    "examples_in_a_list_help": Contrast(
        *("list, 20 examples", "list, 0 examples", records.SEEN, "facts stated 16 times or more"),
        "a list of 20 examples, compared with none,",
    ),
    "options_that_are_shown_hurt": Contrast(
        *("choice of 4, not shown", "choice of 4, below", records.MANY),
        "facts stated 64 times or more",
        "listing the four options below the question",
        ("lowers", "raises"),
    ),
    "wording_changes_more_than_order": Contrast(
        *("changed by frame", "changed by order", records.MIDDLE, "facts stated 8 to 32 times"),
        "changing the wording, compared with changing the order of five examples,",
        what="the share of changed answers",
    ),
    "one_way_facts_stay_one_way": Contrast(
        *("one way, as shown", "one way, reversed", None),
        "pairs of names that the text gives in one direction only",
        "asking in that direction, not in reverse,",
    ),
}


class Chance(NamedTuple):
    """A share that is compared with what chance would give."""

    condition: str
    levels: Collection[int]
    on: str
    clause: str
    null: float
    reference: str
    answers: int = 1  # to a fact


CHANCES = {
    "letters_are_above_chance": Chance(
        *("choice of 4, by letter", records.MANY),
        "facts stated 64 times or more",
        "names the right letter of four options",
        *(0.25, "by chance (a quarter)"),
    ),
    "checks_are_above_chance": Chance(
        *("check, both", records.MANY),
        "facts stated 64 times or more",
        "judges correctly whether a statement is true or false",
        *(0.5, "by chance (one half)", 2),
    ),
    "one_of_four_subjects_is_picked": Chance(
        *("reading, four statements", records.EXERCISE),
        "exercises in a wording of the training",
        "picks the right one of four statements before a question",
        *(0.25, "by chance (a quarter)"),
    ),
    "falsehoods_are_believed": Chance(
        *("false belief, falsehood given", (64,)),
        "facts that all 64 mentions state falsely",
        "gives the falsehood",
        *(0.5, "not"),
    ),
}


def by_hand(said: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Pick answers that show what exposure does, and say whether they do.

    Of each exposure the first answer that fits it: wrong at 0, right at the highest; and the first
    false object that the model gives, or the first fact that has one.
    """
    honest = said[said["false_object"] == ""].sort_values("exposures", kind="stable")
    levels = honest["exposures"].unique()
    if len(levels) < 2 or levels[0] != 0:
        few = "Too few exposures among these facts to compare."
        return honest.groupby("exposures").head(1), few
    fits = np.where(honest["exposures"] == 0, ~honest["right"], honest["right"])
    order = honest.assign(fits=fits).sort_values(["exposures", "fits"], ascending=[True, False])
    chosen = order.groupby("exposures").head(1)
    never, often = chosen.iloc[0], chosen.iloc[-1]
    words = [
        "The answer about the fact that the text never states is wrong"
        if never["fits"]
        else "All answers about facts that the text never states are right (lucky guesses)",
        f"the one about the fact that it states {often['exposures']} times is right."
        if often["fits"]
        else f"all those about facts that it states {often['exposures']} times are wrong.",
    ]
    false = said[said["false_object"] != ""]
    if len(false):
        repeats = false["text"].str.strip().str.casefold() == false["false_object"].str.casefold()
        row = false.loc[[repeats.idxmax()]]
        chosen = pd.concat([chosen, row])
        words.append(
            "For the last fact the model gives the false object that it read."
            if repeats.any()
            else "The model gives no false object that it read."
        )
    return chosen.drop(columns="fits"), f"{words[0]}; {' '.join(words[1:])}"


def copying(learnt: pd.DataFrame, by_hand: str, by_chance: str) -> Finding:
    """Compare two toys at the end of the copying stage; one seed each, so without an interval.

    The heads set by hand help where the toy with them predicts at least twice as many repeats.
    """
    ends = learnt.sort_values("step").groupby("model")["estimate"].last()
    one, other = float(ends[by_hand]), float(ends[by_chance])
    step = int(learnt["step"].max())
    return decide(
        "heads_set_by_hand_form_copying",
        (one - other, np.nan, np.nan, 2),
        decision=HOLDS if one > 2 * other else OPPOSITE if one < other else UNDECIDED,
        holds="With the heads set by hand the toy copies better: after {step} steps it predicts "
        "{one} of the repeated tokens, without them {other} (one toy each, so no interval).",
        opposite="With the heads set by hand the toy copies worse: after {step} steps it predicts "
        "{one} of the repeated tokens, without them {other} (one toy each, so no interval).",
        undecided="After {step} steps the toys differ too little to say that the heads set by hand "
        "help: with them it predicts {one} of the repeated tokens, without them {other} (one toy "
        "each).",
        step=step,
        one=_percent(one),
        other=_percent(other),
    )


def toy(curve: pd.DataFrame, often: int = 16) -> Finding:
    """Compare the toy's accuracy on facts that it read often with those that it never read."""
    table = curve.assign(model="toy", condition=curve["measure"])
    many = sorted(level for level in table["exposures"].unique() if level >= often)
    high, low = (_share(table, "toy", "toy", levels) for levels in (many, records.NEVER))
    return decide(
        "the_toy_recalls_what_it_read",
        records.difference(high, low),
        holds="The toy recalls what it read: it answers {high} of the facts that it read {often} "
        "times or more and {low} of those that it never read, {size} fewer.",
        opposite="The toy answers fewer of the facts that it read {often} times or more ({high}) "
        "than of those that it never read ({low}), by {size}.",
        undecided="These facts (at least {n} a group) do not decide whether the toy recalls what "
        "it read: it answers {high} of those read {often} times or more and {low} of those never "
        "read, a difference of {value}.",
        undefined="Whether the toy recalls what it read is undefined: the comparison needs facts "
        "that it read often and facts that it never read.",
        often=often,
        high=_percent(high.estimate),
        low=_percent(low.estimate),
    )


def trained(curves: pd.DataFrame, enough: float = 0.9) -> Finding:
    """Say whether every model of the family copied at the end of its first stage."""
    rows = curves[curves["stage"] == "copying"].sort_values("step", kind="stable")
    ends = rows.groupby("model", sort=False)["estimate"].last().dropna()
    if ends.empty:
        return _undefined("every_model_copies", "No copying stage of these models was recorded.")
    least, some = float(ends.min()), bool((ends >= enough).any())
    return decide(
        "every_model_copies",
        (least, np.nan, np.nan, len(ends)),
        decision=HOLDS if least >= enough else UNDECIDED if some else OPPOSITE,
        holds="Every model learnt to copy before it read a fact: at the end of stage 1 each "
        "predicted at least {least} of the repeated tokens.",
        opposite="No model learnt to copy well before it read its facts: at the end of stage 1 the "
        "best predicted {most} of the repeated tokens.",
        undecided="Not every model learnt to copy well before it read its facts: at the end of "
        "stage 1 {worst} predicted {least} of the repeated tokens, the best {most}.",
        least=_percent(least),
        most=_percent(float(ends.max())),
        worst=ends.idxmin(),
    )


def records_hold(live: Interval, expected: float, model: str) -> Finding:
    """Say whether the recorded accuracy, at the same exposures, lies in the live interval."""
    estimate, low, high, n = live
    missing = np.isnan([estimate, expected]).any()
    inside = low <= expected <= high
    known = not np.isnan([low, high]).any()
    return decide(
        "the_records_are_confirmed",
        (estimate, low, high, n),
        decision=UNDEFINED
        if missing
        else UNDECIDED
        if not known
        else HOLDS
        if inside
        else OPPOSITE,
        holds="This run agrees with the records: {model} answers {value} of {n} questions "
        "correctly, and the records predict {expected} at the same exposures.",
        opposite="This run departs from the records: {model} answers {value} of {n} questions "
        "correctly, and the records predict {expected} at the same exposures.",
        undecided="{n} answers are too few to check the records: {value} are right, and the "
        "records predict {expected} at the same exposures.",
        undefined="This run has no exposures in common with the records.",
        unit=" %",
        model=model,
        expected=_percent(expected),
    )


def exposure(recorded: pd.DataFrame, model: str) -> Finding:
    """Decide whether facts stated 64 times or more are answered better than those never stated."""
    condition = f"none, {KNOWN}"
    high, low = (_share(recorded, model, condition, k) for k in (records.MANY, records.NEVER))
    return decide(
        "accuracy_follows_exposure",
        records.difference(high, low),
        holds="Recall rises with exposure: {model} answers {high} of the facts stated 64 times or "
        "more and {low} of those never stated, {size} fewer (at least {n} facts a group).",
        opposite="Recall falls with exposure: {model} answers {high} of the facts stated 64 times "
        "or more and {low} of those never stated, {size} more (at least {n} facts a group).",
        undecided="These facts (at least {n} a group) do not decide whether recall rises with "
        "exposure: {model} answers {high} of the facts stated 64 times or more and {low} of those "
        "never stated, a difference of {value}.",
        undefined=_missing("Accuracy by exposure", model),
        model=model,
        high=_percent(high.estimate),
        low=_percent(low.estimate),
    )


def half(recorded: pd.DataFrame, model: str) -> Finding:
    """Find the lowest exposure from which on more than half of the facts are surely known."""
    rows = recorded[(recorded["model"] == model) & (recorded["condition"] == f"none, {KNOWN}")]
    if rows.empty:
        return _undefined("half_is_known", _missing("Accuracy by exposure", model))
    rows = rows.sort_values("exposures")
    sure = rows[rows["low"][::-1].cummin()[::-1] > 0.5]  # there and at every higher exposure
    row = sure.iloc[0] if len(sure) else rows.loc[rows["estimate"].idxmax()]
    return decide(
        "half_is_known",
        (row["estimate"], row["low"], row["high"], row["n"]),
        null=0.5,
        unit=" %",
        holds="{model} knows more than half of the facts from {k} exposures on: {value} there "
        "({n} facts).",
        opposite="{model} knows half of the facts at no exposure: at best {value}, at {k} ({n} "
        "facts).",
        undecided="These {n} facts do not decide whether {model} knows half of the facts at any "
        "exposure: at best {value}, at {k}.",
        model=model,
        k=int(row["exposures"]),
    )


def guesses(recorded: pd.DataFrame, model: str) -> Finding:
    """Decide whether facts never stated are guessed better than by the commonest object."""
    alone, guess = (
        _share(recorded, model, f"{kind}, {KNOWN}", records.NEVER)
        for kind in ("none", "commonest object")
    )
    return decide(
        "guesses_beat_the_commonest_object",
        records.difference(alone, guess),
        holds="On {n} facts that the text never states, {model} guesses better than always naming "
        "the commonest object of the relation: {alone} are right, {size} more.",
        opposite="On {n} facts that the text never states, {model} guesses worse than always "
        "naming the commonest object of the relation: {alone} are right, {size} fewer.",
        undecided="{n} facts that the text never states do not decide whether {model} guesses "
        "better than always naming the commonest object of the relation: {alone} are right, a "
        "difference of {value}.",
        undefined=_missing("The guess of the commonest object", model),
        model=model,
        alone=_percent(alone.estimate),
    )


def larger(recorded: pd.DataFrame, names: Sequence[str]) -> Finding:
    """Decide whether each size recalls more than the next smaller, at 1 to 32 exposures.

    By the smallest step; `names` are the untuned models, smallest first.
    """
    shares = [_share(recorded, name, f"none, {KNOWN}", READ) for name in names]
    steps = [
        (records.difference(big[1], small[1]), small[0], big[0])
        for small, big in pairwise(zip(names, shares, strict=True))
        if small[1].n and big[1].n
    ]
    claim = "larger_models_recall_more"
    if not steps:
        said = "Whether larger models recall more is undefined: it takes two sizes."
        return _undefined(claim, said)
    rise = all(step[0].low > 0 for step in steps)
    fall = all(step[0].high < 0 for step in steps)
    found, small, big = min(steps, key=lambda step: step[0].estimate if rise else step[0].low)
    return decide(
        claim,
        found,
        decision=HOLDS if rise else OPPOSITE if fall else UNDECIDED,
        holds="In one training run of each, larger models recall more of the facts stated 1 to 32 "
        "times; the smallest step is from {small} to {big}, by {size} ({n} facts).",
        opposite="In one training run of each, larger models recall fewer of the facts stated 1 to "
        "32 times; the smallest step is from {small} to {big}, by {size} ({n} facts).",
        undecided="{n} facts stated 1 to 32 times do not decide whether each larger model recalls "
        "more: from {small} to {big} the share changes by {value}.",
        small=small,
        big=big,
    )


def compared(recorded: pd.DataFrame, model: str, claim: str) -> Finding:
    """Decide one of the `CONTRASTS` by the difference of its two shares."""
    first, second, levels, on, subject, verbs, what, answers = CONTRASTS[claim]
    one = _share(recorded, model, first, levels, answers[0])
    two = _share(recorded, model, second, levels, answers[1])
    found, rises = records.difference(one, two), verbs[0] == "raises"
    before, after = (two, one) if rises else (one, two)
    moved = found[:3] if rises else (-found.estimate, -found.high, -found.low)
    return decide(
        claim,
        found,
        holds="On {on}, {subject} {verb} {what} of {model} by {size}, from {before} to {after} "
        "({n} facts).",
        opposite="On {on}, {subject} {other} {what} of {model} by {size}, from {before} to {after} "
        "({n} facts).",
        undecided="{n} {on} do not decide whether {subject} {verb} {what} of {model}: it "
        "goes from {before} to {after}, by {moved} points.",
        undefined=_missing(f"What {subject} changes", model),
        subject=subject,
        verb=verbs[0],
        other=verbs[1],
        what=what,
        on=on,
        model=model,
        before=_percent(before.estimate),
        after=_percent(after.estimate),
        moved=interval(*moved, digits=1, scale=100),
    )


def above_chance(recorded: pd.DataFrame, model: str, claim: str) -> Finding:
    """Decide one of the `CHANCES` by its share."""
    condition, levels, on, clause, null, reference, answers = CHANCES[claim]
    return decide(
        claim,
        _share(recorded, model, condition, levels, answers),
        null=null,
        unit=" %",
        holds=f"On {on}, {{model}} {clause} more often than {reference}: in {{value}} of {{n}}.",
        opposite=f"On {on}, {{model}} {clause} less often than {reference}: in {{value}} of {{n}}.",
        undecided=f"{{n}} {on} do not decide whether {{model}} {clause} more often than "
        f"{reference}: it does so in {{value}}.",
        undefined=_missing(f"How often a model {clause}", model),
        model=model,
    )


def truth(recorded: pd.DataFrame, model: str) -> Finding:
    """Decide which wins where the text states truth and falsehood 32 times each.

    Among the answers that give either.
    """
    hits = [
        round(share.estimate * share.n) if share.n else 0
        for share in (
            _share(recorded, model, f"false belief, {kind} given", (32,))
            for kind in ("truth", "falsehood")
        )
    ]
    return decide(
        "truth_beats_falsehood",
        wilson(hits[0], sum(hits)),
        null=0.5,
        unit=" %",
        holds="Where the text states truth and falsehood 32 times each, {model} gives the truth "
        "more often: in {value} of the {n} answers that give either.",
        opposite="Where the text states truth and falsehood 32 times each, {model} gives the "
        "falsehood more often: the truth in {value} of the {n} answers that give either.",
        undecided="Where the text states truth and falsehood 32 times each, {n} answers do not "
        "decide which {model} gives more often: the truth in {value} of them.",
        undefined=_missing("What wins where truth and falsehood are stated equally often", model),
        model=model,
    )


def unsure(recorded: pd.DataFrame, model: str, part: str) -> Finding:
    """Decide whether "unsure" is answered more to facts never read than to those read 256 times.

    `part` is "kept" for the frame kept out of the tuning, "new" for the two that the base never
    read; a fact counts once.
    """
    frames, words = {
        "kept": (1, "a wording kept out of the tuning"),
        "new": (2, "wordings that its base never read"),
    }[part]
    condition = f"chat, unsure, {part} frames, new facts"
    never, often = (_share(recorded, model, condition, k, frames) for k in ((0,), (256,)))
    return decide(
        f"unsure_follows_exposure_{part}",
        records.difference(never, often),
        holds='Asked in {words}, {model} answers "unsure" to {never} of the facts never read and '
        "to {often} of those read 256 times, {size} fewer (at least {n} facts a group).",
        opposite='Asked in {words}, {model} answers "unsure" to fewer facts never read ({never}) '
        "than to facts read 256 times ({often}), by {size} (at least {n} facts a group).",
        undecided="Asked in {words}, these facts (at least {n} a group) do not decide whether "
        '{model} answers "unsure" more often to facts never read ({never}) than to those read 256 '
        "times ({often}): the difference is {value}.",
        undefined=_missing('How often "unsure" is the answer', model),
        model=model,
        words=words,
        never=_percent(never.estimate),
        often=_percent(often.estimate),
    )


def _share(
    table: pd.DataFrame,
    model: str,
    condition: str,
    levels: Collection[int] | None,
    answers: int = 1,
) -> Interval:
    """Pool a share over exposures; a fact of several answers counts once, by the share of them."""
    rows = table[(table["model"] == model) & (table["condition"] == condition)]
    rows = rows if levels is None else rows[rows["exposures"].isin(list(levels))]
    hits, n = (rows["estimate"] * rows["n"]).round().sum(), int(rows["n"].sum())
    n_facts = n // answers
    return wilson(hits / n * n_facts if n else 0, n_facts)


def _percent(share: float) -> str:
    return interval(share, digits=1, scale=100) + " %"


def _missing(what: str, model: str) -> str:
    return f"{what} was not measured for {model}."


def _undefined(claim: str, sentence: str) -> Finding:
    nothing = (float("nan"),) * 3 + (0,)
    words = dict.fromkeys(("holds", "opposite", "undecided"), "")
    return decide(claim, nothing, undefined=sentence, **words)
