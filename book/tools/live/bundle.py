"""The bundle that the page loads on demand: the model, its tokenizer, what can be asked, the code.

It is one script, ``_static/live/<model>.js``, because a page that was opened from disk may load
scripts and nothing else. In it: the worker's code as text, and four parts as base64 of gzip.
"""

import base64
import gzip
import hashlib
import html
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from book.tools.live.asking import IN_CONTEXT, MODEL, N_OPTIONS, WAYS, of
from book.tools.live.cases import Case
from helpers import datasets
from helpers.models.checkpoints import WEIGHTS
from helpers.prompts import lists
from helpers.prompts.formats import SEPARATORS

SCRIPTS = Path(__file__).resolve().parents[2] / "_static" / "live"
WORKER = ("tokenizer.js", "model.js", "worker.js")  # in this order
FILES = {"config": "config.json", "tokenizer": "tokenizer.json", "weights": "model.safetensors"}


@dataclass(frozen=True)
class Bundle:
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


def catalogue() -> dict[str, Any]:
    """Return what can be asked, ready for JSON."""
    ways = [
        dict(name=name, label=label, kind=kind, wrap=wrap, joint=joint, context=name in IN_CONTEXT)
        for name, (label, kind, wrap, joint) in WAYS.items()
    ]
    written = {name: lists.style(name) for name in SEPARATORS}
    separators = [dict(name=n, template=t, between=b) for n, (t, b) in written.items()]
    about = datasets.relations("atlas").set_index("relation")
    return {
        "model": MODEL,
        "options": N_OPTIONS,
        "ways": ways,
        "separators": separators,
        "relations": [_relation(name, about.loc[name]) for name in about.index],
    }


def _relation(name: str, about: Any) -> dict[str, Any]:
    """Return one relation of the catalogue."""
    table = of(name)
    objects = sorted(set(table["object"]))
    number = {text: place for place, text in enumerate(objects)} | {"": -1}
    frames = datasets.frames("atlas", [name]).sort_values("frame")
    return {
        "name": name,
        "label": about["label"],
        "subject": about["subject_type"],
        "object": about["object_type"],
        "frames": {kind: list(rows["template"]) for kind, rows in frames.groupby("kind")},
        "objects": objects,
        "facts": [
            [
                row.subject,
                number[row.object],
                int(row.exposures),
                number[row.false_object],
                int(row.false_exposures),
                int(row.pair_exposures),
            ]
            for row in table.itertuples()
        ],
    }


@lru_cache(maxsize=1)
def bundle(folder: Path = WEIGHTS / MODEL) -> Bundle:
    """Return the script of a model, made anew from its weights."""
    parts = {name: (folder / file).read_bytes() for name, file in FILES.items()}
    parts["catalogue"] = json.dumps(catalogue(), ensure_ascii=False).encode()
    packed = {
        name: base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
        for name, data in parts.items()
    }
    code = "\n".join((SCRIPTS / name).read_text(encoding="utf-8") for name in WORKER)
    text = f"LiveProbe.deliver({json.dumps({'code': code, 'parts': packed})});\n"
    return Bundle(f"{MODEL}.js", text)


def opening(*cases: Case) -> str:
    """Return the tag that opens a place in which the page asks, and why its first case was chosen.

    >>> from book.tools.live.asking import Question
    >>> print(opening(Case("", Question(subject="<b>"), None, "<i>")))  # doctest: +ELLIPSIS
    <div class="live-probe" data-live="{&quot;model&quot;: ...&quot;&lt;b&gt;&quot;...}">
    <p class="live-said">&lt;i&gt;</p>
    """
    made = bundle()
    told = {
        "model": MODEL,
        "file": f"{made.name}?v={made.version}",
        "megabytes": round(made.megabytes, 1),
        "cases": [asdict(one) for one in cases],
    }
    return (
        f'<div class="live-probe" data-live="{html.escape(json.dumps(told))}">\n'
        f'<p class="live-said">{html.escape(cases[0].said)}</p>'
    )
