"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_comparison_paired(random):
    """Draw the marks of two models on the same facts."""
    return random.integers(0, 3, (2, random.integers(2, 12))).tolist()


def ex_comparison_holm(random):
    """Draw one to six p-values, some of them equal."""
    values = [*random.uniform(0, 0.6, 4), *random.uniform(0, 0.05, 4)]
    return [random.choice(values, random.integers(1, 7)).tolist()]


def ex_comparison_facts(random):
    """Draw how many facts models disagree on, and how often the better one wins."""
    return [random.uniform(0.05, 0.9), random.uniform(0.55, 0.95)]
