"""Facts to probes: one row a prompt and continuation.

`frames` asks single questions; `lists` puts a subject behind pairs of its relation; `formats` holds
the texts around questions, options and pairs.
"""

from helpers.prompts.frames import COLUMNS, fact_checks, fill, monitor, questions

__all__ = ["COLUMNS", "fact_checks", "fill", "monitor", "questions"]
