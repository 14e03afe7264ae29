"""Models compared on the facts that both were asked, from tables that a script holds."""

import numpy as np
import pandas as pd
import pytest

from helpers import UserError
from helpers.studies import STUDIES, compare_models


def facts(right, items="abcdefgh", **others) -> pd.DataFrame:
    rows = {"item": list(items), "relation": "P36", "right": right, "mass": 0.5}
    return pd.DataFrame(rows | others)


def rows(found) -> pd.DataFrame:
    return found.set_index(["first", "second", "measure"])


def test_the_difference_is_that_of_the_means_of_shared_facts():
    one = facts([1.0, 0, 0, 0, 0, 0, 0, 0])
    two = facts([1.0, 1, 1, 1, 1, 1], "efghij").sample(frac=1, random_state=0)
    found = rows(
        compare_models(STUDIES["latent_knowledge"], {"one": one, "two": two}, 200)
    )
    gap = found.loc[("two", "one", "right")]
    assert (gap["estimate"], gap["n"]) == (1, 4)
    assert gap[["low", "high", "p"]].isna().all()  # four facts that are all alike
    assert gap["better"] == ""


def test_equal_differences_of_many_facts_decide():
    names = [f"f{k}" for k in range(20)]
    models = {"one": facts(0.0, names), "two": facts(1.0, names)}
    found = rows(compare_models(STUDIES["latent_knowledge"], models, 200))
    assert found["better"].to_dict() == {
        ("two", "one", "right"): "two",
        ("two", "one", "mass"): "",
    }


def test_a_difference_of_rounding_has_no_winner():
    models = {
        "one": facts(0.5, names := [f"f{k}" for k in range(20)]),
        "two": facts(0.5, names),
    }
    models["two"]["right"] += 6e-9
    assert rows(compare_models(STUDIES["latent_knowledge"], models, 200))[
        "better"
    ].tolist() == ["", ""]


def test_every_pair_of_models_is_compared():
    models = {
        name: facts([1.0] * n + [0.0] * (8 - n)) for name, n in zip("xyz", (2, 4, 8))
    }
    found = rows(compare_models(STUDIES["latent_knowledge"], models, 50))
    gaps = found.xs("right", level="measure")["estimate"].to_dict()
    assert gaps == {("y", "x"): 0.25, ("z", "x"): 0.75, ("z", "y"): 0.5}


def test_facts_that_a_measure_leaves_out_for_one_model_do_not_count():
    columns = {"counted_anchor": 0.5, "coverage": 1.0, "base": 1.0, "average": 1.0}
    one = facts(1.0, counted_deviation=[0.1] * 6 + [0.11] * 2, **columns)
    two = facts(1.0, counted_deviation=[np.nan] * 4 + [0.2] * 4, **columns)
    gap = rows(compare_models(STUDIES["monitor"], {"one": one, "two": two}, 50)).loc[
        "two", "one"
    ]
    assert gap.loc["MONITOR", "n"] == 4
    assert gap.loc["MONITOR", "estimate"] == pytest.approx(0.2 / 0.5 - 0.105 / 0.5)
    assert gap.loc["MONITOR", "better"] == "one"  # lower is better
    assert gap.loc["base", "n"] == 8


def test_the_bootstrap_draws_within_strata():
    # Within strata of nearly equal rows little varies; within relations more does.
    names = [f"f{k}" for k in range(20)]
    one, two = facts([1.0] * 9 + [0.0] * 10 + [1.0], names), facts(0.0, names)
    strata = {"stratum": ["s"] * 10 + ["t"] * 10}
    study = STUDIES["latent_knowledge"]
    loose = rows(compare_models(study, {"two": two, "one": one})).loc[
        "one", "two", "right"
    ]
    tight = {"two": two.assign(**strata), "one": one.assign(**strata)}
    tight = rows(compare_models(study, tight)).loc["one", "two", "right"]
    assert loose["high"] - loose["low"] > 0.3
    assert 0 < tight["high"] - tight["low"] < 0.7 * (loose["high"] - loose["low"])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"one": facts(1.0)}, "two models or more, not 1"),
        (
            {"one": facts(1.0), "two": facts(1.0).drop(columns=["right", "mass"])},
            "facts of two lacks .* right, mass",
        ),
        (
            {"one": facts(1.0), "two": facts(1.0, "ijklmnop")},
            "one and two share no fact",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(models, message):
    with pytest.raises(UserError, match=message):
        compare_models(STUDIES["latent_knowledge"], models)
