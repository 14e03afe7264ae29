"""The analyses of the calibration chapter: tables from the verdicts of all methods and models."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import datasets, stats
from helpers.metrics import detection
from helpers.runs.panel import contests, gathering
from helpers.runs.panel.levels import ATLAS, OFTEN, SELDOM, SHOWN, Levels
from helpers.stats import agreement, averages, dose_response
from helpers.studies import STUDIES

YARDSTICK = "asked once"
# In the questions that training left out, as a real question of a reader's would be.
UNREAD = {
    f"asked once, unread wording {letter}": f"asked_frame{frame}"
    for letter, frame in zip("AB", datasets.HELD_OUT, strict=True)
}
# With every prompt read in full a list would be read again for each of its hundred objects.
BY_TOKEN = "Which is most informative per token, if shared beginnings are read once?"


def titles() -> dict[str, str]:
    """Return how each study's method is called."""
    return {name: study.TITLE for name, study in STUDIES.items()}


def curve(table: pd.DataFrame, by: str, n_resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Average verdicts by level of exposure, one curve for each name in a column.

    >>> table = pd.DataFrame({"known": [0.0, 1.0], "level": [0, 4], "method": "x"})
    >>> curve(table, "method")[["model", "exposures", "estimate"]].values.tolist()
    [['x', 0, 0.0], ['x', 4, 1.0]]
    """
    columns = ["exposures", "measure", "estimate", "low", "high", "n", "model"]
    parts = [pd.DataFrame(columns=columns)]
    for name, rows in table.groupby(by, sort=False):
        rows = rows.sort_values("level", kind="stable")
        found = averages(rows, ["known"], "level", n_resamples, seed)
        parts.append(found.rename(columns={"level": "exposures"}).assign(model=name))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def doses(plain: pd.DataFrame, levels: Levels = ATLAS) -> pd.DataFrame:
    """Fit the logistic curves of every model and method."""
    rows = []
    for (model, method), part in plain.groupby(["model", "method"], sort=False):
        given = part["known"], part["exposures"], part["relation"]
        slope, half = dose_response.slope(*given), dose_response.half_dose(*given)
        found = {
            "log odds a doubling": (*slope[:3], slope.n),
            "odds ratio": (*np.exp(slope[:3]), slope.n),
            "half are known after": half,
            levels.alarm: share(part.loc[part["exposures"] == 0, "known"]),
        }
        rows += [(model, method, name, *values) for name, values in found.items()]
    columns = ["model", "method", "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def areas(
    table: pd.DataFrame, column: str, contrast: str, n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Measure how well a column tells facts of different exposure apart, method by method.

    Facts are drawn anew within the two groups, so that neither changes its size.
    """
    rows = table[table[contrast].notna()]
    wide = gathering.spread(rows, column)
    label = gathering.truth(rows, wide.index, contrast)
    found = contests.contest(wide, label, detection.area, label, n_resamples=n_resamples, seed=seed)
    return found.assign(contrast=contrast)


def parts(table: pd.DataFrame) -> pd.DataFrame:
    """Take the methods apart: one row for each fact, model and figure behind a verdict."""
    made = [
        rows.assign(method=f"{study.TITLE}: {title}", score=sign * rows.get(column, np.nan))
        for study in STUDIES.values()
        for rows in [table[table["method"] == study.TITLE]]
        for column, (title, sign) in getattr(study, "FIGURES", {}).items()
    ]
    return pd.concat([*made, yardstick(table)], ignore_index=True)


def yardstick(table: pd.DataFrame) -> pd.DataFrame:
    """Return the score to compare each method with: the plain question, asked once."""
    once = table[table["method"] == STUDIES["monitor"].TITLE]
    return once.assign(method=YARDSTICK, score=once.get("asked_once", np.nan))


def unread(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of asking once in each wording that no bundled model has read."""
    once = table[table["method"] == STUDIES["monitor"].TITLE]
    rows = [once.assign(method=m, score=once.get(c, np.nan)) for m, c in UNREAD.items()]
    return pd.concat(rows, ignore_index=True)


def how_many(
    shown: pd.DataFrame,
    group: pd.Series,
    levels: Levels = ATLAS,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Tabulate by how many of the methods facts are called known, group by group."""
    number = shown.T.groupby(level="model").sum().T
    group, rows = group.loc[number.index], []
    for name in levels.groups:
        for count in range(shown.columns.get_level_values("method").nunique() + 1):
            share_of = (number[group == name] == count).mean(axis=1)
            found = stats.bootstrap(share_of, n_resamples=n_resamples, seed=seed)
            rows.append((name, f"by {count}", *found))
    columns = ["read", "measure", "estimate", "low", "high", "n"]
    return _with_width(pd.DataFrame(rows, columns=columns))


def tokens(used: pd.DataFrame) -> pd.DataFrame:
    """Return the tokens that each method takes for one fact.

    >>> used = pd.DataFrame({"model": ["m"], "chapter": ["monitor"], "n_facts": [10],
    ...                      "tokens": [500], "forwarded": [200]})
    >>> tokens(used).loc[("m", "MONITOR")].tolist()
    [50.0, 20.0]
    """
    named = used.assign(method=used["chapter"].map(titles())).set_index(["model", "method"])
    return named[["tokens", "forwarded"]].div(named["n_facts"], axis=0)


def beliefs(told: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what the methods say of facts that were also told wrongly."""
    more = told["false_exposures"] - told["exposures"]
    words = ["false more often", "true more often"]
    told = told.assign(lesson=np.select([more > 0, more < 0], words, "both as often"))
    names = {"known": "the truth is called known", "misled": "the false object is named"}
    rows = []
    for (lesson, method), part in told.groupby(["lesson", "method"], sort=False):
        for column, name in names.items():
            if part[column].notna().all():
                rows.append((lesson, method, name, *share(part[column])))
    columns = ["lesson", "method", "verdict", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def share(marks: pd.Series) -> stats.Interval:
    """Return the mean of zeros and ones with Wilson's interval.

    >>> share(pd.Series([1.0, 0.0])).estimate
    0.5
    """
    return stats.wilson(int(marks.sum()), len(marks))


def questions(
    plain: pd.DataFrame,
    told: pd.DataFrame,
    price: pd.DataFrame,
    levels: Levels = ATLAS,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, tuple[str, bool, pd.DataFrame]]:
    """Hold one contest of the methods for each question that a reader may have.

    Counts of one's own say nothing about false statements, so no question is about them.
    """
    draw = {"n_resamples": n_resamples, "seed": seed}
    scored = pd.concat([plain, yardstick(plain)])
    shown = gathering.spread(plain, "known")
    read = (gathering.truth(plain, shown.index) > 0).astype(float)
    per_thousand: Mapping = (1000 / price["forwarded"]).to_dict()
    wrong = told[told["false_exposures"] > told["exposures"]]
    never = plain[plain["exposures"] == 0]
    bits = contests.contest(shown, read, agreement.information, read, scale=per_thousand, **draw)
    ranked = {
        question: (f"area, {contrast}", True, areas(scored, "score", contrast, **draw))
        for question, contrast in zip(levels.questions, (SHOWN, OFTEN, SELDOM))
    }
    false = {
        "Does the model hold the false belief?": (
            "false object named",
            True,
            rates(wrong, "misled", draw),
        ),
    }
    return {
        **ranked,
        levels.questions[-1]: (
            levels.alarm,
            False,
            rates(never, "known", draw | {"higher": False}),
        ),
        "What if there is no answer key?": (
            "area of the keyless score",
            True,
            areas(plain, "blind", SHOWN, **draw),
        ),
        **(false if levels is ATLAS else {}),
        BY_TOKEN: ("bits per 1,000 tokens forwarded", True, bits),
    }


def rates(table: pd.DataFrame, column: str, draw: dict[str, int | bool]) -> pd.DataFrame:
    """Hold a contest of mean verdicts on some facts, with `draw` for `contests.contest`."""
    wide = gathering.spread(table, column)
    one = pd.Series(1.0, index=wide.index)
    found = contests.contest(wide, one, lambda values: values[..., 0].mean(axis=-1), one, **draw)
    return _with_width(found)


def _with_width(rows: pd.DataFrame) -> pd.DataFrame:
    """Give shares of none and of all Wilson's interval: resampling gives them none."""
    rows = rows.copy()
    for place, row in rows[rows["estimate"].isin((0.0, 1.0))].iterrows():
        found = stats.wilson(int(row["estimate"] * row["n"]), int(row["n"]))
        rows.loc[place, ["low", "high"]] = found.low, found.high
    return rows
