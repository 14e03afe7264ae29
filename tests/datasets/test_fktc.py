"""FKTC and files in its format: the real files, a user's own files, and the errors."""

import json

import pytest

from helpers import UserError, datasets
from helpers.datasets import fktc
from helpers.datasets.registry import SOURCES
from tests.datasets.test_multiple_choice import tables_sha256

HEADER = {"relations": ["Who wrote [X]?", "Who is the author of [X]?"]}
ROW = {"subject": "Hamlet", "object": "Shakespeare", "taxonomy": ["Goethe", "Dante"]}


@pytest.fixture
def published(shared):
    return shared / "data" / "fktc" / "FKTC"


def write(path, *lines):
    path.write_text(
        "\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n"
    )
    return path


def test_the_published_files_hold_what_the_data_page_counts(published):
    facts, frames, _ = fktc.read_fktc(published)
    facts = facts.drop(columns="place")
    questions = frames[frames["kind"] == "qa"].groupby("relation").size()
    assert facts["relation"].nunique() == 20
    assert len(facts) == 16_198
    assert datasets.source_record(published)["checksum"] == SOURCES["fktc"].known
    prompts = facts["relation"].map(questions) + 1 + facts["distractors"].str.len()
    assert prompts.value_counts().to_dict() == {13: 14_810, 12: 1_388}
    assert prompts.sum() == 209_186
    first = facts[facts["relation"] == "P17"].iloc[0].tolist()
    assert first[:4] == ["P17-0000", "P17", "Eibenstock", "Germany"]
    assert first[4] == ["Egypt", "Kenya", "Bahrain", "Bhutan", "Uzbekistan"]
    hashes = [tables_sha256(table)[:12] for table in (facts, frames)]
    assert hashes == ["3666091c4af4", "567a6b85112d"]
    repeated, several = datasets.notes_on_facts(published)
    assert repeated.startswith("Facts that repeat an earlier one: 12,")
    assert several.startswith("Subjects with more than one object: 244,")


def test_published_facts_are_asked_once_and_without_true_distractors(published):
    with pytest.warns(UserWarning, match="repeats 12 of its facts"):
        facts = datasets.load(published)
    assert len(facts) == 16_186
    read = fktc.read_fktc(published).facts.set_index("fact")["distractors"].str.len()
    fewer = read[facts["fact"]].to_numpy() - facts["distractors"].str.len()
    assert (fewer.sum(), (fewer > 0).sum()) == (81, 64)
    union = facts[facts["subject"] == "Middle East"].iloc[0]
    assert "Europe" not in union["distractors"]
    assert "Europe" in union["other_objects"]


def test_clozes_are_those_of_the_paper_but_for_one(shared):
    paper = next((shared / "papers").glob("000_*.txt")).read_text()
    rows = [line.split("\t") for line in paper.splitlines() if line.count("\t") == 4]
    printed = {
        row[0]: row[3] for row in rows if row[0].startswith("P") and "[Y]" in row[3]
    }
    ours = fktc.cloze_templates().set_index("relation")["template"].to_dict()
    assert len(printed) == 20
    assert {r for r in printed if printed[r] != ours[r]} == {"P27"}


def test_the_source_of_the_published_files_is_recognised(published, tmp_path):
    assert datasets.source_record(published)["licence"] == "Apache-2.0"
    edited = tmp_path / "P17-subclass.json"
    edited.write_bytes((published / "P17-subclass.json").read_bytes() + b"\n")
    assert datasets.source_record(edited)["licence"] == ""


def test_your_own_files_are_read(tmp_path):
    write(
        tmp_path / "author-of-books.json",
        HEADER,
        ROW,
        "",
        {**ROW, "subject": "Macbeth"},
    )
    write(tmp_path / "P9.jsonl", HEADER, ROW)
    facts = datasets.load(tmp_path)
    assert facts["fact"].tolist() == ["P9-0000", "author-0000", "author-0001"]
    assert facts["distractors"].tolist()[0] == ["Goethe", "Dante"]
    frames = datasets.prompt_frames(str(tmp_path), ["author"])
    assert frames["kind"].tolist() == ["qa", "qa"]
    assert datasets.relation_table(tmp_path)["n_facts"].tolist() == [1, 2]
    assert datasets.load(tmp_path / "P9.jsonl")["fact"].tolist() == ["P9-0000"]


@pytest.mark.parametrize("wrong", ["c|d", "['c', 'd']", ["c", "d"]])
def test_wrong_objects_may_be_a_text(tmp_path, wrong):
    path = write(tmp_path / "P9.json", HEADER, {**ROW, "taxonomy": wrong})
    assert datasets.load(path)["distractors"].tolist() == [["c", "d"]]


def test_a_changed_file_is_read_again(tmp_path):
    path = write(tmp_path / "P9.json", HEADER, ROW)
    assert len(datasets.load(path)) == 1
    write(path, HEADER, ROW, {**ROW, "subject": "Macbeth"})
    assert len(datasets.load(path)) == 2


def test_other_unusable_files_are_named(tmp_path):
    with pytest.raises(UserError, match=r"no \.json file"):
        datasets.load(tmp_path)
    (tmp_path / "P9.json").write_bytes(b"\xff\xfa")
    with pytest.raises(UserError, match="UTF-8"):
        datasets.load(tmp_path)
    write(tmp_path / "P9.json", HEADER, ROW)
    write(tmp_path / "P9-more.json", HEADER, ROW)
    with pytest.raises(UserError, match="Two files"):
        datasets.load(tmp_path)
    (tmp_path / "P8.json").mkdir()
    with pytest.raises(UserError, match=r"P8\.json cannot be read"):
        datasets.load(tmp_path)


def test_repeated_facts_and_subjects_with_two_objects_are_noted_with_a_line(tmp_path):
    other = {"subject": "Hamlet", "object": "Bacon", "taxonomy": ["Goethe"]}
    path = write(tmp_path / "P9.json", HEADER, ROW, "", ROW, other)
    repeated, several = datasets.notes_on_facts(path)
    assert repeated.startswith("Facts that repeat an earlier one: 1,")
    assert repeated.endswith("P9.json, line 4. Each counts once.")
    assert "Subjects with more than one object: 1," in several
    assert "P9.json, line 5. Each of them counts as right." in several
    write(tmp_path / "P8.json", HEADER, ROW)
    assert datasets.notes_on_facts(tmp_path, ["P8"]) == []
    assert len(datasets.notes_on_facts(tmp_path, ["P9"])) == 2


def test_a_byte_order_mark_is_read_over(tmp_path):
    path = write(tmp_path / "P9.json", HEADER, ROW)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(datasets.load(path)) == 1
