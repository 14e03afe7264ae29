"""What the chapter on the papers' own tables computes and draws beyond a line."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import stats
from notebooks.kit import appendix, published
from notebooks.kit.claims_by_count import share_without_interval
from notebooks.kit.plots import result_tables, shared_figures, style
from notebooks.kit.published.knowledge_base import knowledge_base_measures

SUSPECT_MODEL = "Gemma-Instruct 7B"
PAIRS_WITH_CONS_W = ("Cons_c vs. Cons_w", "NCR vs. Cons_w", "UR vs. Cons_w")
# Of r: 0.005, and what the rounding of its 52 numbers leaves open
ROUNDING_TOLERANCE = 0.0055
BENCHMARKS_BY_TABLE = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}
AMBIGUITY_COLUMNS = ("ambiguity", "ambiguity_binary")
FAMILY_BY_NAME_START = tomllib.loads(
    Path(__file__).with_name("families.toml").read_text(encoding="utf-8")
)
VERDICT_COLOURS = {
    "supported": style.GREEN,
    "partly": style.ORANGE,
    "contradicted": style.RED,
}
LINE_STYLES = ("-", "--", "-.", ":")


class PrintedPair(NamedTuple):
    """Two measures of the same models, and their correlation as the paper prints it."""

    paper: str
    name: str
    printed: float  # not a number: the paper gives none
    x: pd.Series
    y: pd.Series


def subsumption_bounds(
    load: Callable[[str], pd.DataFrame] = published.load_published_table,
) -> pd.DataFrame:
    """Return the pairs of models of IC-LKE's Tables 1 and 10, and subsumption's bounds.

    Llama 7B knows 0.699, Llama 65B 0.836: at least 0.535 / 0.699 = 0.765 must be
    shared.

    >>> subsumption_bounds().loc[0, ["printed", "low", "high"]].round(3).tolist()
    [0.769, 0.765, 1.0]
    """
    parts = []
    for number, first, second in ((1, "smallest", "largest"), (10, "tuned", "base")):
        table = load(f"lke_table{number}")
        part = pd.DataFrame(
            {
                "first": table[f"{first} accuracy"],
                "second": table[f"{second} accuracy"],
                "printed": table["subsumption"],
            }
        )
        part = part.rename_axis("pair").reset_index()
        parts.append(part.assign(table=f"Table {number}"))
    rows = pd.concat(parts, ignore_index=True)
    least_shared = (rows["first"] + rows["second"] - 1).clip(lower=0)
    most_shared = rows[["first", "second"]].min(axis=1)
    rows["low"] = least_shared / rows["first"]
    rows["high"] = (most_shared / rows["first"]).clip(upper=1)
    rows["low_turned"] = least_shared / rows["second"]
    rows["high_turned"] = (most_shared / rows["second"]).clip(upper=1)
    return rows


def correlations_over_cons_w(model: str, step: float = 0.05) -> pd.DataFrame:
    """Return knowledge bases' correlations as one model's Cons_w goes from 0 to 100.

    ``worst`` is the largest distance from those printed.
    """
    table = knowledge_base_measures("four-shot")
    printed = published.load_published_table("kb_table2")["four-shot"]
    values = np.arange(0, 100 + step / 2, step)
    changed = np.tile(table["Cons_w"].to_numpy(), (len(values), 1))
    changed[:, table.index.get_loc(model)] = values
    correlations = pd.DataFrame({"Cons_w": values})
    gaps = []
    for pair in PAIRS_WITH_CONS_W:
        measure = pair.partition(" ")[0]
        unchanged = np.broadcast_to(table[measure].to_numpy(), changed.shape)
        both = np.stack([unchanged, changed], axis=-1)
        correlations[pair] = stats.pearson_correlation(both)
        gaps.append((correlations[pair] - printed[pair]).abs())
    return correlations.assign(worst=pd.concat(gaps, axis=1).max(axis=1))


def best_cons_w_by_model(step: float = 0.05) -> pd.DataFrame:
    """Return the value of each model's Cons_w that brings Table 2's r nearest."""
    rows = []
    for model, measures in knowledge_base_measures("four-shot").iterrows():
        tried = correlations_over_cons_w(model, step)
        best = tried.loc[tried["worst"].idxmin()]
        near = tried[tried["worst"] <= ROUNDING_TOLERANCE]
        row = {
            "model": model,
            "printed": measures["Cons_w"],
            "best": best["Cons_w"],
            "worst": best["worst"],
            "explains": len(near) > 0,
            "low": near["Cons_w"].min(),
            "high": near["Cons_w"].max(),
            "seen": 100 * measures["CWR"] / measures["WR"],
            "unseen": 100 * (100 - measures["IUR"]) / (100 - measures["UR"]),
        }
        rows.append(row)
    return pd.DataFrame(rows).sort_values("worst", ignore_index=True)


def sizes_that_fit_shares(shares: pd.Series, most: int = 4000) -> list[int]:
    """Return the numbers of questions, up to `most`, that printed shares can be of.

    33.33 % and 14.29 % are a third and a seventh, so the number is a multiple of 21:

    >>> sizes_that_fit_shares(pd.Series([33.33, 14.29]), 50)
    [21, 42]
    """
    sizes = np.arange(1, most + 1)
    printed = shares.to_numpy(dtype=float)[:, np.newaxis]
    nearest = np.rint(printed * sizes / 100) / sizes * 100
    fits = (np.abs(nearest - printed) <= 0.005 + 1e-9).all(axis=0)
    return sizes[fits].tolist()


def sizes_that_fit_benchmarks() -> pd.DataFrame:
    """Return the numbers of questions that fit each benchmark's printed ambiguities."""
    rows = []
    for name, benchmarks in BENCHMARKS_BY_TABLE.items():
        table = published.load_published_table(name)
        for benchmark in benchmarks:
            columns = [f"{benchmark} {column}" for column in AMBIGUITY_COLUMNS]
            fits = sizes_that_fit_shares(table[columns].melt()["value"])
            which = ", ".join(str(size) for size in fits[:4]) or "none"
            if len(fits) > 4:
                which += ", ..."
            alone = bool(fits) and all(size % fits[0] == 0 for size in fits)
            rows.append((benchmark, len(fits), which, alone))
    return pd.DataFrame(rows, columns=["benchmark", "sizes that fit", "which", "alone"])


def family_of_model(model: str) -> str:
    """Return a model's family of base models; a guess for Vicuna and WizardLM."""
    for start, family in FAMILY_BY_NAME_START.items():
        if model.lower().startswith(start):
            return family
    return model


def correlated_pairs_of_measures() -> Iterator[PrintedPair]:
    """Yield the pairs of measures that papers correlate over models, or invite to."""
    yield from _pairs_of_monitor()
    yield from _pairs_of_knowledge_bases()
    for name, benchmarks in BENCHMARKS_BY_TABLE.items():
        table = published.load_published_table(name)
        for benchmark in benchmarks:
            yield PrintedPair(
                "multiplicity",
                f"deviation, ambiguity ({benchmark})",
                np.nan,
                table[f"{benchmark} deviation"],
                table[f"{benchmark} ambiguity"],
            )


def _pairs_of_monitor() -> Iterator[PrintedPair]:
    """Yield MONITOR and accuracy, over all relations and in some, and the deviation."""
    paper, name = "MONITOR", "MONITOR, accuracy"
    load = published.load_published_table
    r = load("monitor_table4_correlation")["pearson"].iloc[0]
    overall = load("monitor_table4")
    yield PrintedPair(paper, name, r, overall["MONITOR"], overall["avg"])
    anchor = overall["probs"]
    yield PrintedPair(paper, "MONITOR, anchor", np.nan, overall["MONITOR"], anchor)
    three_relations = load("monitor_table5")
    for relation in ("P178", "P108", "P37"):
        yield PrintedPair(
            paper,
            f"{name} ({relation})",
            load("monitor_table11").loc[relation, "pearson"],
            three_relations[f"{relation} MONITOR"],
            three_relations[f"{relation} avg"],
        )
    one_relation = load("monitor_table6")
    name = "MONITOR, deviation (P1412)"
    monitor, deviation = one_relation["MONITOR"], one_relation["std"]
    yield PrintedPair(paper, name, np.nan, monitor, deviation)


def _pairs_of_knowledge_bases() -> Iterator[PrintedPair]:
    """Yield the pairs of measures of Table 2 of the knowledge-base paper."""
    printed = published.table_without_restored_signs(
        "kb_table2", published.load_published_table("kb_table2")
    )
    for setting, correlations in printed.items():
        table = knowledge_base_measures(setting)
        for pair, r in correlations.items():
            first, second = pair.split(" vs. ")
            name = f"{first}, {second} ({setting})"
            yield PrintedPair("knowledge bases", name, r, table[first], table[second])


def correlations_over_models(n_resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Compute each correlation over models with what the papers do not give.

    ``low, high`` are Fisher's, ``boot_low, boot_high`` of drawn models; ``least, most``
    are r without each family, ``without`` the family that moves it most.
    """
    rows = []
    for pair in correlated_pairs_of_measures():
        both = np.column_stack([pair.x, pair.y])
        x, y = both.T
        pearson = stats.correlation(x, y)
        spearman = stats.correlation(x, y, "spearman")
        bootstrap = stats.bootstrap(
            both, stats.pearson_correlation, None, n_resamples, seed
        )
        families = [family_of_model(model) for model in pair.x.index]
        left_out = stats.correlations_without_each_group(x, y, families)
        farthest = (left_out["r"] - pearson.r).abs().idxmax()
        row = {
            "paper": pair.paper,
            "pair": pair.name,
            "n": pearson.n,
            "printed": pair.printed,
            "estimate": pearson.r,
            "low": pearson.low,
            "high": pearson.high,
            "p": pearson.p,
            "boot_low": bootstrap.low,
            "boot_high": bootstrap.high,
            "spearman": spearman.r,
            "rank_low": spearman.low,
            "rank_high": spearman.high,
            "least": left_out["r"].min(),
            "most": left_out["r"].max(),
            "without": left_out.loc[farthest, "without"],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def correlations_for_display(measured: pd.DataFrame) -> pd.DataFrame:
    """Write the correlations with their intervals for a table."""
    interval = partial(result_tables.interval, digits=2)
    rows = []
    for row in measured.itertuples():
        texts = {
            "pearson": interval(row.estimate, row.low, row.high),
            "p": f"{row.p:.3f}",
            "bootstrap": f"[{row.boot_low:.2f}, {row.boot_high:.2f}]",
            "spearman": interval(row.spearman, row.rank_low, row.rank_high),
            "without": f"{row.least:.2f} to {row.most:.2f} ({row.without})",
        }
        rows.append(texts)
    written = pd.DataFrame(rows, index=measured.index)
    return measured[["paper", "pair", "n", "printed"]].join(written)


def summary_of_checks(cells: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers of each check that agree, with the one that agrees least."""
    keys = ["paper", "check"]
    claims = published.printed_number_checks().set_index(keys)["claim"]
    excess = (cells["difference"].abs() - cells["tolerance"]).fillna(np.inf)
    groups = cells.assign(excess=excess).groupby(keys, sort=False)
    worst = cells.loc[groups["excess"].idxmax()].set_index(keys)
    worst = worst.drop(columns="agrees").rename(columns={"row": "cell"})
    counts = groups["agrees"].agg(numbers="size", agree="sum")
    return pd.concat([claims[counts.index], counts, worst], axis=1).reset_index()


def comparisons_for_appendix(
    cells: pd.DataFrame,
    sentences: pd.DataFrame,
    measured: pd.DataFrame,
    relations: pd.DataFrame,
    sizes: pd.DataFrame,
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    for paper, part in cells.groupby("paper", sort=False):
        share = share_without_interval(part["agrees"].sum(), len(part))
        yield f"numbers that agree, {paper}", share
    decided = sentences[sentences["verdict"] != "not decided"]
    for paper, part in decided.groupby("paper", sort=False):
        n_supported = (part["verdict"] == "supported").sum()
        share = share_without_interval(n_supported, len(part))
        yield f"sentences supported, {paper}", share
    yield from appendix.labelled_estimates(measured, "r of {pair}")
    n_falling = (relations["high"].round(2) < 0).sum()
    share = share_without_interval(n_falling, len(relations))
    yield "relations on which MONITOR falls with accuracy", share
    twins = cells[cells["check"] == "Table 10: FT-1 and FT-2"]
    is_same_sign = np.sign(twins["published"]) == np.sign(twins["recomputed"])
    share = share_without_interval(is_same_sign.sum(), len(twins))
    yield "tuned models in the same order in Tables 7 and 10", share
    share = share_without_interval(sizes["alone"].sum(), len(sizes))
    yield "benchmarks whose size the last digits give", share


def table_of_stored_tables() -> pd.DataFrame:
    """Return each stored table with how many values it has, and where they are from."""
    rows = []
    for name in published.published_table_names():
        tidy = published.load_tidy_table(name)
        rows.append((name, len(tidy), tidy["source"].iloc[0]))
    return pd.DataFrame(rows, columns=["table", "values", "source"])


def draw_recomputed_differences(cells: pd.DataFrame) -> Axes:
    """Draw numbers' differences from recomputation in tolerances, from 0.01 to 1000."""
    check_of_cell, checks = pd.factorize(cells["paper"] + ", " + cells["check"])
    _, ax = plt.subplots(figsize=(6, 1 + 0.24 * len(checks)))
    tolerance = cells["tolerance"].to_numpy()
    difference = cells["difference"].abs().to_numpy()
    exact = np.where(cells["agrees"], 0.0, np.inf)
    times = np.divide(difference, tolerance, out=exact, where=tolerance > 0)
    times = np.clip(np.nan_to_num(times, nan=np.inf), 0.01, 1000)
    # So that dots do not hide each other
    shift = np.arange(len(cells)) * 0.618 % 1 - 0.5
    place = check_of_cell + 0.5 * shift
    agrees = cells["agrees"].to_numpy()
    dots = partial(ax.plot, marker=".", linestyle="", ms=4, alpha=0.7)
    dots(times[agrees], place[agrees], color=style.BLUE, label="agrees")
    dots(times[~agrees], place[~agrees], color=style.RED, label="differs")
    ax.axvline(1, color=style.INK, lw=1)
    style.set_log_scale(ax)
    ax.set(xlim=(0.007, 1500), xlabel="difference / tolerance")
    style.name_rows(ax, list(checks), fontsize=9)
    style.put_legend_above(ax)
    return ax


def draw_subsumption_bounds(rows: pd.DataFrame) -> list[Axes]:
    """Draw subsumption rates on what is possible, and the rate of unrelated models.

    They are read twice: as shares of what the first, and of what the second knows.
    """
    _, axes = plt.subplots(2, figsize=(6, 8.8), layout="constrained")
    label = rows["table"] + ": " + rows["pair"]
    rows = rows.assign(label=label, estimate=rows["printed"])
    mark = "two unrelated models"
    shared_figures.dot_plot(
        rows.assign(**{mark: rows["second"]}),
        ax=axes[0],
        mark=mark,
        xlabel="of the smaller or tuned model's facts, the other knows",
    )
    turned = rows.assign(low=rows["low_turned"], high=rows["high_turned"])
    shared_figures.dot_plot(
        turned.assign(**{mark: rows["first"]}),
        ax=axes[1],
        mark=mark,
        xlabel="of the larger or base model's facts, the other knows",
    )
    return list(axes)


def draw_cons_w_search(tested: pd.DataFrame) -> Axes:
    """Draw how far Table 2 is as models' Cons_w moves; rounding explains the least."""
    _, ax = plt.subplots()
    models = [*tested.loc[tested["explains"], "model"], SUSPECT_MODEL]
    # As many lines as can be told apart
    for model, line in zip(models, LINE_STYLES, strict=False):
        tried = correlations_over_cons_w(model, 0.25)
        ax.plot(tried["Cons_w"], tried["worst"], line, lw=2, label=model)
    ax.axhline(ROUNDING_TOLERANCE, color=style.INK, lw=1)
    ax.set(xlabel="Cons_w put in the model's place, %", ylabel="distance from Table 2")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    style.put_legend_above(ax)
    return ax
