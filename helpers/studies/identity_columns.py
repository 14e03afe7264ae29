"""The columns by which results of two models are known to be about the same facts."""

import hashlib
import json
from collections.abc import Iterable

import pandas as pd

from helpers import UserError, datasets, printable_line
from helpers.datasets import fact_identity

# Of answers and of facts; those of older versions may lack them.
IDENTITY_COLUMNS = ("identity", "dataset_checksum", "wordings", "wrong_words")
CHECKSUM_DIGITS = 12


def add_identity_columns(
    answers: pd.DataFrame,
    checksum: str,
    *,
    identity: pd.Series,
    wordings: pd.Series,
    wrong_words: pd.Series,
) -> pd.DataFrame:
    """Add to answers what each item is, and short checksums of how it was asked.

    Parameters
    ----------
    answers : DataFrame
    checksum : str
        Of the data set; "" where the facts are not its own.
    identity : Series of str, index ``item``
        As from :func:`helpers.datasets.fact_identity.identity_text`.
    wordings, wrong_words : Series of list of str, index ``item``
        What was put to the model, before a prompt format wraps it, and what is wrong;
        the order of wrong words does not count.

    Returns
    -------
    DataFrame
        The answers with `IDENTITY_COLUMNS`.
    """
    items = answers["item"]
    in_any_order = wrong_words.map(sorted)
    return answers.assign(
        identity=items.map(identity),
        dataset_checksum=checksum,
        wordings=items.map(wordings.map(_checksum_of_texts)),
        wrong_words=items.map(in_any_order.map(_checksum_of_texts)),
    )


def _checksum_of_texts(texts: Iterable[str]) -> str:
    """Return the first digits of the SHA-256 of texts; "" if there are none."""
    texts = list(texts)
    if not texts:
        return ""
    content = json.dumps(texts, ensure_ascii=False).encode()
    return hashlib.sha256(content).hexdigest()[:CHECKSUM_DIGITS]


def texts_by_item(probes: pd.DataFrame, column: str) -> pd.Series:
    """Return the different texts of each item, in their order."""
    return probes.groupby("item", sort=False)[column].agg(_different_texts)


def _different_texts(texts: pd.Series) -> list[str]:
    return list(dict.fromkeys(texts))


def add_identity_of_answers(facts: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Carry what answers say of the identity of their items to a table of facts.

    Of older answers that name subject and object these are the identity.
    """
    rows = answers.drop_duplicates("item").set_index("item")
    if "identity" not in rows and set(fact_identity.FACT_COLUMNS) <= set(rows):
        rows = rows.assign(identity=fact_identity.fact_identities(rows))
    columns = {}
    for name in IDENTITY_COLUMNS:
        if name in rows:
            columns[name] = facts["item"].map(rows[name])
    return facts.assign(**columns)


def checksum_of_facts(dataset: str, facts: pd.DataFrame | None) -> str:
    """Return the checksum of a data set; "" for facts that are not all its own."""
    checksum = datasets.source_record(dataset)["checksum"]
    if facts is None:
        return checksum
    own = set(fact_identity.fact_identities(datasets.load(dataset)))
    return checksum if own.issuperset(fact_identity.fact_identities(facts)) else ""


def check_names_of_facts(dataset: str, facts: pd.DataFrame) -> None:
    """Refuse facts whose names are those of other facts of the data set.

    For studies that draw the questions about them from the data set by name.
    """
    own = datasets.load(dataset).set_index("fact")
    named = facts[facts["fact"].isin(own.index)]
    if named.empty or not set(fact_identity.FACT_COLUMNS) <= set(named):
        return
    identities = fact_identity.fact_identities(own)
    differs = fact_identity.fact_identities(named) != identities[named["fact"]].array
    if differs.any():
        name = named.loc[differs, "fact"].iloc[0]
        raise UserError(
            f"The fact {printable_line(name)} is another one in "
            f"{printable_line(dataset)}: give the data set that the facts are from."
        )
