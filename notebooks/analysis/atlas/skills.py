"""What the bundled models can do besides answering: lists, choices, reading, other variations.

Each function writes probes with a `condition`, the words that stand for it in `evaluation.csv`.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from helpers import prompts
from helpers.prompts import lists
from helpers.prompts.formats import INSTRUCTION, choose_before, choose_below, shot
from notebooks.analysis.atlas import recipe
from notebooks.analysis.atlas.corpus import Frames
from notebooks.analysis.atlas.invented import Inventor
from notebooks.analysis.atlas.reading import Reader

EXERCISES = {
    "a word": ("word", 1),
    "one statement": ("statements", 1),
    "four statements": ("statements", 4),
    "options": ("choice", 1),
    "a check": ("check", 1),
}
HELD_OUT = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)  # weights of the frames that training left out
UNHEARD = ("[X] can be found at [Y].", "At which place can [X] be found?")  # in no training text
LETTERS = "ABCDEF"
EXAMPLES = (0, 1, 2, 5, 10, 20, 50)
LINES = "colon and line"


def completions(facts: pd.DataFrame, n_tests: int = 12, seed: int = 0) -> pd.DataFrame:
    """Open a list of each relation with 0 to 50 examples before a subject."""
    sides = lists.split(facts, 60, seed)
    pool = sides[sides["role"] == "example"]
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    options = {fact: [obj] for fact, obj in zip(tests["fact"], tests["object"], strict=True)}
    found = []
    for n in EXAMPLES:
        condition = f"list, {n} examples"
        if n:
            found.append(lists.ic_lke(tests, pool, options, n, LINES, seed, condition))
        else:
            alone = tests.itertuples()
            asked = [(row, condition, *lists.opened(row.subject, LINES)) for row in alone]
            found.append(lists.choose(asked, options))
    return pd.concat(found).assign(condition=lambda table: table["variant"])


def hundred(facts: pd.DataFrame, n_tests: int = 12, seed: int = 0) -> pd.DataFrame:
    """Let the model choose among 100 objects after a list of 50 examples, parted by spaces.

    Relations with fewer than 100 objects are left out, so that chance is 0.01 in all.
    """
    many = facts.groupby("relation")["object"].transform("nunique") >= 100
    sides = lists.split(facts[many], 60, seed)
    tests = sides[sides["role"] == "test"].groupby("relation").head(n_tests)
    options = lists.choices(tests, facts, 100, seed)
    pool = sides[sides["role"] == "example"]
    return lists.ic_lke(tests, pool, options, 50).assign(condition="choice of 100, list")


def choices(facts: pd.DataFrame, frames: pd.DataFrame, sizes: tuple = (4, 5), seed: int = 0):
    """Ask the base question with options, by text and by letter, and without showing them."""
    rng = np.random.default_rng([seed, 12])
    asked = prompts.questions(facts, frames, n_frames=1)
    wrong = facts.set_index("fact")["distractors"]
    rows = []
    for row in asked.itertuples():
        for size in sizes:
            shown = [row.object, *wrong[row.item][: size - 1]]
            if len(shown) < size:
                continue
            order = rng.permutation(size)
            words = [shown[place] for place in order]
            for way, prompt, said in _ways(row.prompt, words):
                for option, place in enumerate(order):
                    head = (row.item, row.relation, f"{way}{size}", option, prompt)
                    condition = f"choice of {size}, {way}"
                    rows.append((*head, f" {said[option]}", place == 0, condition))
    columns = ["item", "relation", "variant", "option", "prompt", "continuation", "correct"]
    return pd.DataFrame(rows, columns=[*columns, "condition"])


def _ways(question: str, words: list[str]) -> list[tuple[str, str, list[str]]]:
    lettered = "\n".join(f"{letter}. {word}" for letter, word in zip(LETTERS, words, strict=False))
    return [
        ("before", choose_before(question, words), words),
        ("below", choose_below(question, words), words),
        ("not shown", question, words),
        ("by letter", f"QUESTION: {question}\n{lettered}\nANSWER:", list(LETTERS[: len(words)])),
    ]


def exercises(facts: pd.DataFrame, frames: pd.DataFrame, n: int, seed: int = 1) -> pd.DataFrame:
    """Write exercises in reading, about invented subjects."""
    inventor, usual, parts = Inventor(facts), recipe.load(), []
    for condition, (kind, statements) in EXERCISES.items():
        design = usual.reading.changed(least=statements, most=statements)
        design |= {"kinds": {kind: 1.0}, "wordings": {"frames": 1.0}}
        for part, weights in (("", usual.corpus.frame_weights), (", held out", HELD_OUT)):
            drawn = Frames(frames, weights)
            reader = Reader(facts, drawn, design, inventor)
            parts.append(_exercises(reader.write, n, seed, f"reading, {condition}{part}"))
    design = usual.reading.changed(least=1, most=1)
    design |= {"kinds": {"statements": 1.0}, "wordings": {"everyday": 1.0}}
    reader = Reader(facts, drawn, design, inventor, everyday=[UNHEARD])
    parts.append(_exercises(reader.write, n, seed, "reading, one statement, unheard"))
    return pd.concat(parts, ignore_index=True)


def _exercises(write: Callable, n: int, seed: int, condition: str) -> pd.DataFrame:
    rng = np.random.default_rng([seed, 9])
    rows = []
    for _ in range(n):
        told = ""
        for piece in write(rng).pieces:
            if piece.weight:
                rows.append((condition, told, piece.text.strip()))
                break
            told += piece.text
    return pd.DataFrame(rows, columns=["condition", "prompt", "object"])


def variations(
    facts: pd.DataFrame, frames: pd.DataFrame, n: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Ask the same in several ways that should not matter, to see how many answers change."""
    rng = np.random.default_rng([seed, 13])
    asked = prompts.questions(facts, frames, n_frames=n).assign(condition="changed by frame")
    base = asked[asked["frame"] == 0]
    others = base.set_index("item")
    rows = []
    for row in base.itertuples():
        same = others[(others["relation"] == row.relation) & (others["object"] != row.object)]
        shown = same.sample(min(5, len(same)), random_state=rng.integers(2**32))
        blocks = [shot(q, a) for q, a in zip(shown["prompt"], shown["object"], strict=True)]
        words = [row.object, *facts.set_index("fact").loc[row.item, "distractors"][:3]]
        for way in range(n):
            order = rng.permutation(len(blocks))
            told = "".join(blocks[place] for place in order) + shot(row.prompt)
            head = (row.item, row.relation, f"order{way}", told, row.object)
            rows.append((*head, "changed by order"))
            options = [words[place] for place in rng.permutation(len(words))]
            below = choose_below(row.prompt, options)
            head = (row.item, row.relation, f"options{way}", below, row.object)
            rows.append((*head, "changed by options"))
    columns = ["item", "relation", "variant", "prompt", "object", "condition"]
    return pd.concat([asked[columns], pd.DataFrame(rows, columns=columns)], ignore_index=True)


def instructed(facts: pd.DataFrame, frames: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    """Ask under the instruction to say "unsure", in the tuning's frames and facts and in others."""
    asked = prompts.questions(facts, frames)
    read, used = recipe.load().corpus.frame_weights, recipe.tuning().frame_weights
    ways = ["used" if used[f] else "kept" if read[f] else "new" for f in asked["frame"]]
    tuned = told.loc[asked["item"], "tuned"]
    parts = [f"{way} frames, {'used' if n else 'new'} facts" for way, n in zip(ways, tuned)]
    return asked.assign(prompt=[INSTRUCTION + shot(q) for q in asked["prompt"]], condition=parts)


def changed(answered: pd.DataFrame) -> pd.DataFrame:
    """Return one row a fact and condition: whether its answers are not all the same.

    >>> answered = pd.DataFrame({"item": ["a", "a"], "condition": "c", "text": [" x", " y"]})
    >>> changed(answered)["right"].tolist()
    [True]
    """
    texts = answered.assign(text=answered["text"].str.strip())
    counts = texts.groupby(["item", "condition"], sort=False)["text"].nunique()
    return (counts > 1).rename("right").reset_index()
