"""Probing a bundled model in the page: what can be asked, and the bundle that the page loads."""

from helpers.live.asking import Question, answers, ask, question
from helpers.live.bundle import Bundle, bundle, catalogue, opening

__all__ = ["Bundle", "Question", "answers", "ask", "bundle", "catalogue", "opening", "question"]
