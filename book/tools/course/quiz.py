"""Write a chapter's quiz as Markdown, with and without answers, and as a package of QTI 2.1.

The questions are in ``notebooks/quiz/<chapter>.yaml``. A multiple-choice item has `options`, one of
which is the `key`; a short one has the answers that it will `accept`. Each says `why`. Texts are
plain, so that they read alike in Markdown and on a learning platform.
"""

from dataclasses import dataclass
from pathlib import Path

import jinja2
import yaml

from book.tools.course import downloads

TEMPLATE = Path(__file__).with_name("qti.xml.jinja")


@dataclass(frozen=True)
class Item:
    """A question with its answer; one in short has no options."""

    id: str
    ask: str
    why: str
    options: tuple[str, ...] = ()
    key: str = ""
    accept: tuple[str, ...] = ()

    @property
    def letters(self) -> dict[str, str]:
        """Return the letter of each option."""
        return dict(zip(self.options, "abcdefgh"))

    @property
    def answer(self) -> str:
        """Return the right answer, as it is printed."""
        return self.key or self.accept[0]


def read(path: Path) -> list[Item]:
    """Return the items of a chapter's quiz."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [Item(**{key: _fixed(value) for key, value in one.items()}) for one in found]


def _fixed(value: object) -> str | tuple[str, ...]:
    """Return a value of the file as text, or texts."""
    return tuple(map(str, value)) if isinstance(value, list) else str(value)


def files(path: Path, title: str) -> dict[str, bytes]:
    """Return the files of a chapter's quiz, by name."""
    items, name = read(path), path.stem
    pages = {f"{name}.md": False, f"{name}-answers.md": True}
    made = {file: markdown(items, title, told).encode() for file, told in pages.items()}
    return made | {f"{name}-qti.zip": downloads.zipped(package(items, name, title))}


def markdown(items: list[Item], title: str, answers: bool) -> str:
    """Return a quiz as a page."""
    parts = [f"# Quiz: {title}"]
    for number, item in enumerate(items, start=1):
        parts.append(f"**{number}.** {item.ask}")
        if item.options:
            listed = (f"- ({letter}) {text}" for text, letter in item.letters.items())
            parts.append("\n".join(listed))
        if answers:
            letter = f"({item.letters[item.key]}) " if item.options else ""
            parts.append(f"*Answer:* {letter}{item.answer}. {item.why}")
    return "\n\n".join(parts) + "\n"


def package(items: list[Item], name: str, title: str) -> dict[str, bytes]:
    """Return the files of a QTI package: its manifest, a test, and an item each."""
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    xml = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).module
    made = {f"{item.id}.xml": xml.question(item, n) for n, item in enumerate(items, start=1)}
    made["test.xml"] = xml.test(items, name, title)
    made["imsmanifest.xml"] = xml.manifest(items, name)
    return {file: f"{text}\n".encode() for file, text in made.items()}
