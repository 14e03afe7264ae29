"""Counts of facts in a corpus, against a plain loop over regular expressions."""

import gzip
import json
import re
import unicodedata
from itertools import product

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.exchange import cooccurrence

LETTERS = "aAbß é.+\n"  # words, cases, an accent, punctuation, white space
NAMES = st.text(LETTERS, min_size=1, max_size=5).filter(
    lambda name: re.search(r"\w", name)
)
TEXTS = st.lists(st.text(LETTERS, max_size=25), max_size=6)


def plainly(subject, obj, aliases, texts, match_case):
    """Count texts in which some form of each name occurs, at places that do not overlap."""

    def normal(text):
        text = unicodedata.normalize("NFKC", text)
        text = text if match_case else unicodedata.normalize("NFKC", text.casefold())
        return re.sub(r"\s+", " ", text).strip()

    def spans(name, text):
        for form in map(normal, [name, *aliases.get(name, [])]):
            for found in re.finditer(
                rf"(?<!\w)(?={re.escape(form)}(?!\w))", normal(text)
            ):
                yield found.start(), found.start() + len(form)

    return sum(
        any(
            a[1] <= b[0] or b[1] <= a[0]
            for a, b in product(spans(subject, t), spans(obj, t))
        )
        for t in texts
    )


@given(
    st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=4),
    TEXTS,
    st.booleans(),
    st.data(),
)
def test_counts_are_those_of_a_plain_loop(pairs, texts, match_case, data):
    aliases = data.draw(st.dictionaries(st.sampled_from([n for p in pairs for n in p]),
                                        st.lists(NAMES, max_size=2), max_size=2))  # fmt: skip
    facts = pd.DataFrame(
        pairs, columns=["subject", "object"], index=range(5, 5 + len(pairs))
    )
    found = cooccurrence.cooccurrence_counts(
        facts, iter(texts), aliases=aliases, match_case=match_case
    )
    assert found.tolist() == [
        plainly(*pair, aliases, texts, match_case) for pair in pairs
    ]
    assert found.index.equals(facts.index)


@pytest.mark.parametrize(
    ("subject", "obj", "text", "count"),
    [
        ("Mexico City", "Mexico", "Mexico City is large.", 0),
        ("Mexico City", "Mexico", "Mexico City is in Mexico.", 1),
        ("Singapore", "Singapore", "Singapore is a city.", 0),
        ("Nice", "France", "Venice is not in France.", 0),
        ("New York", "York City", "New York City", 0),
        (
            "Zürich",
            "Schweiz",
            "ZU\u0308RICH, Schweiz",
            1,
        ),  # the umlaut is a sign of its own
        ("Straße", "A\u00a0b", "STRASSE a\n b", 1),
        ("C++", "Stroustrup", "Stroustrup wrote C.", 0),
        ("C++", "Stroustrup", "Stroustrup wrote C++.", 1),
    ],
)
def test_names_are_whole_words_apart(subject, obj, text, count):
    facts = pd.DataFrame({"subject": [subject], "object": [obj]})
    assert cooccurrence.cooccurrence_counts(facts, [text]).tolist() == [count]


def test_sentences_and_aliases():
    facts = pd.DataFrame({"subject": ["Turin", "Lyon"], "object": ["Italy", "France"]})
    corpus = [
        "Torino! In Italy, they say so. Italy has Turin, e.g. Torino.\nTurin\nItaly",
        "Lyon",
    ]
    aliases = {"Turin": ["Torino"]}
    count = cooccurrence.cooccurrence_counts
    assert count(facts, corpus, aliases=aliases).tolist() == [1, 0]
    assert count(facts, corpus, aliases=aliases, by="sentence").tolist() == [1, 0]
    corpus = ["Italy has Torino. Turin is in Italy? Turin."]
    assert count(facts, corpus, aliases=aliases, by="sentence").tolist() == [2, 0]
    assert count(facts, corpus, by="sentence").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("facts", "settings", "message"),
    [
        ({"subject": ["a"]}, {}, "lacks the column object"),
        ({"subject": ["a"], "object": ["b"]}, {"by": "line"}, "by is 'line'"),
        (
            {"subject": ["a"], "object": ["++"]},
            {},
            r"The name '\+\+' holds no letter or digit",
        ),
        (
            {"subject": ["a"], "object": ["b"]},
            {"aliases": {"a": [""]}},
            "holds no letter",
        ),
    ],
)
def test_what_cannot_be_counted_is_refused(facts, settings, message):
    with pytest.raises(UserError, match=message):
        cooccurrence.cooccurrence_counts(pd.DataFrame(facts), [], **settings)


def test_documents_come_one_by_one_from_files_of_every_kind(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo é\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not a part")
    (tmp_path / "more").mkdir()
    lines = [json.dumps({"text": "three\nlines"}), json.dumps({"text": "four"})]
    with gzip.open(tmp_path / "more" / "b.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    (tmp_path / "z.jsonl").write_text(json.dumps({"body": "five", "text": "other"}))
    found = [text.strip() for text in cooccurrence.read_corpus_documents(tmp_path)]
    assert found == ["one", "two é", "three\nlines", "four", "other"]
    assert [
        *cooccurrence.read_corpus_documents(
            tmp_path / "z.jsonl", tmp_path / "a.txt", key="body"
        )
    ][:1] == ["five"]
