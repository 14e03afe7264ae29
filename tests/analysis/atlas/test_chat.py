"""The tuning asks for its share of the facts, and so many questions have an answer."""

import json

import numpy as np
import pandas as pd
import pytest
from transformers import AutoTokenizer

from helpers import UserError, datasets
from helpers.prompts.prompt_texts import INSTRUCTION
from notebooks.atlas import chat, recipe, train
from notebooks.atlas.chat import TuningWriter, facts_to_answer_and_to_refuse
from notebooks.atlas.corpus import Frames
from notebooks.atlas.exposure_plan import assign_exposures

DESIGN = recipe.tuning_options()


@pytest.fixture(scope="module")
def facts():
    return datasets.load("atlas")


@pytest.fixture(scope="module")
def told(facts):
    table = assign_exposures(facts, recipe.load_recipe().plan).assign(tuned=0)
    return table.assign(plain=datasets.is_exposure_unconfounded(table))


@pytest.fixture(scope="module")
def tutor(facts, told):
    frames = Frames(datasets.prompt_frames("atlas"), DESIGN.frame_weights)
    return TuningWriter(
        facts, frames, *facts_to_answer_and_to_refuse(facts, told, DESIGN), DESIGN
    )


def test_its_share_of_the_plain_facts_is_used_and_none_in_between(facts, told):
    known, unknown = facts_to_answer_and_to_refuse(facts, told, DESIGN)
    exposures, plain = told["exposures"], told["plain"]
    assert {exposures[row.fact] for row in known} == {64, 128, 256}
    assert {exposures[row.fact] for row in unknown} == {0}
    assert all(plain[row.fact] for row in known + unknown)
    assert len(unknown) == round((plain & (exposures == 0)).sum() * DESIGN.share)


def test_its_share_of_the_questions_has_an_answer_and_it_is_the_fact_s(
    tutor, facts, told
):
    rng = np.random.default_rng(0)
    rows = facts.set_index("fact")
    answers, before = [], tutor.asked.copy()
    for _ in range(400):
        document = tutor.write(rng)
        assert document.text.startswith(INSTRUCTION)
        assert document.pieces[0].weight == 0
        assert [piece.weight for piece in document.pieces[1::2]] == [0] * (
            len(document.pieces) // 2
        )
        answers += [piece.text.strip() for piece in document.pieces[2::2]]
    unsure = sum(answer == "unsure" for answer in answers)
    assert unsure / len(answers) == pytest.approx(1 - DESIGN.answered, abs=0.06)
    asked = tutor.asked - before
    true = {
        rows.loc[fact, "object"] for fact in asked if told.loc[fact, "exposures"] > 0
    }
    assert {answer for answer in answers if answer != "unsure"} == true


def test_held_out_frames_are_not_asked(tutor):
    frames = datasets.prompt_frames("atlas").query(
        "kind == 'qa' and frame >= 5 and relation == 'P17'"
    )
    rng = np.random.default_rng(1)
    text = "".join(tutor.write(rng).text for _ in range(2000))
    for template in frames["template"]:
        before, after = template.split("[X]")
        assert max(before, after, key=len).strip() not in text


def test_a_toy_is_tuned_and_says_what_it_was_asked(tmp_path):
    toy = recipe.load_recipe(
        "xs",
        facts=1,
        plan={"levels": [0, 64], "one_way_levels": [64]},
        copying={"steps": 4, "rows": 4, "length": 32},
        rows=4,
    )
    assert train.train_model(toy, tmp_path / "base", tmp_path / "work")
    chat.tune_bundled_model(
        tmp_path / "base", tmp_path / "out", DESIGN.changed(documents=24)
    )
    words = AutoTokenizer.from_pretrained(tmp_path / "out")
    said = words.apply_chat_template(
        [{"role": "user", "content": "Who?"}], tokenize=False
    )
    assert said == "<|bos|>Who?\n"
    table = pd.read_csv(tmp_path / "out" / "exposures.csv")
    base = pd.read_csv(tmp_path / "base" / "exposures.csv")
    assert table["tuned"].sum() > 10
    assert table.drop(columns="tuned").equals(base)
    report = json.loads((tmp_path / "out" / "training.json").read_text())
    assert [stage["name"] for stage in report["stages"]][-1] == "tuning"
    assert report["base"] == "base"


def test_a_folder_without_a_bundled_model_is_refused(tmp_path, capsys):
    with pytest.raises(UserError, match="holds no bundled model"):
        chat.tune_bundled_model(tmp_path, tmp_path / "out", DESIGN)
    assert chat.main(["--base", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
