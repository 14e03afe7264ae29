"""Nobel laureates from both published tables."""

import re

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.datasets import nobel
from helpers.prompts import lists


def test_the_published_table(shared):
    path = shared / "data" / "nobel" / "nobel.csv"
    facts = datasets.load(path)
    assert len(facts) == 990
    born = facts.set_index("subject")["object"]
    assert born["Albert Einstein"] == "1879"
    assert born["Marie Curie"] == "1867"
    assert born["Aung San Suu Kyi"] == "1945"
    assert not any("Red Cross" in name or name.endswith(" NA") for name in born.index)
    assert facts["object"].str.fullmatch(r"\d{4}").all()
    assert facts["relation"].unique().tolist() == ["P569"]
    source = datasets.source(path)
    assert source["checksum"] == nobel.FILES["data/nobel.csv"]
    assert source["licence"] == "CC BY-SA 4.0"
    parts = lists.split(facts)
    assert parts["role"].value_counts().to_dict() == {"test": 890, "example": 100}
    found = lists.choices(parts[parts["role"] == "test"].head(5), facts)
    assert {len(options) for options in found.values()} == {100}


def test_the_data_page_counts_it(shared, root):
    page = (root / "book" / "data.md").read_text(encoding="utf-8")
    path = shared / "data" / "nobel" / "nobel.csv"
    rows = len(pd.read_csv(path))
    facts = datasets.load(path)
    assert f"{len(facts)} persons are left" in page
    told = re.search(r"table of ([\d,]+) prizes.*?Without (\d+) prizes.*?and (\d+) second", page)
    prizes, organisations, second = (int(n.replace(",", "")) for n in told.groups())
    assert prizes == rows == len(facts) + organisations + second


def test_years_alone_in_latin_1(tmp_path):
    path = tmp_path / "nobel.csv"
    lines = ['"","firstname","surname","born"', '"1","Wilhelm Conrad","Röntgen","1845"']
    path.write_bytes("\n".join([*lines, '"2","X","","NA"\n']).encode("latin-1"))
    facts = datasets.load(path)
    assert facts[["subject", "object"]].to_numpy().tolist() == [["Wilhelm Conrad Röntgen", "1845"]]
    assert datasets.source(path)["licence"] == ""


def test_a_table_without_years_is_refused(tmp_path):
    path = tmp_path / "nobel.csv"
    path.write_text("firstname,surname,born\nA,B,unknown\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"No row of .* has a person with a year of birth"):
        datasets.load(path)


def test_another_csv_is_not_taken_for_it(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert not nobel.reads(path)
    assert not nobel.reads(tmp_path)


def test_a_folder_with_one_table_is_read_and_with_two_refused(tmp_path):
    table = "firstname,surname,born\nMarie,Curie,1867\n"
    (tmp_path / "nobel.csv").write_text(table, encoding="utf-8")
    (tmp_path / "SOURCE.csv").write_text("file\nnobel.csv\n", encoding="utf-8")
    assert datasets.load(tmp_path)["object"].tolist() == ["1867"]
    assert (
        datasets.source(tmp_path)["checksum"] == datasets.source(tmp_path / "nobel.csv")["checksum"]
    )
    (tmp_path / "nobel_v1.csv").write_text(table, encoding="utf-8")
    with pytest.raises(UserError, match=r"several tables, nobel\.csv, nobel_v1\.csv"):
        datasets.load(tmp_path)
