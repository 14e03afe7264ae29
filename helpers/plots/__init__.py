"""Figures, tables and findings, in one style.

Tables that hold figures carry their intervals beside them (``low``, ``high``, as
:func:`helpers.stats.intervals` makes them), and the intervals are drawn. Colours are safe for
colour-blind readers and a model keeps its colour in all chapters. A figure six inches wide reads
well on a phone; its white ground stays white on a dark page.
"""

from helpers.plots.calibration import agreement_map, area_dots, cost_plane, upset
from helpers.plots.curves import exposure_curve
from helpers.plots.distributions import (
    accuracy_boxes,
    dots,
    object_bars,
)
from helpers.plots.latent import accuracy_map, grouped_dots
from helpers.plots.multiplicity import class_bars, lines, mapping, roc_curves, two_prompts
from helpers.plots.scatters import scatter
from helpers.plots.style import PALETTE, empty, model_colour, use_style

__all__ = [
    "PALETTE",
    "accuracy_boxes",
    "accuracy_map",
    "agreement_map",
    "area_dots",
    "class_bars",
    "cost_plane",
    "dots",
    "empty",
    "exposure_curve",
    "grouped_dots",
    "lines",
    "mapping",
    "model_colour",
    "object_bars",
    "roc_curves",
    "scatter",
    "two_prompts",
    "upset",
    "use_style",
]
