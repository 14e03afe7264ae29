"""Checks of the prompt-multiplicity paper: what must hold between its columns."""

import numpy as np
import pandas as pd

from helpers.published import load as published
from tests.published.recomputed.check import Check, Load, check, nearest

BENCHMARKS = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}
TWO_OPTIONS = ("FEVER", "True-False")
SIZES = {"TruthfulQA": 817, "Wiki-FACTOR": 2994, "CommonsenseQA": 1221}  # of the public sets
N_PROMPTS = 10


def checks(load: Load = published) -> list[Check]:
    """Return the checks of the multiplicity paper.

    >>> [one.name for one in checks() if "two options" in one.name]
    ['Table 3: two options']
    """
    found = []
    for number, (name, benchmarks) in zip((1, 3), BENCHMARKS.items()):
        found += _ambiguity(load(name), f"Table {number}", name, benchmarks)
    return [*found, *_text(load)]


def pick(table: pd.DataFrame, benchmarks: tuple[str, ...], measure: str) -> pd.DataFrame:
    """Return one measure of a table: models by benchmark.

    >>> pick(published("multiplicity_table3"), ("FEVER",), "accuracy").loc["GPT-J-6B"].to_dict()
    {'FEVER': 57.47}
    """
    return table[[f"{name} {measure}" for name in benchmarks]].set_axis(list(benchmarks), axis=1)


def _ambiguity(
    table: pd.DataFrame, title: str, name: str, benchmarks: tuple[str, ...]
) -> list[Check]:
    whole = pick(table, benchmarks, "ambiguity")
    binary = pick(table, benchmarks, "ambiguity_binary")
    deviation = pick(table, benchmarks, "deviation")
    found = [
        check(
            f"{title}: binary",
            "binary ambiguity is at most that of all options",
            [name],
            binary,
            binary.where(binary <= whole, whole),
            0,
        ),
        # The accuracies of two prompts differ by no more than the questions whose marks change.
        check(
            f"{title}: deviation",
            "the deviation of accuracy is at most half the binary ambiguity, times √(10/9)",
            [name],
            deviation,
            deviation.where(deviation <= _bound(binary), _bound(binary)),
            0.011,
        ),
    ]
    two = [each for each in benchmarks if each in TWO_OPTIONS]
    if two:
        claim = "with two options both ambiguities are one"
        named = f"{title}: two options"
        found.append(check(named, claim, [name], binary[two], whole[two], 0))
    for each in benchmarks:
        if each in SIZES:
            shares = pd.concat([whole[[each]], binary[[each]].add_suffix(", binary")], axis=1)
            found.append(
                check(
                    f"{title}: counts of {each}",
                    f"each ambiguity is a whole number of {SIZES[each]:,} questions",
                    [name],
                    shares,
                    nearest(shares, SIZES[each]),
                    0.005,
                )
            )
    return found


def _bound(binary: pd.DataFrame) -> pd.DataFrame:
    """Return the largest deviation over ten prompts: half of them at each end of the range."""
    return binary / 2 * (N_PROMPTS / (N_PROMPTS - 1)) ** 0.5


def fitting_sizes(shares: pd.Series, most: int = 4000) -> list[int]:
    """Return the numbers of questions, up to `most`, of which all printed shares can be counts.

    33.33 % and 14.29 % are a third and a seventh, so the number is a multiple of 21:

    >>> fitting_sizes(pd.Series([33.33, 14.29]), 50)
    [21, 42]
    """
    sizes = np.arange(1, most + 1)
    printed = shares.to_numpy(dtype=float)[:, None]
    possible = np.rint(printed * sizes / 100) / sizes * 100
    fits = (np.abs(possible - printed) <= 0.005 + 1e-9).all(axis=0)
    return sizes[fits].tolist()


def _text(load: Load) -> list[Check]:
    said, first = load("multiplicity_text")["value"], load("multiplicity_table1")
    row = first.loc["Llama2-7B"]
    about = said.filter(regex=r"^Llama2-7B TruthfulQA (accuracy|ambiguity)")
    found = {name: row[name.removeprefix("Llama2-7B ")] for name in about.index}
    means = pick(first, BENCHMARKS["multiplicity_table1"], "ambiguity").mean().rank()
    counted = {f"place of {name} by ambiguity": rank for name, rank in means.items()}
    counted["models"] = len(first)
    below = said[["Llama2-7B TruthfulQA deviation below"]]
    tables = ["multiplicity_text", "multiplicity_table1"]
    return [
        check(
            "Text: about",
            "figures that the text rounds are those of Table 1, to one point",
            tables,
            about,
            pd.Series(found),
            1.0,
        ),
        check(
            "Text: below",
            "the deviation that the text bounds is below its bound",
            tables,
            below,
            below.clip(lower=row["TruthfulQA deviation"]),
            0,
        ),
        check(
            "Text: order and number",
            "benchmarks by mean ambiguity, and the number of models, are those of Table 1",
            tables,
            said[list(counted)],
            pd.Series(counted),
            0,
        ),
    ]
