"""Make the table of name frequencies: ``python -m notebooks.analysis.name_frequencies``.

It needs wordfreq 3.1.1, which nothing else does. The table gives the Zipf frequency of each subject
and object of the atlas (log10 of occurrences in a thousand million words, of Wikipedia, subtitles,
news, books and the web); 0 for a name that is not listed.
"""

import gzip

import pandas as pd

from helpers import datasets
from helpers.datasets.exposure import FREQUENCIES


def names() -> list[str]:
    """Return the names of the atlas, sorted."""
    facts = datasets.load("atlas")
    return sorted({*facts["subject"], *facts["object"]})


def table() -> pd.DataFrame:
    """Return the names with their frequencies."""
    from wordfreq import zipf_frequency

    listed = names()
    return pd.DataFrame({"name": listed, "zipf": [zipf_frequency(n, "en") for n in listed]})


if __name__ == "__main__":
    text = table().to_csv(index=False).encode("utf-8")
    FREQUENCIES.write_bytes(gzip.compress(text, mtime=0))
