"""Training runs of one recipe: differences, sizes over runs, shares of variance."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from helpers.studies import STUDIES
from notebooks.analysis import comparison, training_run_differences
from notebooks.kit import trained_answers

MODELS = ("atlas-xs", "atlas-s")


def made(chance, right, n=60, starts=3, prompts=4, relations=3):
    """Return answers of runs; right(fact, model, start) is the chance of a right choice."""
    rows = []
    for number, model in enumerate(MODELS):
        for start in range(starts):
            for fact in range(n):
                share = right(fact, number, start)
                marks = chance.random(prompts) < share
                rows.append(
                    {
                        "model": model,
                        "start": start,
                        "study": "multiplicity",
                        "item": f"f{fact:03}",
                    }
                    | {
                        "relation": f"P{fact % relations}",
                        "accuracy": marks.mean(),
                        "error": 0.0,
                    }
                    | {
                        "known": float(marks.all()),
                        "self_consistency": 1.0,
                        "randomness": 0.0,
                    }
                    | {"factuality": float(marks.all())}
                    | {f"prompt {k}": float(mark) for k, mark in enumerate(marks)}
                )
    return pd.DataFrame(rows)


@pytest.fixture(autouse=True)
def _one_study(monkeypatch):
    one = {"multiplicity": STUDIES["multiplicity"]}
    monkeypatch.setattr(training_run_differences, "STUDIES", one)


def test_equal_runs_do_not_differ():
    trained = made(np.random.default_rng(0), lambda fact, model, start: float(fact % 2))
    figures, gaps = training_run_differences.estimates_and_run_differences(
        trained, n_resamples=50
    )
    expected = {(model, f"run {k}") for model in MODELS for k in (1, 2, 3)}
    assert set(zip(figures["recipe"], figures["run"])) == expected
    assert len(gaps) == 2 * 3 * len(STUDIES["multiplicity"].MEASURES)
    assert (gaps["estimate"] == 0).all()


def test_a_run_that_differs_is_named():
    trained = made(
        np.random.default_rng(0), lambda fact, model, start: 0.9 if start < 2 else 0.2
    )
    figures, gaps = training_run_differences.estimates_and_run_differences(
        trained, n_resamples=200
    )
    gaps = gaps[gaps["measure"] == "accuracy"]
    most = gaps.loc[gaps["estimate"].abs().idxmax()]
    assert abs(most["estimate"]) == pytest.approx(0.7, abs=0.12)
    assert most["low"] < most["estimate"] < most["high"]
    assert most["low"] * most["high"] > 0
    assert "run 3" in (most["first"], most["second"])
    assert len(comparison.differences_kept_by_holm(gaps)) == 4
    assert (
        training_run_differences.ranks_of_training_runs(figures)["choice accuracy"][
            "atlas-s", "run 3"
        ]
        == 3
    )


def test_the_bundled_run_of_atlas_s_is_the_best_of_its_three(monkeypatch):
    """The front page, the tour and the chapter say so."""
    monkeypatch.setattr(training_run_differences, "STUDIES", STUDIES)
    figures, _ = training_run_differences.estimates_and_run_differences(
        trained_answers.load_training_runs(), n_resamples=2
    )
    assert training_run_differences.ranks_of_training_runs(figures).loc[
        ("atlas-s", "run 1")
    ].tolist() == [1, 1, 1, 1]


def test_a_measure_that_no_run_has():
    nothing = pd.DataFrame(columns=["recipe", "measure", "estimate"])
    assert training_run_differences.recipe_differences_over_runs(
        nothing, "atlas-s", "atlas-xs"
    ).empty


def test_sizes_are_compared_as_by_a_t_test():
    values = {"atlas-s": [0.5, 0.7, 0.6], "atlas-xs": [0.3, 0.35, 0.25]}
    rows = [
        (recipe, "accuracy", value) for recipe in values for value in values[recipe]
    ]
    table = pd.DataFrame(rows, columns=["recipe", "measure", "estimate"])
    row = training_run_differences.recipe_differences_over_runs(
        table, "atlas-s", "atlas-xs"
    ).iloc[0]
    interval = scipy.stats.ttest_ind(*values.values()).confidence_interval()
    assert row["estimate"] == pytest.approx(0.3)
    assert tuple(row[["low", "high"]]) == pytest.approx((interval.low, interval.high))
    assert row["within"] == pytest.approx(np.sqrt((0.01 + 0.0025) / 2))
    assert row["n"] == 6


def _gaps(*rows):
    """Return differences, each 0.01 to either side."""
    table = pd.DataFrame(rows, columns=["first", "second", "measure", "estimate"])
    return table.assign(
        low=table["estimate"] - 0.01, high=table["estimate"] + 0.01, n=90
    )


@pytest.mark.parametrize(
    ("apart", "beyond", "whole"),
    [
        ({"right": 0.3, "MONITOR": -0.2}, [True, True], [True, True]),
        ({"right": 0.065, "MONITOR": -0.2}, [True, True], [False, True]),
        ({"right": 0.04, "MONITOR": -0.05}, [False, False], [False, False]),
        ({"right": 0.3, "NCR": 0.005}, [True], [True]),
        ({"right": 0.005}, [], []),
        ({}, [], []),
    ],
)
def test_models_are_read_against_training_runs(apart, beyond, whole):
    between = _gaps(("r2", "r1", "right", -0.06), ("r3", "r1", "right", 0.05),
                    ("r2", "r1", "MONITOR", 0.1), ("r2", "r1", "NCR", 0.1))  # fmt: skip
    gaps = _gaps(*(("m", "s", name, gap) for name, gap in apart.items()))
    found = training_run_differences.differences_beyond_training_runs(gaps, between)
    assert found["beyond"].tolist() == beyond
    assert found["whole"].tolist() == whole
    # A tuned model's lead over its base says nothing of training runs.
    tuned = pd.concat([gaps, _gaps(("chat", "m", "right", 0.9))])
    again = training_run_differences.differences_beyond_training_runs(
        tuned, between, [("chat", "m")]
    )
    assert again["beyond"].tolist() == beyond


def odd(fact, model, start):
    """Say of one answer in fifty that it is another than planted."""
    return float(hash((fact, start, model)) % 50 == 0)


@pytest.mark.parametrize(
    ("right", "part", "side"),
    [
        (lambda fact, model, start: abs(fact // 24 % 2 - odd(fact, model, start)), "fact", 1),
        (lambda fact, model, start: abs((fact % 3 == 0) - odd(fact, model, start)), "relation", 1),
        (lambda fact, model, start: float(hash((fact * 7919, start, model)) % 2),
         "fact by training run", -1),
    ],
)  # fmt: skip
def test_variance_goes_where_it_was_planted(right, part, side):
    runs = made(np.random.default_rng(0), right, n=120, relations=24)
    shares = training_run_differences.shares_of_variance(runs, n_resamples=60)
    own = shares[shares["method"] == "multiplicity"].set_index("part")
    lead = own.loc[training_run_differences.FACT_LEAD_LABEL]
    own = own.drop(training_run_differences.FACT_LEAD_LABEL)
    parts = (
        own.loc[["relation", "fact"], "estimate"].sum()
        - own.loc["fact by training run", "estimate"]
    )
    assert lead["estimate"] == pytest.approx(parts)
    assert lead["low"] <= lead["estimate"] <= lead["high"]
    assert own["estimate"].sum() == pytest.approx(1)
    assert own["estimate"].idxmax() == part
    assert own.loc[part, "estimate"] > 0.75
    own = own.dropna()  # a share of 0 in all draws has no interval
    assert (
        (own["low"] <= own["estimate"] + 1e-9) & (own["estimate"] <= own["high"] + 1e-9)
    ).all()
    assert min(lead["low"] * side, lead["high"] * side) > 0


def test_a_lead_of_few_relations_is_not_decided():
    """Were facts drawn within relations, each of which stays as it is, the lead would be 1 to 1."""
    runs = made(
        np.random.default_rng(0), lambda fact, model, start: float(fact % 3 == 0)
    )
    shares = training_run_differences.shares_of_variance(runs, n_resamples=60)
    lead = shares[shares["part"] == training_run_differences.FACT_LEAD_LABEL].iloc[0]
    assert lead["estimate"] == pytest.approx(1)
    assert np.isnan([lead["low"], lead["high"]]).all()


def test_prompts_get_a_share_of_their_own():
    runs = made(np.random.default_rng(0), lambda fact, model, start: 1.0)
    for number in range(4):
        runs[f"prompt {number}"] = float(number % 2)
    runs["known"] = [float(item > "f030") for item in runs["item"]]
    shares = training_run_differences.shares_of_variance(runs, n_resamples=20)
    by_prompt = shares[
        shares["method"] == training_run_differences.METHOD_BY_PROMPT
    ].set_index("part")["estimate"]
    assert by_prompt["prompt"] == pytest.approx(1)
