"""Published question files: every form, their quirks, fetching, and what is kept as SeenQA."""

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest
import yaml

from helpers import UserError
from helpers.datasets import seen_questions
from helpers.datasets.registry import SOURCES
from helpers.io import user_cache

NQ = {"question": "who wrote it", "answer": ["Ann", "Bea"]}
FLASHRAG = {
    "id": "test_1",
    "question": "Who wrote it?",
    "golden_answers": ["Ann", "A. Ann"],
}
POPQA = {
    "question": "Who is the author of It?",
    "metadata": {"obj": "Ann", "o_aliases": '["A. Ann"]'},
    "golden_answers": ["Ann", "A. Ann", "Bea"],
}
TRIVIA = {
    "Data": [
        {
            "Question": "Who wrote it?",
            "QuestionId": "q1",
            "Answer": {"Value": "Ann", "Aliases": ["A. Ann", "Ann"]},
        }
    ]
}
TEXT_TRIVIA = {
    "Data": [{"Question": "Who?", "Answer": {"Value": "Ann", "Aliases": "A. Ann"}}]
}
HUB_TRIVIA = {"question": "Who?", "answer": {"value": "Ann", "aliases": ["A. Ann"]}}
TEXT_FLASHRAG = FLASHRAG | {"golden_answers": "Ann | A. Ann"}
TSV = (
    "id\tsubj\tobj\to_aliases\tquestion\tpossible_answers\n"
    '1\tIt\tAnn\t"[""A. Ann""]"\tWho is the author of It?\t"[""Ann"", ""A. Ann""]"\n'
)


SIMPLE = (
    "metadata,problem,answer\n"
    "\"{'topic': 'Art', 'urls': ['https://a.org']}\",Who wrote it?,Ann; or Bea\n"
)
FRESH = (
    "id,question,fact_type,answer_0,answer_1,answer_2\n"
    "0,Who wrote it?,never-changing,Ann,A. Ann,\n"
)


def write(folder, name, *rows):
    path = folder / name
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "content", "answers", "different"),
    [
        ("nq.jsonl", NQ, ["Ann", "Bea"], 2),
        ("nq.jsonl", FLASHRAG, ["Ann", "A. Ann"], 2),
        ("triviaqa.jsonl", FLASHRAG, ["Ann", "A. Ann"], 1),
        ("nq.jsonl", NQ | {"answer": "Ann | Bea"}, ["Ann", "Bea"], 2),
        (
            "web.jsonl",
            {"question": "who", "answers": ["Ann", "Bea"]},
            ["Ann", "Bea"],
            2,
        ),
        ("trivia.jsonl", HUB_TRIVIA, ["Ann", "A. Ann"], 1),
        ("trivia.json", TEXT_TRIVIA, ["Ann", "A. Ann"], 1),
        ("flashrag.jsonl", TEXT_FLASHRAG, ["Ann", "A. Ann"], 2),
        ("own.csv", "Question,ANSWER\nwho,Ann\n", ["Ann"], 1),
        ("own.jsonl", {"question\u200b": "who", "answer": "Ann"}, ["Ann"], 1),
        ("popqa.jsonl", POPQA, ["Ann", "A. Ann", "Bea"], 2),
        ("trivia.json", TRIVIA, ["Ann", "A. Ann"], 1),
        ("popqa.tsv", TSV, ["Ann", "A. Ann"], 1),
        (
            "trivia.csv",
            "question,answer\nwho,\"{'Value': 'Ann', 'Aliases': ['A. Ann']}\"\n",
            ["Ann", "A. Ann"],
            1,
        ),
        (
            "own.jsonl",
            {"question": "who", "answer": '{Ann,"B. Bea"}'},
            ["Ann", "B. Bea"],
            2,
        ),
        ("own.csv", 'question,answer\n"who, then",Ann; Bea\n', ["Ann", "Bea"], 2),
        ("own.csv", "question;answer\nwho;Ann\n", ["Ann"], 1),
        ("simple_qa.csv", SIMPLE, ["Ann; or Bea"], 1),
        ("verified.jsonl", {"problem": "who", "answer": "Ann"}, ["Ann"], 1),
        ("freshqa.csv", FRESH, ["Ann", "A. Ann"], 1),
    ],
)
def test_every_form_is_read(tmp_path, name, content, answers, different):
    table = seen_questions.read_questions(write(tmp_path, name, content))
    assert table["answers"].tolist() == [answers]
    assert table["n_answers"].tolist() == [different]
    assert table["group"].tolist() == [name.partition(".")[0]]


def test_a_folder_is_read_whole_and_repeated_questions_once(tmp_path):
    folder = tmp_path / "nq_open"
    folder.mkdir()
    write(folder, "a.jsonl", NQ, NQ)
    write(folder, "b.jsonl", NQ | {"question": "who read it"})
    write(folder, "SOURCE.md", "not a question file")
    table = seen_questions.read_questions(folder)
    assert table["item"].tolist() == ["nq_open-00000", "nq_open-00001"]


def test_quotes_left_over_from_csv_are_undone(tmp_path):
    wrapped = '"Who wrote ""It""?"'
    quoting = '"It" was written by "whom"'
    rows = [FLASHRAG | {"question": text} for text in (wrapped, quoting)]
    table = seen_questions.read_questions(write(tmp_path, "t.jsonl", *rows))
    assert table["question"].tolist() == ['Who wrote "It"?', quoting]


def test_an_answer_that_is_a_list_cut_short_is_refused(tmp_path):
    path = write(tmp_path, "t.jsonl", NQ | {"answer": "['Ann', 'Be"})
    with pytest.raises(UserError, match="begins as a list and cannot be read"):
        seen_questions.read_questions(path)


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(UserError, match="There is no question file or folder nowhere"):
        seen_questions.read_questions("nowhere")
    with pytest.raises(UserError, match="holds no file ending in"):
        seen_questions.read_questions(tmp_path)


def fetching(monkeypatch, tmp_path, content, asked):
    def download(url, output_file, _):
        asked.append(url)
        Path(output_file).write_bytes(content)

    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    monkeypatch.setattr("pooch.core.choose_downloader", lambda *_, **__: download)


def test_files_are_fetched_once_and_checked(monkeypatch, tmp_path):
    content, asked = json.dumps(NQ).encode(), []
    fetching(monkeypatch, tmp_path, content, asked)
    pinned = SOURCES["nq_open"]
    with pytest.raises(UserError, match="not the published file"):
        seen_questions.read_questions("nq_open")
    right = hashlib.sha256(content).hexdigest()
    own = dataclasses.replace(pinned, files={"NQ-open.dev.jsonl": right})
    monkeypatch.setitem(SOURCES, "nq_open", own)
    asked.clear()
    assert seen_questions.read_questions("nq_open")["question"].tolist() == [
        "who wrote it"
    ]
    assert seen_questions.read_questions("nq_open")["group"].tolist() == ["nq_open"]
    told = seen_questions.question_source_record(["nq_open"])
    assert (told["checksum"], told["licence"]) == (right, "CC BY-SA 3.0")
    assert asked == [pinned.url]


def test_addresses_are_fetched_from_where_they_say(monkeypatch, tmp_path):
    asked = []
    fetching(monkeypatch, tmp_path, TSV.encode(), asked)
    for address in (
        "https://example.org/data/a.tsv?download=true",
        "https://example.org/b/a.tsv",
    ):
        assert seen_questions.read_questions(address)["group"].tolist() == ["a"]
        assert asked[-1] == address


def test_published_addresses_are_pinned_to_commits():
    for name, source in SOURCES.items():
        assert name == "atlas" or f"/{source.version}/" in source.base
        assert name == "atlas" or len(source.version) == 40


CASES = yaml.safe_load(
    Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("question", "changing"), CASES["changes"])
def test_what_changes_with_time(question, changing):
    assert seen_questions.answers_change_with_time([question]) == [changing]


@pytest.mark.parametrize(("question", "answer", "kind"), CASES["types"])
def test_types_of_answers(question, answer, kind):
    assert seen_questions.answer_type(question, answer) == kind


def test_the_real_nq_open_file_is_the_pinned_one(shared):
    found = user_cache.checksum_of_files(
        [shared / "data" / "nq_open" / "NQ-open.dev.jsonl"]
    )
    assert [found] == list(SOURCES["nq_open"].files.values())


def test_a_judge_takes_the_place_of_the_rule(tmp_path):
    rows = [NQ | {"question": f"who wrote {i}", "answer": ["Ann"]} for i in range(10)]
    path = write(tmp_path, "own.jsonl", *rows)
    asked, rest = seen_questions.draw_seen_questions(
        [path], n=5, judge=lambda texts: ["3" in text for text in texts]
    )
    both = [*asked["question"], *rest["question"]]
    assert len(asked) == 5
    alone, _ = seen_questions.draw_seen_questions(path, n=5)
    assert alone["question"].isin([row["question"] for row in rows]).all()
    assert sorted(both) == sorted(f"who wrote {i}" for i in range(10) if i != 3)


def test_marks_alone_are_no_answer(tmp_path):
    answers = [
        ["---"],
        [")"],
        ["$5"],
        ["é"],
        ["six words are one too many"],
        ["in just five words now"],
    ]
    rows = [
        NQ | {"question": f"who {i}", "answer": answer}
        for i, answer in enumerate(answers)
    ]
    kept = seen_questions.factoid_questions(
        seen_questions.read_questions(write(tmp_path, "own.jsonl", *rows))
    )
    assert kept["question"].tolist() == ["who 2", "who 3", "who 5"]


def test_nothing_left_is_told(tmp_path):
    path = write(tmp_path, "own.jsonl", NQ | {"question": "why is it so"})
    with pytest.raises(UserError, match="fewer than two questions are left"):
        seen_questions.draw_seen_questions([path])
    with pytest.raises(UserError, match="No source"):
        seen_questions.draw_seen_questions([])
    with pytest.raises(UserError, match="at least 1 question"):
        seen_questions.draw_seen_questions([path], n=0)
