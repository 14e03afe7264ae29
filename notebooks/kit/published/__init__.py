"""The four papers' printed tables, numbers and sentences as data.

Each file ``<paper>_<table>.csv`` is tidy: ``table, row, column, value, source``. Models
have one name throughout: Table 5's "FLAN-T5-XXL" is ``Flan-T5-XXL``, Table 6's
"BLOOMZ-7b" is ``BLOOMZ-7b1`` (by its MONITOR in Table 10). Percentages stay
percentages; p-values printed as 0.001 mean at most 0.001. Columns of ``kb_*`` are
setting and measure, "four-shot CR". Tables ``*_text`` hold numbers of the running text.
Left out are tables without numbers, and Table 9 of the third paper, a picture in the
copy at hand. ``restored.csv`` says what our copies had lost, ``claims.csv`` has
sentences with our verdicts, ``comparisons.csv`` printed numbers beside what others make
them, ``slips.csv`` places where a paper names one thing in two ways. ``monitor_slides``
is the table of the MONITOR paper's slides.

Sources: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge"
(MONITOR), NAACL; arXiv 2310.09820. Zheng et al. 2024, "How Reliable are LLMs as
Knowledge Bases?"; arXiv 2407.13578. Wu et al. 2025, "Towards Reliable Latent Knowledge
Estimation in LLMs" (LKE), WSDM; arXiv 2404.12957. Prompt multiplicity: an earlier
version, with other tables, of Ganesh, Shokri and Farnadi 2026, "Rethinking
Hallucinations", EACL; arXiv 2602.00723.
"""

from pathlib import Path

import pandas as pd

from helpers import UserError

TABLES_FOLDER = Path(__file__).parent


def published_table_names() -> list[str]:
    """List the tables in alphabetical order."""
    return sorted(path.stem for path in TABLES_FOLDER.glob("*_*.csv"))


def load_published_table(name: str) -> pd.DataFrame:
    """Read one published table in its printed shape.

    Parameters
    ----------
    name : str
        As in :func:`published_table_names`, such as ``"monitor_table10"``.

    Returns
    -------
    DataFrame
        Rows and columns in the printed order, numbers as floats, a printed dash among
        numbers as not a number.
    """
    return table_in_printed_shape(load_tidy_table(name))


def table_in_printed_shape(tidy: pd.DataFrame) -> pd.DataFrame:
    """Lay out a stored table as :func:`load_published_table` returns it."""
    # Unlike pivot_table, pivot refuses a cell that is stored twice.
    table = tidy.pivot(index="row", columns="column", values="value")  # noqa: PD010
    table = table.loc[tidy["row"].unique(), tidy["column"].unique()]
    table = table.rename_axis(columns=None)
    for column in table.columns:
        numbers = pd.to_numeric(table[column], errors="coerce")
        is_dash = table[column] == "-"
        if (numbers.notna() | is_dash).all() and not is_dash.all():
            table[column] = numbers.astype(float)
    return table


def load_tidy_table(name: str) -> pd.DataFrame:
    """Read one published table as it is stored, all of it as text.

    Columns ``table, row, column, value, source``.
    """
    known = published_table_names()
    if name not in known:
        raise UserError(
            f'There is no published table "{name}"; there are {", ".join(known)}.'
        )
    return _read_as_text(TABLES_FOLDER / f"{name}.csv")


def restored_cells() -> pd.DataFrame:
    """Return where the tables differ from our copies.

    Columns ``table, place, printed, stored, reason``.
    """
    return _read_as_text(TABLES_FOLDER / "restored.csv")


def table_without_restored_signs(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Blank numbers whose sign we set as other tables have it: they confirm nothing."""
    table = table.copy()
    signs = restored_cells().query("table == @name and reason.str.startswith('sign')")
    for place in signs["place"]:
        table.loc[tuple(place.split(", "))] = float("nan")
    return table


def paper_claims() -> pd.DataFrame:
    """Return sentences of the papers about their results, and what the tables say.

    Returns
    -------
    DataFrame
        ``claim`` (a short name), ``paper, section, quotation``, ``rests_on`` (tables or
        figures), ``says`` (what these print), ``verdict``: "supported", "partly",
        "contradicted" or "not decided", and ``severity`` of what is contradicted:
        "substance", "exceptions" or "description". Our judgements, by the rules of the
        chapter on the papers' tables.
    """
    return _read_as_text(TABLES_FOLDER / "claims.csv")


def printed_number_comparisons() -> pd.DataFrame:
    """Return printed numbers of the papers beside what other printed numbers make them.

    Returns
    -------
    DataFrame
        ``paper, check`` (as in ``checks.csv``, which says what should agree), ``row,
        published, recomputed``, and ``tolerance``, how far rounding of the printed
        numbers can move them apart. Where the check is an inequality, ``recomputed`` is
        the nearest number that fulfils it.
    """
    return pd.read_csv(TABLES_FOLDER / "comparisons.csv")


def printed_number_checks() -> pd.DataFrame:
    """Return the checks behind :func:`printed_number_comparisons`.

    Columns ``paper, check, claim, tables``.
    """
    return _read_as_text(TABLES_FOLDER / "checks.csv")


def printed_slips() -> pd.DataFrame:
    """Return places where a paper names one thing in two ways.

    Columns ``paper, place, quotation, other_place, other_quotation, says``.
    """
    return _read_as_text(TABLES_FOLDER / "slips.csv")


def _read_as_text(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)
