"""Other wordings of a text, made by a sequence-to-sequence paraphraser."""

from collections.abc import Sequence

import torch

from helpers import UserError
from helpers.models import Local

PARAPHRASE_PREFIX = "paraphrase: "


def paraphrase_texts(
    model: Local, texts: Sequence[str], n: int, max_new_tokens: int = 128
) -> list[list[str]]:
    """Return up to n different paraphrases of each text, the likeliest first.

    None is the text itself. The model follows "paraphrase: ...", as
    ``humarin/chatgpt_paraphraser_on_T5_base`` does (Vorobev and Kuznetsov 2023). There
    are fewer than n where beams end in the same words.
    """
    if model.kind != "seq2seq":
        raise UserError(
            f"{model.name} is no paraphraser: give a sequence-to-sequence model."
        )
    if n < 1:
        raise UserError(f"The number of paraphrases must be at least 1, not {n}.")
    return [_paraphrases_of_text(model, text, n, max_new_tokens) for text in texts]


def _paraphrases_of_text(
    model: Local, text: str, n: int, max_new_tokens: int
) -> list[str]:
    tokens = model.tokenizer(PARAPHRASE_PREFIX + text, return_tensors="pt")
    tokens = tokens.to(model.device)
    with torch.inference_mode():
        sequences = model.model.generate(
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            num_beams=2 * n,
            num_return_sequences=2 * n,
            max_new_tokens=max_new_tokens,
            do_sample=False,
        )
    paraphrases = []
    for line in model.tokenizer.batch_decode(sequences, skip_special_tokens=True):
        line = line.strip()
        if line and line != text and line not in paraphrases:
            paraphrases.append(line)
    return paraphrases[:n]
