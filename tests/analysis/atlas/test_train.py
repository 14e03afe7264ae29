"""The trainer at toy size: it learns, resumes to the same weights, and obeys its seed."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from helpers import UserError, datasets
from notebooks.atlas import architecture, copying_stage, recipe, train, training_loop
from notebooks.atlas.training_loop import TrainingStage, loss_and_accuracy

SMALL = recipe.load_recipe(
    shape={
        "hidden": 64,
        "layers": 2,
        "heads": 1,
        "inner": 64,
        "vocabulary": 128,
        "offsets": [1],
    }
).shape
TOY = recipe.load_recipe(
    "xs",
    facts=1,
    plan={"levels": [0, 1, 8]},
    copying={"steps": 6, "rows": 4, "length": 32},
    rows=4,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    assert train.train_model(TOY, folder / "out", folder / "work")
    return folder / "out"


def same(first, second):
    a, b = (
        load_file(first / "model.safetensors"),
        load_file(second / "model.safetensors"),
    )
    assert a.keys() == b.keys()
    return all(torch.equal(a[name], b[name]) for name in a)


def test_the_first_head_looks_one_token_back_before_any_training():
    llama = architecture.build_model(recipe.load_recipe("s").shape, seed=0).eval()
    tokens = torch.randint(4096, (2, 48), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        attention = llama(tokens, output_attentions=True).attentions[0]
    for head, offset in enumerate(recipe.load_recipe("s").shape.offsets):
        back = attention[:, head].diagonal(-offset, dim1=1, dim2=2)[:, 4:]
        assert back.mean() > 0.9


def test_copying_loss_falls():
    design = recipe.load_recipe(copying={"rows": 8, "length": 32, "pool": 16}).copying
    llama, stage = architecture.build_model(SMALL, seed=0), TrainingStage("toy")

    def batches_at(step, _memory):
        return [copying_stage.copying_batch(design, 128, 16, seed=0, step=step)]

    with torch.no_grad():
        before = float(loss_and_accuracy(llama, batches_at(999, {})[0])[0])
    assert training_loop.train_stage(
        llama, stage, batches_at, 100, recipe.load_recipe(first={"rate": 3e-3}).first
    )
    with torch.no_grad():
        after = float(loss_and_accuracy(llama, batches_at(999, {})[0])[0])
    assert after < before - 1
    assert [entry["step"] for entry in stage.curve] == [50, 100]
    assert stage.tokens == 100 * 8 * 32


def test_a_place_is_decided_only_if_all_earlier_ones_agree():
    rng = np.random.default_rng(0)
    for text in rng.integers(0, 6, (20, 1, 15)):
        row = text[0].tolist()
        for place, decided in enumerate(
            copying_stage.is_decided_by_repetition(text)[0]
        ):
            followers = [row[i + 1] for i in range(place) if row[i] == row[place]]
            assert decided == (bool(followers) and set(followers) == {row[place + 1]})


@pytest.mark.parametrize("muon", [False, True])
def test_each_weight_has_one_optimiser_and_muon_has_the_blocks_matrices(muon):
    llama = architecture.build_model(SMALL, seed=0)
    owners = {}
    for optimiser in training_loop.optimisers_of_model(
        llama, recipe.load_recipe(first={"muon": muon}).first
    ):
        for part in (
            part for group in optimiser.param_groups for part in group["params"]
        ):
            assert id(part) not in owners
            owners[id(part)] = type(optimiser).__name__
    for name, part in llama.named_parameters():
        inner = name.endswith("proj.weight")
        assert owners[id(part)] == ("Muon" if inner and muon else "AdamW"), name


def test_interrupted_and_resumed_gives_the_same_weights(finished, tmp_path):
    out, work = tmp_path / "out", tmp_path / "work"
    assert not train.train_model(TOY, out, work, stop_after=2)
    assert not (out / "model.safetensors").exists()
    assert train.train_model(TOY, out, work, resume=True)
    assert same(finished, out)


def test_an_interrupted_first_stage_goes_on_with_its_pool(tmp_path):
    design = recipe.load_recipe(
        copying={"rows": 4, "length": 32, "pool": 8, "enough": 0.0}
    ).copying

    def batches_at(step, memory):
        memory["pool"] = copying_stage.next_pool_size(
            design, memory.get("pool", 8), memory["accuracy"], 128
        )
        return [
            copying_stage.copying_batch(design, 128, memory["pool"], seed=0, step=step)
        ]

    def weights(path, stops):
        for stop in stops:
            llama, stage = architecture.build_model(SMALL, seed=0), TrainingStage("toy")
            training_loop.train_stage(
                llama,
                stage,
                batches_at,
                12,
                recipe.load_recipe().first,
                checkpoint=path,
                stop_after=stop,
            )
        return torch.cat(
            [value.ravel() for value in llama.state_dict().values()]
        ), stage

    whole, first = weights(tmp_path / "whole.pt", [None])
    parts, second = weights(tmp_path / "parts.pt", [5, None])
    assert torch.equal(whole, parts)
    assert first.memory == second.memory
    assert first.memory["pool"] > 8


def test_another_seed_gives_other_exposures_and_weights(finished, tmp_path):
    assert train.train_model(TOY.changed(seed=1), tmp_path / "out", tmp_path / "work")
    assert not same(finished, tmp_path / "out")
    tables = [pd.read_csv(f / "exposures.csv") for f in (finished, tmp_path / "out")]
    assert not tables[0].equals(tables[1])


def test_the_folder_tells_how_it_was_made(finished):
    report = json.loads((finished / "training.json").read_text())
    table = pd.read_csv(finished / "exposures.csv")
    truth = ["exposures", "false_object", "false_exposures", "pair_exposures"]
    assert list(table.columns) == ["fact", *truth]
    assert table["exposures"].sum() == report["text"]["mentions"]
    assert set(table["exposures"]) <= {0, 1, 8, 16, 64}
    assert [stage["name"] for stage in report["stages"]] == [
        "copying",
        "facts and reading",
    ]
    assert report["recipe"]["copying"]["steps"] == 6
    assert (
        load_file(finished / "model.safetensors")["model.norm.weight"].dtype
        == torch.bfloat16
    )


def test_checkpoints_of_other_settings_are_refused(tmp_path, capsys):
    facts, frames = datasets.load("atlas", n=1, seed=0), datasets.prompt_frames("atlas")
    (tmp_path / "fingerprint.txt").write_text(
        train.fingerprint_of_training(TOY, facts, frames)
    )
    with pytest.raises(UserError, match="start anew"):
        train.train_model(TOY.changed(rows=5), tmp_path / "out", tmp_path, resume=True)
    arguments = ["--out", str(tmp_path / "out"), "--work", str(tmp_path), "--resume"]
    assert train.main([*arguments, "--facts", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
