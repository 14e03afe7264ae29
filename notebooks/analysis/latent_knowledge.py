"""What the chapter on latent knowledge computes beside its measure, and its tables."""

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
from notebooks.analysis import (
    latent_models,
    latent_places,
    latent_sequences,
    latent_subsumption,
)
from notebooks.analysis.latent_records import Records
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
    """Return the facts: all, for examples, to ask, for close-ups; and n of examples."""
    for name in (settings["separator"], *settings["separators"]):
        if name:  # refused here if it is unknown, before anything is asked
            lists.pair_template_and_separator(name)
    dataset = settings["dataset"]
    relations = settings["relations"]
    seed = settings["seed"]
    facts = datasets.load(dataset, relations or None)
    others = facts[~facts["relation"].isin(settings["left_out"])]
    if not relations and not others.empty:
        facts = others
    facts, notes = lists.divisible_facts_and_notes(facts, seed)
    for note in [*datasets.notes_on_facts(dataset, relations), *notes]:
        print(note)
    roles = lists.divide_into_examples_and_tests(facts, seed=seed).groupby("role")
    pool = roles.get_group("example")
    tests = roles.get_group("test")
    close = tests.groupby("relation").head(settings["n_close"])
    n_in_pool = int(pool["relation"].value_counts().max())
    return facts, pool, tests, close, min(settings["n_examples"], n_in_pool)


def chosen_separator_and_trial(
    lm: LanguageModel, settings: Mapping[str, Any]
) -> tuple[str, pd.DataFrame]:
    """Return the separator that is set, or the best on untested facts; the trial."""
    if settings["separator"]:
        no_trial = pd.DataFrame(columns=["right", "mass", "n"])
        return settings["separator"], no_trial.rename_axis("separator")
    settings = settings_for_function(study.try_separators, settings)
    trial = study.try_separators(lm, **settings)
    return trial.index[0], trial


def has_commonest_object(tests: pd.DataFrame, pool: pd.DataFrame) -> pd.Series:
    """Tell whether facts have their relation's commonest object, in a tie the first."""
    commonest = pool.groupby("relation")["object"].agg(_first_mode)
    is_commonest = tests["object"] == tests["relation"].map(commonest)
    return is_commonest.astype(float).set_axis(tests["fact"])


def _first_mode(objects: pd.Series) -> str:
    """Return the commonest object; of several the first in the alphabet."""
    return objects.mode().iloc[0]


def _facts_asked_in_all_ways(
    table: pd.DataFrame, by: str, ways: Sequence[Any]
) -> pd.DataFrame:
    """Return the mean marks of facts that were asked in all ways, a column a way."""
    wide = table.pivot_table("right", ["relation", "item"], by)
    return wide.reindex(columns=list(dict.fromkeys(ways))).dropna()


def paired_accuracy_difference(
    table: pd.DataFrame, by: str, first: Any, second: Any, **draws: int
) -> stats.Difference:
    """Compare two ways of asking on the facts that were asked in both."""
    wide = _facts_asked_in_all_ways(table, by, (first, second))
    if first == second or wide.empty:
        return stats.paired_difference([], [])
    strata = wide.index.get_level_values("relation")
    return stats.paired_difference(wide[first], wide[second], strata=strata, **draws)


def accuracies_in_words(table: pd.DataFrame, by: str, **ways: Any) -> dict[str, str]:
    """Write each way's accuracy in percent, over the facts asked in all of them."""
    means = _facts_asked_in_all_ways(table, by, list(ways.values())).mean()
    return {name: _percent(means[way]) for name, way in ways.items()}


def _percent(share: float) -> str:
    return result_tables.interval(share, digits=1, scale=100)


def accuracy_by_way_of_asking(
    table: pd.DataFrame, by: str, **draws: int
) -> pd.DataFrame:
    """Estimate the accuracy of each way of asking, over means of each fact."""
    keys = [by, "relation", "item"]
    means = table.groupby(keys, sort=False)["right"].mean().reset_index()
    measure = {"right": (["right"], stats.mean)}
    rates = stats.intervals_by_group(means, measure, by=by, strata="relation", **draws)
    return rates[~rates[by].isin(["all", "mean"])].reset_index(drop=True)


def levels_of_prompts(ways: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Estimate the accuracy of each prompt, list or template, with its ``way``."""
    prompts = ways[["variant", "way"]].drop_duplicates()
    rates = accuracy_by_way_of_asking(ways, "variant", **draws)
    return rates.merge(prompts, on="variant", how="left")


def answers_to_longest_list(
    tried: pd.DataFrame, tests: pd.DataFrame, n_examples: int
) -> pd.DataFrame:
    """Return answers after the longest list of the first draw, with variant IC-LKE."""
    is_longest = (tried["examples"] == n_examples) & (tried["draw"] == 0)
    is_test = tried["item"].isin(tests["fact"])
    return tried[is_longest & is_test].assign(variant="IC-LKE")


def prompts_to_continue(listed: pd.DataFrame, prompted: pd.DataFrame) -> pd.DataFrame:
    """Return each fact's list and first prompt of each kind, to be continued freely."""
    first = prompted[prompted["template"] == 1]
    both = pd.concat([listed, first]).drop_duplicates(["item", "variant"])
    return both[list(lists.LIST_COLUMNS)]


def draw_accuracy_in_groups(
    groups: Mapping[str, pd.DataFrame], chance: float, chosen: str
) -> Axes:
    """Draw the accuracy of ways of asking in groups, and guessing as a dashed line.

    A way is a number of ``examples`` or a ``separator``, a column of the group's table.
    """
    titles = SEPARATOR_TITLES | {1: "1 example", chosen: f"{chosen} (chosen)"}
    parts = []
    for group, table in groups.items():
        labels = []
        for way in table["examples" if "examples" in table else "separator"]:
            title = way if isinstance(way, str) else f"{way} examples"
            labels.append(titles.get(way, title))
        parts.append(table.assign(what=group, label=labels))
    rows = pd.concat(parts)
    ax = shared_figures.dot_plot(rows, by="what", xlabel="accuracy", share=True)
    if ax.get_lines():
        ax.axvline(chance, color="grey", lw=1, ls="--", zorder=0)
    return ax


def mark_generations(texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``right``: does a text contain the object as whole words (Appendix H.7)."""
    right = [
        float(contains_words(row.text, row.object))
        for row in texts[["text", "object"]].itertuples()
    ]
    return texts.assign(right=right)


def ranked_and_written_answers(
    ways: pd.DataFrame, texts: pd.DataFrame, way: str
) -> pd.DataFrame:
    """Stack what was ranked first and what was written after the prompts of a way.

    The column ``by`` is "ranked" or "written".
    """
    both = pd.concat([ways.assign(by="ranked"), texts.assign(by="written")])
    templates = texts.loc[texts["way"] == way, "template"]
    return both[(both["way"] == way) & both["template"].isin(templates)]


def ranking_and_writing_in_words(
    ways: pd.DataFrame, texts: pd.DataFrame, control: str = "HGP", **draws: int
) -> dict[str, str]:
    """Write how many truths a list ranks first and has written, and two gaps.

    ``control`` is what ranking adds after the `control`'s prompts, ``list`` what the
    list adds to them in free text.
    """
    stacked = ranked_and_written_answers(ways, texts, control)
    gain_of_ranking = paired_accuracy_difference(
        stacked, "by", "ranked", "written", **draws
    )
    gain_of_list = paired_accuracy_difference(texts, "way", "IC-LKE", control, **draws)
    listed = ranked_and_written_answers(ways, texts, "IC-LKE")
    return {
        "control": result_tables.interval(*gain_of_ranking[:3], digits=1, scale=100),
        "list": result_tables.interval(*gain_of_list[:3], digits=1, scale=100),
        **accuracies_in_words(listed, "by", ranked="ranked", written="written"),
    }


def accuracy_by_exposure_in_words(
    truth: pd.DataFrame, often: int = 8
) -> dict[str, str]:
    """Write the percentage right of facts never stated, and of those stated `often`."""
    never = truth.loc[truth["exposures"] == 0, "right"]
    stated = truth.loc[truth["exposures"] > often, "right"]
    return {"never": _percent(never.mean()), "stated": _percent(stated.mean())}


def accuracy_by_confidence(scores: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Estimate the accuracy of facts of similar confidence, with Wilson's intervals."""
    bin_numbers = np.ceil(scores["top"] * bins).clip(1, bins)
    rates = []
    confidences = []
    for _, rows in scores.groupby(bin_numbers):
        rates.append(stats.wilson_interval(int(rows["right"].sum()), len(rows)))
        confidences.append(rows["top"].mean())
    table = pd.DataFrame(rates, columns=stats.Interval._fields)
    return table.assign(confidence=confidences)


def draw_reliability_diagram(scores: pd.DataFrame) -> Axes:
    """Draw accuracy by confidence, equal on the dashed line; the title: Brier score."""
    ax = shared_figures.curve_plot(
        accuracy_by_confidence(scores),
        "confidence",
        xlabel="confidence: share of the likeliest choice",
        ylabel="accuracy",
    )
    if ax.get_lines():
        brier = ((scores["top"] - scores["right"]) ** 2).mean()
        ax.plot([0, 1], [0, 1], color="grey", lw=1, ls="--", zorder=0)
        ax.set_title(f"Brier score {brier:.3f}", loc="left")
    return ax


def disagreement_between_draws(curve: pd.DataFrame) -> pd.DataFrame:
    """Return how often two draws of examples differ on a fact, by their number."""
    by_fact = curve.groupby(["relation", "item", "examples"])["right"]
    table = by_fact.agg(["mean", "size"])
    table = table[table["size"] > 1].reset_index()
    share = table["mean"]
    n = table["size"]
    table["right"] = 2 * share * (1 - share) * n / (n - 1)
    return table


def share_of_unread_facts_known(truth: pd.DataFrame) -> tuple[float, float, float, int]:
    """Estimate how many unread facts are known beyond guessing (Wilson's interval)."""
    unread = truth[truth["exposures"] == 0]
    chance = unread["chance"].mean()
    share = stats.wilson_interval(int(unread["right"].sum()), len(unread))
    return share.estimate - chance, share.low - chance, share.high - chance, len(unread)


def comparisons_for_appendix(
    frames: Mapping[str, pd.DataFrame], pair: tuple[str, str], **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield what is compared without a sentence: its name and the statistic."""
    scores = frames["scores"]
    guessing = stats.paired_difference(
        scores["right"], scores["chance"], strata=scores["relation"], **draws
    )
    yield "accuracy, less guessing among the choices", guessing
    yield from _comparisons_of_examples(frames["curve"], **draws)
    yield from _comparisons_of_separators(frames["apart"], frames["curve"], **draws)
    yield from _comparisons_of_ways(frames["ways"], frames["texts"], **draws)
    is_sure = scores["top"] > SURE_CONFIDENCE
    difference = group_mean_difference(
        scores["right"], is_sure, scores["relation"], **draws
    )
    yield f"right: confidence above {SURE_CONFIDENCE}, less the others", difference
    unread = share_of_unread_facts_known(frames["truth"])
    yield "never read: known, less guessing", unread
    relation_of_fact = scores.set_index("item")["relation"]
    known = frames["known"]
    known = known.assign(relation=known.index.map(relation_of_fact))
    yield from _comparisons_of_two_models(known, *pair, **draws)


def _comparisons_of_examples(
    curve: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield what more examples add, and how far draws of examples differ."""
    counts = sorted(n for n in set(curve["examples"]) if n)
    fewest, most = counts[0], counts[-1]
    next_fewer = counts[-2] if len(counts) > 1 else 0
    gain = paired_accuracy_difference(curve, "examples", most, fewest, **draws)
    yield f"accuracy: {most} examples, less the fewest, {fewest}", gain
    gain = paired_accuracy_difference(curve, "examples", most, next_fewer, **draws)
    yield f"accuracy: {most} examples, less the next fewer, {next_fewer}", gain
    change = disagreement_between_draws(curve[curve["examples"] > 0])
    difference = paired_accuracy_difference(change, "examples", fewest, most, **draws)
    yield "two draws of examples differ: fewest, less most", difference


def _comparisons_of_separators(
    apart: pd.DataFrame, curve: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield how each separator compares with the space, and with no example."""
    for name in apart["separator"].unique():
        if name not in ("space", "released"):
            gain = paired_accuracy_difference(
                apart, "separator", name, "space", **draws
            )
            yield f"accuracy: separator {name}, less space", gain
    n_examples = curve["examples"].max()
    no_example = curve[curve["examples"] == 0].assign(separator="none")
    both = pd.concat([no_example, apart])
    gain = paired_accuracy_difference(both, "separator", "none", "space", **draws)
    yield f"accuracy: no example, less {n_examples} with space", gain
    gain = paired_accuracy_difference(
        apart, "separator", "colon and comma", "released", **draws
    )
    yield "accuracy: colon and comma, less the strings of the released code", gain


def _comparisons_of_ways(
    ways: pd.DataFrame, texts: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield how the list compares with templates, and ranking with writing."""
    gain = paired_accuracy_difference(ways, "way", "IC-LKE", "MMP", **draws)
    yield "accuracy: list, less MMP", gain
    for way in ("HGP", "MMP"):
        gain = paired_accuracy_difference(texts, "way", "IC-LKE", way, **draws)
        yield f"in free text: list, less {way}", gain
        stacked = ranked_and_written_answers(ways, texts, way)
        gain = paired_accuracy_difference(stacked, "by", "ranked", "written", **draws)
        yield f"after {way}: ranked first, less written", gain


def _comparisons_of_two_models(
    known: pd.DataFrame, small: str, large: str, **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield how two models compare on facts; nothing is estimated if they are one."""
    if small == large:
        gain = stats.paired_difference([], [])
        r = stats.correlation([], [])
    else:
        gain = stats.paired_difference(
            known[large], known[small], strata=known["relation"], **draws
        )
        means = known.groupby("relation")[[small, large]].mean()
        r = stats.correlation(means[small], means[large])
    yield f"accuracy: {large}, less {small} (one training run each)", gain
    yield f"{small} and {large} over relations, r", r


def accuracy_by_relation(
    measured: pd.DataFrame,
    scores: pd.DataFrame,
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> pd.DataFrame:
    """Lay out accuracy and mass by relation, beside guessing and Table 8."""
    source = datasets.source_record(settings["dataset"])
    labels = datasets.relation_table(settings["dataset"]).set_index("relation")["label"]
    titles = {"right": "accuracy ↑, %", "mass": "mass ↑, %"}
    table = result_tables.wide_interval_table(measured, titles, AVERAGED_MEASURES)
    guessing = measured[measured["measure"] == "chance"]
    guessing = guessing.set_index("relation")["estimate"]
    table["guessing, %"] = guessing.mul(100).map("{:.1f}".format)
    mean_of_commonest = {"commonest": (["commonest"], stats.mean)}
    commonest = stats.intervals_by_group(scores, mean_of_commonest, **draws)
    commonest = commonest.set_index("relation")["estimate"]
    table["commonest, %"] = commonest.mul(100).map("{:.1f}".format)

    manifest = {
        "dataset": source,
        "parameters": settings,
        "model": models.describe_model(lm),
        "separator": separator,
    }
    n_relations = len(table) - 2  # without all facts, and the mean
    differences = runs_against_papers.differences_from_paper(
        "latent_knowledge", manifest, n_relations
    )
    relation_labels = table.index.to_series().map(labels)
    labels_of_paper = relation_labels.replace("discoverer", "discoverer or inventor")
    printed = published.load_published_table("lke_table8")["accuracy"]
    of_paper = labels_of_paper.map(printed).mul(100).map("{:.1f}".format)
    title = "paper, other questions, %" if differences else "paper, %"
    table[title] = of_paper.replace("nan", "–")
    table.insert(0, "label", relation_labels)
    return table


def accuracy_by_separator(
    apart: pd.DataFrame, parted: pd.DataFrame, **draws: int
) -> pd.DataFrame:
    """Lay out accuracy and mass by separator, and how a string with it ends."""
    titles = {"right": "accuracy, %", "mass": "mass, %"}
    rates = stats.intervals_by_group(
        apart, AVERAGED_MEASURES, "separator", strata="relation", **draws
    )
    table = result_tables.wide_interval_table(rates, titles, titles, by="separator")
    table = table.drop(["all", "mean"])
    strings = parted["prompt"] + parted["continuation"]
    first_strings = strings.groupby(parted["separator"]).first()
    table.insert(0, "a string ends", "… " + first_strings.str[-40:])
    return table


def knowledge_by_training_statement(
    scores: pd.DataFrame, training: pd.DataFrame | None, **draws: int
) -> pd.DataFrame:
    """Lay out what is known of facts, by how the training text states them."""
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
    table = result_tables.wide_interval_table(rates, titles, titles, by="group")
    table = table.drop(["all", "mean"])
    table.insert(0, "facts", truth["group"].value_counts())
    return table


def tables_for_appendix(
    frames: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    lm: LanguageModel,
    separator: str,
    **draws: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix by name."""
    scores = frames["scores"]
    training = None
    if settings["dataset"] == "atlas":
        training = datasets.training_exposure(settings["model"])
    written = accuracy_by_way_of_asking(frames["texts"], "way", **draws)
    titles = {"right": "accuracy, %", "mass": "mass, %", "n": "facts"}
    trial = frames["trial"].rename(columns=titles)
    trial["accuracy, %"] *= 100
    trial["mass, %"] *= 100
    table1 = published.load_published_table("lke_table1")
    table10 = published.load_published_table("lke_table10")
    return {
        "by_relation": accuracy_by_relation(
            frames["measured"], scores, settings, lm, separator, **draws
        ),
        "separators": accuracy_by_separator(frames["apart"], frames["parted"], **draws),
        "separators_tried": trial,
        "generation": result_tables.wide_interval_table(
            written, {"right": "written, %"}, ["right"], by="way"
        ),
        "truth": knowledge_by_training_statement(scores, training, **draws),
        "subsumption": latent_subsumption.subsumption_by_model_pair(
            frames["known"], scores, **draws
        ),
        "paper_table1": table1.rename_axis("family"),
        "paper_table10": table10.rename_axis("model"),
    }


def answers_of_all_parts(**answers: pd.DataFrame) -> pd.DataFrame:
    """Stack all answers of a run, each with the part of the chapter that asked."""
    return pd.concat([rows.assign(part=part) for part, rows in answers.items()])


def ends_of_sequences(probes: pd.DataFrame, versions: Sequence[int] = (0, 1)) -> list:
    """Return versions of a sequence from its first tested fact on."""
    first = probes[probes["slot"] == 0].iloc[0]
    start = len(first["prompt"]) - len(first["subject"])
    ends = []
    for version in versions:
        longest = probes[probes["option"] == version].iloc[-1]
        ends.append(f"… {(longest['prompt'] + longest['continuation'])[start:]}")
    return ends


def comparisons_of_records(
    records: Records, changes: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, Any]]:
    """Yield what is compared of the models that were asked once."""
    facts = records.facts
    in_sequences = facts[facts["part"] == "sequences"]
    yield from latent_sequences.comparisons_of_sequences(in_sequences, **draws)
    yield from latent_places.comparisons_of_places(changes, **draws)


def tables_of_records(
    records: Records,
    changes: pd.DataFrame,
    frames: Mapping[str, pd.DataFrame],
    labels: pd.Series,
    **draws: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of models that were asked once, and of relations by model."""
    facts = records.facts
    in_sequences = facts[facts["part"] == "sequences"]
    alone = in_sequences[in_sequences["way"] == latent_sequences.SPACES]
    by_examples = facts[facts["part"] == "examples"]
    by_model = frames["by_model"]
    titles = {
        "facts": "facts",
        "choices": "choices",
        "passes": "passes of a plain loop",
        "plain": "tokens of a plain loop",
        "shared": "tokens, beginnings once",
    }
    tokens = records.tokens.set_index(["model", "way"])[list(titles)]
    return {
        "sequences": latent_sequences.agreement_with_lists(in_sequences, **draws),
        "sequence_tokens": tokens.rename(columns=titles),
        "sequence_slots": latent_sequences.slots_of_relations(frames["pool"]),
        "replaced": latent_places.table_of_changes(changes, **draws),
        "needed": latent_models.examples_needed(by_examples, **draws),
        "sure": latent_models.table_of_accuracy_at_confidence(alone),
        "relations_correlated": latent_models.correlations_between_models(by_model),
        "best_and_worst": latent_models.best_and_worst_relations(by_model, labels),
    }
