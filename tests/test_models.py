"""Models load from safetensors alone, and each thing that can be wrong is one sentence."""

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers import checkpoints, models
from helpers.errors import UserError
from helpers.probing import score
from tests import tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture
def folder(saved, tmp_path):
    """Return a copy that a test may spoil."""
    return shutil.copytree(saved, tmp_path / "copy")


def test_a_folder_loads(saved):
    lm = models.load(saved, device="cpu")
    weights = (saved / "model.safetensors").read_bytes()
    assert lm.kind == "causal"
    assert lm.dtype == torch.float32
    assert lm.max_length == 128
    assert lm.revision is None
    assert lm.weights_sha == hashlib.sha256(weights).hexdigest()
    assert lm.n_parameters == sum(
        w.numel() for w in tiny.network("llama", vocab_size=len(lm.tokenizer)).parameters()
    )
    assert not lm.model.training
    json.dumps(models.describe(lm))
    with pytest.raises(dataclasses.FrozenInstanceError):
        lm.name = "another"


def test_loaded_and_saved_models_score_alike(saved):
    probes = pd.DataFrame([{"item": 0, "variant": 0, "option": 0, "prompt": "Lyon is in"}])
    probes["continuation"] = " France"
    loaded = score(models.load(saved, device="cpu"), probes, progress=False)
    made = score(tiny.language_model("llama"), probes, progress=False)
    assert loaded["logprobs"].iloc[0] == pytest.approx(made["logprobs"].iloc[0], abs=1e-6)


def test_a_seq2seq_folder_loads(tmp_path):
    lm = models.load(tiny.save(tmp_path / "t5", "t5"), device="cpu")
    assert (lm.kind, lm.max_length) == ("seq2seq", None)


@pytest.mark.parametrize(
    ("family", "limit"), [("opt", 128), ("gpt2", 128), ("mpt", 128), ("bloom", None)]
)
def test_the_context_is_read_from_the_configuration(tmp_path, family, limit):
    assert models.load(tiny.save(tmp_path / family, family), device="cpu").max_length == limit


def test_bfloat16_files_load_as_float32_on_a_cpu(folder):
    file = folder / "model.safetensors"
    halves = {name: tensor.bfloat16() for name, tensor in load_file(file).items()}
    save_file(halves, file, {"format": "pt"})
    for choice in (None, ""):
        assert models.load(folder, device="cpu", dtype=choice).model.dtype == torch.float32
    assert models.load(folder, device="cpu", dtype="bfloat16").model.dtype == torch.bfloat16


def test_shards_load_and_their_hash_is_over_all_in_name_order(tmp_path):
    folder = tiny.save(tmp_path / "sharded", max_shard_size="60KB")
    shards = sorted(folder.glob("*.safetensors"))
    assert len(shards) > 1
    content = b"".join(shard.read_bytes() for shard in shards)
    assert models.load(folder, device="cpu").weights_sha == hashlib.sha256(content).hexdigest()
    shards[0].unlink()
    with pytest.raises(UserError, match=f"lacks the weights {shards[0].name}"):
        models.load(folder)


def test_bundled_models_are_found_by_name(saved, monkeypatch):
    monkeypatch.setattr(checkpoints, "WEIGHTS", saved.parent)
    assert models.bundled() == ["llama"]
    assert models.load("llama", device="cpu").slug == "llama"


def test_slugs_are_safe_and_differ(tmp_path):
    assert models.slug("org/model-a") == "org--model-a"
    first, second = tmp_path / "a" / "model", tmp_path / "b" / "model"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    assert models.slug(first) != models.slug(second)
    assert models.slug(first).startswith("model-")
    assert models.slug(first) == models.slug(f"{first}/") == models.slug(first / ".." / "model")
    strange = tmp_path / "ein Modell: 1"
    strange.mkdir()
    assert set(models.slug(strange)) <= set("einModell1_-0123456789abcdef")


def test_pickles_are_refused(folder):
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"pickles only.*convert them to safetensors"):
        models.load(folder)


def test_a_folder_without_weights_is_refused(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match="has no weights"):
        models.load(folder)


def test_an_adapter_alone_is_refused(folder):
    (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
    with pytest.raises(UserError, match=r"adapter.*merge it"):
        models.load(folder)


def test_a_cut_file_is_refused(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(UserError, match=r"weights of .* cannot be loaded"):
        models.load(folder)


def test_weights_that_lack_tensors_are_refused(folder):
    file = folder / "model.safetensors"
    state = load_file(file)
    del state["model.layers.1.mlp.up_proj.weight"]
    save_file(state, file, {"format": "pt"})
    with pytest.raises(UserError, match=r"lack 1 tensors .*layers\.1\.mlp\.up_proj"):
        models.load(folder)


def test_a_folder_without_tokenizer_is_refused(folder):
    for file in folder.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(UserError, match="no tokenizer"):
        models.load(folder)


def test_a_broken_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(UserError, match="no tokenizer that can be loaded"):
        models.load(folder)


def settings_of(folder, **changes):
    file = folder / "config.json"
    config = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def test_an_unknown_architecture_is_refused(folder):
    settings_of(folder, model_type="madeup")
    with pytest.raises(UserError, match=r"architecture of .* is not known"):
        models.load(folder)


def test_a_folder_without_configuration_is_refused(folder):
    (folder / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json"):
        models.load(folder)


def test_an_encoder_is_refused(folder):
    settings_of(folder, model_type="bert", architectures=["BertForMaskedLM"])
    with pytest.raises(UserError, match=r"\(bert\) does not write text"):
        models.load(folder)


def test_code_of_a_model_does_not_run_unasked(folder):
    code = {"AutoConfig": "made.Config", "AutoModelForCausalLM": "made.Model"}
    settings_of(folder, model_type="madeup", auto_map=code)
    (folder / "made.py").write_text("raise SystemExit('this ran')")
    with pytest.raises(UserError, match="trust_remote_code=True"):
        models.load(folder)


def test_chat_needs_a_template(saved, tmp_path):
    with pytest.raises(UserError, match="no chat template"):
        models.load(saved, device="cpu", chat=True)
    tuned = tiny.save(tmp_path / "tuned", tokenizer=tiny.chat_tokenizer())
    assert models.load(tuned, device="cpu", chat=True).chat
    assert not models.load(tuned, device="cpu").chat


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-model", "There is no model no-such-model here, .*a bundled model"),
        ("org/no-such-model", "There is no model org/no-such-model here"),
        ("./nowhere", r"There is no folder \./nowhere; give a bundled model"),
        ("/nowhere/at/all", "There is no folder /nowhere/at/all"),
        ("http://localhost:8000", "write http://localhost:8000#NAME"),
    ],
)
def test_a_model_that_is_not_there_is_one_sentence(monkeypatch, name, message):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=message):
        models.load(name)


def test_a_hub_model_is_read_from_its_snapshot(saved, tmp_path, monkeypatch):
    commit = "0123456789012345678901234567890123456789"
    cache = tmp_path / "models--org--tiny"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(commit)
    shutil.copytree(saved, cache / "snapshots" / commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    lm = models.load("org/tiny", device="cpu")
    assert (lm.revision, lm.slug) == (commit, "org--tiny")
    assert lm.weights_sha == models.load(saved, device="cpu").weights_sha


def test_names_of_models_need_no_torch(root):
    code = "import sys, helpers.models; assert not {'torch', 'transformers'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
