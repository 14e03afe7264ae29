"""Where the book has what the four papers print: tables, figures, equations, claims.

``items.csv`` has a row for each table, figure and equation: ``paper, item, place,
value, reason``. ``place`` is ``page#label`` in the book, and ``value`` one number that
stands in the element of that label, where it is the same in every book of the bundled
models. ``reason`` says why the book cannot have the item, or has another in its stead.
An item with several places has several rows. The papers' sentences are those of
``claims.csv``, and stand in the audit.
"""

import pandas as pd

from notebooks.kit import published

ITEM_COLUMNS = ["paper", "item", "place", "value", "reason"]
CLAIMS_TABLE = "chapters/published_appendix#T_all-sentences"


def numbered_items() -> pd.DataFrame:
    """Return the tables, figures and equations of the papers, and where they stand."""
    path = published.TABLES_FOLDER / "items.csv"
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def claim_items() -> pd.DataFrame:
    """Return the papers' sentences, and the cell of the audit that judges each."""
    claims = published.paper_claims()
    column = claims.columns.get_loc("says")
    # The audit shows the sentences of all papers in one table
    rows = pd.Series(range(len(claims))).astype(str)
    return pd.DataFrame(
        {
            "paper": claims["paper"],
            "item": claims["section"]
            + ": \N{LEFT DOUBLE QUOTATION MARK}"
            + claims["quotation"]
            + "\N{RIGHT DOUBLE QUOTATION MARK}",
            "place": f"{CLAIMS_TABLE}_row" + rows + f"_col{column}",
            "value": claims["says"],
            "reason": "",
            "verdict": claims["verdict"],
        }
    )
