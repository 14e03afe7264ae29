"""Where the data come from, as ``sources.toml`` lists it, and how published files are fetched."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from helpers.datasets import download

DATA = Path(__file__).resolve().parent / "data"
ABOUT = ("name", "title", "licence", "url", "version", "citation")


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
        return self.checksum or (next(iter(self.files.values())) if len(self.files) == 1 else "")

    def about(self, checksum: str) -> dict[str, str]:
        """Return the record of a run's manifest."""
        return {name: getattr(self, name) for name in ABOUT} | {"checksum": checksum}


def _read() -> dict[str, Source]:
    text = Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")
    found = {}
    for name, told in tomllib.loads(text).items():
        for key in {"url", "base"} & told.keys():
            told[key] = told[key].replace("{version}", told["version"])
        lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
        found[name] = Source(name, **told | lists)
    return found


SOURCES = _read()


def of_kind(*kinds: str) -> tuple[str, ...]:
    """Return the names of the data sets of some kinds."""
    return tuple(source.name for source in SOURCES.values() if source.kind in kinds)


def fetch(name: str) -> Path:
    """Fetch a data set's files into the user's cache, once, and return their folder."""
    import pooch

    source, folder = SOURCES[name], download.cache(name)
    known = {file: sha256 or None for file, sha256 in source.files.items()}
    files = pooch.create(folder, source.base, registry=known)
    instead = f"download {source.url} and give its path in place of the name '{name}'"

    def get() -> None:
        for file in known:
            files.fetch(file)

    download.tried(get, f"the data set {name}", source.base, instead)
    return folder


def unpublished(name: str, path: Path, checksum: str) -> dict[str, str]:
    """Return the record of a run's manifest for files of one's own; what is not known is ""."""
    known = {"name": name, "title": path.name, "url": str(path.resolve()), "checksum": checksum}
    return dict.fromkeys(ABOUT, "") | known
