"""Measure what a language model knows: facts, probes, answers, metrics, figures."""

from collections.abc import Iterable


class UserError(ValueError):
    """Something the user gave cannot be used; the message names it and the remedy.

    Command-line entries print the message alone and exit with status 2.
    """


def check_columns(table, columns: Iterable[str], what: str) -> None:
    """Refuse a table (of answers, of facts ...) that lacks one of these columns."""
    missing = [name for name in dict.fromkeys(columns) if name not in table.columns]
    if missing:
        many = "s" * (len(missing) > 1)
        raise UserError(f"The table of {what} lacks the column{many} {', '.join(missing)}.")
