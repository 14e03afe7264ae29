"""The four papers' measures of the same models, two at a time: how alike they order them.

A pair of measures is correlated over the models that both papers print (`joined`). Models are few
and come in families, so each rank correlation has an exact p-value, an interval that draws whole
families, and its values without each family, given size, and without each doubtful match.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import scipy.stats
from statsmodels.stats.multitest import multipletests

from helpers import stats
from helpers.plots import tables
from helpers.published import joined
from helpers.published.knowledge_base import SETTINGS

TOO_FEW = "not computed: fewer than six models"
LKE = "IC-LKE: accuracy"
KNOWING = tuple(
    f"knowledge bases: {name}, {setting}" for setting in SETTINGS for name in ("CR", "NCR", "NCCR")
)
NCCR = "knowledge bases: NCCR, zero-shot"
LIMITS = ("knowledge bases: UR, zero-shot", "knowledge bases: IUR, zero-shot")
MONITOR = ("MONITOR: score", "MONITOR: mean accuracy")
BENCHMARKS = tuple(name for names in joined.BENCHMARKS.values() for name in names)
ACCURACIES, AMBIGUITIES, BINARY = (
    tuple(f"multiplicity: {name} {what}" for name in BENCHMARKS)
    for what in ("accuracy", "ambiguity", "binary ambiguity")
)
HEADLINE = tuple(
    [(LKE, y) for y in (*KNOWING, *LIMITS, *MONITOR, *ACCURACIES, *AMBIGUITIES, *BINARY)]
    + [(NCCR, y) for y in ACCURACIES]
)
MAIN = (MONITOR[0], NCCR, LIMITS[0], LKE, *ACCURACIES, *AMBIGUITIES)
MAPPED = (*MAIN[:4], *ACCURACIES[1:3], ACCURACIES[5], *AMBIGUITIES[1:3], AMBIGUITIES[5])
FEWEST_FAMILIES = 3  # below, too few different draws for an interval
# Accuracy of one who guesses: one of 100 objects in IC-LKE, one of two answers in True-False.
GUESSING = {LKE: 0.01, "multiplicity: True-False accuracy": 0.5}

# What is not a number where there are too few models.
NUMBERS = ("rho", "p", "low", "high", "least", "most", "r", "r_low", "r_high", "base")
NUMBERS += ("given_size", "given_low", "given_high")

Pairs = Sequence[tuple[str, str]]


def short(measure: str) -> str:
    """Name a measure without its paper, where the rest says enough.

    >>> short("knowledge bases: NCCR, zero-shot"), short("IC-LKE: accuracy")
    ('NCCR, zero-shot', 'IC-LKE accuracy')
    """
    paper, name = measure.split(": ")
    return name if paper in ("knowledge bases", "multiplicity") else f"{paper} {name}"


def p_value(p: float) -> str:
    """Write a p-value.

    >>> p_value(0.0321), p_value(0.00002), p_value(float("nan"))
    ('0.032', '< 0.001', '')
    """
    return "" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def compare(
    pairs: Pairs = HEADLINE, least: str = "probably", n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Correlate pairs of measures over the models that both papers print.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Measures, as :func:`helpers.published.joined.measures` names them.
    least : str
        The least certainty of a match.
    n_resamples, seed : int
        Of the bootstrap over families.

    Returns
    -------
    DataFrame
        One row a pair: ``x, y, pair`` (both names), ``n, families``; ``rho, p`` (Spearman, exact
        to 16 models), ``p_holm`` (over all pairs computed); ``low, high`` (families drawn; none
        below three families), ``left_out`` (draws without a rho); ``least, most, without`` (rho
        without each family, and the one that moves it most); ``r, r_low, r_high`` (Pearson,
        Fisher's interval); ``given_size, given_low, given_high`` (rho given the number of
        parameters, families drawn); ``base_n, base`` (rho over base models alone); ``note``. Over
        fewer than six models nothing is computed, and ``note`` says so.

    Examples
    --------
    >>> pairs = [("IC-LKE: accuracy", "knowledge bases: NCCR, zero-shot")]
    >>> row = compare(pairs, n_resamples=20).iloc[0]
    >>> int(row["n"]), int(row["families"]), round(float(row["rho"]), 3)
    (15, 4, 0.957)
    """
    table = joined.joined(least)
    found = pd.DataFrame([_compared(table, x, y, n_resamples, seed) for x, y in pairs])
    return found.assign(p_holm=holm(found["p"]))


def _compared(table: pd.DataFrame, x: str, y: str, n_resamples: int, seed: int) -> dict:
    """Return the row of one pair."""
    rows = table.dropna(subset=[x, y])
    both, family = rows[[x, y]].to_numpy(dtype=float), rows["family"].to_numpy()
    row = {"x": x, "y": y, "pair": f"{short(x)} × {short(y)}", "n": len(rows)}
    row |= {"families": rows["family"].nunique(), "note": TOO_FEW}
    row |= dict.fromkeys(NUMBERS, np.nan)
    if len(rows) < stats.FEWEST_MODELS:
        return row
    test, line = stats.rank_test(*both.T), stats.correlation(*both.T)
    drawn = stats.bootstrap_groups(both, family, stats.spearman, n_resamples, seed)
    left = stats.without_each(*both.T, family, "spearman").dropna()
    far = left.loc[(left["r"] - test.rho).abs().idxmax(), "without"] if len(left) else ""
    sized = rows.dropna(subset=["billion"])
    three = np.column_stack([sized[[x, y]], np.log10(sized["billion"])]).astype(float)
    given = stats.bootstrap_groups(
        three, sized["family"], stats.partial_spearman, n_resamples, seed
    )
    base = both[(rows["kind"] == "base").to_numpy()]
    row |= {"rho": test.rho, "p": test.p, "low": drawn.low, "high": drawn.high}
    row |= {"left_out": drawn.left_out, "note": "exact p" if not test.draws else "drawn p"}
    row |= {"least": left["r"].min(), "most": left["r"].max(), "without": far}
    row |= {"r": line.r, "r_low": line.low, "r_high": line.high}
    row |= {"given_size": given.estimate, "given_low": given.low, "given_high": given.high}
    if row["families"] < FEWEST_FAMILIES:
        row |= dict.fromkeys(("low", "high", "given_low", "given_high"), np.nan)
    alone = stats.rank_test(*base.T).rho if len(base) >= stats.FEWEST_MODELS else np.nan
    return row | {"base_n": len(base), "base": alone}


def holm(p: Iterable[float]) -> np.ndarray:
    """Correct p-values for their number after Holm; what is not a number does not count.

    >>> holm([0.01, float("nan"), 0.03]).round(2).tolist()
    [0.02, nan, 0.03]
    """
    p = np.asarray(list(p), dtype=float)
    there = ~np.isnan(p)
    if there.any():
        p[there] = multipletests(p[there], method="holm")[1]
    return p


def shown(compared: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table of :func:`compare` for reading.

    >>> pairs = [("IC-LKE: accuracy", "MONITOR: score")]
    >>> shown(compare(pairs, n_resamples=20)).loc[0, ["ρ", "note"]].tolist()
    ['undefined', 'not computed: fewer than six models']
    """

    def written(estimate: str, low: str, high: str) -> list[str]:
        triples = zip(compared[estimate], compared[low], compared[high])
        return [tables.interval(*triple, digits=2) for triple in triples]

    return pd.DataFrame(
        {
            "pair": compared["pair"],
            "n": compared["n"],
            "families": compared["families"],
            "ρ": written("rho", "low", "high"),
            "p": [p_value(p) for p in compared["p"]],
            "p, Holm": [p_value(p) for p in compared["p_holm"]],
            "without a family": [
                f"{row.least:.2f} to {row.most:.2f} ({row.without})"
                if row.n >= stats.FEWEST_MODELS
                else ""
                for row in compared.itertuples()
            ],
            "given size": written("given_size", "given_low", "given_high"),
            "base alone": compared["base"],
            "Pearson": compared["r"],
            "note": compared["note"],
        }
    )


def doubts(pairs: Pairs = HEADLINE, least: str = "probably") -> pd.DataFrame:
    """Correlate pairs of measures at each certainty, and without each doubtful match in turn.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Measures.
    least : str
        The certainty at which single matches are left out.

    Returns
    -------
    DataFrame
        ``x, y, pair``; for each certainty ``n, rho, p``, as in ``rho, probably``; ``doubtful``
        (matches of the pair that are not surely of the same weights), ``least, most`` (rho without
        each of them), ``doubt, moved`` (the model whose absence moves it most, and how far),
        ``smallest, largest`` (p without each).

    Examples
    --------
    >>> row = doubts([("IC-LKE: accuracy", "knowledge bases: NCCR, zero-shot")]).iloc[0]
    >>> [int(row[name]) for name in ("n, same weights", "n, probably", "doubtful")]
    [12, 15, 3]
    """
    tables = {name: joined.joined(name) for name in joined.CERTAINTIES}
    rows = []
    for x, y in pairs:
        row = {"x": x, "y": y, "pair": f"{short(x)} × {short(y)}"}
        for name, table in tables.items():
            both = table[[x, y]].dropna()
            rho, p, n, _ = _tested(both, x, y)
            row |= {f"n, {name}": n, f"rho, {name}": rho, f"p, {name}": p}
        both = tables[least][[x, y]].dropna()
        here = _unsure((x, y), least)
        here = here[here["model"].isin(both.index)]
        left = {each: _tested(both.drop(each), x, y) for each in dict.fromkeys(here["model"])}
        rhos = pd.Series({each: test.rho for each, test in left.items()}, dtype=float).dropna()
        ps = pd.Series({each: test.p for each, test in left.items()}, dtype=float).dropna()
        far = (rhos - row[f"rho, {least}"]).abs()
        row |= {"doubtful": len(here), "least": rhos.min(), "most": rhos.max()}
        row |= {"doubt": far.idxmax() if len(far) else "", "moved": far.max()}
        rows.append(row | {"smallest": ps.min(), "largest": ps.max()})
    return pd.DataFrame(rows)


def doubts_shown(doubted: pd.DataFrame) -> pd.DataFrame:
    """Lay out the pairs of :func:`doubts` that have matches in doubt, rho with n in brackets.

    >>> doubts_shown(doubts([("IC-LKE: accuracy", "MONITOR: score")])).iloc[0, :4].tolist()
    ['IC-LKE accuracy × MONITOR score', '– (1)', '– (4)', '-1.00 (7)']
    """
    rows = doubted[doubted["doubtful"] > 0]
    columns = {
        name: [
            f"{'–' if np.isnan(rho) else f'{rho:.2f}'} ({n})"
            for rho, n in zip(rows[f"rho, {name}"], rows[f"n, {name}"])
        ]
        for name in joined.CERTAINTIES
    }
    spread = [
        f"{row.least:.2f} to {row.most:.2f} ({row.doubt})" if row.doubt else ""
        for row in rows.itertuples()
    ]
    return pd.DataFrame({"pair": rows["pair"], **columns, "without one match": spread})


def _tested(both: pd.DataFrame, x: str, y: str) -> stats.RankTest:
    """Test a rank correlation over enough models."""
    if len(both) < stats.FEWEST_MODELS:
        return stats.RankTest(np.nan, np.nan, len(both), 0)
    return stats.rank_test(both[x], both[y])


def sizes(
    measures: Collection[str] = MAIN,
    least: str = "probably",
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Correlate measures with the number of parameters, over all models that a paper prints.

    Parameters
    ----------
    measures : collection of str
        As in the joined table.
    least : str
        The least certainty of a match.
    n_resamples, seed : int
        Of the bootstrap over families, and of p where there are more than 16 models.

    Returns
    -------
    DataFrame
        ``measure, n, families, estimate, low, high`` (Spearman's rho, families drawn), ``p``,
        ``p_holm``. Models of unknown size are left out.

    Examples
    --------
    >>> sizes(["IC-LKE: accuracy"], n_resamples=20)[["n", "estimate"]].round(2).values.tolist()
    [[49.0, 0.82]]
    """
    table = joined.joined(least)
    rows = []
    for measure in measures:
        part = table.dropna(subset=[measure, "billion"])
        both = part[[measure, "billion"]].to_numpy(dtype=float)
        drawn = stats.bootstrap_groups(both, part["family"], stats.spearman, n_resamples, seed)
        row = {"measure": measure, "n": len(part), "families": drawn.groups}
        row |= {"estimate": drawn.estimate, "low": drawn.low, "high": drawn.high}
        rows.append(row | {"p": stats.rank_test(*both.T, seed=seed).p})
    found = pd.DataFrame(rows)
    return found.assign(p_holm=holm(found["p"]))


def grid(measures: Collection[str] = (), least: str = "probably") -> pd.DataFrame:
    """Correlate all measures of different papers, two at a time.

    Parameters
    ----------
    measures : collection of str
        By default all.
    least : str
        The least certainty of a match.

    Returns
    -------
    DataFrame
        ``x, y, n, rho, p``; rho and p not numbers over fewer than six models.

    Examples
    --------
    >>> grid(["MONITOR: score", "IC-LKE: accuracy"])["n"].tolist()
    [4]
    """
    table, paper = joined.joined(least), joined.measures()["paper"]
    rows = []
    for x, y in combinations(measures or paper.index, 2):
        if paper[x] != paper[y]:
            test = _tested(table[[x, y]].dropna(), x, y)
            rows.append((x, y, test.n, test.rho, test.p))
    return pd.DataFrame(rows, columns=["x", "y", "n", "rho", "p"])


def by_chance(
    grid: pd.DataFrame, least: str = "probably", n_draws: int = 500, seed: int = 0
) -> np.ndarray:
    """Count the pairs with p < 0.05 when each paper's models are shuffled.

    All measures of a paper are shuffled alike, so that what depends on each other still does. A
    pair's p is the share of shuffles in which its rho is as far from 0.

    Parameters
    ----------
    grid : DataFrame
        From :func:`grid`: its pairs that have a p.
    least : str
        The least certainty of a match.
    n_draws, seed : int
        Shuffles.

    Returns
    -------
    ndarray, shape (n_draws,)
        Pairs with p < 0.05 in each shuffle.

    Examples
    --------
    >>> some = grid(["IC-LKE: accuracy", "knowledge bases: NCCR, zero-shot"])
    >>> bool(by_chance(some, n_draws=200).mean() < 0.06)
    True
    """
    table, paper = joined.joined(least), joined.measures()["paper"]
    rng = np.random.default_rng(seed)
    keys = {name: rng.random((n_draws, len(table))) for name in joined.PAPERS}

    def shuffled(measure: str) -> np.ndarray:
        values = table[measure].to_numpy(dtype=float)
        there = ~np.isnan(values)
        moved = np.full((n_draws, len(values)), np.nan)
        order = np.argsort(keys[paper[measure]][:, there], axis=1)
        moved[:, there] = values[there][order]
        return moved

    pairs = grid.dropna(subset=["p"])
    drawn = {measure: shuffled(measure) for measure in {*pairs["x"], *pairs["y"]}}
    counts = np.zeros(n_draws, dtype=int)
    for x, y in pairs[["x", "y"]].itertuples(index=False):
        both = np.stack([drawn[x], drawn[y]], axis=-1)
        both = both[:, ~np.isnan(both[0]).any(axis=-1)]
        far = np.nan_to_num(np.abs(stats.spearman(both))).round(9)
        counts += scipy.stats.rankdata(-far, method="max") < 0.05 * n_draws
    return counts


def square(measures: Sequence[str] = MAPPED, least: str = "probably") -> pd.DataFrame:
    """Lay out the rank correlations of measures for a map, those within one paper too.

    Parameters
    ----------
    measures : sequence of str
        As in the joined table.
    least : str
        The least certainty of a match.

    Returns
    -------
    DataFrame
        ``x, y, n, rho``, every measure with every other; rho is not a number over fewer than six
        models.

    Examples
    --------
    >>> square(["MONITOR: score", "IC-LKE: accuracy"])["n"].tolist()
    [4, 4]
    """
    table = joined.joined(least)
    rows = []
    for x, y in permutations(measures, 2):
        both = table[[x, y]].dropna().to_numpy(dtype=float)
        rho = float(stats.spearman(both)) if len(both) >= stats.FEWEST_MODELS else np.nan
        rows.append((x, y, len(both), rho))
    return pd.DataFrame(rows, columns=["x", "y", "n", "rho"])


def points(x: str = LKE, y: str = NCCR, least: str = "probably") -> pd.DataFrame:
    """Return the models that two papers print, for a figure of two measures.

    Parameters
    ----------
    x, y : str
        Measures of two papers.
    least : str
        The least certainty of a match.

    Returns
    -------
    DataFrame
        Index ``model``; ``family, kind``, both measures under their short names, and ``doubtful``:
        whether a match may be of other weights.

    Examples
    --------
    >>> points().loc["Gemma 7B Instruct", ["IC-LKE accuracy", "doubtful"]].astype(str).tolist()
    ['0.55327', 'True']
    """
    rows = joined.joined(least)[["family", "kind", x, y]].dropna()
    unsure = _unsure((x, y), least)["model"]
    return rows.assign(doubtful=rows.index.isin(unsure)).rename(columns={x: short(x), y: short(y)})


def _unsure(measures: Collection[str], least: str) -> pd.DataFrame:
    """Return the matches to the papers of some measures that may be of other weights."""
    found = joined.matches(least)
    papers = joined.measures()["paper"].reindex(measures)
    return found[found["paper"].isin(papers) & (found["certainty"] != joined.CERTAINTIES[0])]


def apart(x: str = LKE, y: str = NCCR, least: str = "probably") -> pd.DataFrame:
    """Return how differently two measures rank each model, the largest difference first.

    Parameters
    ----------
    x, y : str
        Measures of two papers.
    least : str
        The least certainty of a match.

    Returns
    -------
    DataFrame
        Index ``model``; ``family, kind``, `x`, `y`, ``rank_x, rank_y`` (1 is best), ``gap``: the
        place on y minus that on x, in standard deviations of ranks, above 0 where y puts the model
        higher; ``known``: what the tables say of the model that may explain it.

    Examples
    --------
    >>> apart().index[0]
    'Llama 2 70B Chat'
    """
    better = joined.measures()["better"].replace(0, 1)
    rows = joined.joined(least)[["family", "kind", x, y]].dropna()
    rank_x, rank_y = (rows[name].rank(ascending=better[name] < 0) for name in (x, y))
    standard = [(rank - rank.mean()) / rank.std(ddof=0) for rank in (rank_x, rank_y)]
    found = rows.assign(rank_x=rank_x, rank_y=rank_y, gap=standard[0] - standard[1])
    known = [_known(model, row, (x, y), least) for model, row in rows.iterrows()]
    found = found.assign(known=known)
    return found.sort_values("gap", key=np.abs, ascending=False, kind="stable")


def _known(model: str, row: pd.Series, measures: tuple[str, str], least: str) -> str:
    """Return what the tables say of a model that may set it apart."""
    unsure = _unsure(measures, least).query("model == @model")
    guessed = [each for each in measures if row[each] <= GUESSING.get(each, -np.inf)]
    parts = ["tuned"] if row["kind"] == "tuned" else []
    parts += [f"match in {each.paper}: {each.certainty}" for each in unsure.itertuples()]
    parts += [f"{short(each)} not above guessing" for each in guessed]
    return "; ".join(parts)
