"""Findings of the chapters, as their runs computed them, on one page: those to retell."""

import json
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from helpers.prompts import prompt_formats
from helpers.studies import STUDIES
from notebooks.kit import findings

CHAPTER_TITLES = {name: study.TITLE for name, study in STUDIES.items()}
CHAPTER_TITLES["calibration"] = "asking once beside all four"
FEWER_FINDINGS_NOTE = (
    '<p class="note-below">Sentences and figures are left out here and below where these runs '
    "asked too little to tell.</p>"
)


def finding_sentences(book: Path, lines: list[str]) -> list[tuple[str, str, str]]:
    """Return chapter, decision and sentence of each finding that the book has."""
    found = []
    for line in filter(str.strip, lines):
        chapter, _, names = line.partition(":")
        path = book / "chapters" / chapter.strip() / "findings.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        told = {one["claim"]: one for one in kept if one["decision"] != "undefined"}
        named = (name.strip() for name in names.split(","))
        if one := next((told[name] for name in named if name in told), None):
            found.append((chapter.strip(), one["decision"], one["sentence"]))
    return found


def asked_models_text(book: Path) -> str:
    """Say which models the chapters of the measures asked, as their runs name them."""
    by: dict[str, list[str]] = {}
    for chapter, title in CHAPTER_TITLES.items():
        path = book / "chapters" / chapter / "run.json"
        if path.is_file():
            run = json.loads(path.read_text(encoding="utf-8"))
            one = run.get("model")
            names = (
                [prompt_formats.model_label(one["name"], one["prompt_format"])]
                if one
                else run["models"]
            )
            by.setdefault(", ".join(names), []).append(title)
    return "; ".join(f"{', '.join(titles)}: {names}" for names, titles in by.items())


class MainFindingsDirective(SphinxDirective):
    """List findings, each a link to its chapter: a line ``chapter: claim`` in the body for each."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        book, items, told = Path(self.env.srcdir), "", self.env.temp_data
        listed = finding_sentences(book, list(self.content))
        for chapter, decision, sentence in listed:
            self.env.note_dependency(str(book / "chapters" / chapter / "findings.json"))
            items += (
                f'<li class="finding finding-{escape(decision)}">'
                f'<a href="chapters/{chapter}.html">{escape(sentence)}</a></li>'
            )
        dotted = any(decision == findings.UNDECIDED for _, decision, _ in listed)
        note = findings.DOTTED_BAR_NOTE if dotted and not told.get("dotted") else ""
        told["dotted"] = told.get("dotted") or note  # once a page
        html = f'<ul class="findings">{items}</ul>{note}' if items else ""
        if len(listed) < len(list(filter(str.strip, self.content))) and not told.get(
            "fewer"
        ):
            told["fewer"] = html = html + FEWER_FINDINGS_NOTE
        if CHAPTER_TITLES.keys() & {
            chapter for chapter, _, _ in listed
        } and not told.get("asked"):
            told["asked"] = names = escape(asked_models_text(book))
            html += f'<p class="note-below">Models asked. {names}.</p>' if names else ""
        return [nodes.raw("", html, format="html")]


class WhenFoundDirective(SphinxDirective):
    """Show its text if a finding, ``chapter: claim``, holds in this book."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the text, or nothing."""
        found = finding_sentences(Path(self.env.srcdir), self.arguments)
        return (
            self.parse_content_to_nodes()
            if [d for _, d, _ in found] == [findings.HOLDS]
            else []
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("main-findings", MainFindingsDirective)
    app.add_directive("when-found", WhenFoundDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
