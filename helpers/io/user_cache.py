"""Published files: where they are kept, and their checksums."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

CACHE_NAME = "what-language-models-know"
BLOCK_SIZE = 2**20  # bytes that are read at a time


def cache_folder(name: str) -> Path:
    """Return a folder of the user's cache, which may not be there yet."""
    import pooch

    return pooch.os_cache(CACHE_NAME) / name


def checksum_of_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 (hex) over the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK_SIZE):
                digest.update(block)
    return digest.hexdigest()
