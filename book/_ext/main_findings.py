"""The main findings of the chapters, as their runs computed them, on one page."""

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from helpers.prompts import prompt_formats
from helpers.studies import STUDIES
from notebooks.kit import findings

CHAPTER_TITLES = {name: study.TITLE for name, study in STUDIES.items()}
CHAPTER_TITLES["calibration"] = "asking once beside all four"
FEWER_FINDINGS_NOTE = (
    '<p class="note-below">Sentences and figures are left out here and below where '
    "these runs asked too little to tell.</p>"
)


def finding_sentences(book: Path, lines: list[str]) -> list[tuple[str, str, str]]:
    """Return chapter, decision and sentence of each finding that the book has."""
    sentences = []
    for line in lines:
        if not line.strip():
            continue
        chapter, _, claims = line.partition(":")
        chapter = chapter.strip()
        by_claim = _findings_by_claim(book / "chapters" / chapter)
        for claim in claims.split(","):
            if claim.strip() in by_claim:
                finding = by_claim[claim.strip()]
                row = (chapter, finding["decision"], finding["sentence"])
                sentences.append(row)
                break  # a line shows the first of its claims that the book has
    return sentences


def _findings_by_claim(run: Path) -> dict[str, dict[str, str]]:
    """Return what a run decided, by claim; nothing where there is no run."""
    path = run / "findings.json"
    if not path.is_file():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["claim"]: row for row in rows if row["decision"] != "undefined"}


def asked_models_text(book: Path) -> str:
    """Say which models the chapters of the measures asked, as their runs name them."""
    titles_by_models: dict[str, list[str]] = {}
    for chapter, title in CHAPTER_TITLES.items():
        path = book / "chapters" / chapter / "run.json"
        if path.is_file():
            run = json.loads(path.read_text(encoding="utf-8"))
            names = ", ".join(_model_names(run))
            titles_by_models.setdefault(names, []).append(title)
    parts = []
    for names, titles in titles_by_models.items():
        parts.append(f"{', '.join(titles)}: {names}")
    return "; ".join(parts)


def _model_names(run: dict[str, Any]) -> list[str]:
    """Return the names of the models that a run asked, or read."""
    model = run.get("model")
    if model:
        return [prompt_formats.model_label(model["name"], model["prompt_format"])]
    return list(prompt_formats.model_titles(run["models"]).values())


class MainFindingsDirective(SphinxDirective):
    """List findings, a line ``chapter: claim`` each, with links to their chapters."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        book = Path(self.env.srcdir)
        lines = [line for line in self.content if line.strip()]
        sentences = finding_sentences(book, lines)
        items = []
        chapters = set()
        decisions = set()
        for chapter, decision, sentence in sentences:
            self.env.note_dependency(str(book / "chapters" / chapter / "findings.json"))
            items.append(
                f'<li class="finding finding-{escape(decision)}">'
                f'<a href="chapters/{chapter}.html">{escape(sentence)}</a></li>'
            )
            chapters.add(chapter)
            decisions.add(decision)
        html = ""
        if items:
            html = f'<ul class="findings">{"".join(items)}</ul>'
        if findings.UNDECIDED in decisions:
            html += self._once_a_page("dotted", findings.DOTTED_BAR_NOTE)
        if len(sentences) < len(lines):
            html += self._once_a_page("fewer", FEWER_FINDINGS_NOTE)
        if chapters & CHAPTER_TITLES.keys():
            names = escape(asked_models_text(book))
            if names:
                note = f'<p class="note-below">Models asked. {names}.</p>'
                html += self._once_a_page("asked", note)
        return [nodes.raw("", html, format="html")]

    def _once_a_page(self, key: str, note: str) -> str:
        """Return a note where the page has not shown it yet, else ""."""
        shown = self.env.temp_data
        if shown.get(key):
            return ""
        shown[key] = True
        return note


class WhenFoundDirective(SphinxDirective):
    """Show its text if a finding, ``chapter: claim``, holds in this book."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the text, or nothing."""
        sentences = finding_sentences(Path(self.env.srcdir), self.arguments)
        decisions = [decision for _, decision, _ in sentences]
        if decisions != [findings.HOLDS]:
            return []
        return self.parse_content_to_nodes()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("main-findings", MainFindingsDirective)
    app.add_directive("when-found", WhenFoundDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
