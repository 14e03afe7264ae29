"""What a run found: a statistic in view, and its wording in ``notebooks/claims/<chapter>.yaml``.

A chapter computes the statistic and names the claim, which is worded in one of three
ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pandas as pd
import yaml

from helpers import UserError, reraise_failed_write
from notebooks.kit.plots import result_tables

if TYPE_CHECKING:
    from IPython.display import HTML

HOLDS, OPPOSITE, UNDECIDED, UNDEFINED = "holds", "opposite", "undecided", "undefined"
FINDINGS_FILE = "findings.json"
CLAIMS_FOLDER = Path(__file__).parents[1] / "claims"
DOTTED_BAR_NOTE = '<p class="note-below">Dotted bar: we cannot tell.</p>'


@dataclass(frozen=True)
class Finding:
    """One sentence about a run, with what decides it."""

    claim: str
    decision: str
    sentence: str
    estimate: float
    low: float
    high: float
    n: int

    def _repr_html_(self) -> str:
        return _html([self])


def finding_of_claim(
    claim: str,
    result: Any,
    *,
    holds: str,
    opposite: str = "",
    undecided: str = "",
    undefined: str = "",
    decision: str = "",
    null: float = 0.0,
    digits: int = 1,
    scale: float = 100.0,
    unit: str = " points",
    **words: object,
) -> Finding:
    """Decide a claim by an estimate and its interval, and say so in one of three wordings.

    >>> words = {"holds": "Up by {size}.", "opposite": "Down by {size}.", "undecided": "{value}?"}
    >>> finding_of_claim("rises", (-0.2, -0.3, -0.1, 90), **words).sentence
    'Down by 20.0 [10.0, 30.0] points.'
    >>> finding_of_claim("rises", (-0.2, -0.5, 0.1, 90), **words).sentence
    '-20.0 [-50.0, 10.0] points?'
    """
    estimate, low, high, n = _numbers(result)
    ends = [end - null for end in (estimate, low, high)]
    decision = decision or _decision(*(round(scale * end, digits) for end in ends))
    if decision == OPPOSITE:
        ends = [-ends[0], -ends[2], -ends[1]]
    written = {
        "value": result_tables.interval(estimate, low, high, digits, scale) + unit,
        "size": result_tables.interval(*ends, digits, scale) + unit,
        "n": f"{int(n):,}",
    }
    default = f"{claim.replace('_', ' ').capitalize()}: undefined for this run."
    wordings = {
        HOLDS: holds,
        OPPOSITE: opposite,
        UNDECIDED: undecided,
        UNDEFINED: undefined or default,
    }
    sentence = wordings[decision].format(**(written | words))
    return Finding(claim, decision, sentence, estimate, low, high, int(n))


def _numbers(result: Any) -> tuple[float, float, float, float]:
    """Return estimate, bounds and n; an interval that cannot vary decides nothing and is none."""
    estimate, low, high, n = (float(number) for number in (*result[:3], result[-1]))
    return (estimate, np.nan, np.nan, n) if low == high else (estimate, low, high, n)


def _decision(estimate: float, low: float, high: float) -> str:
    """Compare an interval, as it is written, with zero."""
    if np.isnan(estimate):
        return UNDEFINED
    return HOLDS if low > 0 else OPPOSITE if high < 0 else UNDECIDED


@cache
def claim_wordings(
    chapter: str, folder: Path = CLAIMS_FOLDER
) -> dict[str, dict[str, Any]]:
    """Return the wordings of a chapter's claims, and how their numbers are written.

    A claim has ``holds, opposite, undecided`` and may have ``undefined``, ``main:
    true`` (it stands at the chapter's start), ``null, digits, scale, unit`` as
    :func:`finding_of_claim` takes them, and ``heading``: by decision, what the section of its
    statistic is called in the book.
    """
    path = folder / f"{chapter}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


class Findings:
    """The findings of one run, in the order in which a chapter shows them.

    ``found.opening()`` holds the place for the summary at a chapter's start;
    ``found(claim, result)`` words a statistic, keeps the finding and returns it, to be
    shown; ``found.compare`` keeps a statistic without a sentence;
    ``found.summary(folder)`` fills the place with the main findings and saves all;
    ``found.compared()`` is the table of everything that was compared.
    """

    def __init__(self, chapter: str = "") -> None:
        self._words = claim_wordings(chapter)
        self._kept: dict[str, Finding] = {}
        self._rows: list[dict[str, object]] = []
        self._main: list[str] = []
        self._place = uuid4().hex

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept.values())

    def __call__(
        self,
        claim: str | Finding,
        result: Any = None,
        main: bool = False,
        **words: object,
    ) -> Finding:
        """Word a statistic and keep the finding; ``words`` fill further places of the wording."""
        finding = claim
        if isinstance(claim, str):
            if claim not in self._words:
                raise UserError(
                    f'"{claim}" has no wording: add it to the claims of the chapter.'
                )
            told = dict(self._words[claim])
            main = told.pop("main", main)
            told.pop("heading", None)
            finding = finding_of_claim(claim, result, **(told | words))
        if finding.claim in self._kept and self._kept[finding.claim] != finding:
            raise UserError(f'Two findings are called "{finding.claim}": rename one.')
        self._kept[finding.claim] = finding
        label = finding.claim.replace("_", " ")
        numbers = (finding.estimate, finding.low, finding.high, finding.n)
        self._rows.append(_row(label, numbers, finding.decision))
        if main and finding.claim not in self._main:
            self._main.append(finding.claim)
        return finding

    def compare(self, label: str, result: Any, null: float = 0.0) -> None:
        """Keep a statistic for the table of everything compared, without a sentence."""
        estimate, low, high, n = _numbers(result)
        decision = _decision(estimate - null, low - null, high - null)
        self._rows.append(_row(label, (estimate, low, high, int(n)), decision))

    def compared(self) -> pd.DataFrame:
        """Return every statistic that was compared: label, estimate, interval, n, decision."""
        columns = ["what", "estimate", "low", "high", "n", "decision"]
        return pd.DataFrame(self._rows, columns=columns).drop_duplicates(
            "what", keep="last"
        )

    def opening(self) -> None:
        """Hold the place of the main findings, which the summary fills."""
        from IPython.display import HTML, display

        waiting = HTML(
            '<p class="finding">The findings follow when the run is done.</p>'
        )
        display(waiting, display_id=self._place)

    def summary(self, folder: Path | str) -> HTML:
        """Save the findings in a run's folder, fill the opening, and return all of them to show."""
        from IPython.display import HTML, display

        path, kept = Path(folder) / FINDINGS_FILE, list(self)
        text = json.dumps(
            [_plain(finding) for finding in kept], indent=1, ensure_ascii=False
        )
        with reraise_failed_write(
            path, "make room or give the folder free, then run again"
        ):
            path.write_text(text + "\n", encoding="utf-8")
        main = [self._kept[name] for name in self._main]
        opening = (
            [finding for finding in main if finding.decision != UNDEFINED]
            or main
            or kept
        )
        head = "<p><strong>What this run found</strong></p>"
        open_ones = [finding for finding in opening if finding.decision == UNDECIDED]
        note = DOTTED_BAR_NOTE if open_ones else ""
        display(HTML(head + _html(opening) + note), display_id=self._place, update=True)
        return findings_list(*kept, fold=f"All {len(kept)} findings")


def _row(label: str, numbers: tuple[float, float, float, float], decision: str) -> dict:
    names = ("estimate", "low", "high", "n")
    return {"what": label, **dict(zip(names, numbers)), "decision": decision}


def findings_list(*found: Finding, fold: str = "") -> HTML:
    """Show findings as one list, behind a fold if that has a name."""
    from IPython.display import HTML

    text = _html(list(found)) if found else ""
    if fold:
        text = (
            f'<details class="tables"><summary>{escape(fold)}</summary>{text}</details>'
        )
    return HTML(text)


def load_findings(folder: Path | str) -> list[Finding]:
    """Return the findings that a run saved; none where it has no such file."""
    path = Path(folder) / FINDINGS_FILE
    if not path.is_file():
        return []
    rows = json.loads(path.read_text(encoding="utf-8"))
    nothing = float("nan")
    return [
        Finding(**{k: nothing if v is None else v for k, v in row.items()})
        for row in rows
    ]


def _plain(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON holds it: null for what is not a number."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in asdict(finding).items()
    }


def _html(findings: list[Finding]) -> str:
    """Write findings for a page, as a list if there are several; their words are escaped."""
    tag = "p" if len(findings) == 1 else "li"
    items = ""
    for finding in findings:
        kind, words = escape(finding.decision), escape(finding.sentence)
        items += f'<{tag} class="finding finding-{kind}">{words}</{tag}>'
    return items if tag == "p" else f'<ul class="findings">{items}</ul>'
