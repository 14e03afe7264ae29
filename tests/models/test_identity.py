"""What decides a number is in the key that keeps it: any field of any file, changed in place."""

import json
import shutil

import pytest

from helpers import UserError, models
from helpers.probing import generate, score_and_generate
from tests import tiny_models
from tests.models.test_adapters import LORA, adapted_model
from tests.probing.test_cache import PROBES

CODE = """from transformers import LlamaConfig, LlamaForCausalLM
class MineConfig(LlamaConfig):
    model_type = "mine"
class Mine(LlamaForCausalLM):
    config_class = MineConfig
    def forward(self, *given, **named):
        out = super().forward(*given, **named)
        out.logits = out.logits * 1.0
        return out
"""
# Where a changed value is one of few, or the change by type is no value that loads.
OTHER = {
    "hidden_act": "gelu",
    "bias": "lora_only",
    "peft_type": "LOHA",
    "attn_implementation": "eager",
    "chat_template": "{{ messages[0]['content'] }}!",
    "rope_type": "linear",
}


def other(name, value):
    """Return another value for a field, of the same type."""
    if name in OTHER:
        return OTHER[name]
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value * 4 or 1
    if isinstance(value, str):
        return f"{value}x"
    return value[:-1] if isinstance(value, list) else {}


def fields(folder):
    """Yield each field of each file of a folder: its name, and what writes another value."""
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".json":
            told = json.loads(file.read_text(encoding="utf-8"))
            for path in _paths(told, 2 if file.name == "tokenizer.json" else 3):
                yield f"{file.name}: {'.'.join(path)}", file, _edited(told, path)
        elif file.suffix == ".jinja":
            yield file.name, file, file.read_text() + "!"
        elif file.suffix == ".py":
            yield file.name, file, file.read_text().replace("* 1.0", "* 0.1")


def _paths(told, depth):
    for name, value in told.items():
        if isinstance(value, dict) and value and depth > 1 and name != "vocab":
            yield from ((name, *path) for path in _paths(value, depth - 1))
        else:
            yield (name,)


def _edited(told, path):
    told = json.loads(json.dumps(told))
    place = told
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = other(path[-1], place[path[-1]])
    return json.dumps(told)


@pytest.fixture(scope="module", params=["plain", "adapter", "code"])
def folder(request, tmp_path_factory):
    """Return the folder of a model: with a template, an adapter with its base inside, own code."""
    top = tiny_models.save_tiny_model(
        tmp_path_factory.mktemp("model") / "m", tokenizer=tiny_models.chat_tokenizer()
    )
    (top / "adapter_note.json").write_text("{}")
    if request.param == "adapter":
        adapted_model(top, LORA).save_pretrained(top / "adapter")
        return top / "adapter"
    if request.param == "code":
        (top / "mine.py").write_text(CODE)
        config = json.loads((top / "config.json").read_text())
        config |= {"model_type": "mine", "architectures": ["Mine"]}
        classes = {"AutoConfig": "mine.MineConfig", "AutoModelForCausalLM": "mine.Mine"}
        (top / "config.json").write_text(json.dumps(config | {"auto_map": classes}))
    return top


def numbers(folder, cache):
    """Return what is scored and said, with a chat template where there is one; None if refused."""
    try:
        lm = models.load(folder, device="cpu", trust_remote_code=True)
        chat = bool(lm.tokenizer.chat_template)
        lm = models.load(folder, device="cpu", trust_remote_code=True, chat=chat)
        found = score_and_generate(lm, PROBES[:2], cache=cache, progress=False)
        said = generate(lm, ["Lyon is in"], 6, stop=("a",), cache=cache, progress=False)
    except UserError:
        return None
    return found["logprobs"].tolist(), found["text"].tolist(), said["text"].tolist()


@pytest.mark.slow
def test_kept_answers_are_those_of_the_files_as_they_are(folder, tmp_path):
    stale, moved = [], 0
    before = numbers(folder, tmp_path / "kept")
    tops = [folder] if folder.name == "m" else [folder.parent]
    for name, file, text in [each for top in tops for each in fields(top)]:
        kept = file.read_bytes()
        try:
            file.write_text(text, encoding="utf-8")
            shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
            fresh = numbers(folder, tmp_path / "fresh")
            moved += fresh != before
            if fresh is not None and numbers(folder, tmp_path / "kept") != fresh:
                stale.append(name)
        except (
            Exception
        ) as error:  # what a library raises on such a value keeps no number
            print(f"{name} raises {type(error).__name__}")
        finally:
            file.write_bytes(kept)
    assert before
    assert moved > 3
    assert not stale
