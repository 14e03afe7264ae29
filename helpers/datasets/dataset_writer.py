"""Facts of one's own from a table, as files that every study and command reads."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.datasets import atlas_facts, fktc


def write_dataset(
    facts: pd.DataFrame,
    questions: Mapping[str, Sequence[str]],
    folder: str | Path,
    seed: int = 0,
) -> Path:
    """Write facts of your own as a data set: a folder with one file a relation, in FKTC's format.

    Parameters
    ----------
    facts : DataFrame
        ``subject, object``; ``relation``, unless `questions` has only one;
        ``distractors``, a list of wrong objects (or a text, parted by "|"), by default
        five drawn from the other objects of the relation that are not true of the same
        subject; ``exposure``, if you know it: how often a corpus contains the fact
        (:func:`helpers.exchange.cooccurrence.cooccurrence_counts`), missing where unknown.
    questions : mapping
        Relation to its question templates, each with one [X] for the subject; the first
        is the base question. A relation's name is free of ``-``, ``.`` and slashes.
    folder : str or Path
        Made if it is missing; files of the same relations are replaced.
    seed : int
        Of the draw of wrong objects.

    Returns
    -------
    Path
        The folder: the `dataset` of a study, `load`, a command or a chapter.

    Raises
    ------
    UserError
        If a column or a question is missing, a cell or a template is malformed, or the
        folder holds other data or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from helpers import datasets
    >>> books = pd.DataFrame({"subject": ["Hamlet", "Faust"], "object": ["Shakespeare", "Goethe"]})
    >>> folder = write_dataset(books, {"author": ["Who wrote [X]?"]}, tempfile.mkdtemp())
    >>> datasets.load(folder)[["fact", "object", "distractors"]].values.tolist()
    [['author-0000', 'Shakespeare', ['Goethe']], ['author-0001', 'Goethe', ['Shakespeare']]]
    """
    facts, folder = _whole(facts, questions, seed), Path(folder).expanduser()
    texts = {}
    for relation, rows in facts.groupby("relation", sort=False):
        lines = [{"relations": list(questions[relation])}]
        for row in rows.itertuples():
            wrong = list(row.distractors)
            line = {"subject": row.subject, "object": row.object, "taxonomy": wrong}
            if "exposure" in facts and pd.notna(row.exposure):
                count = pd.to_numeric(row.exposure, errors="coerce")
                line["exposure"] = int(count) if count % 1 == 0 else row.exposure
            fktc.parse_fact(line | {"where": f"Row {row.Index}"})
            lines.append(line)
        texts[f"{relation}.json"] = [
            json.dumps(line, ensure_ascii=False) for line in lines
        ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if others := sorted(
            path.name for path in folder.glob("*.json*") if path.name not in texts
        ):
            raise UserError(
                f"The folder {folder} holds {others[0]}: give a folder of its own."
            )
        for name, lines in texts.items():
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"The facts cannot be written to {folder}: {error.strerror}."
        ) from None
    fktc.read_fktc(folder)  # refuses malformed questions
    return folder


def _whole(
    facts: pd.DataFrame, questions: Mapping[str, Sequence[str]], seed: int
) -> pd.DataFrame:
    """Return the facts as texts, with the only relation and with distractors where none are."""
    if not isinstance(questions, Mapping):
        raise UserError(
            '`questions` names each relation\'s: give {"author": ["Who wrote [X]?"]}.'
        )
    if "aliases" in facts:
        raise UserError(
            "Facts have no aliases: give the one object that counts, without them."
        )
    if "relation" not in facts and len(questions) == 1:
        facts = facts.assign(relation=next(iter(questions)))
    columns = ["relation", "subject", "object"]
    check_columns(facts, columns, "facts")
    empty = facts[columns].isna().any(axis=1)
    if facts.empty or empty.any():
        where = (
            f"Row {facts.index[empty][0]} has an empty cell"
            if len(facts)
            else "There is none"
        )
        raise UserError(
            f"{where}: a fact needs its {', '.join(columns)} (pandas reads NA as empty; with "
            "keep_default_na=False it does not)."
        )
    facts = facts.assign(**{column: facts[column].map(_text) for column in columns})
    plain = facts["object"].str.casefold().str.split().str.join(" ")
    spelt = facts.groupby([facts["relation"], plain])["object"].unique()
    if len(double := spelt[spelt.str.len() > 1]):
        raise UserError(
            f"The objects {' and '.join(map(repr, double.iloc[0]))} differ in case or space alone, "
            "so one would be a wrong answer beside the other: spell each object one way."
        )
    for relation in facts["relation"].unique():
        if relation not in questions:
            raise UserError(
                f"The relation {relation} has no question: add it to `questions`."
            )
        if not re.fullmatch(r"[^-./\\]+", relation):
            raise UserError(
                f"{relation!r} is no name of a relation: use no '-', '.' or slash."
            )
    if "distractors" in facts:
        facts = facts.assign(distractors=facts["distractors"].map(_wrong))
    else:
        places = facts.groupby("relation").cumcount().map("{:04d}".format)
        named = facts.assign(fact=facts["relation"] + "-" + places)
        facts = facts.assign(
            distractors=atlas_facts.draw_distractors(named, named, seed)
        )
    return facts


def _text(value: object) -> str:
    """Return a cell as text; a whole number that pandas has made a float is one again."""
    if isinstance(value, list | tuple | set | dict):
        raise UserError(f"A cell holds {str(value)[:40]}: a fact has one text in each.")
    return (
        str(int(value))
        if isinstance(value, float) and value.is_integer()
        else str(value)
    )


def _wrong(value: object) -> list[str]:
    """Return wrong objects: a list, or a text in which "|" parts them, as a CSV file has it."""
    if isinstance(value, str):
        return [part.strip() for part in value.split("|") if part.strip()]
    if not isinstance(value, Sequence | np.ndarray):
        raise UserError(
            f"A fact has the distractors {value}: give a list of texts to each."
        )
    return [_text(each) for each in value]
