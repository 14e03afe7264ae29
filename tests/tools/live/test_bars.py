"""The still figure of an answer: bars in their order, with their values."""

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from book.tools.live_model import draw_probability_bars
from notebooks.kit.plots.style import BLUE, GREEN, RED
from tests.plots.figure_texts import label_texts


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


OBJECTS = pd.DataFrame(
    {
        "object": ["Chad", "$5", "Peru"],
        "probability": [0.04, 0.9, 0.06],
        "told": ["false", "", "true"],
    }
)


def test_bars_stand_in_order_with_their_values_and_colours():
    ax = draw_probability_bars(OBJECTS)
    bars = ax.patches
    assert [bar.get_width() for bar in bars] == [0.9, 0.06, 0.04]
    assert [mpl.colors.to_hex(bar.get_facecolor()) for bar in bars] == [
        BLUE,
        GREEN,
        RED,
    ]
    assert label_texts(ax.texts) == ["90.0 %", "6.0 %", "4.0 %"]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["$5", "Peru (true)", "Chad (stated falsely)"]


def test_hollow_bars_are_those_before():
    ax = draw_probability_bars(OBJECTS.assign(before=[0.1, 0.2, 0.3]))
    solid, hollow = ax.patches[:3], ax.patches[3:]
    assert not any(bar.get_fill() for bar in hollow)
    middles = [
        [bar.get_y() + bar.get_height() / 2 for bar in bars] for bars in (solid, hollow)
    ]
    assert middles[0] == pytest.approx(middles[1])
    assert [bar.get_width() for bar in hollow] == [
        0.2,
        0.3,
        0.1,
    ]  # of $5, Peru and Chad
    bottom, top = ax.get_ylim()
    assert bottom > top  # the likeliest is on top
