"""Inputs on which hidden tests compare a student's function with the solution."""

from itertools import permutations


def ex_real_exact(random):
    """Draw two rankings of two to six models of which rounding breaks no tie."""
    while True:
        n = int(random.integers(2, 7))
        a, b = (random.permutation(range(1, n + 1)).tolist() for _ in "ab")
        whole = n * (n**2 - 1)
        far = [6 * sum((x - y) ** 2 for x, y in zip(a, c)) for c in permutations(b)]
        exact = sum(abs(whole - d) >= abs(whole - far[0]) for d in far)
        if exact == sum(abs(1 - d / whole) >= abs(1 - far[0] / whole) for d in far):
            return [a, b]


def ex_real_partial(random):
    """Draw three correlations."""
    return random.uniform(-0.9, 0.9, 3).tolist()


def ex_real_draws(random):
    """Draw a number of families."""
    return [int(random.integers(1, 9))]
