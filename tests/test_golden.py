"""The comparison of two folders of runs: equal ones pass, and each kind of difference is seen."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from tests import golden

METRICS = pd.DataFrame(
    {"measure": ["a", "b", None], "estimate": [0.1, np.nan, np.inf], "agrees": [True, False, True],
     "n": pd.array([1, None, 3], dtype="Int64")}
)  # fmt: skip
FINDING = {
    "claim": "a",
    "decision": "holds",
    "sentence": "It is so.",
    "estimate": 0.5,
    "low": None,
}


@pytest.fixture
def folders(tmp_path):
    """Return the folders of two equal runs, each in a folder of its own."""
    folder = tmp_path / "old" / "model" / "chapter"
    folder.mkdir(parents=True)
    METRICS.to_parquet(folder / "metrics.parquet")
    findings = [FINDING, FINDING | {"claim": "b", "estimate": float("nan")}]
    (folder / "findings.json").write_text(json.dumps(findings))
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    return tmp_path / "old", tmp_path / "new"


@pytest.mark.parametrize(
    ("file", "place", "value"),
    [
        ("metrics.parquet", ("estimate", 0), 0.1 + 1e-11),
        ("metrics.parquet", ("estimate", 1), 0.0),
        ("metrics.parquet", ("estimate", 0), np.nan),
        ("metrics.parquet", ("estimate", 2), -np.inf),
        ("metrics.parquet", ("n", 1), 2),
        ("metrics.parquet", ("measure", 2), "c"),
        ("metrics.parquet", ("agrees", 1), True),
        ("metrics.parquet", None, METRICS[:2]),
        ("metrics.parquet", None, METRICS.assign(more=1)),
        ("findings.json", ("decision", 0), "opposite"),
        ("findings.json", ("estimate", 0), 0.6),
        ("findings.json", ("low", 0), 0.0),
        ("findings.json", ("claim", 0), "c"),
        ("findings.json", None, None),
        ("metrics.parquet", None, None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_difference_is_seen(file, place, value, folders, capsys):
    folder = folders[1] / "model" / "chapter"
    _put(
        folder / "metrics.parquet", ("estimate", 0), 0.1 + 1e-13
    )  # rounding is no difference
    assert golden.main(*map(str, folders)) == 0
    assert "2 files compared, 0 differ" in capsys.readouterr().out
    _put(folder / file, place, value)
    assert golden.main(*map(str, folders)) == 1
    assert file in capsys.readouterr().out
    assert golden.main(str(folder / "none"), str(folder / "none")) == 1


def _put(path, place, value):
    """Put a value at a place of a table or of findings, or another table there, or nothing."""
    if place is None:
        path.unlink() if value is None else value.to_parquet(path)
        return
    column, row = place
    if path.suffix == ".json":
        findings = json.loads(path.read_text())
        findings[row][column] = value
        path.write_text(json.dumps(findings))
    else:
        table = METRICS.copy()
        table.loc[row, column] = value
        table.to_parquet(path)
