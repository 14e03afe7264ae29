"""One look for all figures: colours of models, and text that is no formula."""

import pandas as pd
import pytest
from matplotlib.text import Text

from book.tools import live_model
from notebooks.kit import plots, published
from notebooks.kit.plots import shared_figures, style
from notebooks.kit.plots.style import FIGURE_WIDTH
from tests.plots.figure_texts import draw_figure


def test_a_model_has_one_colour():
    assert plots.model_colour("runs/atlas-s/") == plots.model_colour("atlas-s")
    assert plots.model_colour("EleutherAI/pythia-70m") == plots.model_colour(
        "pythia-70m"
    )
    models = published.load_published_table("monitor_table4").index
    assert len({plots.model_colour(model) for model in models}) == 12
    bundled = [f"atlas-{size}" for size in ("xs", "s", "m", "l", "xl")]
    assert len({plots.model_colour(model) for model in bundled}) == 5


def test_curves_of_one_figure_differ_in_colour(ax):
    names = [
        "right word before",
        "frames alone",
        "wrong word before",
        "other",
        "more",
        "atlas-s",
    ]
    table = pd.DataFrame({"name": names, "n": 1, "estimate": 0.5})
    shared_figures.curve_plot(table, "n", "name", ax)
    seen = [line.get_color() for line in ax.get_lines()][::2]
    assert len(set(seen)) == len(names)
    assert seen[-1] == plots.model_colour("atlas-s")


def test_a_glyph_of_a_font_at_hand_is_drawn(monkeypatch):
    symbols = style.font_manager.get_font(style.font_manager.findfont("STIXNonUnicode"))
    own = next(
        chr(code)
        for code in symbols.get_charmap()
        if style.drawable_text(chr(code)) == "▯"
    )
    style._has_glyph.cache_clear()
    monkeypatch.setattr(style, "FALLBACK_FONTS", ("STIXNonUnicode", "No Such Font"))
    assert style.drawable_text(own) == own
    assert style._fonts() == ["DejaVu Sans", "STIXNonUnicode"]
    style._has_glyph.cache_clear()


ROWS = pd.DataFrame(
    {"label": list("abc"), "estimate": 0.5, "low": 0.4, "high": 0.6, "x": [0, 1, 4]}
)
SHARES = pd.DataFrame({"known": [0.4, 0.6], "unknown": [0.6, 0.4]}, index=["a", "b"])
OBJECTS = pd.DataFrame({"object": ["Peru"], "probability": 0.5, "told": ""})
FIGURES = {
    "dots": lambda: shared_figures.dot_plot(ROWS, by="label", share=True),
    "forest": lambda: shared_figures.forest_plot(ROWS),
    "curves": lambda: shared_figures.curve_plot(ROWS, "x", "label", axis="doublings"),
    "scatter": lambda: shared_figures.scatter_plot(ROWS, "x", "estimate"),
    "heat map": lambda: shared_figures.heat_map(SHARES, "share"),
    "bars": lambda: shared_figures.stacked_bar_plot(SHARES, xlabel="share"),
    "objects": lambda: live_model.draw_probability_bars(OBJECTS),
    "empty": lambda: plots.empty_panel(None, "There is nothing to draw."),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_a_phone_and_its_text_can_be_read_there(name):
    """At half its size, as the pages show it there: 9 points at 144 dpi are then 9 pixels."""
    plots.use_style()
    figure = FIGURES[name]().figure
    draw_figure(figure.axes[0])
    assert figure.get_figwidth() <= FIGURE_WIDTH
    assert (
        min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text())
        >= 9
    )
