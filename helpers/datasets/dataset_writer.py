"""Facts of one's own from a table, as files that every study and command reads."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.datasets import atlas_facts, fktc

TEXT_COLUMNS = ["relation", "subject", "object"]


def write_dataset(
    facts: pd.DataFrame,
    questions: Mapping[str, Sequence[str]],
    folder: str | Path,
    seed: int = 0,
) -> Path:
    """Write facts of your own as a data set: a folder of FKTC files, one a relation.

    Parameters
    ----------
    facts : DataFrame
        ``subject, object``; ``relation``, unless `questions` has only one;
        ``distractors``, a list of wrong objects (or a text, parted by "|"), by default
        five drawn from the other objects of the relation that are not true of the same
        subject; ``exposure``, if you know it: how often a corpus contains the fact
        (:func:`helpers.exchange.cooccurrence.cooccurrence_counts`), missing where
        unknown.
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
    >>> books = pd.DataFrame({"subject": ["Hamlet", "Faust"]})
    >>> books["object"] = ["Shakespeare", "Goethe"]
    >>> questions = {"author": ["Who wrote [X]?"]}
    >>> folder = write_dataset(books, questions, tempfile.mkdtemp())
    >>> facts = datasets.load(folder)
    >>> facts[["fact", "object"]].values.tolist()
    [['author-0000', 'Shakespeare'], ['author-0001', 'Goethe']]
    >>> facts["distractors"].tolist()
    [['Goethe'], ['Shakespeare']]
    """
    facts = _checked_facts(facts, questions, seed)
    folder = Path(folder).expanduser()
    texts = {}
    for relation, rows in facts.groupby("relation", sort=False):
        texts[f"{relation}.json"] = _relation_text(rows, questions[relation])
    _write_texts(texts, folder)
    fktc.read_fktc(folder)  # refuses malformed questions
    return folder


def _relation_text(facts: pd.DataFrame, questions: Sequence[str]) -> str:
    """Return the facts of a relation as JSON lines in FKTC's format."""
    lines: list[dict[str, object]] = [{"relations": list(questions)}]
    for row in facts.itertuples():
        line = {
            "subject": row.subject,
            "object": row.object,
            "taxonomy": list(row.distractors),
        }
        if "exposure" in facts and pd.notna(row.exposure):
            line["exposure"] = _whole_number(row.exposure)
        fktc.parse_fact(line | {"where": f"Row {row.Index}"})
        lines.append(line)
    texts = [json.dumps(line, ensure_ascii=False) for line in lines]
    return "\n".join(texts) + "\n"


def _whole_number(exposure: object) -> object:
    """Return an exposure as a whole number if it is one, and else as it is."""
    count = pd.to_numeric(exposure, errors="coerce")
    return int(count) if count % 1 == 0 else exposure


def _write_texts(texts: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder that holds no other data."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = sorted(path.name for path in folder.glob("*.json*"))
        for name in present:
            if name not in texts:
                raise UserError(
                    f"The folder {folder} holds {name}: give a folder of its own."
                )
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"The facts cannot be written to {folder}: {error.strerror}."
        ) from None


def _checked_facts(
    facts: pd.DataFrame, questions: Mapping[str, Sequence[str]], seed: int
) -> pd.DataFrame:
    """Return facts as texts, all of them with a relation and distractors."""
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
    check_columns(facts, TEXT_COLUMNS, "facts")
    _check_cells(facts)
    facts = facts.copy()
    for column in TEXT_COLUMNS:
        facts[column] = facts[column].map(_text)
    _check_spelling(facts)
    for relation in facts["relation"].unique():
        _check_relation(relation, questions)
    if "distractors" in facts:
        facts["distractors"] = facts["distractors"].map(_wrong_objects)
    else:
        numbers = facts.groupby("relation").cumcount().map("{:04d}".format)
        named = facts.assign(fact=facts["relation"] + "-" + numbers)
        facts["distractors"] = atlas_facts.draw_distractors(named, named, seed)
    return facts


def _check_cells(facts: pd.DataFrame) -> None:
    """Refuse a table without rows or with an empty cell."""
    is_empty = facts[TEXT_COLUMNS].isna().any(axis=1)
    if len(facts) and not is_empty.any():
        return
    what = "There is none"
    if len(facts):
        what = f"Row {facts.index[is_empty][0]} has an empty cell"
    raise UserError(
        f"{what}: a fact needs its {', '.join(TEXT_COLUMNS)} (pandas reads NA as "
        "empty; with keep_default_na=False it does not)."
    )


def _check_spelling(facts: pd.DataFrame) -> None:
    """Refuse a relation that spells an object in two ways."""
    folded = facts["object"].str.casefold()
    folded = folded.str.split().str.join(" ")
    groups = facts.groupby([facts["relation"], folded])
    spellings = groups["object"].unique()
    several = spellings[spellings.str.len() > 1]
    if len(several):
        objects = " and ".join(map(repr, several.iloc[0]))
        raise UserError(
            f"The objects {objects} differ in case or space alone, so one would be a "
            "wrong answer beside the other: spell each object one way."
        )


def _check_relation(relation: str, questions: Mapping[str, Sequence[str]]) -> None:
    """Refuse a relation without question, or whose name cannot begin a file's."""
    if relation not in questions:
        raise UserError(
            f"The relation {relation} has no question: add it to `questions`."
        )
    if not re.fullmatch(r"[^-./\\]+", relation):
        raise UserError(
            f"{relation!r} is no name of a relation: use no '-', '.' or slash."
        )


def _text(value: object) -> str:
    """Return a cell as text; a whole number that pandas made a float is one again."""
    if isinstance(value, list | tuple | set | dict):
        raise UserError(f"A cell holds {str(value)[:40]}: a fact has one text in each.")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _wrong_objects(value: object) -> list[str]:
    """Return wrong objects: a list, or a text in which "|" parts them."""
    if isinstance(value, str):
        parts = [part.strip() for part in value.split("|")]
        return [part for part in parts if part]
    if not isinstance(value, Sequence | np.ndarray):
        raise UserError(
            f"A fact has the distractors {value}: give a list of texts to each."
        )
    return [_text(item) for item in value]
