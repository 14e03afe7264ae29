"""Draw the pictures of the page "How the scoring works" and write its table of measurements.

``python -m bench.figures`` reads ``results/scoring.json`` and rewrites
``book/_static/scoring_*.svg`` and the marked part of ``book/scoring.md``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.models.tokens import Row
from helpers.plots import style
from helpers.probing.engine import trie
from helpers.probing.engine.trie import Trie

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "book" / "scoring.md"
STATIC = ROOT / "book" / "_static"
RESULTS = Path(__file__).parent / "results" / "scoring.json"
MARKED = re.compile(r"(?<=% measured: begin\n).*?(?=% measured: end)", re.DOTALL)

PREFIX = ("Paris", " France", "\\n", "Rome", " Italy", "\\n")
SUBJECTS = ("Seoul", "Pretoria")
CHOICES = (
    (" South", " Korea"),
    (" South", " Africa"),
    (" North", " Korea"),
    (" Guinea",),
    (" Guinea", "-", "Bissau"),
    (" France",),
)


def example() -> tuple[Trie, list[str]]:
    """Return the tree of the example's rows, as the engine builds it, and its nodes' words.

    Returns
    -------
    tuple of (Trie, list of str)
    """
    texts = [(*PREFIX, subject, *choice) for subject in SUBJECTS for choice in CHOICES]
    words = list(dict.fromkeys(word for text in texts for word in text))
    start = len(PREFIX) + 1
    tree = trie.build([Row(tuple(map(words.index, text)), start) for text in texts])
    return tree, [words[token].strip() for token in tree.token]


def draw_trie() -> Figure:
    """Draw the tree of the example's choices after its first subject."""
    figure = Figure(figsize=(4, 2.9))
    ax = figure.subplots()
    tree, words = example()
    root = len(PREFIX)
    nodes = range(root, int(tree.end[root]))
    heights = _heights(tree, nodes)
    spots = {node: (float(tree.depth[node] - root), heights[node]) for node in nodes}
    for node in nodes[1:]:
        (x0, y0), (x1, y1) = spots[int(tree.parent[node])], spots[node]
        ax.plot([x0, x0 + 0.5, x0 + 0.5, x1], [y0, y0, y1, y1], color="#8a8a8a", lw=1, zorder=1)
    for node in nodes:
        _label(ax, *spots[node], words[node], style.BLUE if tree.inner[node] else None)
    ax.set(xlim=(-0.4, 3.45), ylim=(-1.35, max(heights.values()) + 0.5))
    for x, text, colour in ((0.1, "forwarded", style.BLUE), (1.75, "read off its parent", None)):
        _label(ax, x, -1.1, text, colour)
    ax.set_axis_off()
    return figure


def _heights(tree: Trie, nodes: range) -> dict[int, float]:
    """Return the heights of nodes: leaves one below the other, a parent amid its children."""
    leaves = [node for node in nodes if not tree.inner[node]]
    heights = {node: float(len(leaves) - 1 - at) for at, node in enumerate(leaves)}
    for node in reversed(nodes):
        if tree.inner[node]:
            children = [heights[i] for i in nodes if tree.parent[i] == node]
            heights[node] = sum(children) / len(children)
    return heights


def _label(ax: Axes, x: float, y: float, text: str, colour: str | None) -> None:
    box = {"boxstyle": "round,pad=0.3", "facecolor": colour or "white", "edgecolor": style.INK}
    ink = "white" if colour else style.INK
    ax.text(x, y, text, ha="center", va="center", fontsize=10, color=ink, bbox=box, zorder=2)


def draw_mask() -> Figure:
    """Draw which tokens each token of the example's pack sees, with the positions."""
    tree, words = example()
    nodes = [node for node in np.flatnonzero(tree.inner) if node >= len(PREFIX)]
    sees = trie.sees(tree, nodes, kept=len(PREFIX))
    figure = Figure(figsize=(4, 2.75))
    ax = figure.subplots()
    own = 2 * sees.astype(int)
    own[:, : len(PREFIX)] = 1
    colours = mpl.colors.ListedColormap(["#f3f3f3", style.SKY, style.BLUE])
    ax.pcolormesh(own, cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=1)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    rows = [words[node] for node in nodes]
    names = [*words[: len(PREFIX)], *rows]
    ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=9)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=9)
    ax.tick_params(length=0, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False)
    for row, position in enumerate(tree.depth[nodes]):
        ax.text(sees.shape[1] + 0.8, row + 0.5, position, ha="center", va="center", fontsize=9)
    ax.text(sees.shape[1] + 0.8, -0.3, "position", ha="center", rotation=90, fontsize=9)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.grid(False)
    return figure


def measured(results: dict[str, Any]) -> str:
    """Return the page's part that holds measurements, in MyST.

    Parameters
    ----------
    results : dict
        The content of the results file.

    Returns
    -------
    str
    """
    parts = [_machine(results["machine"]), *_shared(results["methods"])]
    for result in (results, *results["more"]):
        parts += [_told(result["workload"]), _table(result)]
    return "\n" + "\n\n".join(parts) + "\n\n"


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"Measured on {machine['threads']} thread of one processor ({machine['processor']}), "
        f"torch {machine['torch']}, float32; the processor's matrix products alone reach "
        f"{machine['ceiling_gflops']:.0f} billion operations a second on the shapes of "
        "GPT-2. This is the ceiling; the column *of the ceiling* has the share of it that a method "
        "reached."
    )


def _shared(records: list[dict[str, Any]]) -> list[str]:
    """Return a remark, in a list, where other programs took much of the processor's time."""
    clock, used = (sum(r[name] for r in records) for name in ("seconds", "processor_seconds"))
    if used > 0.95 * clock:
        return []
    first = records[0]
    return [
        f"Other programs ran on the machine meanwhile: the methods had {used / clock:.0%} of the "
        "time that the clock shows. It is the ratios that count: a quiet machine is faster, for "
        f"ours and for the others (ours used {number(first['processor_seconds'])} of its "
        f"{number(first['seconds'])} seconds in the first table)."
    ]


def _told(workload: dict[str, Any]) -> str:
    if "facts" in workload:
        return f"**MONITOR**: {workload['facts']} facts with their 13 prompts, {workload['model']}."
    name = workload["name"].partition(",")[0].capitalize()
    return (
        f"**{name}**, {workload['model']} ({workload['parameters'] / 1e6:.0f} million parameters): "
        f"{workload['subjects']} subjects with {workload['choices']} choices of "
        f"{workload['choice_tokens']:.1f} tokens, after {workload['examples']} examples "
        f"({workload['prefix_tokens']} tokens)."
    )


def _table(result: dict[str, Any]) -> str:
    rows = []
    for record in result["methods"]:
        mark = "~" if record.get("scaled") or record.get("estimated") else ""
        rows.append(
            {
                "method": record["name"] + (" (estimated)" if record.get("estimated") else ""),
                "times ours": number(record["ratio_to_ours"]),
                "seconds": f"{mark}{number(record['seconds'])}",
                "tokens": f"{record['tokens']:,}",
                "of the ceiling": _form(record.get("ceiling_share"), "{:.0%}"),
                "largest difference": _form(record.get("max_abs_diff"), "{:.0e}"),
            }
        )
    frame = pd.DataFrame(rows).loc[:, lambda f: (f != "").any()]
    return frame.to_markdown(
        index=False, disable_numparse=True, colalign=("left", *["right"] * (frame.shape[1] - 1))
    )


def _form(value: float | None, form: str) -> str:
    return "" if value is None else "0" if value == 0 else form.format(value)


def number(value: float) -> str:
    """Return a number to three digits, as one writes it.

    Examples
    --------
    >>> number(1733.2), number(41.53), number(7.567), number(0.123)
    ('1,733', '41.5', '7.57', '0.12')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def main() -> None:
    """Draw the pictures and write the measurements into the page."""
    style.use_style()
    with mpl.rc_context({"svg.fonttype": "path"}):  # the picture alone knows how wide a word is
        for name, draw in (("trie", draw_trie), ("mask", draw_mask)):
            figure = draw()
            figure.savefig(STATIC / f"scoring_{name}.svg", metadata={"Date": None})
    text = PAGE.read_text(encoding="utf-8")
    found = measured(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(MARKED.sub(lambda _: found, text), encoding="utf-8")


if __name__ == "__main__":
    main()
