"""Probing a bundled model in the page: what can be asked, and the bundle that the page loads."""

from book.tools.live.asking import MODEL, Question, answers, ask, question
from book.tools.live.bundle import Bundle, bundle, catalogue, opening
from book.tools.live.cases import Case, case
from book.tools.live.front import fact as front_fact
from book.tools.live.stills import Still, still

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
