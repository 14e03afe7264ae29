"""Factuality and consistency in logs of other tools: repeated answers to one prompt."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.exchange import logs
from helpers.metrics import knowledge_base as kb
from helpers.metrics import matching, responses
from helpers.studies.knowledge_base import INDICATOR_COLUMNS, LISTED
from helpers.studies.measures import Measure, summary_of_measures

TITLE = "knowledge base"
# A log holds questions about seen knowledge or about unseen, not both.
MEASURES_OF_SEEN = ("CR", "WR", "NCR", "Cons_c", "Cons_w", "NCCR")
MEASURES_OF_UNSEEN = ("UR", "Cons_w", "IUR")
NOTES = {
    "consistency": "Cons compares repeated answers; "
    "the paper's is of multiple-choice questions.",
    "seen": "All questions count as being about seen knowledge, for a log does not "
    "say; UR and IUR need a log of questions about unseen knowledge, and seen=no.",
    "steady": "No answer changes: unless they were sampled, Cons says nothing.",
}


def from_logs(
    paths: Sequence[str | Path], *, seen: bool = True, metric: str = ""
) -> logs.Joined:
    """Measure factuality and consistency in logs that hold several answers to a prompt.

    The first answer is the response. The others say how firm it is, in place of the
    paper's multiple-choice questions (equation 4): Cons is the share of them with the
    same text, case and punctuation aside, or with a mark as right as its own.
    """
    log = logs.read_repeated_answers(paths, metric)
    answers = log.table
    texts = answers["text"].mask(answers["text"] == logs.inspect_ai.NO_OPTION, "")
    kinds = []
    for text, right in zip(texts, answers["right"], strict=True):
        kinds.append("correct" if right else responses.response_kind(text))
    marked = pd.DataFrame({"kind": kinds, "seen": seen})
    marked = responses.unseen_guesses_as_wrong(marked)
    marked["consistency"] = _consistency(answers, log.kind == "texts")
    table = answers[["item", "relation"]].assign(stratum="all", label=marked["label"])
    table["said"] = answers["text"]
    table["n_repeats"] = answers["repeats"].map(len)
    indicators = pd.DataFrame(
        kb.response_indicators(marked), table.index, INDICATOR_COLUMNS
    )
    table = table.join(indicators)
    asked = f"{table['n_repeats'].max() + 1} answers to a prompt"
    notes = [*log.notes, *_notes(table, seen)]
    return log._replace(table=table, notes=notes, asked=asked)


def _consistency(answers: pd.DataFrame, are_texts: bool) -> list[float]:
    """Return the share of an item's repeated answers that agree with its first."""
    spelling = matching.normalise_text if are_texts else str
    shares = []
    for row in answers.itertuples():
        agree = []
        for text, right in row.repeats:
            same_text = spelling(text) == spelling(row.text)
            agree.append(same_text or bool(row.right and right))
        shares.append(float(np.mean(agree)) if agree else np.nan)
    return shares


def _notes(table: pd.DataFrame, seen: bool) -> list[str]:
    """Return what a reader has to know of measures from logs."""
    notes = [NOTES["consistency"]]
    if seen:
        notes.append(NOTES["seen"])
    n_alone = (table["n_repeats"] == 0).sum()
    if n_alone:
        documents = f"{n_alone} of {len(table)} documents"
        notes.append(f"{documents} have one answer: Cons leaves them out.")
    consistency = table.loc[table["tested"] == 1, "consistency"]
    if (consistency == 1).all():
        notes.append(NOTES["steady"])
    return notes


def _measures(table: pd.DataFrame) -> list[Measure]:
    """Return the measures that the questions of a log allow."""
    seen = bool(table["seen"].iloc[0])
    names = MEASURES_OF_SEEN if seen else MEASURES_OF_UNSEEN
    return [LISTED[name] for name in names]


def summary_of_logs(
    log: logs.Joined, n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Sum up what :func:`from_logs` returns, each measure with its interval."""
    return summary_of_measures(_measures(log.table), log.table, n_resamples, seed)


def measures_of_logs(log: logs.Joined) -> dict[str, float | None]:
    """Return the measures of what :func:`from_logs` returns, None where undefined."""
    table = log.table
    indicators = table[list(INDICATOR_COLUMNS)].to_numpy()
    numbers = kb.measures_of_indicators(indicators).tolist()
    values = dict(zip(kb.MEASURE_NAMES, numbers, strict=True))
    measures: dict[str, float | None] = {
        "items": len(table),
        "answers": int(table["n_repeats"].max()) + 1,
    }
    for measure in _measures(table):
        value = values[measure.name]
        measures[measure.name] = None if np.isnan(value) else value
    return measures
