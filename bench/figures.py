"""Draw the pictures of the page on scoring and write its measurements.

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
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.models.tokens import Row
from helpers.probing.engine import trie
from helpers.probing.engine.trie import Trie
from notebooks.kit.plots import style

ROOT = Path(__file__).resolve().parents[1]
SCORING_PAGE = ROOT / "book" / "scoring.md"
STATIC_FOLDER = ROOT / "book" / "_static"
RESULTS_FILE = Path(__file__).parent / "results" / "scoring.json"
MEASUREMENTS_BLOCK = re.compile(
    r"(?<=% measured: begin\n).*?(?=% measured: end)", re.DOTALL
)

EXAMPLE_PREFIX = ("Paris", " France", "\\n", "Rome", " Italy", "\\n")
EXAMPLE_SUBJECTS = ("Seoul", "Pretoria")
EXAMPLE_CHOICES = (
    (" South", " Korea"),
    (" South", " Africa"),
    (" North", " Korea"),
    (" Guinea",),
    (" Guinea", "-", "Bissau"),
    (" France",),
)


def example_tree_and_words() -> tuple[Trie, list[str]]:
    """Return the example's tree, as the engine builds it, and its nodes' words.

    Returns
    -------
    tuple of (Trie, list of str)
    """
    token_of_word: dict[str, int] = {}
    rows = []
    for subject in EXAMPLE_SUBJECTS:
        for choice in EXAMPLE_CHOICES:
            ids = []
            for word in (*EXAMPLE_PREFIX, subject, *choice):
                ids.append(token_of_word.setdefault(word, len(token_of_word)))
            rows.append(Row.of_ids(tuple(ids), len(EXAMPLE_PREFIX) + 1))
    tree = trie.build_trie(rows)
    words = [word.strip() for word in token_of_word]
    return tree, [words[token] for token in tree.token]


def draw_trie() -> Figure:
    """Draw the tree of the example's choices after its first subject."""
    figure = Figure(figsize=(4, 2.9))
    ax = figure.subplots()
    tree, words = example_tree_and_words()
    root = len(EXAMPLE_PREFIX)
    nodes = range(root, int(tree.end[root]))
    heights = _heights(tree, nodes)
    depths = {node: float(tree.depth[node] - root) for node in nodes}
    for node in nodes[1:]:
        parent = int(tree.parent[node])
        _draw_edge(ax, (depths[parent], heights[parent]), (depths[node], heights[node]))
    for node in nodes:
        colour = style.BLUE if tree.inner[node] else None
        _label(ax, depths[node], heights[node], words[node], colour)
    ax.set(xlim=(-0.4, 3.45), ylim=(-1.35, max(heights.values()) + 0.5))
    _label(ax, 0.1, -1.1, "forwarded", style.BLUE)
    _label(ax, 1.75, -1.1, "read off its parent", None)
    ax.set_axis_off()
    return figure


def _heights(tree: Trie, nodes: range) -> dict[int, float]:
    """Return nodes' heights: leaves one below the other, parents amid children."""
    leaves = [node for node in nodes if not tree.inner[node]]
    heights = {}
    for place, node in enumerate(leaves):
        heights[node] = float(len(leaves) - 1 - place)
    for node in reversed(nodes):
        if tree.inner[node]:
            children = [child for child in nodes if tree.parent[child] == node]
            total = sum(heights[child] for child in children)
            heights[node] = total / len(children)
    return heights


def _draw_edge(
    ax: Axes, parent: tuple[float, float], child: tuple[float, float]
) -> None:
    """Draw the line from a parent to a child, with a step halfway to the next level."""
    x_parent, y_parent = parent
    x_child, y_child = child
    x_step = x_parent + 0.5
    ax.plot(
        [x_parent, x_step, x_step, x_child],
        [y_parent, y_parent, y_child, y_child],
        color="#8a8a8a",
        lw=1,
        zorder=1,
    )


def _label(ax: Axes, x: float, y: float, text: str, colour: str | None) -> None:
    """Write a text in a box of a colour, in a white one where there is none."""
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": colour or "white",
        "edgecolor": style.INK,
    }
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=10,
        color="white" if colour else style.INK,
        bbox=box,
        zorder=2,
    )


def draw_attention_mask() -> Figure:
    """Draw which tokens each token of the example's pack sees, with the positions."""
    tree, words = example_tree_and_words()
    n_prefix = len(EXAMPLE_PREFIX)
    nodes = [node for node in np.flatnonzero(tree.inner) if node >= n_prefix]
    visible = trie.visible_keys(tree, nodes, kept=n_prefix)
    figure = Figure(figsize=(4, 2.75))
    ax = figure.subplots()
    shades = 2 * visible.astype(int)
    shades[:, :n_prefix] = 1
    colours = mpl.colors.ListedColormap(["#f3f3f3", style.SKY, style.BLUE])
    ax.pcolormesh(shades, cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=1)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    row_names = [words[node] for node in nodes]
    names = words[:n_prefix] + row_names
    ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=9)
    ax.set_yticks(np.arange(len(row_names)) + 0.5, row_names, fontsize=9)
    ax.tick_params(
        length=0, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False
    )
    x_positions = visible.shape[1] + 0.8
    for row, position in enumerate(tree.depth[nodes]):
        ax.text(x_positions, row + 0.5, position, ha="center", va="center", fontsize=9)
    ax.text(x_positions, -0.3, "position", ha="center", rotation=90, fontsize=9)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.grid(False)
    return figure


def measurements_markdown(results: dict[str, Any]) -> str:
    """Return the page's part that holds measurements, in MyST.

    Parameters
    ----------
    results : dict
        The content of the results file.

    Returns
    -------
    str
    """
    more = {result["workload"]["name"]: result for result in results["more"]}
    parts = [_figure_markdown(results), _summary(results)]
    if "a whole relation" in more:
        parts.append(_relation(more["a whole relation"]))
    if "MONITOR" in more:
        parts.append(_prompts(more["MONITOR"]))
    parts += _shared(results["methods"])
    text = "\n\n".join(parts)
    return f"\n{text}\n\n"


def list_results(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of lists: GPT-2's, then other models' by the same methods."""
    names = _method_names(results)
    same = [result for result in results["more"] if _method_names(result) == names]
    return [results, *same]


def _method_names(result: dict[str, Any]) -> list[str]:
    return [record["name"] for record in result["methods"]]


def _relative_times(result: dict[str, Any]) -> list[float]:
    """Return how many times as long as ours each of the other methods takes."""
    return [record["ratio_to_ours"] for record in result["methods"][1:]]


def draw_relative_times(results: dict[str, Any]) -> Figure:
    """Draw how many times as long as ours methods take for lists, a bar a model."""
    names = _method_names(results)
    figure = Figure(figsize=(6.5, 0.55 * len(names)))
    ax = figure.subplots()
    colours = (style.BLUE, style.SKY)
    # The second model is measured only where it has been trained.
    for part, (result, colour) in enumerate(
        zip(list_results(results), colours, strict=False)
    ):
        times = _relative_times(result)
        places = np.arange(len(times)) + 0.38 * (part - 0.5)
        model = result["workload"]["model"]
        bars = ax.barh(places, times, 0.36, color=colour, label=model)
        labels = [number_text(time) for time in times]
        ax.bar_label(bars, labels, padding=3, fontsize=9)
    other_names = names[1:]
    ax.set_yticks(range(len(other_names)), other_names)
    ax.set(xscale="log", xlabel="times as long as ours", xlim=(1, 1000))
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def _figure_markdown(results: dict[str, Any]) -> str:
    lines = [
        "```{figure} _static/scoring_times.svg",
        ":name: fig-scoring-times",
        f":alt: {_alt(results)}",
        "",
        _caption(results),
        "```",
    ]
    return "\n".join(lines)


def _alt(results: dict[str, Any]) -> str:
    spans = []
    for result in list_results(results):
        times = _relative_times(result)
        span = f"{number_text(min(times))} to {number_text(max(times))}"
        spans.append(f"{span} with {result['workload']['model']}")
    return f"Every other method takes many times as long as ours: {', '.join(spans)}."


def _caption(results: dict[str, Any]) -> str:
    sizes = []
    for result in list_results(results):
        workload = result["workload"]
        sizes.append(
            f"{workload['model']} ({workload['parameters'] / 1e6:.0f} million "
            f"parameters) with {workload['choice_tokens']:.1f} tokens a choice and "
            f"{workload['prefix_tokens']} of examples"
        )
    workload = results["workload"]
    return (
        f"Lists of {workload['subjects']} subjects with {workload['choices']} choices "
        f"each, after {workload['examples']} examples: {'; '.join(sizes)}. Times of "
        "the methods without a cache are extrapolated from a part of the requests, "
        "such as the choices of the first subject."
    )


def _summary(results: dict[str, Any]) -> str:
    """Return where the times were measured, ours, and how far the scores agree."""
    machine = results["machine"]
    ours = results["methods"][0]
    differences = []
    for result in list_results(results):
        for record in result["methods"]:
            differences.append(record["max_abs_diff"])
    return (
        f"Measured on {machine['threads']} thread of one processor "
        f"({machine['processor']}), torch {machine['torch']}, float32. With GPT-2, "
        f"ours took {number_text(ours['seconds'])} seconds, which is "
        f"{100 * ours['ceiling_share']:.0f} % of what this processor reaches in "
        f"matrix products alone ({machine['ceiling_gflops']:.0f} billion operations a "
        "second). No method's log-probability of a token, or of a choice where a "
        f"package returns the sum alone, is over {max(differences):.5f} from ours."
    )


def _relation(result: dict[str, Any]) -> str:
    workload = result["workload"]
    ours, naive = result["methods"]
    return (
        f"**A whole relation**, {workload['subjects']} subjects with "
        f"{workload['choices']} choices, takes ours {ours['seconds'] / 60:.0f} minutes "
        f"with {workload['model']}; all texts one by one would have "
        f"{naive['tokens'] / 1e6:.0f} million tokens instead of {ours['tokens']:,} and "
        f"take some {naive['seconds'] / 3600:.0f} hours (estimated)."
    )


def _prompts(result: dict[str, Any]) -> str:
    workload = result["workload"]
    ours, scored, published = result["methods"]
    return (
        "**MONITOR**: the published procedure, five beams for one prompt at a time, "
        f"takes {number_text(published['ratio_to_ours'])} times as long as our "
        f"probabilities and greedy text ({workload['facts']} facts with their 13 "
        f"prompts, {workload['model']}; {number_text(ours['seconds'])} seconds, "
        f"{number_text(scored['seconds'])} without the text)."
    )


def _shared(records: list[dict[str, Any]]) -> list[str]:
    """Return a remark, in a list, where other programs took much processor time."""
    clock = sum(record["seconds"] for record in records)
    used = sum(record["processor_seconds"] for record in records)
    if used > 0.95 * clock:
        return []
    ours = records[0]
    remark = (
        "Other programs ran on the machine meanwhile: the methods had "
        f"{100 * used / clock:.0f} % of the time on the clock. It is the ratios that "
        "count: a quiet machine is faster, for ours and for the others (ours used "
        f"{number_text(ours['processor_seconds'])} of its "
        f"{number_text(ours['seconds'])} seconds with GPT-2)."
    )
    return [remark]


def number_text(value: float) -> str:
    """Return a number to three digits, as one writes it.

    Examples
    --------
    >>> number_text(1733.2), number_text(41.53), number_text(7.567), number_text(0.123)
    ('1,733', '41.5', '7.57', '0.12')
    """
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def main() -> None:
    """Draw the pictures and write the measurements into the page."""
    results = json.loads(RESULTS_FILE.read_text(encoding="utf-8"))
    style.use_style()
    # Letters are drawn as paths: the picture alone knows how wide a word is.
    with mpl.rc_context({"svg.fonttype": "path"}):
        _save_picture("trie", draw_trie())
        _save_picture("mask", draw_attention_mask())
        _save_picture("times", draw_relative_times(results))
    page = SCORING_PAGE.read_text(encoding="utf-8")
    # A backslash would start an escape in a replacement.
    measurements = measurements_markdown(results).replace("\\", r"\\")
    page = MEASUREMENTS_BLOCK.sub(measurements, page)
    SCORING_PAGE.write_text(page, encoding="utf-8")


def _save_picture(name: str, figure: Figure) -> None:
    figure.savefig(STATIC_FOLDER / f"scoring_{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
