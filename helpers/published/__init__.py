"""The papers' tables and claims as data, and their checks.

What our copies of the papers had lost and we put back (two signs, some headings) is listed in
``restored.csv`` (:func:`restored`). ``claims.csv`` holds sentences (`helpers.published.claims`).

Each file ``<paper>_<table>.csv`` is tidy: ``table, row, column, value, source``. Models have one
name throughout: Table 5's "FLAN-T5-XXL" is ``Flan-T5-XXL``, Table 6's "BLOOMZ-7b" is
``BLOOMZ-7b1`` (its MONITOR of 0.472 is that of BLOOMZ-7b1 in Table 10). Percentages stay
percentages; p-values printed as 0.001 mean at most 0.001. Table 4's overall MONITOR is the sum of
Table 10's column over 21, though there are 20 relations, so a mean over relations is 5 % above it.

Models of ``kb_*`` are named by family and size, "Llama3 8B"; their columns by setting and measure,
"four-shot CR" ("four-two": four-shot with two unsure shots).

Tables ``*_text`` hold numbers from the running text. Not here: what has no numbers (templates and
prompts of MONITOR's Table 1 and of the knowledge bases' Tables 3 and 5 to 8, lists of names in the
tables 3 and 4 of the third paper), and its Table 9, an image in the copy at hand.

Tables ``lke_*``: Table 7 has 35 base and 14 tuned models. Table 8's averages are said (H.3) to be
of "all the 49 models" and fit the 35: times 35 times 400 facts they are whole numbers, but for two
relations.
Table 5's {subject} stands as printed.

Sources: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge" (MONITOR),
NAACL; arXiv 2310.09820. Zheng et al. 2024, "How Reliable are LLMs as Knowledge Bases?"; arXiv
2407.13578. Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs" (LKE), WSDM;
arXiv 2404.12957. Prompt multiplicity: an earlier version, with other tables, of Ganesh, Shokri and
Farnadi 2026, "Rethinking Hallucinations", EACL; arXiv 2602.00723.
"""

from pathlib import Path

import pandas as pd

from helpers import UserError

FOLDER = Path(__file__).parent


def names(folder: Path = FOLDER) -> list[str]:
    """List the tables there are in a folder, by default the book's own, in alphabetical order.

    Examples
    --------
    >>> "monitor_table4" in names()
    True
    """
    return sorted(path.stem for path in folder.glob("*_*.csv"))


def load(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """Read one published table in its printed shape.

    Parameters
    ----------
    name : str
        As in :func:`names`, such as ``"monitor_table10"``.
    folder : Path
        Where the files are.

    Returns
    -------
    DataFrame
        Rows and columns in the printed order, numbers as floats, a printed dash among numbers as
        not a number; ``attrs["source"]`` cites it.

    Raises
    ------
    UserError
        If there is no such table; the message lists those there are.

    Examples
    --------
    >>> table = load("monitor_table4")
    >>> float(table.loc["Vicuna-7b", "MONITOR"]), table.attrs["source"]
    (0.504, 'Wang et al. 2024, Table 4')
    """
    return wide(load_tidy(name, folder))


def wide(tidy: pd.DataFrame) -> pd.DataFrame:
    """Lay out a stored table in its printed shape, as :func:`load` returns it.

    >>> wide(load_tidy("monitor_table8")).to_dict("records")
    [{'MONITOR': 14.4, 'accuracy': 42.7, 'saved': 2.97}]
    """
    table = tidy.pivot(index="row", columns="column", values="value")  # noqa: PD010 refuses doubles
    table = table.loc[tidy["row"].unique(), tidy["column"].unique()].rename_axis(columns=None)
    for column in table.columns:
        numbers, empty = pd.to_numeric(table[column], errors="coerce"), table[column] == "-"
        if (numbers.notna() | empty).all() and not empty.all():
            table[column] = numbers.astype(float)
    table.attrs["source"] = tidy["source"].iloc[0]
    return table


def load_tidy(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """Read one published table as it is stored, its values the strings that were printed.

    Parameters
    ----------
    name : str
        As in :func:`names`.
    folder : Path
        Where the files are.

    Returns
    -------
    DataFrame
        Columns ``table, row, column, value, source``.

    Raises
    ------
    UserError
        If there is no such table; the message lists those there are.

    Examples
    --------
    >>> load_tidy("monitor_table8")[["column", "value"]].values.tolist()
    [['MONITOR', '14.4'], ['accuracy', '42.7'], ['saved', '2.97']]
    """
    known = names(folder)
    if name not in known:
        raise UserError(f'There is no published table "{name}"; there are {", ".join(known)}.')
    return pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)


def unknown(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Blank the numbers of a table whose sign we set as other tables have it: they confirm nothing.

    >>> unknown("kb_table2", load("kb_table2")).isna().to_numpy().sum()
    np.int64(2)
    """
    table = table.copy()
    signs = restored().query("table == @name and reason.str.startswith('sign')")
    for place in signs["place"]:
        table.loc[tuple(place.split(", "))] = float("nan")
    return table


def restored() -> pd.DataFrame:
    """Return what our copies of the papers print otherwise than the tables are stored.

    Returns
    -------
    DataFrame
        ``table, place, printed, stored, reason``, all text.

    Examples
    --------
    >>> restored().loc[0, ["printed", "stored"]].tolist()
    ['0.17', '-0.17']
    """
    return pd.read_csv(FOLDER / "restored.csv", dtype=str, keep_default_na=False)


def parameters(text: str) -> float:
    """Read a number of parameters as the papers write it.

    Raises
    ------
    UserError
        If the text is no such number.

    Examples
    --------
    >>> parameters("125m"), parameters("7.1B")
    (125000000.0, 7100000000.0)
    """
    units = {"m": 1e6, "b": 1e9}
    try:
        return float(text[:-1]) * units[text[-1].lower()]
    except (ValueError, KeyError, IndexError):
        raise UserError(f'"{text}" is no number of parameters such as 125m or 7B.') from None
