"""Measure what a language model knows: facts, probes, answers, metrics, figures."""


class UserError(ValueError):
    """Something the user gave cannot be used; the message names it and the remedy.

    Command-line entries print the message alone and exit with status 2.
    """
