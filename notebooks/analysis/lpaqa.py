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
PROMPT_SOURCES = {
    "manual_paraphrase": ("HGP", ".txt"),
    "mine": ("MMP", ".jsonl"),
    "paraphrase": ("", ".jsonl"),
}


def read_lpaqa_prompts(
    path: str | Path, relations: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read the prompts of LPAQA from its repository's folder or from ``prompt``."""
    folder = Path(path).expanduser()
    if (folder / "prompt").is_dir():
        folder = folder / "prompt"
    rows = []
    for source, (kind, ending) in PROMPT_SOURCES.items():
        for file in sorted((folder / source).glob(f"P*{ending}")):
            relation = file.stem
            if relations is not None and relation not in relations:
                continue
            for prompt in _prompts_of_file(file):
                rows.append((relation, source, kind, *prompt))
    if not rows:
        raise UserError(
            f"{path} holds no prompts of LPAQA: give the folder with mine, paraphrase "
            "and manual_paraphrase in it."
        )
    columns = ["relation", "source", "kind", "template", "weight", "usable"]
    return pd.DataFrame(rows, columns=columns)


def ends_with_object(template: str) -> bool:
    """Tell whether the object stands last, after the subject, but for punctuation.

    >>> ends_with_object("[X] is in [Y] ."), ends_with_object("[Y] league [X] .")
    (True, False)
    >>> ends_with_object("[X] is [Y] citizen .")
    False
    """
    before, slot, after = template.partition("[Y]")
    if not slot or "[X]" not in before:
        return False
    return not any(sign.isalnum() or sign == "[" for sign in after)


def best_templates_and_skipped_count(
    prompts: pd.DataFrame, n: int = 3
) -> tuple[pd.DataFrame, int]:
    """Choose the best `n` prompts of each kind and relation; count those not usable."""
    keys = ["relation", "kind"]
    of_paper = prompts[prompts["kind"] != ""]
    usable = of_paper[of_paper["usable"]]
    usable = usable.sort_values("weight", ascending=False, kind="stable")
    up_to_object = usable["template"].str.partition("[Y]")[0] + "[Y]"
    usable = usable.assign(template=up_to_object)
    usable = usable.drop_duplicates([*keys, "template"])
    usable = usable.sort_values(keys, kind="stable")
    usable = usable.assign(number=usable.groupby(keys).cumcount() + 1)
    best = usable.loc[usable["number"] <= n, [*keys, "number", "template"]]
    return best.reset_index(drop=True), int((~of_paper["usable"]).sum())


def _prompts_of_file(file: Path) -> list[tuple[str, float, bool]]:
    """Return template, weight and usability of each prompt; people's have no weight."""
    rows = []
    with files.reraise_as_malformed_file(file):
        if file.suffix == ".txt":
            for line in files.read_lines(file):
                if line.strip():
                    template = line.strip()
                    rows.append((template, float("nan"), ends_with_object(template)))
        else:
            for value in files.read_json_lines(file):
                template = value["template"]
                weight = float(value["weight"])
                rows.append((template, weight, ends_with_object(template)))
    return rows
