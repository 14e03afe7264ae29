"""The kept answers of SmolLM2, a model that people use, by how frequent a name is."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, exchange, stats
from helpers.datasets.exposure import name_frequencies, training_exposure
from helpers.exchange import record
from helpers.metrics import accuracy, roc_curve
from helpers.metrics.matching import normalise_text
from helpers.runs import PROJECT_FOLDER
from helpers.studies import STUDIES, compare_models
from helpers.studies.model_comparison import facts_by_item
from notebooks.atlas import records
from notebooks.kit.plots import result_tables, shared_figures

SMOLLM2_ARCHIVE = PROJECT_FOLDER / "results" / "smollm2.zip"
GEMMA3_ARCHIVE = PROJECT_FOLDER / "results" / "gemma3.zip"
# Fewer questions, in the model's chat template
SMOLLM2_CHAT_ARCHIVE = PROJECT_FOLDER / "results" / "smollm2-chat.zip"
# Of the models that are measured here on the same facts.
ARCHIVE_OF_TITLE = {"SmolLM2": SMOLLM2_ARCHIVE, "Gemma 3": GEMMA3_ARCHIVE}
# Occurrences per billion words, from which each is
FREQUENCY_GROUPS = (0, 30, 300, 3_000, 30_000)
MAIN_MEASURES = (
    "MONITOR",
    "coverage",
    "base",
    "average",
    "NCR",
    "right",
    "accuracy",
    "self_consistency",
)
CONTEXT_TITLES = {
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}
KEPT_TITLES = {  # of answers that were right with nothing first
    "unrelated": f"kept: {CONTEXT_TITLES['unrelated']}",
    "wrong": f"kept: {CONTEXT_TITLES['wrong']}",
    "reworded": "kept: another wording",
}


def read_answers_and_measures(
    path: Path = SMOLLM2_ARCHIVE,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return MONITOR's answers, and the measures of all four studies, computed anew."""
    shared, _ = exchange.verify_archive(path)
    rows = []
    for name, run in shared.record["runs"].items():
        titles = _titles_of_measures(name)
        for measure in run["measures"]:
            title = titles[measure["measure"]]
            rows.append({"study": name, "title": title, **measure})
    columns = ["study", "measure", "title", "estimate", "low", "high", "n"]
    return shared.answers("monitor"), pd.DataFrame(rows)[columns]


def _titles_of_measures(study: str) -> dict[str, str]:
    """Return the titles of a study's measures by name."""
    return {measure.name: measure.title for measure in STUDIES[study].MEASURES}


def accuracy_by_fact_and_context(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what is right of each fact by context, and how often its name occurs.

    ``often`` is the group of `FREQUENCY_GROUPS`, ``reworded`` the share of right
    answers to the other wordings of the question alone.
    """
    marked = accuracy.mark_texts(answers)
    is_reworded = (marked["context"] == "none") & (marked["frame"] != 0)
    facts = accuracy.marks_by_fact_and_prompt(marked[~is_reworded], "context")
    reworded = marked[is_reworded].groupby("item")["right"].mean()
    subjects = marked.drop_duplicates("item").set_index("item")["subject"]
    occurrences = subjects.map(name_frequencies())
    items = facts["item"]
    return facts.assign(
        reworded=items.map(reworded),
        subject=items.map(subjects),
        occurrences=items.map(occurrences),
        often=items.map(occurrences.map(_frequency_group)),
    )


def changed_answers_by_fact(answers: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return how often a fact's answer changes, by what was changed in the prompt.

    `column` is ``right``, whether the answer is, or ``text``. ``reworded`` takes the
    mean over all ordered pairs of wordings of the question alone, since none of them is
    the base of the others; ``unrelated`` and ``wrong`` that over the words put before
    the first wording.
    """
    marked = accuracy.mark_texts(answers)
    marked = marked.assign(text=marked["text"].map(normalise_text))
    alone = marked[marked["context"] == "none"]
    n_wordings = alone.groupby("item")[column].size()
    n_alike = alone.groupby(["item", column]).size()
    pairs_alike = (n_alike * (n_alike - 1)).groupby("item").sum()
    base = alone[alone["frame"] == 0].set_index("item")[column]
    changed = {"reworded": 1 - pairs_alike / (n_wordings * (n_wordings - 1))}
    for context in ("unrelated", "wrong"):
        rows = marked[marked["context"] == context]
        differs = rows[column] != rows["item"].map(base)
        changed[context] = differs.groupby(rows["item"]).mean()
    relations = marked.drop_duplicates("item").set_index("item")["relation"]
    return pd.DataFrame(changed).assign(relation=relations)


def changes_beyond_a_word(
    changed: pd.DataFrame, context: str, **draws: int
) -> stats.Difference:
    """Estimate how many more answers another wording changes than a word does."""
    return stats.paired_difference(
        changed["reworded"], changed[context], strata=changed["relation"], **draws
    )


def comparisons_of_changes(
    answers: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, stats.Difference]]:
    """Yield what another wording changes, less what a word does, without a sentence."""
    marks = changed_answers_by_fact(answers, "right")
    texts = changed_answers_by_fact(answers, "text")
    label = "right or wrong changes: another wording, less a wrong answer first"
    yield label, changes_beyond_a_word(marks, "wrong", **draws)
    label = "the answer changes: another wording, less an unrelated word first"
    yield label, changes_beyond_a_word(texts, "unrelated", **draws)
    label = "the answer changes: another wording, less a wrong answer first"
    yield label, changes_beyond_a_word(texts, "wrong", **draws)


def _frequency_group(occurrences: float) -> int:
    """Return the lowest frequency of the group that a frequency is in."""
    return max(least for least in FREQUENCY_GROUPS if least <= occurrences)


def accuracy_by_name_frequency(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return the share of right answers by frequency of the name and by context."""
    parts = []
    for context, title in CONTEXT_TITLES.items():
        measure = {"right": ([context], stats.mean)}
        shares = stats.intervals_by_group(facts, measure, "often", **draws)
        shares = shares[~shares["often"].isin(["all", "mean"])]
        parts.append(shares.assign(first=title, often=shares["often"].astype(int)))
    return pd.concat(parts, ignore_index=True)


def draw_accuracy_beside_atlas(facts: pd.DataFrame, **draws: int) -> tuple[Axes, Axes]:
    """Draw accuracy by exposure in atlas models, and by name frequency in SmolLM2."""
    models = records.untuned_models(records.bundled_models())
    recorded = records.recorded_evaluation(models)
    question_alone = recorded[recorded["condition"] == records.QUESTION_ALONE]
    by_frequency = accuracy_by_name_frequency(facts, **draws)
    nothing_first = by_frequency[by_frequency["first"] == CONTEXT_TITLES["none"]]
    _, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.8), sharey=True, layout="constrained"
    )
    shared_figures.curve_plot(
        question_alone,
        "exposures",
        "model",
        left,
        axis="doublings",
        xlabel=records.EXPOSURE_AXIS_LABEL,
        ylabel="facts answered correctly",
    )
    shared_figures.curve_plot(
        nothing_first.assign(first="SmolLM2"),
        "often",
        "first",
        right,
        axis="even",
        xlabel="occurrences of the name, at least",
    )
    return left, right


def differences_between_formats(**draws: int) -> pd.DataFrame:
    """Return how much higher each measure is in the kept format than in chat's."""
    usual = exchange.read_archive(SMOLLM2_ARCHIVE)
    chat, _ = exchange.verify_archive(SMOLLM2_CHAT_ARCHIVE)
    parts = []
    for name in chat.record["runs"]:
        facts = {}
        for shared in (chat, usual):
            prompt_format = shared.record["runs"][name]["model"]["prompt_format"]
            facts[prompt_format] = _facts_of_study(shared, name)
        differences = compare_models(STUDIES[name], facts, **draws)
        titles = differences["measure"].map(_titles_of_measures(name))
        parts.append(differences.assign(study=name, title=titles))
    return pd.concat(parts, ignore_index=True).dropna(subset=["estimate"])


def _facts_of_study(shared: record.SharedRuns, name: str) -> pd.DataFrame:
    """Return the facts of a study in an archive, identified by their names.

    Both archives were asked the same data sets, and one is of a version that does not
    say what its facts are.
    """
    parameters = shared.record["runs"][name]["parameters"]
    facts = record.facts_from_answers(name, parameters, shared.answers(name))
    return facts.assign(identity=facts["item"])


def name_frequency_lead_of_asking_once(
    facts: pd.DataFrame, path: Path = SMOLLM2_ARCHIVE, **draws: int
) -> tuple[stats.Difference, dict[str, str]]:
    """Compare how closely asking once and MONITOR follow a name's frequency.

    Both are scores of the same facts. Also returned: the two correlations in words.
    """
    scores = _scores_by_title(facts, path)
    same_facts = (
        scores["asked once"]
        .dropna()
        .index.intersection(scores["monitor"].dropna().index)
    )
    once = _scores_and_frequencies(scores["asked once"].loc[same_facts])
    monitor = _scores_and_frequencies(scores["monitor"].loc[same_facts])
    lead = stats.paired_difference(
        once,
        monitor,
        stats.rank_correlation_within_groups,
        once["relation_code"],
        **draws,
    )
    correlations = {}
    for name, table in (("asked_once", once), ("monitor", monitor)):
        correlation = stats.rank_correlation_within_groups(table.to_numpy())
        correlations[name] = f"{float(correlation):.2f}"
    return lead, correlations


def findings_in_both_models(**draws: int) -> pd.DataFrame:
    """Return what the chapter finds of MONITOR's facts, in SmolLM2 and in Gemma 3.

    A row a finding, with a text a model; differences are of shares of facts or of rank
    correlations, within relations.
    """
    columns = {}
    for title, path in ARCHIVE_OF_TITLE.items():
        answers, _ = read_answers_and_measures(path)
        facts = accuracy_by_fact_and_context(answers)
        within = {"strata": facts["relation"], **draws}
        places = facts.groupby("relation")[["none", "occurrences"]].rank(pct=True)
        lead, _ = name_frequency_lead_of_asking_once(facts, path, **draws)
        changed = changed_answers_by_fact(answers, "right")
        intervals = {
            "right answers follow the frequency of the name (correlation)": (
                stats.bootstrap(
                    places, stats.pearson_correlation, facts["relation"], **draws
                )
            ),
            "the plain question follows it more closely than MONITOR by": lead,
            "an unrelated word costs": (
                stats.paired_difference(facts["none"], facts["unrelated"], **within)
            ),
            "a wrong answer costs beyond that": (
                stats.paired_difference(facts["unrelated"], facts["wrong"], **within)
            ),
            "another wording changes more answers than an unrelated word by": (
                changes_beyond_a_word(changed, "unrelated", **draws)
            ),
        }
        columns[title] = {
            what: result_tables.interval(one.estimate, one.low, one.high, digits=3)
            for what, one in intervals.items()
        }
    return pd.DataFrame(columns).rename_axis("finding").reset_index()


def correlations_with_name_frequency(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how scores go with the frequency of the name, ranked within relations."""
    rows = []
    for title, score in _scores_by_title(facts, SMOLLM2_ARCHIVE).items():
        table = _scores_and_frequencies(score)
        rank = stats.bootstrap(
            table,
            stats.rank_correlation_within_groups,
            table["relation_code"],
            **draws,
        )
        middle = table.groupby("relation_code")["often"].transform("median")
        is_frequent = (table["often"] > middle).astype(float)
        area = stats.bootstrap(
            table.assign(often=is_frequent),
            roc_curve.area_within_relations,
            table["relation_code"],
            **draws,
        )
        text = result_tables.interval(area.estimate, area.low, area.high, digits=2)
        rows.append({"what": title, **rank._asdict(), "AUC": text})
    return pd.DataFrame(rows)


def _scores_and_frequencies(score: pd.Series) -> pd.DataFrame:
    """Return of scored facts the score, how frequent the name is, and the relation."""
    atlas = datasets.load("atlas").set_index("fact")
    named = atlas.loc[score.index, ["relation", "subject"]]
    often = named["subject"].map(name_frequencies())
    table = pd.DataFrame(
        {"score": score, "often": often, "relation": named["relation"]}
    )
    table = table.dropna()
    codes, _ = pd.factorize(table["relation"])
    table = table.drop(columns="relation").assign(relation_code=codes)
    return table.astype(float)


def _scores_by_title(facts: pd.DataFrame, path: Path) -> dict[str, pd.Series]:
    """Return an archive's scores of facts: asked once, by each study, and if kept."""
    shared = exchange.read_archive(path)
    scores = {}
    for name, study in STUDIES.items():
        if name not in shared.record["runs"]:
            continue
        studied = facts_by_item(_facts_of_study(shared, name))
        if name == "monitor":
            scores["asked once"] = studied["asked_once"]
        if "seen" in studied:
            studied = studied[studied["seen"] > 0]
        scores[name.replace("_", " ")] = study.verdict(studied)["score"]
    known = facts[facts["none"] == 1].set_index("item")
    for column, title in KEPT_TITLES.items():
        scores[title] = known[column]
    return scores


def exposure_frequency_correlations(
    model: str = "atlas-m", **draws: int
) -> pd.DataFrame:
    """Return by relation how a name's frequency goes with its fact's exposure."""
    atlas = datasets.load("atlas")
    table = atlas.assign(
        exposures=atlas["fact"].map(training_exposure(model)["exposures"]),
        often=atlas["subject"].map(name_frequencies()),
    )
    measure = {"ρ": (["exposures", "often"], stats.spearman_correlation)}
    return stats.intervals_by_group(table.dropna(), measure, **draws)


def tables_for_appendix(
    measured: pd.DataFrame, formats: pd.DataFrame, rising: pd.DataFrame, **draws: int
) -> dict[str, pd.DataFrame]:
    """Return the appendix's tables of SmolLM2 by name."""
    return {
        "smollm2_all": measured,
        "formats": formats.drop(columns=["second", "study"]),
        "rising_all": rising,
        "agreement": exposure_frequency_correlations(**draws),
    }


def example_fact_of_frequent_name(
    facts: pd.DataFrame, columns: Mapping[str, str]
) -> pd.DataFrame:
    """Return one fact of a frequent name that an unrelated word changes."""
    candidates = facts[(facts["none"] == 1) & (facts["unrelated"] < 1)]
    if candidates.empty:
        candidates = facts
    example = candidates.nlargest(1, "occurrences")
    return example[list(columns)].rename(columns=columns)
