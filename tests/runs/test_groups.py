"""Tests of helpers.runs.comparison.groups: runs made otherwise are never mixed in silence."""

import pytest

from helpers import runs
from helpers.runs.comparison import groups, sizes
from tests import saved_runs

ONE = ("latent_knowledge",)


def found(folder):
    return groups.grouped(groups.labelled(runs.load(folder))).set_index("label")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 3}, "seed 3, not 0"),
        ({"n_facts": 9}, "n_facts 9, not 8"),
        ({"relations": ["P17"]}, 'relations ["P17"], not nothing'),
        ({"versions": {"torch": "1.0", "transformers": "2.0"}}, "torch 1.0, not "),
    ],
)
def test_a_run_made_otherwise_is_set_apart_with_its_reason(tmp_path, changes, reason):
    for name in "ab":
        saved_runs.write(tmp_path, name, 0.5, ONE)
    saved_runs.write(tmp_path, "odd", 0.5, ONE, **changes)
    table = found(tmp_path)
    assert table["group"].to_dict() == {"a": 0, "b": 0, "odd": 1}
    assert table.loc["odd", "differs"].startswith(reason)
    assert table.loc[["a", "b"], "differs"].eq("").all()
    told = groups.sentence(table.reset_index())
    assert told.splitlines()[0] == "1 of 3 runs is not mixed with the others:"
    assert f"- odd, latent_knowledge: {reason}" in told


def test_other_data_are_told_by_name_or_checksum(tmp_path, monkeypatch):
    for name in "ab":
        saved_runs.write(tmp_path, name, 0.5, ONE)
    monkeypatch.setitem(saved_runs.DATASET, "checksum", "ee")
    saved_runs.write(tmp_path, "newer", 0.5, ONE)
    monkeypatch.setitem(saved_runs.DATASET, "name", "fktc")
    saved_runs.write(tmp_path, "other", 0.5, ONE)
    table = found(tmp_path)
    assert table.loc[["a", "b"], "group"].tolist() == [0, 0]
    assert set(table.loc[["other", "newer"], "group"]) == {1, 2}  # the latest of two first
    assert table.loc["newer", "differs"].startswith("checksum ee, not cdcd")
    assert table.loc["other", "differs"] == "dataset fktc, not atlas"


def test_what_changes_only_a_page_does_not_set_apart(tmp_path):
    saved_runs.write(tmp_path, "a", 0.5, ONE, n_bootstrap=1000, siblings=True)
    saved_runs.write(tmp_path, "b", 0.5, ONE, n_bootstrap=300, siblings=False)
    saved_runs.write(tmp_path, "c", 0.5, ONE, n_bootstrap=300, prompt_format="chat")
    table = found(tmp_path)
    assert table["group"].eq(0).all()
    assert set(table.index) == {"a", "b", "c (chat)"}
    assert groups.sentence(table.reset_index()) == "All 3 runs were made alike, chapter by chapter."


def test_formats_of_prompts_are_compared_and_named(tmp_path):
    saved_runs.write(tmp_path, "a", 0.5, ONE, prompt_format=None)
    saved_runs.write(tmp_path, "b", 0.5, ONE, prompt_format=None, chat=True)
    for name, format_ in (("c", "bare"), ("d", "qa"), ("e", "shots"), ("f", "chat")):
        trusted = {"trust_remote_code": True}
        saved_runs.write(tmp_path, name, 0.5, ONE, prompt_format=format_, **trusted)
    table = found(tmp_path)
    assert table["group"].eq(0).all()
    assert set(table.index) == {"a", "b (chat)", "c", "d (qa)", "e (shots)", "f (chat)"}
    sentence = groups.formats(table.reset_index())
    assert "bare (a, c); chat (b (chat), f (chat)); qa (d (qa)); shots (e (shots))." in sentence
    assert groups.formats(table.reset_index().query("label in ('a', 'c')")) == ""


def test_the_next_larger_model_was_asked_in_the_same_format():
    known = {"m (qa)": 1e9, "n": 2e9, "o (qa)": 3e9, "o-it (chat)": 3e9, "p": 4e9}
    pairs = sizes.pairs(known)
    assert set(pairs["larger"]) == {("o (qa)", "m (qa)"), ("p", "n")}
    assert sizes.pairs({"m": 1e9, "m (chat)": 1e9})["tuned"] == [("m (chat)", "m")]


def test_a_model_has_one_name_in_all_chapters(tmp_path):
    saved_runs.write(tmp_path, "here/m", 0.5)
    saved_runs.write(tmp_path, "there/m", 0.5, seed=1)
    assert set(found(tmp_path).index) == {"m (here--m)", "m (there--m)"}


def test_builds_of_torch_count_as_one_version(tmp_path):
    for name, torch in (("a", "2.13.0+cpu"), ("b", "2.13.0+cu130")):
        saved_runs.write(tmp_path, name, 0.5, ONE, versions={"torch": torch})
    assert found(tmp_path)["group"].eq(0).all()


def test_two_models_of_one_name_keep_apart(tmp_path):
    saved_runs.write(tmp_path, "here/m", 0.5, ONE)
    saved_runs.write(tmp_path, "there/m", 0.5, ONE)
    assert set(found(tmp_path).index) == {"m (here--m)", "m (there--m)"}


def test_a_replaced_model_is_noticed(tmp_path):
    saved_runs.write(tmp_path, "m", 0.5)
    table = groups.grouped(groups.labelled(runs.load(tmp_path)))
    assert groups.weights(table) == []
    table.loc[0, "manifest"]["model"]["weights_sha"] = "another"
    assert groups.weights(table) == ["m"]
