"""Calibration on a model with counts of one's own: a corpus, its counts, the panel, the chapter."""

import gzip
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from helpers import UserError, datasets, models, runs
from helpers.exchange import cooccurrence
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES
from notebooks.analysis import calibration, exposure_levels
from notebooks.atlas import recipe
from notebooks.atlas.corpus import Frames, render_documents
from notebooks.atlas.invented_names import NameInventor
from notebooks.kit import findings
from tests import panel_runs
from tests.chapters import finished_runs, notebook_execution

RELATIONS = ["P38", "P131", "P297", "P498"]
MODEL = "atlas-xs"
TRAINING = re.compile(r"never read|were read|was read|readings|training text")


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Return some facts, counted in a corpus that states them as often as the model read them."""
    facts = datasets.load("atlas", relations=RELATIONS, n=60)
    told, design = (
        datasets.training_exposure(MODEL).loc[facts["fact"]],
        recipe.load_recipe().corpus,
    )
    frames = Frames(datasets.prompt_frames("atlas", RELATIONS), design.frame_weights)
    text = render_documents(facts, told, frames, design, NameInventor(facts), 0)
    path = tmp_path_factory.mktemp("corpus") / "text.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": document.text}) + "\n" for document in text)
    corpus = cooccurrence.read_corpus_documents(path.parent)
    counts = cooccurrence.cooccurrence_counts(facts, corpus)
    equal = counts.to_numpy() == told["exposures"].to_numpy()
    assert equal.mean() > 0.95
    assert (counts.to_numpy() >= told["exposures"].to_numpy()).all()
    return facts.assign(exposure=counts)


def _questions():
    frames = datasets.prompt_frames("atlas", RELATIONS).query("kind == 'qa'")
    return frames.groupby("relation")["template"].agg(list).to_dict()


def _asked(facts, top):
    """Write a data set, and ask its panel as all four chapters do; return both folders."""
    own = datasets.write_dataset(facts, _questions(), top / "own")
    lm = models.load(MODEL)
    for chapter in STUDIES:
        panel_runs.save_panel_run(
            top / "runs", chapter, lm, dataset=str(own), n_panel=688
        )
    return own, top / "runs"


def _calibrated(own, folder, *words):
    """Return the folder of the chapter, and the names that its cells left."""
    given = [f"dataset={own}", "n_bootstrap=200", *words]
    made = finished_runs.run("calibration", "", given, folder)
    finished_runs.check_finished_run(made, given)
    return made, notebook_execution.InProcessEngine.left


@pytest.fixture(scope="module")
def asked(facts, tmp_path_factory):
    return _asked(facts, tmp_path_factory.mktemp("counted"))


@pytest.fixture(scope="module")
def calibrated(asked):
    return _calibrated(*asked)


@pytest.fixture(scope="module")
def folder(calibrated):
    return calibrated[0]


@pytest.fixture(scope="module")
def truth(asked):
    """Return the panel with its counts, read from the data set's files alone."""
    rows = {
        f"{path.stem}-{place:04d}": json.loads(line)["exposure"]
        for path in asked[0].glob("*.json")
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:])
    }
    items = panel_answers.panel_answers(asked[1] / MODEL / "monitor")["item"].unique()
    return pd.Series(rows)[items]


def _verdict(folder, name):
    place = folder / MODEL / name
    settings = runs.load_manifest(place)["panel"]["settings"]
    said = panel_answers.panel_answers(place)
    return calibration.verdicts_of_study(STUDIES[name], said, settings, {}).set_index(
        "item"
    )


def test_half_of_each_relation_is_asked_by_all_chapters(asked, facts):
    panels = [
        set(panel_answers.panel_answers(asked[1] / MODEL / name)["item"])
        for name in STUDIES
    ]
    assert all(panel == panels[0] for panel in panels)
    relations = pd.Series(sorted(panels[0])).str.partition("-")[0]
    assert relations.value_counts().to_dict() == dict.fromkeys(RELATIONS, 30)


def test_areas_are_those_of_verdicts_and_counts(folder, metrics, asked, truth):
    metrics, bounds = (
        metrics.query("model == @MODEL"),
        {"shown or never": (1, np.inf, 0, 0)},
    )
    lines = pd.read_csv(folder / "tables" / "which_measure.csv")
    figures = dict(line.rstrip(")").split(" (", 1) for line in lines["question"])
    assert figures["Does the corpus contain it at all?"] == "AUC, present / absent"
    figure = figures["Does the corpus contain it often?"]
    often, low = map(
        int, re.fullmatch(r"AUC, (\d+)\+ times / 1-(\d+) times", figure).groups()
    )
    bounds |= {
        "often or seldom": (often, np.inf, 1, low),
        "seldom or never": (1, low, 0, 0),
    }
    for contrast, (least, most, lowest, highest) in bounds.items():
        above, below = truth.between(least, most), truth.between(lowest, highest)
        assert min(above.sum(), below.sum()) >= exposure_levels.FEWEST_FACTS
        rows = truth.index[above | below]
        saved = metrics[metrics["measure"] == f"AUC, {contrast}"].set_index("method")[
            "estimate"
        ]
        for name, study in STUDIES.items():
            verdicts = _verdict(asked[1], name).loc[rows]
            weights, areas = [], []
            for _, own in verdicts.groupby("relation"):
                is_above = above[own.index]
                if is_above.nunique() == 2:
                    weights.append(is_above.sum() * (~is_above).sum())
                    areas.append(roc_auc_score(is_above, own["score"]))
            area = np.average(areas, weights=weights)
            assert saved[study.TITLE] == pytest.approx(area, abs=1e-12)


def test_curves_are_shares_of_facts_of_much_the_same_count(calibrated, asked, truth):
    points = pd.read_csv(calibrated[0] / "tables" / "panel.csv")
    assert points["facts"].sum() == len(truth)
    assert points["facts"].iloc[1:].min() >= exposure_levels.FEWEST_FACTS
    known = _verdict(asked[1], "multiplicity")["known"]
    curves = calibrated[1]["curves"].query("model == 'multiplicity'")
    drawn = curves.set_index("exposures")["estimate"]
    for row in points.itertuples():
        inside = truth.between(row.lowest, row.highest)
        assert inside.sum() == row.facts
        assert int(truth[inside].median()) == row.median
        assert drawn[row.median] == pytest.approx(
            known[truth.index[inside]].mean(), abs=1e-12
        )


def test_verdicts_rise_with_counts_that_are_true(metrics):
    slopes = metrics.query("measure == 'log odds a doubling'").set_index("method")
    assert (slopes.loc[["MONITOR", "multiplicity"], "low"] > 0).all()
    assert "known though absent" in set(metrics["measure"])
    areas = metrics.query("measure == 'AUC, often or seldom' and model == 'mean'")
    assert areas.set_index("method")["low"]["MONITOR"] > 0.6


def test_nothing_is_claimed_about_training(folder, found):
    assert not [
        each.sentence for each in found.values() if TRAINING.search(each.sentence)
    ]
    assert "the searched corpus" in found["verdicts_follow_exposure"].sentence
    assert found["false_objects_are_named"].decision == findings.UNDEFINED
    assert "no record of what a model read" in finished_runs.printed_text(
        folder, "panel"
    )
    tables = [path.read_text() for path in (folder / "tables").glob("*.csv")]
    assert not [text for text in tables if TRAINING.search(text)]


def test_counts_in_another_order_tell_nothing(calibrated):
    table = calibrated[1]["plain"]
    items, random = table["item"].unique(), np.random.default_rng(0)
    found = []
    for _ in range(20):
        counts = pd.Series(
            random.permutation(calibration.column_by_fact(table, items)), index=items
        )
        shuffled = table.assign(exposures=table["item"].map(counts))
        shuffled = exposure_levels.levels_of_dataset("own", shuffled).mark(shuffled)
        areas = calibration.areas_by_method(
            shuffled, "score", "shown or never", n_resamples=20
        )
        found.append(areas.loc[areas["model"] == "mean", "estimate"].mean())
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


@pytest.mark.slow
def test_without_facts_of_count_0_the_contrasts_with_them_are_undefined(
    asked, facts, tmp_path
):
    some = facts.assign(exposure=facts["exposure"].mask(facts["exposure"] == 0))
    shutil.copytree(asked[1] / MODEL / "cache", tmp_path / "runs" / MODEL / "cache")
    made, _ = _calibrated(*_asked(some, tmp_path))
    missing = f"{some['exposure'].isna().sum()} of the 240 facts have no count and are left out"
    assert missing in finished_runs.printed_text(made, "panel")
    said = {finding.claim: finding for finding in findings.load_findings(made)}
    for claim in ("no_measure_beats_asking_once_shown_or_never", "options_invite_guesses",
                  "all_call_unread_facts_known"):  # fmt: skip
        assert said[claim].decision == findings.UNDEFINED
    assert (
        "no facts absent from the searched corpus"
        in said["options_invite_guesses"].sentence
    )


def test_runs_on_older_counts_are_left_out(asked, facts, tmp_path):
    own = tmp_path / "own"
    datasets.write_dataset(
        facts.assign(exposure=facts["exposure"] + 1), _questions(), own
    )
    there = panel_answers.panel_runs(asked[1], [MODEL], dataset=str(own))
    assert there["left_out"].str.contains("own has changed since; run it again").all()
    assert (
        panel_answers.panel_runs(asked[1], [MODEL])["left_out"]
        .str.contains("about own, not atlas")
        .all()
    )
    assert panel_answers.candidate_models(asked[1], str(own)) == [MODEL]
    with pytest.raises(UserError, match="no file or folder"):
        panel_answers.panel_runs(asked[1], [MODEL], dataset=str(tmp_path / "missing"))
