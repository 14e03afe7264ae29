"""Averages over items: the right interval for each column, group by group."""

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, stats
from helpers.stats.averages import averages

TABLE = pd.DataFrame(
    {"kind": ["b", "b", "a", "b"], "hit": [1.0, 0.0, 1.0, 1.0], "size": [0.5, 1.5, 2.0, 4.0]}
)


def test_shares_get_wilsons_interval_and_other_numbers_a_bootstrap():
    found = averages(TABLE, ["hit", "size"], seed=3).set_index("measure")
    assert found["estimate"].to_dict() == {"hit": 0.75, "size": 2.0}
    wilson = stats.wilson(3, 4)
    assert found.loc["hit", ["low", "high"]].tolist() == [wilson.low, wilson.high]
    boot = stats.bootstrap(TABLE["size"].to_numpy(), n_resamples=1000, seed=3)
    assert found.loc["size", ["low", "high"]].tolist() == [boot.low, boot.high]
    assert found["n"].tolist() == [4, 4]


def test_groups_stand_in_order_of_appearance():
    found = averages(TABLE, ["hit"], by="kind")
    assert found["kind"].tolist() == ["b", "a"]
    assert found["estimate"].tolist() == pytest.approx([2 / 3, 1])
    assert found["n"].tolist() == [3, 1]
    assert np.isfinite(found[["low", "high"]].to_numpy()).all()


def test_a_missing_column_is_refused():
    with pytest.raises(UserError, match="The table of items lacks the column none, group"):
        averages(TABLE, ["hit", "none"], by="group")


def test_no_items_have_no_groups_and_undefined_averages():
    found = averages(TABLE[:0], ["hit", "size"], by="kind")
    assert found.empty
    assert list(found) == ["kind", "measure", "estimate", "low", "high", "n"]
    whole = averages(TABLE[:0], ["hit"])
    assert list(whole) == ["measure", "estimate", "low", "high", "n"]
    assert whole["estimate"].isna().all()
    assert whole["n"].tolist() == [0]
