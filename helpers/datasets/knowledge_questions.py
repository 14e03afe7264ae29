"""The questions of the knowledge-base chapter: what is asked, the shots, and the wrong answers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import catalogue, seen_questions, unseen_questions
from helpers.datasets.exposure import training_exposure

N_SEEN_SHOTS, N_UNSEEN_SHOTS = 280, 40  # sizes of the paper's two repositories
FEWEST_ANSWERS = (
    5  # answers in a pool, one of which may be the response, and questions for shots
)
_TYPES = {
    "location": ("country", "city", "continent", "region", "time zone"),
    "person": ("person",),
    "number": ("number",),
    "time": ("year",),
}
ANSWER_TYPE_OF_OBJECT = {name: kind for kind, names in _TYPES.items() for name in names}


@dataclass(frozen=True)
class KnowledgeQuestions:
    """Tables for one run.

    `asked` has `item, group` (relation, source or template), `question, answers, type,
    seen, pool` and, for bundled models, what they read. The shots are `question,
    answers`, none of them asked. `pool` (`pool, answer`) holds answers of questions
    alike, from which wrong ones are drawn.
    """

    asked: pd.DataFrame
    seen_shots: pd.DataFrame
    unseen_shots: pd.DataFrame
    pool: pd.DataFrame
    source: dict[str, str]
    notes: list[str]


def knowledge_base_questions(
    dataset: str = "atlas",
    model: str = "",
    n_seen: int = 5,
    n_unseen: int = 5,
    sources: Sequence[str | Path] = (),
    as_of: str = unseen_questions.DEFAULT_AS_OF,
    seed: int = 0,
    judge: seen_questions.ChangeJudge | None = None,
    only: Collection[str] | None = None,
) -> KnowledgeQuestions:
    """Return questions about seen and unseen knowledge, with shots and answers to draw from.

    Parameters
    ----------
    dataset
        ``"atlas"``: for a bundled `model`, seen facts were stated at least once in its
        training, unseen ones never, nor in the other direction, nor wrongly, and what a
        chat model was tuned on is neither; for other models all facts count as seen.
        ``"seen_qa"``: published questions. ``"fktc"`` or the path of files in its
        format: facts, which all count as seen; of each relation a fifth is kept for
        shots. UnseenQA is added to the unseen ones.
    model
        Name of a bundled model.
    n_seen, n_unseen
        Questions a relation or source, and a template or relation.
    sources
        Of ``"seen_qa"``: as for `helpers.datasets.seen_questions.read_questions`; all three sets if
        empty.
    as_of, seed, judge
        As for `unseen_qa` and `seen_qa`.
    only
        Of the atlas: names of the facts to ask instead, whatever is known of them, and
        nothing else; the shots are drawn from the rest as ever.

    Examples
    --------
    >>> found = knowledge_base_questions("atlas", "", n_seen=1, n_unseen=2)
    >>> found.asked.groupby("seen").size().tolist(), len(found.seen_shots), len(found.unseen_shots)
    ([40, 30], 280, 40)
    """
    if n_seen < 1 or n_unseen < 1:
        raise UserError(
            f"n_seen is {n_seen} and n_unseen {n_unseen}: ask at least one question of each kind."
        )
    nothing = unseen_questions.draw_unseen_questions(
        as_of, min(n_unseen, unseen_questions.N_PLACES), seed
    )
    others = unseen_questions.draw_unseen_questions(
        as_of, N_UNSEEN_SHOTS // len(unseen_questions.QUESTION_TEMPLATES), seed + 1
    )
    others = others[~others["subject"].isin(nothing["subject"])]
    notes = []
    if dataset != "seen_qa":
        asked, rest, pool = _facts(dataset, model, n_seen, n_unseen, seed, only)
        source, notes = (
            catalogue.source_record(dataset),
            catalogue.notes_on_facts(dataset),
        )
    else:
        chosen = list(sources) or list(seen_questions.PUBLISHED_SOURCES)
        asked, rest = seen_questions.draw_seen_questions(chosen, n_seen, seed, judge)
        pool = pd.concat([asked, rest]).pipe(_pool, "type")
        asked, rest = (table.assign(pool=table["type"]) for table in (asked, rest))
        source = seen_questions.question_source_record(chosen)
    if only is None:
        asked = pd.concat(
            [asked, nothing.assign(pool=nothing["type"])], ignore_index=True
        )
    typed = [
        (kind, text)
        for kind in unseen_questions.ANSWER_TYPES
        for text in unseen_questions.invented_answers(kind)
    ]
    pool = pd.concat(
        [pool, pd.DataFrame(typed, columns=["pool", "answer"])], ignore_index=True
    )
    never = rest[~rest["seen"]]
    return KnowledgeQuestions(
        asked.drop(columns=["subject", "n_answers"], errors="ignore"),
        _some(rest[rest["seen"]], N_SEEN_SHOTS, seed),
        _some(
            pd.concat([_some(never, N_UNSEEN_SHOTS // 2, seed), others]),
            N_UNSEEN_SHOTS,
            seed,
        ),
        pool.drop_duplicates(ignore_index=True),
        source,
        notes,
    )


def has_enough_questions(dataset: str) -> bool:
    """Tell whether facts leave something to ask when the questions for shots are put aside."""
    asked, rest, _ = _facts(dataset, "", 1, 1, 0, None)
    return len(asked) > 0 and rest["question"].nunique() >= FEWEST_ANSWERS


def _facts(
    dataset: str,
    model: str,
    n_seen: int,
    n_unseen: int,
    seed: int,
    only: Collection[str] | None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what is asked of facts, the rest, and the answers of each relation."""
    facts = catalogue.load(dataset, seed=seed)
    objects = (
        facts.groupby(["relation", "subject"], sort=False)["object"].unique().map(list)
    )
    facts = facts.drop_duplicates(["relation", "subject"], ignore_index=True)
    kinds = (
        catalogue.relation_table(dataset)
        .set_index("relation")["object_type"]
        .map(ANSWER_TYPE_OF_OBJECT)
    )
    table = pd.DataFrame(
        {
            "item": facts["fact"],
            "group": facts["relation"],
            "question": catalogue.base_questions(dataset, facts),
            "answers": objects.to_list(),
            "type": facts["relation"].map(kinds).fillna("other"),
            "seen": True,
            "pool": facts["relation"],
        }
    )
    # Drawn before anything is left out: models of unlike training are asked much the
    # same facts.
    place = pd.Series(
        np.random.default_rng([seed, 2]).permutation(len(table)), table.index
    )
    told = training_exposure(model) if dataset == "atlas" else None
    if told is not None:
        columns = ["exposures", "false_object", "false_exposures", "plain", "tuned"]
        table = table.join(told[columns], on="item", how="inner")
        clear = (table["exposures"] > 0) & (table["tuned"] == 0) | table["plain"]
        table = table[clear | table["item"].isin(only or ())].drop(columns="tuned")
        table["seen"] = table["exposures"] > 0
    number = table["seen"].map({True: n_seen, False: n_unseen})
    rank = (
        place[table.index].groupby([table["group"], table["seen"]]).rank(method="first")
        - 1
    )
    pool = table.pipe(_pool, "group")
    if dataset != "atlas":
        size = table.groupby("group")["item"].transform("size")
        least = -(-FEWEST_ANSWERS // table["group"].nunique())
        number = number.clip(upper=size - (size // 5).clip(lower=least))
        pool = pd.concat([pool, _wrong(facts, table)])
    chosen = rank < number if only is None else table["item"].isin(only)
    return (
        table[chosen].reset_index(drop=True),
        table[~chosen].reset_index(drop=True),
        pool,
    )


def _wrong(facts: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the wrong objects of facts, and invented answers where a relation has too few."""
    wrong = pd.DataFrame({"pool": facts["relation"], "answer": facts["distractors"]})
    wrong = wrong.explode("answer").dropna().drop_duplicates()
    types = table.drop_duplicates("group").set_index("group")["type"]
    many = wrong["pool"].value_counts().reindex(types.index, fill_value=0)
    made = []
    for name in types.index[many < FEWEST_ANSWERS]:
        made += [
            (name, text) for text in unseen_questions.invented_answers(types[name])
        ]
    return pd.concat([wrong, pd.DataFrame(made, columns=["pool", "answer"])])


def _pool(table: pd.DataFrame, by: str) -> pd.DataFrame:
    return pd.DataFrame({"pool": table[by], "answer": table["answers"].str[0]})


def _some(table: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    order = np.random.default_rng([seed, 3]).permutation(len(table))[:n]
    return table.iloc[sorted(order)][["question", "answers"]].reset_index(drop=True)
