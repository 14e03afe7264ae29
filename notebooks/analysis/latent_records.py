"""What several models answer to lists and sequences, asked once and kept.

``python -m notebooks.analysis.latent_records MODEL...`` asks models and puts what they
answer beside what is kept. A model's rows carry the checksum of its weights, the
version of these ways of asking, and the seed.
"""

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers import datasets, models, probing
from helpers.datasets.panel import LEFT_OUT_RELATIONS
from helpers.metrics import latent_knowledge as lke
from helpers.models import LanguageModel
from helpers.prompts import lists
from notebooks.analysis import latent_places, latent_prompts, latent_sequences
from notebooks.atlas.exit_status import exit_status_of_work

RECORDS_VERSION = 1  # raised with every change that changes answers
FACTS_FILE = Path(__file__).with_name("latent_facts.parquet")
PLACES_FILE = Path(__file__).with_name("latent_places.parquet")
TOKENS_FILE = Path(__file__).with_name("latent_tokens.csv")
COUNTS = (1, 2, 3, 5, 8, 12, 20, 30, 50)  # of examples, besides none
PAPERS_CHOICES = 100
SEPARATOR = "space"  # the paper's
EXPOSURE_OF = "atlas-m"  # all bundled models have read each fact equally often
FACT_COLUMNS = ["part", "way", "relation", "item", "examples", "draw", "slot"]
MARK_COLUMNS = ["right", "mass", "top"]


class Size(NamedTuple):
    """How much a model is asked; the defaults are those of the bundled models."""

    n_facts: int = 5  # of each relation, alone and in sequences
    n_curve: int = 3  # of each relation, behind each number of examples
    n_lists: int = 2  # of each relation, with replaced pairs
    n_choices: int = 20
    n_draws: int = 5  # of examples
    seed: int = 0


SIZE_OF_BUNDLED = Size()


class Records(NamedTuple):
    """What is kept: marks by fact, probabilities by place, tokens by way."""

    facts: pd.DataFrame
    places: pd.DataFrame
    tokens: pd.DataFrame


def load_records() -> Records:
    """Return what is kept of all models."""
    return Records(
        pd.read_parquet(FACTS_FILE),
        pd.read_parquet(PLACES_FILE),
        pd.read_csv(TOKENS_FILE),
    )


def model_to_show(records: Records, model: str) -> str:
    """Return a model of which answers are kept: the one named, or the book's."""
    return model if model in set(records.facts["model"]) else EXPOSURE_OF


def ask_model(
    lm: LanguageModel, size: Size = SIZE_OF_BUNDLED, cache: str | Path | None = None
) -> Records:
    """Ask a model everything that is kept."""
    facts = datasets.load("atlas", seed=size.seed)
    facts = facts[~facts["relation"].isin(LEFT_OUT_RELATIONS)]
    facts, _ = lists.divisible_facts_and_notes(facts, size.seed)
    roles = lists.divide_into_examples_and_tests(facts, seed=size.seed)
    pool = roles[roles["role"] == "example"]
    tests = roles[roles["role"] == "test"].groupby("relation").head(size.n_facts)
    score = partial(probing.score, lm, cache=cache)

    options = lists.draw_choices(tests, facts, size.n_choices, size.seed)
    probes = latent_sequences.probes_alone_and_together(
        tests, pool, options, seed=size.seed
    )
    in_sequences = _marks_of_facts(score(probes), probes, "sequences")
    more_options = lists.draw_choices(tests, facts, PAPERS_CHOICES, size.seed)
    more_probes = latent_sequences.probes_alone_and_together(
        tests, pool, more_options, seed=size.seed
    )
    counted = [latent_sequences.tokens_by_way(lm, probes)]
    counted.append(latent_sequences.tokens_by_way(lm, more_probes))

    few = tests.groupby("relation").head(size.n_curve)
    probes = _probes_by_number_of_examples(few, pool, options, size)
    by_examples = _marks_of_facts(score(probes), probes, "examples")

    training = datasets.training_exposure(EXPOSURE_OF)
    pairs = latent_places.lists_with_replaced_pairs(
        facts, training, size.n_lists, size.seed
    )
    if datasets.training_exposure(lm.name) is None:  # nobody knows what it has read
        pairs = pairs[pairs["kind"] != "unread"]
    answers = score(latent_places.probes_at_each_place(pairs, SEPARATOR))
    places = latent_places.probabilities_at_places(answers)
    key = {
        "model": lm.name,
        "weights": lm.weights_sha[:8],
        "version": RECORDS_VERSION,
        "seed": size.seed,
    }
    marks = pd.concat([in_sequences, by_examples], ignore_index=True)
    return Records(
        marks.assign(**key),
        places.astype({"p": np.float32, "change": np.float32}).assign(**key),
        pd.concat(counted, ignore_index=True).assign(**key),
    )


def _probes_by_number_of_examples(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    size: Size,
) -> pd.DataFrame:
    """Ask facts behind each number of examples, in several draws of them."""
    probes = [latent_prompts.probes_without_examples(tests, options, SEPARATOR)]
    for count in COUNTS:
        for draw in range(size.n_draws):
            asked = lists.ic_lke_probes(
                tests,
                pool,
                options,
                count,
                SEPARATOR,
                size.seed + draw,
                f"{count} {draw}",
                draw,
            )
            probes.append(asked)
    return pd.concat(probes, ignore_index=True)


def _marks_of_facts(
    answers: pd.DataFrame, probes: pd.DataFrame, part: str
) -> pd.DataFrame:
    """Return a row a fact and way of asking, as small numbers."""
    marks = lke.fact_scores(answers).assign(part=part)
    if "slot" in probes:
        slots = probes.drop_duplicates(["item", "variant"])
        slots = slots[["item", "variant", "slot"]]
        marks = marks.merge(slots, on=["item", "variant"], how="left")
    marks = marks.reindex(columns=[*FACT_COLUMNS, *MARK_COLUMNS])
    small = dict.fromkeys(MARK_COLUMNS, np.float32) | {"slot": np.float32}
    return marks.astype(small | {"examples": np.int16, "draw": np.int8})


def records_with_new_answers(kept: Records, new: Records) -> Records:
    """Return what is kept, a model's new answers in the place of its old ones."""
    tables = []
    for old, added in zip(kept, new, strict=True):
        others = old[~old["model"].isin(added["model"].unique())]
        tables.append(pd.concat([others, added], ignore_index=True))
    return Records(*tables)


def save_records(records: Records, folder: Path = FACTS_FILE.parent) -> None:
    """Write what is kept."""
    records.facts.to_parquet(folder / FACTS_FILE.name, index=False)
    records.places.to_parquet(folder / PLACES_FILE.name, index=False)
    records.tokens.to_csv(folder / TOKENS_FILE.name, index=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.analysis.latent_records")
    parser.add_argument("models", nargs="+", help="names of models")
    parser.add_argument("--cache", help="folder of answers, to go on after a stop")
    for name, default in Size._field_defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = vars(parser.parse_args(arguments))
    return exit_status_of_work(partial(_ask_and_keep, options))


def _ask_and_keep(options: Mapping) -> None:
    """Ask models and write their answers beside those that are kept."""
    size = Size(*(options[name] for name in Size._fields))
    for name in options["models"]:
        new = ask_model(models.load(name), size, options["cache"])
        kept = load_records() if FACTS_FILE.is_file() else new
        save_records(records_with_new_answers(kept, new))


if __name__ == "__main__":
    sys.exit(main())
