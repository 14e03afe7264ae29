"""Make slides of the chapters: an outline each, filled in from the chapter as it was run.

An outline is ``notebooks/slides/<chapter>.md``: slides in Markdown, parted by lines of
three hyphens; what follows a line such as ``Note: 5 minutes`` (or ``..., optional``) is
for the speaker. Numbers of a run are never written in it. ``lecture.yaml`` names slides
of several chapters. A line such as ``{finding} wrong_word_costs_accuracy`` takes the
place of what the run found:

- ``{finding} claim ...``: sentences of ``findings.json``
- ``{figure} fig-name | Words.``: a figure of the chapter, with a caption of one line
- ``{equation} label ...``: equations of the chapter
- ``{exercise} ex-name``: an exercise; its solution goes into the notes
- ``{quiz} id``: an item of the chapter's quiz; the answer goes into the notes
- ``{source} words``: where what the slide reports is printed, or that its numbers are made up

What a run does not have is left out, and so is a slide that has nothing else to show.
"""

import base64
import html
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import nbformat
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode

from book.tools import pdf, render
from book.tools.course import exercises, quiz
from book.tools.course.weeks import OUTLINES_FOLDER, SPEAKER_NOTE_LINE
from book.tools.jobs import TEMPLATES
from helpers import UserError, runs
from notebooks.kit import findings

SLIDES_TEMPLATE = Path(__file__).with_name("slides.html.jinja")
SLIDES_FOLDER = "slides"  # in the rendered book
LECTURE_TITLE = "What does it mean that a model knows something?"
ASSET_FOLDERS = ("reveal", "mathjax")  # folders of the rendered book that a deck needs
DISPLAY_MATH_OPTIONS = {"display_mode": True}
WIDE_FIGURE_RATIO = 2.2  # times its height: a figure that takes the slide's width
DIRECTIVE_LINE = re.compile(r"\{(\w+)\} *(.*)")
REFERENCE_ROLE = re.compile(
    r"\s*(?:\(\{(?:doc|ref|numref|eq)\}`[^`<]+`\)|\{cite:\w+\}`[^`]+`)"
)
SLIDE_DIRECTIVES = ("finding", "figure", "equation", "exercise", "quiz", "source")
EQUATION_DIRECTIVE = re.compile(
    r"```\{math\}\s*:label: (\S+)\s+(.*?)```", flags=re.DOTALL
)


@dataclass
class Slide:
    """A slide as HTML: its heading, what it says and shows, and what the speaker says."""

    heading: str = ""
    words: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    optional: bool = False
    wide: bool = False  # the figure, which then stands above the words


class ExecutedChapter:
    """A chapter as it was run: what outlines ask of it."""

    def __init__(
        self, name: str, notebook: NotebookNode, run: Path, answers: bool = True
    ) -> None:
        """Take an executed notebook, and the folder that has its findings and its manifest."""
        self.name, self.run, self.answers = name, run, answers
        self.cells = notebook.cells
        self.markdown = [
            cell.source for cell in notebook.cells if cell.cell_type == "markdown"
        ]

    @cached_property
    def found(self) -> dict[str, findings.Finding]:
        """Return the findings of the run by claim."""
        return {finding.claim: finding for finding in findings.load_findings(self.run)}

    @cached_property
    def title(self) -> str:
        """Return the chapter's title."""
        return exercises.first_heading(self.markdown[0])

    @property
    def question(self) -> str:
        """Return the chapter's first paragraph, in Markdown."""
        first = self.markdown[0].split("\n\n")[1]
        return self.plain(first.removeprefix("**The question.** "))

    def plain(self, markdown: str) -> str:
        """Return Markdown of the chapter without citations and links to its other parts."""
        return exercises.plain_markdown(REFERENCE_ROLE.sub("", markdown), self.name)

    @cached_property
    def made(self) -> dict[str, str]:
        """Return where the chapter's numbers come from, by heading."""
        manifest = runs.load_manifest(self.run)
        model, data = manifest.get("model") or {}, manifest.get("dataset") or {}
        weights = model.get("weights_sha") or ""
        revision = model.get("revision") or (
            f"weights {weights[:12]}" if weights else ""
        )
        version = f" (version {data['version']})" if data.get("version") else ""
        versions = (f"{name} {number}" for name, number in manifest["versions"].items())
        about = {
            "Model": ", ".join(filter(None, (model.get("name"), revision))),
            "Runs read": ", ".join(
                sorted({run["model"] for run in manifest.get("read", ())})
            ),
            "Data": data.get("title", "") + version,
            "Seed": str(manifest["seed"]),
            "Run": f"{manifest['finished'][:10]}, {manifest['device']}",
            "Versions": ", ".join(versions),
        }
        return {heading: words for heading, words in about.items() if words}

    def finding(self, words: str, slide: Slide) -> Iterator[str]:
        """Yield findings, which name their claims."""
        for claim in filter(self.found.get, words.split()):
            one = self.found[claim]
            kind = f'class="finding {one.decision} mathjax_ignore" data-claim="{claim}"'
            yield f"<p {kind}>{html.escape(one.sentence)}</p>"

    def figure(self, words: str, slide: Slide) -> Iterator[str]:
        """Put a figure on a slide, with a caption of one line."""
        name, _, caption = words.partition(" | ")
        for cell in self.cells:
            about = cell.metadata.get("mystnb", {})
            named = about.get("figure", {}).get("name") == name
            shown = [
                out.get("data", {}).get("image/png") for out in cell.get("outputs", ())
            ]
            if named and any(shown):
                image = "".join(next(filter(None, shown)).split())
                width, height = struct.unpack(
                    ">II", base64.b64decode(image[:32])[16:24]
                )
                slide.wide = width > WIDE_FIGURE_RATIO * height
                alt = html.escape(about.get("image", {}).get("alt", ""))
                slide.figures.append(
                    f'<figure><img alt="{alt}" src="data:image/png;base64,{image}">'
                    f"<figcaption>{_html(caption)}</figcaption></figure>"
                )
        return iter(())

    def equation(self, words: str, slide: Slide) -> Iterator[str]:
        """Yield equations, for MathJax to set."""
        labelled = {
            label: text
            for part in self.markdown
            for label, text in EQUATION_DIRECTIVE.findall(part)
        }
        for label in filter(labelled.get, words.split()):
            yield f'<p class="equation">{_math(labelled[label].strip(), DISPLAY_MATH_OPTIONS)}</p>'

    def exercise(self, words: str, slide: Slide) -> Iterator[str]:
        """Yield an exercise."""
        for one in exercises.read_exercises(TEMPLATES / f"{self.name}.ipynb"):
            if one.label == words:
                if self.answers:
                    slide.notes.append(_html(self.plain(one.notes)))
                yield _html(self.plain(one.text))

    def quiz(self, words: str, slide: Slide) -> Iterator[str]:
        """Yield a question for the room."""
        for item in quiz.read_quiz_items(TEMPLATES / "quiz" / f"{self.name}.yaml"):
            if item.id == words:
                if self.answers:
                    slide.notes.append(_html(f"**Answer:** {item.answer}. {item.why}"))
                options = "".join(
                    f"<li>{html.escape(text)}</li>" for text in item.options
                )
                yield f"<p>{html.escape(item.ask)}</p>"
                yield f'<ol class="options">{options}</ol>' if options else ""

    def source(self, words: str, slide: Slide) -> Iterator[str]:
        """Yield where a slide's numbers are printed."""
        yield f'<p class="source">{html.escape(words)}</p>'


def deck_html(outline: str, chapter: ExecutedChapter, assets: str = "..") -> str:
    """Return the deck of a chapter as a page; `assets` is where the folders it needs are."""
    slides = [_slide(part, chapter) for part in _parts(outline)]
    return _page(slides, chapter, chapter.title, _html(chapter.question), assets)


def lecture_html(chapters: dict[str, ExecutedChapter], assets: str = "..") -> str:
    """Return the deck that takes slides of several chapters."""
    slides = []
    listed = yaml.safe_load(
        (OUTLINES_FOLDER / "lecture.yaml").read_text(encoding="utf-8")
    )
    for name, heading in (pair for one in listed for pair in one.items()):
        text = (
            (OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")
            if name in chapters
            else ""
        )
        parts = [
            part for part in _parts(text) if part.strip().startswith(f"## {heading}\n")
        ]
        slides += [_slide(part, chapters[name]) for part in parts]
    return _page(slides, list(chapters.values())[-1], LECTURE_TITLE, "", assets)


def _parts(outline: str) -> list[str]:
    return re.split(r"^---$", outline, flags=re.MULTILINE)


def _page(
    slides: list[Slide],
    chapter: ExecutedChapter,
    title: str,
    question: str,
    assets: str,
) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(SLIDES_TEMPLATE.read_text(encoding="utf-8")).render(
        assets=assets,
        chapter=chapter,
        title=title,
        question=question,
        slides=[slide for slide in slides if slide.words or slide.figures],
        page=f"../chapters/{chapter.name}.html" if assets == ".." else "",
        address=render.repository_url(),
    )


def chapters_with_slides(answers: bool = True) -> dict[str, ExecutedChapter]:
    """Return the chapters that were placed in the book and have an outline, in its order."""
    found, book = {}, render.BOOK_FOLDER / "chapters"
    for name in render.chapter_names():
        if (OUTLINES_FOLDER / f"{name}.md").is_file() and findings.load_findings(
            book / name
        ):
            notebook = nbformat.read(book / f"{name}.ipynb", as_version=4)
            found[name] = ExecutedChapter(name, notebook, book / name, answers)
    return found


def write_decks(folder: Path, assets: str, answers: bool) -> list[Path]:
    """Write the decks of the chapters that were placed in the book; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    made, chapters = {}, chapters_with_slides(answers)
    for name, chapter in chapters.items():
        outline = (OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")
        made[folder / f"{name}.html"] = deck_html(outline, chapter, assets)
    if chapters:
        made[folder / "lecture.html"] = lecture_html(chapters, assets)
    for file, page in made.items():
        file.write_text(page, encoding="utf-8")
    return list(made)


def make_slides(folder: Path) -> str:
    """Write the decks as HTML, with all that they need beside them, and as PDF; say so."""
    decks = write_decks(folder, ".", answers=True)
    if not decks:
        return "No slides: the book holds no chapters yet, so run make book first."
    for name in ASSET_FOLDERS:
        shutil.copytree(
            render.BOOK_FOLDER / "_extra" / name, folder / name, dirs_exist_ok=True
        )
    try:
        for deck in decks:
            pdf.print_slides_as_pdf(deck)
    except UserError as error:
        return f"{folder}: {len(decks)} decks, not as PDF. {error}"
    return f"{folder}: {len(decks)} decks, as HTML and as PDF."


def _slide(text: str, chapter: ExecutedChapter) -> Slide:
    """Fill in one slide of an outline."""
    timed = SPEAKER_NOTE_LINE.search(text)
    body, notes = (text[: timed.start()], text[timed.end() :]) if timed else (text, "")
    slide, waiting = Slide(optional=bool(timed and timed[2])), []
    for line in [*body.strip().split("\n"), ""]:
        asked = DIRECTIVE_LINE.fullmatch(line.strip())
        if line.startswith("## "):
            slide.heading = _html(line[3:]).removeprefix("<p>").removesuffix("</p>\n")
        elif asked:
            if asked[1] not in SLIDE_DIRECTIVES:
                raise UserError(
                    f"The slides of {chapter.name} ask for {{{asked[1]}}}: take one of "
                    f"{', '.join(SLIDE_DIRECTIVES)}."
                )
            slide.words += _rendered(waiting)
            slide.words += getattr(chapter, asked[1])(asked[2], slide)
            waiting = []
        else:
            waiting.append(line)
    slide.words += _rendered(waiting)
    slide.notes.insert(0, _html(notes.strip()))
    if timed:
        slide.notes.insert(0, f"<p>{timed[0].removeprefix('Note: ')}</p>")
    return slide


def _rendered(lines: list[str]) -> list[str]:
    text = "\n".join(lines).strip()
    return [_html(text)] if text else []


def _html(markdown: str) -> str:
    """Return Markdown as HTML; HTML in it is shown as it is."""
    return _MARKDOWN.render(markdown)


def _math(content: str, options: dict[str, Any]) -> str:
    text = html.escape(content)
    return rf"\[{text}\]" if options["display_mode"] else rf"\({text}\)"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MARKDOWN.use(dollarmath_plugin, renderer=_math)
