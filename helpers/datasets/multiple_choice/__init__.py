"""Questions with options: facts, six published benchmarks, or your own CSV."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatch
from pathlib import Path

from helpers import UserError
from helpers.datasets import catalogue, facts_without_questions
from helpers.datasets.multiple_choice import benchmarks, from_facts, items
from helpers.datasets.multiple_choice.from_facts import LESSONS, expected, lessons_of
from helpers.datasets.multiple_choice.items import Benchmark
from helpers.datasets.registry import SOURCES, fetch, of_kind
from helpers.io import files

__all__ = [
    "KNOWN",
    "LESSONS",
    "NAMES",
    "Benchmark",
    "expected",
    "lessons_of",
    "load",
    "shape",
]

NAMES = of_kind("facts", "options")
KNOWN = (*catalogue.NAMES, "seen_qa", *of_kind("options"))  # of any chapter


def load(
    name: str | Path,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    relations: Sequence[str] | None = None,
    model: str = "",
    only: Collection[str] | None = None,
) -> Benchmark:
    """Return a set of questions with options.

    >>> found = load("atlas", n=3, relations=["P36"])
    >>> found.items["options"].str.len().tolist(), found.kinds
    ([5, 5, 5], ('frames', 'order', 'demonstrations', 'options'))
    """
    found = shape(name)
    if found == "facts":
        return from_facts.load(str(name), n, seed, n_options, relations, model, only)
    if found != "options":
        raise UserError(
            f"{name} holds facts without questions: name another set of questions."
        )
    path = (
        fetch(str(name)) if str(name) in of_kind("options") else Path(name).expanduser()
    )
    benchmark, named = _published(path)
    with files.understood(name):
        read = benchmarks.read(benchmark, named) if named else items.read_csv(path)
    return read.sample(n, seed)


def shape(name: str | Path) -> str:
    """Return what a data set holds: "facts" with questions, "pairs" without, or "options".

    >>> shape("atlas"), shape("nobel"), shape("fever")
    ('facts', 'pairs', 'options')
    """
    path = Path(name).expanduser()
    if str(name) in KNOWN and str(name) in SOURCES:
        return SOURCES[str(name)].kind
    if facts_without_questions.recognised(path):
        return "pairs"
    if not path.exists():
        raise catalogue.absent(name, KNOWN, "a folder or a CSV file")
    return (
        "options"
        if _published(path)[0] or path.suffix.casefold() == ".csv"
        else "facts"
    )


def _published(path: Path) -> tuple[str, list[Path]]:
    """Return the benchmark whose published names some files have, and these; none for your own."""
    paths = sorted(path.iterdir()) if path.is_dir() else [path]
    for name in of_kind("options"):
        patterns = SOURCES[name].patterns
        if named := [
            p for p in paths if any(fnmatch(p.name, pattern) for pattern in patterns)
        ]:
            return name, named
    return "", []
