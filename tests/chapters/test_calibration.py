"""The chapter on calibration, run on saved answers of two bundled models."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest

from book.tools import chapters, settings
from helpers import UserError, datasets, findings, runs
from helpers.metrics import detection
from helpers.runs.panel import reading
from helpers.stats import agreement
from helpers.studies import STUDIES
from notebooks.analysis import calibration as analysis
from tests import panel_runs
from tests.chapters import cells, notebooks

SMALL = ["n_bootstrap=40"]


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """Return a folder with runs of two models."""
    return panel_runs.family(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def folder(family):
    """Return the folder of the chapter's run."""
    return chapters.run("calibration", "", SMALL, family)


def test_the_run_is_whole(folder):
    notebooks.check(folder, SMALL, n_figures=4)
    assert notebooks.said(folder, "stderr") == ""


def test_it_lies_among_the_syntheses_and_says_what_it_read(folder, family):
    assert folder == family / "synthesis" / "calibration"
    manifest = runs.manifest(folder)
    assert set(manifest["models"]) == {"atlas-xs", "atlas-s"}
    assert {(row["model"], row["chapter"]) for row in manifest["read"]} == {
        (model, chapter) for model in ("atlas-xs", "atlas-s") for chapter in STUDIES
    }
    assert 0 < manifest["n_facts"] < panel_runs.N


def _verdict(family, chapter, model="atlas-s"):
    place = family / model / chapter
    told = runs.manifest(place)["panel"]["settings"]
    said = reading.answers(place)
    return analysis.verdicts(STUDIES[chapter], said, told, {}).set_index("item")


def _figure(metrics, measure, model, method):
    table = metrics.query("measure == @measure and model == @model")
    return table.loc[table["method"] == method, "estimate"].item()


def test_areas_can_be_computed_again_from_the_saved_answers(metrics, family):
    told = datasets.training("atlas-s")
    for chapter, study in STUDIES.items():
        table = _verdict(family, chapter).join(told[["exposures", "plain"]]).query("plain")
        pair = np.column_stack([table["score"], table["exposures"] > 0])
        saved = _figure(metrics, "area, shown or never", "atlas-s", study.TITLE)
        assert saved == pytest.approx(float(detection.area(pair)), abs=1e-12)


def test_kappa_can_be_computed_again_from_the_saved_answers(metrics, family):
    each = []
    for model in ("atlas-xs", "atlas-s"):
        plain = datasets.training(model)["plain"]
        first, second = (_verdict(family, c, model)["known"] for c in list(STUDIES)[:2])
        pair = pd.concat([first, second], axis=1)
        each.append(agreement.kappa(pair[plain.loc[pair.index]].to_numpy()))
    saved = _figure(metrics, "kappa", "mean", "MONITOR and knowledge base")
    assert saved == pytest.approx(np.nanmean(each), abs=1e-12)


def test_findings_rest_on_the_figures_of_the_page(folder, metrics):
    said = {finding.claim: finding for finding in findings.load(folder)}
    assert len(said) == 8
    kappas = metrics[metrics["measure"] == "kappa"].dropna(subset=["low"])
    lowest = kappas.loc[kappas["estimate" if kappas["low"].min() > 0 else "low"].idxmin()]
    assert said["methods_agree"].estimate == pytest.approx(lowest["estimate"], abs=1e-12)
    once = said["no_measure_beats_asking_once_shown_or_never"]
    areas = metrics.query("model == 'mean' and measure == 'area, shown or never'")
    areas = areas.set_index("method")["estimate"]
    assert len(areas) == 5
    best = areas.drop("asked once").max()
    assert once.estimate == pytest.approx(areas["asked once"] - best, abs=1e-12)
    unread = said["asking_once_holds_in_an_unread_wording"]
    assert unread.decision == "undefined"  # these runs ask too few frames


def test_the_last_table_is_chosen_by_its_own_figures(folder):
    table = pd.read_csv(folder / "tables" / "which_measure.csv")
    assert len(table) == 6
    for row in table.itertuples():
        listed = re.findall(r"([A-Za-z][\w -]*?) (−?-?\d+\.\d+)", " ".join(map(str, row[3:6])))
        figures = {name.strip(): float(value) for name, value in listed}
        best = min if row.figure == "known though never read" else max
        first = next(iter(figures))
        assert figures[first] == best(figures.values()), row


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["firm=2"], "share between 0 and 1"),
        (["dataset=nowhere"], "no data set"),
    ],
)
def test_bad_values_end_in_a_sentence_that_names_them(words, sentence, family, tmp_path):
    # The cells up to the table of runs, where all of these are refused, run without a kernel.
    template = nbformat.read(chapters.TEMPLATES / "calibration.ipynb", 4)
    given = settings.read(chapters.TEMPLATES / "calibration.ipynb", words)
    given |= {"runs_dir": str(family), "run_dir": str(tmp_path / "synthesis" / "calibration")}
    space = {"display": lambda table: None}
    sources = {cell.id: cell.source for cell in template.cells}
    exec(sources["parameters"], space)
    space |= given
    with pytest.raises(UserError, match=sentence):
        exec(sources["setup"], space)


@pytest.mark.filterwarnings("error::RuntimeWarning", "error::UserWarning", "error::FutureWarning")
@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (["models=atlas-m"], ["run monitor --model atlas-m", "0 facts were asked by every method"]),
        (["seed=7"], ["atlas-xs is not read; a run is missing", "0 facts were asked"]),
    ],
)
def test_without_a_whole_model_the_page_says_what_is_missing(words, sentences, family, tmp_path):
    done = cells.execute("calibration", words, runs_dir=str(family), run_dir=str(tmp_path))
    said = "".join(done.printed.values())
    assert all(sentence in said for sentence in sentences)
    assert all(done.drawn[name] for name in notebooks.figures(notebooks.template("calibration")))
    assert runs.metrics(tmp_path).empty
    assert {finding.decision for finding in findings.load(tmp_path)} == {findings.UNDEFINED}
    assert pd.read_csv(tmp_path / "tables" / "which_measure.csv")["n"].eq(0).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning", "error::UserWarning", "error::FutureWarning")
@pytest.mark.parametrize("n", [1, 3])
def test_a_panel_of_few_facts_is_read_to_the_end(n, family, tmp_path):
    few = panel_runs.first(family, tmp_path / "runs", n)
    done = cells.execute("calibration", SMALL, runs_dir=str(few), run_dir=str(tmp_path / "made"))
    assert f"{n} facts were asked by every method" in done.printed["panel"]
    assert all(done.drawn[name] for name in notebooks.figures(notebooks.template("calibration")))
    assert len(runs.metrics(tmp_path / "made")) > 50
