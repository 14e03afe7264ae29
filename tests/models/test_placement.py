"""Weights go to one device where it holds them, and are loaded in the format asked for."""

import json

import pytest
import torch

from helpers import UserError, models
from helpers.models import gpu, placement
from tests import tiny_models

CUDA = torch.device("cuda")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def with_gpu(monkeypatch):
    """Make the machine look as if it had a GPU with so many bytes free, and the packages."""

    def pretend(free: int, packages=("accelerate", "bitsandbytes")):
        monkeypatch.setattr(gpu, "choose_device", lambda name=None: CUDA)
        monkeypatch.setattr(gpu, "best_dtype", lambda on, parameters: torch.bfloat16)
        monkeypatch.setattr(
            gpu, "device_memory", lambda on: gpu.DeviceMemory(free, free)
        )
        monkeypatch.setattr(
            placement, "find_spec", lambda name: name in packages or None
        )

    return pretend


def weights(saved):
    return (saved / "model.safetensors",)


def test_numbers_are_counted_without_the_weights(saved):
    lm = models.load(saved, device="cpu")
    assert placement.count_parameters(weights(saved)) == lm.n_parameters
    assert lm.n_parameters == sum(weight.numel() for weight in lm.model.parameters())


def test_a_model_that_fits_is_on_one_device(saved, with_gpu):
    size = 2 * placement.count_parameters(weights(saved))
    with_gpu(2 * size)
    place = placement.choose_placement(saved, weights(saved), None, "")
    assert place.settings == {"dtype": torch.bfloat16}
    with_gpu(size)
    assert (
        placement.choose_placement(saved, weights(saved), None, None).settings[
            "device_map"
        ]
        == "auto"
    )
    assert not placement.choose_placement(saved, weights(saved), "cuda", None).spread
    assert not placement.choose_placement(saved, weights(saved), None, "4bit").spread


def test_bits_are_told_to_transformers(saved, with_gpu):
    with_gpu(1 << 40)
    place = placement.choose_placement(saved, weights(saved), None, "4bit")
    told = placement.Placement(CUDA, torch.bfloat16, "4bit")
    assert place == told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformers.BitsAndBytesConfig", lambda **settings: settings)
        given = place.settings
    assert given["quantization_config"]["load_in_4bit"]
    assert given["device_map"] == {"": "cuda"}


def test_what_is_missing_is_one_sentence(saved, with_gpu):
    with pytest.raises(
        UserError, match=r"4bit weights need a GPU, and .* goes to cpu; leave the"
    ):
        models.load(saved, device="cpu", dtype="4bit")
    with pytest.raises(
        UserError, match=r"The dtype 'int3' is not known; give one of .*float16, 4bit"
    ):
        models.load(saved, device="cpu", dtype="int3")
    with_gpu(1 << 40, packages=["accelerate"])
    with pytest.raises(
        UserError, match=r"bitsandbytes==[\d.]+ must be installed \(pip install"
    ):
        placement.choose_placement(saved, weights(saved), None, "4bit")
    with_gpu(1, packages=[])
    with pytest.raises(
        UserError, match=r"on cuda, and to spread .* accelerate==[\d.]+ must be"
    ):
        placement.choose_placement(saved, weights(saved), None, None)


def test_the_manifest_says_how_a_model_is_loaded(saved):
    told = models.describe_model(models.load(saved, device="cpu"))
    assert (told["quantization"], told["device_map"], told["dtype"]) == (
        None,
        [],
        "float32",
    )
    json.dumps(told)
