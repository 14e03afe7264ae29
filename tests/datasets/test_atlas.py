"""The bundled facts: their form, their frames, their distractors, and what they say."""

import re
import string
import unicodedata
import zlib

import numpy as np
import pandas as pd
import pytest

from helpers import datasets
from helpers.datasets import atlas_facts

# Written down from general knowledge, not from the packages that the facts come from.
KNOWN = """
P17 Lyon France; P17 Osaka Japan; P17 Mombasa Kenya; P17 Gothenburg Sweden; P17 Cali Colombia
P30 Bolivia South America; P30 Nepal Asia; P30 Ghana Africa; P30 Cuba North America
P36 Australia Canberra; P36 Canada Ottawa; P36 Brazil Brasília; P36 Turkey Ankara
P36 Kazakhstan Astana; P36 United States Washington, D.C.; P36 Burundi Gitega
P37 Austria German; P37 Brazil Portuguese; P37 Iran Persian; P37 Suriname Dutch
P38 Japan Japanese yen; P38 Croatia euro; P38 Bulgaria euro; P38 Ecuador US dollar
P61 francium Marguerite Perey; P61 hydrogen Henry Cavendish; P61 thulium Per Teodor Cleve
P61 sodium Humphry Davy; P78 United Kingdom .uk; P78 Switzerland .ch; P131 Seattle Washington
P131 Rome Lazio; P131 Paris Île-de-France; P131 Milan Lombardy; P218 Welsh cy; P218 German de
P219 Japanese jpn; P220 Hawaiian haw; P220 Cherokee chr; P231 gold 7440-57-5
P238 Los Angeles International Airport LAX; P238 Narita International Airport NRT
P239 Charles de Gaulle International Airport LFPG; P239 Narita International Airport RJAA
P246 tungsten W; P246 sodium Na; P246 gold Au; P246 oganesson Og; P282 Hindi Devanagari
P282 Russian Cyrillic; P297 Germany DE; P297 Namibia NA; P298 Switzerland CHE
P299 Afghanistan 004; P299 France 250; P300 Bavaria DE-BY; P300 Texas US-TX
P421 Munich Europe/Berlin; P421 Calgary America/Edmonton; P474 Iceland +354; P474 Italy +39
P498 pound sterling GBP; P498 Swiss franc CHF; P506 Cyrillic Cyrl; P575 gallium 1875
P575 radium 1898; P575 technetium 1937; P931 Malpensa International Airport Milan
P1086 iron 26; P1086 lead 82; P1376 Nairobi Kenya; P1376 Ljubljana Slovenia
P1376 Washington, D.C. United States; P1549 France French; P1549 Ivory Coast Ivorian
P1705 German Deutsch; P1705 Finnish suomi; P1705 Welsh Cymraeg
"""

FORMS = {
    "P78": r"\.[a-z]{2}",
    "P218": "[a-z]{2}",
    "P219": "[a-z]{3}",
    "P220": "[a-z]{3}",
    "P231": r"\d{2,7}-\d\d-\d",
    "P238": "[A-Z]{3}",
    "P239": "[A-Z]{4}",
    "P246": "[A-Z][a-z]?",
    "P297": "[A-Z]{2}",
    "P298": "[A-Z]{3}",
    "P299": r"\d{3}",
    "P300": "[A-Z]{2}-[A-Z0-9]{1,3}",
    "P421": "[A-Z][A-Za-z]+(/[A-Z][A-Za-z_-]+){1,2}",
    "P474": r"\+\d{1,3}( \d{3})?",
    "P498": "[A-Z]{3}",
    "P506": "[A-Z][a-z]{3}",
    "P575": "1[6-9]\\d\\d|20\\d\\d",
    "P1086": r"\d{1,3}",
}


@pytest.fixture(scope="module")
def facts() -> pd.DataFrame:
    return datasets.load("atlas")


@pytest.fixture(scope="module")
def frames() -> pd.DataFrame:
    return datasets.frames("atlas")


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
        assert sum(i * d for i, d in enumerate(reversed(digits), 1)) % 10 == check, number


def test_atomic_numbers_count_the_elements(facts):
    numbers = facts.loc[facts["relation"] == "P1086", "object"].astype(int)
    assert sorted(numbers) == list(range(1, 119))


def test_capitals_and_their_inverse_agree(facts):
    pairs = {r: dict(zip(g["subject"], g["object"])) for r, g in facts.groupby("relation")}
    for capital, country in pairs["P1376"].items():
        assert pairs["P36"].get(country, capital) == capital
    back = [pairs["P1376"].get(capital) == country for country, capital in pairs["P36"].items()]
    assert sum(back) >= len(back) - 3


def test_domains_are_the_iso_codes_but_for_the_united_kingdom(facts):
    pairs = {r: dict(zip(g["subject"], g["object"])) for r, g in facts.groupby("relation")}
    differ = {
        country
        for country, domain in pairs["P78"].items()
        if domain != "." + pairs["P297"][country].lower()
    }
    assert differ == {"United Kingdom"}


@pytest.mark.parametrize("line", [item.strip() for item in re.split("[;\n]", KNOWN.strip())])
def test_what_everybody_knows_is_so(facts, line):
    relation, rest = line.split(" ", 1)
    rows = facts[facts["relation"] == relation]
    said = set(rows["subject"] + " " + rows["object"])
    assert rest in said


@pytest.mark.parametrize(
    ("relation", "subject"),
    [
        ("P36", "South Africa"),  # three capitals
        ("P36", "Monaco"),  # the object would be the subject
        ("P30", "Turkey"),  # two continents
        ("P37", "Switzerland"),  # four languages
        ("P61", "fluorine"),  # found and made pure by different people
        ("P575", "fluorine"),  # 1886 is the year in which it was made pure
        ("P61", "iron"),  # known to the ancients
        ("P17", "Hyderabad"),  # in India and in Pakistan
        ("P17", "Valencia"),  # in Spain and in Venezuela
        ("P17", "Brooklyn"),  # a part of a city
    ],
)
def test_what_has_no_single_answer_is_left_out(facts, relation, subject):
    assert subject not in set(facts.loc[facts["relation"] == relation, "subject"])


def test_misspelt_names_of_the_sources_are_gone(facts):
    text = "\n".join(facts["subject"] + "\n" + facts["object"])
    for name in ("P.T.Cleve", "Priestly", "Humphrey Davy", "Tadzhik", "St. ", "Derey"):
        assert name not in text.replace("St. Louis", "").replace("St. Petersburg", "").replace(
            "St. Gallen", ""
        )


def test_each_wrong_object_is_drawn_equally_often():
    rows = [{"relation": "r", "subject": "x", "object": right} for right in "bdh"]
    rows += [{"relation": "r", "subject": "y", "object": other} for other in "acefgi"]
    pool = pd.DataFrame(rows)
    asked = pd.DataFrame({"fact": [f"x {n}" for n in range(1200)], "relation": "r", "subject": "x"})
    drawn = atlas_facts.draw_distractors(asked, pool, seed=3)
    counts = pd.Series([wrong for five in drawn for wrong in five]).value_counts()
    assert set(counts.index) == set("acefgi")
    assert counts.between(940, 1060).all()  # 1,200 draws of 5 of 6: 1,000 each, deviation 13


def test_draws_follow_their_definition_also_when_repeated(facts):
    rows = [("a", "r", "x", name) for name in "bdh"] + [("b", "r", "y", name) for name in "acefgi"]
    several = pd.DataFrame(rows, columns=["fact", "relation", "subject", "object"])
    for asked, pool in ((facts[::97], facts), (several, several)):
        expected = []
        for fact, relation, subject in zip(asked["fact"], asked["relation"], asked["subject"]):
            others = pool[pool["relation"] == relation]
            true = set(others.loc[others["subject"] == subject, "object"])
            wrong = sorted(set(others["object"]) - true)
            draw = np.random.default_rng([5, zlib.crc32(fact.encode())])
            picks = draw.choice(len(wrong), size=min(5, len(wrong)), replace=False)
            expected.append([wrong[at] for at in picks])
        for _ in range(2):
            assert atlas_facts.draw_distractors(asked, pool, 5) == expected


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
    checks["statement"] = checks["template"].str.extract(r"((?:[A-Z\[][^:?]*)\[Y\]\.)")[0]
    assert checks["statement"].notna().all()
    assert checks.groupby("relation")["statement"].nunique().eq(7).all()


def test_relations_table_counts_the_facts(facts):
    table = datasets.relations("atlas").set_index("relation")
    groups = facts.groupby("relation")["object"]
    assert table["n_facts"].to_dict() == groups.size().to_dict()
    assert table["n_objects"].to_dict() == groups.nunique().to_dict()
    assert (table[["label", "subject_type", "object_type", "source", "licence"]] != "").all().all()
