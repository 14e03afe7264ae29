"""Tests of book.tools.resources: the table that users edit, and the sizes of models."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from book.tools import render, resources
from helpers import UserError

SLURM = "notebooks/profiles/slurm/resources.yaml"


def test_the_profiles_table_serves_every_chapter_and_size(root):
    table = resources.read_resource_table(root / SLURM)
    for chapter in [*render.chapter_names(), "noise"]:
        for size in (0.001, 1.0, 7.6, 70.0, 1000.0, None):
            asked = resources.job_resources(table, chapter, size)
            assert asked["gpu"] >= 0
            assert min(asked["cpus"], asked["mem_mb"], asked["runtime"]) >= 1
    assert set(table["minutes"]) - {"other"} <= set(render.chapter_names())


@given(st.floats(0, 500), st.floats(0, 500))
def test_a_larger_model_never_asks_for_less(one, other):
    limits = {"c": (90, 3), "a": (1, 1), "b": (9, 2)}  # in no order
    sizes = {
        name: {"up_to": limit, "gpus": n, "cpus": n, "memory_gb": n}
        for name, (limit, n) in limits.items()
    }
    table = {"sizes": sizes, "minutes": {"other": {"a": 1, "b": 2, "c": 3}}}
    small, large = (
        resources.job_resources(table, "any", size) for size in sorted((one, other))
    )
    assert all(small[key] <= large[key] for key in small)
    assert resources.job_resources(table, "any", None)["gpu"] == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.pop("sizes"), "is wrong at 'sizes'"),
        (lambda t: t["sizes"]["tiny"].pop("gpus"), "is wrong at 'gpus'"),
        (lambda t: t["minutes"].pop("other"), "is wrong at 'other'"),
        (lambda t: t["minutes"]["monitor"].pop("tiny"), "is wrong at 'tiny'"),
        (lambda t: t["sizes"]["tiny"].update(gpus="one"), "is wrong at .*'one'"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_table_is_one_sentence(root, tmp_path, change, sentence):
    table, path = (
        yaml.safe_load((root / SLURM).read_text()),
        tmp_path / "resources.yaml",
    )
    if change:
        change(table)
    path.write_text(yaml.safe_dump(table) if change else "sizes: [")
    for place in (path, *([] if change else [tmp_path / "none.yaml"])):
        with pytest.raises(UserError, match=sentence) as caught:
            resources.read_resource_table(place)
        assert "\n" not in str(caught.value)


def test_needs_by_hand(tmp_path):
    sizes = {"small": {"up_to": 1, "gpus": 0, "cpus": 2, "memory_gb": 4}}
    sizes["large"] = {"up_to": 70, "gpus": 4, "cpus": 16, "memory_gb": 256}
    table = {"sizes": sizes, "minutes": {"other": {"small": 10, "large": 120}}}
    small = {"gpu": 0, "cpus": 2, "mem_mb": 4096, "runtime": 10}
    assert resources.job_resources(table, "monitor", 0.5) == small
    large = {"gpu": 4, "cpus": 16, "mem_mb": 262144, "runtime": 120}
    assert [
        resources.job_resources(table, "other", size) for size in (7, 400.0, None)
    ] == [large] * 3
    (tmp_path / "model.safetensors").write_bytes(b"{}")
    assert resources.billions_of_parameters(str(tmp_path)) is None  # cannot be told
    assert resources.billions_of_parameters("./no-such-folder") is None
    assert resources.billions_of_parameters("") == 0
    assert resources.billions_of_parameters("atlas-xs") == pytest.approx(762_528 / 1e9)
