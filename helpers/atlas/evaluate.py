"""What a bundled model learnt, by exposure: accuracy under all conditions that we ask about."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers import prompts
from helpers.atlas.corpus import Corpus, Frames
from helpers.atlas.invented import Inventor
from helpers.atlas.reading import Reader, Reading
from helpers.metrics.accuracy import mark_choices, mark_echoes, mark_texts
from helpers.models import LanguageModel
from helpers.probing import generate, score
from helpers.stats import wilson
from helpers.tables import wide

EXERCISES = {
    "reading, a word": ("word", 1),
    "reading, one statement": ("statements", 1),
    "reading, four statements": ("statements", 4),
    "reading, options": ("choice", 1),
    "reading, a check": ("check", 1),
}
FEW_OBJECTS = 20  # with fewer objects in a relation, guessing alone finds many
TRAINED, HELD_OUT = (1, 2, 3, 4), (5, 6)


def answer(lm: LanguageModel, probes: pd.DataFrame, progress: bool = False) -> pd.DataFrame:
    """Let a model answer greedily, up to the end of the line.

    Parameters
    ----------
    lm : LanguageModel
        The model.
    probes : DataFrame
        Questions as of `helpers.prompts.questions`.
    progress : bool
        Whether to report on stderr.

    Returns
    -------
    DataFrame
        The probes with `text` and `right`: normalised exact match with the object, full stop at
        the end of a cloze sentence aside.
    """
    return mark_texts(generate(lm, probes, max_new_tokens=15, stop=("\n",), progress=progress))


def conditions(facts: pd.DataFrame, frames: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Ask the base question alone, after the right, a wrong, and an irrelevant word.

    Parameters
    ----------
    facts, frames : DataFrame
        The tables of `helpers.datasets`.
    seed : int
        Draws the irrelevant word from the objects of the other relations.

    Returns
    -------
    DataFrame
        Probes; `condition` is "none", "right", "wrong" or "irrelevant".
    """
    one = facts.assign(distractors=[words[:1] for words in facts["distractors"]])
    asked = prompts.questions(one, frames, contexts=("none", "right", "wrong"), n_frames=1)
    asked["condition"] = asked["context"]
    return pd.concat([asked, _irrelevant(asked[asked["context"] == "none"], seed)])


def _irrelevant(alone: pd.DataFrame, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    relations, objects = alone["relation"].to_numpy(), alone["object"].to_numpy()
    words = [rng.choice(objects[relations != relation]) for relation in relations]
    texts = [f"{word}. {prompt}" for word, prompt in zip(words, alone["prompt"], strict=True)]
    return alone.assign(prompt=texts, variant="qa0+irrelevant", condition="irrelevant")


def wordings(facts: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Ask in the base frame, the other trained frames and the held-out ones, and as sentences.

    Returns
    -------
    DataFrame
        Probes; `condition` is "question, base", "sentence, held out" and so on.
    """
    asked = pd.concat([prompts.questions(facts, frames, kind=kind) for kind in ("qa", "wp")])
    form = asked["kind"].map({"qa": "question", "wp": "sentence"})
    part = asked["frame"].map(
        {0: "base", **dict.fromkeys(TRAINED, "trained"), **dict.fromkeys(HELD_OUT, "held out")}
    )
    return asked.assign(condition=form + ", " + part)


def by_exposure(marked: pd.DataFrame, exposures: pd.Series) -> pd.DataFrame:
    """Return accuracy by condition and exposure, with 95 % intervals.

    Parameters
    ----------
    marked : DataFrame
        Columns `item`, `condition`, `right`.
    exposures : Series of int
        Indexed by fact.

    Returns
    -------
    DataFrame
        `condition, exposures, n` (answers), `accuracy` (higher is better), `low`, `high`
        (Wilson's interval over answers as if independent).

    Examples
    --------
    >>> marked = pd.DataFrame({"item": ["a", "b"], "condition": "none", "right": [True, False]})
    >>> table = by_exposure(marked, pd.Series({"a": 4, "b": 4}))
    >>> table[["exposures", "n", "accuracy"]].values.tolist()
    [[4.0, 2.0, 0.5]]
    """
    table = marked.assign(exposures=exposures.loc[marked["item"]].to_numpy())
    return shares(table)


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy by `condition` and `exposures`, as `by_exposure` describes it."""
    rows = []
    for (condition, seen), group in table.groupby(["condition", "exposures"], sort=True):
        share = wilson(int(group["right"].sum()), len(group))
        rows.append((condition, seen, len(group), *(round(x, 4) for x in share[:3])))
    return pd.DataFrame(rows, columns=["condition", "exposures", "n", "accuracy", "low", "high"])


def exercises(facts: pd.DataFrame, frames: pd.DataFrame, n: int, seed: int = 1) -> pd.DataFrame:
    """Write exercises in reading, about invented subjects and in the trained wordings.

    Parameters
    ----------
    facts, frames : DataFrame
        The tables of `helpers.datasets`.
    n : int
        Exercises of each kind.
    seed : int
        Draws them; training drew with others.

    Returns
    -------
    DataFrame
        `condition, prompt, object`.
    """
    rng = np.random.default_rng([seed, 9])
    drawn, inventor = Frames(frames, Corpus().frame_weights), Inventor(facts)
    rows = []
    for condition, (kind, statements) in EXERCISES.items():
        wordings = {"frames": 1.0}
        design = Reading({kind: 1.0}, wordings, least=statements, most=statements)
        reader = Reader(facts, drawn, design, inventor, words=())
        for _ in range(n):
            told = ""
            for piece in reader.write(rng).pieces:
                if piece.weight:
                    rows.append((condition, told, piece.text.strip()))
                    break
                told += piece.text
    return pd.DataFrame(rows, columns=["condition", "prompt", "object"])


def markdown(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Lay the table out for a page: one row an exposure, one column a condition.

    Parameters
    ----------
    table : DataFrame
        As `by_exposure` gives it.
    titles : mapping of str to str
        Conditions to show, in order, and their titles.

    Returns
    -------
    str
        A Markdown table of shares with intervals.

    Examples
    --------
    >>> row = pd.DataFrame({"condition": ["none"], "exposures": [4], "n": [9],
    ...                     "accuracy": [0.5], "low": [0.2], "high": [0.8]})
    >>> print(markdown(row, {"none": "alone"}))
    | exposures | alone |
    |---|---|
    | 4 | 0.50 [0.20, 0.80] |
    """
    tidy = table.rename(columns={"condition": "measure", "accuracy": "estimate"})
    asked = tidy[tidy["measure"].isin(list(titles))]
    shown = wide(asked, titles, digits=2, by="exposures")
    lines = [["exposures", *titles.values()]]
    lines += [[str(seen), *cells] for seen, cells in zip(shown.index, shown.to_numpy())]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([text[0], "|---" * len(lines[0]) + "|", *text[1:]])


def many_objects(facts: pd.DataFrame) -> pd.DataFrame:
    """Keep the facts of relations with at least 20 different objects."""
    return facts[facts.groupby("relation")["object"].transform("nunique") >= FEW_OBJECTS]


def evaluate(
    lm: LanguageModel,
    facts: pd.DataFrame,
    frames: pd.DataFrame,
    exposures: pd.Series,
    n_wordings: int = 60,
    n_exercises: int = 300,
    seed: int = 0,
    progress: bool = True,
) -> pd.DataFrame:
    """Measure a model under all conditions.

    Parameters
    ----------
    lm : LanguageModel
        The model.
    facts, frames : DataFrame
        The tables of `helpers.datasets`.
    exposures : Series of int
        Indexed by fact.
    n_wordings : int
        Facts a relation for the other wordings and the fact checks.
    n_exercises : int
        Exercises in reading of each kind.
    seed : int
        Draws irrelevant words and those facts.
    progress : bool
        Whether to report on stderr.

    Returns
    -------
    DataFrame
        As `by_exposure` gives it; exercises in reading are about no fact and have exposures -1.
    """
    asked = answer(lm, conditions(facts, frames, seed), progress)
    open_ended = asked[asked["item"].isin(many_objects(facts)["fact"])]
    guessing = open_ended[open_ended["condition"] == "none"]
    echoes = mark_echoes(asked, facts).assign(condition="wrong word given")
    order = np.random.default_rng(seed).permutation(len(facts))
    some = facts.iloc[order].groupby("relation").head(n_wordings)
    reworded = answer(lm, wordings(some, frames), progress)
    one = some.assign(distractors=[words[:1] for words in some["distractors"]])
    checks = mark_choices(score(lm, prompts.fact_checks(one, frames, 1), progress=progress))
    checks["condition"] = "check, " + checks["context"].map({"right": "true", "wrong": "false"})
    both = checks.assign(condition="check, both")
    limited = guessing.assign(condition="none, relations with 20 objects or more")
    marked = [asked, limited, echoes, reworded, checks, both]
    columns = ["item", "condition", "right"]
    read = answer(lm, exercises(facts, frames, n_exercises), progress).assign(exposures=-1)
    known = by_exposure(pd.concat([table[columns] for table in marked]), exposures)
    return pd.concat([known, shares(read)], ignore_index=True)
