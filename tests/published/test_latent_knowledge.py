"""The tables of the IC-LKE paper: identities hold, and every figure is in the paper's text."""

import re

import pytest

from helpers import UserError, published

SHAPES = {
    "lke_table1": (6, 5),
    "lke_table5": (12, 6),
    "lke_table7": (49, 2),
    "lke_table8": (50, 1),
    "lke_table10": (13, 3),
}
OTHERS = {"lke_table2": (6, 4), "lke_table6": (49, 2), "lke_text": (6, 1)}
TUNED = re.compile("chat|instruct|Vicuna|SFT|DPO|Openhermes")


def test_all_tables_have_their_printed_size():
    found = [name for name in published.names() if name.startswith("lke_")]
    assert {name: published.load(name).shape for name in found} == SHAPES | OTHERS


def test_tables_7_and_8_are_in_falling_order():
    for name in ("lke_table7", "lke_table8"):
        assert published.load(name)["accuracy"].is_monotonic_decreasing


def test_table_8_averages_the_35_base_models_of_table_7():
    relations = published.load("lke_table8")["accuracy"]
    whole = (relations * 35 * 400).round(6) % 1 == 0
    assert list(relations[~whole].index) == ["date of death", "instance of"]
    assert ((relations * 49 * 400).round(6) % 1 == 0).sum() < 15
    models = published.load("lke_table7")["accuracy"]
    base = models[[not TUNED.search(name) for name in models.index]]
    assert len(base) == 35
    assert base.mean() == pytest.approx(relations.mean(), abs=2e-4)
    assert abs(models.mean() - relations.mean()) > 0.005


def test_table_6_stands_in_the_paper(shared):
    text = (shared / "papers" / "003_f44cecac2bc50a79.txt").read_text(encoding="utf-8")
    table = text[text.index("Table 6: Model Name") : text.index("Table 7: Model Perf")]
    words = table.replace("Ilama-65b", "llama-65b").split()
    stored = published.load("lke_table6")
    links = [word for word in words if word.startswith("https")]
    assert links == ["https://huggingface.co/" + link for link in stored["repository"]]
    for name, short in stored["name in the paper"].items():
        assert abs(words.index(name) - words.index(short)) == 1  # the copy turns one pair round


def test_rates_are_shares_and_larger_models_know_more():
    table = published.load("lke_table1")
    assert (table["largest accuracy"] > table["smallest accuracy"]).all()
    sizes = table[["smallest", "largest"]].map(published.parameters)
    assert (sizes["largest"] > sizes["smallest"]).all()
    for name in ("lke_table1", "lke_table10"):
        assert published.load(name)["subsumption"].between(0, 1).all()


@pytest.mark.parametrize("text", ["", "B", "many", "7X"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UserError, match="no number of parameters"):
        published.parameters(text)


@pytest.mark.parametrize("name", SHAPES)
def test_each_value_stands_in_the_paper(shared, name):
    text = (shared / "papers" / "003_f44cecac2bc50a79.txt").read_text(encoding="utf-8")
    for row, rows in published.load_tidy(name).groupby("row"):
        if name == "lke_table5":
            assert all(value in text for value in rows["value"])
            continue
        first = row.removeprefix("is a tributary of") if "tributary" in row else row.split(" FT")[0]
        values = r".*".join(re.escape(value) for value in rows["value"])
        assert re.search(rf"{re.escape(first)}\b.*{values}", text), (row, values)
