"""The knowledge-base paper's rankings of models, from the numbers that it prints."""

from collections.abc import Iterable, Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers.metrics.knowledge_base import HIGHER_IS_BETTER
from notebooks.kit.plots import shared_figures
from notebooks.kit.published import knowledge_base as paper

RANKED_MEASURES = ("NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR")
KINDS_OF_MEASURES = {
    "factuality": ["NCR", "UR"],
    "consistency": ["Cons_c", "Cons_w"],
    "reliability": ["NCCR", "IUR"],
}


def places_of_models() -> pd.DataFrame:
    """Rank the 26 models by each main measure in each setting, 1 the best (Figure 6).

    Equal models share the better place; a model without wrong responses has no Cons_w.

    >>> places = places_of_models().set_index(["setting", "model"])
    >>> places.loc[("four-shot", "GPT-3.5 Turbo"), ["NCR", "UR"]].tolist()
    [1.0, 6.0]
    """
    parts = []
    for setting in paper.PROMPT_SETTINGS:
        table = paper.knowledge_base_models(setting)
        places = {}
        for name in RANKED_MEASURES:
            is_ascending = name not in HIGHER_IS_BETTER
            places[name] = table[name].rank(ascending=is_ascending, method="min")
        part = pd.DataFrame(places).rename_axis("model").reset_index()
        part.insert(0, "setting", setting)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def measures_by_kind(setting: str = "four-shot") -> dict[str, pd.DataFrame]:
    """Return the models by NCCR with two measures of each kind (Figure 7)."""
    table = paper.knowledge_base_models(setting)
    table = table.sort_values("NCCR", ascending=False)
    return {kind: table[names] for kind, names in KINDS_OF_MEASURES.items()}


def measures_by_setting(names: Iterable[str], first: str) -> dict[str, pd.DataFrame]:
    """Return some measures in each setting, the models by one of them in `first`."""
    names = list(names)
    by = paper.knowledge_base_models(first)[names[0]]
    order = by.sort_values(ascending=False, kind="stable").index
    panels = {}
    for setting in paper.PROMPT_SETTINGS:
        panels[setting] = paper.knowledge_base_models(setting).loc[order, names]
    return panels


def draw_models_in_order(panels: Mapping[str, pd.DataFrame]) -> list[Axes]:
    """Draw measures (columns) of the same models (rows) in panels beside each other."""
    n_models = max(len(table) for table in panels.values())
    figure_size = (9, 1.2 + 0.28 * n_models)
    _, axes = plt.subplots(1, len(panels), figsize=figure_size, layout="constrained")
    for ax, (title, table) in zip(axes, panels.items(), strict=True):
        tidy = table.rename_axis("model").reset_index()
        tidy = tidy.melt("model", var_name="measure", value_name="estimate")
        shared_figures.dot_plot(tidy, "model", "measure", ax=ax, xlabel=title)
        if ax is not axes[0]:
            ax.tick_params(axis="y", labelleft=False)
    return list(axes)
