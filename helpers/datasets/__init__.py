"""Facts to ask about: the bundled atlas, FKTC from its repository, or your own files."""

from helpers.datasets.catalogue import NAMES, frames, load, relations, source
from helpers.datasets.exposure import exposures, plain, training

__all__ = ["NAMES", "exposures", "frames", "load", "plain", "relations", "source", "training"]
