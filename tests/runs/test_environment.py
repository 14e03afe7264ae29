"""The device of a run is the one that the model was on."""

import pytest
import torch

from helpers.runs import environment


@pytest.mark.parametrize(
    ("on", "told"), [("cuda:0", "Card"), ("", "Card"), ("cpu", "cpu (")]
)
def test_the_device_is_the_models_own(monkeypatch, on, told):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Card")
    assert environment._device(on).startswith(told)
