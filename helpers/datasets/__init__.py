"""Facts and questions: bundled, fetched, or your own files."""

from helpers.datasets.atlas_facts import HELD_OUT
from helpers.datasets.catalogue import NAMES, frames, load, notes, relations, source
from helpers.datasets.control_words import unrelated
from helpers.datasets.dataset_writer import write
from helpers.datasets.exposure import plain, training
from helpers.datasets.knowledge_questions import knowledge
from helpers.datasets.panel import offered, panel, truth
from helpers.datasets.seen_questions import seen_qa
from helpers.datasets.unseen_questions import unseen_qa

__all__ = [
    "HELD_OUT",
    "NAMES",
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
