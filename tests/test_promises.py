"""Promises kept by ourselves: weights from safetensors of the folder, no code but by trust."""

import ast
import json

import pytest

from helpers import UserError, cli
from helpers.datasets import files
from helpers.models import checkpoints

NO_CODE = {"PeftModel", "GenerationConfig", "LlamaForCausalLM"}  # classes that have no such setting


def calls(root):
    for folder in ("helpers", "book", "notebooks"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call):
                    yield path, text, node


def test_every_load_says_whether_code_is_trusted(root):
    found = 0
    for path, text, call in calls(root):
        named = getattr(call.func, "attr", getattr(call.func, "id", ""))
        owner = getattr(getattr(call.func, "value", None), "id", "")
        if named not in ("from_pretrained", "SentenceTransformer") or owner in NO_CODE:
            continue
        given = {word.arg for word in call.keywords}
        found += 1
        said = "trust_remote_code" in given
        assert said or (None in given and '"trust_remote_code": False' in text), path
    assert found >= 8


@pytest.mark.parametrize(
    "index",
    [
        {"weight_map": {"a": "pytorch_model.bin"}},
        {"weight_map": {"a": "../x/model.safetensors"}},
        {"weight_map": {"a": "/etc/passwd"}},
        {"weight_map": {"a": 5}},
        {"weight_map": {}},
        {"weight_map": []},
        [],
    ],
)
def test_an_index_names_safetensors_of_its_folder_alone(index, tmp_path):
    (tmp_path / checkpoints.INDEX).write_text(json.dumps(index))
    with pytest.raises(UserError):
        checkpoints.weight_files(tmp_path, "m")


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "{", "nul", ""])
def test_strange_json_is_one_sentence(text):
    with pytest.raises(UserError, match=r"^here .*JSON"):
        files.parse_json(text, "here")


@pytest.mark.parametrize("text", ["a\x1b]0;x\x07", "a\n::error::b", "a\r\x9b2J\u202eb"])
def test_what_is_printed_is_one_plain_line(text):
    assert cli.printable(text).isprintable()
