"""Headlines by recipe: what they compare, and that the page has those of the runs."""

import numpy as np
import pandas as pd
import pytest

from helpers.datasets.testbed import is_exposure_clear, load_testbed_runs
from notebooks.analysis import headlines_by_recipe as testbed

RUNS = load_testbed_runs()


def runs_of(change, shift):
    """Return a made-up run in which each fact costs so many answers."""
    rng = np.random.default_rng(0)
    n = 40
    table = pd.DataFrame(
        {
            "item": [f"f{number}" for number in range(n)],
            "relation": ["P1", "P2"] * (n // 2),
            "exposures": [0, 0, 8, 8] * (n // 4),
            "false_exposures": 0,
            "pair_exposures": 0,
            "size": "xs",
            "change": change,
            "seed": 0,
            "start": 0,
            "right after none": 1.0,
            "right after right": 1.0,
            "right after unrelated": 1.0 - shift,
            "right after wrong": 0.5,
        }
    )
    for column in {*testbed.AREAS.values(), *(f"qa{k} right" for k in range(7))}:
        table[column] = rng.random(n)
    return table


def test_a_recipe_is_held_against_the_bundled_one_of_the_same_start():
    runs = pd.concat([runs_of("", 0.25), runs_of("no_hints", 0.125)])
    table = testbed.headlines_by_recipe(runs).set_index(["headline", "recipe"])
    cost = table.loc["an unrelated word costs (points)"]
    assert cost.loc["as bundled", "estimate"] == pytest.approx(25)
    assert cost.loc["no word before a question", "estimate"] == pytest.approx(12.5)
    assert cost.loc["no word before a question", "change_by"] == pytest.approx(-12.5)


def test_all_measures_are_ranked_by_their_mean_over_the_bundled_sizes():
    table = testbed.areas_of_all_measures(RUNS).set_index("measure")
    width = table.loc[testbed.WIDTH_OF_INTERVALS]
    areas = table.drop(testbed.WIDTH_OF_INTERVALS)
    bundled = areas[[f"{size}, as bundled" for size in ("xs", "s", "m")]].mean(axis=1)
    assert bundled.is_monotonic_decreasing
    assert (bundled.size, areas.shape[1]) == (20, len(testbed.RECIPES_OF_MEASURES))
    of_m = RUNS[(RUNS["run"] == "m-0") & is_exposure_clear(RUNS)].set_index("item")
    own = testbed.area_of_column("latent_knowledge score", of_m)
    assert areas.loc["IC-LKE", "m, as bundled"] == pytest.approx(own.estimate)
    standard_error = (own.influence**2).sum() ** 0.5
    assert width["m, as bundled"] > 1.9 * standard_error


def test_the_lead_is_the_difference_of_the_areas():
    rows = runs_of("", 0.25).set_index("item")
    own = testbed.area_of_column("qa0 right", rows)
    other = testbed.area_of_column("monitor score", rows)
    lead = testbed.lead_of_plain_question("monitor score", rows)
    assert lead.estimate == pytest.approx(own.estimate - other.estimate)


def test_unread_questions_are_those_that_the_recipe_leaves_out():
    rows = runs_of("one_wording", 0.25).set_index("item")
    areas = [testbed.area_of_column(f"qa{k} right", rows).estimate for k in range(1, 7)]
    mean = testbed.area_of_unread_questions(rows).estimate
    assert mean == pytest.approx(np.mean(areas))


def test_every_prediction_names_a_recipe_and_a_size():
    predictions = pd.read_csv(testbed.PREDICTIONS_FILE, keep_default_na=False)
    assert set(predictions["size"]) <= {"xs", "s", "m"}
    sizes = {"as bundled", "hidden_64", "hidden_32"}
    assert set(predictions["recipe"]) - sizes <= set(testbed.RECIPES)
    assert set(testbed.PREDICTED_STATISTICS) <= set(predictions["statistic"])


@pytest.mark.slow
def test_the_page_has_the_tables_of_the_runs(root):
    for name, table in testbed.tables_of_page(RUNS).items():
        path = root / "book" / f"testbed_{name}.csv"
        assert path.read_text() == table.to_csv(index=False), (
            "run python -m notebooks.analysis.headlines_by_recipe"
        )
