"""Inputs on which hidden tests compare a student's function with the solution."""

import pandas as pd


def ex_latent_floor(random):
    """Draw a second model that knows all or nothing, so that the rate is sure."""
    seed = int(random.integers(1000))
    return [float(random.uniform(0.3, 0.9)), int(random.integers(2)), 200, seed]


def ex_latent_commonest(random):
    """Draw relations with few objects, some equally frequent, in no order."""
    relations = random.choice(["a", "b", "c"], size=(2, 15))
    relations[:, :3] = ["b", "a", "c"]
    objects = random.choice(["z", "y", "x"], size=(2, 15))
    return [
        pd.DataFrame({"relation": relation, "object": named})
        for relation, named in zip(relations, objects, strict=True)
    ]


def ex_latent_end(random):
    """Draw the probabilities of three choices, which need not add up to one."""
    return [
        dict(zip(["C", "Cr", "O"], values, strict=True))
        for values in random.uniform(0.05, 0.9, (2, 3))
    ]
