"""Facts of one's own from a table, as files that every study and command reads."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, check_columns
from helpers.datasets import atlas_facts, fact_identity, fktc
from helpers.datasets.cells import cell_text, cell_texts, is_missing, list_in_cell
from helpers.io import files
from helpers.metrics.canonical import comparison_key

TEXT_COLUMNS = ["relation", "subject", "object"]
COLUMNS = (*TEXT_COLUMNS, "distractors", "exposure")
NEEDED_COLUMNS = ("subject", "object")  # a table of one relation need not name it
TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
N_DIGITS = 8  # of a checksum that tells tables of one name apart


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
        ``distractors``, a list of wrong objects (or a text that spells one, or is
        parted by "|"), by default five drawn from the other objects of the relation
        that are not true of the same subject; ``exposure``, if you know it: how often a
        corpus contains the fact
        (:func:`helpers.exchange.cooccurrence.cooccurrence_counts`), missing where
        unknown. Columns may have any type: what text a cell is,
        :mod:`helpers.datasets.cells` says.
    questions : mapping
        Relation to its question templates, each with one [X] for the subject; the first
        is the base question. A relation's name is free of ``-``, ``.`` and slashes.
    folder : str or Path
        Made if it is missing; files of the same relations are replaced. A fact that
        repeats an earlier one is left out with a warning.
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
    templates = _templates_by_relation(questions)
    facts = _checked_facts(facts, templates, seed)
    folder = Path(folder).expanduser()
    texts = {}
    for relation, rows in facts.groupby("relation", sort=False):
        texts[f"{relation}.json"] = _relation_text(rows, templates[relation])
    _write_texts(texts, folder)
    fktc.read_fktc(folder)  # refuses malformed questions
    return folder


def write_dataset_of_table(
    table: str | Path, questions: Sequence[str], folder: str | Path
) -> Path:
    """Write the facts of a CSV, TSV or Parquet file as a data set.

    Parameters
    ----------
    table : str or Path
        With the columns that :func:`write_dataset` takes.
    questions : sequence of str
        Templates, each with one [X] for the subject: ``"author=Who wrote [X]?"``, or
        ``"Who wrote [X]?"`` where there is one relation. Several of a relation are its
        wordings.
    folder : str or Path
        The data set is below it, in a folder of this table and these questions alone.

    Returns
    -------
    Path
        The data set's folder, as of :func:`write_dataset`.

    Raises
    ------
    UserError
        As :func:`write_dataset`, or if the table is no such file.
    """
    path = Path(table).expanduser()
    if path.suffix.casefold() not in TABLE_ENDINGS:
        raise UserError(
            "Questions are for a table of facts: give one that ends in "
            f"{', '.join(TABLE_ENDINGS)}, as in --set dataset=facts.csv."
        )
    with files.reraise_as_malformed_file(path):
        records = files.read_records(path, NEEDED_COLUMNS, optional=COLUMNS)
        content = hashlib.sha256(files.read_bytes(path))
    if not records:
        raise UserError(f"{path} holds no fact: write one a line, below the header.")
    facts = pd.DataFrame(records).drop(columns="where")
    relations = ["facts"]
    if "relation" in facts:
        relations = list(_texts_of_column(facts["relation"]).unique())
    templates = _templates_from_words(questions, relations)
    content.update(json.dumps(templates).encode())
    name = re.sub(r"[^A-Za-z0-9_-]", "_", path.stem)
    digits = content.hexdigest()[:N_DIGITS]
    return write_dataset(facts, templates, Path(folder) / digits / name)


def _templates_from_words(
    words: Sequence[str], relations: Sequence[str]
) -> dict[str, list[str]]:
    """Return question templates by relation, from words such as ``author=Who ...?``."""
    templates: dict[str, list[str]] = {}
    for word in words:
        name, equals, template = word.partition("=")
        relation = cell_text(name, "--questions")
        is_name = relation in relations or not re.search(r"[\s\[\]]", relation)
        if not equals or not is_name:  # the equals sign is one of the question's
            if len(relations) != 1:
                raise UserError(
                    f"The question {word!r} names no relation, and there are "
                    f"{len(relations)}: write {relations[0]}={word!r}."
                )
            relation, template = relations[0], word
        templates.setdefault(relation, []).append(template.strip())
    return templates


def _relation_text(facts: pd.DataFrame, questions: Sequence[str]) -> str:
    """Return the facts of a relation as JSON lines in FKTC's format."""
    lines: list[dict[str, object]] = [{"relations": list(questions)}]
    for row in facts.itertuples():
        line = {
            "subject": row.subject,
            "object": row.object,
            "taxonomy": list(row.distractors),
        }
        where = f"Row {row.Index}"
        if "exposure" in facts and not is_missing(row.exposure):
            line["exposure"] = _whole_number(row.exposure, where)
        fktc.parse_fact(line | {"where": where})
        lines.append(line)
    texts = [json.dumps(line, ensure_ascii=False) for line in lines]
    return "\n".join(texts) + "\n"


def _whole_number(exposure: object, where: str) -> object:
    """Return an exposure as a whole number if it is one, and else as it is."""
    text = cell_text(exposure, where)
    if re.fullmatch(r"[0-9]{1,30}", text):
        return int(text)
    return exposure


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


def _templates_by_relation(
    questions: Mapping[str, Sequence[str]],
) -> dict[str, list[str]]:
    """Return the question templates of each relation as texts."""
    if not isinstance(questions, Mapping):
        raise UserError(
            '`questions` names each relation\'s: give {"author": ["Who wrote [X]?"]}.'
        )
    if not questions:
        raise UserError(
            "There are no questions: give each relation its templates, such as "
            '{"author": ["Who wrote [X]?"]}.'
        )
    templates: dict[str, list[str]] = {}
    for relation, value in questions.items():
        where = f"The questions of {relation}"
        texts = list_in_cell(value)
        if texts is None:
            texts = [value]
        name = cell_text(relation, where)
        templates.setdefault(name, [])
        for text in texts:
            templates[name] += _templates_in_text(cell_text(text, where))
    return templates


def _templates_in_text(text: str) -> list[str]:
    """Return the templates that "|" parts, each with its own subject, or the text.

    >>> _templates_in_text("Where is [X]? | Which country has [X]?")
    ['Where is [X]?', 'Which country has [X]?']
    """
    templates = list(map(str.strip, text.split("|")))
    if all(template.count("[X]") == 1 for template in templates):
        return templates
    return [text]


def _checked_facts(
    facts: pd.DataFrame, templates: Mapping[str, Sequence[str]], seed: int
) -> pd.DataFrame:
    """Return facts as texts, all of them with a relation and distractors."""
    facts = _plain_table(facts)
    if "aliases" in facts:
        raise UserError(
            "Facts have no aliases: give the one object that counts, without them."
        )
    if "relation" not in facts and len(templates) == 1:
        facts = facts.assign(relation=next(iter(templates)))
    check_columns(facts, TEXT_COLUMNS, "facts")
    for column in TEXT_COLUMNS:
        facts[column] = _texts_of_column(facts[column])
    if not len(facts):
        raise UserError(f"There is no fact: give its {', '.join(TEXT_COLUMNS)}.")
    _check_spelling(facts)
    facts = fact_identity.facts_once(facts, "The table of facts")
    fact_identity.check_names_of_relations(facts["relation"], "The table of facts")
    for relation in facts["relation"].unique():
        _check_relation(relation, templates)
    if "distractors" in facts and facts["distractors"].notna().any():
        cells = _cells_of_column(facts["distractors"])
        facts["distractors"] = [
            _wrong_objects(cell, f"Row {row}") for row, cell in enumerate(cells)
        ]
    else:
        numbers = facts.groupby("relation").cumcount().map("{:04d}".format)
        named = facts.assign(fact=facts["relation"] + "-" + numbers)
        facts["distractors"] = atlas_facts.draw_distractors(named, named, seed)
    return facts


def _plain_table(facts: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of facts under plain names, rows numbered from 0."""
    if not isinstance(facts, pd.DataFrame):
        raise UserError("`facts` is no table: give a pandas DataFrame.")
    if facts.columns.nlevels > 1:
        raise UserError(
            "The table of facts has names of several levels over its columns: give "
            f"it plain ones, such as {', '.join(TEXT_COLUMNS)}."
        )
    index = facts.index
    names = _plain_names(facts.columns)
    facts = facts.set_axis(names, axis="columns").reset_index(drop=True)
    for place, name in enumerate(_plain_names(index.names)):
        level = index.get_level_values(place)
        is_kept = names.count(name) == 1 and level.equals(pd.Index(facts[name]))
        if name in COLUMNS and not is_kept:
            facts.insert(0, name, level, allow_duplicates=True)
    for name in COLUMNS:
        if list(facts.columns).count(name) > 1:
            raise UserError(f"The table of facts has two columns {name!r}: drop one.")
    return facts


def _plain_names(names: Iterable[object]) -> list[str]:
    """Return the names of columns as texts, known ones in small letters."""
    texts = [cell_text(str(name), "The columns") for name in names]
    return list(files.plain_header(tuple(texts), COLUMNS))


def _cells_of_column(column: pd.Series) -> list[Any]:  # of any type
    """Return the cells of a column, of Arrow's types as they are written."""
    if isinstance(column.dtype, pd.ArrowDtype):
        return files.arrow_values(column.array.__arrow_array__())
    return list(column.array)


def _texts_of_column(column: pd.Series) -> pd.Series:
    """Return the cells of a column as texts, none of them empty."""
    texts = []
    for row, cell in enumerate(_cells_of_column(column)):
        text = cell_text(cell, f"Row {row}")
        if not text:
            raise UserError(
                f"Row {row} has an empty cell: a fact needs its "
                f"{', '.join(TEXT_COLUMNS)} (pandas reads NA as empty; with "
                "keep_default_na=False it does not)."
            )
        texts.append(text)
    return pd.Series(texts, index=column.index, dtype=object)


def _check_spelling(facts: pd.DataFrame) -> None:
    """Refuse a relation that spells an object in two ways."""
    keys = facts["object"].map(comparison_key)
    groups = facts.groupby([facts["relation"], keys])
    spellings = groups["object"].unique()
    several = spellings[spellings.str.len() > 1]
    if len(several):
        objects = " and ".join(map(repr, several.iloc[0]))
        raise UserError(
            f"The objects {objects} differ in spelling alone, so one would be a wrong "
            "answer beside the other: spell each object one way."
        )


def _check_relation(relation: str, templates: Mapping[str, Sequence[str]]) -> None:
    """Refuse a relation without question, or whose name cannot begin a file's."""
    if relation not in templates:
        raise UserError(
            f"The relation {relation} has no question: add it to `questions`."
        )
    if not re.fullmatch(r"[^-./\\]+", relation):
        raise UserError(
            f"{relation!r} is no name of a relation: use no '-', '.' or slash."
        )


def _wrong_objects(cell: object, where: str) -> list[str]:
    """Return a fact's wrong objects, without empty ones."""
    if is_missing(cell):
        raise UserError(f"{where} has no distractors: give a list of texts to each.")
    return list(filter(None, cell_texts(cell, where)))
