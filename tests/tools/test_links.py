"""Tests of book.tools.links: what is said of external links, and with which exit status."""

import json

import pandas as pd
import pytest

from book.tools import links, render
from helpers import UserError


def answer(status, info="", uri="https://example.org", **more):
    row = {"filename": "a.md", "lineno": 3, "status": status, "code": 0, "uri": uri, "info": info}
    return json.dumps(row | more)


@pytest.mark.parametrize(
    ("status", "info", "read"),
    [
        ("working", "", "working"),
        ("redirected", "https://example.org/new", "redirected"),
        ("broken", "404 Client Error: Not Found for url: https://example.org/", "broken"),
        ("broken", "Max retries exceeded (Failed to resolve 'example.org')", "unreachable"),
        ("broken", "[Errno 111] Connection refused", "unreachable"),
        ("timeout", "Read timed out. (read timeout=15)", "unreachable"),
        ("ignored", "", "ignored"),
    ],
)
def test_a_missing_network_is_not_a_broken_link(status, info, read):
    assert links.read(answer(status, info))["status"].tolist() == [read]


def test_links_within_the_book_and_repeated_ones_are_left_out():
    text = "\n".join([answer("working"), answer("working"), answer("local", uri="#a")])
    assert len(links.read(text)) == 1


def test_nothing_to_ask_is_no_failure():
    status, text = links.tell(links.read(""))
    assert (status, text) == (0, "0 external links: ")


def test_a_broken_link_is_named_with_its_place():
    broken = answer("broken", "404 Not Found", uri="https://example.org/gone")
    status, text = links.tell(links.read("\n".join([answer("working"), broken])))
    assert status == 1
    assert text.splitlines() == [
        "a.md:3: https://example.org/gone (404 Not Found)",
        "2 external links: 1 working, 1 broken",
    ]


def test_without_a_network_it_says_so():
    status, text = links.tell(links.read(answer("broken", "Failed to resolve 'example.org'")))
    assert status == 2
    assert "No server could be reached" in text


def test_a_book_that_cannot_be_read_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(render, "build", lambda builder, out, log: (1, "no such file"))
    with pytest.raises(UserError, match="cannot be read"):
        links.ask(tmp_path)


def test_old_answers_are_not_taken_for_new(tmp_path, monkeypatch):
    old = tmp_path / "_build" / "html" / "output.json"
    old.parent.mkdir(parents=True)
    old.write_text(answer("working"))
    new = answer("broken", "404")
    monkeypatch.setattr(render, "build", lambda builder, out, log: old.write_text(new))
    assert links.ask(tmp_path)["status"].tolist() == ["broken"]
    assert isinstance(links.read(new), pd.DataFrame)
