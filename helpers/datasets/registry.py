"""Where the data come from, as ``sources.toml`` lists it, and how published files are fetched."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pandas as pd

from helpers import UserError
from helpers.io import network, user_cache

DATA_FOLDER = Path(__file__).resolve().parent / "data"
SOURCE_RECORD_FIELDS = ("name", "title", "licence", "url", "version", "citation")
FRAME_COLUMNS = ["relation", "kind", "frame", "template"]


class FactsAndFrames(NamedTuple):
    """What a reader makes of files: facts (with label and place, if any), frames, a record."""

    facts: pd.DataFrame
    frames: pd.DataFrame
    about: dict[str, str]


@dataclass(frozen=True)
class Source:
    """One table of ``sources.toml``, where each field is explained."""

    name: str
    kind: str
    title: str
    licence: str
    url: str
    version: str
    citation: str
    base: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    style: str = ""
    variations: tuple[str, ...] = ()
    n_shots: int = 0
    checksum: str = ""

    @property
    def known(self) -> str:
        """The checksum that a run's manifest gives of the published data; "" if nobody knows it."""
        return self.checksum or (
            next(iter(self.files.values())) if len(self.files) == 1 else ""
        )

    def about(self, checksum: str) -> dict[str, str]:
        """Return the record of a run's manifest."""
        return {name: getattr(self, name) for name in SOURCE_RECORD_FIELDS} | {
            "checksum": checksum
        }


def _read() -> dict[str, Source]:
    text = Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")
    found = {}
    for name, told in tomllib.loads(text).items():
        for key in {"url", "base"} & told.keys():
            told[key] = told[key].replace("{version}", told["version"])
        lists = {
            key: tuple(value) for key, value in told.items() if isinstance(value, list)
        }
        found[name] = Source(name, **told | lists)
    return found


SOURCES = _read()


def dataset_names_of_kind(*kinds: str) -> tuple[str, ...]:
    """Return the names of the data sets of some kinds."""
    return tuple(source.name for source in SOURCES.values() if source.kind in kinds)


def fetch_dataset(name: str) -> Path:
    """Fetch a data set's files into the user's cache, once, and return their folder."""
    source = SOURCES[name]
    instead = f"download {source.url} and give its path in place of the name '{name}'"
    files = {f"{source.base}{file}": sha256 for file, sha256 in source.files.items()}
    return fetch_files(name, files, f"the data set {name}", source.base, instead)


def fetch_files(
    folder: str, files: Mapping[str, str], what: str, origin: str, instead: str
) -> Path:
    """Fetch files by address into a folder of the cache, checked by their SHA-256 if it is told."""
    import pooch

    names = {Path(urlsplit(url).path).name: url for url in files}
    known = {name: files[url] or None for name, url in names.items()}
    kept = pooch.create(user_cache.cache_folder(folder), "", registry=known, urls=names)
    try:
        network.download_with_retries(
            lambda: [kept.fetch(name) for name in names], what
        )
    except OSError as error:  # the errors of requests are OSErrors
        wrong, remedy = network.failure_and_remedy(error)
        why = f"{wrong}; {remedy}, or {instead}"
        raise UserError(f"Fetching {what} from {origin} failed: {why}.") from error
    except ValueError as error:  # pooch's word for a wrong checksum
        raise UserError(
            f"What came from {origin} for {what} is not the published file (its SHA-256 differs): "
            f"try again, or {instead}."
        ) from error
    return kept.abspath


def record_of_own_files(name: str, path: Path, checksum: str) -> dict[str, str]:
    """Return the record of a run's manifest for files of one's own; what is not known is ""."""
    known = {
        "name": name,
        "title": path.name,
        "url": str(path.resolve()),
        "checksum": checksum,
    }
    return dict.fromkeys(SOURCE_RECORD_FIELDS, "") | known
