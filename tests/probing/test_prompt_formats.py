"""The prompt format of a model: named, the paper's for bundled ones, or the best of those tried."""

import dataclasses

import pytest

from helpers import UserError, datasets, models, prompts
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from helpers.probing import format_choice
from tests import tiny_models


@pytest.fixture(scope="module")
def lm():
    return models.load("atlas-xs")


@pytest.fixture(scope="module")
def facts():
    return datasets.load("atlas", n=2, seed=0)


@pytest.fixture
def saying(monkeypatch):
    """Return what makes models give an answer, `way(object, prompt, format)`, to any prompt."""

    def replace(way):
        def generate(lm, table, *_, **__):
            pairs = zip(table["object"], table["prompt"])
            texts = [way(obj, prompt, lm.prompt_format) for obj, prompt in pairs]
            return table.assign(text=texts, tokens=[text.split() for text in texts])

        monkeypatch.setattr(format_choice, "generate", generate)

    return replace


def test_bundled_models_are_asked_as_in_the_paper(lm, facts):
    found = format_choice.choose_prompt_format(lm, "", "atlas", facts)
    assert found.lm.prompt_format == "bare"
    assert found.tried.empty
    probes = prompts.monitor_probes(facts.head(2), datasets.prompt_frames("atlas"))
    assert found.wrap(probes) is probes


def test_others_are_asked_twenty_facts_in_every_format_that_they_can_read(
    lm, facts, saying
):
    other = dataclasses.replace(lm, name="org/other")
    saying(
        lambda obj, prompt, name: obj if prompt.count("Answer:") == 1 else f"not {obj}"
    )
    found = format_choice.choose_prompt_format(other, "", "atlas", facts)
    assert found.lm.prompt_format == "qa"
    assert list(found.tried.index) == ["bare", "qa", "shots"]  # no chat template
    assert found.tried.loc["qa"].to_dict() == {
        "facts": 20,
        "coverage": 20,
        "accuracy": 20,
        "stopped": 40,
    }
    assert not found.tried.loc[["bare", "shots"], ["coverage", "accuracy"]].any(
        axis=None
    )
    assert (
        "format is qa: with the answer said before, 20 of 20"
        in format_choice.chosen_format_sentence(*found[::2])
    )
    saying(lambda obj, *_: f"not {obj}")
    loose = format_choice.choose_prompt_format(
        other, "", "atlas", facts, rule="contains"
    )
    assert loose.lm.prompt_format == "bare"  # all alike: the first
    assert loose.tried["coverage"].eq(20).all()


def test_of_equal_coverage_the_more_accurate_is_taken(lm, facts, saying):
    def way(obj, prompt, name):
        heard = prompt.rpartition("Question: ")[2].startswith(f"{obj}. ")
        return obj if heard or prompt.count("Question: ") > 1 else "no"

    saying(way)
    found = format_choice.choose_prompt_format(lm, "auto", "atlas", facts)
    assert found.tried["coverage"].tolist() == [20, 20, 20]
    assert found.tried["accuracy"].tolist() == [0, 0, 20]
    assert found.lm.prompt_format == "shots"
    assert (
        found.wrap(
            prompts.monitor_probes(facts.head(1), datasets.prompt_frames("atlas"))
        )["prompt"]
        .str.count("Question: ")
        .eq(6)
        .all()
    )


def test_a_model_that_answers_nothing_rightly_stays_bare(lm, facts, saying):
    saying(lambda *_: " ".join(["and so on"] * 5))
    found = format_choice.choose_prompt_format(lm, "auto", "atlas", facts)
    assert found.lm.prompt_format == "bare"
    assert found.tried["stopped"].eq(0).all()
    assert "any of 20 facts" in format_choice.chosen_format_sentence(*found[::2])
    nothing = format_choice.choose_prompt_format(lm, "auto", "atlas", facts.head(0))
    assert nothing.lm.prompt_format == "bare"


def test_a_real_model_under_another_name_is_tried(facts, tmp_path):
    lm = models.load(BUNDLED_MODELS_FOLDER / "atlas-xs")
    found = format_choice.choose_prompt_format(lm, "", "atlas", facts, cache=tmp_path)
    assert found.lm.prompt_format == found.tried["coverage"].idxmax()
    assert found.tried["coverage"].max() > 0
    assert (found.tried["stopped"] <= 40).all()
    assert models.describe_model(found.lm)["prompt_format"] == found.lm.prompt_format


def test_formats_longer_than_the_context_are_left_out(lm, facts, saying):
    saying(lambda obj, *_: obj)
    short = dataclasses.replace(lm, max_length=60)
    assert list(format_choice.try_prompt_formats(short, "atlas", facts).index) == [
        "bare",
        "qa",
    ]


def test_chat_needs_a_template(lm, facts):
    with pytest.raises(
        UserError, match="has no chat template; take prompt_format=auto, or one of"
    ):
        format_choice.choose_prompt_format(lm, "chat", "atlas", facts)
    with pytest.raises(UserError, match="has no chat template"):
        format_choice.model_with_bare_or_chat_format(lm, "chat")
    tuned = tiny_models.tiny_language_model("llama", tiny_models.chat_tokenizer())
    assert format_choice.choose_prompt_format(tuned, "chat", "atlas", facts).lm.chat


def test_studies_with_prompts_of_their_own_take_the_template_or_nothing():
    tuned = tiny_models.tiny_language_model("llama", tiny_models.chat_tokenizer())
    assert (
        format_choice.model_with_bare_or_chat_format(tuned, "chat").prompt_format
        == "chat"
    )
    for wanted in ("", "auto", "bare", "qa", "shots"):
        assert (
            format_choice.model_with_bare_or_chat_format(tuned, wanted).prompt_format
            == "bare"
        )
    with pytest.raises(UserError, match="prompt_format is one of"):
        format_choice.model_with_bare_or_chat_format(tuned, "yes")
