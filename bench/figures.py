"""Draw the pictures of the page "How the scoring works" and write its measurements.

``python -m bench.figures`` reads ``results/scoring.json`` and rewrites
``book/_static/scoring_*.svg`` and the marked part of ``book/scoring.md``.
"""

from __future__ import annotations

import json
import re
from functools import partial
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
    """Return the tree of the example's rows, as the engine builds it, and its nodes' words.

    Returns
    -------
    tuple of (Trie, list of str)
    """
    texts = [
        (*EXAMPLE_PREFIX, subject, *choice)
        for subject in EXAMPLE_SUBJECTS
        for choice in EXAMPLE_CHOICES
    ]
    words = list(dict.fromkeys(word for text in texts for word in text))
    start = len(EXAMPLE_PREFIX) + 1
    tree = trie.build_trie(
        [Row(tuple(map(words.index, text)), start) for text in texts]
    )
    return tree, [words[token].strip() for token in tree.token]


def draw_trie() -> Figure:
    """Draw the tree of the example's choices after its first subject."""
    figure = Figure(figsize=(4, 2.9))
    ax = figure.subplots()
    tree, words = example_tree_and_words()
    root = len(EXAMPLE_PREFIX)
    nodes = range(root, int(tree.end[root]))
    heights = _heights(tree, nodes)
    spots = {node: (float(tree.depth[node] - root), heights[node]) for node in nodes}
    for node in nodes[1:]:
        (x0, y0), (x1, y1) = spots[int(tree.parent[node])], spots[node]
        ax.plot(
            [x0, x0 + 0.5, x0 + 0.5, x1],
            [y0, y0, y1, y1],
            color="#8a8a8a",
            lw=1,
            zorder=1,
        )
    for node in nodes:
        _label(ax, *spots[node], words[node], style.BLUE if tree.inner[node] else None)
    ax.set(xlim=(-0.4, 3.45), ylim=(-1.35, max(heights.values()) + 0.5))
    for x, text, colour in (
        (0.1, "forwarded", style.BLUE),
        (1.75, "read off its parent", None),
    ):
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
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": colour or "white",
        "edgecolor": style.INK,
    }
    ink = "white" if colour else style.INK
    ax.text(
        x, y, text, ha="center", va="center", fontsize=10, color=ink, bbox=box, zorder=2
    )


def draw_attention_mask() -> Figure:
    """Draw which tokens each token of the example's pack sees, with the positions."""
    tree, words = example_tree_and_words()
    nodes = [node for node in np.flatnonzero(tree.inner) if node >= len(EXAMPLE_PREFIX)]
    sees = trie.visible_keys(tree, nodes, kept=len(EXAMPLE_PREFIX))
    figure = Figure(figsize=(4, 2.75))
    ax = figure.subplots()
    own = 2 * sees.astype(int)
    own[:, : len(EXAMPLE_PREFIX)] = 1
    colours = mpl.colors.ListedColormap(["#f3f3f3", style.SKY, style.BLUE])
    ax.pcolormesh(own, cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=1)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    rows = [words[node] for node in nodes]
    names = [*words[: len(EXAMPLE_PREFIX)], *rows]
    ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=9)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=9)
    ax.tick_params(
        length=0, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False
    )
    for row, position in enumerate(tree.depth[nodes]):
        ax.text(
            sees.shape[1] + 0.8,
            row + 0.5,
            position,
            ha="center",
            va="center",
            fontsize=9,
        )
    ax.text(sees.shape[1] + 0.8, -0.3, "position", ha="center", rotation=90, fontsize=9)
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
    machine, more = (
        results["machine"],
        {one["workload"]["name"]: one for one in results["more"]},
    )
    ours = results["methods"][0]
    seconds, ceiling = number_text(ours["seconds"]), f"{machine['ceiling_gflops']:.0f}"
    differ = max(
        m["max_abs_diff"] for one in list_results(results) for m in one["methods"]
    )
    parts = [
        f"```{{figure}} _static/scoring_times.svg\n:name: fig-scoring-times\n:alt: {_alt(results)}"
        f"\n\n{_caption(results)}\n```",
        f"Measured on {machine['threads']} thread of one processor ({machine['processor']}), torch "
        f"{machine['torch']}, float32. With GPT-2, ours took {seconds} seconds, which "
        f"is {100 * ours['ceiling_share']:.0f} % of what this processor reaches in matrix products "
        f"alone ({ceiling} billion operations a second). No method's log-probability of a token, "
        f"or of a choice where a package returns the sum alone, is over {differ:.5f} from ours.",
        *(_relation(more[name]) for name in more if name == "a whole relation"),
        *(_prompts(more[name]) for name in more if name == "MONITOR"),
    ]
    return "\n" + "\n\n".join([*parts, *_shared(results["methods"])]) + "\n\n"


def list_results(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of lists: GPT-2's, then those of other models, by the same methods."""
    names = [record["name"] for record in results["methods"]]
    more = [
        one for one in results["more"] if [m["name"] for m in one["methods"]] == names
    ]
    return [results, *more]


def draw_relative_times(results: dict[str, Any]) -> Figure:
    """Draw how many times as long as ours each method takes for lists, a bar for each model."""
    compared = list_results(results)
    figure = Figure(figsize=(6.5, 0.55 * len(results["methods"])))
    ax = figure.subplots()
    for part, (result, colour) in enumerate(zip(compared, (style.BLUE, style.SKY))):
        times = [record["ratio_to_ours"] for record in result["methods"][1:]]
        places = np.arange(len(times)) + 0.38 * (part - 0.5)
        bars = ax.barh(
            places, times, 0.36, color=colour, label=result["workload"]["model"]
        )
        ax.bar_label(
            bars, [number_text(value) for value in times], padding=3, fontsize=9
        )
    ax.set_yticks(
        range(len(times)), [record["name"] for record in results["methods"][1:]]
    )
    ax.set(xscale="log", xlabel="times as long as ours", xlim=(1, 1000))
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def _alt(results: dict[str, Any]) -> str:
    spans = []
    for result in list_results(results):
        times = [record["ratio_to_ours"] for record in result["methods"][1:]]
        span = f"{number_text(min(times))} to {number_text(max(times))}"
        spans.append(f"{span} with {result['workload']['model']}")
    return f"Every other method takes many times as long as ours: {', '.join(spans)}."


def _caption(results: dict[str, Any]) -> str:
    sizes = []
    for result in list_results(results):
        told = result["workload"]
        sizes.append(
            f"{told['model']} ({told['parameters'] / 1e6:.0f} million parameters) with "
            f"{told['choice_tokens']:.1f} tokens a choice and {told['prefix_tokens']} of examples"
        )
    told = results["workload"]
    return (
        f"Lists of {told['subjects']} subjects with {told['choices']} choices each, after "
        f"{told['examples']} examples: {'; '.join(sizes)}. Times of the methods without a cache "
        "are extrapolated from a part of the requests, such as the choices of the first subject."
    )


def _relation(result: dict[str, Any]) -> str:
    told, (ours, naive) = result["workload"], result["methods"]
    return (
        f"**A whole relation**, {told['subjects']} subjects with {told['choices']} choices, takes "
        f"ours {ours['seconds'] / 60:.0f} minutes with {told['model']}; all texts one by one would "
        f"have {naive['tokens'] / 1e6:.0f} million tokens instead of {ours['tokens']:,} and take "
        f"some {naive['seconds'] / 3600:.0f} hours (estimated)."
    )


def _prompts(result: dict[str, Any]) -> str:
    told, (ours, scored, published) = result["workload"], result["methods"]
    return (
        f"**MONITOR**: the published procedure, five beams for one prompt at a time, takes "
        f"{number_text(published['ratio_to_ours'])} times as long as our probabilities and greedy text "
        f"({told['facts']} facts with their 13 prompts, {told['model']}; {number_text(ours['seconds'])} "
        f"seconds, {number_text(scored['seconds'])} without the text)."
    )


def _shared(records: list[dict[str, Any]]) -> list[str]:
    """Return a remark, in a list, where other programs took much of the processor's time."""
    clock, used = (
        sum(r[name] for r in records) for name in ("seconds", "processor_seconds")
    )
    if used > 0.95 * clock:
        return []
    first = records[0]
    return [
        f"Other programs ran on the machine meanwhile: the methods had {100 * used / clock:.0f} % "
        "of the time on the clock. It is the ratios that count: a quiet machine is faster, for "
        f"ours and for the others (ours used {number_text(first['processor_seconds'])} of its "
        f"{number_text(first['seconds'])} seconds with GPT-2)."
    ]


def number_text(value: float) -> str:
    """Return a number to three digits, as one writes it.

    Examples
    --------
    >>> number_text(1733.2), number_text(41.53), number_text(7.567), number_text(0.123)
    ('1,733', '41.5', '7.57', '0.12')
    """
    return (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
    )


def main() -> None:
    """Draw the pictures and write the measurements into the page."""
    results = json.loads(RESULTS_FILE.read_text(encoding="utf-8"))
    drawn = {
        "trie": draw_trie,
        "mask": draw_attention_mask,
        "times": partial(draw_relative_times, results),
    }
    style.use_style()
    with mpl.rc_context(
        {"svg.fonttype": "path"}
    ):  # the picture alone knows how wide a word is
        for name, draw in drawn.items():
            figure = draw()
            figure.savefig(
                STATIC_FOLDER / f"scoring_{name}.svg", metadata={"Date": None}
            )
    text = SCORING_PAGE.read_text(encoding="utf-8")
    found = measurements_markdown(results)
    SCORING_PAGE.write_text(
        MEASUREMENTS_BLOCK.sub(lambda _: found, text), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
