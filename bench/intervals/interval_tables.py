"""Write the page's tables: ``python -m bench.intervals.interval_tables``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from bench.intervals import interval_formulas, simulate_intervals

BOOK_FOLDER = Path(__file__).parents[2] / "book"
FEWEST_COVERED = 93.0  # percent; below, a cell is bold
MOST_CALLED = 7.0  # percent; above, a cell is bold
# Our functions whose documentation says that they are not for new clusters.
NOT_FOR_CLUSTERS = ("our Wilson", "our bootstrap", "our paired bootstrap")


# Where the name of a formula does not say whose it is.
HEADINGS = {
    "stderr": "lm-evaluation-harness, lighteval",
    "two stderr": "z of two stderr",
}


def decimal_text(number: float, form: str) -> str:
    """Return a number between 0 and 1 without the zero before its point."""
    return f"{number:{form}}".removeprefix("0")


def design_text(design: Any) -> str:
    """Return a design in words, without its number of items."""
    share = decimal_text(design.share, "g")
    text = f"share {share}"
    if design.kind == "graded":
        text = f"graded, mean {share}"
    if not pd.isna(design.clusters):
        icc = decimal_text(design.icc, "g") or "0"
        text = f"{text}, {design.clusters} clusters, ICC {icc}"
    if design.repeats > 1:
        text = f"{text}, {design.repeats} samples each"
    return text


def cell_text(result: Any) -> str:
    """Return a rate in percent and the width; bold if bad, in brackets if not meant."""
    percent = 100 * result.rate
    text = f"{percent:.1f}"
    is_bad = percent < FEWEST_COVERED
    if result.of == "difference":
        is_bad = percent > MOST_CALLED
    if is_bad:
        text = f"**{text}**"
    if not pd.isna(result.width):
        text = f"{text} · {decimal_text(result.width, '.3f')}"
    if result.formula in NOT_FOR_CLUSTERS and not pd.isna(result.clusters):
        text = f"({text})"
    return text


def results_by_design(of: str) -> pd.DataFrame:
    """Return a row for each design of a mean or a difference, a column a formula."""
    designs = simulate_intervals.read_designs().reset_index()
    results = pd.read_csv(simulate_intervals.RESULTS_FILE)
    results = results.merge(designs[designs["of"] == of], on="design")
    rows: dict[int, dict[str, str]] = {}
    for result in results.itertuples():
        row = rows.setdefault(result.design, {"items": result.n})
        row["design"] = design_text(result)
        row[result.formula] = cell_text(result)
    # Our t of clusters, which has no column, is Inspect's ``ci`` with clusters.
    formulas: dict[str, Any] = interval_formulas.MEANS
    if of == "difference":
        formulas = interval_formulas.DIFFERENCES
    table = pd.DataFrame(list(rows.values()))
    return table[["items", "design", *formulas]].rename(columns=HEADINGS)


def main() -> None:
    """Write both tables."""
    for of in ("mean", "difference"):
        path = BOOK_FOLDER / f"tool_intervals_{of}.csv"
        results_by_design(of).to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
