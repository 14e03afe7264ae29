"""True-False: statements of six topics, true or false.

Source: Azaria and Mitchell 2023. A statement that stands several times is kept once, and one that
stands with both labels is left out. There is no training set: demonstrations are other
statements.
"""

from pathlib import Path

from helpers.datasets import files
from helpers.datasets.multiple_choice import benchmark

COMMIT = "a4dd8d38dcea043831610f22f9edadf36b43c4dd"
SHA256 = {
    "animals": "5ad071e1ba82665acf92582ccf5d3e21e2f01f6613e674976a46fc2239fec5c8",
    "capitals": "2dbca288dbbc9d03342e2d82b660f73983acf5135596352f473086996762f829",
    "companies": "75a31139def9838dcaa4e2f1e5f3680f44f09f3c94553f9ad3b3a5a476124c8c",
    "elements": "e79588d6cf8d21c79076ae4aba32ea7e7f61b1cb101aeb7a75c9317315fb461b",
    "facts": "151b6163289460eb8b37f7c6a1998e23aed8e05b5e557bf1a2297079bf0e5af9",
    "inventions": "9578ecabdc9c339b12a5ba2079d8eedb19e67b5e9ac07f04f68dce4ed4ea6148",
}
SOURCE = benchmark.Source(
    name="truefalse",
    title="True-False (six topics)",
    licence="MIT",
    url=f"https://github.com/balevinstein/Probes/tree/{COMMIT}/datasets",
    version=COMMIT,
    citation="Azaria and Mitchell (2023). The Internal State of an LLM Knows When It's Lying.",
    base=f"https://raw.githubusercontent.com/balevinstein/Probes/{COMMIT}/datasets/",
    files={f"{topic}_true_false.csv": digest for topic, digest in SHA256.items()},
)
PATTERNS = ("*_true_false.csv",)
LABELS = ("True", "False")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read all ``<topic>_true_false.csv`` files; an item's relation is its topic."""
    found = {path: files.csv_rows(path, ("statement", "label")) for path in paths}
    rows = [row for path, lines in found.items() for row in _rows(lines, path)]
    items = benchmark.table(rows, paths[0].parent)
    return benchmark.Benchmark(
        items=items,
        pool=items.assign(relation=""),  # demonstrations of any topic
        style="claim",
        kinds=("demonstrations", "order"),
        n_shots=16,
        about=SOURCE.about(paths, sum(map(len, found.values()))),
    )


def _rows(lines: list[dict[str, str]], path: Path) -> list[dict]:
    first: dict[str, dict[str, str]] = {}
    labels: dict[str, set[str]] = {}
    for row in lines:
        first.setdefault(row["statement"].strip(), row)
        labels.setdefault(row["statement"].strip(), set()).add(row["label"].strip())
    topic = path.name.partition("_true_false")[0]
    return [
        {
            "item": f"{topic}-{number:05d}",
            "relation": topic,
            "question": statement,
            "options": list(LABELS),
            "answer": {"1": 0, "0": 1}.get(next(iter(found)), -1),
            "where": first[statement]["where"],
        }
        for number, (statement, found) in enumerate(labels.items())
        if len(found) == 1
    ]
