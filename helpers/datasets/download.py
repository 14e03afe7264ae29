"""Published files: the user's cache, what is said when fetching fails, and checksums."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from helpers import UserError
from helpers.datasets import network

CACHE_NAME = "what-language-models-know"

T = TypeVar("T")


def cache(name: str) -> Path:
    """Return a folder of the user's cache, which may not be there yet."""
    import pooch

    return pooch.os_cache(CACHE_NAME) / name


def tried(get: Callable[[], T], what: str, place: str, instead: str) -> T:
    """Return what `get` fetches by pooch; where it fails, one sentence says why and what to do."""
    try:
        return network.tried(get, what)
    except OSError as error:  # the errors of requests are OSErrors
        wrong, remedy = network.failure(error)
        raise UserError(
            f"Fetching {what} from {place} failed: {wrong}; {remedy}, or {instead}."
        ) from error
    except ValueError as error:  # pooch's word for a wrong checksum
        raise UserError(
            f"What came from {place} for {what} is not the published file (its SHA-256 differs): "
            f"try again, or {instead}."
        ) from error


def checksum(paths: Iterable[Path]) -> str:
    """Return the SHA-256 (hex) over the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
