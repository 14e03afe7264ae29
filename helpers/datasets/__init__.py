"""Facts and questions: bundled, fetched, or your own files."""

from helpers.datasets.atlas_facts import HELD_OUT
from helpers.datasets.catalogue import NAMES, frames, load, notes, relations, source
from helpers.datasets.cooccurrence import cooccurrences, documents
from helpers.datasets.distraction import unrelated
from helpers.datasets.exposure import plain, training
from helpers.datasets.knowledge import knowledge
from helpers.datasets.own import write
from helpers.datasets.panel import offered, panel, truth
from helpers.datasets.questions import seen_qa
from helpers.datasets.unseen import unseen_qa

__all__ = [
    "HELD_OUT",
    "NAMES",
    "cooccurrences",
    "documents",
    "frames",
    "knowledge",
    "load",
    "notes",
    "offered",
    "panel",
    "plain",
    "relations",
    "seen_qa",
    "source",
    "training",
    "truth",
    "unrelated",
    "unseen_qa",
    "write",
]
