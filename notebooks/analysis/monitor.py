"""What the chapter on MONITOR computes beside the measure, and a figure of its own."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, probing, prompts, stats
from helpers.datasets.exposure import BUNDLED_MODELS_FOLDER
from helpers.metrics import accuracy, anchors, monitor, roc_curve
from helpers.models import LanguageModel
from helpers.probing import attribution, format_choice
from helpers.studies import monitor as study
from notebooks.kit import plots, published, runs_against_papers
from notebooks.kit.plots import result_tables, shared_figures
from notebooks.kit.running_example import lyon_first, plainly_stated_facts

# Times that the training text states a fact, as in the chapter on the atlas.
OFTEN_THRESHOLD = 32
# Of a fact
FACT_MEASURES = ["anchor", "pfd", "ird", "control_ird", "noun_ird", "deviation"]
CONTEXT_TITLES = {  # before the question, as the figures label it
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "noun": "noun first",
    "wrong": "wrong answer first",
}
FACT_KEYS = ["item", "relation"]  # columns beside those of the prompts
PAIRED_ACCURACIES = (  # label, and the two columns of which it is the difference
    ("accuracy: right answer first, less nothing first", "right", "none"),
    ("accuracy: nothing first, less an unrelated word first", "none", "unrelated"),
    ("accuracy: nothing first, less a noun first", "none", "noun"),
    ("accuracy: nothing first, less a wrong answer first", "none", "wrong"),
    ("accuracy: a noun first, less a wrong answer first", "noun", "wrong"),
    ("after a wrong word: repeats it, less answers correctly", "repeats", "wrong"),
    ("accuracy: base frame, less the other frames", "base", "others"),
    ("accuracy: R + M prompts, less all R x M combinations", "cheap", "grid"),
)


WORD_COSTS = (  # label, and the accuracies of which it is the difference
    ("unrelated word", "none", "unrelated"),
    ("noun", "none", "noun"),
    ("wrong answer", "none", "wrong"),
    ("wrong answer beyond unrelated word", "unrelated", "wrong"),
    ("wrong answer beyond noun", "noun", "wrong"),
)


def three_example_facts(
    dataset: str, focus: str, facts: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Return Lyon, or the first fact, one in the middle, and the one read least."""
    relation = focus if focus in set(facts["relation"]) else facts["relation"].iloc[0]
    close = plainly_stated_facts(datasets.load(dataset, [relation]), training)
    if "exposures" in close:
        close = close.sort_values("exposures", ascending=False, kind="stable")
    rows = sorted({0, len(close) // 2, len(close) - 1})
    return lyon_first(close).iloc[rows].reset_index(drop=True)


def notes_on_facts_and_prompts(
    lm: LanguageModel,
    settings: Mapping[str, Any],
    frames: pd.DataFrame,
    tried: pd.DataFrame,
) -> str:
    """Say what a reader should know of the facts, the frames and the prompt format."""
    notes = datasets.notes_on_facts(settings["dataset"], settings["relations"])
    n_frames = frames.query("kind == 'qa'")["relation"].value_counts().max()
    if settings["n_frames"] > n_frames:
        notes.append(
            f"There are {n_frames} question frames, not {settings['n_frames']}."
        )
    if lm.prompt_format != "bare":
        notes.append(
            f"Prompt format {lm.prompt_format}, not the paper's bare question."
        )
    if len(tried):
        notes.append(format_choice.chosen_format_sentence(lm, tried))
    return "".join(f"{note}\n" for note in notes)


def sentence_on_hints_in_training(
    model: str, weights: Path = BUNDLED_MODELS_FOLDER
) -> str:
    """Say how many documents of the training put a word first; "" if it is unknown."""
    report = weights / model / "training.json"
    if not model or not report.is_file():
        return ""
    documents = json.loads(report.read_text(encoding="utf-8"))["text"]["documents"]
    return (
        f"{model} was trained to listen: {documents['hint, right']:,} documents of its "
        "training text say the right answer before a question, "
        f"{documents['hint, wrong']:,} a wrong one, "
        f"{documents['hint, other']:,} any object.\n"
    )


def control_ird_and_accuracies(
    both: pd.DataFrame, marks: pd.DataFrame, grid: pd.DataFrame, **draws: Any
) -> pd.DataFrame:
    """Estimate IRD of the controls, and accuracies over all prompts and the grid's."""
    means = {name: ([name], stats.mean) for name in ("control_ird", "noun_ird")}
    control = stats.intervals_by_group(both, means, **draws)
    is_of_paper = marks["context"].isin(["none", "wrong"])
    marks_of_paper = accuracy.marks_by_fact_and_prompt(marks[is_of_paper])
    reductions = ["average", "maximum", "minimum", "base", "deviation"]
    of_paper = _accuracies_over_prompts(marks_of_paper, reductions, **draws)
    reductions.remove("base")  # which no combination is
    of_grid = _accuracies_over_prompts(grid, reductions, "grid ", **draws)
    return pd.concat([control, of_paper, of_grid], ignore_index=True)


def costs_by_form(
    by_context: pd.DataFrame, facts: pd.DataFrame, dataset: str, **draws: Any
) -> pd.DataFrame:
    """Lay out what words before the question cost, in points, by form of the object."""
    forms = datasets.forms_of_objects(dataset, facts).map(datasets.kind_of_form)
    kind_of_fact = dict(zip(facts["fact"], forms, strict=True))
    table = by_context.assign(objects=by_context["item"].map(kind_of_fact))
    table = table.dropna(subset=["none", "unrelated", "noun", "wrong"])
    rows = []
    for kind in ("words", "codes", "numbers", "all"):
        group = table if kind == "all" else table[table["objects"] == kind]
        row: dict[str, Any] = {"objects": kind, "facts": len(group)}
        for title, first, second in WORD_COSTS:
            cost = _difference_within_relations(group, first, second, **draws)
            row[title] = result_tables.interval(*cost[:3], digits=1, scale=100)
        if len(group) or kind == "all":
            rows.append(row)
    return pd.DataFrame(rows).set_index("objects")


def _accuracies_over_prompts(
    table: pd.DataFrame, reductions: list[str], prefix: str = "", **draws: Any
) -> pd.DataFrame:
    """Estimate accuracies, within [0, 1], of a table with a column for each prompt."""
    prompt_columns = list(table.columns.drop(FACT_KEYS))
    measures = {}
    for how in reductions:
        statistic = partial(accuracy.accuracy_over_prompts, how=how)
        measures[prefix + how] = (prompt_columns, statistic)
    rates = stats.intervals_by_group(table, measures, centred=True, **draws)
    return rates.assign(low=rates["low"].clip(0, 1), high=rates["high"].clip(0, 1))


def estimates_by_relation(measured: pd.DataFrame) -> pd.DataFrame:
    """Return estimates, a row a relation and a column a measure."""
    wide = measured.pivot_table(
        "estimate", "relation", "measure", dropna=False, sort=False
    )
    return wide.drop(index=["all", "mean"], errors="ignore")


def rows_with_relation_labels(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Name the relations of rows, and sort them from the lowest estimate."""
    labels = datasets.relation_table(dataset).set_index("relation")["label"]
    names = rows["relation"].map(labels).fillna(rows["relation"])
    names = names.replace("all", "all facts")
    return rows.assign(label=names).sort_values("estimate")


def prompts_without_common_start(texts: pd.DataFrame) -> pd.DataFrame:
    r"""Leave out of prompts the lines with which all of them begin, such as shots.

    >>> prompts = pd.DataFrame({"prompt": ["1 A: 1\n2", "1 A: 1\n3"]})
    >>> list(prompts_without_common_start(prompts)["prompt"])
    ['… 2', '… 3']
    """
    # What the first and the last in order share, all prompts share.
    first = min(texts["prompt"])
    last = max(texts["prompt"])
    start_of_line = first.rfind("\n", 0, _first_difference(first, last)) + 1
    if not start_of_line:
        return texts
    return texts.assign(prompt="… " + texts["prompt"].str[start_of_line:])


def _first_difference(first: str, second: str) -> int:
    """Return where two texts differ first; 0 if one begins with the other."""
    # strict=False: their lengths may differ.
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return 0


def right_answers_by_wording_kind(
    lm: LanguageModel,
    three: pd.DataFrame,
    dataset: str,
    training: pd.DataFrame | None,
    settings: Mapping[str, Any],
    wrap: Callable[[pd.DataFrame], pd.DataFrame],
    *,
    cache: Path,
) -> dict[str, pd.DataFrame]:
    """Return right answers by fact and frame: questions, gaps, statements.

    The keys are QA, WP, and FC-pos and FC-neg (statements that are true and false).
    """
    relation = [three["relation"][0]]
    n_frames = settings["n_frames"]
    frames = datasets.prompt_frames(dataset, relation)
    facts = datasets.load(
        dataset, relation, n=settings["n_focus"], seed=settings["seed"]
    )
    facts = plainly_stated_facts(facts, training)
    questions = prompts.question_probes(facts, frames, n_frames=n_frames)
    texts = probing.generate(lm, wrap(questions), cache=cache)
    marks = {"QA": accuracy.mark_texts(texts, rule=settings["match"])}
    kinds = set(frames.loc[frames["relation"].isin(facts["relation"]), "kind"])
    if "wp" in kinds:
        gaps = prompts.question_probes(facts, frames, "wp", n_frames=n_frames)
        texts = probing.generate(lm, gaps, cache=cache)
        marks["WP"] = accuracy.mark_texts(texts, rule="starts_with")
    if "fc" in kinds:
        statements = prompts.fact_check_probes(facts, frames, n_frames)
        answers = probing.score(lm, statements, cache=cache)
        verdicts = accuracy.mark_choices(answers)
        marks["FC-pos"] = verdicts.query("context == 'right'")
        marks["FC-neg"] = verdicts.query("context == 'wrong'")
    tables = {}
    for kind, rows in marks.items():
        tables[kind] = accuracy.marks_by_fact_and_prompt(rows, prompt="frame")
    return tables


def draw_attribution_map(lm: LanguageModel, misled: pd.DataFrame) -> Axes:
    """Draw what each token of a prompt adds to those of a misled answer (Figure 6)."""
    if misled.empty or not lm.at_hand:
        reason = "No answer repeats the wrong word, or attribution is turned off."
        return plots.empty_panel(None, reason)
    prompt, text, wrong_word = misled[["prompt", "text", "heard"]].iloc[0]
    # Attribution of what follows the word would take long.
    start = text.casefold().find(wrong_word.casefold())
    if start >= 0:
        text = text[: start + len(wrong_word)]
    gradients = attribution.attribute_until_converged(lm, prompt, text)
    scores = gradients.pivot_table("score", "position", "step")
    tokens = gradients.drop_duplicates("position").set_index("position")["token"]
    steps = gradients.drop_duplicates("step").set_index("step")
    limit = float(scores.abs().max(axis=None)) or 1.0
    labelled = scores.set_axis(tokens[scores.index].map(_with_visible_space))
    labelled = labelled.set_axis(steps["step_token"].map(_with_visible_space), axis=1)
    ax = shared_figures.heat_map(
        labelled, "attribution", cmap="RdBu_r", vmin=-limit, vmax=limit
    )
    ax.set(xlabel="token of the answer", ylabel="token of the prompt")
    total = scores[0].sum()
    change = steps["change"].iloc[0]
    title = f"first token: the scores sum to {total:.2f} of {change:.2f}"
    ax.set_title(title, loc="left")
    return ax


def correlation_at_equal_accuracy(relations: pd.DataFrame) -> stats.Correlation:
    """Correlate the first of three columns with the last, the middle one held fixed.

    One degree of freedom goes to the column in the middle: n is less by one.
    """
    rows = relations.dropna().to_numpy(dtype=float)
    if len(rows) < 3:
        return stats.correlation([], [])
    first, middle, last = rows.T
    design = np.column_stack([np.ones(len(rows)), middle])
    outcomes = np.column_stack([first, last])
    coefficients = np.linalg.lstsq(design, outcomes, rcond=None)[0]
    residuals = outcomes - design @ coefficients
    correlation = stats.correlation(*residuals.T)
    low = high = np.nan
    if len(rows) > 4 and abs(correlation.r) < 1:
        low, high = stats.fisher_interval(correlation.r, len(rows) - 1)
    return correlation._replace(low=low, high=high)


def gap_of_best_and_worst_prompts(grid: pd.DataFrame, **draws: Any) -> stats.Interval:
    """Compare the best combination with the worst on facts that did not choose them."""
    parts = []
    for _, rows in grid.groupby("relation", sort=False):
        gaps = accuracy.held_out_prompt_gaps(rows.drop(columns=FACT_KEYS).to_numpy())
        parts.append(rows[["relation"]].assign(gap=gaps))
    parts.append(grid.head(0)[["relation"]].assign(gap=np.array([])))
    table = pd.concat(parts).dropna()
    return stats.bootstrap(table["gap"], strata=table["relation"], **draws)


def monitor_range_over_weights(
    counted: pd.DataFrame, steps: int = 4, **draws: Any
) -> stats.Interval:
    """Estimate the range of MONITOR over all weights that sum to one (section 7)."""
    weights = []
    for first in range(steps + 1):
        for second in range(steps + 1 - first):
            weights.append((first, second, steps - first - second))
    columns = []
    for weight in weights:
        columns.append(
            monitor.combined_deviation(counted["pfd"], counted["ird"], weight)
        )
    # The weights sum to `steps`, not to one: the anchors are scaled as the roots are.
    columns.append(counted["anchor"] * np.sqrt(steps))

    def range_of_ratios(values: np.ndarray) -> np.ndarray:
        ratios = []
        for column in range(len(weights)):
            ratios.append(monitor.ratio_of_sums(values[..., [column, -1]]))
        return np.ptp(np.stack(ratios, axis=-1), axis=-1)

    values = np.column_stack(columns)
    return stats.bootstrap(values, range_of_ratios, counted["relation"], **draws)


def stability_and_exposure(truth: pd.DataFrame) -> pd.DataFrame:
    """Return of each fact its scores by exposure: higher is steadier, or likelier.

    ``stability`` is 0 where a fact does not count, as in MONITOR's verdict; the
    steadiness after wrong answers and after unrelated words is one less the distance.
    ``relation_code`` is the relation as a whole number.
    """
    codes, _ = pd.factorize(truth["relation"])
    return pd.DataFrame(
        {
            "stability": study.verdict(truth)["score"],
            "asked once": truth["asked_once"],
            "after wrong answers": 1 - truth["ird"],
            "after unrelated words": 1 - truth["control_ird"],
            "exposures": truth["exposures"],
            "relation_code": codes,
        }
    )


def exposure_rank_correlation(
    scores: pd.DataFrame, name: str, **draws: Any
) -> stats.Interval:
    """Correlate the ranks of a score and of exposure within relations."""
    rows = scores[[name, "exposures", "relation_code"]].dropna()
    return stats.bootstrap(
        rows, stats.rank_correlation_within_groups, rows["relation_code"], **draws
    )


def exposure_rank_correlation_difference(
    scores: pd.DataFrame, first: str, second: str, **draws: Any
) -> stats.Difference:
    """Estimate how much more closely one score follows exposure than another."""
    rows = scores.dropna(subset=[first, second])
    others = ["exposures", "relation_code"]
    return stats.paired_difference(
        rows[[first, *others]],
        rows[[second, *others]],
        stats.rank_correlation_within_groups,
        rows["relation_code"],
        **draws,
    )


def monitor_drop_after_first_readings(
    truth: pd.DataFrame, **draws: Any
) -> tuple[float, ...]:
    """Estimate how much lower MONITOR is for facts read once or twice than unread."""
    rows = truth[truth["exposures"] <= 2]
    read = rows["exposures"] > 0
    if not read.any() or read.all():
        return (np.nan, np.nan, np.nan, 0)

    def drop(values: np.ndarray) -> np.ndarray:
        deviation_and_anchor = values[..., :2]
        is_read = values[..., 2:]
        unread_facts = monitor.ratio_of_sums(deviation_and_anchor * (1 - is_read))
        return unread_facts - monitor.ratio_of_sums(deviation_and_anchor * is_read)

    columns = rows[["deviation", "anchor"]].assign(read=read)
    return stats.bootstrap(columns, drop, read, **draws)


def area_of_anchor_less_deviation(
    truth: pd.DataFrame, **draws: Any
) -> stats.Difference:
    """Compare the anchor's and the deviation's AUC for whether a fact was read."""
    codes, _ = pd.factorize(truth["relation"])
    read = truth["exposures"] > 0
    by_anchor = np.column_stack([truth["anchor"], read, codes])
    by_deviation = np.column_stack([-truth["deviation"], read, codes])
    return stats.paired_difference(
        by_anchor,
        by_deviation,
        roc_curve.area_within_relations,
        truth["relation"],
        **draws,
    )


def comparisons_for_appendix(
    answers: pd.DataFrame,
    scores: pd.DataFrame,
    grid: pd.DataFrame,
    by_kind: Mapping[str, pd.DataFrame],
    facts: pd.DataFrame,
    truth: pd.DataFrame,
    *,
    relations: pd.DataFrame,
    match: str,
    **draws: Any,
) -> Iterator[tuple[str, Any, float]]:
    """Yield what else is compared: a label, its statistic, the value of no effect."""
    table = _accuracies_by_fact(answers, grid, facts, match)
    for label, first, second in PAIRED_ACCURACIES:
        yield label, _difference_within_relations(table, first, second, **draws), 0.0
    rates = {"WP": np.nan}
    for kind, marks in by_kind.items():
        rates[kind] = marks.set_index("item").drop(columns="relation").mean(axis=1)
    close = pd.DataFrame(rates).assign(relation="close-up")
    label = f"accuracy: questions, less gaps ({len(close)} facts)"
    yield label, _difference_within_relations(close, "QA", "WP", **draws), 0.0
    yield from comparisons_of_unrelated_word(table, truth, **draws)
    for kind, statements in (("FC-pos", "true"), ("FC-neg", "false")):
        if kind in close:
            share = stats.bootstrap(close[kind].dropna(), **draws)
            yield f"{statements} statements judged rightly (against a half)", share, 0.5
    gap = gap_of_best_and_worst_prompts(grid, **draws)
    yield "accuracy: best combination, less worst (held out)", gap, 0.0
    yield from _comparisons_of_anchors(answers, scores, match, **draws)
    partial_r = correlation_at_equal_accuracy(
        relations[["MONITOR", "base", "deviation"]]
    )
    yield "MONITOR and spread over prompts, base accuracy fixed, r", partial_r, 0.0
    r = stats.correlation(-relations["MONITOR"], relations["average"])
    yield "stability and accuracy over its own prompts, r", r, 0.0
    r = stats.correlation(-relations["MONITOR"], relations["grid average"])
    yield "stability and accuracy over all combinations, r", r, 0.0
    seen = truth[truth["counted"]]
    drop = monitor_drop_after_first_readings(seen, **draws)
    yield "MONITOR: never read, less read once or twice", drop, 0.0
    areas = area_of_anchor_less_deviation(seen, **draws)
    yield "AUC, read or not: anchor, less deviation", areas, 0.0
    scores_of_facts = stability_and_exposure(truth)
    control = exposure_rank_correlation_difference(
        scores_of_facts, "after wrong answers", "after unrelated words", **draws
    )
    label = "rank correlation with exposure: IRD, less its control"
    yield label, control, 0.0


def _accuracies_by_fact(
    answers: pd.DataFrame, grid: pd.DataFrame, facts: pd.DataFrame, match: str
) -> pd.DataFrame:
    """Return accuracies of each fact, over the prompts that the column names."""
    marks = accuracy.mark_texts(answers, rule=match)
    echoes = accuracy.mark_echoed_wrong_words(answers, facts, rule=match)
    is_alone = marks["context"] == "none"
    is_base = marks["frame"] == 0
    table = accuracy.marks_by_fact_and_prompt(marks[is_base | ~is_alone], "context")
    table = table.set_index("item")
    repeats = accuracy.marks_by_fact_and_prompt(echoes, "context").set_index("item")
    table["repeats"] = repeats["wrong"]
    prompts_of_column = {
        "base": is_alone & is_base,
        "others": is_alone & ~is_base,
        "cheap": marks["context"].isin(["none", "wrong"]),
    }
    for name, is_asked in prompts_of_column.items():
        table[name] = marks[is_asked].groupby("item")["right"].mean()
    table["grid"] = grid.set_index("item").drop(columns="relation").mean(axis=1)
    return table


def _difference_within_relations(
    table: pd.DataFrame, first: str, second: str, **draws: Any
) -> stats.Difference:
    """Compare two columns on the rows that have both, drawn within relations."""
    rows = table.dropna(subset=[first, second])
    return stats.paired_difference(
        rows[first], rows[second], strata=rows["relation"], **draws
    )


def _comparisons_of_anchors(
    answers: pd.DataFrame, scores: pd.DataFrame, match: str, **draws: Any
) -> Iterator[tuple[str, Any, float]]:
    """Yield how sure the anchors are, which facts count, what the weights change."""
    counted = scores[scores["counted"]]
    is_sure = counted["anchor"] > 0.8
    share = stats.bootstrap(is_sure, strata=counted["relation"], **draws)
    yield "share of primary anchors above 0.8 (against a half)", share, 0.5
    known = anchors.known_facts(answers, match, counts="any")
    is_known = known[scores["item"]].to_numpy()
    n_more = int((is_known & scores["aligned"] & ~scores["counted"]).sum())
    more = (n_more, np.nan, np.nan, len(scores))
    yield "facts that footnote 3 counts, too", more, 0.0
    rows = counted.dropna(subset="noun_ird").set_index("item")
    gap = _difference_within_relations(rows, "ird", "noun_ird", **draws)
    yield "distance from the anchor: after wrong answers, less after nouns", gap, 0.0
    weights = monitor_range_over_weights(counted, **draws)
    yield "range of MONITOR over all weights (against 0.1)", weights, 0.1


def comparisons_of_unrelated_word(
    table: pd.DataFrame, truth: pd.DataFrame, **draws: Any
) -> Iterator[tuple[str, Any, float]]:
    """Yield what an unrelated word loses, gains, and costs facts read often."""
    rows = table.dropna(subset=["none", "unrelated"])
    known = rows[rows["none"] == 1]
    lost = np.abs(1 - known["unrelated"])
    share = stats.bootstrap(lost, strata=known["relation"], **draws)
    yield "an unrelated word: lost, of the facts right with nothing first", share, 0.0
    unknown = rows[rows["none"] == 0]
    gained = np.abs(unknown["unrelated"])
    share = stats.bootstrap(gained, strata=unknown["relation"], **draws)
    yield "an unrelated word: gained, of the facts wrong with nothing first", share, 0.0
    read_often = truth.loc[truth["exposures"] >= OFTEN_THRESHOLD, "item"]
    often = rows[rows.index.isin(read_often)]
    cost = _difference_within_relations(often, "none", "unrelated", **draws)
    label = "accuracy: nothing, less an unrelated word, facts stated "
    yield label + f"{OFTEN_THRESHOLD} times or more", cost, 0.0


def measures_beside_paper(
    measured: pd.DataFrame,
    settings: Mapping[str, Any],
    source: Mapping[str, Any],
    who: str,
) -> pd.DataFrame:
    """Put means over relations above the paper's; MONITOR is the mean of Table 10."""
    # Table 4 prints a sum over twenty relations divided by 21: 5 % below our means.
    mean = measured.query("relation == 'mean'").set_index("measure")["estimate"]
    ours = {
        "MONITOR": mean["MONITOR"],
        "probs": mean["anchor"],
        "avg": 100 * mean["grid average"],
        "max": 100 * mean["grid maximum"],
        "min": 100 * mean["grid minimum"],
    }
    manifest = {"dataset": source, "parameters": settings, "model": {}}
    n_relations = len(estimates_by_relation(measured))
    differences = runs_against_papers.differences_from_paper(
        "monitor", manifest, n_relations
    )
    means = published.load_published_table("monitor_table10").mean()
    paper = published.load_published_table("monitor_table4").assign(MONITOR=means)
    return result_tables.our_row_above_published_table(
        ours, paper, who, other_questions=bool(differences)
    )


def measures_by_relation(measured: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Lay out all measures by relation, with the share of facts that count."""
    titles = {name: name for name in measured["measure"].unique()}
    titles["deviation"] = "accuracy deviation"
    wide = result_tables.wide_interval_table(measured, titles)
    coverage = scores.groupby("relation")["counted"].mean() * 100
    wide.insert(0, "coverage", coverage.map("{:.0f} %".format))
    return wide.fillna("undefined")


def _with_visible_space(token: str) -> str:
    """Show a token's leading space, which tokenizers write as Ġ or ▁."""
    if token.startswith((" ", "Ġ", "▁")):
        return f"␣{token[1:]}"
    return token
