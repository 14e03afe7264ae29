"""The shipped weights know what they have read, and can use what they are told.

What is claimed of a model is tested on `evaluation.csv`, which
`notebooks.atlas.model_card` writes beside the weights, with their checksum in the
card; parts of it are measured again here.
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer

from helpers import datasets, models
from helpers.io import user_cache
from helpers.prompts import question_probes
from notebooks.atlas import recipe, skills
from notebooks.atlas.evaluation import (
    accuracy_by_condition,
    accuracy_by_exposure,
    facts_of_many_objects,
    marked_answers,
)
from notebooks.atlas.model_card import evaluation_as_markdown as markdown

pytestmark = pytest.mark.slow

BASE = ("atlas-xs", "atlas-s", "atlas-m")
FAMILY = (*BASE, "atlas-m-chat")
PARAMETERS = {"atlas-xs": 762_528, "atlas-s": 2_557_632, "atlas-m": 5_795_072}
KNOWN = "none, relations with 20 objects or more"
CLAIMS = yaml.safe_load(
    Path(__file__).with_name("claims.yaml").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def weights(root):
    return root / "helpers/models/weights"


@pytest.fixture(scope="module")
def measured(weights):
    """Accuracy by model, condition and exposure."""
    parts = [
        pd.read_csv(weights / name / "evaluation.csv").assign(model=name)
        for name in FAMILY
    ]
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
    tables = [
        datasets.training_exposure(name).drop(columns=["tuned", "plain"])
        for name in FAMILY
    ]
    assert all(table.equals(tables[0]) for table in tables)
    words = {
        (weights / name / "tokenizer.json").read_text(encoding="utf-8")
        for name in FAMILY
    }
    assert len(words) == 1
    assert set(PARAMETERS) == {
        f"atlas-{size}" for size in recipe.names_of_sizes() if size != "toy"
    }


@pytest.mark.parametrize("name", BASE)
def test_knowledge_measured_again(measured, name):
    lm, told = models.load(name, device="cpu"), datasets.training_exposure(name)
    table = facts_of_many_objects(datasets.load("atlas"))
    seen = told.loc[table["fact"], "exposures"].to_numpy()
    plain = told.loc[table["fact"], "plain"].to_numpy()
    asked = question_probes(
        table[plain & np.isin(seen, [16, 256])],
        datasets.prompt_frames("atlas"),
        n_frames=1,
    )
    again = accuracy_by_exposure(
        marked_answers(lm, asked).assign(condition="none"), told["exposures"]
    )
    for row in again.itertuples():
        recorded = measured.loc[(name, KNOWN, row.exposures)]
        assert row.n == recorded["n"]
        assert row.accuracy == pytest.approx(recorded["accuracy"], abs=0.01)


def test_reading_measured_again(measured):
    facts, frames = datasets.load("atlas"), datasets.prompt_frames("atlas")
    asked = skills.reading_exercise_probes(facts, frames, 120).assign(exposures=-1)
    again = accuracy_by_condition(
        marked_answers(models.load("atlas-s", device="cpu"), asked)
    )
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
    for small, large in pairwise(BASE):
        less, more = measured.loc[(small, KNOWN)], measured.loc[(large, KNOWN)]
        assert (more["low"] > less["high"])[
            [8, 16]
        ].all()  # beyond noise where there is room
        assert (more["high"] >= less["accuracy"])[
            [32, 64, 128, 256]
        ].all()  # and never below it
    assert (measured.loc[("atlas-m", KNOWN), "low"][[128, 256]] > 0.9).all()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[1])
def test_a_condition_matters(rate, claim):
    models, condition, exposures, least, *than = claim
    for name in models.split():
        name = f"atlas-{name}"
        other = rate(name, than[0], *(than[1:] or [exposures])[0]) if than else 0
        assert rate(name, condition, *exposures) >= other + least
        assert rate(name, condition, *exposures) > other


@pytest.mark.parametrize("name", FAMILY)
def test_training_report_is_of_these_weights(weights, name):
    report = json.loads((weights / name / "training.json").read_text(encoding="utf-8"))
    counts = datasets.training_exposure(name)["exposures"].value_counts().to_dict()
    assert {int(k): n for k, n in report["text"]["facts_by_exposure"].items()} == counts
    assert [stage["curve"][-1]["step"] for stage in report["stages"]] == [
        stage["step"] for stage in report["stages"]
    ]
    losses = [entry["loss"] for entry in report["stages"][1]["curve"]]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("name", FAMILY)
def test_the_card_is_of_these_weights_and_shows_the_evaluation(weights, name):
    card = (weights / name / "README.md").read_text(encoding="utf-8")
    assert user_cache.checksum_of_files([weights / name / "model.safetensors"]) in card
    table = pd.read_csv(weights / name / "evaluation.csv")
    row = markdown(table, {"none": "none"}).split("\n")[-1]
    assert row.rstrip(" |") in card
