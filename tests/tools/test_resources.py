"""Tests of book.tools.resources: the table that users edit, and the sizes of models."""

import json
import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from book.tools import render, resources
from helpers import UserError
from helpers.models import checkpoints

SLURM = "notebooks/profiles/slurm/resources.yaml"


@pytest.fixture
def table(root):
    return resources.read(root / SLURM)


def test_the_profiles_table_serves_every_chapter_and_size(table):
    for chapter in [*render.chapters(), "noise"]:
        for size in (0.001, 1.0, 7.6, 70.0, 1000.0, None):
            asked = resources.need(table, chapter, size)
            assert asked["gpu"] >= 0
            assert min(asked["cpus"], asked["mem_mb"], asked["runtime"]) >= 1
    assert set(table["minutes"]) - {"other"} <= set(render.chapters())


@given(st.floats(0, 500), st.floats(0, 500))
def test_a_larger_model_never_asks_for_less(one, other):
    limits = {"c": (90, 3), "a": (1, 1), "b": (9, 2)}  # in no order
    sizes = {
        name: {"up_to": limit, "gpus": n, "cpus": n, "memory_gb": n}
        for name, (limit, n) in limits.items()
    }
    table = {"sizes": sizes, "minutes": {"other": {"a": 1, "b": 2, "c": 3}}}
    small, large = (resources.need(table, "any", size) for size in sorted((one, other)))
    assert all(small[key] <= large[key] for key in small)
    assert resources.need(table, "any", None)["gpu"] == 3


def test_sizes_are_those_of_the_weights():
    for model in checkpoints.bundled():
        count = 0
        for file in checkpoints.find(model).weights:
            with safe_open(file, "np") as weights:
                names = weights.keys()  # it is no dict
                count += sum(math.prod(weights.get_slice(name).get_shape()) for name in names)
        assert resources.billions(model) == pytest.approx(count / 1e9)


def test_a_size_that_cannot_be_told_is_none(tmp_path, monkeypatch):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(json.dumps({}).encode())
    assert resources.billions(str(folder)) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.pop("sizes"), "is wrong at 'sizes'"),
        (lambda t: t["sizes"]["tiny"].pop("gpus"), "is wrong at 'gpus'"),
        (lambda t: t["minutes"].pop("other"), "is wrong at 'other'"),
        (lambda t: t["minutes"]["monitor"].pop("tiny"), "is wrong at 'tiny'"),
        (lambda t: t["sizes"]["tiny"].update(gpus="one"), "is wrong at .*'one'"),
    ],
)
def test_a_wrong_table_is_one_sentence(root, tmp_path, change, sentence):
    table = yaml.safe_load((root / SLURM).read_text())
    change(table)
    path = tmp_path / "resources.yaml"
    path.write_text(yaml.safe_dump(table))
    with pytest.raises(UserError, match=sentence):
        resources.read(path)


@pytest.mark.parametrize("text", ["sizes: [", None])
def test_a_table_that_cannot_be_read_is_one_sentence(tmp_path, text):
    path = tmp_path / "resources.yaml"
    if text:
        path.write_text(text)
    with pytest.raises(UserError, match="cannot be read") as caught:
        resources.read(path)
    assert "\n" not in str(caught.value)


def test_needs_by_hand():
    sizes = {"small": {"up_to": 1, "gpus": 0, "cpus": 2, "memory_gb": 4}}
    sizes["large"] = {"up_to": 70, "gpus": 4, "cpus": 16, "memory_gb": 256}
    table = {"sizes": sizes, "minutes": {"other": {"small": 10, "large": 120}}}
    small = {"gpu": 0, "cpus": 2, "mem_mb": 4096, "runtime": 10}
    assert resources.need(table, "monitor", 0.5) == small
    large = {"gpu": 4, "cpus": 16, "mem_mb": 262144, "runtime": 120}
    assert [resources.need(table, "other", size) for size in (7, 400.0, None)] == [large] * 3
    assert resources.billions("./no-such-folder") is None
    assert resources.billions("") == 0
