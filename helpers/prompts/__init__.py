"""Facts to probes, one row a prompt and continuation: questions, lists, and texts."""

from helpers.prompts.frames import (
    QUESTION_COLUMNS,
    fact_check_probes,
    fill_template,
    monitor_probes,
    question_probes,
)

__all__ = [
    "QUESTION_COLUMNS",
    "fact_check_probes",
    "fill_template",
    "monitor_probes",
    "question_probes",
]
