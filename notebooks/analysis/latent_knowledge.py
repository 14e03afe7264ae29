"""What the chapter on latent knowledge computes beside its measure, and what its appendix lists."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, models, stats
from helpers.metrics.matching import contains_words
from helpers.models import LanguageModel
from helpers.prompts import lists
from helpers.studies import latent_knowledge as study
from helpers.studies import settings_for_function
from notebooks.analysis import latent_subsumption
from notebooks.kit import published, runs_against_papers
from notebooks.kit.group_difference import group_mean_difference
from notebooks.kit.plots import result_tables, shared_figures

SEPARATOR_TITLES = {
    "HGP 1": "people's sentence",
    "MMP 1": "mined sentence",
    "released": "authors' code",
}
FACT_MEASURES = ["right", "mass", "top"]  # of a fact
SURE_CONFIDENCE = 0.5  # the confidence above which a model is called sure
AVERAGED_MEASURES = {name: ([name], stats.mean) for name in ("right", "mass", "chance")}


def facts_by_role(settings: Mapping[str, Any]) -> tuple[pd.DataFrame, ...]:
    """Return the facts: all, for examples, to ask, of close-ups; and how many examples at most."""
    for name in filter(None, (settings["separator"], *settings["separators"])):
        lists.pair_template_and_separator(
            name
        )  # refuses an unknown one before anything is asked
    dataset, relations, seed = (
        settings[name] for name in ("dataset", "relations", "seed")
    )
    facts = datasets.load(dataset, relations or None)
    others = facts[~facts["relation"].isin(settings["left_out"])]
    facts, notes = lists.divisible_facts_and_notes(
        facts if relations or others.empty else others, seed
    )
    print(
        "".join(
            f"{note}\n"
            for note in [*datasets.notes_on_facts(dataset, relations), *notes]
        ),
        end="",
    )
    parts = lists.divide_into_examples_and_tests(facts, seed=seed).groupby("role")
    pool, asked = parts.get_group("example"), parts.get_group("test")
    close = asked.groupby("relation").head(settings["n_close"])
    most = int(pool["relation"].value_counts().max())
    return facts, pool, asked, close, min(settings["n_examples"], most)


def chosen_separator_and_trial(
    lm: LanguageModel, given: Mapping[str, Any]
) -> tuple[str, pd.DataFrame]:
    """Return the separator that is set, or the best on facts that are not tested; and the trial."""
    if given["separator"]:
        nothing = pd.DataFrame(columns=["right", "mass", "n"]).rename_axis("separator")
        return given["separator"], nothing
    tried = study.try_separators(
        lm, **settings_for_function(study.try_separators, given)
    )
    return tried.index[0], tried


def has_commonest_object(tests: pd.DataFrame, pool: pd.DataFrame) -> pd.Series:
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


def paired_accuracy_difference(
    table: pd.DataFrame, by: str, first: Any, second: Any, **draws: int
) -> stats.Difference:
    """Compare two ways of asking on the facts that were asked in both."""
    wide = _pairs(table, by, (first, second))
    if first == second or wide.empty:
        return stats.paired_difference([], [])
    strata = wide.index.get_level_values("relation")
    return stats.paired_difference(wide[first], wide[second], strata=strata, **draws)


def accuracies_in_words(table: pd.DataFrame, by: str, **ways: Any) -> dict[str, str]:
    """Write the accuracy of each way in percent, over the facts that were asked in all of them."""
    wide = _pairs(table, by, list(ways.values()))
    means = wide.mean()
    return {
        name: result_tables.interval(means[way], None, None, 1, 100)
        for name, way in ways.items()
    }


def accuracy_by_way_of_asking(
    table: pd.DataFrame, by: str, **draws: int
) -> pd.DataFrame:
    """Estimate the accuracy of each way of asking, of the mean of a fact's several askings."""
    means = (
        table.groupby([by, "relation", "item"], sort=False)["right"]
        .mean()
        .reset_index()
    )
    measure = {"right": (["right"], stats.mean)}
    found = stats.intervals_by_group(means, measure, by=by, strata="relation", **draws)
    return found[~found[by].isin(["all", "mean"])].reset_index(drop=True)


def levels_of_prompts(ways: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Estimate the accuracy of each prompt, the list and the templates, with its ``way``."""
    prompts = ways[["variant", "way"]].drop_duplicates()
    return accuracy_by_way_of_asking(ways, "variant", **draws).merge(
        prompts, on="variant", how="left"
    )


def answers_to_longest_list(
    tried: pd.DataFrame, tests: pd.DataFrame, n_examples: int
) -> pd.DataFrame:
    """Return the answers of some facts behind the longest list of the first draw, as IC-LKE."""
    first = (tried["examples"] == n_examples) & (tried["draw"] == 0)
    return tried[first & tried["item"].isin(tests["fact"])].assign(variant="IC-LKE")


def prompts_to_continue(listed: pd.DataFrame, prompted: pd.DataFrame) -> pd.DataFrame:
    """Return each fact's list and its first prompt of each kind, to be continued freely."""
    first = prompted[prompted["template"] == 1]
    both = pd.concat([listed, first]).drop_duplicates(["item", "variant"])
    return both[list(lists.LIST_COLUMNS)]


def draw_accuracy_in_groups(
    groups: Mapping[str, pd.DataFrame], chance: float, chosen: str
) -> Axes:
    """Draw the accuracy of ways of asking in groups, and guessing as a dashed line."""
    rows, names = [], SEPARATOR_TITLES | {1: "1 example", chosen: f"{chosen} (chosen)"}
    for what, table in groups.items():
        label = [
            names.get(n, n if isinstance(n, str) else f"{n} examples")
            for n in table.iloc[:, 0]
        ]
        rows.append(table.assign(what=what, label=label))
    ax = shared_figures.dot_plot(
        pd.concat(rows), by="what", xlabel="accuracy", share=True
    )
    if ax.get_lines():
        ax.axvline(chance, color="grey", lw=1, ls="--", zorder=0)
    return ax


def mark_generations(texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``right``: whether a text contains the true object as whole words (Appendix H.7)."""
    found = [
        float(contains_words(*pair)) for pair in zip(texts["text"], texts["object"])
    ]
    return texts.assign(right=found)


def ranked_and_written_answers(
    ways: pd.DataFrame, texts: pd.DataFrame, way: str
) -> pd.DataFrame:
    """Stack what was ranked first and what was written after the same prompts of a way (``by``)."""
    both = pd.concat([ways.assign(by="ranked"), texts.assign(by="written")])
    written = texts.loc[texts["way"] == way, "template"]
    return both[(both["way"] == way) & both["template"].isin(written)]


def ranking_and_writing_in_words(
    ways: pd.DataFrame, texts: pd.DataFrame, control: str = "HGP", **draws: int
) -> dict[str, str]:
    """Write how many truths rank first and are written after a list, and the `control`'s gaps."""
    after = (
        ranked_and_written_answers(ways, texts, control),
        "by",
        "ranked",
        "written",
    )
    each = {
        "control": paired_accuracy_difference(*after, **draws),
        "list": paired_accuracy_difference(texts, "way", "IC-LKE", control, **draws),
    }
    words = {
        name: result_tables.interval(*found[:3], 1, 100) for name, found in each.items()
    }
    listed = ranked_and_written_answers(ways, texts, "IC-LKE")
    return words | accuracies_in_words(listed, "by", ranked="ranked", written="written")


def accuracy_by_exposure_in_words(
    truth: pd.DataFrame, often: int = 8
) -> dict[str, str]:
    """Write how many percent are right of facts never stated, and of those stated most often."""
    groups = {"never": truth["exposures"] == 0, "stated": truth["exposures"] > often}
    shares = {name: truth.loc[rows, "right"].mean() for name, rows in groups.items()}
    return {
        name: result_tables.interval(share, None, None, 1, 100)
        for name, share in shares.items()
    }


def accuracy_by_confidence(scores: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Estimate the accuracy of facts of similar confidence, with Wilson's intervals."""
    place = np.ceil(scores["top"] * bins).clip(1, bins)
    groups = [rows for _, rows in scores.groupby(place)]
    found = [
        stats.wilson_interval(int(rows["right"].sum()), len(rows)) for rows in groups
    ]
    table = pd.DataFrame(found, columns=stats.Interval._fields)
    return table.assign(confidence=[rows["top"].mean() for rows in groups])


def draw_reliability_diagram(scores: pd.DataFrame) -> Axes:
    """Draw accuracy by confidence, which agree on the dashed line; above it the Brier score."""
    words = {
        "xlabel": "confidence: share of the likeliest choice",
        "ylabel": "accuracy",
    }
    ax = shared_figures.curve_plot(
        accuracy_by_confidence(scores), "confidence", **words
    )
    if ax.get_lines():
        brier = ((scores["top"] - scores["right"]) ** 2).mean()
        ax.plot([0, 1], [0, 1], color="grey", lw=1, ls="--", zorder=0)
        ax.set_title(f"Brier score {brier:.3f}", loc="left")
    return ax


def disagreement_between_draws(curve: pd.DataFrame) -> pd.DataFrame:
    """Return how often two draws of examples differ on a fact, by the number of examples."""
    found = curve.groupby(["relation", "item", "examples"])["right"].agg(
        ["mean", "size"]
    )
    found = found[found["size"] > 1].reset_index()
    found["right"] = (
        2 * found["mean"] * (1 - found["mean"]) * found["size"] / (found["size"] - 1)
    )
    return found


def share_of_unread_facts_known(truth: pd.DataFrame) -> tuple[float, float, float, int]:
    """Estimate how many facts never read are known beyond guessing, with Wilson's interval."""
    unread = truth[truth["exposures"] == 0]
    found, chance = (
        stats.wilson_interval(int(unread["right"].sum()), len(unread)),
        unread["chance"].mean(),
    )
    return (*(number - chance for number in found[:3]), len(unread))


def comparisons_for_appendix(
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
        gain = paired_accuracy_difference(curve, "examples", counts[-1], fewer, **draws)
        yield f"accuracy: {counts[-1]} examples, less {label}, {fewer}", gain
    change = disagreement_between_draws(curve[curve["examples"] > 0])
    ends = (counts[0], counts[-1])
    yield (
        "two draws of examples differ: fewest, less most",
        paired_accuracy_difference(change, "examples", *ends, **draws),
    )
    for name in dict.fromkeys(apart["separator"]):
        if name not in ("space", "released"):
            gain = paired_accuracy_difference(
                apart, "separator", name, "space", **draws
            )
            yield f"accuracy: separator {name}, less space", gain
    none = curve[curve["examples"] == 0].assign(separator="none")
    both = pd.concat([none, apart])
    outweighed = paired_accuracy_difference(both, "separator", "none", "space", **draws)
    yield f"accuracy: no example, less {counts[-1]} with space", outweighed
    released = paired_accuracy_difference(
        apart, "separator", "colon and comma", "released", **draws
    )
    yield "accuracy: colon and comma, less the strings of the released code", released
    yield (
        "accuracy: list, less MMP",
        paired_accuracy_difference(ways, "way", "IC-LKE", "MMP", **draws),
    )
    for way in ("HGP", "MMP"):
        written = paired_accuracy_difference(texts, "way", "IC-LKE", way, **draws)
        yield f"in free text: list, less {way}", written
        stacked = ranked_and_written_answers(ways, texts, way)
        chosen = paired_accuracy_difference(stacked, "by", "ranked", "written", **draws)
        yield f"after {way}: ranked first, less written", chosen
    sure = group_mean_difference(
        scores["right"], scores["top"] > SURE_CONFIDENCE, scores["relation"], **draws
    )
    yield f"right: confidence above {SURE_CONFIDENCE}, less the others", sure
    yield (
        "never read: known, less guessing",
        share_of_unread_facts_known(frames["truth"]),
    )
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


def accuracy_by_relation(
    measured: pd.DataFrame,
    scores: pd.DataFrame,
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> pd.DataFrame:
    """Lay out accuracy and mass by relation, beside guessing and the paper's Table 8."""
    source = datasets.source_record(settings["dataset"])
    labels = datasets.relation_table(settings["dataset"]).set_index("relation")["label"]
    titles = {"right": "accuracy ↑, %", "mass": "mass ↑, %"}
    shown = result_tables.wide_interval_table(measured, titles, AVERAGED_MEASURES)
    chance = measured.query("measure == 'chance'").set_index("relation")["estimate"]
    usual = stats.intervals_by_group(
        scores, {"usual": (["commonest"], stats.mean)}, **draws
    )
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
    asked = {
        "dataset": source,
        "parameters": settings,
        "model": models.describe_model(lm),
    }
    other = runs_against_papers.differences_from_paper(
        "latent_knowledge", asked | {"separator": separator}, len(shown) - 2
    )
    paper = (
        same.map(published.load_published_table("lke_table8")["accuracy"])
        .mul(100)
        .map("{:.1f}".format)
    )
    shown["paper, other questions, %" if other else "paper, %"] = paper.replace(
        "nan", "–"
    )
    shown.insert(0, "label", named)
    return shown


def accuracy_by_separator(
    apart: pd.DataFrame, parted: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Lay out accuracy and mass by separator, and how a string with it ends."""
    titles = {"right": "accuracy, %", "mass": "mass, %"}
    rates = stats.intervals_by_group(
        apart, AVERAGED_MEASURES, "separator", strata="relation", **draws
    )
    shown = result_tables.wide_interval_table(
        rates, titles, titles, by="separator"
    ).drop(["all", "mean"])
    strings = parted["prompt"] + parted["continuation"]
    ends = strings.groupby(parted["separator"]).first()
    shown.insert(0, "a string ends", "… " + ends.str[-40:])
    return shown


def knowledge_by_training_statement(
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
    rates = stats.intervals_by_group(truth, shares, by="group", **draws)
    shown = result_tables.wide_interval_table(rates, titles, titles, by="group").drop(
        ["all", "mean"]
    )
    shown.insert(0, "facts", truth["group"].value_counts())
    return shown


def tables_for_appendix(
    frames: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix by name."""
    scores, apart, trial = (frames[name] for name in ("scores", "apart", "trial"))
    written = accuracy_by_way_of_asking(frames["texts"], "way", **draws)
    written = result_tables.wide_interval_table(
        written, {"right": "written, %"}, ["right"], by="way"
    )
    percent = trial.rename(
        columns={"right": "accuracy, %", "mass": "mass, %", "n": "facts"}
    )
    percent = percent.assign(**percent.filter(like="%") * 100)
    training = (
        datasets.training_exposure(settings["model"])
        if settings["dataset"] == "atlas"
        else None
    )
    return {
        "by_relation": accuracy_by_relation(
            frames["measured"], scores, settings, lm, separator, **draws
        ),
        "separators": accuracy_by_separator(apart, frames["parted"], **draws),
        "separators_tried": percent,
        "generation": written,
        "truth": knowledge_by_training_statement(scores, training, **draws),
        "subsumption": latent_subsumption.subsumption_by_model_pair(
            frames["known"], scores, **draws
        ),
        "paper_table1": published.load_published_table("lke_table1").rename_axis(
            "family"
        ),
        "paper_table10": published.load_published_table("lke_table10").rename_axis(
            "model"
        ),
    }


def answers_of_all_parts(**answers: pd.DataFrame) -> pd.DataFrame:
    """Stack all answers of a run, each with the part of the chapter that asked for it."""
    return pd.concat([rows.assign(part=part) for part, rows in answers.items()])
