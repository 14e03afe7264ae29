"""The tables of Zheng, Lapata and Pan 2024 put together: models by measure, and pairs of models."""

import re
from collections.abc import Callable
from itertools import pairwise

import pandas as pd

from notebooks.kit.published import load_published_table

PROMPT_SETTINGS = ("zero-shot", "four-shot", "four-two")
TUNED_MODEL_OF_FAMILY = {  # by the base models' family
    "Llama 2": "Llama2chat",
    "Llama3": "Llama3Instruct",
    "Mistral": "Mistral-Instruct",
    "Gemma": "Gemma-Instruct",
}


def knowledge_base_models(setting: str = "four-shot") -> pd.DataFrame:
    """Return the 26 models with all measures of one prompt setting (Tables 4, 9, 10 and 11)."""
    setting = setting if setting in PROMPT_SETTINGS else "four-shot"
    table = (knowledge_base_measures(setting) / 100).round(6)
    about = load_published_table("kb_table4").loc[table.index]
    tuned = (about["instruction tuning"] == "yes") | (about["RLHF"] == "yes")
    sizes = pd.to_numeric(about["params"].str.removesuffix("B"), errors="coerce")
    families = [re.sub(r" [\d.]+B$", "", name) for name in table.index]
    return table.assign(tuned=tuned, family=families, billion=sizes)


def knowledge_base_measures(
    setting: str, load: Callable[[str], pd.DataFrame] = load_published_table
) -> pd.DataFrame:
    """Return all printed measures of one prompt setting, in percent."""
    parts = [
        load(f"kb_table{number}").filter(regex=f"^{setting} ") for number in (9, 10, 11)
    ]
    table = pd.concat(parts, axis=1)
    return table.set_axis([name.partition(" ")[2] for name in table], axis=1)


def pairs_of_models() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return pairs of models for the questions of Figure 3, like with like: rows of two tables.

    The smaller and the next larger of a family, base and tuned models of one size (both
    four-shot), and every model in two settings. The pairs are this book's; the text
    that the paper has beside that figure, without numbers, fits means over groups of
    models.
    """
    table = knowledge_base_models("four-shot")
    steps = []
    for _, family in table.groupby("family", sort=False):
        steps += pairwise(family.sort_values("billion").index)
    base = [
        (name, name.replace(family, TUNED_MODEL_OF_FAMILY[family]))
        for name, family in table["family"].items()
        if family in TUNED_MODEL_OF_FAMILY
    ]
    found = {
        "larger": steps,
        "tuned": [pair for pair in base if pair[1] in table.index],
    }
    compared = {
        name: tuple(table.loc[list(side)] for side in zip(*rows))
        for name, rows in found.items()
    }
    zero, unsure = knowledge_base_models("zero-shot"), knowledge_base_models("four-two")
    return compared | {"shots": (zero, table), "unsure shots": (table, unsure)}
