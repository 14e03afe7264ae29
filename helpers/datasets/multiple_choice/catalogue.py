"""One way to load every set of questions: by name, or by the path of its files."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from helpers import UserError
from helpers.datasets import catalogue, download
from helpers.datasets.multiple_choice import atlas, own
from helpers.datasets.multiple_choice.benchmark import Benchmark
from helpers.datasets.multiple_choice.published import READERS, SOURCES

NAMES = (*(name for name in catalogue.NAMES if name not in catalogue.OTHERS), *SOURCES)
KNOWN = (*catalogue.NAMES, "seen_qa", *SOURCES)  # of any chapter


def load(
    name: str | Path,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    relations: Sequence[str] | None = None,
    model: str = "",
) -> Benchmark:
    """Return a set of questions with options.

    Parameters
    ----------
    name
        ``"atlas"`` or ``"fktc"``; the name of a benchmark, which is fetched once
        (``truthfulqa``, ``factor``, ``medhalt``, ``commonsenseqa``, ``fever``, ``truefalse``); the
        path of a folder with the files of one benchmark under their published names, of one such
        file, of your own CSV, or of a folder of facts in the format of FKTC.
    n, seed
        Number of items drawn with the seed; None for all.
    n_options, relations, model
        For facts only; see :func:`helpers.datasets.multiple_choice.atlas.load`.

    Raises
    ------
    UserError
        If there is no such set or file, or something in it is malformed.

    Examples
    --------
    >>> found = load("atlas", n=3, relations=["P36"])
    >>> found.items["options"].str.len().tolist(), found.kinds
    ([5, 5, 5], ('frames', 'order', 'demonstrations', 'options'))
    """
    found = shape(name)
    if found == "facts":
        return atlas.load(str(name), n, seed, n_options, relations, model)
    if found != "options":
        raise UserError(f"{name} holds facts without questions: name another set of questions.")
    paths = [Path(name).expanduser()]
    if source := SOURCES.get(str(name)):
        paths = [download.fetch(source.name, source.base, source.files, source.url)]
    paths = sorted(paths[0].iterdir()) if paths[0].is_dir() else paths
    benchmark, named = _published(paths)
    return (READERS[benchmark](named) if named else own.read(paths)).sample(n, seed)


def shape(name: str | Path) -> str:
    """Return what a data set holds: "facts" with questions, "pairs" without, or "options".

    >>> shape("atlas"), shape("nobel"), shape("fever")
    ('facts', 'pairs', 'options')
    """
    if str(name) in SOURCES:
        return "options"
    if str(name) in NAMES:
        return "facts"
    path = Path(name).expanduser()
    if str(name) in catalogue.OTHERS or any(m.reads(path) for m in catalogue.OTHERS.values()):
        return "pairs"
    if not path.exists():
        _refuse(str(name))
    paths = sorted(path.iterdir()) if path.is_dir() else [path]
    return "options" if _published(paths)[0] or path.suffix.casefold() == ".csv" else "facts"


def _published(paths: list[Path]) -> tuple[str, list[Path]]:
    """Return the benchmark whose published names some files have, and these; none for your own."""
    for name, source in SOURCES.items():
        named = [p for p in paths if any(fnmatch(p.name, pattern) for pattern in source.patterns)]
        if named:
            return name, named
    return "", []


def _refuse(name: str) -> None:
    if "/" in name or Path(name).suffix:
        raise UserError(f"There is no file or folder {name}: check the path of the data.")
    raise UserError(
        f"There is no data set {name!r}: give one of {', '.join(KNOWN)}, or the path of a folder "
        "or a CSV file."
    )
