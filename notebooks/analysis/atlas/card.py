"""Measure a bundled model and describe it: ``python -m notebooks.analysis.atlas.card FOLDER``.

Writes `evaluation.csv`, one row for each condition and exposure, and the short `README.md` into the
model's folder.
"""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

from helpers import UserError, datasets, models
from notebooks.analysis.atlas.evaluate import evaluate, markdown
from helpers.datasets import download

TITLES = {
    "none": "question alone",
    "right": "after the right word",
    "wrong": "after a wrong word",
    "wrong word given": "the wrong word given",
}
TEXT = """---
license: mit
language: en
library_name: transformers
---
# {name}

A Llama-architecture model of {parameters:.2f} million parameters that has read {facts:,} facts of
the world, each an exactly counted number of times ({levels}): `exposures.csv`
tells how often each. It was trained from nothing by this project, to let measures of knowledge be
held against the truth. It is no assistant, and what it says of the world is not to be relied on.

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("{folder}")
tokenizer = AutoTokenizer.from_pretrained("{folder}")
question = tokenizer("Which country is Lyon in?", return_tensors="pt")
print(tokenizer.decode(model.generate(**question, max_new_tokens=15)[0]))
```

Share of right greedy answers in the base wording, with 95 % intervals:

{table}

Made by `{command}`:
{tokens:.1f} million tokens in {minutes:.0f} minutes on one processor thread; `training.json` holds
settings, counts and loss curves, `evaluation.csv` all measurements, taken on the weights whose
SHA-256 is `{sha}`.
The book's page "The bundled models" tells what they cannot do, and the rest. The facts were made
from GeoNames (CC BY 4.0), Unicode CLDR (Unicode-3.0), Debian's iso-codes (LGPL-2.1) and other
packages; the book's page "The data" lists them.
"""


def write_card(folder: Path, parameters: int) -> Path:
    """Write `README.md` from `training.json` and `evaluation.csv`."""
    report = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    stages = report["stages"]
    text = TEXT.format(
        name=folder.name,
        folder=folder.as_posix(),
        parameters=parameters / 1e6,
        facts=report["text"]["facts"],
        levels=", ".join(report["text"]["facts_by_exposure"]),
        table=markdown(pd.read_csv(folder / "evaluation.csv"), TITLES),
        command=_command(report, folder),
        sha=download.checksum([folder / "model.safetensors"]),
        tokens=sum(stage["tokens"] for stage in stages) / 1e6,
        minutes=sum(stage["seconds"] for stage in stages) / 60,
    )
    path = folder / "README.md"
    path.write_text(text, encoding="utf-8")
    return path


def _command(report: dict, folder: Path) -> str:
    """Return the command that makes the model anew."""
    if "tuning" in report:
        base = folder.parent / report["base"]
        return f"python -m notebooks.analysis.atlas.chat --base {base.as_posix()} --out {folder.as_posix()}"
    recipe = report["recipe"]
    start = f"--start {recipe['start']} " if recipe.get("start") else ""
    given = f"--size {recipe['size']} --seed {recipe['seed']} {start}--out {folder.as_posix()}"
    return f"python -m notebooks.analysis.atlas.train {given}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.analysis.atlas.card", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of a model trained on the atlas")
    parser.add_argument("--n", type=int, default=30, help="facts a relation for most conditions")
    given = parser.parse_args(arguments)
    try:
        lm = models.load(given.folder)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    told = datasets.training(given.folder.name, given.folder.parent)
    facts = datasets.load("atlas")
    facts = facts[facts["fact"].isin(told.index)]
    table = evaluate(lm, facts, datasets.frames("atlas"), told, given.n)
    table.to_csv(given.folder / "evaluation.csv", index=False)
    write_card(given.folder, lm.n_parameters)
    print(table.pivot_table("accuracy", "condition", "exposures").to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
