"""Multiplicity from logs of other tools: measures worked out by hand, and the command."""

import json

import pytest

from helpers import cli
from helpers.exchange import multiplicity_of_logs
from helpers.studies import multiplicity
from tests.tool_logs import lm_eval_text_line, write_lm_eval_log, write_three_runs

# Of `write_three_runs`: a says 0, 0, 1 and 0 is right; b says 1, 2, 1 and 0 is right; c is always
# right. Accuracy: (2/3 + 0 + 1) / 3 = 5/9. Two of three are ambiguous, a alone between
# right and wrong. Two of three pairs of prompts differ in a and in b: self-consistency
# (1/3 + 1/3 + 1) / 3 = 5/9, with replacement (5/9 + 5/9 + 1) / 3 = 19/27.
BY_HAND = {"items": 3, "prompts": 3, "accuracy": 5 / 9, "ambiguity": 2 / 3}
BY_HAND |= {"ambiguity_binary": 1 / 3, "self_consistency": 5 / 9}


def test_measures_by_hand(tmp_path):
    found = multiplicity_of_logs.from_logs(write_three_runs(tmp_path))
    assert multiplicity_of_logs.measures_of_logs(found) == pytest.approx(BY_HAND)
    assert found.table["cell"].tolist() == [
        "sensitive correct",
        "sensitive wrong",
        "agnostic correct",
    ]
    assert found.table["said"].tolist() == ["Rome", "New York", "Oslo"]
    default = multiplicity_of_logs.from_logs(
        write_three_runs(tmp_path / "again"), tau=0.3, correct_by="default"
    )
    assert default.table["cell"].tolist() == [
        "agnostic correct",
        "agnostic wrong",
        "agnostic correct",
    ]


def test_intervals_are_of_documents(tmp_path):
    table = multiplicity_of_logs.summary_of_logs(
        multiplicity_of_logs.from_logs(write_three_runs(tmp_path))
    )
    table = table.set_index("measure")
    assert table.loc["accuracy", "estimate"] == pytest.approx(5 / 9)
    assert table.loc[
        "agnostic wrong", ["estimate", "low", "high"]
    ].tolist() == pytest.approx(
        [0, 0, 1.96**2 / (3 + 1.96**2)], abs=1e-4
    )  # Wilson's of none of three
    assert (
        table.loc[list(multiplicity.multiplicity.CELLS), "estimate"].sum()
    ) == pytest.approx(1)
    assert (table["n"] == 3).all()


def test_generated_answers_are_compared_as_texts(tmp_path):
    # a: Rome twice, then wrong: 2 of 3 right. b: Bonn and bonn are one answer, Oslo
    # another. c: two texts, both marked as right, are one answer.
    said = (
        [("Rome", 1), ("rome.", 1), ("Oslo", 0)],
        [("Bonn", 0), ("bonn.", 0), ("Oslo", 0)],
    )
    said = [*said, [("Rome", 1), ("Rome, Italy", 1), ("Rome", 1)]]
    paths = [
        write_lm_eval_log(tmp_path / str(k), [
            lm_eval_text_line(doc, answers[k][0], float(answers[k][1]), f"p{k}")
            for doc, answers in zip("abc", said)
        ])
        for k in range(3)
    ]  # fmt: skip
    found = multiplicity_of_logs.from_logs(paths)
    assert multiplicity_of_logs.measures_of_logs(found) == pytest.approx(BY_HAND)


def test_the_command_prints_the_object_or_a_table(tmp_path, capsys):
    paths = list(map(str, write_three_runs(tmp_path)))
    assert cli.main(["logs", *paths, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == pytest.approx(BY_HAND)
    assert cli.main(["logs", *paths, "--json", "--set", "replacement=yes"]) == 0
    replaced = json.loads(capsys.readouterr().out)
    assert replaced == pytest.approx(BY_HAND | {"self_consistency": 19 / 27})
    assert cli.main(["logs", *paths]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "multiplicity over 3 prompts, with intervals of 95 %"
    assert lines[1].split() == ["measure", "estimate", "low", "high", "n"]
    assert lines[2].split()[:2] == ["accuracy", "0.556"]
    assert lines[10].startswith(
        "Fewer than 10 facts or questions count for accuracy (3)"
    )
    assert len(lines) == 11


def test_the_command_notes_and_refuses_in_a_sentence(tmp_path, capsys):
    paths = list(map(str, write_three_runs(tmp_path)))
    assert cli.main(["logs", paths[0]]) == 2
    assert capsys.readouterr().err.startswith(
        "error: Multiplicity needs at least 2 prompt"
    )
    other = write_lm_eval_log(
        tmp_path / "other", [lm_eval_text_line("a", "Rome", 1.0, "z")]
    )
    assert cli.main(["logs", paths[0], str(other)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    (tmp_path / "1" / "results_2026-01-02T03-04-05.678901.json").unlink()
    assert cli.main(["logs", *paths, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("note: 1 of 3 logs do not name their model")
    assert json.loads(told.out)["items"] == 3
