"""Adapters are merged into their base models, and what is wrong with one is one sentence."""

import hashlib
import json
import shutil

import peft
import pytest
import torch
from safetensors.torch import load_file

from helpers import UserError, models
from tests import tiny_models


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("base") / "llama")


def adapted_model(base, config):
    """Return a model with an adapter whose weights are random, none of them zero."""
    model = peft.get_peft_model(models.load(base, device="cpu").model, config)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.3)
    return model.eval()


LORA = peft.LoraConfig(target_modules=["q_proj", "up_proj"], r=4, lora_alpha=8)


@pytest.fixture(scope="module")
def lora(base):
    return adapted_model(base, LORA)


@pytest.fixture
def folder(base, lora, tmp_path):
    lora.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


def settings_of(folder, **changes):
    file = folder / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@torch.no_grad()
def test_an_adapter_gives_the_logits_of_peft(base, lora, folder):
    lm, ids = models.load(folder, device="cpu"), torch.arange(5, 25)[None]
    wanted = lora(input_ids=ids).logits
    assert (lm.model(input_ids=ids).logits - wanted).abs().max() < 1e-4
    assert (
        models.load(base, device="cpu").model(input_ids=ids).logits - wanted
    ).abs().max() > 0.1
    assert (
        type(lm.model).__name__ == "LlamaForCausalLM"
    )  # merged, so it is packed as its base is


def test_base_and_adapter_are_both_in_the_checksum(base, folder):
    lm = models.load(folder, device="cpu")
    files = (base / "model.safetensors", folder / "adapter_model.safetensors")
    whole = b"".join(file.read_bytes() for file in files)
    assert lm.weights_sha == hashlib.sha256(whole).hexdigest()
    assert models.describe_model(lm)["base"] == str(base)
    assert models.describe_model(models.load(base, device="cpu"))["base"] is None
    assert lm.n_parameters == models.load(base, device="cpu").n_parameters


def test_the_tokenizer_beside_an_adapter_is_taken(folder):
    tiny_models.chat_tokenizer().save_pretrained(folder)
    assert models.load(folder, device="cpu", chat=True).chat


def test_an_adapter_that_changes_no_weights_is_refused(base, tmp_path):
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    adapted_model(base, config).save_pretrained(tmp_path / "prompt")
    with pytest.raises(UserError, match=r"\(PROMPT_TUNING\) cannot be merged"):
        models.load(tmp_path / "prompt", device="cpu")


def test_a_whole_model_beside_an_adapter_is_the_model(base, folder):
    for file in base.iterdir():
        shutil.copy(file, folder)
    assert models.describe_model(models.load(folder, device="cpu"))["base"] is None


def pickled(folder):
    torch.save(
        load_file(folder / "adapter_model.safetensors"), folder / "adapter_model.bin"
    )
    (folder / "adapter_model.safetensors").unlink()


def based(base):
    """Return what gives an adapter another base: a family, a path, or none."""

    def change(folder):
        other = (
            tiny_models.save_tiny_model(folder.parent / base, base)
            if base == "gpt2"
            else base
        )
        settings_of(folder, base_model_name_or_path=other and str(other))

    return change


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            based("./gone"),
            r"adapter of .*gone, which cannot be used: There is no folder",
        ),
        (based(None), "names no base model; write"),
        (based("gpt2"), "does not fit its base model"),
        (pickled, "pickles only"),
    ],
)
def test_what_is_wrong_with_an_adapter_is_one_sentence(folder, spoil, sentence):
    spoil(folder)
    with pytest.raises(UserError, match=sentence):
        models.load(folder, device="cpu")


def test_adapters_in_a_circle_are_refused(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    settings_of(folder, base_model_name_or_path=str(other))
    settings_of(other, base_model_name_or_path=str(folder))
    for place in (folder, other):
        with pytest.raises(UserError, match="is an adapter itself; merge it"):
            models.load(place, device="cpu")
    settings_of(folder, base_model_name_or_path=str(folder))
    with pytest.raises(UserError, match="is an adapter itself; merge it"):
        models.load(folder, device="cpu")


def test_an_adapter_of_a_larger_or_smaller_base_is_refused(folder, tmp_path):
    for layers in (1, 3):
        place = tmp_path / str(layers)
        tokenizer = tiny_models.byte_tokenizer("bos")
        tokenizer.save_pretrained(place)
        size = len(tokenizer)
        tiny_models.tiny_network(
            "llama", vocab_size=size, num_hidden_layers=layers
        ).save_pretrained(place)
        settings_of(folder, base_model_name_or_path=str(place))
        with pytest.raises(UserError, match="does not fit its base model"):
            models.load(folder, device="cpu")
