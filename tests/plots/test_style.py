"""One look for all figures: colours of models, and text that is no formula."""

import pandas as pd

from helpers import plots, published
from helpers.plots import primitives
from tests.plots.drawn import draw


def test_a_model_has_one_colour():
    assert plots.model_colour("runs/atlas-s/") == plots.model_colour("atlas-s")
    assert plots.model_colour("EleutherAI/pythia-70m") == plots.model_colour("pythia-70m")
    models = published.load("monitor_table4").index
    assert len({plots.model_colour(model) for model in models}) == 12
    bundled = [f"atlas-{size}" for size in ("xs", "s", "m", "l", "xl")]
    assert len({plots.model_colour(model) for model in bundled}) == 5


def test_curves_of_one_figure_differ_in_colour(ax):
    names = ["right word before", "frames alone", "wrong word before", "other", "more", "atlas-s"]
    table = pd.DataFrame({"name": names, "n": 1, "estimate": 0.5})
    primitives.curves(table, "n", "name", ax)
    seen = [line.get_color() for line in ax.get_lines()][::2]
    assert len(set(seen)) == len(names)
    assert seen[-1] == plots.model_colour("atlas-s")


def test_a_name_with_dollars_is_no_formula(ax):
    ax.set_title("$_$")  # as a formula, it would be a mistake and stop the run
    draw(ax)
