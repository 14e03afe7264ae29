"""Prompts of LPAQA (Jiang et al. 2020, "How Can We Know What Language Models Know?").

Its folder ``prompt`` holds ``mine/P17.jsonl`` and ``paraphrase/P17.jsonl`` (one
``{"template", "weight"}`` a line) and ``manual_paraphrase/P17.txt`` (one template a
line).
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.io import files

# Folder of a source, its kind in the IC-LKE paper, and the ending of its files.
PROMPT_SOURCES = {"manual_paraphrase": ("HGP", ".txt"), "mine": ("MMP", ".jsonl")}
PROMPT_SOURCES |= {"paraphrase": ("", ".jsonl")}


def read_lpaqa_prompts(
    path: str | Path, relations: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read the prompts of a copy of LPAQA, the folder of the repository or its ``prompt``."""
    folder = Path(path).expanduser()
    folder = folder / "prompt" if (folder / "prompt").is_dir() else folder
    rows = []
    for source, (kind, ending) in PROMPT_SOURCES.items():
        for file in sorted((folder / source).glob(f"P*{ending}")):
            if relations is None or file.stem in relations:
                rows += [(file.stem, source, kind, *line) for line in _lines(file)]
    if not rows:
        told = f"{path} holds no prompts of LPAQA: give the folder with mine, paraphrase and "
        raise UserError(told + "manual_paraphrase in it.")
    columns = ["relation", "source", "kind", "template", "weight", "usable"]
    return pd.DataFrame(rows, columns=columns)


def ends_with_object(template: str) -> bool:
    """Tell whether the object stands last, after the subject, but for punctuation.

    >>> ends_with_object("[X] is in [Y] ."), ends_with_object("[Y] league [X] ."), ends_with_object("[X] is [Y] citizen .")
    (True, False, False)
    """
    head, slot, tail = template.partition("[Y]")
    return (
        bool(slot) and "[X]" in head and not any(c.isalnum() or c == "[" for c in tail)
    )


def best_templates_and_skipped_count(
    prompts: pd.DataFrame, n: int = 3
) -> tuple[pd.DataFrame, int]:
    """Choose the best `n` prompts of each kind and relation, and count those not usable."""
    asked, by = prompts[prompts["kind"] != ""], ["relation", "kind"]
    good = asked[asked["usable"]].sort_values("weight", ascending=False, kind="stable")
    good = good.assign(template=good["template"].str.partition("[Y]")[0] + "[Y]")
    good = good.drop_duplicates([*by, "template"]).sort_values(by, kind="stable")
    good = good.assign(number=good.groupby(by).cumcount() + 1)
    chosen = good.loc[good["number"] <= n, [*by, "number", "template"]]
    return chosen.reset_index(drop=True), int((~asked["usable"]).sum())


def _lines(file: Path) -> list[tuple[str, float, bool]]:
    with files.reraise_as_malformed_file(file):
        if file.suffix == ".txt":
            told = [
                (line.strip(), "nan") for line in files.read_lines(file) if line.strip()
            ]
        else:
            told = [
                (value["template"], value["weight"])
                for value in files.read_json_lines(file)
            ]
        return [
            (template, float(weight), ends_with_object(template))
            for template, weight in told
        ]
