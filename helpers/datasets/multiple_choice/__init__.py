"""Questions with options: facts, six published benchmarks, or your own CSV."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatch
from pathlib import Path

from helpers import UserError
from helpers.datasets import catalogue, facts_without_questions
from helpers.datasets.multiple_choice import benchmarks, from_facts, items
from helpers.datasets.multiple_choice.from_facts import (
    LESSONS,
    expected_class,
    lesson_of_each_item,
)
from helpers.datasets.multiple_choice.items import Benchmark
from helpers.datasets.registry import SOURCES, dataset_names_of_kind, fetch_dataset
from helpers.io import files

__all__ = [
    "ALL_DATASET_NAMES",
    "LESSONS",
    "QUESTION_SET_NAMES",
    "Benchmark",
    "expected_class",
    "lesson_of_each_item",
    "load_benchmark",
    "dataset_kind",
]

QUESTION_SET_NAMES = dataset_names_of_kind("facts", "options")
ALL_DATASET_NAMES = (
    *catalogue.DATASET_NAMES,
    "seen_qa",
    *dataset_names_of_kind("options"),
)  # of any chapter


def load_benchmark(
    name: str | Path,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    relations: Sequence[str] | None = None,
    model: str = "",
    only: Collection[str] | None = None,
) -> Benchmark:
    """Return a set of questions with options.

    >>> found = load_benchmark("atlas", n=3, relations=["P36"])
    >>> found.items["options"].str.len().tolist(), found.kinds
    ([5, 5, 5], ('frames', 'order', 'demonstrations', 'options'))
    """
    found = dataset_kind(name)
    if found == "facts":
        return from_facts.benchmark_from_facts(
            str(name), n, seed, n_options, relations, model, only
        )
    if found != "options":
        raise UserError(
            f"{name} holds facts without questions: name another set of questions."
        )
    path = (
        fetch_dataset(str(name))
        if str(name) in dataset_names_of_kind("options")
        else Path(name).expanduser()
    )
    benchmark, named = _published(path)
    with files.reraise_as_malformed_file(name):
        read = (
            benchmarks.read_benchmark(benchmark, named)
            if named
            else items.read_question_csv(path)
        )
    return read.sample(n, seed)


def dataset_kind(name: str | Path) -> str:
    """Return what a data set holds: "facts" with questions, "pairs" without, or "options".

    >>> dataset_kind("atlas"), dataset_kind("nobel"), dataset_kind("fever")
    ('facts', 'pairs', 'options')
    """
    path = Path(name).expanduser()
    if str(name) in ALL_DATASET_NAMES and str(name) in SOURCES:
        return SOURCES[str(name)].kind
    if facts_without_questions.dataset_at_path(path):
        return "pairs"
    if not path.exists():
        raise catalogue.missing_dataset_error(
            name, ALL_DATASET_NAMES, "a folder or a CSV file"
        )
    return (
        "options"
        if _published(path)[0] or path.suffix.casefold() == ".csv"
        else "facts"
    )


def _published(path: Path) -> tuple[str, list[Path]]:
    """Return the benchmark whose published names some files have, and these; none for your own."""
    paths = sorted(path.iterdir()) if path.is_dir() else [path]
    for name in dataset_names_of_kind("options"):
        patterns = SOURCES[name].patterns
        if named := [
            p for p in paths if any(fnmatch(p.name, pattern) for pattern in patterns)
        ]:
            return name, named
    return "", []
