"""Tables pickled as pandas 2 does, whose classes pandas 3 knows by other names."""

import importlib
import pickle
from unittest import mock

import numpy as np


class Reduced:
    """An object that its pickle makes by calling a name, and then gives a state."""

    def __init__(self, module, name, arguments=(), state=None):
        self.reduced = (stand_in(module, name), arguments, state)

    def __reduce__(self):
        return self.reduced


STAND_INS = {}


def stand_in(module, name):
    """Return a class that is pickled under the name."""
    if (module, name) not in STAND_INS:
        STAND_INS[module, name] = type(name, (), {"__module__": module})
    return STAND_INS[module, name]


def pickled_table(columns: dict[str, list]) -> bytes:
    """Pickle a table as one block of objects, with its axes."""
    base = "pandas.core.indexes.base"
    names = np.array(list(columns), dtype=object)
    values = np.array(list(columns.values()), dtype=object)
    places = slice(0, len(names), 1)
    block = Reduced("pandas._libs.internals", "_unpickle_block", (values, places, 2))
    axes = []
    for kind, about in (
        (("pandas.core.indexes.base", "Index"), {"data": names, "name": None}),
        (("pandas.core.indexes.range", "RangeIndex"), {"start": 0, "name": None}),
    ):
        axes.append(Reduced(base, "_new_Index", (stand_in(*kind), about)))
    manager = Reduced(
        "pandas.core.internals.managers", "BlockManager", ((block,), axes)
    )
    frame = Reduced("pandas.core.frame", "DataFrame", (), {"_mgr": manager})
    patches = []
    for (module, name), known in STAND_INS.items():
        patches.append(mock.patch.object(importlib.import_module(module), name, known))
    for patch in patches:
        patch.start()
    try:
        return pickle.dumps(frame, 4)
    finally:
        for patch in patches:
            patch.stop()
