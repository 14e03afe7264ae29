"""Which runs may be compared: those of the same questions, asked the same way."""

import json
from typing import Any

import pandas as pd

from helpers.prompts import wrapping

NEUTRAL = {  # parameters that leave the facts that are asked as they are
    *("model", "run_dir", "n_bootstrap"),
    *("chat", "prompt_format", "trust_remote_code"),  # a model's own affair: see label
    "dataset",  # its name and checksum stand in the manifest, whatever path it was given by
    *("attribution", "siblings", "n_close", "n_seeds", "n_truth"),
    *("n_close_choices", "separators", "n_grid"),
}
PACKAGES = ("torch", "transformers")
NOTHING = "nothing"


def traits(manifest: dict[str, Any]) -> dict[str, str]:
    """Return what a run must share with another to be compared with it.

    >>> told = {"dataset": {"name": "atlas", "checksum": "ab"}, "versions": {"torch": "2.13.0+cpu"},
    ...         "parameters": {"model": "m", "seed": 3}}
    >>> traits(told)
    {'dataset': 'atlas', 'checksum': 'ab', 'torch': '2.13.0', 'seed': '3'}
    """
    found = {"dataset": manifest["dataset"]["name"]}
    found["checksum"] = str(manifest["dataset"].get("checksum", ""))
    versions = manifest.get("versions", {})
    found |= {name: versions[name].partition("+")[0] for name in PACKAGES if name in versions}
    free = {k: v for k, v in manifest["parameters"].items() if k not in NEUTRAL}
    return found | {k: json.dumps(v).strip('"') for k, v in sorted(free.items())}


def asked(manifest: dict[str, Any]) -> str:
    """Return the format of a run's prompts: bare, qa, shots or chat.

    >>> asked({"model": {"prompt_format": "qa"}, "parameters": {}})
    'qa'
    >>> asked({"model": {"chat": True}, "parameters": {}}), asked({"model": {}, "parameters": {}})
    ('chat', 'bare')
    """
    model = manifest["model"]
    chat = model.get("chat") or manifest["parameters"].get("chat")  # of runs before formats
    return model.get("prompt_format") or ("chat" if chat else "bare")


def label(manifest: dict[str, Any]) -> str:
    """Return the name of a run's model in tables: its last part, and the format if not bare.

    >>> label({"model": {"name": "org/small", "prompt_format": "chat"}, "parameters": {}})
    'small (chat)'
    """
    return wrapping.label(manifest["model"]["name"], asked(manifest))


def labelled(found: pd.DataFrame) -> pd.DataFrame:
    """Add to runs ``label``, with the name of the folder where two models share theirs."""
    names = found["manifest"].map(label)
    folders = found["folder"].map(lambda folder: folder.parent.name)
    shared = folders.groupby(names).transform("nunique") > 1
    return found.assign(label=names.where(~shared, names + " (" + folders + ")"))


def grouped(found: pd.DataFrame) -> pd.DataFrame:
    """Sort runs into groups that may be compared, chapter by chapter, the largest first."""
    table = found.assign(group=0, differs="")
    for _, rows in table.groupby("chapter"):
        keys = pd.Series([traits(told) for told in rows["manifest"]], rows.index, dtype=object)
        texts = keys.map(lambda key: json.dumps(key, sort_keys=True))
        sizes = texts.map(texts.value_counts())
        latest = rows.groupby(texts)["finished"].max().reindex(texts).to_numpy()
        order = pd.DataFrame({"text": texts, "size": sizes, "latest": latest})
        order = order.sort_values(["size", "latest"], ascending=False)["text"].drop_duplicates()
        places = {text: place for place, text in enumerate(order)}
        first = keys[texts == order.iloc[0]].iloc[0]
        table.loc[rows.index, "group"] = texts.map(places)
        table.loc[rows.index, "differs"] = keys.map(
            lambda key, first=first: _difference(key, first)
        )
    return table


def sentence(table: pd.DataFrame) -> str:
    """Say which runs were left out of the comparison, and why.

    >>> rows = pd.DataFrame({"label": ["a", "b"], "chapter": "monitor", "group": [0, 1],
    ...                      "differs": ["", "seed 1, not 0"]})
    >>> print(sentence(rows))
    1 of 2 runs is not mixed with the others:
    - b, monitor: seed 1, not 0
    """
    out = table[table["group"] > 0]
    if out.empty:
        return f"All {len(table)} runs were made alike, chapter by chapter." if len(table) else ""
    verb = "is" if len(out) == 1 else "are"
    lines = [f"- {r.label}, {r.chapter}: {r.differs}" for r in out.itertuples()]
    head = f"{len(out)} of {len(table)} runs {verb} not mixed with the others:"
    return "\n".join([head, *lines])


def formats(table: pd.DataFrame) -> str:
    """Say which formats of prompts are compared with each other; empty if there is one.

    >>> told = [{"model": {"prompt_format": name}, "parameters": {}} for name in ("bare", "qa")]
    >>> rows = pd.DataFrame({"label": ["a", "b (qa)"], "group": 0, "manifest": told})
    >>> print(formats(rows))
    Formats of prompts side by side: bare (a); qa (b (qa)). The facts asked are the same, the words
    around them are not: a difference between two formats is one of model and format together.
    """
    rows = table[table["group"] == 0]
    labels = rows["label"].groupby(rows["manifest"].map(asked)).unique()
    if len(labels) < 2:
        return ""
    listed = "; ".join(f"{said} ({', '.join(names)})" for said, names in labels.items())
    return (
        f"Formats of prompts side by side: {listed}. The facts asked are the same, the words\n"
        "around them are not: a difference between two formats is one of model and format together."
    )


def weights(table: pd.DataFrame) -> list[str]:
    """Return the labels whose chapters were run on different weights: a model was replaced.

    >>> told = [{"model": {"weights_sha": sha}} for sha in "aab"]
    >>> weights(pd.DataFrame({"label": ["m", "n", "m"], "manifest": told}))
    ['m']
    """
    shas = table["manifest"].map(lambda told: told["model"].get("weights_sha"))
    kinds = shas.groupby(table["label"]).nunique()
    return sorted(kinds[kinds > 1].index)


def _difference(key: dict[str, str], first: dict[str, str]) -> str:
    """Say in words where two sets of traits differ."""
    names = [name for name in first | key if key.get(name) != first.get(name)]
    if "dataset" in names and "checksum" in names:
        names.remove("checksum")
    parts = [f"{n} {key.get(n, NOTHING)}, not {first.get(n, NOTHING)}" for n in names]
    return "; ".join(parts)
