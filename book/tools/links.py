"""Ask every external link of the book whether it still leads somewhere."""

import json
import re
from pathlib import Path

import pandas as pd

from book.tools import render
from helpers import UserError
from helpers.runs import PROJECT_FOLDER

LINK_CHECK_FOLDER = PROJECT_FOLDER / "build" / "links"
# What Python says where the network, and not the link, is at fault.
NETWORK_FAULT = re.compile(
    r"resolve|resolution|unreachable|refused|timed out|proxy", re.IGNORECASE
)
LINK_COLUMNS = ["status", "filename", "lineno", "uri", "info"]


def check_external_links(out: Path = LINK_CHECK_FOLDER) -> pd.DataFrame:
    """Have Sphinx ask every link that leaves the book."""
    log = out / "log"
    # Where jupyter-book has this builder write.
    answers = out / "_build" / "html" / "output.json"
    answers.unlink(missing_ok=True)
    # Its status, which also tells of broken links, is not needed.
    render.run_jupyter_book("linkcheck", out, log)
    if not answers.is_file():
        raise UserError(
            f"The links were not asked, the book cannot be read: see {log}."
        )
    return parse_link_statuses(answers.read_text(encoding="utf-8"))


def parse_link_statuses(text: str) -> pd.DataFrame:
    """Read Sphinx's answers, one JSON object a line."""
    rows = [json.loads(line) for line in text.splitlines()]
    table = pd.DataFrame(rows, columns=LINK_COLUMNS)
    external = table["uri"].str.startswith("http", na=False)
    table = table[external].drop_duplicates("uri")
    failed = table["status"].isin(["broken", "timeout"])
    network_fault = table["info"].str.contains(NETWORK_FAULT)
    table.loc[failed & network_fault, "status"] = "unreachable"
    return table.reset_index(drop=True)


def exit_status_and_report(table: pd.DataFrame) -> tuple[int, str]:
    """Return a status, 1 for a broken link and 2 without a network, and a report."""
    lines = []
    for row in table[table["status"] == "broken"].itertuples():
        lines.append(f"{row.filename}:{row.lineno}: {row.uri} ({row.info})")
    counts = table["status"].value_counts()
    parts = ", ".join(f"{n} {status}" for status, n in counts.items())
    lines.append(f"{len(table)} external links: {parts}")
    status = 0
    if counts.get("broken", 0) > 0:
        status = 1
    if len(table) and counts.get("unreachable", 0) == len(table):
        status = 2
        lines.append(
            "No server could be reached: "
            "check the network and run make linkcheck again."
        )
    return status, "\n".join(lines)
