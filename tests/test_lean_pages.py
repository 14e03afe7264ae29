"""Tests of book/_ext/lean_pages.py: what holds together on a line, and what stays as it is."""

import importlib.util
from pathlib import Path

import pytest

EXTENSION = Path(__file__).resolve().parent.parent / "book" / "_ext" / "lean_pages.py"
SPEC = importlib.util.spec_from_file_location("lean_pages", EXTENSION)
lean_pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(lean_pages)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>25.0 [17.0, 33.0] %</p>", "<p>25.0 [17.0,\u00a033.0]\u00a0%</p>"),
        ("<p>[-0.58, \u22121.00], 95 %</p>", "<p>[-0.58,\u00a0\u22121.00], 95\u00a0%</p>"),
        ("<p>10, 20 and [1, 2, 3]</p>", "<p>10, 20 and [1, 2,\u00a03]</p>"),
        *((kept, kept) for kept in ("<pre>7 % 2</pre>", "<code>[1, 2]</code>",
                                    "<script>[1, 2]</script>", r"<i>\([0, 1]\)</i>",
                                    '<i data-of="[1, 2]"></i>')),
    ],
)  # fmt: skip
def test_numbers_hold_together_but_not_in_code(page, expected):
    assert lean_pages.lean(page) == expected
