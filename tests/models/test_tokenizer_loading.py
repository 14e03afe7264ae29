"""A tokenizer writes as its own file does, whatever class its settings name."""

import json

import pytest
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers import models as tokenizer_models
from transformers.models.auto import tokenization_auto

from helpers import UserError, models
from helpers.models import checkpoints, tokenizer_loading
from tests import tiny_models

TEXTS = [
    " in 1969 and 2023",
    "Lyon  joined\n\nFrance in 1307.",
    "CAFÉ cafe\u0301 東京 🙂 don't",
    " <s> x </s> ",
]


def word_pieces():
    """Return a tokenizer in WordPiece, as BERT's, that keeps capitals."""
    tokenizer = Tokenizer(tokenizer_models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=300,
        special_tokens=["[UNK]", "[CLS]", "[SEP]", "<s>", "</s>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(tiny_models.TOKENIZER_TEXTS, trainer)
    return tokenizer


def digits_in_threes():
    """Return a byte-level tokenizer that splits digits in threes, as Phi-4's."""
    tokenizer = Tokenizer(tokenizer_models.BPE())
    pattern = r"\p{N}{1,3}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = [*tiny_models.TOKENIZER_TEXTS, " 202 1969 196 9 2023 " * 50]
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


FILES = {
    "bytes": lambda: tiny_models.byte_tokenizer("bos").backend_tokenizer,
    "threes": digits_in_threes,
    "pieces": lambda: tiny_models.piece_tokenizer("bos").backend_tokenizer,
    "fallback": lambda: tiny_models.fallback_tokenizer().backend_tokenizer,
    "words": word_pieces,
}
FREQUENT_CLASSES = (
    "Qwen2Tokenizer",
    "GPTNeoXTokenizerFast",
    "LlamaTokenizer",
    "GemmaTokenizer",
    "BertTokenizer",
    "AlbertTokenizer",
    "RobertaTokenizer",
)


def folder_with(place, tokenizer, tokenizer_class, **settings):
    """Return a folder with a tokenizer's file and the class that is named for it."""
    place.mkdir(exist_ok=True)
    tokenizer.save(str(place / "tokenizer.json"))
    (place / "config.json").write_text('{"model_type": "llama"}')
    settings = {"tokenizer_class": tokenizer_class, **settings}
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    return place


def differences(tokenizer, place):
    """Return the texts that a tokenizer writes otherwise than its file alone."""
    alone = Tokenizer.from_file(str(place / "tokenizer.json"))
    different = []
    for text in TEXTS:
        for special in (False, True):
            ids = tokenizer(text, add_special_tokens=special)["input_ids"]
            if list(ids) != alone.encode(text, add_special_tokens=special).ids:
                different.append(text)
    return different


@pytest.mark.parametrize("tokenizer_class", FREQUENT_CLASSES)
@pytest.mark.parametrize("file", FILES)
def test_ids_are_those_of_the_file(tmp_path, file, tokenizer_class):
    place = folder_with(tmp_path / "m", FILES[file](), tokenizer_class)
    tokenizer = tokenizer_loading.load_tokenizer(place, "m")
    assert differences(tokenizer, place) == []


@pytest.mark.slow
def test_ids_are_those_of_the_file_whatever_class_is_named(tmp_path):
    names = sorted(
        set(filter(None, tokenization_auto.TOKENIZER_MAPPING_NAMES.values()))
    )
    assert len(names) > 80
    for file, make in FILES.items():
        tokenizer_of_file = make()
        for name in names:
            place = folder_with(tmp_path / "m", tokenizer_of_file, name)
            tokenizer = tokenizer_loading.load_tokenizer(place, "m")
            assert differences(tokenizer, place) == [], (file, name)


def test_a_model_is_loaded_with_the_tokenizer_of_its_file(tmp_path, caplog):
    place = tmp_path / "m"
    network = tiny_models.tiny_network("llama", vocab_size=400)
    network.save_pretrained(place)
    config = (place / "config.json").read_text()
    folder_with(place, digits_in_threes(), "Qwen2Tokenizer", eos_token="</s>")
    (place / "config.json").write_text(config)
    lm = models.load(place, device="cpu")
    tokens = lm.tokenizer.convert_ids_to_tokens(lm.tokenizer(" 1969")["input_ids"])
    assert tokens == ["Ġ", "196", "9"]
    assert lm.tokenizer.eos_token == "</s>"
    assert "(Qwen2Tokenizer) would write" in caplog.text
    assert "the file's own tokenizer is used" in caplog.text


def test_special_tokens_of_the_settings_are_kept(tmp_path):
    tokenizer = digits_in_threes()
    size = tokenizer.get_vocab_size()
    settings = {"bos_token": "<s>", "pad_token": "<pad>", "add_bos_token": True}
    place = folder_with(tmp_path / "m", tokenizer, "Qwen2Tokenizer", **settings)
    loaded = tokenizer_loading.load_tokenizer(place, "m")
    assert (loaded.bos_token, loaded.pad_token) == ("<s>", "<pad>")
    assert loaded("a<pad>", add_special_tokens=False)["input_ids"][-1] == size


def test_special_tokens_that_the_class_knows_are_kept_if_the_file_has_them(tmp_path):
    tokenizer = digits_in_threes()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    place = folder_with(tmp_path / "m", tokenizer, "Qwen2Tokenizer")
    assert tokenizer_loading.load_tokenizer(place, "m").eos_token == "<|endoftext|>"


def test_a_tokenizer_that_agrees_is_left_alone(tmp_path, caplog):
    tiny_models.byte_tokenizer("bos").save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    tokenizer_loading.load_tokenizer(tmp_path, "m")
    assert caplog.text == ""


@pytest.mark.parametrize(
    "tokenizer_class", ["PreTrainedTokenizerFast", "GPT2Tokenizer"]
)
def test_a_file_that_splits_by_chance_is_loaded_without(
    tmp_path, caplog, tokenizer_class
):
    tokenizer = digits_in_threes()
    certain = [tokenizer.encode(text).ids for text in TEXTS]
    tokenizer.model.dropout = 0.9
    place = folder_with(tmp_path / "m", tokenizer, tokenizer_class)
    loaded = tokenizer_loading.load_tokenizer(place, "m")
    for _ in range(5):
        assert [loaded(text)["input_ids"] for text in TEXTS] == certain
    assert "m splits texts by chance (its dropout)" in caplog.text


WORD = {"content": "France", "special": False, "normalized": False}
SETTINGS_WITH_WORDS = {
    "other_id": {"added_tokens_decoder": {"50": WORD}},
    "special": {"added_tokens_decoder": {"50": WORD | {"special": True}}},
    "pad": {"pad_token": "France"},
    "letter": {"unk_token": "a"},
    "additional": {"additional_special_tokens": ["France"]},
    "named": {"extra_special_tokens": {"image_token": "France"}},
    "absent": {"added_tokens_decoder": {"400": WORD | {"content": "Brno x"}}},
}


@pytest.mark.parametrize("settings", SETTINGS_WITH_WORDS)
def test_settings_that_make_a_word_a_token_are_refused(tmp_path, settings):
    given = SETTINGS_WITH_WORDS[settings]
    place = folder_with(tmp_path / "m", digits_in_threes(), "GPT2Tokenizer", **given)
    with pytest.raises(UserError, match=r"m make '.+' a token of its own, and its tok"):
        tokenizer_loading.load_tokenizer(place, "m")


def test_settings_that_make_a_mark_a_token_are_said(tmp_path, caplog):
    place = folder_with(
        tmp_path / "m", word_pieces(), "PreTrainedTokenizerFast", pad_token="'"
    )
    tokenizer_loading.load_tokenizer(place, "m")
    assert 'make "\'" a token of its own' in caplog.text
    file_with = digits_in_threes()
    file_with.add_tokens(["France"])  # here the file has it
    own = folder_with(tmp_path / "n", file_with, "PreTrainedTokenizerFast")
    loaded = tokenizer_loading.load_tokenizer(own, "n")
    assert differences(loaded, own) == []


def test_a_tokenizer_without_such_a_file_is_said(tmp_path, caplog):
    place = folder_with(tmp_path / "m", digits_in_threes(), "GPT2Tokenizer")
    model = json.loads((place / "tokenizer.json").read_text())["model"]
    (place / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [" ".join(pair) for pair in model["merges"]]
    (place / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]))
    (place / "tokenizer.json").unlink()
    tokenizer_loading.load_tokenizer(place, "m")
    assert caplog.text.count("m has no tokenizer.json: its tokens are those") == 1


def test_bundled_tokenizers_are_those_of_their_files(caplog):
    for name in models.bundled_models():
        loaded = models.load(name)
        folder = checkpoints.BUNDLED_MODELS_FOLDER / name
        assert differences(loaded.tokenizer, folder) == []
    assert "would write" not in caplog.text
