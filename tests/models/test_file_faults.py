"""What is wrong with a model's files is told by its true cause."""

import json
import os
import shutil

import pytest

from helpers import UserError, models
from helpers.io import files
from helpers.models import file_faults
from tests import tiny_models

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    f"oid sha256:{'ab' * 32}\nsize 268435456\n"
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return tiny_models.save_tiny_model(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture
def folder(saved, tmp_path):
    """Return a copy that a test may spoil."""
    return shutil.copytree(saved, tmp_path / "copy")


@pytest.mark.parametrize(
    "name",
    [
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "config.json",
        "generation_config.json",
        "model.safetensors.index.json",
        "tokenizer.model",
        "chat_template.jinja",
    ],
)
def test_a_pointer_of_git_lfs_is_named(folder, name):
    (folder / name).write_text(POINTER)
    with pytest.raises(UserError, match=f"{name} is a Git LFS pointer.*git lfs pull"):
        models.load(folder, device="cpu")


def test_a_pointer_in_the_place_of_other_files_is_named(tmp_path):
    gguf = tmp_path / "model.gguf"
    gguf.write_text(POINTER)
    with pytest.raises(UserError, match=r"model\.gguf is a Git LFS pointer"):
        models.load(gguf)
    data = tmp_path / "facts.csv"
    data.write_text(POINTER)
    with pytest.raises(UserError, match=r"facts\.csv is a Git LFS pointer"):
        files.read_records(data)
    with pytest.raises(UserError, match=r"facts\.csv is a Git LFS pointer"):
        next(files.read_lines(data))


GENERATION = {
    "overlap": {"forced_eos_token_id": 7, "suppress_tokens": [7]},
    "negative": {"max_new_tokens": -5},
    "cache": {"cache_implementation": "nonsense"},
}


@pytest.mark.parametrize("case", GENERATION)
def test_a_contradiction_in_the_generation_settings_names_their_file(folder, case):
    settings = json.dumps({"eos_token_id": 1, **GENERATION[case]})
    (folder / "generation_config.json").write_text(settings)
    with pytest.raises(UserError, match=r"The generation_config\.json of .* cannot be"):
        models.load(folder, device="cpu")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("config.json", '{"model_type": "llama",', r"config\.json of .* is damaged"),
        ("config.json", "[1]", r"config\.json of .* holds no settings"),
        ("config.json", "\xff", r"config\.json of .* is damaged"),
        ("config.json", '{"a": 1}', r"config\.json of .* cannot be used"),
        ("generation_config.json", "{", r"generation_config\.json of .* is damaged"),
        ("tokenizer_config.json", "", r"tokenizer_config\.json of .* is damaged"),
    ],
)
def test_damaged_settings_name_their_file(folder, name, text, sentence):
    (folder / name).write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=sentence) as told:
        models.load(folder, device="cpu")
    assert "newer transformers" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("config.json", {"hidden_act": "gelu9"}, "config.json.*there is no 'gelu9'"),
        (
            "config.json",
            {"rope_scaling": {"type": "foo", "factor": 2}},
            "config.json.*there is no 'foo'",
        ),
        ("config.json", {"num_attention_heads": 7}, "config.json.*not a multiple of"),
        ("tokenizer_config.json", {"model_max_length": "512"}, "settings of .*mend or"),
        ("tokenizer_config.json", {"eos_token": {"content": 5}}, "settings of .*mend"),
    ],
)
def test_settings_that_cannot_be_used_are_blamed(folder, name, changes, sentence):
    settings = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(settings | changes))
    with pytest.raises(UserError, match=sentence) as told:
        models.load(folder, device="cpu")
    assert "beside the weights" not in str(told.value)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04\x00\x00\x08\x08", "a zip archive .* PyTorch"),
        (b"\x1f\x8b\x08\x08\x00\x00\x00\x00", "packed by gzip"),
        (b"GGUF\x03\x00\x00\x00", "a GGUF model"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b'{"error": "Invalid credentials"}', "a text, or damaged"),
    ],
)
def test_what_lies_in_the_place_of_weights_is_named(folder, data, kind):
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(UserError, match=rf"model\.safetensors is {kind}"):
        models.load(folder, device="cpu")
    if "GGUF" not in kind:
        (folder / "model.gguf").write_bytes(data)
        with pytest.raises(UserError, match=rf"model\.gguf is {kind}.*in GGUF"):
            models.load(folder / "model.gguf", device="cpu")


def test_settings_that_no_model_can_have_are_not_an_unknown_architecture(folder):
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"hidden_size": "wide"}))
    with pytest.raises(UserError, match=r"config\.json of .* cannot be used"):
        models.load(folder, device="cpu")


def pipe(path):
    os.mkfifo(path)


def dangling(path):
    path.symlink_to("nowhere")


def circle(path):
    path.symlink_to(path.name)


@pytest.mark.parametrize("spoil", [pipe, dangling, circle, os.mkdir])
@pytest.mark.parametrize("name", ["notes.txt", "tokenizer.json", "model.safetensors"])
def test_what_is_no_file_is_refused_and_not_waited_for(folder, spoil, name):
    (folder / name).unlink(missing_ok=True)
    spoil(folder / name)
    with pytest.raises(UserError, match=rf"{name} (is a link to|cannot be read)"):
        models.load(folder, device="cpu")


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device", "/full"),
        PermissionError(13, "no", "/full"),
    ],
)
def test_a_disk_is_blamed_wherever_it_is_the_cause(error):
    later = ValueError("the library says something else")
    later.__cause__ = error
    blamed = pytest.raises(UserError, match=r"^/full cannot be read or written \(")
    with blamed, file_faults.reraise_true_cause("It is not known", "wait"):
        raise later


def test_other_errors_are_told_as_they_are():
    failed = pytest.raises(UserError, match=r"^It failed \(odd\): wait\.$")
    with failed, file_faults.reraise_true_cause("It failed", "wait"):
        raise ValueError("odd")
