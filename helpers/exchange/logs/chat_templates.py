"""What a prompt asks, whichever chat template it was put into."""

import json
import re

from helpers import UserError
from helpers.io import files

# The marks by which templates of Llama, Qwen, Gemma, Mistral, DeepSeek and others set
# off turns, and some of what they put at the start of an answer.
MARK_PATTERN = re.compile(
    r"(<[|｜][^<>\n]{1,40}[|｜]>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT)\]"
    r"|</?s>|<bos>|<(?:start|end)_of_turn>|</?think>)"
)
ROLES = ("system", "developer", "user", "human", "assistant", "model", "chatbot")
SYSTEM_NAMES = ("system", "developer", "sys", "system_prompt")


def text_without_template(prompt: str) -> str:
    r"""Return the words of a prompt's turns: no marks, no roles, no system text.

    >>> text_without_template("<|im_start|>system\nBe kind.<|im_end|>\n"
    ...     "<|im_start|>user\nWhere is Lyon?<|im_end|>\n<|im_start|>assistant\n")
    'Where is Lyon?'
    >>> text_without_template("[INST] <<SYS>>\nBe kind.\n<</SYS>>\nWhere? [/INST]")
    'Where?'
    """
    words: list[str] = []
    role = ""
    for number, piece in enumerate(MARK_PATTERN.split(_plain_prompt(prompt))):
        text = piece
        if number % 2:  # a mark
            text = ""
            name = piece.strip("<>[]|｜").casefold().removesuffix("_token")
            if name.startswith("/"):
                role = ""
            elif name in (*ROLES, *SYSTEM_NAMES):
                role = name
        else:
            head, _, rest = piece.strip().partition("\n")
            if number and head.strip().casefold() in ROLES:
                role = head.strip().casefold()
                text = rest
        if role not in SYSTEM_NAMES:
            words.extend(text.split())
    return " ".join(words)


def _plain_prompt(prompt: str) -> str:
    """Return a prompt as text, where it was logged as a list of messages or texts."""
    if not prompt.startswith("["):
        return prompt
    try:
        messages = files.parse_json(prompt, "a prompt")
    except UserError:  # a mark such as [INST]
        return prompt
    texts = []
    for message in messages:
        content = message
        if isinstance(message, dict):
            content = message.get("content", "")
            if message.get("role") in SYSTEM_NAMES:
                continue
        text = content if isinstance(content, str) else json.dumps(content)
        # A message that looks like a list is a text of its own, one level down.
        if isinstance(message, str) and text.startswith("[{"):
            text = _plain_prompt(text)
        texts.append(text)
    return "\n".join(texts)
