"""A finished model as a folder that the transformers library loads without a network."""

import json
from pathlib import Path

import pandas as pd
import torch
from safetensors.torch import save_file
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast


def release(
    llama: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    exposures: pd.DataFrame,
    report: dict,
    folder: Path,
) -> None:
    """Write weights (bfloat16), configuration, tokenizer, exposures and the training's report."""
    folder.mkdir(parents=True, exist_ok=True)
    config = llama.config
    config.architectures = ["LlamaForCausalLM"]
    config.dtype = torch.bfloat16
    config.save_pretrained(folder)
    weights = {
        name: value.detach().to(torch.bfloat16).contiguous()
        for name, value in llama.state_dict().items()
        if name != "lm_head.weight"  # tied to the embeddings
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    tokenizer.save_pretrained(folder)
    GenerationConfig(
        bos_token_id=config.bos_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
        do_sample=False,
    ).save_pretrained(folder)
    exposures.rename_axis("fact").to_csv(folder / "exposures.csv")
    text = json.dumps(report, indent=1, ensure_ascii=False)
    (folder / "training.json").write_text(text + "\n", encoding="utf-8")
