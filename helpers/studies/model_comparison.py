"""Two models, or more, on the same facts: paired differences of a study's measures."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from helpers import UserError, check_columns, stats
from helpers.studies.measures import Measure, Study, measurable

ROUNDING_DIFFERENCE = 1e-6  # differences below it are those of sums in another order


def compare_models(
    study: Study,
    facts: Mapping[str, pd.DataFrame],
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare models in all measures of a study, pair by pair, on facts asked of both.

    Both models of a pair are resampled together, so a fact that is hard for both does
    not widen the interval. Where a measure leaves facts out (MONITOR counts only those
    that a model knows), the facts that count for both models decide. A measure whose
    columns a table lacks, for it was saved before there was this measure, is left out
    with a warning.

    Parameters
    ----------
    study : Study
        A module of `helpers.studies`, such as `helpers.studies.monitor`.
    facts : mapping of str to DataFrame
        A model's name to its facts, as from the study's ``facts``; two models or more.
    n_resamples, seed : int
        Of the bootstrap within strata.

    Returns
    -------
    DataFrame
        ``first, second, measure, estimate, low, high, p, n, better``: `estimate` is the
        measure of `first`, the later one in the mapping, minus that of `second`; `n`
        facts count for both; ``better`` names the better model, "" if the interval
        holds 0, if there is none, or if neither side is better.

    Raises
    ------
    UserError
        If there is only one model, a table lacks a column that all measures need, or
        two models share no fact.

    Examples
    --------
    >>> from helpers.studies import latent_knowledge
    >>> small = pd.DataFrame({"item": list("abcd"), "relation": "P36", "mass": 0.5,
    ...                       "right": [0.0, 0.0, 0.0, 1.0]})
    >>> facts = {"small": small, "large": small.assign(right=1.0)}
    >>> differences = compare_models(latent_knowledge, facts)
    >>> columns = ["first", "second", "measure", "estimate", "n"]
    >>> differences[columns].values.tolist()
    [['large', 'small', 'right', 0.75, 4], ['large', 'small', 'mass', 0.0, 4]]
    """
    if len(facts) < 2:
        raise UserError(f"A comparison needs two models or more, not {len(facts)}.")
    measures = _shared_measures(study, facts)
    columns = [column for measure in measures for column in measure.columns]
    for name, table in facts.items():
        check_columns(table, ["item", "relation", *columns], f"facts of {name}")
    models = {name: facts_by_item(table) for name, table in facts.items()}
    for first, second in combinations(models, 2):
        shared_items = models[first].index.intersection(models[second].index)
        if shared_items.empty:
            raise UserError(
                f"{first} and {second} share no fact: ask both the same facts."
            )
    return measure_differences(models, measures, n_resamples=n_resamples, seed=seed)


def _shared_measures(
    study: Study, facts: Mapping[str, pd.DataFrame]
) -> Sequence[Measure]:
    """Return the measures that all tables have columns of, and warn of the others."""
    measures = measurable(study, *facts.values())
    if not measures:  # no facts of this study
        return study.MEASURES
    for measure in study.MEASURES:
        if measure not in measures:
            warnings.warn(
                f"{measure.name} is left out: some facts lack its columns.",
                stacklevel=3,
            )
    return measures


def facts_by_item(facts: pd.DataFrame) -> pd.DataFrame:
    """Index facts by item, in order; a ``stratum`` stands in for ``relation``."""
    if "stratum" in facts:
        facts = facts.assign(relation=facts["stratum"]).drop(columns="stratum")
    return facts.set_index("item").sort_index()


def measure_difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    measure: Measure,
    n_resamples: int = 1000,
    seed: int = 0,
) -> stats.Difference:
    """Return first minus second in one measure, on the facts that count for both.

    Both tables are as from :func:`facts_by_item`.
    """
    columns = list(measure.columns)
    first = first.dropna(subset=columns)
    second = second.dropna(subset=columns)
    shared_items = first.index.intersection(second.index).sort_values()
    if shared_items.empty:
        nan = float("nan")
        return stats.Difference(nan, nan, nan, nan, 0)
    first = first.loc[shared_items]
    second = second.loc[shared_items]
    difference = stats.paired_difference(
        first[columns],
        second[columns],
        measure.statistic,
        first["relation"],
        n_resamples,
        seed,
    )
    return difference._replace(n=measure.n(first))


def measure_differences(
    models: Mapping[str, pd.DataFrame],
    measures: Iterable[Measure],
    pairs: Sequence[tuple[str, str]] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare pairs of models in all measures, on the facts that count for both."""
    if pairs is None:
        pairs = [(later, earlier) for earlier, later in combinations(models, 2)]
    measures = list(measures)
    rows = []
    for first, second in pairs:
        for measure in measures:
            difference = measure_difference(
                models[first], models[second], measure, n_resamples, seed
            )
            row = {"first": first, "second": second, "measure": measure.name}
            row |= difference._asdict()
            row["better"] = _better_model(first, second, difference, measure.higher)
            rows.append(row)
    columns = ["first", "second", "measure", *stats.Difference._fields, "better"]
    return numeric_table(rows, columns)


def _better_model(
    first: str, second: str, difference: stats.Difference, higher: bool | None
) -> str:
    """Return the better of two models; "" if undecided or if neither side is better."""
    if higher is None or abs(difference.estimate) < ROUNDING_DIFFERENCE:
        return ""
    if difference.low > 0:
        return first if higher else second
    if difference.high < 0:
        return second if higher else first
    return ""


def numeric_table(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> pd.DataFrame:
    """Lay out rows as a table whose figures are numbers, also where there is no row."""
    table = pd.DataFrame(rows, columns=list(columns))
    types: dict[str, type] = {"n": int}
    for name in stats.Difference._fields:
        if name != "n" and name in table:
            types[name] = float
    return table.astype(types)
