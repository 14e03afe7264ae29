"""The one style: settings, colours, and what the figures share."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape
from textwrap import fill
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from IPython.display import HTML, display
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

BLUE, ORANGE, GREEN, RED, PINK, TAN, GREY, SKY = (
    "#0173b2",
    "#de8f05",
    "#029e73",
    "#d55e00",
    "#cc78bc",
    "#a0693a",
    "#6e6e6e",
    "#56b4e9",
)
PALETTE = (BLUE, ORANGE, GREEN, RED, PINK, TAN, GREY, SKY)

_COLOURS = {
    "atlas-xs": SKY,
    "atlas-s": BLUE,
    "atlas-m": GREEN,
    "atlas-m-chat": ORANGE,
    "atlas-l": RED,
    "atlas-xl": PINK,
    "commonest object": GREY,  # the baseline of the bundled models' curves
    "bloomz-560m": "#c3b2e0",
    "bloomz-1b1": "#a48bd0",
    "bloomz-3b": "#7d5bb8",
    "bloomz-7b1": "#4f2d8c",
    "vicuna-7b": "#a3ad3f",
    "vicuna-13b": "#67701a",
    "flan-t5-xxl": "#e9b04f",
    "flan-ul2": "#a86a00",
    "opt-2b7": "#c2427c",
    "galactica-1b3": GREY,
    "wizardlm-13b": TAN,
    "llama-30b-ins.": "#7c1d1d",
    "monitor": BLUE,  # the four methods, where they are compared
    "knowledge base": ORANGE,
    "ic-lke": GREEN,
    "multiplicity": PINK,
    "asked once": GREY,
    "right": GREEN,
    "correct": GREEN,  # kinds of responses, wherever they are drawn
    "wrong": RED,
    "uninformative": BLUE,
    "unsure": BLUE,
    "none": GREY,
    "repetition": TAN,
    "right word": GREEN,  # said before the question
    "wrong word": RED,
    "right answer first": GREEN,
    "wrong answer first": RED,
    "nothing first": GREY,
    "unrelated word first": BLUE,
    "nothing": GREY,
    "unrelated": BLUE,
    "unrelated word": BLUE,
    "wrong word given": TAN,
}
_FAMILIES = {
    "Llama 1": SKY,
    "Llama 2": BLUE,
    "Llama 3": "#3f5fd0",
    "Mistral": ORANGE,
    "Gemma": GREEN,
    "OPT": _COLOURS["opt-2b7"],
    "Pythia": RED,
    "BLOOM": _COLOURS["bloomz-3b"],
    "T5": "#8b9530",
    "UL2": _COLOURS["flan-ul2"],
    "Falcon": PINK,
}
INK = "#222222"
WIDTH = 4.6  # inches of a figure: at half its size it fits a phone, and nine points are nine pixels
# Of other scripts, where they are installed; matplotlib does not join Arabic letters.
FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "PingFang SC"),
    *("Hiragino Sans", "Microsoft YaHei", "Malgun Gothic", "WenQuanYi Micro Hei", "SimHei"),
)
OTHER = "other questions"  # than those of the paper whose models are drawn


def use_style() -> None:
    """Set the one style of the book for every figure drawn from now on.

    Examples
    --------
    >>> import matplotlib
    >>> use_style()
    >>> matplotlib.rcParams["figure.figsize"], matplotlib.rcParams["figure.facecolor"]
    ([4.6, 3.1], 'white')
    """
    sns.set_theme(
        style="whitegrid",
        palette=PALETTE,
        rc={
            "figure.figsize": (WIDTH, 3.1),
            "figure.dpi": 144,
            "figure.facecolor": "white",
            "figure.constrained_layout.use": True,
            "savefig.facecolor": "white",
            "font.family": _fonts(),
            "font.size": 11,
            "axes.titlesize": 12,
            "axes.titlelocation": "left",
            "axes.labelsize": 11,
            "xtick.labelsize": 10,
            "ytick.labelsize": 10,
            "legend.fontsize": 10,
            "legend.frameon": False,
            "axes.edgecolor": "#b8b8b8",
            "grid.color": "#e4e4e4",
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "text.parse_math": False,  # a dollar in a name is no formula, and may not stop a run
            "svg.fonttype": "none",
            "svg.hashsalt": "what language models know",
        },
    )


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


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each curve of one figure, none twice while the palette lasts.

    >>> colours(["frames", "atlas-s"])["atlas-s"] == model_colour("atlas-s")
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


def empty(ax: Axes | None, reason: str) -> Axes:
    """Draw a panel without data that says why there are none.

    Parameters
    ----------
    ax : Axes, optional
        By default one that is not shown: the reason is displayed as text.
    reason : str
        One sentence.

    Returns
    -------
    Axes
        Without ticks; labels set on it later are shown.

    Examples
    --------
    >>> [text.get_text() for text in empty(plt.gca(), "No fact counts.").texts]
    ['No fact counts.']
    """
    if ax is None:  # a figure of text would be a picture without a description
        display(HTML(f'<p class="nothing">{escape(reason)}</p>'))
        figure, ax = plt.subplots(figsize=(WIDTH, 1.3))
        plt.close(figure)
    ax.set(xticks=[], yticks=[])
    middle = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, fill(plain(reason), 50), color=GREY, **middle)
    return ax


def reach(row: Mapping[str, float], column: str) -> list[list[float]] | None:
    """Return how far the interval of `column` reaches below and above it, for ``errorbar``.

    >>> reach({"y": 0.5, "y_low": 0.25, "y_high": 1.0}, "y")
    [[0.25], [0.5]]
    """
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    return [[max(0.0, row[column] - low)], [max(0.0, high - row[column])]]


def share_axis(axis: Axis) -> None:
    """Write an axis in percent, with all shares from 0 to 1 in view."""
    axis.axes.set(**{f"{axis.axis_name}lim": (-0.02, 1.02)})
    axis.set_major_formatter(PercentFormatter(1))


def name_rows(ax: Axes, names: Iterable[object], edge: float = 0.6, **text: object) -> None:
    """Name the rows of a figure, the first on top, with half a row of room above and below."""
    shown = [plain(str(name)) for name in names]
    ax.set_yticks(range(len(shown)), shown, **text)
    ax.set_ylim(len(shown) - 1 + edge, -edge)


def band(
    ax: Axes, x: npt.ArrayLike, part: pd.DataFrame, colour: str, name: str | None, **line: object
) -> None:
    """Draw a line of estimates over the band of their intervals, if they have any."""
    label = None if name is None else plain(str(name))
    ax.plot(x, part["estimate"], color=colour, lw=2, label=label, **line)
    if {"low", "high"} <= set(part.columns):
        ax.fill_between(x, part["low"], part["high"], color=colour, alpha=0.15, lw=0)


def number_map(
    ax: Axes,
    values: np.ndarray,
    write: Callable[[float], str],
    white: Callable[[float], bool],
    **shades: object,
) -> AxesImage:
    """Draw a table as a map, each number written in its field: in white where `white` says so."""
    shown = ax.imshow(values, **shades)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            ink = "white" if white(value) else INK
            ax.text(column, row, write(value), ha="center", va="center", color=ink, fontsize=9)
    ax.grid(visible=False)
    return shown


def colour_bar(shown: ScalarMappable, ax: Axes, label: str, **settings: object) -> None:
    """Put a bar beside the axes that says what the shades mean."""
    bar = ax.figure.colorbar(shown, ax=ax, **settings)
    bar.set_label(label)
    bar.outline.set_visible(False)


def log_scale(ax: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers: a power of ten would be set as a formula.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> log_scale(ax)
    >>> [ax.xaxis.get_major_formatter()(x) for x in (0.01, 1, 1000)]
    ['0.01', '1', '1,000']
    """
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def legend_above(ax: Axes, title: str | None = None) -> None:
    """Put the legend above the axes, where it hides nothing, if there is anything to tell.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> legend_above(ax)
    >>> ax.get_legend() is None
    True
    """
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        longest = max(len(label) for label in labels)
        ax.legend(
            handles,
            labels,
            title=title,
            loc="lower right",  # so that it reaches over the names of rows, which need the room
            bbox_to_anchor=(1, 1),
            ncols=min(3, len(handles), max(1, 38 // longest)),  # 38 letters fill the width
            borderaxespad=0.3,
            alignment="left",
        )


def plain(text: str) -> str:
    """Show a string as it is, with a box for a glyph that is not at hand.

    That a pair of dollar signs makes no formula of it is for :func:`use_style` to see to.

    >>> plain("$5 and 京")
    '$5 and ▯'
    """
    return "".join(c if c == "\n" or _has_glyph(c) else "▯" for c in text)


def _fonts() -> list[str]:
    """Return the font of all figures, which comes with matplotlib, and those that help it out."""
    there = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in FONTS if name in there)]


@cache
def _has_glyph(character: str) -> bool:
    fonts = (font_manager.get_font(font_manager.findfont(name)) for name in _fonts())
    return any(font.get_char_index(ord(character)) for font in fonts)
