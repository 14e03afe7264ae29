"""The fact that all chapters ask first, and the facts that are stated plainly."""

import pandas as pd


def plainly_stated_facts(
    facts: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Add exposures where they are known; keep the facts stated plainly, if any are."""
    if training is None:
        return facts
    facts = facts.join(training[["exposures", "plain"]], on="fact")
    if not facts["plain"].any():
        return facts
    return facts[facts["plain"]]


def fact_of_running_example(facts: pd.DataFrame, focus: str = "P17") -> pd.DataFrame:
    """Return Lyon's fact of a relation, or its first; of all facts if it is absent."""
    of_relation = facts[facts["relation"] == focus]
    if of_relation.empty:
        of_relation = facts
    return lyon_first(of_relation).head(1)


def lyon_first(facts: pd.DataFrame) -> pd.DataFrame:
    """Move the fact about Lyon, if there is one, to the top."""
    is_another = facts["subject"].ne("Lyon")
    return facts.iloc[is_another.argsort(kind="stable")]
