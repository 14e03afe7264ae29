"""Fetch published files once, into the user's cache."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from helpers.errors import UserError

CACHE_NAME = "what-language-models-know"


def fetch(name: str, base: str, files: Mapping[str, str | None]) -> Path:
    """Fetch files of one data set into the user's cache, once, and return their folder.

    Parameters
    ----------
    name : str
        Of the data set, and of the folder in the cache.
    base : str
        Address that the files' names are put behind.
    files : mapping
        File name (with folders) to its SHA-256, or None where it is not known.

    Returns
    -------
    Path
        The folder; files lie in it under the last part of their names.

    Raises
    ------
    UserError
        If a file cannot be fetched, or is not the one expected.
    """
    import pooch

    folder = pooch.os_cache(CACHE_NAME) / name
    try:
        for file, known in files.items():
            expected = known and f"sha256:{known}"
            pooch.retrieve(base + file, expected, fname=Path(file).name, path=folder)
    except OSError as error:  # the errors of requests are OSErrors
        raise UserError(
            f"The data set {name} could not be fetched from {base} ({type(error).__name__}): go "
            f"online, or download it and give its path in place of the name '{name}'."
        ) from error
    except ValueError as error:  # pooch's word for a wrong checksum
        raise UserError(
            f"A file fetched for {name} is not the published one (its SHA-256 differs): try again, "
            f"or download {base} and give its path in place of the name '{name}'."
        ) from error
    return folder


def checksum(paths: list[Path]) -> str:
    """Return the SHA-256 of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()
