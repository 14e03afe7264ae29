"""Inputs on which hidden tests compare a student's function with the solution."""


def ex_calibration_kappa(random):
    """Draw four counts."""
    return random.integers(1, 40, 4).tolist()


def ex_calibration_dose(random):
    """Draw a probability, and a curve."""
    return [random.uniform(0.1, 0.9), random.uniform(-3, 1), random.uniform(0.5, 2)]


def ex_calibration_dummies(random):
    """Draw two counts of relations."""
    return random.integers(1, 50, 2).tolist()
