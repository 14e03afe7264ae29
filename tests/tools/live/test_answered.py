"""What pages show of the bundled model is what it answers."""

import json

import pytest

from book.tools import live
from helpers import UserError
from tests.live_page import __main__ as writing


def close(found, expected, tolerance=1e-4):
    """Tell whether two trees are the same but for the last digits of their numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=tolerance)
    return found == expected


def test_the_pages_show_what_the_model_answers():
    stored = json.loads(live.ANSWERED.read_text(encoding="utf-8"))
    assert close(stored, json.loads(json.dumps(writing.answered()))), (
        "run python -m tests.live_page"
    )


def test_every_box_of_the_book_has_its_case(root):
    pages = [*(root / "book").glob("*.md"), *(root / "notebooks").glob("*.ipynb")]
    text = "\n".join(page.read_text(encoding="utf-8").replace("\\n", "\n") for page in pages)
    for kind, directive in {
        "case": "live-probe",
        "front": "front-fact",
        "fact": "one-fact",
    }.items():
        names = [line.split("} ")[1] for line in text.splitlines() if f"{{{directive}}} " in line]
        assert names
        assert all(live.answered(kind, name) for line in names for name in line.split())


def test_what_was_not_asked_is_refused():
    with pytest.raises(UserError, match=r"no case 'x': choose from flipped, distracted,"):
        live.answered("case", "x")
