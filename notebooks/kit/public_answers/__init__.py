"""Answers of real models that others published, as counts by group.

The tables are made from the publishers' files by `notebooks.kit.public_answers.tables`;
``sources.toml`` names repository, commit, licence and checksum. They hold counts and
statistics alone, no question, answer or name of a subject. Columns:

``contradictions``
    Facts of a model and relation, by how often the subject occurs in the Pile
    (``occurrences``: at least), and of how many answers after a contradicting statement
    (``asked``) the model kept its own object (``kept``) or named neither (``neither``).
``reruns``
    Questions of MMLU by how many pairs of answers differ: of ``reruns`` pairs to one
    prompt (``reruns_changed``), and of ``prompts`` pairs to that prompt and a changed
    one (``prompts_changed``). ``answers``: of all questions, or of those whose answers
    could all be read.
``confidence``
    Questions of MMLU by fifth of the confidence under one of three prompts, the model's
    own or that of the other models, and how many got another answer under the second
    prompt than under the third (``changed``).
``recall``
    BEAR's facts by relation and by how often subject and object stand in one sentence
    of Wikipedia, and how many the model completes rightly (``right``), with the option
    after the right one (``other``), and would by the same option for every subject
    (``favourite``).
``recall_measures``
    Rank correlations within relations of five scores with those occurrences, for the
    right object, the option after it, and the difference.
"""

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

TABLES_FOLDER = Path(__file__).parent


def load_counts(name: str) -> pd.DataFrame:
    """Read one of the tables."""
    return pd.read_csv(TABLES_FOLDER / f"{name}.csv")


def load_sources() -> dict[str, dict[str, Any]]:
    """Read what is known of each publisher's files."""
    return tomllib.loads((TABLES_FOLDER / "sources.toml").read_text(encoding="utf-8"))
