"""Every correlation over models that the papers print or invite, with what they did not give.

The papers give Pearson's r and sometimes p. Here each comes with the intervals of Fisher's
transformation and of a bootstrap over models, with Spearman's rho, and with the range of r when
each family of models is left out in turn.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers import stats
from helpers.published import knowledge_base, unknown
from helpers.published import load as published
from helpers.published.checks import multiplicity
from helpers.published.checks.check import Load

# The beginning of a model's name, upper and lower case alike. That MONITOR's Vicuna and WizardLM
# come from Llama 1 is a guess: the paper gives no version, and Vicuna 1.5 comes from Llama 2.
_FAMILIES = {
    "bloom": "Bloom",
    "galactica": "Galactica",
    "opt": "OPT",
    "pythia": "Pythia",
    "flan": "Flan",
    "vicuna": "Llama 1",
    "wizardlm": "Llama 1",
    "llama 1": "Llama 1",
    "llama-30b": "Llama 1",
    "llama 2": "Llama 2",
    "llama2": "Llama 2",
    "llama3": "Llama 3",
    "mistral": "Mistral",
    "gemma": "Gemma",
    "gpt-3.5": "GPT-3.5",
    "gpt-": "EleutherAI GPT",
    "phi": "Phi",
}


class Pair(NamedTuple):
    """Two measures of the same models, and what the paper says of their correlation."""

    paper: str
    name: str
    printed: float
    x: pd.Series
    y: pd.Series


def family(model: str) -> str:
    """Return the family of base models that a model comes from; a guess for Vicuna and WizardLM.

    >>> family("Vicuna-7b"), family("Llama2chat 70B"), family("GPT-NeoX-20B")
    ('Llama 1', 'Llama 2', 'EleutherAI GPT')
    """
    name = model.lower()
    return next((_FAMILIES[key] for key in _FAMILIES if name.startswith(key)), model)


def pairs(load: Load = published) -> list[Pair]:
    """Return all pairs of measures, of the three papers that print several measures a model.

    >>> [pair.name for pair in pairs()][:2]
    ['MONITOR, accuracy', 'MONITOR, accuracy (P178)']
    """
    return [*_monitor(load), *_knowledge_bases(load), *_multiplicity(load)]


def _monitor(load: Load) -> list[Pair]:
    overall, three, one = (load(f"monitor_table{n}") for n in (4, 5, 6))
    printed, name = load("monitor_table4_correlation")["pearson"], "MONITOR, accuracy"
    found = [Pair("MONITOR", name, printed.iloc[0], overall["MONITOR"], overall["avg"])]
    for relation in ("P178", "P108", "P37"):
        r = load("monitor_table11").loc[relation, "pearson"]
        columns = three[f"{relation} MONITOR"], three[f"{relation} avg"]
        found.append(Pair("MONITOR", f"{name} ({relation})", r, *columns))
    spread = "MONITOR, deviation (P1412)"
    return [*found, Pair("MONITOR", spread, np.nan, one["MONITOR"], one["std"])]


def _knowledge_bases(load: Load) -> list[Pair]:
    found = []
    for setting, column in unknown("kb_table2", load("kb_table2")).items():
        table = knowledge_base.measures(setting, load)
        for pair, r in column.items():
            first, second = pair.split(" vs. ")
            name = f"{first}, {second} ({setting})"
            found.append(Pair("knowledge bases", name, r, table[first], table[second]))
    return found


def _multiplicity(load: Load) -> list[Pair]:
    found = []
    for table, benchmarks in multiplicity.BENCHMARKS.items():
        whole = load(table)
        for each in benchmarks:
            columns = whole[f"{each} deviation"], whole[f"{each} ambiguity"]
            found.append(Pair("multiplicity", f"deviation, ambiguity ({each})", np.nan, *columns))
    return found


def table(load: Load = published, n_resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Compute each correlation with its intervals, ranks, and the range without each family.

    Parameters
    ----------
    load : callable
        Gives a table by its name.
    n_resamples, seed : int
        Of the bootstrap over models.

    Returns
    -------
    DataFrame
        ``paper, pair, n, printed, estimate, low, high`` (Pearson, Fisher's interval), ``p``,
        ``boot_low, boot_high``, ``spearman, rank_low, rank_high``, and ``least, most, without``:
        the range of r over families left out, and the family whose absence moves r most.

    Examples
    --------
    >>> row = table(n_resamples=20).iloc[0]
    >>> row[["n", "estimate", "low", "high"]].astype(float).round(3).tolist()
    [12.0, -0.847, -0.956, -0.531]
    """
    rows = []
    for pair in pairs(load):
        both = np.column_stack([pair.x, pair.y])
        found, ranks = stats.correlation(*both.T), stats.correlation(*both.T, "spearman")
        drawn = stats.bootstrap(both, stats.pearson, None, n_resamples, seed)
        left = stats.without_each(*both.T, [family(model) for model in pair.x.index])
        far = left.loc[(left["r"] - found.r).abs().idxmax(), "without"]
        row = {"paper": pair.paper, "pair": pair.name, "n": found.n, "printed": pair.printed}
        row |= {"estimate": found.r, "low": found.low, "high": found.high, "p": found.p}
        row |= {"boot_low": drawn.low, "boot_high": drawn.high, "spearman": ranks.r}
        row |= {"rank_low": ranks.low, "rank_high": ranks.high}
        rows.append(row | {"least": left["r"].min(), "most": left["r"].max(), "without": far})
    return pd.DataFrame(rows)


def relations(load: Load = published) -> pd.DataFrame:
    """Return Table 11's twenty correlations of MONITOR with Fisher's intervals, from r and n alone.

    Returns
    -------
    DataFrame
        ``relation, estimate, low, high, n``.

    Examples
    --------
    >>> relations().set_index("relation").loc["P101", ["low", "high"]].round(2).tolist()
    [-0.82, 0.14]
    """
    n, printed = len(load("monitor_table4")), load("monitor_table11")["pearson"]
    rows = [(name, r, *stats.fisher(r, n), n) for name, r in printed.items()]
    return pd.DataFrame(rows, columns=["relation", "estimate", "low", "high", "n"])


def models_of() -> pd.DataFrame:
    """Return how many models of each family stand behind each paper's correlations.

    Examples
    --------
    >>> models_of().loc["Llama 2"].to_dict()
    {'MONITOR': 0, 'knowledge bases': 6, 'multiplicity': 4}
    """
    firsts = {pair.paper: pair.x.index for pair in reversed(pairs())}
    counts = {
        paper: pd.Series(map(family, names)).value_counts() for paper, names in firsts.items()
    }
    ordered = pd.DataFrame(counts)[["MONITOR", "knowledge bases", "multiplicity"]]
    return ordered.fillna(0).astype(int).rename_axis("family")
