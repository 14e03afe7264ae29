"""What the appendix of every chapter shows: its tables, everything compared, what the run took."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML

from helpers import runs, stats
from helpers.stats.results import INTERVAL_KINDS, KINDS_WITH_DRAWS
from notebooks.kit.findings import Findings
from notebooks.kit.plots import result_tables

CAPTIONS_FILE = Path(__file__).with_name("captions.toml")


def render_appendix(
    run: runs.Run,
    found: Findings,
    compared: Iterable[tuple],
    shown: Mapping[str, pd.DataFrame],
    saved: Mapping[str, pd.DataFrame] | None = None,
    **words: object,
) -> HTML:
    """Keep what is compared, save all tables, and show those of a finished run behind a fold."""
    for one in compared:
        found.compare(*one)
    folder = run.folder / "tables"
    for name, table in (saved or {}).items():
        result_tables.export_table(table, name, folder)
    parts = tomllib.loads(CAPTIONS_FILE.read_text(encoding="utf-8"))
    captions, n = parts["every"] | parts[run.chapter], run.parameters["n_bootstrap"]
    words |= {
        kind: stats.interval_caption(kind, n * (kind in KINDS_WITH_DRAWS))
        for kind in INTERVAL_KINDS
    }
    digits = parts["digits"].get(run.chapter, {})
    shown = {
        **shown,
        "compared": found.compared(),
        "this_run": manifest_as_table(run.folder),
    }
    styled = [
        result_tables.show_table(
            table,
            name,
            folder,
            captions[name].format(**words),
            digits.get(name, 3),
            True,
        )
        for name, table in shown.items()
    ]
    return result_tables.folded_tables(*styled, summary="All tables of this chapter")


def manifest_as_table(folder: Path) -> pd.DataFrame:
    """Return what a run took, and what it was made with, from its manifest."""
    told: dict[str, Any] = runs.load_manifest(folder)
    told = {
        name: value for name, value in told.items() if name not in ("read", "made_from")
    }
    return (
        pd.json_normalize(told)
        .astype(str)
        .T.set_axis(["value"], axis=1)
        .rename_axis("entry")
    )


def labelled_estimates(
    table: pd.DataFrame, label: str
) -> Iterator[tuple[str, list[float]]]:
    """Yield every row of estimates to be compared, its label filled with what the row holds."""
    for row in table.to_dict("records"):
        yield (
            label.format(**row),
            [row[name] for name in ("estimate", "low", "high", "n")],
        )
