"""Other wordings of a text, made by a sequence-to-sequence paraphraser."""

from collections.abc import Sequence

import torch

from helpers import UserError
from helpers.models import Local

PARAPHRASE_PREFIX = "paraphrase: "


def paraphrase_texts(
    model: Local, texts: Sequence[str], n: int, max_new_tokens: int = 128
) -> list[list[str]]:
    """Return up to n different paraphrases of each text, the likeliest first, none the text itself.

    The model follows "paraphrase: ...", as ``humarin/chatgpt_paraphraser_on_T5_base``
    does (Vorobev and Kuznetsov 2023). There are fewer than n where beams end in the
    same words.
    """
    if model.kind != "seq2seq":
        raise UserError(
            f"{model.name} is no paraphraser: give a sequence-to-sequence model."
        )
    if n < 1:
        raise UserError(f"The number of paraphrases must be at least 1, not {n}.")
    return [_one(model, text, n, max_new_tokens) for text in texts]


def _one(model: Local, text: str, n: int, max_new_tokens: int) -> list[str]:
    asked = model.tokenizer(PARAPHRASE_PREFIX + text, return_tensors="pt").to(
        model.device
    )
    with torch.inference_mode():
        found = model.model.generate(
            input_ids=asked["input_ids"],
            attention_mask=asked["attention_mask"],
            num_beams=2 * n,
            num_return_sequences=2 * n,
            max_new_tokens=max_new_tokens,
            do_sample=False,
        )
    told = [
        line.strip()
        for line in model.tokenizer.batch_decode(found, skip_special_tokens=True)
    ]
    different = dict.fromkeys(line for line in told if line and line != text)
    return list(different)[:n]
