"""Exact log-probabilities of continuations, and greedy text, for any model."""

from helpers.probing.generation import generate
from helpers.probing.scoring import score

__all__ = ["generate", "score"]
