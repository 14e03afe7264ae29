"""FACTOR (Wiki, News, Expert): which of four sentences goes on with a text.

Source: Muhlgay et al. 2024. The correct sentence is always ``completion``. The text before it is
``context`` where a file has that column (short, as the multiplicity study asks), else
``turncated_prefixes`` (so spelt), which the authors' own script reads. Some texts end in a space
and no sentence begins with one: we take the space off and put one in front of the sentence.
A column ``paraphrases`` (a JSON list of texts) gives other wordings of the text.
"""

import json
from pathlib import Path

from helpers import UserError
from helpers.datasets import files
from helpers.datasets.multiple_choice import benchmark

COMMIT = "ee9de30abf28e94b163167dc41ad51fbbdb48c32"
SOURCE = benchmark.Source(
    name="factor",
    title="FACTOR",
    licence="MIT (wiki, expert); ODC-By 1.0 (news)",
    url=f"https://github.com/AI21Labs/factor/tree/{COMMIT}/data",
    version=COMMIT,
    citation="Muhlgay et al. (2024). Generating Benchmarks for Factuality Evaluation. EACL 2024.",
    base=f"https://raw.githubusercontent.com/AI21Labs/factor/{COMMIT}/data/",
    files={"wiki_factor.csv": ""},
)
PATTERNS = ("*_factor.csv",)
CONTEXTS = ("context", "turncated_prefixes", "truncated_prefixes")
SENTENCES = ("completion", "contradiction_0", "contradiction_1", "contradiction_2")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read all ``*_factor.csv`` files; an item's relation is its file (wiki, news, expert)."""
    rows = [row for path in paths for row in _rows(path)]
    items = benchmark.table(rows, paths[0].parent if len(paths) > 1 else paths[0])
    return benchmark.Benchmark(
        items=items,
        pool=items.head(0),
        style="text",
        kinds=("paraphrases",),
        n_shots=0,
        about=SOURCE.about(paths, len(rows)),
    )


def _rows(path: Path) -> list[dict]:
    found = files.csv_rows(path, SENTENCES)
    column = next((name for name in CONTEXTS if found and name in found[0]), None)
    if found and column is None:
        raise UserError(f"{path} lacks the text before the sentences: {' or '.join(CONTEXTS)}.")
    topic = path.name.partition("_factor")[0]
    return [
        {
            "item": f"{topic}-{number:04d}",
            "relation": topic,
            "question": row[column].strip(),
            "options": [row[name].strip() for name in SENTENCES],
            "answer": 0,
            "paraphrases": _paraphrases(row.get("paraphrases"), row["where"]),
            "where": row["where"],
        }
        for number, row in enumerate(found)
    ]


def _paraphrases(cell: str | None, where: str) -> list[str]:
    if not cell:
        return []
    try:
        texts = json.loads(cell)
    except json.JSONDecodeError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UserError(f'{where}: `paraphrases` must be a JSON list of texts, as ["...", "..."].')
    return texts
