"""Inputs on which hidden tests compare a student's function with the solution."""

import pandas as pd


def ex_monitor_reversals(random):
    """Draw tables with ties in both columns."""
    rows = random.integers(0, 4, (5, 2)) / [1, 4]
    return [pd.DataFrame(rows, columns=["avg", "MONITOR"], index=list("abcde"))]


def ex_monitor_ratio(random):
    """Draw facts of which some do not count."""
    facts = pd.DataFrame(
        random.uniform(0.01, 1, (6, 4)), columns=["pfd", "ird", "deviation", "anchor"]
    )
    return [facts.assign(counted=[True, *(random.random(5) < 0.6)])]


def ex_monitor_readings(random):
    """Draw tables in which some tokens are missing, and nothing follows others."""
    words = list("abcdef")
    table = {
        last: {
            token: float(random.random()) for token in words if random.random() < 0.6
        }
        for last in ["?", *words[:4]]
    }
    name = [*random.choice(words[:4], random.integers(4)), random.choice(words)]
    return [table, "?", [str(token) for token in name]]
