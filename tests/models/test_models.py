"""Models load from safetensors alone, and each thing that can be wrong is one sentence."""

import dataclasses
import hashlib
import json
import shutil

import pandas as pd
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from helpers import UserError, models
from helpers.models import checkpoints
from helpers.probing import generate, score
from tests import tiny_models
from tests.program_calls import run_python


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("models") / "llama")


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
        w.numel()
        for w in tiny_models.tiny_network(
            "llama", vocab_size=len(lm.tokenizer)
        ).parameters()
    )
    assert not lm.model.training
    json.dumps(models.describe_model(lm))
    with pytest.raises(dataclasses.FrozenInstanceError):
        lm.name = "another"


PROBE = pd.DataFrame({"prompt": ["Lyon is in"], "continuation": " France"})


def test_loaded_and_saved_models_score_alike(saved):
    loaded = score(models.load(saved, device="cpu"), PROBE, progress=False)
    made = score(tiny_models.tiny_language_model("llama"), PROBE, progress=False)
    assert loaded["logprobs"].iloc[0] == pytest.approx(
        made["logprobs"].iloc[0], abs=1e-6
    )


@pytest.mark.parametrize("family", ["gpt2", "gptj", "llama"])
@pytest.mark.parametrize("act", ["gelu_new", "gelu_fast", "relu"])
def test_a_gelu_that_is_spelt_out_becomes_one_kernel(tmp_path, family, act):
    key = "hidden_act" if family == "llama" else "activation_function"
    folder = tiny_models.save_tiny_model(tmp_path / family, family)
    settings_of(folder, **{key: act})
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    loaded = models.load(folder, device="cpu").model
    names = {type(module).__name__ for module in loaded.modules()}
    assert ("GELU" in names) == (act != "relu")
    assert not names & {"NewGELUActivation", "FastGELUActivation"}
    ids = torch.arange(60, 120)[None]
    with torch.inference_mode():
        torch.testing.assert_close(
            loaded(ids).logits, plain(ids).logits, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize(
    ("family", "limit"),
    [("opt", 128), ("gpt2", 128), ("mpt", 128), ("bloom", None), ("t5", None)],
)
def test_the_context_is_read_from_the_configuration(tmp_path, family, limit):
    lm = models.load(
        tiny_models.save_tiny_model(tmp_path / family, family), device="cpu"
    )
    assert (lm.max_length, lm.kind) == (
        limit,
        "seq2seq" if family == "t5" else "causal",
    )


POSITIONS = {"roberta": "RobertaConfig", "camembert": "CamembertConfig"}


@pytest.mark.parametrize("family", POSITIONS)
def test_positions_may_begin_after_that_of_padding(tmp_path, family):
    tokenizer = tiny_models.byte_tokenizer("bos")
    config = getattr(transformers, POSITIONS[family])(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=66,
        pad_token_id=1,
        is_decoder=True,
    )
    model = transformers.AutoModelForCausalLM.from_config(config)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    lm = models.load(tmp_path, device="cpu")
    assert lm.max_length == 64
    for length in (63, 64, 65):
        n_letters = length - len(lm.tokenizer("")["input_ids"]) - 1
        probe = pd.DataFrame({"prompt": ["x" * n_letters], "continuation": "x"})
        if length <= 64:
            assert len(score(lm, probe, progress=False)["logprobs"].iloc[0]) == 1
        else:
            with pytest.raises(UserError, match=r"65 tokens long .* at most 64"):
                score(lm, probe, progress=False)


def test_bfloat16_files_load_as_float32_on_a_cpu(folder):
    weights(
        folder,
        lambda state: {name: tensor.bfloat16() for name, tensor in state.items()},
    )
    for choice in (None, ""):
        assert (
            models.load(folder, device="cpu", dtype=choice).model.dtype == torch.float32
        )
    assert (
        models.load(folder, device="cpu", dtype="bfloat16").model.dtype
        == torch.bfloat16
    )


def test_shards_load_and_their_hash_is_over_all_in_name_order(tmp_path):
    folder = tiny_models.save_tiny_model(tmp_path / "sharded", max_shard_size="60KB")
    shards = sorted(folder.glob("*.safetensors"))
    assert len(shards) > 1
    content = b"".join(shard.read_bytes() for shard in shards)
    assert (
        models.load(folder, device="cpu").weights_sha
        == hashlib.sha256(content).hexdigest()
    )
    shards[0].unlink()
    with pytest.raises(UserError, match=f"lacks the weights {shards[0].name}"):
        models.load(folder)


def test_bundled_models_are_found_by_name(saved, monkeypatch):
    monkeypatch.setattr(checkpoints, "BUNDLED_MODELS_FOLDER", saved.parent)
    assert models.bundled_models() == ["llama"]
    assert models.load("llama", device="cpu").slug == "llama"


def settings_of(folder, **changes):
    file = folder / "config.json"
    config = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def test_code_of_a_model_does_not_run_unasked(folder):
    code = {"AutoConfig": "made.Config", "AutoModelForCausalLM": "made.Model"}
    settings_of(folder, model_type="madeup", auto_map=code)
    (folder / "made.py").write_text("raise SystemExit('this ran')")
    with pytest.raises(UserError, match='add SET="trust_remote_code=yes"'):
        models.load(folder)


def test_code_of_a_model_runs_where_it_is_trusted(folder, saved, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path)
    )
    monkeypatch.syspath_prepend(tmp_path)
    code = {"AutoConfig": "made.Config", "AutoModelForCausalLM": "made.Model"}
    settings_of(folder, model_type="madeup", architectures=["Model"], auto_map=code)
    (folder / "made.py").write_text(
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "class Config(LlamaConfig):\n    model_type = 'madeup'\n"
        "class Model(LlamaForCausalLM):\n    config_class = Config\n"
    )
    trusted = models.load(folder, device="cpu", trust_remote_code=True)
    assert type(trusted.model).__name__ == "Model"
    found, own = (
        score(lm, PROBE, progress=False)["logprobs"].iloc[0]
        for lm in (trusted, models.load(saved, device="cpu"))
    )
    assert found == pytest.approx(own, abs=1e-5)
    (folder / "made.py").write_text("import no_such_package_at_all")
    with pytest.raises(UserError, match=r"no_such_package_at_all"):
        models.load(folder, device="cpu", trust_remote_code=True)


def weights(folder, change):
    """Change the weights of a folder; what is returned is written in their place."""
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, {"format": "pt"})


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def moved(folder, name):
    (folder / "model.safetensors").rename(folder / name)


def gone(folder, pattern):
    for file in folder.glob(pattern):
        file.unlink()


def cut(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])


def resized(folder, size):
    lm = tiny_models.tiny_language_model("llama")
    lm.model.resize_token_embeddings(size, mean_resizing=False)
    lm.model.save_pretrained(folder)


def filled(value):
    """Return a change that sets the last norm to a number."""
    name = "model.norm.weight"
    return lambda state: state | {name: torch.full_like(state[name], value)}


UP, SIZE = "model.layers.1.mlp.up_proj.weight", len(tiny_models.byte_tokenizer("bos"))
ENCODER = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
SPOILT = [
    (pickled, r"pickles only.*convert them to safetensors"),
    (lambda f: gone(f, "model.safetensors"), "has no weights"),
    (
        lambda f: moved(f, "adapter_model.safetensors"),
        r"without its adapter_config\.json",
    ),
    (cut, r"weights of .* cannot be loaded"),
    (
        lambda f: weights(f, lambda s: {k: w for k, w in s.items() if k != UP}),
        r"lack 1 tensors .*layers\.1\.mlp\.up_proj",
    ),
    (lambda f: gone(f, "tokenizer*"), "no tokenizer"),
    (
        lambda f: (f / "tokenizer.json").write_text('{"model": 1}'),
        "no tokenizer that can be load",
    ),
    (lambda f: settings_of(f, model_type="madeup"), r"architecture of .* is not known"),
    (lambda f: gone(f, "config.json"), r"config\.json"),
    (lambda f: settings_of(f, **ENCODER), r"\(bert\) does not write text"),
    (
        lambda f: resized(f, SIZE - 8),
        r"has 8 ids, from \d+ \('.*'\) on, that its embedding",
    ),
    (lambda f: resized(f, 3 * SIZE), "so it must be another model's"),
    (lambda f: weights(f, filled(torch.nan)), r"not numbers \(nan\) in float32"),
    (lambda f: weights(f, filled(torch.inf)), r"not numbers \(nan\) in float32"),
]


@pytest.mark.parametrize(("spoil", "sentence"), SPOILT)
def test_what_is_wrong_with_a_folder_is_one_sentence(folder, spoil, sentence):
    spoil(folder)
    with pytest.raises(UserError, match=sentence) as told:
        models.load(folder, device="cpu")
    assert "\n" not in str(told.value)


def test_a_file_that_is_only_called_gguf_is_refused(folder):
    moved(folder, "model.gguf")
    with pytest.raises(UserError, match="should hold weights in GGUF"):
        models.load(folder / "model.gguf")
    with pytest.raises(
        UserError, match=r"There is no file org/model-Q4\.gguf; give the path"
    ):
        models.load("org/model-Q4.gguf")


def test_an_embedding_may_have_rows_to_spare(folder):
    resized(folder, SIZE + 100)
    lm = models.load(folder, device="cpu")
    assert lm.model.get_input_embeddings().weight.shape[0] == SIZE + 100


def test_a_pad_token_of_the_tokenizer_alone_does_no_harm(folder):
    lm = models.load(folder, device="cpu")
    lm.tokenizer.add_special_tokens({"pad_token": "<pad>"})
    lm.tokenizer.save_pretrained(folder)
    loaded = models.load(folder, device="cpu")
    assert (
        len(loaded.tokenizer) == loaded.model.get_input_embeddings().weight.shape[0] + 1
    )


def test_a_score_that_is_not_a_number_is_refused(saved):
    lm = models.load(saved, device="cpu")
    score(lm, PROBE, progress=False)
    with torch.no_grad():
        lm.model.model.norm.weight.fill_(float("nan"))
    with pytest.raises(UserError, match="not numbers"):
        score(lm, PROBE, progress=False)
    with pytest.raises(UserError, match="not numbers"):
        generate(lm, ["Lyon is in"], progress=False)


def test_a_decoder_that_looks_ahead_is_refused(tmp_path):
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {
        "intermediate_size": 48,
        "vocab_size": len(tiny_models.byte_tokenizer("bos")),
    }
    for decoder in (True, False):
        config = transformers.BertConfig(
            **sizes, is_decoder=decoder, initializer_range=0.5
        )
        folder = tmp_path / str(decoder)
        transformers.BertLMHeadModel(config).save_pretrained(folder)
        tiny_models.byte_tokenizer("bos").save_pretrained(folder)
    assert models.load(tmp_path / "True", device="cpu").kind == "causal"
    with pytest.raises(UserError, match="in both directions"):
        models.load(tmp_path / "False", device="cpu")


def test_chat_needs_a_template(saved, tmp_path):
    with pytest.raises(UserError, match="no chat template"):
        models.load(saved, device="cpu", chat=True)
    tuned = tiny_models.save_tiny_model(
        tmp_path / "tuned", tokenizer=tiny_models.chat_tokenizer()
    )
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


LONG_NAMES = ["a" * 256, "a" * 5000, "./" + "a" * 5000, "org/" + "a" * 5000]
LONG_NAMES += ["a" * 5000 + ".gguf", "/".join(["d"] * 2100), "a\0b"]


@pytest.mark.parametrize("name", LONG_NAMES)
def test_a_name_that_no_file_has_is_one_short_sentence(name):
    for ask in (models.load, models.model_slug):
        with pytest.raises(UserError, match="no file can be called so") as told:
            ask(name)
        assert len(str(told.value)) < 300


def test_long_names_have_folders_of_their_own():
    names = ["a" * 250, "./" + "a" * 250, "org/" + "a" * 250, "org/" + "a" * 249]
    names.append(f"http://localhost:1#{'a' * 5000}")
    slugs = {models.model_slug(name) for name in names}
    assert len(slugs) == len(names)
    assert max(map(len, slugs)) < 250


def test_names_of_models_need_no_torch(root):
    code = "import sys, helpers.models; assert not {'torch', 'transformers'} & {*sys.modules}"
    run_python("-c", code, cwd=root)


@pytest.mark.parametrize("name", ["", " "])
def test_a_name_without_letters_is_no_folder(name, tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="name is empty; give a bundled"):
        models.load(name)
