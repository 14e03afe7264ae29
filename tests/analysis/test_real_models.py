"""The four papers' measures two at a time, against scipy and against what the tables print."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib.legend import Legend

from notebooks.analysis import real_models as joint
from notebooks.kit import published
from notebooks.kit.plots import style
from notebooks.kit.published import paper_models
from tests.plots.figure_texts import draw_figure, label_texts, legend_texts

NCCR = joint.NCCR_ZERO_SHOT
NAMES = {  # the models of both papers, by the names that each gives them, matched again by hand
    "Llama-7B": "Llama 1 7B",
    "Llama-13B": "Llama 1 13B",
    "Llama-65B": "Llama 1 65B",
    "Llama2-7B": "Llama 2 7B",
    "Llama2-13B": "Llama 2 13B",
    "Llama2-70B": "Llama 2 70B",
    "Llama2-7B-chat": "Llama2chat 7B",
    "Llama2-13B-chat": "Llama2chat 13B",
    "Llama2-70B-chat": "Llama2chat 70B",
    "Mistral-7B": "Mistral 7B",
    "Mistral-instruct-7B": "Mistral-Instruct 7B",
    "Gemma-2B": "Gemma 2B",
    "Gemma-2B-instruct": "Gemma-Instruct 2B",
    "Gemma-7B": "Gemma 7B",
    "Gemma-7B-instruct": "Gemma-Instruct 7B",
}


@pytest.fixture(scope="module")
def printed():
    """Return both papers' figures of the models they share, and the sizes in their names."""
    lke = (
        published.load_published_table("lke_table7")
        .loc[list(NAMES), "accuracy"]
        .to_numpy()
    )
    bases = (
        published.load_published_table("kb_table11")
        .loc[list(NAMES.values()), "zero-shot NCCR"]
        .to_numpy()
    )
    sizes = [float(name.split()[-1].removesuffix("B")) for name in NAMES.values()]
    return pd.DataFrame({"lke": lke, "nccr": bases, "size": sizes}, index=list(NAMES))


def test_a_pair_agrees_with_scipy_on_the_printed_tables(printed):
    row = joint.correlations_of_measures(
        [(joint.LKE_ACCURACY, NCCR)], n_resamples=50
    ).iloc[0]
    assert row["n"] == 15
    assert row["rho"] == pytest.approx(
        scipy.stats.spearmanr(printed["lke"], printed["nccr"])[0]
    )
    assert row["r"] == pytest.approx(
        scipy.stats.pearsonr(printed["lke"], printed["nccr"])[0]
    )
    rows = printed[~printed.index.str.contains("chat|instruct")]
    assert (row["base_n"], row["base"]) == (
        9,
        scipy.stats.spearmanr(rows["lke"], rows["nccr"])[0],
    )
    assert row["p"] == row["p_holm"]
    ranks = printed[["lke", "nccr", "size"]].rank()  # size is taken out of ranks
    left = [ranks[each] - np.polyval(np.polyfit(ranks["size"], ranks[each], 1), ranks["size"])
            for each in ("lke", "nccr")]  # fmt: skip
    assert row["given_size"] == pytest.approx(np.corrcoef(*left)[0, 1])
    first = printed.index.str.extract("^(Llama-|Llama2|Mistral|Gemma)", expand=False)
    left = [scipy.stats.spearmanr(part["lke"], part["nccr"])[0]
            for part in (printed[first != family] for family in set(first))]  # fmt: skip
    assert (row["least"], row["most"]) == pytest.approx((min(left), max(left)))
    assert row["families"] == 4


def test_fewer_than_six_models_are_not_correlated():
    row = joint.correlations_of_measures(
        [(joint.LKE_ACCURACY, joint.MONITOR_MEASURES[0])], n_resamples=20
    ).iloc[0]
    assert (row["n"], row["note"]) == (4, joint.NOTE_TOO_FEW_MODELS)
    assert np.isnan(row[list(joint.NUMERIC_COLUMNS)].astype(float)).all()


def test_headline_pairs_are_of_different_papers_and_all_there():
    paper = paper_models.published_measures()["paper"]
    assert len(set(joint.HEADLINE_PAIRS)) == len(joint.HEADLINE_PAIRS) == 37
    assert all(paper[x] != paper[y] for x, y in joint.HEADLINE_PAIRS)
    assert set(joint.MAIN_MEASURES) <= set(paper.index)


def test_doubtful_matches_are_left_out_one_by_one(printed):
    def rho(table):
        return scipy.stats.spearmanr(table["lke"], table["nccr"])[0]

    row = joint.sensitivity_to_doubtful_matches([(joint.LKE_ACCURACY, NCCR)]).iloc[0]
    names = ["Mistral-instruct-7B", "Gemma-2B-instruct", "Gemma-7B-instruct"]
    left = [rho(printed.drop(name)) for name in names]
    assert row["doubtful"] == 3
    assert (row["least"], row["most"]) == pytest.approx((min(left), max(left)))
    assert row["rho, same weights"] == pytest.approx(rho(printed.drop(names)))
    assert row["doubt"] == "Gemma 2B Instruct"
    assert left[1] == pytest.approx(row["least"])


def test_monitor_is_computed_within_families_alone():
    rows = joint.sensitivity_to_doubtful_matches(
        [(joint.LKE_ACCURACY, joint.MONITOR_MEASURES[0])]
    )
    assert rows[[f"n, {name}" for name in paper_models.MATCH_CERTAINTIES]].iloc[
        0
    ].tolist() == [
        1,
        4,
        7,
    ]
    assert rows["rho, same family"].iloc[0] == pytest.approx(-1)
    points = joint.models_in_both_papers(
        joint.LKE_ACCURACY, joint.MONITOR_MEASURES[0], "same family"
    )
    assert points["doubtful"].sum() == 6
    assert not points.loc["OPT 2.7B", "doubtful"]


def test_sizes_are_those_of_all_models_of_a_paper():
    row = joint.correlations_with_model_size(
        ["multiplicity: Wiki-FACTOR accuracy"], n_resamples=20
    ).iloc[0]
    printed = published.load_published_table("multiplicity_table1")[
        "Wiki-FACTOR accuracy"
    ]
    sizes = printed.index.str.extract(r"([\d.]+)B", expand=False).astype(float)
    assert row["n"] == len(printed) == 16
    assert row["estimate"] == pytest.approx(scipy.stats.spearmanr(printed, sizes)[0])


def test_places_count_from_the_best_whatever_the_direction():
    far = joint.rank_differences_of_models(
        joint.LKE_ACCURACY, joint.MONITOR_MEASURES[0], "same family"
    )
    assert (
        far["rank_x"].tolist() == far["rank_y"].tolist()
    )  # rho is -1, and lower is better
    assert far["gap"].abs().max() == pytest.approx(0)
    assert far.loc["Vicuna 1.3 13B", "rank_x"] == 1


def test_what_the_tables_know_of_a_model():
    far = joint.rank_differences_of_models(joint.LKE_ACCURACY, NCCR)
    assert far.loc["Llama 2 7B", "known"] == ""
    assert far.loc["Llama 2 7B Chat", "known"] == "tuned"
    assert (
        far.loc["Gemma 7B Instruct", "known"]
        == "tuned; match in knowledge bases: probably"
    )
    guessed = joint.rank_differences_of_models(
        joint.LKE_ACCURACY, joint.ACCURACY_MEASURES[5]
    )
    assert (
        guessed.loc["Pythia 6.9B", "known"] == "True-False accuracy not above guessing"
    )
    assert far["gap"].abs().is_monotonic_decreasing


def test_two_families_give_no_interval():
    pair = ("knowledge bases: NCCR, zero-shot", "multiplicity: FEVER accuracy")
    row = joint.correlations_of_measures([pair], n_resamples=20).iloc[0]
    assert (row["families"], row["n"]) == (2, 6)
    assert row[["low", "high", "given_low", "given_high"]].isna().all()
    assert row[["rho", "p", "given_size"]].notna().all()


def correlated(rho, low, high, p=0.01):
    """Return correlations of IC-LKE accuracy, all with the same p after Holm."""
    columns = {
        "x": joint.LKE_ACCURACY,
        "y": joint.KNOWING_MEASURES[: len(rho)],
        "rho": rho,
        "low": low,
        "high": high,
    }
    return pd.DataFrame(columns).assign(p_holm=p, n=15)


def test_a_correlation_is_clear_by_its_interval_as_written_and_by_holm():
    rows = correlated([0.5, 0.5, -0.5], [0.1, 0.004, -0.9], [0.9, 0.9, -0.2])
    assert joint.is_clear_correlation(rows).tolist() == [True, False, False]
    assert joint.is_clear_correlation(rows, -1).tolist() == [False, False, True]
    assert not joint.is_clear_correlation(rows.assign(p_holm=0.05)).any()
    assert joint.clear_count_and_decision(rows) == (1, "undecided")
    assert joint.clear_count_and_decision(rows.head(1)) == (1, "holds")
    assert joint.clear_count_and_decision(rows.tail(1)) == (0, "opposite")
    assert joint.clear_count_and_decision(rows.head(0)) == (0, "undefined")
    assert joint.strongest_correlation(rows.tail(2)) == (0.5, 0.004, 0.9, 15)
    assert (
        joint.strongest_correlation(rows.head(0))[-1]
        == joint.median_without_interval(rows.head(0)["rho"], np.nan)[-1]
        == 0
    )


def test_a_match_decides_where_p_crosses_the_level_without_it():
    rows = {"pair": list("abcd"), "p, probably": [0.01, 0.01, 0.2, np.nan]}
    rows |= {"doubtful": [2, 0, 1, 1]}
    rows |= {"moved": [0.1, np.nan, 0.2, 0.1], "smallest": [0.01, 0.0, 0.04, 0.0]}
    rows |= {
        "largest": [0.04, 0.0, 0.5, 0.0],
        "p, same weights": [0.2, 0.01, 0.3, np.nan],
    }
    resting, crossed = joint.pairs_with_doubtful_matches(pd.DataFrame(rows), "probably")
    assert dict(zip(resting["pair"], crossed)) == {"a": False, "c": True}


def test_lower_is_better_is_turned_round():
    rows = {
        "measure": [joint.MONITOR_MEASURES[0], joint.LKE_ACCURACY],
        "estimate": [-0.5, 0.5],
    }
    found = joint.correlations_where_up_is_better(
        pd.DataFrame(rows).assign(low=[-0.8, 0.2], high=[-0.2, 0.8])
    )
    assert found[["low", "high"]].to_numpy().tolist() == [[0.2, 0.8]] * 2


DRAWN = pd.DataFrame(
    {
        "family": ["Llama 2", "Llama 2", "OPT", "OPT"],
        "kind": ["base", "tuned", "base", "base"],
        "doubtful": [False, True, False, False],
        "x": [0.1, 0.5, 0.9, np.nan],
        "y": [0.2, 0.1, 0.4, 0.3],
        "rank_x": [3, 2, 1, 4],
        "rank_y": [2.5, 2.5, 1, 4],
    },
    index=pd.Index(
        ["Llama 2 7B", "Llama 2 7B Chat", "OPT 13B", "OPT 6.7B"], name="model"
    ),
)


def test_scatter_shows_the_models_that_have_both():
    ax = draw_figure(joint.draw_models_by_family(DRAWN, "x", "y"))
    assert sorted(label_texts(ax.texts)) == sorted(DRAWN.index[:3])
    assert legend_texts(ax) == ["base", "tuned", "match in doubt"]
    families = [one for one in ax.get_children() if isinstance(one, Legend)]
    assert ["Llama 2", "OPT"] in [label_texts(one.get_texts()) for one in families]
    two, opt = style.family_colour("Llama 2"), style.family_colour("OPT")
    look = [(line.get_marker(), line.get_color()) for line in ax.lines]
    assert look == [("o", two), ("^", two), ("o", opt)]
    assert [line.get_markerfacecolor() for line in ax.lines] == [two, "white", opt]
    nothing = joint.draw_models_by_family(DRAWN.assign(x=np.nan), "x", "y")
    assert "No model has both x and y." in label_texts(nothing.texts)


def test_a_robust_pair_has_its_range_and_its_value_at_equal_size():
    row = {
        "y": joint.NCCR_ZERO_SHOT,
        "rho": 0.9,
        "low": 0.5,
        "high": 1.0,
        "least": 0.8,
        "most": 0.95,
    }
    ax = joint.draw_correlation_robustness(
        pd.DataFrame(
            [{**row, "given_size": 0.7}, {"y": joint.LKE_ACCURACY, "rho": np.nan}]
        )
    )
    drawn = {float(x) for line in ax.get_lines() for x in line.get_xdata()}
    assert {0.9, 0.7, 0.8, 0.95} <= drawn
    assert label_texts(ax.get_yticklabels()) == ["NCCR, zero-shot"]
