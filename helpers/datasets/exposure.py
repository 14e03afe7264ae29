"""What the training text of a bundled model says of each fact, and how often."""

from functools import cache
from pathlib import Path

import pandas as pd

BUNDLED_MODELS_FOLDER = Path(__file__).resolve().parents[1] / "models" / "weights"
NAME_FREQUENCIES_FILE = Path(__file__).parent / "data" / "name_frequencies.csv.gz"
# Of columns that the training of a model had no use for.
DEFAULT_VALUES = {
    "false_object": "",
    "false_exposures": 0,
    "pair_exposures": 0,
    "tuned": 0,
}


def training_exposure(model: str, folder: Path | None = None) -> pd.DataFrame | None:
    """Return what a bundled model read about each fact of the atlas in training.

    Parameters
    ----------
    model
        Name of a bundled model, for example ``"atlas-s"``.
    folder
        Where bundled models are; `helpers/models/weights` by default.

    Returns
    -------
    DataFrame or None
        Indexed by `fact`; a fact that is missing was not part of the training plan.
        Columns: `exposures`, how often the fact was stated; `false_object`, the one
        wrong object that was stated in its place ("" for most facts), and
        `false_exposures`, how often that was; `pair_exposures`, how often other facts
        about the same pair of names were stated (as "the capital of France is Paris"
        beside "Paris is the capital of France"); `tuned`, how often the fact was asked
        for when the model was tuned to chat; and `plain`, whether `exposures` is all
        there is to know (:func:`is_exposure_unconfounded`). None for every model that
        is not bundled: what it has read is not known.
    """
    if model in ("", ".", "..") or Path(model).name != model:
        return None
    path = (folder or BUNDLED_MODELS_FOLDER) / model / "exposures.csv"
    if not path.is_file():
        return None
    table = pd.read_csv(path, dtype={"fact": str}, keep_default_na=False)
    table = table.set_index("fact")
    for column, value in DEFAULT_VALUES.items():
        if column not in table:
            table[column] = value
    return table.assign(plain=is_exposure_unconfounded(table))


@cache
def name_frequencies() -> pd.Series:
    """Return how often wordfreq 3.1.1 meets names of the atlas, per billion words."""
    table = pd.read_csv(NAME_FREQUENCIES_FILE, keep_default_na=False)
    zipf = table.set_index("name")["zipf"]
    frequency = (10**zipf).where(zipf > 0, 0)
    return frequency.round().astype(int)


def is_exposure_unconfounded(table: pd.DataFrame) -> pd.Series:
    """Return for each fact whether its exposures are all there is to know of it.

    Parameters
    ----------
    table : DataFrame
        As of :func:`training_exposure`, `plain` aside.

    Returns
    -------
    Series of bool
        True where nothing false was stated, no tuning asked for the fact, and its names
        met in no other fact unless it was stated itself.

    Examples
    --------
    >>> table = pd.DataFrame({"exposures": [4, 0, 0, 4], "pair_exposures": [9, 0, 9, 0],
    ...                       "false_exposures": [0, 0, 0, 1], "tuned": 0})
    >>> is_exposure_unconfounded(table).tolist()
    [True, True, False, False]
    """
    is_stated = table["exposures"] > 0
    no_other_fact = table["pair_exposures"] == 0
    nothing_false = table["false_exposures"] == 0
    not_tuned = table["tuned"] == 0
    return (is_stated | no_other_fact) & nothing_false & not_tuned
