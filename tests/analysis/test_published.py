"""What the chapter on the papers' tables computes: correlations, a wrong cell, bounds, sizes."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from helpers import stats
from notebooks.analysis import published as analysis
from notebooks.kit import published
from notebooks.kit.published.knowledge_base import knowledge_base_measures


@pytest.fixture(scope="module")
def table():
    return analysis.correlations_over_models(n_resamples=300, seed=0)


def test_there_are_all_pairs(table):
    assert table["paper"].value_counts().to_dict() == {
        "knowledge bases": 21,
        "multiplicity": 6,
        "MONITOR": 6,
    }
    sizes = table.groupby("paper")["n"].agg(set).to_dict()
    assert sizes == {"MONITOR": {12}, "knowledge bases": {26}, "multiplicity": {14, 16}}


def test_each_interval_is_scipys(table):
    for (*_, x, y), row in zip(
        analysis.correlated_pairs_of_measures(), table.itertuples()
    ):
        theirs = scipy.stats.pearsonr(x, y)
        ends = theirs.confidence_interval()
        found = (row.estimate, row.p, row.low, row.high)
        assert found == pytest.approx((*theirs, ends.low, ends.high))
        assert row.spearman == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
        assert row.rank_low < row.spearman < row.rank_high
        assert row.boot_low < row.estimate < row.boot_high


def test_without_a_family_by_hand(table):
    whole = published.load_published_table("monitor_table4")
    rest = whole[~whole.index.str.contains("Vicuna|WizardLM|LLaMa")]
    assert len(rest) == 8
    r = np.corrcoef(rest["MONITOR"], rest["avg"])[0, 1]
    row = table.iloc[0]
    assert row["without"] == "Llama 1"
    assert row["most"] == pytest.approx(r)
    assert (table["least"] <= table["most"]).all()


def test_the_families_hold_all_models():
    models = {
        name for *_, x, _ in analysis.correlated_pairs_of_measures() for name in x.index
    }
    assert all(analysis.family_of_model(name) != name for name in models)
    assert analysis.family_of_model("Some-New-Model") == "Some-New-Model"


def test_what_the_chapter_says_of_its_correlations(table):
    rows = table.set_index("pair")
    agree = rows.loc["NCR, UR (four-two)"]
    assert agree["low"] > 0 > agree["rank_low"]
    reliable = rows.loc["NCCR, IUR (four-two)"]
    assert reliable["low"] > 0 > reliable["rank_low"]
    spreads = rows.filter(like="deviation, ambiguity", axis=0)
    sure = spreads.index[spreads["low"] > 0]
    assert list(sure) == [
        f"deviation, ambiguity ({name})" for name in ("Med-HALT", "CommonsenseQA")
    ]


def test_relations_have_the_interval_of_r_and_n():
    printed = published.load_published_table("monitor_table11")
    high = [stats.fisher_interval(r, 12)[1] for r in printed["pearson"]]
    assert printed.index[np.array(high) > 0].tolist() == ["P101"]
    assert printed["p_value"].idxmax() == "P101"


class TestSearch:
    """One wrong cell for Table 2's four-shot correlations."""

    def test_the_printed_value_gives_back_the_correlations_of_the_tables(self):
        tried = analysis.correlations_over_cons_w(
            analysis.SUSPECT_MODEL, step=0.01
        ).set_index("Cons_w")
        at = tried.iloc[np.abs(tried.index - 51.17).argmin()]
        cells = (
            published.printed_number_comparisons()
            .query("check == 'Table 2: correlations'")
            .set_index("row")
        )
        for pair in analysis.PAIRS_WITH_CONS_W:
            given = cells.loc[f"{pair}, four-shot", "recomputed"]
            assert at[pair] == pytest.approx(given, abs=1e-9)

    def test_no_value_of_the_suspect_explains_and_three_other_cells_do(self):
        found = analysis.best_cons_w_by_model().set_index("model")
        assert not found.loc[analysis.SUSPECT_MODEL, "explains"]
        assert found.loc[analysis.SUSPECT_MODEL, "worst"] > 0.01
        able = ["Llama3 70B", "Llama 2 70B", "Llama 1 65B"]
        assert found.index[found["explains"]].tolist() == able
        table = published.load_published_table("kb_table10")
        for model in able:  # Table 11 confirms the cells that are printed
            for kind in ("seen", "unseen"):
                printed = table.loc[model, f"four-shot Cons_w_{kind}"]
                assert found.loc[model, kind] == pytest.approx(printed, abs=0.02)
        assert found.loc[analysis.SUSPECT_MODEL, "seen"] == pytest.approx(
            27.58, abs=0.01
        )

    def test_by_brute_force(self):
        table = knowledge_base_measures("four-shot")
        table.loc["Llama3 70B", "Cons_w"] = 44.5
        printed = published.load_published_table("kb_table2")["four-shot"]
        for pair in analysis.PAIRS_WITH_CONS_W:
            r = np.corrcoef(table[pair.split(" ")[0]], table["Cons_w"])[0, 1]
            assert abs(r - printed[pair]) < analysis.ROUNDING_TOLERANCE


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_what_two_models_share_lies_within_the_bounds(facts):
    first, second = np.array(facts).T
    if not first.any() or not second.any():
        return
    row = {"subsumption": (first & second).sum() / first.sum()}
    sizes = {"smallest accuracy": first.mean(), "largest accuracy": second.mean()}
    tuned = {"tuned accuracy": first.mean(), "base accuracy": second.mean()}
    tables = {
        "lke_table1": pd.DataFrame([row | sizes], index=["a"]),
        "lke_table10": pd.DataFrame([row | tuned], index=["b"]),
    }
    found = analysis.subsumption_bounds(tables.__getitem__).iloc[0]
    assert found["low"] - 1e-12 <= found["printed"] <= found["high"] + 1e-12
    turned = (first & second).sum() / second.sum()
    assert found["low_turned"] - 1e-12 <= turned <= found["high_turned"] + 1e-12


@given(st.integers(1, 2000), st.data())
def test_the_true_size_fits(n, data):
    k = data.draw(st.integers(0, n))
    assert n in analysis.sizes_that_fit_shares(pd.Series([round(100 * k / n, 2)]), n)


def test_last_digits_tell_the_size_of_three_benchmarks():
    found = analysis.sizes_that_fit_benchmarks().set_index("benchmark")
    assert found.index[found["alone"]].tolist() == [
        "Wiki-FACTOR",
        "CommonsenseQA",
        "True-False",
    ]
    assert found.loc["Wiki-FACTOR", "which"] == "2994"
    assert found.loc["CommonsenseQA", "which"].startswith("1221, 2442")


def test_a_summary_names_the_number_that_agrees_least():
    cells = published.printed_number_comparisons()
    cells["difference"] = cells["recomputed"] - cells["published"]
    cells["agrees"] = cells["difference"].abs() <= cells["tolerance"] + 1e-12
    found = analysis.summary_of_checks(cells).set_index(["paper", "check"])
    assert len(found) == len(published.printed_number_checks())
    row = found.loc[("knowledge bases", "Table 11: CWR")]
    assert (row["cell"], row["numbers"], row["agree"]) == (
        "Gemma-Instruct 7B, four-shot",
        78,
        76,
    )


def test_differences_are_drawn_as_multiples_of_the_tolerance():
    cells = pd.DataFrame(
        {
            "paper": "MONITOR",
            "check": ["a", "a", "b", "b"],
            "difference": [0.0, 0.5, 3.0, np.nan],
            "tolerance": [0.0, 1.0, 0.0, 1.0],
            "agrees": [True, True, False, False],
        }
    )
    good, bad = (
        line.get_xdata()
        for line in analysis.draw_recomputed_differences(cells).get_lines()[:2]
    )
    assert good.tolist() == [0.01, 0.5]
    assert bad.tolist() == [1000.0, 1000.0]
