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

from helpers.prompts import prompt_formats

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
_COLOURS_BY_NAME = {
    "BLUE": BLUE,
    "ORANGE": ORANGE,
    "GREEN": GREEN,
    "RED": RED,
    "PINK": PINK,
    "TAN": TAN,
    "GREY": GREY,
    "SKY": SKY,
}
_DATA = tomllib.loads(files(__package__).joinpath("colours.toml").read_text("utf-8"))


def _colours_of(kind: str) -> dict[str, str]:
    """Return the colours of models or families; the data have hex codes or names."""
    colours = {}
    for name, colour in _DATA[kind].items():
        colours[name] = _COLOURS_BY_NAME.get(colour, colour)
    return colours


_MODEL_COLOURS = _colours_of("names")
_FAMILY_COLOURS = _colours_of("families")
INK = "#222222"
# Inches: at half its size a figure fits a phone, and nine points are nine pixels.
FIGURE_WIDTH = 4.6
FALLBACK_FONTS = _DATA["fonts"]
OTHER_QUESTIONS = "other questions"  # than those of the paper whose models are drawn


def use_style() -> None:
    """Set the one style of the book for every figure drawn from now on.

    >>> import matplotlib
    >>> use_style()
    >>> matplotlib.rcParams["figure.figsize"], matplotlib.rcParams["figure.facecolor"]
    ([4.6, 3.1], 'white')
    """
    settings = _DATA["settings"] | {
        "figure.figsize": (FIGURE_WIDTH, 3.1),
        "font.family": _fonts(),
    }
    sns.set_theme(style="whitegrid", palette=PALETTE, rc=settings)


def model_colour(name: str) -> str:
    """Return the colour of a model, the same in every chapter.

    >>> model_colour("some/folder/atlas-s") == model_colour("Atlas-S") == "#0173b2"
    True
    """
    short_name = _short_name(name)
    number = crc32(short_name.encode()) % len(PALETTE)
    return _MODEL_COLOURS.get(short_name, PALETTE[number])


def family_colour(family: str) -> str:
    """Return the colour of a family of published models; grey for a small family.

    >>> family_colour("Llama 2"), family_colour("Phi")
    ('#0173b2', '#6e6e6e')
    """
    return _FAMILY_COLOURS.get(family, GREY)


def curve_colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each curve of one figure, none twice while the palette lasts.

    >>> curve_colours(["frames", "atlas-s"])["atlas-s"] == model_colour("atlas-s")
    True
    """
    names = list(dict.fromkeys(names))
    # Models with a colour of their own choose first.
    with_own_colour = [name for name in names if _has_own_colour(name)]
    others = [name for name in names if not _has_own_colour(name)]
    colours: dict[str, str] = {}
    for name in with_own_colour + others:
        colour = model_colour(name)
        if colour in colours.values():
            unused = [spare for spare in PALETTE if spare not in colours.values()]
            colour = unused[0] if unused else colour
        colours[name] = colour
    return {name: colours[name] for name in names}


def _has_own_colour(name: str) -> bool:
    return _short_name(name) in _MODEL_COLOURS


def _short_name(name: str) -> str:
    return prompt_formats.model_title(name).casefold()


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
    >>> ax = empty_panel(plt.Figure().add_subplot(), "No fact counts.")
    >>> [text.get_text() for text in ax.texts]
    ['No fact counts.']
    """
    if ax is None:  # a figure of text would be a picture without a description
        from IPython.display import HTML, display  # which a script does not need

        display(HTML(f'<p class="nothing">{escape(reason)}</p>'))
        figure, ax = plt.subplots(figsize=(FIGURE_WIDTH, 1.3))
        plt.close(figure)
    ax.set(xticks=[], yticks=[])
    ax.text(
        0.5,
        0.5,
        fill(drawable_text(reason), 50),
        color=GREY,
        ha="center",
        va="center",
        transform=ax.transAxes,
    )
    return ax


def error_bar_lengths(
    row: Mapping[str, float], column: str
) -> list[list[float]] | None:
    """Return how far an interval reaches below and above, as ``errorbar`` takes it.

    >>> error_bar_lengths({"y": 0.5, "y_low": 0.25, "y_high": 1.0}, "y")
    [[0.25], [0.5]]
    """
    low = row.get(f"{column}_low")
    high = row.get(f"{column}_high")
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    below = max(0.0, row[column] - low)
    above = max(0.0, high - row[column])
    return [[below], [above]]


def show_axis_in_percent(axis: Axis) -> None:
    """Write an axis in percent, with all shares from 0 to 1 in view."""
    axis.axes.set(**{f"{axis.axis_name}lim": (-0.02, 1.02)})
    axis.set_major_formatter(PercentFormatter(1, symbol="\u2009%"))


def name_rows(ax: Axes, names: Iterable[object], **text: object) -> None:
    """Name the rows of a figure, the first on top; half a row is free at the ends."""
    labels = [drawable_text(str(name)) for name in names]
    ax.set_yticks(range(len(labels)), labels, **text)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def set_log_scale(ax: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers in place of powers of ten.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> set_log_scale(ax)
    >>> [ax.xaxis.get_major_formatter()(x) for x in (0.01, 1, 1000)]
    ['0.01', '1', '1,000']
    """
    # A power of ten would be set as a formula.
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(_plain_number))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _plain_number(x: float, _: int | None) -> str:
    return f"{x:,.0f}" if x >= 1 else f"{x:g}"


def put_legend_above(ax: Axes) -> None:
    """Put the legend, if there is one, above the axes, where it hides nothing.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> put_legend_above(ax)
    >>> ax.get_legend() is None
    True
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    longest = max(len(label) for label in labels)
    that_fit = max(1, 38 // longest)  # 38 letters fill the width
    # At the right it reaches over the names of rows, which need the room.
    ax.legend(
        handles,
        labels,
        ncols=min(3, len(handles), that_fit),
        alignment="left",
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0.3,
    )


def drawable_text(text: str) -> str:
    """Show a string as it is, with a box for a glyph that is not at hand.

    >>> drawable_text("$5 and 京")
    '$5 and ▯'
    """
    drawable = ""
    for character in text:
        if character == "\n" or _has_glyph(character):
            drawable += character
        else:
            drawable += "▯"
    return drawable


def _fonts() -> list[str]:
    """Return the font that comes with matplotlib, and those installed that help out."""
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans"] + [name for name in FALLBACK_FONTS if name in installed]


@cache
def _has_glyph(character: str) -> bool:
    for name in _fonts():
        font = font_manager.get_font(font_manager.findfont(name))
        if font.get_char_index(ord(character)):
            return True
    return False
