"""The questions of the knowledge-base chapter, with shots and wrong answers."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import (
    catalogue,
    fact_identity,
    seen_questions,
    unseen_questions,
)
from helpers.datasets.exposure import training_exposure
from helpers.metrics.canonical import comparison_key

N_SEEN_SHOTS, N_UNSEEN_SHOTS = 280, 40  # sizes of the paper's two repositories
# Answers in a pool, one of which may be the response, and questions for shots.
FEWEST_ANSWERS = 5
ANSWER_TYPE_OF_OBJECT = {
    "country": "location",
    "city": "location",
    "continent": "location",
    "region": "location",
    "time zone": "location",
    "person": "person",
    "number": "number",
    "year": "time",
}
# Columns of a bundled model's exposure that decide what is asked.
EXPOSURE_COLUMNS = ["exposures", "false_object", "false_exposures", "plain", "tuned"]


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


def knowledge_base_questions(  # noqa: PLR0917 - the chapter gives all by position
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
    """Return questions about seen and unseen knowledge, with shots and answer pools.

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
        Of ``"seen_qa"``: as for `helpers.datasets.seen_questions.read_questions`; all
        three sets if empty.
    as_of, seed, judge
        As for `draw_unseen_questions` and `draw_seen_questions`.
    only
        Of the atlas: names of the facts to ask instead, whatever is known of them, and
        nothing else; the shots are drawn from the rest as ever.

    Examples
    --------
    >>> questions = knowledge_base_questions("atlas", "", n_seen=1, n_unseen=2)
    >>> questions.asked.groupby("seen").size().tolist()
    [40, 30]
    >>> len(questions.seen_shots), len(questions.unseen_shots)
    (280, 40)
    """
    if n_seen < 1 or n_unseen < 1:
        raise UserError(
            f"n_seen is {n_seen} and n_unseen {n_unseen}: ask at least one question of "
            "each kind."
        )
    n_templates = len(unseen_questions.QUESTION_TEMPLATES)
    n_of_template = min(n_unseen, unseen_questions.N_PLACES)
    unseen = unseen_questions.draw_unseen_questions(as_of, n_of_template, seed)
    unseen_shots = unseen_questions.draw_unseen_questions(
        as_of, N_UNSEEN_SHOTS // n_templates, seed + 1
    )
    is_asked = unseen_shots["subject"].isin(unseen["subject"])
    unseen_shots = unseen_shots[~is_asked]
    notes = []
    if dataset == "seen_qa":
        files = list(sources) or list(seen_questions.PUBLISHED_SOURCES)
        asked, rest = seen_questions.draw_seen_questions(files, n_seen, seed, judge)
        pool = _first_answers(pd.concat([asked, rest]), "type")
        asked = asked.assign(pool=asked["type"], identity=_question_identities(asked))
        rest = rest.assign(pool=rest["type"])
        source = seen_questions.question_source_record(files)
    else:
        asked, rest, pool = _questions_of_facts(
            dataset, model, n_seen, n_unseen, seed, only
        )
        source = catalogue.source_record(dataset)
        notes = catalogue.notes_on_facts(dataset)
    if only is None:
        unseen = unseen.assign(pool=unseen["type"])
        unseen = unseen.assign(identity=_question_identities(unseen))
        asked = pd.concat([asked, unseen], ignore_index=True)
    pool = pd.concat([pool, _invented_answers()], ignore_index=True)
    is_seen = rest["seen"]
    never_read = _sample_shots(rest[~is_seen], N_UNSEEN_SHOTS // 2, seed)
    unseen_shots = pd.concat([never_read, unseen_shots])
    return KnowledgeQuestions(
        asked=asked.drop(columns=["subject", "n_answers"], errors="ignore"),
        seen_shots=_sample_shots(rest[is_seen], N_SEEN_SHOTS, seed),
        unseen_shots=_sample_shots(unseen_shots, N_UNSEEN_SHOTS, seed),
        pool=pool.drop_duplicates(ignore_index=True),
        source=source,
        notes=notes,
    )


def has_enough_questions(dataset: str) -> bool:
    """Tell whether facts leave something to ask when those for shots are put aside."""
    asked, rest, _ = _questions_of_facts(
        dataset, model="", n_seen=1, n_unseen=1, seed=0, only=None
    )
    n_shots = rest["question"].nunique()
    return len(asked) > 0 and n_shots >= FEWEST_ANSWERS


def _questions_of_facts(
    dataset: str,
    model: str,
    n_seen: int,
    n_unseen: int,
    seed: int,
    only: Collection[str] | None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what is asked of facts, the rest, and the answers of each relation."""
    facts = catalogue.load(dataset, seed=seed)
    facts = facts.assign(key=facts["subject"].map(comparison_key))
    groups = facts.groupby(["relation", "key"], sort=False)
    objects = groups["object"].unique().map(list)
    facts = facts.drop_duplicates(["relation", "key"], ignore_index=True)
    relations = catalogue.relation_table(dataset).set_index("relation")
    types = relations["object_type"].map(ANSWER_TYPE_OF_OBJECT)
    table = pd.DataFrame(
        {
            "item": facts["fact"],
            "group": facts["relation"],
            "question": catalogue.base_questions(dataset, facts),
            "answers": objects.to_list(),
            "type": facts["relation"].map(types).fillna("other"),
            "seen": True,
            "pool": facts["relation"],
            "identity": _identities(facts["relation"], facts["subject"], objects),
        }
    )
    # Drawn before anything is left out: models of unlike training are asked much the
    # same facts.
    random = np.random.default_rng([seed, 2])
    order = random.permutation(len(table))
    place = pd.Series(order, table.index)
    exposure = training_exposure(model) if dataset == "atlas" else None
    if exposure is not None:
        table = _questions_with_clear_exposure(table, exposure, only or ())
    n_asked = table["seen"].map({True: n_seen, False: n_unseen})
    pool = _first_answers(table, "group")
    if dataset != "atlas":
        groups = table.groupby("group")
        size = groups["item"].transform("size")
        fewest_shots = math.ceil(FEWEST_ANSWERS / len(groups))
        n_shots = (size // 5).clip(lower=fewest_shots)
        n_asked = n_asked.clip(upper=size - n_shots)
        pool = pd.concat([pool, _wrong_answers(facts, table)])
    if only is None:
        strata = [table["group"], table["seen"]]
        places = place[table.index].groupby(strata)
        rank = places.rank(method="first")
        is_asked = rank <= n_asked
    else:
        is_asked = table["item"].isin(only)
    asked = table[is_asked].reset_index(drop=True)
    rest = table[~is_asked].reset_index(drop=True)
    return asked, rest, pool


def _question_identities(table: pd.DataFrame) -> list[str]:
    """Return the identity of each question: its source, its words and its answers."""
    return _identities(table["group"], table["question"], table["answers"])


def _identities(
    groups: Iterable[str], names: Iterable[str], answers: Iterable[Sequence[str]]
) -> list[str]:
    """Return the identities of what is asked in groups and has several answers."""
    rows = zip(groups, names, answers, strict=True)
    return [fact_identity.identity_text(*row) for row in rows]


def _questions_with_clear_exposure(
    table: pd.DataFrame, exposure: pd.DataFrame, only: Collection[str]
) -> pd.DataFrame:
    """Return the questions that training clearly answered, or clearly did not.

    Those in `only` stay whatever is known of them.
    """
    exposure = exposure[EXPOSURE_COLUMNS]
    table = table.join(exposure, on="item", how="inner")
    table["seen"] = table["exposures"] > 0
    not_tuned = table["tuned"] == 0
    is_clear = table["plain"] | (table["seen"] & not_tuned)
    is_wanted = table["item"].isin(only)
    return table[is_clear | is_wanted].drop(columns="tuned")


def _wrong_answers(facts: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return facts' wrong objects, and invented answers where there are too few."""
    pool = pd.DataFrame({"pool": facts["relation"], "answer": facts["distractors"]})
    pool = pool.explode("answer").dropna().drop_duplicates()
    relations = table.drop_duplicates("group").set_index("group")
    types = relations["type"]
    counts = pool["pool"].value_counts()
    counts = counts.reindex(types.index, fill_value=0)
    invented = []
    for relation in types.index[counts < FEWEST_ANSWERS]:
        for answer in unseen_questions.invented_answers(types[relation]):
            invented.append((relation, answer))
    invented_pool = pd.DataFrame(invented, columns=["pool", "answer"])
    return pd.concat([pool, invented_pool])


def _invented_answers() -> pd.DataFrame:
    """Return invented answers of each type, in a pool of its own."""
    rows = []
    for kind in unseen_questions.ANSWER_TYPES:
        for answer in unseen_questions.invented_answers(kind):
            rows.append((kind, answer))
    return pd.DataFrame(rows, columns=["pool", "answer"])


def _first_answers(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the first answer of each question, in pools by a column."""
    answers = table["answers"].str[0]
    return pd.DataFrame({"pool": table[by], "answer": answers})


def _sample_shots(table: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Draw n questions with their answers; fewer if there are not so many."""
    random = np.random.default_rng([seed, 3])  # 3: a stream apart from the questions'
    order = random.permutation(len(table))
    shots = table.iloc[sorted(order[:n])]
    return shots[["question", "answers"]].reset_index(drop=True)
