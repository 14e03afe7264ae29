"""What training runs of several recipes answer about each fact of the panel."""

from pathlib import Path

import pandas as pd

# Written by `notebooks.atlas.run_figures`.
TESTBED_RUNS_FILE = Path(__file__).with_name("testbed_runs.parquet")


def load_testbed_runs(path: Path = TESTBED_RUNS_FILE) -> pd.DataFrame:
    """Return one row a run and fact, one column a figure; none where none are kept.

    ``run, size, change, seed, start, weights`` say which run it is and ``exposures``
    how often its text states the fact; ``stated_only`` facts are never asked about in
    it. Scores are larger the surer the model: ``qa0 right`` is the log-probability of
    the right object in question 0, ``wp3 wrong`` that of a wrong one in sentence 3.
    """
    if not path.is_file():
        return pd.DataFrame(columns=["run", "item"])
    return pd.read_parquet(path)
