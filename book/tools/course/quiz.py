"""Write a chapter's quiz as Markdown, with and without answers, and for learning platforms.

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
        return dict(zip(self.options, "abcdefgh"))

    @property
    def low(self) -> str:
        """Return the smallest number that is right."""
        return f"{float(self.answer) - self.tolerance:.6g}"

    @property
    def high(self) -> str:
        """Return the largest number that is right."""
        return f"{float(self.answer) + self.tolerance:.6g}"


def read_quiz_items(path: Path, seed: int | None = None) -> list[QuizItem]:
    """Return the items of a chapter's quiz, with the numbers of the book or of a seed."""
    return [
        _item(seed=seed, **one)
        for one in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


def _item(
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
        listed = [(str(text), reason) for text, reason in options.items()]
        answer, why = listed[0]
        shown = {listed[i][0]: listed[i][1] for i in random.permutation(len(listed))}
        return QuizItem(id, ask, why, shown, answer, 0.0, reads)
    drawn = draws[0] if seed is None else draws[int(random.integers(1, len(draws)))]
    found = eval(str(value), {"__builtins__": {}} | FORMULA_FUNCTIONS | drawn)
    return QuizItem(id, ask.format(**drawn), why, {}, f"{found:.6g}", tolerance, reads)


def quiz_files(path: Path, title: str, seed: int | None = None) -> dict[str, bytes]:
    """Return the files of a chapter's quiz, by name."""
    items, name = read_quiz_items(path, seed), path.stem
    pages = {f"{name}.md": False, f"{name}-answers.md": True}
    made = {
        file: quiz_markdown(items, title, told).encode() for file, told in pages.items()
    }
    made[f"{name}-moodle.xml"] = _template("moodle").quiz(items, title).encode()
    for version in ("qti12", "qti21"):
        made[f"{name}-{version}.zip"] = downloads.zip_bytes(
            qti_package_files(items, name, title, version)
        )
    return made


def quiz_markdown(items: list[QuizItem], title: str, answers: bool) -> str:
    """Return a quiz as a page."""
    parts = [f"# Quiz: {title}"]
    for number, item in enumerate(items, start=1):
        parts.append(f"**{number}.** {item.ask}")
        if item.options:
            listed = [
                f"- ({letter}) {text}" + (f" *{item.options[text]}*" if answers else "")
                for text, letter in item.letters.items()
            ]
            parts.append("\n".join(listed))
        if answers:
            letter = f"({item.letters[item.answer]}) " if item.options else ""
            parts.append(f"*Answer:* {letter}{item.answer}. {item.why}")
    return "\n\n".join(parts) + "\n"


def qti_package_files(
    items: list[QuizItem], name: str, title: str, version: str
) -> dict[str, bytes]:
    """Return the files of a package: of QTI 1.2 (Canvas, ILIAS) or of 2.1 (OpenOlat, TAO)."""
    xml = _template(version)
    if version == "qti12":
        made = {f"{name}.xml": xml.test(items, name, title)}
    else:
        made = {
            f"{item.id}.xml": xml.question(item, n)
            for n, item in enumerate(items, start=1)
        }
        made["test.xml"] = xml.test(items, name, title)
    made["imsmanifest.xml"] = xml.manifest(items, name)
    return {file: f"{text}\n".encode() for file, text in made.items()}


def _template(name: str) -> jinja2.environment.TemplateModule:
    loader = jinja2.FileSystemLoader(TEMPLATES_FOLDER)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(f"{name}.xml.jinja").module
