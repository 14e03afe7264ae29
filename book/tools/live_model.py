"""Probing a bundled model in the page: the bundle that the page loads, and what stands before it.

The bundle is one script, ``_static/live/<model>.js``, because a page that was opened
from disk may load scripts and nothing else. In it: the worker's code as text, and four
parts as base64 of gzip.
"""

import base64
import gzip
import hashlib
import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from book.tools.render import BOOK_FOLDER
from helpers import UserError, datasets
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from helpers.prompts import lists, prompt_texts
from helpers.prompts.prompt_texts import SEPARATORS

LIVE_MODEL = "atlas-s"
N_OPTIONS = 5
# Name of a way of asking: how it is called, the kind of its frames, and what is put
# around one. [Q] is the question; [O] the options, joined by the last text.
WAYS_OF_ASKING = {
    "question": ("a question", "qa", "[Q]", ""),
    "form": ("a question in a form", "qa", prompt_texts.shot_text("[Q]"), ""),
    "sentence": ("a sentence to complete", "wp", "[Q]", ""),
    "list": ("a list of examples", "", "", ""),
    "options": (
        "a question with options",
        "qa",
        prompt_texts.question_above_options("[Q]", ["[O]"]),
        "; ",
    ),
}
WAYS_WITH_CONTEXT = ("question", "sentence")  # ways in which a word may be said first
STORED_ANSWERS_FILE = BOOK_FOLDER / "live.json"  # by ``python -m tests.live_page``
LIVE_SCRIPTS_FOLDER = BOOK_FOLDER / "_static" / "live"
WORKER_SCRIPTS = ("tokenizer.js", "model.js", "worker.js")  # in this order
MODEL_FILES = {
    "config": "config.json",
    "tokenizer": "tokenizer.json",
    "weights": "model.safetensors",
}


@dataclass(frozen=True)
class ModelBundle:
    """A script: the name of its file, and its content, ASCII alone."""

    name: str
    text: str

    @property
    def megabytes(self) -> float:
        """Size of the file in millions of bytes."""
        return len(self.text) / 1e6

    @property
    def version(self) -> str:
        """Eight letters that change with the content, so that no browser keeps an old one."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


@cache
def facts_with_exposures() -> pd.DataFrame:
    """Return the atlas with what the model read of it, each relation in an order drawn by lot."""
    table = datasets.load("atlas").join(
        datasets.training_exposure(LIVE_MODEL), on="fact"
    )
    return lists.draw_examples(table, n=len(table), seed=0)


def question_catalogue() -> dict[str, Any]:
    """Return what can be asked, ready for JSON."""
    ways = [
        dict(
            name=name,
            label=label,
            kind=kind,
            wrap=wrap,
            joint=joint,
            context=name in WAYS_WITH_CONTEXT,
        )
        for name, (label, kind, wrap, joint) in WAYS_OF_ASKING.items()
    ]
    written = {name: lists.pair_template_and_separator(name) for name in SEPARATORS}
    about = datasets.relation_table("atlas").set_index("relation")
    return {
        "model": LIVE_MODEL,
        "options": N_OPTIONS,
        "ways": ways,
        "separators": [
            dict(name=n, template=t, between=b) for n, (t, b) in written.items()
        ],
        "relations": [_relation(name, about.loc[name]) for name in about.index],
    }


def _relation(name: str, about: Any) -> dict[str, Any]:
    """Return one relation of the catalogue."""
    table = facts_with_exposures()[facts_with_exposures()["relation"] == name]
    objects = sorted(set(table["object"]))
    number = {text: place for place, text in enumerate(objects)} | {"": -1}
    places = {
        column: table[column].map(number) for column in ("object", "false_object")
    }
    columns = ["subject", "object", "exposures", "false_object", "false_exposures"]
    frames = datasets.prompt_frames("atlas", [name]).sort_values("frame")
    return {
        "name": name,
        "label": about["label"],
        "subject": about["subject_type"],
        "object": about["object_type"],
        "frames": {
            kind: list(rows["template"]) for kind, rows in frames.groupby("kind")
        },
        "objects": objects,
        "facts": table.assign(**places)[[*columns, "pair_exposures"]]
        .to_numpy()
        .tolist(),
    }


@lru_cache(maxsize=1)
def model_bundle(folder: Path = BUNDLED_MODELS_FOLDER / LIVE_MODEL) -> ModelBundle:
    """Return the script of a model, made anew from its weights."""
    parts = {name: (folder / file).read_bytes() for name, file in MODEL_FILES.items()}
    parts["catalogue"] = json.dumps(question_catalogue(), ensure_ascii=False).encode()
    packed = {
        name: base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
        for name, data in parts.items()
    }
    code = "\n".join(
        (LIVE_SCRIPTS_FOLDER / name).read_text(encoding="utf-8")
        for name in WORKER_SCRIPTS
    )
    text = f"LiveProbe.deliver({json.dumps({'code': code, 'parts': packed})});\n"
    return ModelBundle(f"{LIVE_MODEL}.js", text)


def stored_answer(kind: str, name: str) -> Any:
    """Return what the model answered to a question that a page shows."""
    found = json.loads(STORED_ANSWERS_FILE.read_text(encoding="utf-8"))[kind]
    if name not in found:
        raise UserError(
            f"{STORED_ANSWERS_FILE.name} has no {kind} '{name}': choose from {', '.join(found)}."
        )
    return found[name]


def live_probe_opening_html(cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the tag that opens a place in which the page asks, and why its first case was chosen.

    >>> print(live_probe_opening_html([{"label": "", "said": "<i>"}]))  # doctest: +ELLIPSIS
    <div class="live-probe" data-live="{&quot;model&quot;: ...}">
    <p class="live-said">&lt;i&gt;</p>
    """
    made, told = model_bundle(), ("label", "asked", "before", "said")
    settings = {
        "model": LIVE_MODEL,
        "file": f"{made.name}?v={made.version}",
        "megabytes": round(made.megabytes, 1),
        "cases": [{key: one[key] for key in told if key in one} for one in cases],
    }
    return (
        f'<div class="live-probe" data-live="{html.escape(json.dumps(settings))}">\n'
        f'<p class="live-said">{html.escape(cases[0]["said"])}</p>'
    )


def probability_bars_png(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return an answer as a PNG, for where no script runs."""
    from matplotlib import pyplot as plt

    image = io.BytesIO()
    figure = draw_probability_bars(pd.DataFrame(rows)).figure
    figure.savefig(image, format="png")
    plt.close(figure)
    return image.getvalue()


def draw_probability_bars(table: pd.DataFrame) -> Any:
    """Draw the probability of each object as a bar with its value, the likeliest on top."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import PercentFormatter

    from notebooks.kit.plots.style import (
        BLUE,
        FIGURE_WIDTH,
        GREEN,
        GREY,
        RED,
        name_rows,
        use_style,
    )

    use_style()
    table = table.sort_values("probability", ascending=False, kind="stable")
    size = (FIGURE_WIDTH - 0.5, 0.7 + 0.24 * len(table))  # stands in a box with margins
    ax, places = plt.subplots(figsize=size)[1], range(len(table))
    shades = table["told"].map({"": BLUE, "true": GREEN, "false": RED})
    ax.barh(places, table["probability"], height=0.7, color=shades)
    if "before" in table:
        ax.barh(
            places,
            table["before"],
            height=0.8,
            fill=False,
            edgecolor=GREY,
            linestyle="--",
        )
    for place, value in zip(places, table["probability"]):
        share = f"{100 * value:.1f} %" if value >= 0.0005 else "below 0.1 %"
        ax.text(value + 0.01, place, share, va="center", fontsize=9)
    marks = table["told"].map({"": "", "true": " (true)", "false": " (stated falsely)"})
    name_rows(ax, table["object"] + marks)
    ax.set_xlim(0, 1.12)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("probability")
    ax.grid(visible=False, axis="y")
    return ax


def fact_form_html(found: Mapping[str, Any]) -> str:
    """Return a form of radio buttons, one a state (at most four), and bars that move between."""
    states = found["states"]
    buttons = "".join(
        f'<input type="radio" name="front-fact" id="front-{at}"{" checked" * (not at)}>'
        f'<label for="front-{at}">{html.escape(state["label"])}</label>'
        for at, state in enumerate(states)
    )
    read = _each([f"<q>{html.escape(state['prompt'])}</q>" for state in states])
    best = _each(
        [
            f"{html.escape(name)}, {percent_text(share)}"
            for name, share in (s["best"] for s in states)
        ]
    )
    rows = "".join(_row(name, **one) for name, one in found["objects"].items())
    return (
        f'<form class="front-fact"><fieldset><legend>Ask {LIVE_MODEL}, a small model trained for this '
        f'book</legend><div class="front-buttons">{buttons}</div></fieldset>'
        f'<div role="status"><p>It reads {read}</p><table><caption>and expects: {best}'
        f"</caption>{rows}</table></div>"
        f'<p class="front-note">{html.escape(found["truth"])}</p></form>'
    )


def percent_text(share: float) -> str:
    """Write a share as a percentage, with a no-break space."""
    return f"{100 * share:.0f}\u00a0%"


def _each(texts: Sequence[str]) -> str:
    """Return spans of which the page shows that of the state chosen."""
    return "".join(
        f'<span class="front-at-{at}">{text}</span>' for at, text in enumerate(texts)
    )


def _row(name: str, kind: str, probabilities: Sequence[float]) -> str:
    widths = ";".join(
        f"--p{at}:{100 * value:.2f}%" for at, value in enumerate(probabilities)
    )
    told = _each([percent_text(value) for value in probabilities])
    return (
        f'<tr class="front-{kind}"><th scope="row">{html.escape(name)}</th><td>{told}</td>'
        f'<td aria-hidden="true"><span class="front-bar" style="{widths}"></span></td></tr>'
    )
