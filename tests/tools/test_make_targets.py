"""What a user gives to make reaches the commands as it is: no make, shell or glob reads it."""

import json
import os
import sys

import pytest

from book.tools import __main__ as tools
from book.tools import make_targets
from helpers import UserError
from helpers.settings import settings_from_words
from tests.program_calls import run_program

TEXTS = (
    "`touch PWNED`",
    '"; touch PWNED; "',
    "a'; touch PWNED; '",
    "$(touch PWNED)",
    "$$(touch PWNED)",
    "$(shell touch PWNED)",
    "price$5",
    'my model "q" ümläut',
    "a;touch PWNED",
    "n=1\n touch PWNED",
    "*",
    "-k x; touch PWNED",
    "back\\slash # no comment",
)
NAMES = (
    "MODEL",
    "MODELS",
    "SET",
    "CHAPTERS",
    "SOURCES",
    "BENCHMARKS",
    "CORES",
    "PROFILE",
    "ARGS",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("by", ["argument", "environment"])
def test_make_hands_on_what_it_is_given(text, by, root, tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    told = "import json, os; print(json.dumps(dict(os.environ)))"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{told}'\n")
    python.chmod(0o755)
    given = {name: text for name in NAMES}
    words = (
        [f"{name}={value}" for name, value in given.items()] if by == "argument" else []
    )
    command = [
        "make",
        "-s",
        "-f",
        root / "Makefile",
        "-o",
        "install",
        f"VENV={tmp_path}",
    ]
    around = {"PATH": os.environ["PATH"], **(given if by == "environment" else {})}
    targets = ("book", "questions", "noise", "faults")
    done = run_program(*command, *targets, *words, cwd=tmp_path, env=around)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) == 4
    assert all(run[name] == text for run in runs for name in NAMES)
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize(
    ("target", "given", "expected"),
    [
        (
            "book",
            {"MODEL": "-x y", "SET": "n=1 'd=$f x'", "CORES": "2"},
            ["model=-x y"],
        ),
        (
            "sweep",
            {"MODELS": "'a b' c", "PROFILE": "p;q", "DRY": "1"},
            ["models=['a b', 'c']"],
        ),
        (
            "questions",
            {"MODEL": "m", "SOURCES": "a,b"},
            ["set=['dataset=seen_qa', 'sources=a,b',"],
        ),
        ("knowledge", {"MODELS": "a b"}, ["model='a'", "model='b'"]),
        (
            "benchmarks",
            {"MODEL": "m", "BENCHMARKS": "fever x/my.csv"},
            ["/fever", "benchmarks/my"],
        ),
        ("noise", {"MODEL": "m"}, ["model='m'"]),
    ],
)
def test_targets_are_commands(target, given, expected):
    parsed = [
        str(tools.command_line_parser().parse_args(words))
        for words in make_targets.target_commands(target, given)
    ]
    assert len(parsed) == len(expected)
    assert all(
        word.replace("model=-", "model='-") in text
        for word, text in zip(expected, parsed)
    )


@pytest.mark.parametrize("text", ["it's", "--help", "monitor -h", "a\\"])
def test_lists_hold_whole_words_and_no_options(text, capsys, monkeypatch):
    monkeypatch.setenv("CHAPTERS", text)
    with pytest.raises(UserError):
        make_targets.variable_words("CHAPTERS", os.environ)
    assert make_targets.main("book") == 2
    assert capsys.readouterr().err.startswith("error: CHAPTERS")


def test_a_setting_of_ones_own_stands_in_for_the_usual_one():
    given = {"MODEL": "m", "BENCHMARKS": "fever", "SET": "n_items=5"}
    [command] = make_targets.target_commands("benchmarks", given)
    assert command[-2:] == ["dataset=fever", "n_items=5"]
    [command] = make_targets.target_commands("questions", {"SET": "n_seen=7 seed=1"})
    assert [word for word in command if word.startswith("n_")] == [
        "n_unseen=5",
        "n_seen=7",
    ]


def test_a_setting_that_is_given_twice_is_refused():
    with pytest.raises(UserError, match="n_facts is set twice"):
        settings_from_words(["n_facts=5", "n_facts=5"], {"n_facts": 1}, "It has")
