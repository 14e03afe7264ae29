"""What the four papers' models show together.

`compared` is the table of `helpers.published.joint.compare`, `doubted` that of `doubts`, `sized`
that of `sizes`, `far` that of `apart`. Intervals come from drawing families of models, and a
correlation is clear if its exact p-value, corrected after Holm for all pairs, is below 0.05.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from helpers import stats
from helpers.plots import tables
from helpers.plots.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED, Finding, decide
from helpers.published import joined, joint

LEVEL = 0.05
MOST = 4  # models that a sentence names
FAR = 1.0  # standard deviations of ranks
R = {"digits": 2, "scale": 1.0, "unit": ""}
NOTHING = (np.nan, np.nan, np.nan, 0)


def _rows(compared: pd.DataFrame, y: Collection[str], x: str = joint.LKE) -> pd.DataFrame:
    """Return the computed pairs of a measure with others."""
    rows = compared[(compared["x"] == x) & compared["y"].isin(list(y))]
    return rows.dropna(subset=["rho"])


def _result(row: pd.Series) -> tuple:
    return row["rho"], row["low"], row["high"], row["n"]


def _models(rows: pd.DataFrame) -> str:
    """Write over how many models correlations are."""
    least, most = int(rows["n"].min()), int(rows["n"].max())
    return f"{least}" if least == most else f"{least} to {most}"


def _clear(rows: pd.DataFrame, sign: pd.Series | int = 1) -> pd.Series:
    """Return which correlations have a sign clearly."""
    return (rows["p_holm"] < LEVEL) & (sign * rows["rho"] > 0)


def order_alike(compared: pd.DataFrame, every: pd.DataFrame) -> Finding:
    """IC-LKE and the knowledge bases order models alike: decided by the weakest of three pairs.

    `every` has all measures of knowing, among which some may not.
    """
    rows, every = _rows(compared, joint.KNOWING), every.dropna(subset=["rho"])
    row = rows.loc[rows["rho"].idxmin()] if len(rows) else None
    words = "(smallest ρ: {value} for {pair}, exact p {p}; without one family, {least:.2f} to "
    words += "{most:.2f}); {rest}."
    models = "{n} models of {families} families"
    return decide(
        "studies_order_alike",
        NOTHING if row is None else _result(row),
        holds="On the {pairs} main measures, IC-LKE and the knowledge-base study order "
        f"{models} alike {words}",
        opposite="On the main measure where they agree least, IC-LKE and the knowledge-base study "
        f"order {models} in opposite ways {words}",
        undecided=f"Whether IC-LKE and the knowledge-base study order {models} alike is not "
        f"decided {words}",
        undefined="IC-LKE and the knowledge-base study share fewer than six models.",
        **({} if row is None else _named(row)),
        pairs=len(rows),
        rest=_rest(every),
        **R,
    )


def _rest(every: pd.DataFrame) -> str:
    """Say on how many measures two studies do not clearly agree."""
    k, n = int((~_clear(every)).sum()), len(every)
    if not k:
        return f"the order is clearly alike on all {n} measures of knowing"
    row = every.loc[every["rho"].idxmin()]
    rho = tables.interval(row["rho"], row["low"], row["high"], digits=2)
    worst = f"ρ of {joint.short(row['y'])} is {rho}"
    return f"on {k} of {n} measures of knowing it is not clearly alike ({worst})"


def _p(p: float) -> str:
    """Write a p-value with its sign.

    >>> _p(0.0321), _p(0.00002)
    ('= 0.032', '< 0.001')
    """
    text = joint.p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _named(row: pd.Series) -> dict[str, object]:
    return {
        "pair": row["pair"],
        "families": row["families"],
        "p": _p(row["p"]),
        "least": row["least"],
        "most": row["most"],
    }


def every_setting(compared: pd.DataFrame) -> Finding:
    """All knowledge-base measures of knowing agree with IC-LKE: counted where that is clear."""
    rows = compared.dropna(subset=["rho"])
    k, n = int(_clear(rows).sum()), len(rows)
    words = "{k} of {n} measures of knowing (three measures in three prompt settings) rise "
    words += "clearly with IC-LKE accuracy. The weakest is {weakest} (ρ = {value}; {base} over "
    words += "base models alone), the strongest {strongest} (ρ = {best:.2f})."
    row, best = (rows.loc[rows["rho"].agg(end)] if n else None for end in ("idxmin", "idxmax"))
    return decide(
        "agree_in_every_setting",
        NOTHING if row is None else (row["rho"], row["low"], row["high"], n),
        decision=_counted(k, n),
        holds=f"The agreement does not depend on the prompt: {words}",
        opposite=f"In no prompt setting is the agreement clear: {words}",
        undecided=f"The agreement depends on the prompt: {words}",
        undefined="IC-LKE and the knowledge-base study share fewer than six models.",
        k=k,
        weakest="" if row is None else joint.short(row["y"]),
        strongest="" if row is None else joint.short(best["y"]),
        best=np.nan if row is None else best["rho"],
        base="undefined" if row is None else tables.interval(row["base"], digits=2),
        **R,
    )


def _counted(k: int, n: int) -> str:
    return UNDEFINED if not n else HOLDS if k == n else OPPOSITE if not k else UNDECIDED


def benchmarks(compared: pd.DataFrame) -> Finding:
    """IC-LKE accuracy rises with accuracy on each benchmark: counted where that is clear."""
    rows = _rows(compared, joint.ACCURACIES)
    clear = _clear(rows)
    above, k, n = int((rows["rho"] > 0).sum()), int(clear.sum()), len(rows)
    middle = rows["rho"].median()
    words = "ρ with IC-LKE accuracy, over {models} models, is above 0 on {above} of {n}, median "
    words += "{value}; after Holm's correction it is clear on {k}{which}. When whole families are "
    words += "drawn, {by_family} of {n} intervals lie above 0."
    return decide(
        "benchmarks_order_alike",
        (middle, np.nan, np.nan, n) if n else NOTHING,
        decision=_counted(k, n),
        holds=f"All {{n}} multiplicity benchmarks order models as IC-LKE does: {words}",
        opposite="None of {n} multiplicity benchmarks clearly orders models as IC-LKE does: "
        f"{words}",
        undecided="Only {k} of {n} multiplicity benchmarks clearly {orders} models as IC-LKE does: "
        f"{words}",
        undefined="IC-LKE and the multiplicity study share fewer than six models.",
        above=above,
        k=k,
        which=f" ({', '.join(_benchmarks(rows[clear]))})" if k else "",
        orders="orders" if k == 1 else "order",
        models=_models(rows) if n else "",
        by_family=int((rows["low"].round(2) > 0).sum()),
        **R,
    )


def _benchmarks(rows: pd.DataFrame) -> list[str]:
    return [joint.short(y).split()[0] for y in rows["y"]]


def not_only_size(compared: pd.DataFrame, nine: pd.DataFrame) -> Finding:
    """Test whether the two studies agree beyond size: the weakest partial correlation of three.

    It also counts the intervals above 0 among those of all settings.
    """
    rows = _rows(compared, joint.KNOWING).dropna(subset=["given_size"])
    row = rows.loc[rows["given_size"].idxmin()] if len(rows) else None
    words = "given the number of parameters, ρ of {pair} is {value} over {n} models (without "
    words += (
        "regard to size {plain:.2f}), the least of {pairs} main measures; in all settings, the "
    )
    words += "interval lies above 0 for {above} of {settings}."
    if row is None:
        result, more = NOTHING, {}
    else:
        result = row["given_size"], row["given_low"], row["given_high"], row["n"]
        more = {"pair": row["pair"], "plain": row["rho"], "pairs": len(rows)}
        given = nine["given_low"].dropna()
        more |= {"above": int((given > 0).sum()), "settings": len(given)}
    return decide(
        "not_only_size",
        result,
        holds=f"Size alone does not explain why the two studies agree: {words}",
        opposite=f"Among models of one size the two studies order models in opposite ways: {words}",
        undecided=f"Whether the two studies agree beyond size is not decided: {words}",
        undefined="Too few models share a size and both measures.",
        **more,
        **R,
    )


def ambiguity(compared: pd.DataFrame) -> Finding:
    """Models that know more are less ambiguous: counted where that is clear, or the opposite is."""
    rows = _rows(compared, joint.AMBIGUITIES)
    less, more = int(_clear(rows, -1).sum()), int(_clear(rows).sum())
    n = len(rows)
    if not n:
        decision = UNDEFINED
    else:
        decision = HOLDS if less == n else OPPOSITE if more and not less else UNDECIDED
    row = rows.loc[rows["rho"].abs().idxmax()] if n else None
    named = dict(zip(_benchmarks(rows), rows["rho"]))
    ends = (end(named, key=named.get, default="") for end in (min, max))
    low, high = (f"{named[name]:.2f} ({name})" if name else "" for name in ends)
    words = f"ρ of IC-LKE accuracy and ambiguity runs from {low} to {high} over {{models}} models "
    words += "on {benchmarks} benchmarks; after Holm's correction {clear}."
    return decide(
        "ambiguity_falls_with_knowledge",
        (row["rho"], row["low"], row["high"], row["n"]) if n else NOTHING,
        decision=decision,
        holds=f"Models that know more are less ambiguous on all benchmarks: {words}",
        opposite=f"Models that know more are more ambiguous where it is clear: {words}",
        undecided="Whether models that know more are less ambiguous is not decided: "
        f"{words} That is no evidence that the two are unrelated: the interval of the strongest "
        "is {value}.",
        undefined="IC-LKE and the multiplicity study share fewer than six models.",
        clear=f"{less} are clearly below 0 and {more} above"
        if less or more
        else "none is clearly above or below 0",
        benchmarks=n,
        models=_models(rows) if n else "",
        **R,
    )


def monitor_agrees(compared: pd.DataFrame, sure: int, least: str) -> Finding:
    """IC-LKE rises as MONITOR falls: decided by exact p, `sure` of the models surely alike.

    `compared` is computed at `least`; no interval is given where every resample is alike.
    """
    rows = _rows(compared, joint.MONITOR[:1])
    row = rows.iloc[0] if len(rows) else None
    if row is None:
        decision, more = UNDEFINED, {}
    else:
        clear = row["p"] < LEVEL
        decision = (HOLDS if row["rho"] < 0 else OPPOSITE) if clear else UNDECIDED
        more = {"p": _p(row["p"]), "families": row["families"]}
    words = "ρ = {value}, exact p {p}, {n} models of {families} families. {basis}"
    basis = (
        "All of these matches are probably of the same weights."
        if row is not None and sure >= row["n"]
        else f'Only {sure} of them are at least "probably" the same weights, too few to compute '
        "it; the others share a family."
    )
    return decide(
        "monitor_agrees",
        NOTHING if row is None else _result(row),
        decision=decision,
        holds=f"Models that are better by IC-LKE are better by MONITOR (a lower score): {words}",
        opposite=f"Models that are better by IC-LKE are worse by MONITOR (a higher score): {words}",
        undecided=f"Whether MONITOR orders models as IC-LKE does is not decided: {words}",
        undefined=f'IC-LKE and MONITOR share fewer than six models at "{least}".',
        basis=basis,
        **more,
        **R,
    )


def third_pair(compared: pd.DataFrame) -> Finding:
    """NCCR rises with accuracy on the benchmarks: counted where that is clear."""
    rows = _rows(compared, joint.ACCURACIES, joint.KNOWING[0])
    k, less, n = int(_clear(rows).sum()), int(_clear(rows, -1).sum()), len(rows)
    some = OPPOSITE if less > k else UNDECIDED
    words = "over {models} models of {families} families, ρ runs from {low:.2f} to {high:.2f} on "
    words += "{n} benchmarks."
    return decide(
        "knowledge_bases_and_benchmarks",
        (rows["rho"].median(), np.nan, np.nan, n) if n else NOTHING,
        decision=UNDEFINED if not n else HOLDS if k == n else some,
        holds=f"The knowledge-base study and the multiplicity study order models alike: {words}",
        opposite="The knowledge-base study and the multiplicity study order models in opposite "
        f"ways where it is clear: {words}",
        undecided="Whether the knowledge-base study and the multiplicity study order models alike "
        f"is not decided: {words}",
        undefined="The knowledge-base and multiplicity studies share fewer than six models.",
        models=_models(rows) if n else "",
        families=rows["families"].max() if n else 0,
        low=rows["rho"].min(),
        high=rows["rho"].max(),
        **R,
    )


def doubtful(doubted: pd.DataFrame, least: str = "probably") -> Finding:
    """No doubtful match decides a pair: counted where leaving one out moves p across 0.05."""
    whole = doubted.dropna(subset=[f"p, {least}"])
    rows = whole[whole["doubtful"] > 0].dropna(subset=["moved"])
    clear = rows[f"p, {least}"] < LEVEL
    turned = rows[(clear & (rows["largest"] >= LEVEL)) | (~clear & (rows["smallest"] < LEVEL))]
    surest = joined.CERTAINTIES[0]
    alone = whole.dropna(subset=[f"p, {surest}"])
    lost = alone[(alone[f"p, {surest}"] < LEVEL) != (alone[f"p, {least}"] < LEVEL)]
    far = rows.loc[rows["moved"].idxmax()] if len(rows) else None
    words = "{n} of {all} pairs rest on doubtful matches that can be left out one by one; ρ moves "
    words += "most in {pair} without {doubt}, by {moved:.2f}.{only}"
    only = f" With surely the same weights alone, p crosses 0.05 for {'; '.join(lost['pair'])}."
    return decide(
        "no_doubtful_match_decides",
        (len(turned) / len(rows) if len(rows) else np.nan, np.nan, np.nan, len(rows)),
        decision=UNDEFINED
        if rows.empty
        else OPPOSITE
        if len(turned)
        else UNDECIDED
        if len(lost)
        else HOLDS,
        holds=f"No doubtful match decides a result: {words}",
        opposite="Leaving out single doubtful matches moves p across 0.05 for "
        f"{'; '.join(turned['pair'])}: {words}",
        undecided=f"No single doubtful match decides a result, but all together do: {words}",
        undefined="No pair rests on a doubtful match.",
        all=len(whole),
        pair="" if far is None else far["pair"],
        doubt="" if far is None else far["doubt"],
        moved=np.nan if far is None else far["moved"],
        only=only if len(lost) else "",
    )


def many_pairs(grid: pd.DataFrame) -> Finding:
    """More pairs have p < 0.05 than by chance: decided by Wilson's interval of their share."""
    p = grid["p"].dropna()
    k, n = int((p < LEVEL).sum()), len(p)
    words = "of {n} pairs of measures of different papers with at least six models, {k} have an "
    words += "exact p below 0.05; about {chance:.0f} would if nothing were related. The pairs "
    words += "share models and measures, so this is a count and no test."
    return decide(
        "more_than_chance",
        stats.wilson(k, n) if n else NOTHING,
        holds=f"More pairs of measures are related than would be by chance: {words}",
        opposite=f"Fewer pairs of measures are related than would be by chance: {words}",
        undecided=f"About as many pairs of measures are related as would be by chance: {words}",
        undefined="No two measures of different papers share six models.",
        null=LEVEL,
        k=k,
        chance=LEVEL * n,
    )


def size_orders(sized: pd.DataFrame) -> Finding:
    """Larger models do better: counted over measures where the rank correlation is clear."""
    rows = sized.dropna(subset=["estimate"])
    better = joined.measures()["better"].reindex(rows["measure"]).replace(0, 1).to_numpy()
    clear = (rows["p_holm"] < LEVEL) & (better * rows["estimate"] > 0)
    k, n = int(clear.sum()), len(rows)
    names = "; ".join(joint.short(name) for name in rows.loc[clear, "measure"])
    above = np.where(better > 0, rows["low"], -rows["high"]).round(2) > 0
    words = "{k} of {n} measures order models by size with p below 0.05 after Holm's correction"
    words += "{which}. By the interval over families instead, it is {by_family} of {n}."
    return decide(
        "size_orders_models",
        (k / n if n else np.nan, np.nan, np.nan, n),
        decision=_counted(k, n),
        holds=f"Larger models do better on every measure: {words}",
        opposite=f"On no measure do larger models clearly do better: {words}",
        undecided=f"Larger models do better on some measures: {words}",
        k=k,
        which=f": {names}" if k else "",
        by_family=int(above.sum()),
    )


def apart(far: pd.DataFrame, x: str, y: str, claim: str) -> Finding:
    """Two measures put each model near the same place: counted beyond one standard deviation."""
    out = far[far["gap"].abs() > FAR]
    sure = ~out["known"].str.contains("match")
    places = [
        f"{model} ({'; '.join(filter(None, [f'{row.rank_x:g} and {row.rank_y:g}', row.known]))})"
        for model, row in out.head(MOST).iterrows()
    ]
    if len(out) > MOST:
        places.append(f"and {len(out) - MOST} more")
    words = f"{joint.short(x)} and {joint.short(y)}"
    return decide(
        claim,
        (far["gap"].abs().max(), np.nan, np.nan, len(far)),
        decision=UNDEFINED
        if far.empty
        else HOLDS
        if out.empty
        else OPPOSITE
        if sure.any()
        else UNDECIDED,
        holds=f"{words} put none of {{n}} models more than one standard deviation of ranks apart.",
        opposite=f"{words} place {{k}} of {{n}} models more than one standard deviation of ranks "
        "apart (rank in each): {places}.",
        undecided=f"{words} place {{k}} of {{n}} models more than one standard deviation of ranks "
        "apart, all with doubtful matches (rank in each): {places}.",
        k=len(out),
        places="; ".join(places),
        **R,
    )
