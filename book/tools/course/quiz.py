"""Write a chapter's quiz as Markdown, with and without answers, and for platforms.

In ``notebooks/quiz/<chapter>.yaml`` a multiple-choice item has `options`, each with its
reason, the key first; a numerical one has a `value` in the numbers of one of its
`draws`, the book the first.
"""

import math
import zlib
from dataclasses import dataclass
from pathlib import Path

import jinja2
import numpy as np
import yaml

from book.tools.course import downloads

TEMPLATES_FOLDER = Path(__file__).parent
ANSWER_TOLERANCE = 0.005  # of a numerical answer
FORMULA_FUNCTIONS = {
    "log2": math.log2,
    "factorial": math.factorial,
    "sum": sum,
    "abs": abs,
}


@dataclass(frozen=True)
class QuizItem:
    """A question with its answer; a numerical one has no options."""

    id: str
    ask: str
    why: str  # of the answer
    options: dict[str, str]  # with their reasons
    answer: str
    tolerance: float
    reads: bool  # a result

    @property
    def letters(self) -> dict[str, str]:
        """Return the letter of each option."""
        return dict(zip(self.options, "abcdefgh", strict=False))  # of at most eight

    @property
    def low(self) -> str:
        """Return the smallest number that is right."""
        return f"{float(self.answer) - self.tolerance:.6g}"

    @property
    def high(self) -> str:
        """Return the largest number that is right."""
        return f"{float(self.answer) + self.tolerance:.6g}"


def read_quiz_items(path: Path, seed: int | None = None) -> list[QuizItem]:
    """Return the items of a chapter's quiz, with numbers of the book or of a seed."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [_quiz_item(seed=seed, **entry) for entry in entries]


def _quiz_item(
    *,
    id: str,
    ask: str,
    seed: int | None,
    options: dict[str, str] | None = None,
    draws: list[dict[str, float]] | None = None,
    value: str | float = 0,
    why: str = "",
    tolerance: float = ANSWER_TOLERANCE,
    reads: bool = False,
) -> QuizItem:
    """Draw the order of an item's options, or its numbers."""
    random = np.random.default_rng([zlib.crc32(id.encode()), seed or 0])
    if options:
        texts = [str(text) for text in options]
        reasons = list(options.values())
        shown_options = {}
        for place in random.permutation(len(texts)):
            shown_options[texts[place]] = reasons[place]
        return QuizItem(id, ask, reasons[0], shown_options, texts[0], 0.0, reads)
    numbers = draws[0]
    if seed is not None:
        numbers = draws[int(random.integers(1, len(draws)))]
    answer = eval(str(value), {"__builtins__": {}} | FORMULA_FUNCTIONS | numbers)
    return QuizItem(
        id, ask.format(**numbers), why, {}, f"{answer:.6g}", tolerance, reads
    )


def quiz_files(path: Path, title: str, seed: int | None = None) -> dict[str, bytes]:
    """Return the files of a chapter's quiz, by name."""
    items = read_quiz_items(path, seed)
    name = path.stem
    questions = quiz_markdown(items, title, answers=False)
    answers = quiz_markdown(items, title, answers=True)
    files = {
        f"{name}.md": questions.encode(),
        f"{name}-answers.md": answers.encode(),
        f"{name}-moodle.xml": _template("moodle").quiz(items, title).encode(),
    }
    for version in ("qti12", "qti21"):
        package = qti_package_files(items, name, title, version)
        files[f"{name}-{version}.zip"] = downloads.zip_bytes(package)
    return files


def quiz_markdown(items: list[QuizItem], title: str, answers: bool) -> str:
    """Return a quiz as a page."""
    parts = [f"# Quiz: {title}"]
    for number, item in enumerate(items, start=1):
        parts.append(f"**{number}.** {item.ask}")
        if item.options:
            parts.append(_options_markdown(item, answers))
        if answers:
            letter = f"({item.letters[item.answer]}) " if item.options else ""
            parts.append(f"*Answer:* {letter}{item.answer}. {item.why}")
    return "\n\n".join(parts) + "\n"


def _options_markdown(item: QuizItem, answers: bool) -> str:
    """Return the options of an item as a list, with their reasons if answers show."""
    lines = []
    for text, letter in item.letters.items():
        line = f"- ({letter}) {text}"
        if answers:
            line += f" *{item.options[text]}*"
        lines.append(line)
    return "\n".join(lines)


def qti_package_files(
    items: list[QuizItem], name: str, title: str, version: str
) -> dict[str, bytes]:
    """Return the files of a package of QTI.

    Version 1.2 is for Canvas and ILIAS, 2.1 for OpenOlat and TAO.
    """
    xml = _template(version)
    texts = {}
    if version == "qti12":
        texts[f"{name}.xml"] = xml.test(items, name, title)
    else:
        for number, item in enumerate(items, start=1):
            texts[f"{item.id}.xml"] = xml.question(item, number)
        texts["test.xml"] = xml.test(items, name, title)
    texts["imsmanifest.xml"] = xml.manifest(items, name)
    return {file: f"{text}\n".encode() for file, text in texts.items()}


def _template(name: str) -> jinja2.environment.TemplateModule:
    loader = jinja2.FileSystemLoader(TEMPLATES_FOLDER)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(f"{name}.xml.jinja").module
