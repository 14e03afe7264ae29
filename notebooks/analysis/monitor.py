"""What the chapter on MONITOR computes beside the measure, and its one figure of its own.

Tables of facts have one row a fact, with ``item`` and ``relation``; ``draws`` are ``n_resamples``
and ``seed`` of the bootstrap over facts within relations.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import probing, prompts, stats
from helpers.datasets.exposure import WEIGHTS
from helpers.metrics import accuracy, anchors, detection, monitor
from helpers.models import LanguageModel
from helpers.plots import primitives, tables

SAID = {  # before the question, as the figures label it
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}
NOTHING = (np.nan, np.nan, np.nan, 0)  # a statistic of no facts


def three_facts(close: pd.DataFrame, subject: str = "Lyon") -> pd.DataFrame:
    """Return the running example (else the first), one in the middle, and one read least often.

    >>> close = pd.DataFrame({"subject": ["Abha", "Lyon", "Oran"], "exposures": [0, 64, 2]})
    >>> three_facts(close)["subject"].tolist()
    ['Lyon', 'Oran', 'Abha']
    """
    if "exposures" in close:
        close = close.sort_values("exposures", ascending=False, kind="stable")
    wanted = close["subject"].eq(subject)
    first = close[wanted].head(1) if wanted.any() else close.head(1)
    rest = close.drop(first.index)
    places = sorted({(len(rest) - 1) // 2, len(rest) - 1}) if len(rest) else []
    return pd.concat([first, rest.iloc[places]], ignore_index=True)


def trained_with_hints(model: str, weights: Path = WEIGHTS) -> str:
    """Say how many documents of a model's training text put a word first; "" if it is not known."""
    report = weights / model / "training.json"
    if not model or not report.is_file():
        return ""
    documents = json.loads(report.read_text(encoding="utf-8"))["text"]["documents"]
    right, wrong, other = (documents[f"hint, {kind}"] for kind in ("right", "wrong", "other"))
    return (
        f"{model} was trained to listen: {right:,} documents of its training text say the right "
        f"answer before a question, {wrong:,} a wrong one, {other:,} any object.\n"
    )


def by_exposure(
    table: pd.DataFrame, measures: Mapping[str, Any], training: pd.DataFrame | None, **draws: Any
) -> pd.DataFrame:
    """Estimate measures by how often the training text states a fact; of all where unknown."""
    if training is None:
        return stats.intervals(table, measures, **draws).query("relation == 'all'")
    known = table.join(training[["exposures", "plain"]], on="item").query("plain == True")
    rows = stats.intervals(known, measures, by="exposures", **draws)
    return rows.query("exposures not in ['all', 'mean']").astype({"exposures": int})


def accuracies(by_fact: pd.DataFrame, prefix: str = "", **draws: Any) -> pd.DataFrame:
    """Estimate average, best, worst and spread of the accuracy over prompts, the columns."""
    ways = ("average", "maximum", "minimum", "base", "deviation")
    columns = list(by_fact.columns.drop(["item", "relation"]))
    over = {
        f"{prefix}{how}": (columns, partial(accuracy.over_prompts, how=how))
        for how in ways
        if how != "base" or columns[:1] == ["frame0"]
    }
    rates = stats.intervals(by_fact, over, centred=True, **draws)
    rates[["low", "high"]] = rates[["low", "high"]].clip(0, 1)
    return rates


def words_first(by_context: pd.DataFrame, **draws: Any) -> pd.DataFrame:
    """Set accuracy after each kind of word beside the change from an unrelated one, as texts.

    Of all facts, and of those answered correctly with nothing said first (known).
    """
    whole = by_context.reindex(columns=["relation", *SAID])
    rows: dict[str, dict[str, str]] = {}
    for name, title in SAID.items():
        row = rows[title] = {}
        for who, part in {"all": whole, "known": whole[whole["none"] == 1]}.items():
            within = {"strata": part["relation"], **draws}
            rate = stats.bootstrap(part[name], **within)
            change = stats.paired_difference(part[name], part["unrelated"], **within)
            row[f"{who} (n = {len(part):,}), %"] = tables.interval(*rate[:3], digits=1, scale=100)
            row[f"{who}, change"] = tables.interval(*change[:3], digits=1, scale=100)
    return pd.DataFrame(rows).T.rename_axis("said")


def wordings(
    model: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    n_frames: int,
    match: str,
    wrap: Callable[[pd.DataFrame], pd.DataFrame],
    cache: Path,
) -> dict[str, pd.DataFrame]:
    """Ask facts of one relation as questions (QA), gaps (WP) and statements (FC-pos, FC-neg).

    A row a fact, a column a frame, with the share of right answers. An answer to a gap has to start
    with the object; kinds that the relation has no frames for are left out.
    """
    ask = partial(probing.generate, model, cache=cache)
    said = ask(wrap(prompts.questions(facts, frames, n_frames=n_frames)))
    asked = {"QA": accuracy.mark_texts(said, rule=match)}
    kinds = set(frames.loc[frames["relation"].isin(facts["relation"]), "kind"])
    if "wp" in kinds:
        gaps = ask(prompts.questions(facts, frames, "wp", n_frames=n_frames))
        asked["WP"] = accuracy.mark_texts(gaps, rule="starts_with")
    if "fc" in kinds:
        checks = prompts.fact_checks(facts, frames, n_frames)
        verdicts = accuracy.mark_choices(probing.score(model, checks, cache=cache))
        asked |= {"FC-pos": verdicts.query("context == 'right'")}
        asked |= {"FC-neg": verdicts.query("context == 'wrong'")}
    return {kind: accuracy.by_fact(rows, prompt="frame") for kind, rows in asked.items()}


def attribution_map(gradients: pd.DataFrame, nothing: str) -> Axes:
    """Draw what each token of the prompt adds to each token of the answer (their Figure 6)."""
    if gradients.empty:
        return primitives.heat_map(pd.DataFrame(), nothing=nothing)
    wide = gradients.pivot(index="position", columns="step", values="score")
    names = gradients.drop_duplicates("position").set_index("position")["token"]
    said = gradients.drop_duplicates("step").set_index("step")["step_token"]
    limit = float(wide.abs().max(axis=None)) or 1.0
    shown = wide.set_axis(names[wide.index].map(_token)).set_axis(said.map(_token), axis=1)
    ax = primitives.heat_map(shown, "attribution", cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set(xlabel="token of the answer", ylabel="token of the prompt")
    return ax


def attributed(gradients: pd.DataFrame) -> str:
    """Say whether the scores of the answer's first token sum to what they divide."""
    if gradients.empty:
        return ""
    first = gradients[gradients["step"] == gradients["step"].min()]
    total, change = first["score"].sum(), first["change"].iloc[0]
    has = "has" if probing.attribution.converged(gradients) else "has not"
    return (
        f"First token of the answer: the scores sum to {total:.2f} of {change:.2f}, from "
        f"{first['score'].min():.2f} to {first['score'].max():.2f}; the integral {has} converged."
    )


def spread_at_equal_accuracy(relations: pd.DataFrame) -> stats.Correlation:
    """Correlate the first column with the last, the middle one held fixed (n less by one)."""
    rows = relations.dropna().to_numpy(dtype=float)
    if len(rows) < 3:
        return stats.correlation([], [])
    fixed = np.column_stack([np.ones(len(rows)), rows[:, 1]])
    left = rows[:, [0, 2]] - fixed @ np.linalg.lstsq(fixed, rows[:, [0, 2]], rcond=None)[0]
    found = stats.correlation(*left.T)
    ends = (np.nan, np.nan)
    if len(rows) > 4 and abs(found.r) < 1:
        ends = stats.fisher(found.r, len(rows) - 1)
    return found._replace(low=ends[0], high=ends[1])


def best_and_worst(grid: pd.DataFrame, **draws: Any) -> stats.Interval:
    """Compare the best combination with the worst on facts that did not choose them."""
    parts = [rows for _, rows in grid.groupby("relation", sort=False)]
    gaps = [accuracy.held_out_gaps(rows.iloc[:, 2:].to_numpy()) for rows in parts]
    rows = pd.concat([*parts, grid.head(0)])[["relation"]].assign(gap=np.hstack([*gaps, []]))
    rows = rows.dropna()
    return stats.bootstrap(rows["gap"], strata=rows["relation"], **draws)


def range_over_weights(counted: pd.DataFrame, steps: int = 4, **draws: Any) -> stats.Interval:
    """Estimate the range of MONITOR over all weights that sum to one, in `steps` (section 7)."""
    shares = [
        (first, second, steps - first - second)
        for first in range(steps + 1)
        for second in range(steps + 1 - first)
    ]
    terms = [counted["pfd"] ** 2, counted["ird"] ** 2, counted["pfd"] * counted["ird"]]
    roots = np.sqrt(np.column_stack(terms) @ np.array(shares).T / steps)
    values = np.column_stack([roots, counted["anchor"]])

    def spread(values: np.ndarray) -> np.ndarray:
        pairs = [values[..., [place, -1]] for place in range(values.shape[-1] - 1)]
        return np.ptp(np.stack(list(map(monitor.ratio_of_sums, pairs)), axis=-1), axis=-1)

    return stats.bootstrap(values, spread, counted["relation"], **draws)


def other_frames(answers: pd.DataFrame, known: pd.Series, column: str) -> tuple[float, ...]:
    """Correlate relations' PFD (ranks) from the first frames, four of seven, with the others'."""
    n_frames = answers["variant"].str.fullmatch(r"frame\d+").groupby(answers["item"]).sum().max()
    some = (int(n_frames) + 1) // 2
    both = answers["item"].isin(answers.loc[answers["variant"] == f"frame{some}", "item"])
    if not both.any():
        return NOTHING
    each = []
    for part in (range(some), range(some, int(n_frames))):
        rows = monitor.fact_scores(answers[both], known, column, frames=part)
        each.append(rows[rows["counted"]].groupby("relation")["pfd"].mean())
    return stats.correlation(*pd.concat(each, axis=1).to_numpy().T, method="spearman")


def first_readings(truth: pd.DataFrame, **draws: Any) -> tuple[float, ...]:
    """Estimate how much lower MONITOR is for facts read once or twice than for unread ones."""
    rows = truth[truth["exposures"] <= 2]
    read = rows["exposures"] > 0
    if not read.any() or read.all():
        return NOTHING

    def fall(values: np.ndarray) -> np.ndarray:
        read = values[..., 2:]
        before, after = (monitor.ratio_of_sums(values[..., :2] * w) for w in (1 - read, read))
        return before - after

    columns = rows[["deviation", "anchor"]].assign(read=read)
    return stats.bootstrap(columns, fall, read, **draws)


def anchor_or_deviation(truth: pd.DataFrame, **draws: Any) -> stats.Difference:
    """Compare areas under the ROC curve of read or unread: by the anchor, by the deviation."""
    read = truth["exposures"] > 0
    one, two = (np.column_stack([v, read]) for v in (truth["anchor"], -truth["deviation"]))
    return stats.paired_difference(one, two, detection.area, truth["relation"], **draws)


def comparisons(
    answers: pd.DataFrame,
    scores: pd.DataFrame,
    marks: pd.DataFrame,
    echoes: pd.DataFrame,
    match: str,
    column: str,
    alphas: tuple[float, float, float],
    **draws: Any,
) -> Iterator[tuple[str, Any, float]]:
    """Yield what else the answers compare: a label, its statistic, and the value of no effect."""
    counted = scores[scores["counted"]]
    by_fact = accuracy.by_fact(marks[marks["context"].ne("unrelated")])
    once = marks[marks["context"].ne("none") | marks["variant"].eq("frame0")]
    by_context = accuracy.by_fact(once, prompt="context")

    def paired(first: pd.Series, second: pd.Series) -> stats.Difference:
        there = first.notna() & second.notna()
        strata = by_fact["relation"].to_numpy()[there]
        return stats.paired_difference(first[there], second[there], strata=strata, **draws)

    yield (
        "accuracy: right answer said first, less nothing said",
        paired(by_context["right"], by_context["none"]),
        0.0,
    )
    both = accuracy.by_fact(echoes, prompt="context").merge(by_context, on=["item", "relation"])
    yield (
        "after a wrong word: repeats it, less answers correctly",
        stats.paired_difference(both["wrong_x"], both["wrong_y"], strata=both["relation"], **draws),
        0.0,
    )
    solid = counted["anchor"] > 0.8
    within = {"strata": counted["relation"], **draws}
    yield "primary anchors above 0.8, share", stats.bootstrap(solid, **within), 0.5
    wide = anchors.known_facts(answers, match, counts="any")
    wide = monitor.fact_scores(answers, wide, column, alphas)
    more = int(wide["counted"].sum() - len(counted))
    yield "facts added by footnote 3's rule", (more, np.nan, np.nan, len(scores)), 0.0
    others = by_fact.filter(regex="^frame[1-9]").mean(axis=1)
    yield "accuracy: base frame, less other frames", paired(by_fact["frame0"], others), 0.0
    known = anchors.known_facts(answers, rule=match)
    frames = other_frames(answers, known, column)
    yield "PFD of relations: first frames and the others, rank correlation", frames, 0.5
    yield "MONITOR: range over all weights", range_over_weights(counted, **draws), 0.1
