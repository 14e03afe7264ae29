"""Maps: MONITOR by its weights, attribution by token."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from helpers.plots.style import INK, colour_bar, empty, number_map, plain


def alpha_map(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw MONITOR for every weighting: each corner weighs one part alone.

    Parameters
    ----------
    table : DataFrame
        ``alpha_pfd, alpha_ird, alpha_both, monitor``, as from
        :func:`helpers.metrics.monitor.sensitivity`; the weights of a row sum to 1.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        A triangle; the cross marks equal weights.

    Examples
    --------
    >>> table = pd.DataFrame({"alpha_pfd": [1.0, 0, 0], "alpha_ird": [0, 1.0, 0],
    ...                       "alpha_both": [0, 0, 1.0], "monitor": [0.5, 0.6, 0.4]})
    >>> alpha_map(table).get_title(loc="left")
    'MONITOR by weights'
    """
    if table["monitor"].isna().all():
        return empty(ax, "MONITOR is undefined: no fact counts.")
    ax = ax or plt.subplots()[1]
    height = np.sqrt(3) / 2
    across = table["alpha_ird"] + table["alpha_both"] / 2
    up = table["alpha_both"] * height
    low, high = table["monitor"].min(), table["monitor"].max()
    levels = MaxNLocator(10).tick_values(low, max(high, low + 1e-3))
    drawn = ax.tricontourf(across, up, table["monitor"], levels=levels, cmap="cividis_r")
    ax.plot([0, 1, 0.5, 0], [0, 0, height, 0], color=INK, lw=1)
    ax.plot(0.5, height / 3, "P", color="white", mec=INK, ms=10)
    corners = (("PFD only", 0, -0.05, "top"), ("IRD only", 1, -0.05, "top"))
    for text, left, top, align in (*corners, ("product only", 0.5, height + 0.04, "bottom")):
        ax.text(left, top, text, ha="center", va=align)
    ax.set_xlim(-0.15, 1.15)
    ax.set_ylim(-0.15, height + 0.14)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title("MONITOR by weights", loc="left")
    colour_bar(drawn, ax, "MONITOR (lower is better)", shrink=0.75)
    return ax


def attribution_heatmap(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how much each token of the prompt adds to each token of the answer.

    Parameters
    ----------
    table : DataFrame
        ``token, step_token, score``: for one answer token after the other, the tokens read, in
        order.
    ax : Axes, optional
        By default a new figure, tall enough for the tokens.

    Returns
    -------
    Axes
        Red for what speaks for the answer, blue for what speaks against it; a space that begins a
        token is shown as ␣.

    Notes
    -----
    Wang et al. 2024, Figure 6.

    Examples
    --------
    >>> table = pd.DataFrame({"token": ["Danish", "."], "step_token": "Fin", "score": [0.7, -0.1]})
    >>> [text.get_text() for text in attribution_heatmap(table).get_yticklabels()]
    ['Danish', '.']
    """
    if table.empty:
        return empty(ax, "There is no token to draw.")
    step = table["step_token"].ne(table["step_token"].shift()).cumsum()
    place = table.groupby(step).cumcount()
    grid = table.assign(step=step, place=place).pivot_table("score", "place", "step")
    tokens = table.groupby(place)["token"].first()
    answers = table.groupby(step)["step_token"].first()
    ax = ax or plt.subplots(figsize=(max(3.4, 2 + 0.9 * len(answers)), 1 + 0.32 * len(tokens)))[1]
    limit = float(np.nanmax(np.abs(grid.to_numpy()))) or 1.0
    shades = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "aspect": "auto"}
    shown = number_map(
        ax, grid.to_numpy(), "{:.2f}".format, lambda value: abs(value) > 0.6 * limit, **shades
    )
    ax.set_xticks(range(len(answers)), [_piece(text) for text in answers])
    ax.set_yticks(range(len(tokens)), [_piece(text) for text in tokens])
    ax.set_xlabel("token of the answer")
    ax.set_ylabel("token of the prompt")
    colour_bar(shown, ax, "attribution")
    return ax


def _piece(token: object) -> str:
    """Show a token's leading space, which tokenizers write as Ġ or ▁."""
    text = str(token)
    return plain(f"␣{text[1:]}" if text[:1] in (" ", "Ġ", "▁") else text)
