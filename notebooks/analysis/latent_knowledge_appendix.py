"""What the appendix of the chapter on latent knowledge lists: further comparisons, and tables."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets, models, published, stats
from helpers.models import LanguageModel
from helpers.plots import tables
from notebooks.analysis import beside, latent_subsumption
from notebooks.analysis import latent_knowledge as analysis

SURE = 0.5  # the confidence above which a model is called sure


def sure_and_not(scores: pd.DataFrame, **draws: int) -> stats.Interval:
    """Estimate how much more often a model is right where its confidence is above one half.

    >>> scores = pd.DataFrame({"top": [0.9, 0.2], "right": [1.0, 0.0], "relation": "r"})
    >>> sure_and_not(scores, n_resamples=9).estimate
    1.0
    """

    def apart(rows: np.ndarray) -> np.ndarray:
        sure, right = rows[..., 0], rows[..., 1]
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may hold one side alone
            high = (sure * right).sum(-1) / sure.sum(-1)
            return high - ((1 - sure) * right).sum(-1) / (1 - sure).sum(-1)

    both = np.column_stack([scores["top"] > SURE, scores["right"]]).astype(float)
    return stats.bootstrap(both, apart, scores["relation"], **draws)


def unsteady(curve: pd.DataFrame) -> pd.DataFrame:
    """Return how often two draws of examples differ on a fact, by the number of examples.

    >>> curve = pd.DataFrame({"item": "a", "relation": "r", "examples": 1, "right": [1.0, 0.0]})
    >>> unsteady(curve)["right"].tolist()
    [1.0]
    """
    found = curve.groupby(["relation", "item", "examples"])["right"].agg(["mean", "size"])
    found = found[found["size"] > 1].reset_index()
    found["right"] = 2 * found["mean"] * (1 - found["mean"]) * found["size"] / (found["size"] - 1)
    return found


def unread_known(truth: pd.DataFrame) -> tuple[float, float, float, int]:
    """Estimate how many facts never read are known beyond guessing, with Wilson's interval."""
    unread = truth[truth["exposures"] == 0]
    found, chance = stats.wilson(int(unread["right"].sum()), len(unread)), unread["chance"].mean()
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
    for label, fewer in (("the fewest", counts[0]), ("the next fewer", [0, *counts][-2])):
        gain = analysis.paired(curve, "examples", counts[-1], fewer, **draws)
        yield f"accuracy: {counts[-1]} examples, less {label}, {fewer}", gain
    change = unsteady(curve[curve["examples"] > 0])
    ends = (counts[0], counts[-1])
    yield (
        "two draws of examples differ: fewest, less most",
        analysis.paired(change, "examples", *ends, **draws),
    )
    for name in dict.fromkeys(apart["separator"]):
        if name not in ("space", "released code"):
            gain = analysis.paired(apart, "separator", name, "space", **draws)
            yield f"accuracy: separator {name}, less space", gain
    none = curve[curve["examples"] == 0].assign(separator="none")
    both = pd.concat([none, apart])
    outweighed = analysis.paired(both, "separator", "none", "space", **draws)
    yield f"accuracy: no example, less {counts[-1]} with space", outweighed
    released = analysis.paired(apart, "separator", "colon and comma", "released code", **draws)
    yield "accuracy: colon and comma, less the strings of the released code", released
    yield "accuracy: list, less MMP", analysis.paired(ways, "way", "IC-LKE", "MMP", **draws)
    for way in ("HGP", "MMP"):
        written = analysis.paired(texts, "way", "IC-LKE", way, **draws)
        yield f"in free text: list, less {way}", written
        stacked = analysis.ranked_and_written(ways, texts, way)
        chosen = analysis.paired(stacked, "by", "ranked", "written", **draws)
        yield f"after {way}: ranked first, less written", chosen
    yield f"right: confidence above {SURE}, less the others", sure_and_not(scores, **draws)
    yield "never read: known, less guessing", unread_known(frames["truth"])
    small, large = pair
    fields = known.assign(relation=known.index.map(scores.set_index("item")["relation"]))
    kept = fields[: len(fields) * (small != large)]
    gain = stats.paired_difference(kept[large], kept[small], strata=kept["relation"], **draws)
    yield f"accuracy: {large}, less {small} (one training run each)", gain
    means = kept.groupby("relation")[[small, large]].mean() if small != large else kept
    yield f"{small} and {large} over relations, r", stats.correlation(means[small], means[large])


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
    shown = tables.wide(measured, titles, analysis.MEASURES)
    chance = measured.query("measure == 'chance'").set_index("relation")["estimate"]
    usual = stats.intervals(scores, {"usual": (["commonest"], stats.mean)}, **draws)
    baselines = {"guessing, %": chance, "commonest, %": usual.set_index("relation")["estimate"]}
    for title, shares in baselines.items():
        shown[title] = shares.mul(100).map("{:.1f}".format)
    named = shown.index.to_series().map(labels)
    same = named.replace({"discoverer": "discoverer or inventor"})  # as the paper calls it
    asked = {"dataset": source, "parameters": settings, "model": models.describe(lm)}
    other = beside.why("latent_knowledge", asked | {"separator": separator}, len(shown) - 2)
    paper = same.map(published.load("lke_table8")["accuracy"]).mul(100).map("{:.1f}".format)
    shown["paper, other questions, %" if other else "paper, %"] = paper.replace("nan", "–")
    shown.insert(0, "label", named)
    return shown


def by_separator(apart: pd.DataFrame, parted: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Lay out accuracy and mass by separator, and how a string with it ends."""
    titles = {"right": "accuracy, %", "mass": "mass, %"}
    rates = stats.intervals(apart, analysis.MEASURES, "separator", strata="relation", **draws)
    shown = tables.wide(rates, titles, titles, by="separator").drop(["all", "mean"])
    ends = (parted["prompt"] + parted["continuation"]).groupby(parted["variant"]).first()
    shown.insert(0, "a string ends", "… " + ends.str[-40:])
    return shown


def by_truth(scores: pd.DataFrame, training: pd.DataFrame | None, **draws: int) -> pd.DataFrame:
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
        "something false was shown": truth["false_exposures"] > 0,
        "shown the other way round": truth.eval("exposures == 0 < pair_exposures"),
        "never shown": truth["exposures"] == 0,
        "shown 1 to 8 times": truth["exposures"] <= 8,
    }
    truth["group"] = np.select(list(cases.values()), list(cases), "shown more often")
    truth["misled"] = (truth["said"] == truth["false_object"]).astype(float)
    shares = {name: ([name], stats.mean) for name in titles}
    rates = stats.intervals(truth, shares, by="group", **draws)
    shown = tables.wide(rates, titles, titles, by="group").drop(["all", "mean"])
    shown.insert(0, "facts", truth["group"].value_counts())
    return shown


def listed(
    frames: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> dict[str, tuple[pd.DataFrame, str]]:
    """Return the further tables by their names, each with its caption."""
    scores, apart, trial = (frames[name] for name in ("scores", "apart", "trial"))
    written = analysis.levels(frames["texts"], "way", **draws)
    written = tables.wide(written, {"right": "written, %"}, ["right"], by="way")
    percent = trial.rename(columns={"right": "accuracy, %", "mass": "mass, %", "n": "facts"})
    percent = percent.assign(**percent.filter(like="%") * 100)
    training = datasets.training(settings["model"]) if settings["dataset"] == "atlas" else None
    return {
        "by_relation": (
            by_relation(frames["measured"], scores, settings, lm, separator, **draws),
            f"Accuracy by relation, {len(scores)} facts (the paper's: Table 8).",
        ),
        "separators": (
            by_separator(apart, frames["parted"], **draws),
            f"Accuracy by separator, {apart['item'].nunique()} facts.",
        ),
        "separators_tried": (percent, "The facts by which the separator was chosen."),
        "generation": (written, "The truth within 50 greedy tokens."),
        "truth": (
            by_truth(scores, training, **draws),
            "What the training text states, and what the model knows.",
        ),
        "subsumption": (
            latent_subsumption.by_pairs(frames["known"], scores, **draws),
            "Shared knowledge. One alone: known to the smaller : to the larger. p: McNemar's test.",
        ),
        "paper_table1": (
            published.load("lke_table1").rename_axis("family"),
            "Wu et al. 2025, Table 1: small and large.",
        ),
        "paper_table10": (
            published.load("lke_table10").rename_axis("model"),
            "Wu et al. 2025, Table 10: base and tuned.",
        ),
    }
