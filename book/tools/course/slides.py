"""Make slides of the chapters: outlines, filled in from the chapters as they were run.

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
- ``{source} words``: where what the slide reports is printed, or that its numbers are
  made up

What a run does not have is left out, and so is a slide that has nothing else to show.
"""

import base64
import html
import re
import shutil
import struct
from collections.abc import Mapping
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
from helpers.prompts import prompt_formats
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
EQUATION_DIRECTIVE = re.compile(
    r"```\{math\}\s*:label: (\S+)\s+(.*?)```", flags=re.DOTALL
)


@dataclass
class Slide:
    """A slide as HTML: its heading, what it says and shows, and the speaker's notes."""

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
        """Take an executed notebook, and the folder of its findings and manifest."""
        self.name = name
        self.run = run
        self.answers = answers
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
        """Return Markdown of the chapter without citations and links to other parts."""
        return exercises.plain_markdown(REFERENCE_ROLE.sub("", markdown), self.name)

    @cached_property
    def made(self) -> dict[str, str]:
        """Return where the chapter's numbers come from, by heading."""
        manifest = runs.load_manifest(self.run)
        versions = [f"{name} {text}" for name, text in manifest["versions"].items()]
        models_read = {
            prompt_formats.model_title(run["model"]) for run in manifest.get("read", ())
        }
        about = {
            "Model": _model_and_revision(manifest.get("model") or {}),
            "Runs read": ", ".join(sorted(models_read)),
            "Data": _title_and_version(manifest.get("dataset") or {}),
            "Seed": str(manifest["seed"]),
            "Run": f"{manifest['finished'][:10]}, {manifest['device']}",
            "Versions": ", ".join(versions),
        }
        return {heading: words for heading, words in about.items() if words}

    def add_finding(self, words: str, slide: Slide) -> None:
        """Add findings, which name their claims, to a slide."""
        for claim in words.split():
            if claim in self.found:
                finding = self.found[claim]
                decision = html.escape(str(finding.decision))
                classes = f"finding {decision} mathjax_ignore"
                slide.words.append(
                    f'<p class="{classes}" data-claim="{claim}">'
                    f"{html.escape(finding.sentence)}</p>"
                )

    def add_figure(self, words: str, slide: Slide) -> None:
        """Add a figure with a caption of one line to a slide."""
        name, _, caption = words.partition(" | ")
        for cell in self.cells:
            about = cell.metadata.get("mystnb", {})
            image = _first_image(cell)
            if about.get("figure", {}).get("name") == name and image:
                width, height = _png_size(image)
                slide.wide = width > WIDE_FIGURE_RATIO * height
                alt = html.escape(about.get("image", {}).get("alt", ""))
                slide.figures.append(
                    f'<figure><img alt="{alt}" src="data:image/png;base64,{image}">'
                    f"<figcaption>{_html(caption)}</figcaption></figure>"
                )

    def add_equation(self, words: str, slide: Slide) -> None:
        """Add equations, which MathJax sets, to a slide."""
        equations = {}
        for part in self.markdown:
            for label, text in EQUATION_DIRECTIVE.findall(part):
                equations[label] = text
        for label in words.split():
            if equations.get(label):
                formula = _math(equations[label].strip(), DISPLAY_MATH_OPTIONS)
                slide.words.append(f'<p class="equation">{formula}</p>')

    def add_exercise(self, words: str, slide: Slide) -> None:
        """Add an exercise to a slide, with its solution to the notes."""
        for exercise in exercises.read_exercises(TEMPLATES / f"{self.name}.ipynb"):
            if exercise.label == words:
                if self.answers:
                    slide.notes.append(_html(self.plain(exercise.notes)))
                slide.words.append(_html(self.plain(exercise.text)))

    def add_quiz(self, words: str, slide: Slide) -> None:
        """Add a question for the room to a slide, with its answer to the notes."""
        for item in quiz.read_quiz_items(TEMPLATES / "quiz" / f"{self.name}.yaml"):
            if item.id == words:
                if self.answers:
                    slide.notes.append(_html(f"**Answer:** {item.answer}. {item.why}"))
                slide.words.append(f"<p>{html.escape(item.ask)}</p>")
                options = [f"<li>{html.escape(text)}</li>" for text in item.options]
                options_list = f'<ol class="options">{"".join(options)}</ol>'
                slide.words.append(options_list if options else "")

    def add_source(self, words: str, slide: Slide) -> None:
        """Add where a slide's numbers are printed."""
        slide.words.append(f'<p class="source">{html.escape(words)}</p>')


# What outlines ask of a chapter.
SLIDE_DIRECTIVES = {
    "finding": ExecutedChapter.add_finding,
    "figure": ExecutedChapter.add_figure,
    "equation": ExecutedChapter.add_equation,
    "exercise": ExecutedChapter.add_exercise,
    "quiz": ExecutedChapter.add_quiz,
    "source": ExecutedChapter.add_source,
}


def _model_and_revision(model: Mapping[str, Any]) -> str:
    """Return a model's name with its revision, or else a hash of its weights."""
    parts = []
    name = model.get("name", "")
    if model.get("revision"):  # of a hub, where the whole name finds it again
        parts += [name, model["revision"]]
        return ", ".join(parts)
    if name:
        parts.append(prompt_formats.model_title(name))
    if model.get("weights_sha"):
        parts.append(f"weights {model['weights_sha'][:12]}")
    return ", ".join(parts)


def _title_and_version(data: Mapping[str, Any]) -> str:
    """Return a data set's title, with its version if it has one."""
    title = data.get("title", "")
    if data.get("version"):
        title += f" (version {data['version']})"
    return title


def _first_image(cell: NotebookNode) -> str:
    """Return the first PNG that a cell shows, as base64; "" if there is none."""
    for output in cell.get("outputs", ()):
        image = output.get("data", {}).get("image/png")
        if image:
            return "".join(image.split())
    return ""


def _png_size(image: str) -> tuple[int, int]:
    """Return width and height, in pixels, of a PNG in base64."""
    head = base64.b64decode(image[:32])
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def deck_html(outline: str, chapter: ExecutedChapter, assets: str = "..") -> str:
    """Return a chapter's deck as a page; `assets` is where folders it needs are."""
    slides = [_filled_slide(part, chapter) for part in _outline_parts(outline)]
    return _page(slides, chapter, chapter.title, _html(chapter.question), assets)


def lecture_html(chapters: dict[str, ExecutedChapter], assets: str = "..") -> str:
    """Return the deck that takes slides of several chapters."""
    slides = []
    lecture = (OUTLINES_FOLDER / "lecture.yaml").read_text(encoding="utf-8")
    for entry in yaml.safe_load(lecture):
        for name, heading in entry.items():
            if name in chapters:
                for part in _outline_parts(_read_outline(name)):
                    if part.strip().startswith(f"## {heading}\n"):
                        slides.append(_filled_slide(part, chapters[name]))
    last_chapter = list(chapters.values())[-1]
    return _page(slides, last_chapter, LECTURE_TITLE, "", assets)


def _read_outline(name: str) -> str:
    return (OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")


def _outline_parts(outline: str) -> list[str]:
    """Return the slides of an outline, each as text."""
    return re.split(r"^---$", outline, flags=re.MULTILINE)


def _page(
    slides: list[Slide],
    chapter: ExecutedChapter,
    title: str,
    question: str,
    assets: str,
) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(SLIDES_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        assets=assets,
        chapter=chapter,
        title=title,
        question=question,
        slides=[slide for slide in slides if slide.words or slide.figures],
        page=f"../chapters/{chapter.name}.html" if assets == ".." else "",
        address=render.repository_url(),
    )


def chapters_with_slides(answers: bool = True) -> dict[str, ExecutedChapter]:
    """Return the chapters in the book that have an outline, in its order."""
    folder = render.BOOK_FOLDER / "chapters"
    chapters = {}
    for name in render.chapter_names():
        outlined = (OUTLINES_FOLDER / f"{name}.md").is_file()
        if outlined and findings.load_findings(folder / name):
            notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
            chapters[name] = ExecutedChapter(name, notebook, folder / name, answers)
    return chapters


def write_decks(folder: Path, assets: str, answers: bool) -> list[Path]:
    """Write the decks of the chapters in the book; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    decks = {}
    chapters = chapters_with_slides(answers)
    for name, chapter in chapters.items():
        decks[folder / f"{name}.html"] = deck_html(_read_outline(name), chapter, assets)
    if chapters:
        decks[folder / "lecture.html"] = lecture_html(chapters, assets)
    for file, page in decks.items():
        file.write_text(page, encoding="utf-8")
    return list(decks)


def make_slides(folder: Path) -> str:
    """Write the decks as HTML, with all that they need, and as PDF; say so."""
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


def _filled_slide(text: str, chapter: ExecutedChapter) -> Slide:
    """Return one slide of an outline, filled in from a chapter."""
    slide = Slide()
    body = text
    notes = ""
    note_line = SPEAKER_NOTE_LINE.search(text)
    if note_line:
        body = text[: note_line.start()]
        notes = text[note_line.end() :]
        slide.optional = bool(note_line[2])
    paragraph: list[str] = []
    for line in body.strip().split("\n"):
        directive = DIRECTIVE_LINE.fullmatch(line.strip())
        if line.startswith("## "):
            slide.heading = _html(line[3:]).removeprefix("<p>").removesuffix("</p>\n")
        elif directive:
            name, words = directive.groups()
            if name not in SLIDE_DIRECTIVES:
                raise UserError(
                    f"The slides of {chapter.name} ask for {{{name}}}: take one of "
                    f"{', '.join(SLIDE_DIRECTIVES)}."
                )
            _add_markdown(paragraph, slide)
            paragraph = []
            SLIDE_DIRECTIVES[name](chapter, words, slide)
        else:
            paragraph.append(line)
    _add_markdown(paragraph, slide)
    slide.notes.insert(0, _html(notes.strip()))
    if note_line:
        slide.notes.insert(0, f"<p>{note_line[0].removeprefix('Note: ')}</p>")
    return slide


def _add_markdown(lines: list[str], slide: Slide) -> None:
    """Add lines of Markdown to a slide, if they say something."""
    text = "\n".join(lines).strip()
    if text:
        slide.words.append(_html(text))


def _html(markdown: str) -> str:
    """Return Markdown as HTML; HTML in it is shown as it is."""
    return _MARKDOWN.render(markdown)


def _math(content: str, options: dict[str, Any]) -> str:
    text = html.escape(content)
    return rf"\[{text}\]" if options["display_mode"] else rf"\({text}\)"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MARKDOWN.use(dollarmath_plugin, renderer=_math)
