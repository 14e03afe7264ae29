"""FEVER without "not enough info": is a claim supported or refuted by Wikipedia.

Source: Thorne et al. 2018. A claim that stands several times is kept once, and one that stands
with both labels is left out. Demonstrations come from ``train.jsonl`` where that lies in the same
folder, else from the claims themselves, none ever for itself.
"""

from pathlib import Path

from helpers.datasets import files
from helpers.datasets.multiple_choice import benchmark

COMMIT = "b782dd03efb68720644c889e3d7dded3b5bf5845"
SOURCE = benchmark.Source(
    name="fever",
    title="FEVER (paper development set, two labels)",
    licence="CC BY-SA 3.0",
    url=f"https://github.com/zixianma/interactive-chains/blob/{COMMIT}/data/paper_dev.jsonl",
    version=COMMIT,
    citation="Thorne, Vlachos, Christodoulopoulos and Mittal (2018). FEVER. NAACL 2018.",
    base=f"https://raw.githubusercontent.com/zixianma/interactive-chains/{COMMIT}/data/",
    files={"paper_dev.jsonl": "4cb464f53160f6a262aec17c60714125f773670b35eefbb0bb20a556b1847c36"},
)
PATTERNS = ("paper_dev*.jsonl", "shared_task_dev*.jsonl", "train.jsonl")
LABELS = ("SUPPORTS", "REFUTES")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read a development set, and the training set for demonstrations if it is there."""
    train = [path for path in paths if path.name == "train.jsonl"]
    asked = [path for path in paths if path not in train] or train
    lines = files.json_lines(asked[0])
    items = benchmark.table(_rows(lines), asked[0])
    return benchmark.Benchmark(
        items=items,
        pool=benchmark.table(_rows(files.json_lines(train[0])), train[0]) if train else items,
        style="claim",
        kinds=("demonstrations", "order"),
        n_shots=16,
        about=SOURCE.about([*asked[:1], *train[:1]], len(lines)),
    )


def _rows(lines: list[dict]) -> list[dict]:
    first: dict[str, dict] = {}
    labels: dict[str, set[str]] = {}
    for one in lines:
        files.need(one, ("id", "claim", "label"), one["where"])
        if one["label"] in LABELS:
            first.setdefault(one["claim"].strip(), one)
            labels.setdefault(one["claim"].strip(), set()).add(one["label"])
    return [
        {
            "item": str(one["id"]),
            "relation": "",
            "question": claim,
            "options": list(LABELS),
            "answer": LABELS.index(one["label"]),
            "where": one["where"],
        }
        for claim, one in first.items()
        if len(labels[claim]) == 1
    ]
