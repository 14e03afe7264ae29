"""The tables of the knowledge-base paper: identities, and every figure stands in its text."""

import re

import numpy as np
import pytest

from helpers import published
from helpers.published import knowledge_base as paper

SHAPES = {
    "kb_table1": (20, 2),
    "kb_table2": (7, 3),
    "kb_table4": (26, 9),
    "kb_table9": (26, 12),
    "kb_table10": (26, 12),
    "kb_table11": (26, 12),
    "kb_text": (14, 1),
}


def test_all_tables_have_their_printed_size():
    found = [name for name in published.names() if name.startswith("kb_")]
    assert {name: published.load(name).shape for name in found} == SHAPES


def test_models_have_one_name_in_all_tables():
    names = list(published.load("kb_table9").index)
    assert len(names) == 26
    for number in (4, 10, 11):
        assert list(published.load(f"kb_table{number}").index) == names


@pytest.mark.parametrize("setting", paper.SETTINGS)
def test_differences_and_means_within_a_table(setting):
    table = 100 * paper.models(setting).drop(columns=["tuned", "family", "billion"])
    np.testing.assert_allclose(table["CR"] - table["WR"], table["NCR"], atol=0.0101)
    np.testing.assert_allclose(table["CCR"] - table["CWR"], table["NCCR"], atol=0.0101)
    both = table[["Cons_w_seen", "Cons_w_unseen"]].mean(axis=1)
    np.testing.assert_allclose(both, table["Cons_w"], atol=0.0051)


def test_a_dash_is_a_missing_number():
    table = published.load("kb_table10")
    missing = table.isna().stack()
    assert missing[missing].index.tolist() == [
        ("Flan-T5 0.78B", "zero-shot Cons_w_unseen"),
        ("Llama2chat 70B", "four-two Cons_w_unseen"),
    ]
    certain = published.load("kb_table9")["zero-shot UR"]["Flan-T5 0.78B"]
    assert certain == 100
    assert published.load_tidy("kb_table10")["value"].isin(["-"]).sum() == 2


def test_shares_are_percentages():
    for number in (9, 10, 11):
        table = published.load(f"kb_table{number}")
        signed = [name for name in table if name.split()[1] in ("NCR", "NCCR")]
        assert (table[signed].abs() <= 100).all(axis=None)
        rest = table.drop(columns=signed)
        assert ((rest >= 0) & (rest <= 100) | rest.isna()).all(axis=None)


def rows_of(shared):
    """Return the cells of every line of the paper's text that is a row of a table."""
    text = (shared / "papers" / "002_b46eda59b53c8136.txt").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    return [
        line[: len(line) - next(i for i, c in enumerate(line[::-1]) if c)]
        for line in cells
        if len(line) > 1 and any(line)
    ]


@pytest.mark.parametrize("number", [9, 10, 11])
def test_each_row_stands_in_the_paper(shared, number):
    lines = rows_of(shared)
    for name, group in published.load_tidy(f"kb_table{number}").groupby("row"):
        values = group["value"].tolist()
        found = [line for line in lines if line[-12:] == values]
        sizes = {cell for line in found for cell in line[:-12]}
        assert len(found) == 1, name
        assert name.split()[-1] in sizes or name == "GPT-3.5 Turbo"


def test_table_1_stands_in_the_paper(shared):
    lines = rows_of(shared)
    for name, row in published.load("kb_table1").iterrows():
        assert any(line[-2:] == [name, row["template"]] for line in lines)


def test_table_2_stands_in_the_paper_but_for_lost_signs(shared):
    numbers = [
        [cell for cell in line if re.fullmatch(r"-?0\.\d\d", cell)] for line in rows_of(shared)
    ]
    for _, group in published.load_tidy("kb_table2").groupby("row"):
        assert [value.lstrip("-") for value in group["value"]] in numbers


def test_settings_other_than_the_papers_show_four_shots():
    assert paper.models("six-shot").equals(paper.models("four-shot"))


def test_lines_hold_the_printed_figures_in_order():
    found = paper.lines()
    for rows in found["size"].values():
        assert rows["place"].is_monotonic_increasing
        assert rows["family"].nunique() == 1
    for rows in found["tuning"].values():
        assert rows["tuned"].tolist() == [False, True]
        assert rows["billion"].nunique() == 1
    assert found["tuning"]["Llama3 8B"]["family"].tolist() == ["Llama3"] * 2
    table = published.load("kb_table9")
    for name, rows in found["prompt"].items():
        printed = [table.loc[name, f"{setting} UR"] for setting in paper.SETTINGS]
        np.testing.assert_allclose(100 * rows["UR"], printed)
    assert set(found["prompt"]["Phi2 3B"]["family"]) == {"others"}
