"""Variance components against restricted maximum likelihood, by hand, and on planted shares."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from helpers.stats.components import variance_components

EFFECTS = ["f", "m", "ms", "fm", "fms"]


def drawn(seed, relations=6, each=8, models=2, starts=3, prompts=1, **spread):
    """Draw a design with planted standard deviations by effect."""
    chance = np.random.default_rng(seed)
    n = {"r": relations, "f": relations * each, "m": models, "s": starts, "p": prompts}
    shape = (n["f"], models, starts, prompts)
    values = np.zeros(shape)
    for effect, size in spread.items():
        if effect == "r":
            part = np.repeat(chance.normal(0, size, relations), each)[
                :, None, None, None
            ]
        else:
            part = chance.normal(0, size, [n[a] if a in effect else 1 for a in "fmsp"])
        values = values + part
    return values, np.full(relations, each)


def test_by_hand():
    # Two facts, two models: the table 4 2 / 1 1 has grand mean 2, facts 1 and -1,
    # models .5 and
    values = np.array([[4.0, 2.0], [1.0, 1.0]])[:, :, None, None]
    found = variance_components(values, np.array([2]), ["f", "m", "fm"])
    assert {name: float(value) for name, value in found.items()} == {
        "fm": 1.0,
        "m": 0.0,
        "f": 1.5,
        "r": 0.0,
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_what_restricted_maximum_likelihood_gives(seed):
    values, sizes = drawn(seed, r=0.6, f=0.8, m=0.9, ms=0.4, fm=0.5, fms=0.5)
    found = variance_components(values, sizes, EFFECTS)
    assert min(found.values()) > 0
    index = np.indices(values.shape[:3]).reshape(3, -1)
    table = pd.DataFrame(index.T, columns=["fact", "model", "start"])
    table["y"] = values.ravel()
    table["relation"] = np.repeat(np.arange(len(sizes)), sizes)[table["fact"]]
    table["run"] = 10 * table["model"] + table["start"]
    table["both"] = 10 * table["fact"] + table["model"]
    parts = {"r": "relation", "f": "fact", "m": "model", "ms": "run", "fm": "both"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = smf.mixedlm(
            "y ~ 1",
            table.assign(one=1),
            groups="one",
            re_formula="0",
            vc_formula={name: f"0 + C({column})" for name, column in parts.items()},
        )
        fitted = model.fit(method=["lbfgs", "cg"])
    theirs = dict(zip(model.exog_vc.names, fitted.vcomp)) | {"fms": fitted.scale}
    for name, value in theirs.items():
        assert found[name] == pytest.approx(value, rel=0.02, abs=2e-3)


def test_planted_components_are_found_on_average():
    spread = {
        "r": 0.5,
        "f": 1.0,
        "m": 0.4,
        "ms": 0.3,
        "fm": 0.6,
        "p": 0.3,
        "fp": 0.5,
        "fmsp": 0.7,
    }
    effects = ["f", "m", "ms", "fm", "fms", "p", "fp", "mp", "msp", "fmp", "fmsp"]
    draws = [drawn(seed, prompts=4, **spread) for seed in range(300)]
    values, sizes = np.stack([values for values, _ in draws]), draws[0][1]
    for name, part in variance_components(values, sizes, effects).items():
        error = part.std() / np.sqrt(len(part))
        assert abs(part.mean() - spread.get(name, 0) ** 2) < 4 * error


def test_relations_of_unlike_size():
    # One-way by hand: 4 beside 1, 2, 3 is 3 between and 1 within; n0 is 1.5.
    values = np.array([4.0, 1.0, 2.0, 3.0])[:, None, None, None]
    found = variance_components(values, np.array([1, 3]), ["f"])
    assert float(found["r"]) == pytest.approx((3 - 1) / 1.5)
    assert float(found["f"]) == pytest.approx(1)
