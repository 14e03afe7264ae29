"""A model is checked in packs as long as those that are used, once; that it passed is kept."""

import dataclasses
import logging

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.models import model_checks
from helpers.models.tokens import Row
from helpers.probing import engine, result_cache, score
from helpers.probing.engine import packing, plain, trial
from helpers.probing.engine.trie import PASS_PRICE, build_trie, plan_passes
from tests import tiny_models

LONG = 100  # keys from which on the planted kernel is wrong
DROPPED = 64
CITIES = [
    f"{city} {n}" for city in ("Lyon", "Bern", "Turin") for n in range(1940, 1950)
]
PROBES = pd.DataFrame(
    [
        (f"{c}. Which country is {c} in?", o)
        for c in CITIES
        for o in (" France", " Italy")
    ],
    columns=["prompt", "continuation"],
)


@pytest.fixture
def dropping(monkeypatch):
    """Plant an attention that passes over one key where there are many, and tell how often."""
    right, seen = torch.nn.functional.scaled_dot_product_attention, []

    def attention(query, key, value, attn_mask=None, **settings):
        if attn_mask is not None and key.shape[-2] > LONG:
            seen.append(key.shape[-2])
            attn_mask = attn_mask.clone()
            attn_mask[..., DROPPED] = -1e4
        return right(query, key, value, attn_mask=attn_mask, **settings)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", attention)
    return seen


def packed(lm, length: int, price: float = PASS_PRICE):
    return engine.scorer_by_method(lm, engine.Method("packed", ""), length, price)


def short_difference(lm) -> float:
    return trial.largest_score_difference(
        lm,
        lambda rows: packed(lm, 8, 0).score(rows),
        lambda rows: plain.score_in_batches(lm, rows),
    )


def naive(lm) -> list[list[float]]:
    found = score(lm, PROBES, progress=False)
    rows = [lm.tokenizer(p + c)["input_ids"] for p, c in PROBES.itertuples(index=False)]
    lengths = found["logprobs"].map(len)
    return [
        tiny_models.naive_logprobs(lm, ids, len(ids) - n)
        for ids, n in zip(rows, lengths)
    ]


def apart(found: pd.DataFrame, wanted: list[list[float]]) -> float:
    pairs = zip(found["logprobs"], wanted, strict=True)
    return max(np.abs(np.subtract(left, right)).max() for left, right in pairs)


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen2"])
def test_a_kernel_that_is_wrong_in_long_packs_alone_is_refused(
    family, dropping, caplog
):
    lm = tiny_models.tiny_language_model(family)
    assert (
        short_difference(lm) <= model_checks.TOLERANCE_OF_FORMAT["float32"]
    )  # which no short pack shows
    assert not dropping
    with caplog.at_level(logging.WARNING):
        told = engine.scoring_method(lm)
    assert told["method"] == "plain"
    assert "packed fails its check: log-probabilities differ by" in told["reason"]
    assert "is scored in plain batches, which is slow" in caplog.text
    assert not engine.scorer_of_model(lm).joins
    wanted = naive(lm)
    assert apart(score(lm, PROBES, progress=False), wanted) <= 1e-5
    lm.trials.method = engine.Method("packed", "unchecked")
    assert apart(score(lm, PROBES, progress=False), wanted) > 1e-3


def test_what_failed_is_checked_again_and_then_kept(monkeypatch):
    right = packing.attention_mask_tensor
    monkeypatch.setattr(
        packing, "attention_mask_tensor", lambda model, seen: right(model, seen | True)
    )
    assert (
        engine.scoring_method(tiny_models.tiny_language_model("llama"))["method"]
        == "plain"
    )
    assert not trial.outcomes_folder().exists()
    monkeypatch.setattr(packing, "attention_mask_tensor", right)
    assert (
        engine.scoring_method(tiny_models.tiny_language_model("llama"))["method"]
        == "packed"
    )
    assert len(list(trial.outcomes_folder().iterdir())) == 1


@pytest.fixture
def checks(monkeypatch):
    """Return a list that grows with each check."""
    made, right = [], trial.largest_score_difference
    monkeypatch.setattr(
        trial,
        "largest_score_difference",
        lambda *asked: made.append(asked) or right(*asked),
    )
    return made


def ask(lm) -> tuple:
    found = engine.scorer_of_model(tiny_models.untried(lm))  # as another process would
    return found.method, found.joins


@pytest.mark.parametrize("family", ["llama", "mamba", "t5"])
def test_a_model_is_checked_once(family, checks):
    first = ask(tiny_models.tiny_language_model(family))
    assert len(checks) > 0
    del checks[:]
    assert ask(tiny_models.tiny_language_model(family)) == first
    assert not checks


def half(lm):
    lm.model.to(torch.bfloat16)
    return dataclasses.replace(lm, dtype=torch.bfloat16)


def eager(lm):
    lm.model.set_attn_implementation("eager")
    return lm


VERSIONS = result_cache.identities.library_versions()
CHANGES = {  # a model made from another, or what is set: an object, a name, and what it returns
    "dtype": half,
    "weights": lambda lm: tiny_models.tiny_language_model("llama", seed=1),
    "no weights yet": lambda lm: dataclasses.replace(lm, weights_sha=""),
    "attention": eager,
    "longer packs": (engine, "pack_length_of_model", 600),
    "torch": (
        result_cache.identities,
        "library_versions",
        VERSIONS | {"torch": "9.9.9"},
    ),
    "transformers": (
        result_cache.identities,
        "library_versions",
        VERSIONS | {"transformers": "9.9.9"},
    ),
    "processor": (torch.backends.cpu, "get_cpu_capability", "NONE"),
    "code": (trial, "_checksum_of_code", "changed"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_the_numbers_is_checked_anew(change, checks, monkeypatch):
    ask(tiny_models.tiny_language_model("llama"))
    made, change, lm = (
        len(checks),
        CHANGES[change],
        tiny_models.tiny_language_model("llama"),
    )
    if isinstance(change, tuple):
        owner, name, value = change
        monkeypatch.setattr(owner, name, lambda *_: value)
    else:
        lm = change(lm)
    ask(lm)
    assert len(checks) == 2 * made


@pytest.mark.parametrize("damage", ["broken", "folder"])
def test_an_outcome_that_cannot_be_read_or_kept_is_made_again(damage, checks):
    if damage == "folder":
        trial.outcomes_folder().parent.mkdir(exist_ok=True)
        trial.outcomes_folder().write_text("in the way")
    first = ask(tiny_models.tiny_language_model("llama"))
    for file in trial.outcomes_folder().glob("*"):
        file.write_text("{")
    made = len(checks)
    assert ask(tiny_models.tiny_language_model("llama")) == first
    assert len(checks) == 2 * made


LM = tiny_models.tiny_language_model("llama")


@given(
    length=st.sampled_from([9, 33, 64, 100, 512, 1000]),
    limit=st.sampled_from([None, 24, 128, 2048]),
    scored=st.sampled_from([None, 3]),
)
def test_rows_of_a_check_fill_a_pack_below_a_kept_beginning(length, limit, scored):
    lm = dataclasses.replace(LM, max_length=limit)
    rows = trial.rows_that_fill_pack(lm, length, scored)
    assert limit is None or max(len(row.ids) for row in rows) <= limit
    tree = build_trie(rows)
    steps = plan_passes(tree, length, price=0)
    assert any(step.keeps for step in steps)
    packs = [step.nodes for step in steps if not step.keeps]
    assert length - max(len(row.ids) for row in rows) < max(map(len, packs)) <= length
    if scored is None:
        assert tree.scored.sum() == len(tree.token) - 1
    assert all(isinstance(row, Row) and row.start >= 1 for row in rows)


def test_half_precision_is_forgiven_single_tokens_of_many():
    lm = half(tiny_models.tiny_language_model("llama"))
    rows = trial.rows_that_fill_pack(lm, 512)
    scores = {row: tuple(-1.0 for _ in row.scored) for row in rows}

    def moved(first: int):
        changed = {r: tuple(v - 5 for v in scores[r]) for r in rows[:first]}
        one = {rows[-1]: (-6.0, *scores[rows[-1]][1:])}
        return trial.largest_score_difference(
            lm, lambda _: [scores], lambda _: [scores | one | changed], rows
        )

    assert moved(0) == 0
    assert moved(1) == 5
