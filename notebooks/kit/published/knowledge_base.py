"""The tables of Zheng, Lapata and Pan 2024 put together: models, and pairs of them."""

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
PRETRAINED_FAMILY = {name: base for base, name in TUNED_MODEL_OF_FAMILY.items()}


def knowledge_base_models(setting: str = "four-shot") -> pd.DataFrame:
    """Return the 26 models with all measures of one setting (Tables 4, 9, 10, 11).

    ``family`` is the name without the size, ``pretrained`` that of the base models.
    """
    if setting not in PROMPT_SETTINGS:
        setting = "four-shot"
    table = (knowledge_base_measures(setting) / 100).round(6)
    models = load_published_table("kb_table4").loc[table.index]
    tuned = (models["instruction tuning"] == "yes") | (models["RLHF"] == "yes")
    sizes = pd.to_numeric(models["params"].str.removesuffix("B"), errors="coerce")
    families = [re.sub(r" [\d.]+B$", "", name) for name in table.index]
    pretrained = [PRETRAINED_FAMILY.get(family, family) for family in families]
    return table.assign(
        tuned=tuned, family=families, pretrained=pretrained, billion=sizes
    )


def knowledge_base_measures(
    setting: str, load: Callable[[str], pd.DataFrame] = load_published_table
) -> pd.DataFrame:
    """Return all printed measures of one prompt setting, in percent."""
    measures = {}
    for number in (9, 10, 11):
        for column, values in load(f"kb_table{number}").items():
            column_setting, _, measure = str(column).partition(" ")
            if column_setting == setting:
                measures[measure] = values
    return pd.DataFrame(measures)


def tuned_pairs_by_setting() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return base models and their tuned versions in each prompt setting."""
    base, tuned = pairs_of_models()["tuned"]
    pairs = {}
    for setting in PROMPT_SETTINGS:
        table = knowledge_base_models(setting)
        pairs[setting] = (table.loc[base.index], table.loc[tuned.index])
    return pairs


def pairs_of_models() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return pairs of models for the questions of Figure 3: rows of two tables.

    The smaller and the next larger of a family, base and tuned models of one size (both
    four-shot), and every model in two settings. The pairs are this book's; the text
    that the paper has beside that figure, without numbers, fits means over groups of
    models.
    """
    table = knowledge_base_models("four-shot")
    smaller, larger = [], []
    for _, family in table.groupby("family", sort=False):
        for small, large in pairwise(family.sort_values("billion").index):
            smaller.append(small)
            larger.append(large)
    base, tuned = [], []
    for name, family in table["family"].items():
        if family not in TUNED_MODEL_OF_FAMILY:
            continue
        tuned_name = name.replace(family, TUNED_MODEL_OF_FAMILY[family])
        if tuned_name in table.index:
            base.append(name)
            tuned.append(tuned_name)
    return {
        "larger": (table.loc[smaller], table.loc[larger]),
        "tuned": (table.loc[base], table.loc[tuned]),
        "shots": (knowledge_base_models("zero-shot"), table),
        "unsure shots": (table, knowledge_base_models("four-two")),
    }
