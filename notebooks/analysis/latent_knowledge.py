"""What the chapter on latent knowledge computes beside its measure, and what its appendix lists."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, models, stats
from helpers.metrics.matching import holds
from helpers.models import LanguageModel
from helpers.prompts import lists
from helpers.studies import fitting
from helpers.studies import latent_knowledge as study
from notebooks.analysis import latent_subsumption
from notebooks.kit import published, runs_against_papers
from notebooks.kit.group_difference import gap
from notebooks.kit.plots import result_tables, shared_figures

JOINED = {
    "HGP 1": "people's sentence",
    "MMP 1": "mined sentence",
    "released": "authors' code",
}
FIGURES = ["right", "mass", "top"]  # of a fact
SURE = 0.5  # the confidence above which a model is called sure
MEASURES = {name: ([name], stats.mean) for name in ("right", "mass", "chance")}


def sides(settings: Mapping[str, Any]) -> tuple[pd.DataFrame, ...]:
    """Return the facts: all, for examples, to ask, of close-ups; and how many examples at most."""
    for name in filter(None, (settings["separator"], *settings["separators"])):
        lists.style(name)  # refuses an unknown one before anything is asked
    dataset, relations, seed = (
        settings[name] for name in ("dataset", "relations", "seed")
    )
    facts = datasets.load(dataset, relations or None)
    others = facts[~facts["relation"].isin(settings["left_out"])]
    facts, notes = lists.divisible(facts if relations or others.empty else others, seed)
    print(
        "".join(f"{note}\n" for note in [*datasets.notes(dataset, relations), *notes]),
        end="",
    )
    parts = lists.split(facts, seed=seed).groupby("role")
    pool, asked = parts.get_group("example"), parts.get_group("test")
    close = asked.groupby("relation").head(settings["n_close"])
    most = int(pool["relation"].value_counts().max())
    return facts, pool, asked, close, min(settings["n_examples"], most)


def separator(lm: LanguageModel, given: Mapping[str, Any]) -> tuple[str, pd.DataFrame]:
    """Return the separator that is set, or the best on facts that are not tested; and the trial."""
    if given["separator"]:
        nothing = pd.DataFrame(columns=["right", "mass", "n"]).rename_axis("separator")
        return given["separator"], nothing
    tried = study.try_separators(lm, **fitting(study.try_separators, given))
    return tried.index[0], tried


def commonest(tests: pd.DataFrame, pool: pd.DataFrame) -> pd.Series:
    """Tell whether facts have their relation's commonest object, first in the alphabet."""
    usual = pool.groupby("relation")["object"].agg(
        lambda objects: objects.mode().iloc[0]
    )
    right = tests["object"] == tests["relation"].map(usual)
    return right.astype(float).set_axis(tests["fact"])


def _pairs(table: pd.DataFrame, by: str, ways: Sequence[Any]) -> pd.DataFrame:
    """Return the facts asked in all ways, a column a way; several times in one: their mean."""
    wide = table.pivot_table("right", ["relation", "item"], by)
    return wide.reindex(columns=list(dict.fromkeys(ways))).dropna()


def paired(
    table: pd.DataFrame, by: str, first: Any, second: Any, **draws: int
) -> stats.Difference:
    """Compare two ways of asking on the facts that were asked in both."""
    wide = _pairs(table, by, (first, second))
    if first == second or wide.empty:
        return stats.paired_difference([], [])
    strata = wide.index.get_level_values("relation")
    return stats.paired_difference(wide[first], wide[second], strata=strata, **draws)


def rates(table: pd.DataFrame, by: str, **ways: Any) -> dict[str, str]:
    """Write the accuracy of each way in percent, over the facts that were asked in all of them."""
    wide = _pairs(table, by, list(ways.values()))
    means = wide.mean()
    return {
        name: result_tables.interval(means[way], None, None, 1, 100)
        for name, way in ways.items()
    }


def levels(table: pd.DataFrame, by: str, **draws: int) -> pd.DataFrame:
    """Estimate the accuracy of each way of asking, of the mean of a fact's several askings."""
    means = (
        table.groupby([by, "relation", "item"], sort=False)["right"]
        .mean()
        .reset_index()
    )
    measure = {"right": (["right"], stats.mean)}
    found = stats.intervals(means, measure, by=by, strata="relation", **draws)
    return found[~found[by].isin(["all", "mean"])].reset_index(drop=True)


def levels_of_prompts(ways: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Estimate the accuracy of each prompt, the list and the templates, with its ``way``."""
    prompts = ways[["variant", "way"]].drop_duplicates()
    return levels(ways, "variant", **draws).merge(prompts, on="variant", how="left")


def full_list(
    tried: pd.DataFrame, tests: pd.DataFrame, n_examples: int
) -> pd.DataFrame:
    """Return the answers of some facts behind the longest list of the first draw, as IC-LKE."""
    first = (tried["examples"] == n_examples) & (tried["draw"] == 0)
    return tried[first & tried["item"].isin(tests["fact"])].assign(variant="IC-LKE")


def firsts(listed: pd.DataFrame, prompted: pd.DataFrame) -> pd.DataFrame:
    """Return each fact's list and its first prompt of each kind, to be continued freely."""
    first = prompted[prompted["template"] == 1]
    both = pd.concat([listed, first]).drop_duplicates(["item", "variant"])
    return both[list(lists.COLUMNS)]


def two_groups(groups: Mapping[str, pd.DataFrame], chance: float, chosen: str) -> Axes:
    """Draw the accuracy of ways of asking in groups, and guessing as a dashed line."""
    rows, names = [], JOINED | {1: "1 example", chosen: f"{chosen} (chosen)"}
    for what, table in groups.items():
        label = [
            names.get(n, n if isinstance(n, str) else f"{n} examples")
            for n in table.iloc[:, 0]
        ]
        rows.append(table.assign(what=what, label=label))
    ax = shared_figures.dots(pd.concat(rows), by="what", xlabel="accuracy", share=True)
    if ax.get_lines():
        ax.axvline(chance, color="grey", lw=1, ls="--", zorder=0)
    return ax


def mark_generations(texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``right``: whether a text contains the true object as whole words (Appendix H.7)."""
    found = [float(holds(*pair)) for pair in zip(texts["text"], texts["object"])]
    return texts.assign(right=found)


def ranked_and_written(
    ways: pd.DataFrame, texts: pd.DataFrame, way: str
) -> pd.DataFrame:
    """Stack what was ranked first and what was written after the same prompts of a way (``by``)."""
    both = pd.concat([ways.assign(by="ranked"), texts.assign(by="written")])
    written = texts.loc[texts["way"] == way, "template"]
    return both[(both["way"] == way) & both["template"].isin(written)]


def written_after(
    ways: pd.DataFrame, texts: pd.DataFrame, control: str = "HGP", **draws: int
) -> dict[str, str]:
    """Write how many truths rank first and are written after a list, and the `control`'s gaps."""
    after = (ranked_and_written(ways, texts, control), "by", "ranked", "written")
    each = {
        "control": paired(*after, **draws),
        "list": paired(texts, "way", "IC-LKE", control, **draws),
    }
    words = {
        name: result_tables.interval(*found[:3], 1, 100) for name, found in each.items()
    }
    listed = ranked_and_written(ways, texts, "IC-LKE")
    return words | rates(listed, "by", ranked="ranked", written="written")


def ends(truth: pd.DataFrame, often: int = 8) -> dict[str, str]:
    """Write how many percent are right of facts never stated, and of those stated most often."""
    groups = {"never": truth["exposures"] == 0, "stated": truth["exposures"] > often}
    shares = {name: truth.loc[rows, "right"].mean() for name, rows in groups.items()}
    return {
        name: result_tables.interval(share, None, None, 1, 100)
        for name, share in shares.items()
    }


def reliability(scores: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Estimate the accuracy of facts of similar confidence, with Wilson's intervals."""
    place = np.ceil(scores["top"] * bins).clip(1, bins)
    groups = [rows for _, rows in scores.groupby(place)]
    found = [stats.wilson(int(rows["right"].sum()), len(rows)) for rows in groups]
    table = pd.DataFrame(found, columns=stats.Interval._fields)
    return table.assign(confidence=[rows["top"].mean() for rows in groups])


def reliability_diagram(scores: pd.DataFrame) -> Axes:
    """Draw accuracy by confidence, which agree on the dashed line; above it the Brier score."""
    words = {
        "xlabel": "confidence: share of the likeliest choice",
        "ylabel": "accuracy",
    }
    ax = shared_figures.curves(reliability(scores), "confidence", **words)
    if ax.get_lines():
        brier = ((scores["top"] - scores["right"]) ** 2).mean()
        ax.plot([0, 1], [0, 1], color="grey", lw=1, ls="--", zorder=0)
        ax.set_title(f"Brier score {brier:.3f}", loc="left")
    return ax


def unsteady(curve: pd.DataFrame) -> pd.DataFrame:
    """Return how often two draws of examples differ on a fact, by the number of examples."""
    found = curve.groupby(["relation", "item", "examples"])["right"].agg(
        ["mean", "size"]
    )
    found = found[found["size"] > 1].reset_index()
    found["right"] = (
        2 * found["mean"] * (1 - found["mean"]) * found["size"] / (found["size"] - 1)
    )
    return found


def unread_known(truth: pd.DataFrame) -> tuple[float, float, float, int]:
    """Estimate how many facts never read are known beyond guessing, with Wilson's interval."""
    unread = truth[truth["exposures"] == 0]
    found, chance = (
        stats.wilson(int(unread["right"].sum()), len(unread)),
        unread["chance"].mean(),
    )
    return (*(number - chance for number in found[:3]), len(unread))


def comparisons(
    frames: Mapping[str, pd.DataFrame], pair: tuple[str, str], **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield what is compared without a sentence: its name and the statistic."""
    scores, curve, apart = (frames[name] for name in ("scores", "curve", "apart"))
    ways, texts, known = (frames[name] for name in ("ways", "texts", "known"))
    within = {"strata": scores["relation"], **draws}
    guessed = stats.paired_difference(scores["right"], scores["chance"], **within)
    yield "accuracy, less guessing among the choices", guessed
    counts = sorted(n for n in set(curve["examples"]) if n)
    for label, fewer in (
        ("the fewest", counts[0]),
        ("the next fewer", [0, *counts][-2]),
    ):
        gain = paired(curve, "examples", counts[-1], fewer, **draws)
        yield f"accuracy: {counts[-1]} examples, less {label}, {fewer}", gain
    change = unsteady(curve[curve["examples"] > 0])
    ends = (counts[0], counts[-1])
    yield (
        "two draws of examples differ: fewest, less most",
        paired(change, "examples", *ends, **draws),
    )
    for name in dict.fromkeys(apart["separator"]):
        if name not in ("space", "released"):
            gain = paired(apart, "separator", name, "space", **draws)
            yield f"accuracy: separator {name}, less space", gain
    none = curve[curve["examples"] == 0].assign(separator="none")
    both = pd.concat([none, apart])
    outweighed = paired(both, "separator", "none", "space", **draws)
    yield f"accuracy: no example, less {counts[-1]} with space", outweighed
    released = paired(apart, "separator", "colon and comma", "released", **draws)
    yield "accuracy: colon and comma, less the strings of the released code", released
    yield "accuracy: list, less MMP", paired(ways, "way", "IC-LKE", "MMP", **draws)
    for way in ("HGP", "MMP"):
        written = paired(texts, "way", "IC-LKE", way, **draws)
        yield f"in free text: list, less {way}", written
        stacked = ranked_and_written(ways, texts, way)
        chosen = paired(stacked, "by", "ranked", "written", **draws)
        yield f"after {way}: ranked first, less written", chosen
    sure = gap(scores["right"], scores["top"] > SURE, scores["relation"], **draws)
    yield f"right: confidence above {SURE}, less the others", sure
    yield "never read: known, less guessing", unread_known(frames["truth"])
    small, large = pair
    fields = known.assign(
        relation=known.index.map(scores.set_index("item")["relation"])
    )
    kept = fields[: len(fields) * (small != large)]
    gain = stats.paired_difference(
        kept[large], kept[small], strata=kept["relation"], **draws
    )
    yield f"accuracy: {large}, less {small} (one training run each)", gain
    means = kept.groupby("relation")[[small, large]].mean() if small != large else kept
    yield (
        f"{small} and {large} over relations, r",
        stats.correlation(means[small], means[large]),
    )


def by_relation(
    measured: pd.DataFrame,
    scores: pd.DataFrame,
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> pd.DataFrame:
    """Lay out accuracy and mass by relation, beside guessing and the paper's Table 8."""
    source = datasets.source(settings["dataset"])
    labels = datasets.relations(settings["dataset"]).set_index("relation")["label"]
    titles = {"right": "accuracy ↑, %", "mass": "mass ↑, %"}
    shown = result_tables.wide(measured, titles, MEASURES)
    chance = measured.query("measure == 'chance'").set_index("relation")["estimate"]
    usual = stats.intervals(scores, {"usual": (["commonest"], stats.mean)}, **draws)
    baselines = {
        "guessing, %": chance,
        "commonest, %": usual.set_index("relation")["estimate"],
    }
    for title, shares in baselines.items():
        shown[title] = shares.mul(100).map("{:.1f}".format)
    named = shown.index.to_series().map(labels)
    same = named.replace(
        {"discoverer": "discoverer or inventor"}
    )  # as the paper calls it
    asked = {"dataset": source, "parameters": settings, "model": models.describe(lm)}
    other = runs_against_papers.why(
        "latent_knowledge", asked | {"separator": separator}, len(shown) - 2
    )
    paper = (
        same.map(published.load("lke_table8")["accuracy"]).mul(100).map("{:.1f}".format)
    )
    shown["paper, other questions, %" if other else "paper, %"] = paper.replace(
        "nan", "–"
    )
    shown.insert(0, "label", named)
    return shown


def by_separator(
    apart: pd.DataFrame, parted: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Lay out accuracy and mass by separator, and how a string with it ends."""
    titles = {"right": "accuracy, %", "mass": "mass, %"}
    rates = stats.intervals(apart, MEASURES, "separator", strata="relation", **draws)
    shown = result_tables.wide(rates, titles, titles, by="separator").drop(
        ["all", "mean"]
    )
    strings = parted["prompt"] + parted["continuation"]
    ends = strings.groupby(parted["separator"]).first()
    shown.insert(0, "a string ends", "… " + ends.str[-40:])
    return shown


def by_truth(
    scores: pd.DataFrame, training: pd.DataFrame | None, **draws: int
) -> pd.DataFrame:
    """Lay out what is known of facts that the training text states, never states, or gets wrong."""
    titles = {
        "right": "known, %",
        "chance": "guessing, %",
        "top": "confidence, %",
        "misled": "says what was false, %",
    }
    if training is None:
        return pd.DataFrame(columns=["facts", *titles.values()]).rename_axis("group")
    truth = scores.merge(training, left_on="item", right_index=True)
    cases = {
        "something false was read": truth["false_exposures"] > 0,
        "read the other way round": truth.eval("exposures == 0 < pair_exposures"),
        "never read": truth["exposures"] == 0,
        "read 1 to 8 times": truth["exposures"] <= 8,
    }
    truth["group"] = np.select(list(cases.values()), list(cases), "read more often")
    truth["misled"] = (truth["said"] == truth["false_object"]).astype(float)
    shares = {name: ([name], stats.mean) for name in titles}
    rates = stats.intervals(truth, shares, by="group", **draws)
    shown = result_tables.wide(rates, titles, titles, by="group").drop(["all", "mean"])
    shown.insert(0, "facts", truth["group"].value_counts())
    return shown


def listed(
    frames: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix by name."""
    scores, apart, trial = (frames[name] for name in ("scores", "apart", "trial"))
    written = levels(frames["texts"], "way", **draws)
    written = result_tables.wide(written, {"right": "written, %"}, ["right"], by="way")
    percent = trial.rename(
        columns={"right": "accuracy, %", "mass": "mass, %", "n": "facts"}
    )
    percent = percent.assign(**percent.filter(like="%") * 100)
    training = (
        datasets.training(settings["model"]) if settings["dataset"] == "atlas" else None
    )
    return {
        "by_relation": by_relation(
            frames["measured"], scores, settings, lm, separator, **draws
        ),
        "separators": by_separator(apart, frames["parted"], **draws),
        "separators_tried": percent,
        "generation": written,
        "truth": by_truth(scores, training, **draws),
        "subsumption": latent_subsumption.by_pairs(frames["known"], scores, **draws),
        "paper_table1": published.load("lke_table1").rename_axis("family"),
        "paper_table10": published.load("lke_table10").rename_axis("model"),
    }


def parts(**answers: pd.DataFrame) -> pd.DataFrame:
    """Stack all answers of a run, each with the part of the chapter that asked for it."""
    return pd.concat([rows.assign(part=part) for part, rows in answers.items()])
