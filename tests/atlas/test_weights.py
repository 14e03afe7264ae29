"""The shipped weights know what they have read, and can use what they are told."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from helpers import datasets, models
from helpers.atlas.evaluate import answer, by_exposure, conditions, many_objects, markdown
from helpers.prompts import questions

N = 130  # facts for each exposure, where not all are asked


@pytest.fixture(scope="module")
def folder(root):
    return root / "helpers/weights/atlas-s"


@pytest.fixture(scope="module")
def lm():
    return models.load("atlas-s", device="cpu")


@pytest.fixture(scope="module")
def exposures():
    return datasets.exposures("atlas-s")


@pytest.fixture(scope="module")
def facts(exposures):
    """All never-read and most-read facts of the larger relations, and some of the others."""
    table = many_objects(datasets.load("atlas"))
    table = table.iloc[np.random.default_rng(0).permutation(len(table))]
    seen = exposures.loc[table["fact"]].to_numpy()
    ends = table[(seen == 0) | (seen == 256)]
    between = table[(seen > 0) & (seen < 256)]
    return pd.concat([ends, between.groupby(seen[(seen > 0) & (seen < 256)]).head(N)])


@pytest.fixture(scope="module")
def base(lm, facts, exposures):
    asked = questions(facts, datasets.frames("atlas"), n_frames=1)
    return by_exposure(answer(lm, asked.assign(condition="none")), exposures).set_index("exposures")


@pytest.fixture(scope="module")
def told(lm, facts, exposures):
    some = facts[exposures.loc[facts["fact"]].isin([8, 32, 64, 128]).to_numpy()]
    asked = conditions(some, datasets.frames("atlas"))
    return by_exposure(answer(lm, asked), exposures).pivot_table(
        "accuracy", "condition", "exposures"
    )


def test_loads_from_the_folder_alone(folder):
    llama = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    words = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert llama.config.model_type == "llama"
    assert llama.dtype == torch.bfloat16
    assert len(words) == llama.config.vocab_size == 4096
    assert (words.bos_token_id, words.eos_token_id, words.pad_token_id) == (0, 1, 2)
    assert words("France. Which country is Lyon in?")["input_ids"].count(0) == 1
    assert not llama.generation_config.do_sample
    assert sum(weights.numel() for weights in llama.parameters()) == 2_557_632
    assert (folder / "model.safetensors").stat().st_size < 6e6


def test_facts_read_256_times_are_known(base):
    assert base.loc[256, "n"] > 500
    assert base.loc[256, "low"] > 0.8


def test_facts_never_read_are_not_known(base):
    assert base.loc[0, "n"] > 1000
    assert base.loc[0, "high"] < 0.1


def test_knowledge_rises_with_exposure(base):
    accuracy = base["accuracy"]
    steps = [accuracy[[1, 2]].mean(), accuracy[[4, 8]].mean(), accuracy[16], accuracy[64]]
    assert (np.diff([accuracy[0], *steps]) > 0).all()
    assert accuracy[64] > accuracy[4] + 0.4


def test_the_right_word_helps_and_a_wrong_one_hurts(told):
    helped = told.loc["right"] - told.loc["none"]
    hurt = told.loc["none"] - told.loc["wrong"]
    assert helped[8] > 0.15
    assert (helped >= 0).all()
    assert hurt[[32, 64, 128]].mean() > 0.1


def test_most_objects_are_given_after_the_right_word(lm, facts, exposures):
    evenly = facts.sample(400, random_state=0)
    asked = questions(evenly, datasets.frames("atlas"), contexts=("right",), n_frames=1)
    assert answer(lm, asked)["right"].mean() > 0.6


def test_training_report_is_of_these_weights(folder, exposures):
    report = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    counts = exposures.value_counts().to_dict()
    assert {int(k): n for k, n in report["text"]["facts_by_exposure"].items()} == counts
    assert [stage["curve"][-1]["step"] for stage in report["stages"]] == [
        stage["step"] for stage in report["stages"]
    ]
    losses = [entry["loss"] for entry in report["stages"][1]["curve"]]
    assert losses[-1] < losses[0] / 2


def test_evaluation_beside_the_weights_is_of_these_weights(folder, base, told):
    table = pd.read_csv(folder / "evaluation.csv")
    alone = table[table["condition"] == "none, relations with 20 objects or more"]
    recorded = alone.set_index("exposures")["accuracy"]
    for seen in (0, 256):
        assert base.loc[seen, "accuracy"] == pytest.approx(recorded[seen], abs=0.01)


def test_the_page_shows_the_evaluation(root, folder):
    page = (root / "book/model_card.md").read_text(encoding="utf-8")
    table = pd.read_csv(folder / "evaluation.csv")
    told = ["none", "right", "wrong", "wrong word given", "irrelevant"]
    reworded = ["question, base", "question, trained", "question, held out"]
    reworded += ["sentence, base", "sentence, held out"]
    for names in (told, reworded, ["check, true", "check, false", "check, both"]):
        rows = markdown(table, {name: name for name in names}).split("\n")[2:]
        assert len(rows) == 10
        assert all(row in page for row in rows)
