"""Questions with options: the atlas, six published benchmarks, or your own CSV."""

from helpers.datasets.multiple_choice.benchmark import Benchmark
from helpers.datasets.multiple_choice.catalogue import NAMES, load

__all__ = ["NAMES", "Benchmark", "load"]
