"""The comparison of two folders of runs: equal ones pass, and each kind of difference is seen."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from tests import golden

METRICS = pd.DataFrame(
    {
        "measure": ["a", "b", None],
        "estimate": [0.1, np.nan, np.inf],
        "n": pd.array([1, None, 3], dtype="Int64"),
        "agrees": [True, False, True],
    }
)
FINDING = {"claim": "a", "decision": "holds", "sentence": "It is so.", "estimate": 0.5, "low": None}


@pytest.fixture
def folders(tmp_path):
    """Return two folders with the same run."""
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "model" / "chapter").mkdir(parents=True)
    METRICS.to_parquet(old / "model" / "chapter" / golden.METRICS)
    findings = [FINDING, FINDING | {"claim": "b", "estimate": float("nan")}]
    (old / "model" / "chapter" / golden.FINDINGS).write_text(json.dumps(findings))
    shutil.copytree(old, new)
    return old, new


def cell(column, row, value):
    """Return what changes one number or word of the table."""

    def change(folder):
        table = METRICS.copy()
        table.loc[row, column] = value
        table.to_parquet(folder / golden.METRICS)

    return change


def finding(**changed):
    """Return what changes the first finding."""

    def change(folder):
        findings = json.loads((folder / golden.FINDINGS).read_text())
        findings[0] |= changed
        (folder / golden.FINDINGS).write_text(json.dumps(findings))

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (cell("estimate", 0, 0.1 + 1e-11), "estimate of row 0 is 0.10000000001, was 0.1"),
        (cell("estimate", 1, 0.0), "estimate of row 1 is 0.0, was None"),
        (cell("estimate", 0, np.nan), "estimate of row 0 is None, was 0.1"),
        (cell("estimate", 2, -np.inf), "estimate of row 2 is -inf, was inf"),
        (cell("n", 1, 2), "n of row 1 is 2, was None"),
        (cell("measure", 2, "c"), "measure of row 2 is c"),
        (cell("agrees", 1, True), "agrees of row 1 is True, was False"),
        (lambda folder: METRICS[:2].to_parquet(folder / golden.METRICS), "columns and rows is"),
        (finding(decision="opposite"), "decision of a is opposite, was holds"),
        (finding(sentence="It is not."), "sentence of a is It is not., was It is so."),
        (finding(estimate=0.6), "estimate of a is 0.6, was 0.5"),
        (finding(low=0.0), "low of a is 0.0, was None"),
        (finding(claim="c"), "claims is ['c', 'b'], was ['a', 'b']"),
        (lambda folder: (folder / golden.FINDINGS).unlink(), "findings.json: not in"),
        (lambda folder: (folder / golden.METRICS).unlink(), "metrics.parquet: not in"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_difference_is_seen(change, told, folders, capsys):
    assert golden.main(*map(str, folders)) == 0
    assert "1 runs, 13 cells and 11 parts" in capsys.readouterr().out
    change(folders[1] / "model" / "chapter")
    assert golden.main(*map(str, folders)) == 1
    assert told in capsys.readouterr().out


def test_rounding_is_no_difference(folders, capsys):
    cell("estimate", 0, 0.1 + 1e-13)(folders[1] / "model" / "chapter")
    assert golden.main(*map(str, folders)) == 0
    assert "largest difference 1.0e-13, 0 differ" in capsys.readouterr().out


def test_seconds_may_differ_but_not_what_was_timed_and_no_runs_are_no_success(folders, tmp_path):
    for folder, sentence in zip(folders, ("Twice as long.", "Thrice as long.")):
        timed = {"claim": "grid_is_dearer", "sentence": sentence, "n": 13}
        finding(**timed)(folder / "model" / "chapter")
    assert golden.main(*map(str, folders)) == 0
    finding(n=12)(folders[1] / "model" / "chapter")
    assert golden.main(*map(str, folders)) == 1
    assert golden.main(str(tmp_path / "none"), str(tmp_path / "none")) == 1
