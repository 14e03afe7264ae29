"""The tables of the multiplicity paper: their sizes, and what must hold between columns."""

import pytest

from helpers import published

TABLES = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}
MEASURES = ("accuracy", "deviation", "ambiguity", "ambiguity_binary")


@pytest.mark.parametrize(
    ("name", "models"), [("multiplicity_table1", 16), ("multiplicity_table3", 14)]
)
def test_tables_1_and_3_have_their_printed_size(name, models):
    table = published.load(name)
    assert list(table.columns) == [f"{b} {measure}" for b in TABLES[name] for measure in MEASURES]
    assert table.shape == (models, 12)
    assert ((table >= 0) & (table <= 100)).all(axis=None)
    assert (published.load_tidy(name)["source"].str.contains("Ganesh et al. 2026")).all()


def test_table_2_has_four_cells_for_eleven_models():
    table = published.load("multiplicity_table2")
    assert table.shape == (11, 4)
    assert set(table.columns) == {
        "agnostic correct",
        "agnostic wrong",
        "sensitive correct",
        "sensitive wrong",
    }
    assert set(table.index) <= set(published.load("multiplicity_table1").index)


@pytest.mark.parametrize("name", TABLES)
def test_binary_ambiguity_is_at_most_that_of_all_options(name):
    table = published.load(name)
    for benchmark in TABLES[name]:
        whole, binary = table[f"{benchmark} ambiguity"], table[f"{benchmark} ambiguity_binary"]
        assert (binary <= whole).all()
        if benchmark in ("FEVER", "True-False"):  # two options
            assert (binary == whole).all()
        else:
            assert (binary < whole).any()
