"""The page on exposure counts: its examples run as printed, and say what is so."""

import json
import re
from pathlib import Path

import pytest
import requests
import tenacity

from helpers import datasets
from helpers.datasets import multiple_choice
from tests import printed

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "exposure.md").read_text(encoding="utf-8")
LOCAL, ONLINE, ATLAS = printed.blocks(PAGE)


def test_counts_of_a_corpus_of_ones_own(tmp_path):
    found, names = printed.run([LOCAL], tmp_path)
    printed.compare(found[0], LOCAL[1])
    folder = datasets.write(names["facts"], {"country": ["Where is [X]?"]}, tmp_path / "cities")
    assert datasets.load(folder)["exposure"].tolist() == [2, 1, 0, 1]


@pytest.mark.slow
def test_the_agreement_with_the_exposures_of_the_atlas(tmp_path):
    found, names = printed.run([LOCAL, ATLAS], tmp_path)
    printed.compare(found[1], ATLAS[1])
    stated = datasets.training("atlas-xs")["exposures"]
    assert (names["documents"].to_numpy() >= stated[names["facts"]["fact"]].to_numpy()).all()


class Answer:
    """A stand-in for the service's answer."""

    def __init__(self, **said):
        self.said = said

    def json(self):
        return self.said


def test_the_query_is_what_the_service_documents(tmp_path, monkeypatch):
    answers = [
        Answer(count=7, approx=False),
        requests.ConnectionError("busy"),
        Answer(count=0, approx=False),
        Answer(count=0, approx=True),
        Answer(count=9, approx=True),
    ]
    asked = []

    def post(url, json, timeout):
        asked.append((url, json))
        said = answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    monkeypatch.setattr(requests, "post", post)
    monkeypatch.setattr(tenacity.nap.time, "sleep", lambda seconds: None)
    _, names = printed.run([LOCAL, ONLINE], tmp_path)
    assert {url for url, _ in asked} == {"https://api.infini-gram.io/"}
    assert asked[0][1] == {
        "index": "v4_piletrain_llama",
        "query_type": "count",
        "query": "Lyon AND France",
    }
    facts = names["facts"]
    assert facts["exposure"].fillna(-1).tolist() == [7, 0, -1, 9]
    folder = datasets.write(facts, {"country": ["Where is [X]?"]}, tmp_path / "cities")
    assert datasets.load(folder)["exposure"].isna().tolist() == [False, False, True, False]
    answers[:] = [Answer(error="no such index")] * 6
    with pytest.raises(ValueError, match="no such index"):
        names["count"]("Lyon", "France")


def test_the_line_with_a_count_is_read(tmp_path):
    line = re.search(r"```text\n(\{\"subject.*?)\n```", PAGE).group(1)
    text = json.dumps({"relations": ["Who wrote [X]?"]}) + "\n" + line
    (tmp_path / "author.json").write_text(text, encoding="utf-8")
    assert datasets.load(tmp_path)["exposure"].tolist() == [812]
    assert multiple_choice.load(str(tmp_path)).items["answer"].size == 1
