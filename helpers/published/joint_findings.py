"""What the four papers' models show together.

`compared` is the table of `helpers.published.joint.compare`, `doubted` that of `doubts`, `sized`
that of `sizes`, `far` that of `apart`. A correlation is clear if both hold: its exact p-value,
corrected after Holm for all pairs of `compared` (or all rows of `sized`), is below 0.05, and its
interval, from drawing families of models, lies on one side of 0. Nothing unclear is decided.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED, Finding, decide
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
    if rows.empty:
        return ""
    least, most = int(rows["n"].min()), int(rows["n"].max())
    return f"{least}" if least == most else f"{least} to {most}"


def _clear(rows: pd.DataFrame, sign: int = 1) -> pd.Series:
    """Return which correlations have a sign clearly; their intervals count as they are written."""
    near = (rows["low"] if sign > 0 else -rows["high"]).round(2)
    return (rows["p_holm"] < LEVEL) & (near > 0)


def _counted(rows: pd.DataFrame, sign: int = 1) -> str:
    """Decide by counting: all have a sign clearly, or some the other one and none this one."""
    k, other = int(_clear(rows, sign).sum()), int(_clear(rows, -sign).sum())
    if rows.empty:
        return UNDEFINED
    return HOLDS if k == len(rows) else OPPOSITE if other and not k else UNDECIDED


def _span(rho: pd.Series) -> str:
    """Write the range of correlations, and their median."""
    return f"{rho.min():.2f} to {rho.max():.2f}, median {rho.median():.2f}"


def order_alike(compared: pd.DataFrame) -> Finding:
    """IC-LKE and all nine measures of knowing order models alike: counted where that is clear."""
    rows = _rows(compared, joint.KNOWING)
    base = rows["base"].dropna()
    words = f"ρ is {_span(rows['rho'])}"
    if len(base):
        tuned = base.min() > rows["rho"].min()
        words += "; tuning breaks it: over" if tuned else "; over"
        words += f" base models alone, {base.min():.2f} to {base.max():.2f}"
    two = "IC-LKE and the knowledge-base study"
    return decide(
        "studies_order_alike",
        (rows["rho"].median(), np.nan, np.nan, rows["n"].max()) if len(rows) else NOTHING,
        decision=_counted(rows),
        holds=f"{two} order {{n}} models clearly alike on all {{k}} measures of knowing: {words}.",
        opposite=f"{two} order {{n}} models in opposite ways where it is clear: {words}.",
        undecided=f"{two} order {{n}} models clearly alike on {{k}} of {len(rows)} measures: "
        f"{words}.",
        undefined=f"{two} share fewer than six models.",
        k=int(_clear(rows).sum()),
    )


def _p(p: float) -> str:
    """Write a p-value with its sign.

    >>> _p(0.0321), _p(0.00002)
    ('= 0.032', '< 0.001')
    """
    text = joint.p_value(p)
    return text if text.startswith("<") else f"= {text}"


def benchmarks(compared: pd.DataFrame) -> Finding:
    """IC-LKE accuracy rises with accuracy on each benchmark: counted where that is clear."""
    rows = _rows(compared, joint.ACCURACIES)
    clear = _clear(rows)
    k, n = int(clear.sum()), len(rows)
    words = f"over {_models(rows)} models, ρ is {_span(rows['rho'])}, clear on {{k}}{{which}}."
    return decide(
        "benchmarks_order_alike",
        (rows["rho"].median(), np.nan, np.nan, n) if n else NOTHING,
        decision=_counted(rows),
        holds=f"All {{n}} multiplicity benchmarks order models as IC-LKE does: {words}",
        opposite=f"Some of {{n}} multiplicity benchmarks order models against IC-LKE: {words}",
        undecided="We cannot tell whether {n} multiplicity benchmarks order models as IC-LKE does: "
        f"{words}",
        undefined="IC-LKE and the multiplicity study share fewer than six models.",
        k=k,
        which=f" ({', '.join(_benchmarks(rows[clear]))})" if k else "",
    )


def _benchmarks(rows: pd.DataFrame) -> list[str]:
    return [joint.short(y).split()[0] for y in rows["y"]]


def not_only_size(compared: pd.DataFrame) -> Finding:
    """Two studies agree beyond size: counted over intervals of partial correlations."""
    rows = _rows(compared, joint.KNOWING).dropna(subset=["given_low"])
    above, below = (rows["given_low"].round(2) > 0).sum(), (rows["given_high"].round(2) < 0).sum()
    n = len(rows)
    words = f"at equal size ρ is {_span(rows['given_size'])}, with an interval above 0 for {{k}} "
    words += "of {n} measures of knowing."
    return decide(
        "not_only_size",
        (rows["given_size"].median(), np.nan, np.nan, n),
        decision=UNDEFINED
        if not n
        else HOLDS
        if above == n
        else OPPOSITE
        if below and not above
        else UNDECIDED,
        holds=f"Size alone does not explain why the two studies agree: {words}",
        opposite=f"Among models of one size the two studies order models in opposite ways: {words}",
        undecided=f"Whether the two studies agree beyond size is not decided: {words}",
        undefined="Too few models share a size and both measures.",
        k=above,
    )


def ambiguity(compared: pd.DataFrame) -> Finding:
    """Models that know more are less ambiguous: counted where that is clear, or the opposite is."""
    rows = _rows(compared, joint.AMBIGUITIES)
    n = len(rows)
    row = rows.loc[rows["rho"].abs().idxmax()] if n else None
    named = dict(zip(_benchmarks(rows), rows["rho"]))
    ends = (end(named, key=named.get, default="") for end in (min, max))
    low, high = (f"{named[name]:.2f} ({name})" if name else "" for name in ends)
    words = f"ρ with IC-LKE accuracy is {low} to {high} over {_models(rows)} models; clear are "
    words += f"{_clear(rows, -1).sum()} below 0 and {_clear(rows).sum()} above"
    return decide(
        "ambiguity_falls_with_knowledge",
        (row["rho"], row["low"], row["high"], row["n"]) if n else NOTHING,
        decision=_counted(rows, -1),
        holds=f"Models that know more are less ambiguous on all benchmarks: {words}.",
        opposite=f"Models that know more are more ambiguous where it is clear: {words}.",
        undecided="Whether models that know more are less ambiguous is not decided, which is no "
        f"evidence against it: {words}.",
        undefined="IC-LKE and the multiplicity study share fewer than six models.",
    )


def monitor_agrees(compared: pd.DataFrame, sure: int, least: str) -> Finding:
    """IC-LKE rises as MONITOR falls: decided by exact p, if all models are surely alike.

    `compared` is computed at `least`; `sure` of its models are "probably" the same weights. No
    interval is given where every resample is alike.
    """
    rows = _rows(compared, joint.MONITOR[:1])
    row = rows.iloc[0] if len(rows) else None
    if row is None:
        decision, more = UNDEFINED, {}
    else:
        clear = row["p"] < LEVEL and sure >= row["n"]
        decision = (HOLDS if row["rho"] < 0 else OPPOSITE) if clear else UNDECIDED
        more = {"p": _p(row["p"]), "families": row["families"]}
    words = "ρ = {value}, exact p {p}, {n} models of {families} families, {sure} of them probably "
    words += "the same weights in both papers."
    return decide(
        "monitor_agrees",
        NOTHING if row is None else _result(row),
        decision=decision,
        holds=f"Models that are better by IC-LKE are better by MONITOR (a lower score): {words}",
        opposite=f"Models that are better by IC-LKE are worse by MONITOR (a higher score): {words}",
        undecided=f"Whether MONITOR orders models as IC-LKE does is not decided: {words}",
        undefined=f'IC-LKE and MONITOR share fewer than six models at "{least}".',
        sure=sure,
        **more,
        **R,
    )


def third_pair(compared: pd.DataFrame) -> Finding:
    """NCCR rises with accuracy on the benchmarks: counted where that is clear."""
    rows = _rows(compared, joint.ACCURACIES, joint.NCCR)
    n = len(rows)
    words = f"over {{models}} models of {{families}} families, ρ is {_span(rows['rho'])} on {{n}} "
    words += "benchmarks."
    return decide(
        "knowledge_bases_and_benchmarks",
        (rows["rho"].median(), np.nan, np.nan, n) if n else NOTHING,
        decision=_counted(rows),
        holds=f"The knowledge-base study and the multiplicity study order models alike: {words}",
        opposite="The knowledge-base study and the multiplicity study order models in opposite "
        f"ways where it is clear: {words}",
        undecided="Whether the knowledge-base study and the multiplicity study order models alike "
        f"is not decided: {words}",
        undefined="The knowledge-base and multiplicity studies share fewer than six models.",
        models=_models(rows),
        families=rows["families"].max() if n else 0,
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


def many_pairs(grid: pd.DataFrame, by_chance: np.ndarray) -> Finding:
    """More pairs have p < 0.05 than by chance: decided by shuffles that keep what depends."""
    p = grid["p"].dropna()
    k, n = int((p < LEVEL).sum()), len(p)
    low, high = np.quantile(by_chance, [LEVEL / 2, 1 - LEVEL / 2])
    words = "of {n} pairs of measures, {k} have an exact p below 0.05; with each paper's models "
    words += "shuffled, {chance:.0f} do, 95 % of the time {least:.0f} to {most:.0f}."
    return decide(
        "more_than_chance",
        (k / n, np.nan, np.nan, n) if n else NOTHING,
        decision="" if not n else HOLDS if k > high else OPPOSITE if k < low else UNDECIDED,
        holds=f"More pairs of measures are related than would be by chance: {words}",
        opposite=f"Fewer pairs of measures are related than would be by chance: {words}",
        undecided=f"About as many pairs of measures are related as would be by chance: {words}",
        undefined="No two measures of different papers share six models.",
        k=k,
        chance=by_chance.mean(),
        least=low,
        most=high,
    )


def size_orders(sized: pd.DataFrame) -> Finding:
    """Larger models do better: counted over measures where the rank correlation is clear."""
    rows = sized.dropna(subset=["estimate"])
    better = joined.measures()["better"].reindex(rows["measure"]).replace(0, 1).to_numpy()
    turned = rows.assign(
        low=np.where(better > 0, rows["low"], -rows["high"]),
        high=np.where(better > 0, rows["high"], -rows["low"]),
    )
    clear = _clear(turned)
    k, n = int(clear.sum()), len(rows)
    names = "; ".join(joint.short(name) for name in rows.loc[clear, "measure"])
    words = "{k} of {n} measures order models by size clearly{which}."
    return decide(
        "size_orders_models",
        (k / n if n else np.nan, np.nan, np.nan, n),
        decision=_counted(turned),
        holds=f"Larger models do better on every measure: {words}",
        opposite=f"Larger models do worse where it is clear: {words}",
        undecided=f"Larger models do better on some measures: {words}"
        if k
        else f"We cannot tell whether larger models do better: {words}",
        k=k,
        which=f": {names}" if k else "",
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
