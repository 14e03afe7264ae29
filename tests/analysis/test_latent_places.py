"""Lists with replaced pairs: what is replaced, where, and what follows from it."""

import numpy as np
import pandas as pd
import pytest

from helpers import datasets
from notebooks.analysis import latent_places

RELATIONS = ["P17", "P36", "P575"]


@pytest.fixture(scope="module")
def facts():
    return datasets.load("atlas", RELATIONS)


@pytest.fixture(scope="module")
def training():
    return datasets.training_exposure("atlas-m")


@pytest.fixture(scope="module")
def pairs(facts, training):
    return latent_places.lists_with_replaced_pairs(facts, training, n_draws=2)


def test_every_kind_replaces_the_same_ten_places(pairs):
    assert set(pairs["relation"]) == {"P17", "P36"}  # P575 has too few pairs
    keys = ["relation", "draw", "arrangement"]
    for (*_, arrangement), rows in pairs.groupby(keys):
        by_kind = {kind: part.set_index("place") for kind, part in rows.groupby("kind")}
        intact = by_kind.pop("intact")
        assert set(by_kind) == set(latent_places.KINDS)
        replaced = intact.index[intact["status"] == "replaced"]
        assert len(replaced) == 10
        assert replaced.min() >= 10
        is_run = bool(replaced.max() - replaced.min() == 9)
        assert is_run == (arrangement == "block")
        for version in by_kind.values():
            names = ["subject", "object"]
            same = (version[names] == intact[names]).all(axis=1)
            assert set(same.index[~same]) == set(replaced)
            assert version["subject"].is_unique
        pd.testing.assert_series_equal(
            by_kind["invented"]["object"], by_kind["unread"]["object"]
        )
        pd.testing.assert_series_equal(by_kind["wrong"]["subject"], intact["subject"])


def test_each_kind_is_what_it_is_called(pairs, facts, training):
    true = facts.set_index(["relation", "subject", "object"])["fact"]
    real = set(facts["subject"]) | set(facts["object"])
    replaced = pairs[pairs["status"] == "replaced"]
    for kind, rows in replaced.groupby("kind"):
        keys = list(zip(rows["relation"], rows["subject"], rows["object"], strict=True))
        is_true = [key in true.index for key in keys]
        if kind in ("wrong", "invented"):
            assert not any(is_true)
            continue
        assert all(is_true)
        exposures = training.loc[true.loc[keys], "exposures"]
        assert (exposures == 0).all() if kind == "unread" else (exposures >= 8).all()
    invented = replaced.loc[replaced["kind"] == "invented", "subject"]
    assert not set(invented) & real


def answers_by_hand():
    """Two lists of four pairs, one replaced: probabilities .5 but for those after it."""
    rows = []
    changed = {
        ("a", "wrong"): [0.5, 0.1, 0.3, 0.4],
        ("b", "wrong"): [0.5, 0.1, 0.5, 0.2],
    }
    changed |= {("a", "unread"): [0.5, 0.2, 0.5, 0.5]}
    changed |= {("b", "unread"): [0.5, 0.2, 0.4, 0.5]}
    changed |= {(name, "intact"): [0.5] * 4 for name in "ab"}
    for (relation, kind), values in changed.items():
        for place, p in enumerate(values):
            status = ["before", "replaced", "next", "later"][place]
            rows.append((relation, 0, kind, "scattered", place, status, [np.log(p)]))
    return pd.DataFrame(rows, columns=[*latent_places.PAIR_COLUMNS, "logprobs"])


def test_changes_by_hand():
    places = latent_places.probabilities_at_places(answers_by_hand())
    changes = latent_places.change_by_list(places.assign(model="m"))
    table = changes.set_index(["relation", "kind"])
    # a: .3 and .4 for .5 are -.2 and -.1; b: .5 and .2 are 0 and -.3.
    assert table.loc[("a", "wrong"), "after"] == pytest.approx(-0.15)
    assert table.loc[("b", "wrong"), "after"] == pytest.approx(-0.15)
    assert table.loc[("a", "wrong"), "next"] == pytest.approx(-0.2)
    assert table.loc[("b", "wrong"), "next"] == pytest.approx(0)
    assert table.loc[("a", "wrong"), "replaced"] == pytest.approx(0.1)
    words = latent_places.changes_in_words(changes, "m")
    assert (words["wrong"], words["unread"], words["invented"]) == (
        "-15.0",
        "-2.5",
        "nan",
    )


def test_kinds_are_contrasted_in_the_same_lists():
    places = latent_places.probabilities_at_places(answers_by_hand())
    changes = latent_places.change_by_list(places.assign(model="m"))
    draws = {"n_resamples": 200, "seed": 0}
    contrast = latent_places.contrast_of_kinds(changes, "m", "unread", "wrong", **draws)
    # a: 0 less -.15; b: -.05 less -.15.
    assert contrast[0] == pytest.approx(0.125)
    assert contrast[1:] == (pytest.approx(0.1), pytest.approx(0.15), 2)
    missing = latent_places.contrast_of_kinds(changes, "m", "read", "wrong", **draws)
    assert np.isnan(missing[0])
    other = latent_places.contrast_of_kinds(changes, "x", "unread", "wrong", **draws)
    assert np.isnan(other[0])
