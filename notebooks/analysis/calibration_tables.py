"""The tables and figures of the calibration chapter, and those of its appendix."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES
from notebooks.analysis.calibration_verdicts import (
    ASKED_ONCE,
    METHOD_TITLES,
    UNREAD_WORDINGS,
    column_by_fact,
)
from notebooks.analysis.calibration_words import mean_estimate_in_words
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    OFTEN_OR_SELDOM,
    SELDOM_OR_NEVER,
    SHOWN_OR_NEVER,
    ExposureLevels,
)
from notebooks.analysis.exposure_response import verdicts_on_false_statements
from notebooks.analysis.method_comparison import (
    ESTIMATE_COLUMNS,
    GAP_COLUMNS,
    LEAD_COLUMNS,
    TOKEN_QUESTION,
    QuestionComparisons,
    lead_over_closest_rival,
    leading_and_other_methods,
    mean_estimate_of_method,
)
from notebooks.kit.plots import result_tables, shared_figures

MESSAGE_TOO_FEW_FACTS = "Too few facts of the panel were asked by all methods."
METHODS_AND_ASKED_ONCE = [*METHOD_TITLES.values(), ASKED_ONCE]


def best_method_by_question(
    comparisons: QuestionComparisons, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Return for each question the best method, and how far the others are from it."""
    rows = []
    for question, (figure, comparison) in comparisons.items():
        means = comparison[comparison["model"] == "mean"].set_index("method")
        leading, others = leading_and_other_methods(comparison)
        less_best = _differences_from_best(means, others)
        best, n = "n/a", 0
        if leading:
            best = f"{leading[0]} {mean_estimate_in_words(comparison, leading[0])}"
        if len(means):
            n = int(means["n"].max())
        row = {
            "question": f"{question} ({figure})",
            "best": best,
            "tied, less the best": _joined(less_best[leading[1:]]),
            "others, less the best": _joined(less_best[others]),
            "n": n,
        }
        rows.append(row)
    table = pd.DataFrame(rows).replace({"question": levels.labels}, regex=True)
    return table.set_index("question")


def _differences_from_best(means: pd.DataFrame, others: Sequence[str]) -> pd.Series:
    """Return by method its name and its difference from the best, as written."""
    gaps = means[GAP_COLUMNS].astype(float)
    texts = {}
    for method, behind, low, high in gaps.itertuples():
        if method in others:
            low, high = np.nan, np.nan  # clearly behind: no interval
        short = method.removeprefix(f"{ASKED_ONCE}, ")
        texts[method] = f"{short} {result_tables.interval(-behind, -high, -low, 2)}"
    return pd.Series(texts, dtype=object)


def _joined(texts: pd.Series) -> str:
    """Write texts one after the other; none is a dash."""
    return "; ".join(texts) or "–"


def example_facts_by_exposure(
    known: pd.DataFrame, plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> list[str]:
    """Return a fact shown often, one seldom and one never (or of the rarest subjects).

    The first and the last are called known by the most methods, the second by half.
    """
    exposures = column_by_fact(plain, known.index)
    number = known.sum(axis=1)
    near_half = -(number - known.shape[1] / 2).abs()
    often, _ = levels.contrasts[OFTEN_OR_SELDOM]
    seldom, _ = levels.contrasts[SELDOM_OR_NEVER]
    _, never = levels.contrasts[SHOWN_OR_NEVER]
    facts = []
    for ends, score in ((often, number), (seldom, near_half), (never, number)):
        candidates = score[exposures.between(*ends)]
        if len(candidates):
            facts.append(str(candidates.idxmax()))
    return list(dict.fromkeys(facts))


def verdicts_on_example_facts(
    plain: pd.DataFrame,
    facts: Sequence[str],
    model: str,
    dataset: str,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> pd.DataFrame:
    """Return the four verdicts on some facts, each with its score."""
    rows = plain[(plain["model"] == model) & plain["item"].isin(facts)]
    names = datasets.load(dataset).set_index("fact")
    labels = names["subject"] + ", " + names["object"]
    verdict = pd.Series(np.where(rows["known"], "yes", "no"), rows.index, dtype=object)
    rows = rows.assign(
        verdict=verdict + ", " + rows["score"].map("{:.2f}".format),
        fact=labels.loc[rows["item"]].to_numpy(),
    )
    wide = rows.pivot_table("verdict", ["exposures", "fact"], "method", aggfunc="first")
    wide = wide.reindex(columns=list(METHOD_TITLES.values()))
    wide = wide.sort_index(ascending=False)
    return wide.rename_axis([levels.times, "fact"]).rename_axis(columns=None)


def prompts_read_by_method(
    used: pd.DataFrame, model: str, facts: Sequence[str]
) -> pd.DataFrame:
    """Return how many strings a model reads of the last fact, and how one ends."""
    rows = {}
    runs_of_model = used[used["model"] == model]
    if not facts:
        runs_of_model = runs_of_model.head(0)
    for run in runs_of_model.to_dict("records"):
        answers = panel_answers.panel_answers(run["folder"])
        answers = answers[answers["item"] == facts[-1]]
        end = answers["read"].iloc[0][-90:].partition(" ")[2]
        rows[STUDIES[run["chapter"]].TITLE] = len(answers), f"… {end}"
    names = ["strings", "the first one, its end"]
    return pd.DataFrame(rows, index=names).T.rename_axis("method")


def matrix_of_method_pairs(
    above: pd.DataFrame, below: pd.DataFrame, methods: Sequence[str]
) -> pd.DataFrame:
    """Return one measure of all pairs of methods above a diagonal, another below it.

    >>> pair = pd.DataFrame({"first": ["a"], "second": ["b"], "estimate": [0.5]})
    >>> matrix = matrix_of_method_pairs(pair, pair.assign(estimate=0.4), ["a", "b"])
    >>> matrix.fillna(1).to_numpy().tolist()
    [[1.0, 0.5], [0.4, 1.0]]
    """
    turned = below.rename(columns={"first": "second", "second": "first"})
    both = pd.concat([above, turned]).pivot_table("estimate", "first", "second")
    return both.reindex(index=methods, columns=methods).astype(float)


def draw_roc_areas(table: pd.DataFrame, label: str, by: str, xlabel: str) -> Axes:
    """Draw areas under ROC curves with intervals, and a line at 0.5, as of a coin."""
    short_names = {name: name.partition(", ")[2] for name in UNREAD_WORDINGS}
    rows = table.dropna(subset=["estimate"]).replace({by: short_names})
    ax = shared_figures.dot_plot(
        rows, label, by, xlabel=xlabel, nothing=MESSAGE_TOO_FEW_FACTS
    )
    if len(rows):
        ax.axvline(0.5, color="black", lw=1, ls=":")
        ax.set_xlim(0.35, 1.02)
    return ax


def tokens_per_fact(used: pd.DataFrame) -> pd.DataFrame:
    """Return the tokens that each method takes for one fact."""
    rows = used.assign(method=used["chapter"].map(METHOD_TITLES))
    rows = rows.set_index(["model", "method"])
    return rows[["tokens", "forwarded"]].div(rows["n_facts"], axis=0)


def tokens_per_bit_by_method(used: pd.DataFrame, bits: pd.DataFrame) -> pd.DataFrame:
    """Return each method's bits and tokens a fact, on average over models."""
    table = bits[bits["model"] == "mean"].set_index("method")
    table = table.join(tokens_per_fact(used).groupby("method").mean())
    clear_bits = table["estimate"].where(table["low"] > 0)
    for name in ("tokens", "forwarded"):
        table[f"{name} per bit"] = table[name] / clear_bits
    columns = ["estimate", "low", "high", "tokens", "tokens per bit", "forwarded"]
    return table[[*columns, "forwarded per bit", "n"]]


def fact_counts_by_exposure(
    table: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Count a panel's facts by point of the curves, and those also stated falsely."""
    by_level = table.drop_duplicates("item").groupby("level")
    counts = by_level.agg(
        facts=("item", "size"),
        plain=("plain", "sum"),
        lowest=("exposures", "min"),
        highest=("exposures", "max"),
    )
    if levels.starts:
        return counts[["facts", "lowest", "highest"]].rename_axis("median")
    counts["also stated falsely"] = counts["facts"] - counts["plain"]
    return counts[["facts", "also stated falsely"]].rename_axis("exposures")


def comparisons_for_appendix(
    areas: pd.DataFrame,
    pairs: pd.DataFrame,
    part_leads: pd.DataFrame,
    asked: QuestionComparisons,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> Iterator[tuple[str, list[float], float]]:
    """Yield label, statistic and null of what is compared without a sentence.

    `areas` has asking once as leader; `pairs` are the methods two by two, and
    `part_leads` the measures' parts.
    """
    for contrast, label in levels.labels.items():
        of_contrast = areas[areas["contrast"] == contrast]
        for method, lead in leads_over_methods(of_contrast):
            yield f"asking once, less {method}: {label}", lead, 0.0
        area = mean_estimate_of_method(of_contrast, ASKED_ONCE)
        yield f"AUC of asking once: {label}", area, 0.5
    shown_or_never = levels.labels[SHOWN_OR_NEVER]
    for first, of_leader in pairs.groupby("leader", sort=False):
        for second, lead in leads_over_methods(of_leader):
            yield f"{first}, less {second}: {shown_or_never}", lead, 0.0
    for contrast, of_contrast in part_leads.groupby("contrast", sort=False):
        for first, pair in of_contrast.groupby("leader", sort=False):
            for second, lead in leads_over_methods(pair):
                part = second.partition(": ")[2]
                yield f"{first}, less {part}: {levels.labels[contrast]}", lead, 0.0
    _, bits = asked[TOKEN_QUESTION]
    for shortest, of_leader in bits.groupby("leader", sort=False):
        for method, lead in leads_over_methods(of_leader):
            yield f"bits per 1,000 tokens: {shortest}, less {method}", lead, 0.0


def leads_over_methods(comparison: pd.DataFrame) -> Iterator[tuple[str, list[float]]]:
    """Yield each method but the leader, and the leader's lead over it."""
    means = comparison[comparison["model"] == "mean"].dropna(subset=["lead"])
    for row in means.to_dict("records"):
        yield row["method"], [row[name] for name in LEAD_COLUMNS] + [row["n"]]


def leads_by_model(comparisons: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the leader's lead that decides: a row a model, a column a comparison.

    What it decides is written behind the interval: holds, opposite, or cannot tell.
    """
    rows: dict[str, dict[str, str]] = {}
    for label, comparison in comparisons.items():
        rows[label] = {}
        for model in comparison["model"].unique():
            (lead, low, high, _), rival = lead_over_closest_rival(comparison, model)
            decision = "cannot tell"  # by the numbers as they are printed
            if round(low, 2) > 0:
                decision = "holds"
            elif round(high, 2) < 0:
                decision = "opposite"
            text = f"{result_tables.interval(lead, low, high, 2)}, {decision}"
            rows[label][model] = text if rival else "–"
    return pd.DataFrame(rows).rename_axis("model")


def table_of_pooled_areas(areas: pd.DataFrame) -> pd.DataFrame:
    """Return mean areas as written: a row a method, a column for which pairs count."""
    means = areas[areas["model"] == "mean"]
    titles = {name: name for name in means["pairs"].unique()}
    rows = means.assign(measure=means["pairs"])
    return result_tables.wide_interval_table(rows, titles, (), digits=2, by="method")


def table_of_forms(by_form: pd.DataFrame) -> pd.DataFrame:
    """Return the areas of asking once by form and fineness, and less the leader's."""
    means = by_form[by_form["model"] == "mean"].dropna(subset=["estimate"])
    rows = {}
    for row in means.to_dict("records"):
        lead = [-row["lead"], -row["lead_high"], -row["lead_low"]]
        difference = "–"
        if not np.isnan(row["lead"]):
            difference = result_tables.interval(*lead, 2)
        rows[row["method"]] = {
            "AUC": result_tables.interval(row["estimate"], row["low"], row["high"], 2),
            "less multiplicity": difference,
            "n": row["n"],
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("asked once")


def tables_for_appendix(
    doses: pd.DataFrame,
    areas: pd.DataFrame,
    by_how_many: pd.DataFrame,
    misled: pd.DataFrame,
    every: pd.DataFrame,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix by name."""
    tables = {"panel": fact_counts_by_exposure(every, levels)}
    by_measure = doses.groupby("measure", sort=False)
    for number, (_, rows) in enumerate(by_measure):
        tables[f"regression_{number}"] = _wide_by_method(rows, "model")
    for contrast, rows in areas.groupby("contrast", sort=False):
        first_word = contrast.split()[0]
        tables[f"area_{first_word}"] = _wide_by_method(rows, "model")
    numbers = {name: name for name in by_how_many["measure"].unique()}
    tables["by_how_many"] = result_tables.wide_interval_table(
        by_how_many, numbers, percent=numbers, by="read"
    )
    by_verdict = verdicts_on_false_statements(misled).groupby("verdict", sort=False)
    for number, (_, rows) in enumerate(by_verdict):
        shares = _wide_by_method(rows, "lesson", percent=METHODS_AND_ASKED_ONCE)
        tables[f"false_beliefs_{number}"] = shares
    return tables


def _wide_by_method(
    rows: pd.DataFrame, by: str, percent: Collection[str] = ()
) -> pd.DataFrame:
    """Return estimates as written: a row for each name in `by`, a column a method."""
    titles = {name: name for name in METHODS_AND_ASKED_ONCE}
    table = result_tables.wide_interval_table(
        rows.assign(measure=rows["method"]), titles, percent, digits=2, by=by
    )
    return table.dropna(axis=1, how="all")


def table_of_runs_found(panel_runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that were found, and why some are not read."""
    columns = ["model", "chapter", "n_facts", "finished", "commit", "weights"]
    table = panel_runs.assign(
        finished=panel_runs["finished"].str[:16],
        left_out=panel_runs["left_out"].replace("", "–"),
    )
    return table[[*columns, "left_out"]]


def scores_by_fact_and_method(
    plain: pd.DataFrame, model: str, dataset: str
) -> pd.DataFrame:
    """Return each fact of the panel with a model's scores by all methods."""
    rows = plain[plain["model"] == model]
    wide = rows.pivot_table("score", "item", "method").round(4)
    exposures = []
    if len(wide):
        exposures = column_by_fact(rows, wide.index)
    wide.insert(0, "exposures", exposures)
    names = datasets.load(dataset).set_index("fact")[["subject", "object"]]
    return names.loc[wide.index].join(wide)


def metrics_to_save(
    asked: QuestionComparisons,
    unread: pd.DataFrame,
    doses: pd.DataFrame,
    agreements: pd.DataFrame,
) -> pd.DataFrame:
    """Return all figures of the chapter as the rows that its run saves."""
    parts = [rows.assign(measure=figure) for figure, rows in asked.values()]
    shown_or_never = unread[unread["contrast"] == SHOWN_OR_NEVER]
    parts.append(shown_or_never.assign(measure="area, other wording"))
    parts.append(doses)
    pairs = agreements["first"] + " and " + agreements["second"]
    parts.append(agreements.assign(model="mean", method=pairs))
    return pd.concat(parts)[["model", "method", "measure", *ESTIMATE_COLUMNS]]
