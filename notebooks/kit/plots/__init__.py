"""Figures, tables and findings, in one style.

Intervals (``low``, ``high``) are drawn wherever a table has them; colours are safe for
colour-blind readers, and a model keeps its colour in all chapters.
"""

from notebooks.kit.plots.scatters import scatter_plot
from notebooks.kit.plots.style import PALETTE, empty_panel, model_colour, use_style

__all__ = ["PALETTE", "empty_panel", "model_colour", "scatter_plot", "use_style"]
