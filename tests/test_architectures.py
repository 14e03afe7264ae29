"""The table of architectures: complete, nothing wrong in it, and right where it is tried again."""

import functools
import re
from dataclasses import replace

import pandas as pd
import pytest
import transformers

from helpers.models import LanguageModel, families
from helpers.probing import engine
from helpers.probing.engine import plain, trial
from tests import architectures, tiny_models
from tests.probing.test_engine import wrong_mask, wrong_positions

pytestmark = pytest.mark.slow

TABLE = pd.read_csv(architectures.TABLE_FILE, keep_default_na=False, dtype=str)
COUNTS = r"(\d+) classes[^:]*: (\d+) packed, (\d+) in plain batches.*?, (\d+) refuse"
PACKED = TABLE.loc[
    (TABLE["outcome"] == "packed") & (TABLE["kind"] == "causal"), "model_type"
]


def test_all_classes_end_as_the_table_says():
    fixed = ["model_type", "class", "kind", "outcome", "batches", "state", "text_as"]
    found = architectures.architecture_outcomes().set_index(["kind", "model_type"])
    wanted = TABLE.set_index(["kind", "model_type"]).loc[found.index]
    pd.testing.assert_frame_equal(
        found.reset_index()[fixed], wanted.reset_index()[fixed]
    )


def test_the_table_has_each_class_of_the_installed_transformers():
    mapped = {
        (kind, *item)
        for kind in architectures.AUTO_CLASSES
        for item in mapping(kind).items()
    }
    assert (
        set(TABLE[["kind", "model_type", "class"]].itertuples(index=False, name=None))
        == mapped
    )
    assert set(TABLE["transformers"]) == {transformers.__version__}


def mapping(kind: str) -> dict[str, str]:
    return architectures.AUTO_CLASSES[kind][0]


def test_nothing_in_the_table_is_wrong():
    assert set(TABLE["outcome"]) == {"packed", "plain", "refused", "not tried"}
    tried = TABLE[TABLE["difference"] != ""]
    assert (tried["difference"].astype(float) <= architectures.EXACT_TOLERANCE).all()
    assert set(tried["text_as"]) <= set(architectures.GREEDY_WRITERS)
    assert (TABLE.loc[TABLE["difference"] == "", "why"] != "").all()


@pytest.mark.parametrize("page", ["README.md", "book/scoring.md"])
def test_the_pages_count_as_the_table_does(root, page):
    text = " ".join((root / page).read_text(encoding="utf-8").split())
    told = re.search(COUNTS, text)
    assert told, "the sentence with the counts is missing"
    counts = TABLE["outcome"].value_counts()
    kinds = ["packed", "plain", "refused"]
    assert [*map(int, told.groups())] == [counts[kinds].sum(), *counts[kinds]]


def test_every_packed_family_is_in_the_table():
    loaded = {
        architectures.CONFIG_MAPPING[name].model_type for name in TABLE["model_type"]
    }
    inside = {
        "emu3_text_model",
        "mllama_text_model",
    }  # which their classes take out of the whole
    assert loaded | inside >= families.PACKED_FAMILIES | families.HOOKED_FAMILIES


@functools.cache
def built(name: str) -> LanguageModel:
    tokenizer = tiny_models.byte_tokenizer("bos")
    model = architectures.small_random_model(name, "causal", len(tokenizer))
    lm = tiny_models.tiny_language_model("llama", tokenizer)
    return replace(lm, model=model, name=name, weights_sha=name)


def difference(lm: LanguageModel) -> float:
    packed = engine.scorer_by_method(
        lm, engine.Method("packed", ""), length=24, price=0
    )
    return trial.largest_score_difference(
        lm, packed.score, lambda rows: plain.score_in_batches(lm, rows)
    )


@pytest.mark.parametrize("spoil", [wrong_positions, wrong_mask])
@pytest.mark.parametrize("name", PACKED)
def test_packing_wrongly_would_be_seen(name, spoil, monkeypatch):
    lm = built(name)
    assert difference(lm) <= architectures.EXACT_TOLERANCE
    spoil(monkeypatch)
    assert difference(lm) > 1000 * architectures.EXACT_TOLERANCE
