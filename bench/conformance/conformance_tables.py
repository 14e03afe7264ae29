"""Write the tables of the page: ``python -m bench.conformance.conformance_tables`` reads cases and results."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
BOOK_FOLDER = HERE.parents[1] / "book"
SITUATIONS = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
FLOAT32_TOLERANCE = 1e-3  # of sums in float32
EXACT_OUTCOME, ERROR_OUTCOME, UNTRACED_OUTCOME = (
    "exact",
    "raises an error",
    "not traced",
)


def case_outcomes() -> pd.DataFrame:
    """Return each tool's cases with their outcome: exact, an error, or the convention it equals."""
    cases = pd.read_json(HERE / "cases.jsonl", lines=True)
    found = pd.read_csv(HERE / "results.csv").merge(cases, on="case")
    rows = zip(found["tool"], found["alone"], found["expected"], found["also"])
    found["difference"] = found["alone"] - found["expected"]
    found["exact"] = found["difference"].abs() <= FLOAT32_TOLERANCE
    moved = (found["alone"] - found["batched"]).abs() > FLOAT32_TOLERANCE
    found["moved"] = moved | (found["alone"].isna() != found["batched"].isna())
    return found.assign(outcome=[score_outcome(*row) for row in rows])


def score_outcome(
    tool: str, value: float, expected: float, also: dict[str, float]
) -> str:
    """Return what a tool's number equals; of several conventions, one that its code follows."""
    if pd.isna(value):
        return ERROR_OUTCOME
    known = {EXACT_OUTCOME: expected, **also}
    name = next(
        (
            name
            for name, other in known.items()
            if abs(value - other) <= FLOAT32_TOLERANCE
        ),
        UNTRACED_OUTCOME,
    )
    names = name.split("|")
    name = next(
        (name for name in SITUATIONS["followed"].get(tool, ()) if name in names),
        names[0],
    )
    return SITUATIONS["conventions"].get("cut" if ", cut to " in name else name, name)


def exact_counts_by_group(found: pd.DataFrame) -> pd.DataFrame:
    """Return how many of the cases with an exact value each tool scores exactly, by group."""
    known = found[found["expected"].notna()]
    tools = list(found["tool"].unique())
    table = known.pivot_table(
        index="group", columns="tool", values="exact", aggfunc="sum"
    )[tools]
    table.insert(0, "cases", known.groupby("group")["case"].nunique())
    table = table.reindex(list(SITUATIONS["groups"])).rename(SITUATIONS["groups"])
    table.loc["all"] = table.sum()
    moved = found.groupby("tool")["moved"].sum()
    table.loc["another number, or an error, when asked among others"] = moved
    return (
        table.fillna(found["case"].nunique())
        .astype(int)
        .rename_axis("cases on")
        .reset_index()
    )


def inexact_counts_by_convention(found: pd.DataFrame) -> pd.DataFrame:
    """Return what each tool does where it is not exact: cases, and the size of the difference."""
    known = found[found["expected"].notna() & ~found["exact"]]
    order = {tool: place for place, tool in enumerate(found["tool"].unique())}
    rows = []
    for (tool, outcome), part in known.groupby(["tool", "outcome"]):
        size, higher = (
            part["difference"].abs().median(),
            (part["difference"] > 0).mean(),
        )
        told = (
            ("", "")
            if outcome == ERROR_OUTCOME
            else (f"{size:.1f}", f"{100 * higher:.0f} %")
        )
        rows.append((tool, outcome, len(part), *told))
    rows.sort(key=lambda row: (order[row[0]], -row[2]))
    names = ["tool", "what it does", "cases", "median difference", "scored higher"]
    return pd.DataFrame(rows, columns=names)


def accuracy_by_tool() -> pd.DataFrame:
    """Return accuracy by way of asking and tool; in brackets, the answers won and lost.

    Options that tie share the point.
    """
    asked = pd.read_json(HERE / "questions.jsonl", lines=True)
    found = pd.read_csv(HERE / "answers.csv").merge(asked, on="case")
    found["question"] = found["case"].str.rpartition("-")[0]
    told = found[found["tool"] == "ours"].assign(
        tool=EXACT_OUTCOME, alone=lambda x: x["expected"]
    )
    rows = []
    found = pd.concat([told, found])
    for way in SITUATIONS["ways"]:
        part = found[found["group"] == way]
        best = part.groupby(["tool", "question"])["alone"].transform("max")
        chosen = part[part["alone"] >= best - 1e-6]
        right = chosen.pivot_table(index="question", columns="tool", values="right")
        row = {"way of asking": way}
        for tool in part["tool"].unique():
            if tool not in right:
                row[tool] = ERROR_OUTCOME
                continue
            moved = right[tool] - right[EXACT_OUTCOME]
            won, lost = moved.clip(lower=0).sum(), -moved.clip(upper=0).sum()
            change = f" (+{won:.3g} −{lost:.3g})" if won or lost else ""
            row[tool] = f"{100 * right[tool].mean():.1f} %{change}"
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Write the three tables."""
    found = case_outcomes()
    made = {
        "cases": exact_counts_by_group(found),
        "reasons": inexact_counts_by_convention(found),
        "accuracy": accuracy_by_tool(),
    }
    for name, table in made.items():
        table.to_csv(
            BOOK_FOLDER / f"conformance_{name}.csv", index=False, lineterminator="\n"
        )


if __name__ == "__main__":
    main()
