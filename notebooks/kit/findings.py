"""What a run found: a statistic in view, and its wording as data.

A chapter computes the statistic and names the claim, which is worded in one of three
ways in ``notebooks/claims/<chapter>.yaml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
from notebooks.kit import replications
from notebooks.kit.plots import result_tables

if TYPE_CHECKING:
    from IPython.display import HTML

HOLDS, OPPOSITE, UNDECIDED, UNDEFINED = "holds", "opposite", "undecided", "undefined"
EQUIVALENT = "equivalent"  # undecided, but surely nearer to no effect than the margin
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
    equivalent: str = "",
    undefined: str = "",
    decision: str = "",
    null: float = 0.0,
    margin: float = 0.0,
    digits: int = 1,
    scale: float = 100.0,
    unit: str = " points",
    **words: object,
) -> Finding:
    """Decide a claim by an estimate and its interval, and word it in one of three ways.

    >>> words = {"holds": "Up by {size}.", "opposite": "Down by {size}."}
    >>> words["undecided"] = "{value}?"
    >>> finding_of_claim("rises", (-0.2, -0.3, -0.1, 90), **words).sentence
    'Down by 20.0 [10.0, 30.0] points.'
    >>> finding_of_claim("rises", (-0.2, -0.5, 0.1, 90), **words).sentence
    '-20.0 [-50.0, 10.0] points?'

    A claim may name a `margin` within which an effect is as good as none:

    >>> words |= {"equivalent": "Level.", "margin": 0.05}
    >>> finding_of_claim("rises", (0.01, -0.03, 0.04, 90), **words).sentence
    'Level.'
    >>> finding_of_claim("rises", (0.02, -0.03, 0.06, 90), **words).sentence
    '2.0 [-3.0, 6.0] points?'
    """
    estimate, low, high, n = _estimate_bounds_n(result)
    effect = [estimate - null, low - null, high - null]
    if not decision:
        # Decided by the numbers as they are printed.
        printed = [round(scale * number, digits) for number in effect]
        decision = _decision_of_interval(*printed, margin=scale * margin)
    if decision == OPPOSITE:
        effect = [-effect[0], -effect[2], -effect[1]]
    value = result_tables.interval(estimate, low, high, digits, scale)
    size = result_tables.interval(*effect, digits, scale)
    numbers = {"value": value + unit, "size": size + unit, "n": f"{int(n):,}"}
    default = f"{claim.replace('_', ' ').capitalize()}: undefined for this run."
    wordings = {
        HOLDS: holds,
        OPPOSITE: opposite,
        UNDECIDED: undecided,
        EQUIVALENT: equivalent,
        UNDEFINED: undefined or default,
    }
    sentence = wordings[decision].format(**(numbers | words))
    return Finding(claim, decision, sentence, estimate, low, high, int(n))


def _estimate_bounds_n(result: Any) -> tuple[float, float, float, float]:
    """Return estimate, bounds and n; equal bounds cannot vary and are taken away."""
    estimate = float(result[0])
    low = float(result[1])
    high = float(result[2])
    n = float(result[-1])
    if low == high:
        low = high = np.nan
    return estimate, low, high, n


def _decision_of_interval(
    estimate: float, low: float, high: float, margin: float = 0.0
) -> str:
    """Compare an interval, as it is written, with zero and with a margin around it."""
    if np.isnan(estimate):
        return UNDEFINED
    if low > 0:
        return HOLDS
    if high < 0:
        return OPPOSITE
    if -margin < low and high < margin:
        return EQUIVALENT
    return UNDECIDED


@cache
def claim_wordings(
    chapter: str, folder: Path = CLAIMS_FOLDER
) -> dict[str, dict[str, Any]]:
    """Return the wordings of a chapter's claims, and how their numbers are written.

    A claim has ``holds, opposite, undecided`` and may have ``undefined``,
    ``equivalent`` with its ``margin``, ``main: true`` (it stands at the chapter's
    start), ``null, digits, scale, unit`` as :func:`finding_of_claim` takes them, and
    ``heading``: by decision, what the section of its statistic is called in the book.
    """
    path = folder / f"{chapter}.yaml"
    if not path.is_file():
        return {}
    return yaml.safe_load(path.read_text(encoding="utf-8"))


class Findings:
    """The findings of one run, in the order in which a chapter shows them.

    ``found.opening()`` holds the place for the summary at a chapter's start;
    ``found(claim, result)`` words a statistic, keeps the finding and returns it, to be
    shown; ``found.compare`` keeps a statistic without a sentence;
    ``found.summary(folder)`` fills the place with the main findings and saves all;
    ``found.compared()`` is the table of everything that was compared.
    """

    def __init__(self, chapter: str = "") -> None:
        self._wordings = claim_wordings(chapter)
        self._findings: dict[str, Finding] = {}  # by claim
        self._comparisons: list[dict[str, object]] = []
        self._main_claims: list[str] = []
        self._display_id = uuid4().hex

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings.values())

    def __call__(
        self,
        claim: str | Finding,
        result: Any = None,
        main: bool = False,
        **words: object,
    ) -> Finding:
        """Word a statistic and keep the finding; ``words`` fill the wording."""
        if isinstance(claim, str):
            if claim not in self._wordings:
                raise UserError(
                    f'"{claim}" has no wording: add it to the claims of the chapter.'
                )
            wording = dict(self._wordings[claim])
            main = wording.pop("main", main)
            wording.pop("heading", None)
            finding = finding_of_claim(claim, result, **(wording | words))
        else:
            finding = claim
        previous = self._findings.get(finding.claim)
        if previous is not None and previous != finding:
            raise UserError(f'Two findings are called "{finding.claim}": rename one.')
        self._findings[finding.claim] = finding
        if main and finding.claim not in self._main_claims:
            self._main_claims.append(finding.claim)
        comparison = {
            "what": finding.claim.replace("_", " "),
            "estimate": finding.estimate,
            "low": finding.low,
            "high": finding.high,
            "n": finding.n,
            "decision": finding.decision,
        }
        self._comparisons.append(comparison)
        return finding

    def compare(self, label: str, result: Any, null: float = 0.0) -> None:
        """Keep a statistic for the table of everything compared, without a sentence."""
        estimate, low, high, n = _estimate_bounds_n(result)
        decision = _decision_of_interval(estimate - null, low - null, high - null)
        comparison = {
            "what": label,
            "estimate": estimate,
            "low": low,
            "high": high,
            "n": int(n),
            "decision": decision,
        }
        self._comparisons.append(comparison)

    def compared(self) -> pd.DataFrame:
        """Return all that was compared: label, estimate, interval, n, decision."""
        columns = ["what", "estimate", "low", "high", "n", "decision"]
        table = pd.DataFrame(self._comparisons, columns=columns)
        return table.drop_duplicates("what", keep="last")

    def opening(self) -> None:
        """Hold the place of the main findings, which the summary fills."""
        from IPython.display import HTML, display

        waiting = '<p class="finding">The findings follow when the run is done.</p>'
        display(HTML(waiting), display_id=self._display_id)

    def summary(self, folder: Path | str) -> HTML:
        """Save the findings of a run, fill the opening, and return all to be shown."""
        from IPython.display import HTML, display

        findings = list(self)
        _save_findings(findings, Path(folder) / FINDINGS_FILE)
        main = [self._findings[claim] for claim in self._main_claims]
        defined = [finding for finding in main if finding.decision != UNDEFINED]
        opening = defined or main or findings
        in_others = replications.findings_in_other_models(folder)
        strips = self._strips(opening, in_others)
        page = "<p><strong>What this run found</strong></p>" + _html(opening, strips)
        if any(finding.decision == UNDECIDED for finding in opening):
            page += DOTTED_BAR_NOTE
        if strips:
            page += replications.note_html(in_others["model"])
        display(HTML(page), display_id=self._display_id, update=True)
        return findings_list(*findings, fold=f"All {len(findings)} findings")

    def _strips(
        self, findings: list[Finding], in_others: pd.DataFrame
    ) -> dict[str, str]:
        """Return by claim what other models give, as a line of small print."""
        strips = {}
        for finding in findings:
            rows = in_others[in_others["claim"] == finding.claim]
            if rows.empty:
                continue
            wording = self._wordings.get(finding.claim, {})
            form = {}
            for name in ("digits", "scale", "unit", "null"):
                if name in wording:
                    form[name] = wording[name]
            strips[finding.claim] = replications.strip_html(
                rows, finding.decision, **form
            )
        return strips


def findings_list(*findings: Finding, fold: str = "") -> HTML:
    """Show findings as one list, behind a fold if that has a name."""
    from IPython.display import HTML

    text = _html(list(findings)) if findings else ""
    if fold:
        summary = f"<summary>{escape(fold)}</summary>"
        text = f'<details class="tables">{summary}{text}</details>'
    return HTML(text)


def load_findings(folder: Path | str) -> list[Finding]:
    """Return the findings that a run saved; none where it has no such file."""
    path = Path(folder) / FINDINGS_FILE
    if not path.is_file():
        return []
    findings = []
    for values in json.loads(path.read_text(encoding="utf-8")):
        for name, value in values.items():
            if value is None:
                values[name] = float("nan")
        findings.append(Finding(**values))
    return findings


def _save_findings(findings: list[Finding], path: Path) -> None:
    """Write findings as JSON, null for what is not a number."""
    rows = []
    for finding in findings:
        row = asdict(finding)
        for name, value in row.items():
            if isinstance(value, float) and not np.isfinite(value):
                row[name] = None
        rows.append(row)
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    remedy = "make room or give the folder free, then run again"
    with reraise_failed_write(path, remedy):
        path.write_text(text + "\n", encoding="utf-8")


def _html(findings: list[Finding], strips: Mapping[str, str] | None = None) -> str:
    """Write findings for a page, as a list if there are several.

    ``strips`` has by claim what stands beneath a sentence, as HTML.
    """
    tag = "p" if len(findings) == 1 else "li"
    items = ""
    for finding in findings:
        decision = escape(finding.decision)
        sentence = escape(finding.sentence)
        sentence += (strips or {}).get(finding.claim, "")
        items += f'<{tag} class="finding finding-{decision}">{sentence}</{tag}>'
    if tag == "p":
        return items
    return f'<ul class="findings">{items}</ul>'
