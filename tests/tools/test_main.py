"""Tests of the book's commands: help that fits a screen, and one sentence for what stops one."""

import pytest

from book.tools import __main__ as commands
from book.tools import chapters
from helpers import UserError, cli


@pytest.mark.parametrize(
    ("command", "name"),
    [(c, name) for c in (cli, commands) for name in ("", *c.COMMANDS)],
)
def test_help_fits_a_screen(command, name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        command.main([*name.split(), "--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("raised", "status", "sentence"),
    [
        (UserError("Say it so."), 2, "error: Say it so.\n"),
        (
            KeyboardInterrupt(),
            130,
            "error: Interrupted: the same command goes on where this stop",
        ),
    ],
)
def test_what_stops_a_command_is_one_sentence(
    raised, status, sentence, monkeypatch, capsys
):
    def stop(*given, **named):
        raise raised

    monkeypatch.setattr(chapters, "run_chapter", stop)
    assert commands.main(["run", "monitor"]) == status
    told = capsys.readouterr()
    assert told.err.startswith(sentence)
    assert told.err.count("\n") == 1
    assert told.out == ""
