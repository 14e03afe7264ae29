"""Figures, tables and findings, in one style.

Tables that hold figures carry their intervals beside them (``low``, ``high``, as
:func:`helpers.stats.intervals` makes them), and the intervals are drawn. Colours are safe for
colour-blind readers and a model keeps its colour in all chapters. A figure six inches wide reads
well on a phone; its white ground stays white on a dark page.
"""

from helpers.plots.audit import gap_panels, verdict_bars
from helpers.plots.calibration import agreement_map, area_dots, cost_plane, upset
from helpers.plots.curves import exposure_curve, line_curve, size_panels
from helpers.plots.distributions import (
    accuracy_boxes,
    dots,
    object_bars,
    run_dots,
)
from helpers.plots.latent import accuracy_map, grouped_dots
from helpers.plots.reliability import rank_map
from helpers.plots.scatters import scatter
from helpers.plots.style import PALETTE, empty, model_colour, use_style

__all__ = [
    "PALETTE",
    "accuracy_boxes",
    "accuracy_map",
    "agreement_map",
    "area_dots",
    "cost_plane",
    "dots",
    "empty",
    "exposure_curve",
    "gap_panels",
    "grouped_dots",
    "line_curve",
    "model_colour",
    "object_bars",
    "rank_map",
    "run_dots",
    "scatter",
    "size_panels",
    "upset",
    "use_style",
    "verdict_bars",
]
