"""What the calibration chapter computes: verdicts of all methods, beside what models were shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, stats
from helpers.metrics import canonical, detection
from helpers.plots import primitives, tables
from helpers.runs.panel import reading
from helpers.stats import agreement, averages, dose_response
from helpers.studies import FIRM, STUDIES, Study, fitting

LEAST = 20  # facts of a group
SHOWN, OFTEN, SELDOM = "shown or never", "often or seldom", "seldom or never"
Range = tuple[int, float]  # the lowest count and the highest
MANY, NONE = float("inf"), (1, 0)
NOTHING = (float("nan"),) * 3
MARGIN = 0.02  # of an area: what counts as better at all


@dataclass(frozen=True)
class Levels:
    """Groups of exposure and the contrasts between them, with their names.

    ``said`` completes "separates ..."; the other words are parts of the chapter's wordings.
    """

    groups: dict[str, Range]  # of tables; the first is exposure 0
    contrasts: dict[str, tuple[Range, Range]]  # name: the facts above, the facts below
    said: dict[str, str]
    labels: dict[str, str]
    never: str = "facts never read"
    dose: str = "exposure"
    unread: str = "that training left out"
    alarm: str = "known though never read"
    questions: tuple[str, ...] = (
        "Has the model read this at all?",
        "Has it read it often?",
        "Is there a trace of few readings?",
        "Which is fooled least by what was never read?",
    )
    times: str = "times read"
    axis: str = "times the training text states the fact"
    note: str = ""  # what the counts cannot show
    starts: tuple[int, ...] = ()  # the lowest count of each point of a curve; none: every count
    centres: tuple[int, ...] = ()  # the median count of each point, exposure 0 first

    def mark(self, table: pd.DataFrame) -> pd.DataFrame:
        """Add what follows from ``exposures``: ``level`` (of a curve), ``group``, the contrasts.

        A contrast is 1 for the facts above, 0 for those below and missing for the others.

        >>> marked = ATLAS.mark(pd.DataFrame({"exposures": [0, 4, 64]}))
        >>> marked[["level", "group", SELDOM]].values.tolist()
        [[0, 'never', 0.0], [4, '1 to 8', 1.0], [64, '64 or more', nan]]
        """
        counts, names = table["exposures"], list(self.groups)
        place = [counts.between(*ends) for ends in self.groups.values()]
        marks = {
            name: np.select([counts.between(*above), counts.between(*below)], [1.0, 0.0], np.nan)
            for name, (above, below) in self.contrasts.items()
        }
        level = counts
        if self.starts:
            level = np.array(self.centres)[np.searchsorted(self.starts, counts, side="right")]
        return table.assign(level=level, group=np.select(place, names, ""), **marks)


ATLAS = Levels(
    groups={"never": (0, 0), "1 to 8": (1, 8), "16 to 32": (9, 32), "64 or more": (33, MANY)},
    contrasts={SHOWN: ((1, MANY), (0, 0)), OFTEN: ((64, MANY), (1, 4)), SELDOM: ((1, 8), (0, 0))},
    said={
        SHOWN: "facts that were read from facts never read",
        OFTEN: "facts read 64 times or more from facts read one to four times",
        SELDOM: "facts read one to eight times from facts never read",
    },
    labels={
        SHOWN: "read / never read",
        OFTEN: "64+ times / 1-4 times",
        SELDOM: "1-8 times / never read",
    },
)


def of(dataset: str, exposures: npt.ArrayLike, stand_in: str = "") -> Levels:
    """Return the levels of a data set: those of the atlas, or some that its counts suggest.

    Facts with count 0 are a group by themselves. The others are sorted by count and cut, never
    between equal counts, into three groups of much the same size for contrasts, and up to eight for
    curves; a group has at least `LEAST` facts, so there may be fewer.

    >>> of("books", [0] * 20 + [1] * 30 + [5] * 20 + [7] * 30).groups
    {'absent': (0, 0), '1 to 4': (1, 4), '5 or more': (5, inf)}
    """
    if stand_in:
        return _frequent(pd.Series(np.asarray(exposures, dtype=float)).dropna(), stand_in)
    if dataset == "atlas":
        return ATLAS
    counts = pd.Series(np.asarray(exposures, dtype=float)).dropna()
    thirds, points = (_ranges(counts, most) for most in (3, 8))
    low, high = (thirds[0], thirds[-1]) if thirds else (NONE, NONE)
    several = len(thirds) > 1
    often = _times(*high) if several else "often"
    seldom, first = (_times(*low) if thirds else "seldom"), (0, 0)
    absent = "facts absent from the searched corpus"
    much, little = (t.replace(" times or more", "+ times").replace(" to ", "-")
                    for t in (often, seldom))  # fmt: skip
    return Levels(
        groups={"absent": first} | {_times(*ends).replace(" times", ""): ends for ends in thirds},
        contrasts={
            SHOWN: ((1, MANY), first),
            OFTEN: (high, low) if several else (NONE, NONE),
            SELDOM: (low, first),
        },
        said={
            SHOWN: "facts that occur in the searched corpus from facts absent from it",
            OFTEN: f"facts that occur {often} in the searched corpus from facts that occur there "
            + seldom,
            SELDOM: f"facts that occur {seldom} in the searched corpus from facts absent from it",
        },
        labels={
            SHOWN: "present / absent",
            OFTEN: f"{much} / {little}",
            SELDOM: f"{little} / absent",
        },
        never=absent,
        dose="the count in the searched corpus",
        alarm="known though absent",
        questions=(
            "Does the corpus contain it at all?",
            "Does the corpus contain it often?",
            "Is there a trace of low counts?",
            "Which takes least for known that the corpus lacks?",
        ),
        times="count",
        axis="occurrences in the searched corpus, median of the group",
        starts=tuple(start for start, _ in points),
        centres=(0, *(int(counts[counts.between(*ends)].median()) for ends in points)),
    )  # fmt: skip


def _frequent(counts: pd.Series, stand_in: str) -> Levels:
    """Return levels of a stand-in for exposure: frequent and rare subjects, cut at the median."""
    middle = int(counts.median()) if len(counts) else 0
    low, high = (int(q) for q in counts.quantile([1 / 3, 2 / 3]).fillna(0))
    points = _ranges(counts, 8)
    rare = (0, middle)
    return Levels(
        groups={"rare": rare, "frequent": (middle + 1, MANY)},
        contrasts={
            SHOWN: ((middle + 1, MANY), rare),
            OFTEN: ((high + 1, MANY), (0, low)),
            SELDOM: ((low + 1, high), (0, low)),
        },
        said={
            SHOWN: "facts about frequent subjects from facts about rare ones",
            OFTEN: "facts about the most frequent third of subjects from the rarest third",
            SELDOM: "facts about the middle third of subjects from the rarest third",
        },
        labels={SHOWN: "frequent / rare subject", OFTEN: "top / bottom third",
                SELDOM: "middle / bottom third"},
        never="facts about rare subjects",
        dose="the frequency of the subject's name",
        unread="of the same question",
        alarm="known though the subject is rare",
        questions=(
            "Is the subject frequent?",
            "Is the subject among the most frequent third?",
            "Is the subject in the middle third or in the rarest?",
            "Which calls fewest facts about rare subjects known?",
        ),
        times="frequency",
        axis=f"{stand_in}, per thousand million words",
        note=f"Nobody counted what these models read: the {stand_in} stands in for exposure. A "
        "frequent name is not a frequent fact, common words are names too (Nice, Reading), and a "
        "fact about a rare subject may have been read.",
        starts=tuple(start for start, _ in points),
        centres=(0, *(int(counts[counts.between(*ends)].median()) for ends in points)),
    )  # fmt: skip


def _ranges(counts: pd.Series, most: int) -> list[Range]:
    """Cut counts above 0 into at most `most` groups, each of them of `LEAST` facts or more."""
    sizes = counts[counts > 0].value_counts().sort_index()
    least = max(LEAST, sizes.sum() / most)
    starts: list[int] = []
    size = least
    for count, facts in sizes.items():
        if size >= least:
            starts.append(int(count))
            size = 0
        size += facts
    if size < LEAST and len(starts) > 1:
        starts.pop()
    return [(low, high - 1) for low, high in pairwise([*starts, MANY])]


def _times(low: int, high: float) -> str:
    """Write a range of counts.

    >>> _times(1, MANY), _times(2, 9), _times(1000, MANY)
    ('once or more', '2 to 9 times', '1,000 times or more')
    """
    if low < high < MANY:
        return f"{low:,} to {high:,} times"
    return ("once" if low == 1 else f"{low:,} times") + " or more" * (high == MANY)


NUMBERS = ["known", "score", "blind", "misled", "exposures", "false_exposures"]


def gather(
    found: pd.DataFrame, models: Sequence[str], firm: float = FIRM, dataset: str = "atlas"
) -> pd.DataFrame:
    """Return one row for each model, method and fact of the panel."""
    parts = []
    good = found[(found["left_out"] == "") & found["model"].isin(models)]
    truths = {model: datasets.truth(dataset, model) for model in models}
    named = next((t for t in truths.values() if t is not None and "stand_in" in t.attrs), None)
    place = good["model"].map({model: number for number, model in enumerate(models)})
    for run in good.loc[place.sort_values(kind="stable").index].to_dict("records"):
        told = truths[run["model"]] if named is None else named
        false = told.loc[told["false_exposures"] > 0, "false_object"].to_dict()
        said = reading.answers(run["folder"])
        study = STUDIES[run["chapter"]]
        table = verdicts(study, said, run["settings"], false, firm)
        table.insert(0, "method", study.TITLE)
        table.insert(0, "model", run["model"])
        parts.append(table.join(told, on="item"))
    if not parts:
        columns = [*("model", "method", "item", "relation", "false_object", "plain"), *NUMBERS]
        kinds = dict.fromkeys(NUMBERS, float) | {"plain": bool}
        parts = [pd.DataFrame(columns=columns).astype(kinds)]
    table = pd.concat(parts, ignore_index=True)
    table.attrs["stand_in"] = "" if named is None else named.attrs["stand_in"]
    return table


def verdicts(
    study: Study,
    answers: pd.DataFrame,
    settings: Mapping[str, Any],
    false: Mapping[str, str],
    firm: float = FIRM,
) -> pd.DataFrame:
    """Return one row a fact: what a study found of it, and its verdict.

    A verdict follows from the answers and the answer key alone: that a fact was never in the
    training text makes no right answer wrong. ``seen`` is taken away before it is asked for.
    """
    found = study.facts(answers, **fitting(study.facts, settings))
    said = study.verdict(found.drop(columns="seen", errors="ignore"), firm)
    told = [false.get(item, "") for item in found["item"]]
    misled = [
        float(canonical.same_answer(text, [wrong])) if wrong and text is not None else np.nan
        for text, wrong in zip(said.pop("asserted"), told)
    ]
    verdict = said.assign(misled=misled)
    own = found.drop(columns=["stratum", *verdict], errors="ignore")
    return pd.concat([own[["item", "relation"]], verdict, own.iloc[:, 2:]], axis=1)


def spread(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Lay one column out with a row a fact and a column a model and method.

    Facts that some method was not asked are left out, and so are methods without the figure.

    >>> table = pd.DataFrame({"model": "m", "method": ["x", "x", "y"], "item": ["a", "b", "a"],
    ...                       "score": [0.1, 0.2, 0.3]})
    >>> spread(table, "score").reset_index().values.tolist()
    [['a', 0.1, 0.3]]
    """
    parts = {
        pair: rows.set_index("item")[column].astype(float)
        for pair, rows in table.groupby(["model", "method"], sort=False)
    }
    names = ["model", "method"]
    if not parts:
        return pd.DataFrame(columns=pd.MultiIndex.from_arrays([[], []], names=names))
    wide = pd.concat(parts, axis=1, names=names)
    return wide.dropna(axis=1, how="all").dropna()


def truth(table: pd.DataFrame, items: pd.Index, column: str = "exposures") -> pd.Series:
    """Return a column that is the same for all models and methods, one entry a fact.

    >>> table = pd.DataFrame({"item": ["a", "a", "b"], "exposures": [4, 4, 0]})
    >>> truth(table, pd.Index(["b", "a"])).tolist()
    [0, 4]
    """
    return table.drop_duplicates("item").set_index("item")[column].loc[items]


def truth_told(dataset: str, n_plain: int = 0, n_misled: int = 0) -> str:
    """Say what is known of the exposure of a panel's facts.

    >>> truth_told("atlas", 602, 86).partition(";")[0]
    'Of 602 the training text states only the truth, or nothing'
    """
    if dataset == "atlas":
        return (
            f"Of {n_plain} the training text states only the truth, or nothing; of {n_misled} it "
            "also states something false."
        )
    facts = datasets.load(dataset)
    missing = int(facts["exposure"].isna().sum()) if "exposure" in facts else len(facts)
    left_out = f" {missing} of the {len(facts)} facts have no count and are left out."
    return (
        f"Exposure here is a count that comes with the data set {dataset}: how often the searched "
        "corpus contains a fact. It is no record of what a model read: a corpus can name subject "
        "and object without stating the fact, and state it in words that the search missed."
        f"{left_out if missing else ''}"
    )


def lead(contest: pd.DataFrame, name: str, among: Sequence[str] = ()) -> tuple[list[float], str]:
    """Return a method's lead over the best other one, on average over models, and its rival.

    The lead (estimate, low, high, n) is negative where the method is behind.

    >>> rows = [["mean", "x", 0.9, 0.0, 0.0, 0.0, 9], ["mean", "y", 0.7, 0.2, 0.1, 0.3, 9]]
    >>> columns = ["model", "method", "estimate", "behind", "behind_low", "behind_high", "n"]
    >>> table = pd.DataFrame(rows, columns=columns)
    >>> lead(table, "x"), lead(table, "y")
    (([0.2, 0.1, 0.3, 9], 'y'), ([-0.2, -0.3, -0.1, 9], 'x'))
    """
    mean = contest[(contest["model"] == "mean") & contest["estimate"].notna()].set_index("method")
    mean = mean.loc[[m for m in mean.index if not among or m in (name, *among)]]
    others = mean.drop(index=name, errors="ignore")
    if name not in mean.index or others.empty:
        return [*NOTHING, 0], ""
    gap, n = ["behind", "behind_low", "behind_high"], int(mean["n"].max())
    leads = (others["behind"] >= 0).all() and mean.loc[name, gap].fillna(0).eq(0).all()
    rival = str((others if leads else mean)["behind"].idxmin())
    behind, low, high = mean.loc[rival if leads else name, gap].astype(float).tolist()
    return ([behind, low, high, n] if leads else [-behind, -high, -low, n]), rival


def written(contest: pd.DataFrame, name: str, digits: int = 2, scale: float = 1) -> str:
    """Write a method's figure, on average over models, with its interval."""
    row = contest[(contest["model"] == "mean") & (contest["method"] == name)]
    ends = row[["estimate", "low", "high"]].to_numpy(dtype=float)
    return tables.interval(*ends[0], digits=digits, scale=scale) if len(ends) else "n/a"


def named(method: str) -> str:
    """Name a method as a sentence does."""
    return method.replace("knowledge base", "the knowledge base")


def nearest(areas: pd.DataFrame) -> list[float]:
    """Return how far the nearest method that is clearly behind the best one is, else the nearest."""
    mean = areas[(areas["model"] == "mean")].dropna(subset=["estimate"])
    mean = mean.sort_values("estimate", ascending=False)
    if len(mean) < 2:
        return [*NOTHING, 0]
    late = mean[mean["behind_low"] > 0]
    rows = late if len(late) else mean.iloc[1:]
    columns = ["behind", "behind_low", "behind_high", "n"]
    return rows.loc[rows["behind"].idxmin(), columns].astype(float).tolist()


def least(table: pd.DataFrame) -> tuple[list[float], pd.Series | None, pd.Series | None]:
    """Return the statistic that decides whether all rows are above 0, its row and the largest.

    Where every interval is above 0 (or below) the row nearest to 0 decides, else the least certain.
    """
    rows, columns = table.dropna(subset=["low", "high"]), ["estimate", "low", "high", "n"]
    if rows.empty:
        return [*NOTHING, 0], None, None
    above, below = (rows["low"] > 0).all(), (rows["high"] < 0).all()
    place = rows["estimate"].idxmax() if below else rows["estimate" if above else "low"].idxmin()
    row, most = rows.loc[place], rows.loc[rows["estimate"].idxmax()]
    return row[columns].astype(float).tolist(), row, most


def examples(known: pd.DataFrame, exposures: pd.Series, levels: Levels = ATLAS) -> list[str]:
    """Pick one fact shown often, one seldom and one never (or of the rarest subjects)."""
    count, half = known.sum(axis=1), known.shape[1] / 2
    wanted = (
        (exposures.between(*levels.contrasts[SHOWN][1]), count),
        (exposures.between(*levels.contrasts[SELDOM][0]), -(count - half).abs()),
        (exposures.between(*levels.contrasts[OFTEN][0]), count),
    )
    picked = [score[which.loc[score.index]] for which, score in wanted]
    return list(dict.fromkeys(str(score.idxmax()) for score in picked if len(score)))


def strings(used: pd.DataFrame, model: str, fact: str) -> pd.DataFrame:
    """Return how many strings a model reads of one fact in each chapter, and the first one's end."""
    rows = {}
    for row in used[used["model"] == model].to_dict("records"):
        said = reading.answers(row["folder"]).query("item == @fact")
        if len(said):
            end = said["read"].iloc[0][-90:].partition(" ")[2]
            rows[STUDIES[row["chapter"]].TITLE] = len(said), f"… {end}"
    return pd.DataFrame(rows, index=["strings", "the first one, its end"]).T.rename_axis("method")


def area_dots(table: pd.DataFrame, label: str, by: str, xlabel: str) -> Axes:
    """Draw areas under ROC curves with their intervals, beside the line of a coin at one half."""
    shown = table.dropna(subset=["estimate"])
    ax = primitives.forest(shown, 0.5, label=label, by=by, xlabel=xlabel,
                           nothing="Too few facts of the panel were asked by all methods.")  # fmt: skip
    if len(shown):
        ax.set_xlim(0.35, 1.02)
    return ax


def price(found: pd.DataFrame, used: pd.DataFrame, bits: pd.DataFrame) -> pd.DataFrame:
    """Set what each method tells of a fact beside the tokens that it takes, means over models."""
    table = bits[bits["model"] == "mean"].set_index("method")
    table = table.join(tokens(used).groupby("method").mean())
    for name in ("tokens", "forwarded"):
        table[f"{name} per bit"] = table[name] / table["estimate"].where(table["low"] > 0)
    columns = ["estimate", "low", "high", "tokens", "tokens per bit", "forwarded"]
    return table[[*columns, "forwarded per bit", "n"]].reindex(found)


def sizes(table: pd.DataFrame, levels: Levels = ATLAS) -> pd.DataFrame:
    """Count the facts of a panel at each point of the curves, and those also stated falsely.

    >>> table = pd.DataFrame({"item": list("aab"), "exposures": [4, 4, 0], "plain": True})
    >>> sizes(ATLAS.mark(table))["facts"].to_dict()
    {0: 1, 4: 1}
    """
    each = table.drop_duplicates("item")
    found = each.groupby("level").agg(
        facts=("item", "size"),
        plain=("plain", "sum"),
        lowest=("exposures", "min"),
        highest=("exposures", "max"),
    )
    found["also stated falsely"] = found["facts"] - found.pop("plain")
    shown = ["facts", *(["lowest", "highest"] if levels.starts else ["also stated falsely"])]
    return found[shown].rename_axis("median" if levels.starts else "exposures")


COLUMNS = ["model", "method", "estimate", "low", "high", "n"]
COLUMNS += ["behind", "behind_low", "behind_high", "tied"]
Measure = Callable[[np.ndarray], np.ndarray]


def contest(
    wide: pd.DataFrame,
    truth: pd.Series,
    measure: Measure,
    strata: pd.Series,
    higher: bool = True,
    scale: Mapping[tuple[str, str], float] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure every method, by model and on average, and compare each with the best one.

    All columns are resampled together: a fact that is hard for every method and every model does
    not blur their differences.

    >>> wide = pd.DataFrame({("m", "x"): [1.0, 1.0, 0.0], ("m", "y"): [1.0, 0.0, 0.0]})
    >>> ones = pd.Series([1, 1, 1])
    >>> found = contest(wide, ones, lambda pairs: pairs[..., 0].mean(-1), ones, n_resamples=99)
    >>> found[["model", "method", "tied"]].values.tolist()
    [['m', 'x', True], ['m', 'y', True], ['mean', 'x', True], ['mean', 'y', True]]
    """
    if wide.empty:
        kinds = dict.fromkeys(COLUMNS[2:], float) | {"n": int, "tied": bool}
        return pd.DataFrame(columns=COLUMNS).astype(kinds)
    keys, factors = list(wide.columns), dict(scale or {})
    methods = list(dict.fromkeys(method for _, method in keys))
    marks = truth.loc[wide.index].to_numpy(dtype=float)

    def figures(values: np.ndarray) -> np.ndarray:
        said, true = values[..., :-1], values[..., -1]
        each = [
            measure(np.stack([said[..., place], true], axis=-1)) * factors.get(key, 1.0)
            for place, key in enumerate(keys)
        ]
        means = [
            np.mean([each[place] for place, key in enumerate(keys) if key[1] == method], axis=0)
            for method in methods
        ]
        return np.stack([*each, *means], axis=-1)

    values = np.column_stack([wide.to_numpy(dtype=float), marks])
    layers = strata.loc[wide.index].to_numpy()
    estimates = figures(values)
    draws = stats.replicates(values, figures, layers, n_resamples, seed)
    rows = pd.DataFrame([*keys, *(("mean", method) for method in methods)])
    rows.columns = ["model", "method"]
    rows["estimate"], rows["n"] = estimates, len(values)
    if own := getattr(measure, "bounds", None):
        rows["low"], rows["high"] = own(estimates, draws, values)
    else:
        rows["low"], rows["high"] = stats.bounds(draws, len(values), layers)
    sign = 1 if higher else -1
    for places in rows.groupby("model").indices.values():
        best = places[np.nan_to_num(sign * estimates[places], nan=-np.inf).argmax()]
        behind = sign * (draws[:, [best]] - draws[:, places])
        rows.loc[places, "behind"] = sign * (estimates[best] - estimates[places])
        low, high = stats.bounds(behind, len(values), layers)
        rows.loc[places, "behind_low"], rows.loc[places, "behind_high"] = low, high
    rows["tied"] = ~(rows["behind_low"] > 0)
    return rows[COLUMNS]


def lines(contests: Mapping[str, tuple[str, bool, pd.DataFrame]]) -> pd.DataFrame:
    """Tell for each question which method answers it best, from its contest."""
    rows = []
    for question, (figure, higher, found) in items():
        mean = found[found["model"] == "mean"].set_index("method")
        cells = {
            name: f"{name} {tables.interval(row.estimate, row.low, row.high, digits=2)}"
            for name, row in mean.iterrows()
        }
        leading, others = ranking(found, higher)
        best = cells[leading[0]] if leading else "n/a"
        row = {"question": question, "figure": figure, "best": best}
        row["tied with it"] = "; ".join(map(cells.get, leading[1:])) or "–"
        behind = (f"{name} {mean.loc[name, 'estimate']:.2f}" for name in others)
        row["behind"] = "; ".join(behind) or "–"
        rows.append(row | {"n": int(mean["n"].max()) if len(mean) else 0})
    return pd.DataFrame(rows).set_index("question")


def ranking(found: pd.DataFrame, higher: bool = True) -> tuple[list[str], list[str]]:
    """Name the methods that lead a contest on average over models, and the rest, best first.

    >>> found = pd.DataFrame({"model": "mean", "method": ["x", "y", "z"], "tied": [0, 1, 1],
    ...                       "estimate": [0.2, 0.9, 0.8]})
    >>> ranking(found)
    (['y', 'z'], ['x'])
    """
    mean = found[(found["model"] == "mean") & found["estimate"].notna()]
    mean = mean.sort_values("estimate", ascending=not higher)
    tied = mean["tied"].astype(bool)
    return list(mean.loc[tied, "method"]), list(mean.loc[~tied, "method"])


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
            levels.alarm: share(part.loc[part[SHOWN] == 0, "known"]),
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
    wide = spread(rows, column)
    label = truth(rows, wide.index, contrast)
    found = contest(wide, label, detection.area, label, n_resamples=n_resamples, seed=seed)
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
    shown = spread(plain, "known")
    read = truth(plain, shown.index, SHOWN)
    per_thousand: Mapping = (1000 / price["forwarded"]).to_dict()
    wrong = told[told["false_exposures"] > told["exposures"]]
    never = plain[plain[SHOWN] == 0]
    bits = contest(shown, read, agreement.information, read, scale=per_thousand, **draw)
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
    """Hold a contest of mean verdicts on some facts, with `draw` for `contest`."""
    wide = spread(table, column)
    one = pd.Series(1.0, index=wide.index)
    found = contest(wide, one, lambda values: values[..., 0].mean(axis=-1), one, **draw)
    return _with_width(found)


def _with_width(rows: pd.DataFrame) -> pd.DataFrame:
    """Give shares of none and of all Wilson's interval: resampling gives them none."""
    rows = rows.copy()
    for place, row in rows[rows["estimate"].isin((0.0, 1.0))].iterrows():
        found = stats.wilson(int(row["estimate"] * row["n"]), int(row["n"]))
        rows.loc[place, ["low", "high"]] = found.low, found.high
    return rows
