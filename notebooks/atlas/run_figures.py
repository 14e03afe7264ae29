"""Keep what training runs answer, however they were trained: a row a run and fact.

``python -m notebooks.atlas.run_figures FOLDER...`` asks models that `training_queue`
wrote the facts of the panel: by all studies, once in each wording as a question and as
a sentence to be completed, for the right object and for a wrong one, and after words.
"""

import argparse
import json
import sys
import zlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import datasets, models, probing, prompts
from helpers.datasets.testbed import TESTBED_RUNS_FILE, load_testbed_runs
from helpers.metrics import accuracy, other_measures
from helpers.models import LanguageModel
from helpers.studies import STUDIES, settings_for_function
from notebooks.atlas import exposure_plan
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.atlas.training_queue import training_runs_to_make

RUN_COLUMNS = ["run", "size", "change", "seed", "start", "weights"]
SETTINGS_OF_ALL_RUNS = {"separator": "space"}  # or each run would choose its own
# The change of the first two such runs, which drew the facts by their ids
DRAWN_BY_ID = "half_stated_by_id"
KINDS = ("qa", "wp")  # questions, sentences to be completed
# Scores that other measures are made of, too many to be kept
ASKED_FOR_OTHER_MEASURES = [
    f"{kind}{frame} {label}"
    for kind in KINDS
    for frame in range(1, 7)
    for label in ("wrong", "without subject")
]
# Contexts of the base question in which what the model writes is judged.
CONTEXTS = ("none", "right", "wrong", "unrelated", "noun")


def figures_of_run(
    folder: Path, facts: pd.DataFrame | None = None, change: str = ""
) -> pd.DataFrame:
    """Ask a trained model the panel's facts: one row a fact, one column a figure."""
    if facts is None:
        facts = datasets.panel_facts()
    facts = facts.drop(columns=["exposures", "false_object", "false_exposures"])
    report = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    recipe = report["recipe"]
    lm = models.load(str(folder))
    table = facts[["fact", "relation"]].rename(columns={"fact": "item"})
    exposure = pd.read_csv(folder / "exposures.csv", keep_default_na=False)
    exposure = exposure.set_index("fact")
    for column in ("exposures", "false_exposures", "pair_exposures"):
        table[column] = table["item"].map(exposure[column])
    table["stated_only"] = _is_stated_only(table["item"], recipe, change)
    frames = datasets.prompt_frames("atlas", facts["relation"].unique())
    by_wording = _scores_by_wording(lm, facts, frames)
    parts = [
        _figures_of_studies(lm, facts),
        by_wording,
        _other_measures(lm, facts, frames, by_wording),
    ]
    for part in parts:
        kept = part.columns.difference(ASKED_FOR_OTHER_MEASURES, sort=False)
        table = table.join(part[kept].astype(np.float32), on="item")
    run = {
        "run": folder.name,
        "size": recipe["size"],
        "change": change,
        "seed": recipe["seed"],
        "start": recipe.get("start", 0),
        "weights": lm.weights_sha[:8],
    }
    return table.assign(**run)[[*RUN_COLUMNS, *table.columns]]


def _is_stated_only(items: pd.Series, recipe: dict, change: str) -> pd.Series:
    """Return for each fact whether the run's text tells it without asking about it."""
    if change == DRAWN_BY_ID:
        is_odd = [zlib.crc32(item.encode()) % 2 == 1 for item in items]
        return pd.Series(is_odd, index=items.index)
    share = recipe.get("stated_only", {}).get("share", 0.0)
    every = datasets.load("atlas")
    stated = exposure_plan.draw_share_of_facts(every, share, recipe["seed"])
    return items.isin(stated)


def _figures_of_studies(lm: LanguageModel, facts: pd.DataFrame) -> pd.DataFrame:
    """Return each study's score, verdict and parts, and right answers after words."""
    tables = []
    for name, study in STUDIES.items():
        settings = settings_for_function(study.ask, SETTINGS_OF_ALL_RUNS)
        answers = study.ask(lm, facts, **settings)
        figures = study.facts(answers)
        verdicts = study.verdict(figures.drop(columns="seen", errors="ignore"))
        columns = ["score", "known"]
        of_study = verdicts.set_index(figures["item"])[columns]
        for column in getattr(study, "FIGURES", {}):
            of_study[column] = figures.set_index("item")[column]
        tables.append(of_study.add_prefix(f"{name} "))
        if "context" in answers:
            tables.append(_right_after_words(answers))
    return pd.concat(tables, axis=1)


def _right_after_words(answers: pd.DataFrame) -> pd.DataFrame:
    """Return how often the base question is answered right after each kind of word."""
    marks = accuracy.mark_texts(answers[answers["frame"] == 0])
    by_context = accuracy.marks_by_fact_and_prompt(marks, "context").set_index("item")
    right = by_context.reindex(columns=list(CONTEXTS))
    return right.add_prefix("right after ")


def _scores_by_wording(
    lm: LanguageModel, facts: pd.DataFrame, frames: pd.DataFrame
) -> pd.DataFrame:
    """Return log-probabilities of the right and of a wrong object in all wordings."""
    first_wrong = facts.set_index("fact")["distractors"].str[0]
    without_subject = facts.assign(subject="it")
    columns = {}
    for kind in KINDS:
        true = _probes_of_kind(facts, frames, kind)
        probes_by_label = {
            "right": true,
            "wrong": true.assign(continuation=" " + true["item"].map(first_wrong)),
            "without subject": _probes_of_kind(without_subject, frames, kind),
        }
        for label, probes in probes_by_label.items():
            wide = _total_logprobs(lm, probes).pivot_table("total", "item", "frame")
            for frame in wide:
                columns[f"{kind}{frame} {label}"] = wide[frame]
    return pd.DataFrame(columns)


def _probes_of_kind(
    facts: pd.DataFrame, frames: pd.DataFrame, kind: str
) -> pd.DataFrame:
    """Return the probes of all wordings of a kind, for relations that have them."""
    with_frames = frames.loc[frames["kind"] == kind, "relation"].unique()
    of_kind = facts[facts["relation"].isin(with_frames)]
    return prompts.question_probes(of_kind, frames, kind=kind)


def _total_logprobs(lm: LanguageModel, probes: pd.DataFrame) -> pd.DataFrame:
    """Return probes with the summed log-probability of their continuation, `total`."""
    scored = probing.score(lm, probes, progress=False)
    return scored.assign(total=scored["logprobs"].map(np.sum))


def _other_measures(
    lm: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    by_wording: pd.DataFrame,
) -> pd.DataFrame:
    """Return measures that are no chapter's, by `helpers.metrics.other_measures`."""
    questions = _probes_of_kind(facts, frames, "qa")
    written = probing.generate(lm, questions, progress=False)
    texts = written.groupby("item")["text"].agg(list)
    plain = questions[questions["frame"] == 0]
    sentences = _probes_of_kind(facts, frames, "wp").query("frame == 0")
    whole = probing.score_sentences(
        lm, sentences["prompt"] + sentences["continuation"], progress=False
    )
    by_token = pd.Series(whole["logprobs"].to_numpy(), index=sentences["item"])
    per_token = probing.score(lm, plain, progress=False).set_index("item")["logprobs"]
    subject_alone = plain.assign(
        prompt=plain["item"].map(facts.set_index("fact")["subject"])
    )
    alone = _total_logprobs(lm, subject_alone).set_index("item")["total"]
    asked = by_wording[[f"qa{frame} right" for frame in range(7)]]
    unasked = by_wording[[f"qa{frame} without subject" for frame in range(7)]]
    risk_ratios = {}
    for item in asked.index:
        risk_ratios[item] = other_measures.log_knowledge_risk_ratio(
            asked.loc[item], unasked.loc[item], alone[item]
        )
    return pd.DataFrame(
        {
            "qa0 per token": per_token.map(np.mean),
            "share among choices": _shares_among_choices(lm, plain, facts),
            "consistency of wordings": texts.map(other_measures.consistency_of_answers),
            "certainty of wordings": texts.map(other_measures.certainty_of_answers),
            "knowledge risk ratio": pd.Series(risk_ratios),
            "least likely tokens": by_token.map(other_measures.mean_of_least_likely),
            "judged true": _log_odds_of_true(lm, facts, frames),
            "qa0 written": accuracy.mark_texts(
                written[written["frame"] == 0]
            ).set_index("item")["right"],
        }
    )


def _shares_among_choices(
    lm: LanguageModel, plain: pd.DataFrame, facts: pd.DataFrame
) -> pd.Series:
    """Return the right object's share of the probability of it and the wrong ones."""
    choices = facts.assign(choice=facts["distractors"].map(list))
    choices["choice"] = [
        [right, *wrong]
        for right, wrong in zip(choices["object"], choices["choice"], strict=True)
    ]
    choices = choices[["fact", "choice"]].explode("choice")
    choices["option"] = choices.groupby("fact").cumcount()
    probes = plain.drop(columns="option").merge(
        choices.rename(columns={"fact": "item"}), on="item"
    )
    probes["continuation"] = " " + probes["choice"]
    probes["correct"] = probes["option"] == 0
    totals = _total_logprobs(lm, probes).sort_values(["item", "option"])
    logs = totals.groupby("item")["total"].agg(list)
    return logs.map(other_measures.share_among_choices)


def _log_odds_of_true(
    lm: LanguageModel, facts: pd.DataFrame, frames: pd.DataFrame
) -> pd.Series:
    """Return how much likelier "True" is than "False" after the fact as a statement."""
    checks = frames[(frames["kind"] == "fc") & (frames["frame"] == 0)]
    templates = checks.set_index("relation")["template"]
    rows = []
    for fact in facts.itertuples():
        text = templates[fact.relation].replace("[X]", fact.subject)
        text = text.replace("[Y]", fact.object)
        for option, word in enumerate(("True", "False")):
            rows.append((fact.fact, "fc0", option, option == 0, text, f" {word}"))
    columns = ["item", "variant", "option", "correct", "prompt", "continuation"]
    totals = _total_logprobs(lm, pd.DataFrame(rows, columns=columns))
    wide = totals.pivot_table("total", "item", "option")
    return wide[0] - wide[1]


def runs_with_new_figures(
    found: pd.DataFrame, path: Path = TESTBED_RUNS_FILE
) -> pd.DataFrame:
    """Return what is kept with new figures, which take the place of the same runs'."""
    if path.is_file():
        kept = load_testbed_runs(path)
        found = pd.concat([kept[~kept["run"].isin(found["run"])], found])
    return found.sort_values(["run", "item"], kind="stable", ignore_index=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.run_figures")
    parser.add_argument("folders", nargs="+", type=Path, help="trained models")
    parser.add_argument("--out", type=Path, default=TESTBED_RUNS_FILE)
    options = parser.parse_args(arguments)
    return exit_status_of_work(partial(_ask_and_keep, options.folders, options.out))


def _ask_and_keep(folders: Iterable[Path], path: Path) -> None:
    """Ask each model that has no figures yet, and keep its figures at once."""
    for folder in folders:
        kept = load_testbed_runs(path)
        if folder.name in set(kept["run"]):
            continue
        found = figures_of_run(folder, change=_change_of_run(folder.name))
        runs_with_new_figures(found, path).to_parquet(path, index=False)
        print(folder.name, file=sys.stderr, flush=True)


def _change_of_run(name: str) -> str:
    """Return what the recipe of a run changes, by the table of runs."""
    changes = training_runs_to_make().set_index("run")["change"]
    return str(changes.get(name, ""))


if __name__ == "__main__":
    sys.exit(main())
