"""How long a build took, chapter by chapter, from what its runs wrote down."""

from pathlib import Path

import pandas as pd

from helpers import runs
from helpers.models.checkpoints import slug
from helpers.publishing import jobs
from helpers.runs import SYNTHESIS

RENDERING = "RENDERING-SECONDS"  # stands in the page until the pages are made


def seconds(folder: Path, chapters: list[str], model: str) -> pd.DataFrame:
    """Return what the runs of a book's chapters took."""
    rows = []
    for chapter in chapters:
        own = SYNTHESIS if jobs.kind(chapter) == "synthesis" else slug(model)
        found = {path.parent.parent.name: path for path in folder.glob(f"*/{chapter}/run.json")}
        told = {name: runs.manifest(path.parent) for name, path in found.items()}
        others = [entry["seconds"] for name, entry in told.items() if name != own]
        rows.append(
            {
                "chapter": chapter,
                "shown": told.get(own, {}).get("seconds", float("nan")),
                "others": sum(others),
                "models": len(others),
                "memory": max((e["peak_memory_mib"]["cpu"] for e in told.values()), default=None),
                "device": told.get(own, {}).get("device", ""),
            }
        )
    columns = ["chapter", "shown", "others", "models", "memory", "device"]
    return pd.DataFrame(rows, columns=columns).set_index("chapter")


def page(folder: Path, chapters: list[str], model: str) -> str:
    """Return the table of a build's times as Markdown, for the page on costs."""
    table = seconds(folder, chapters, model)
    lines = [
        f"| chapter | on `{model}`, s | on other models, s | memory, MiB |",
        "|---|---:|---:|---:|",
    ]
    for row in table.itertuples():
        own = "–" if pd.isna(row.shown) else f"{row.shown:.0f}"
        others = f"{row.others:.0f} ({row.models})" if row.models else "–"
        memory = "–" if pd.isna(row.memory) else f"{row.memory:.0f}"
        lines.append(f"| {{doc}}`chapters/{row.Index}` | {own} | {others} | {memory} |")
    total = table["shown"].sum(), table["others"].sum()
    lines.append(f"| all | {total[0]:.0f} | {total[1]:.0f} | – |")
    lines.append(f"| rendering of the pages | {RENDERING} | – | – |")
    where = ", ".join(sorted({device for device in table["device"] if device})) or "unknown"
    return "\n".join(
        [
            *lines,
            "",
            f"Measured when these pages were made, on: {where}. In brackets the number of models. "
            "The seconds of the chapters are those between a run's start and the end of its last "
            f"table; they add up to {sum(total) / 60:.1f} minutes one after the other, and two run "
            "side by side.",
            "",
        ]
    )
