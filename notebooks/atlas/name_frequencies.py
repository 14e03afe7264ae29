"""Make the table of name frequencies: ``python -m notebooks.atlas.name_frequencies``.

It needs wordfreq 3.1.1, which nothing else does. The table gives the Zipf frequency of
each subject and object of the atlas (log10 of occurrences per billion words,
of Wikipedia, subtitles, news, books and the web); 0 for a name that is not listed.
"""

import gzip

import pandas as pd

from helpers import datasets
from helpers.datasets.exposure import NAME_FREQUENCIES_FILE

if __name__ == "__main__":
    from wordfreq import zipf_frequency

    facts = datasets.load("atlas")
    names = sorted({*facts["subject"], *facts["object"]})
    table = pd.DataFrame(
        {"name": names, "zipf": [zipf_frequency(name, "en") for name in names]}
    )
    NAME_FREQUENCIES_FILE.write_bytes(
        gzip.compress(table.to_csv(index=False).encode("utf-8"), mtime=0)
    )
