"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_published_grim(random):
    """Draw a percentage that a count gives, or one beside it."""
    n = int(
        2 * random.integers(3, 2000) + 1
    )  # odd, so that no percentage ends in a half
    printed = round(100 * int(random.integers(n + 1)) / n, 2)
    return [round(min(printed + float(random.choice([0, 0.01])), 100), 2), n]


def ex_published_fisher(random):
    """Draw a correlation, and a number of models."""
    return [random.uniform(-0.95, 0.95), int(random.integers(4, 60))]


def ex_published_bounds(random):
    """Draw two shares."""
    return (random.integers(1, 9, 2) / 8).tolist()
