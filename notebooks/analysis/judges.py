"""A model as judge: what means the same, what changes with time, what looks like it.

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
QUESTIONS_A_PROMPT = 20


def load_judge(name: str, **settings) -> LanguageModel:
    """Load a judge as `helpers.models.load` does; an error says so of the judge."""
    try:
        return models.load(name, **settings)
    except UserError as error:
        raise UserError(f"The judge does not load: {error}") from error


def judge_same_meaning(
    judge: LanguageModel, marked: pd.DataFrame, cache: str | Path | None = None
) -> pd.Series:
    """Ask a judge of each wrong response to seen questions if it means the same."""
    rows = marked[marked["seen"].astype(bool) & (marked["kind"] == "wrong")]
    if rows.empty:
        return pd.Series(dtype=bool)
    probes = []
    for row in rows.itertuples():
        prompt = same_meaning_prompt(row.question, row.answers, row.text)
        for option, verdict in enumerate(VERDICTS):
            probes.append((row.Index, "match", option, prompt, verdict))
    columns = ["item", "variant", "option", "prompt", "continuation"]
    table = pd.DataFrame(probes, columns=columns)
    answers = score(judge, table, cache=cache, progress=False)
    logprobs = answers["logprobs"].map(sum).to_numpy(dtype=float)
    yes, no = logprobs.reshape(-1, len(VERDICTS)).T
    return pd.Series(yes > no, index=rows.index)


def same_meaning_prompt(question: str, answers: Sequence[str], reply: str) -> str:
    """Return the prompt that asks whether a reply means the same as an answer."""
    return (
        f"{PROMPT_TEXTS['matches']}QUESTION: {question}\n"
        f"ACCEPTED: {' | '.join(answers)}\n"
        f"REPLY: {reply.strip()}\n"
        "SAME:"
    )


def judge_of_changing_answers(
    judge: LanguageModel, cache: str | Path | None = None
) -> Callable[[Sequence[str]], list[bool]]:
    """Return what asks a judge which questions' answers change every year.

    It takes questions and returns a truth value for each, as `seen_qa` wants.
    """

    def ask(questions: Sequence[str]) -> list[bool]:
        blocks = []
        prompts = []
        for start in range(0, len(questions), QUESTIONS_A_PROMPT):
            block = list(questions[start : start + QUESTIONS_A_PROMPT])
            lines = [f"{n}. {text}\n" for n, text in enumerate(block, start=1)]
            blocks.append(block)
            prompts.append(f"{PROMPT_TEXTS['changing']}{''.join(lines)}Index:\n")
        answers = generate(
            judge, prompts, max_new_tokens=80, cache=cache, progress=False
        )
        verdicts = []
        for block, text in zip(blocks, answers["text"], strict=True):
            numbers = set(re.findall(r"\d+", text.partition("\n")[0]))
            for n in range(1, len(block) + 1):
                verdicts.append(str(n) in numbers)
        return verdicts

    return ask


def write_distractors(
    judge: LanguageModel,
    responses: pd.DataFrame,
    n: int = 20,
    cache: str | Path | None = None,
) -> list[list[str]]:
    """Let a model write up to n wrong answers that look like each response."""
    head = PROMPT_TEXTS["distractors"].format(n=n)
    prompts = []
    for row in responses[["question", "text"]].itertuples():
        prompts.append(
            f"{head}QUESTION: {row.question}\nANSWER: {row.text.strip()}\nWRONG:"
        )
    answers = generate(
        judge, prompts, max_new_tokens=12 * n, cache=cache, progress=False
    )
    distractors = []
    for text in answers["text"]:
        parts = [part.strip(" .\n") for part in text.split(";")]
        different = dict.fromkeys(part for part in parts if part)
        distractors.append(list(different)[:n])
    return distractors
