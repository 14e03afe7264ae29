"""Findings about prompt multiplicity: belief or chance, and what distinguishes them.

`scores` is a table of :func:`helpers.metrics.choices.item_scores`, one row a question, for the
kind of variation in focus; `draw` holds ``n_resamples`` and ``seed`` of the bootstraps.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import published, stats
from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, Finding, decide
from helpers.metrics import accuracy, beliefs, detection, multiplicity
from helpers.plots import tables

NAMES = {"factuality": "knowledge", "randomness": "chance", "error": "a steady error"}
SAME = (
    " Under the default prompt alone the second and the third are the same: wrong (the paper's "
    "Figure 2)."
)
VARIED = {
    "frames": "wording",
    "paraphrases": "wording (paraphrases)",
    "order": "the order of the examples shown first",
    "demonstrations": "the examples shown first",
    "options": "the order of the options",
}
LATER = 0.01  # of the questions: what one more prompt may add before it counts as more
MOVED = 0.1  # of the questions: classes that depend on the threshold
TAUS = (0.5, 0.9)
WIDE = 0.1  # of the questions: bounds further apart leave a share open
RARE = 0.1  # of the facts never read: more that get a steady answer are not few


def examples(scores: pd.DataFrame) -> Finding:
    """Say whether the worked examples show knowledge, chance and a steady error, one each."""
    classes = list(scores["class"])
    missing = [name for kind, name in NAMES.items() if kind not in classes]
    found = len(NAMES) - len(missing)
    return decide(
        "examples",
        (found / len(NAMES), np.nan, np.nan, len(classes)),
        decision=OPPOSITE if missing else HOLDS,
        holds="The first answer is right and stays, the second changes with the prompt, and the "
        "third is wrong and stays.{same}",
        opposite="No question of this run shows {missing}; another takes its place.",
        undecided="",
        missing=" or ".join(missing),
        same="" if scores["default"].iloc[1:].any() else SAME,
    )


def accuracy_moves(marks: pd.DataFrame, focus: str, **draw: int) -> Finding:
    """Decide whether accuracy varies more over prompts than it would if all were equally good.

    `marks` has one row a question and one column a prompt. Equally good prompts are made by
    shuffling each question's marks over the prompts.
    """
    deviation = partial(accuracy.over_prompts, how="deviation")
    right = marks.to_numpy(dtype=float)
    found = stats.bootstrap(marks.astype(float), deviation, centred=True, **draw)
    rng = np.random.default_rng(draw["seed"])
    alike = [deviation(rng.permuted(right, axis=1)) for _ in range(draw["n_resamples"])]
    low, high = 100 * np.nan_to_num(np.quantile(alike, [0.025, 0.975]))
    rates, spread = 100 * marks.mean(), round(100 * found.estimate, 1)
    start = (
        "over {r} prompts that vary in {focus}, accuracy runs from {worst} to {best} %, a standard "
    )
    start += "deviation of {value}; equally good ones would give {low} to {high} ({n} questions)."
    return decide(
        "accuracy_moves",
        found,
        decision="" if np.isnan(spread) else HOLDS if spread > round(high, 1) else UNDECIDED,
        holds=f"Some prompts are better than others: {start}",
        opposite="",
        undecided=f"We cannot tell whether some prompts are better than others: {start}",
        focus=VARIED.get(focus, focus),
        worst=f"{rates.min():.1f}",
        best=f"{rates.max():.1f}",
        r=marks.shape[1],
        low=f"{low:.1f}",
        high=f"{high:.1f}",
    )


def answers_change(scores: pd.DataFrame, r: int) -> Finding:
    """Decide whether most questions get more than one answer under r prompts, by Ambiguity-M."""
    shares = 100 * scores[["ambiguous", "ambiguous_binary"]].mean()
    words = {"binary": f"{shares.iloc[1]:.1f}", "same": f"{100 - shares.iloc[0]:.1f}", "r": r}
    tail = "get more than one, and {binary} % both a right and a wrong one"
    return decide(
        "answers_change",
        _share(scores["ambiguous"]),
        null=0.5,
        unit=" %",
        holds="Most questions get different answers under {r} prompts: {value} of {n} questions "
        f"{tail}.",
        opposite="Most questions get the same answer under all {r} prompts: {same} %; {value} "
        f"{tail} ({{n}} questions).",
        undecided="These {n} questions do not decide whether most get the same answer under all "
        f"{{r}} prompts: {{value}} {tail}.",
        **words,
    )


def kind_changes_most(options: Mapping[str, pd.DataFrame], focus: str, **draw: int) -> Finding:
    """Decide whether the kind in focus changes more answers than any other; paired.

    `options` has a table of choices for each kind; all are compared at the smallest number of
    prompts.
    """
    r = min(table.shape[1] for table in options.values())
    each = {kind: multiplicity.rarefied_ambiguity(t, r) for kind, t in options.items()}
    return decide(
        "kind_changes_most",
        _against_others(each, focus, draw),
        holds='Varying "{focus}" changes more answers than any other kind of variation: {first} % '
        'of {n} questions at {r} prompts, against {second} % for "{other}", {size} more.',
        opposite='Varying "{other}" changes more answers than varying "{focus}": {second} % of {n} '
        "questions at {r} prompts, against {first} %, {size} more.",
        undecided='These {n} questions do not decide whether varying "{focus}" changes more '
        'answers than varying "{other}": {first} and {second} % at {r} prompts, a difference of '
        "{value}.",
        undefined="This run varies its questions in one way only, so no two can be compared.",
        focus=focus,
        r=r,
        **_rivals(each, focus),
    )


def two_prompts(pair: pd.DataFrame) -> Finding:
    """Decide whether two prompts of like accuracy are right on different questions.

    `pair` has one column of marks for each of the two; the gap of their accuracies is the least
    that can differ.
    """
    first, second = 100 * pair.mean()
    gap = abs(first - second) / 100
    levels = [f"{first:.1f}", f"{second:.1f}"]
    equal = levels[0] == levels[1]
    levels = f"{levels[0]} %" if equal else f"{' and '.join(levels)} %"
    start = f"Two prompts of {'' if equal else 'nearly '}equal accuracy ({levels})"
    return decide(
        "two_prompts",
        _share(pair.iloc[:, 0] != pair.iloc[:, 1]),
        null=gap,
        unit=" %",
        holds=f"{start} disagree on {{value}} of {{n}} questions: right under one of the two, "
        "wrong under the other.",
        opposite=f"{start} disagree on {{value}} of {{n}} questions: right under one of the two, "
        "wrong under the other.",
        undecided=f"{start} disagree on {{value}} of {{n}} questions; these do not decide whether "
        "more questions change than the accuracies do.",
    )


def accuracy_overstates(scores: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether accuracy at the default prompt exceeds factuality; paired (section 4.3)."""
    known = f"{100 * scores['factuality'].mean():.1f}"
    return decide(
        "accuracy_overstates",
        stats.paired_difference(scores["default"], scores["factuality"], **draw),
        holds="The default prompt's accuracy overstates what the model knows: {default} % of {n} "
        "questions are right there, {known} % are prompt-agnostic factuality, {size} fewer.",
        opposite="The default prompt's accuracy understates what the model knows: {default} % of "
        "{n} questions are right there, {known} % are prompt-agnostic factuality, {size} more.",
        undecided="These {n} questions do not decide whether the default prompt's accuracy, "
        "{default} %, overstates prompt-agnostic factuality, {known} %: the difference is "
        "{value}.",
        default=f"{100 * scores['default'].mean():.1f}",
        known=known,
    )


def errors_are_steady(scores: pd.DataFrame) -> Finding:
    """Decide whether most wrong answers at the default prompt are prompt-agnostic errors."""
    wrong = scores[scores["default"] == 0]
    return decide(
        "errors_are_steady",
        _share(wrong["error"]),
        null=0.5,
        unit=" %",
        holds="Most wrong answers are steady: {value} of the {n} wrong answers at the default "
        "prompt are prompt-agnostic errors.",
        opposite="Most wrong answers are chance: only {value} of the {n} wrong answers at the "
        "default prompt are prompt-agnostic errors.",
        undecided="The {n} wrong answers at the default prompt do not decide whether most are "
        "steady: {value} are prompt-agnostic errors.",
        undefined="No answer at the default prompt is wrong, so there is none to be steady.",
    )


def paper_bounds(bounds: pd.DataFrame, benchmark: str) -> Finding:
    """Decide whether the bounds from the paper's tables are more than ten points apart.

    `bounds` is from :func:`helpers.metrics.beliefs.bounds`; all models decide, so that the mean
    width is given with its range.
    """
    width = bounds["factuality_high"] - bounds["factuality_low"]
    wide = width > WIDE
    start = "For {some} of the paper's {n} models"
    found = "the share of {benchmark} that is right under all prompts"
    apart = "the bounds lie {low} to {high} points apart"
    return decide(
        "paper_bounds",
        (width.mean(), width.min(), width.max(), len(width)),
        decision=HOLDS if wide.all() else UNDECIDED if wide.any() else OPPOSITE,
        holds=f"The paper's tables do not fix {found} to within {{wide}} points for any of {{n}} "
        f"models: {apart}.",
        opposite=f"The paper's tables fix {found} to within {{wide}} points for all of {{n}} "
        f"models: {apart}.",
        undecided=f"{start}, its tables fix {found} to within {{wide}} points, for the others "
        f"they do not: {apart}.",
        benchmark=benchmark,
        some=int((~wide).sum()),
        wide=f"{100 * WIDE:.0f}",
        low=f"{100 * width.min():.1f}",
        high=f"{100 * width.max():.1f}",
    )


def paper_leader(bounds: pd.DataFrame, scored: pd.Series, benchmark: str) -> Finding:
    """Decide by the bounds whether the paper's most accurate model leads under all prompts too.

    `scored` is accuracy, `bounds` as for :func:`paper_bounds`. Brackets hold the smallest and the
    largest lead over the strongest other model that the bounds allow.
    """
    best = scored.idxmax()
    top, rest = bounds.loc[best], bounds.drop(index=best)
    low = top["factuality_low"] - rest["factuality_high"].max()
    high = top["factuality_high"] - rest["factuality_low"].max()
    return decide(
        "paper_leader",
        ((low + high) / 2, low, high, len(bounds)),
        holds="On {benchmark} the most accurate of the paper's {n} models, {best}, also leads in "
        "what is right under all prompts: by {low} to {high} points.",
        opposite="On {benchmark} the most accurate of the paper's {n} models, {best}, does not "
        "lead in what is right under all prompts: another is ahead by {low} to {high} points.",
        undecided="On {benchmark} the bounds do not decide whether the most accurate of the "
        "paper's {n} models, {best}, also leads in what is right under all prompts: its lead over "
        "the strongest other lies between {low} and {high} points.",
        best=best,
        benchmark=benchmark,
        **_ends(low, high),
    )


def paper_benchmarks(table: pd.DataFrame) -> Finding:
    """Decide by the bounds whether TruthfulQA has more steady errors than Med-HALT.

    `table` is the paper's Table 1, in shares (section 5). Steady errors are questions that get
    one and the same wrong answer under all prompts; the interval is the least and the most that
    the bounds allow for any model.
    """
    ends = []
    for name in ("TruthfulQA", "Med-HALT"):
        part = table.filter(regex=f"^{name} ")
        found = beliefs.bounds(part.set_axis(part.columns.str.removeprefix(f"{name} "), axis=1), 10)
        same = 1 - found["randomness"]
        ends.append((same - found["factuality_high"], same - found["factuality_low"]))
    low, high = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
    more = "On TruthfulQA more questions get the same wrong answer under all prompts than on"
    return decide(
        "paper_benchmarks",
        ((low + high).mean() / 2, low.min(), high.max(), len(table)),
        holds=f"{more} Med-HALT, for all {{n}} models of the paper's Table 1: by {{least}} to "
        "{most} points.",
        opposite=f"{more.replace('more', 'fewer')} Med-HALT, for all {{n}} models of the paper's "
        "Table 1: by {least} to {most} points.",
        undecided=f"{more} Med-HALT for {{more}} of the {{n}} models of the paper's Table 1, fewer "
        "for {less}; for the rest the bounds do not decide.",
        more=int((low > 0).sum()),
        less=int((high < 0).sum()) or "none",
        **dict(zip(("least", "most"), _ends(low.min(), high.max()).values())),
    )


def threshold_matters(scores: pd.DataFrame) -> Finding:
    """Decide whether more than a tenth of the classes depend on the threshold."""
    low, high = TAUS
    steady = scores["self_consistency"] + 1e-12
    words = {"from_": low, "to": high, "limit": f"{100 * MOVED:.0f}"}
    return decide(
        "threshold_matters",
        _share((steady >= low) & (steady < high)),
        null=MOVED,
        unit=" %",
        holds="The threshold matters: {value} of {n} questions are steady at τ = {from_} and "
        "random at τ = {to}, more than {limit} %.",
        opposite="The threshold matters little: {value} of {n} questions are steady at τ = {from_} "
        "and random at τ = {to}, fewer than {limit} %.",
        undecided="These {n} questions do not decide whether the threshold matters to more than "
        "{limit} % of them: {value} are steady at τ = {from_} and random at τ = {to}.",
        **words,
    )


def more_prompts(options: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether the last prompt adds more than a point of ambiguity, by rarefaction."""
    r = options.shape[1]
    most = multiplicity.rarefied_ambiguity(options, r)
    added = most - multiplicity.rarefied_ambiguity(options, r - 1)
    return decide(
        "more_prompts",
        stats.bootstrap(added, **draw),
        null=LATER,
        holds="At {r} prompts ambiguity still grows: the last prompt adds {value} on average, more "
        "than one point ({n} questions).",
        opposite="At {r} prompts ambiguity hardly grows any more: the last prompt adds {value} on "
        "average, less than one point ({n} questions).",
        undecided="These {n} questions do not decide whether the last of {r} prompts adds more "
        "than one point of ambiguity: on average it adds {value}.",
        r=r,
    )


def steady_is_surer(scores: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether steady answers have a higher 1 / perplexity than others (Table 2)."""
    steady = scores["class"] != "randomness"
    return decide(
        "steady_is_surer",
        _apart(scores["confidence"], steady, draw),
        digits=2,
        scale=1,
        unit="",
        holds="The model is more confident in steady answers than in those that change: 1 / "
        "perplexity is {size} higher ({n} questions), as in the paper's Table 2.",
        opposite="The model is less confident in steady answers than in those that change: 1 / "
        "perplexity is {size} lower ({n} questions), unlike in the paper's Table 2.",
        undecided="These {n} questions do not decide whether the model is more confident in steady "
        "answers: 1 / perplexity of steady answers minus that of others is {value}.",
        undefined="Steady and changing answers cannot be compared: this run has one of them only.",
    )


def right_is_surer(scores: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether right steady answers have a higher 1 / perplexity than wrong ones."""
    steady = scores[scores["class"] != "randomness"]
    table = published.load("multiplicity_table2")
    apart = (table["agnostic correct"] - table["agnostic wrong"]).abs().max()
    return decide(
        "right_is_surer",
        _apart(steady["confidence"], steady["default"] > 0, draw),
        digits=2,
        scale=1,
        unit="",
        holds="Of its steady answers, the model is more confident in the right ones: 1 / "
        "perplexity is {size} higher ({n} questions); in the paper's Table 2 the two differ by "
        "{apart} at most.",
        opposite="Of its steady answers, the model is more confident in the wrong ones: 1 / "
        "perplexity is {size} higher ({n} questions); in the paper's Table 2 the two differ by "
        "{apart} at most.",
        undecided="These {n} steady answers do not decide whether the model is more confident in "
        "the right ones: 1 / perplexity of right minus that of wrong is {value}; in the paper's "
        "Table 2 the two differ by {apart} at most.",
        undefined="Steady right and steady wrong answers cannot be compared: this run has one of "
        "them only.",
        apart=f"{apart:.2f}",
    )


def finds_randomness(scores: pd.DataFrame, by: str, **draw: int) -> Finding:
    """Decide whether a detector finds randomness better than steady errors; paired areas.

    `by` is ``perplexity`` or ``entropy``; the latter wants scores from
    :func:`helpers.metrics.choices.halves`. Errors are looked for among steady answers.
    """
    rows = np.column_stack(
        [
            _doubt(scores, by),
            scores["randomness"],
            scores["error"].where(scores["class"] != "randomness"),
        ]
    )
    one, other = (detection.area(rows[:, [0, place]]) for place in (1, 2))
    found = _within(
        rows, lambda drawn: _area(drawn, 0, 1) - _area(drawn, 0, 2), scores["class"], draw
    )
    words = {
        "name": by.capitalize(),
        "random": tables.interval(float(one), digits=2),
        "wrong": tables.interval(float(other), digits=2),
    }
    areas = "area {random} for randomness, {wrong} for errors among steady answers"
    return decide(
        f"{by}_finds_randomness",
        found,
        digits=2,
        scale=1,
        unit="",
        holds=f"{{name}} finds randomness better than steady errors: {areas}; the difference is "
        "{value} ({n} questions).",
        opposite=f"{{name}} finds steady errors better than randomness: {areas}; the difference is "
        "{value} ({n} questions).",
        undecided=f"These {{n}} questions do not decide whether {{name}} finds randomness better "
        f"than steady errors: {areas}; the difference is {{value}}.".replace("{name}", by),
        undefined=f"What {by} finds is undefined for this run: it takes random and steady answers, "
        "of these both right and wrong ones"
        + (", and at least four prompts." if by == "entropy" else "."),
        **words,
    )


def entropy_finds_errors(halves: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether entropy finds wrong answers better than perplexity; paired areas.

    `halves` is from :func:`helpers.metrics.choices.halves`: both are taken from every other prompt.
    """
    wrong = 1 - halves["default"]
    rows = np.column_stack([_doubt(halves, "entropy"), _doubt(halves, "perplexity"), wrong])
    one, other = (detection.area(rows[:, [place, 2]]) for place in (0, 1))
    areas = "both from half of the prompts: area {one} for entropy, {other} for perplexity"
    return decide(
        "entropy_finds_errors",
        _within(
            rows,
            lambda drawn: _area(drawn, 0, 2) - _area(drawn, 1, 2),
            halves["default"],
            draw,
        ),
        digits=2,
        scale=1,
        unit="",
        holds=f"Entropy finds the default prompt's wrong answers better than perplexity, {areas}; "
        "the difference is {size} ({n} questions).",
        opposite="Perplexity finds the default prompt's wrong answers better than entropy, "
        f"{areas}; the difference is {{size}} ({{n}} questions).",
        undecided="These {n} questions do not decide which finds the default prompt's wrong "
        f"answers better, {areas}; the difference is {{value}}.",
        undefined="Which detector finds wrong answers better is undefined for this run: it takes "
        "right and wrong answers at the default prompt, and at least four prompts.",
        one=tables.interval(float(one), digits=2),
        other=tables.interval(float(other), digits=2),
    )


def planted_are_found(rows: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether perplexity tells planted beliefs from facts: its area against one half.

    `rows` are steady scores: planted errors and facts.
    """
    pair = np.column_stack([_doubt(rows, "perplexity"), rows["error"]])
    return decide(
        "planted_are_found",
        _within(pair, detection.area, rows["error"], draw),
        null=0.5,
        digits=2,
        scale=1,
        unit="",
        holds="Perplexity distinguishes false beliefs that were planted in training from facts: "
        "area {value} ({n} steady answers).",
        opposite="Perplexity takes facts for the false beliefs that were planted in training: area "
        "{value} ({n} steady answers), below 0.5.",
        undecided="These {n} steady answers do not decide whether perplexity distinguishes false "
        "beliefs that were planted in training from facts: area {value}.",
        undefined="Whether perplexity finds planted beliefs is undefined for this run: it takes "
        "steady errors on facts taught wrong, and steady facts.",
    )


def classes_follow_lessons(hits: npt.ArrayLike, due: pd.Series, **draw: int) -> Finding:
    """Decide whether questions fall in the class that is due more often than by a guess."""
    guess = 1 / max(1, due.nunique())
    return decide(
        "classes_follow_lessons",
        stats.bootstrap(hits, strata=due if len(due) else None, **draw),
        null=guess,
        unit=" %",
        holds="The classes agree with the training text: {value} of the facts fall in the class "
        "that the text predicts; {guess} % would by chance ({n} facts; mean over lessons).",
        opposite="The classes contradict the training text: {value} of the facts fall in the class "
        "that the text predicts; {guess} % would by chance ({n} facts; mean over lessons).",
        undecided="These {n} facts do not decide whether the classes agree with the training text: "
        "{value} fall in the class that the text predicts; {guess} % would by chance (mean "
        "over lessons).",
        undefined="No question of this run has a lesson that leads one to expect a class.",
        guess=f"{100 * guess:.0f}",
    )


def planted_are_steady(scores: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether facts taught wrong are steady errors more often than facts never shown.

    `scores` has ``lesson``.
    """
    rows = scores[scores["lesson"].isin(["taught wrong", "never shown"])]
    wrong = rows["lesson"] == "taught wrong"
    return decide(
        "planted_are_steady",
        _apart(rows["error"], wrong, draw),
        holds="Facts taught wrong become prompt-agnostic errors more often than facts never shown: "
        "{taught} % against {never} %, {size} more ({n} facts).",
        opposite="Facts taught wrong become prompt-agnostic errors less often than facts never "
        "shown: {taught} % against {never} %, {size} less ({n} facts).",
        undecided="These {n} facts do not decide whether facts taught wrong become prompt-agnostic "
        "errors more often than facts never shown: {taught} % against {never} %, a difference of "
        "{value}.",
        undefined="Facts taught wrong and facts never shown cannot be compared: this run asks one "
        "of them only.",
        taught=f"{100 * rows.loc[wrong, 'error'].mean():.1f}",
        never=f"{100 * rows.loc[~wrong, 'error'].mean():.1f}",
    )


def steady_is_not_known(scores: pd.DataFrame) -> Finding:
    """Decide whether more than a tenth of the facts that were never shown get a steady answer."""
    unseen = scores[scores["lesson"] == "never shown"]
    words = "of {n} facts never read, {steady} get a steady answer ({value}), {right} of these the "
    words += "right one."
    return decide(
        "steady_is_not_known",
        _share(1 - unseen["randomness"]),
        null=RARE,
        unit=" %",
        holds=f"Steady is not known: {words}",
        opposite=f"A steady answer is rare where nothing was read: {words}",
        undecided=f"We cannot tell whether a steady answer is rare where nothing was read: {words}",
        undefined="This run asks no fact that the model never read.",
        steady=int((1 - unseen["randomness"]).sum()),
        right=int(unseen["factuality"].sum()),
    )


def exposure_steadies(scores: pd.DataFrame) -> Finding:
    """Decide whether facts read more often are factuality more often, by their ranks.

    `scores` has ``times``, how often each fact was read.
    """
    return decide(
        "exposure_steadies",
        stats.correlation(scores["times"], scores["factuality"], method="spearman"),
        digits=2,
        scale=1,
        unit="",
        holds="The more often the model read a fact, the likelier it is prompt-agnostic "
        "factuality: rank correlation {value} over {n} facts.",
        opposite="The more often the model read a fact, the less likely it is prompt-agnostic "
        "factuality: rank correlation {value} over {n} facts.",
        undecided="These {n} facts do not decide whether facts read more often are prompt-agnostic "
        "factuality more often: rank correlation {value}.",
        undefined="Whether exposure makes answers steadier is undefined for this run: all its "
        "facts were read equally often, or all are of one class.",
    )


def best_kind(hits: Mapping[str, np.ndarray], due: pd.Series, focus: str, **draw: int) -> Finding:
    """Decide whether the kind in focus agrees with the lessons better than any other; paired."""
    return decide(
        "best_kind",
        _against_others(hits, focus, draw, due),
        holds='Varying "{focus}" agrees best with the training text: {first} % of the questions '
        'fall in the expected class, {second} % with "{other}", the next, {size} fewer ({n} '
        "questions).",
        opposite='Varying "{other}" agrees better with the training text than varying "{focus}": '
        "{second} % of the questions fall in the expected class, against {first} %, {size} more "
        "({n} questions).",
        undecided='These {n} questions do not decide whether varying "{focus}" or "{other}" agrees '
        "better with the training text: {first} and {second} % fall in the expected class, a "
        "difference of {value}.",
        undefined="This run has no two kinds of variation, or no lessons, to compare.",
        focus=focus,
        **_rivals(hits, focus),
    )


def nearest_model(pairs: Mapping[str, pd.DataFrame], who: str, **draw: int) -> Finding:
    """Decide whether this model knows more than the one nearest in accuracy; paired factuality.

    `pairs` has, for each other model, both models' scores of the same questions, its own with the
    ending ``_other``.
    """
    gaps = {
        name: (pair["accuracy"] - pair["accuracy_other"]).mean() for name, pair in pairs.items()
    }
    other = min(gaps, key=lambda name: abs(gaps[name]), default="")
    pair = pairs.get(other, pd.DataFrame(columns=["factuality", "factuality_other"]))
    start = "{other} is nearest in accuracy ({who} scores {gap} points {side}). "
    return decide(
        "nearest_model",
        stats.paired_difference(pair["factuality"], pair["factuality_other"], **draw),
        holds=start + "{who} has more prompt-agnostic factuality, by {size} ({n} questions).",
        opposite=start + "{who} has less prompt-agnostic factuality, by {size} ({n} questions).",
        undecided=start + "These {n} questions do not decide which of the two has more "
        "prompt-agnostic factuality: the difference is {value}.",
        undefined="No other model was asked these questions, so there is none to compare with.",
        who=who,
        other=other.rstrip("/").rpartition("/")[2],
        gap=f"{abs(100 * gaps.get(other, 0)):.1f}",
        side="more" if gaps.get(other, 0) >= 0 else "less",
    )


def _share(hits: pd.Series) -> stats.Interval:
    """Return a share with Wilson's interval; not numbers without rows."""
    if not len(hits):
        return stats.Interval(np.nan, np.nan, np.nan, 0)
    return stats.wilson(int(hits.sum()), len(hits))


def _over_models(values: pd.Series) -> stats.Interval:
    """Return the mean of published models with their range in the place of an interval."""
    return stats.Interval(values.mean(), values.min(), values.max(), len(values))


def _ends(low: float, high: float) -> dict[str, str]:
    """Write the two ends of a lead in points, smaller first, for either sign."""
    ends = sorted([abs(low), abs(high)]) if low * high > 0 else [low, high]
    return {name: f"{100 * end:.1f}" for name, end in zip(("low", "high"), ends)}


def _doubt(scores: pd.DataFrame, by: str) -> pd.Series:
    """Return what a detector takes for doubt: higher means less sure."""
    return scores["entropy"] if by == "entropy" else -scores["logprob"]


def _area(rows: np.ndarray, score: int, label: int) -> np.ndarray:
    """Return the area of one column as a detector of another."""
    return detection.area(rows[..., [score, label]])


def _against_others(
    each: Mapping[str, np.ndarray], focus: str, draw: Mapping, strata: pd.Series | None = None
) -> stats.Difference:
    """Subtract the strongest other kind from the one in focus, question by question."""
    other = _rivals(each, focus)["other"]
    first, second = (each[focus], each[other]) if other else ([], [])
    strata = strata if strata is not None and len(first) else None
    return stats.paired_difference(first, second, strata=strata, **draw)


def _rivals(each: Mapping[str, np.ndarray], focus: str) -> dict[str, str]:
    """Name the strongest other kind, "" for none, and write the means of both in percent."""
    means = {kind: float(np.mean(values)) for kind, values in each.items() if len(values)}
    others = {kind: value for kind, value in means.items() if kind != focus}
    other = max(others, key=others.get, default="")
    shares = means.get(focus, np.nan), others.get(other, np.nan)
    return {"other": other} | dict(zip(("first", "second"), (f"{100 * x:.1f}" for x in shares)))


def _apart(values: pd.Series, first: pd.Series, draw: Mapping) -> stats.Interval:
    """Return the mean of one group less that of the others, drawn within both."""

    def gap(rows: np.ndarray) -> np.ndarray:
        value, inside = rows[..., 0], rows[..., 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = [(value * w).sum(axis=-1) / w.sum(axis=-1) for w in (inside, 1 - inside)]
        return means[0] - means[1]

    return _within(np.column_stack([values, first]), gap, first, draw)


def _within(
    rows: np.ndarray, statistic: stats.Statistic, groups: pd.Series, draw: Mapping
) -> stats.Interval:
    """Bootstrap within groups; a group of one row, which cannot vary, leaves no interval."""
    found = stats.bootstrap(rows, statistic, groups if len(rows) else None, **draw)
    if len(rows) and groups.value_counts().min() < 2:
        found = found._replace(low=np.nan, high=np.nan)
    return found
