"""Questions with options: facts, six published benchmarks, or your own table."""

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
    "dataset_kind",
    "expected_class",
    "lesson_of_each_item",
    "load_benchmark",
]

QUESTION_SET_NAMES = dataset_names_of_kind("facts", "options")
BENCHMARK_NAMES = dataset_names_of_kind("options")
ALL_DATASET_NAMES = (*catalogue.DATASET_NAMES, "seen_qa", *BENCHMARK_NAMES)


def load_benchmark(  # noqa: PLR0917 - chapters give all by position
    name: str | Path,
    n: int | None = None,
    seed: int = 0,
    n_options: int = 5,
    relations: Sequence[str] | None = None,
    model: str = "",
    only: Collection[str] | None = None,
) -> Benchmark:
    """Return a set of questions with options.

    >>> bench = load_benchmark("atlas", n=3, relations=["P36"])
    >>> bench.items["options"].str.len().tolist(), bench.kinds
    ([5, 5, 5], ('frames', 'order', 'demonstrations', 'options'))
    """
    if isinstance(only, str):
        only = [only]
    kind = dataset_kind(name)
    if kind == "facts":
        return from_facts.benchmark_from_facts(
            str(name), n, seed, n_options, relations=relations, model=model, only=only
        )
    if kind != "options":
        raise UserError(
            f"{name} holds facts without questions: name another set of questions."
        )
    path = Path(name).expanduser()
    if str(name) in BENCHMARK_NAMES:
        path = fetch_dataset(str(name))
    benchmark_name, paths = _published_files(path)
    with files.reraise_as_malformed_file(name):
        if benchmark_name:
            benchmark = benchmarks.read_benchmark(benchmark_name, paths)
        else:
            benchmark = items.read_own_questions(path)
    return benchmark.sample(n, seed)


def dataset_kind(name: str | Path) -> str:
    """Return what is in a data set: "facts" with questions, "pairs" or "options".

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
    benchmark_name, _ = _published_files(path)
    if benchmark_name or items.holds_own_questions(path):
        return "options"
    return "facts"


def _published_files(path: Path) -> tuple[str, list[Path]]:
    """Return the benchmark whose published names some files have, and these, if any."""
    candidates = sorted(path.iterdir()) if path.is_dir() else [path]
    for name in BENCHMARK_NAMES:
        patterns = SOURCES[name].patterns
        paths = [file for file in candidates if _matches(file.name, patterns)]
        if paths:
            return name, paths
    return "", []


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether a file's name matches one of some patterns."""
    return any(fnmatch(name, pattern) for pattern in patterns)
