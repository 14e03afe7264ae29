"""The stored comparisons follow from the tables; wrong digits planted in copies are noticed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import stats
from notebooks.kit import published
from tests.published import table_checks

CHECKS = published.printed_number_checks()
NO_NUMBERS = {"kb_table1", "lke_table6"}
TABLES = CHECKS["tables"].str.split(", ")
USED = sorted({name for names in TABLES for name in names} - NO_NUMBERS)
ORDER = ["check", "row", "published", "recomputed", "tolerance"]


@pytest.mark.parametrize("paper", table_checks.PAPERS)
def test_stored_comparisons_are_what_the_tables_give(paper):
    stored = (
        published.printed_number_comparisons()
        .query("paper == @paper")
        .reset_index(drop=True)
    )
    found = table_checks.recomputed_comparisons(paper)
    pd.testing.assert_frame_equal(found[ORDER], stored[ORDER], rtol=0, atol=1e-12)
    assert found["recomputed"].notna().all()
    listed = CHECKS.query("paper == @paper")["check"].tolist()
    assert list(dict.fromkeys(found["check"])) == listed
    assert set(CHECKS.query("paper == @paper")["tables"].str.split("_").str[0]) == {
        table_checks.CHECK_PREFIXES[paper]
    }


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
    found = table_checks.recomputed_comparisons(paper, load)
    return found.loc[~found["agrees"], ["check", "row"]].to_numpy().tolist()


@pytest.mark.slow
def test_the_share_of_noticed_digits_is_the_one_that_the_chapter_states(root):
    """Five digits in each table that a check covers, one at a time."""
    noticed = planted = 0
    for paper, prefix in table_checks.CHECK_PREFIXES.items():
        names = [
            name
            for name in published.published_table_names()
            if name.startswith(f"{prefix}_")
        ]
        stored = {name: published.load_tidy_table(name) for name in names}
        tables = {
            name: published.table_in_printed_shape(tidy)
            for name, tidy in stored.items()
        }
        generator, sound = (
            np.random.default_rng(0),
            differing(paper, tables.__getitem__),
        )
        for name in [name for name in names if name in USED]:
            values = numbers(stored[name])
            for pick in generator.choice(values.index, 5):
                changed = stored[name].copy()
                changed.loc[pick, "value"] = misprint(values[pick], generator)
                spoilt = tables | {name: published.table_in_printed_shape(changed)}
                noticed += differing(paper, spoilt.__getitem__) != sound
                planted += 1
    share, low, high = (
        round(100 * number) for number in stats.wilson_interval(noticed, planted)[:3]
    )
    said = f"notice {share} [{low}, {high}] %"
    assert said in (root / "notebooks" / "published.ipynb").read_text(encoding="utf-8")
    assert planted == 125


@given(st.integers(1, 2000), st.data())
def test_every_true_share_is_possible(n, data):
    k = data.draw(st.integers(0, n))
    printed = pd.Series([round(100 * k / n, 2)])
    assert (
        abs(table_checks.nearest_attainable_value(printed, n) - printed).item()
        <= 0.005 + 1e-9
    )


def test_names_of_tuned_models_fit_in_tables_6_7_and_10():
    table = table_checks.tuned_model_accuracies(published.load_published_table)
    names = published.load_published_table("lke_table7").index
    assert set(table_checks.TUNED_MODELS.values()) == set(
        filter(table_checks.is_tuned_model, names)
    )
    printed = set(published.load_published_table("lke_table10").index)
    assert printed == set(table["in Table 10"]) - {"Falcon-7B FT-1"}
    assert len(table) == 14
