"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_multiplicity_rarefy(random):
    """Draw the options that one question got, and how many of them to pick."""
    choices = random.integers(0, 3, random.integers(1, 8)).tolist()
    return [choices, int(random.integers(1, len(choices) + 1))]


def ex_multiplicity_lazy(random):
    """Draw prompts with two to four options, after or before the question."""
    names = ["Peru", "South Sudan", "Sudan", "Chile"][: random.integers(2, 5)]
    prompts = []
    for _ in range(7):
        line = "OPTIONS: " + "; ".join(random.permutation(names))
        question = f"Is {random.choice(names)} right; or not?"
        prompts.append("\n".join(random.permutation([line, question])))
    return [prompts, random.choice(names, 7).tolist()]


def ex_multiplicity_bounds(random):
    """Draw two accuracies, from none to all."""
    return (random.integers(0, 9, 2) / 8).tolist()
