"""Facts to probes: one row a prompt and continuation.

`frames` asks single questions; `lists` puts a subject behind pairs of its relation, `sequences`
asks many in one list, `baselines` asks the same choices in sentences; `formats` holds the texts
around questions, options and pairs.
"""

from helpers.prompts.frames import COLUMNS, fact_checks, fill, monitor, questions

__all__ = ["COLUMNS", "fact_checks", "fill", "monitor", "questions"]
