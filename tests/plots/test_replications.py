"""Findings in other models: collected from runs, kept, and shown beneath a sentence."""

import json

import pandas as pd
import pytest

from helpers import UserError
from notebooks.kit import findings, replications


def write_run(folder, model, estimate, chapter="monitor", dataset="atlas"):
    """Write what a finished run leaves of its findings."""
    place = folder / model / chapter
    place.mkdir(parents=True)
    manifest = {
        "chapter": chapter,
        "parameters": {"model": model, "dataset": dataset, "seed": 0},
        "model": {"weights_sha": "0123456789abcdef"},
        "versions": {"torch": "2.13.0"},
    }
    (place / "run.json").write_text(json.dumps(manifest))
    low, high = estimate - 0.1, estimate + 0.1
    finding = findings.finding_of_claim(
        "wrong_word_costs_accuracy",
        (estimate, low, high, 90),
        holds="More.",
        opposite="Less.",
        undecided="Who knows.",
    )
    rows = [vars(finding) | {"sentence": finding.sentence}]
    (place / "findings.json").write_text(json.dumps(rows))
    return place


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Keep what two models found, in place of the table of the project."""
    path = tmp_path / "kept.csv"
    write_run(tmp_path / "runs", "one", 0.2)
    write_run(tmp_path / "runs", "two", -0.05)
    found = replications.findings_of_runs(tmp_path / "runs")
    replications.keep_findings(found, path)
    monkeypatch.setattr(replications, "REPLICATIONS_FILE", path)
    return replications.load_replications()


def test_what_runs_found_is_a_row_a_model(kept):
    assert kept["model"].tolist() == ["one", "two"]
    assert kept["decision"].tolist() == ["holds", "undecided"]
    assert (
        kept["weights"].tolist() == ["01234567", "01234567"]
        or (kept["weights"] == "01234567").all()
    )


def test_a_new_run_takes_the_place_of_the_same_models(tmp_path, kept):
    path = tmp_path / "kept.csv"
    write_run(tmp_path / "again", "two", -0.3)
    replications.keep_findings(replications.findings_of_runs(tmp_path / "again"), path)
    table = pd.read_csv(path).set_index("model")["decision"]
    assert table.to_dict() == {"one": "holds", "two": "opposite"}


def test_a_model_is_not_its_own_replication(tmp_path, kept):
    others = replications.findings_in_other_models(tmp_path / "runs/one/monitor")
    assert others["model"].tolist() == ["two"]


def test_another_data_set_is_no_replication(tmp_path, kept):
    place = write_run(tmp_path / "own", "three", 0.2, dataset="fktc")
    assert replications.findings_in_other_models(place).empty


def test_a_run_that_asked_no_model_has_none(tmp_path):
    assert replications.findings_in_other_models(tmp_path).empty
    with pytest.raises(UserError, match="No finished run"):
        replications.findings_of_runs(tmp_path)


def test_the_opening_shows_each_models_number_in_the_claims_own_unit(
    tmp_path, kept, monkeypatch
):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda html, **_: shown.append(html.data)
    )
    place = write_run(tmp_path / "own", "three", 0.2)
    found = findings.Findings("monitor")
    found("wrong_word_costs_accuracy", (0.2, 0.1, 0.3, 90), who="three", any_word="4")
    found.summary(place)
    strip = "one: the same, 20.0 [10.0, 30.0] points; two: cannot tell, -5.0"
    assert strip in shown[0]
    assert "on the same data set" in shown[0]
    assert "looked at" not in shown[0]  # neither was


def test_a_strangers_name_is_escaped():
    row = {"model": "<b>", "decision": "undefined", "estimate": 0, "low": 0, "high": 0}
    assert "<b>" not in replications.strip_html(pd.DataFrame([row]), "holds")


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        ("holds", "holds", "the same"),
        ("opposite", "opposite", "the same"),
        ("holds", "opposite", "the opposite"),
        ("opposite", "holds", "the opposite"),
        ("undecided", "opposite", "decided there"),
        ("holds", "undecided", "cannot tell"),
        ("holds", "equivalent", "no difference"),
        ("holds", "undefined", "not measurable"),
    ],
)
def test_what_another_model_says_is_relative_to_the_sentence(own, other, said):
    assert replications.answer_of_other_model(own, other) == said


def test_numbers_are_turned_round_with_the_sentence():
    row = {"model": "m", "decision": "opposite", "estimate": -0.1, "low": -0.2}
    table = pd.DataFrame([row | {"high": -0.05}])
    assert "10.0 [5.0, 20.0] points" in replications.strip_html(table, "opposite")
    against = replications.strip_html(table, "opposite", null=0.5)
    assert "-10.0 [-20.0, -5.0] points against 50" in against


def test_what_a_paper_says_is_no_finding_of_a_model(tmp_path):
    place = write_run(tmp_path, "one", 0.2)
    path = place / "findings.json"
    text = path.read_text().replace("wrong_word_costs_accuracy", "larger_holds_smaller")
    path.write_text(text)
    with pytest.raises(UserError, match="No finished run"):
        replications.findings_of_runs(tmp_path)


def test_every_kept_claim_is_one_of_its_chapter_and_every_run_says_what_it_is():
    table = replications.load_replications()
    for row in table.itertuples():
        assert row.claim in findings.claim_wordings(row.chapter), row.claim
    assert table[["weights", "torch", "seed", "n"]].notna().all(axis=None)
