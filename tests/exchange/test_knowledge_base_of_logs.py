"""Factuality and consistency from logs with repeated answers: by hand, and the command."""

import json

import pytest

from helpers import UserError, cli
from helpers.exchange import knowledge_base_of_logs
from tests.tool_logs import (
    inspect_sample,
    lm_eval_text_line,
    write_inspect_archive,
    write_lm_eval_log,
)

# Each document's answers; the first is the response, and the log marks it.
SAID = {
    "a": (["Rome", "rome.", "Oslo", "Rome"], 1.0),  # correct, the same in 2 of 3
    "b": (["Bonn", "Bonn", "Oslo", "Rome"], 0.0),  # wrong, the same in 1 of 3
    "c": (["I don't know.", "Oslo", "Oslo", "Bonn"], 0.0),  # uninformative
    "d": (["Rome", "Rome", "Rome", "ROME"], 1.0),  # correct, always the same
}
# CCR = 1/2 * 5/6 and CWR = 1/4 * 1/3: NCCR = 5/12 - 1/12.
SEEN = {"items": 4, "answers": 4, "CR": 1 / 2, "WR": 1 / 4, "NCR": 1 / 4}
SEEN |= {"Cons_c": 5 / 6, "Cons_w": 1 / 3, "NCCR": 1 / 3}
# About unseen knowledge a, b and d are wrong: IUR = 1 - 3/4 * (2/3 + 1/3 + 1) / 3.
UNSEEN = {"items": 4, "answers": 4, "UR": 1 / 4, "Cons_w": 2 / 3, "IUR": 1 / 2}


@pytest.fixture
def path(tmp_path):
    lines = [
        lm_eval_text_line(
            doc, said[0], right, "x", resps=[said], filtered_resps=[said[0].strip()]
        )
        for doc, (said, right) in SAID.items()
    ]
    return write_lm_eval_log(tmp_path / "x", lines)


def test_measures_by_hand(path):
    found = knowledge_base_of_logs.from_logs([path])
    assert knowledge_base_of_logs.measures_of_logs(found) == pytest.approx(SEEN)
    assert found.table["label"].tolist() == [
        "correct",
        "wrong",
        "uninformative",
        "correct",
    ]
    assert found.table["consistency"].tolist() == pytest.approx([2 / 3, 1 / 3, 0, 1])
    unseen = knowledge_base_of_logs.from_logs([path], seen=False)
    assert knowledge_base_of_logs.measures_of_logs(unseen) == pytest.approx(UNSEEN)


def test_intervals_are_of_documents(path):
    for seen, by_hand in ((True, SEEN), (False, UNSEEN)):
        table = knowledge_base_of_logs.summary_of_logs(
            knowledge_base_of_logs.from_logs([path], seen=seen)
        )
        estimates = table.set_index("measure")["estimate"].to_dict()
        assert estimates == pytest.approx(
            {k: v for k, v in by_hand.items() if k in estimates}
        )
        assert len(estimates) == len(by_hand) - 2
        assert table["low"].notna().any()
        assert not (table["low"] > table["estimate"]).any()  # all alike: no interval
        assert (table["n"] == 4).all()


def test_several_runs_of_one_prompt_are_repeats(tmp_path):
    runs = [
        write_lm_eval_log(tmp_path / str(k), [
            lm_eval_text_line(doc, said[k], float(right if k == 0 else "ome" in said[k].lower()), "x")
            for doc, (said, right) in SAID.items()
        ])
        for k in range(4)
    ]  # fmt: skip
    found = knowledge_base_of_logs.from_logs(runs)
    assert knowledge_base_of_logs.measures_of_logs(found) == pytest.approx(SEEN)


def test_epochs_are_repeats_and_all_that_is_marked_right_is_one_answer(tmp_path):
    free = {"choices": None, "target": "Rome"}
    samples = []
    for epoch, (said, value) in enumerate(
        (("Rome", "C"), ("Rome, Italy", "C"), ("Bonn", "I")), 1
    ):
        score = {"scores": {"match": {"value": value, "answer": said}}}
        samples.append(inspect_sample("q1", "", value, epoch=epoch, **free, **score))
    found = knowledge_base_of_logs.from_logs(
        [write_inspect_archive(tmp_path / "1.eval", samples)]
    )
    assert found.table["consistency"].tolist() == [0.5]
    letters = [("A", "C"), ("A", "C"), ("", "I"), ("B", "I")]
    samples = [
        inspect_sample("q1", letter, v, epoch=e)
        for e, (letter, v) in enumerate(letters, 1)
    ]
    samples += [inspect_sample("q2", "", "I"), inspect_sample("q2", "", "I", epoch=2)]
    found = knowledge_base_of_logs.from_logs(
        [write_inspect_archive(tmp_path / "2.eval", samples)]
    )
    assert found.table["label"].tolist() == ["correct", "uninformative"]
    assert found.table["consistency"].tolist() == pytest.approx([1 / 3, 1])


def test_options_that_differ_in_a_sign_are_not_the_same(tmp_path):
    samples = [
        inspect_sample("q1", x, v, ("-1", "1"), epoch=e)
        for x, v, e in (("A", "C", 1), ("B", "I", 2))
    ]
    found = knowledge_base_of_logs.from_logs(
        [write_inspect_archive(tmp_path / "1.eval", samples)]
    )
    assert found.table["consistency"].tolist() == [0]


def test_what_logs_cannot_say_is_noted(path, tmp_path):
    notes = knowledge_base_of_logs.from_logs([path]).notes
    assert "the paper's is of multiple-choice questions" in notes[0]
    assert "All questions count as being about seen knowledge" in notes[1]
    assert len(notes) == 2
    same = [
        lm_eval_text_line("a", "Rome", 1.0, "x", resps=[["Rome", "Rome"]]),
        lm_eval_text_line("b", "Bonn", 0.0, "x"),
    ]
    steady = knowledge_base_of_logs.from_logs(
        [write_lm_eval_log(tmp_path / "s", same)], seen=False
    )
    notes = steady.notes[1:]
    assert notes[0] == "1 of 2 documents have one answer: Cons leaves them out."
    assert notes[1] == "No answer changes: unless they were sampled, Cons says nothing."
    assert (
        knowledge_base_of_logs.measures_of_logs(steady)["IUR"] == 0
    )  # a is wrong here, and always the same
    with pytest.raises(UserError, match="no repeated answers that can be compared"):
        knowledge_base_of_logs.from_logs(
            [
                write_lm_eval_log(
                    tmp_path / "one", [lm_eval_text_line("a", "Rome", 1.0, "x")]
                )
            ]
        )


def test_the_command_prints_the_object_or_a_table(path, capsys):
    words = ["logs", str(path), "--study", "knowledge_base"]
    assert cli.main([*words, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == pytest.approx(SEEN)
    assert told.err.startswith("note: Cons compares repeated answers")
    assert cli.main([*words, "--json", "--set", "seen=no"]) == 0
    assert json.loads(capsys.readouterr().out) == pytest.approx(UNSEEN)
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0] == "knowledge base over 4 answers to a prompt, with intervals of 95 %"
    )
    told = [line.split()[0] for line in lines[1:]]
    assert told == ["measure", *list(SEEN)[2:], "-:", "Fewer"]
    assert cli.main([*words, "--set", "tau=0.5"]) == 2
    assert "no parameter 'tau'" in capsys.readouterr().err
