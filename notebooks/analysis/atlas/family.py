"""Read what was recorded of the bundled models: their making, their curves, their measurements.

Everything comes from the small files beside the weights (`config.json`, `training.json`,
`evaluation.csv`), so no model is loaded and nothing is measured here.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models.checkpoints import WEIGHTS

MEASURED = ["model", "condition", "exposures", "n", "estimate", "low", "high"]


def members(folder: Path = WEIGHTS) -> list[str]:
    """Return the bundled models of the atlas, the smallest first, a tuned one after its base."""
    names = [path.parent.name for path in folder.glob("atlas-*/training.json")]
    return sorted(names, key=lambda name: (n_weights(name, folder), name))


def check(names: Sequence[str], folder: Path = WEIGHTS) -> list[str]:
    """Return the named models; all of the family if none is named.

    Raises
    ------
    UserError
        If a name is none of the family's.
    """
    family = members(folder)
    strange = [name for name in names if name not in family]
    if strange:
        raise UserError(
            f"'{strange[0]}' is no bundled model of known training: choose from "
            f"{', '.join(family) or 'none'}."
        )
    return list(names) or family


def stand_in(model: str, names: Sequence[str], folder: Path = WEIGHTS) -> str:
    """Return the model that is asked: itself if it is of the family, else the largest untuned one.

    Parameters
    ----------
    model : str
        Any name.
    names : sequence of str
        The models to compare, from which the stand-in comes.
    folder : Path
        Where the models' folders are.

    Returns
    -------
    str
    """
    if model in members(folder):
        return model
    base = [name for name in names if not report(name, folder).get("base")]
    return max(base or names, key=lambda name: n_weights(name, folder))


def n_weights(name: str, folder: Path = WEIGHTS) -> int:
    r"""Return the parameters of a bundled model, worked out from its `config.json`.

    :math:`V h + L (4 h a + 3 h f + 2 h) + h` for a vocabulary of V tokens (tied), h channels, L
    blocks, a channels of all heads together and f of the feed-forward part.
    """
    shape = json.loads((folder / name / "config.json").read_text(encoding="utf-8"))
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    heads = shape["num_attention_heads"] * shape["head_dim"]
    block = 4 * hidden * heads + 3 * hidden * inner + 2 * hidden
    return shape["vocab_size"] * hidden + shape["num_hidden_layers"] * block + hidden


def report(name: str, folder: Path = WEIGHTS) -> dict:
    """Return the training's report of a bundled model.

    Raises
    ------
    UserError
        If there is none.
    """
    path = folder / name / "training.json"
    if not path.is_file():
        raise UserError(f"{name} has no training.json: train it with notebooks.analysis.atlas.train first.")
    return json.loads(path.read_text(encoding="utf-8"))


def sheet(names: Sequence[str], folder: Path = WEIGHTS) -> pd.DataFrame:
    """Tabulate how the models are built and how they were trained."""
    rows = {}
    for name in names:
        told = report(name, folder)
        stages, shape = told["stages"], told["shape"]
        rows[name] = {
            "parameters": n_weights(name, folder),
            "blocks": shape["layers"],
            "channels": shape["hidden"],
            "heads": shape["heads"],
            "megabytes": (folder / name / "model.safetensors").stat().st_size / 1e6,
            "tokens": sum(stage["tokens"] for stage in stages) / 1e6,
            "minutes": sum(stage["seconds"] for stage in stages) / 60,
            "rate": told["recipe"]["second"]["rate"],
            "seed": told["recipe"]["seed"],
            "base": told.get("base", ""),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def curves(names: Sequence[str], folder: Path = WEIGHTS) -> pd.DataFrame:
    """Return the training curves.

    Parameters
    ----------
    names : sequence of str
        Models of the family.
    folder : Path
        Where the models' folders are.

    Returns
    -------
    DataFrame
        `model, stage, step, tokens, loss` (mean cross-entropy in nats since the row before) and
        `accuracy` (share of the tokens that count fully which were foretold rightly). The stages
        that a tuned model took over from its base stand under its base alone.
    """
    rows = []
    for name in names:
        told = report(name, folder)
        own = told["stages"][-1:] if told.get("base") in names else told["stages"]
        rows += [{"model": name, "stage": s["name"]} | entry for s in own for entry in s["curve"]]
    columns = ["model", "stage", "step", "tokens", "loss", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


def evaluation(names: Sequence[str], folder: Path = WEIGHTS) -> pd.DataFrame:
    """Return all that was measured of the models: `evaluation.csv` of each.

    Parameters
    ----------
    names : sequence of str
        Models of the family.
    folder : Path
        Where the models' folders are.

    Returns
    -------
    DataFrame
        `model, condition, exposures, n, estimate, low, high`: a share of n answers with Wilson's
        95 % interval. Exercises about no fact have exposures -1.

    Raises
    ------
    UserError
        If a model has not been measured.
    """
    found = []
    for name in names:
        path = folder / name / "evaluation.csv"
        if not path.is_file():
            raise UserError(
                f"{name} has not been measured: run python -m notebooks.analysis.atlas.card {path.parent}."
            )
        found.append(pd.read_csv(path).assign(model=name).rename(columns={"accuracy": "estimate"}))
    return pd.concat(found)[MEASURED] if found else pd.DataFrame(columns=MEASURED)
