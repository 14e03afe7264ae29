"""Probing a bundled model in the page: what can be asked, and the bundle that the page loads."""

from helpers.publishing.live.asking import MODEL, Question, answers, ask, question
from helpers.publishing.live.bundle import Bundle, bundle, catalogue, opening
from helpers.publishing.live.cases import Case, case
from helpers.publishing.live.front import fact as front_fact
from helpers.publishing.live.stills import Still, still

__all__ = [
    "MODEL",
    "Bundle",
    "Case",
    "Question",
    "Still",
    "answers",
    "ask",
    "bundle",
    "case",
    "catalogue",
    "front_fact",
    "opening",
    "question",
    "still",
]
