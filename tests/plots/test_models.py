"""Figures of published models show each model, its family's colour, and what is in doubt."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.legend import Legend

from helpers import plots
from helpers.plots import style
from tests.plots.drawn import draw, legend, texts

TABLE = pd.DataFrame(
    {
        "family": ["Llama 2", "Llama 2", "OPT", "OPT"],
        "kind": ["base", "tuned", "base", "base"],
        "doubtful": [False, True, False, False],
        "x": [0.1, 0.5, 0.9, np.nan],
        "y": [0.2, 0.1, 0.4, 0.3],
        "rank_x": [3, 2, 1, 4],
        "rank_y": [2.5, 2.5, 1, 4],
    },
    index=pd.Index(["Llama 2 7B", "Llama 2 7B Chat", "OPT 13B", "OPT 6.7B"], name="model"),
)


def test_scatter_shows_the_models_that_have_both(ax):
    draw(plots.family_scatter(TABLE, "x", "y", ax))
    assert sorted(texts(ax.texts)) == sorted(TABLE.index[:3])
    assert legend(ax) == ["base", "tuned", "match in doubt"]
    families = [one for one in ax.get_children() if isinstance(one, Legend)]
    assert ["Llama 2", "OPT"] in [texts(one.get_texts()) for one in families]
    look = [(line.get_marker(), line.get_color()) for line in ax.lines]
    two, opt = style.family_colour("Llama 2"), style.family_colour("OPT")
    assert look == [("o", two), ("^", two), ("o", opt)]
    assert [line.get_markerfacecolor() for line in ax.lines] == [two, "white", opt]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_scatter_explains_only_what_it_shows(ax):
    sure = TABLE[TABLE["kind"] == "base"].drop(columns="doubtful")
    draw(plots.family_scatter(sure, "x", "y", ax))
    assert legend(ax) == ["base"]


def test_two_orders_join_the_places_of_each_model(ax):
    draw(plots.two_orders(TABLE, ("first", "second"), ax))
    assert [tuple(line.get_ydata()) for line in ax.lines] == [(3, 2.5), (2, 2.5), (1, 1), (4, 4)]
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--", "-", "-"]
    assert "Llama 2 7B, Llama 2 7B Chat" in texts(ax.texts)  # they share a place on the right
    assert len(ax.texts) == 7
    assert texts(ax.get_xticklabels()) == ["first", "second"]
    assert ax.yaxis_inverted()


def test_map_writes_rho_above_n_and_n_alone_for_too_few(ax):
    names = ["a", "b", "c"]
    rho = {("b", "a"): (0.5, 7), ("c", "a"): (np.nan, 4), ("c", "b"): (-0.81, 15)}
    rows = [(x, y, n, r) for (x, y), (r, n) in rho.items()]
    rows += [(y, x, n, r) for x, y, n, r in rows]
    table = pd.DataFrame(rows, columns=["x", "y", "n", "rho"])
    table = table.sort_values("x", key=lambda x: x.map(names.index), kind="stable")
    draw(plots.correlation_map(table, ax))
    assert sorted(texts(ax.texts)) == ["-0.81\n15", "0.50\n7", "4"]
    assert texts(ax.get_yticklabels()) == ["b", "c"]
    assert texts(ax.get_xticklabels()) == ["a", "b"]


@pytest.mark.parametrize("n_rows", [0, 1])
def test_without_models_a_panel_says_why(n_rows):
    part = TABLE.assign(x=np.nan).head(n_rows)
    assert "No model has both x and y." in texts(plots.family_scatter(part, "x", "y").texts)
    if not n_rows:
        assert texts(plots.two_orders(part, ("p", "q")).texts) == ["No model has both p and q."]
        assert texts(plots.correlation_map(pd.DataFrame({"x": []})).texts)
