"""What the chapter on knowledge bases computes beside its measures, and what its appendix lists."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets, models, stats
from helpers.datasets.knowledge_questions import Questions
from helpers.metrics import accuracy, canonical, responses, roc_curve
from helpers.metrics import knowledge_base as kb
from helpers.models import LanguageModel
from helpers.prompts import consistency_questions, prompt_formats
from helpers.studies import knowledge_base as study
from notebooks.analysis import judges, monitor
from notebooks.kit import runs_against_papers as papers
from notebooks.kit.group_difference import gap
from notebooks.kit.plots import result_tables
from notebooks.kit.published import knowledge_base as paper

OFTEN = 8  # times that the training text states a fact, to count as often
UNSEEN = ("UR", "IUR")
CHANGED = ("CR", "WR", "NCR", "UR", "NCCR", "IUR")
NOTHING = (np.nan, np.nan, np.nan)
Ask = Callable[..., pd.DataFrame]
FALSE, TRUE = "the false one", "correct"
SIDES = ("seen", "never read", "UnseenQA")  # what a question is about


def ask_again(
    lm: LanguageModel,
    replies: pd.DataFrame,
    bank: Questions,
    writer: LanguageModel | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Ask for responses again by multiple choice, with wrong options that a writer offers first."""
    written = (
        judges.distractors(writer, replies, cache=settings["cache"]) if writer else None
    )
    return study.ask_again(lm, replies, bank.pool, written=written, **settings)


def running_example(bank: Questions, dataset: str, model: str) -> pd.DataFrame:
    """Return the question about Lyon, the first fact of all chapters; of other data the first."""
    if dataset != "atlas":
        return bank.asked[bank.asked["seen"]].head(1)
    lyon = monitor.running_example(datasets.load("atlas", ["P17"]))
    return datasets.knowledge("atlas", model, only=list(lyon["fact"])).asked


def by_setting(said: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Compute all measures of every prompt setting, with intervals within strata.

    Shares of none or all of the questions have Wilson's, for their resamples are all
    alike.

    >>> said = pd.DataFrame({"setting": "zero-shot", "stratum": "a", "seen": [True, True],
    ...                      "label": ["correct", "wrong"], "consistency": [1.0, 0.5]})
    >>> by_setting(said, n_resamples=10).set_index("measure").loc["NCCR", "estimate"]
    np.float64(0.25)
    >>> unseen = said.assign(seen=False, label="wrong")
    >>> round(by_setting(unseen, n_resamples=10).set_index("measure").loc["UR", "high"], 2)
    np.float64(0.66)
    """
    found = []
    for name, rows in said.groupby("setting", sort=False):
        *figures, n = stats.bootstrap(
            kb.indicators(rows), kb.statistic, rows["stratum"], **draws
        )
        sizes = dict.fromkeys(("CR", "WR"), int(rows["seen"].sum())) | {
            "UR": sum(~rows["seen"])
        }
        for title, estimate, *ends in zip(kb.MEASURES, *figures):
            if title in sizes and estimate in (0.0, 1.0):
                ends = stats.wilson(int(estimate * sizes[title]), sizes[title])[1:3]
            found.append((name, title, estimate, *ends, n))
    return pd.DataFrame(found, columns=["setting", "measure", *stats.Interval._fields])


def level(
    measured: pd.DataFrame, said: pd.DataFrame, setting: str, name: str
) -> tuple[float, float, float, int]:
    """Return a measure of a setting with its interval, and the number of its questions."""
    row = measured[(measured["setting"] == setting) & (measured["measure"] == name)]
    figures = row[["estimate", "low", "high"]].to_numpy().tolist() or [NOTHING]
    return (*figures[0], _asked(said, setting, name))


def about(said: pd.DataFrame) -> pd.Series:
    """Say of each response whether its question is seen, about a fact never read, or UnseenQA's.

    >>> list(about(pd.DataFrame({"seen": [True, False, False], "exposures": [4, 0, None]})))
    ['seen', 'never read', 'UnseenQA']
    """
    stated = said["exposures"] if "exposures" in said else pd.Series(np.nan, said.index)
    names = np.select([said["seen"].astype(bool), stated.notna()], SIDES[:2], SIDES[2])
    return pd.Series(names, said.index)


def by_side(said: pd.DataFrame) -> pd.DataFrame:
    """Tabulate kinds of responses by side and setting, the number of questions in the label."""
    shares = responses.shares(said, about(said) + ", " + said["setting"])
    shares.index += shares.pop("n").map(" ({:,.0f})".format)
    order = sorted(shares.index, key=lambda name: SIDES.index(name.split(",")[0]))
    return shares.loc[order, shares.any()]


def silence(close: pd.DataFrame, **draws: int) -> tuple[stats.Interval, str]:
    """Return how much oftener UnseenQA is left unanswered than facts, and which facts these are."""
    sides = about(close)
    facts = SIDES[1] if sides.eq(SIDES[1]).any() else SIDES[0]
    rows = close.assign(side=sides)[sides.isin([facts, SIDES[2]])]
    first, strata = rows["side"] == SIDES[2], rows["side"] + rows["stratum"]
    found = gap(rows["label"] == "uninformative", first, strata, **draws)
    return found, f"facts that it {'never' if facts == SIDES[1] else 'may have'} read"


def step(
    said: pd.DataFrame, before: str, after: str, name: str, **draws: int
) -> tuple[float, float, float, int]:
    """Return how a measure changes between two settings, on the same questions."""
    first, second = (
        said[said["setting"] == each].sort_values("item") for each in (before, after)
    )
    found: Sequence[float] = NOTHING
    if len(first) and len(second):
        values = kb.indicators(second), kb.indicators(first)
        found = stats.paired_difference(
            *values, kb.measure(name), first["stratum"], **draws
        )
    return (*found[:3], _asked(said, after, name))


def _asked(said: pd.DataFrame, setting: str, name: str) -> int:
    about = said["seen"].astype(bool) != (name in UNSEEN)
    return int((about & (said["setting"] == setting)).sum())


def contrast(
    rows: pd.DataFrame, first: str, second: str, **draws: int
) -> stats.Interval:
    """Estimate first minus second of two measures of the same responses."""
    one, two = kb.measure(first), kb.measure(second)
    values = kb.indicators(rows)
    return stats.bootstrap(values, lambda v: one(v) - two(v), rows["stratum"], **draws)


def counted(
    ask: Ask, model: str, settings: Sequence[str], n: int, match: str, **draw: Any
) -> pd.DataFrame:
    """Ask about more atlas facts of known exposure, without those stated wrongly or one way."""
    if n < 1:
        return pd.DataFrame(columns=["item", "setting", "label", "exposures"])
    facts = datasets.knowledge("atlas", model, n, max(1, n // 3), **draw).asked
    facts = facts[facts["exposures"].notna() & facts["plain"].eq(True)]
    said = pd.concat([ask(facts, setting=name) for name in settings], ignore_index=True)
    return responses.mark(said, match)


def by_exposure(rows: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Tabulate the shares of the three labels (``response``) by exposure."""
    flags = pd.get_dummies(rows["label"]).reindex(columns=kb.LABELS, fill_value=0)
    flags = flags.astype(float).assign(exposures=rows["exposures"])
    found = stats.intervals(
        flags,
        {label: ([label], stats.mean) for label in kb.LABELS},
        "exposures",
        **draws,
    )
    found = found[~found["exposures"].isin(["all", "mean"])]
    return found.rename(columns={"measure": "response"}).reset_index(drop=True)


def truths(rows: pd.DataFrame) -> pd.DataFrame:
    """Return consistency beside two truths: the answer is right (or lucky), the fact was read."""
    columns = ["consistency", "right", "read"]
    if "exposures" not in rows:
        return pd.DataFrame(columns=columns, dtype=float)
    facts = rows[rows["exposures"].notna() & rows["consistency"].notna()]
    right = [
        canonical.same_answer(text, key)
        for text, key in zip(facts["text"], facts["answers"])
    ]
    return facts.assign(right=right, read=facts["seen"])[columns].astype(float)


def misread(
    ask: Ask, again: Ask, model: str, n: int, match: str, seed: int
) -> pd.DataFrame:
    """Ask about facts that the text states wrongly; ``answer`` says what kind, or the false one."""
    if n < 1:
        names = ["exposures", "false_exposures", "answer", "consistency"]
        return pd.DataFrame(columns=names, dtype=float)
    read = datasets.training(model).query("false_exposures > 0")
    some = read.sample(frac=1, random_state=seed).groupby("exposures").head(n)
    bank = datasets.knowledge("atlas", model, only=list(some.index), seed=seed)
    said = responses.mark(ask(bank.asked), match)
    said = kb.add_consistency(
        said, accuracy.mark_choices(again(consistency_questions.replies(said)))
    )
    pairs = zip(said["text"], said["false_object"])
    same = [canonical.same_answer(text, [wrong]) for text, wrong in pairs]
    return said.assign(answer=said["kind"].mask(same, FALSE))


def leans(misled: pd.DataFrame, **draws: int) -> list[stats.Interval]:
    """Estimate false less true answers of facts stated wrongly always, in 3 of 4, half the time."""
    true, false = misled["exposures"], misled["false_exposures"]
    lean = (misled["answer"] == FALSE) * 1.0 - (misled["answer"] == TRUE)
    parts = (true == 0, (true > 0) & (true < false), true == false)
    return [stats.bootstrap(lean[part], **draws) for part in parts]


def comparisons(
    said: pd.DataFrame,
    more: pd.DataFrame,
    misled: pd.DataFrame,
    effects: pd.DataFrame,
    setting: str,
    **draws: int,
) -> Iterator[tuple]:
    """Yield what was compared and is no finding: its name, the statistic, its null if not 0."""
    close = said[said["setting"] == setting]
    seen, unseen = (close[close["seen"].astype(bool) == side] for side in (True, False))
    silent = unseen["label"] == "uninformative"
    numbers = unseen["type"].isin(["number", "time"])
    yield "NCR", level(by_setting(close, **draws), close, setting, "NCR")
    yield "NCCR minus NCR", contrast(seen, "NCCR", "NCR", **draws)
    nobody = unseen[about(unseen) == SIDES[2]]
    yield "UR of what nobody can answer", _alone(nobody, "UR", **draws), 0.5
    yield "UR, other answers minus numbers and years", gap(silent, ~numbers, **draws)
    if "exposures" in said:
        often = seen[seen["exposures"] >= OFTEN]
        rare = seen[seen["exposures"] < OFTEN]
        yield (
            f"NCR of facts stated {OFTEN} times or more",
            _alone(often, "NCR", **draws),
        )
        yield "NCR of rarer facts", _alone(rare, "NCR", **draws)
        never = unseen[about(unseen) == SIDES[1]]
        yield "UR of facts never stated", _alone(never, "UR", **draws), 0.5
        yield "UR of all unseen questions", _alone(unseen, "UR", **draws), 0.5
    for before, after in pairwise(dict.fromkeys(said["setting"])):
        for name in CHANGED:
            yield (
                f"{name}, {before} → {after}",
                step(said, before, after, name, **draws),
            )
        for side in SIDES[1:] if "exposures" in said else ():
            part = said[about(said) == side]
            yield (
                f"UR, {side}, {before} → {after}",
                step(part, before, after, "UR", **draws),
            )
    known = more[more["exposures"] >= 64].sort_values("item")
    right = known["label"].eq("correct").astype(float)
    sides = {
        name: right[known["setting"] == name]
        for name in dict.fromkeys(known["setting"])
    }
    for before, after in pairwise(sides):
        what = f"correct, facts stated 64 times or more, {before} → {after}"
        yield what, stats.paired_difference(sides[after], sides[before], **draws)
    truth = truths(close)[["consistency", "right"]].to_numpy()
    yield "right answers, area", stats.bootstrap(truth, roc_curve.area, **draws), 0.5
    _, *others = leans(misled, **draws)
    for how, lean in zip(("three times in four", "half of the time"), others):
        yield f"false answers, less true ones, facts stated wrongly {how}", lean
    two = misled[misled["answer"].isin([FALSE, TRUE]) & misled["consistency"].notna()]
    yield (
        "consistency, false minus true",
        gap(two["consistency"], two["answer"] == FALSE, **draws),
    )
    table = paper.models(setting)
    yield "paper, NCR and UR, r", stats.correlation(table["NCR"], table["UR"])
    for row in effects.itertuples():
        yield (
            f"paper, {row.measure}, {row.effect}",
            (row.estimate, row.low, row.high, row.n),
        )


def _alone(rows: pd.DataFrame, name: str, **draws: int) -> stats.Interval:
    return stats.bootstrap(
        kb.indicators(rows), kb.measure(name), rows["stratum"], **draws
    )


def beside(
    measured: pd.DataFrame,
    setting: str,
    given: Mapping[str, Any],
    lm: LanguageModel,
    bank: Questions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return this run above the 26 models of the paper, in percent: each, and median and range."""
    this = {"dataset": bank.source, "parameters": given, "model": models.describe(lm)}
    ours = (
        measured[measured["setting"] == setting].set_index("measure")["estimate"] * 100
    )
    other = bool(papers.why("knowledge_base", this))
    printed = paper.models(setting)
    kind = printed["tuned"].map(
        {True: "tuned models of the paper", False: "base models"}
    )
    printed = printed[list(kb.MEASURES)] * 100
    ranges = {
        f"{name} ({len(rows)})": rows.agg(["median", "min", "max"]).apply(
            lambda column: "{:.1f} ({:.1f} to {:.1f})".format(*column)
        )
        for name, rows in printed.groupby(kind)
    }
    name = prompt_formats.label(lm.name, lm.prompt_format)
    each = result_tables.beside(ours, printed, name, 1, other)
    return each, result_tables.beside(ours, pd.DataFrame(ranges).T, name, 1, other)
