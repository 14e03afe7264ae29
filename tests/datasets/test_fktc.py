"""FKTC and files in its format: the real files, a user's own files, and the errors."""

import dataclasses
import functools
import http.server
import json
import threading

import pooch
import pytest

from helpers import UserError, datasets
from helpers.datasets import fktc
from helpers.datasets.registry import SOURCES

HEADER = {"relations": ["Who wrote [X]?", "Who is the author of [X]?"]}
ROW = {"subject": "Hamlet", "object": "Shakespeare", "taxonomy": ["Goethe", "Dante"]}


@pytest.fixture
def published(shared):
    return shared / "data" / "fktc" / "FKTC"


def changed(monkeypatch, **fields):
    """Change what is listed of FKTC."""
    monkeypatch.setitem(SOURCES, "fktc", dataclasses.replace(SOURCES["fktc"], **fields))


def write(path, *lines):
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n")
    return path


def test_the_published_files_hold_what_the_data_page_counts(published):
    facts, frames = datasets.load(published), datasets.frames(published)
    questions = frames[frames["kind"] == "qa"].groupby("relation").size()
    assert facts["relation"].nunique() == 20
    assert len(facts) == 16_198
    assert datasets.source(published)["checksum"] == SOURCES["fktc"].known
    assert sorted(questions[questions == 6].index) == ["P264", "P276"]
    assert (questions == 7).sum() == 18
    prompts = facts["relation"].map(questions) + 1 + facts["distractors"].str.len()
    assert prompts.value_counts().to_dict() == {13: 14_810, 12: 1_388}
    assert prompts.sum() == 209_186


def test_published_facts_are_kept_as_they_are(published):
    facts = datasets.load(published)
    assert facts["fact"].is_unique
    first = facts[facts["relation"] == "P17"].iloc[0]
    assert first["fact"] == "P17-0000"
    assert (first["subject"], first["object"]) == ("Eibenstock", "Germany")
    assert first["distractors"] == ["Egypt", "Kenya", "Bahrain", "Bhutan", "Uzbekistan"]
    assert facts.duplicated(["relation", "subject", "object"]).sum() == 12
    assert (facts["subject"].str.casefold() == facts["object"].str.casefold()).sum() == 7


def test_a_file_with_two_dots_and_a_repeated_frame_are_read(published):
    frames = datasets.frames(published, ["P276", "P101"])
    questions = frames[frames["kind"] == "qa"].groupby("relation")["template"]
    assert questions.size().to_dict() == {"P101": 7, "P276": 6}
    assert questions.nunique().to_dict() == {"P101": 6, "P276": 6}


def test_true_objects_among_the_distractors_are_those_counted(published):
    facts = datasets.load(published)
    true = facts.groupby(["relation", "subject"])["object"].agg(set)
    hits = [
        sum(wrong in true[row.relation, row.subject] for wrong in row.distractors)
        for row in facts.itertuples()
    ]
    languages = [hit for hit, relation in zip(hits, facts["relation"]) if relation == "P37"]
    assert (sum(hits), sum(hit > 0 for hit in hits)) == (81, 64)
    assert (sum(languages), sum(hit > 0 for hit in languages)) == (58, 44)


def test_each_published_relation_has_a_cloze_with_the_object_last(published):
    frames = datasets.frames(published)
    cloze = frames[frames["kind"] == "wp"]
    assert len(cloze) == 20
    assert cloze["template"].str.fullmatch(r".*\[X\].*\[Y\]\.|\[X\].*\[Y\]\.").all()
    checks = frames[frames["kind"] == "fc"]["template"]
    assert checks.str.fullmatch(r"Statement: .*\[Y\]\. The statement is True or False\?").all()


def test_clozes_are_those_of_the_paper_but_for_one(shared):
    paper = next((shared / "papers").glob("000_*.txt")).read_text()
    rows = [line.split("\t") for line in paper.splitlines() if line.count("\t") == 4]
    printed = {row[0]: row[3] for row in rows if row[0].startswith("P") and "[Y]" in row[3]}
    ours = fktc.templates().set_index("relation")["template"].to_dict()
    assert len(printed) == 20
    assert {r for r in printed if printed[r] != ours[r]} == {"P27"}


def test_the_source_of_the_published_files_is_recognised(published, tmp_path):
    assert datasets.source(published)["licence"] == "Apache-2.0"
    edited = tmp_path / "P17-subclass.json"
    edited.write_bytes((published / "P17-subclass.json").read_bytes() + b"\n")
    assert datasets.source(edited)["licence"] == ""


@pytest.fixture
def server(published, monkeypatch, tmp_path):
    """Serve the real files from this machine in place of the authors' repository."""
    asked = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    handler = functools.partial(Quiet, directory=published)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        changed(monkeypatch, base=f"http://127.0.0.1:{running.server_port}/")
        monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
        yield asked
        running.shutdown()


def test_fktc_is_fetched_once(server, published):
    facts = datasets.load("fktc", n=2)
    assert len(server) == 20
    assert facts.equals(datasets.load(published, n=2))
    assert datasets.source("fktc")["version"] == SOURCES["fktc"].version
    assert len(server) == 20


def test_a_changed_file_is_refused(server, monkeypatch):
    changed(monkeypatch, files={"P17-subclass.json": "0" * 64})
    with pytest.raises(UserError, match="not the published file"):
        datasets.load("fktc")


def test_without_a_network_the_remedy_is_a_folder(monkeypatch, tmp_path):
    changed(monkeypatch, base="http://127.0.0.1:9/")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    with pytest.raises(UserError, match="give its path"):
        datasets.load("fktc")


def test_your_own_files_are_read(tmp_path):
    write(tmp_path / "author-of-books.json", HEADER, ROW, "", {**ROW, "subject": "Macbeth"})
    write(tmp_path / "P9.jsonl", HEADER, ROW)
    facts = datasets.load(tmp_path)
    assert facts["fact"].tolist() == ["P9-0000", "author-0000", "author-0001"]
    assert facts["distractors"].tolist()[0] == ["Goethe", "Dante"]
    frames = datasets.frames(str(tmp_path), ["author"])
    assert frames["kind"].tolist() == ["qa", "qa"]
    assert datasets.relations(tmp_path)["n_facts"].tolist() == [1, 2]
    assert datasets.load(tmp_path / "P9.jsonl")["fact"].tolist() == ["P9-0000"]


def test_a_changed_file_is_read_again(tmp_path):
    path = write(tmp_path / "P9.json", HEADER, ROW)
    assert len(datasets.load(path)) == 1
    write(path, HEADER, ROW, {**ROW, "subject": "Macbeth"})
    assert len(datasets.load(path)) == 2


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([HEADER, ROW, "{oops"], "line 3 is not JSON"),
        ([HEADER, "", "[1, 2]"], "line 3 is not a JSON object"),
        ([HEADER, {"subject": "Hamlet", "object": "Shakespeare"}], "line 2 must be"),
        ([HEADER, {**ROW, "object": " "}], "line 2 must be"),
        ([HEADER, {**ROW, "taxonomy": "Dante"}], "line 2 must be"),
        ([HEADER, {**ROW, "taxonomy": ["Shakespeare"]}], "line 2 lists its own object"),
        (
            [HEADER, ROW, {**ROW, "taxonomy": ["Dante", "Ibsen", "Dante"]}],
            "line 3 lists 'Dante' twice",
        ),
        (["", ROW], "line 2 must be"),
        ([ROW], "line 1 must be"),
        ([{"relations": []}, ROW], "line 1 must be"),
        ([{"relations": ["Who wrote it?"]}, ROW], r"one \[X\]"),
        ([HEADER], "holds no facts"),
        ([""], "is empty"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(tmp_path, lines, words):
    path = write(tmp_path / "P9.json", *lines)
    with pytest.raises(UserError, match=words) as caught:
        datasets.load(path)
    assert "P9.json" in str(caught.value)


def test_other_unusable_files_are_named(tmp_path):
    with pytest.raises(UserError, match=r"no \.json file"):
        datasets.load(tmp_path)
    (tmp_path / "P9.json").write_bytes(b"\xff\xfe")
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
    repeated, several = datasets.notes(path)
    assert repeated.startswith("Facts that repeat an earlier one: 1,")
    assert repeated.endswith("P9.json, line 4.")
    assert "Subjects with more than one object: 1," in several
    assert "P9.json, line 5" in several
    write(tmp_path / "P8.json", HEADER, ROW)
    assert datasets.notes(tmp_path, ["P8"]) == []
    assert len(datasets.notes(tmp_path, ["P9"])) == 2


def test_a_byte_order_mark_is_read_over(tmp_path):
    path = write(tmp_path / "P9.json", HEADER, ROW)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(datasets.load(path)) == 1


def test_the_published_repeats_are_noted(published):
    repeated, several = datasets.notes(published)
    assert repeated.startswith("Facts that repeat an earlier one: 12,")
    assert several.startswith("Subjects with more than one object: 244,")
