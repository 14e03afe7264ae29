"""Facts to probes: one row for every prompt and continuation that a model is to score.

`frames` asks single questions; `formats` holds the fixed texts around questions and options.
"""

from helpers.prompts.frames import COLUMNS, fact_checks, fill, monitor, questions

__all__ = ["COLUMNS", "fact_checks", "fill", "monitor", "questions"]
