"""Exact log-probabilities of continuations, and greedy text, for any model."""

from helpers.probing.engine import method
from helpers.probing.generation import generate
from helpers.probing.scoring import score, work

__all__ = ["generate", "method", "score", "work"]
