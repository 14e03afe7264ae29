"""Two models, or more, on the same facts: paired differences of a study's measures."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from helpers import UserError, check_columns, printable_line, stats
from helpers.studies.identity_columns import CHECKSUM_DIGITS
from helpers.studies.measures import Measure, Study, measurable

ROUNDING_DIFFERENCE = 1e-6  # differences below it are those of sums in another order
LARGEST_P_VALUE = 0.05  # adjusted for the number of pairs, of a model called better
# The least p-value of a bootstrap is 2 over its resamples, and Holm's correction
# multiplies it by the number of pairs: with so many a pair, that is 0.02.
RESAMPLES_PER_PAIR = 100
# What two results may have been asked otherwise, and how that is said.
WAYS_OF_ASKING = {
    "wordings": "in other wordings",
    "wrong_words": "with other wrong words",
}


def compare_models(
    study: Study,
    facts: Mapping[str, pd.DataFrame],
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare models in all measures of a study, pair by pair, on facts asked of both.

    Facts are paired by what they are (relation, subject and object, or question,
    options and key: the column ``identity``), not by the names of their rows. Where a
    table of an older version lacks it, names pair them, with a warning. Warnings also
    say that the data sets differ, or how many facts were asked in other wordings or
    with other wrong words, and that a table has a fact twice, which counts once.

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
        Of the bootstrap within strata. There are at least 100 resamples a pair, so that
        p-values are fine enough to be corrected.

    Returns
    -------
    DataFrame
        ``first, second, measure, estimate, low, high, intervals, p, p_holm, n,
        better``: `estimate` is the measure of `first`, the later one in the mapping,
        minus that of `second`; `n` facts count for both. ``p_holm`` is `p`, widened for
        few facts as intervals are, and corrected after Holm for all pairs in the
        measure; the intervals are each of one pair alone, as the column ``intervals``
        says. ``better`` names the better model, "" if
        ``p_holm`` is above 0.05, the interval holds 0 or there is none, or if neither
        side is better.

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
    >>> small["identity"] = [f'["capital", "{name}", "x"]' for name in "abcd"]
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
    labels = _labels_of_facts(facts)
    models = {name: _facts_once(table, labels, name) for name, table in facts.items()}
    pairs = list(combinations(models, 2))
    for first, second in pairs:
        shared_items = models[first].index.intersection(models[second].index)
        if shared_items.empty:
            raise UserError(
                f"{first} and {second} share no fact: ask both the same facts."
            )
        _warn_of_other_questions(models, first, second, shared_items)
    n_resamples = max(n_resamples, RESAMPLES_PER_PAIR * len(pairs))
    differences = measure_differences(
        models, measures, n_resamples=n_resamples, seed=seed
    )
    return _differences_corrected_for_pairs(differences, models, measures)


def _differences_corrected_for_pairs(
    differences: pd.DataFrame,
    models: Mapping[str, pd.DataFrame],
    measures: Iterable[Measure],
) -> pd.DataFrame:
    """Correct p-values for all pairs in a measure; only those decide who is better."""
    measure_of_name = {measure.name: measure for measure in measures}
    expanded = []
    for row in differences.itertuples():
        measure = measure_of_name[row.measure]
        counted, _ = _rows_that_count_for_both(
            models[row.first], models[row.second], measure
        )
        expanded.append(stats.expanded_p_value(row.p, counted["relation"]))
    table = differences.assign(p_expanded=expanded)
    by_measure = table.groupby("measure", sort=False)["p_expanded"]
    p_holm = by_measure.transform(stats.holm_adjusted_p_values)
    is_decided = p_holm <= LARGEST_P_VALUE
    table = table.assign(
        p_holm=p_holm,
        intervals="not adjusted",
        better=differences["better"].where(is_decided, ""),
    )
    columns = ["first", "second", "measure", "estimate", "low", "high", "intervals"]
    return table[[*columns, "p", "p_holm", "n", "better"]]


def _labels_of_facts(facts: Mapping[str, pd.DataFrame]) -> dict[str, str] | None:
    """Return by identity what pairs facts; None where only names of rows can do so.

    A fact's label is its name in the first table that has it, so that the order of
    facts, and with it every resample, is that of their names.
    """
    labels: dict[str, str] = {}
    for name, table in facts.items():
        if "identity" not in table or table["identity"].isna().any():
            warnings.warn(
                f"The facts of {printable_line(name)} do not say what they are, as "
                "those of older versions do not: all are paired by the names of their "
                "rows. Compare only results on the same data.",
                stacklevel=3,
            )
            return None
        for identity, item in zip(table["identity"], table["item"], strict=True):
            labels.setdefault(identity, item)
    counts = Counter(labels.values())
    for identity, label in labels.items():
        if counts[label] > 1:  # other facts of other data have this name, too
            labels[identity] = identity
    return labels


def _facts_once(
    table: pd.DataFrame, labels: Mapping[str, str] | None, name: str
) -> pd.DataFrame:
    """Index facts by what pairs them; one that is there twice counts once."""
    if labels is not None:
        table = table.assign(item=table["identity"].map(labels))
    is_repeated = table["item"].duplicated()
    if is_repeated.any():
        warnings.warn(
            f"{printable_line(name)} repeats {is_repeated.sum()} of its facts: "
            "each counts once.",
            stacklevel=3,
        )
    return facts_by_item(table[~is_repeated])


def _warn_of_other_questions(
    models: Mapping[str, pd.DataFrame], first: str, second: str, shared: pd.Index
) -> None:
    """Say where two results are of other data, or were asked otherwise."""
    tables = models[first].loc[shared], models[second].loc[shared]
    names = f"{printable_line(first)} and {printable_line(second)}"
    checksums = []
    for table in tables:
        values = table.get("dataset_checksum", pd.Series(dtype=object)).dropna()
        known = sorted({value[:CHECKSUM_DIGITS] for value in values if value})
        checksums.append(", ".join(known))
    if all(checksums) and checksums[0] != checksums[1]:
        warnings.warn(
            f"The data sets of {names} differ (SHA-256 {checksums[0]} and "
            f"{checksums[1]}): {len(shared)} facts are in both and are compared.",
            stacklevel=3,
        )
    for column, sentence in WAYS_OF_ASKING.items():
        if not all(column in table for table in tables):
            continue
        asked_first, asked_second = (table[column] for table in tables)
        is_known = asked_first.notna() & asked_second.notna()
        n_other = int((is_known & (asked_first != asked_second)).sum())
        if n_other:
            warnings.warn(
                f"{names} were asked {n_other} of {len(shared)} facts {sentence}: "
                "the difference is one of model and questions together.",
                stacklevel=3,
            )


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
    first, second = _rows_that_count_for_both(first, second, measure)
    if first.empty:
        nan = float("nan")
        return stats.Difference(nan, nan, nan, nan, 0)
    difference = stats.paired_difference(
        first[columns],
        second[columns],
        measure.statistic,
        first["relation"],
        n_resamples,
        seed,
    )
    return difference._replace(n=measure.n(first))


def _rows_that_count_for_both(
    first: pd.DataFrame, second: pd.DataFrame, measure: Measure
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the facts of two models that have a measure's columns in both."""
    columns = list(measure.columns)
    first = first.dropna(subset=columns)
    second = second.dropna(subset=columns)
    shared_items = first.index.intersection(second.index).sort_values()
    return first.loc[shared_items], second.loc[shared_items]


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
