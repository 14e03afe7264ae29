"""What several training runs of one recipe found: how far they differ, and what that says."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from helpers.findings import HOLDS, OPPOSITE, UNDECIDED, Finding, decide
from helpers.runs.comparison import reading
from helpers.runs.comparison.seeds import BY_PROMPT, LEAD, PARTS
from helpers.studies import measure_named

NOTHING = (np.nan, np.nan, np.nan, 0)


def runs_differ(gaps: pd.DataFrame, name: str) -> Finding:
    """Decide whether training runs of one recipe differ in a measure, after Holm's correction."""
    measure = measure_named(name)
    rows = gaps[gaps["measure"] == name].dropna(subset=["estimate"])
    claim = f"training_runs_differ_{name}"
    if rows.empty:
        nothing = f"Whether training runs differ in {measure.title} cannot be said: none has it."
        words = dict.fromkeys(("holds", "opposite", "undecided"), "")
        return decide(claim, NOTHING, **words, undefined=nothing)
    tested = reading.holm(rows)
    kept = tested[tested["kept"].astype(bool)]
    shown = kept if len(kept) else rows
    row = shown.loc[shown["estimate"].abs().idxmax()]
    sign = -1 if row["estimate"] < 0 else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    return decide(
        claim,
        (abs(row["estimate"]), low, high, row["n"]),
        decision=HOLDS if len(kept) else UNDECIDED,
        holds=f"Training runs of one recipe differ in {measure.title}: in {{kept}} of {{pairs}} "
        "pairs after Holm's correction; the largest difference, {value}, is between runs {first} "
        "and {second} of {recipe} (paired, {n} {things}).",
        opposite="",
        undecided=f"No pair of training runs of one recipe differs in {measure.title} after Holm's "
        "correction; the largest of {pairs} differences is {value} (paired, {n} {things}).",
        kept=len(kept),
        pairs=len(rows),
        recipe=row["first"].rpartition(", ")[0],
        first=row["first"].rpartition(" ")[2],
        second=row["second"].rpartition(" ")[2],
        things=measure.counts,
        **reading.unit(measure),
    )


def models_beyond_runs(
    gaps: pd.DataFrame, between: pd.DataFrame, tuned: Collection[tuple[str, str]] = ()
) -> Finding:
    """Decide whether models differ by more than training runs of one recipe, on the same facts.

    A difference that Holm's correction keeps is compared with the largest between two runs of one
    recipe in its measure. A `tuned` model and its base share their training run and are left out.
    """
    whole = ~pd.MultiIndex.from_frame(gaps[["first", "second"]]).isin(list(tuned))
    tested = reading.holm(gaps[whole].dropna(subset=["estimate"]))
    rows = tested[tested["kept"].astype(bool)]
    most = between.assign(size=between["estimate"].abs()).groupby("measure")["size"].max()
    passed = rows["measure"].map(most).astype(float)
    beyond = rows["estimate"].abs() > passed
    clear = int((rows[["low", "high"]].abs().min(axis=1) > passed).sum())  # none contains 0
    each = beyond.groupby(rows["measure"], sort=False).agg(["sum", "size"])
    counts = "; ".join(
        f"{measure_named(name).title} {k} of {n}, {reading.amount(name, most[name])}"
        for name, k, n in each.itertuples()
    )
    k, n = int(beyond.sum()), len(rows)
    told = "of {n} that the panel's facts decide after Holm's correction, {k} are larger than the "
    told += "largest between two training runs in the same measure, {clear} of them by the whole "
    told += "interval ({counts})."
    few, between_runs = "Not all" if k else "No", "exceed those between training runs of one recipe"
    return decide(
        "models_differ_beyond_training_runs",
        (k / n if n else np.nan, np.nan, np.nan, n),
        decision=(HOLDS if k == n else OPPOSITE) if n else "",
        holds=f"All differences between models {between_runs}: {told}",
        opposite=f"{few} differences between models {between_runs}: {told}",
        undecided="",
        undefined=f"Whether differences between models {between_runs} cannot be said: no two "
        "models here were asked the facts of the six runs and differ clearly.",
        k=k,
        clear=clear,
        counts=counts,
    )


def beyond_runs(found: pd.DataFrame, larger: str, smaller: str, name: str) -> Finding:
    """Decide whether the larger model is better than other training runs would explain."""
    measure = measure_named(name)
    rows = found.loc[found["measure"] == name, ["estimate", "low", "high", "within", "n"]]
    gap, low, high, within, n = (*rows.to_numpy(dtype=float), (*NOTHING[:3], np.nan, 0))[0]
    sign = -1 if measure.higher is False else 1
    return decide(
        f"size_beyond_training_runs_{name}",
        (sign * gap, *sorted((sign * low, sign * high)), n),
        holds=f"{larger} is better than {smaller} in {measure.title} by more than training runs "
        "differ: by {size} over {n} runs (standard deviation between runs of one recipe {within}).",
        opposite=f"{larger} is worse than {smaller} in {measure.title} by more than training runs "
        "differ: by {size} over {n} runs (standard deviation between runs of one recipe {within}).",
        undecided=f"{{n}} training runs do not decide whether {larger} is better than {smaller} in "
        f"{measure.title}: its lead is {{value}}, the standard deviation between runs of one "
        "recipe {within}.",
        undefined=f"Whether {larger} is better than {smaller} in {measure.title} cannot be said: "
        "too few training runs have it.",
        within=f"{100 * within:.1f}" if measure.percent else f"{within:.3f}",
        **reading.unit(measure),
    )


def verdicts_follow(shares: pd.DataFrame) -> Finding:
    """Decide whether verdicts follow the fact more than the training run, by the one least so."""
    rows = shares[shares["method"] != BY_PROMPT]
    ahead = rows[rows["part"] == LEAD].set_index("method")[["estimate", "low", "high", "n"]]
    least = ahead["estimate"].idxmin()
    each = rows[rows["method"] == least].set_index("part")["estimate"]
    return decide(
        "verdicts_follow_the_fact",
        tuple(ahead.loc[least]),
        holds="Verdicts depend more on which fact is asked, its relation included, than on what a "
        "training run makes of it: even for {least}, fact and relation together explain {fact} of "
        "the variance, differences between runs on the same fact {run}, a lead of {size} ({n} "
        "facts).",
        opposite="Verdicts can depend more on the training run than on the fact: for {least}, "
        "differences between runs on the same fact explain {run} of the variance, fact and "
        "relation {fact} ({n} facts).",
        undecided="For {least}, {n} facts do not decide whether the verdict depends more on the "
        "fact or on the training run: fact and relation explain {fact} of the variance, "
        "differences between runs on the same fact {run}, a lead of {value}.",
        least=least,
        fact=f"{100 * each[[PARTS['r'], PARTS['f']]].sum():.1f} %",
        run=f"{100 * each[PARTS['fms']]:.1f} %",
    )
