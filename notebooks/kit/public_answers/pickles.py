"""Pickles of strangers, read as plain containers, numbers, texts and arrays.

A pickle may call any function that it names. Here it gets numpy's arrays, and of a
table of pandas an inert stand-in that keeps its parts and runs nothing.
"""

import io
import pickle
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError

# Both names of the module: it moved with numpy 2.
_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
_ARRAY_NAMES = {("numpy", "ndarray"), ("numpy", "dtype"), ("builtins", "slice")}
_ARRAY_NAMES |= {(module, "_reconstruct") for module in _ARRAY_MODULES}
_TABLE_NAMES = {
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.internals.managers", "BlockManager"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
}


class StandIn:
    """What a pickle called a name of pandas with, and the state that it gave it."""

    arguments: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _PlainUnpickler(pickle.Unpickler):
    """Refuses every name but those of arrays; those of tables are stand-ins."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _TABLE_NAMES:
            return StandIn
        if (module, name) in _ARRAY_NAMES:
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        raise UserError(
            f"The pickle names {module:.60}.{name:.60}, which is no container, number, "
            "text or array: do not open it."
        )


def read_pickle(data: bytes) -> Any:
    """Read a pickle of containers, numbers, texts, arrays and stand-ins.

    >>> read_pickle(pickle.dumps({"Lyon": [1, 2.5]}))
    {'Lyon': [1, 2.5]}
    """
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except UserError:
        raise
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError) as fault:
        sentence = "This is no pickle of plain containers: fetch it anew."
        raise UserError(sentence) from fault


def read_pickled_table(data: bytes) -> pd.DataFrame:
    """Read a pickled table of pandas column by column, without pandas' own reader."""
    frame = read_pickle(data)
    if not isinstance(frame, StandIn):
        raise UserError("The pickle holds no table: fetch it anew.")
    blocks, (column_axis, _) = frame.state["_mgr"].arguments
    names = column_axis.arguments[1]["data"]
    columns: dict[str, np.ndarray] = {}
    for block in blocks:
        values, places, _ = block.arguments
        for name, column in zip(names[places], values, strict=True):
            columns[name] = column
    return pd.DataFrame(columns)[list(names)]
