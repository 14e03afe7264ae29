"""The chapter on calibration, run on saved answers of two bundled models."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, runs
from helpers.runs.panel import panel_answers
from helpers.stats import agreement
from helpers.studies import STUDIES
from notebooks.analysis import calibration as analysis
from notebooks.kit import findings
from tests import panel_runs
from tests.chapters import finished_runs

SMALL = ["n_bootstrap=40"]


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    return panel_runs.save_panel_runs_of_models(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def folder(family):
    return finished_runs.run("calibration", "", SMALL, family)


def test_the_run_is_whole_and_says_what_it_read(folder, family):
    finished_runs.check_finished_run(folder, SMALL)
    assert finished_runs.stream_text(folder, "stderr") == ""
    assert folder == family / "synthesis" / "calibration"
    manifest = runs.load_manifest(folder)
    assert set(manifest["models"]) == {"atlas-xs", "atlas-s"}
    read = {(row["model"], row["chapter"]) for row in manifest["read"]}
    assert read == {*product(("atlas-xs", "atlas-s"), STUDIES)}
    assert 0 < manifest["n_facts"] < panel_runs.PANEL_SIZE


def _verdict(family, chapter, model="atlas-s"):
    place = family / model / chapter
    told = runs.load_manifest(place)["panel"]["settings"]
    said = panel_answers.panel_answers(place)
    return analysis.verdicts_of_study(STUDIES[chapter], said, told, {}).set_index(
        "item"
    )


def _figure(metrics, measure, model, method):
    table = metrics.query(
        "measure == @measure and model == @model and method == @method"
    )
    return table["estimate"].item()


def test_areas_can_be_computed_again_from_the_saved_answers(metrics, family):
    told = datasets.training_exposure("atlas-s")
    for chapter, study in STUDIES.items():
        table = (
            _verdict(family, chapter).join(told[["exposures", "plain"]]).query("plain")
        )
        read = table["exposures"] > 0
        n_pairs, in_order = 0, 0.0
        for _, rows in table.groupby("relation"):
            for score in rows.loc[read, "score"]:
                others = rows.loc[~read, "score"]
                n_pairs += len(others)
                in_order += (score > others).sum() + (score == others).sum() / 2
        saved = _figure(metrics, "AUC, shown or never", "atlas-s", study.TITLE)
        assert saved == pytest.approx(in_order / n_pairs, abs=1e-12)


def test_kappa_can_be_computed_again_from_the_saved_answers(metrics, family):
    each = []
    for model in ("atlas-xs", "atlas-s"):
        plain = datasets.training_exposure(model)["plain"]
        first, second = (_verdict(family, c, model)["known"] for c in list(STUDIES)[:2])
        pair = pd.concat([first, second], axis=1)
        each.append(agreement.cohen_kappa(pair[plain.loc[pair.index]].to_numpy()))
    saved = _figure(metrics, "kappa", "mean", "MONITOR and knowledge base")
    assert saved == pytest.approx(np.nanmean(each), abs=1e-12)


def test_findings_rest_on_the_figures_of_the_page(found, metrics):
    kappas = metrics[metrics["measure"] == "kappa"].dropna(subset=["low"])
    lowest = kappas.loc[
        kappas["estimate" if kappas["low"].min() > 0 else "low"].idxmin()
    ]
    assert found["methods_agree"].estimate == pytest.approx(
        lowest["estimate"], abs=1e-12
    )
    areas = metrics.query("model == 'mean' and measure == 'AUC, shown or never'")
    areas = areas.set_index("method")["estimate"]
    assert len(areas) == 5
    leads = areas["asked once"] - areas.drop("asked once")
    once = found["no_measure_beats_asking_once_shown_or_never"]
    assert np.abs(leads - once.estimate).min() < 1e-12
    unread = found["asking_once_holds_in_an_unread_wording"]
    assert unread.decision == "undefined"  # these runs ask too few frames


def test_the_last_table_is_chosen_by_its_own_figures(folder):
    table = pd.read_csv(folder / "tables" / "which_measure.csv")
    assert len(table) == 6
    for row in table.itertuples():
        listed = re.findall(
            r"[A-Za-z][\w -]*? (-?\d+\.\d+)", " ".join(map(str, row[2:5]))
        )
        best, *less = map(float, listed)
        assert best > 0, row
        assert all(-1 <= value <= 0 for value in less), row


def linked(family, top):
    """Return a folder with the runs of some models and no synthesis."""
    (top / "runs").mkdir()
    for model in ("atlas-xs", "atlas-s"):
        (top / "runs" / model).symlink_to(family / model)
    return top / "runs"


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (
            ["models=atlas-m"],
            ["run monitor --model atlas-m", "0 facts were asked by every method"],
        ),
        (["seed=7"], ["atlas-xs is not read; a run is missing", "0 facts were asked"]),
    ],
)
def test_without_a_whole_model_the_page_says_what_is_missing(
    words, sentences, family, tmp_path
):
    made = finished_runs.run("calibration", "", words, linked(family, tmp_path))
    finished_runs.check_finished_run(made, words)
    assert all(sentence in finished_runs.printed_text(made) for sentence in sentences)
    assert runs.load_metrics(made).empty
    assert {finding.decision for finding in findings.load_findings(made)} == {
        findings.UNDEFINED
    }
    assert pd.read_csv(made / "tables" / "which_measure.csv")["n"].eq(0).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3])
def test_a_panel_of_few_facts_is_read_to_the_end(n, family, tmp_path):
    few = panel_runs.copy_runs_of_first_facts(family, tmp_path / "runs", n)
    made = finished_runs.run("calibration", "", SMALL, few)
    finished_runs.check_finished_run(made, SMALL)
    assert f"{n} facts were asked by every method" in finished_runs.printed_text(
        made, "panel"
    )
    assert len(runs.load_metrics(made)) > 50
