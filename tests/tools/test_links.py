"""Tests of book.tools.links: what is said of external links, and with which exit status."""

import json

import pytest

from book.tools import links, render
from helpers import UserError


def answer(status, info="", uri="https://example.org", **more):
    row = {
        "filename": "a.md",
        "lineno": 3,
        "status": status,
        "code": 0,
        "uri": uri,
        "info": info,
    }
    return json.dumps(row | more)


@pytest.mark.parametrize(
    ("status", "info", "read"),
    [
        ("working", "", "working"),
        ("redirected", "https://example.org/new", "redirected"),
        (
            "broken",
            "404 Client Error: Not Found for url: https://example.org/",
            "broken",
        ),
        (
            "broken",
            "Max retries exceeded (Failed to resolve 'example.org')",
            "unreachable",
        ),
        ("broken", "[Errno 111] Connection refused", "unreachable"),
        ("timeout", "Read timed out. (read timeout=15)", "unreachable"),
        ("ignored", "", "ignored"),
    ],
)
def test_a_missing_network_is_not_a_broken_link(status, info, read):
    assert links.parse_link_statuses(answer(status, info))["status"].tolist() == [read]


BROKEN = answer("broken", "404 Not Found", uri="https://example.org/gone")


@pytest.mark.parametrize(
    ("answers", "status", "lines"),
    [
        ([], 0, ["0 external links: "]),
        ([answer("working")] * 2 + [answer("local", uri="#a")], 0, ["1 external links: 1 working"]),
        ([answer("working"), BROKEN], 1, ["a.md:3: https://example.org/gone (404 Not Found)",
                                          "2 external links: 1 working, 1 broken"]),
        ([answer("broken", "Failed to resolve 'example.org'")], 2, None),
    ],
)  # fmt: skip
def test_a_broken_link_is_named_with_its_place(answers, status, lines):
    found, text = links.exit_status_and_report(
        links.parse_link_statuses("\n".join(answers))
    )
    assert found == status
    assert (
        "No server could be reached" in text
        if lines is None
        else text.splitlines() == lines
    )


def test_old_answers_are_not_taken_for_new_and_a_book_that_cannot_be_read_is_a_sentence(
    tmp_path, monkeypatch
):
    old = tmp_path / "_build" / "html" / "output.json"
    old.parent.mkdir(parents=True)
    old.write_text(answer("working"))
    monkeypatch.setattr(
        render, "run_jupyter_book", lambda builder, out, log: old.write_text(BROKEN)
    )
    assert links.check_external_links(tmp_path)["status"].tolist() == ["broken"]
    monkeypatch.setattr(
        render, "run_jupyter_book", lambda builder, out, log: (1, "no such file")
    )
    with pytest.raises(UserError, match="cannot be read"):
        links.check_external_links(tmp_path)
