"""Probes to answers: exact log-probabilities, greedy text, attributions."""

from helpers.probing.engine import method
from helpers.probing.generation import generate, score_and_generate
from helpers.probing.scoring import metered, score, score_sentences, work

__all__ = [
    "generate",
    "metered",
    "method",
    "score",
    "score_and_generate",
    "score_sentences",
    "work",
]
