"""CommonsenseQA: everyday questions with five options, in its own format or the hub's.

Source: Talmor et al. 2019. Demonstrations come from ``train_rand_split.jsonl`` where that lies in
the same folder, else from the questions themselves, none ever for itself.
"""

from pathlib import Path

from helpers.datasets import files
from helpers.datasets.multiple_choice import benchmark

COMMIT = "5ef330fcdeec0cd26aee27943504f91f8ec1c33c"
BASE = f"https://raw.githubusercontent.com/kojima-takeshi188/zero_shot_cot/{COMMIT}/"
SOURCE = benchmark.Source(
    name="commonsenseqa",
    title="CommonsenseQA (development set)",
    licence="MIT",
    url=f"https://github.com/kojima-takeshi188/zero_shot_cot/tree/{COMMIT}/dataset/CommonsenseQA",
    version=COMMIT,
    citation="Talmor, Herzig, Lourie and Berant (2019). CommonsenseQA. NAACL 2019.",
    base=f"{BASE}dataset/CommonsenseQA/",
    files={
        "dev_rand_split.jsonl": "3210497fdaae614ac085d9eb873dd7f4d49b6f965a93adadc803e1229fd8a02a",
        "train_rand_split.jsonl": "",
    },
)
PATTERNS = ("dev_rand_split*.jsonl", "train_rand_split*.jsonl")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read the development set, and the training set for demonstrations if it is there."""
    train = [path for path in paths if path.name.startswith("train")]
    asked = [path for path in paths if path not in train] or train
    items = benchmark.table(_rows(asked[0]), asked[0])
    return benchmark.Benchmark(
        items=items,
        pool=benchmark.table(_rows(train[0]), train[0]) if train else items,
        style="letters",
        kinds=("demonstrations", "order", "options"),
        n_shots=16,
        about=SOURCE.about([*asked[:1], *train[:1]], len(items)),
    )


def _rows(path: Path) -> list[dict]:
    rows = []
    for number, one in enumerate(files.json_lines(path), 1):
        files.need(one, ("question", "answerKey"), one["where"])
        nested = isinstance(one["question"], dict)  # the original; the hub's is flat
        about = one["question"] if nested else one
        files.need(about, ("choices", "stem" if nested else "question"), one["where"])
        if nested:
            labels = [choice["label"] for choice in about["choices"]]
            texts = [choice["text"] for choice in about["choices"]]
        else:
            labels, texts = about["choices"]["label"], about["choices"]["text"]
        rows.append(
            {
                "item": str(one.get("id", f"commonsenseqa-{number:05d}")),
                "relation": "",
                "question": about["stem" if nested else "question"].strip(),
                "options": [text.strip() for text in texts],
                "answer": labels.index(one["answerKey"]) if one["answerKey"] in labels else -1,
                "where": one["where"],
            }
        )
    return rows
