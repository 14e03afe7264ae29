"""Means over runs and facts, both drawn: by hand and by simulation."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import over_runs


def runs_of(table):
    """Return each column of a table of facts and runs as a run."""
    return {
        run: over_runs.mean_of_run(table[run], np.zeros(len(table))) for run in table
    }


def test_one_run_has_students_error_of_a_mean():
    values = pd.Series([1.0, 2.0, 4.0, 5.0])
    run = over_runs.mean_of_run(values, [0] * 4)
    assert (run.influence**2).sum() == pytest.approx(values.var() / 4)


def test_runs_that_agree_are_no_more_sure_than_one():
    facts = pd.DataFrame({"one": [0.1, 0.3, 0.2, 0.4]})
    same = facts.assign(two=facts["one"], three=facts["one"])
    assert over_runs.mean_over_runs(runs_of(same))[:3] == pytest.approx(
        over_runs.mean_over_runs(runs_of(facts))[:3]
    )


def test_a_pair_is_compared_fact_by_fact():
    facts = pd.DataFrame({"one": [0.1, 0.3, 0.2, 0.4]})
    lower = facts - 0.05
    gap = over_runs.mean_over_runs(runs_of(facts), runs_of(lower))
    assert gap.estimate == pytest.approx(0.05)
    assert gap.high - gap.low < 1e-9 or np.isnan(gap.low)


def test_only_runs_that_are_in_both_are_compared():
    facts = pd.DataFrame({"one": [0.1, 0.3], "two": [0.5, 0.7]})
    gap = over_runs.mean_over_runs(runs_of(facts), runs_of(facts[["two"]] - 0.1))
    assert (gap.n_runs, round(gap.estimate, 6)) == (1, 0.1)
    assert over_runs.mean_over_runs({}).n_runs == 0


@pytest.mark.parametrize("n_runs", [1, 3, 6])
def test_the_interval_holds_the_mean_as_often_as_it_says(n_runs):
    """Facts, runs and their interplay all vary; one run alone speaks of itself."""
    rng = np.random.default_rng(2)
    covered = 0
    n_samples = 150
    for _ in range(n_samples):
        of_fact = rng.normal(size=(60, 1))
        of_run = rng.normal(scale=0.2, size=(1, n_runs)) * (n_runs > 1)
        noise = rng.normal(size=(60, n_runs))
        table = pd.DataFrame(of_fact + of_run + noise)
        mean = over_runs.mean_over_runs(runs_of(table))
        covered += mean.low <= 0 <= mean.high
    assert 0.9 <= covered / n_samples <= 0.995
