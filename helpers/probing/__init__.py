"""Exact log-probabilities of continuations, and greedy text, for any model."""

from helpers.probing.engine import method
from helpers.probing.generation import generate
from helpers.probing.scoring import score

__all__ = ["generate", "method", "score"]
