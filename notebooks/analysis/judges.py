"""A model as judge: what means the same, what changes with time, what could be mistaken for it.

Zheng, Lapata and Pan 2024: Table 5 word for word; Tables 7 and 8 in words of our own.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError, models
from helpers.models import LanguageModel
from helpers.probing.generation import generate
from helpers.probing.scoring import score
from helpers.prompts.prompt_texts import PROMPT_TEXTS

VERDICTS = (" yes", " no")
_BLOCK = 20  # questions judged in one prompt


def load_judge(name: str, **settings) -> LanguageModel:
    """Load a judge as `helpers.models.load` does; a mistake says that it is the judge's."""
    try:
        return models.load(name, **settings)
    except UserError as error:
        raise UserError(f"The judge does not load: {error}") from error


def judge_same_meaning(
    judge: LanguageModel, marked: pd.DataFrame, cache: str | Path | None = None
) -> pd.Series:
    """Ask a judge of each wrong response about seen knowledge whether it means the same."""
    rows = marked[marked["seen"].astype(bool) & (marked["kind"] == "wrong")]
    if not len(rows):
        return pd.Series(dtype=bool)
    prompts = [
        same_meaning_prompt(question, answers, text)
        for question, answers, text in zip(
            rows["question"], rows["answers"], rows["text"]
        )
    ]
    probes = [
        (index, "match", option, prompt, word)
        for index, prompt in zip(rows.index, prompts)
        for option, word in enumerate(VERDICTS)
    ]
    columns = ["item", "variant", "option", "prompt", "continuation"]
    answers = score(
        judge, pd.DataFrame(probes, columns=columns), cache=cache, progress=False
    )
    yes, no = answers["logprobs"].map(sum).to_numpy(dtype=float).reshape(-1, 2).T
    return pd.Series(yes > no, index=rows.index)


def same_meaning_prompt(question: str, answers: Sequence[str], reply: str) -> str:
    """Return the prompt that asks whether a reply means the same as an accepted answer."""
    asked = f"QUESTION: {question}\nACCEPTED: {' | '.join(answers)}\nREPLY: {reply.strip()}\nSAME:"
    return PROMPT_TEXTS["matches"] + asked


def judge_of_changing_answers(
    judge: LanguageModel, cache: str | Path | None = None
) -> Callable[[Sequence[str]], list[bool]]:
    """Return what asks a judge which questions' answers change every year, for `seen_qa`."""

    def ask(questions: Sequence[str]) -> list[bool]:
        blocks = [
            list(questions[i : i + _BLOCK]) for i in range(0, len(questions), _BLOCK)
        ]
        listed = [
            "".join(f"{n}. {text}\n" for n, text in enumerate(b, 1)) for b in blocks
        ]
        prompts = [f"{PROMPT_TEXTS['changing']}{lines}Index:\n" for lines in listed]
        texts = generate(
            judge, prompts, max_new_tokens=80, cache=cache, progress=False
        )["text"]
        named = [set(re.findall(r"\d+", text.partition("\n")[0])) for text in texts]
        return [
            str(n) in said
            for b, said in zip(blocks, named)
            for n in range(1, len(b) + 1)
        ]

    return ask


def write_distractors(
    judge: LanguageModel,
    responses: pd.DataFrame,
    n: int = 20,
    cache: str | Path | None = None,
) -> list[list[str]]:
    """Let a model write up to n wrong answers that look like each response."""
    rows = zip(responses["question"], responses["text"])
    head = PROMPT_TEXTS["distractors"].format(n=n)
    prompts = [
        f"{head}QUESTION: {asked}\nANSWER: {text.strip()}\nWRONG:"
        for asked, text in rows
    ]
    texts = generate(
        judge, prompts, max_new_tokens=12 * n, cache=cache, progress=False
    )["text"]
    lists = ([part.strip(" .\n") for part in text.split(";")] for text in texts)
    return [list(dict.fromkeys(filter(None, parts)))[:n] for parts in lists]
