"""How often each fact stands in the training text of a bundled model."""

from pathlib import Path

import pandas as pd

WEIGHTS = Path(__file__).resolve().parent.parent / "weights"


def exposures(model: str) -> pd.Series | None:
    """Return how often a bundled model read each fact of the atlas in training.

    Parameters
    ----------
    model
        Name of a bundled model, for example ``"atlas-s"``.

    Returns
    -------
    Series of int or None
        Indexed by `fact`; a fact that is missing was not part of the training plan. None for
        every model that is not bundled: what it has read is not known.

    Examples
    --------
    >>> exposures("gpt2") is None
    True
    """
    if model in ("", ".", "..") or Path(model).name != model:
        return None
    path = WEIGHTS / model / "exposures.csv"
    if not path.is_file():
        return None
    table = pd.read_csv(path, dtype={"fact": str, "exposures": int}, keep_default_na=False)
    return table.set_index("fact")["exposures"]
