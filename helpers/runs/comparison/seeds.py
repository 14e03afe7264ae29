"""Several training runs of one recipe: how far they differ, and what a verdict depends on."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from helpers import stats
from helpers.runs.comparison import board
from helpers.stats.components import anova
from helpers.studies import STUDIES

FILE = Path(__file__).with_name("training_runs.parquet")  # by the trainer of the atlas
PARTS = {  # effects of a verdict's causes: their name
    "r": "relation",
    "f": "fact",
    "m": "model",
    "fm": "fact by model",
    "ms": "training run",
    "fms": "fact by training run",
}
PROMPTS = {
    **PARTS,
    "p": "prompt",
    "fp": "fact by prompt",
    "mp": "model by prompt",
    "msp": "run by prompt",
    "fmp": "fact by model by prompt",
    "fmsp": "the rest",
}
BY_PROMPT = "multiplicity, by prompt"
LEAD = "fact and relation, less fact by training run"


def read(path: Path = FILE) -> pd.DataFrame:
    """Return what the studies found of each fact in every training run."""
    return pd.read_parquet(path)


def label(model: str, start: int) -> str:
    """Name a training run, counting from 1.

    >>> label("atlas-s", 0)
    'atlas-s, run 1'
    """
    return f"{model}, run {start + 1}"


def tables(runs: pd.DataFrame, study: str) -> dict[str, pd.DataFrame]:
    """Return what a study found of each fact in each training run, by the run's label."""
    rows = runs[runs["study"] == study]
    keys = rows[["model", "start"]].drop_duplicates()
    return {
        label(model, start): rows[(rows["model"] == model) & (rows["start"] == start)]
        .set_index("item")
        .dropna(axis=1, how="all")
        for model, start in keys.itertuples(index=False)
    }


def same_facts(runs: pd.DataFrame, found: board.Tables) -> list[str]:
    """Return the chapters whose models were all asked the facts that the training runs were asked.

    >>> runs = pd.DataFrame({"study": "monitor", "item": ["a", "b"]})
    >>> facts = pd.DataFrame(index=["b", "a"])
    >>> same_facts(runs, {"monitor": {"m": facts, "n": facts}})
    ['monitor']
    >>> same_facts(runs, {"monitor": {"m": facts, "n": facts.head(1)}})
    []
    """
    items = runs.groupby("study")["item"].agg(set)
    return [
        chapter
        for chapter, models in found.items()
        if all(set(table.index) == items.get(chapter) for table in models.values())
    ]


def compare(
    runs: pd.DataFrame, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the training runs of each model in every measure."""
    draw = {"n_resamples": n_resamples, "seed": seed}
    starts = runs.groupby("model", sort=False)["start"].unique()
    figures, gaps = [], []
    for name, study in STUDIES.items():
        there = _measured(tables(runs, name))
        figures.append(board.standings(there, study.MEASURES, **draw).assign(study=name))
        for model, own in starts.items():
            labels = [label(model, start) for start in sorted(own)]
            some = {each: there[each] for each in labels}
            found = board.differences(some, study.MEASURES, **draw)
            gaps.append(found.assign(study=name, recipe=model))
    return pd.concat(figures, ignore_index=True), pd.concat(gaps, ignore_index=True)


def _measured(found: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Give every table all columns of its study's measures, so that none is missing."""
    columns = list(dict.fromkeys(c for table in found.values() for c in table.columns))
    return {name: table.reindex(columns=columns) for name, table in found.items()}


def sizes(figures: pd.DataFrame, larger: str, smaller: str) -> pd.DataFrame:
    """Compare the means of two models over their training runs.

    A run counts once, so the interval says what other runs of both recipes would give (t, equal
    variances). ``within`` is the standard deviation between runs of one recipe.

    >>> rows = [(f"{model}, run {k}", "UR", value + k / 10) for k in (1, 2, 3)
    ...         for model, value in (("s", 0.5), ("xs", 0.1))]
    >>> table = pd.DataFrame(rows, columns=["model", "measure", "estimate"])
    >>> sizes(table, "s", "xs")[["estimate", "within", "low"]].round(3).values.tolist()
    [[0.4, 0.1, 0.173]]
    """
    found = []
    for measure, rows in figures.groupby("measure", sort=False):
        recipe = rows["model"].str.replace(r", run \d+$", "", regex=True)
        one, two = (rows.loc[recipe == name, "estimate"].dropna() for name in (larger, smaller))
        if min(len(one), len(two)) < 2:
            continue
        both = CompareMeans(DescrStatsW(one), DescrStatsW(two))
        low, high = both.tconfint_diff(usevar="pooled")
        freedom = len(one) + len(two) - 2
        within = np.sqrt((one.var() * (len(one) - 1) + two.var() * (len(two) - 1)) / freedom)
        gap = one.mean() - two.mean()
        found.append((measure, gap, low, high, within, len(one) + len(two)))
    return pd.DataFrame(found, columns=["measure", "estimate", "low", "high", "within", "n"])


def components(runs: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Divide the variance of verdicts into what goes with fact, model, training run and prompt."""
    rows = []
    for name, study in STUDIES.items():
        rows += _shares(
            runs[runs["study"] == name], ["known"], PARTS, study.TITLE, n_resamples, seed
        )
    some = runs[runs["study"] == "multiplicity"]
    prompts = [name for name in some.columns if name.startswith("prompt ")]
    if prompts:
        rows += _shares(some, prompts, PROMPTS, BY_PROMPT, n_resamples, seed)
    return pd.DataFrame(rows, columns=["method", "part", "estimate", "low", "high", "n"])


def _shares(
    rows: pd.DataFrame, columns: list[str], parts: dict, method: str, n_resamples: int, seed: int
) -> list[tuple]:
    wide = rows.pivot_table(columns, ["relation", "item"], ["model", "start"])[columns]
    wide = wide.dropna().sort_index()
    models = rows["model"].nunique()
    starts = wide.shape[1] // (models * len(columns))
    relations = wide.index.get_level_values("relation").to_numpy()
    sizes = np.unique(relations, return_counts=True)[1]
    shape = (len(columns), models, starts)

    def shares(values: np.ndarray, sizes: np.ndarray = sizes) -> np.ndarray:
        block = np.moveaxis(values.reshape(*values.shape[:-1], *shape), -3, -1)
        found = anova(block, sizes, [effect for effect in parts if effect != "r"])
        each = np.stack([np.maximum(found[effect], 0) for effect in parts], axis=-1)
        with np.errstate(invalid="ignore"):  # relations that are all alike have no shares
            each = each / each.sum(axis=-1, keepdims=True)
        relation, fact, run = (each[..., list(parts).index(part)] for part in ("r", "f", "fms"))
        return np.concatenate([each, (relation + fact - run)[..., None]], axis=-1)

    found = stats.bootstrap(wide, shares, relations, n_resamples, seed, centred=True)
    names = [*parts.values(), LEAD]
    members, table = np.split(np.arange(len(wide)), np.cumsum(sizes)[:-1]), wide.to_numpy()
    chance = np.random.default_rng(seed)
    leads = [
        shares(table[np.concatenate([members[r] for r in drawn])], sizes[drawn])[-1]
        for drawn in chance.integers(len(sizes), size=(n_resamples, len(sizes)))
    ]
    lead = stats.bounds(np.array(leads), len(sizes), centre=found.estimate[-1])
    found.low[-1], found.high[-1] = lead
    ends = np.clip([found.low, found.high], [float(-(name == LEAD)) for name in names], 1)
    return [
        (method, name, found.estimate[place], *ends[:, place], len(wide))
        for place, name in enumerate(names)
    ]
