"""The bars of a model's expectations."""

import pandas as pd
from matplotlib import colors
from matplotlib import pyplot as plt

from helpers import plots
from helpers.plots.objects import SHADES
from tests.plots.drawn import texts

TABLE = pd.DataFrame(
    {
        "object": ["Chad", "$5", "Peru"],
        "probability": [0.04, 0.9, 0.06],
        "told": ["false", "", "true"],
    }
)


def test_bars_stand_in_order_with_their_values_and_colours():
    ax = plots.object_bars(TABLE)
    bars = ax.patches
    assert [bar.get_width() for bar in bars] == [0.9, 0.06, 0.04]
    assert [colors.to_hex(bar.get_facecolor()) for bar in bars] == [
        SHADES[told] for told in ("", "true", "false")
    ]
    assert texts(ax.texts) == ["90.0 %", "6.0 %", "4.0 %"]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["$5", "Peru (true)", "Chad (told falsely)"]


def test_bars_are_drawn_where_asked_and_the_likeliest_is_on_top():
    _, given = plt.subplots()
    ax = plots.object_bars(TABLE, given)
    assert ax is given
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlim()[0] == 0
