"""The stored comparisons follow from the tables; wrong digits planted in copies are noticed."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import published, stats
from tests.published import recomputed

CHECKS = published.checks()
NO_NUMBERS = {"kb_table1", "lke_table6"}
TABLES = CHECKS["tables"].str.split(", ")
USED = sorted({name for names in TABLES for name in names} - NO_NUMBERS)
ORDER = ["check", "row", "published", "recomputed", "tolerance"]


def paper_of(name):
    """Return the paper of a table."""
    return next(p for p, prefix in recomputed.PREFIXES.items() if name.startswith(f"{prefix}_"))


@pytest.mark.parametrize("paper", recomputed.PAPERS)
def test_stored_comparisons_are_what_the_tables_give(paper):
    stored = published.comparisons().query("paper == @paper").reset_index(drop=True)
    found = recomputed.comparisons(paper)
    pd.testing.assert_frame_equal(found[ORDER], stored[ORDER], rtol=0, atol=1e-12)
    assert found["recomputed"].notna().all()
    listed = CHECKS.query("paper == @paper")["check"].tolist()
    assert list(dict.fromkeys(found["check"])) == listed
    assert set(CHECKS.query("paper == @paper")["tables"].str.split("_").str[0]) == {
        recomputed.PREFIXES[paper]
    }


@pytest.mark.parametrize(
    ("check", "rows"),
    [
        ("Tables 4, 11: p-values", ["P19", "P20"]),
        ("Table 4: mean of relations", list(published.load("monitor_table4").index)),
        ("Table 4: sum over 21", []),
        ("Table 11: CWR", ["Llama 2 7B, zero-shot", "Gemma-Instruct 7B, four-shot"]),
        ("Table 8: mean over all 49 models", ["mean of Table 8"]),
        ("Table 8: counts", ["date of death", "instance of"]),
        ("Table 10: repeats Table 1", ["Gemma-7B FT-1"]),
        ("Table 7: chance", ["Falcon-instruct-7B"]),
        ("Table 10: tuned models", ["falcon-instruct-7b"]),
        ("Table 10: FT-1 and FT-2", ["Llama2-13B", "Llama2-7B"]),
        ("Table 1: counts of TruthfulQA", ["Llama2-7B-C, TruthfulQA, binary"]),
    ],
)
def test_the_chapter_names_the_cells_that_differ(check, rows):
    cells = published.comparisons().query("check == @check")
    gap = (cells["recomputed"] - cells["published"]).abs()
    assert cells.loc[gap > cells["tolerance"] + 1e-12, "row"].tolist() == rows


def misprint(text, generator):
    """Return a printed number with one of its digits replaced by another."""
    place = generator.choice([i for i, sign in enumerate(text) if sign.isdigit()])
    other = generator.choice([digit for digit in "0123456789" if digit != text[place]])
    return text[:place] + str(other) + text[place + 1 :]


def numbers(tidy):
    """Return the printed values that are numbers, as strings."""
    return tidy["value"][pd.to_numeric(tidy["value"], errors="coerce").notna()]


def differing(paper, load):
    """Return the cells that do not agree."""
    found = recomputed.comparisons(paper, load)
    return found.loc[~found["agrees"], ["check", "row"]].to_numpy().tolist()


@pytest.mark.slow
def test_the_share_of_noticed_digits_is_the_one_that_the_chapter_states(root):
    """Five digits in each table that a check covers, one at a time."""
    noticed = planted = 0
    for paper, prefix in recomputed.PREFIXES.items():
        names = [name for name in published.names() if name.startswith(f"{prefix}_")]
        stored = {name: published.load_tidy(name) for name in names}
        tables = {name: published.wide(tidy) for name, tidy in stored.items()}
        generator, sound = np.random.default_rng(0), differing(paper, tables.__getitem__)
        for name in [name for name in names if name in USED]:
            values = numbers(stored[name])
            for pick in generator.choice(values.index, 5):
                changed = stored[name].copy()
                changed.loc[pick, "value"] = misprint(values[pick], generator)
                spoilt = tables | {name: published.wide(changed)}
                noticed += differing(paper, spoilt.__getitem__) != sound
                planted += 1
    share, low, high = (round(100 * number) for number in stats.wilson(noticed, planted)[:3])
    said = f"notice {share} % [{low}, {high}]"
    assert said in (root / "notebooks" / "published.ipynb").read_text(encoding="utf-8")
    assert planted == 120


@pytest.mark.parametrize(
    ("name", "row", "column", "value", "check"),
    [
        ("monitor_table10", "P17", "BLOOMZ-560m", "0.882", "Table 4: sum over 21"),
        ("monitor_table5", "OPT-2b7", "P108 avg", "92.420", "Table 11: correlations"),
        ("kb_table9", "Phi2 3B", "four-shot CR", "21.41", "Table 9: counts"),
        ("kb_table11", "Mistral 7B", "zero-shot IUR", "86.51", "Table 11: IUR"),
        ("kb_table2", "NCR vs. UR", "four-two", "0.26", "Table 2: correlations"),
        ("lke_table8", "father", "accuracy", "0.309214285814286", "Table 8: counts"),
        ("lke_table1", "OPT", "subsumption", "0.981", "Subsumption turned: possible"),
        ("multiplicity_table3", "OPT-13B", "FEVER ambiguity", "98.24", "Table 3: two options"),
        ("multiplicity_table1", "OPT-30B", "Med-HALT ambiguity", "27.76", "Table 1: binary"),
    ],
)
def test_a_certain_misprint_fails_a_certain_check(name, row, column, value, check):
    tidy, paper = published.load_tidy(name), paper_of(name)
    here = (tidy["row"] == row) & (tidy["column"] == column)
    assert here.sum() == 1
    tidy.loc[here, "value"] = value
    changed = {name: published.wide(tidy)}
    load = cache(lambda asked: changed[asked] if asked in changed else published.load(asked))
    sound = differing(paper, cache(published.load))
    assert check in [failed for failed, row in differing(paper, load) if [failed, row] not in sound]


@given(st.from_regex(r"-?[0-9]{1,3}\.[0-9]{1,4}", fullmatch=True), st.integers(0, 99))
def test_a_misprint_changes_one_digit(text, seed):
    wrong = misprint(text, np.random.default_rng(seed))
    assert len(wrong) == len(text)
    assert sum(a != b for a, b in zip(text, wrong)) == 1


@given(st.integers(1, 2000), st.data())
def test_every_true_share_is_possible(n, data):
    k = data.draw(st.integers(0, n))
    printed = pd.Series([round(100 * k / n, 2)])
    assert abs(recomputed.nearest(printed, n) - printed).item() <= 0.005 + 1e-9


def test_names_of_tuned_models_fit_in_tables_6_7_and_10():
    table = recomputed.tuned(published.load)
    names = published.load("lke_table7").index
    assert set(recomputed.TUNED.values()) == set(filter(recomputed.is_tuned, names))
    printed = set(published.load("lke_table10").index)
    assert printed == set(table["in Table 10"]) - {"Falcon-7B FT-1"}
    assert len(table) == 14


def test_twins_by_hand():
    both = recomputed.twins(published.load)
    assert both.loc["Mistral-7B", "Table 7"] == pytest.approx(0.66120 - 0.74365)
    assert both.loc["Mixtral-8x7B", "Table 10"] == pytest.approx(0.835 - 0.817)
    exchanged = (both["Table 10"] + both["Table 7"]).abs()[["Llama2-7B", "Llama2-13B"]]
    assert (exchanged < 0.01).all()
