"""Tests of the noise floor, its runs made with a tiny random model."""

import numpy as np
import pandas as pd
import pytest

from book.tools import noise_floor_runs as making
from helpers import UserError, runs
from helpers.studies import STUDIES, model_comparison
from notebooks.analysis import noise_floor
from notebooks.kit import runs_against_papers
from tests import tiny_models


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noise")
    making.make_noise_floor_runs(
        str(tiny_models.save_tiny_model(folder / "tiny")), folder / "runs", n_facts=1
    )
    return folder / "runs"


def test_each_variant_leaves_a_run_apart_from_the_models(made):
    assert runs.load(made).empty
    (name, paths), *rest = noise_floor.folders_of_repeated_runs(made).items()
    assert not rest
    assert name == "tiny"
    assert list(paths) == list(noise_floor.RUN_VARIANTS)
    told = {
        variant: runs.load_manifest(path)["parameters"]
        for variant, path in paths.items()
    }
    assert {given["seed"] for given in told.values()} == {0}
    assert told["hints"]["hints"] != told["usual"]["hints"]
    assert told["dtype"]["dtype"] == "bfloat16"
    assert runs.load_manifest(paths["dtype"])["model"]["dtype"] == "bfloat16"


def test_batches_change_nothing_and_half_the_width_a_little(made):
    (paths,) = noise_floor.folders_of_repeated_runs(made).values()
    gaps, answers = noise_floor.differences_from_usual_run(paths, n_resamples=50)
    answers = answers.set_index("variant")
    assert answers.loc[noise_floor.VARIANT_LABELS["batch"], "largest"] < 1e-4
    assert 1e-5 < answers.loc[noise_floor.VARIANT_LABELS["dtype"], "largest"] < 2
    usual = runs.load_answers(paths["usual"])
    assert answers.loc[noise_floor.VARIANT_LABELS["dtype"], "prompts"] == len(usual)
    batch = gaps[gaps["variant"] == noise_floor.VARIANT_LABELS["batch"]]
    np.testing.assert_allclose(batch["estimate"].dropna(), 0, atol=1e-6)


def test_every_variant_is_compared_in_pairs_as_the_board_does(made):
    (paths,) = noise_floor.folders_of_repeated_runs(made).values()
    gaps, answers = noise_floor.differences_from_usual_run(paths, n_resamples=50)
    asked = {name: runs.load_answers(path) for name, path in paths.items()}
    assert len({frozenset(table["item"]) for table in asked.values()}) == 1
    usual, other = (
        runs_against_papers.facts_of_run("monitor", paths[name])
        for name in (noise_floor.USUAL_VARIANT, "hints")
    )
    rows = gaps[gaps["variant"] == noise_floor.VARIANT_LABELS["hints"]].set_index(
        "measure"
    )
    for measure in STUDIES["monitor"].MEASURES:
        expected = model_comparison.measure_difference(other, usual, measure, 50)
        for name in ("estimate", "low", "high", "n"):
            assert rows.loc[measure.name, name] == pytest.approx(
                getattr(expected, name), nan_ok=True
            )
    base = rows.loc["base"]  # no hint in it: no fact moves
    assert base["estimate"] == 0 < base["high"] == -base["low"]
    prompts = answers.set_index("variant")["prompts"]
    assert (
        prompts[noise_floor.VARIANT_LABELS["hints"]]
        < prompts[noise_floor.VARIANT_LABELS["batch"]]
    )


def test_a_single_run_is_no_floor(made, tmp_path):
    assert noise_floor.folders_of_repeated_runs(tmp_path) == {}
    nothing = noise_floor.farthest_change_of_monitor({})
    assert (nothing["n"], np.isnan(nothing["most"])) == (0, True)
    with pytest.raises(UserError, match="n_facts is 0"):
        making.make_noise_floor_runs("atlas-s", tmp_path, 0)


def test_the_change_that_counts_is_the_one_whose_interval_reaches_farthest():
    rows = [
        ("half", -0.001, "MONITOR"),
        ("batches", 0.0, "MONITOR"),
        ("other", 9, "base"),
    ]
    far = pd.DataFrame(rows, columns=["variant", "estimate", "measure"]).assign(n=90)
    far["low"], far["high"] = far["estimate"] - 0.04, far["estimate"] + 0.04
    found = noise_floor.farthest_change_of_monitor(
        {"m": far, "s": far.assign(estimate=0.0, low=-0.01, high=0.01)}
    )
    assert (found["who"], found["variant"], found["n"]) == ("m", "half", 90)
    assert found["most"] == pytest.approx(0.041)
