"""A choice between models by prompt multiplicity, as in section 5 of its paper."""

from collections.abc import Mapping

import pandas as pd

from helpers import stats
from notebooks.kit.plots import result_tables

SELECTION_RULES = {  # what is asked, and which column of facts the choice goes by
    "asked once, nothing checked": ("accuracy", True),
    "asked in ten ways, what changes is dropped": ("factuality", True),
    "the same, with errors that stay doing the harm": ("error", False),
    "the same, with answers that change doing the harm": ("randomness", False),
}
SHOWN_COLUMNS = {
    "accuracy": "accuracy",
    "factuality": "prompt-agnostic factuality",
    "error": "prompt-agnostic error",
    "randomness": "randomness",
}


def shared_facts(facts: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return each model's facts that all were asked, in one order."""
    shared = None
    for table in facts.values():
        index = table.index
        shared = index if shared is None else shared.intersection(index)
    return {name: table.loc[shared.sort_values()] for name, table in facts.items()}


def class_shares_by_model(
    facts: Mapping[str, pd.DataFrame], **draws: int
) -> pd.DataFrame:
    """Write accuracy and the three classes of each model, in percent."""
    rows = {}
    for name, table in shared_facts(facts).items():
        row = {"questions": len(table)}
        for column, title in SHOWN_COLUMNS.items():
            estimate = stats.bootstrap(table[column], strata=table["relation"], **draws)
            row[title] = result_tables.interval(*estimate[:3], digits=1, scale=100)
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def choices_between_models(
    facts: Mapping[str, pd.DataFrame], **draws: int
) -> pd.DataFrame:
    """Return which model each rule chooses, and by how much it beats the next.

    ``ahead`` is the paired difference on the same facts, in points, in the direction
    that is better; a rule decides if its interval lies above 0.
    """
    shared = shared_facts(facts)
    columns = ["rule", "choice", "next", "ahead", "decides"]
    if len(shared) < 2:
        return pd.DataFrame(columns=columns)
    rows = []
    for rule, (column, higher_is_better) in SELECTION_RULES.items():
        sign = 1 if higher_is_better else -1
        means = {name: sign * table[column].mean() for name, table in shared.items()}
        best, second = sorted(means, key=means.__getitem__, reverse=True)[:2]
        ahead = stats.paired_difference(
            sign * shared[best][column],
            sign * shared[second][column],
            strata=shared[best]["relation"],
            **draws,
        )
        text = result_tables.interval(*ahead[:3], digits=1, scale=100)
        decides = "yes" if ahead.low > 0 else "no"
        rows.append((rule, best, second, text, decides))
    return pd.DataFrame(rows, columns=columns)
