"""Facts to probes, one row a prompt and continuation: single questions, lists, and texts around."""

from helpers.prompts.frames import COLUMNS, fact_checks, fill, monitor, questions

__all__ = ["COLUMNS", "fact_checks", "fill", "monitor", "questions"]
