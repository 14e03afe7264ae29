"""One way to load every data set: by its name, or by the path of your own files."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import (
    atlas_facts,
    fact_identity,
    facts_without_questions,
    fktc,
)
from helpers.datasets.dataset_writer import TABLE_ENDINGS
from helpers.datasets.registry import (
    DATA_FOLDER,
    FactsAndFrames,
    dataset_names_of_kind,
    fetch_dataset,
)
from helpers.io import files

DATASET_NAMES = dataset_names_of_kind("facts", "pairs")


def load(
    name: str | Path,
    relations: Sequence[str] | None = None,
    n: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the facts of a data set, one row a fact.

    Parameters
    ----------
    name
        ``"atlas"`` (bundled); ``"fktc"``, ``"trex_mc"`` or ``"nobel"`` (each fetched
        once from where it was published); or the path of a folder or a file in the
        format of one of these.
    relations
        Names of the relations to keep, for example ``["P17", "P36"]``; None or empty
        keeps all.
    n
        Facts a relation, at least 1; a relation with fewer gives all. The facts for a
        smaller `n` are among those for a larger one, and do not depend on the other
        relations. None: all.
    seed
        Seeds the choice of facts and, for the atlas, of distractors. Not negative.

    Returns
    -------
    DataFrame
        `fact` (unique), `relation`, `subject`, `object`, `distractors` (a list of wrong
        objects, five in the bundled data sets) and, where your own files have it,
        `exposure`. A fact that repeats an earlier one is left out with a warning. Where
        a subject of a relation has several objects, `other_objects` lists those of its
        other rows: each counts as right, and none is a wrong one.

    Raises
    ------
    UserError
        If there is no such data set, file or relation, a line is malformed, or `n` or
        `seed` is out of range.

    Examples
    --------
    >>> facts = load("atlas", relations=["P246"], n=2, seed=1)
    >>> facts.shape, facts["distractors"].str.len().tolist()
    ((2, 5), [5, 5])
    """
    if n is not None and n < 1:
        raise UserError(
            f"n is {n}, the number of facts a relation: give at least 1, or None."
        )
    if seed < 0:
        raise UserError(f"The seed is {seed}: give 0 or a positive whole number.")
    every = _read(name).facts.drop(columns="place", errors="ignore")
    fact_identity.check_names_of_relations(every["relation"], name)
    pool = fact_identity.facts_once(keep_relations(every, relations), name)
    pool = fact_identity.facts_with_other_objects(pool)
    facts = _sample(pool, n, seed)
    if "distractors" not in facts:
        distractors = atlas_facts.draw_distractors(facts, pool, seed)
        facts = facts.assign(distractors=distractors)
    return facts


def prompt_frames(
    name: str | Path, relations: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the frames (templates of prompts) of a data set, one row a frame.

    Parameters
    ----------
    name, relations
        As in `load`.

    Returns
    -------
    DataFrame
        `relation`; `kind`: "qa" (question), "wp" (word prediction) or "fc" (fact
        checking); `frame`, 0 for the base frame; `template` with [X] for the subject
        and, in "wp" and "fc", [Y] for the object. The atlas has seven frames a kind.
        FKTC has six or seven questions, as published, and one frame each of the other
        kinds; other files may have questions only, and T-REx-MC and Nobel have none.

    Raises
    ------
    UserError
        As in `load`.

    Examples
    --------
    >>> frames = prompt_frames("atlas", relations=["P17"])
    >>> frames.query("kind == 'qa' and frame == 0")["template"].item()
    'Which country is [X] in?'
    """
    table = _read(name).frames
    return table if table.empty else keep_relations(table, relations)


def relation_table(name: str | Path) -> pd.DataFrame:
    """Return one row a relation of a data set, named as in `load`.

    Returns
    -------
    DataFrame
        `relation`, `label`, `subject_type`, `object_type`, `n_facts`, `n_objects`; for
        the atlas also `source` and `licence`.

    Examples
    --------
    >>> relation_table("atlas").set_index("relation").loc["P36", "label"]
    'capital'
    """
    if name == "atlas":
        return pd.read_csv(DATA_FOLDER / "atlas_relations.csv", keep_default_na=False)
    facts = _read(name).facts
    facts = facts[~fact_identity.repeated_facts(facts)]
    fktc_relations = fktc.cloze_templates().set_index("relation")
    groups = facts.groupby("relation", sort=False)
    counts = groups.agg(n_facts=("fact", "size"), n_objects=("object", "nunique"))
    table = counts.reset_index()
    relations = table["relation"]
    label_of = fktc_relations["label"]
    if "label" in facts:
        label_of = groups["label"].first()
    type_of = fktc_relations["object_type"]
    labels = [label_of.get(name, name) for name in relations]
    types = [type_of.get(name, "") for name in relations]
    table.insert(1, "label", labels)
    table.insert(2, "subject_type", "")
    table.insert(3, "object_type", types)
    return table


def source_record(name: str | Path) -> dict[str, str]:
    """Return where a data set, named as in `load`, comes from, for a run's manifest.

    Returns
    -------
    dict
        `name`, `title`, `licence`, `url`, `version`, `checksum` (SHA-256 of the data as
        read), `citation`. For your own files what is not known is "".
    """
    return _read(name).about


def notes_on_facts(
    name: str | Path, relations: Sequence[str] | None = None
) -> list[str]:
    """Return sentences for a reader of facts, on repeated rows and several objects."""
    facts = keep_relations(_read(name).facts, relations)
    if "place" not in facts:
        return []
    is_repeated = fact_identity.repeated_facts(facts)
    repeated = facts.loc[is_repeated, "place"]
    distinct = facts[~is_repeated]
    subjects = fact_identity.fact_identities(distinct.assign(object=""))
    is_further = subjects.duplicated()
    several = distinct.loc[is_further & ~subjects[is_further].duplicated(), "place"]
    notes = []
    if len(repeated):
        first = repeated.iloc[0]
        notes.append(
            f"Facts that repeat an earlier one: {len(repeated)}, such as {first}. Each "
            "counts once."
        )
    if len(several):
        notes.append(
            f"Subjects with more than one object: {len(several)}, such as that of "
            f"{several.iloc[0]}. Each of them counts as right."
        )
    return notes


def base_questions(name: str | Path, facts: pd.DataFrame) -> list[str]:
    """Put each fact of a data set into the base question of its relation."""
    questions = prompt_frames(name).query("kind == 'qa'")
    questions = questions.sort_values("frame", kind="stable")
    base = questions.drop_duplicates("relation").set_index("relation")
    if base.empty:
        raise UserError(f"{name} has no questions: name another data set.")
    templates = base["template"]
    texts = []
    for fact in facts.itertuples():
        template = templates[fact.relation]
        texts.append(template.replace("[X]", fact.subject))
    return texts


def _read(name: str | Path) -> FactsAndFrames:
    """Read the data set behind a name or path."""
    if name == "atlas":
        return atlas_facts.read_atlas()
    path = Path(name).expanduser()
    if name in DATASET_NAMES:
        path = fetch_dataset(str(name))
    with files.reraise_as_malformed_file(name):
        published_name = facts_without_questions.dataset_at_path(path)
        if published_name:
            return facts_without_questions.read_pairs(published_name, path.resolve())
        if path.suffix.casefold() in TABLE_ENDINGS and path.is_file():
            raise UserError(
                f"{path} is a table: give the command measure its --questions, or make "
                "a data set of it with helpers.datasets.write_dataset, as the page on "
                "Python shows."
            )
        if path.exists() and str(name):
            return fktc.read_fktc(path.resolve())
    raise missing_dataset_error(
        name, DATASET_NAMES, "a folder of files in the format of FKTC"
    )


def missing_dataset_error(
    name: str | Path, names: Sequence[str], kind: str
) -> UserError:
    """Return what to say of a data set that is neither a name nor a path."""
    if isinstance(name, Path) or "/" in name or Path(name).suffix:
        return UserError(
            f"There is no file or folder {name}: check the path of the data."
        )
    return UserError(
        f"There is no data set {name!r}: give one of {', '.join(names)}, "
        f"or the path of {kind}."
    )


def keep_relations(table: pd.DataFrame, wanted: Sequence[str] | None) -> pd.DataFrame:
    """Keep the rows of the wanted relations, in the order of the data set."""
    if isinstance(wanted, str):
        raise UserError(
            f"relations is the text {wanted!r}: give a list, such as [{wanted!r}]."
        )
    if not wanted:
        return table
    present = list(dict.fromkeys(table["relation"]))
    missing = [str(relation) for relation in wanted if relation not in present]
    if missing:
        raise UserError(
            f"There is no relation {', '.join(missing)} in the data: choose from "
            f"{', '.join(present)}."
        )
    is_wanted = table["relation"].isin(list(wanted))
    return table[is_wanted].reset_index(drop=True)


def _sample(facts: pd.DataFrame, n: int | None, seed: int) -> pd.DataFrame:
    """Take `n` facts of each relation, in the order of the data set."""
    if n is None:
        return facts
    chosen: list[int] = []
    groups = facts.groupby("relation", sort=False)
    for relation, rows in groups.indices.items():
        relation_number = zlib.crc32(relation.encode())
        random = np.random.default_rng([seed, relation_number])
        order = random.permutation(rows)
        chosen.extend(order[:n])
    return facts.iloc[sorted(chosen)].reset_index(drop=True)
