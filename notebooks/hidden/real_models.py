"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_real_exact(random):
    """Draw two rankings of two to six models."""
    ranks = range(1, random.integers(3, 8))
    return [random.permutation(ranks).tolist() for _ in "ab"]


def ex_real_partial(random):
    """Draw three correlations."""
    return random.uniform(-0.9, 0.9, 3).tolist()


def ex_real_draws(random):
    """Draw a number of families."""
    return [int(random.integers(1, 9))]
