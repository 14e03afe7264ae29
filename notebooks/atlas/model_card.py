"""Measure a model and describe it: ``python -m notebooks.atlas.model_card FOLDER``.

It writes `evaluation.csv` and `README.md`; ``--page`` fills the tables of the book's
model card.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from helpers import UserError, datasets, models
from helpers.io import user_cache
from notebooks.atlas import records
from notebooks.atlas.evaluation import evaluate_model
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.kit.plots.result_tables import wide_interval_table

CARD_TEMPLATE = Path(__file__).with_name("readme_template.md")
MODEL_CARD_PAGE = Path(__file__).resolve().parents[2] / "book" / "model_card.md"
TABLE_BLOCK = re.compile(
    r"(?<=^% table: )(\w+)\n.*?(?=^% end$)", flags=re.MULTILINE | re.DOTALL
)
CONDITION_TITLES = {
    "none": "question alone",
    "right": "after the right word",
    "wrong": "after a wrong word",
    "wrong word given": "the wrong word given",
}


def evaluation_as_markdown(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Lay out an evaluation: one row an exposure, one column a condition.

    >>> row = pd.DataFrame({"condition": ["none"], "exposures": [4], "n": [9],
    ...                     "accuracy": [0.5], "low": [0.2], "high": [0.8]})
    >>> print(evaluation_as_markdown(row, {"none": "alone"}))
    | exposures | alone |
    |---|---|
    | 4 | 0.50 [0.20, 0.80] |
    """
    tidy = table.rename(columns={"condition": "measure", "accuracy": "estimate"})
    rows = tidy[tidy["measure"].isin(list(titles))]
    wide = wide_interval_table(rows, titles, digits=2, by="exposures")
    lines = [
        _markdown_row(["exposures", *titles.values()]),
        "|---" * (1 + len(titles)) + "|",
    ]
    for cells in wide.reset_index().astype(str).to_numpy():
        lines.append(_markdown_row(cells))
    return "\n".join(lines)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def fill_page_with_tables(page: str, tables: Mapping[str, str]) -> str:
    """Put tables into the blocks of a page that bear their names."""

    def filled_block(block: re.Match) -> str:
        name = block[1]
        if name not in tables:
            raise UserError(
                f"The model card has a block '{name}': choose from {', '.join(tables)}."
            )
        return f"{name}\n\n{tables[name]}\n\n"

    return TABLE_BLOCK.sub(filled_block, page)


def table_as_markdown(table: pd.DataFrame) -> str:
    """Return a table of texts as Markdown, its index as the first column."""
    if table.empty:
        return "Not measured."
    return table.reset_index().to_markdown(index=False, disable_numparse=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.model_card")
    parser.add_argument(
        "folder", type=Path, nargs="?", help="folder of a model to be measured"
    )
    parser.add_argument(
        "--n", type=int, default=30, help="facts a relation for most conditions"
    )
    parser.add_argument(
        "--page",
        type=Path,
        nargs="?",
        const=MODEL_CARD_PAGE,
        help="fill the tables of the model card",
    )
    options = parser.parse_args(arguments)
    if not options.folder and not options.page:
        parser.error("give the folder of a model, or --page")
    if options.page:
        return exit_status_of_work(partial(_fill_page, options.page))
    return exit_status_of_work(partial(_measure, options.folder, options.n))


def _fill_page(path: Path) -> None:
    """Write the recorded tables into the page of the model card."""
    tables = {}
    for name, table in records.tables_of_records(records.bundled_models()).items():
        tables[name] = table_as_markdown(table)
    try:
        page = path.read_text(encoding="utf-8")
        path.write_text(fill_page_with_tables(page, tables), encoding="utf-8")
    except OSError as error:
        raise UserError(f"The page {path} cannot be read: {error}.") from error


def _command_to_train(report: Mapping, folder: Path) -> str:
    """Return the command that made a model, without its folder."""
    if "tuning" in report:
        base = folder.parent / report["base"]
        return f"python -m notebooks.atlas.chat --base {base.as_posix()}"
    recipe = report["recipe"]
    command = f"python -m notebooks.atlas.train --size {recipe['size']}"
    command += f" --seed {recipe['seed']}"
    if recipe.get("start"):
        command += f" --start {recipe['start']}"
    return command


def _measure(folder: Path, n: int) -> None:
    """Measure a model, and write its evaluation and its card beside it."""
    lm = models.load(folder)
    told = datasets.training_exposure(folder.name, folder.parent)
    facts = datasets.load("atlas")
    facts = facts[facts["fact"].isin(told.index)]
    table = evaluate_model(lm, facts, datasets.prompt_frames("atlas"), told, n)
    table.to_csv(folder / "evaluation.csv", index=False)
    report = records.training_report(folder.name, folder.parent)
    text = CARD_TEMPLATE.read_text(encoding="utf-8").format(
        name=folder.name,
        folder=folder.as_posix(),
        parameters=lm.n_parameters / 1e6,
        facts=report["text"]["facts"],
        levels=", ".join(report["text"]["facts_by_exposure"]),
        table=evaluation_as_markdown(table, CONDITION_TITLES),
        command=f"{_command_to_train(report, folder)} --out {folder.as_posix()}",
        sha=user_cache.checksum_of_files([folder / "model.safetensors"]),
        tokens=sum(stage["tokens"] for stage in report["stages"]) / 1e6,
        minutes=sum(stage["seconds"] for stage in report["stages"]) / 60,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    print(table.pivot_table("accuracy", "condition", "exposures").to_string())


if __name__ == "__main__":
    sys.exit(main())
