"""Probes to answers: exact log-probabilities, greedy text, attributions."""

from helpers.probing.engine import scoring_method
from helpers.probing.generation import generate, score_and_generate
from helpers.probing.scoring import score, score_sentences, scoring_work, work_counter

__all__ = [
    "generate",
    "score",
    "score_and_generate",
    "score_sentences",
    "scoring_method",
    "scoring_work",
    "work_counter",
]
