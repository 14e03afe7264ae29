"""What the chapter on the papers' own tables computes and draws beyond a line."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

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
ROUNDING_TOLERANCE = (
    0.0055  # of r: 0.005, and what the rounding of its 52 numbers leaves open
)
BENCHMARKS_BY_TABLE = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}
FAMILY_BY_NAME_START = tomllib.loads(
    Path(__file__).with_name("families.toml").read_text(encoding="utf-8")
)
VERDICT_COLOURS = {
    "supported": style.GREEN,
    "partly": style.ORANGE,
    "contradicted": style.RED,
}

PrintedPair = tuple[
    str, str, float, pd.Series, pd.Series
]  # paper, name, printed r, both measures


def subsumption_bounds(
    load: Callable[[str], pd.DataFrame] = published.load_published_table,
) -> pd.DataFrame:
    """Return the pairs of models of IC-LKE's Tables 1 and 10, and what subsumption can be.

    Llama 7B knows 0.699, Llama 65B 0.836: at least 0.535 / 0.699 = 0.765 must be
    shared.

    >>> subsumption_bounds().loc[0, ["printed", "low", "high"]].round(3).tolist()
    [0.769, 0.765, 1.0]
    """
    parts = []
    for number, pair in ((1, ("smallest", "largest")), (10, ("tuned", "base"))):
        table = load(f"lke_table{number}")
        part = table[[*(f"{each} accuracy" for each in pair), "subsumption"]]
        part = part.set_axis(["first", "second", "printed"], axis=1)
        parts.append(
            part.rename_axis("pair").reset_index().assign(table=f"Table {number}")
        )
    rows = pd.concat(parts, ignore_index=True)
    shared = (rows["first"] + rows["second"] - 1).clip(lower=0)
    for end, by in (("", "first"), ("_turned", "second")):
        rows[f"low{end}"] = shared / rows[by]
        rows[f"high{end}"] = (rows[["first", "second"]].min(axis=1) / rows[by]).clip(
            upper=1
        )
    return rows


def correlations_over_cons_w(model: str, step: float = 0.05) -> pd.DataFrame:
    """Return the knowledge bases' correlations as one model's Cons_w goes from 0 to 100."""
    table, printed = (
        knowledge_base_measures("four-shot"),
        published.load_published_table("kb_table2")["four-shot"],
    )
    values = np.arange(0, 100 + step / 2, step)
    changed = np.tile(table["Cons_w"].to_numpy(), (len(values), 1))
    changed[:, table.index.get_loc(model)] = values
    found = pd.DataFrame({"Cons_w": values})
    for pair in PAIRS_WITH_CONS_W:
        other = np.broadcast_to(table[pair.partition(" ")[0]].to_numpy(), changed.shape)
        found[pair] = stats.pearson_correlation(np.stack([other, changed], axis=-1))
    gaps = [(found[pair] - printed[pair]).abs() for pair in PAIRS_WITH_CONS_W]
    return found.assign(worst=pd.concat(gaps, axis=1).max(axis=1))


def best_cons_w_by_model(step: float = 0.05) -> pd.DataFrame:
    """Find, for each model, the value of its Cons_w that brings Table 2's correlations nearest."""
    rows = []
    for model, row in knowledge_base_measures("four-shot").iterrows():
        tried = correlations_over_cons_w(model, step)
        best, good = (
            tried.loc[tried["worst"].idxmin()],
            tried[tried["worst"] <= ROUNDING_TOLERANCE],
        )
        found = {"model": model, "printed": row["Cons_w"], "best": best["Cons_w"]}
        found |= {"worst": best["worst"], "explains": len(good) > 0}
        found |= {"low": good["Cons_w"].min(), "high": good["Cons_w"].max()}
        found |= {"seen": 100 * row["CWR"] / row["WR"]}
        rows.append(found | {"unseen": 100 * (100 - row["IUR"]) / (100 - row["UR"])})
    return pd.DataFrame(rows).sort_values("worst", ignore_index=True)


def sizes_that_fit_shares(shares: pd.Series, most: int = 4000) -> list[int]:
    """Return the numbers of questions, up to `most`, of which all printed shares can be counts.

    33.33 % and 14.29 % are a third and a seventh, so the number is a multiple of 21:

    >>> sizes_that_fit_shares(pd.Series([33.33, 14.29]), 50)
    [21, 42]
    """
    sizes = np.arange(1, most + 1)
    printed = shares.to_numpy(dtype=float)[:, None]
    possible = np.rint(printed * sizes / 100) / sizes * 100
    return sizes[(np.abs(possible - printed) <= 0.005 + 1e-9).all(axis=0)].tolist()


def sizes_that_fit_benchmarks() -> pd.DataFrame:
    """Return the numbers of questions that fit each benchmark's printed ambiguities."""
    rows = []
    for name, benchmarks in BENCHMARKS_BY_TABLE.items():
        table = published.load_published_table(name)
        for each in benchmarks:
            fits = sizes_that_fit_shares(
                table.filter(regex=f"^{each} ambiguity").melt()["value"]
            )
            alone = bool(fits) and all(size % fits[0] == 0 for size in fits)
            first = ", ".join(map(str, fits[:4])) + ", ..." * (len(fits) > 4)
            rows.append((each, len(fits), first or "none", alone))
    return pd.DataFrame(rows, columns=["benchmark", "sizes that fit", "which", "alone"])


def family_of_model(model: str) -> str:
    """Return the family of base models that a model comes from; a guess for Vicuna and WizardLM."""
    return next(
        (
            name
            for key, name in FAMILY_BY_NAME_START.items()
            if model.lower().startswith(key)
        ),
        model,
    )


def correlated_pairs_of_measures() -> Iterator[PrintedPair]:
    """Yield the pairs of measures that the papers correlate over models, or invite to."""
    load = published.load_published_table
    overall, three, one = (load(f"monitor_table{n}") for n in (4, 5, 6))
    printed, name = (
        load("monitor_table4_correlation")["pearson"].iloc[0],
        "MONITOR, accuracy",
    )
    yield "MONITOR", name, printed, overall["MONITOR"], overall["avg"]
    for relation in ("P178", "P108", "P37"):
        columns = three[f"{relation} MONITOR"], three[f"{relation} avg"]
        r = load("monitor_table11").loc[relation, "pearson"]
        yield "MONITOR", f"{name} ({relation})", r, *columns
    yield "MONITOR", "MONITOR, deviation (P1412)", np.nan, one["MONITOR"], one["std"]
    for setting, column in published.table_without_restored_signs(
        "kb_table2", load("kb_table2")
    ).items():
        table = knowledge_base_measures(setting)
        for pair, r in column.items():
            first, second = pair.split(" vs. ")
            name = f"{first}, {second} ({setting})"
            yield "knowledge bases", name, r, table[first], table[second]
    for table, benchmarks in BENCHMARKS_BY_TABLE.items():
        for each in benchmarks:
            columns = (
                load(table)[f"{each} {name}"] for name in ("deviation", "ambiguity")
            )
            yield "multiplicity", f"deviation, ambiguity ({each})", np.nan, *columns


def correlations_over_models(n_resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Compute each correlation over models with what the papers do not give."""
    rows = []
    for paper, name, printed, x, y in correlated_pairs_of_measures():
        both = np.column_stack([x, y])
        found, ranks = (
            stats.correlation(*both.T),
            stats.correlation(*both.T, "spearman"),
        )
        drawn = stats.bootstrap(
            both, stats.pearson_correlation, None, n_resamples, seed
        )
        left = stats.correlations_without_each_group(
            *both.T, [family_of_model(model) for model in x.index]
        )
        far = left.loc[(left["r"] - found.r).abs().idxmax(), "without"]
        row = {"paper": paper, "pair": name, "n": found.n, "printed": printed}
        row |= {"estimate": found.r, "low": found.low, "high": found.high, "p": found.p}
        row |= {"boot_low": drawn.low, "boot_high": drawn.high, "spearman": ranks.r}
        row |= {"rank_low": ranks.low, "rank_high": ranks.high}
        rows.append(
            row | {"least": left["r"].min(), "most": left["r"].max(), "without": far}
        )
    return pd.DataFrame(rows)


def correlations_for_display(measured: pd.DataFrame) -> pd.DataFrame:
    """Write the correlations with their intervals for a table."""
    both = partial(result_tables.interval, digits=2)
    rows = list(measured.itertuples())
    return measured[["paper", "pair", "n", "printed"]].assign(
        pearson=[both(row.estimate, row.low, row.high) for row in rows],
        p=measured["p"].map("{:.3f}".format),
        bootstrap=[f"[{row.boot_low:.2f}, {row.boot_high:.2f}]" for row in rows],
        spearman=[both(row.spearman, row.rank_low, row.rank_high) for row in rows],
        without=[f"{row.least:.2f} to {row.most:.2f} ({row.without})" for row in rows],
    )


def summary_of_checks(cells: pd.DataFrame) -> pd.DataFrame:
    """Tabulate checks: how many numbers agree, and the one that agrees least."""
    said = published.printed_number_checks().set_index(["paper", "check"])["claim"]
    room = (cells["difference"].abs() - cells["tolerance"]).fillna(np.inf)
    groups = cells.assign(room=room).groupby(["paper", "check"], sort=False)
    worst = cells.loc[groups["room"].idxmax()].set_index(["paper", "check"])
    worst = worst.drop(columns="agrees").rename(columns={"row": "cell"})
    counted = groups["agrees"].agg(numbers="size", agree="sum")
    return pd.concat([said[counted.index], counted, worst], axis=1).reset_index()


def comparisons_for_appendix(
    cells: pd.DataFrame,
    sentences: pd.DataFrame,
    measured: pd.DataFrame,
    relations: pd.DataFrame,
    sizes: pd.DataFrame,
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    for paper, part in cells.groupby("paper", sort=False):
        yield (
            f"numbers that agree, {paper}",
            share_without_interval(part["agrees"].sum(), len(part)),
        )
    for paper, part in sentences.query("verdict != 'not decided'").groupby(
        "paper", sort=False
    ):
        k = (part["verdict"] == "supported").sum()
        yield f"sentences supported, {paper}", share_without_interval(k, len(part))
    yield from appendix.labelled_estimates(measured, "r of {pair}")
    falls = (relations["high"].round(2) < 0).sum()
    yield (
        "relations on which MONITOR falls with accuracy",
        share_without_interval(falls, len(relations)),
    )
    twins = cells[cells["check"] == "Table 10: FT-1 and FT-2"]
    same = (np.sign(twins["published"]) == np.sign(twins["recomputed"])).sum()
    yield (
        "tuned models in the same order in Tables 7 and 10",
        share_without_interval(same, len(twins)),
    )
    yield (
        "benchmarks whose size the last digits give",
        share_without_interval(sizes["alone"].sum(), len(sizes)),
    )


def table_of_stored_tables() -> pd.DataFrame:
    """Return each stored table with the number of its values and where they are from."""
    every = {
        name: published.load_tidy_table(name)
        for name in published.published_table_names()
    }
    rows = [(name, len(tidy), tidy["source"].iloc[0]) for name, tidy in every.items()]
    return pd.DataFrame(rows, columns=["table", "values", "source"])


def draw_recomputed_differences(cells: pd.DataFrame) -> Axes:
    """Draw numbers' differences from recomputation in tolerances, between 0.01 and 1000."""
    place, names = pd.factorize(cells["paper"] + ", " + cells["check"])
    _, ax = plt.subplots(figsize=(6, 1 + 0.24 * len(names)))
    exact = np.where(cells["agrees"], 0.0, np.inf)
    room, size = cells["tolerance"].to_numpy(), cells["difference"].abs().to_numpy()
    times = np.divide(size, room, out=exact, where=room > 0)
    times = np.clip(np.nan_to_num(times, nan=np.inf), 0.01, 1000)
    # So that dots do not hide each other
    place = place + 0.5 * (np.arange(len(cells)) * 0.618 % 1 - 0.5)
    for label, agrees, colour in (
        ("agrees", True, style.BLUE),
        ("differs", False, style.RED),
    ):
        here = cells["agrees"].to_numpy() == agrees
        ax.plot(
            times[here], place[here], ".", ms=4, color=colour, label=label, alpha=0.7
        )
    ax.axvline(1, color=style.INK, lw=1)
    style.set_log_scale(ax)
    ax.set(xlim=(0.007, 1500), xlabel="difference / tolerance")
    style.name_rows(ax, list(names), fontsize=9)
    style.put_legend_above(ax)
    return ax


def draw_subsumption_bounds(rows: pd.DataFrame) -> list[Axes]:
    """Draw subsumption rates on what is possible, with the rate of unrelated models, read twice."""
    _, axes = plt.subplots(2, figsize=(6, 8.8), layout="constrained")
    named = rows.assign(
        label=rows["table"] + ": " + rows["pair"], estimate=rows["printed"]
    )
    turned = named.assign(low=rows["low_turned"], high=rows["high_turned"])
    mark = "two unrelated models"
    told = "of the {} model's facts, the other knows".format
    shared_figures.dot_plot(named.assign(**{mark: rows["second"]}), ax=axes[0], mark=mark,
                    xlabel=told("smaller or tuned"))  # fmt: skip
    shared_figures.dot_plot(turned.assign(**{mark: rows["first"]}), ax=axes[1], mark=mark,
                    xlabel=told("larger or base"))  # fmt: skip
    return list(axes)


def draw_cons_w_search(tested: pd.DataFrame) -> Axes:
    """Draw how far Table 2 is as a model's Cons_w moves; below the line rounding explains it."""
    _, ax = plt.subplots()
    names = [*tested.loc[tested["explains"], "model"], SUSPECT_MODEL]
    for name, line in zip(names, ("-", "--", "-.", ":")):
        tried = correlations_over_cons_w(name, 0.25)
        ax.plot(tried["Cons_w"], tried["worst"], line, lw=2, label=name)
    ax.axhline(ROUNDING_TOLERANCE, color=style.INK, lw=1)
    ax.set(xlabel="Cons_w put in the model's place, %", ylabel="distance from Table 2")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    style.put_legend_above(ax)
    return ax
