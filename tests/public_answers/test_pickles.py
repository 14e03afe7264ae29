"""Pickles of strangers: plain things are read, and nothing is run."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from notebooks.kit.public_answers import pickles
from tests.public_answers import old_pandas

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
plain_values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(plain_values)
def test_plain_values_come_back(value):
    assert pickles.read_pickle(pickle.dumps(value)) == value


class Command:
    """Its pickle calls a function when it is opened."""

    def __init__(self, function, argument):
        self.call = (function, (argument,))

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("function", [os.system, eval, pd.read_pickle, np.load])
def test_nothing_is_called(function, tmp_path):
    path = tmp_path / "made"
    data = pickle.dumps([Command(function, f"touch {path}")])
    with pytest.raises(UserError, match="no container, number, text or array"):
        pickles.read_pickle(data)
    assert not path.exists()


def in_old_numpy(data: bytes) -> bytes:
    """Return a pickle with the name that numpy's arrays had before numpy 2."""
    new, old = b"\x16numpy._core.multiarray", b"\x15numpy.core.multiarray"
    shorter = data.replace(new, old)
    frame = len(shorter) - 11  # what follows the protocol and the length itself
    return shorter[:3] + frame.to_bytes(8, "little") + shorter[11:]


@pytest.mark.parametrize("as_written", [bytes, in_old_numpy])
def test_arrays_of_both_numpys_are_read(as_written):
    logits = np.array([1.5, -2], dtype="f4")
    texts = np.array([["Lyon", 3]], dtype=object)
    data = as_written(pickle.dumps([{"id": 0, "logits": logits}, texts], 4))
    first, second = pickles.read_pickle(data)
    np.testing.assert_array_equal(first["logits"], logits)
    assert second.tolist() == texts.tolist()


TABLE = {"subject": ["Lyon", "Oslo"], "knowledge_source": ["PK", "CK"]}


def test_a_table_is_read_without_pandas_reader(monkeypatch):
    monkeypatch.setattr(pd, "read_pickle", None)
    table = pickles.read_pickled_table(old_pandas.pickled_table(TABLE))
    assert table.to_dict("list") == TABLE


def test_what_is_no_table_or_cut_short_is_refused():
    with pytest.raises(UserError, match="holds no table"):
        pickles.read_pickled_table(pickle.dumps([1]))
    with pytest.raises(UserError, match="no pickle of plain containers"):
        pickles.read_pickle(old_pandas.pickled_table(TABLE)[:50])
