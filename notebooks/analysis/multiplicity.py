"""What the chapter on prompt multiplicity computes beside its measures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
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
from notebooks.analysis import monitor, paraphrasing
from notebooks.kit import published
from notebooks.kit.findings import HOLDS, UNDECIDED, UNDEFINED
from notebooks.kit.group_difference import group_mean_difference
from notebooks.kit.plots import result_tables
from notebooks.kit.plots.style import BLUE, GREEN, GREY, ORANGE, RED

MEASURE_COLUMNS = ["accuracy", "ambiguous", "ambiguous_binary", "self_consistency"]
MEASURE_COLUMNS += ["factuality", "randomness", "error", "default"]
CLASS_TITLES = {
    "error": "prompt-agnostic error",
    "randomness": "randomness",
    "factuality": "prompt-agnostic factuality",
}
CLASS_COLOURS = dict(zip(CLASS_TITLES.values(), (RED, GREY, GREEN)))
MARK_PAIR_TITLES = {  # right under the default prompt, right under another one
    (True, True): "right under both",
    (True, False): "right under the default alone",
    (False, True): "right under this one alone",
    (False, False): "wrong under both",
}
MARK_PAIR_COLOURS = dict(zip(MARK_PAIR_TITLES.values(), (GREEN, ORANGE, BLUE, RED)))
LESSONS = multiple_choice.LESSONS
WRONG_LESSONS = LESSONS[-2:]  # what was planted
DEFAULT_MARK_TITLES = {1: "right by default", 0: "wrong by default"}


class QuestionPlan(NamedTuple):
    """What a run asks, and in which ways."""

    bench: Benchmark
    ways: dict[str, int]  # kinds of variation, and how many prompts of each
    n_shots: int
    frames: pd.DataFrame | None
    notes: list[str]


def plan_of_questions(given: Mapping[str, Any]) -> QuestionPlan:
    """Return what the settings of a run ask for; refuse what they cannot be."""
    study.check(given)
    dataset, n, focus = given["dataset"], given["n_variations"], given["focus"]
    bench = multiple_choice.load_benchmark(dataset, given["n_items"] or None, given["seed"],
                                 given["n_options"], given["relations"] or None,
                                 given["model"])  # fmt: skip
    items, kinds = bench.items, list(given["kinds"] or bench.kinds)
    if given["paraphraser"]:
        rewords = models.load(given["paraphraser"])
        said = paraphrasing.paraphrase_texts(rewords, items["question"], n - 1)
        items["paraphrases"] = pd.Series(said, index=items.index)
        kinds = given["kinds"] or ["paraphrases", *bench.kinds]
    frames = datasets.prompt_frames(dataset) if "subject" in items else None
    wanted, shots = (
        [*kinds, focus] if focus else kinds,
        given["n_shots"] or bench.n_shots,
    )
    ways, n_shots, notes = variations.plan_variations(
        items, wanted, n, bench.pool, shots, frames
    )
    return QuestionPlan(bench, ways, n_shots, frames, [*bench.notes, *notes])


def probes_of_plan(lm: LanguageModel, plan: QuestionPlan, seed: int) -> pd.DataFrame:
    """Put every question in all ways of all kinds, if the model's context can hold them."""
    bench = plan.bench

    def made(n_shots: int) -> pd.DataFrame:
        ask = partial(variations.variation_probes, bench.items, style=bench.style, pool=bench.pool,
                      n_shots=n_shots, frames=plan.frames, seed=seed)  # fmt: skip
        return pd.concat(
            [ask(kind, n) for kind, n in plan.ways.items()], ignore_index=True
        )

    def count(text: str) -> int:
        return len(lm.tokenizer(text)["input_ids"])

    return variations.probes_that_fit_context(made, plan.n_shots, count, lm.max_length)


def score_running_example(
    lm: LanguageModel,
    plan: QuestionPlan,
    given: Mapping[str, Any],
    focus: str,
    cache: Path,
) -> pd.DataFrame:
    """Ask in one way for the country of Lyon; of other data, the first question."""
    one = replace(plan.bench, items=plan.bench.items.head(1))
    if given["dataset"] == "atlas" and "paraphrases" not in one.items:
        only = monitor.fact_of_running_example(datasets.load("atlas", ["P17"]))["fact"]
        seed, n_options, model = (
            given[name] for name in ("seed", "n_options", "model")
        )
        one = multiple_choice.load_benchmark(
            "atlas", None, seed, n_options, None, model, set(only)
        )
    one_way = plan._replace(bench=one, ways={focus: plan.ways[focus]})
    return probing.score(lm, probes_of_plan(lm, one_way, given["seed"]), cache=cache)


def first_and_last_prompts(right: pd.DataFrame) -> Iterator[Any]:
    """Yield the default prompt of a question, and the last one of each kind."""
    last = right.groupby("kind", sort=False).tail(1)
    yield from pd.concat([right.head(1), last]).itertuples()


def example_questions(scores: pd.DataFrame, due: pd.Series, n: int = 3) -> list[str]:
    """Pick questions that show knowledge, chance and steady error, as training would have it."""
    place = scores["class"].map({"factuality": 0, "randomness": 1, "error": 2})
    table = scores.assign(
        place=place,
        missed=scores["class"].to_numpy() != due.reindex(scores["item"]).to_numpy(),
        lucky=(place == 1) & (scores["default"] > 0),
        order=scores["self_consistency"] * np.where(place == 1, 1, -1),
    )
    ordered = table.sort_values(["place", "missed", "lucky", "order"], kind="stable")
    first = ordered.drop_duplicates("place")["item"].tolist()
    return [*first, *(item for item in ordered["item"] if item not in first)][:n]


def tally_of_chosen_answers(
    said: pd.DataFrame, items: pd.DataFrame, picked: list[str], lesson: pd.Series
) -> pd.DataFrame:
    """Write what the text says of some questions, what is right, and how often each was chosen."""
    rows = items.set_index("item").loc[picked]
    right = [options[n] for options, n in zip(rows["options"], rows["answer"])]
    each = [
        said.loc[said["item"] == item, "text"].value_counts().items() for item in picked
    ]
    chosen = [", ".join(f"{text} ×{n}" for text, n in counts) for counts in each]
    told = {"question": rows["question"], "correct": right, "chosen": chosen}
    table = pd.DataFrame({"training text": lesson[picked]} | told)
    table = table.loc[:, table.ne("").any()]
    return table.set_index(table.columns[0])


def option_probabilities(answers: pd.DataFrame) -> pd.Series:
    """Scale the probabilities of the options under the default prompt to sum to 1, by item."""
    first = answers[answers["variation"] == 0].set_index("item")
    logs = first["logprobs"].map(np.sum).astype(float)
    p = np.exp(logs - logs.groupby("item").transform("max"))
    return p / p.groupby("item").transform("sum")


def expected_ambiguity_of_draws(answers: pd.DataFrame, r: int) -> pd.DataFrame:
    r"""Expect what r answers to the default prompt alone would be, drawn by their probabilities.

    The probabilities of a question's options are scaled to sum to 1; r independent
    draws are all
    alike with the chance :math:`\sum_o p_o^r`, and two of them with :math:`\sum_o p_o^2`.

    >>> answers = pd.DataFrame({"item": "a", "variation": 0, "option": [0, 1],
    ...                         "logprobs": [[np.log(0.3), 0.0], [np.log(0.1)]]})
    >>> expected_ambiguity_of_draws(answers, 3).round(4).values.tolist()
    [[0.5625, 0.625]]
    """
    p = option_probabilities(answers)
    alike = [(p**power).groupby("item", sort=False).sum() for power in (r, 2)]
    return pd.DataFrame({"ambiguous": 1 - alike[0], "self_consistency": alike[1]})


def deviation_bounds_by_chance(
    marks: pd.DataFrame, n_resamples: int, seed: int
) -> tuple[float, float]:
    """Bound the deviation over equally good prompts, in points: 95 % of shuffled marks."""
    rng, right = np.random.default_rng(seed), marks.to_numpy(dtype=float)
    alike = [accuracy.accuracy_over_prompts(rng.permuted(right, axis=1), "deviation")
             for _ in range(n_resamples)]  # fmt: skip
    low, high = np.nan_to_num(np.quantile(alike, [0.025, 0.975]))
    return 100 * float(low), 100 * float(high)


def decision_on_deviation(spread: float, limit: float) -> str:
    """Decide whether a deviation exceeds, as it is printed, what equally good prompts give."""
    if np.isnan(spread):
        return UNDEFINED
    return HOLDS if round(100 * spread, 1) > round(limit, 1) else UNDECIDED


def measures_by_kind(
    scores: Mapping[str, pd.DataFrame], marks: Mapping[str, pd.DataFrame], **draws: int
) -> pd.DataFrame:
    """Estimate all measures for each kind of variation, with the deviation over its prompts."""
    every = pd.concat([rows.assign(kind=kind) for kind, rows in scores.items()])
    measured = stats.group_averages(every, MEASURE_COLUMNS, by="kind", **draws)
    deviation = partial(accuracy.accuracy_over_prompts, how="deviation")
    for kind, right in marks.items():
        found = stats.bootstrap(right.astype(float), deviation, **draws, centred=True)
        measured.loc[len(measured)] = [kind, "deviation", *found]
    return measured


def metrics_to_save(
    measured: pd.DataFrame, scores: Mapping[str, pd.DataFrame], focus: str
) -> pd.DataFrame:
    """Return what a run saves: the kind in focus, all kinds by name, and every question."""
    level = {"relation": "all", "level": "run"}
    named = measured.assign(measure=measured["kind"] + ": " + measured["measure"])
    every = pd.concat([rows.assign(kind=kind) for kind, rows in scores.items()])
    each = every.melt(["item", "relation", "kind"], MEASURE_COLUMNS, var_name="measure",
                      value_name="estimate").assign(level="item", n=1)  # fmt: skip
    main = measured[measured["kind"] == focus]
    return pd.concat([main.assign(**level), named.assign(**level), each])


def class_shares_by_group(
    scores: pd.DataFrame, by: str, groups: Mapping[Any, str]
) -> pd.DataFrame:
    """Divide groups of answers into the three classes, with Wilson's interval of steady errors."""
    rows = {}
    for value, name in groups.items():
        classes = scores.loc[scores[by] == value, "class"]
        if len(classes):
            shares = {
                title: (classes == kind).mean() for kind, title in CLASS_TITLES.items()
            }
            ends = stats.wilson_interval(int((classes == "error").sum()), len(classes))
            ends = {
                f"{CLASS_TITLES['error']}_{end}": getattr(ends, end)
                for end in ("low", "high")
            }
            rows[f"{name} ({len(classes)})"] = shares | ends
    return pd.DataFrame(rows).T


def unread_wordings(focus: str, known: pd.DataFrame | None) -> tuple[int, ...]:
    """Return the wordings among the prompts that the training of a bundled model left out."""
    return datasets.HELD_OUT_FRAMES if focus == "frames" and known is not None else ()


def worst_prompt_in_words(
    marks: pd.DataFrame, unread: Sequence[int] = ()
) -> dict[str, str]:
    """Name the prompt of least accuracy, and write the deviation over the others, in points."""
    name = int(marks.mean().idxmin())
    rest = accuracy.accuracy_over_prompts(
        marks.drop(columns=name).to_numpy(dtype=float), "deviation"
    )
    said = f"prompt {name}" + " (a wording that training left out)" * (name in unread)
    return {"worst": said, "rest": f"{100 * float(rest):.1f}"}


def steady_share_of_draws(
    answers: pd.DataFrame, r: int, tau: float, replacement: bool, **_: str
) -> pd.Series:
    """Return how often r draws from each question's default prompt would be a steady answer."""
    rng, by = np.random.default_rng(0), option_probabilities(answers).groupby("item")
    drawn = {item: rng.choice(len(p), (1_000, r), p=p) for item, p in by}
    alike = {
        i: (multiplicity.self_consistency(x, replacement) >= tau)
        for i, x in drawn.items()
    }
    return pd.Series({item: each.mean() for item, each in alike.items()}, dtype=float)


def steady_shares_in_words(close: pd.DataFrame, drawn: pd.Series) -> dict[str, str]:
    """Write how many answers are steady about facts read, and of draws about facts never read."""
    read = (
        close.loc[close["lesson"].str.startswith("read").eq(True), "class"]
        != "randomness"
    )
    never = close.loc[close["lesson"] == LESSONS[0], "item"]
    return group_means_in_percent(read=read, drawn=drawn[never]) | {
        "n_read": str(len(read))
    }


def mark_shares_beside_default(
    marks: pd.DataFrame, unread: Sequence[int] = ()
) -> pd.DataFrame:
    """Cross the marks of every prompt with those of the default one, as shares."""
    others = marks.columns[1:]
    shares = {
        name: [((marks[0] == one) & (marks[other] == two)).mean() for other in others]
        for (one, two), name in MARK_PAIR_TITLES.items()
    }
    names = [
        f"prompt {other}" + ", unread wording" * (other in unread) for other in others
    ]
    return pd.DataFrame(shares, index=names)


def class_shares_by_threshold(
    close: pd.DataFrame, correct_by: str, **draws: int
) -> pd.DataFrame:
    """Estimate the classes for every threshold."""
    grid = multiplicity.classes_over_tau(close, np.linspace(0.2, 1, 33), correct_by)
    rates = stats.group_averages(grid, list(CLASS_TITLES), by="tau", **draws)
    return rates.replace({"measure": CLASS_TITLES}).rename(
        columns={"tau": "threshold τ"}
    )


def prompt_pair_of_nearest_accuracy(right: pd.DataFrame) -> tuple[int, int]:
    """Return the two variations of nearest accuracies (to a hundredth) whose marks differ most."""
    marks = right.to_numpy(dtype=bool)
    pairs = list(combinations(range(marks.shape[1]), 2))
    gaps = [round(abs(marks[:, a].mean() - marks[:, b].mean()), 2) for a, b in pairs]
    same = [(marks[:, a] == marks[:, b]).sum() for a, b in pairs]
    first, second = min(zip(gaps, same, pairs))[2]
    return right.columns[first], right.columns[second]


def ambiguity_by_number_of_prompts(
    options: Mapping[str, pd.DataFrame], answers: pd.DataFrame, focus: str, **draws: int
) -> pd.DataFrame:
    """Estimate ambiguity by number of prompts for each kind, and of draws from one prompt."""
    found = []
    for kind, table in options.items():
        numbers = range(2, table.shape[1] + 1)
        rare = {r: multiplicity.rarefied_ambiguity(table, r) for r in numbers}
        found.append(
            stats.group_averages(pd.DataFrame(rare), list(rare), **draws).assign(
                kind=kind
            )
        )
    rows = answers[answers["kind"] == focus]
    drawn = {
        r: expected_ambiguity_of_draws(rows, r)["ambiguous"]
        for r in range(2, options[focus].shape[1] + 1)
    }
    control = stats.group_averages(pd.DataFrame(drawn), list(drawn), **draws)
    found.append(control.assign(kind="draws from one prompt"))
    return pd.concat(found, ignore_index=True).rename(columns={"measure": "prompts"})


def drop_interval_of_group_of_one(
    found: stats.Interval, groups: pd.Series
) -> stats.Interval:
    """Take the interval away if a group has one row, which cannot vary."""
    alone = len(groups) and groups.value_counts().min() < 2
    return found._replace(low=np.nan, high=np.nan) if alone else found


def bootstrap_within_groups(
    rows: np.ndarray, statistic: stats.Statistic, groups: pd.Series, **draws: int
) -> stats.Interval:
    """Bootstrap within groups."""
    found = stats.bootstrap(rows, statistic, groups if len(rows) else None, **draws)
    return drop_interval_of_group_of_one(found, groups)


def varied_group_mean_difference(
    values: pd.Series, first: pd.Series, **draws: int
) -> stats.Interval:
    """Estimate the mean of one group less that of the others, drawn within both."""
    return drop_interval_of_group_of_one(
        group_mean_difference(values, first, **draws), first
    )


def group_means_in_percent(**groups: npt.ArrayLike) -> dict[str, str]:
    """Write the mean of each group's shares in percent."""
    return {
        name: f"{100 * np.mean(shares):.1f}"
        for name, shares in groups.items()
        if len(shares)
    }


def largest_confidence_gap_in_paper() -> float:
    """Return how far right and wrong steady answers lie apart at most in the paper's Table 2."""
    paper = published.load_published_table("multiplicity_table2")
    return float((paper["agnostic correct"] - paper["agnostic wrong"]).abs().max())


def _area_less(one: list[int], two: list[int]) -> stats.Statistic:
    """Return the area under the ROC curve of two columns, less that of two others."""
    return lambda drawn: (
        roc_curve.area_under_roc_curve(drawn[..., one])
        - roc_curve.area_under_roc_curve(drawn[..., two])
    )


def detector_lead_on_randomness(
    doubt: pd.Series, scores: pd.DataFrame, **draws: int
) -> stats.Interval:
    """Estimate how much better a detector finds randomness than errors among steady answers."""
    errors = scores["error"].where(scores["class"] != "randomness")
    rows = np.column_stack([doubt, scores["randomness"], errors])
    return bootstrap_within_groups(
        rows, _area_less([0, 1], [0, 2]), scores["class"], **draws
    )


def areas_by_detector(
    halves: pd.DataFrame, lesson: pd.Series, **draws: int
) -> pd.DataFrame:
    """Estimate the areas of entropy and perplexity as detectors, of each kind of answer."""
    steady = halves[halves["class"] != "randomness"]
    planted = steady["item"].map(lesson).str.startswith(WRONG_LESSONS).eq(True)
    targets = {"randomness": (halves, "randomness"), "steady errors": (steady, "error")}
    if (lesson != "").any():
        some = steady[planted | (steady["error"] == 0)]
        targets["steady errors that were planted"] = some, "error"
    found = []
    for name, (rows, target) in targets.items():
        for detector, doubt in (
            ("entropy", rows["entropy"]),
            ("perplexity", -rows["logprob"]),
        ):
            pair = np.column_stack([doubt, rows[target]])
            figures = bootstrap_within_groups(
                pair, roc_curve.area_under_roc_curve, rows[target], **draws
            )
            found.append((name, detector, *figures))
    return pd.DataFrame(found, columns=["target", "detector", *stats.Interval._fields])


def scores_with_training_lessons(
    scores: pd.DataFrame,
    items: pd.DataFrame,
    lesson: pd.Series,
    known: pd.DataFrame | None,
) -> pd.DataFrame:
    """Add what the training text says of each fact, and whether a steady error repeats it."""
    times = known["exposures"] if known is not None else pd.Series(dtype=float)
    false = items.set_index("item").get("false_object", pd.Series(dtype=object))
    planted = (scores["said"] == scores["item"].map(false)) & (scores["error"] > 0)
    return scores.assign(
        lesson=scores["item"].map(lesson),
        times=scores["item"].map(times),
        planted=planted.astype(float),
    )


def class_shares_by_lesson(close: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Write the classes by lesson, in percent with intervals."""
    close, names = (
        close[close["lesson"].isin(LESSONS)],
        [*multiplicity.CLASSES, "planted"],
    )
    if close.empty:
        return pd.DataFrame(columns=["n", *names])
    rates = stats.group_averages(close, names, by="lesson", **draws)
    crossed = result_tables.wide_interval_table(
        rates, dict(zip(names, names)), percent=names, by="lesson"
    )
    crossed.insert(0, "n", close["lesson"].value_counts())
    return crossed.sort_index(key=lambda lessons: lessons.map(LESSONS.index))


def balanced_hit_weights(classes: pd.Series, due: pd.Series) -> np.ndarray:
    r"""Weigh hits so that their mean is the share of questions in the class due, mean over classes.

    .. math:: h_k = \mathbb{1}[c_k = d_k] \, \frac{n}{C \, n_{d_k}}

    >>> found, due = pd.Series(["error"] * 4), pd.Series(["error"] * 3 + ["randomness"])
    >>> round(float(balanced_hit_weights(found, due).mean()), 6)
    0.5
    """
    size = due.groupby(due).transform("size").to_numpy()
    hit = classes.to_numpy() == due.to_numpy()
    return hit * len(due) / (due.nunique() * size)


def lead_over_strongest_other_kind(
    each: Mapping[str, np.ndarray],
    focus: str,
    strata: pd.Series | None = None,
    **draws: int,
) -> tuple[str, stats.Difference]:
    """Name the strongest other kind, and subtract it from the one in focus, by question."""
    means = {
        kind: float(np.mean(v)) for kind, v in each.items() if kind != focus and len(v)
    }
    other = max(means, key=means.get, default="")
    first, second = (each[focus], each[other]) if other else ([], [])
    strata = strata if strata is not None and len(first) else None
    return other or "none", stats.paired_difference(
        first, second, strata=strata, **draws
    )


def agreement_with_expected_class(
    scores: Mapping[str, pd.DataFrame], due: pd.Series, **draws: int
) -> tuple[pd.DataFrame, dict[str, np.ndarray], pd.Series]:
    """Compare the kinds by how many facts they put in the class due: a table, hits, the classes."""
    first, table, hits = next(iter(scores)), {}, {}
    wanted = scores[first]["item"].map(due)
    firm = (wanted != "").to_numpy()
    wanted, within = (
        wanted[firm],
        {"strata": wanted[firm] if firm.any() else None, **draws},
    )
    for kind, rows in scores.items():
        hits[kind] = balanced_hit_weights(rows["class"][firm], wanted)
        rate = stats.bootstrap(hits[kind], **within)
        less = stats.paired_difference(hits[kind], hits[first], **within)
        rates = [
            result_tables.interval(*x[:3], digits=1, scale=100) for x in (rate, less)
        ]
        table[kind] = dict(zip(["agrees", f"minus {first}"], rates), n=rate.n)
    return pd.DataFrame(table).T.rename_axis("kind of variation"), hits, wanted


def confidence_by_cell(
    close: pd.DataFrame, who: str, other_questions: bool, **draws: int
) -> pd.DataFrame:
    """Put the mean of 1 / perplexity in each cell above the paper's Table 2, by both rules."""
    sure: dict[str, dict[str, str]] = {}
    for way in ("default", "majority"):
        cell = choices.multiplicity_cells(close, way)
        for place in multiplicity.CELLS:
            mean = stats.bootstrap(close.loc[cell == place, "confidence"], **draws)
            text = f"{result_tables.interval(*mean[:3], digits=2)} (n = {mean.n})"
            sure.setdefault(way, {})[place] = text
    paper = published.load_published_table("multiplicity_table2")
    both = result_tables.our_row_above_published_table(
        sure["default"], paper, who, 2, other_questions
    )
    ours = pd.DataFrame([sure["majority"]], index=[f"{who}, by majority"])
    return pd.concat([both[:1], ours, both[1:]]).rename_axis("model")


def measures_beside_paper(
    measured: pd.DataFrame, focus: str, name: str
) -> pd.DataFrame:
    """Give the range over the paper's models on each benchmark, and our row, in percent."""
    paper = pd.concat(
        [published.load_published_table(f"multiplicity_table{n}") for n in (1, 3)],
        axis=1,
    )
    ends = paper.agg(["min", "median", "max"]).map("{:.2f}".format)
    ends = ends.loc["min"] + " to " + ends.loc["max"] + " (" + ends.loc["median"] + ")"
    ends.index = pd.MultiIndex.from_tuples(ends.index.str.rsplit(" ", n=1).map(tuple))
    beside = ends.unstack()[  # noqa: PD010
        ["accuracy", "deviation", "ambiguity", "ambiguity_binary"]
    ]
    ours = measured[measured["kind"] == focus].set_index("measure")["estimate"]
    ours = ours[["accuracy", "deviation", "ambiguous", "ambiguous_binary"]]
    beside.loc[name] = (100 * ours).map("{:.2f}".format).to_numpy()
    beside.columns = ["accuracy", "± over prompts", "Ambiguity-M", "Ambiguity-B"]
    return beside.rename_axis("benchmark")


def comparisons_for_appendix(
    close: pd.DataFrame,
    halves: pd.DataFrame,
    options: Mapping[str, pd.DataFrame],
    marks: pd.DataFrame,
    scores: Mapping[str, pd.DataFrame],
    focus: str,
    due: pd.Series,
    drawn: pd.Series,
    **draws: int,
) -> Iterator[tuple[str, Any, float]]:
    """Yield what else is compared: a label, its statistic, and the value of no effect."""
    wrong = close.loc[close["default"] == 0]
    stay = stats.paired_difference(
        wrong["error"], drawn[wrong["item"]].to_numpy(), **draws
    )
    yield "errors that stay, less steady draws from the default prompt", stay, 0.0
    planted = wrong["lesson"].str.startswith(WRONG_LESSONS).eq(True)
    for what, part in (
        ("stated both ways", planted),
        ("never stated wrongly", ~planted),
    ):
        rows = wrong[part]
        share = stats.wilson_interval(rows["error"].sum(), len(rows))
        yield f"errors that stay, of facts {what}", share, 0.5
    luck = stats.paired_difference(close["default"], close["factuality"], **draws)
    yield "accuracy at the default prompt, less factuality", luck, 0.0
    one, two = prompt_pair_of_nearest_accuracy(marks)
    gap, differ = abs(marks[one].mean() - marks[two].mean()), marks[one] != marks[two]
    label = f"marks that differ between prompts {one} and {two}, chosen for nearest accuracies"
    yield (
        f"{label} (against their gap)",
        stats.wilson_interval(int(differ.sum()), len(differ)),
        gap,
    )
    steady = close["self_consistency"] + 1e-12
    moved = stats.wilson_interval(
        int(((steady >= 0.5) & (steady < 0.9)).sum()), len(steady)
    )
    yield "steady at a threshold of 0.5 and random at 0.9 (against a tenth)", moved, 0.1
    table, r = options[focus], options[focus].shape[1]
    added = multiplicity.rarefied_ambiguity(table, r)
    added = added - multiplicity.rarefied_ambiguity(table, r - 1)
    last = stats.bootstrap(added, **draws)
    yield "ambiguity that the last prompt adds (against one point)", last, 0.01
    least = min(table.shape[1] for table in options.values())
    each = {
        kind: multiplicity.rarefied_ambiguity(t, least) for kind, t in options.items()
    }
    other, less = lead_over_strongest_other_kind(each, focus, **draws)
    yield (
        f"ambiguity at {least} prompts: {focus}, less the next kind, {other}",
        less,
        0.0,
    )
    sure = varied_group_mean_difference(
        close["confidence"], close["class"] != "randomness", **draws
    )
    yield "1 / perplexity: steady answers, less others", sure, 0.0
    lead = detector_lead_on_randomness(-close["logprob"], close, **draws)
    yield (
        "area of perplexity, over all prompts: randomness, less steady errors",
        lead,
        0.0,
    )
    rows = np.column_stack(
        [halves["entropy"], -halves["logprob"], 1 - halves["default"]]
    )
    wrong = bootstrap_within_groups(
        rows, _area_less([0, 2], [1, 2]), halves["default"], **draws
    )
    yield (
        "area for wrong answers at the default prompt: entropy, less perplexity",
        wrong,
        0.0,
    )
    planted = close["lesson"].str.startswith(WRONG_LESSONS) | (close["error"] == 0)
    rows = close[(close["class"] != "randomness") & planted & (close["lesson"] != "")]
    pair = np.column_stack([-rows["logprob"], rows["error"]])
    found = bootstrap_within_groups(
        pair, roc_curve.area_under_roc_curve, rows["error"], **draws
    )
    yield (
        "area of perplexity: planted errors among steady answers (against 0.5)",
        found,
        0.5,
    )
    plain = close[
        close["times"].notna() & ~close["lesson"].str.startswith(WRONG_LESSONS)
    ]
    rank = stats.correlation(plain["times"], plain["factuality"], method="spearman")
    yield "rank correlation of times stated and factuality", rank, 0.0
    _, hits, due = agreement_with_expected_class(scores, due, **draws)
    rate = stats.bootstrap(hits[focus], strata=due if len(due) else None, **draws)
    guess = 1 / max(1, due.nunique())
    yield "facts in the class that the text predicts (against a guess)", rate, guess
    other, less = lead_over_strongest_other_kind(hits, focus, due, **draws)
    yield (
        f"facts in the class predicted: {focus}, less the next kind, {other}",
        less,
        0.0,
    )


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
    return {
        "overall": result_tables.wide_interval_table(
            measured, titles, percent=titles, by="kind"
        ),
        "truth": class_shares_by_lesson(close, **draws),
        "kinds": agreement_with_expected_class(scores, due, **draws)[0],
        "cells": confidence_by_cell(close, who, other_questions, **draws),
    }


def classes_by_question(close: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row a question, for the table that the run saves."""
    columns = ["item", "question", "lesson", "accuracy", "self_consistency", "class"]
    return close.merge(items[["item", "question"]], on="item")[columns].round(3)
