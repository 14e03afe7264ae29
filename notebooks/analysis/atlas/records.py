"""Put the family's recorded measurements together: levels pooled, conditions compared."""

from collections.abc import Collection, Mapping

import pandas as pd

from helpers.plots.tables import wide
from helpers.stats import Interval, wilson

NEVER, FEW, MIDDLE, MANY = (0,), (0, 1, 2, 4, 8, 16, 32), (8, 16, 32), (64, 128, 256)
SEEN = (16, 32, 64, 128, 256)  # often enough to be known, by one model or another
EXERCISE = (-1,)  # where exercises about no fact stand
EXAMPLES = (0, 1, 2, 5, 10, 20, 50)

Asked = Mapping[str, tuple[str, Collection[int] | None]]

CHOICES: Asked = {
    f"{of} {title}": (f"choice of {of}, {way}", MANY)
    for of in (4, 5)
    for way, title in {
        "before": "options, said before the question",
        "below": "options, listed below it",
        "not shown": "options, not shown",
        "by letter": "options, answered by letter",
    }.items()
} | {"100 objects, after 50 examples": ("choice of 100, list", MANY)}
CHECKS: Asked = {
    "true statements called true": ("check, true", MANY),
    "false statements called false": ("check, false", MANY),
    "both": ("check, both", MANY),
}
READING: Asked = {
    f"{title}, {part}": (f"reading, {kind}{suffix}", EXERCISE)
    for kind, title in {
        "a word": "one word, then its question",
        "one statement": "one statement, then its question",
        "four statements": "four statements, one question",
        "options": "a statement, then options",
        "a check": "a statement to check against another",
    }.items()
    for part, suffix in (("trained wording", ""), ("held-out wording", ", held out"))
} | {
    "one statement, then its question, wording of no text": (
        "reading, one statement, unheard",
        EXERCISE,
    )
}
CHANGES: Asked = {
    "five trained frames": ("changed by frame", MIDDLE),
    "five orders of five examples": ("changed by order", MIDDLE),
    "five orders of four options": ("changed by options", MIDDLE),
}
# Of the facts set apart; the brace takes the mentions in the direction stated, or the false ones.
APART = {
    "one way, as shown": "stated one way {} times, asked that way",
    "one way, reversed": "stated one way {} times, asked in reverse",
    "false belief, truth given": "stated falsely in {} of 64 mentions, the truth given",
    "false belief, falsehood given": "stated falsely in {} of 64 mentions, the falsehood given",
}
# On facts that the tuning did not ask for: condition to title.
TUNED = {
    f"chat, {kind}, {part} frames, new facts": f"{answer}, {frame}"
    for part, frame in {
        "kept": "frame kept out of the tuning",
        "new": "frame that the base never read",
    }.items()
    for kind, answer in {"unsure": '"unsure"', "right": "the right answer"}.items()
}
UNSURE: Asked = {
    f"{title}, exposures {level}": (condition, levels)
    for condition, title in TUNED.items()
    for level, levels in {"0": NEVER, "8 to 32": MIDDLE, "64": (64,), "256": (256,)}.items()
}
# Two conditions each, first minus second, and the exposures taken together.
EFFECTS: Mapping[str, tuple[str, str, Collection[int] | None]] = {
    "the right word said first, exposures 8 to 32": ("right", "none", MIDDLE),
    "the right word said first, in all seven wordings, 8 to 32": (
        "every wording, right",
        "every wording, none",
        MIDDLE,
    ),
    "a wrong word said first, 32 to 128": ("wrong", "none", (32, 64, 128)),
    "an unrelated word said first, 32 to 128": ("unrelated", "none", (32, 64, 128)),
    "the wrong word as the answer, shown against not shown, 0 to 32": (
        "wrong word given",
        "wrong word given, not shown",
        FEW,
    ),
    "held-out against trained question frames, 64": (
        "question, held out",
        "question, trained",
        (64,),
    ),
    "20 examples in a list against none, 16 or more": (
        "list, 20 examples",
        "list, 0 examples",
        SEEN,
    ),
}


def select(table: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Keep some conditions, in order, and name them.

    Parameters
    ----------
    table : DataFrame
        As `evaluation` gives it.
    titles : mapping
        Condition to title.

    Returns
    -------
    DataFrame
        With the column `series`: the title. Conditions that were not measured are absent.
    """
    kept = table[table["condition"].isin(list(titles))].assign(
        series=lambda rows: rows["condition"].map(titles)
    )
    order = {title: place for place, title in enumerate(titles.values())}
    return kept.sort_values("series", key=lambda names: names.map(order), kind="stable")


def pooled(table: pd.DataFrame, levels: Collection[int] | None = None) -> pd.DataFrame:
    """Take levels of exposure together: one share for each model and condition.

    >>> rows = pd.DataFrame({"model": "m", "condition": "none", "exposures": [0, 1, 2],
    ...                      "n": [10, 30, 60], "estimate": [0.5, 0.1, 1.0]})
    >>> pooled(rows, [0, 1])[["n", "estimate"]].values.tolist()
    [[40.0, 0.2]]
    """
    rows = table if levels is None else table[table["exposures"].isin(list(levels))]
    found = []
    for (model, condition), group in rows.groupby(["model", "condition"], sort=False):
        hits = int((group["estimate"] * group["n"]).round().sum())
        share = wilson(hits, int(group["n"].sum()))
        found.append((model, condition, share.n, *share[:3]))
    columns = {"model": str, "condition": str, "n": int, "estimate": float, "low": float}
    return pd.DataFrame(found, columns=[*columns, "high"]).astype(columns | {"high": float})


def difference(first: Interval, second: Interval) -> Interval:
    r"""Subtract two shares, with Newcombe's hybrid score interval.

    :math:`d - \sqrt{(p_1 - l_1)^2 + (u_2 - p_2)^2}` to
    :math:`d + \sqrt{(u_1 - p_1)^2 + (p_2 - l_2)^2}`, with Wilson's bounds l and u of each share.

    Notes
    -----
    Newcombe 1998, "Interval estimation for the difference between independent proportions",
    method 10, whose first example this is:

    >>> [round(x, 4) for x in difference(wilson(56, 70), wilson(48, 80))]
    [0.2, 0.0524, 0.3339, 70]
    """
    estimate = first.estimate - second.estimate
    below = ((first.estimate - first.low) ** 2 + (second.high - second.estimate) ** 2) ** 0.5
    above = ((first.high - first.estimate) ** 2 + (second.estimate - second.low) ** 2) ** 0.5
    return Interval(estimate, estimate - below, estimate + above, min(first.n, second.n))


def shares(table: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """Return one share for each question about the models.

    Parameters
    ----------
    table : DataFrame
        As `notebooks.analysis.atlas.family.evaluation` gives it.
    asked : mapping
        Title to a condition and the exposures taken together (None for all).

    Returns
    -------
    DataFrame
        `measure` (the title), `model, n, estimate, low, high`; what was not measured is absent.
    """
    found = [pooled(table[:0]).assign(measure="")]  # the columns, also where nothing is asked
    found += [
        pooled(table[table["condition"] == condition], levels).assign(measure=title)
        for title, (condition, levels) in asked.items()
    ]
    return pd.concat(found, ignore_index=True).drop(columns="condition")


def effects(table: pd.DataFrame, asked: Mapping = EFFECTS) -> pd.DataFrame:
    """Return one difference of shares for each question about the models.

    Parameters
    ----------
    table : DataFrame
        As `notebooks.analysis.atlas.family.evaluation` gives it.
    asked : mapping
        Title to two conditions, first minus second, and the exposures taken together.

    Returns
    -------
    DataFrame
        `measure` (the title), `model, estimate, low, high, n`; what was not measured is absent.
    """
    rows = []
    for title, (first, second, levels) in asked.items():
        found = pooled(table[table["condition"].isin([first, second])], levels)
        for model, group in found.groupby("model", sort=False):
            both = {
                row.condition: Interval(row.estimate, row.low, row.high, row.n)
                for row in group.itertuples()
            }
            if len(both) == 2:
                rows.append((title, model, *difference(both[first], both[second])))
    return pd.DataFrame(rows, columns=["measure", "model", "estimate", "low", "high", "n"])


def side_by_side(found: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """Lay out shares or effects for reading: one row a measure, one column a model.

    Parameters
    ----------
    found : DataFrame
        As `shares` or `effects` gives it.
    digits : int
        After the point.

    Returns
    -------
    DataFrame
        Texts with intervals; "not measured" where there is none.

    Examples
    --------
    >>> row = {"measure": "m", "model": "atlas-s", "estimate": 0.5, "low": 0.4, "high": 0.6}
    >>> side_by_side(pd.DataFrame([row])).loc["m"].to_dict()
    {'atlas-s': '0.50 [0.40, 0.60]'}
    """
    titles = {title: title for title in found["measure"].unique()}
    laid = wide(found, titles, digits=digits, by="model").T
    return laid.fillna("not measured").rename_axis("measure")
