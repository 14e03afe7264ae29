"""The one style: settings, colours, and what the figures share."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from textwrap import fill
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

PALETTE = (
    "#0173b2",
    "#de8f05",
    "#029e73",
    "#d55e00",
    "#cc78bc",
    "#a0693a",
    "#6e6e6e",
    "#56b4e9",
)
BLUE, ORANGE, GREEN, RED, PINK, TAN, GREY, SKY = PALETTE
_KEPT = tomllib.loads(files(__package__).joinpath("colours.toml").read_text("utf-8"))
_COLOURS, _FAMILIES = (
    {name: globals().get(colour, colour) for name, colour in _KEPT[kind].items()}
    for kind in ("names", "families")
)
INK = "#222222"
FIGURE_WIDTH = 4.6  # inches of a figure: at half its size it fits a phone, and nine points are nine pixels
FALLBACK_FONTS = _KEPT["fonts"]
OTHER_QUESTIONS = "other questions"  # than those of the paper whose models are drawn


def use_style() -> None:
    """Set the one style of the book for every figure drawn from now on.

    >>> import matplotlib
    >>> use_style()
    >>> matplotlib.rcParams["figure.figsize"], matplotlib.rcParams["figure.facecolor"]
    ([4.6, 3.1], 'white')
    """
    own = {"figure.figsize": (FIGURE_WIDTH, 3.1), "font.family": _fonts()}
    sns.set_theme(style="whitegrid", palette=PALETTE, rc=_KEPT["settings"] | own)


def model_colour(name: str) -> str:
    """Return the colour of a model, the same in every chapter.

    >>> model_colour("some/folder/atlas-s") == model_colour("Atlas-S") == "#0173b2"
    True
    """
    short = _short(name)
    return _COLOURS.get(short, PALETTE[crc32(short.encode()) % len(PALETTE)])


def family_colour(family: str) -> str:
    """Return the colour of a family of published models; grey for one of one or two models.

    >>> family_colour("Llama 2"), family_colour("Phi")
    ('#0173b2', '#6e6e6e')
    """
    return _FAMILIES.get(family, GREY)


def curve_colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each curve of one figure, none twice while the palette lasts.

    >>> curve_colours(["frames", "atlas-s"])["atlas-s"] == model_colour("atlas-s")
    True
    """
    names = list(dict.fromkeys(names))
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda name: _short(name) not in _COLOURS):
        colour = model_colour(name)
        spare = [other for other in PALETTE if other not in found.values()]
        taken = colour in found.values()
        found[name] = spare[0] if taken and spare else colour
    return {name: found[name] for name in names}


def _short(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].casefold()


def empty_panel(ax: Axes | None, reason: str) -> Axes:
    """Draw a panel without data that says why there are none.

    Parameters
    ----------
    ax : Axes, optional
        By default one that is not shown: the reason is displayed as text.
    reason : str

    Returns
    -------
    Axes
        Without ticks; labels set on it later are shown.

    Examples
    --------
    >>> [text.get_text() for text in empty_panel(plt.Figure().add_subplot(), "No fact counts.").texts]
    ['No fact counts.']
    """
    if ax is None:  # a figure of text would be a picture without a description
        from IPython.display import HTML, display  # which a script does not need

        display(HTML(f'<p class="nothing">{escape(reason)}</p>'))
        figure, ax = plt.subplots(figsize=(FIGURE_WIDTH, 1.3))
        plt.close(figure)
    ax.set(xticks=[], yticks=[])
    middle = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, fill(drawable_text(reason), 50), color=GREY, **middle)
    return ax


def error_bar_lengths(
    row: Mapping[str, float], column: str
) -> list[list[float]] | None:
    """Return how far the interval of `column` reaches below and above it, for ``errorbar``.

    >>> error_bar_lengths({"y": 0.5, "y_low": 0.25, "y_high": 1.0}, "y")
    [[0.25], [0.5]]
    """
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    return [[max(0.0, row[column] - low)], [max(0.0, high - row[column])]]


def show_axis_in_percent(axis: Axis) -> None:
    """Write an axis in percent, with all shares from 0 to 1 in view."""
    axis.axes.set(**{f"{axis.axis_name}lim": (-0.02, 1.02)})
    axis.set_major_formatter(PercentFormatter(1, symbol="\u2009%"))


def name_rows(ax: Axes, names: Iterable[object], **text: object) -> None:
    """Name the rows of a figure, the first on top, with half a row of room above and below."""
    shown = [drawable_text(str(name)) for name in names]
    ax.set_yticks(range(len(shown)), shown, **text)
    ax.set_ylim(len(shown) - 0.4, -0.6)


def set_log_scale(ax: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers: a power of ten would be set as a formula.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> set_log_scale(ax)
    >>> [ax.xaxis.get_major_formatter()(x) for x in (0.01, 1, 1000)]
    ['0.01', '1', '1,000']
    """
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
    )
    ax.xaxis.set_minor_formatter(NullFormatter())


def put_legend_above(ax: Axes) -> None:
    """Put the legend above the axes, where it hides nothing, if there is anything to tell.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> put_legend_above(ax)
    >>> ax.get_legend() is None
    True
    """
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        longest = max(len(label) for label in labels)
        columns = min(
            3, len(handles), max(1, 38 // longest)
        )  # 38 letters fill the width
        # At the right it reaches over the names of rows, which need the room.
        place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.3}
        ax.legend(handles, labels, ncols=columns, alignment="left", **place)


def drawable_text(text: str) -> str:
    """Show a string as it is, with a box for a glyph that is not at hand.

    >>> drawable_text("$5 and 京")
    '$5 and ▯'
    """
    return "".join(c if c == "\n" or _has_glyph(c) else "▯" for c in text)


def _fonts() -> list[str]:
    """Return the font of all figures, which comes with matplotlib, and those that help it out."""
    there = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in there)]


@cache
def _has_glyph(character: str) -> bool:
    fonts = (font_manager.get_font(font_manager.findfont(name)) for name in _fonts())
    return any(font.get_char_index(ord(character)) for font in fonts)
