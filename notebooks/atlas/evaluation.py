"""What a bundled model learnt, by exposure: accuracy under all conditions."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import datasets, prompts
from helpers.metrics.accuracy import mark_choices, mark_echoed_wrong_words, mark_texts
from helpers.models import LanguageModel
from helpers.probing import generate, score
from helpers.prompts.prompt_texts import UNSURE_ANSWER
from helpers.stats import wilson_interval
from notebooks.atlas import skills
from notebooks.atlas.records import (
    COMMONEST_OBJECT,
    CONDITION_WHERE_UNSURE,
    CONTEXT_PAIRS,
    FEWEST_OBJECTS,
    QUESTION_ALONE,
)

ONE_WAY_RELATIONS = ("P36", "P1376")
MARKED_COLUMNS = ["item", "condition", "right"]


def marked_answers(
    lm: LanguageModel, probes: pd.DataFrame, progress: bool = False
) -> pd.DataFrame:
    """Let a model answer greedily, up to the end of the line."""
    answers = generate(lm, probes, max_new_tokens=15, stop=("\n",), progress=progress)
    return mark_texts(answers)


def probes_in_all_contexts(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask the base question alone, after the right, a wrong, and an unrelated word."""
    unrelated = datasets.draw_unrelated_words("atlas", facts, 0)
    with_words = _with_one_distractor(facts).assign(
        unrelated=[words[:1] for words in unrelated]
    )
    contexts = ("none", "right", "wrong", "unrelated")
    probes = prompts.question_probes(with_words, frames, contexts=contexts, n_frames=1)
    return probes.assign(condition=probes["context"])


def _with_one_distractor(facts: pd.DataFrame) -> pd.DataFrame:
    """Return facts with the first of their distractors alone."""
    return facts.assign(distractors=[words[:1] for words in facts["distractors"]])


def probes_in_all_wordings(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask in the base, other trained and held-out frames, and as sentences."""
    questions = prompts.question_probes(facts, frames, kind="qa")
    sentences = prompts.question_probes(facts, frames, kind="wp")
    probes = pd.concat([questions, sentences])
    form = probes["kind"].map({"qa": "question", "wp": "sentence"})
    is_base = probes["frame"] == 0
    is_held_out = probes["frame"].isin(datasets.HELD_OUT_FRAMES)
    part = np.select([is_base, is_held_out], ["base", "held out"], "trained")
    probes["condition"] = form + ", " + part
    hinted = prompts.question_probes(facts, frames, contexts=("right",))
    return pd.concat([probes, hinted.assign(condition="every wording, right")])


def accuracy_by_exposure(marked: pd.DataFrame, exposures: pd.Series) -> pd.DataFrame:
    """Return accuracy by condition and exposure, as `accuracy_by_condition` does.

    Exposures are indexed by fact.

    >>> marked = pd.DataFrame({"item": ["a", "b"], "right": [True, False]})
    >>> marked["condition"] = "none"
    >>> table = accuracy_by_exposure(marked, pd.Series({"a": 4, "b": 4}))
    >>> table[["exposures", "n", "accuracy"]].values.tolist()
    [[4.0, 2.0, 0.5]]
    """
    exposures_of_rows = exposures.loc[marked["item"]].to_numpy()
    return accuracy_by_condition(marked.assign(exposures=exposures_of_rows))


def accuracy_by_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, with its interval, by `condition` and `exposures`."""
    rows = []
    for key, group in table.groupby(["condition", "exposures"], sort=True):
        condition, exposures = key
        share = wilson_interval(int(group["right"].sum()), len(group))
        row = {
            "condition": condition,
            "exposures": exposures,
            "n": len(group),
            "accuracy": round(share.estimate, 4),
            "low": round(share.low, 4),
            "high": round(share.high, 4),
        }
        rows.append(row)
    return pd.DataFrame(
        rows, columns=["condition", "exposures", "n", "accuracy", "low", "high"]
    )


def facts_of_many_objects(facts: pd.DataFrame) -> pd.DataFrame:
    """Keep the facts of relations with many different objects."""
    n_objects = facts.groupby("relation")["object"].transform("nunique")
    return facts[n_objects >= FEWEST_OBJECTS]


def evaluate_model(
    lm: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    told: pd.DataFrame,
    n: int = 30,
) -> pd.DataFrame:
    """Measure a model under all conditions."""
    # Whether its fact was tuned does not matter to what is asked without instruction.
    unconfounded = datasets.is_exposure_unconfounded(told.assign(tuned=0))
    plain = facts[unconfounded.loc[facts["fact"]].to_numpy()]
    order = np.random.default_rng(0).permutation(len(plain))
    some = plain.iloc[order].groupby("relation").head(n)
    few = some.groupby("relation").head(n // 3)
    in_contexts = marked_answers(
        lm, probes_in_all_contexts(plain, frames), progress=True
    )
    in_wordings = marked_answers(
        lm, probes_in_all_wordings(some, frames), progress=True
    )
    base = in_contexts[in_contexts["condition"] == "none"]
    marked = pd.concat(
        [
            _marks_in_contexts(in_contexts, facts),
            _marks_in_wordings(in_wordings),
            _marks_of_checks(lm, some, frames),
            _marks_of_skills(lm, facts, few, frames, n // 3),
        ]
    )
    marked = marked[unconfounded.loc[marked["item"]].to_numpy()]
    instructed = _marks_under_instruction(
        lm, _facts_to_instruct(few, plain, told), frames, told, base
    )
    reading = marked_answers(
        lm, skills.reading_exercise_probes(facts, frames, 4 * n), progress=True
    )
    set_apart = _marks_of_facts_set_apart(lm, facts, frames, told)
    parts = [
        accuracy_by_exposure(pd.concat([marked, instructed]), told["exposures"]),
        accuracy_by_condition(reading.assign(exposures=-1)),
        accuracy_by_condition(set_apart),
    ]
    return pd.concat(parts, ignore_index=True)


def _marks_in_contexts(answers: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Mark the answers to the base question: alone, after words, and by guessing."""
    base = answers[answers["condition"] == "none"]
    not_shown = base.assign(context="wrong", context_index=0)
    open_facts = facts_of_many_objects(facts)["fact"]
    of_many = base[base["item"].isin(open_facts)]
    echoed = mark_echoed_wrong_words(answers, facts)
    said_unshown = mark_echoed_wrong_words(not_shown, facts)
    guessed = marks_of_commonest_object(of_many, facts)
    return _joined_marks(
        [
            answers,
            facts_right_in_both_contexts(answers),
            echoed.assign(condition="wrong word given"),
            said_unshown.assign(condition="wrong word given, not shown"),
            of_many.assign(condition=QUESTION_ALONE),
            guessed.assign(condition=COMMONEST_OBJECT),
        ]
    )


def _marks_in_wordings(answers: pd.DataFrame) -> pd.DataFrame:
    """Mark the answers in all wordings: by group, by question frame, and together."""
    is_question_alone = (answers["kind"] == "qa") & (answers["context"] == "none")
    alone = answers[is_question_alone]
    frame_names = "frame " + alone["frame"].astype(str)
    return _joined_marks(
        [
            answers,
            alone.assign(condition=frame_names),
            alone.assign(condition="every wording, none"),
        ]
    )


def _marks_of_checks(
    lm: LanguageModel, facts: pd.DataFrame, frames: pd.DataFrame
) -> pd.DataFrame:
    """Mark the verdicts on a true and a false statement of each fact."""
    probes = prompts.fact_check_probes(_with_one_distractor(facts), frames, 1)
    checks = mark_choices(score(lm, probes))
    truth = checks["context"].map({"right": "true", "wrong": "false"})
    return _joined_marks(
        [
            checks.assign(condition="check, " + truth),
            checks.assign(condition="check, both"),
        ]
    )


def _marks_of_skills(
    lm: LanguageModel,
    facts: pd.DataFrame,
    few: pd.DataFrame,
    frames: pd.DataFrame,
    n_tests: int,
) -> pd.DataFrame:
    """Mark lists, choices, and answers that change where they should not."""
    list_probes = skills.list_completion_probes(facts, n_tests)
    hundred_probes = skills.hundred_choice_probes(facts, n_tests)
    choice_probes = skills.multiple_choice_probes(few, frames)
    varied_probes = skills.varied_prompt_probes(few, frames)
    varied = marked_answers(lm, varied_probes, progress=True)
    return _joined_marks(
        [
            marked_answers(lm, list_probes, progress=True),
            mark_choices(score(lm, hundred_probes)),
            mark_choices(score(lm, choice_probes)),
            skills.changed_answers_by_fact(varied),
        ]
    )


def _facts_to_instruct(
    few: pd.DataFrame, plain: pd.DataFrame, told: pd.DataFrame
) -> pd.DataFrame:
    """Return a few facts, and those of extreme exposure that were kept from tuning."""
    is_extreme = told["exposures"].isin([0, told["exposures"].max()])
    is_kept = is_extreme & (told["tuned"] == 0) & told["tuned"].any()
    kept = plain[is_kept.loc[plain["fact"]].to_numpy()]
    return pd.concat([few, kept]).drop_duplicates("fact")


def _marks_under_instruction(
    lm: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    told: pd.DataFrame,
    base: pd.DataFrame,
) -> pd.DataFrame:
    """Mark what is answered under the instruction, and without it where unsure."""
    probes = skills.instructed_probes(facts, frames, told)
    answers = marked_answers(lm, probes, progress=True)
    unsure = mark_texts(answers.assign(object=UNSURE_ANSWER))
    is_silent = unsure["right"] & (unsure["condition"] == "kept frames, new facts")
    silent = unsure.loc[is_silent, "item"]
    uninstructed = base[base["item"].isin(silent)]
    return _joined_marks(
        [
            unsure.assign(condition="chat, unsure, " + unsure["condition"]),
            answers.assign(condition="chat, right, " + answers["condition"]),
            uninstructed.assign(condition=CONDITION_WHERE_UNSURE),
        ]
    )


def _joined_marks(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return item, condition and mark of tables, one below the other."""
    return pd.concat([table[MARKED_COLUMNS] for table in tables])


def facts_right_in_both_contexts(asked: pd.DataFrame) -> pd.DataFrame:
    """Mark the facts that are answered rightly after both of two kinds of words.

    >>> asked = pd.DataFrame({"condition": ["none", "unrelated", "wrong"]})
    >>> asked = asked.assign(item="a", right=[True, True, False])
    >>> facts_right_in_both_contexts(asked)["right"].tolist()
    [True, False, False]
    """
    right = asked.pivot_table("right", "item", "condition", aggfunc="all", sort=False)
    tables = []
    for first, second in CONTEXT_PAIRS:
        in_both = right[first] & right[second]
        condition = f"{first} and {second}"
        tables.append(pd.DataFrame({"condition": condition, "right": in_both}))
    return pd.concat(tables).reset_index()[MARKED_COLUMNS]


def marks_of_commonest_object(asked: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Mark the answers of one who always names the commonest object of a relation."""
    commonest = facts.groupby("relation")["object"].agg(_commonest)
    is_commonest = asked["object"] == asked["relation"].map(commonest)
    return asked.assign(right=is_commonest)


def _commonest(words: pd.Series) -> str:
    """Return the word that comes most often, of several the first in the alphabet."""
    return words.mode()[0]


def _marks_of_facts_set_apart(
    lm: LanguageModel, facts: pd.DataFrame, frames: pd.DataFrame, told: pd.DataFrame
) -> pd.DataFrame:
    """Mark the facts that are not plain: one-way pairs, and those of a false object."""
    columns = ["exposures", "pair_exposures", "false_object", "false_exposures"]
    table = facts.join(told[columns], on="fact")
    one_way = _facts_shown_one_way(table)
    false = table[table["false_object"] != ""]
    probes = prompts.question_probes(pd.concat([one_way, false]), frames, n_frames=1)
    answers = marked_answers(lm, probes, progress=True)
    shown = one_way[["fact", "exposures", "shown"]]
    ways = answers.merge(shown, left_on="item", right_on="fact")
    direction = np.where(
        ways["exposures"] > 0, "one way, as shown", "one way, reversed"
    )
    claims = false[["fact", "false_object", "false_exposures"]]
    doubted = answers.merge(claims, left_on="item", right_on="fact")
    believed = mark_texts(doubted.assign(object=doubted["false_object"]))
    doubted = doubted.assign(exposures=doubted["false_exposures"])
    parts = [
        ways.assign(condition=direction, exposures=ways["shown"]),
        doubted.assign(condition="false belief, truth given"),
        doubted.assign(
            condition="false belief, falsehood given", right=believed["right"]
        ),
    ]
    return pd.concat(parts)


def _facts_shown_one_way(table: pd.DataFrame) -> pd.DataFrame:
    """Return both facts of each pair shown one way, with its `shown` mentions."""
    in_relations = table["relation"].isin(ONE_WAY_RELATIONS)
    table = table[in_relations & (table["false_object"] == "")]
    names = zip(table["subject"], table["object"], strict=True)
    pairs = pd.Series([frozenset(pair) for pair in names], index=table.index)
    exposures = table.groupby(pairs)["exposures"]
    least = exposures.transform("min")
    most = exposures.transform("max")
    table = table.assign(shown=most, least=least)
    return table[(least == 0) & (most > 0)]
