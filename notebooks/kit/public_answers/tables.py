"""Rows an answer → counts by group: the tables that the chapters read.

``python -m notebooks.kit.public_answers.tables CLONES`` makes them again. CLONES holds
a clone of each repository in ``sources.toml``, in a folder with the repository's name.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.special

from helpers import UserError, stats
from notebooks.kit.public_answers import TABLES_FOLDER, load_sources, publishers

# Occurrences from which each level is.
SUBJECT_LEVELS = (0, 100, 1_000, 10_000, 100_000)
FACT_LEVELS = (0, 1, 2, 4, 8, 16, 64, 256, 1_024)
# Methods whose answers to every prompt are all there, two by two.
PAIRS_OF_RUNS = (("moreinfo", "token"), ("calibration", "embedding"))
UNREAD = "Z"  # an answer that no option could be read from
VERSIONS = {"typo": (0, 1, 2), "blank_space": (0, 1, 2), "example": (1, 2, 3, 4)}
N_FIFTHS = 5
SCORES = ("sum", "lead", "share", "PMI", "answer")  # of an option, see score_options
OBJECTS = ("right", "other", "difference")
N_RESAMPLES = 1000


def level_of(occurrences: npt.ArrayLike, levels: tuple[int, ...]) -> np.ndarray:
    """Return the highest level that each number of occurrences reaches.

    >>> level_of([0, 99, 100, 5_000_000], SUBJECT_LEVELS).tolist()
    [0, 0, 100, 100000]
    """
    places = np.searchsorted(levels, np.asarray(occurrences), side="right")
    return np.array(levels)[places - 1]


def count_kept_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Count facts by how many of their answers stay with the model's own object.

    A fact is a subject and a relation, whose answers follow several statements.
    """
    marked = answers.assign(
        kept=answers["source"] == "PK",
        neither=answers["source"] == "ND",
        occurrences=level_of(answers["occurrences"], SUBJECT_LEVELS),
    )
    facts = marked.groupby(["model", "relation", "subject", "occurrences"])
    facts = facts.agg(
        asked=("kept", "size"), kept=("kept", "sum"), neither=("neither", "sum")
    )
    columns = ["model", "relation", "occurrences", "asked", "kept", "neither"]
    return _count_alike(facts.reset_index(), columns, "facts")


def _count_alike(rows: pd.DataFrame, columns: list[str], name: str) -> pd.DataFrame:
    """Count rows that agree in the columns."""
    return rows.groupby(columns).size().rename(name).reset_index()


def count_changed_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Count questions by how many pairs of their answers differ.

    A pair is two runs; one of another prompt is compared with the other run of its
    pair, so that both numbers contain the same chance of sampling.
    """
    parts = []
    for model, rows in answers.groupby("model"):
        runs = rows.pivot_table(
            index="question",
            columns=["change", "version", "setup", "method"],
            values="answer",
            aggfunc="first",
        )
        for change, versions in VERSIONS.items():
            counted = _changes_by_question(runs, change, versions)
            parts.append(counted.assign(model=model, change=change))
    columns = ["model", "change", "answers", "reruns", "reruns_changed"]
    columns += ["prompts", "prompts_changed"]
    return _count_alike(pd.concat(parts), columns, "questions")


def _changes_by_question(
    runs: pd.DataFrame, change: str, versions: tuple[int, ...]
) -> pd.DataFrame:
    """Return how many pairs of runs differ, of all questions and of those read."""
    reruns = []
    prompts = []
    used = []
    for first, second in PAIRS_OF_RUNS:
        base = runs["none", 0, 0, first]
        rerun = runs["none", 0, 0, second]
        used += [base, rerun]
        reruns.append(base != rerun)
        for version in versions:
            if change == "example":
                changed = runs["none", 0, version, second]
            else:
                changed = runs[change, version, 0, second]
            used.append(changed)
            prompts.append(base != changed)
    counted = pd.DataFrame(
        {
            "answers": "all",
            "reruns": len(reruns),
            "reruns_changed": sum(reruns),
            "prompts": len(prompts),
            "prompts_changed": sum(prompts),
        }
    )
    was_read = (pd.concat(used, axis=1) != UNREAD).all(axis=1)
    return pd.concat([counted, counted[was_read].assign(answers="read")])


def count_by_confidence(logits: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Count questions whose answer changes, by fifth of a confidence.

    The confidence is the probability of the first option under one prompt, and the
    change is between the other two. That of the other models is their mean, which
    knows the question and not the model.
    """
    confidences = {}
    options = {}
    for model, values in logits.items():
        confidences[model] = scipy.special.softmax(values, axis=-1).max(axis=-1)
        options[model] = values.argmax(axis=-1)
    total = sum(confidences.values())
    rows = []
    for model, chosen in options.items():
        of_others = (total - confidences[model]) / max(1, len(logits) - 1)
        asked = {"own": confidences[model], "other models": of_others}
        for number, prompt in enumerate(publishers.PROMPTS):
            first, second = np.delete(chosen, number, axis=0)
            for name, confidence in asked.items():
                fifths = fifths_of(confidence[number])
                for fifth in range(N_FIFTHS):
                    changed = (first != second)[fifths == fifth]
                    row = (model, prompt, name, fifth + 1, changed.sum(), changed.size)
                    rows.append(row)
    columns = ["model", "prompt", "confidence", "fifth", "changed", "questions"]
    return pd.DataFrame(rows, columns=columns)


def fifths_of(values: npt.ArrayLike) -> np.ndarray:
    """Return the fifth of each value, from 0, all as large as can be; ties by order.

    >>> fifths_of([9, 1, 5, 7, 3]).tolist()
    [4, 0, 2, 3, 1]
    """
    order = np.argsort(values, kind="stable")
    places = np.empty(len(order), dtype=int)
    places[order] = np.arange(len(order))
    return places * N_FIFTHS // len(order)


def score_options(facts: pd.DataFrame) -> pd.DataFrame:
    """Return of one model's facts five scores of the right option and of the next.

    ``sum`` is the log-probability of the sentence, ``lead`` that less the mean of the
    other options', ``share`` the logarithm of its share among the options, ``PMI`` that
    less the logarithm of the mean share with the relation's other subjects, ``answer``
    whether it is the first. Columns end in ``_right`` and ``_other``. ``favourite``: is
    the option right that has most with all subjects of the relation?
    """
    parts = []
    for _, rows in facts.groupby("relation", sort=True):
        scores = np.stack(rows["scores"].to_list())
        answer = rows["answer"].to_numpy()
        n, n_options = scores.shape
        log_shares = scipy.special.log_softmax(scores, axis=1)
        shares = np.exp(log_shares)
        with_others = (shares.sum(axis=0) - shares) / max(1, n - 1)
        others = (scores.sum(axis=1, keepdims=True) - scores) / (n_options - 1)
        first = scores.argmax(axis=1)[:, np.newaxis]
        values = {
            "sum": scores,
            "lead": scores - others,
            "share": log_shares,
            "PMI": log_shares - np.log(with_others),
            "answer": np.arange(n_options) == first,
        }
        each = rows[["model", "relation", "occurrences"]].reset_index(drop=True)
        places = np.arange(n)
        for name, value in values.items():
            each[f"{name}_right"] = value[places, answer].astype(float)
            following = (answer + 1) % n_options
            each[f"{name}_other"] = value[places, following].astype(float)
        each["favourite"] = (shares.mean(axis=0).argmax() == answer).astype(float)
        parts.append(each)
    return pd.concat(parts, ignore_index=True)


def count_right_answers(scored: pd.DataFrame) -> pd.DataFrame:
    """Count the facts that are completed rightly, by occurrences and relation."""
    levels = level_of(scored["occurrences"], FACT_LEVELS)
    groups = scored.assign(occurrences=levels).groupby(
        ["model", "relation", "occurrences"]
    )
    counts = groups.agg(
        facts=("answer_right", "size"),
        right=("answer_right", "sum"),
        other=("answer_other", "sum"),
        favourite=("favourite", "sum"),
    )
    return counts.astype(int).reset_index()


def correlate_scores_and_occurrences(
    scored: pd.DataFrame, n_resamples: int = N_RESAMPLES
) -> pd.DataFrame:
    """Correlate one model's scores with the occurrences, by ranks within relations.

    Intervals draw facts within relations, the same for all scores and both objects, so
    the differences are paired.
    """
    codes, _ = pd.factorize(scored["relation"])
    columns = ["occurrences"]
    for name in SCORES:
        columns += [f"{name}_right", f"{name}_other"]
    table = np.column_stack([codes, scored[columns]]).astype(float)
    replicates = stats.bootstrap_replicates(
        table, correlations_with_occurrences, codes, n_resamples, seed=0
    )
    estimates = correlations_with_occurrences(table)
    low, high = stats.interval_bounds(replicates, len(table), codes)
    names = [(score, kind) for score in SCORES for kind in OBJECTS]
    rows = pd.DataFrame(names, columns=["score", "object"])
    return rows.assign(estimate=estimates, low=low, high=high, n=len(table))


def correlations_with_occurrences(rows: np.ndarray) -> np.ndarray:
    """Return the correlations of each score: a statistic, (..., n, k) to (..., k').

    The columns are the relation as a whole number, the occurrences, and of each score
    that of the right object and of the other; the results are the two correlations
    and their difference.
    """
    groups = rows[..., 0]
    occurrences = rows[..., 1]
    results = []
    for place in range(2, rows.shape[-1], 2):
        both = []
        for column in (place, place + 1):
            one = np.stack([rows[..., column], occurrences, groups], axis=-1)
            both.append(stats.rank_correlation_within_groups(one))
        right, other = both
        results += [right, other, right - other]
    return np.stack(results, axis=-1)


def make_tables(clones: Path) -> dict[str, pd.DataFrame]:
    """Return all tables by name, from the clones of the publishers' repositories."""
    sources = load_sources()
    files = {}
    for name, source in sources.items():
        _, _, folder = source["repository"].partition("/")
        files[name] = publishers.files_at_commit(clones / folder, source)
    contradicted = publishers.read_contradicted_answers(files["contradictions"])
    repeated = publishers.read_repeated_answers(files["reruns"])
    logits = publishers.read_option_logits(files["confidence"])
    sentences = publishers.read_sentence_scores(files["recall"])
    recall = []
    measures = []
    for model, facts in sentences.groupby("model"):
        scored = score_options(facts)
        recall.append(count_right_answers(scored))
        correlations = correlate_scores_and_occurrences(scored)
        correlations.insert(0, "model", model)
        measures.append(correlations)
    return {
        "contradictions": count_kept_answers(contradicted),
        "reruns": count_changed_answers(repeated),
        "confidence": count_by_confidence(logits),
        "recall": pd.concat(recall, ignore_index=True),
        "recall_measures": pd.concat(measures, ignore_index=True),
    }


def main() -> int:
    """Make the tables and keep them beside this module."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("clones", type=Path, help="folder with the clones")
    given = parser.parse_args()
    try:
        tables = make_tables(given.clones)
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    for name, table in tables.items():
        path = TABLES_FOLDER / f"{name}.csv"
        table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
