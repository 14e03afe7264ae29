"""A model as judge: what means the same, what changes with time, what could be mistaken for it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError, models
from helpers.models import LanguageModel
from helpers.probing.generation import generate
from helpers.probing.scoring import score
from helpers.prompts import judging

_BLOCK = 20  # questions judged in one prompt


def load(name: str, **settings) -> LanguageModel:
    """Load a judge as `helpers.models.load` does; a mistake says that it is the judge's."""
    try:
        return models.load(name, **settings)
    except UserError as error:
        raise UserError(f"The judge does not load: {error}") from error


def same_meaning(
    judge: LanguageModel, marked: pd.DataFrame, cache: str | Path | None = None
) -> pd.Series:
    """Ask a judge about every wrong response to a question about seen knowledge.

    It says yes if " yes" is more probable than " no" after the question (a tie is a no). The index
    is that of those rows of `marked`, for `helpers.metrics.responses.accept`.
    """
    rows = marked[marked["seen"].astype(bool) & (marked["kind"] == "wrong")]
    if not len(rows):
        return pd.Series(dtype=bool)
    prompts = [
        judging.matches(question, answers, text)
        for question, answers, text in zip(rows["question"], rows["answers"], rows["text"])
    ]
    probes = [
        (index, "match", option, prompt, word)
        for index, prompt in zip(rows.index, prompts)
        for option, word in enumerate(judging.VERDICTS)
    ]
    columns = ["item", "variant", "option", "prompt", "continuation"]
    answers = score(judge, pd.DataFrame(probes, columns=columns), cache=cache, progress=False)
    yes, no = answers["logprobs"].map(sum).to_numpy(dtype=float).reshape(-1, 2).T
    return pd.Series(yes > no, index=rows.index)


def changes_with_time(
    judge: LanguageModel, cache: str | Path | None = None
) -> Callable[[Sequence[str]], list[bool]]:
    """Return what asks a judge which questions' answers change every year, for `seen_qa`."""

    def ask(questions: Sequence[str]) -> list[bool]:
        blocks = [list(questions[i : i + _BLOCK]) for i in range(0, len(questions), _BLOCK)]
        prompts = [judging.changing(block) for block in blocks]
        texts = generate(judge, prompts, max_new_tokens=80, cache=cache, progress=False)["text"]
        found = [judging.read_changing(text, len(block)) for text, block in zip(texts, blocks)]
        return [changing for block in found for changing in block]

    return ask


def distractors(
    judge: LanguageModel,
    responses: pd.DataFrame,
    n: int = 20,
    cache: str | Path | None = None,
) -> list[list[str]]:
    """Let a model write up to n wrong answers that look like each response."""
    rows = zip(responses["question"], responses["text"])
    prompts = [judging.make_distractors(question, text, n) for question, text in rows]
    texts = generate(judge, prompts, max_new_tokens=12 * n, cache=cache, progress=False)["text"]
    return [judging.read_distractors(text)[:n] for text in texts]
