"""The bundled facts: their form, their frames, their distractors, and what they say."""

import re
import string
import unicodedata
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from helpers import datasets
from helpers.datasets import atlas_facts

CASES = yaml.safe_load(
    Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8")
)
FORMS = CASES["forms"]


@pytest.fixture(scope="module")
def facts() -> pd.DataFrame:
    return datasets.load("atlas")


@pytest.fixture(scope="module")
def frames() -> pd.DataFrame:
    return datasets.prompt_frames("atlas")


def test_there_are_many_facts_in_many_relations(facts):
    objects = facts.groupby("relation")["object"].nunique()
    assert len(facts) >= 5_000
    assert len(objects) >= 22
    assert (objects >= 100).sum() >= 15
    assert facts.groupby("relation").size().max() <= 500


def test_facts_are_named_once_by_relation_and_row(facts):
    assert facts["fact"].is_unique
    numbers = facts.groupby("relation").cumcount().map("{:04d}".format)
    assert (facts["fact"] == facts["relation"] + "-" + numbers).all()


def test_a_subject_has_one_object_which_is_not_itself(facts):
    assert not facts.duplicated(["relation", "subject"]).any()
    assert (facts["subject"].str.casefold() != facts["object"].str.casefold()).all()


def test_strings_are_clean(facts):
    for text in pd.concat([facts["subject"], facts["object"]]):
        assert text == unicodedata.normalize("NFC", text)
        assert text == " ".join(text.split())
        assert text
        assert len(text) <= 45
        assert not set(text) & set("()[]{}’‘|\t"), text


@pytest.mark.parametrize("relation", sorted(FORMS))
def test_codes_have_their_form(facts, relation):
    for code in facts.loc[facts["relation"] == relation, "object"]:
        assert re.fullmatch(FORMS[relation], code), code


def test_cas_numbers_end_in_their_check_digit(facts):
    for number in facts.loc[facts["relation"] == "P231", "object"]:
        *digits, check = (int(d) for d in number if d in string.digits)
        assert sum(i * d for i, d in enumerate(reversed(digits), 1)) % 10 == check, (
            number
        )


def test_atomic_numbers_count_the_elements(facts):
    numbers = facts.loc[facts["relation"] == "P1086", "object"].astype(int)
    assert sorted(numbers) == list(range(1, 119))


@pytest.fixture(scope="module")
def pairs(facts) -> dict[str, dict[str, str]]:
    return {
        r: dict(zip(g["subject"], g["object"])) for r, g in facts.groupby("relation")
    }


def test_capitals_and_their_inverse_agree(pairs):
    for capital, country in pairs["P1376"].items():
        assert pairs["P36"].get(country, capital) == capital
    back = [
        pairs["P1376"].get(capital) == country
        for country, capital in pairs["P36"].items()
    ]
    assert sum(back) >= len(back) - 3


def test_domains_are_the_iso_codes_but_for_the_united_kingdom(pairs):
    codes = {country: f".{code.lower()}" for country, code in pairs["P297"].items()}
    differ = {
        country for country, domain in pairs["P78"].items() if domain != codes[country]
    }
    assert differ == {"United Kingdom"}


@pytest.mark.parametrize("line", CASES["known"])
def test_what_everybody_knows_is_so(facts, line):
    relation, rest = line.split(" ", 1)
    rows = facts[facts["relation"] == relation]
    said = set(rows["subject"] + " " + rows["object"])
    assert rest in said


@pytest.mark.parametrize(("relation", "subject"), CASES["left_out"])
def test_what_has_no_single_answer_is_left_out(facts, relation, subject):
    assert subject not in set(facts.loc[facts["relation"] == relation, "subject"])


def test_each_wrong_object_is_drawn_equally_often():
    rows = [("r", "x", right) for right in "bdh"] + [
        ("r", "y", other) for other in "acefgi"
    ]
    pool = pd.DataFrame(rows, columns=["relation", "subject", "object"])
    asked = pd.DataFrame(
        {"fact": [f"x {n}" for n in range(1200)], "relation": "r", "subject": "x"}
    )
    drawn = atlas_facts.draw_distractors(asked, pool, seed=3)
    counts = pd.Series([wrong for five in drawn for wrong in five]).value_counts()
    assert set(counts.index) == set("acefgi")
    assert counts.between(
        940, 1060
    ).all()  # 1,200 draws of 5 of 6: 1,000 each, deviation 13


def test_draws_follow_their_definition(facts):
    asked, expected = facts[::97], []
    for fact, relation, subject in zip(
        asked["fact"], asked["relation"], asked["subject"]
    ):
        others = facts[facts["relation"] == relation]
        true = set(others.loc[others["subject"] == subject, "object"])
        wrong = sorted(set(others["object"]) - true)
        draw = np.random.default_rng([5, zlib.crc32(fact.encode())])
        picks = draw.choice(len(wrong), size=min(5, len(wrong)), replace=False)
        expected.append([wrong[at] for at in picks])
    for _ in range(2):  # the second is kept
        assert atlas_facts.draw_distractors(asked, facts, 5) == expected


def test_distractors_are_five_other_objects_of_the_relation(facts):
    objects = facts.groupby("relation")["object"].agg(set)
    for row in facts.itertuples():
        assert len(row.distractors) == len(set(row.distractors)) == 5
        assert row.object not in row.distractors
        assert set(row.distractors) <= objects[row.relation]


def test_each_relation_has_seven_frames_of_each_kind(facts, frames):
    assert set(frames["relation"]) == set(facts["relation"])
    for _, group in frames.groupby(["relation", "kind"]):
        assert group["frame"].tolist() == list(range(7))
    assert frames.groupby("relation")["kind"].nunique().eq(3).all()
    assert frames["template"].is_unique


def test_frames_have_their_places(frames):
    for row in frames.itertuples():
        text = row.template
        assert text.count("[X]") == 1
        if row.kind == "qa":
            assert text.endswith("?")
            assert "[Y]" not in text
        elif row.kind == "wp":
            assert text.endswith("[Y].")
            assert text.count("[Y]") == 1
        else:
            assert text.count("[Y]") == 1
            assert "True or False?" in text


def test_fact_checking_frames_state_seven_different_things(frames):
    checks = frames[frames["kind"] == "fc"].copy()
    checks["statement"] = checks["template"].str.extract(r"((?:[A-Z\[][^:?]*)\[Y\]\.)")[
        0
    ]
    assert checks["statement"].notna().all()
    assert checks.groupby("relation")["statement"].nunique().eq(7).all()


def test_relations_table_counts_the_facts(facts):
    table = datasets.relation_table("atlas").set_index("relation")
    groups = facts.groupby("relation")["object"]
    assert table["n_facts"].to_dict() == groups.size().to_dict()
    assert table["n_objects"].to_dict() == groups.nunique().to_dict()
    assert (
        (table[["label", "subject_type", "object_type", "source", "licence"]] != "")
        .all()
        .all()
    )
