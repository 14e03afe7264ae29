"""What the calibration chapter computes: verdicts of all methods, beside what models were shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, stats
from helpers.metrics import canonical, roc_curve
from helpers.runs.panel import panel_answers
from helpers.stats import agreement, dose_response, group_averages
from helpers.studies import FIRM_THRESHOLD, STUDIES, Study, settings_for_function
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    EXPOSURE_CONTRASTS,
    OFTEN_OR_SELDOM,
    SELDOM_OR_NEVER,
    SHOWN_OR_NEVER,
    ExposureLevels,
    levels_of_dataset,
)
from notebooks.kit.plots import result_tables, shared_figures

__all__ = ["OFTEN_OR_SELDOM", "SELDOM_OR_NEVER", "SHOWN_OR_NEVER", "levels_of_dataset"]
METHOD_TITLES = {
    name: study.TITLE for name, study in STUDIES.items()
}  # of each study's method
EQUIVALENCE_MARGIN = 0.02  # of an area: what counts as better at all
FALSE_ALARM_RATE = 0.05  # the share of false alarms at which methods are compared
NO_ESTIMATE = (float("nan"),) * 3
MESSAGE_TOO_FEW_FACTS = "Too few facts of the panel were asked by all methods."
SLOPE_LABEL = "log odds a doubling"
ESTIMATE_COLUMNS = ["estimate", "low", "high", "n"]
NUMERIC_COLUMNS = ["known", "score", "blind", "misled", "exposures", "false_exposures"]


def verdicts_of_all_runs(
    found: pd.DataFrame,
    models: Sequence[str],
    firm: float = FIRM_THRESHOLD,
    dataset: str = "atlas",
) -> pd.DataFrame:
    """Return one row for each model, method and fact of the panel."""
    parts = []
    good = found[(found["left_out"] == "") & found["model"].isin(models)]
    truths = {model: datasets.fact_exposure(dataset, model) for model in models}
    named = next(
        (t for t in truths.values() if t is not None and "stand_in" in t), None
    )
    place = good["model"].map({model: number for number, model in enumerate(models)})
    for run in good.loc[place.sort_values(kind="stable").index].to_dict("records"):
        told = truths[run["model"]] if named is None else named
        false = told.loc[told["false_exposures"] > 0, "false_object"].to_dict()
        said = panel_answers.panel_answers(run["folder"])
        study = STUDIES[run["chapter"]]
        table = verdicts_of_study(study, said, run["settings"], false, firm)
        table.insert(0, "method", study.TITLE)
        table.insert(0, "model", run["model"])
        parts.append(table.join(told, on="item"))
    if not parts:
        columns = [
            *("model", "method", "item", "relation", "false_object", "plain"),
            *NUMERIC_COLUMNS,
        ]
        if named is not None:
            columns.append("stand_in")
        kinds = dict.fromkeys(NUMERIC_COLUMNS, float) | {"plain": bool}
        parts = [pd.DataFrame(columns=columns).astype(kinds)]
    return pd.concat(parts, ignore_index=True)


def verdicts_of_study(
    study: Study,
    answers: pd.DataFrame,
    settings: Mapping[str, Any],
    false: Mapping[str, str],
    firm: float = FIRM_THRESHOLD,
) -> pd.DataFrame:
    """Return what a study found of each fact, and its verdict, which never sees ``seen``."""
    found = study.facts(answers, **settings_for_function(study.facts, settings))
    said = study.verdict(found.drop(columns="seen", errors="ignore"), firm)
    told = [false.get(item, "") for item in found["item"]]
    misled = [
        float(canonical.same_answer(text, [wrong]))
        if wrong and text is not None
        else np.nan
        for text, wrong in zip(said.pop("asserted"), told)
    ]
    verdict = said.assign(misled=misled)
    own = found.drop(columns=["stratum", *verdict], errors="ignore")
    return pd.concat([own[["item", "relation"]], verdict, own.iloc[:, 2:]], axis=1)


def column_by_model_and_method(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Lay a column out, a row a fact that all were asked, a column a model and method."""
    parts = {
        pair: rows.set_index("item")[column].astype(float)
        for pair, rows in table.groupby(["model", "method"], sort=False)
    }
    names = ["model", "method"]
    if not parts:
        return pd.DataFrame(columns=pd.MultiIndex.from_arrays([[], []], names=names))
    wide = pd.concat(parts, axis=1, names=names)
    return wide.dropna(axis=1, how="all").dropna()


def column_by_fact(
    table: pd.DataFrame, items: pd.Index, column: str = "exposures"
) -> pd.Series:
    """Return a column that is the same for all models and methods, one entry a fact."""
    return table.drop_duplicates("item").set_index("item")[column].loc[items]


def sentence_on_facts_asked(
    levels: ExposureLevels,
    dataset: str,
    n_plain: int,
    n_misled: int,
    models: Sequence[str],
) -> str:
    """Say how many facts were asked, and what is known of their exposure."""
    said = f"{n_plain} facts were asked by every method"
    if levels.note:
        return f"{said}. {levels.note}"
    if dataset == "atlas":
        return f"{said}; in {n_misled} more the text also states something false ({number_of_models_in_words(models)})."
    facts = datasets.load(dataset)
    missing = int(facts["exposure"].isna().sum()) if "exposure" in facts else len(facts)
    left_out = f" {missing} of the {len(facts)} facts have no count and are left out."
    return (
        f"{said}. Exposure here is a count that comes with the data set {dataset}: how often the "
        "searched corpus contains a fact. It is no record of what a model read: a corpus can name "
        "subject and object without stating the fact, and state it in words that the search "
        f"missed.{left_out if missing else ''}"
    )


def number_of_models_in_words(models: Sequence[str]) -> str:
    """Write of how many models something is a mean."""
    return (
        f"mean of {len(models)} models" if len(models) > 1 else f"{len(models)} model"
    )


def lead_over_best_rival(
    contest: pd.DataFrame, name: str, among: Sequence[str] = ()
) -> tuple[list[float], str]:
    """Return a method's lead over the best other one (below 0: behind), and its rival."""
    mean = contest[
        (contest["model"] == "mean") & contest["estimate"].notna()
    ].set_index("method")
    mean = mean.loc[[m for m in mean.index if not among or m in (name, *among)]]
    others = mean.drop(index=name, errors="ignore")
    if name not in mean.index or others.empty:
        return [*NO_ESTIMATE, 0], ""
    gap, n = ["behind", "behind_low", "behind_high"], int(mean["n"].max())
    leads = (others["behind"] >= 0).all() and mean.loc[name, gap].fillna(0).eq(0).all()
    rival = str((others if leads else mean)["behind"].idxmin())
    behind, low, high = mean.loc[rival if leads else name, gap].astype(float).tolist()
    return ([behind, low, high, n] if leads else [-behind, -high, -low, n]), rival


def comparison_in_words(*leads: Sequence[float]) -> str:
    """Say how asking once compares with a measure that may be ahead by less than `EQUIVALENCE_MARGIN`.

    >>> comparison_in_words([0.03, 0.02, 0.04]), comparison_in_words([0.03, 0.02, 0.04], [0.01, -0.01, 0.03])
    ('better than', 'no worse (margin 0.02) than')
    """
    ahead = min(lead[1] for lead in leads) > 0
    return "better than" if ahead else f"no worse (margin {EQUIVALENCE_MARGIN}) than"


def mean_estimate_of_method(contest: pd.DataFrame, name: str) -> list[float]:
    """Return a method's figure, on average over models, with its interval and n."""
    row = contest[(contest["model"] == "mean") & (contest["method"] == name)]
    return (
        row[ESTIMATE_COLUMNS].astype(float).to_numpy()[0].tolist()
        if len(row)
        else [*NO_ESTIMATE, 0]
    )


def mean_estimate_in_words(
    contest: pd.DataFrame, name: str, digits: int = 2, scale: float = 1
) -> str:
    """Write a method's figure, on average over models, with its interval."""
    return result_tables.interval(
        *mean_estimate_of_method(contest, name)[:3], digits=digits, scale=scale
    )


def method_name_in_sentence(method: str) -> str:
    """Name a method as a sentence does."""
    return method.replace("knowledge base", "the knowledge base")


def weakest_and_strongest_row(
    table: pd.DataFrame,
) -> tuple[list[float], pd.Series | None, pd.Series | None]:
    """Return the statistic that decides whether all rows are above 0, its row and the largest."""
    rows = table.dropna(subset=["low", "high"])
    if rows.empty:
        return [*NO_ESTIMATE, 0], None, None
    # That nearest to 0 where all are above (or below), else the least certain
    above, below = (rows["low"] > 0).all(), (rows["high"] < 0).all()
    place = (
        rows["estimate"].idxmax()
        if below
        else rows["estimate" if above else "low"].idxmin()
    )
    row, most = rows.loc[place], rows.loc[rows["estimate"].idxmax()]
    return row[ESTIMATE_COLUMNS].astype(float).tolist(), row, most


def odds_ratios_in_words(
    row: pd.Series | None, most: pd.Series | None
) -> dict[str, str]:
    """Write the odds ratios of two slopes, and whose they are."""
    words = dict.fromkeys(("factor", "who", "most", "top"), "")
    if row is None or most is None:
        return words
    both = [(result_tables.interval(*np.exp(each[ESTIMATE_COLUMNS[:3]].astype(float)), digits=2),
             f"{each['method']}, {each['model']}") for each in (row, most)]  # fmt: skip
    return dict(zip(words, [*both[0], *both[1]]))


def method_pairs_in_words(
    row: pd.Series | None, most: pd.Series | None
) -> dict[str, str]:
    """Name the pairs of methods that agree least and most, and how far the latter do."""
    if row is None or most is None:
        return {"pair": "", "top": "", "most": ""}
    pair, top = (f"{each['first']} and {each['second']}" for each in (row, most))
    return {"pair": pair, "top": top,
            "most": result_tables.interval(*most[["estimate", "low", "high"]], digits=2)}  # fmt: skip


def example_facts_by_exposure(
    known: pd.DataFrame, plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> list[str]:
    """Pick one fact shown often, one seldom and one never (or of the rarest subjects)."""
    exposures = column_by_fact(plain, known.index)
    number, half = known.sum(axis=1), known.shape[1] / 2
    wanted = (
        (exposures.between(*levels.contrasts[OFTEN_OR_SELDOM][0]), number),
        (
            exposures.between(*levels.contrasts[SELDOM_OR_NEVER][0]),
            -(number - half).abs(),
        ),
        (exposures.between(*levels.contrasts[SHOWN_OR_NEVER][1]), number),
    )
    picked = [score[which.loc[score.index]] for which, score in wanted]
    return list(dict.fromkeys(str(score.idxmax()) for score in picked if len(score)))


def verdicts_on_example_facts(
    plain: pd.DataFrame,
    picked: Sequence[str],
    model: str,
    dataset: str,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> pd.DataFrame:
    """Lay out the four verdicts on some facts, each with its score."""
    rows = plain[(plain["model"] == model) & plain["item"].isin(picked)]
    names = datasets.load(dataset).set_index("fact")[["subject", "object"]]
    said = [
        f"{'yes' if row.known else 'no'}, {row.score:.2f}" for row in rows.itertuples()
    ]
    named = [", ".join(row) for row in names.loc[rows["item"]].itertuples(index=False)]
    rows = rows.assign(verdict=said, fact=named)
    wide = rows.pivot_table("verdict", ["exposures", "fact"], "method", aggfunc="first")
    wide = wide.reindex(columns=list(METHOD_TITLES.values())).sort_index(
        ascending=False
    )
    return wide.rename_axis([levels.times, "fact"]).rename_axis(columns=None)


def prompts_read_by_method(
    used: pd.DataFrame, model: str, picked: Sequence[str]
) -> pd.DataFrame:
    """Return how many strings a model reads of the last fact in each chapter, and one's end."""
    rows = {}
    for row in used[used["model"].eq(model) & bool(picked)].to_dict("records"):
        said = panel_answers.panel_answers(row["folder"])
        said = said[said["item"] == picked[-1]]
        end = said["read"].iloc[0][-90:].partition(" ")[2]
        rows[STUDIES[row["chapter"]].TITLE] = len(said), f"… {end}"
    return pd.DataFrame(
        rows, index=["strings", "the first one, its end"]
    ).T.rename_axis("method")


def matrix_of_method_pairs(
    above: pd.DataFrame, below: pd.DataFrame, methods: Sequence[str]
) -> pd.DataFrame:
    """Lay one measure of all pairs of methods above a diagonal and another below it.

    >>> pair = pd.DataFrame({"first": ["a"], "second": ["b"], "estimate": [0.5]})
    >>> matrix_of_method_pairs(pair, pair.assign(estimate=0.4), ["a", "b"]).fillna(1).to_numpy().tolist()
    [[1.0, 0.5], [0.4, 1.0]]
    """
    turned = below.rename(columns={"first": "second", "second": "first"})
    both = pd.concat([above, turned]).pivot_table("estimate", "first", "second")
    return both.reindex(index=methods, columns=methods).astype(float)


def draw_roc_areas(table: pd.DataFrame, label: str, by: str, xlabel: str) -> Axes:
    """Draw areas under ROC curves with their intervals, beside the line of a coin at one half."""
    shown = table.dropna(subset=["estimate"]).replace(
        {by: {n: n.partition(", ")[2] for n in UNREAD_WORDINGS}}
    )
    ax = shared_figures.dot_plot(
        shown, label, by, xlabel=xlabel, nothing=MESSAGE_TOO_FEW_FACTS
    )
    if len(shown):
        ax.axvline(0.5, color="black", lw=1, ls=":")
        ax.set_xlim(0.35, 1.02)
    return ax


def tokens_per_bit_by_method(used: pd.DataFrame, bits: pd.DataFrame) -> pd.DataFrame:
    """Set what each method tells of a fact beside the tokens that it takes, means over models."""
    table = bits[bits["model"] == "mean"].set_index("method")
    table = table.join(tokens_per_fact(used).groupby("method").mean())
    for name in ("tokens", "forwarded"):
        table[f"{name} per bit"] = table[name] / table["estimate"].where(
            table["low"] > 0
        )
    columns = ["estimate", "low", "high", "tokens", "tokens per bit", "forwarded"]
    return table[[*columns, "forwarded per bit", "n"]]


def fact_counts_by_exposure(
    table: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Count the facts of a panel at each point of the curves, and those also stated falsely."""
    each = table.drop_duplicates("item")
    found = each.groupby("level").agg(
        facts=("item", "size"),
        plain=("plain", "sum"),
        lowest=("exposures", "min"),
        highest=("exposures", "max"),
    )
    found["also stated falsely"] = found["facts"] - found.pop("plain")
    shown = [
        "facts",
        *(["lowest", "highest"] if levels.starts else ["also stated falsely"]),
    ]
    return found[shown].rename_axis("median" if levels.starts else "exposures")


METHOD_COMPARISON_COLUMNS = ["model", "method", "estimate", "low", "high", "n"]
METHOD_COMPARISON_COLUMNS += ["behind", "behind_low", "behind_high", "tied"]
ArrayMeasure = Callable[[np.ndarray], np.ndarray]


def compare_methods(
    wide: pd.DataFrame,
    truth: pd.Series,
    measure: ArrayMeasure,
    strata: pd.Series,
    scale: Mapping[tuple[str, str], float] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure methods by model and on average, and compare each with the best, drawn together."""
    if wide.empty:
        kinds = dict.fromkeys(METHOD_COMPARISON_COLUMNS[2:], float) | {
            "n": int,
            "tied": bool,
        }
        return pd.DataFrame(columns=METHOD_COMPARISON_COLUMNS).astype(kinds)
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
            np.mean(
                [each[place] for place, key in enumerate(keys) if key[1] == method],
                axis=0,
            )
            for method in methods
        ]
        return np.stack([*each, *means], axis=-1)

    values = np.column_stack([wide.to_numpy(dtype=float), marks])
    layers = strata.loc[wide.index].to_numpy()
    estimates = figures(values)
    draws = stats.bootstrap_replicates(values, figures, layers, n_resamples, seed)
    rows = pd.DataFrame([*keys, *(("mean", method) for method in methods)])
    rows.columns = ["model", "method"]
    rows["estimate"], rows["n"] = estimates, len(values)
    if own := getattr(measure, "bounds", None):
        rows["low"], rows["high"] = own(estimates, draws, values)
    else:
        rows["low"], rows["high"] = stats.interval_bounds(draws, len(values), layers)
    for places in rows.groupby("model").indices.values():
        best = places[np.nan_to_num(estimates[places], nan=-np.inf).argmax()]
        behind = draws[:, [best]] - draws[:, places]
        rows.loc[places, "behind"] = estimates[best] - estimates[places]
        low, high = stats.interval_bounds(behind, len(values), layers)
        rows.loc[places, "behind_low"], rows.loc[places, "behind_high"] = low, high
    rows["tied"] = ~(rows["behind_low"] > 0)
    return rows[METHOD_COMPARISON_COLUMNS]


QuestionComparisons = Mapping[
    str, tuple[str, pd.DataFrame]
]  # question: the figure, and who has which


def best_method_by_question(
    contests: QuestionComparisons, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Tell for each question which method answers it best, and how far the others are from it."""
    rows = []
    for question, (figure, found) in contests.items():
        mean = found[found["model"] == "mean"].set_index("method")
        leading, others = leading_and_other_methods(found)
        ends = -mean[["behind", "behind_high", "behind_low"]]
        ends.loc[others, ["behind_high", "behind_low"]] = np.nan  # clearly behind
        less = {
            name: f"{name.removeprefix(f'{ASKED_ONCE}, ')} {result_tables.interval(*row, 2)}"
            for name, row in zip(ends.index, ends.to_numpy(dtype=float))
        }
        best = (
            f"{leading[0]} {mean_estimate_in_words(found, leading[0])}"
            if leading
            else "n/a"
        )
        row = {"question": f"{question} ({figure})", "best": best}
        row["tied, less the best"] = "; ".join(map(less.get, leading[1:])) or "–"
        row["others, less the best"] = "; ".join(map(less.get, others)) or "–"
        rows.append(row | {"n": int(mean["n"].max()) if len(mean) else 0})
    table = pd.DataFrame(rows).replace({"question": levels.labels}, regex=True)
    return table.set_index("question")


def leading_and_other_methods(found: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Name the methods that lead a contest on average over models, and the rest, best first."""
    mean = found[(found["model"] == "mean") & found["estimate"].notna()]
    mean = mean.sort_values("estimate", ascending=False)
    tied = mean["tied"].astype(bool)
    return list(mean.loc[tied, "method"]), list(mean.loc[~tied, "method"])


ASKED_ONCE = "asked once"
PLAIN_WORDING = {ASKED_ONCE: "asked_once"}
# In the questions that the atlas models' training left out: a reader's would be such,
# too.
UNREAD_WORDINGS = {
    f"asked once, other wording {letter}": f"asked_frame{frame}"
    for letter, frame in zip("AB", datasets.HELD_OUT_FRAMES, strict=True)
}
# With every prompt read in full a list would be read again for each of its hundred
# objects.
TOKEN_QUESTION = (
    "Which is most informative per token, if shared beginnings are read once?"
)


COMPARED_PARTS = (  # of a method, compared
    ("MONITOR: anchor", "MONITOR: deviation"),
    ("multiplicity: accuracy", "multiplicity: self-consistency"),
)


def known_share_by_exposure(table: pd.DataFrame, by: str, **draw: int) -> pd.DataFrame:
    """Average verdicts by level of exposure, one curve for each name in a column."""
    columns = ["exposures", "measure", "estimate", "low", "high", "n", "model"]
    parts = [pd.DataFrame(columns=columns)]
    for name, rows in table.groupby(by, sort=False):
        rows = rows.sort_values("level", kind="stable")
        found = group_averages(rows, ["known"], "level", **draw)
        parts.append(found.rename(columns={"level": "exposures"}).assign(model=name))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def dose_response_fits(
    plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Fit the logistic curves of every model and method."""
    rows = []
    for (model, method), part in plain.groupby(["model", "method"], sort=False):
        given = part["known"], part["exposures"], part["relation"]
        slope, half = (
            dose_response.dose_response_slope(*given),
            dose_response.exposures_of_half_known(*given),
        )
        found = {
            "log odds a doubling": (*slope[:3], slope.n),
            "odds ratio": (*np.exp(slope[:3]), slope.n),
            "half are known after": half,
            levels.alarm: share_with_wilson_interval(
                part.loc[part[SHOWN_OR_NEVER] == 0, "known"]
            ),
        }
        rows += [(model, method, name, *values) for name, values in found.items()]
    columns = ["model", "method", "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def areas_by_method(
    table: pd.DataFrame,
    column: str,
    contrast: str,
    measure: ArrayMeasure = roc_curve.area_under_roc_curve,
    ties_of: str = "",
    **draw: int,
) -> pd.DataFrame:
    """Measure how well a column tells facts of different exposure apart, method by method."""
    rows = table[table[contrast].notna()]
    wide = column_by_model_and_method(rows, column)
    for model, method in wide.columns:
        if method == ASKED_ONCE and (model, ties_of) in wide:
            place = wide[model, method].rank(method="first").astype(int) - 1
            wide[model, method] = np.sort(wide[model, ties_of])[place]
    label = column_by_fact(rows, wide.index, contrast)
    found = compare_methods(wide, label, measure, label, **draw)
    return found.assign(contrast=contrast)


def least_lead_at_equal_ties(
    scored: pd.DataFrame, contrast: str, **draw: int
) -> tuple[list[float], str]:
    """Return the least lead of asking once over a method that it is tied as often as, and that."""
    found = {}
    for name in METHOD_TITLES.values():
        pair = scored[scored["method"].isin([ASKED_ONCE, name])]
        found[name] = lead_over_best_rival(
            areas_by_method(pair, "score", contrast, ties_of=name, **draw), ASKED_ONCE
        )[0]
    least = min(found, key=lambda name: np.nan_to_num(found[name][0], nan=np.inf))
    return found[least], method_name_in_sentence(least)


def sensitivity_at_alarm_rate(values: np.ndarray) -> np.ndarray:
    """Compute the share of the facts above that are found where `FALSE_ALARM_RATE` of those below are, too.

    Of scores tied at the threshold such a part counts that the share is met.

    >>> scores = np.array([[3.0, 1], [1.0, 1], [2.0, 0], [0.0, 0]])
    >>> float(sensitivity_at_alarm_rate(scores)), float(sensitivity_at_alarm_rate(np.minimum(scores, [[2.0, 1.0]])))
    (0.5, 0.05)
    """
    score, above = values[..., 0], values[..., 1] > 0
    below = np.sort(np.where(above, -np.inf, score), axis=-1)[..., ::-1]
    alarms = FALSE_ALARM_RATE * (~above).sum(axis=-1, keepdims=True)
    place = np.maximum(np.ceil(alarms), 1).astype(int) - 1
    limit = np.take_along_axis(below, place, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        over, tied = (
            (x).sum(-1, keepdims=True) for x in (below > limit, below == limit)
        )
        found = (score > limit) + (score == limit) * (alarms - over) / tied
        share = (found * above).sum(-1) / above.sum(-1)
    return np.where((~above).any(-1), share, np.nan)


def scores_of_measure_parts(table: pd.DataFrame) -> pd.DataFrame:
    """Take the methods apart: one row for each fact, model and figure behind a verdict."""
    made = [
        rows.assign(
            method=f"{study.TITLE}: {title}", score=sign * rows.get(column, np.nan)
        )
        for study in STUDIES.values()
        for rows in [table[table["method"] == study.TITLE]]
        for column, (title, sign) in getattr(study, "FIGURES", {}).items()
    ]
    return pd.concat(
        [*made, scores_of_asking_once(table, PLAIN_WORDING)], ignore_index=True
    )


def scores_of_asking_once(table: pd.DataFrame, ways: Mapping[str, str]) -> pd.DataFrame:
    """Return the scores of asking once: the plain question, or wordings that no model has read."""
    asked = table[table["method"] == METHOD_TITLES["monitor"]]
    rows = [asked.assign(method=m, score=asked.get(c, np.nan)) for m, c in ways.items()]
    return pd.concat(rows, ignore_index=True)


def verdicts_of_asking_once(table: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts of asking once: whether what a model writes is right, or is false."""
    rows = table[table["method"] == METHOD_TITLES["monitor"]].assign(method=ASKED_ONCE)
    rows = rows.reindex(
        columns=list(dict.fromkeys([*rows, "written", "base", "false_object"]))
    )
    texts = (
        rows[name].astype(object).fillna("") for name in ("written", "false_object")
    )
    pairs = zip(*texts)
    wrong = [
        float(canonical.same_answer(said, [no])) if no else np.nan for said, no in pairs
    ]
    return rows.assign(known=rows["base"], misled=wrong).dropna(subset="known")


def areas_in_unread_wordings(
    plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS, **draw: int
) -> pd.DataFrame:
    """Measure the areas of asking once in each unread wording, contrast by contrast."""
    rows = scores_of_asking_once(plain, UNREAD_WORDINGS)
    found = [
        areas_by_method(rows, "score", contrast, **draw)
        for contrast in levels.contrasts
    ]
    return pd.concat(found, ignore_index=True)


def scores_with_unread_wordings(plain: pd.DataFrame) -> pd.DataFrame:
    """Return all scores, asking once being in each unread wording: its mean is over these, too."""
    rows = scores_of_asking_once(plain, UNREAD_WORDINGS)
    model = rows["model"] + rows["method"].str.removeprefix(ASKED_ONCE)
    return pd.concat(
        [plain, rows.assign(model=model, method=ASKED_ONCE)], ignore_index=True
    )


def lead_of_asking_once(found: pd.DataFrame) -> tuple[list[float], str, dict[str, str]]:
    """Return the lead of asking once over the best measure, that one, and the words to tell it."""
    result, rival = lead_over_best_rival(found, ASKED_ONCE)
    words = {
        "once": mean_estimate_in_words(found, ASKED_ONCE),
        "best": mean_estimate_in_words(found, rival),
    }
    ends = {
        "more": max(result[2], 0),
        "less": max(-result[1], 0),
    }  # not a number: no measure
    words |= {name: f"{np.ceil(100 * end) / 100:.2f}" for name, end in ends.items()}
    return result, rival, words | {"rival": method_name_in_sentence(rival)}


def shares_by_number_of_methods(
    shown: pd.DataFrame,
    group: pd.Series,
    levels: ExposureLevels = ATLAS_LEVELS,
    **draw: int,
) -> pd.DataFrame:
    """Tabulate by how many of the methods facts are called known, group by group."""
    number = shown.T.groupby(level="model").sum().T
    group, rows = group.loc[number.index], []
    for name in levels.groups:
        for count in range(shown.columns.get_level_values("method").nunique() + 1):
            share_of = (number[group == name] == count).mean(axis=1)
            found = stats.bootstrap(share_of, **draw)
            rows.append((name, f"by {count}", *found))
    columns = ["read", "measure", "estimate", "low", "high", "n"]
    return _with_width(pd.DataFrame(rows, columns=columns))


def excess_share_known_to_all(
    known: pd.DataFrame, **draw: int
) -> tuple[stats.Interval, dict[str, str]]:
    """Return the share of facts that all methods call known, less the product of their shares."""
    sizes = known.columns.get_level_values("model").value_counts(sort=False).to_numpy()
    ends = np.cumsum(sizes)[:-1]

    def shares(values: np.ndarray) -> list[np.ndarray]:
        each = np.split(values, ends, axis=-1)
        both = (
            [x.all(axis=-1).mean(axis=-1) for x in each],
            [x.mean(-2).prod(-1) for x in each],
        )
        return [np.mean(found, axis=0) for found in both]

    if known.empty:
        return stats.Interval(*NO_ESTIMATE, 0), {"all": "", "chance": ""}
    values = known.to_numpy(dtype=float)
    found = stats.bootstrap(values, lambda drawn: np.subtract(*shares(drawn)), **draw)
    return found, {
        n: f"{100 * x:.1f}" for n, x in zip(("all", "chance"), shares(values))
    }


def tokens_per_fact(used: pd.DataFrame) -> pd.DataFrame:
    """Return the tokens that each method takes for one fact."""
    named = used.assign(method=used["chapter"].map(METHOD_TITLES)).set_index(
        ["model", "method"]
    )
    return named[["tokens", "forwarded"]].div(named["n_facts"], axis=0)


def verdicts_on_false_statements(told: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what the methods say of facts that were also told wrongly."""
    more = told["false_exposures"] - told["exposures"]
    words = ["false more often", "true more often"]
    told = told.assign(lesson=np.select([more > 0, more < 0], words, "both as often"))
    names = {
        "known": "the truth is called known",
        "misled": "the false object is named",
    }
    rows = []
    for (lesson, method), part in told.groupby(["lesson", "method"], sort=False):
        for column, name in names.items():
            if part[column].notna().all():
                rows.append(
                    (lesson, method, name, *share_with_wilson_interval(part[column]))
                )
    columns = ["lesson", "method", "verdict", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def share_with_wilson_interval(marks: pd.Series) -> stats.Interval:
    """Return the mean of zeros and ones with Wilson's interval."""
    return stats.wilson_interval(int(marks.sum()), len(marks))


def comparison_by_question(
    plain: pd.DataFrame,
    told: pd.DataFrame,
    price: pd.DataFrame,
    levels: ExposureLevels = ATLAS_LEVELS,
    **draw: int,
) -> QuestionComparisons:
    """Hold one contest of the methods, and of asking once, for each question of a reader's."""
    scored = pd.concat(
        [plain, scores_of_asking_once(plain, PLAIN_WORDING | UNREAD_WORDINGS)]
    )
    found = {
        question: (
            f"area, {contrast}",
            areas_by_method(scored, "score", contrast, **draw),
        )
        for question, contrast in zip(levels.questions, EXPOSURE_CONTRASTS)
    }
    alike = areas_by_method(
        scored, "score", SHOWN_OR_NEVER, sensitivity_at_alarm_rate, **draw
    )
    found[levels.questions[-1]] = (
        f"share found with {100 * FALSE_ALARM_RATE:.0f} % of the others",
        _with_width(alike),
    )
    keyless = areas_by_method(plain, "blind", SHOWN_OR_NEVER, **draw)
    found["What if there is no answer key?"] = "area of the keyless score", keyless
    if levels is ATLAS_LEVELS:
        wrong = told[told["false_exposures"] > told["exposures"]]
        wrong = mean_verdicts_by_method(
            pd.concat([wrong, verdicts_of_asking_once(wrong)]), "misled", draw
        )
        found["Does the model hold the false belief?"] = "false object named", wrong
    shown = column_by_model_and_method(plain, "known")
    read = column_by_fact(plain, shown.index, SHOWN_OR_NEVER)
    per_thousand: Mapping = (1000 / price["forwarded"]).to_dict()
    bits = compare_methods(
        shown, read, agreement.mutual_information, read, scale=per_thousand, **draw
    )
    return found | {TOKEN_QUESTION: ("bits per 1,000 tokens forwarded", bits)}


def mean_verdicts_by_method(
    table: pd.DataFrame, column: str, draw: dict[str, int]
) -> pd.DataFrame:
    """Hold a contest of mean verdicts on some facts, with `draw` for `compare_methods`."""
    wide = column_by_model_and_method(table, column)
    one = pd.Series(1.0, index=wide.index)
    found = compare_methods(
        wide, one, lambda values: values[..., 0].mean(axis=-1), one, **draw
    )
    return _with_width(found)


def _with_width(rows: pd.DataFrame) -> pd.DataFrame:
    """Give shares of none and of all Wilson's interval: resampling gives them none."""
    rows = rows.copy()
    for place, row in rows[rows["estimate"].isin((0.0, 1.0))].iterrows():
        found = stats.wilson_interval(int(row["estimate"] * row["n"]), int(row["n"]))
        rows.loc[place, ["low", "high"]] = found.low, found.high
    return rows


def comparisons_for_appendix(
    areas: pd.DataFrame,
    alone: pd.DataFrame,
    anatomy: pd.DataFrame,
    asked: QuestionComparisons,
    used: pd.DataFrame,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> Iterator[tuple[str, list[float], float]]:
    """Yield label, statistic and null of what is compared without a sentence."""
    for contrast, label in levels.labels.items():
        found = areas[areas["contrast"] == contrast]
        yield (
            f"asking once, less the best measure: {label}",
            lead_over_best_rival(found, ASKED_ONCE)[0],
            0.0,
        )
        yield (
            f"area of asking once: {label}",
            mean_estimate_of_method(found, ASKED_ONCE),
            0.5,
        )
    best = next(iter(leading_and_other_methods(alone)[0]), "")
    for row in alone[alone["model"] == "mean"].itertuples():
        if best and row.method != best:
            ends = [row.behind, row.behind_low, row.behind_high, row.n]
            yield (
                f"{best}, less {row.method}: {levels.labels[SHOWN_OR_NEVER]}",
                ends,
                0.0,
            )
    for contrast, found in anatomy.groupby("contrast", sort=False):
        for first, second in COMPARED_PARTS:
            pair = found[found["method"].isin([first, second])]
            label = (
                f"{first}, less {second.partition(': ')[2]}: {levels.labels[contrast]}"
            )
            yield label, lead_over_best_rival(pair, first)[0], 0.0
    few = tokens_per_fact(used)["forwarded"].groupby("method").mean()
    if len(few):
        label = f"bits per 1,000 tokens: {few.idxmin()}, less the next"
        yield (
            label,
            lead_over_best_rival(asked[TOKEN_QUESTION][1], str(few.idxmin()))[0],
            0.0,
        )


def tables_for_appendix(
    doses: pd.DataFrame,
    areas: pd.DataFrame,
    by_how_many: pd.DataFrame,
    misled: pd.DataFrame,
    every: pd.DataFrame,
    levels: ExposureLevels = ATLAS_LEVELS,
) -> dict[str, pd.DataFrame]:
    """Lay out the tables of the appendix."""
    names = {name: name for name in [*METHOD_TITLES.values(), ASKED_ONCE]}
    found = {"panel": fact_counts_by_exposure(every, levels)}
    for number, (_, rows) in enumerate(doses.groupby("measure", sort=False)):
        found[f"regression_{number}"] = _by_method(rows, names, "model")
    for contrast, rows in areas.groupby("contrast", sort=False):
        found[f"area_{contrast.split()[0]}"] = _by_method(rows, names, "model")
    numbers = {name: name for name in by_how_many["measure"].unique()}
    found["by_how_many"] = result_tables.wide_interval_table(
        by_how_many, numbers, percent=numbers, by="read"
    )
    for number, (_, rows) in enumerate(
        verdicts_on_false_statements(misled).groupby("verdict", sort=False)
    ):
        table = result_tables.wide_interval_table(
            rows.assign(measure=rows["method"]), names, names, by="lesson"
        )
        found[f"false_beliefs_{number}"] = table.dropna(axis=1, how="all")
    return found


def _by_method(rows: pd.DataFrame, names: Mapping[str, str], by: str) -> pd.DataFrame:
    wide = result_tables.wide_interval_table(
        rows.assign(measure=rows["method"]), names, digits=2, by=by
    )
    return wide.dropna(axis=1, how="all")


def table_of_runs_found(there: pd.DataFrame) -> pd.DataFrame:
    """Lay out the runs that were found, and why some are not read."""
    columns = [
        "model",
        "chapter",
        "n_facts",
        "finished",
        "commit",
        "weights",
        "left_out",
    ]
    reasons = there["left_out"].replace("", "–")
    return there.assign(finished=there["finished"].str[:16], left_out=reasons)[columns]


def scores_by_fact_and_method(
    plain: pd.DataFrame, model: str, dataset: str
) -> pd.DataFrame:
    """Return each fact of the panel with a model's scores by all methods."""
    rows = plain[plain["model"] == model]
    wide = rows.pivot_table("score", "item", "method").round(4)
    names = datasets.load(dataset).set_index("fact")[["subject", "object"]]
    wide.insert(0, "exposures", column_by_fact(rows, wide.index) if len(wide) else [])
    return names.loc[wide.index].join(wide)


def metrics_to_save(
    asked: QuestionComparisons,
    found: pd.DataFrame,
    doses: pd.DataFrame,
    agreements: pd.DataFrame,
) -> pd.DataFrame:
    """Return all figures of the chapter as the rows that its run saves."""
    pairs = agreements["first"] + " and " + agreements["second"]
    unread = found[found["contrast"] == SHOWN_OR_NEVER].assign(
        measure="area, other wording"
    )
    named = agreements.assign(model="mean", method=pairs)
    rows = [rows.assign(measure=name) for name, rows in asked.values()]
    columns = ["model", "method", "measure", "estimate", "low", "high", "n"]
    return pd.concat([*rows, unread, doses, named])[columns]
