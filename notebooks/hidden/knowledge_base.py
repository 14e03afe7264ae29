"""Inputs on which hidden tests compare a student's function with the solution."""

import pandas as pd


def ex_kb_hidden(random):
    """Draw tables with ties, and gains that some pairs just reach."""
    rates = random.integers(0, 5, (5, 2)) / 8
    table = pd.DataFrame(rates, columns=["CR", "NCR"], index=list("abcde"))
    return [table, int(random.integers(1, 3)) / 8]


def ex_kb_k(random):
    """Draw responses of which some never waver, and fewer columns than there are."""
    chosen = (random.random((6, 8)) < random.random((6, 1))).astype(int)
    return [chosen, int(random.integers(1, 9))]


def ex_kb_even(random):
    """Draw two pairs of rates, often with one rate in common."""
    return [tuple(pair) for pair in (random.integers(0, 4, (2, 2)) / 8).tolist()]
