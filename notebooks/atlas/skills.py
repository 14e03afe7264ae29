"""What the bundled models can do besides answering: probes with a `condition`."""

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
from notebooks.atlas.documents import Document
from notebooks.atlas.invented_names import NameInventor
from notebooks.atlas.reading_documents import ReadingWriter
from notebooks.atlas.recipe import RecipeOptions

READING_EXERCISES = {  # name: kind and number of statements
    "a word": ("word", 1),
    "one statement": ("statements", 1),
    "four statements": ("statements", 4),
    "options": ("choice", 1),
    "a check": ("check", 1),
}
# Weights of the frames that training left out
HELD_OUT_WEIGHTS = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
# In no training text
UNHEARD_WORDING = ("[X] can be found at [Y].", "At which place can [X] be found?")
OPTION_LETTERS = "ABCDEF"
EXAMPLE_COUNTS = (0, 1, 2, 5, 10, 20, 50)
LINE_SEPARATOR = "colon and line"
MULTIPLE_CHOICE_COLUMNS = [
    "item",
    "relation",
    "variant",
    "option",
    "prompt",
    "continuation",
    "correct",
    "condition",
]


def list_completion_probes(
    facts: pd.DataFrame, n_tests: int = 12, seed: int = 0
) -> pd.DataFrame:
    """Open a list of each relation with 0 to 50 examples before a subject."""
    sides = lists.divide_into_examples_and_tests(facts, 60, seed)
    pool = sides[sides["role"] == "example"]
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    only_truth = [[truth] for truth in tests["object"]]
    options = dict(zip(tests["fact"], only_truth, strict=True))
    alone = []
    for row in tests.itertuples():
        prompt, space = lists.open_pair_and_space(row.subject, LINE_SEPARATOR)
        alone.append(
            lists.FactPrompt(
                row, "list, 0 examples", prompt, space, separator=LINE_SEPARATOR
            )
        )
    tables = [lists.probes_with_choices(alone, options)]
    for n in EXAMPLE_COUNTS[1:]:
        condition = f"list, {n} examples"
        probes = lists.ic_lke_probes(
            tests, pool, options, n, LINE_SEPARATOR, seed, condition
        )
        tables.append(probes)
    probes = pd.concat(tables)
    return probes.assign(condition=probes["variant"])


def hundred_choice_probes(
    facts: pd.DataFrame, n_tests: int = 12, seed: int = 0
) -> pd.DataFrame:
    """Let the model choose among 100 objects, where so many are, after 50 examples."""
    many = facts.groupby("relation")["object"].transform("nunique") >= 100
    sides = lists.divide_into_examples_and_tests(facts[many], 60, seed)
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    options = lists.draw_choices(tests, facts, 100, seed)
    pool = sides[sides["role"] == "example"]
    probes = lists.ic_lke_probes(tests, pool, options, 50)
    return probes.assign(condition="choice of 100, list")


def multiple_choice_probes(
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    sizes: tuple[int, ...] = (4, 5),
    seed: int = 0,
) -> pd.DataFrame:
    """Ask the base question with options, by text and letter, and without them."""
    rng = np.random.default_rng([seed, 12])
    distractors = facts.set_index("fact")["distractors"]
    rows = []
    for asked in prompts.question_probes(facts, frames, n_frames=1).itertuples():
        for size in sizes:
            words = [asked.object, *distractors[asked.item][: size - 1]]
            if len(words) < size:
                continue
            order = rng.permutation(size)
            shuffled = [words[place] for place in order]
            for way, prompt, continuations in _ways_to_show(asked.prompt, shuffled):
                for option, continuation in enumerate(continuations):
                    row = {
                        "item": asked.item,
                        "relation": asked.relation,
                        "variant": f"{way}{size}",
                        "option": option,
                        "prompt": prompt,
                        "continuation": f" {continuation}",
                        "correct": order[option] == 0,
                        "condition": f"choice of {size}, {way}",
                    }
                    rows.append(row)
    return pd.DataFrame(rows, columns=MULTIPLE_CHOICE_COLUMNS)


def _ways_to_show(question: str, words: list[str]) -> list[tuple[str, str, list[str]]]:
    """Return name, prompt and possible answers of each way to show options."""
    letters = list(OPTION_LETTERS[: len(words)])
    lines = [f"{letter}. {word}" for letter, word in zip(letters, words, strict=True)]
    lettered = "\n".join(lines)
    by_letter = f"QUESTION: {question}\n{lettered}\nANSWER:"
    return [
        ("before", question_after_options(question, words), words),
        ("below", question_above_options(question, words), words),
        ("not shown", question, words),
        ("by letter", by_letter, letters),
    ]


def reading_exercise_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n: int, seed: int = 1
) -> pd.DataFrame:
    """Write exercises in reading, about invented subjects."""
    usual = recipe.load_recipe()
    trained = Frames(frames, usual.corpus.frame_weights)
    held_out = Frames(frames, HELD_OUT_WEIGHTS)
    exercises = []
    for name, (kind, n_statements) in READING_EXERCISES.items():
        exercises.append((name, kind, n_statements, "frames", trained))
        exercises.append((f"{name}, held out", kind, n_statements, "frames", held_out))
    exercises.append(("one statement, unheard", "statements", 1, "everyday", held_out))
    inventor = NameInventor(facts)
    rows = []
    for name, kind, n_statements, wordings, weighted_frames in exercises:
        only_this = {
            "least": n_statements,
            "most": n_statements,
            "kinds": {kind: 1.0},
            "wordings": {wordings: 1.0},
        }
        design = RecipeOptions(usual.reading | only_this)
        reader = ReadingWriter(
            facts, weighted_frames, design, inventor, everyday=[UNHEARD_WORDING]
        )
        rng = np.random.default_rng([seed, 9])
        for _ in range(n):
            prompt, answer = _first_exercise(reader.write(rng))
            rows.append((f"reading, {name}", prompt, answer))
    return pd.DataFrame(rows, columns=["condition", "prompt", "object"])


def _first_exercise(document: Document) -> tuple[str, str]:
    """Return a document up to its first answer, and that answer."""
    prompt = ""
    for piece in document.pieces:
        if piece.weight > 0:
            return prompt, piece.text.strip()
        prompt += piece.text
    raise ValueError("The document has no answer.")


def varied_prompt_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, n: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Ask the same in ways that should not matter, to see how many answers change."""
    rng = np.random.default_rng([seed, 13])
    by_frame = prompts.question_probes(facts, frames, n_frames=n)
    by_frame = by_frame.assign(condition="changed by frame")
    base = by_frame[by_frame["frame"] == 0]
    distractors = facts.set_index("fact")["distractors"]
    rows = []
    for asked in base.itertuples():
        is_example = base["relation"] == asked.relation
        is_example &= base["object"] != asked.object
        candidates = base[is_example]
        examples = candidates.sample(
            min(5, len(candidates)), random_state=rng.integers(2**32)
        )
        shots = []
        for prompt, answer in zip(examples["prompt"], examples["object"], strict=True):
            shots.append(shot_text(prompt, answer))
        words = [asked.object, *distractors[asked.item][:3]]
        fact = (asked.item, asked.relation, asked.object)
        for number in range(n):
            shuffled_shots = [shots[place] for place in rng.permutation(len(shots))]
            text = "".join(shuffled_shots) + shot_text(asked.prompt)
            rows.append((*fact, f"order{number}", text, "changed by order"))
            options = [words[place] for place in rng.permutation(len(words))]
            text = question_above_options(asked.prompt, options)
            rows.append((*fact, f"options{number}", text, "changed by options"))
    columns = ["item", "relation", "object", "variant", "prompt", "condition"]
    by_order_and_options = pd.DataFrame(rows, columns=columns)
    return pd.concat([by_frame[columns], by_order_and_options], ignore_index=True)


def instructed_probes(
    facts: pd.DataFrame, frames: pd.DataFrame, told: pd.DataFrame
) -> pd.DataFrame:
    """Ask under the instruction, in the tuning's frames and facts and in others."""
    asked = prompts.question_probes(facts, frames)
    weights_in_base = recipe.load_recipe().corpus.frame_weights
    weights_in_tuning = recipe.tuning_options().frame_weights
    is_tuned = told.loc[asked["item"], "tuned"]
    conditions = []
    for frame, fact_is_tuned in zip(asked["frame"], is_tuned, strict=True):
        if weights_in_tuning[frame]:
            frames_name = "used frames"
        elif weights_in_base[frame]:
            frames_name = "kept frames"
        else:
            frames_name = "new frames"
        facts_name = "used facts" if fact_is_tuned else "new facts"
        conditions.append(f"{frames_name}, {facts_name}")
    instructed = [INSTRUCTION + shot_text(question) for question in asked["prompt"]]
    return asked.assign(prompt=instructed, condition=conditions)


def changed_answers_by_fact(answered: pd.DataFrame) -> pd.DataFrame:
    """Return one row a fact and condition: whether its answers are not all the same.

    >>> answered = pd.DataFrame({"item": ["a", "a"], "text": [" x", " y"]})
    >>> answered["condition"] = "c"
    >>> changed_answers_by_fact(answered)["right"].tolist()
    [True]
    """
    texts = answered.assign(text=answered["text"].str.strip())
    counts = texts.groupby(["item", "condition"], sort=False)["text"].nunique()
    is_changed = counts > 1
    return is_changed.rename("right").reset_index()
