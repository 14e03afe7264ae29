"""The chapter that sets models beside each other, on small saved runs: one, and many."""

import nbformat
import numpy as np
import pandas as pd
import pytest

from helpers import chapters, runs, settings
from helpers.errors import UserError
from tests import saved_runs

FAST = ["n_bootstrap=30"]
ABILITIES = {"atlas-xs": 0.3, "atlas-s": 0.5, "atlas-s-chat": 0.45, "org/large": 0.8}
SIZES = {"atlas-xs": 600_000, "atlas-s": 2_500_000, "atlas-s-chat": 2_500_000, "org/large": 10**9}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Return the chapter's folder over four models, and one more of another seed."""
    folder = tmp_path_factory.mktemp("runs")
    for name, ability in ABILITIES.items():
        saved_runs.write(folder, name, ability, size=SIZES[name])
    saved_runs.write(folder, "stranger", 0.9, seed=5)
    return chapters.run("comparison", "", [*FAST, "reference=atlas-s"], folder)


def printed(folder):
    """Return what the cells of an executed chapter printed, and its figures' cells."""
    cells = nbformat.read(folder / "notebook.ipynb", as_version=4).cells
    outputs = [(cell, out) for cell in cells for out in cell.get("outputs", [])]
    text = "".join(out.text for _, out in outputs if out.output_type == "stream")
    figures = [cell.id for cell, out in outputs if "image/png" in out.get("data", {})]
    return text, figures


def test_every_declared_parameter_is_in_the_manifest(root, many):
    declared = settings.declared(root / "notebooks" / "comparison.ipynb")
    told = runs.manifest(many)
    assert set(told["parameters"]) == set(declared)
    assert told["kind"] == "synthesis"


def test_many_runs_are_compared_and_the_stranger_is_named(many):
    text, figures = printed(many)
    assert "20 runs of 4 models" in text
    assert "4 of 20 runs are not mixed with the others:" in text
    assert "- stranger, monitor: seed 5, not 0" in text
    metrics = runs.metrics(many)
    standing = metrics[metrics["level"] == "run"]
    assert set(standing["model"]) == {"atlas-xs", "atlas-s", "atlas-s-chat", "large"}
    right = standing[standing["measure"] == "right"].set_index("model")["estimate"]
    table = saved_runs.facts()
    expected = {name.split("/")[-1]: (table["hard"] < a).mean() for name, a in ABILITIES.items()}
    assert right.to_dict() == pytest.approx(expected)
    assert {"ranks", "sizes-monitor", "sizes-lists", "pairs-paper", "relations"} <= set(figures)


def test_differences_are_paired_and_counted(many):
    metrics = runs.metrics(many)
    gaps = metrics[(metrics["level"] == "difference") & (metrics["measure"] == "right")]
    assert len(gaps) == 6
    assert (gaps["n"] == 24).all()
    one = gaps.set_index(["first", "second"]).loc[("large", "atlas-xs")]
    assert one["estimate"] == pytest.approx(0.5, abs=1 / 24)
    assert one["low"] > 0
    assert one["better"] == "large"


def test_the_manifest_names_the_runs_that_were_read(many):
    read = pd.DataFrame(runs.manifest(many)["read"])
    assert len(read) == 20
    assert read["sha256"].str.fullmatch("[0-9a-f]{64}").all()
    assert set(read["model"]) == {*ABILITIES, "stranger"}


def test_every_table_is_exported(many):
    names = {path.stem for path in (many / "tables").iterdir()}
    boards = {f"board_{name}" for name in ("monitor", "knowledge_base", "multiplicity")}
    wanted = {"differences", "pairs", "correlations", "runs", "overlap", "relations_alike", *boards}
    assert wanted <= names
    for name in wanted:
        assert {
            (many / "tables" / f"{name}.{kind}").is_file() for kind in ("csv", "md", "tex")
        } == {True}
    shown = pd.read_csv(many / "tables" / "differences.csv")
    assert set(shown["minus"]) == {"atlas-s"}


def test_one_run_says_what_a_second_would_add(tmp_path):
    saved_runs.write(tmp_path, "alone", 0.5, ("latent_knowledge",))
    folder = chapters.run("comparison", "", FAST, tmp_path)
    text, figures = printed(folder)
    assert "Only alone has finished runs here." in text
    assert "make book MODELS=" in text
    assert "make noise MODEL=" in text
    assert "relations" in figures
    metrics = runs.metrics(folder)
    assert set(metrics["level"]) == {"run"}
    assert np.isclose(metrics.set_index("measure").loc["right", "estimate"], 0.5)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["models=nobody"], "No run is of nobody: there are alone"),
        (["reference=nobody"], "The reference nobody is not compared here: name one of alone"),
    ],
)
def test_mistakes_end_in_a_sentence(tmp_path, words, sentence):
    saved_runs.write(tmp_path, "alone", 0.5, ("latent_knowledge",))
    with pytest.raises(UserError, match=sentence):
        chapters.run("comparison", "", words, tmp_path)


def test_without_runs_the_chapter_says_how_to_make_them(tmp_path):
    with pytest.raises(UserError, match=r"No finished run of a measure lies in .*make book"):
        chapters.run("comparison", "", [], tmp_path / "nothing")
