"""What the studies found of each fact in every training run of a recipe, as a table."""

from pathlib import Path

import pandas as pd

# Written by the trainer of the atlas.
TRAINING_RUNS_FILE = Path(__file__).with_name("training_runs.parquet")
# Whether the choice under each prompt of multiplicity was right.
PROMPT_COLUMNS = tuple(f"prompt {number}" for number in range(10))


def load_training_runs(path: Path = TRAINING_RUNS_FILE) -> pd.DataFrame:
    """Return what the studies found of each fact in every training run.

    ``start`` is the seed of the random start and the order of the text, 0 the bundled
    one; `PROMPT_COLUMNS` are filled by the rows of multiplicity.
    """
    return pd.read_parquet(path)
