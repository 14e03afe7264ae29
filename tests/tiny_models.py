"""Tiny random models of every architecture that the four papers name, and small tokenizers."""

import copy
import dataclasses
from functools import cache
from pathlib import Path

import torch
import transformers
import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from helpers.models import Local, model_slug
from helpers.models.language_model import Trials

TOKENIZER_TEXTS = [
    "Which country is Lyon in? France",
    "France. Which country is Lyon in? France",
    "Lyon is located in France. Turin is located in Italy. Bern is the capital of Switzerland.",
    "Statement: Lyon is located in France. The statement is True or False? True",
    "Alan Kay was born in 1940. Ada Lovelace was born in 1815. He was born in 1945, she in 1946.",
    "a smile :) and another smile :) in a café, deux cafés, trois cafés, a code: 1940 1945 1946",
] * 3

# name: (class of the configuration, its settings)
_READ = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
CAUSAL_FAMILIES, SEQ2SEQ_FAMILIES, FURTHER_FAMILIES = (
    _READ[kind] for kind in ("causal", "seq2seq", "more")
)
VOCABULARY_SIZE = _READ["small"]["vocab_size"]
ALL_FAMILIES = sorted([*CAUSAL_FAMILIES, *SEQ2SEQ_FAMILIES])


def byte_tokenizer(special: str = "none") -> PreTrainedTokenizerFast:
    """Return a byte-level BPE as GPT-2's; special is "none", "bos" or "bos+eos"."""
    return copy.deepcopy(_byte_tokenizer(special))  # a test may add tokens to its own


@cache
def _byte_tokenizer(special: str) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TOKENIZER_TEXTS, trainer)
    if special != "none":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>" if special == "bos+eos" else "<s> $A",
            special_tokens=[("<s>", 0), ("</s>", 1)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token=None
    )


def piece_tokenizer(special: str = "eos") -> PreTrainedTokenizerFast:
    """Return a SentencePiece-like unigram tokenizer; special is "eos" (T5) or "bos" (Llama)."""
    return copy.deepcopy(_piece_tokenizer(special))


@cache
def _piece_tokenizer(special: str) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200,
        special_tokens=["<pad>", "</s>", "<unk>", "<s>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(TOKENIZER_TEXTS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>" if special == "eos" else "<s> $A",
        special_tokens=[("</s>", 1), ("<s>", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        bos_token="<s>",
    )


def fallback_tokenizer() -> PreTrainedTokenizerFast:
    """Return a SentencePiece-like BPE as Llama's, which writes most characters as their bytes."""
    known = sorted(
        {letter for text in TOKENIZER_TEXTS for letter in text} - {" ", "\n"}
    )
    pieces = [
        "<s>",
        "</s>",
        "<unk>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁",
        *known,
    ]
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message.content }}\n"
    "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}"
)


def chat_tokenizer() -> PreTrainedTokenizerFast:
    """Return the byte-level tokenizer with a first token of its own and a chat template."""
    tokenizer = byte_tokenizer("bos")
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def tiny_network(family: str, seed: int = 0, **changes) -> transformers.PreTrainedModel:
    """Return a tiny random model of a family, its weights spread so that logits differ."""
    name, settings = (CAUSAL_FAMILIES | SEQ2SEQ_FAMILIES | FURTHER_FAMILIES)[family]
    settings = {"bos_token_id": 0, "eos_token_id": 1, **settings, **changes}
    config = getattr(transformers, name)(**settings)
    torch.manual_seed(seed)
    auto = transformers.AutoModelForSeq2SeqLM if family in SEQ2SEQ_FAMILIES else None
    network = (
        (auto or transformers.AutoModelForCausalLM).from_config(config).float().eval()
    )
    # Wider attention of T5, which is not scaled, and experts would only add to the
    # rounding.
    spread = {"t5": 1.5, "flan_t5": 1.1, "mt5": 1.1}.get(family, 4)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1:
                weight.mul_(spread)
        if family in ("flan_t5", "mt5"):
            network.lm_head.weight.mul_(
                0.2
            )  # a head of its own starts with wide logits
    return network


def tiny_language_model(
    family: str = "llama", tokenizer=None, seed: int = 0, chat: bool = False, **changes
) -> Local:
    """Return a tiny random model of a family."""
    kind = "seq2seq" if family in SEQ2SEQ_FAMILIES else "causal"
    if tokenizer is None:
        tokenizer = piece_tokenizer() if kind == "seq2seq" else byte_tokenizer("bos")
    made = tiny_network(family, seed, **{"vocab_size": len(tokenizer), **changes})
    config = made.config
    limit = None if family in (*SEQ2SEQ_FAMILIES, "bloom") else 128
    return Local(
        name=f"tiny-{family}",
        slug=model_slug(f"tiny-{family}"),
        model=made,
        tokenizer=tokenizer,
        kind=kind,
        device=torch.device("cpu"),
        dtype=torch.float32,
        max_length=limit,
        weights_sha=f"{family}-{seed}-{config.vocab_size}",
        revision=None,
        n_parameters=sum(weight.numel() for weight in made.parameters()),
        prompt_format="chat" if chat else "bare",
    )


def untried(lm: Local) -> Local:
    """Return the same model, as if it had never been scored."""
    return dataclasses.replace(lm, trials=Trials())


def save_tiny_model(
    folder: Path, family: str = "llama", tokenizer=None, **settings
) -> Path:
    """Write a tiny model and its tokenizer as safetensors and return the folder."""
    lm = tiny_language_model(family, tokenizer)
    lm.model.save_pretrained(folder, **settings)
    lm.tokenizer.save_pretrained(folder)
    return folder


@torch.no_grad()
def naive_logprobs(lm: Local, ids, start: int, source=()) -> list[float]:
    """Return the log-probabilities of ids[start:] from one forward of one sequence."""
    inputs = {"input_ids": torch.tensor([ids])}
    if source:
        inputs = {
            "input_ids": torch.tensor([source]),
            "decoder_input_ids": torch.tensor([ids]),
        }
    # With a cache, FSMT's decoder would see what comes after.
    logits = lm.model(**inputs, use_cache=False).logits[0].double().log_softmax(-1)
    return [logits[at - 1, ids[at]].item() for at in range(start, len(ids))]


@cache
def published_tokenizer(folder: Path, vocabulary: str) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a published model, read from a file that holds its vocabulary."""
    return AutoTokenizer.from_pretrained(
        folder, gguf_file=f"ggml-vocab-{vocabulary}.gguf"
    )
