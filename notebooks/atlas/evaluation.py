"""What a bundled model learnt, by exposure: accuracy under all conditions that we ask about."""

from collections.abc import Callable

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
    return mark_texts(
        generate(lm, probes, max_new_tokens=15, stop=("\n",), progress=progress)
    )


def probes_in_all_contexts(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask the base question alone, after the right, a wrong, and an unrelated word."""
    one = facts.assign(
        distractors=[words[:1] for words in facts["distractors"]],
        unrelated=[
            words[:1] for words in datasets.draw_unrelated_words("atlas", facts, 0)
        ],
    )
    contexts = ("none", "right", "wrong", "unrelated")
    asked = prompts.question_probes(one, frames, contexts=contexts, n_frames=1)
    return asked.assign(condition=asked["context"])


def probes_in_all_wordings(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask in the base frame, the other trained frames and the held-out ones, and as sentences."""
    hinted = prompts.question_probes(facts, frames, contexts=("right",))
    asked = pd.concat(
        [prompts.question_probes(facts, frames, kind=kind) for kind in ("qa", "wp")]
    )
    form = asked["kind"].map({"qa": "question", "wp": "sentence"})
    held_out = asked["frame"].isin(datasets.HELD_OUT_FRAMES)
    part = np.select([asked["frame"] == 0, held_out], ["base", "held out"], "trained")
    asked["condition"] = form + ", " + part
    return pd.concat([asked, hinted.assign(condition="every wording, right")])


def accuracy_by_exposure(marked: pd.DataFrame, exposures: pd.Series) -> pd.DataFrame:
    """Return accuracy by condition and exposure, the latter indexed by fact, as `accuracy_by_condition` does.

    >>> marked = pd.DataFrame({"item": ["a", "b"], "condition": "none", "right": [True, False]})
    >>> table = accuracy_by_exposure(marked, pd.Series({"a": 4, "b": 4}))
    >>> table[["exposures", "n", "accuracy"]].values.tolist()
    [[4.0, 2.0, 0.5]]
    """
    return accuracy_by_condition(
        marked.assign(exposures=exposures.loc[marked["item"]].to_numpy())
    )


def accuracy_by_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy by `condition` and `exposures`, as `accuracy_by_exposure` describes it."""
    rows = []
    for (condition, seen), group in table.groupby(
        ["condition", "exposures"], sort=True
    ):
        share = wilson_interval(int(group["right"].sum()), len(group))
        rows.append((condition, seen, len(group), *(round(x, 4) for x in share[:3])))
    return pd.DataFrame(
        rows, columns=["condition", "exposures", "n", "accuracy", "low", "high"]
    )


def facts_of_many_objects(facts: pd.DataFrame) -> pd.DataFrame:
    """Keep the facts of relations with many different objects."""
    return facts[
        facts.groupby("relation")["object"].transform("nunique") >= FEWEST_OBJECTS
    ]


def evaluate_model(
    lm: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    told: pd.DataFrame,
    n: int = 30,
) -> pd.DataFrame:
    """Measure a model under all conditions."""

    def said(probes: pd.DataFrame) -> pd.DataFrame:
        return marked_answers(lm, probes, progress=True)

    def chosen(probes: pd.DataFrame) -> pd.DataFrame:
        return mark_choices(score(lm, probes))

    plainly = datasets.is_exposure_unconfounded(told.assign(tuned=0))
    plain = facts[plainly.loc[facts["fact"]].to_numpy()]
    order = np.random.default_rng(0).permutation(len(plain))
    some = plain.iloc[order].groupby("relation").head(n)
    few = some.groupby("relation").head(n // 3)
    asked, reworded = (
        said(probes_in_all_contexts(plain, frames)),
        said(probes_in_all_wordings(some, frames)),
    )
    base = asked[asked["condition"] == "none"]
    untold = base.assign(context="wrong", context_index=0)
    many = base[base["item"].isin(facts_of_many_objects(facts)["fact"])]
    alone = reworded[(reworded["kind"] == "qa") & (reworded["context"] == "none")]
    one = some.assign(distractors=[words[:1] for words in some["distractors"]])
    checks = chosen(prompts.fact_check_probes(one, frames, 1))
    checks["condition"] = "check, " + checks["context"].map(
        {"right": "true", "wrong": "false"}
    )
    marked = [
        *(asked, facts_right_in_both_contexts(asked), reworded),
        mark_echoed_wrong_words(asked, facts).assign(condition="wrong word given"),
        mark_echoed_wrong_words(untold, facts).assign(
            condition="wrong word given, not shown"
        ),
        many.assign(condition=QUESTION_ALONE),
        marks_of_commonest_object(many, facts).assign(condition=COMMONEST_OBJECT),
        alone.assign(condition="frame " + alone["frame"].astype(str)),
        alone.assign(condition="every wording, none"),
        *(checks, checks.assign(condition="check, both")),
        said(skills.list_completion_probes(facts, n // 3)),
        chosen(skills.hundred_choice_probes(facts, n // 3)),
        chosen(skills.multiple_choice_probes(few, frames)),
        skills.changed_answers_by_fact(said(skills.varied_prompt_probes(few, frames))),
    ]
    known = pd.concat([table[MARKED_COLUMNS] for table in marked])
    known = known[plainly.loc[known["item"]].to_numpy()]
    ends = told["exposures"].isin([0, told["exposures"].max()])
    kept_out = ends & (told["tuned"] == 0) & told["tuned"].any()
    kept_out = plain[kept_out.loc[plain["fact"]].to_numpy()]
    asked_of = pd.concat([few, kept_out]).drop_duplicates("fact")
    instructed = said(skills.instructed_probes(asked_of, frames, told))
    unsure = mark_texts(instructed.assign(object=UNSURE_ANSWER))
    silent = unsure[unsure["right"] & (unsure["condition"] == "kept frames, new facts")]
    parts = [
        unsure.assign(condition="chat, unsure, " + unsure["condition"]),
        instructed.assign(condition="chat, right, " + instructed["condition"]),
        base[base["item"].isin(silent["item"])].assign(
            condition=CONDITION_WHERE_UNSURE
        ),
    ]
    known = pd.concat([known, *(table[MARKED_COLUMNS] for table in parts)])
    read = said(skills.reading_exercise_probes(facts, frames, 4 * n)).assign(
        exposures=-1
    )
    apart = _apart(
        facts,
        told,
        lambda some: said(prompts.question_probes(some, frames, n_frames=1)),
    )
    parts = [
        accuracy_by_exposure(known, told["exposures"]),
        accuracy_by_condition(read),
        accuracy_by_condition(apart),
    ]
    return pd.concat(parts, ignore_index=True)


def facts_right_in_both_contexts(asked: pd.DataFrame) -> pd.DataFrame:
    """Mark the facts that are answered rightly after both of two kinds of words.

    >>> said = {"item": ["a", "a", "a"], "condition": ["none", "unrelated", "wrong"]}
    >>> facts_right_in_both_contexts(pd.DataFrame(said).assign(right=[True, True, False]))["right"].tolist()
    [True, False, False]
    """
    right = asked.pivot_table("right", "item", "condition", aggfunc="all", sort=False)
    parts = {f"{one} and {two}": right[one] & right[two] for one, two in CONTEXT_PAIRS}
    found = [
        pd.DataFrame({"condition": name, "right": part}) for name, part in parts.items()
    ]
    return pd.concat(found).reset_index()[MARKED_COLUMNS]


def marks_of_commonest_object(asked: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Mark the answers of one who always names the commonest object of a relation."""
    commonest = facts.groupby("relation")["object"].agg(lambda words: words.mode()[0])
    return asked.assign(right=asked["object"] == asked["relation"].map(commonest))


def _apart(facts: pd.DataFrame, told: pd.DataFrame, ask: Callable) -> pd.DataFrame:
    """Ask about the facts that are not plain: one-way pairs, and those with a false object."""
    columns = ["exposures", "pair_exposures", "false_object", "false_exposures"]
    table = facts.join(told[columns], on="fact")
    one_way = table[
        table["relation"].isin(ONE_WAY_RELATIONS) & (table["false_object"] == "")
    ]
    pair = [
        frozenset(names)
        for names in zip(one_way["subject"], one_way["object"], strict=True)
    ]
    most = one_way.groupby(pd.Series(pair, index=one_way.index))["exposures"]
    one_way = one_way.assign(shown=most.transform("max"), least=most.transform("min"))
    one_way = one_way[(one_way["least"] == 0) & (one_way["shown"] > 0)]
    false = table[table["false_object"] != ""]
    asked = ask(pd.concat([one_way, false]))
    ways = asked.merge(
        one_way[["fact", "exposures", "shown"]], left_on="item", right_on="fact"
    )
    way = np.where(ways["exposures"] > 0, "one way, as shown", "one way, reversed")
    doubted = asked.merge(
        false[["fact", *columns[2:]]], left_on="item", right_on="fact"
    )
    believed = mark_texts(doubted.assign(object=doubted["false_object"]))
    doubted = doubted.assign(exposures=doubted["false_exposures"])
    parts = [
        ways.assign(condition=way, exposures=ways["shown"]),
        doubted.assign(condition="false belief, truth given"),
        doubted.assign(
            condition="false belief, falsehood given", right=believed["right"]
        ),
    ]
    return pd.concat(parts)
