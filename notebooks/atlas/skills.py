"""What the bundled models can do besides answering: probes, each with its `condition`."""

import numpy as np
import pandas as pd

from helpers import prompts
from helpers.prompts import lists
from helpers.prompts.prompt_texts import (
    INSTRUCTION,
    question_above_options,
    question_after_options,
    shot_text,
)
from notebooks.atlas import recipe
from notebooks.atlas.corpus import Frames
from notebooks.atlas.invented_names import NameInventor
from notebooks.atlas.reading_documents import ReadingWriter

READING_EXERCISES = {  # name: kind and number of statements
    **{"a word": ("word", 1), "one statement": ("statements", 1)},
    **{
        "four statements": ("statements", 4),
        "options": ("choice", 1),
        "a check": ("check", 1),
    },
}
HELD_OUT_WEIGHTS = (
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    1.0,
    1.0,
)  # weights of the frames that training left out
UNHEARD_WORDING = (
    "[X] can be found at [Y].",
    "At which place can [X] be found?",
)  # in no training text
OPTION_LETTERS = "ABCDEF"
EXAMPLE_COUNTS = (0, 1, 2, 5, 10, 20, 50)
LINE_SEPARATOR = "colon and line"


def list_completion_probes(
    facts: pd.DataFrame, n_tests: int = 12, seed: int = 0
) -> pd.DataFrame:
    """Open a list of each relation with 0 to 50 examples before a subject."""
    sides = lists.divide_into_examples_and_tests(facts, 60, seed)
    pool = sides[sides["role"] == "example"]
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    options = {
        fact: [obj] for fact, obj in zip(tests["fact"], tests["object"], strict=True)
    }
    none, *more = (f"list, {n} examples" for n in EXAMPLE_COUNTS)
    alone = [
        lists.FactPrompt(
            row,
            none,
            *lists.open_pair_and_space(row.subject, LINE_SEPARATOR),
            separator=LINE_SEPARATOR,
        )
        for row in tests.itertuples()
    ]
    found = [lists.probes_with_choices(alone, options)]
    for n, condition in zip(EXAMPLE_COUNTS[1:], more, strict=True):
        found.append(
            lists.ic_lke_probes(
                tests, pool, options, n, LINE_SEPARATOR, seed, condition
            )
        )
    return pd.concat(found).assign(condition=lambda table: table["variant"])


def hundred_choice_probes(
    facts: pd.DataFrame, n_tests: int = 12, seed: int = 0
) -> pd.DataFrame:
    """Let the model choose among 100 objects, of relations that have them, after 50 examples."""
    many = facts.groupby("relation")["object"].transform("nunique") >= 100
    sides = lists.divide_into_examples_and_tests(facts[many], 60, seed)
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    options = lists.draw_choices(tests, facts, 100, seed)
    pool = sides[sides["role"] == "example"]
    return lists.ic_lke_probes(tests, pool, options, 50).assign(
        condition="choice of 100, list"
    )


def multiple_choice_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, sizes: tuple = (4, 5), seed: int = 0
):
    """Ask the base question with options, by text and by letter, and without showing them."""
    rng = np.random.default_rng([seed, 12])
    wrong, rows = facts.set_index("fact")["distractors"], []
    for row in prompts.question_probes(facts, frames, n_frames=1).itertuples():
        for size in sizes:
            shown = [row.object, *wrong[row.item][: size - 1]]
            if len(shown) < size:
                continue
            order = rng.permutation(size)
            for way, prompt, said in _ways(
                row.prompt, [shown[place] for place in order]
            ):
                head, condition = (row.item, row.relation), f"choice of {size}, {way}"
                for option, place in enumerate(order):
                    asked = (
                        f"{way}{size}",
                        option,
                        prompt,
                        f" {said[option]}",
                        place == 0,
                    )
                    rows.append((*head, *asked, condition))
    columns = [
        "item",
        "relation",
        "variant",
        "option",
        "prompt",
        "continuation",
        "correct",
    ]
    return pd.DataFrame(rows, columns=[*columns, "condition"])


def _ways(question: str, words: list[str]) -> list[tuple[str, str, list[str]]]:
    lettered = "\n".join(
        f"{letter}. {word}" for letter, word in zip(OPTION_LETTERS, words, strict=False)
    )
    return [
        ("before", question_after_options(question, words), words),
        ("below", question_above_options(question, words), words),
        ("not shown", question, words),
        (
            "by letter",
            f"QUESTION: {question}\n{lettered}\nANSWER:",
            list(OPTION_LETTERS[: len(words)]),
        ),
    ]


def reading_exercise_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n: int, seed: int = 1
) -> pd.DataFrame:
    """Write exercises in reading, about invented subjects."""
    inventor, usual, rows = NameInventor(facts), recipe.load_recipe(), []
    trained, held_out = (
        Frames(frames, usual.corpus.frame_weights),
        Frames(frames, HELD_OUT_WEIGHTS),
    )
    ways = []
    for name, way in READING_EXERCISES.items():
        ways.append((name, *way, "frames", trained))
        ways.append((f"{name}, held out", *way, "frames", held_out))
    ways.append(("one statement, unheard", "statements", 1, "everyday", held_out))
    for condition, kind, statements, wordings, drawn in ways:
        design = usual.reading.changed(least=statements, most=statements)
        design |= {"kinds": {kind: 1.0}, "wordings": {wordings: 1.0}}
        reader = ReadingWriter(
            facts, drawn, design, inventor, everyday=[UNHEARD_WORDING]
        )
        rng = np.random.default_rng([seed, 9])
        for _ in range(n):
            pieces = reader.write(rng).pieces
            first = next(place for place, piece in enumerate(pieces) if piece.weight)
            told = "".join(piece.text for piece in pieces[:first])
            rows.append((f"reading, {condition}", told, pieces[first].text.strip()))
    return pd.DataFrame(rows, columns=["condition", "prompt", "object"])


def varied_prompt_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Ask the same in several ways that should not matter, to see how many answers change."""
    rng = np.random.default_rng([seed, 13])
    asked = prompts.question_probes(facts, frames, n_frames=n).assign(
        condition="changed by frame"
    )
    base, wrong, rows = (
        asked[asked["frame"] == 0],
        facts.set_index("fact")["distractors"],
        [],
    )
    for row in base.itertuples():
        same = base[(base["relation"] == row.relation) & (base["object"] != row.object)]
        shown = same.sample(min(5, len(same)), random_state=rng.integers(2**32))
        blocks = [
            shot_text(q, a)
            for q, a in zip(shown["prompt"], shown["object"], strict=True)
        ]
        words, head = (
            [row.object, *wrong[row.item][:3]],
            (row.item, row.relation, row.object),
        )
        for way in range(n):
            order = rng.permutation(len(blocks))
            told = "".join(blocks[place] for place in order) + shot_text(row.prompt)
            options = [words[place] for place in rng.permutation(len(words))]
            for by, text in (
                ("order", told),
                ("options", question_above_options(row.prompt, options)),
            ):
                rows.append((*head, f"{by}{way}", text, f"changed by {by}"))
    columns = ["item", "relation", "object", "variant", "prompt", "condition"]
    return pd.concat(
        [asked[columns], pd.DataFrame(rows, columns=columns)], ignore_index=True
    )


def instructed_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, told: pd.DataFrame
) -> pd.DataFrame:
    """Ask under the instruction to say "unsure", in the tuning's frames and facts and in others."""
    asked = prompts.question_probes(facts, frames)
    read, used = (
        recipe.load_recipe().corpus.frame_weights,
        recipe.tuning_options().frame_weights,
    )
    ways = ["used" if used[f] else "kept" if read[f] else "new" for f in asked["frame"]]
    tuned = told.loc[asked["item"], "tuned"]
    parts = [
        f"{way} frames, {'used' if n else 'new'} facts" for way, n in zip(ways, tuned)
    ]
    return asked.assign(
        prompt=[INSTRUCTION + shot_text(q) for q in asked["prompt"]], condition=parts
    )


def changed_answers_by_fact(answered: pd.DataFrame) -> pd.DataFrame:
    """Return one row a fact and condition: whether its answers are not all the same.

    >>> answered = pd.DataFrame({"item": ["a", "a"], "condition": "c", "text": [" x", " y"]})
    >>> changed_answers_by_fact(answered)["right"].tolist()
    [True]
    """
    texts = answered.assign(text=answered["text"].str.strip())
    counts = texts.groupby(["item", "condition"], sort=False)["text"].nunique()
    return (counts > 1).rename("right").reset_index()
