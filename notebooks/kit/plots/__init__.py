"""Figures, tables and findings, in one style.

Intervals (``low``, ``high``) are drawn wherever a table has them; colours are safe for
colour-blind readers, and a model keeps its colour in all chapters.
"""

from notebooks.kit.plots.scatters import scatter
from notebooks.kit.plots.style import PALETTE, empty, model_colour, use_style

__all__ = ["PALETTE", "empty", "model_colour", "scatter", "use_style"]
