"""Where the data come from (``sources.toml``), and how published files are fetched."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pandas as pd

from helpers import UserError
from helpers.io import hub_endpoint, network, user_cache

DATA_FOLDER = Path(__file__).resolve().parent / "data"
HUB_DATASETS = "https://huggingface.co/datasets/"
SOURCE_RECORD_FIELDS = ("name", "title", "licence", "url", "version", "citation")
FRAME_COLUMNS = ["relation", "kind", "frame", "template"]


class FactsAndFrames(NamedTuple):
    """What files hold: facts (perhaps with label and place), frames and a record."""

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
        """The published data's checksum in a run's manifest; "" if nobody knows it."""
        if self.checksum:
            return self.checksum
        checksums = list(self.files.values())
        return checksums[0] if len(checksums) == 1 else ""

    @property
    def hub_id(self) -> str:
        """The id of the data set on the Hugging Face hub; "" if it is elsewhere."""
        if not self.base.startswith(HUB_DATASETS):
            return ""
        owner, name = self.base.removeprefix(HUB_DATASETS).split("/")[:2]
        return f"{owner}/{name}"

    def about(self, checksum: str) -> dict[str, str]:
        """Return the record of a run's manifest."""
        record = {name: getattr(self, name) for name in SOURCE_RECORD_FIELDS}
        return record | {"checksum": checksum}


def _read_sources() -> dict[str, Source]:
    """Return the tables of ``sources.toml``."""
    path = Path(__file__).with_name("sources.toml")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    sources = {}
    for name, fields in tables.items():
        version = fields["version"]
        for key in ("url", "base"):
            if key in fields:
                fields[key] = fields[key].replace("{version}", version)
        for key in ("patterns", "variations"):
            fields[key] = tuple(fields.get(key, ()))
        sources[name] = Source(name, **fields)
    return sources


SOURCES = _read_sources()


def dataset_names_of_kind(*kinds: str) -> tuple[str, ...]:
    """Return the names of the data sets of some kinds."""
    names = [name for name, source in SOURCES.items() if source.kind in kinds]
    return tuple(names)


def fetch_dataset(name: str) -> Path:
    """Fetch a data set's files into the user's cache, once, and return their folder."""
    source = SOURCES[name]
    instead = f"download {source.url} and give its path in place of the name '{name}'"
    files = {}
    for file, checksum in source.files.items():
        files[f"{source.base}{file}"] = checksum
    return fetch_files(name, files, f"the data set {name}", source.base, instead)


def fetch_files(
    folder: str, files: Mapping[str, str], what: str, origin: str, instead: str
) -> Path:
    """Fetch files by address into a folder of the cache, checked by known SHA-256s."""
    import pooch

    urls = {}
    checksums = {}
    for url, checksum in files.items():
        name = Path(urlsplit(url).path).name
        urls[name] = hub_endpoint.address_at_endpoint(url)
        checksums[name] = checksum or None
    origin = hub_endpoint.address_at_endpoint(origin)
    place = user_cache.cache_folder(folder)
    cache = pooch.create(place, "", registry=checksums, urls=urls)

    def fetch_all() -> None:
        for name, url in urls.items():
            headers = hub_endpoint.headers_for(url)
            downloader = pooch.HTTPDownloader(headers=headers) if headers else None
            cache.fetch(name, downloader=downloader)

    try:
        network.download_with_retries(fetch_all, what)
    except OSError as error:  # the errors of requests are OSErrors
        failure, remedy = network.failure_and_remedy(error)
        raise UserError(
            f"Fetching {what} from {origin} failed: {failure}; {remedy}, or {instead}."
        ) from error
    except ValueError as error:  # pooch's word for a wrong checksum
        raise UserError(
            f"What came from {origin} for {what} is not the published file "
            f"(its SHA-256 differs): try again, or {instead}."
        ) from error
    return cache.abspath


def record_of_own_files(name: str, path: Path, checksum: str) -> dict[str, str]:
    """Return the record of one's own files for a run's manifest; "" where unknown."""
    known = {
        "name": name,
        "title": path.name,
        "url": str(path.resolve()),
        "checksum": checksum,
    }
    return dict.fromkeys(SOURCE_RECORD_FIELDS, "") | known
