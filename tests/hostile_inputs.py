"""Names, facts and a model that would do harm if a page took their words for markup."""

import json
from functools import cache
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from tests import tiny_models

# Each would leave a mark: a variable in the page, an element, a request, a formula, a
# link.
HOSTILE_STRINGS = (
    "<script>hit=1</script>",
    "<img src=x onerror=hit=1>",
    '"><svg onload=hit=1>',
    "[click](javascript:hit=1)",
    r"$\frac{$ \(x\) \begin{x}",
    "a\x07\x1b[31mb\x00\u202e",
    "{math}`x^2` {{ 7 * 7 }}",
    "&lt;b&gt; | c",
    "![x](x) `",
    "#!*_~\\",
)
SAYABLE_STRINGS = tuple(text for text in HOSTILE_STRINGS if "\x00" not in text)
HOSTILE_FOLDER_NAME = (
    "<img src=x onerror=hit=1> $_$"  # no slash, else anything can name a folder
)
NUMBER_OF_FACTS = 40


@cache
def hostile_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with a token for each of the strings."""
    made = tiny_models.byte_tokenizer("bos")
    made.add_tokens([f" {text}" for text in SAYABLE_STRINGS])
    return made


def write_hostile_model(folder: Path) -> Path:
    """Write a tiny random model that says one of the strings, whatever it is asked."""
    words = hostile_tokenizer()
    made = tiny_models.tiny_network(
        "llama", 0, vocab_size=len(words), max_position_embeddings=2048
    )
    says = words.convert_tokens_to_ids(f" {SAYABLE_STRINGS[1]}")
    with torch.no_grad():
        made.model.embed_tokens.weight[:, 0] = (
            3.0  # in every hidden state, a large first number
        )
        made.lm_head.weight[:, 0] = 0.0  # which speaks for one token alone
        made.lm_head.weight[says, 0] = 5.0
    path = folder / HOSTILE_FOLDER_NAME
    made.save_pretrained(path)
    words.save_pretrained(path)
    return path


def _word(kind: str, number: int) -> str:
    return f"{kind}{number} {HOSTILE_STRINGS[number % len(HOSTILE_STRINGS)]}"


def _said(number: int) -> str:
    """Return a string that has a token; some answers of the model are right, therefore."""
    return SAYABLE_STRINGS[number % len(SAYABLE_STRINGS)]


def write_hostile_facts(folder: Path) -> Path:
    """Write facts in FKTC's format, with such names and questions; return their folder."""
    path = folder / f"facts {HOSTILE_FOLDER_NAME}"
    path.mkdir()
    for relation in ("P17", HOSTILE_FOLDER_NAME):
        frames = [f"Which {text} of [X]?" for text in HOSTILE_STRINGS[:3]]
        lines = [{"relations": frames}]
        for number in range(NUMBER_OF_FACTS):
            wrong = [_said(number + step) for step in range(1, 6)]
            fact = {
                "subject": _word("s", number),
                "object": _said(number),
                "taxonomy": wrong,
            }
            lines.append(fact)
        text = "\n".join(map(json.dumps, lines)) + "\n"
        (path / f"{relation}.json").write_text(text, encoding="utf-8")
    return path


def write_hostile_questions(folder: Path) -> Path:
    """Write open questions with such answers, as Natural Questions has them; return the file."""
    path = folder / f"open {HOSTILE_FOLDER_NAME}.jsonl"
    rows = [
        {"question": _word("who", n), "answer": [_said(n)]}
        for n in range(NUMBER_OF_FACTS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def write_hostile_choices(folder: Path) -> Path:
    """Write questions with such options as a CSV of the reader's own; return the file."""
    path = folder / f"choices {HOSTILE_FOLDER_NAME}.csv"
    lines = ["question,options,answer"]
    for n in range(NUMBER_OF_FACTS):
        options = [_said(n + step) for step in range(3)]
        cells = [_word("which", n), json.dumps(options), str(n % 3)]
        lines.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
