"""Multiple-choice questions that ask again for a response, among answers like it.

K questions of five options: the response, three distractors and "unsure", in a drawn
order (Zheng, Lapata and Pan 2024, section 3.3). The wording is ours: the paper does not
print its own.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.prompts.prompt_texts import UNSURE_ANSWER, question_above_options

OPTION_LETTERS = "ABCDEFGHIJ"


def draw_response_distractors(
    responses: pd.DataFrame,
    pool: Mapping[str, Sequence[str]],
    n: int = 20,
    seed: int = 0,
    spelling: Callable[[str], str] = str.casefold,
) -> list[list[str]]:
    """Draw wrong answers to each response from its pool, by seed, item and text alone."""
    spelt = {name: {spelling(answer): answer for answer in pool[name]} for name in pool}
    found = []
    for item, text, name in zip(
        responses["item"], responses["text"], responses["pool"]
    ):
        others = spelt.get(name, {})
        said = spelling(text.strip())
        wrong = [answer for key, answer in others.items() if key and key != said]
        order = _random(seed, item, text, 1).permutation(len(wrong))[:n]
        found.append([wrong[place] for place in order])
    return found


def consistency_probes(
    responses: pd.DataFrame,
    k: int = 20,
    n_options: int = 5,
    by: str = "text",
    seed: int = 0,
) -> pd.DataFrame:
    """Make K multiple-choice questions of every response that has distractors enough."""
    if k < 1 or not 3 <= n_options <= len(OPTION_LETTERS):
        raise UserError(
            f"Give at least 1 question and 3 to {len(OPTION_LETTERS)} options, not {k} and {n_options}."
        )
    if by not in ("text", "letter"):
        raise UserError(f'An option is chosen by "text" or by "letter", not by "{by}".')
    rows = []
    for said in responses.itertuples():
        if len(said.distractors) < n_options - 2:
            continue
        random = _random(seed, said.item, said.text, 2)
        for number in range(k):
            wrong = random.choice(len(said.distractors), n_options - 2, replace=False)
            options = [
                said.text.strip(),
                *(said.distractors[i] for i in wrong),
                UNSURE_ANSWER,
            ]
            order = random.permutation(n_options)
            shown = [options[place] for place in order]
            if by == "text":
                prompt = question_above_options(said.question, shown)
            else:
                lines = "".join(
                    f"{letter}. {text}\n" for letter, text in zip(OPTION_LETTERS, shown)
                )
                prompt = f"QUESTION: {said.question}\n{lines}ANSWER:"
            for option, (place, text) in enumerate(zip(order, shown)):
                word = text if by == "text" else OPTION_LETTERS[option]
                head = (said.item, f"mc{number}", option, prompt, f" {word}")
                rows.append((*head, bool(place == 0), text))
    columns = [
        "item",
        "variant",
        "option",
        "prompt",
        "continuation",
        "correct",
        "shown",
    ]
    return pd.DataFrame(rows, columns=columns)


def responses_to_ask_again(responses: pd.DataFrame) -> pd.DataFrame:
    """Return what is to be asked again: every informative response to every question, once."""
    told = responses[responses["label"] != "uninformative"]
    told = told.assign(item=told["item"] + " " + told["text"].str.strip())
    return told.drop_duplicates("item").reset_index(drop=True)


def _random(seed: int, item: str, text: str, part: int) -> np.random.Generator:
    return np.random.default_rng(
        [seed, part, zlib.crc32(f"{item}\n{text.strip()}".encode())]
    )
