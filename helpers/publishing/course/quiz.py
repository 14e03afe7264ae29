"""Write a chapter's quiz as Markdown, with and without answers, and as a package of QTI 2.1.

The questions are in ``notebooks/quiz/<chapter>.yaml``. A multiple-choice item has `options`, one of
which is the `key`; a short one has the answers that it will `accept`. Each says `why`. Texts are
plain, so that they read alike in Markdown and on a learning platform.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import yaml

from helpers import UserError
from helpers.publishing.course import downloads

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
RULES = "http://www.imsglobal.org/question/qti_v2p1/rptemplates"  # of marking: standard ones
ITEM, TEST = "imsqti_item_xmlv2p1", "imsqti_test_xmlv2p1"


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
    def answer(self) -> str:
        """Return the right answer, as it is printed."""
        return self.key or self.accept[0]


def read(path: Path) -> list[Item]:
    """Return the items of a chapter's quiz."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        items = [Item(**{key: _fixed(value) for key, value in one.items()}) for one in found]
    except (yaml.YAMLError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path} is not a list of items with id, ask, why, and options and key, or accept: "
            f"{' '.join(str(error).split())}."
        ) from error
    times = Counter(item.id for item in items)
    for item in items:
        _check(item, times[item.id], path)
    return items


def _fixed(value: object) -> str | tuple[str, ...]:
    """Return a value of the file as text, or texts."""
    return tuple(map(str, value)) if isinstance(value, list) else str(value)


def _check(item: Item, times: int, path: Path) -> None:
    """Refuse an item that has no single answer."""
    one = item.options.count(item.key) == 1 and len(set(item.options)) == len(item.options) > 1
    if times > 1:
        raise UserError(f"{path} has {times} items {item.id}: rename all but one.")
    if bool(item.options) == bool(item.accept) or (item.options and not one):
        raise UserError(
            f"The item {item.id} of {path} needs different options and one of them as its key, "
            "or answers to accept."
        )


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
        letters = dict(zip(item.options, "abcdefgh"))
        if letters:
            parts.append("\n".join(f"- ({letter}) {text}" for text, letter in letters.items()))
        if answers:
            letter = f"({letters[item.key]}) " if letters else ""
            parts.append(f"*Answer:* {letter}{item.answer}. {item.why}")
    return "\n\n".join(parts) + "\n"


def package(items: list[Item], name: str, title: str) -> dict[str, bytes]:
    """Return the files of a QTI package: its manifest, a test, and an item each."""
    made = {f"{item.id}.xml": _item(item, n) for n, item in enumerate(items, start=1)}
    made["test.xml"] = _test(items, name, title)
    made["imsmanifest.xml"] = _manifest(items, name)
    return {file: _text(root) for file, root in made.items()}


def _item(item: Item, number: int) -> Element:
    """Return an item, which platforms mark by one of the standard rules."""
    root = Element(
        "assessmentItem",
        xmlns=QTI,
        identifier=item.id,
        title=f"Question {number}",
        adaptive="false",
        timeDependent="false",
    )
    kind = "identifier" if item.options else "string"
    given = {"identifier": "RESPONSE", "cardinality": "single", "baseType": kind}
    declared = SubElement(root, "responseDeclaration", given)
    names = {text: f"choice-{letter}" for text, letter in zip(item.options, "abcdefgh")}
    right = SubElement(declared, "correctResponse")
    SubElement(right, "value").text = names.get(item.key, item.answer)
    if item.accept:
        mapping = SubElement(declared, "mapping", defaultValue="0")
        for text in item.accept:
            SubElement(mapping, "mapEntry", mapKey=text, mappedValue="1")
    score = {"identifier": "SCORE", "cardinality": "single", "baseType": "float"}
    SubElement(root, "outcomeDeclaration", score)
    body = SubElement(root, "itemBody")
    if item.options:
        asked = {"responseIdentifier": "RESPONSE", "shuffle": "true", "maxChoices": "1"}
        choice = SubElement(body, "choiceInteraction", asked)
        SubElement(choice, "prompt").text = item.ask
        for text, identifier in names.items():
            SubElement(choice, "simpleChoice", identifier=identifier).text = text
    else:
        SubElement(body, "p").text = item.ask
        SubElement(SubElement(body, "p"), "textEntryInteraction", responseIdentifier="RESPONSE")
    rule = "match_correct" if item.options else "map_response"
    SubElement(root, "responseProcessing", template=f"{RULES}/{rule}")
    return root


def _test(items: list[Item], name: str, title: str) -> Element:
    """Return a test of all items in order."""
    root = Element("assessmentTest", xmlns=QTI, identifier=f"quiz-{name}", title=title)
    modes = {"navigationMode": "nonlinear", "submissionMode": "simultaneous"}
    part = SubElement(root, "testPart", identifier="part", **modes)
    named = {"identifier": "section", "title": title, "visible": "true"}
    section = SubElement(part, "assessmentSection", named)
    for item in items:
        SubElement(section, "assessmentItemRef", identifier=item.id, href=f"{item.id}.xml")
    return root


def _manifest(items: list[Item], name: str) -> Element:
    """Return the list of the package's files."""
    root = Element("manifest", xmlns=PACKAGE, identifier=f"package-{name}")
    about = SubElement(root, "metadata")
    SubElement(about, "schema").text = "QTIv2.1 Package"
    SubElement(about, "schemaversion").text = "1.0.0"
    SubElement(root, "organizations")
    resources = SubElement(root, "resources")
    test = _resource(resources, "test", TEST)
    for item in items:
        SubElement(test, "dependency", identifierref=item.id)
        _resource(resources, item.id, ITEM)
    return root


def _resource(resources: Element, name: str, kind: str) -> Element:
    file = f"{name}.xml"
    made = SubElement(resources, "resource", identifier=name, type=kind, href=file)
    SubElement(made, "file", href=file)
    return made


def _text(root: Element) -> bytes:
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
