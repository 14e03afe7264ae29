"""What training runs of several recipes answer about each fact of the panel."""

import zlib
from pathlib import Path

import pandas as pd

from helpers.datasets.exposure import is_exposure_unconfounded
from helpers.datasets.panel import panel_facts

# Written by the trainer of the atlas.
TESTBED_RUNS_FILE = Path(__file__).parent / "data" / "testbed_runs.parquet"
# A table of what there is to score, for people without the package
TESTBED_FACTS_FILE = Path(__file__).parent / "data" / "testbed_facts.csv"
SPLITS = ("choosing", "reporting")


def load_testbed_runs(path: Path = TESTBED_RUNS_FILE) -> pd.DataFrame:
    """Return what training runs, whose text is known, answer about facts.

    Parameters
    ----------
    path
        Of the table; by default the one that comes with the package.

    Returns
    -------
    DataFrame
        One row a run and fact. ``run, size, change, seed, start, weights`` say which
        run it is; ``item, relation`` which fact. ``exposures`` is how often its text
        states the fact, ``false_exposures`` how often it states a false object in its
        place, ``pair_exposures`` how often it states other facts of the same two names;
        facts that are ``stated_only`` are never asked about in it. All others are
        scores, larger the surer the model: ``qa0 right`` is the log-probability of the
        right object in question 0, ``wp0 wrong`` that of a wrong one in sentence 0.
        Empty where no runs are kept.
    """
    if not path.is_file():
        return pd.DataFrame(columns=["run", "item"])
    return pd.read_parquet(path)


def is_exposure_clear(runs: pd.DataFrame) -> pd.Series:
    """Return for each row whether its exposures are all that the text told of it."""
    return is_exposure_unconfounded(runs.assign(tuned=0))  # no run is tuned


def split_of_facts(items: pd.Series) -> pd.Series:
    """Return for each fact the half that it is in, by a checksum of its id.

    A measure is chosen on facts for ``"choosing"`` and graded on those for
    ``"reporting"``.

    >>> split_of_facts(pd.Series(["P17-0003", "P17-0026"])).tolist()
    ['choosing', 'reporting']
    """
    places = [zlib.crc32(f"split {item}".encode()) % 2 for item in items]
    return pd.Series([SPLITS[place] for place in places], index=items.index)


def facts_to_be_scored() -> pd.DataFrame:
    """Return the panel's facts as a table that needs no package to be read.

    ``fact, relation, subject, object``, five ``wrong_objects`` parted by bars, and the
    ``split`` that the fact is in.
    """
    facts = panel_facts()
    table = facts[["fact", "relation", "subject", "object"]].copy()
    table["wrong_objects"] = facts["distractors"].map("|".join)
    table["split"] = split_of_facts(facts["fact"])
    return table
