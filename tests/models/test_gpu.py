"""The device and the number format: asked for, or chosen."""

import pytest
import torch

from helpers import UserError
from helpers.models import gpu, placement


def machine(monkeypatch, cuda=0, mps=False, bf16=True):
    """Pretend to be a machine with so many CUDA devices."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **settings: bf16)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("has", "chosen"),
    [
        ({}, "cpu"),
        ({"mps": True}, "mps"),
        ({"cuda": 1}, "cuda"),
        ({"cuda": 1, "mps": True}, "cuda"),
    ],
)
def test_the_best_device_is_chosen_or_that_which_is_named(monkeypatch, has, chosen):
    machine(monkeypatch, **has)
    assert gpu.choose_device() == gpu.choose_device(chosen) == torch.device(chosen)


ABSENT = "'{}' was asked for, but this machine has no such"


@pytest.mark.parametrize(
    ("name", "has", "sentence"),
    [
        *((name, {}, ABSENT.format(name)) for name in ("cuda", "cuda:0", "mps")),
        ("cuda:1", {"cuda": 1}, ABSENT.format("cuda:1")),
        *((name, {}, "is not a device") for name in ("gpu", "", "cpu:a")),
    ],
)
def test_a_device_that_is_not_there_is_refused(monkeypatch, name, has, sentence):
    machine(monkeypatch, **has)
    with pytest.raises(UserError, match=sentence):
        gpu.choose_device(name)


@pytest.mark.parametrize(
    ("device", "bf16", "chosen"),
    [
        ("cpu", True, torch.float32),
        ("cuda", True, torch.bfloat16),
        ("cuda", False, torch.float16),
        ("mps", True, torch.float16),
    ],
)
def test_the_number_format_suits_the_device(monkeypatch, device, bf16, chosen):
    machine(monkeypatch, cuda=1, mps=True, bf16=bf16)
    on, large = torch.device(device), gpu.SMALL_MODEL_PARAMETERS + 1
    assert gpu.best_dtype(on, large) == chosen
    assert gpu.best_dtype(on, gpu.SMALL_MODEL_PARAMETERS) == torch.float32
    for dtype in ("float32", torch.float32, "torch.float32"):
        assert placement.dtype_and_bytes_per_weight("m", on, dtype, large) == (
            torch.float32,
            4,
        )


@pytest.mark.parametrize("name", ["int8", "fp32", "double"])
def test_an_unknown_number_format_is_refused(name):
    with pytest.raises(UserError, match="give one of float32, bfloat16, float16, 4bit"):
        placement.dtype_and_bytes_per_weight("m", torch.device("cpu"), name, 1)


def test_memory_is_counted():
    found = gpu.device_memory(torch.device("cpu"))
    assert 0 < found.free <= found.total


def test_a_batch_is_halved_until_it_fits():
    sizes = []

    def run(batch):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("no memory")
        return [-n for n in batch]

    assert gpu.run_in_halves(run, [1, 2, 3, 4, 5]) == [-1, -2, -3, -4, -5]
    assert sizes == [5, 2, 3, 1, 2]


def test_a_prompt_that_never_fits_is_refused():
    def run(batch):
        raise torch.OutOfMemoryError("no memory")

    with pytest.raises(UserError, match="single prompt does not fit"):
        gpu.run_in_halves(run, [1, 2])
