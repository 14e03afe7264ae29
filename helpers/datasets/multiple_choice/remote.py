"""Fetch a benchmark's files once, from one commit of a public repository, and check them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from helpers.datasets import download


@dataclass(frozen=True)
class Source:
    """Where a benchmark's files are.

    Parameters
    ----------
    name, title, licence, url, version, citation : str
        For the manifest; `version` is the commit.
    base : str
        Address that file names are put behind.
    files : mapping of str to str
        File name to SHA-256; "" where the checksum is not known to us.
    """

    name: str
    title: str
    licence: str
    url: str
    version: str
    citation: str
    base: str
    files: Mapping[str, str]

    def about(self, checksum: str, rows: int) -> dict[str, str]:
        """Return the record of a run's manifest, with the number of rows in the files."""
        keys = ("name", "title", "licence", "url", "version", "citation")
        known = {key: getattr(self, key) for key in keys}
        return known | {"checksum": checksum, "rows": str(rows)}


def fetch(source: Source) -> Path:
    """Fetch the files into the user's cache and return their folder."""
    import pooch

    registry = {
        name: f"sha256:{digest}" if digest else None for name, digest in source.files.items()
    }
    folder = pooch.os_cache(download.CACHE_NAME) / source.name
    keeper = pooch.create(path=folder, base_url=source.base, registry=registry)
    instead = f"download {source.url} and give the folder's path in place of {source.name!r}"
    download.tried(
        lambda: [keeper.fetch(name) for name in source.files], source.title, source.base, instead
    )
    return Path(folder)
