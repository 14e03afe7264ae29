"""The intervals of six tools: formulas by hand, the tools' own numbers, and the page."""

import numpy as np
import pandas as pd
import pytest

from bench.intervals import interval_formulas as formulas
from bench.intervals import interval_tables, own_functions
from bench.intervals import simulate_intervals as simulation

TWO = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
PAIRS = np.array([0, 0, 1, 1])
DESIGNS = simulation.read_designs()


def test_a_standard_error_by_hand():
    # Deviations of a half: a variance of 4 * .25 / 3, over 4 items.
    assert formulas.standard_error(TWO)[0] == pytest.approx(np.sqrt(1 / 12))
    # By clusters the sums of deviations are 1 and -1: sqrt(2 * 2 / 1) / 4.
    assert formulas.clustered_error(TWO, PAIRS)[0] == pytest.approx(0.5)
    low, high = formulas.normal_interval(TWO, PAIRS)
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * np.sqrt(1 / 12))
    low, high = formulas.inspect_t_interval(TWO, PAIRS)
    assert high[0] == pytest.approx(0.5 + 12.7062 * 0.5, abs=1e-3)


def test_equal_answers_and_answers_that_differ_are_told_apart():
    first, second = np.ones((1, 30)), np.zeros((1, 30))
    second[0, :3] = 1
    for compare in formulas.DIFFERENCES.values():
        assert compare(first, second, None).is_called.all()
        assert not compare(first, first, None).is_called.any()


def own_numbers():
    """Return each row of what the tools' functions said, with its scores and clusters."""
    table = pd.read_csv(own_functions.OWN_FUNCTIONS_FILE)
    for number, rows in table.groupby("design"):
        design = DESIGNS.loc[number]
        scores = simulation.simulated_scores(number)
        labels = simulation.cluster_labels(design["n"], design["clusters"])
        for row in rows.itertuples():
            yield row, scores[:, [row.sample]], labels


def test_the_formulas_give_what_the_tools_own_functions_gave():
    written_out = {
        "stderr": formulas.inspect_error,
        "mean_stderr": lambda scores, _: formulas.standard_error(scores),
        "ci": formulas.inspect_t_interval,
        "ci_wilson": formulas.inspect_wilson_interval,
    }
    seen = set()
    for row, scores, labels in own_numbers():
        seen.add((row.tool, row.function, row.design))
        if row.tool == "crfm-helm":
            worse, better = sorted(scores[:, 0], key=np.mean)
            p = formulas.helm_p_value(better, worse, np.random.default_rng(0))
            assert p == pytest.approx(row.number, abs=0.03)  # both are resampled
            continue
        said = np.ravel(written_out[row.function](scores[0], labels))
        told = [row.number] if np.isnan(row.upper) else [row.number, row.upper]
        assert said == pytest.approx(told, abs=1e-9)
    assert len(seen) == 20 * 5 + 6


def test_our_interval_of_a_mean_by_clusters_is_students_as_inspects():
    scores, labels = simulation.simulated_scores(11)[0, :5], np.arange(300) * 8 // 300
    ours = formulas.our_clustered_interval(scores, labels)
    inspect = formulas.inspect_t_interval(scores, labels)
    assert np.array(ours) == pytest.approx(np.array(inspect))


def test_simulated_scores_are_what_the_designs_say():
    for number in (11, 13, 14):
        design, scores = DESIGNS.loc[number], simulation.simulated_scores(number)[0]
        assert scores.mean() == pytest.approx(design["share"], abs=0.02)
    answers = simulation.simulated_scores(12)[0]  # items 0 and 1 are of one cluster
    assert np.corrcoef(answers[:, 0], answers[:, 1])[0, 1] == pytest.approx(
        0.5, abs=0.1
    )
    assert abs(np.corrcoef(answers[:, 0], answers[:, -1])[0, 1]) < 0.1
    first, second = simulation.simulated_scores(18)
    assert first.mean() == pytest.approx(0.2, abs=0.01)
    assert second.mean() == pytest.approx(0.2, abs=0.01)
    assert np.corrcoef(first[:, 0], second[:, 0])[0, 1] > 0.4


@pytest.mark.parametrize(
    ("number", "formula"),
    [(1, "stderr"), (2, "our Wilson"), (11, "Inspect ci"), (16, "two stderr")],
)
def test_a_kept_cell_is_what_its_seed_gives(number, formula):
    kept = pd.read_csv(simulation.RESULTS_FILE)
    row = kept[(kept["design"] == number) & (kept["formula"] == formula)]
    assert simulation.rows_of_design(number, [formula]) == row.to_dict("records")


def test_every_design_has_every_formula():
    kept = pd.read_csv(simulation.RESULTS_FILE)
    assert kept["design"].unique().tolist() == DESIGNS.index.tolist() == [*range(1, 21)]
    assert (kept["samples"] == simulation.N_SAMPLES).all()
    counts = kept.groupby("design")["formula"].nunique()
    assert counts.tolist() == [6] * 10 + [7] * 3 + [6] + [5] * 6


@pytest.mark.parametrize("of", ["mean", "difference"])
def test_the_tables_of_the_page_are_those_of_the_results(of, tmp_path, monkeypatch):
    kept = interval_tables.BOOK_FOLDER / f"tool_intervals_{of}.csv"
    monkeypatch.setattr(interval_tables, "BOOK_FOLDER", tmp_path)
    interval_tables.main()
    made = (tmp_path / kept.name).read_text(encoding="utf-8")
    assert made == kept.read_text(encoding="utf-8")
