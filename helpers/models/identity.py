"""What besides weights decides a model's numbers: settings, tokenizer, code."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from helpers.models import checkpoints

# They turn texts into ids and ids into numbers: some mend what others got wrong.
NUMERIC_LIBRARIES = ("torch", "transformers", "tokenizers", "peft")
# Where transformers puts code that it was trusted to run.
TRUSTED_CODE_PACKAGE = "transformers_modules"


def sha256_of_small_files(folders: Iterable[Path], *loaded: object) -> str:
    """Return the SHA-256 over the files beside a model's weights and trusted code."""
    digest = hashlib.sha256()
    for top in folders:
        small_files = set(top.glob("*/*.jinja"))
        for pattern in checkpoints.SMALL_FILE_PATTERNS:
            small_files.update(top.glob(pattern))
        for file in sorted(small_files):
            # An index names the weights, which are hashed.
            if not file.name.endswith(".index.json"):
                _add(digest, file.relative_to(top).as_posix(), file)
    code_files: set[Path] = set()
    for thing in loaded:
        code_files.update(_code_files(thing))
    for file in sorted(code_files):
        _add(digest, file.name, file)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, name: str, file: Path) -> None:
    """Add a file's name and checksum to a digest."""
    sha = hashlib.sha256(file.read_bytes()).hexdigest()
    digest.update(f"{name} {sha}\n".encode())


def _code_files(loaded: object) -> Iterator[Path]:
    """Yield the files of trusted code that an object's classes come from."""
    for kind in type(loaded).__mro__:
        if kind.__module__.startswith(TRUSTED_CODE_PACKAGE):
            yield from Path(inspect.getfile(kind)).parent.glob("*.py")


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that decide a number."""
    return {name: version(name) for name in NUMERIC_LIBRARIES}
