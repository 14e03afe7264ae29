"""What the chapter on knowledge bases computes beside its measures, and what its appendix lists."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets, models, stats
from helpers.datasets.knowledge_questions import KnowledgeQuestions
from helpers.metrics import accuracy, canonical, responses, roc_curve
from helpers.metrics import knowledge_base as kb
from helpers.models import LanguageModel
from helpers.prompts import consistency_questions, prompt_formats
from helpers.studies import knowledge_base as study
from notebooks.analysis import judges, monitor
from notebooks.kit import runs_against_papers as papers
from notebooks.kit.group_difference import group_mean_difference
from notebooks.kit.plots import result_tables
from notebooks.kit.published import knowledge_base as paper

OFTEN_THRESHOLD = 8  # times that the training text states a fact, to count as often
UNSEEN_MEASURES = ("UR", "IUR")
MAIN_MEASURES = ("CR", "WR", "NCR", "UR", "NCCR", "IUR")
NO_ESTIMATE = (np.nan, np.nan, np.nan)
QuestionAsker = Callable[..., pd.DataFrame]
FALSE_ANSWER, TRUE_ANSWER = "the false one", "correct"
QUESTION_GROUPS = ("seen", "never read", "UnseenQA")  # what a question is about


def ask_again_by_multiple_choice(
    lm: LanguageModel,
    replies: pd.DataFrame,
    bank: KnowledgeQuestions,
    writer: LanguageModel | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Ask for responses again by multiple choice, with wrong options that a writer offers first."""
    written = (
        judges.write_distractors(writer, replies, cache=settings["cache"])
        if writer
        else None
    )
    return study.ask_responses_again(
        lm, replies, bank.pool, written=written, **settings
    )


def question_of_running_example(
    bank: KnowledgeQuestions, dataset: str, model: str
) -> pd.DataFrame:
    """Return the question about Lyon, the first fact of all chapters; of other data the first."""
    if dataset != "atlas":
        return bank.asked[bank.asked["seen"]].head(1)
    lyon = monitor.fact_of_running_example(datasets.load("atlas", ["P17"]))
    return datasets.knowledge_base_questions(
        "atlas", model, only=list(lyon["fact"])
    ).asked


def measures_by_setting(said: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Compute all measures of every prompt setting, with intervals within strata.

    Shares of none or all of the questions have Wilson's, for their resamples are all
    alike.

    >>> said = pd.DataFrame({"setting": "zero-shot", "stratum": "a", "seen": [True, True],
    ...                      "label": ["correct", "wrong"], "consistency": [1.0, 0.5]})
    >>> measures_by_setting(said, n_resamples=10).set_index("measure").loc["NCCR", "estimate"]
    np.float64(0.25)
    >>> unseen = said.assign(seen=False, label="wrong")
    >>> round(measures_by_setting(unseen, n_resamples=10).set_index("measure").loc["UR", "high"], 2)
    np.float64(0.66)
    """
    found = []
    for name, rows in said.groupby("setting", sort=False):
        *figures, n = stats.bootstrap(
            kb.response_indicators(rows),
            kb.measures_of_indicators,
            rows["stratum"],
            **draws,
        )
        sizes = dict.fromkeys(("CR", "WR"), int(rows["seen"].sum())) | {
            "UR": sum(~rows["seen"])
        }
        for title, estimate, *ends in zip(kb.MEASURE_NAMES, *figures):
            if title in sizes and estimate in (0.0, 1.0):
                ends = stats.wilson_interval(
                    int(estimate * sizes[title]), sizes[title]
                )[1:3]
            found.append((name, title, estimate, *ends, n))
    return pd.DataFrame(found, columns=["setting", "measure", *stats.Interval._fields])


def measure_of_setting(
    measured: pd.DataFrame, said: pd.DataFrame, setting: str, name: str
) -> tuple[float, float, float, int]:
    """Return a measure of a setting with its interval, and the number of its questions."""
    row = measured[(measured["setting"] == setting) & (measured["measure"] == name)]
    figures = row[["estimate", "low", "high"]].to_numpy().tolist() or [NO_ESTIMATE]
    return (*figures[0], _asked(said, setting, name))


def group_of_each_question(said: pd.DataFrame) -> pd.Series:
    """Say of each response whether its question is seen, about a fact never read, or UnseenQA's.

    >>> list(group_of_each_question(pd.DataFrame({"seen": [True, False, False], "exposures": [4, 0, None]})))
    ['seen', 'never read', 'UnseenQA']
    """
    stated = said["exposures"] if "exposures" in said else pd.Series(np.nan, said.index)
    names = np.select(
        [said["seen"].astype(bool), stated.notna()],
        QUESTION_GROUPS[:2],
        QUESTION_GROUPS[2],
    )
    return pd.Series(names, said.index)


def response_shares_by_group(said: pd.DataFrame) -> pd.DataFrame:
    """Tabulate kinds of responses by side and setting, the number of questions in the label."""
    shares = responses.response_kind_shares(
        said, group_of_each_question(said) + ", " + said["setting"]
    )
    shares.index += shares.pop("n").map(" ({:,.0f})".format)
    order = sorted(
        shares.index, key=lambda name: QUESTION_GROUPS.index(name.split(",")[0])
    )
    return shares.loc[order, shares.any()]


def unanswered_rate_difference(
    close: pd.DataFrame, **draws: int
) -> tuple[stats.Interval, str]:
    """Return how much oftener UnseenQA is left unanswered than facts, and which facts these are."""
    sides = group_of_each_question(close)
    facts = (
        QUESTION_GROUPS[1] if sides.eq(QUESTION_GROUPS[1]).any() else QUESTION_GROUPS[0]
    )
    rows = close.assign(side=sides)[sides.isin([facts, QUESTION_GROUPS[2]])]
    first, strata = rows["side"] == QUESTION_GROUPS[2], rows["side"] + rows["stratum"]
    found = group_mean_difference(
        rows["label"] == "uninformative", first, strata, **draws
    )
    return (
        found,
        f"facts that it {'never' if facts == QUESTION_GROUPS[1] else 'may have'} read",
    )


def change_between_settings(
    said: pd.DataFrame, before: str, after: str, name: str, **draws: int
) -> tuple[float, float, float, int]:
    """Return how a measure changes between two settings, on the same questions."""
    first, second = (
        said[said["setting"] == each].sort_values("item") for each in (before, after)
    )
    found: Sequence[float] = NO_ESTIMATE
    if len(first) and len(second):
        values = kb.response_indicators(second), kb.response_indicators(first)
        found = stats.paired_difference(
            *values, kb.measure_statistic(name), first["stratum"], **draws
        )
    return (*found[:3], _asked(said, after, name))


def _asked(said: pd.DataFrame, setting: str, name: str) -> int:
    about = said["seen"].astype(bool) != (name in UNSEEN_MEASURES)
    return int((about & (said["setting"] == setting)).sum())


def difference_of_two_measures(
    rows: pd.DataFrame, first: str, second: str, **draws: int
) -> stats.Interval:
    """Estimate first minus second of two measures of the same responses."""
    one, two = kb.measure_statistic(first), kb.measure_statistic(second)
    values = kb.response_indicators(rows)
    return stats.bootstrap(values, lambda v: one(v) - two(v), rows["stratum"], **draws)


def ask_facts_of_known_exposure(
    ask: QuestionAsker,
    model: str,
    settings: Sequence[str],
    n: int,
    match: str,
    **draw: Any,
) -> pd.DataFrame:
    """Ask about more atlas facts of known exposure, without those stated wrongly or one way."""
    if n < 1:
        return pd.DataFrame(columns=["item", "setting", "label", "exposures"])
    facts = datasets.knowledge_base_questions(
        "atlas", model, n, max(1, n // 3), **draw
    ).asked
    facts = facts[facts["exposures"].notna() & facts["plain"].eq(True)]
    said = pd.concat([ask(facts, setting=name) for name in settings], ignore_index=True)
    return responses.mark_responses(said, match)


def response_shares_by_exposure(rows: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Tabulate the shares of the three labels (``response``) by exposure."""
    flags = pd.get_dummies(rows["label"]).reindex(
        columns=kb.RESPONSE_LABELS, fill_value=0
    )
    flags = flags.astype(float).assign(exposures=rows["exposures"])
    found = stats.intervals_by_group(
        flags,
        {label: ([label], stats.mean) for label in kb.RESPONSE_LABELS},
        "exposures",
        **draws,
    )
    found = found[~found["exposures"].isin(["all", "mean"])]
    return found.rename(columns={"measure": "response"}).reset_index(drop=True)


def consistency_beside_truth(rows: pd.DataFrame) -> pd.DataFrame:
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


def ask_wrongly_stated_facts(
    ask: QuestionAsker, again: QuestionAsker, model: str, n: int, match: str, seed: int
) -> pd.DataFrame:
    """Ask about facts that the text states wrongly; ``answer`` says what kind, or the false one."""
    if n < 1:
        names = ["exposures", "false_exposures", "answer", "consistency"]
        return pd.DataFrame(columns=names, dtype=float)
    read = datasets.training_exposure(model).query("false_exposures > 0")
    some = read.sample(frac=1, random_state=seed).groupby("exposures").head(n)
    bank = datasets.knowledge_base_questions(
        "atlas", model, only=list(some.index), seed=seed
    )
    said = responses.mark_responses(ask(bank.asked), match)
    said = kb.add_consistency(
        said,
        accuracy.mark_choices(
            again(consistency_questions.responses_to_ask_again(said))
        ),
    )
    pairs = zip(said["text"], said["false_object"])
    same = [canonical.same_answer(text, [wrong]) for text, wrong in pairs]
    return said.assign(answer=said["kind"].mask(same, FALSE_ANSWER))


def false_less_true_answer_rates(
    misled: pd.DataFrame, **draws: int
) -> list[stats.Interval]:
    """Estimate false less true answers of facts stated wrongly always, in 3 of 4, half the time."""
    true, false = misled["exposures"], misled["false_exposures"]
    lean = (misled["answer"] == FALSE_ANSWER) * 1.0 - (misled["answer"] == TRUE_ANSWER)
    parts = (true == 0, (true > 0) & (true < false), true == false)
    return [stats.bootstrap(lean[part], **draws) for part in parts]


def comparisons_for_appendix(
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
    yield (
        "NCR",
        measure_of_setting(measures_by_setting(close, **draws), close, setting, "NCR"),
    )
    yield "NCCR minus NCR", difference_of_two_measures(seen, "NCCR", "NCR", **draws)
    nobody = unseen[group_of_each_question(unseen) == QUESTION_GROUPS[2]]
    yield "UR of what nobody can answer", _alone(nobody, "UR", **draws), 0.5
    yield (
        "UR, other answers minus numbers and years",
        group_mean_difference(silent, ~numbers, **draws),
    )
    if "exposures" in said:
        often = seen[seen["exposures"] >= OFTEN_THRESHOLD]
        rare = seen[seen["exposures"] < OFTEN_THRESHOLD]
        yield (
            f"NCR of facts stated {OFTEN_THRESHOLD} times or more",
            _alone(often, "NCR", **draws),
        )
        yield "NCR of rarer facts", _alone(rare, "NCR", **draws)
        never = unseen[group_of_each_question(unseen) == QUESTION_GROUPS[1]]
        yield "UR of facts never stated", _alone(never, "UR", **draws), 0.5
        yield "UR of all unseen questions", _alone(unseen, "UR", **draws), 0.5
    for before, after in pairwise(dict.fromkeys(said["setting"])):
        for name in MAIN_MEASURES:
            yield (
                f"{name}, {before} → {after}",
                change_between_settings(said, before, after, name, **draws),
            )
        for side in QUESTION_GROUPS[1:] if "exposures" in said else ():
            part = said[group_of_each_question(said) == side]
            yield (
                f"UR, {side}, {before} → {after}",
                change_between_settings(part, before, after, "UR", **draws),
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
    truth = consistency_beside_truth(close)[["consistency", "right"]].to_numpy()
    yield (
        "right answers, area",
        stats.bootstrap(truth, roc_curve.area_under_roc_curve, **draws),
        0.5,
    )
    _, *others = false_less_true_answer_rates(misled, **draws)
    for how, lean in zip(("three times in four", "half of the time"), others):
        yield f"false answers, less true ones, facts stated wrongly {how}", lean
    two = misled[
        misled["answer"].isin([FALSE_ANSWER, TRUE_ANSWER])
        & misled["consistency"].notna()
    ]
    yield (
        "consistency, false minus true",
        group_mean_difference(
            two["consistency"], two["answer"] == FALSE_ANSWER, **draws
        ),
    )
    table = paper.knowledge_base_models(setting)
    yield "paper, NCR and UR, r", stats.correlation(table["NCR"], table["UR"])
    for row in effects.itertuples():
        yield (
            f"paper, {row.measure}, {row.effect}",
            (row.estimate, row.low, row.high, row.n),
        )


def _alone(rows: pd.DataFrame, name: str, **draws: int) -> stats.Interval:
    return stats.bootstrap(
        kb.response_indicators(rows),
        kb.measure_statistic(name),
        rows["stratum"],
        **draws,
    )


def measures_beside_paper(
    measured: pd.DataFrame,
    setting: str,
    given: Mapping[str, Any],
    lm: LanguageModel,
    bank: KnowledgeQuestions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return this run above the 26 models of the paper, in percent: each, and median and range."""
    this = {
        "dataset": bank.source,
        "parameters": given,
        "model": models.describe_model(lm),
    }
    ours = (
        measured[measured["setting"] == setting].set_index("measure")["estimate"] * 100
    )
    other = bool(papers.differences_from_paper("knowledge_base", this))
    printed = paper.knowledge_base_models(setting)
    kind = printed["tuned"].map(
        {True: "tuned models of the paper", False: "base models"}
    )
    printed = printed[list(kb.MEASURE_NAMES)] * 100
    ranges = {
        f"{name} ({len(rows)})": rows.agg(["median", "min", "max"]).apply(
            lambda column: "{:.1f} ({:.1f} to {:.1f})".format(*column)
        )
        for name, rows in printed.groupby(kind)
    }
    name = prompt_formats.model_label(lm.name, lm.prompt_format)
    each = result_tables.our_row_above_published_table(ours, printed, name, 1, other)
    return each, result_tables.our_row_above_published_table(
        ours, pd.DataFrame(ranges).T, name, 1, other
    )
