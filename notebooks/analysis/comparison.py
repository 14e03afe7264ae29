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
from helpers.studies import STUDIES, Measure, fitting, measure_named
from helpers.studies.model_comparison import by_item, differences, numbers
from notebooks.kit import appendix, runs_against_papers
from notebooks.kit.plots import result_tables as written
from notebooks.kit.published import knowledge_base

Tables = Mapping[
    str, Mapping[str, pd.DataFrame]
]  # chapter, label of a model: its facts
Pairs = Sequence[tuple[str, str]]
MAIN = ("MONITOR", "NCR", "right", "accuracy")  # one measure of each chapter
ENDS = ["estimate", "low", "high"]
ACCURACIES = {  # a number a fact for each chapter; the first that has run is compared by relation
    "latent_knowledge": "right",
    "monitor": "average",
    "multiplicity": "accuracy",
    "knowledge_base": "correct",
}
# What the example takes: shares say more than marks of a few facts.
EXAMPLE = ACCURACIES | {"latent_knowledge": "mass"}
# Parameters that leave the facts that are asked as they are.
NEUTRAL = tomllib.loads(
    Path(__file__).with_name("parameters.toml").read_text(encoding="utf-8")
)["neutral"]
PACKAGES = ("torch", "transformers")

SIZE = compile(
    r"[-_](?:\d+(?:\.\d+)?[kmbt]|tiny|mini|small|medium|base|large|x*[sml])\b",
    IGNORECASE,
)
TUNED = compile(r"[-_](?:chat|instruct|it|sft|rlhf|dpo)\b|\s\(chat\)$", IGNORECASE)
NONE = """There are no finished runs of the four chapters here yet. This makes them:
    make book MODEL=path/to/a/model"""
SECOND = """Only {label} has finished runs here. A second model, as in
    make book MODELS=path/to/another
adds to every table the paired difference on the same facts, with its interval."""
APART = """\
No two models here have finished the same chapter with the same data and settings, so no \
difference can be taken. One command runs both alike:
    make book MODEL=path/to/one MODELS=path/to/another"""


# Which runs may be compared.


def traits(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return what a run must share with another to be compared with it."""
    found = {"dataset": manifest["dataset"]["name"]}
    found["checksum"] = str(manifest["dataset"].get("checksum", ""))
    versions = manifest.get("versions", {})
    found |= {
        name: versions[name].partition("+")[0] for name in PACKAGES if name in versions
    }
    free = {k: v for k, v in manifest["parameters"].items() if k not in NEUTRAL}
    return found | {k: json.dumps(v).strip('"') for k, v in sorted(free.items())}


def choose(folder: str | Path, labels: Sequence[str] = ()) -> pd.DataFrame:
    """Load finished runs, sorted into groups, of some models or of all."""
    table = runs.load(folder or None)
    table = runs_against_papers.labelled(
        table[table["chapter"].isin(STUDIES)].reset_index(drop=True)
    )
    known = sorted(table["label"].unique())
    for label in labels:
        if label not in known:
            raise UserError(
                f"No run is of {label}: there are {', '.join(known) or 'none'}."
            )
    return grouped(table[table["label"].isin(labels)] if labels else table)


def grouped(found: pd.DataFrame) -> pd.DataFrame:
    """Sort runs into groups that may be compared, chapter by chapter, the largest first."""
    table = found.assign(group=0, differs="")
    for _, rows in table.groupby("chapter"):
        keys = pd.Series(
            [traits(told) for told in rows["manifest"]], rows.index, dtype=object
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


def told(table: pd.DataFrame) -> str:
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
        .groupby(kept["manifest"].map(runs_against_papers.prompt_format))
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


def lacking(found: Tables) -> str:
    """Say which run a comparison lacks; empty if two models have a chapter in common."""
    labels = {label for models in found.values() for label in models}
    if len(labels) < 2:
        return SECOND.format(label=min(labels)) if labels else NONE
    return "" if any(len(models) > 1 for models in found.values()) else APART


# Facts of the runs, and measures of them.


def sizes(
    here: pd.DataFrame, found: Tables, reference: str = ""
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


def tables(here: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the facts of all runs that may be compared."""
    return {
        name: {
            row.label: runs_against_papers.facts(name, row.folder)
            for row in part.itertuples()
        }
        for name, part in _chapters(here).items()
    }


def panels(here: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the panel's facts of the chapters whose runs were all asked the same panel alike."""
    found = {}
    for name, part in _chapters(here).items():
        about = [manifest.get("panel") or {} for manifest in part["manifest"]]
        there = [
            (Path(folder) / panel_file.FILE).is_file() for folder in part["folder"]
        ]
        kinds = {(entry.get("n_facts"), entry.get("version")) for entry in about}
        if not (all(about) and all(there) and len(kinds) == 1):
            continue
        found[name] = {}
        for row, asked in zip(part.itertuples(), about, strict=True):
            settings = fitting(STUDIES[name].facts, asked["settings"])
            answers = panel_file.answers(row.folder)
            found[name][row.label] = by_item(STUDIES[name].facts(answers, **settings))
    return found


def _chapters(here: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of each chapter that may be compared, the smallest model first."""
    size = here["manifest"].map(
        lambda told: told["model"].get("n_parameters") or np.inf
    )
    rows = here.assign(size=size).query("group == 0").sort_values(["size", "label"])
    found = {name: rows[rows["chapter"] == name] for name in STUDIES}
    return {name: part for name, part in found.items() if len(part)}


def shared(models: Mapping[str, pd.DataFrame]) -> pd.Index:
    """Return the items that every model was asked."""
    indexes = [table.index for table in models.values()] or [pd.Index([], dtype=object)]
    return reduce(pd.Index.intersection, indexes).sort_values()


def overlap(found: Tables) -> pd.DataFrame:
    """Count each model's facts, and those that all models of the chapter were asked."""
    rows = [(chapter, label, len(table), len(shared(models)))
            for chapter, models in found.items() for label, table in models.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["chapter", "model", "facts", "shared"])


def standings(
    models: Mapping[str, pd.DataFrame], measures: Iterable[Measure], **draw: int
) -> pd.DataFrame:
    """Compute measures of each model on the facts that all were asked."""
    both, measures, rows = shared(models), list(measures), []
    for label, table in models.items():
        for measure in measures:
            columns = list(measure.columns)
            part = table.loc[both].dropna(subset=columns)
            found = stats.estimate(
                part[columns], measure.statistic, part["relation"], **draw
            )
            found = found._replace(n=measure.n(part))
            rows.append({"model": label, "measure": measure.name} | found._asdict())
    return numbers(rows, ["model", "measure", *stats.Interval._fields])


def everything(
    found: Tables, only: Container[str] = (), **draw: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return standings and paired differences of all chapters, in all measures or `only` some."""
    standing, gaps = [], []
    for chapter, models in found.items() or [("", {})]:
        measures = STUDIES[chapter].MEASURES if chapter else ()
        measures = [measure for measure in measures if not only or measure.name in only]
        standing.append(standings(models, measures, **draw).assign(chapter=chapter))
        gaps.append(differences(models, measures, **draw).assign(chapter=chapter))
    return pd.concat(standing, ignore_index=True), pd.concat(gaps, ignore_index=True)


def replaced(own: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return a chapter's standings or differences, with the panel's where a measure has them.

    >>> own = pd.DataFrame({"measure": ["UR", "NCR"], "n": [90, 90]})
    >>> replaced(own, pd.DataFrame({"measure": ["NCR"], "n": [600]})).values.tolist()
    [['UR', 90, 'chapter'], ['NCR', 600, 'panel']]
    """
    kept = own.assign(facts_of="chapter")
    if panel.empty:
        return kept
    kept = kept[~kept["measure"].isin(panel["measure"])]
    return pd.concat([kept, panel.assign(facts_of="panel")], ignore_index=True)


def agreement(found: Tables, here: pd.DataFrame) -> pd.DataFrame:
    """Compute each run's measures again from its facts, and set them beside what it saved."""
    rows = []
    for run in here.query("group == 0").itertuples():
        given, metrics = run.manifest["parameters"], runs.metrics(run.folder)
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


def example(found: Tables) -> tuple[str, str, pd.DataFrame]:
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


def three(pair: pd.DataFrame) -> list[str]:
    """Choose facts that are hard for both models, easy for both, and that tell them apart."""
    apart, total = pair["difference"].abs(), pair["one"] + pair["two"]
    alike = total[apart == apart.min()]
    return list(dict.fromkeys([alike.idxmin(), alike.idxmax(), apart.idxmax()]))


def prompts(items: Sequence[str], here: pd.DataFrame) -> list[str]:
    """Return the shortest prompt of each item in the first run that has them; else its name."""
    for folder in here.query("group == 0")["folder"]:
        rows = runs.answers(folder)
        if set(items) <= set(rows["item"]):
            text = rows["prompt" if "prompt" in rows else "question"].astype(str)
            shortest = text.str.len().groupby(rows["item"]).idxmin()
            return list(text[shortest[items]])
    return list(items)


# Paired differences: which pairs, which side first, and how many survive.


def pairs(sizes: Mapping[str, float | None]) -> dict[str, list[tuple[str, str]]]:
    """Return which models may be paired: of one family, by their names, asked in one format."""
    base = {name: TUNED.sub("", name) for name in sizes}
    known = {name: size for name, size in sizes.items() if size and base[name] == name}
    kin = {name: SIZE.sub("", name) for name in known}
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


def oriented(gaps: pd.DataFrame, chosen: Pairs) -> pd.DataFrame:
    """Return the differences of some pairs, turned so that each pair's first model comes first."""
    parts = [gaps.head(0)]
    for first, second in chosen:
        parts.append(gaps[(gaps["first"] == first) & (gaps["second"] == second)])
        turned = gaps[(gaps["first"] == second) & (gaps["second"] == first)]
        parts.append(negative(turned).assign(first=first, second=second))
    return pd.concat(parts, ignore_index=True)


def negative(gaps: pd.DataFrame) -> pd.DataFrame:
    """Turn differences around."""
    return gaps.assign(estimate=-gaps["estimate"], low=-gaps["high"], high=-gaps["low"])


def against(
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
        parts.append(oriented(gaps[gaps["measure"] == measure], chosen))
    return pd.concat(parts, ignore_index=True)


def behind(
    standing: pd.DataFrame, gaps: pd.DataFrame, measure: Measure, reference: str = ""
) -> pd.DataFrame:
    """Lay out how far models are behind the best or the `reference`, which is at 0."""
    standing = standing[standing["measure"] == measure.name]
    rows = against(standing, gaps, reference).dropna(subset=["estimate"])
    base = pd.DataFrame({"first": rows["second"].head(1)}).assign(
        **dict.fromkeys(ENDS, 0.0)
    )
    rows = pd.concat([negative(rows) if measure.higher is False else rows, base])
    rows[ENDS] *= 100 if measure.percent else 1
    order = list(standing["model"])
    return rows.sort_values(
        "first", key=lambda names: names.map(order.index), kind="stable"
    )


def holm(gaps: pd.DataFrame, level: float = 0.05) -> pd.DataFrame:
    """Test all differences at once: p-values of the normal approximation, corrected after Holm."""
    rows = gaps[gaps["high"] > gaps["low"]].astype(dict.fromkeys(ENDS, float))
    # The bootstrap's own p-values are too coarse to be corrected for many comparisons.
    error = (rows["high"] - rows["low"]) / (2 * scipy.stats.norm.ppf(0.975))
    p = 2 * scipy.stats.norm.sf(rows["estimate"].abs() / error)
    corrected = stats.holm(p) if len(rows) else p
    return rows.assign(p_normal=p, p_holm=corrected, kept=corrected <= level)


def kept(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return the differences that survive Holm's correction for all of them."""
    tested = holm(gaps)
    return tested[tested["kept"].astype(bool)]


def directed(gaps: pd.DataFrame) -> pd.DataFrame:
    """Keep measures with a better side; ``up`` says whether the first model's figure is better."""
    ranked = [measure_named(name).higher is not None for name in gaps["measure"]]
    rows = gaps[np.array(ranked, dtype=bool)].dropna(subset=["estimate"])
    more = np.array(
        [measure_named(name).higher for name in rows["measure"]], dtype=bool
    )
    return rows.assign(up=(rows["estimate"].to_numpy() > 0) == more)


def leaders(
    standing: pd.DataFrame, gaps: pd.DataFrame, twins: Pairs = ()
) -> pd.DataFrame:
    """Return each main measure's best model and its lead over the nearest rival."""
    rows, firm, same_run = [], kept(gaps), {frozenset(pair) for pair in twins}
    for name in (name for name in MAIN if name in set(standing["measure"])):
        ahead = against(
            standing[standing["measure"] == name], gaps[gaps["measure"] == name]
        )
        ahead = ahead.dropna(subset=["estimate"])
        ahead = ahead[
            [{*pair} not in same_run for pair in zip(ahead["first"], ahead["second"])]
        ]
        if ahead.empty:
            continue
        ahead = ahead if measure_named(name).higher is False else negative(ahead)
        same = firm[firm["measure"] == name]
        sure = {frozenset(pair) for pair in zip(same["first"], same["second"])}
        held = np.array(
            [frozenset(pair) in sure for pair in zip(ahead["first"], ahead["second"])]
        )
        beaten = ahead[held & (ahead["estimate"] < 0)]
        # Better on the facts that count for both, or not surely worse
        near = next(part for part in (beaten, ahead[~held], ahead) if len(part))
        row = near.loc[near["estimate"].idxmin()]
        rows.append([name, row["second"], row["first"], *row[ENDS], row["n"],
                     bool(held.all()) and beaten.empty])  # fmt: skip
    found = pd.DataFrame(
        rows, columns=["measure", "best", "rival", *ENDS, "n", "leads"]
    )
    return found.assign(title=[measure_named(name).title for name in found["measure"]])


def wide(
    found: pd.DataFrame, measures: Iterable[str], by: str = "model"
) -> pd.DataFrame:
    """Lay out measures for a page, a row for each model, shares in percent."""
    some = [measure_named(name) for name in measures if name in set(found["measure"])]
    percent = [measure.name for measure in some if measure.percent]
    return written.wide(found, {m.name: m.heading for m in some}, percent, by=by)


def in_papers(gaps: pd.DataFrame, chosen: Pairs, **draw: int) -> pd.DataFrame:
    """Set what size and tuning change in the paper's pairs of models beside the pairs given."""
    six, every = (
        ["NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR"],
        knowledge_base.pairs(),
    )
    effects = knowledge_base_strata.effects(
        {name: every[name] for name in ("larger", "tuned")}, six, **draw
    )
    effects = effects.assign(pair="Zheng et al., " + effects["effect"])
    ours = oriented(gaps[gaps["measure"].isin(six)], chosen).dropna(subset=["estimate"])
    ours = ours.assign(pair=ours["first"] + " minus " + ours["second"])
    both = pd.concat([part for part in (effects, ours) if len(part)])
    titles = {name: f"{measure_named(name).title}, points" for name in six}
    return written.wide(both, titles, six, by="pair")


def readable(gaps: pd.DataFrame) -> pd.DataFrame:
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


def relations_alike(models: Mapping[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """Correlate the accuracies of each pair of models over relations, on the facts of all."""
    both = shared(models)
    groups = {name: rows.loc[both].groupby("relation") for name, rows in models.items()}
    means = {name: rows[column].mean() for name, rows in groups.items()}
    rows = [
        (a, b, *stats.correlation(means[a], means[b]))
        for a, b in combinations(means, 2)
    ]
    return pd.DataFrame(rows, columns=["first", "second", *stats.Correlation._fields])


def comparisons(
    gaps: pd.DataFrame, found: Tables
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    yield from appendix.each(
        gaps[gaps["measure"].isin(MAIN)], "{measure}: {first} minus {second}"
    )
    chapter = next((name for name in ACCURACIES if name in found), "")
    alike = relations_alike(found.get(chapter, {}), ACCURACIES.get(chapter, ""))
    alike = alike.rename(columns={"r": "estimate"})
    yield from appendix.each(alike, "r over relations: {first} and {second}")
    tested = holm(gaps)
    single, none = (tested["p_normal"] < 0.05).sum(), (np.nan, np.nan)
    share = tested["kept"].sum() / single if single else np.nan
    yield "share kept by Holm's correction of p < 0.05", (share, *none, len(tested))
    sides = (
        kept(directed(gaps)).groupby(["first", "second"])["up"].agg(["size", "nunique"])
    )
    several = sides[sides["size"] > 1]
    agree = (several["nunique"] == 1).mean()
    yield "pairs of models on which the measures agree", (agree, *none, len(several))


def listed(
    here: pd.DataFrame,
    board: pd.DataFrame,
    gaps: pd.DataFrame,
    alike: Mapping[str, Pairs],
    found: Tables,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix: the runs, all measures and all differences."""
    columns = ["label", "chapter", "group", "dataset", "seed", "finished", "differs"]
    pages = {"runs": here[columns], "overlap": overlap(found)}
    for chapter, part in board.groupby("chapter", sort=False):
        measures = [measure.name for measure in STUDIES[chapter].MEASURES]
        pages[f"board_{chapter}"] = wide(part, measures)
    pages["differences"] = readable(against(board, gaps))
    pages["pairs"] = readable(oriented(gaps, [*alike["tuned"], *alike["larger"]]))
    return pages
