"""Lists with pairs that nobody can know, or that are false, looked at place by place.

After Figures 2 and 9 to 11 of Wu et al. 2025. Lists are the unit: of one list, one
place says nothing. Since we know what the bundled models have read, true pairs that
they never read stand beside invented ones with the same objects.
"""

import zlib
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import stats
from helpers.prompts.frames import fill_template
from helpers.prompts.lists import (
    open_pair_and_space,
    pair_template_and_separator,
)
from notebooks.atlas.invented_names import NameInventor
from notebooks.kit.plots import result_tables, shared_figures

KINDS = {
    "read": "other true pairs",
    "unread": "true pairs never read",
    "invented": "invented names",
    "wrong": "wrong objects",
}
ARRANGEMENTS = ("scattered", "block")
INTACT = "intact"
LIST_LENGTH = 50
LEAST_LENGTH = 40  # of a list; relations with fewer pairs have none
N_REPLACED = 10
LEAST_EXPOSURE = 8  # of the pairs of a list: the text states them this often or more
PAIR_COLUMNS = ["relation", "draw", "kind", "arrangement", "place", "status"]
LIST_KEYS = ["relation", "draw"]


def lists_with_replaced_pairs(
    facts: pd.DataFrame, training: pd.DataFrame, n_draws: int = 2, seed: int = 0
) -> pd.DataFrame:
    """Draw lists of well-read pairs, and replace ten of them in each way.

    Parameters
    ----------
    facts : DataFrame
        ``fact, relation, subject, object``.
    training : DataFrame
        What the text says of them, as from `helpers.datasets.training_exposure`.
    n_draws : int
        Lists of each relation.
    seed : int

    Returns
    -------
    DataFrame
        One row a pair: ``relation, draw, kind, arrangement, place, status, subject,
        object``. All kinds and both arrangements of one draw share all pairs but the
        ten; scattered places are the same for all kinds. ``status`` is "before" the
        first of these places, "replaced", "next" after one, or "later".
    """
    inventor = NameInventor(facts)
    pairs = facts.drop_duplicates(["relation", "subject"])
    pairs = pairs.join(training[["exposures", "plain"]], on="fact")
    pairs = pairs[pairs["plain"].eq(True)]
    parts = []
    for relation, rows in pairs.groupby("relation", sort=False):
        read = rows[rows["exposures"] >= LEAST_EXPOSURE]
        unread = rows[rows["exposures"] == 0]
        length = min(LIST_LENGTH, len(read) - N_REPLACED)
        if length < LEAST_LENGTH or len(unread) < N_REPLACED:
            continue
        for draw in range(n_draws):
            random = np.random.default_rng([seed, zlib.crc32(relation.encode()), draw])
            shuffled = read.iloc[random.permutation(len(read))]
            own = shuffled[:length]
            others = {
                "read": shuffled[length : length + N_REPLACED],
                "unread": unread.iloc[random.permutation(len(unread))[:N_REPLACED]],
            }
            others["invented"] = _with_invented_subjects(
                others["unread"], inventor, random
            )
            versions = _versions_of_list(own, others, rows, random)
            parts.append(versions.assign(relation=relation, draw=draw))
    columns = [*PAIR_COLUMNS, "subject", "object"]
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]


def _with_invented_subjects(
    pairs: pd.DataFrame, inventor: NameInventor, random: np.random.Generator
) -> pd.DataFrame:
    """Return pairs with other subjects that exist nowhere, and the same objects."""
    names = [inventor.name(relation, random) for relation in pairs["relation"]]
    return pairs.assign(subject=names)


def _with_wrong_objects(
    pairs: pd.DataFrame, facts: pd.DataFrame, random: np.random.Generator
) -> pd.DataFrame:
    """Return pairs with other objects of their relation."""
    true = facts.groupby("subject")["object"].agg(set)
    objects = sorted(set(facts["object"]))
    wrong = []
    for subject in pairs["subject"]:
        candidates = [obj for obj in objects if obj not in {*true[subject], subject}]
        wrong.append(candidates[random.integers(len(candidates))])
    return pairs.assign(object=wrong)


def _versions_of_list(
    own: pd.DataFrame,
    others: dict[str, pd.DataFrame],
    facts: pd.DataFrame,
    random: np.random.Generator,
) -> pd.DataFrame:
    """Return a list as it is, and with ten of its pairs replaced, in each way."""
    length = len(own)
    start = (length - N_REPLACED) // 2
    # Not the first ten places: there the list has yet to say which relation is meant.
    scattered = random.choice(np.arange(10, length), N_REPLACED, replace=False)
    places_of = {
        "scattered": np.sort(scattered),
        "block": np.arange(start, start + N_REPLACED),
    }
    names = own[["subject", "object"]].reset_index(drop=True)
    parts = []
    for arrangement, places in places_of.items():
        status = _status_of_places(places, length)
        told = {"arrangement": arrangement, "place": range(length), "status": status}
        replaced = others | {
            "wrong": _with_wrong_objects(own.iloc[places], facts, random)
        }
        parts.append(names.assign(kind=INTACT, **told))
        for kind in KINDS:
            version = names.copy()
            values = replaced[kind][["subject", "object"]].to_numpy()
            version.iloc[places] = values
            parts.append(version.assign(kind=kind, **told))
    return pd.concat(parts, ignore_index=True)


def _status_of_places(places: np.ndarray, length: int) -> np.ndarray:
    """Say where each place of a list stands to those that are replaced.

    >>> _status_of_places(np.array([1, 2]), 5).tolist()
    ['before', 'replaced', 'replaced', 'next', 'later']
    """
    every = np.arange(length)
    replaced = np.isin(every, places)
    after_replaced = np.isin(every - 1, places)
    cases = [replaced, after_replaced, every < places.min()]
    return np.select(cases, ["replaced", "next", "before"], "later")


def probes_at_each_place(lists: pd.DataFrame, separator: str = "space") -> pd.DataFrame:
    """Ask for the object at each place of lists, behind all pairs before it.

    >>> pairs = pd.DataFrame({"subject": ["Lyon", "Turin"], "place": [0, 1],
    ...                       "object": ["France", "Italy"], "relation": "P17",
    ...                       "draw": 0, "kind": "intact", "arrangement": "block"})
    >>> probes = probes_at_each_place(pairs)
    >>> (probes["prompt"] + "|" + probes["continuation"]).tolist()
    ['Lyon| France', 'Lyon France Turin| Italy']
    """
    template, between = pair_template_and_separator(separator)
    parts = []
    keys = ["relation", "draw", "kind", "arrangement"]
    for key, pairs in lists.groupby(keys, sort=False):
        prompts = []
        continuations = []
        text = ""
        for row in pairs.itertuples():
            subject, space = open_pair_and_space(row.subject, separator)
            prompts.append(text + subject)
            continuations.append(space + row.object)
            text += fill_template(template, row.subject, row.object) + between
        name = " ".join(map(str, key))
        probes = pairs.assign(prompt=prompts, continuation=continuations, item=name)
        parts.append(probes.assign(variant=probes["place"].astype(str), option=0))
    return pd.concat(parts, ignore_index=True)


def probabilities_at_places(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the probability of the object at each place, beside the intact list's.

    ``change`` is the probability less that of the same object at the same place of the
    intact list, not a number where the pair is another.
    """
    table = answers[PAIR_COLUMNS].copy()
    table["p"] = [float(np.exp(np.sum(values))) for values in answers["logprobs"]]
    keys = ["relation", "draw", "arrangement", "place"]
    intact = table[table["kind"] == INTACT].set_index(keys)["p"]
    before = pd.Series(intact.reindex(pd.MultiIndex.from_frame(table[keys])))
    change = table["p"].to_numpy() - before.to_numpy()
    return table.assign(change=np.where(table["status"] == "replaced", np.nan, change))


def change_by_list(places: pd.DataFrame) -> pd.DataFrame:
    """Average the change of probability over places of a list, by where they stand.

    ``after`` are all intact pairs after the first replaced one, ``next`` those right
    after one, and ``replaced`` has the probabilities of the replaced themselves.
    """
    keys = ["model", *LIST_KEYS, "kind", "arrangement"]
    spoilt = places[places["kind"] != INTACT]
    is_after = spoilt["status"].isin(["next", "later"])
    after = spoilt[is_after].groupby(keys)["change"].mean()
    right_after = spoilt[spoilt["status"] == "next"].groupby(keys)["change"].mean()
    replaced = spoilt[spoilt["status"] == "replaced"].groupby(keys)["p"].mean()
    table = pd.DataFrame({"after": after, "next": right_after, "replaced": replaced})
    return table.reset_index()


def changes_by_kind(
    changes: pd.DataFrame, column: str = "after", **draws: int
) -> pd.DataFrame:
    """Estimate what each kind of pair does, by model and arrangement.

    Intervals draw relations, each with all its lists.
    """
    rows = []
    keys = ["model", "arrangement", "kind"]
    for key, part in changes.dropna(subset=[column]).groupby(keys, sort=False):
        interval = stats.bootstrap_over_groups(
            part[column].to_numpy()[:, None], part["relation"], stats.mean, **draws
        )
        row = dict(zip(keys, key, strict=True)) | {"lists": len(part)}
        row |= {"estimate": interval.estimate, "low": interval.low}
        rows.append(row | {"high": interval.high, "n": interval.groups})
    table = pd.DataFrame(rows)
    order = table["kind"].map(list(KINDS).index)
    return table.loc[order.sort_values(kind="stable").index].reset_index(drop=True)


def contrast_of_kinds(
    changes: pd.DataFrame,
    model: str,
    first: str,
    second: str,
    arrangement: str = "scattered",
    column: str = "after",
    **draws: int,
) -> tuple[float, float, float, int]:
    """Estimate the change by one kind of pair less that by another, in the same lists.

    Returned are the estimate, its bounds and the number of lists.
    """
    is_asked = (changes["model"] == model) & (changes["arrangement"] == arrangement)
    wide = changes[is_asked].pivot_table(column, LIST_KEYS, "kind")
    if not {first, second} <= set(wide):
        return np.nan, np.nan, np.nan, 0
    difference = (wide[first] - wide[second]).dropna()
    interval = stats.bootstrap_over_groups(
        difference.to_numpy()[:, None],
        difference.index.get_level_values("relation"),
        stats.mean,
        **draws,
    )
    return interval.estimate, interval.low, interval.high, len(difference)


def changes_in_words(
    changes: pd.DataFrame, model: str, arrangement: str = "scattered"
) -> dict[str, str]:
    """Write the mean change by each kind of pair, in points."""
    is_asked = (changes["model"] == model) & (changes["arrangement"] == arrangement)
    means = changes[is_asked].groupby("kind")["after"].mean().reindex(list(KINDS))
    return {kind: f"{100 * value:.1f}" for kind, value in means.items()}


def comparisons_of_places(
    changes: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, tuple[float, float, float, int]]]:
    """Yield by model and arrangement what parts kinds of pairs."""
    contrasts = {
        ("wrong", "invented"): "wrong objects, less invented names",
        ("invented", "unread"): "invented names, less true pairs never read",
        ("unread", "read"): "true pairs never read, less pairs read",
    }
    for model in changes["model"].unique():
        for arrangement in ARRANGEMENTS:
            for (first, second), label in contrasts.items():
                contrast = contrast_of_kinds(
                    changes, model, first, second, arrangement, **draws
                )
                if contrast[-1]:
                    yield f"{model}, {arrangement}: {label}", contrast


def table_of_changes(changes: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Lay out what replaced pairs do to those after them, and their own probability."""
    columns = {
        "after": "intact pairs after, points",
        "next": "right after one, points",
        "replaced": "the replaced themselves, %",
    }
    keys = ["model", "arrangement", "kind"]
    parts = []
    for column, title in columns.items():
        table = changes_by_kind(changes, column, **draws)
        cells = [
            result_tables.interval(row.estimate, row.low, row.high, 1, 100)
            for row in table.itertuples()
        ]
        index = pd.MultiIndex.from_frame(table[keys])
        parts.append(pd.Series(cells, index, name=title))
    counts = changes.groupby(keys).size().rename("lists")
    laid_out = pd.concat([*parts, counts], axis=1)
    order = pd.MultiIndex.from_product(
        [changes["model"].unique(), ARRANGEMENTS, list(KINDS)], names=keys
    )
    laid_out = laid_out.reindex(order).dropna(subset=["lists"]).reset_index()
    laid_out["kind"] = laid_out["kind"].map(KINDS)
    return laid_out.astype({"lists": int}).set_index("model")


def draw_changes(changes: pd.DataFrame, **draws: int) -> Axes:
    """Draw what scattered pairs of each kind do to the intact pairs after them."""
    table = changes_by_kind(changes[changes["arrangement"] == "scattered"], **draws)
    numbers = ["estimate", "low", "high"]
    table[numbers] = table[numbers].mul(100)
    table = table.assign(label=table["kind"].map(KINDS))
    return shared_figures.forest_plot(
        table,
        label="model",
        by="label",
        xlabel="change of probability, points",
    )


def draw_probabilities_by_place(places: pd.DataFrame, model: str) -> tuple[Axes, ...]:
    """Draw the mean probability at each place of a list, a panel for each kind."""
    of_model = places[places["model"] == model]
    _, panels = plt.subplots(
        len(KINDS),
        2,
        figsize=(7.2, 7.6),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    shades = {"intact list": "#8a8a8a", "intact pair": "#0072b2", "replaced": "#d55e00"}
    for row, (kind, title) in enumerate(KINDS.items()):
        for column, arrangement in enumerate(ARRANGEMENTS):
            ax = panels[row, column]
            part = of_model[of_model["arrangement"] == arrangement]
            intact = part[part["kind"] == INTACT].groupby("place")["p"].mean()
            line = {"color": shades["intact list"], "lw": 1.5, "label": "intact list"}
            ax.plot(intact.index, intact, **line)
            spoilt = part[part["kind"] == kind]
            is_replaced = spoilt["status"] == "replaced"
            for name, rows in (
                ("intact pair", spoilt[~is_replaced]),
                ("replaced", spoilt[is_replaced]),
            ):
                means = rows.groupby("place")["p"].mean()
                ax.plot(means.index, means, "o", color=shades[name], ms=3, label=name)
            ax.set_title(f"{title}, {arrangement}", loc="left", fontsize=10)
            ax.set_ylim(0, 1)
    panels[0, 0].legend(frameon=False, fontsize=9, ncols=3)
    for ax in panels[-1]:
        ax.set_xlabel("place in the list")
    for ax in panels[:, 0]:
        ax.set_ylabel("probability")
    return tuple(panels.ravel())
