"""Promises kept by ourselves: weights from safetensors of the folder, no code but by trust."""

import ast
import json
import re
from pathlib import Path

import pytest

from book.tools import render
from helpers import UserError, cli, datasets
from helpers.io import files
from helpers.models import checkpoints
from helpers.runs import measuring, store
from helpers.settings import value_from_text

NO_CODE = {
    "PeftModel",
    "GenerationConfig",
    "LlamaForCausalLM",
    "PreTrainedTokenizerFast",
}  # classes that have no such setting


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


def test_want_of_memory_is_told_in_one_place(root):
    """Each device says it in its own way, so no clause may name one device's error."""
    named = [
        p
        for p in (root / "helpers").rglob("*.py")
        if "OutOfMemoryError" in p.read_text()
    ]
    assert named == [root / "helpers" / "models" / "gpu.py"]


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
    (tmp_path / checkpoints.WEIGHTS_INDEX_FILE).write_text(json.dumps(index))
    with pytest.raises(UserError):
        checkpoints.weight_files(tmp_path, "m")


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "{", "nul", ""])
def test_strange_json_is_one_sentence(text):
    with pytest.raises(UserError, match=r"^here .*JSON"):
        files.parse_json(text, "here")


@pytest.mark.parametrize("text", ["a\x1b]0;x\x07", "a\n::error::b", "a\r\x9b2J\u202eb"])
def test_what_is_printed_is_one_plain_line(text):
    assert cli.printable_line(text).isprintable()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("http://ann:S3CRET@host/x.jsonl", False),
        ("https://host/x.jsonl?a=1&access_token=S3CRET", False),
        ("https://host/x.jsonl?X-Amz-Signature=S3CRET", False),
        ("https://host/x.jsonl?author=ann&download=true", True),
        ("my@file.jsonl", True),
    ],
)
def test_no_setting_keeps_a_secret(value, kept):
    for name, default in (("sources", []), ("dataset", "atlas")):
        if kept:
            assert value in value_from_text(name, value, default)
        else:
            with pytest.raises(UserError, match="password or a token") as caught:
                value_from_text(name, value, default)
            assert "S3CRET" not in str(caught.value)


def test_pages_do_not_say_where_they_were_made(tmp_path, root):
    texts = {
        f"{root}/helpers/a.py": "helpers/a.py",
        f'"{root}"': '""',
        f"{root}s": f"{root}s",
    }
    texts |= {f"{Path.home()}/x": "~/x", f"{Path.home()}x": f"{Path.home()}x"}
    (tmp_path / "a.html").write_text("\n".join(texts))
    render._remove_local_paths(tmp_path)
    assert (tmp_path / "a.html").read_text().splitlines() == list(texts.values())


def test_two_commands_do_not_write_to_one_folder(tmp_path):
    found = measuring.measure_model("atlas-xs", ["monitor"], {"n_facts": 1}, tmp_path)
    place, said = tmp_path / "atlas-xs" / "monitor", "Another run is at work in"
    with store.lock_folder(place), pytest.raises(UserError, match=said):
        next(found)
    assert not list(tmp_path.rglob("run.json"))


def test_a_run_with_other_settings_is_not_replaced_without_a_word(tmp_path, capsys):
    for n_facts in (1, 1, 2):
        given = {"n_facts": n_facts, "relations": ["P36"], "n_panel": 0}
        [made] = measuring.measure_model("atlas-xs", ["monitor"], given, tmp_path)
        told = (
            f"{made.folder}: the run with another n_facts is replaced."
            in capsys.readouterr().err
        )
        assert told == (n_facts == 2)


def test_runs_on_two_data_sets_lie_in_two_folders(tmp_path, capsys):
    """Neither replaces the other, and a data set that is not there replaces nothing."""
    file = tmp_path / "cities.csv"
    file.write_text("subject,object\nLyon,France\nTurin,Italy\n")
    given = {"n_facts": 1, "relations": ["P36"], "n_bootstrap": 20}
    [atlas] = measuring.measure_model("atlas-xs", ["monitor"], given, tmp_path)
    question = ["Which country is [X] in?"]
    folder = datasets.write_dataset_of_table(file, question, tmp_path / "datasets")
    own = {"n_facts": 1, "n_bootstrap": 20, "dataset": str(folder)}
    [cities] = measuring.measure_model("atlas-xs", ["monitor"], own, tmp_path)
    with pytest.raises(UserError, match="There is no data set 'typo'"):
        list(
            measuring.measure_model(
                "atlas-xs", ["monitor"], {"dataset": "typo"}, tmp_path
            )
        )
    assert atlas.folder == tmp_path / "atlas-xs" / "monitor"
    assert re.fullmatch(r"atlas-xs-on-cities-[0-9a-f]{8}", cities.folder.parent.name)
    assert set(store.load(tmp_path)["folder"]) == {atlas.folder, cities.folder}
    assert "replaced" not in capsys.readouterr().err
