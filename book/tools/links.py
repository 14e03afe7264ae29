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
    answers = (
        out / "_build" / "html" / "output.json"
    )  # where jupyter-book has this builder write
    answers.unlink(missing_ok=True)
    render.run_jupyter_book(
        "linkcheck", out, log
    )  # its status also tells of broken links
    if not answers.is_file():
        raise UserError(
            f"The links were not asked, the book cannot be read: see {log}."
        )
    return parse_link_statuses(answers.read_text(encoding="utf-8"))


def parse_link_statuses(text: str) -> pd.DataFrame:
    """Read Sphinx's answers, one JSON object a line."""
    table = pd.DataFrame(
        [json.loads(line) for line in text.splitlines()], columns=LINK_COLUMNS
    )
    table = table[table["uri"].str.startswith("http", na=False)].drop_duplicates("uri")
    no_answer = table["status"].isin(["broken", "timeout"]) & table[
        "info"
    ].str.contains(NETWORK_FAULT)
    table.loc[no_answer, "status"] = "unreachable"
    return table.reset_index(drop=True)


def exit_status_and_report(table: pd.DataFrame) -> tuple[int, str]:
    """Say what came of it, and with which exit status: 1 for a broken link, 2 without a network."""
    counts = table["status"].value_counts()
    lines = [
        f"{row.filename}:{row.lineno}: {row.uri} ({row.info})"
        for row in table[table["status"] == "broken"].itertuples()
    ]
    parts = ", ".join(f"{n} {status}" for status, n in counts.items())
    lines.append(f"{len(table)} external links: {parts}")
    if len(table) and counts.get("unreachable", 0) == len(table):
        lines.append(
            "No server could be reached: check the network and run make linkcheck again."
        )
        return 2, "\n".join(lines)
    return int(counts.get("broken", 0) > 0), "\n".join(lines)
