"""What the chapter on MONITOR computes beside the measure, and its one figure of its own."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from notebooks.kit import plots, published, runs_against_papers
from notebooks.kit.plots import result_tables, shared_figures

OFTEN_THRESHOLD = (
    32  # times that the training text states a fact, as in the chapter on the atlas
)
FACT_MEASURES = ["anchor", "pfd", "ird", "control_ird", "deviation"]  # of a fact
CONTEXT_TITLES = {  # before the question, as the figures label it
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}


def plainly_stated_facts(
    facts: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Add exposures where they are known, and keep the facts stated plainly, if any are."""
    if training is None:
        return facts
    facts = facts.join(training[["exposures", "plain"]], on="fact")
    return facts[facts["plain"]] if facts["plain"].any() else facts


def fact_of_running_example(facts: pd.DataFrame, focus: str = "P17") -> pd.DataFrame:
    """Return Lyon's fact of the relation, else its first; of the first relation if it is absent."""
    here = facts[facts["relation"] == focus]
    here = facts if here.empty else here
    return here.iloc[here["subject"].ne("Lyon").argsort(kind="stable")].head(1)


def three_example_facts(
    dataset: str, focus: str, facts: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Return Lyon, else the first of a relation, one in the middle, and the one read least."""
    relation = focus if focus in set(facts["relation"]) else facts["relation"].iloc[0]
    close = plainly_stated_facts(datasets.load(dataset, [relation]), training)
    if "exposures" in close:
        close = close.sort_values("exposures", ascending=False, kind="stable")
    close = close.iloc[close["subject"].ne("Lyon").argsort(kind="stable")]
    return close.iloc[sorted({0, len(close) // 2, len(close) - 1})].reset_index(
        drop=True
    )


def notes_on_facts_and_prompts(
    lm: LanguageModel,
    settings: Mapping[str, Any],
    frames: pd.DataFrame,
    tried: pd.DataFrame,
) -> str:
    """Say what a reader should know of the facts, the frames and the prompt format."""
    said = datasets.notes_on_facts(settings["dataset"], settings["relations"])
    most = frames.query("kind == 'qa'")["relation"].value_counts().max()
    if settings["n_frames"] > most:
        said.append(f"There are {most} question frames, not {settings['n_frames']}.")
    if lm.prompt_format != "bare":
        said.append(f"Prompt format {lm.prompt_format}, not the paper's bare question.")
    if len(tried):
        said.append(format_choice.chosen_format_sentence(lm, tried))
    return "".join(f"{line}\n" for line in said)


def sentence_on_hints_in_training(
    model: str, weights: Path = BUNDLED_MODELS_FOLDER
) -> str:
    """Say how many documents of a model's training text put a word first; "" if it is not known."""
    report = weights / model / "training.json"
    if not model or not report.is_file():
        return ""
    documents = json.loads(report.read_text(encoding="utf-8"))["text"]["documents"]
    right, wrong, other = (
        documents[f"hint, {kind}"] for kind in ("right", "wrong", "other")
    )
    return (
        f"{model} was trained to listen: {right:,} documents of its training text say the right "
        f"answer before a question, {wrong:,} a wrong one, {other:,} any object.\n"
    )


def facts_of_known_exposure(
    table: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Add exposures, and keep the facts stated plainly: none where the training is not known."""
    if training is None:
        return table.head(0).assign(exposures=0)
    table = table.join(training[["exposures", "plain"]], on="item")
    return table[table["plain"].eq(True)]


def means_by_exposure(
    table: pd.DataFrame,
    titles: Mapping[str, str],
    training: pd.DataFrame | None,
    **draws: Any,
) -> pd.DataFrame:
    """Average columns by how often the training text states a fact; over all where unknown."""
    means = {title: ([name], stats.mean) for name, title in titles.items()}
    if training is None:
        return stats.intervals_by_group(table, means, **draws).query(
            "relation == 'all'"
        )
    rows = stats.intervals_by_group(
        facts_of_known_exposure(table, training), means, by="exposures", **draws
    )
    return rows.query("exposures not in ['all', 'mean']").astype({"exposures": int})


def draw_means_by_exposure(
    rows: pd.DataFrame, ylabel: str, share: bool = True, points: bool = True
) -> Axes:
    """Draw what :func:`means_by_exposure` returns: curves, or dots where exposures are not known."""
    if "exposures" not in rows:
        return shared_figures.dot_plot(rows, "measure", xlabel=ylabel, share=share)
    words = {
        "xlabel": "times the training text states the fact",
        "ylabel": ylabel,
        "share": share,
    }
    return shared_figures.curve_plot(
        rows, "exposures", "measure", axis="doublings", points=points, **words
    )


def control_ird_and_accuracies(
    both: pd.DataFrame, marks: pd.DataFrame, grid: pd.DataFrame, **draws: Any
) -> pd.DataFrame:
    """Estimate the control IRD, and accuracies over MONITOR's prompts and over the combinations."""
    found = [
        stats.intervals_by_group(
            both, {"control_ird": (["control_ird"], stats.mean)}, **draws
        )
    ]
    asked = accuracy.marks_by_fact_and_prompt(
        marks[marks["context"].isin(["none", "wrong"])]
    )
    ways = ("average", "maximum", "minimum", "base", "deviation")
    for prefix, table in (("", asked), ("grid ", grid)):
        columns, take = list(table.columns[2:]), accuracy.accuracy_over_prompts
        over = {f"{prefix}{how}": (columns, partial(take, how=how)) for how in ways}
        over.pop("grid base", None)
        rates = stats.intervals_by_group(table, over, centred=True, **draws)
        found.append(
            rates.assign(low=rates["low"].clip(0, 1), high=rates["high"].clip(0, 1))
        )
    return pd.concat(found, ignore_index=True)


def estimates_by_relation(measured: pd.DataFrame) -> pd.DataFrame:
    """Return estimates, a row a relation and a column a measure."""
    wide = measured.pivot_table(
        "estimate", "relation", "measure", dropna=False, sort=False
    )
    return wide.drop(index=["all", "mean"], errors="ignore")


def rows_with_relation_labels(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Name the relations of rows, and sort them from the lowest estimate."""
    labels = datasets.relation_table(dataset).set_index("relation")["label"]
    named = (
        rows["relation"]
        .map(labels)
        .fillna(rows["relation"])
        .replace("all", "all facts")
    )
    return rows.assign(label=named).sort_values("estimate")


def metrics_to_save(
    measured: pd.DataFrame, scores: pd.DataFrame, columns: Sequence[str] = FACT_MEASURES
) -> pd.DataFrame:
    """Return all measures of a run, of its relations, and of each fact."""
    levels = measured["relation"].map({"all": "run", "mean": "mean of relations"})
    each = scores.melt(
        ["item", "relation"], columns, var_name="measure", value_name="estimate"
    )
    measured = measured.assign(level=levels.fillna("relation"))
    return pd.concat([measured, each.assign(level="fact", n=1)], ignore_index=True)


def prompts_without_common_start(said: pd.DataFrame) -> pd.DataFrame:
    r"""Leave out of prompts the lines with which all of them begin, such as shots.

    >>> list(prompts_without_common_start(pd.DataFrame({"prompt": ["1 A: 1\n2", "1 A: 1\n3"]}))["prompt"])
    ['… 2', '… 3']
    """
    first, last = min(said["prompt"]), max(said["prompt"])
    start = next((n for n, (a, b) in enumerate(zip(first, last)) if a != b), 0)
    line = first.rfind("\n", 0, start) + 1
    return said.assign(prompt="… " + said["prompt"].str[line:]) if line else said


def right_answers_by_wording_kind(
    lm: LanguageModel,
    three: pd.DataFrame,
    dataset: str,
    training: pd.DataFrame | None,
    settings: Mapping[str, Any],
    wrap: Callable[[pd.DataFrame], pd.DataFrame],
    cache: Path,
) -> dict[str, pd.DataFrame]:
    """Return right answers by fact and frame: questions, gaps, statements (FC-pos, FC-neg)."""
    n_frames, match, relation = (
        settings["n_frames"],
        settings["match"],
        [three["relation"][0]],
    )
    facts = datasets.load(
        dataset, relation, n=settings["n_focus"], seed=settings["seed"]
    )
    facts, frames = (
        plainly_stated_facts(facts, training),
        datasets.prompt_frames(dataset, relation),
    )
    ask = partial(probing.generate, lm, cache=cache)
    said = ask(wrap(prompts.question_probes(facts, frames, n_frames=n_frames)))
    asked = {"QA": accuracy.mark_texts(said, rule=match)}
    kinds = set(frames.loc[frames["relation"].isin(facts["relation"]), "kind"])
    if "wp" in kinds:
        gaps = ask(prompts.question_probes(facts, frames, "wp", n_frames=n_frames))
        asked["WP"] = accuracy.mark_texts(gaps, rule="starts_with")
    if "fc" in kinds:
        checks = prompts.fact_check_probes(facts, frames, n_frames)
        verdicts = accuracy.mark_choices(probing.score(lm, checks, cache=cache))
        asked |= {"FC-pos": verdicts.query("context == 'right'")}
        asked |= {"FC-neg": verdicts.query("context == 'wrong'")}
    return {
        kind: accuracy.marks_by_fact_and_prompt(rows, prompt="frame")
        for kind, rows in asked.items()
    }


def draw_attribution_map(lm: LanguageModel, misled: pd.DataFrame) -> Axes:
    """Draw what each token of a prompt adds to each token of a misled answer (their Figure 6)."""
    if misled.empty or not lm.at_hand:
        return plots.empty_panel(
            None, "No answer repeats the wrong word, or attribution is turned off."
        )
    prompt, text, heard = misled[["prompt", "text", "heard"]].iloc[0]
    at = text.casefold().find(
        heard.casefold()
    )  # what is said after the word takes long
    word = text[: at + len(heard)] if at >= 0 else text
    gradients = attribution.attribute_until_converged(lm, prompt, word)
    wide = gradients.pivot_table("score", "position", "step")
    names = gradients.drop_duplicates("position").set_index("position")["token"]
    said = gradients.drop_duplicates("step").set_index("step")["step_token"]
    limit = float(wide.abs().max(axis=None)) or 1.0
    shown = wide.set_axis(names[wide.index].map(_piece)).set_axis(
        said.map(_piece), axis=1
    )
    ax = shared_figures.heat_map(
        shown, "attribution", cmap="RdBu_r", vmin=-limit, vmax=limit
    )
    ax.set(xlabel="token of the answer", ylabel="token of the prompt")
    change = gradients.drop_duplicates("step")["change"].iloc[0]
    ax.set_title(
        f"first token: the scores sum to {wide[0].sum():.2f} of {change:.2f}",
        loc="left",
    )
    return ax


def correlation_at_equal_accuracy(relations: pd.DataFrame) -> stats.Correlation:
    """Correlate the first column with the last, the middle one held fixed (n less by one)."""
    rows = relations.dropna().to_numpy(dtype=float)
    if len(rows) < 3:
        return stats.correlation([], [])
    fixed = np.column_stack([np.ones(len(rows)), rows[:, 1]])
    left = (
        rows[:, [0, 2]] - fixed @ np.linalg.lstsq(fixed, rows[:, [0, 2]], rcond=None)[0]
    )
    found = stats.correlation(*left.T)
    ends = (np.nan, np.nan)
    if len(rows) > 4 and abs(found.r) < 1:
        ends = stats.fisher_interval(found.r, len(rows) - 1)
    return found._replace(low=ends[0], high=ends[1])


def gap_of_best_and_worst_prompts(grid: pd.DataFrame, **draws: Any) -> stats.Interval:
    """Compare the best combination with the worst on facts that did not choose them."""
    parts = [rows for _, rows in grid.groupby("relation", sort=False)]
    gaps = [
        accuracy.held_out_prompt_gaps(rows.iloc[:, 2:].to_numpy()) for rows in parts
    ]
    rows = pd.concat([*parts, grid.head(0)])[["relation"]].assign(
        gap=np.hstack([*gaps, []])
    )
    rows = rows.dropna()
    return stats.bootstrap(rows["gap"], strata=rows["relation"], **draws)


def monitor_range_over_weights(
    counted: pd.DataFrame, steps: int = 4, **draws: Any
) -> stats.Interval:
    """Estimate the range of MONITOR over all weights that sum to one (section 7)."""
    whole = range(steps + 1)
    shares = [(a, b, steps - a - b) for a in whole for b in whole if a + b <= steps]
    roots = [
        monitor.combined_deviation(counted["pfd"], counted["ird"], share)
        for share in shares
    ]
    values = np.column_stack([*roots, counted["anchor"] * np.sqrt(steps)])

    def spread(values: np.ndarray) -> np.ndarray:
        pairs = [values[..., [place, -1]] for place in range(len(shares))]
        return np.ptp(
            np.stack([monitor.ratio_of_sums(pair) for pair in pairs], axis=-1), axis=-1
        )

    return stats.bootstrap(values, spread, counted["relation"], **draws)


def exposure_correlation_over_control(
    seen: pd.DataFrame, **draws: Any
) -> stats.Difference:
    """Estimate how much more closely the deviation follows exposure than the control IRD does."""
    rows = seen.dropna(subset="control_ird")
    sides = [
        rows[[name, "exposures"]] * [-1, 1] for name in ("deviation", "control_ird")
    ]
    return stats.paired_difference(
        *sides, stats.spearman_correlation, rows["relation"], **draws
    )


def monitor_drop_after_first_readings(
    truth: pd.DataFrame, **draws: Any
) -> tuple[float, ...]:
    """Estimate how much lower MONITOR is for facts read once or twice than for unread ones."""
    rows = truth[truth["exposures"] <= 2]
    read = rows["exposures"] > 0
    if not read.any() or read.all():
        return (np.nan, np.nan, np.nan, 0)

    def fall(values: np.ndarray) -> np.ndarray:
        read = values[..., 2:]
        before, after = (
            monitor.ratio_of_sums(values[..., :2] * w) for w in (1 - read, read)
        )
        return before - after

    columns = rows[["deviation", "anchor"]].assign(read=read)
    return stats.bootstrap(columns, fall, read, **draws)


def area_of_anchor_less_deviation(
    truth: pd.DataFrame, **draws: Any
) -> stats.Difference:
    """Compare areas under the ROC curve of read or unread: by the anchor, by the deviation."""
    read = truth["exposures"] > 0
    one, two = (
        np.column_stack([v, read]) for v in (truth["anchor"], -truth["deviation"])
    )
    return stats.paired_difference(
        one, two, roc_curve.area_under_roc_curve, truth["relation"], **draws
    )


def comparisons_for_appendix(
    answers: pd.DataFrame,
    scores: pd.DataFrame,
    grid: pd.DataFrame,
    by_kind: Mapping[str, pd.DataFrame],
    facts: pd.DataFrame,
    truth: pd.DataFrame,
    relations: pd.DataFrame,
    match: str,
    **draws: Any,
) -> Iterator[tuple[str, Any, float]]:
    """Yield what else is compared: a label, its statistic, and the value of no effect."""
    marks = accuracy.mark_texts(answers, rule=match)
    echoes = accuracy.mark_echoed_wrong_words(answers, facts, rule=match)
    alone, base = marks["context"] == "none", marks["frame"] == 0
    table = accuracy.marks_by_fact_and_prompt(
        marks[base | ~alone], "context"
    ).set_index("item")
    table["repeats"] = accuracy.marks_by_fact_and_prompt(
        echoes, prompt="context"
    ).set_index("item")["wrong"]
    of_paper = marks["context"].isin(["none", "wrong"])
    for name, rows in (
        ("base", alone & base),
        ("others", alone & ~base),
        ("cheap", of_paper),
    ):
        table[name] = marks[rows].groupby("item")["right"].mean()
    table["grid"] = grid.set_index("item").drop(columns="relation").mean(axis=1)
    rates = {
        k: t.set_index("item").iloc[:, 1:].mean(axis=1) for k, t in by_kind.items()
    }
    rates = pd.DataFrame({"WP": np.nan, **rates}).assign(relation="close-up")
    for label, rows, first, second in (
        ("accuracy: right answer first, less nothing first", table, "right", "none"),
        (
            "accuracy: nothing first, less an unrelated word first",
            table,
            "none",
            "unrelated",
        ),
        ("accuracy: nothing first, less a wrong answer first", table, "none", "wrong"),
        (
            "after a wrong word: repeats it, less answers correctly",
            table,
            "repeats",
            "wrong",
        ),
        ("accuracy: base frame, less the other frames", table, "base", "others"),
        (
            "accuracy: R + M prompts, less all R x M combinations",
            table,
            "cheap",
            "grid",
        ),
        (f"accuracy: questions, less gaps ({len(rates)} facts)", rates, "QA", "WP"),
    ):
        rows = rows.dropna(subset=[first, second])
        within = {"strata": rows["relation"], **draws}
        yield label, stats.paired_difference(rows[first], rows[second], **within), 0.0
    yield from comparisons_of_unrelated_word(table, truth, **draws)
    for kind, said in (("FC-pos", "true"), ("FC-neg", "false")):
        if kind in rates:
            judged = stats.bootstrap(rates[kind].dropna(), **draws)
            yield f"{said} statements judged rightly (against a half)", judged, 0.5
    yield (
        "accuracy: best combination, less worst (held out)",
        gap_of_best_and_worst_prompts(grid, **draws),
        0.0,
    )
    counted = scores[scores["counted"]]
    solid = stats.bootstrap(
        counted["anchor"] > 0.8, strata=counted["relation"], **draws
    )
    yield "share of primary anchors above 0.8 (against a half)", solid, 0.5
    more = anchors.known_facts(answers, match, counts="any")[scores["item"]].to_numpy()
    more = int((more & scores["aligned"] & ~scores["counted"]).sum())
    yield "facts that footnote 3 counts, too", (more, np.nan, np.nan, len(scores)), 0.0
    weights = monitor_range_over_weights(counted, **draws)
    yield "range of MONITOR over all weights (against 0.1)", weights, 0.1
    spread = correlation_at_equal_accuracy(relations[["MONITOR", "base", "deviation"]])
    yield "MONITOR and spread over prompts, base accuracy fixed, r", spread, 0.0
    for prompts_of, name in (
        ("its own prompts", "average"),
        ("all combinations", "grid average"),
    ):
        found = stats.correlation(-relations["MONITOR"], relations[name])
        yield f"stability and accuracy over {prompts_of}, r", found, 0.0
    seen = truth[truth["counted"]]
    yield (
        "MONITOR: never read, less read once or twice",
        monitor_drop_after_first_readings(seen, **draws),
        0.0,
    )
    areas = area_of_anchor_less_deviation(seen, **draws)
    yield "area under the curve, read or not: anchor, less deviation", areas, 0.0
    label = "rank correlation of stability and exposure: deviation, less control IRD"
    yield label, exposure_correlation_over_control(seen, **draws), 0.0


def comparisons_of_unrelated_word(
    table: pd.DataFrame, truth: pd.DataFrame, **draws: Any
) -> Iterator[tuple[str, Any, float]]:
    """Yield what an unrelated word loses and gains, and its cost for facts that were read often."""
    rows = table.dropna(subset=["none", "unrelated"])
    known, rest = (rows[rows["none"] == right] for right in (1, 0))
    for label, part, wrong in (
        ("an unrelated word: lost, of the facts right with nothing first", known, 1),
        ("an unrelated word: gained, of the facts wrong with nothing first", rest, 0),
    ):
        share = np.abs(wrong - part["unrelated"])
        yield label, stats.bootstrap(share, strata=part["relation"], **draws), 0.0
    often = rows[
        rows.index.isin(truth.loc[truth["exposures"] >= OFTEN_THRESHOLD, "item"])
    ]
    label = f"accuracy: nothing, less an unrelated word, facts stated {OFTEN_THRESHOLD} times or more"
    within = {"strata": often["relation"], **draws}
    yield (
        label,
        stats.paired_difference(often["none"], often["unrelated"], **within),
        0.0,
    )


def measures_beside_paper(
    measured: pd.DataFrame,
    settings: Mapping[str, Any],
    source: Mapping[str, Any],
    who: str,
) -> pd.DataFrame:
    """Put means over relations above the paper's, whose MONITOR is the mean of Table 10."""
    # Table 4 prints a sum over twenty relations divided by 21: 5 % below our means.
    mean = measured.query("relation == 'mean'").set_index("measure")["estimate"]
    ours = {"MONITOR": mean["MONITOR"], "probs": mean["anchor"]}
    for name, how in (("avg", "average"), ("max", "maximum"), ("min", "minimum")):
        ours[name] = 100 * mean[f"grid {how}"]
    asked = {"dataset": source, "parameters": settings, "model": {}}
    other = bool(
        runs_against_papers.differences_from_paper(
            "monitor", asked, len(estimates_by_relation(measured))
        )
    )
    means = published.load_published_table("monitor_table10").mean()
    paper = published.load_published_table("monitor_table4").assign(MONITOR=means)
    return result_tables.our_row_above_published_table(
        ours, paper, who, other_questions=other
    )


def measures_by_relation(measured: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Lay out all measures by relation, with the share of facts that count."""
    names = {name: name for name in measured["measure"].unique()}
    wide = result_tables.wide_interval_table(
        measured, names | {"deviation": "accuracy deviation"}
    )
    covered = (
        scores.groupby("relation")["counted"]
        .mean()
        .map(lambda share: f"{100 * share:.0f} %")
    )
    wide.insert(0, "coverage", covered)
    return wide.fillna("undefined")


def _piece(token: str) -> str:
    """Show a token's leading space, which tokenizers write as Ġ or ▁."""
    return f"␣{token[1:]}" if token[:1] in (" ", "Ġ", "▁") else token
