"""Multiple-choice questions that ask again for a response, among answers like it.

K questions of five options: the response, three distractors and "unsure", in a drawn
order (Zheng, Lapata and Pan 2024, section 3.3). The wording is ours: the paper does not
print its own.
"""

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.metrics.canonical import canonical_answer, canonical_readings
from helpers.prompts.prompt_texts import UNSURE_ANSWER, question_above_options

OPTION_LETTERS = "ABCDEFGHIJ"
PROBE_COLUMNS = (
    "item",
    "variant",
    "option",
    "prompt",
    "continuation",
    "correct",
    "shown",
)


def draw_response_distractors(
    responses: pd.DataFrame,
    pool: Mapping[str, Sequence[str]],
    n: int = 20,
    seed: int = 0,
) -> list[list[str]]:
    """Draw wrong answers to each response, by seed, item and text alone.

    Answers come from the response's pool; those that are a reading of the response, in
    any spelling (:mod:`helpers.metrics.canonical`), are left out.
    """
    answers_by_spelling = {}
    for name, answers in pool.items():
        spellings = {canonical_answer(answer): answer for answer in answers}
        answers_by_spelling[name] = spellings
    distractors = []
    for response in responses[["item", "text", "pool"]].itertuples():
        others = answers_by_spelling.get(response.pool, {})
        barred = {"", *canonical_readings(response.text.strip())}
        wrong = [answer for key, answer in others.items() if key not in barred]
        random = _generator(seed, response.item, response.text, 1)
        order = random.permutation(len(wrong))[:n]
        distractors.append([wrong[place] for place in order])
    return distractors


def consistency_probes(
    responses: pd.DataFrame,
    k: int = 20,
    n_options: int = 5,
    by: str = "text",
    seed: int = 0,
) -> pd.DataFrame:
    """Make K multiple-choice questions of each response with enough distractors."""
    if k < 1 or not 3 <= n_options <= len(OPTION_LETTERS):
        raise UserError(
            f"Give at least 1 question and 3 to {len(OPTION_LETTERS)} options, not {k} "
            f"and {n_options}."
        )
    if by not in ("text", "letter"):
        raise UserError(f'An option is chosen by "text" or by "letter", not by "{by}".')
    n_wrong = n_options - 2  # beside the response and "unsure"
    rows = []
    for response in responses.itertuples():
        if len(response.distractors) < n_wrong:
            continue
        text = response.text.strip()
        random = _generator(seed, response.item, text, 2)
        for number in range(k):
            places = random.choice(len(response.distractors), n_wrong, replace=False)
            wrong = [response.distractors[place] for place in places]
            options = [text, *wrong, UNSURE_ANSWER]
            order = random.permutation(n_options)
            shown = [options[place] for place in order]
            prompt = _question_with_options(response.question, shown, by)
            for option, place in enumerate(order):
                answer = shown[option] if by == "text" else OPTION_LETTERS[option]
                row = {
                    "item": response.item,
                    "variant": f"mc{number}",
                    "option": option,
                    "prompt": prompt,
                    "continuation": f" {answer}",
                    "correct": bool(place == 0),
                    "shown": shown[option],
                }
                rows.append(row)
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _question_with_options(question: str, options: Sequence[str], by: str) -> str:
    """Return a question with its options, each after a letter if that is the answer."""
    if by == "text":
        return question_above_options(question, options)
    lines = [f"QUESTION: {question}"]
    for letter, text in zip(OPTION_LETTERS, options, strict=False):  # more letters
        lines.append(f"{letter}. {text}")
    lines.append("ANSWER:")
    return "\n".join(lines)


def responses_to_ask_again(responses: pd.DataFrame) -> pd.DataFrame:
    """Return every informative response to every question, once."""
    informative = responses[responses["label"] != "uninformative"]
    item = informative["item"] + " " + informative["text"].str.strip()
    informative = informative.assign(item=item)
    return informative.drop_duplicates("item").reset_index(drop=True)


def _generator(seed: int, item: str, text: str, part: int) -> np.random.Generator:
    """Return the random numbers of one part of the draws for one response."""
    response = f"{item}\n{text.strip()}"
    return np.random.default_rng([seed, part, zlib.crc32(response.encode())])
