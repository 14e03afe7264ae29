"""The tables of the MONITOR paper: identities hold, and every figure is in the paper's text."""

import re

import numpy as np
import pytest

from helpers import UserError, published

SHAPES = {
    "monitor_table2": (12, 6),
    "monitor_table3": (12, 5),
    "monitor_table4": (12, 5),
    "monitor_table4_correlation": (1, 2),
    "monitor_table5": (12, 9),
    "monitor_table6": (12, 3),
    "monitor_table7": (2, 3),
    "monitor_table8": (1, 3),
    "monitor_table9": (20, 4),
    "monitor_table10": (20, 12),
    "monitor_table11": (20, 2),
    "monitor_figure5": (2, 1),
    "monitor_corpus": (1, 5),
    "monitor_text": (8, 1),
}


def pearson(x, y):
    return float(np.corrcoef(x, y)[0, 1])


def test_all_tables_have_their_printed_size():
    monitor = [name for name in published.names() if name.startswith("monitor_")]
    assert {name: published.load(name).shape for name in monitor} == SHAPES


def test_models_have_one_name_in_all_tables():
    models = set(published.load("monitor_table2").index)
    assert len(models) == 12
    for name in ("monitor_table3", "monitor_table4", "monitor_table5", "monitor_table6"):
        assert set(published.load(name).index) == models
    assert set(published.load("monitor_table10").columns) == models


def test_relations_agree_between_tables():
    relations = list(published.load("monitor_table10").index)
    assert list(published.load("monitor_table9").index) == relations
    assert sorted(published.load("monitor_table11").index) == sorted(relations)


def test_table_3_prints_the_differences_of_its_columns():
    table = published.load("monitor_table3")
    for context in ("right", "wrong"):
        change = table[context] - table["none"]
        np.testing.assert_allclose(change, table[f"{context}_change"], atol=0.0051)


def test_table_4_correlation():
    table = published.load("monitor_table4")
    r = pearson(table["MONITOR"], table["avg"])
    assert r == pytest.approx(-0.847, abs=0.0005)
    printed = published.load("monitor_table4_correlation")["pearson"].iloc[0]
    assert printed == -0.846


@pytest.mark.parametrize(
    ("relation", "expected"), [("P178", -0.828), ("P108", -0.889), ("P37", -0.867)]
)
def test_table_5_gives_the_correlations_of_table_11(relation, expected):
    table = published.load("monitor_table5")
    r = pearson(table[f"{relation} MONITOR"], table[f"{relation} avg"])
    assert r == pytest.approx(expected, abs=0.00051)
    assert published.load("monitor_table11").loc[relation, "pearson"] == expected


def test_table_5_repeats_rows_of_table_10():
    table, by_relation = published.load("monitor_table5"), published.load("monitor_table10")
    for relation in ("P178", "P108", "P37"):
        assert (table[f"{relation} MONITOR"] == by_relation.loc[relation, table.index]).all()


def test_table_6_repeats_p1412_of_table_10():
    table, by_relation = published.load("monitor_table6"), published.load("monitor_table10")
    assert (table["MONITOR"] == by_relation.loc["P1412", table.index]).all()
    assert table["base"].is_monotonic_increasing


def test_table_4_overall_is_the_sum_of_table_10_over_21():
    overall = published.load("monitor_table4")["MONITOR"]
    sums = published.load("monitor_table10")[overall.index].sum()
    rounding = 0.0005 + 20 * 0.0005 / 21
    np.testing.assert_allclose(sums / 21, overall, rtol=0, atol=rounding)
    assert (np.abs(sums / 20 - overall) > 0.02).all()


def test_table_8_ratio():
    row = published.load("monitor_table8").loc["GPU hours"]
    assert round(row["accuracy"] / row["MONITOR"], 2) == row["saved"] == 2.97


def test_corpus_counts():
    row = published.load("monitor_corpus").loc["FKTC"]
    assert row["facts"] * (row["frames"] + 1 + 5) == row["prompts"] == 210_158
    assert row["relations"] == len(published.load("monitor_table10"))
    assert row["models"] == len(published.load("monitor_table4"))


def test_minimum_average_maximum_are_in_order():
    table = published.load("monitor_table4")
    assert ((table["min"] < table["avg"]) & (table["avg"] < table["max"])).all()


def test_shares_and_probabilities_are_in_range():
    for name, low, high in (("monitor_table2", 0, 100), ("monitor_table10", 0, 1)):
        values = published.load(name).to_numpy(dtype=float)
        assert (values >= low).all()
        assert (values <= high).all()


def test_unknown_name_lists_those_there_are():
    with pytest.raises(UserError, match=r"monitor_tabel4.*monitor_table10"):
        published.load("monitor_tabel4")


def paper_lines(shared):
    """Return the cells of each line of the paper's text, marks of emphasis taken off."""
    text = (shared / "papers" / "000_a0160f3987283b5d.txt").read_text(encoding="utf-8")
    lines = re.sub(r"</?b>|\*\*", "", text).splitlines()
    return [[cell.strip() for cell in line.split("\t")] for line in lines]


@pytest.mark.parametrize("number", [2, 4, 5, 6, 7, 8, 9, 10])
def test_each_row_stands_in_the_paper(shared, number):
    lines, name = paper_lines(shared), f"monitor_table{number}"
    for row, group in published.load_tidy(name).groupby("row"):
        group = group[group["column"] != "instruction_tuned"]
        values = [f"{v}X" if c == "saved" else v for v, c in zip(group["value"], group["column"])]
        found = [line[0].lower() for line in lines if line[-len(values) :] == values]
        assert any(row.lower().startswith(first) for first in found), f"{name}: {row} {values}"


def test_tables_3_and_11_stand_in_the_paper(shared):
    lines = paper_lines(shared)
    for row, group in published.load_tidy("monitor_table3").groupby("row"):
        none, right, up, wrong, down = group["value"]
        right, wrong = f"{right} ({float(up):+.2f})", f"{wrong} ({float(down):+.2f})"
        assert [row, none, right, wrong] in lines
    table = published.load_tidy("monitor_table11")
    for half in (slice(0, 20), slice(20, 40)):
        part = table.iloc[half]
        for column, label in (("pearson", "correlation"), ("p_value", "p-value")):
            assert [label, *part[part["column"] == column]["value"]] in lines
