"""Tables of the knowledge-base measures with intervals: by setting, paired, and by the truth.

Responses are those of :mod:`helpers.metrics.responses`, with ``consistency``: columns ``item,
variant`` (the prompt setting), ``stratum, seen, kind, label, consistency``.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from helpers import stats
from helpers.metrics import knowledge_base as kb
from helpers.metrics.canonical import same_answer

MEANS_OVER = {
    "Cons_c": "correct response about seen knowledge",
    "Cons_w_seen": "wrong response about seen knowledge",
    "Cons_w_unseen": "wrong response about unseen knowledge",
}


def with_strata(responses: pd.DataFrame, least: int = 10) -> pd.DataFrame:
    """Add the strata of the bootstrap: relation, source or template, seen and unseen apart.

    Resampling within a stratum of a few questions would make intervals too narrow (one question
    adds no spread at all), so small groups are joined by the type of their answers, and what is
    small then, into one.

    Parameters
    ----------
    responses : DataFrame
        ``item, group, type, seen``; other columns are kept.
    least : int
        Questions of a stratum of its own.

    Returns
    -------
    DataFrame
        With ``stratum``.

    Examples
    --------
    >>> table = pd.DataFrame({"item": ["a", "b", "c"], "group": ["P17", "P17", "P36"],
    ...                       "type": ["location", "location", "number"], "seen": True})
    >>> with_strata(table, least=2)["stratum"].tolist()
    ['P17, seen', 'P17, seen', 'rest, seen']
    """
    known = responses["seen"].map({True: ", seen", False: ", unseen"})
    stratum = "rest" + known
    for column in ("type", "group"):
        name = responses[column] + known
        size = responses.groupby(name)["item"].transform("nunique")
        stratum = name.where(size >= least, stratum)
    return responses.assign(stratum=stratum)


def by_setting(
    responses: pd.DataFrame, n_resamples: int = 1000, seed: int = 0, by: str = "variant"
) -> pd.DataFrame:
    """Compute all measures of every prompt setting, with bootstrap intervals within strata.

    Parameters
    ----------
    responses : DataFrame
        As this module says.
    n_resamples, seed : int
        Of the bootstrap.
    by : str
        Column of settings.

    Returns
    -------
    DataFrame
        ``setting, measure, estimate, low, high, n``.

    Examples
    --------
    >>> said = pd.DataFrame({"variant": "zero-shot", "stratum": "a", "seen": [True, True],
    ...                      "label": ["correct", "wrong"], "consistency": [1.0, 0.5]})
    >>> by_setting(said, 10).set_index("measure").loc["NCCR", "estimate"]
    np.float64(0.25)
    """
    found = []
    for name, rows in responses.groupby(by, sort=False):
        values = kb.indicators(rows)
        *figures, n = stats.bootstrap(values, kb.statistic, rows["stratum"], n_resamples, seed)
        found += [(name, *row, n) for row in zip(kb.MEASURES, *figures)]
    return pd.DataFrame(found, columns=["setting", "measure", *stats.Interval._fields])


def undefined(measured: pd.DataFrame) -> str:
    r"""Say which measures are undefined, why, and what to try.

    Parameters
    ----------
    measured : DataFrame
        From :func:`by_setting`.

    Returns
    -------
    str
        A sentence a line; "" if every measure is defined in every setting.

    Examples
    --------
    >>> said = pd.DataFrame({"variant": "four-two", "stratum": "a", "seen": [True, True, False],
    ...                      "label": ["correct", "wrong", "uninformative"],
    ...                      "consistency": [1.0, 0.5, None]})
    >>> print(undefined(by_setting(said, 10)).partition("\n")[0])
    Cons_w_unseen is undefined (four-two): no wrong response about unseen knowledge was asked again.
    """
    lacking = measured[measured["estimate"].isna()].groupby("measure")["setting"].agg(", ".join)
    if lacking.empty:
        return ""
    figures = measured.set_index("measure")["estimate"]
    if (figures[["CR", "WR"]] == 0).all() and (figures[["UR"]] == 1).all():
        return (
            "No response says anything, so none can be asked again: "
            f"{', '.join(lacking.index)} are undefined, and the rates of 0 make NCCR 0 and IUR 1.\n"
            "Try prompt_format=chat if the model was tuned to chat, longer responses "
            "(max_new_tokens), or a larger model."
        )
    lines = [
        f"{name} is undefined ({lacking[name]}): no {response} was asked again."
        for name, response in MEANS_OVER.items()
        if name in lacking
    ]
    rest = [name for name in kb.MEASURES if name in lacking and name not in MEANS_OVER]
    lines += [f"{name} is undefined with them ({lacking[name]})." for name in rest]
    advice = (
        "Try more questions (n_seen, n_unseen), match=contains if the model answers in sentences, "
        "or fewer options (n_options)."
    )
    return "\n".join([*lines, advice])


def changes(
    responses: pd.DataFrame,
    settings: Sequence[str],
    measures: Iterable[str] = ("CR", "WR", "NCR", "UR", "NCCR", "IUR"),
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare each prompt setting with the one before, on the same questions.

    Parameters
    ----------
    responses : DataFrame
        As this module says, the same items in all settings.
    settings : sequence of str
        In order.
    measures : iterable of str
    n_resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``change, measure, estimate`` (later minus earlier), ``low, high, p, n``.

    Raises
    ------
    UserError
        If the settings do not hold the same questions.

    Examples
    --------
    >>> said = pd.DataFrame({"item": ["a", "b"] * 2, "variant": ["x", "x", "y", "y"],
    ...                      "stratum": "s", "seen": True,
    ...                      "label": ["wrong", "wrong", "correct", "wrong"]})
    >>> changes(said, ["x", "y"], ["CR"], 20)[["change", "measure", "estimate"]].values.tolist()
    [['x → y', 'CR', 0.5]]
    """
    rows = []
    for before, after in pairwise(settings):
        first, second = (
            responses[responses["variant"] == name].sort_values("item") for name in (before, after)
        )
        values = kb.indicators(second), kb.indicators(first)
        for name in measures:
            found = stats.paired_difference(
                *values, _one(name), first["stratum"], n_resamples, seed
            )
            rows.append({"change": f"{before} → {after}", "measure": name} | found._asdict())
    return pd.DataFrame(rows, columns=["change", "measure", *stats.Difference._fields])


def effects(
    pairs: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    measures: Iterable[str],
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Average what separates paired models: tuned and base, larger and smaller, two settings.

    Parameters
    ----------
    pairs : mapping
        Name of a comparison to two tables whose rows are paired, one column a measure.
    measures : iterable of str
        Pairs that lack a measure are left out of it.
    n_resamples, seed : int
        Of the bootstrap over pairs.

    Returns
    -------
    DataFrame
        ``effect`` (with the number of pairs), ``measure, estimate`` (second minus first), ``low,
        high, p, n``.

    Examples
    --------
    >>> small, large = pd.DataFrame({"UR": [0.2, 0.4]}), pd.DataFrame({"UR": [0.3, 0.7]})
    >>> effects({"size": (small, large)}, ["UR"], 20)[["effect", "estimate"]].values.tolist()
    [['size (2)', 0.2]]
    """
    rows = []
    for name, (first, second) in pairs.items():
        for measure in measures:
            both = np.column_stack([first[measure], second[measure]]).astype(float)
            both = both[~np.isnan(both).any(axis=1)]
            found = stats.paired_difference(
                both[:, 1], both[:, 0], n_resamples=n_resamples, seed=seed
            )
            figures = found._asdict() | {"estimate": round(found.estimate, 12)}
            rows.append({"effect": f"{name} ({len(both)})", "measure": measure} | figures)
    return pd.DataFrame(rows)


def by_exposure(responses: pd.DataFrame, n_resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Tabulate how responses depend on how often the fact stood in the training text.

    Parameters
    ----------
    responses : DataFrame
        ``exposures, label``.
    n_resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``exposures, model`` (the label, as `helpers.plots.exposure_curve` wants it), ``estimate``
        (its share), ``low, high, n``.

    Examples
    --------
    >>> said = pd.DataFrame({"exposures": [0, 8], "label": ["wrong", "correct"]})
    >>> found = by_exposure(said, 10)
    >>> found[found["exposures"] == 8].set_index("model")["estimate"].to_dict()
    {'correct': 1.0, 'uninformative': 0.0, 'wrong': 0.0}
    """
    flags = pd.get_dummies(responses["label"]).reindex(columns=kb.LABELS, fill_value=0)
    flags = flags.astype(float).assign(exposures=responses["exposures"])
    measures = {label: ([label], stats.mean) for label in kb.LABELS}
    found = stats.intervals(flags, measures, "exposures", n_resamples, seed)
    found = found[~found["exposures"].isin(["all", "mean"])]
    return found.rename(columns={"measure": "model"}).reset_index(drop=True)


def known_changes(
    responses: pd.DataFrame,
    settings: Sequence[str],
    least: int = 64,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare prompt settings on facts that were read often, to see what a prompt costs them.

    Parameters
    ----------
    responses : DataFrame
        ``item, variant, label, exposures``.
    settings : sequence of str
        Each is compared with the one before.
    least : int
        Exposures of a fact that counts as known.
    n_resamples, seed : int
        Of the bootstrap over facts.

    Returns
    -------
    DataFrame
        ``change, before, after`` (shares answered correctly), ``estimate`` (after minus before),
        ``low, high, p, n``; empty if no fact was read so often.

    Examples
    --------
    >>> said = pd.DataFrame({"item": ["a", "a"], "variant": ["x", "y"], "exposures": 64,
    ...                      "label": ["correct", "uninformative"]})
    >>> known_changes(said, ["x", "y"], n_resamples=9)[["before", "after"]].values.tolist()
    [[1.0, 0.0]]
    """
    known = responses[responses["exposures"] >= least]
    right = (known["label"] == "correct").astype(float)
    wide = known.assign(right=right).set_index(["item", "variant"])["right"].unstack()  # noqa: PD010
    rows = []
    for before, after in pairwise(settings) if len(wide) else ():
        found = stats.paired_difference(
            wide[after], wide[before], n_resamples=n_resamples, seed=seed
        )
        shares = {"before": float(wide[before].mean()), "after": float(wide[after].mean())}
        rows.append({"change": f"{before} → {after}"} | shares | found._asdict())
    return pd.DataFrame(rows, columns=["change", "before", "after", *stats.Difference._fields])


def truths(responses: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Set the consistency of responses about facts beside two truths, for ROC curves.

    Parameters
    ----------
    responses : DataFrame
        ``text, answers, seen, consistency, exposures`` (not a number where there is no fact).

    Returns
    -------
    dict
        Name of a truth to consistencies and truths (1 or 0): whether the answer is right, a lucky
        one included, and whether the fact was read in training.

    Examples
    --------
    >>> said = pd.DataFrame({"text": ["Peru"], "answers": [["Peru"]], "seen": [False],
    ...                      "consistency": [0.5], "exposures": [0]})
    >>> [truth.tolist() for _, truth in truths(said).values()]
    [[1.0], [0.0]]
    """
    facts = responses[responses["exposures"].notna() & responses["consistency"].notna()]
    right = [same_answer(text, known) for text, known in zip(facts["text"], facts["answers"])]
    scores = facts["consistency"].to_numpy(dtype=float)
    values = {"the answer is right": right, "the fact was read": facts["seen"]}
    return {name: (scores, np.array(truth, dtype=float)) for name, truth in values.items()}


def _one(name: str):
    """Return the statistic that is one of the measures."""
    place = kb.MEASURES.index(name)
    return lambda values: kb.statistic(values)[..., place]
