"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_atlas_count(random):
    """Draw lines with a fact at the end, after a word, or before something else."""
    frames = [
        "Which country is [X] in? [Y]",
        "[X] is located in [Y].",
        "In [Y] lies [X]",
    ]
    fact = {"[X]": "Lima", "[Y]": "Peru"}
    lines = []
    for _ in range(20):
        line = frames[random.integers(3)]
        for place, name in fact.items():
            line = line.replace(place, random.choice([name, name, "Oslo"]))
        before, after = random.choice(["", "Cuba. "]), random.choice(["", "", " Cuba."])
        lines.append(f"{before}{line}{after}")
    kept = random.integers(1, 4)
    return [lines, frames[:kept], *fact.values()]


def ex_atlas_n(random):
    """Draw a share, and a reach that two facts or some dozen have."""
    return [float(random.uniform(0.05, 0.95)), float(random.uniform(0.15, 0.5))]


def ex_atlas_half(random):
    """Draw curves: some begin above one half, touch it, dip below it, or stay below."""
    levels = sorted(2 ** random.choice(8, size=5, replace=False))
    low, high = random.uniform(0, 0.4), random.uniform(0.6, 1)
    middle = [random.choice([0.5, random.random()]) for _ in levels[1:-1]]
    begin, top = random.choice([low, low, high]), random.choice([1, 1, 0.4])
    shares = [top * share for share in (begin, *middle, high)]
    return [{int(levels[i]): float(shares[i]) for i in random.permutation(len(levels))}]
