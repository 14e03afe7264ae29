"""Probing a bundled model in the page: its bundle, and what pages show before it.

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
# Ways in which a word may stand before the question
WAYS_WITH_CONTEXT = ("question", "sentence")
STORED_ANSWERS_FILE = BOOK_FOLDER / "live.json"  # by ``python -m tests.live_page``
LIVE_SCRIPTS_FOLDER = BOOK_FOLDER / "_static" / "live"
WORKER_SCRIPTS = ("tokenizer.js", "model.js", "worker.js")  # in this order
# Of a fact in the catalogue, in the order in which the page reads them.
FACT_COLUMNS = [
    "subject",
    "object",
    "exposures",
    "false_object",
    "false_exposures",
    "pair_exposures",
]
CASE_KEYS = ("label", "asked", "before", "said")  # what the page reads of a case
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
        """Eight letters that change with the content: no browser keeps an old one."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]


@cache
def facts_with_exposures() -> pd.DataFrame:
    """Return the atlas with its exposures, each relation in an order drawn by lot."""
    exposure = datasets.training_exposure(LIVE_MODEL)
    table = datasets.load("atlas").join(exposure, on="fact")
    return lists.draw_examples(table, n=len(table), seed=0)


def question_catalogue() -> dict[str, Any]:
    """Return what can be asked, ready for JSON."""
    ways = []
    for name, (label, kind, wrap, joint) in WAYS_OF_ASKING.items():
        way = {"name": name, "label": label, "kind": kind, "wrap": wrap, "joint": joint}
        way["context"] = name in WAYS_WITH_CONTEXT
        ways.append(way)
    separators = []
    for name in SEPARATORS:
        template, between = lists.pair_template_and_separator(name)
        separators.append({"name": name, "template": template, "between": between})
    about = datasets.relation_table("atlas").set_index("relation")
    return {
        "model": LIVE_MODEL,
        "options": N_OPTIONS,
        "ways": ways,
        "separators": separators,
        "relations": [_relation_entry(name, about.loc[name]) for name in about.index],
    }


def _relation_entry(name: str, about: pd.Series) -> dict[str, Any]:
    """Return one relation of the catalogue; facts name their objects by number."""
    facts = facts_with_exposures()
    facts = facts[facts["relation"] == name]
    objects = sorted(set(facts["object"]))
    numbers = {text: number for number, text in enumerate(objects)}
    numbers[""] = -1
    numbered = facts.assign(
        object=facts["object"].map(numbers),
        false_object=facts["false_object"].map(numbers),
    )
    frames = datasets.prompt_frames("atlas", [name]).sort_values("frame")
    templates = {kind: list(rows["template"]) for kind, rows in frames.groupby("kind")}
    return {
        "name": name,
        "label": about["label"],
        "subject": about["subject_type"],
        "object": about["object_type"],
        "frames": templates,
        "objects": objects,
        "facts": numbered[FACT_COLUMNS].to_numpy().tolist(),
    }


@lru_cache(maxsize=1)
def model_bundle(folder: Path = BUNDLED_MODELS_FOLDER / LIVE_MODEL) -> ModelBundle:
    """Return the script of a model, made anew from its weights."""
    parts = {}
    for name, file in MODEL_FILES.items():
        parts[name] = _packed((folder / file).read_bytes())
    catalogue = json.dumps(question_catalogue(), ensure_ascii=False)
    parts["catalogue"] = _packed(catalogue.encode())
    scripts = [
        (LIVE_SCRIPTS_FOLDER / name).read_text(encoding="utf-8")
        for name in WORKER_SCRIPTS
    ]
    content = json.dumps({"code": "\n".join(scripts), "parts": parts})
    return ModelBundle(f"{LIVE_MODEL}.js", f"LiveProbe.deliver({content});\n")


def _packed(data: bytes) -> str:
    """Return data as base64 of gzip."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def stored_answer(kind: str, name: str) -> Any:
    """Return what the model answered to a question that a page shows."""
    answers = json.loads(STORED_ANSWERS_FILE.read_text(encoding="utf-8"))[kind]
    if name not in answers:
        raise UserError(
            f"{STORED_ANSWERS_FILE.name} has no {kind} '{name}': "
            f"choose from {', '.join(answers)}."
        )
    return answers[name]


def live_probe_opening_html(cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the tag that opens a place to ask in, and why its first case was chosen.

    >>> case = {"label": "", "said": "<i>"}
    >>> print(live_probe_opening_html([case]))  # doctest: +ELLIPSIS
    <div class="live-probe" data-live="{&quot;model&quot;: ...}">
    <p class="live-said">&lt;i&gt;</p>
    """
    bundle = model_bundle()
    shown_cases = []
    for case in cases:
        shown_cases.append({key: case[key] for key in CASE_KEYS if key in case})
    settings = {
        "model": LIVE_MODEL,
        "file": f"{bundle.name}?v={bundle.version}",
        "megabytes": round(bundle.megabytes, 1),
        "cases": shown_cases,
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
    """Draw objects' probabilities as bars with their values, the likeliest on top."""
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
    _, ax = plt.subplots(figsize=size)
    places = range(len(table))
    colours = table["told"].map({"": BLUE, "true": GREEN, "false": RED})
    ax.barh(places, table["probability"], height=0.7, color=colours)
    if "before" in table:
        ax.barh(
            places,
            table["before"],
            height=0.8,
            fill=False,
            edgecolor=GREY,
            linestyle="--",
        )
    for place, value in enumerate(table["probability"]):
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


def fact_form_html(answer: Mapping[str, Any]) -> str:
    """Return a form of radio buttons, one a state (at most four), and moving bars."""
    buttons = []
    prompts = []
    answers = []
    for number, state in enumerate(answer["states"]):
        checked = " checked" if number == 0 else ""
        buttons.append(
            f'<input type="radio" name="front-fact" id="front-{number}"{checked}>'
            f'<label for="front-{number}">{html.escape(state["label"])}</label>'
        )
        prompts.append(f"<q>{html.escape(state['prompt'])}</q>")
        name, share = state["best"]
        answers.append(f"{html.escape(name)}, {percent_text(share)}")
    rows = [_bars_row(name, **about) for name, about in answer["objects"].items()]
    return (
        f'<form class="front-fact"><fieldset><legend>Ask {LIVE_MODEL}, a small model '
        f"trained for this book</legend>"
        f'<div class="front-buttons">{"".join(buttons)}</div></fieldset>'
        f'<div role="status"><p>It reads {_spans_by_state(prompts)}</p>'
        f"<table><caption>and expects: {_spans_by_state(answers)}</caption>"
        f"{''.join(rows)}</table></div>"
        f'<p class="front-note">{html.escape(answer["truth"])}</p></form>'
    )


def percent_text(share: float) -> str:
    """Write a share as a percentage, with a no-break space."""
    return f"{100 * share:.0f}\u00a0%"


def _spans_by_state(texts: Sequence[str]) -> str:
    """Return spans of which the page shows that of the state chosen."""
    spans = []
    for number, text in enumerate(texts):
        spans.append(f'<span class="front-at-{number}">{text}</span>')
    return "".join(spans)


def _bars_row(name: str, kind: str, probabilities: Sequence[float]) -> str:
    """Return an object's row: its probabilities, as text and as a bar, by state."""
    widths = []
    for number, value in enumerate(probabilities):
        widths.append(f"--p{number}:{100 * value:.2f}%")
    percentages = _spans_by_state([percent_text(value) for value in probabilities])
    bar = f'<span class="front-bar" style="{";".join(widths)}"></span>'
    return (
        f'<tr class="front-{kind}"><th scope="row">{html.escape(name)}</th>'
        f"<td>{percentages}</td>"
        f'<td aria-hidden="true">{bar}</td></tr>'
    )
