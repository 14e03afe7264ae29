"""What the comparison of models computes: which runs may be compared, and who is better."""

import json
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, pairwise
from pathlib import Path
from re import IGNORECASE, compile
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
from notebooks.kit.plots import result_tables as written
from notebooks.kit.published import knowledge_base

FactsByChapterAndModel = Mapping[
    str, Mapping[str, pd.DataFrame]
]  # chapter, label of a model: its facts
ModelPairs = Sequence[tuple[str, str]]
MAIN_MEASURES = ("MONITOR", "NCR", "right", "accuracy")  # one measure of each chapter
INTERVAL_COLUMNS = ["estimate", "low", "high"]
ACCURACY_BY_CHAPTER = {  # a number a fact for each chapter; the first that has run is compared by relation
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

SIZE_PATTERN = compile(
    r"[-_](?:\d+(?:\.\d+)?[kmbt]|tiny|mini|small|medium|base|large|x*[sml])\b",
    IGNORECASE,
)
TUNED_PATTERN = compile(
    r"[-_](?:chat|instruct|it|sft|rlhf|dpo)\b|\s\(chat\)$", IGNORECASE
)
MESSAGE_NO_RUNS = """There are no finished runs of the four chapters here yet. This makes them:
    make book MODEL=path/to/a/model"""
MESSAGE_ONE_MODEL = """Only {label} has finished runs here. A second model, as in
    make book MODELS=path/to/another
adds to every table the paired difference on the same facts, with its interval."""
MESSAGE_NO_PAIR = """\
No two models here have finished the same chapter with the same data and settings, so no \
difference can be taken. One command runs both alike:
    make book MODEL=path/to/one MODELS=path/to/another"""


# Which runs may be compared.


def comparability_traits(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return what a run must share with another to be compared with it."""
    found = {"dataset": manifest["dataset"]["name"]}
    found["checksum"] = str(manifest["dataset"].get("checksum", ""))
    versions = manifest.get("versions", {})
    found |= {
        name: versions[name].partition("+")[0]
        for name in COMPARED_PACKAGES
        if name in versions
    }
    free = {
        k: v for k, v in manifest["parameters"].items() if k not in NEUTRAL_PARAMETERS
    }
    return found | {k: json.dumps(v).strip('"') for k, v in sorted(free.items())}


def load_comparable_runs(
    folder: str | Path, labels: Sequence[str] = ()
) -> pd.DataFrame:
    """Load finished runs, sorted into groups, of some models or of all."""
    table = runs.load(folder or None)
    table = runs_against_papers.runs_with_labels(
        table[table["chapter"].isin(STUDIES)].reset_index(drop=True)
    )
    known = sorted(table["label"].unique())
    for label in labels:
        if label not in known:
            raise UserError(
                f"No run is of {label}: there are {', '.join(known) or 'none'}."
            )
    return runs_in_comparable_groups(
        table[table["label"].isin(labels)] if labels else table
    )


def runs_in_comparable_groups(found: pd.DataFrame) -> pd.DataFrame:
    """Sort runs into groups that may be compared, chapter by chapter, the largest first."""
    table = found.assign(group=0, differs="")
    for _, rows in table.groupby("chapter"):
        keys = pd.Series(
            [comparability_traits(told) for told in rows["manifest"]],
            rows.index,
            dtype=object,
        )
        texts = keys.map(lambda key: json.dumps(key, sort_keys=True))
        sizes = texts.map(texts.value_counts())
        latest = rows.groupby(texts)["finished"].max().reindex(texts).to_numpy()
        order = pd.DataFrame({"text": texts, "size": sizes, "latest": latest})
        order = order.sort_values(["size", "latest"], ascending=False)[
            "text"
        ].drop_duplicates()
        places = {text: place for place, text in enumerate(order)}
        first = keys[texts == order.iloc[0]].iloc[0]
        table.loc[rows.index, "group"] = texts.map(places)
        table.loc[rows.index, "differs"] = keys.map(
            lambda key, first=first: _apart(key, first)
        )
    return table


def _apart(key: Mapping[str, str], first: Mapping[str, str]) -> str:
    """Say in words where two sets of traits differ."""
    names = [name for name in {**first, **key} if key.get(name) != first.get(name)]
    if "dataset" in names and "checksum" in names:
        names.remove("checksum")
    return "; ".join(
        f"{n} {key.get(n, 'nothing')}, not {first.get(n, 'nothing')}" for n in names
    )


def sentences_on_compared_runs(table: pd.DataFrame) -> str:
    """Say which runs are compared, which are left out and why, and in which formats they differ."""
    out, kept = table[table["group"] > 0], table[table["group"] == 0]
    lines = [f"{len(table)} runs of {kept['label'].nunique()} models."]
    if len(out):
        lines.append(f"{len(out)} of {len(table)} runs not mixed with the others:")
        lines += [
            f"- {row.label}, {row.chapter}: {row.differs}" for row in out.itertuples()
        ]
    elif len(table):
        lines.append(f"All {len(table)} runs were made alike, chapter by chapter.")
    labels = (
        kept["label"]
        .groupby(kept["manifest"].map(runs_against_papers.prompt_format_of_run))
        .unique()
    )
    if len(labels) > 1:
        listed = "; ".join(
            f"{name} ({', '.join(each)})" for name, each in labels.items()
        )
        lines.append(
            f"Formats of prompts side by side: {listed}. A difference between two formats"
        )
        lines.append("is one of model and format together.")
    shas = table["manifest"].map(lambda told: told["model"].get("weights_sha"))
    kinds = shas.groupby(table["label"]).nunique()
    for label in kinds[kinds > 1].index:
        lines.append(
            f"The chapters of {label} were run on different weights: compare within one."
        )
    return "\n".join(lines)


def message_on_missing_runs(found: FactsByChapterAndModel) -> str:
    """Say which run a comparison lacks; empty if two models have a chapter in common."""
    labels = {label for models in found.values() for label in models}
    if len(labels) < 2:
        return (
            MESSAGE_ONE_MODEL.format(label=min(labels)) if labels else MESSAGE_NO_RUNS
        )
    return "" if any(len(models) > 1 for models in found.values()) else MESSAGE_NO_PAIR


# Facts of the runs, and measures of them.


def parameter_counts_by_model(
    here: pd.DataFrame, found: FactsByChapterAndModel, reference: str = ""
) -> dict[str, float | None]:
    """Return the parameters of each model compared (None: not told); check the `reference`."""
    about = here.drop_duplicates("label").set_index("label")["manifest"]
    labels = dict.fromkeys(label for part in found.values() for label in part)
    if reference and reference not in labels:
        known = (
            f"name one of {', '.join(labels)}"
            if labels
            else "no model has finished runs"
        )
        raise UserError(f"The reference {reference} is not compared here: {known}.")
    return {label: about[label]["model"].get("n_parameters") for label in labels}


def facts_by_chapter_and_model(
    here: pd.DataFrame,
) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the facts of all runs that may be compared."""
    return {
        name: {
            row.label: runs_against_papers.facts_of_run(name, row.folder)
            for row in part.itertuples()
        }
        for name, part in _chapters(here).items()
    }


def panel_facts_by_chapter_and_model(
    here: pd.DataFrame,
) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the panel's facts of the chapters whose runs were all asked the same panel alike."""
    found = {}
    for name, part in _chapters(here).items():
        about = [manifest.get("panel") or {} for manifest in part["manifest"]]
        there = [
            (Path(folder) / panel_file.PANEL_FILE).is_file()
            for folder in part["folder"]
        ]
        kinds = {(entry.get("n_facts"), entry.get("version")) for entry in about}
        if not (all(about) and all(there) and len(kinds) == 1):
            continue
        found[name] = {}
        for row, asked in zip(part.itertuples(), about, strict=True):
            settings = settings_for_function(STUDIES[name].facts, asked["settings"])
            answers = panel_file.panel_answers(row.folder)
            found[name][row.label] = facts_by_item(
                STUDIES[name].facts(answers, **settings)
            )
    return found


def _chapters(here: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of each chapter that may be compared, the smallest model first."""
    size = here["manifest"].map(
        lambda told: told["model"].get("n_parameters") or np.inf
    )
    rows = here.assign(size=size).query("group == 0").sort_values(["size", "label"])
    found = {name: rows[rows["chapter"] == name] for name in STUDIES}
    return {name: part for name, part in found.items() if len(part)}


def items_asked_of_all_models(models: Mapping[str, pd.DataFrame]) -> pd.Index:
    """Return the items that every model was asked."""
    indexes = [table.index for table in models.values()] or [pd.Index([], dtype=object)]
    return reduce(pd.Index.intersection, indexes).sort_values()


def fact_counts_by_model(found: FactsByChapterAndModel) -> pd.DataFrame:
    """Count each model's facts, and those that all models of the chapter were asked."""
    rows = [(chapter, label, len(table), len(items_asked_of_all_models(models)))
            for chapter, models in found.items() for label, table in models.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["chapter", "model", "facts", "shared"])


def estimates_by_model(
    models: Mapping[str, pd.DataFrame], measures: Iterable[Measure], **draw: int
) -> pd.DataFrame:
    """Compute measures of each model on the facts that all were asked."""
    both, measures, rows = items_asked_of_all_models(models), list(measures), []
    for label, table in models.items():
        for measure in measures:
            columns = list(measure.columns)
            part = table.loc[both].dropna(subset=columns)
            found = stats.estimate_with_interval(
                part[columns], measure.statistic, part["relation"], **draw
            )
            found = found._replace(n=measure.n(part))
            rows.append({"model": label, "measure": measure.name} | found._asdict())
    return numeric_table(rows, ["model", "measure", *stats.Interval._fields])


def estimates_and_differences(
    found: FactsByChapterAndModel, only: Container[str] = (), **draw: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return standings and paired differences of all chapters, in all measures or `only` some."""
    standing, gaps = [], []
    for chapter, models in found.items() or [("", {})]:
        measures = STUDIES[chapter].MEASURES if chapter else ()
        measures = [measure for measure in measures if not only or measure.name in only]
        standing.append(
            estimates_by_model(models, measures, **draw).assign(chapter=chapter)
        )
        gaps.append(
            measure_differences(models, measures, **draw).assign(chapter=chapter)
        )
    return pd.concat(standing, ignore_index=True), pd.concat(gaps, ignore_index=True)


def rows_with_panel_preferred(own: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return a chapter's standings or differences, with the panel's where a measure has them.

    >>> own = pd.DataFrame({"measure": ["UR", "NCR"], "n": [90, 90]})
    >>> rows_with_panel_preferred(own, pd.DataFrame({"measure": ["NCR"], "n": [600]})).values.tolist()
    [['UR', 90, 'chapter'], ['NCR', 600, 'panel']]
    """
    kept = own.assign(facts_of="chapter")
    if panel.empty:
        return kept
    kept = kept[~kept["measure"].isin(panel["measure"])]
    return pd.concat([kept, panel.assign(facts_of="panel")], ignore_index=True)


def saved_and_recomputed_measures(
    found: FactsByChapterAndModel, here: pd.DataFrame
) -> pd.DataFrame:
    """Compute each run's measures again from its facts, and set them beside what it saved."""
    rows = []
    for run in here.query("group == 0").itertuples():
        given, metrics = run.manifest["parameters"], runs.load_metrics(run.folder)
        level = metrics[metrics["level"] == "run"]
        where = (
            given.get("setting")
            if level["relation"].eq(given.get("setting")).any()
            else "all"
        )
        saved = level[level["relation"] == where].drop_duplicates("measure")
        saved = saved.set_index("measure")["estimate"]
        for measure in STUDIES[run.chapter].MEASURES:
            if measure.name in saved:
                part = found[run.chapter][run.label][list(measure.columns)].dropna()
                again = (
                    float(measure.statistic(part.to_numpy())) if len(part) else np.nan
                )
                rows.append(
                    (run.chapter, run.label, measure.name, saved[measure.name], again)
                )
    columns = ["chapter", "model", "measure", "saved", "again"]
    return pd.DataFrame(rows, columns=columns).astype({"saved": float, "again": float})


# Two models by hand.


def example_pair_of_models(
    found: FactsByChapterAndModel,
) -> tuple[str, str, pd.DataFrame]:
    """Return the largest and the smallest model of a chapter, and how each did on each fact."""
    for chapter, models in found.items():
        second, first = (list(models)[place] for place in (0, -1))
        column = EXAMPLE.get(chapter)
        if first != second and column in models[first]:
            sides = {"one": models[first][column], "two": models[second][column]}
            pair = pd.DataFrame(
                {"relation": models[first]["relation"], **sides}
            ).dropna()
            if len(pair) > 1:
                pair = pair.loc[
                    models[first].index.intersection(pair.index, sort=False)
                ]
                return first, second, pair.assign(difference=pair["one"] - pair["two"])
    made = pd.DataFrame(
        {"relation": "made up"}, [f"fact {number}" for number in range(1, 5)]
    )
    made = made.assign(one=[1.0, 1.0, 1.0, 0.0], two=[1.0, 1.0, 0.0, 0.0])
    return (
        "A (made up)",
        "B (made up)",
        made.assign(difference=made["one"] - made["two"]),
    )


def contrasting_facts(pair: pd.DataFrame) -> list[str]:
    """Choose facts that are hard for both models, easy for both, and that tell them apart."""
    apart, total = pair["difference"].abs(), pair["one"] + pair["two"]
    alike = total[apart == apart.min()]
    return list(dict.fromkeys([alike.idxmin(), alike.idxmax(), apart.idxmax()]))


def shortest_prompts(items: Sequence[str], here: pd.DataFrame) -> list[str]:
    """Return the shortest prompt of each item in the first run that has them; else its name."""
    for folder in here.query("group == 0")["folder"]:
        rows = runs.load_answers(folder)
        if set(items) <= set(rows["item"]):
            text = rows["prompt" if "prompt" in rows else "question"].astype(str)
            shortest = text.str.len().groupby(rows["item"]).idxmin()
            return list(text[shortest[items]])
    return list(items)


# Paired differences: which pairs, which side first, and how many survive.


def pairs_of_related_models(
    sizes: Mapping[str, float | None],
) -> dict[str, list[tuple[str, str]]]:
    """Return which models may be paired: of one family, by their names, asked in one format."""
    base = {name: TUNED_PATTERN.sub("", name) for name in sizes}
    known = {name: size for name, size in sizes.items() if size and base[name] == name}
    kin = {name: SIZE_PATTERN.sub("", name) for name in known}
    order = sorted(known, key=lambda name: (kin[name], known[name], name))
    steps = [
        (b, a) for a, b in pairwise(order) if known[b] > known[a] and kin[a] == kin[b]
    ]
    tuned = [
        (name, first)
        for name, first in base.items()
        if first != name and first in sizes
    ]
    return {"larger": steps, "tuned": tuned}


def differences_of_pairs(gaps: pd.DataFrame, chosen: ModelPairs) -> pd.DataFrame:
    """Return the differences of some pairs, turned so that each pair's first model comes first."""
    parts = [gaps.head(0)]
    for first, second in chosen:
        parts.append(gaps[(gaps["first"] == first) & (gaps["second"] == second)])
        turned = gaps[(gaps["first"] == second) & (gaps["second"] == first)]
        parts.append(reversed_differences(turned).assign(first=first, second=second))
    return pd.concat(parts, ignore_index=True)


def reversed_differences(gaps: pd.DataFrame) -> pd.DataFrame:
    """Turn differences around."""
    return gaps.assign(estimate=-gaps["estimate"], low=-gaps["high"], high=-gaps["low"])


def differences_from_reference(
    standing: pd.DataFrame, gaps: pd.DataFrame, reference: str = ""
) -> pd.DataFrame:
    """Return each model's differences from one model, or from the best of each measure."""
    parts = [gaps.head(0)]
    for measure, rows in standing.dropna(subset=["estimate"]).groupby(
        "measure", sort=False
    ):
        up = measure_named(measure).higher is not False
        best = (
            rows.set_index("model")["estimate"].sort_values(ascending=not up).index[0]
        )
        base = reference or best
        chosen = [(name, base) for name in rows["model"] if name != base]
        parts.append(differences_of_pairs(gaps[gaps["measure"] == measure], chosen))
    return pd.concat(parts, ignore_index=True)


def gaps_to_best_model(
    standing: pd.DataFrame, gaps: pd.DataFrame, measure: Measure, reference: str = ""
) -> pd.DataFrame:
    """Lay out how far models are behind the best or the `reference`, which is at 0."""
    standing = standing[standing["measure"] == measure.name]
    rows = differences_from_reference(standing, gaps, reference).dropna(
        subset=["estimate"]
    )
    base = pd.DataFrame({"first": rows["second"].head(1)}).assign(
        **dict.fromkeys(INTERVAL_COLUMNS, 0.0)
    )
    rows = pd.concat(
        [reversed_differences(rows) if measure.higher is False else rows, base]
    )
    rows[INTERVAL_COLUMNS] *= 100 if measure.percent else 1
    order = list(standing["model"])
    return rows.sort_values(
        "first", key=lambda names: names.map(order.index), kind="stable"
    )


def differences_with_holm_p_values(
    gaps: pd.DataFrame, level: float = 0.05
) -> pd.DataFrame:
    """Test all differences at once: p-values of the normal approximation, corrected after Holm."""
    rows = gaps[gaps["high"] > gaps["low"]].astype(
        dict.fromkeys(INTERVAL_COLUMNS, float)
    )
    # The bootstrap's own p-values are too coarse to be corrected for many comparisons.
    error = (rows["high"] - rows["low"]) / (2 * scipy.stats.norm.ppf(0.975))
    p = 2 * scipy.stats.norm.sf(rows["estimate"].abs() / error)
    corrected = stats.holm_adjusted_p_values(p) if len(rows) else p
    return rows.assign(p_normal=p, p_holm=corrected, kept=corrected <= level)


def differences_kept_by_holm(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return the differences that survive Holm's correction for all of them."""
    tested = differences_with_holm_p_values(gaps)
    return tested[tested["kept"].astype(bool)]


def differences_with_better_side(gaps: pd.DataFrame) -> pd.DataFrame:
    """Keep measures with a better side; ``up`` says whether the first model's figure is better."""
    ranked = [measure_named(name).higher is not None for name in gaps["measure"]]
    rows = gaps[np.array(ranked, dtype=bool)].dropna(subset=["estimate"])
    more = np.array(
        [measure_named(name).higher for name in rows["measure"]], dtype=bool
    )
    return rows.assign(up=(rows["estimate"].to_numpy() > 0) == more)


def best_model_by_measure(
    standing: pd.DataFrame, gaps: pd.DataFrame, twins: ModelPairs = ()
) -> pd.DataFrame:
    """Return each main measure's best model and its lead over the nearest rival."""
    rows, firm, same_run = (
        [],
        differences_kept_by_holm(gaps),
        {frozenset(pair) for pair in twins},
    )
    for name in (name for name in MAIN_MEASURES if name in set(standing["measure"])):
        ahead = differences_from_reference(
            standing[standing["measure"] == name], gaps[gaps["measure"] == name]
        )
        ahead = ahead.dropna(subset=["estimate"])
        ahead = ahead[
            [{*pair} not in same_run for pair in zip(ahead["first"], ahead["second"])]
        ]
        if ahead.empty:
            continue
        ahead = (
            ahead
            if measure_named(name).higher is False
            else reversed_differences(ahead)
        )
        same = firm[firm["measure"] == name]
        sure = {frozenset(pair) for pair in zip(same["first"], same["second"])}
        held = np.array(
            [frozenset(pair) in sure for pair in zip(ahead["first"], ahead["second"])]
        )
        beaten = ahead[held & (ahead["estimate"] < 0)]
        # Better on the facts that count for both, or not surely worse
        near = next(part for part in (beaten, ahead[~held], ahead) if len(part))
        row = near.loc[near["estimate"].idxmin()]
        rows.append([name, row["second"], row["first"], *row[INTERVAL_COLUMNS], row["n"],
                     bool(held.all()) and beaten.empty])  # fmt: skip
    found = pd.DataFrame(
        rows, columns=["measure", "best", "rival", *INTERVAL_COLUMNS, "n", "leads"]
    )
    return found.assign(title=[measure_named(name).title for name in found["measure"]])


def measures_by_model(
    found: pd.DataFrame, measures: Iterable[str], by: str = "model"
) -> pd.DataFrame:
    """Lay out measures for a page, a row for each model, shares in percent."""
    some = [measure_named(name) for name in measures if name in set(found["measure"])]
    percent = [measure.name for measure in some if measure.percent]
    return written.wide_interval_table(
        found, {m.name: m.heading for m in some}, percent, by=by
    )


def size_and_tuning_effects(
    gaps: pd.DataFrame, chosen: ModelPairs, **draw: int
) -> pd.DataFrame:
    """Set what size and tuning change in the paper's pairs of models beside the pairs given."""
    six, every = (
        ["NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR"],
        knowledge_base.pairs_of_models(),
    )
    effects = knowledge_base_strata.paired_effects(
        {name: every[name] for name in ("larger", "tuned")}, six, **draw
    )
    effects = effects.assign(pair="Zheng et al., " + effects["effect"])
    ours = differences_of_pairs(gaps[gaps["measure"].isin(six)], chosen).dropna(
        subset=["estimate"]
    )
    ours = ours.assign(pair=ours["first"] + " minus " + ours["second"])
    both = pd.concat([part for part in (effects, ours) if len(part)])
    titles = {name: f"{measure_named(name).title}, points" for name in six}
    return written.wide_interval_table(both, titles, six, by="pair")


def differences_for_display(gaps: pd.DataFrame) -> pd.DataFrame:
    """Lay out differences for a page, shares in points."""
    rows = []
    for row in gaps.itertuples():
        measure = measure_named(row.measure)
        form = {"digits": 1, "scale": 100} if measure.percent else {"digits": 3}
        cell = written.interval(row.estimate, row.low, row.high, **form)
        decided = row.low > 0 or row.high < 0
        better = row.better or ("neither direction" if decided else "not decided")
        rows.append(
            (measure.title, row.first, row.second, cell, row.n, row.facts_of, better)
        )
    columns = ["measure", "model", "minus", "difference", "n", "facts of the", "better"]
    return pd.DataFrame(rows, columns=columns)


def correlations_over_relations(
    models: Mapping[str, pd.DataFrame], column: str
) -> pd.DataFrame:
    """Correlate the accuracies of each pair of models over relations, on the facts of all."""
    both = items_asked_of_all_models(models)
    groups = {name: rows.loc[both].groupby("relation") for name, rows in models.items()}
    means = {name: rows[column].mean() for name, rows in groups.items()}
    rows = [
        (a, b, *stats.correlation(means[a], means[b]))
        for a, b in combinations(means, 2)
    ]
    return pd.DataFrame(rows, columns=["first", "second", *stats.Correlation._fields])


def comparisons_for_appendix(
    gaps: pd.DataFrame, found: FactsByChapterAndModel
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    yield from appendix.labelled_estimates(
        gaps[gaps["measure"].isin(MAIN_MEASURES)], "{measure}: {first} minus {second}"
    )
    chapter = next((name for name in ACCURACY_BY_CHAPTER if name in found), "")
    alike = correlations_over_relations(
        found.get(chapter, {}), ACCURACY_BY_CHAPTER.get(chapter, "")
    )
    alike = alike.rename(columns={"r": "estimate"})
    yield from appendix.labelled_estimates(
        alike, "r over relations: {first} and {second}"
    )
    tested = differences_with_holm_p_values(gaps)
    single, none = (tested["p_normal"] < 0.05).sum(), (np.nan, np.nan)
    share = tested["kept"].sum() / single if single else np.nan
    yield "share kept by Holm's correction of p < 0.05", (share, *none, len(tested))
    sides = (
        differences_kept_by_holm(differences_with_better_side(gaps))
        .groupby(["first", "second"])["up"]
        .agg(["size", "nunique"])
    )
    several = sides[sides["size"] > 1]
    agree = (several["nunique"] == 1).mean()
    yield "pairs of models on which the measures agree", (agree, *none, len(several))


def tables_for_appendix(
    here: pd.DataFrame,
    board: pd.DataFrame,
    gaps: pd.DataFrame,
    alike: Mapping[str, ModelPairs],
    found: FactsByChapterAndModel,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix: the runs, all measures and all differences."""
    columns = ["label", "chapter", "group", "dataset", "seed", "finished", "differs"]
    pages = {"runs": here[columns], "overlap": fact_counts_by_model(found)}
    for chapter, part in board.groupby("chapter", sort=False):
        measures = [measure.name for measure in STUDIES[chapter].MEASURES]
        pages[f"board_{chapter}"] = measures_by_model(part, measures)
    pages["differences"] = differences_for_display(
        differences_from_reference(board, gaps)
    )
    pages["pairs"] = differences_for_display(
        differences_of_pairs(gaps, [*alike["tuned"], *alike["larger"]])
    )
    return pages
