"""What the chapter on prompt multiplicity computes beside its measures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import datasets, models, probing, stats
from helpers.datasets import multiple_choice
from helpers.datasets.multiple_choice import Benchmark
from helpers.metrics import accuracy, choices, multiplicity, roc_curve
from helpers.models import LanguageModel
from helpers.prompts import variations
from helpers.studies import multiplicity as study
from notebooks.analysis import paraphrasing
from notebooks.kit import published
from notebooks.kit.findings import HOLDS, UNDECIDED, UNDEFINED
from notebooks.kit.group_difference import group_mean_difference
from notebooks.kit.plots import result_tables
from notebooks.kit.plots.style import BLUE, GREEN, GREY, ORANGE, RED
from notebooks.kit.running_example import fact_of_running_example

MEASURE_COLUMNS = [
    "accuracy",
    "ambiguous",
    "ambiguous_binary",
    "self_consistency",
    "factuality",
    "randomness",
    "error",
    "default",
]
CLASS_TITLES = {
    "error": "prompt-agnostic error",
    "randomness": "randomness",
    "factuality": "prompt-agnostic factuality",
}
CLASS_COLOURS = {
    CLASS_TITLES["error"]: RED,
    CLASS_TITLES["randomness"]: GREY,
    CLASS_TITLES["factuality"]: GREEN,
}
MARK_PAIR_TITLES = {  # right under the default prompt, right under another one
    (True, True): "right under both",
    (True, False): "right under the default alone",
    (False, True): "right under this one alone",
    (False, False): "wrong under both",
}
MARK_PAIR_COLOURS = {
    MARK_PAIR_TITLES[True, True]: GREEN,
    MARK_PAIR_TITLES[True, False]: ORANGE,
    MARK_PAIR_TITLES[False, True]: BLUE,
    MARK_PAIR_TITLES[False, False]: RED,
}
LESSONS = multiple_choice.LESSONS
WRONG_LESSONS = LESSONS[-2:]  # what was planted
# Of an option's probability, from the log-probabilities of its tokens.
DRAW_RULES = {"sum": np.sum, "mean": np.mean}
DRAW_TEMPERATURES = (0.5, 1.0, 1.5)
RANDOMNESS_IN_TEXT = "9 to 12"  # of all models on TruthfulQA, section 5 of the paper
DEFAULT_MARK_TITLES = {1: "right by default", 0: "wrong by default"}


class QuestionPlan(NamedTuple):
    """What a run asks, and in which ways."""

    bench: Benchmark
    ways: dict[str, int]  # kinds of variation, and how many prompts of each
    n_shots: int
    frames: pd.DataFrame | None
    notes: list[str]


def plan_of_questions(settings: Mapping[str, Any]) -> QuestionPlan:
    """Return what the settings of a run ask for; refuse what they cannot be."""
    study.check(settings)
    dataset = settings["dataset"]
    n_variations = settings["n_variations"]
    bench = multiple_choice.load_benchmark(
        dataset,
        settings["n_items"] or None,
        settings["seed"],
        settings["n_options"],
        settings["relations"] or None,
        settings["model"],
    )
    items = bench.items
    kinds = list(bench.kinds)
    if settings["paraphraser"]:
        paraphraser = models.load(settings["paraphraser"])
        paraphrases = paraphrasing.paraphrase_texts(
            paraphraser, items["question"], n_variations - 1
        )
        items["paraphrases"] = pd.Series(paraphrases, index=items.index)
        kinds = ["paraphrases", *kinds]
    if settings["kinds"]:
        kinds = list(settings["kinds"])
    if settings["focus"]:
        kinds.append(settings["focus"])
    frames = datasets.prompt_frames(dataset) if "subject" in items else None
    ways, n_shots, notes = variations.plan_variations(
        items,
        kinds,
        n_variations,
        bench.pool,
        settings["n_shots"] or bench.n_shots,
        frames,
    )
    return QuestionPlan(bench, ways, n_shots, frames, [*bench.notes, *notes])


def probes_of_plan(lm: LanguageModel, plan: QuestionPlan, seed: int) -> pd.DataFrame:
    """Put every question in all ways of all kinds, with shots that fit the context."""
    bench = plan.bench

    def probes_with_shots(n_shots: int) -> pd.DataFrame:
        tables = []
        for kind, n in plan.ways.items():
            table = variations.variation_probes(
                bench.items,
                kind,
                n,
                style=bench.style,
                pool=bench.pool,
                n_shots=n_shots,
                frames=plan.frames,
                seed=seed,
            )
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def n_tokens(text: str) -> int:
        return len(lm.tokenizer(text)["input_ids"])

    return variations.probes_that_fit_context(
        probes_with_shots, plan.n_shots, n_tokens, lm.max_length
    )


def score_running_example(
    lm: LanguageModel,
    plan: QuestionPlan,
    settings: Mapping[str, Any],
    focus: str,
    cache: Path,
) -> pd.DataFrame:
    """Ask in one way for the country of Lyon; of other data, the first question."""
    bench = replace(plan.bench, items=plan.bench.items.head(1))
    if settings["dataset"] == "atlas" and "paraphrases" not in bench.items:
        lyon = fact_of_running_example(datasets.load("atlas", ["P17"]))
        bench = multiple_choice.load_benchmark(
            "atlas",
            None,
            settings["seed"],
            settings["n_options"],
            None,
            settings["model"],
            set(lyon["fact"]),
        )
    plan = plan._replace(bench=bench, ways={focus: plan.ways[focus]})
    probes = probes_of_plan(lm, plan, settings["seed"])
    return probing.score(lm, probes, cache=cache)


def first_and_last_prompts(right: pd.DataFrame) -> Iterator[Any]:
    """Yield the default prompt of a question, and the last one of each kind."""
    last = right.groupby("kind", sort=False).tail(1)
    yield from pd.concat([right.head(1), last]).itertuples()


def example_questions(scores: pd.DataFrame, due: pd.Series, n: int = 3) -> list[str]:
    """Pick questions that show knowledge, chance and steady error, in this order.

    Those come first whose class is the one due, which training would have; of random
    answers those that are wrong by default, and the most random; of others the
    steadiest.
    """
    number_of_class = {"factuality": 0, "randomness": 1, "error": 2}
    is_random = scores["class"] == "randomness"
    due_classes = due.reindex(scores["item"]).to_numpy()
    table = scores.assign(
        class_number=scores["class"].map(number_of_class),
        is_other_than_due=scores["class"].to_numpy() != due_classes,
        is_lucky=is_random & (scores["default"] > 0),
        steadiness=scores["self_consistency"] * np.where(is_random, 1, -1),
    )
    keys = ["class_number", "is_other_than_due", "is_lucky", "steadiness"]
    ordered = table.sort_values(keys, kind="stable")
    one_per_class = ordered.drop_duplicates("class_number")["item"].tolist()
    others = [item for item in ordered["item"] if item not in one_per_class]
    return (one_per_class + others)[:n]


def tally_of_chosen_answers(
    answers: pd.DataFrame, items: pd.DataFrame, picked: list[str], lesson: pd.Series
) -> pd.DataFrame:
    """Write what the text says of questions, what is right, and what was chosen."""
    questions = items.set_index("item").loc[picked]
    rows = []
    for item, question in questions.iterrows():
        counts = answers.loc[answers["item"] == item, "text"].value_counts()
        chosen = [f"{text} ×{n}" for text, n in counts.items()]
        row = {
            "training text": lesson[item],
            "question": question["question"],
            "correct": question["options"][question["answer"]],
            "chosen": ", ".join(chosen),
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    if table["training text"].eq("").all():  # it is not known
        return table.drop(columns="training text").set_index("question")
    return table.set_index("training text")


def option_probabilities(
    answers: pd.DataFrame, rule: str = "sum", temperature: float = 1.0
) -> pd.Series:
    """Scale an item's option probabilities under the default prompt to sum to 1.

    They are those of the whole option, or by the mean of its tokens' log-probabilities;
    a temperature below 1 sharpens them.
    """
    first = answers[answers["variation"] == 0].set_index("item")
    logs = first["logprobs"].map(DRAW_RULES[rule]).astype(float) / temperature
    p = np.exp(logs - logs.groupby("item").transform("max"))
    return p / p.groupby("item").transform("sum")


def expected_ambiguity_of_draws(
    answers: pd.DataFrame, r: int, rule: str = "sum", temperature: float = 1.0
) -> pd.DataFrame:
    r"""Expect what r answers drawn from the default prompt alone would be.

    The probabilities of a question's options are scaled to sum to 1; r independent
    draws are all alike with the chance :math:`\sum_o p_o^r`, and two of them with
    :math:`\sum_o p_o^2`.

    >>> answers = pd.DataFrame({
    ...     "item": "a", "variation": 0, "option": [0, 1],
    ...     "logprobs": [[np.log(0.3), 0.0], [np.log(0.1)]]})
    >>> expected_ambiguity_of_draws(answers, 3).round(4).values.tolist()
    [[0.5625, 0.625]]
    """
    p = option_probabilities(answers, rule, temperature)
    all_alike = (p**r).groupby("item", sort=False).sum()
    two_alike = (p**2).groupby("item", sort=False).sum()
    return pd.DataFrame({"ambiguous": 1 - all_alike, "self_consistency": two_alike})


def deviation_by_chance(
    marks: pd.DataFrame, n_resamples: int, seed: int
) -> stats.Interval:
    """Return the deviation that equally good prompts would show.

    Each question's marks are shuffled over the prompts: the mean over the shuffles, and
    the bounds of 95 % of them.
    """
    rng = np.random.default_rng(seed)
    right = marks.to_numpy(dtype=float)
    deviations = []
    for _ in range(n_resamples):
        shuffled = rng.permuted(right, axis=1)
        deviations.append(accuracy.accuracy_over_prompts(shuffled, "deviation"))
    low, high = np.nan_to_num(np.quantile(deviations, [0.025, 0.975]))
    mean = np.nan_to_num(np.mean(deviations))
    return stats.Interval(float(mean), float(low), float(high), len(marks))


def decision_on_deviation(spread: float, limit: float) -> str:
    """Decide whether a deviation, as printed, exceeds that of equally good prompts."""
    if np.isnan(spread):
        return UNDEFINED
    if round(100 * spread, 1) > round(100 * limit, 1):
        return HOLDS
    return UNDECIDED


def measures_by_kind(
    scores: Mapping[str, pd.DataFrame], marks: Mapping[str, pd.DataFrame], **draws: int
) -> pd.DataFrame:
    """Estimate all measures of each kind of variation, with the deviation."""
    measured = stats.group_averages(
        _scores_of_all_kinds(scores), MEASURE_COLUMNS, by="kind", **draws
    )
    deviation = partial(accuracy.accuracy_over_prompts, how="deviation")
    for kind, right in marks.items():
        interval = stats.bootstrap(
            right.astype(float), deviation, **draws, centred=True
        )
        measured.loc[len(measured)] = [kind, "deviation", *interval]
    return measured


def _scores_of_all_kinds(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([rows.assign(kind=kind) for kind, rows in scores.items()])


def metrics_to_save(
    measured: pd.DataFrame, scores: Mapping[str, pd.DataFrame], focus: str
) -> pd.DataFrame:
    """Return what a run saves: the kind in focus, all kinds by name, every question."""
    measured = measured.assign(relation="all", level="run")
    of_focus = measured[measured["kind"] == focus]
    names = measured["kind"] + ": " + measured["measure"]
    of_all_kinds = measured.assign(measure=names)
    of_items = _scores_of_all_kinds(scores).melt(
        ["item", "relation", "kind"],
        MEASURE_COLUMNS,
        var_name="measure",
        value_name="estimate",
    )
    return pd.concat([of_focus, of_all_kinds, of_items.assign(level="item", n=1)])


def class_shares_by_group(
    scores: pd.DataFrame, by: str, groups: Mapping[Any, str]
) -> pd.DataFrame:
    """Divide groups of answers into classes, with an interval of steady errors."""
    rows = {}
    for value, name in groups.items():
        classes = scores.loc[scores[by] == value, "class"]
        if classes.empty:
            continue
        row = {}
        for kind, title in CLASS_TITLES.items():
            row[title] = (classes == kind).mean()
        n_errors = int((classes == "error").sum())
        error = stats.wilson_interval(n_errors, len(classes))
        row[f"{CLASS_TITLES['error']}_low"] = error.low
        row[f"{CLASS_TITLES['error']}_high"] = error.high
        rows[f"{name} ({len(classes)})"] = row
    return pd.DataFrame(rows).T


def unread_wordings(focus: str, known: pd.DataFrame | None) -> tuple[int, ...]:
    """Return the prompts whose wordings the training of a bundled model left out."""
    if focus == "frames" and known is not None:
        return datasets.HELD_OUT_FRAMES
    return ()


def deviation_without_least_accurate_prompt(
    marks: pd.DataFrame,
) -> tuple[int, float]:
    """Return the number of the least accurate prompt, and the deviation of the rest."""
    number = int(marks.mean().idxmin())
    other_marks = marks.drop(columns=number).to_numpy(dtype=float)
    deviation = accuracy.accuracy_over_prompts(other_marks, "deviation")
    return number, float(deviation)


def steady_share_of_draws(
    answers: pd.DataFrame,
    r: int,
    classes: Mapping[str, Any],
    rule: str = "sum",
    temperature: float = 1.0,
) -> pd.Series:
    """Return how often r draws from a question's default prompt would be steady.

    `classes` are tau, replacement and correct_by. Draws are steady whichever option
    they agree on: what is drawn from need not rank the options as the answers do.
    """
    rng = np.random.default_rng(0)
    tau = classes["tau"]
    shares = {}
    for item, p in option_probabilities(answers, rule, temperature).groupby("item"):
        draws = rng.choice(len(p), (1_000, r), p=p)
        agreement = multiplicity.self_consistency(draws, classes["replacement"])
        shares[item] = (agreement >= tau).mean()
    return pd.Series(shares, dtype=float)


def prompts_less_draws(
    of_prompts: pd.Series, of_draws: pd.Series, relations: pd.Series, **draws: int
) -> stats.Difference:
    """Estimate a share under the prompts less that of draws, within relations."""
    return stats.paired_difference(of_prompts, of_draws, strata=relations, **draws)


def differences_by_draw_rule(
    close: pd.DataFrame,
    answers: pd.DataFrame,
    r: int,
    classes: Mapping[str, Any],
    **draws: int,
) -> pd.DataFrame:
    """Compare prompts with draws for each rule and temperature, in percent.

    ``rule`` and ``temperature`` say what is drawn from; ``drawn: changed`` and
    ``drawn: steady`` are of draws, the latter of questions wrong by default, and behind
    each stands what the prompts have less that.
    """
    wrong = close[close["default"] == 0]
    rows = []
    for rule, temperature in product(DRAW_RULES, DRAW_TEMPERATURES):
        ambiguity = expected_ambiguity_of_draws(answers, r, rule, temperature)
        changed = ambiguity.loc[close["item"], "ambiguous"]
        changes = prompts_less_draws(
            close["ambiguous"], changed, close["relation"], **draws
        )
        steady = steady_share_of_draws(answers, r, classes, rule, temperature)
        steady = steady[wrong["item"]]
        errors = prompts_less_draws(wrong["error"], steady, wrong["relation"], **draws)
        row = {
            "rule": rule,
            "temperature": temperature,
            "drawn: changed": _in_percent(changed.mean()),
            "changed by prompts, less": _in_percent(*changes[:3]),
            "drawn: steady": _in_percent(steady.mean()),
            "errors that stay, less": _in_percent(*errors[:3]),
        }
        rows.append(row)
    return pd.DataFrame(rows).set_index("rule")


def _in_percent(*estimate: float) -> str:
    """Write a share, and its bounds if there are any, in percent."""
    return result_tables.interval(*estimate, digits=1, scale=100)


def mark_shares_beside_default(
    marks: pd.DataFrame, unread: Sequence[int] = ()
) -> pd.DataFrame:
    """Cross the marks of every prompt with those of the default one, as shares."""
    rows = {}
    default = marks[0]
    for number, other in marks.drop(columns=0).items():
        name = f"prompt {number}"
        if number in unread:
            name += ", unread wording"
        row = {}
        for (right_by_default, right_by_other), title in MARK_PAIR_TITLES.items():
            is_pair = (default == right_by_default) & (other == right_by_other)
            row[title] = is_pair.mean()
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def class_shares_by_threshold(
    close: pd.DataFrame, correct_by: str, **draws: int
) -> pd.DataFrame:
    """Estimate the classes for every threshold."""
    grid = multiplicity.classes_over_tau(close, np.linspace(0.2, 1, 33), correct_by)
    rates = stats.group_averages(grid, list(CLASS_TITLES), by="tau", **draws)
    rates = rates.replace({"measure": CLASS_TITLES})
    return rates.rename(columns={"tau": "threshold τ"})


def prompt_pair_of_nearest_accuracy(right: pd.DataFrame) -> tuple[int, int]:
    """Return the variations of nearest accuracies whose marks differ most.

    Accuracies are compared to a hundredth; of several pairs it is the first.
    """
    marks = right.to_numpy(dtype=bool)
    pairs = []
    for first, second in combinations(range(marks.shape[1]), 2):
        gap = abs(marks[:, first].mean() - marks[:, second].mean())
        n_alike = (marks[:, first] == marks[:, second]).sum()
        pairs.append((round(gap, 2), n_alike, first, second))
    _, _, first, second = min(pairs)
    return right.columns[first], right.columns[second]


def ambiguity_by_number_of_prompts(
    options: Mapping[str, pd.DataFrame], answers: pd.DataFrame, focus: str, **draws: int
) -> pd.DataFrame:
    """Estimate ambiguity by number of prompts for each kind, and of draws from one."""
    tables = []
    for kind, table in options.items():
        n_prompts = table.shape[1]
        rarefied = {}
        for r in range(2, n_prompts + 1):
            rarefied[r] = multiplicity.rarefied_ambiguity(table, r)
        rates = stats.group_averages(pd.DataFrame(rarefied), list(rarefied), **draws)
        tables.append(rates.assign(kind=kind))
    answers = answers[answers["kind"] == focus]
    n_prompts = options[focus].shape[1]
    expected = {}
    for r in range(2, n_prompts + 1):
        expected[r] = expected_ambiguity_of_draws(answers, r)["ambiguous"]
    rates = stats.group_averages(pd.DataFrame(expected), list(expected), **draws)
    tables.append(rates.assign(kind="draws from one prompt"))
    rates = pd.concat(tables, ignore_index=True)
    return rates.rename(columns={"measure": "prompts"})


def drop_interval_of_group_of_one(
    interval: stats.Interval, groups: pd.Series
) -> stats.Interval:
    """Take the interval away if a group has one row, which cannot vary."""
    if len(groups) and groups.value_counts().min() < 2:
        return interval._replace(low=np.nan, high=np.nan)
    return interval


def bootstrap_within_groups(
    rows: np.ndarray, statistic: stats.Statistic, groups: pd.Series, **draws: int
) -> stats.Interval:
    """Bootstrap within groups."""
    strata = groups if len(rows) else None
    interval = stats.bootstrap(rows, statistic, strata, **draws)
    return drop_interval_of_group_of_one(interval, groups)


def varied_group_mean_difference(
    values: pd.Series, first: pd.Series, **draws: int
) -> stats.Interval:
    """Estimate the mean of one group less that of the others, drawn within both."""
    difference = group_mean_difference(values, first, **draws)
    return drop_interval_of_group_of_one(difference, first)


def group_means_in_percent(**groups: npt.ArrayLike) -> dict[str, str]:
    """Write the mean of each group's shares in percent."""
    means = {}
    for name, shares in groups.items():
        if len(shares):
            means[name] = f"{100 * np.mean(shares):.1f}"
    return means


def largest_confidence_gap_in_paper() -> float:
    """Return the paper's largest gap of right and wrong steady answers (Table 2)."""
    paper = published.load_published_table("multiplicity_table2")
    return float((paper["agnostic correct"] - paper["agnostic wrong"]).abs().max())


def _area_difference(first: list[int], second: list[int]) -> stats.Statistic:
    """Return the statistic: the AUC of two columns, less that of two other columns."""

    def difference(rows: np.ndarray) -> np.ndarray:
        first_area = roc_curve.area_under_roc_curve(rows[..., first])
        return first_area - roc_curve.area_under_roc_curve(rows[..., second])

    return difference


def detector_lead_on_randomness(
    doubt: pd.Series, scores: pd.DataFrame, **draws: int
) -> stats.Interval:
    """Estimate a detector's AUC for randomness less that for steady errors."""
    errors = scores["error"].where(scores["class"] != "randomness")
    rows = np.column_stack([doubt, scores["randomness"], errors])
    return bootstrap_within_groups(
        rows, _area_difference([0, 1], [0, 2]), scores["class"], **draws
    )


def areas_by_detector(
    halves: pd.DataFrame, lesson: pd.Series, **draws: int
) -> pd.DataFrame:
    """Estimate the AUC of entropy and perplexity as detectors of kinds of answers."""
    steady = halves[halves["class"] != "randomness"]
    targets = {"randomness": (halves, "randomness"), "steady errors": (steady, "error")}
    if (lesson != "").any():
        is_planted = steady["item"].map(lesson).str.startswith(WRONG_LESSONS).eq(True)
        without_other_errors = steady[is_planted | (steady["error"] == 0)]
        targets["steady errors that were planted"] = (without_other_errors, "error")
    areas = []
    for name, (rows, target) in targets.items():
        doubts = {"entropy": rows["entropy"], "perplexity": -rows["logprob"]}
        for detector, doubt in doubts.items():
            area = bootstrap_within_groups(
                np.column_stack([doubt, rows[target]]),
                roc_curve.area_under_roc_curve,
                rows[target],
                **draws,
            )
            areas.append((name, detector, *area))
    return pd.DataFrame(areas, columns=["target", "detector", *stats.Interval._fields])


def scores_with_training_lessons(
    scores: pd.DataFrame,
    items: pd.DataFrame,
    lesson: pd.Series,
    known: pd.DataFrame | None,
) -> pd.DataFrame:
    """Add what the training text says of facts, and if a steady error repeats it."""
    items = items.set_index("item")
    exposures = pd.Series(dtype=float) if known is None else known["exposures"]
    false_objects = items.get("false_object", pd.Series(dtype=object))
    repeats = scores["said"] == scores["item"].map(false_objects)
    is_planted = repeats & (scores["error"] > 0)
    return scores.assign(
        lesson=scores["item"].map(lesson),
        times=scores["item"].map(exposures),
        planted=is_planted.astype(float),
    )


def class_shares_by_lesson(close: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Write the classes by lesson, in percent with intervals."""
    close = close[close["lesson"].isin(LESSONS)]
    names = [*multiplicity.CLASSES, "planted"]
    if close.empty:
        return pd.DataFrame(columns=["n", *names])
    rates = stats.group_averages(close, names, by="lesson", **draws)
    titles = {name: name for name in names}
    table = result_tables.wide_interval_table(rates, titles, percent=names, by="lesson")
    table.insert(0, "n", close["lesson"].value_counts())
    return table.loc[sorted(table.index, key=LESSONS.index)]


def balanced_hit_weights(classes: pd.Series, due: pd.Series) -> np.ndarray:
    r"""Weigh hits so that their mean is the hit rate, averaged over the classes due.

    .. math:: h_k = \mathbb{1}[c_k = d_k] \, \frac{n}{C \, n_{d_k}}

    >>> classes = pd.Series(["error"] * 4)
    >>> due = pd.Series(["error"] * 3 + ["randomness"])
    >>> round(float(balanced_hit_weights(classes, due).mean()), 6)
    0.5
    """
    class_size = due.groupby(due).transform("size").to_numpy()
    is_hit = classes.to_numpy() == due.to_numpy()
    return is_hit * len(due) / (due.nunique() * class_size)


def lead_over_strongest_other_kind(
    values_by_kind: Mapping[str, np.ndarray],
    focus: str,
    strata: pd.Series | None = None,
    **draws: int,
) -> tuple[str, stats.Difference]:
    """Name the strongest other kind, and subtract it from the kind in focus."""
    means = {}
    for kind, values in values_by_kind.items():
        if kind != focus and len(values):
            means[kind] = float(np.mean(values))
    if not means:
        return "none", stats.paired_difference([], [], **draws)
    strongest = max(means, key=means.__getitem__)
    lead = stats.paired_difference(
        values_by_kind[focus], values_by_kind[strongest], strata=strata, **draws
    )
    return strongest, lead


def agreement_with_expected_class(
    scores: Mapping[str, pd.DataFrame], due: pd.Series, **draws: int
) -> tuple[pd.DataFrame, dict[str, np.ndarray], pd.Series]:
    """Compare the kinds by how many facts they put in the class due.

    Returns a table of the kinds, the weighted hits of each kind, and the classes due.
    """
    first_kind = next(iter(scores))
    due = scores[first_kind]["item"].map(due)
    is_due = (due != "").to_numpy()
    due = due[is_due]
    strata = due if len(due) else None
    table = {}
    hits = {}
    for kind, rows in scores.items():
        hits[kind] = balanced_hit_weights(rows["class"][is_due], due)
        rate = stats.bootstrap(hits[kind], strata=strata, **draws)
        gain = stats.paired_difference(
            hits[kind], hits[first_kind], strata=strata, **draws
        )
        table[kind] = {
            "agrees": result_tables.interval(*rate[:3], digits=1, scale=100),
            f"minus {first_kind}": result_tables.interval(
                *gain[:3], digits=1, scale=100
            ),
            "n": rate.n,
        }
    return pd.DataFrame(table).T.rename_axis("kind of variation"), hits, due


def confidence_by_cell(
    close: pd.DataFrame, who: str, other_questions: bool, **draws: int
) -> pd.DataFrame:
    """Put the mean of 1 / perplexity in each cell, by both rules, above Table 2."""
    paper = published.load_published_table("multiplicity_table2")
    table = result_tables.our_row_above_published_table(
        _confidences_in_words(close, "default", **draws), paper, who, 2, other_questions
    )
    by_majority = _confidences_in_words(close, "majority", **draws)
    our_second_row = pd.DataFrame([by_majority], index=[f"{who}, by majority"])
    return pd.concat([table[:1], our_second_row, table[1:]]).rename_axis("model")


def _confidences_in_words(
    close: pd.DataFrame, correct_by: str, **draws: int
) -> dict[str, str]:
    """Write the mean of 1 / perplexity in each cell, with n."""
    cell_of_question = choices.multiplicity_cells(close, correct_by)
    means = {}
    for cell in multiplicity.CELLS:
        confidences = close.loc[cell_of_question == cell, "confidence"]
        mean = stats.bootstrap(confidences, **draws)
        interval = result_tables.interval(*mean[:3], digits=2)
        means[cell] = f"{interval} (n = {mean.n})"
    return means


def measures_beside_paper(
    measured: pd.DataFrame, focus: str, name: str
) -> pd.DataFrame:
    """Give the range over the paper's models on benchmarks, and our row, in percent."""
    table1 = published.load_published_table("multiplicity_table1")
    table3 = published.load_published_table("multiplicity_table3")
    rows: dict[str, dict[str, str]] = {}
    for column, values in pd.concat([table1, table3], axis=1).items():
        benchmark, _, measure = str(column).rpartition(" ")
        low, median, high = values.agg(["min", "median", "max"])
        rows.setdefault(benchmark, {})
        rows[benchmark][measure] = f"{low:.2f} to {high:.2f} ({median:.2f})"
    table = pd.DataFrame.from_dict(rows, orient="index").sort_index()
    table = table[["accuracy", "deviation", "ambiguity", "ambiguity_binary"]]
    ours = measured[measured["kind"] == focus].set_index("measure")["estimate"]
    own_randomness = ours["randomness"]
    ours = ours[["accuracy", "deviation", "ambiguous", "ambiguous_binary"]]
    table.loc[name] = (100 * ours).map("{:.2f}".format).to_numpy()
    table.columns = ["accuracy", "± over prompts", "Ambiguity-M", "Ambiguity-B"]
    randomness = dict.fromkeys(table.index, "")
    randomness["TruthfulQA"] = RANDOMNESS_IN_TEXT
    randomness[name] = f"{100 * own_randomness:.2f}"
    table["randomness"] = pd.Series(randomness)
    return table.rename_axis("benchmark")


def comparisons_for_appendix(
    close: pd.DataFrame,
    halves: pd.DataFrame,
    options: Mapping[str, pd.DataFrame],
    marks: pd.DataFrame,
    scores: Mapping[str, pd.DataFrame],
    focus: str,
    *,
    due: pd.Series,
    **draws: int,
) -> Iterator[tuple[str, Any, float]]:
    """Yield what else is compared: a label, its statistic, the value of no effect."""
    changed = stats.wilson_interval(close["ambiguous"].sum(), len(close))
    yield "answers that change under the prompts (against a half)", changed, 0.5
    yield from _comparisons_of_errors(close)
    yield _comparison_without_least_accurate_prompt(marks, **draws)
    luck = stats.paired_difference(close["default"], close["factuality"], **draws)
    yield "accuracy at the default prompt, less factuality", luck, 0.0
    yield _comparison_of_nearest_prompts(marks)
    self_consistency = close["self_consistency"] + 1e-12
    is_between = (self_consistency >= 0.5) & (self_consistency < 0.9)
    share = stats.wilson_interval(int(is_between.sum()), len(is_between))
    yield "steady at a threshold of 0.5 and random at 0.9 (against a tenth)", share, 0.1
    yield from _comparisons_of_ambiguity(options, focus, **draws)
    is_steady = close["class"] != "randomness"
    gap = varied_group_mean_difference(close["confidence"], is_steady, **draws)
    yield "1 / perplexity: steady answers, less others", gap, 0.0
    yield from _comparisons_of_detectors(close, halves, **draws)
    has_wrong_lesson = close["lesson"].str.startswith(WRONG_LESSONS)
    plain = close[close["times"].notna() & ~has_wrong_lesson]
    rank = stats.correlation(plain["times"], plain["factuality"], method="spearman")
    yield "rank correlation of times stated and factuality", rank, 0.0
    _, hits, due = agreement_with_expected_class(scores, due, **draws)
    strata = due if len(due) else None
    rate = stats.bootstrap(hits[focus], strata=strata, **draws)
    guess = 1 / max(1, due.nunique())
    yield "facts in the class that the text predicts (against a guess)", rate, guess
    other, lead = lead_over_strongest_other_kind(hits, focus, strata, **draws)
    label = f"facts in the class predicted: {focus}, less the next kind, {other}"
    yield label, lead, 0.0


def _comparison_without_least_accurate_prompt(
    marks: pd.DataFrame, **draws: int
) -> tuple[str, Any, float]:
    """Return the deviation without one prompt, against that of equally good ones."""
    number, deviation = deviation_without_least_accurate_prompt(marks)
    chance = deviation_by_chance(marks.drop(columns=number), **draws)
    label = f"standard deviation of accuracy without prompt {number}, the least"
    label += " accurate (against that of equally good prompts)"
    return label, (deviation, np.nan, np.nan, len(marks)), chance.estimate


def _comparisons_of_errors(close: pd.DataFrame) -> Iterator[tuple[str, Any, float]]:
    """Yield how many errors under the default prompt stay under all prompts."""
    wrong = close.loc[close["default"] == 0]
    share = stats.wilson_interval(wrong["error"].sum(), len(wrong))
    yield "errors that stay (against a half)", share, 0.5
    is_planted = wrong["lesson"].str.startswith(WRONG_LESSONS).eq(True)
    planted = wrong.loc[is_planted, "error"]
    share = stats.wilson_interval(planted.sum(), len(planted))
    yield "errors that stay, of facts stated both ways", share, 0.5
    others = wrong.loc[~is_planted, "error"]
    share = stats.wilson_interval(others.sum(), len(others))
    yield "errors that stay, of facts never stated wrongly", share, 0.5


def _comparison_of_nearest_prompts(marks: pd.DataFrame) -> tuple[str, Any, float]:
    """Return how many marks differ between two prompts, against their gap."""
    first, second = prompt_pair_of_nearest_accuracy(marks)
    gap = abs(marks[first].mean() - marks[second].mean())
    differs = marks[first] != marks[second]
    share = stats.wilson_interval(int(differs.sum()), len(differs))
    label = (
        f"marks that differ between prompts {first} and {second}, "
        "chosen for nearest accuracies (against their gap)"
    )
    return label, share, gap


def _comparisons_of_ambiguity(
    options: Mapping[str, pd.DataFrame], focus: str, **draws: int
) -> Iterator[tuple[str, Any, float]]:
    """Yield what the last prompt adds, and how kinds compare at as many prompts."""
    table = options[focus]
    n_prompts = table.shape[1]
    with_last = multiplicity.rarefied_ambiguity(table, n_prompts)
    without_last = multiplicity.rarefied_ambiguity(table, n_prompts - 1)
    addition = stats.bootstrap(with_last - without_last, **draws)
    yield "ambiguity that the last prompt adds (against one point)", addition, 0.01
    fewest = min(table.shape[1] for table in options.values())
    ambiguities = {}
    for kind, table in options.items():
        ambiguities[kind] = multiplicity.rarefied_ambiguity(table, fewest)
    other, lead = lead_over_strongest_other_kind(ambiguities, focus, **draws)
    label = f"ambiguity at {fewest} prompts: {focus}, less the next kind, {other}"
    yield label, lead, 0.0


def _comparisons_of_detectors(
    close: pd.DataFrame, halves: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, Any, float]]:
    """Yield what perplexity and entropy detect: randomness, wrong, planted answers."""
    lead = detector_lead_on_randomness(-close["logprob"], close, **draws)
    label = "AUC of perplexity, over all prompts: randomness, less steady errors"
    yield label, lead, 0.0
    is_wrong = 1 - halves["default"]
    lead = bootstrap_within_groups(
        np.column_stack([halves["entropy"], -halves["logprob"], is_wrong]),
        _area_difference([0, 2], [1, 2]),
        halves["default"],
        **draws,
    )
    label = "AUC for wrong answers at the default prompt: entropy, less perplexity"
    yield label, lead, 0.0
    is_steady = close["class"] != "randomness"
    is_planted_or_right = close["lesson"].str.startswith(WRONG_LESSONS) | (
        close["error"] == 0
    )
    rows = close[is_steady & is_planted_or_right & (close["lesson"] != "")]
    area = bootstrap_within_groups(
        np.column_stack([-rows["logprob"], rows["error"]]),
        roc_curve.area_under_roc_curve,
        rows["error"],
        **draws,
    )
    label = "AUC of perplexity: planted errors among steady answers (against 0.5)"
    yield label, area, 0.5


def tables_for_appendix(
    measured: pd.DataFrame,
    close: pd.DataFrame,
    scores: Mapping[str, pd.DataFrame],
    due: pd.Series,
    who: str,
    other_questions: bool,
    **draws: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix by name."""
    titles = {name: name.replace("_", " ") for name in ["deviation", *MEASURE_COLUMNS]}
    overall = result_tables.wide_interval_table(
        measured, titles, percent=titles, by="kind"
    )
    agreement, _, _ = agreement_with_expected_class(scores, due, **draws)
    return {
        "overall": overall,
        "truth": class_shares_by_lesson(close, **draws),
        "kinds": agreement,
        "cells": confidence_by_cell(close, who, other_questions, **draws),
    }


def classes_by_question(close: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row a question, for the table that the run saves."""
    columns = ["item", "question", "lesson", "accuracy", "self_consistency", "class"]
    return close.merge(items[["item", "question"]], on="item")[columns].round(3)
