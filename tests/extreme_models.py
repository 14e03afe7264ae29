"""Models that answer in ways that real ones do, made in seconds: they know nothing, never stop
talking, refuse everything, answer in whole sentences, or are of another kind."""

import shutil
from pathlib import Path

import torch
import transformers
from tokenizers import AddedToken
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from helpers import datasets, prompts
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER

SMALL_SIZES = {
    "hidden_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}


def _tokenizer(name: str = "atlas-xs") -> transformers.PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(BUNDLED_MODELS_FOLDER / name)


def _save(folder: Path, model: transformers.PreTrainedModel, tokenizer) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _ids(tokenizer) -> dict[str, int]:
    return {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }


def save_random_model(folder: Path) -> Path:
    """Save a model with random weights."""
    tokenizer = _tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(**SMALL_SIZES, **_ids(tokenizer), vocab_size=len(tokenizer))
    return _save(folder, LlamaForCausalLM(config), tokenizer)


def save_repeating_model(folder: Path, words: list[str], last: str) -> Path:
    """Save a model that says the same words after anything, then `last`, one token each."""
    tokenizer = _tokenizer()
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in words])
    chain = tokenizer.convert_tokens_to_ids(words)
    ends = tokenizer(last, add_special_tokens=False)["input_ids"]
    assert len(ends) == 1, f"{last!r} is not one token"
    torch.manual_seed(0)
    config = LlamaConfig(**SMALL_SIZES, **_ids(tokenizer), vocab_size=len(tokenizer))
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        layer = model.model.layers[0]
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()  # so the next word hangs on the last one alone
        known = torch.nn.functional.normalize(torch.randn(len(tokenizer), 127), dim=1)
        table = torch.cat([torch.ones(len(tokenizer), 1), known], dim=1)
        model.model.embed_tokens.weight.copy_(table)
        head = torch.zeros(len(tokenizer), 128)
        head[chain[0], 0] = 3.0  # after any other token
        for word, following in zip(chain, [*chain[1:], *ends]):
            head[following, 1:] += 5.0 * known[word]
        model.lm_head.weight.copy_(head)
    return _save(folder, model, tokenizer)


def save_endless_model(folder: Path) -> Path:
    return save_repeating_model(folder, [" and", " so", " on"], " and")


def save_refusing_model(folder: Path) -> Path:
    return save_repeating_model(
        folder, [" I", " cannot", " answer", " that", "."], "\n"
    )


def save_talkative_model(folder: Path, steps: int = 150) -> Path:
    """Save a bundled model that was tuned to answer in sentences: " I think it is France."."""
    tokenizer = _tokenizer()
    model = LlamaForCausalLM.from_pretrained(
        BUNDLED_MODELS_FOLDER / "atlas-xs", dtype=torch.float32
    )
    facts = datasets.load("atlas", n=20, seed=1)
    rows = prompts.monitor_probes(facts, datasets.prompt_frames("atlas"))
    rows = rows[rows["context"] != "wrong"].sample(frac=1, random_state=0)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
    for step in range(steps):
        batch = rows.iloc[16 * step : 16 * step + 16]
        asked = tokenizer(list(batch["prompt"]))["input_ids"]
        said = [f" I think it is{text}.\n" for text in batch["continuation"]]
        said = tokenizer(said, add_special_tokens=False)["input_ids"]
        texts = [torch.tensor(a + b) for a, b in zip(asked, said)]
        labels = [torch.tensor([-100] * len(a) + b) for a, b in zip(asked, said)]
        pad = torch.nn.utils.rnn.pad_sequence
        given = pad(
            texts, batch_first=True
        )  # on the right, where no real token sees it
        model(input_ids=given, labels=pad(labels, True, -100)).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return _save(folder, model.eval(), tokenizer)


def save_tuned_model(folder: Path) -> Path:
    """Save a tuned model with a chat template, under a name that the book does not know."""
    return Path(shutil.copytree(BUNDLED_MODELS_FOLDER / "atlas-m-chat", folder))


def save_sequence_to_sequence_model(folder: Path) -> Path:
    tokenizer = _tokenizer()
    torch.manual_seed(0)
    sizes = {"d_model": 64, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 4}
    start = {"decoder_start_token_id": tokenizer.bos_token_id, **_ids(tokenizer)}
    config = transformers.T5Config(**sizes, **start, vocab_size=len(tokenizer))
    model = transformers.T5ForConditionalGeneration(config)
    return _save(folder, model, tokenizer)


def save_state_space_model(folder: Path) -> Path:
    tokenizer = _tokenizer()
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "state_size": 4}
    config = transformers.MambaConfig(
        **sizes, **_ids(tokenizer), vocab_size=len(tokenizer)
    )
    return _save(folder, transformers.MambaForCausalLM(config), tokenizer)


MODEL_MAKERS = {
    "ignorant": save_random_model,
    "endless": save_endless_model,
    "refusing": save_refusing_model,
    "talkative": save_talkative_model,
    "tuned": save_tuned_model,
    "sequence_to_sequence": save_sequence_to_sequence_model,
    "state_space": save_state_space_model,
}
