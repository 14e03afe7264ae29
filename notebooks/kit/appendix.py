"""The appendix of a chapter: its tables, all that was compared, what the run took."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd
from IPython.display import HTML

from helpers import runs, stats
from helpers.stats.resampling import CONFIDENCE_LEVEL
from helpers.stats.results import INTERVAL_KINDS, KINDS_WITH_DRAWS
from notebooks.kit import replications
from notebooks.kit.findings import UNDECIDED, UNDEFINED, Findings
from notebooks.kit.plots import result_tables

CAPTIONS_FILE = Path(__file__).with_name("captions.toml")
_NOT_SHOWN = ("read", "made_from")  # entries of a manifest that are long lists


def render_appendix(
    run: runs.Run,
    findings: Findings,
    compared: Iterable[tuple],
    shown: Mapping[str, pd.DataFrame],
    saved: Mapping[str, pd.DataFrame] | None = None,
    **words: object,
) -> HTML:
    """Keep what is compared, save all tables, and show those in `shown` in a fold."""
    for comparison in compared:
        findings.compare(*comparison)
    folder = run.folder / "tables"
    for name, table in (saved or {}).items():
        result_tables.export_table(table, name, folder)

    texts = tomllib.loads(CAPTIONS_FILE.read_text(encoding="utf-8"))
    captions = texts["every"] | texts[run.chapter]
    digits = texts["digits"].get(run.chapter, {})
    words |= _captions_of_intervals(run.parameters["n_bootstrap"])
    words["decided_by_chance"] = sentence_on_chance(findings.compared())
    tables = {**shown, "compared": findings.compared()}
    in_other_models = replications.findings_in_other_models(run.folder)
    if not in_other_models.empty:
        tables["in_other_models"] = replications.claims_by_model(in_other_models)
        words["others_decided_by_chance"] = sentence_on_chance(in_other_models)
    tables["this_run"] = manifest_as_table(run.folder)
    styled = []
    for name, table in tables.items():
        caption = captions[name].format(**words)
        styled.append(
            result_tables.show_table(
                table, name, folder, caption, digits.get(name, 3), sortable=True
            )
        )
    return result_tables.folded_tables(*styled, summary="All tables of this chapter")


def _captions_of_intervals(n_bootstrap: int) -> dict[str, str]:
    """Return for each kind of interval how a caption describes it."""
    captions = {}
    for kind in INTERVAL_KINDS:
        n_draws = n_bootstrap if kind in KINDS_WITH_DRAWS else 0
        captions[kind] = stats.interval_caption(kind, n_draws)
    return captions


def sentence_on_chance(compared: pd.DataFrame) -> str:
    """Say how many of the comparisons chance alone would decide, and how many are.

    >>> table = pd.DataFrame({"decision": ["holds"] * 9 + ["undecided"] * 31})
    >>> sentence_on_chance(table)
    'Of 40 comparisons 9 are decided; chance alone would decide about 2.'
    """
    defined = compared[compared["decision"] != UNDEFINED]
    decided = int((defined["decision"] != UNDECIDED).sum())
    by_chance = (1 - CONFIDENCE_LEVEL) * len(defined)
    return (
        f"Of {len(defined)} comparisons {decided} are decided; chance alone would "
        f"decide about {by_chance:.0f}."
    )


def manifest_as_table(folder: Path) -> pd.DataFrame:
    """Return what a run took, and what it was made with, from its manifest."""
    manifest = runs.load_manifest(folder)
    entries = {k: value for k, value in manifest.items() if k not in _NOT_SHOWN}
    table = pd.json_normalize(entries).astype(str).T
    return table.set_axis(["value"], axis=1).rename_axis("entry")


def labelled_estimates(
    table: pd.DataFrame, label: str
) -> Iterator[tuple[str, list[float]]]:
    """Yield each row of estimates to compare, the label filled from its columns."""
    for row in table.to_dict("records"):
        estimate = [row["estimate"], row["low"], row["high"], row["n"]]
        yield label.format(**row), estimate
