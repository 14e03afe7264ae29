"""Progress is one plain line on a terminal, and nothing in a page."""

import io
import sys

import pandas as pd
import pytest

from helpers.models import progress
from helpers.probing import score
from tests import tiny


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = {"time": 100.0}
    monkeypatch.setattr(progress.time, "monotonic", lambda: now["time"])
    return now


def test_a_terminal_sees_done_total_and_time_left(monkeypatch, clock):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    show = progress.line("score", 120)
    clock["time"] += 10
    show(20)
    clock["time"] += 0.1
    show(21)  # too soon after the last
    clock["time"] += 50
    show(120)
    lines = stream.getvalue().split("\r")[1:]
    assert [line.strip() for line in lines] == [
        "score: 20/120, 0:00:50 left",
        "score: 120/120, 0:00:00 left",
    ]
    assert stream.getvalue().endswith("\n")


def test_a_log_file_gets_a_line_every_half_minute(monkeypatch, clock, capsys):
    show = progress.line("score", 100)
    for done in range(10, 101, 10):
        clock["time"] += 11
        show(done)
    assert capsys.readouterr().err.splitlines() == [
        "score: 30/100, 0:01:17 left",
        "score: 60/100, 0:00:44 left",
        "score: 90/100, 0:00:11 left",
        "score: 100/100, 0:00:00 left",
    ]


def test_a_short_run_and_a_quiet_one_say_nothing(clock, capsys):
    probe = {
        "item": 0,
        "variant": 0,
        "option": 0,
        "prompt": "Lyon is in",
        "continuation": " France",
    }
    score(tiny.language_model("llama"), pd.DataFrame([probe]))
    show = progress.line("score", 10, wanted=False)
    clock["time"] += 100
    show(10)
    assert capsys.readouterr() == ("", "")
