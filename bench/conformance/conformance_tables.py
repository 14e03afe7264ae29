"""Write the tables of the page from the cases and the results.

``python -m bench.conformance.conformance_tables`` takes no arguments.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
BOOK_FOLDER = HERE.parents[1] / "book"
SITUATIONS = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
FLOAT32_TOLERANCE = 1e-3  # of sums in float32
TIE_TOLERANCE = 1e-6  # of options that share the point
EXACT_OUTCOME = "exact"
ERROR_OUTCOME = "raises an error"
UNTRACED_OUTCOME = "not traced"


def case_outcomes() -> pd.DataFrame:
    """Return each tool's cases with what its number equals, see `score_outcome`."""
    cases = pd.read_json(HERE / "cases.jsonl", lines=True)
    results = pd.read_csv(HERE / "results.csv").merge(cases, on="case")
    results["difference"] = results["alone"] - results["expected"]
    results["exact"] = results["difference"].abs() <= FLOAT32_TOLERANCE
    batch_difference = (results["alone"] - results["batched"]).abs()
    error_once = results["alone"].isna() != results["batched"].isna()
    results["moved"] = (batch_difference > FLOAT32_TOLERANCE) | error_once
    outcomes = []
    for row in results.itertuples():
        outcomes.append(score_outcome(row.tool, row.alone, row.expected, row.also))
    return results.assign(outcome=outcomes)


def score_outcome(
    tool: str, value: float, expected: float, also: dict[str, float]
) -> str:
    """Return what a number equals; of several conventions, one that the tool follows.

    Parameters
    ----------
    tool : str
    value, expected : float
        Sums of log-probabilities: the tool's (missing where it raised an error), and
        the exact one.
    also : dict of str to float
        What other conventions give, by their names with ``|`` between them.

    Returns
    -------
    str
    """
    if pd.isna(value):
        return ERROR_OUTCOME
    names = _names_of_value(value, {EXACT_OUTCOME: expected, **also})
    name = names[0]
    for followed in SITUATIONS["followed"].get(tool, ()):
        if followed in names:
            name = followed
            break
    wordings = SITUATIONS["conventions"]
    if ", cut to " in name:
        return wordings.get("cut", name)
    return wordings.get(name, name)


def _names_of_value(value: float, known: dict[str, float]) -> list[str]:
    """Return the names of the first known value that equals a value."""
    for names, known_value in known.items():
        if abs(value - known_value) <= FLOAT32_TOLERANCE:
            return names.split("|")
    return [UNTRACED_OUTCOME]


def exact_counts_by_group(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return how many cases with an exact value each tool scores exactly, by group."""
    known = outcomes[outcomes["expected"].notna()]
    tools = list(outcomes["tool"].unique())
    table = known.pivot_table(
        index="group", columns="tool", values="exact", aggfunc="sum"
    )
    table = table[tools]
    table.insert(0, "cases", known.groupby("group")["case"].nunique())
    table = table.reindex(list(SITUATIONS["groups"]))
    table = table.rename(SITUATIONS["groups"])
    table.loc["all"] = table.sum()
    moved = outcomes.groupby("tool")["moved"].sum()
    table.loc["another number, or an error, when asked among others"] = moved
    # Only the number of cases is missing, in the row of those that moved.
    table = table.fillna(outcomes["case"].nunique()).astype(int)
    return table.rename_axis("cases on").reset_index()


def inexact_counts_by_convention(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return what each tool does where it is not exact: cases and differences."""
    inexact = outcomes[outcomes["expected"].notna() & ~outcomes["exact"]]
    rows = []
    for (tool, outcome), part in inexact.groupby(["tool", "outcome"]):
        median = ""
        higher = ""
        if outcome != ERROR_OUTCOME:
            median = f"{part['difference'].abs().median():.1f}"
            higher = f"{100 * (part['difference'] > 0).mean():.0f} %"
        row = {
            "tool": tool,
            "what it does": outcome,
            "cases": len(part),
            "median difference": median,
            "scored higher": higher,
        }
        rows.append(row)
    tools = list(outcomes["tool"].unique())
    rows.sort(key=lambda row: (tools.index(row["tool"]), -row["cases"]))
    return pd.DataFrame(rows)


def accuracy_by_tool() -> pd.DataFrame:
    """Return accuracy by way of asking and tool; in brackets, the answers won and lost.

    Options that tie share the point.
    """
    questions = pd.read_json(HERE / "questions.jsonl", lines=True)
    answers = pd.read_csv(HERE / "answers.csv").merge(questions, on="case")
    answers["question"] = answers["case"].str.rpartition("-")[0]
    exact = answers[answers["tool"] == "ours"].copy()
    exact["tool"] = EXACT_OUTCOME
    exact["alone"] = exact["expected"]
    answers = pd.concat([exact, answers])
    rows = []
    for way in SITUATIONS["ways"]:
        part = answers[answers["group"] == way]
        rows.append({"way of asking": way, **_accuracy_texts(part)})
    return pd.DataFrame(rows)


def _accuracy_texts(answers: pd.DataFrame) -> dict[str, str]:
    """Return each tool's accuracy and what it wins and loses against exact scores."""
    best = answers.groupby(["tool", "question"])["alone"].transform("max")
    chosen = answers[answers["alone"] >= best - TIE_TOLERANCE]
    right = chosen.pivot_table(index="question", columns="tool", values="right")
    texts = {}
    for tool in answers["tool"].unique():
        if tool not in right:
            texts[tool] = ERROR_OUTCOME
            continue
        text = f"{100 * right[tool].mean():.1f} %"
        difference = right[tool] - right[EXACT_OUTCOME]
        won = difference.clip(lower=0).sum()
        lost = -difference.clip(upper=0).sum()
        if won or lost:
            text = f"{text} (+{won:.3g} −{lost:.3g})"
        texts[tool] = text
    return texts


def main() -> None:
    """Write the three tables."""
    outcomes = case_outcomes()
    tables = {
        "cases": exact_counts_by_group(outcomes),
        "reasons": inexact_counts_by_convention(outcomes),
        "accuracy": accuracy_by_tool(),
    }
    for name, table in tables.items():
        path = BOOK_FOLDER / f"conformance_{name}.csv"
        table.to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
