"""Several training runs of one recipe: how far they differ, and what a verdict depends on."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from helpers import stats
from helpers.stats.components import variance_components
from helpers.studies import STUDIES, measurable, measure_named
from helpers.studies.model_comparison import measure_differences
from notebooks.analysis import comparison
from notebooks.analysis.comparison import (
    INTERVAL_COLUMNS,
    MAIN_MEASURES,
    FactsByChapterAndModel,
    estimates_by_model,
)
from notebooks.kit import appendix
from notebooks.kit.plots import result_tables as written

# Effects of a verdict's causes: their names
VARIANCE_PARTS = {"r": "relation", "f": "fact", "m": "model", "fm": "fact by model"}
VARIANCE_PARTS |= {"ms": "training run", "fms": "fact by training run"}
VARIANCE_PARTS_BY_PROMPT = VARIANCE_PARTS | {
    "p": "prompt",
    "fp": "fact by prompt",
    "mp": "model by prompt",
}
VARIANCE_PARTS_BY_PROMPT |= {
    "msp": "run by prompt",
    "fmp": "fact by model by prompt",
    "fmsp": "the rest",
}
METHOD_BY_PROMPT = "multiplicity, by prompt"
FACT_LEAD_LABEL = "fact and relation, less fact by training run"


def estimates_and_run_differences(
    trained: pd.DataFrame, **draw: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the figures of training runs in every measure, and the gaps within each recipe.

    Measures that are newer than the runs are left out: :func:`note_on_newer_measures`
    names them.
    """
    figures, gaps = [], []
    for name, study in STUDIES.items():
        whole = _of_study(trained, name)
        measures = measurable(study, whole)
        whole = whole.sort_values(["model", "start"], kind="stable").set_index("item")
        there = dict(list(whole.groupby(["model", "start"], sort=False)))
        found = estimates_by_model({f"{m}, run {k + 1}": rows for (m, k), rows in there.items()},
                          measures, **draw)  # fmt: skip
        parts = found["model"].str.extract(r"(?P<recipe>.*), (?P<run>run \d+)$")
        figures.append(found.join(parts).assign(study=name))
        for recipe in dict.fromkeys(model for model, _ in there):
            some = {
                f"run {k + 1}": rows for (m, k), rows in there.items() if m == recipe
            }
            found = measure_differences(some, measures, **draw)
            gaps.append(found.assign(study=name, recipe=recipe))
    return pd.concat(figures, ignore_index=True), pd.concat(gaps, ignore_index=True)


def _of_study(trained: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows of a study, with the columns that any of its training runs has."""
    return trained[trained["study"] == name].dropna(axis=1, how="all")


def note_on_newer_measures(trained: pd.DataFrame) -> str:
    """Name the measures that the training runs lack, for they are newer; "" if there is none."""
    lines = []
    for name, study in STUDIES.items():
        measures = measurable(study, _of_study(trained, name))
        lacking = [each.title for each in study.MEASURES if each not in measures]
        if lacking:
            titles = ", ".join(lacking)
            lines.append(
                f"{study.TITLE}: {titles} is newer than these training runs.\n"
            )
    return "".join(lines)


def chapters_on_same_facts(
    trained: pd.DataFrame, found: FactsByChapterAndModel
) -> list[str]:
    """Return the chapters whose models were all asked the facts that the training runs were asked.

    >>> trained = pd.DataFrame({"study": "monitor", "item": ["a", "b"]})
    >>> facts = pd.DataFrame(index=["b", "a"])
    >>> chapters_on_same_facts(trained, {"monitor": {"m": facts, "n": facts}})
    ['monitor']
    >>> chapters_on_same_facts(trained, {"monitor": {"m": facts, "n": facts.head(1)}})
    []
    """
    items = trained.groupby("study")["item"].agg(set)
    return [
        chapter
        for chapter, models in found.items()
        if all(set(table.index) == items.get(chapter) for table in models.values())
    ]


def differences_beyond_training_runs(
    gaps: pd.DataFrame, between: pd.DataFrame, tuned: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Set the differences that Holm's correction keeps beside the largest between training runs."""
    others = ~pd.MultiIndex.from_frame(gaps[["first", "second"]]).isin(list(tuned))
    rows = comparison.differences_kept_by_holm(gaps[others].dropna(subset=["estimate"]))
    most = (
        between.assign(size=between["estimate"].abs()).groupby("measure")["size"].max()
    )
    rows = rows.assign(most=rows["measure"].map(most).astype(float))
    nearest = rows[["low", "high"]].abs().min(axis=1)  # no interval of these contains 0
    return rows.assign(
        beyond=rows["estimate"].abs() > rows["most"], whole=nearest > rows["most"]
    )


def recipe_differences_over_runs(
    figures: pd.DataFrame, larger: str, smaller: str
) -> pd.DataFrame:
    """Compare the means of two recipes over their training runs (t, equal variances)."""
    found = []
    for measure, rows in figures.groupby("measure", sort=False):
        each = rows.dropna(subset=["estimate"]).groupby("recipe")["estimate"]
        if not each.size().reindex([larger, smaller], fill_value=0).gt(1).all():
            continue
        one, two = (each.get_group(name) for name in (larger, smaller))
        both, n = CompareMeans(DescrStatsW(one), DescrStatsW(two)), len(one) + len(two)
        within = np.sqrt(
            (one.var() * (len(one) - 1) + two.var() * (len(two) - 1)) / (n - 2)
        )
        ends = both.tconfint_diff(usevar="pooled")
        found.append((measure, one.mean() - two.mean(), *ends, within, n))
    return pd.DataFrame(found, columns=["measure", *INTERVAL_COLUMNS, "within", "n"])


def ranks_of_training_runs(figures: pd.DataFrame) -> pd.DataFrame:
    """Rank each recipe's training runs in the main measures, 1 the best: a column for each run."""
    rows = figures[figures["measure"].isin(MAIN_MEASURES)]
    more = np.array(
        [measure_named(name).higher for name in rows["measure"]], dtype=bool
    )
    turned = rows["estimate"].where(more, -rows["estimate"])
    groups = turned.groupby([rows["recipe"], rows["measure"]])
    rows = rows.assign(place=groups.rank(ascending=False))
    titles = {name: measure_named(name).title for name in MAIN_MEASURES}
    wide = rows.pivot_table("place", ["recipe", "run"], "measure")
    return (
        wide.reindex(columns=list(MAIN_MEASURES))
        .rename(columns=titles)
        .rename_axis(columns=None)
    )


def shares_of_variance(
    trained: pd.DataFrame, n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Divide the variance of verdicts into what goes with fact, model, training run and prompt.

    Facts are drawn within relations; for `FACT_LEAD_LABEL`, which counts what these differ by,
    relations are.
    """
    rows = []
    for name, study in STUDIES.items():
        own = trained[trained["study"] == name]
        rows += _shares(own, ["known"], VARIANCE_PARTS, study.TITLE, n_resamples, seed)
    prompts = [name for name in trained.columns if name.startswith("prompt ")]
    if prompts:
        some = trained.dropna(subset=prompts, how="all")
        rows += _shares(
            some, prompts, VARIANCE_PARTS_BY_PROMPT, METHOD_BY_PROMPT, n_resamples, seed
        )
    return pd.DataFrame(rows, columns=["method", "part", *INTERVAL_COLUMNS, "n"])


def _shares(
    rows: pd.DataFrame,
    columns: list[str],
    parts: dict,
    method: str,
    n_resamples: int,
    seed: int,
) -> list[tuple]:
    wide = rows.pivot_table(columns, ["relation", "item"], ["model", "start"])[columns]
    wide = wide.dropna().sort_index()
    relations = wide.index.get_level_values("relation").to_numpy()
    sizes = np.unique(relations, return_counts=True)[1]
    models = rows["model"].nunique()
    shape = (len(columns), models, wide.shape[1] // (models * len(columns)))

    def shares(values: np.ndarray, sizes: np.ndarray = sizes) -> np.ndarray:
        block = np.moveaxis(values.reshape(*values.shape[:-1], *shape), -3, -1)
        found = variance_components(
            block, sizes, [effect for effect in parts if effect != "r"]
        )
        each = np.stack([np.maximum(found[effect], 0) for effect in parts], axis=-1)
        with np.errstate(
            invalid="ignore"
        ):  # relations that are all alike have no shares
            each = each / each.sum(axis=-1, keepdims=True)
        relation, fact, run = (
            each[..., list(parts).index(part)] for part in ("r", "f", "fms")
        )
        return np.concatenate([each, (relation + fact - run)[..., None]], axis=-1)

    found = stats.bootstrap(wide, shares, relations, n_resamples, seed, centred=True)
    names = [*parts.values(), FACT_LEAD_LABEL]
    members, leads = np.split(wide.to_numpy(), np.cumsum(sizes)[:-1]), []
    for drawn in np.random.default_rng(seed).integers(
        len(sizes), size=(n_resamples, len(sizes))
    ):
        leads.append(
            shares(np.concatenate([members[r] for r in drawn]), sizes[drawn])[-1]
        )
    lead = stats.interval_bounds(np.array(leads), len(sizes), centre=found.estimate[-1])
    found.low[-1], found.high[-1] = lead
    ends = np.clip(
        [found.low, found.high],
        [float(-(name == FACT_LEAD_LABEL)) for name in names],
        1,
    )
    return [(method, *row, len(wide)) for row in zip(names, found.estimate, *ends)]


def comparisons_for_appendix(
    figures: pd.DataFrame, between: pd.DataFrame, shares: pd.DataFrame
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    main, means = (
        between[between["measure"].isin(MAIN_MEASURES)],
        recipe_differences_over_runs(figures, "atlas-s", "atlas-xs"),
    )
    yield from appendix.labelled_estimates(
        main, "{measure}: {recipe}, {first} minus {second}"
    )
    yield from appendix.labelled_estimates(
        means, "{measure}: mean of runs, atlas-s minus atlas-xs"
    )
    yield from appendix.labelled_estimates(
        shares[shares["part"] == FACT_LEAD_LABEL], FACT_LEAD_LABEL + ": {method}"
    )


def tables_for_appendix(
    figures: pd.DataFrame, shares: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix: all measures of the runs, and the shares of variance."""
    studies = figures.groupby("study", sort=False)
    pages = {f"training_runs_{study}": comparison.measures_by_model(part, part["measure"].unique())
             for study, part in studies}  # fmt: skip
    methods = list(shares["method"].unique())
    titles = {name: f"{name}, %" for name in methods}
    table = shares.rename(columns={"method": "measure"})
    return pages | {
        "shares": written.wide_interval_table(table, titles, methods, by="part")
    }
