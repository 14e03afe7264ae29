"""A fifth study of thirty lines is run, compared, calibrated and commanded like the others."""

import re
import sys
import types

import pytest

from helpers import UserError, runs, studies
from helpers.metrics import accuracy
from helpers.runs import measuring
from helpers.runs.panel import panel_answers
from notebooks.analysis import calibration, comparison


@pytest.fixture(scope="module")
def toy(root):
    """Return the study that the page on the architecture writes out, as a module."""
    page = (root / "book" / "architecture.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    [code] = [block for block in blocks if "MEASURES" in block]
    assert len(code.splitlines()) < 40
    module = types.ModuleType("toy")
    exec(compile(code, "architecture.md", "exec"), module.__dict__)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory, toy):
    """Return the folder of runs of the toy study on two models, made by the measuring command."""
    top = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(studies.STUDIES, "toy", None)  # so that it is taken out again
        studies.register_study("toy", toy)
        for model in ("atlas-xs", "atlas-s"):
            given = {"n_panel": 24, "n_bootstrap": 20, "match": "starts_with"}
            [made] = measuring.measure_model(model, ["toy"], given, top)
            assert made.folder == top / model / "toy"
            assert set(made.summary["measure"]) == {"answered"}
        yield top


def test_its_run_is_saved_with_its_settings(folder):
    manifest = runs.load_manifest(folder / "atlas-s" / "toy")
    assert manifest["parameters"]["match"] == "starts_with"
    metrics = runs.load_metrics(folder / "atlas-s" / "toy").query("level == 'run'")
    marks = accuracy.mark_texts(
        runs.load_answers(folder / "atlas-s" / "toy"), rule="starts_with"
    )
    assert metrics["estimate"].item() == pytest.approx(marks["right"].mean())


def test_the_board_compares_its_measures(folder):
    found = comparison.facts_by_chapter_and_model(
        comparison.load_comparable_runs(folder)
    )
    standing, gaps = comparison.estimates_and_differences(found, n_resamples=20)
    assert set(standing["chapter"]) == set(gaps["chapter"]) == {"toy"}
    assert standing["measure"].unique().tolist() == ["answered"]
    assert gaps["n"].item() == len(found["toy"]["atlas-s"])


def test_its_verdicts_are_calibrated(folder):
    table = calibration.verdicts_of_all_runs(
        panel_answers.panel_runs(folder, ["atlas-s"]), ["atlas-s"]
    )
    assert set(table["method"]) == {"plain question"}
    assert len(table) == 24
    assert table["exposures"].gt(0).any()
    told = table[table["false_object"] != ""]
    assert told["misled"].notna().all()
    assert (table["known"] == table["score"]).all()


@pytest.mark.parametrize(
    ("name", "members", "told"),
    [
        ("monitor", {}, "none of monitor"),
        ("a/b", {}, "small letters"),
        ("toy", {"TITLE": "t", "ask": None, "facts": None}, "MEASURES, verdict, summa"),
    ],
)
def test_what_is_no_study_is_not_registered(name, members, told):
    known = dict(studies.STUDIES)
    with pytest.raises(UserError, match=told):
        studies.register_study(name, types.SimpleNamespace(**members))
    assert known == studies.STUDIES


def test_the_page_makes_a_command_of_it(root, toy, monkeypatch, capsys):
    """Its last lines, as of a file that is run: the study is among those that are known."""
    page = (root / "book" / "architecture.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"```python\n(if __name__ .*?)```", page, flags=re.DOTALL)
    monkeypatch.setitem(studies.STUDIES, "plain", None)
    monkeypatch.setitem(sys.modules, "__main__", toy)
    monkeypatch.setattr(sys, "argv", ["plain.py", "measure", "no-such-model", "plain"])
    with pytest.raises(SystemExit):
        exec(lines, {"__name__": "__main__"})
    assert studies.STUDIES["plain"] is toy
    assert capsys.readouterr().err.startswith("error: There is no model no-such-model")
