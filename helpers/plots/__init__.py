"""Figures, tables and findings, in one style.

Tables that hold figures carry their intervals beside them (``low``, ``high``, as
:func:`helpers.stats.intervals` makes them), and the intervals are drawn. Colours are safe for
colour-blind readers and a model keeps its colour in all chapters. A figure 4.6 inches wide fits a
phone at half its size; its white ground stays white on a dark page.
"""

from helpers.plots.scatters import scatter
from helpers.plots.style import PALETTE, empty, model_colour, use_style

__all__ = [
    "PALETTE",
    "empty",
    "model_colour",
    "scatter",
    "use_style",
]
