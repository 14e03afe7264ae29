"""The comparison of models: which runs may be compared, and which model is better."""

import json
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

from helpers import UserError, runs, stats
from helpers.metrics import knowledge_base_strata
from helpers.runs.panel import panel_answers as panel_file
from helpers.studies import STUDIES, Measure, measure_named, settings_for_function
from helpers.studies.model_comparison import (
    facts_by_item,
    measure_differences,
    numeric_table,
)
from notebooks.kit import appendix, runs_against_papers
from notebooks.kit.plots import result_tables
from notebooks.kit.published import knowledge_base

# Chapter, label of a model: its facts
FactsByChapterAndModel = Mapping[str, Mapping[str, pd.DataFrame]]
ModelPairs = Sequence[tuple[str, str]]
MAIN_MEASURES = ("MONITOR", "NCR", "right", "accuracy")  # one measure of each chapter
INTERVAL_COLUMNS = ["estimate", "low", "high"]
# A number a fact for each chapter; the first that has run is compared by relation.
ACCURACY_BY_CHAPTER = {
    "latent_knowledge": "right",
    "monitor": "average",
    "multiplicity": "accuracy",
    "knowledge_base": "correct",
}
# What the example takes: shares say more than marks of a few facts.
EXAMPLE = ACCURACY_BY_CHAPTER | {"latent_knowledge": "mass"}
# Parameters that leave the facts that are asked as they are.
NEUTRAL_PARAMETERS = tomllib.loads(
    Path(__file__).with_name("parameters.toml").read_text(encoding="utf-8")
)["neutral"]
COMPARED_PACKAGES = ("torch", "transformers")
KNOWLEDGE_BASE_MEASURES = ["NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR"]

SIZE_PATTERN = re.compile(
    r"[-_](?:\d+(?:\.\d+)?[kmbt]|tiny|mini|small|medium|base|large|x*[sml])\b",
    re.IGNORECASE,
)
TUNED_PATTERN = re.compile(
    r"[-_](?:chat|instruct|it|sft|rlhf|dpo)\b|\s\(chat\)$", re.IGNORECASE
)
MESSAGE_NO_RUNS = """\
There are no finished runs of the four chapters here yet. \
This makes them:
    make book MODEL=path/to/a/model"""
MESSAGE_ONE_MODEL = """Only {label} has finished runs here. A second model, as in
    make book MODELS=path/to/another
adds to every table the paired difference on the same facts, with its interval."""
MESSAGE_NO_PAIR = """\
No two models here have finished the same chapter with the same data and settings, \
so no difference can be taken. One command runs both alike:
    make book MODEL=path/to/one MODELS=path/to/another"""


# Which runs may be compared.


def comparability_traits(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return what a run must share with another to be compared with it."""
    dataset = manifest["dataset"]
    traits = {"dataset": dataset["name"], "checksum": str(dataset.get("checksum", ""))}
    versions = manifest.get("versions", {})
    for package in COMPARED_PACKAGES:
        if package in versions:
            traits[package] = versions[package].partition("+")[0]
    for name, value in sorted(manifest["parameters"].items()):
        if name not in NEUTRAL_PARAMETERS:
            traits[name] = json.dumps(value).strip('"')
    return traits


def load_comparable_runs(
    folder: str | Path, labels: Sequence[str] = ()
) -> pd.DataFrame:
    """Load finished runs, sorted into groups, of some models or of all."""
    table = runs.load(folder or None)
    table = table[table["chapter"].isin(STUDIES)].reset_index(drop=True)
    table = runs_against_papers.runs_with_labels(table)
    known = sorted(table["label"].unique())
    for label in labels:
        if label not in known:
            names = ", ".join(known) or "none"
            raise UserError(f"No run is of {label}: there are {names}.")
    if labels:
        table = table[table["label"].isin(labels)]
    return runs_in_comparable_groups(table)


def runs_in_comparable_groups(here: pd.DataFrame) -> pd.DataFrame:
    """Sort runs into groups that may be compared, by chapter, the largest first.

    Adds ``group``, 0 for the largest, and ``differs``: in what a run differs from it.
    """
    table = here.assign(group=0, differs="")
    for _, rows in table.groupby("chapter"):
        traits = [comparability_traits(manifest) for manifest in rows["manifest"]]
        texts = pd.Series(
            [json.dumps(own, sort_keys=True) for own in traits],
            rows.index,
            dtype=object,
        )
        sizes = texts.map(texts.value_counts())
        latest = rows.groupby(texts)["finished"].max().reindex(texts).to_numpy()
        order = pd.DataFrame({"text": texts, "size": sizes, "latest": latest})
        order = order.sort_values(["size", "latest"], ascending=False)
        groups = order["text"].drop_duplicates()
        group_of_text = {text: group for group, text in enumerate(groups)}
        table.loc[rows.index, "group"] = texts.map(group_of_text)
        largest = groups.iloc[0]
        usual = traits[list(texts).index(largest)]
        table.loc[rows.index, "differs"] = [
            _differing_traits(own, usual) for own in traits
        ]
    return table


def _differing_traits(traits: Mapping[str, str], usual: Mapping[str, str]) -> str:
    """Say in words where a run's traits are not the usual ones."""
    names = [
        name for name in {**usual, **traits} if traits.get(name) != usual.get(name)
    ]
    if "dataset" in names and "checksum" in names:
        names.remove("checksum")
    parts = []
    for name in names:
        own, other = traits.get(name, "nothing"), usual.get(name, "nothing")
        parts.append(f"{name} {own}, not {other}")
    return "; ".join(parts)


def sentences_on_compared_runs(table: pd.DataFrame) -> str:
    """Say which runs are compared, which are left out and why, and in which formats."""
    left_out = table[table["group"] > 0]
    compared = table[table["group"] == 0]
    lines = [f"{len(table)} runs of {compared['label'].nunique()} models."]
    if len(left_out):
        lines.append(f"{len(left_out)} of {len(table)} runs not mixed with the others:")
        for row in left_out.itertuples():
            lines.append(f"- {row.label}, {row.chapter}: {row.differs}")
    elif len(table):
        lines.append(f"All {len(table)} runs were made alike, chapter by chapter.")
    formats = compared["manifest"].map(runs_against_papers.prompt_format_of_run)
    labels_by_format = compared["label"].groupby(formats).unique()
    if len(labels_by_format) > 1:
        parts = []
        for name, labels in labels_by_format.items():
            parts.append(f"{name} ({', '.join(labels)})")
        lines.append(
            f"Formats of prompts side by side: {'; '.join(parts)}. "
            "A difference between two formats"
        )
        lines.append("is one of model and format together.")
    weights = table["manifest"].map(_weights_of_run).groupby(table["label"]).nunique()
    for label in weights[weights > 1].index:
        lines.append(
            f"The chapters of {label} were run on different weights: "
            "compare within one."
        )
    return "\n".join(lines)


def _weights_of_run(manifest: Mapping[str, Any]) -> str | None:
    """Return the checksum of the weights of a run's model."""
    return manifest["model"].get("weights_sha")


def message_on_missing_runs(facts: FactsByChapterAndModel) -> str:
    """Say which run a comparison lacks; empty if two models share a chapter."""
    labels = {label for models in facts.values() for label in models}
    if not labels:
        return MESSAGE_NO_RUNS
    if len(labels) == 1:
        return MESSAGE_ONE_MODEL.format(label=min(labels))
    if any(len(models) > 1 for models in facts.values()):
        return ""
    return MESSAGE_NO_PAIR


# Facts of the runs, and measures of them.


def parameter_counts_by_model(
    here: pd.DataFrame, facts: FactsByChapterAndModel, reference: str = ""
) -> dict[str, float | None]:
    """Return the parameters of each model compared; check the `reference`.

    None stands for a model whose run does not tell.
    """
    manifests = here.drop_duplicates("label").set_index("label")["manifest"]
    labels = dict.fromkeys(label for models in facts.values() for label in models)
    if reference and reference not in labels:
        known = "no model has finished runs"
        if labels:
            known = f"name one of {', '.join(labels)}"
        raise UserError(f"The reference {reference} is not compared here: {known}.")
    return {label: manifests[label]["model"].get("n_parameters") for label in labels}


def facts_by_chapter_and_model(
    here: pd.DataFrame,
) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the facts of all runs that may be compared."""
    facts: dict[str, dict[str, pd.DataFrame]] = {}
    for chapter, rows in _compared_runs_by_chapter(here).items():
        facts[chapter] = {}
        for run in rows.itertuples():
            table = runs_against_papers.facts_of_run(chapter, run.folder)
            facts[chapter][run.label] = table
    return facts


def panel_facts_by_chapter_and_model(
    here: pd.DataFrame,
) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the panel's facts of chapters whose runs were all asked one panel alike."""
    facts: dict[str, dict[str, pd.DataFrame]] = {}
    for chapter, rows in _compared_runs_by_chapter(here).items():
        panels = [manifest.get("panel") or {} for manifest in rows["manifest"]]
        if not _is_one_saved_panel(panels, rows["folder"]):
            continue
        study = STUDIES[chapter]
        facts[chapter] = {}
        for run, panel in zip(rows.itertuples(), panels, strict=True):
            settings = settings_for_function(study.facts, panel["settings"])
            answers = panel_file.panel_answers(run.folder)
            table = facts_by_item(study.facts(answers, **settings))
            facts[chapter][run.label] = table
    return facts


def _is_one_saved_panel(
    panels: Sequence[Mapping[str, Any]], folders: Iterable[str | Path]
) -> bool:
    """Return whether runs were all asked one panel, and all have saved its answers."""
    is_saved = [(Path(folder) / panel_file.PANEL_FILE).is_file() for folder in folders]
    kinds = {(panel.get("n_facts"), panel.get("version")) for panel in panels}
    return all(panels) and all(is_saved) and len(kinds) == 1


def _compared_runs_by_chapter(here: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return each chapter's runs that may be compared, the smallest model first."""
    sizes = [
        manifest["model"].get("n_parameters") or np.inf for manifest in here["manifest"]
    ]
    rows = here.assign(size=sizes)
    rows = rows[rows["group"] == 0].sort_values(["size", "label"])
    by_chapter = {}
    for chapter in STUDIES:
        of_chapter = rows[rows["chapter"] == chapter]
        if len(of_chapter):
            by_chapter[chapter] = of_chapter
    return by_chapter


def items_asked_of_all_models(models: Mapping[str, pd.DataFrame]) -> pd.Index:
    """Return the items that every model was asked."""
    if not models:
        return pd.Index([], dtype=object)
    indexes = [table.index for table in models.values()]
    return reduce(pd.Index.intersection, indexes).sort_values()


def fact_counts_by_model(facts: FactsByChapterAndModel) -> pd.DataFrame:
    """Count each model's facts, and those that all models of the chapter were asked."""
    rows = []
    for chapter, models in facts.items():
        n_shared = len(items_asked_of_all_models(models))
        for label, table in models.items():
            rows.append((chapter, label, len(table), n_shared))
    return pd.DataFrame(rows, columns=["chapter", "model", "facts", "shared"])


def estimates_by_model(
    models: Mapping[str, pd.DataFrame], measures: Iterable[Measure], **draw: int
) -> pd.DataFrame:
    """Compute measures of each model on the facts that all were asked."""
    shared = items_asked_of_all_models(models)
    measures = list(measures)
    rows = []
    for label, table in models.items():
        for measure in measures:
            columns = list(measure.columns)
            counted = table.loc[shared].dropna(subset=columns)
            estimate = stats.estimate_with_interval(
                counted[columns], measure.statistic, counted["relation"], **draw
            )
            estimate = estimate._replace(n=measure.n(counted))
            row = {"model": label, "measure": measure.name, **estimate._asdict()}
            rows.append(row)
    return numeric_table(rows, ["model", "measure", *stats.Interval._fields])


def estimates_and_differences(
    facts: FactsByChapterAndModel, only: Container[str] = (), **draw: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return standings and paired differences of all chapters.

    They are in all measures, or in `only` some.
    """
    standings = []
    differences = []
    for chapter, models in facts.items():
        measures = STUDIES[chapter].MEASURES
        if only:
            measures = [measure for measure in measures if measure.name in only]
        standing = estimates_by_model(models, measures, **draw)
        standings.append(standing.assign(chapter=chapter))
        gaps = measure_differences(models, measures, **draw)
        differences.append(gaps.assign(chapter=chapter))
    if not facts:
        standings.append(estimates_by_model({}, []).assign(chapter=""))
        differences.append(measure_differences({}, []).assign(chapter=""))
    return (
        pd.concat(standings, ignore_index=True),
        pd.concat(differences, ignore_index=True),
    )


def rows_with_panel_preferred(own: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return a chapter's standings or differences, the panel's where it has a measure.

    >>> own = pd.DataFrame({"measure": ["UR", "NCR"], "n": [90, 90]})
    >>> panel = pd.DataFrame({"measure": ["NCR"], "n": [600]})
    >>> rows_with_panel_preferred(own, panel).values.tolist()
    [['UR', 90, 'chapter'], ['NCR', 600, 'panel']]
    """
    own = own.assign(facts_of="chapter")
    if panel.empty:
        return own
    own = own[~own["measure"].isin(panel["measure"])]
    return pd.concat([own, panel.assign(facts_of="panel")], ignore_index=True)


def saved_and_recomputed_measures(
    facts: FactsByChapterAndModel, here: pd.DataFrame
) -> pd.DataFrame:
    """Compute each run's measures again from its facts, beside what it saved."""
    rows = []
    for run in here[here["group"] == 0].itertuples():
        saved = _saved_estimates(run.folder, run.manifest["parameters"].get("setting"))
        table = facts[run.chapter][run.label]
        for measure in STUDIES[run.chapter].MEASURES:
            if measure.name not in saved:
                continue
            values = table[list(measure.columns)].dropna().to_numpy()
            again = np.nan
            if len(values):
                again = float(measure.statistic(values))
            was = saved[measure.name]
            rows.append((run.chapter, run.label, measure.name, was, again))
    columns = ["chapter", "model", "measure", "saved", "again"]
    return pd.DataFrame(rows, columns=columns).astype({"saved": float, "again": float})


def _saved_estimates(folder: str | Path, setting: str | None) -> pd.Series:
    """Return a run's saved estimates by measure, of its setting if it has several."""
    metrics = runs.load_metrics(folder)
    rows = metrics[metrics["level"] == "run"]
    where = "all"
    if rows["relation"].eq(setting).any():
        where = setting
    rows = rows[rows["relation"] == where].drop_duplicates("measure")
    return rows.set_index("measure")["estimate"]


# Two models by hand.


def example_pair_of_models(
    facts: FactsByChapterAndModel,
) -> tuple[str, str, pd.DataFrame]:
    """Return a chapter's largest and smallest model, and how each did on each fact."""
    for chapter, models in facts.items():
        labels = list(models)
        smallest, largest = labels[0], labels[-1]
        column = EXAMPLE.get(chapter)
        table = models[largest]
        if largest == smallest or column not in table:
            continue
        pair = pd.DataFrame(
            {
                "relation": table["relation"],
                "one": table[column],
                "two": models[smallest][column],
            }
        ).dropna()
        if len(pair) > 1:
            pair = pair.loc[table.index.intersection(pair.index, sort=False)]
            return largest, smallest, _with_difference(pair)
    pair = pd.DataFrame(
        {
            "relation": "made up",
            "one": [1.0, 1.0, 1.0, 0.0],
            "two": [1.0, 1.0, 0.0, 0.0],
        },
        index=["fact 1", "fact 2", "fact 3", "fact 4"],
    )
    return "A (made up)", "B (made up)", _with_difference(pair)


def _with_difference(pair: pd.DataFrame) -> pd.DataFrame:
    """Add the difference of two models' scores."""
    return pair.assign(difference=pair["one"] - pair["two"])


def contrasting_facts(pair: pd.DataFrame) -> list[str]:
    """Return a fact that is hard for both, one easy for both, one that divides them."""
    distance = pair["difference"].abs()
    total = pair["one"] + pair["two"]
    alike = total[distance == distance.min()]
    chosen = [alike.idxmin(), alike.idxmax(), distance.idxmax()]
    return list(dict.fromkeys(chosen))


def shortest_prompts(items: Sequence[str], here: pd.DataFrame) -> list[str]:
    """Return items' shortest prompts in the first run with all; else the items."""
    for folder in here.loc[here["group"] == 0, "folder"]:
        answers = runs.load_answers(folder)
        if set(items) <= set(answers["item"]):
            column = "question"
            if "prompt" in answers:
                column = "prompt"
            text = answers[column].astype(str)
            shortest = text.str.len().groupby(answers["item"]).idxmin()
            return list(text[shortest[items]])
    return list(items)


# Paired differences: which pairs, which side first, and how many survive.


def pairs_of_related_models(
    sizes: Mapping[str, float | None],
) -> dict[str, list[tuple[str, str]]]:
    """Return which models may be paired: one family, by name, asked in one format."""
    base_names = {name: TUNED_PATTERN.sub("", name) for name in sizes}
    tuned = []
    size_of_base: dict[str, float] = {}
    for name, base in base_names.items():
        size = sizes[name]
        if base != name and base in sizes:
            tuned.append((name, base))
        if base == name and size:
            size_of_base[name] = size
    families = {name: SIZE_PATTERN.sub("", name) for name in size_of_base}

    def family_and_size(name: str) -> tuple[str, float, str]:
        return families[name], size_of_base[name], name

    order = sorted(size_of_base, key=family_and_size)
    larger = []
    for small, large in pairwise(order):
        grows = size_of_base[large] > size_of_base[small]
        if grows and families[small] == families[large]:
            larger.append((large, small))
    return {"larger": larger, "tuned": tuned}


def differences_of_pairs(gaps: pd.DataFrame, chosen: ModelPairs) -> pd.DataFrame:
    """Return the differences of some pairs, each pair's first model first."""
    parts = [gaps.head(0)]
    for first, second in chosen:
        is_pair = (gaps["first"] == first) & (gaps["second"] == second)
        parts.append(gaps[is_pair])
        is_turned = (gaps["first"] == second) & (gaps["second"] == first)
        turned = reversed_differences(gaps[is_turned])
        parts.append(turned.assign(first=first, second=second))
    return pd.concat(parts, ignore_index=True)


def reversed_differences(gaps: pd.DataFrame) -> pd.DataFrame:
    """Turn differences around."""
    return gaps.assign(estimate=-gaps["estimate"], low=-gaps["high"], high=-gaps["low"])


def differences_from_reference(
    standing: pd.DataFrame, gaps: pd.DataFrame, reference: str = ""
) -> pd.DataFrame:
    """Return models' differences from one model, or from the best of each measure."""
    parts = [gaps.head(0)]
    computed = standing.dropna(subset=["estimate"])
    for measure, rows in computed.groupby("measure", sort=False):
        base = reference
        if not base:
            lower_is_better = measure_named(measure).higher is False
            estimates = rows.set_index("model")["estimate"]
            base = estimates.sort_values(ascending=lower_is_better).index[0]
        pairs = [(name, base) for name in rows["model"] if name != base]
        of_measure = gaps[gaps["measure"] == measure]
        parts.append(differences_of_pairs(of_measure, pairs))
    return pd.concat(parts, ignore_index=True)


def gaps_to_best_model(
    standing: pd.DataFrame, gaps: pd.DataFrame, measure: Measure, reference: str = ""
) -> pd.DataFrame:
    """Return how far models are behind the best or the `reference`, which is at 0."""
    standing = standing[standing["measure"] == measure.name]
    rows = differences_from_reference(standing, gaps, reference)
    rows = rows.dropna(subset=["estimate"])
    base = pd.DataFrame({"first": rows["second"].head(1)})
    base = base.assign(**dict.fromkeys(INTERVAL_COLUMNS, 0.0))
    if measure.higher is False:
        rows = reversed_differences(rows)
    rows = pd.concat([rows, base])
    if measure.percent:
        rows[INTERVAL_COLUMNS] *= 100
    order = list(standing["model"])

    def places(names: pd.Series) -> pd.Series:
        return names.map(order.index)

    return rows.sort_values("first", key=places, kind="stable")


def differences_with_holm_p_values(
    gaps: pd.DataFrame, level: float = 0.05
) -> pd.DataFrame:
    """Test all differences at once: normal approximation, corrected after Holm.

    Adds ``p_normal``, ``p_holm`` and ``kept``: whether the latter is at most `level`.
    """
    rows = gaps[gaps["high"] > gaps["low"]]
    rows = rows.astype(dict.fromkeys(INTERVAL_COLUMNS, float))
    # The bootstrap's own p-values are too coarse to be corrected for many comparisons.
    error = (rows["high"] - rows["low"]) / (2 * scipy.stats.norm.ppf(0.975))
    p = 2 * scipy.stats.norm.sf(rows["estimate"].abs() / error)
    corrected = p
    if len(rows):
        corrected = stats.holm_adjusted_p_values(p)
    return rows.assign(p_normal=p, p_holm=corrected, kept=corrected <= level)


def differences_kept_by_holm(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return the differences that survive Holm's correction for all of them."""
    tested = differences_with_holm_p_values(gaps)
    return tested[tested["kept"].astype(bool)]


def differences_with_better_side(gaps: pd.DataFrame) -> pd.DataFrame:
    """Keep measures with a better side; ``up``: the first model's figure is better."""
    higher = [measure_named(name).higher for name in gaps["measure"]]
    rows = gaps.assign(higher=pd.Series(higher, gaps.index, dtype=object))
    rows = rows[rows["higher"].notna()].dropna(subset=["estimate"])
    up = (rows["estimate"] > 0) == rows.pop("higher").astype(bool)
    return rows.assign(up=up)


def best_model_by_measure(
    standing: pd.DataFrame, gaps: pd.DataFrame, twins: ModelPairs = ()
) -> pd.DataFrame:
    """Return each main measure's best model and its lead over the nearest rival.

    `twins` are pairs of models that are not compared.
    """
    decided = differences_kept_by_holm(gaps)
    left_out = {frozenset(pair) for pair in twins}
    rows = []
    for name in MAIN_MEASURES:
        of_measure = standing[standing["measure"] == name]
        leads = differences_from_reference(of_measure, gaps[gaps["measure"] == name])
        leads = leads.dropna(subset=["estimate"])
        leads = leads[~_is_among(leads, left_out)]
        if leads.empty:
            continue
        if measure_named(name).higher is not False:
            leads = reversed_differences(leads)
        same_measure = decided[decided["measure"] == name]
        is_decided = _is_among(leads, set(_unordered_pairs(same_measure)))
        beaten = leads[is_decided & (leads["estimate"] < 0)]
        # Better on the facts that count for both, or not surely worse
        rivals = leads
        if len(beaten):
            rivals = beaten
        elif not is_decided.all():
            rivals = leads[~is_decided]
        row = rivals.loc[rivals["estimate"].idxmin()]
        best_model = {
            "measure": name,
            "best": row["second"],
            "rival": row["first"],
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
            "leads": bool(is_decided.all()) and beaten.empty,
            "title": measure_named(name).title,
        }
        rows.append(best_model)
    columns = ["measure", "best", "rival", *INTERVAL_COLUMNS, "n", "leads", "title"]
    return pd.DataFrame(rows, columns=columns)


def _unordered_pairs(gaps: pd.DataFrame) -> list[frozenset[str]]:
    """Return the two models of each difference."""
    return [frozenset(pair) for pair in zip(gaps["first"], gaps["second"], strict=True)]


def _is_among(gaps: pd.DataFrame, pairs: Container[frozenset[str]]) -> np.ndarray:
    """Return of which differences the two models are among some pairs."""
    return np.array([pair in pairs for pair in _unordered_pairs(gaps)], dtype=bool)


def measures_by_model(
    estimates: pd.DataFrame, measures: Iterable[str], by: str = "model"
) -> pd.DataFrame:
    """Lay out measures for a page, a row for each model, shares in percent."""
    names = set(estimates["measure"])
    shown = [measure_named(name) for name in measures if name in names]
    titles = {measure.name: measure.heading for measure in shown}
    percent = [measure.name for measure in shown if measure.percent]
    return result_tables.wide_interval_table(estimates, titles, percent, by=by)


def size_and_tuning_effects(gaps: pd.DataFrame, chosen: ModelPairs) -> pd.DataFrame:
    """Set what size and tuning change in the paper's pairs of models beside ours."""
    pairs = knowledge_base.pairs_of_models()
    paper = knowledge_base_strata.paired_effects(
        {"larger": pairs["larger"], "tuned": pairs["tuned"]},
        KNOWLEDGE_BASE_MEASURES,
    )
    paper = paper.assign(pair="Zheng et al., " + paper["effect"])
    in_paper = gaps["measure"].isin(KNOWLEDGE_BASE_MEASURES)
    ours = differences_of_pairs(gaps[in_paper], chosen).dropna(subset=["estimate"])
    ours = ours.assign(pair=ours["first"] + " minus " + ours["second"])
    both = pd.concat([part for part in (paper, ours) if len(part)])
    titles = {}
    for name in KNOWLEDGE_BASE_MEASURES:
        titles[name] = f"{measure_named(name).title}, points"
    return result_tables.wide_interval_table(
        both, titles, KNOWLEDGE_BASE_MEASURES, by="pair"
    )


def differences_for_display(gaps: pd.DataFrame) -> pd.DataFrame:
    """Lay out differences for a page, shares in points."""
    rows = []
    for row in gaps.itertuples():
        measure = measure_named(row.measure)
        digits, scale = 3, 1.0
        if measure.percent:
            digits, scale = 1, 100.0
        shown = {
            "measure": measure.title,
            "model": row.first,
            "minus": row.second,
            "difference": result_tables.interval(
                row.estimate, row.low, row.high, digits, scale
            ),
            "n": row.n,
            "facts of the": row.facts_of,
            "better": row.better or _why_none_is_better(row.low, row.high),
        }
        rows.append(shown)
    columns = ["measure", "model", "minus", "difference", "n", "facts of the", "better"]
    return pd.DataFrame(rows, columns=columns)


def _why_none_is_better(low: float, high: float) -> str:
    """Say why neither of two models is the better one."""
    if low > 0 or high < 0:
        return "neither direction"
    return "not decided"


def correlations_over_relations(
    models: Mapping[str, pd.DataFrame], column: str
) -> pd.DataFrame:
    """Correlate the accuracies of pairs of models over relations, on facts of all."""
    shared = items_asked_of_all_models(models)
    means = {}
    for name, facts in models.items():
        means[name] = facts.loc[shared].groupby("relation")[column].mean()
    rows = []
    for first, second in combinations(means, 2):
        correlation = stats.correlation(means[first], means[second])
        rows.append((first, second, *correlation))
    return pd.DataFrame(rows, columns=["first", "second", *stats.Correlation._fields])


def comparisons_for_appendix(
    gaps: pd.DataFrame, facts: FactsByChapterAndModel
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    main = gaps[gaps["measure"].isin(MAIN_MEASURES)]
    yield from appendix.labelled_estimates(main, "{measure}: {first} minus {second}")
    chapter = next((name for name in ACCURACY_BY_CHAPTER if name in facts), "")
    column = ACCURACY_BY_CHAPTER.get(chapter, "")
    alike = correlations_over_relations(facts.get(chapter, {}), column)
    alike = alike.rename(columns={"r": "estimate"})
    label = "r over relations: {first} and {second}"
    yield from appendix.labelled_estimates(alike, label)
    tested = differences_with_holm_p_values(gaps)
    n_single = (tested["p_normal"] < 0.05).sum()
    share = np.nan
    if n_single:
        share = tested["kept"].sum() / n_single
    label = "share kept by Holm's correction of p < 0.05"
    yield label, (share, np.nan, np.nan, len(tested))
    decided = differences_kept_by_holm(differences_with_better_side(gaps))
    sides = decided.groupby(["first", "second"])["up"].agg(["size", "nunique"])
    several = sides[sides["size"] > 1]
    share = (several["nunique"] == 1).mean()
    label = "pairs of models on which the measures agree"
    yield label, (share, np.nan, np.nan, len(several))


def tables_for_appendix(
    here: pd.DataFrame,
    board: pd.DataFrame,
    gaps: pd.DataFrame,
    alike: Mapping[str, ModelPairs],
    facts: FactsByChapterAndModel,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix: runs, all measures and all differences."""
    columns = ["label", "chapter", "group", "dataset", "seed", "finished", "differs"]
    pages = {"runs": here[columns], "overlap": fact_counts_by_model(facts)}
    for chapter, rows in board.groupby("chapter", sort=False):
        measures = [measure.name for measure in STUDIES[chapter].MEASURES]
        pages[f"board_{chapter}"] = measures_by_model(rows, measures)
    from_best = differences_from_reference(board, gaps)
    pages["differences"] = differences_for_display(from_best)
    related = differences_of_pairs(gaps, [*alike["tuned"], *alike["larger"]])
    pages["pairs"] = differences_for_display(related)
    return pages
