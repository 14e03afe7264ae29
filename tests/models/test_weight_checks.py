"""A checkpoint whose weights are not wholly those of its configuration is refused."""

import json
import logging
import shutil

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers import UserError, models
from helpers.models import weight_checks
from helpers.probing import score
from tests import tiny_models

PROBE = pd.DataFrame({"prompt": ["Lyon is in"], "continuation": " France"})


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture
def folder(llama, tmp_path):
    """Return a copy that a test may spoil."""
    return shutil.copytree(llama, tmp_path / "copy")


def settings_of(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def change_weights(folder, change):
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, {"format": "pt"})


@pytest.mark.parametrize("family", ["llama", "gpt2", "t5"])
def test_fewer_layers_than_the_weights_have_are_refused(tmp_path, family):
    folder = tiny_models.save_tiny_model(tmp_path / family, family)
    layers = {"llama": "num_hidden_layers", "gpt2": "n_layer", "t5": "num_layers"}
    settings_of(folder, **{layers[family]: 1})
    with pytest.raises(UserError, match=r"hold \d+ tensors for which its config\.json"):
        models.load(folder, device="cpu")


def test_layers_without_the_name_of_their_model_are_known(tmp_path):
    folder = tiny_models.save_tiny_model(tmp_path / "gpt2", "gpt2")
    change_weights(
        folder,
        lambda state: {key.removeprefix("transformer."): state[key] for key in state},
    )
    models.load(folder, device="cpu")
    settings_of(folder, n_layer=1)
    with pytest.raises(UserError, match="for which its config"):
        models.load(folder, device="cpu")


@pytest.mark.parametrize(
    "changes",
    [
        {"intermediate_size": 16},
        {"num_key_value_heads": 1},
        {"vocab_size": 100},
        {"head_dim": 4},
    ],
)
def test_other_shapes_than_those_of_the_weights_are_refused(folder, changes):
    settings_of(folder, **changes)
    with pytest.raises(UserError, match=r"have other shapes than its config\.json"):
        models.load(folder, device="cpu")


def test_other_names_of_tensors_are_told(folder):
    change_weights(folder, lambda state: {f"module.{key}": state[key] for key in state})
    with pytest.raises(UserError, match=r"hold \d+ of other names \(module\."):
        models.load(folder, device="cpu")


def test_a_bias_for_which_there_is_no_place_is_refused(folder):
    key = "model.layers.0.self_attn.q_proj.bias"
    change_weights(folder, lambda state: state | {key: torch.ones(32)})
    with pytest.raises(UserError, match=rf"hold 1 tensors .*\(such as {key}\)"):
        models.load(folder, device="cpu")


def test_a_head_for_another_task_is_said(folder, caplog):
    change_weights(folder, lambda state: state | {"score.weight": torch.ones(3, 32)})
    with caplog.at_level(logging.WARNING):
        models.load(folder, device="cpu")
    assert "is read without 1 tensors of parts that LlamaForCausalLM" in caplog.text


def test_masks_and_frequencies_of_old_checkpoints_are_no_weights(tmp_path, caplog):
    folder = tiny_models.save_tiny_model(tmp_path / "gpt2", "gpt2")
    masks = {
        "transformer.h.0.attn.bias": torch.ones(1, 1, 8, 8, dtype=torch.uint8),
        "transformer.h.0.attn.masked_bias": torch.tensor(-1e4),
    }
    change_weights(folder, lambda state: state | masks)
    models.load(folder, device="cpu")
    assert "is read without" not in caplog.text


CODES = ("int8", "uint8", "int32", "float8_e4m3fn", "float8_e5m2")


def coded(number_format):
    """Return a change of layers' weights into numbers of a format."""

    def change(state):
        for key, weight in state.items():
            if weight.ndim > 1 and "layers" in key:
                state[key] = weight.mul(20).to(getattr(torch, number_format))
        return state

    return change


@pytest.mark.parametrize("method", [None, "nonsense", "fp8"])
@pytest.mark.parametrize("number_format", CODES)
def test_codes_are_not_taken_for_plain_numbers(folder, number_format, method):
    change_weights(folder, coded(number_format))
    if method:
        settings_of(folder, quantization_config={"quant_method": method})
    with pytest.raises(UserError, match=r"of .* are (already )?quantised"):
        models.load(folder, device="cpu")


def eight_bits(state):
    """Return weights in 8 bits with a scale each, as transformers knows them."""
    quantised = {}
    for key, weight in state.items():
        quantised[key] = weight
        if weight.ndim > 1 and "layers" in key:
            scale = weight.abs().max() / 448
            quantised[key] = (weight / scale).to(torch.float8_e4m3fn)
            quantised[f"{key}_scale_inv"] = scale.reshape(1, 1)
    return quantised


def by_hand(state):
    """Return the weights that codes and scales stand for."""
    plain = {}
    for key, weight in eight_bits(state).items():
        if not key.endswith("_scale_inv"):
            scale = eight_bits(state).get(f"{key}_scale_inv", torch.tensor(1.0))
            plain[key] = weight.float() * scale.squeeze()
    return plain


def test_codes_that_transformers_knows_are_read_and_recorded(llama, folder, tmp_path):
    change_weights(folder, eight_bits)
    method = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    settings_of(folder, quantization_config=method)
    plain = shutil.copytree(llama, tmp_path / "plain")
    change_weights(plain, by_hand)
    quantised_model = models.load(folder, device="cpu", dtype="float32")
    expected = score(models.load(plain, device="cpu"), PROBE, progress=False)
    scores = score(quantised_model, PROBE, progress=False)
    assert scores["logprobs"].iloc[0] == pytest.approx(
        expected["logprobs"].iloc[0], abs=2e-2
    )
    assert models.describe_model(quantised_model)["quantization"] == "fp8"
    assert models.describe_model(models.load(plain))["quantization"] is None


def test_half_precision_is_plain(folder):
    change_weights(folder, lambda state: {key: state[key].half() for key in state})
    weights = (folder / "model.safetensors",)
    formats = {t.number_format for t in weight_checks.stored_tensors(weights).values()}
    assert formats == {"F16"}
    assert models.load(folder, device="cpu").quantization is None


def test_a_cut_file_is_one_sentence(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(UserError, match="is no whole file of weights"):
        weight_checks.stored_tensors([file])
