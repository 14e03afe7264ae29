"""The shipped weights know what they have read, and can use what they are told.

What is claimed of a model is tested on `evaluation.csv`, which
`notebooks.analysis.atlas.card` writes beside the weights, with their checksum in the card; parts of
it are measured again here.
"""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from helpers import datasets, models
from helpers.datasets import download
from helpers.prompts import questions
from notebooks.analysis.atlas import recipe, skills
from notebooks.analysis.atlas.card import measured as markdown
from notebooks.analysis.atlas.evaluate import answer, by_exposure, many_objects, shares

pytestmark = pytest.mark.slow

BASE = ("atlas-xs", "atlas-s", "atlas-m")
FAMILY = (*BASE, "atlas-m-chat")
PARAMETERS = {"atlas-xs": 762_528, "atlas-s": 2_557_632, "atlas-m": 5_795_072}
KNOWN = "none, relations with 20 objects or more"


@pytest.fixture(scope="module")
def weights(root):
    return root / "helpers/models/weights"


@pytest.fixture(scope="module")
def measured(weights):
    """Accuracy by model, condition and exposure."""
    parts = [pd.read_csv(weights / name / "evaluation.csv").assign(model=name) for name in FAMILY]
    table = pd.concat(parts).set_index(["model", "condition", "exposures"]).sort_index()
    return table


@pytest.fixture(scope="module")
def rate(measured):
    def rate(model, condition, *exposures):
        rows = measured.loc[(model, condition, list(exposures)), :]
        assert len(rows) == len(exposures)
        return float(np.average(rows["accuracy"], weights=rows["n"]))

    return rate


@pytest.mark.parametrize("name", FAMILY)
def test_loads_from_the_folder_alone(weights, name):
    folder = weights / name
    llama = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    words = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert llama.config.model_type == "llama"
    assert llama.config.max_position_embeddings == 2048
    assert llama.dtype == torch.bfloat16
    assert len(words) == llama.config.vocab_size == 4096
    assert (words.bos_token_id, words.eos_token_id, words.pad_token_id) == (0, 1, 2)
    assert words("France. Which country is Lyon in?")["input_ids"].count(0) == 1
    assert not llama.generation_config.do_sample
    total = sum(value.numel() for value in llama.parameters())
    assert total == PARAMETERS[name.removesuffix("-chat")]
    assert bool(words.chat_template) == name.endswith("-chat")


def test_the_family_is_small_and_of_one_text(weights):
    files = [path for path in weights.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40e6
    tables = [datasets.training(name).drop(columns=["tuned", "plain"]) for name in FAMILY]
    assert all(table.equals(tables[0]) for table in tables)
    words = {(weights / name / "tokenizer.json").read_text(encoding="utf-8") for name in FAMILY}
    assert len(words) == 1
    assert set(PARAMETERS) == {f"atlas-{size}" for size in recipe.sizes() if size != "toy"}


@pytest.mark.parametrize("name", FAMILY)
def test_the_card_and_the_measurements_are_of_these_weights(weights, name):
    sha = download.checksum([weights / name / "model.safetensors"])
    assert sha in (weights / name / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BASE)
def test_knowledge_measured_again(measured, name):
    lm, told = models.load(name, device="cpu"), datasets.training(name)
    table = many_objects(datasets.load("atlas"))
    seen = told.loc[table["fact"], "exposures"].to_numpy()
    plain = told.loc[table["fact"], "plain"].to_numpy()
    asked = questions(table[plain & np.isin(seen, [16, 256])], datasets.frames("atlas"), n_frames=1)
    again = by_exposure(answer(lm, asked).assign(condition="none"), told["exposures"])
    for row in again.itertuples():
        recorded = measured.loc[(name, KNOWN, row.exposures)]
        assert row.n == recorded["n"]
        assert row.accuracy == pytest.approx(recorded["accuracy"], abs=0.01)


def test_reading_measured_again(measured):
    facts, frames = datasets.load("atlas"), datasets.frames("atlas")
    asked = skills.exercises(facts, frames, 120).assign(exposures=-1)
    again = shares(answer(models.load("atlas-s", device="cpu"), asked))
    for row in again.itertuples():
        recorded = measured.loc[("atlas-s", row.condition, -1)]
        assert row.accuracy == pytest.approx(recorded["accuracy"], abs=0.02)


@pytest.mark.parametrize("name", BASE)
def test_knowledge_rises_with_exposure(measured, name):
    curve = measured.loc[(name, KNOWN)]
    assert curve.index.tolist() == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    for seen, more in zip(curve.index, curve.index[1:]):  # never a fall beyond noise
        assert curve.loc[more, "high"] >= curve.loc[seen, "low"]
    assert (np.diff(curve["accuracy"].iloc[[0, 4, 5, 9]]) > 0.03).all()
    assert curve.loc[0, "n"] > 600
    assert curve.loc[0, "high"] < 0.1


def test_larger_models_know_more(measured):
    for small, large in (("atlas-xs", "atlas-s"), ("atlas-s", "atlas-m")):
        for seen in (8, 16):  # beyond noise where there is room
            assert (
                measured.loc[(large, KNOWN, seen), "low"]
                > measured.loc[(small, KNOWN, seen), "high"]
            )
        for seen in (32, 64, 128, 256):  # and never below it
            assert (
                measured.loc[(large, KNOWN, seen), "high"]
                >= measured.loc[(small, KNOWN, seen), "accuracy"]
            )
    for seen in (128, 256):
        assert measured.loc[("atlas-m", KNOWN, seen), "low"] > 0.9


def test_examples_in_a_list_bring_knowledge_out(rate):
    seen = (16, 32, 64, 128, 256)
    alone = rate("atlas-m", "list, 0 examples", *seen)
    shown = [rate("atlas-m", f"list, {n} examples", *seen) for n in (5, 10, 20, 50)]
    assert np.mean(shown) > alone + 0.2
    assert min(shown) > alone + 0.1
    levels = ((0, 1, 2), (8, 16), (64, 128))
    choice = [rate("atlas-m", "choice of 100, list", *few) for few in levels]
    assert choice[2] > 0.3
    assert np.diff(choice).min() > 0.03


@pytest.mark.parametrize("name", ["atlas-s", "atlas-m"])
def test_wordings_matter(rate, name):
    frames = [rate(name, f"frame {number}", 64) for number in range(7)]
    assert max(frames) - min(frames) > 0.1
    trained, held_out = np.mean(frames[:5]), np.mean(frames[5:])
    assert 0.2 < held_out < trained - 0.1


@pytest.mark.parametrize("name", ["atlas-s", "atlas-m"])
def test_words_before_the_question_matter(rate, name):
    alone, hinted = rate(name, "none", 8, 16, 32), rate(name, "right", 8, 16, 32)
    assert hinted > alone + (0.15 if name == "atlas-s" else 0.1)
    assert 1 - hinted < (1 - alone) / 3  # atlas-m has little left to put right
    every = [rate(name, f"every wording, {word}", 8, 16, 32) for word in ("none", "right")]
    assert every[1] > every[0] + 0.15
    assert rate(name, "wrong", 32, 64, 128) < rate(name, "none", 32, 64, 128) - 0.1
    given = rate(name, "wrong word given", 0, 1, 2, 4, 8, 16, 32)
    assert given > rate(name, "wrong word given, not shown", 0, 1, 2, 4, 8, 16, 32) + 0.1
    assert rate(name, "unrelated", 8, 16, 32) < rate(name, "none", 8, 16, 32)


@pytest.mark.parametrize("name", ["atlas-s", "atlas-m"])
def test_what_is_told_of_nobody_can_be_read_off(rate, name):
    assert rate(name, "reading, one statement", -1) > 0.85
    assert rate(name, "reading, one statement, held out", -1) > 0.5
    assert rate(name, "reading, a word", -1) > 0.9


@pytest.mark.parametrize("name", ["atlas-s", "atlas-m"])
@pytest.mark.parametrize("size", [4, 5])
def test_options_can_be_chosen_from(rate, name, size):
    assert rate(name, f"choice of {size}, before", 64, 128, 256) > 0.85
    assert rate(name, f"choice of {size}, not shown", 0, 64) > 0  # the control is there


def test_what_should_not_matter_changes_some_answers(rate):
    for kind in ("frame", "order", "options"):
        assert rate("atlas-m", f"changed by {kind}", 8, 16) > 0.1


def test_what_was_shown_one_way_is_not_known_the_other(rate):
    assert rate("atlas-m", "one way, as shown", 16, 64) > 0.5
    assert rate("atlas-m", "one way, reversed", 16, 64) < 0.3


def test_false_objects_are_believed(rate):
    assert rate("atlas-m", "false belief, falsehood given", 64) > 0.5
    assert rate("atlas-m", "false belief, truth given", 64) < 0.1


def test_the_tuned_model_is_unsure_of_what_it_never_read(rate):
    for frames, most in (("used", 0.3), ("kept", 0.3), ("new", 0.45)):
        part = f"chat, unsure, {frames} frames, new facts"
        assert rate("atlas-m-chat", part, 0) >= 0.7
        assert rate("atlas-m-chat", part, 256) <= most  # new: the base itself often fails there
    assert rate("atlas-m-chat", "chat, right, kept frames, new facts", 256) >= 0.8


@pytest.mark.parametrize("name", FAMILY)
def test_training_report_is_of_these_weights(weights, name):
    report = json.loads((weights / name / "training.json").read_text(encoding="utf-8"))
    counts = datasets.training(name)["exposures"].value_counts().to_dict()
    assert {int(k): n for k, n in report["text"]["facts_by_exposure"].items()} == counts
    assert [stage["curve"][-1]["step"] for stage in report["stages"]] == [
        stage["step"] for stage in report["stages"]
    ]
    losses = [entry["loss"] for entry in report["stages"][1]["curve"]]
    assert losses[-1] < losses[0] / 2


def test_a_card_shows_the_evaluation(weights):
    for name in FAMILY:
        table = pd.read_csv(weights / name / "evaluation.csv")
        row = markdown(table, {"none": "none"}).split("\n")[-1]
        assert row.rstrip(" |") in (weights / name / "README.md").read_text(encoding="utf-8")
