"""What the studies found of each fact in every training run of a recipe, as a table."""

from pathlib import Path

import pandas as pd

# Written by the trainer of the atlas.
FILE = Path(__file__).with_name("training_runs.parquet")


def training_runs(path: Path = FILE) -> pd.DataFrame:
    """Return what the studies found of each fact in every training run.

    ``start`` is the seed of the random start and the order of the text, 0 the bundled
    one; ``prompt 0`` and so on say whether the choice under that prompt was right
    (multiplicity).
    """
    return pd.read_parquet(path)
