"""Fill the model card's tables from the records: ``python -m notebooks.analysis.atlas.page``.

The page `book/model_card.md` holds blocks that begin with ``% table: NAME`` and end with
``% end``. What stands between is written by this module, so that every measured number of the page
is the one that lies beside the weights.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from notebooks.analysis.atlas import family, records
from notebooks.analysis.atlas.evaluate import FEW_OBJECTS
from helpers.models.checkpoints import WEIGHTS
from helpers.plots.tables import wide

PAGE = Path(__file__).resolve().parent.parent.parent / "book" / "model_card.md"
BLOCK = re.compile(r"(?<=^% table: )(\w+)\n.*?(?=^% end$)", flags=re.MULTILINE | re.DOTALL)
KNOWN = f"relations with {FEW_OBJECTS} objects or more"
SHEET = {
    "parameters": "{:,}",
    "megabytes": "{:.1f}",
    "tokens": "{:.1f}",
    "minutes": "{:.0f}",
    "rate": "{:g}",
}


def fill(page: str, tables: Mapping[str, str]) -> str:
    r"""Put tables into the blocks of a page that bear their names.

    >>> fill("% table: one\nold\n% end\n", {"one": "| 1 |"})
    '% table: one\n\n| 1 |\n\n% end\n'
    """

    def written(block: re.Match) -> str:
        if block[1] not in tables:
            raise UserError(
                f"The model card has a block '{block[1]}': choose from {', '.join(tables)}."
            )
        return f"{block[1]}\n\n{tables[block[1]]}\n\n"

    return BLOCK.sub(written, page)


def tables(names: Sequence[str], folder: Path = WEIGHTS) -> dict[str, str]:
    """Return the tables of the model card as Markdown."""
    recorded = family.evaluation(names, folder)
    largest = family.stand_in("", names, folder)
    told = family.report(largest, folder)["text"]
    measured = {
        "effects": records.effects(recorded),
        "choices": records.shares(recorded, records.CHOICES | records.CHECKS),
        "reading": records.shares(recorded, records.READING),
        "changes": records.shares(recorded, records.CHANGES),
    }
    return {
        "family": markdown(sheet(names, folder)),
        "exposures": markdown(row("facts", told["facts_by_exposure"], "exposures")),
        "documents": markdown(row("documents", told["documents"], "kind").T),
        "accuracy": markdown(_by_exposure(recorded, largest)),
        "apart": markdown(records.side_by_side(records.shares(recorded, _apart(recorded)))),
        "chat": markdown(records.side_by_side(records.shares(recorded, records.UNSURE))),
    } | {name: markdown(records.side_by_side(found)) for name, found in measured.items()}


def sheet(names: Sequence[str], folder: Path = WEIGHTS) -> pd.DataFrame:
    """Return `notebooks.analysis.atlas.family.sheet` as texts, numbers rounded for reading."""
    table = family.sheet(names, folder)
    forms = {column: table[column].map(form.format) for column, form in SHEET.items()}
    return table.assign(**forms)


def row(name: str, counts: Mapping[str, int], title: str) -> pd.DataFrame:
    """Return counts as a table of one row, whose index is called `title`.

    >>> row("facts", {"0": 1500, "1": 20}, "exposures").loc["facts"].tolist()
    ['1,500', '20']
    """
    table = pd.DataFrame({key: [f"{n:,}"] for key, n in counts.items()}, index=[name])
    return table.rename_axis(title).rename_axis(title, axis=1)


def markdown(table: pd.DataFrame) -> str:
    """Return a table of texts as Markdown, its index as the first column; "" if it is empty."""
    if table.empty:
        return "Not measured."
    return table.reset_index().to_markdown(index=False, disable_numparse=True)


def _by_exposure(recorded: pd.DataFrame, largest: str) -> pd.DataFrame:
    alone = recorded[recorded["condition"] == f"none, {KNOWN}"]
    guess = recorded[recorded["condition"] == f"commonest object, {KNOWN}"]
    guess = guess[guess["model"] == largest].assign(model="commonest object")
    rows = pd.concat([alone, guess])
    titles = {name: name for name in rows["model"].unique()}
    return wide(rows.assign(measure=rows["model"]), titles, digits=2, by="exposures")


def _apart(recorded: pd.DataFrame) -> dict[str, tuple[str, tuple[int]]]:
    """Name each condition of the facts set apart, level by level."""
    asked = {}
    for condition, title in records.APART.items():
        levels = recorded.loc[recorded["condition"] == condition, "exposures"].unique()
        asked |= {f"{title.format(level)}": (condition, (level,)) for level in sorted(levels)}
    return asked


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.analysis.atlas.page", description=__doc__)
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to be filled")
    page = parser.parse_args(arguments).page
    try:
        text = fill(page.read_text(encoding="utf-8"), tables(family.members()))
    except OSError as error:
        print(f"The page {page} cannot be read: {error}.", file=sys.stderr)
        return 2
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
