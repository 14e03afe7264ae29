"""What the chapter on knowledge bases computes beside its measures."""

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
from notebooks.analysis import judges
from notebooks.kit import runs_against_papers as papers
from notebooks.kit.group_difference import (
    group_mean_difference,
)
from notebooks.kit.plots import result_tables
from notebooks.kit.published import knowledge_base as paper
from notebooks.kit.running_example import fact_of_running_example

OFTEN_THRESHOLD = 8  # times that the training text states a fact, to count as often
UNSEEN_MEASURES = ("UR", "IUR")
MAIN_MEASURES = ("CR", "WR", "NCR", "UR", "NCCR", "IUR")
NO_ESTIMATE = (np.nan, np.nan, np.nan)
QuestionAsker = Callable[..., pd.DataFrame]
FALSE_ANSWER, TRUE_ANSWER = "the false one", "correct"
QUESTION_GROUPS = ("seen", "never read", "UnseenQA")  # what a question is about
SEEN, NEVER_READ, UNSEEN_QA = QUESTION_GROUPS


def ask_again_by_multiple_choice(
    lm: LanguageModel,
    replies: pd.DataFrame,
    bank: KnowledgeQuestions,
    writer: LanguageModel | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Ask responses again by multiple choice; a writer may offer the wrong options."""
    distractors = None
    if writer:
        distractors = judges.write_distractors(writer, replies, cache=settings["cache"])
    return study.ask_responses_again(
        lm, replies, bank.pool, written=distractors, **settings
    )


def question_of_running_example(
    bank: KnowledgeQuestions, dataset: str, model: str
) -> pd.DataFrame:
    """Return the question about Lyon, the first fact of all chapters, or the first."""
    if dataset != "atlas":
        return bank.asked[bank.asked["seen"]].head(1)
    lyon = fact_of_running_example(datasets.load("atlas", ["P17"]))
    questions = datasets.knowledge_base_questions(
        "atlas", model, only=list(lyon["fact"])
    )
    return questions.asked


def measures_by_setting(replies: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Compute all measures of every prompt setting, with intervals within strata.

    Shares of none or all of the questions have Wilson's, for their resamples are all
    alike.

    >>> replies = pd.DataFrame({
    ...     "setting": "zero-shot", "stratum": "a", "seen": [True, True],
    ...     "label": ["correct", "wrong"], "consistency": [1.0, 0.5]})
    >>> measured = measures_by_setting(replies, n_resamples=10)
    >>> measured.set_index("measure").loc["NCCR", "estimate"]
    np.float64(0.25)
    >>> unseen = replies.assign(seen=False, label="wrong")
    >>> measured = measures_by_setting(unseen, n_resamples=10)
    >>> round(measured.set_index("measure").loc["UR", "high"], 2)
    np.float64(0.66)
    """
    measured = []
    for setting, rows in replies.groupby("setting", sort=False):
        estimates, lows, highs, n = stats.bootstrap(
            kb.response_indicators(rows),
            kb.measures_of_indicators,
            rows["stratum"],
            **draws,
        )
        n_seen = int(rows["seen"].sum())
        sizes = {"CR": n_seen, "WR": n_seen, "UR": len(rows) - n_seen}
        for name, estimate, low, high in zip(
            kb.MEASURE_NAMES, estimates, lows, highs, strict=True
        ):
            if name in sizes and estimate in (0.0, 1.0):
                n_true = int(estimate * sizes[name])
                _, low, high, _ = stats.wilson_interval(n_true, sizes[name])
            measured.append((setting, name, estimate, low, high, n))
    return pd.DataFrame(
        measured, columns=["setting", "measure", *stats.Interval._fields]
    )


def measure_of_setting(
    measured: pd.DataFrame, replies: pd.DataFrame, setting: str, name: str
) -> tuple[float, float, float, int]:
    """Return a measure of a setting with its interval and number of questions."""
    n = _number_of_questions(replies, setting, name)
    is_row = (measured["setting"] == setting) & (measured["measure"] == name)
    if not is_row.any():
        return (*NO_ESTIMATE, n)
    estimate, low, high = measured.loc[is_row, ["estimate", "low", "high"]].iloc[0]
    return float(estimate), float(low), float(high), n


def group_of_each_question(replies: pd.DataFrame) -> pd.Series:
    """Say of each response whether its question is seen, never read, or UnseenQA's.

    >>> replies = pd.DataFrame({"seen": [True, False, False]})
    >>> replies["exposures"] = [4, 0, None]
    >>> list(group_of_each_question(replies))
    ['seen', 'never read', 'UnseenQA']
    """
    groups = pd.Series(UNSEEN_QA, replies.index)
    if "exposures" in replies:
        groups = groups.mask(replies["exposures"].notna(), NEVER_READ)
    return groups.mask(replies["seen"].astype(bool), SEEN)


def response_shares_by_group(replies: pd.DataFrame) -> pd.DataFrame:
    """Tabulate kinds of responses by group and setting; the label has n in brackets."""
    groups = group_of_each_question(replies) + ", " + replies["setting"]
    shares = responses.response_kind_shares(replies, groups)
    shares.index += shares.pop("n").map(" ({:,.0f})".format)
    order = sorted(shares.index, key=_place_of_group)
    return shares.loc[order, shares.any()]


def _place_of_group(label: str) -> int:
    group, _, _ = label.partition(",")
    return QUESTION_GROUPS.index(group)


def unanswered_rate_difference(
    close: pd.DataFrame, **draws: int
) -> tuple[stats.Interval, str]:
    """Return how much oftener UnseenQA than facts is left unanswered; which facts."""
    groups = group_of_each_question(close)
    if groups.eq(NEVER_READ).any():
        facts = NEVER_READ
        facts_in_words = "facts that it never read"
    else:
        facts = SEEN
        facts_in_words = "facts that it may have read"
    rows = close.assign(group=groups)[groups.isin([facts, UNSEEN_QA])]
    difference = group_mean_difference(
        rows["label"] == "uninformative",
        rows["group"] == UNSEEN_QA,
        rows["group"] + rows["stratum"],
        **draws,
    )
    return difference, facts_in_words


def change_between_settings(
    replies: pd.DataFrame, before: str, after: str, name: str, **draws: int
) -> tuple[float, float, float, int]:
    """Return how a measure changes between two settings, on the same questions."""
    n = _number_of_questions(replies, after, name)
    rows_before = replies[replies["setting"] == before].sort_values("item")
    rows_after = replies[replies["setting"] == after].sort_values("item")
    if rows_before.empty or rows_after.empty:
        return (*NO_ESTIMATE, n)
    change = stats.paired_difference(
        kb.response_indicators(rows_after),
        kb.response_indicators(rows_before),
        kb.measure_statistic(name),
        rows_before["stratum"],
        **draws,
    )
    return change.estimate, change.low, change.high, n


def _number_of_questions(replies: pd.DataFrame, setting: str, name: str) -> int:
    """Return how many questions of a setting a measure is about."""
    is_about = replies["seen"].astype(bool) != (name in UNSEEN_MEASURES)
    return int((is_about & (replies["setting"] == setting)).sum())


def difference_of_two_measures(
    rows: pd.DataFrame, first: str, second: str, **draws: int
) -> stats.Interval:
    """Estimate first minus second of two measures of the same responses."""
    first_measure = kb.measure_statistic(first)
    second_measure = kb.measure_statistic(second)

    def difference(values: np.ndarray) -> np.ndarray:
        return first_measure(values) - second_measure(values)

    indicators = kb.response_indicators(rows)
    return stats.bootstrap(indicators, difference, rows["stratum"], **draws)


def ask_facts_of_known_exposure(
    ask: QuestionAsker,
    model: str,
    settings: Sequence[str],
    n: int,
    match: str,
    **draw: Any,
) -> pd.DataFrame:
    """Ask about more atlas facts of known exposure, all of them stated plainly."""
    if n < 1:
        return pd.DataFrame(columns=["item", "group", "setting", "label", "exposures"])
    n_unseen = max(1, n // 3)
    questions = datasets.knowledge_base_questions("atlas", model, n, n_unseen, **draw)
    facts = questions.asked
    facts = facts[facts["exposures"].notna() & facts["plain"].eq(True)]
    replies = pd.concat(
        [ask(facts, setting=name) for name in settings], ignore_index=True
    )
    return responses.mark_responses(replies, match)


def response_shares_by_exposure(rows: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Tabulate the shares of the three labels (``response``) by exposure."""
    labels = kb.RESPONSE_LABELS
    flags = pd.get_dummies(rows["label"]).reindex(columns=labels, fill_value=0)
    flags = flags.astype(float).assign(exposures=rows["exposures"])
    shares = {label: ([label], stats.mean) for label in labels}
    rates = stats.intervals_by_group(flags, shares, "exposures", **draws)
    rates = rates[~rates["exposures"].isin(["all", "mean"])]
    return rates.rename(columns={"measure": "response"}).reset_index(drop=True)


def consistency_beside_truth(rows: pd.DataFrame) -> pd.DataFrame:
    """Return consistency, whether the answer is right (or lucky), and the fact read.

    ``relation_code`` is the relation as a whole number, for areas within relations.
    """
    columns = ["consistency", "right", "read", "relation_code"]
    if "exposures" not in rows:
        return pd.DataFrame(columns=columns, dtype=float)
    facts = rows[rows["exposures"].notna() & rows["consistency"].notna()]
    right = [
        canonical.same_answer(row.text, row.answers)
        for row in facts[["text", "answers"]].itertuples()
    ]
    codes, _ = pd.factorize(facts["group"])
    facts = facts.assign(right=right, read=facts["seen"], relation_code=codes)
    return facts[columns].astype(float)


def consistency_of_panel(facts: pd.DataFrame) -> pd.DataFrame:
    """Return what `consistency_beside_truth` does, of the panel's facts."""
    tested = facts[facts["consistency"].notna()]
    codes, _ = pd.factorize(tested["relation"])
    tested = tested.assign(
        right=tested["correct"], read=tested["exposures"] > 0, relation_code=codes
    )
    return tested[["consistency", "right", "read", "relation_code"]].astype(float)


def ask_wrongly_stated_facts(
    ask: QuestionAsker, again: QuestionAsker, model: str, n: int, match: str, seed: int
) -> pd.DataFrame:
    """Ask about facts that the text states wrongly; ``answer``: its kind, or false."""
    if n < 1:
        names = ["exposures", "false_exposures", "answer", "consistency"]
        return pd.DataFrame(columns=names, dtype=float)
    misstated = datasets.training_exposure(model).query("false_exposures > 0")
    shuffled = misstated.sample(frac=1, random_state=seed)
    sample = list(shuffled.groupby("exposures").head(n).index)
    bank = datasets.knowledge_base_questions("atlas", model, only=sample, seed=seed)
    replies = responses.mark_responses(ask(bank.asked), match)
    choices = again(consistency_questions.responses_to_ask_again(replies))
    replies = kb.add_consistency(replies, accuracy.mark_choices(choices))
    is_false_answer = [
        canonical.same_answer(row.text, [row.false_object])
        for row in replies[["text", "false_object"]].itertuples()
    ]
    return replies.assign(answer=replies["kind"].mask(is_false_answer, FALSE_ANSWER))


def false_less_true_answer_rates(
    misled: pd.DataFrame, **draws: int
) -> list[stats.Interval]:
    """Estimate false less true answers of facts stated wrongly.

    The facts are those stated wrongly always, in three of four cases, half the time.
    """
    true = misled["exposures"]
    false = misled["false_exposures"]
    is_false = (misled["answer"] == FALSE_ANSWER).astype(float)
    is_true = (misled["answer"] == TRUE_ANSWER).astype(float)
    false_less_true = is_false - is_true
    always = false_less_true[true == 0]
    mostly = false_less_true[(true > 0) & (true < false)]
    half_of_time = false_less_true[true == false]
    return [stats.bootstrap(part, **draws) for part in (always, mostly, half_of_time)]


def comparisons_for_appendix(
    replies: pd.DataFrame,
    more: pd.DataFrame,
    misled: pd.DataFrame,
    effects: pd.DataFrame,
    setting: str,
    **draws: int,
) -> Iterator[tuple]:
    """Yield what is no finding: its name, the statistic, its null if that is not 0."""
    close = replies[replies["setting"] == setting]
    yield from _comparisons_of_one_setting(close, setting, **draws)
    yield from _changes_between_settings(replies, more, **draws)
    truth = consistency_beside_truth(close)
    columns = truth[["consistency", "right", "relation_code"]].to_numpy()
    area = stats.bootstrap(
        columns, roc_curve.area_within_relations, truth["relation_code"], **draws
    )
    yield "right answers, AUC", area, 0.5
    _, mostly, half_of_time = false_less_true_answer_rates(misled, **draws)
    label = "false answers, less true ones, facts stated wrongly"
    yield f"{label} three times in four", mostly
    yield f"{label} half of the time", half_of_time
    is_false_or_true = misled["answer"].isin([FALSE_ANSWER, TRUE_ANSWER])
    rows = misled[is_false_or_true & misled["consistency"].notna()]
    is_false = rows["answer"] == FALSE_ANSWER
    difference = group_mean_difference(rows["consistency"], is_false, **draws)
    yield "consistency, false minus true", difference
    table = paper.knowledge_base_models(setting)
    yield "paper, NCR and UR, r", stats.correlation(table["NCR"], table["UR"])
    for row in effects.itertuples():
        label = f"paper, {row.measure}, {row.effect}"
        yield label, (row.estimate, row.low, row.high, row.n)


def _comparisons_of_one_setting(
    close: pd.DataFrame, setting: str, **draws: int
) -> Iterator[tuple]:
    """Yield what is compared among the responses under one prompt setting."""
    is_seen = close["seen"].astype(bool)
    seen = close[is_seen]
    unseen = close[~is_seen]
    groups = group_of_each_question(unseen)
    measured = measures_by_setting(close, **draws)
    yield "NCR", measure_of_setting(measured, close, setting, "NCR")
    yield "NCCR minus NCR", difference_of_two_measures(seen, "NCCR", "NCR", **draws)
    unanswerable = unseen[groups == UNSEEN_QA]
    yield "UR of what nobody can answer", _measure(unanswerable, "UR", **draws), 0.5
    is_silent = unseen["label"] == "uninformative"
    is_number = unseen["type"].isin(["number", "time"])
    difference = group_mean_difference(is_silent, ~is_number, **draws)
    yield "UR, other answers minus numbers and years", difference
    if "exposures" not in close:
        return
    often = seen[seen["exposures"] >= OFTEN_THRESHOLD]
    label = f"NCR of facts stated {OFTEN_THRESHOLD} times or more"
    yield label, _measure(often, "NCR", **draws)
    rare = seen[seen["exposures"] < OFTEN_THRESHOLD]
    yield "NCR of rarer facts", _measure(rare, "NCR", **draws)
    never = unseen[groups == NEVER_READ]
    yield "UR of facts never stated", _measure(never, "UR", **draws), 0.5
    yield "UR of all unseen questions", _measure(unseen, "UR", **draws), 0.5


def _changes_between_settings(
    replies: pd.DataFrame, more: pd.DataFrame, **draws: int
) -> Iterator[tuple]:
    """Yield how measures change from each prompt setting to the next."""
    groups = group_of_each_question(replies)
    for before, after in pairwise(replies["setting"].unique()):
        for name in MAIN_MEASURES:
            change = change_between_settings(replies, before, after, name, **draws)
            yield f"{name}, {before} → {after}", change
        if "exposures" not in replies:
            continue
        for group in (NEVER_READ, UNSEEN_QA):
            rows = replies[groups == group]
            change = change_between_settings(rows, before, after, "UR", **draws)
            yield f"UR, {group}, {before} → {after}", change
    known = more[more["exposures"] >= 64].sort_values("item")
    right = known["label"].eq("correct").astype(float)
    for before, after in pairwise(known["setting"].unique()):
        right_before = right[known["setting"] == before]
        right_after = right[known["setting"] == after]
        change = stats.paired_difference(right_after, right_before, **draws)
        yield f"correct, facts stated 64 times or more, {before} → {after}", change


def _measure(rows: pd.DataFrame, name: str, **draws: int) -> stats.Interval:
    """Estimate one measure of some responses, drawn within strata."""
    indicators = kb.response_indicators(rows)
    return stats.bootstrap(
        indicators, kb.measure_statistic(name), rows["stratum"], **draws
    )


def measures_beside_paper(
    measured: pd.DataFrame,
    setting: str,
    settings: Mapping[str, Any],
    lm: LanguageModel,
    bank: KnowledgeQuestions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return this run above the paper's 26 models, and above their medians and ranges.

    Both tables are in percent.
    """
    manifest = {
        "dataset": bank.source,
        "parameters": settings,
        "model": models.describe_model(lm),
    }
    is_other = bool(papers.differences_from_paper("knowledge_base", manifest))
    of_setting = measured[measured["setting"] == setting]
    ours = of_setting.set_index("measure")["estimate"] * 100
    name = prompt_formats.model_label(lm.name, lm.prompt_format)

    models_of_paper = paper.knowledge_base_models(setting)
    kinds = {True: "tuned models of the paper", False: "base models"}
    kind_of_model = models_of_paper["tuned"].map(kinds)
    printed = models_of_paper[list(kb.MEASURE_NAMES)] * 100
    ranges = {}
    for kind, rows in printed.groupby(kind_of_model):
        summary = rows.agg(["median", "min", "max"])
        ranges[f"{kind} ({len(rows)})"] = summary.apply(_median_and_range_in_words)
    above_models = result_tables.our_row_above_published_table(
        ours, printed, name, 1, is_other
    )
    above_ranges = result_tables.our_row_above_published_table(
        ours, pd.DataFrame(ranges).T, name, 1, is_other
    )
    return above_models, above_ranges


def _median_and_range_in_words(summary: pd.Series) -> str:
    return f"{summary['median']:.1f} ({summary['min']:.1f} to {summary['max']:.1f})"
