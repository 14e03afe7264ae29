"""Texts that grow side by side are those of a plain loop; controls that must fail do fail."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError
from helpers.probing import engine, generate
from helpers.probing.engine import decoding, packed_continuations, packing, trial
from helpers.probing.engine.decoding import ContinuationTask, StoppingRules
from helpers.probing.engine.trie import PASS_PRICE
from tests import tiny_models
from tests.probing.test_engine import (
    METHOD_BY_FAMILY,
    count_forwarded_tokens,
    fail_beyond_tokens,
)

PACKED = [
    n
    for n, way in METHOD_BY_FAMILY.items()
    if way == "packed" and n not in tiny_models.SEQ2SEQ_FAMILIES
]
# Learned, rotary and biased positions; windows, soft caps, latent keys.
ATTENTION = [
    "bloom",
    "deepseek_v3",
    "gemma2",
    "gemma3",
    "gpt2",
    "llama",
    "mistral",
    "mpt",
]
NEW = 7
EXACT = 1e-5
LETTERS = ["a", "e", "i", "o", "1", "9", " ", "F", "co"]


def case(family: str):
    """Return what `made` makes; whether texts of the model take packs is not known yet."""
    lm, tasks = made(family)
    lm.trials.continues_in_packs = None
    return lm, tasks


@functools.cache
def made(family: str):
    """Return a tiny model and prompts: some begin alike, one begins as another whole one."""
    lm = tiny_models.tiny_language_model(family)
    draw = np.random.default_rng(0)

    def text(n: int) -> tuple[int, ...]:
        return tuple(draw.integers(3, lm.model.config.vocab_size, size=n).tolist())

    heads = [text(40), text(3), ()]
    prompts = [head + text(1 + n % 4) for head in heads for n in range(5)]
    prompts += [heads[0], heads[0][:20], prompts[1] + text(2)]
    anchors = [text(1 + n % 5) for n in range(len(prompts))]
    return lm, [
        ContinuationTask(ids, anchor=anchor) for ids, anchor in zip(prompts, anchors)
    ]


@functools.cache
@torch.no_grad()
def loop(lm, ids: tuple[int, ...]) -> tuple[list[int], torch.Tensor]:
    """Return the most probable next tokens, each from a pass of the whole text, and the chances."""
    said, chances = [], []
    for _ in range(NEW):
        logits = lm.model(torch.tensor([[*ids, *said]]), use_cache=False).logits[0, -1]
        chances.append(logits.double().log_softmax(-1))
        said.append(int(logits.argmax()))
    return said, torch.stack(chances)


@functools.cache
@torch.no_grad()
def forced(lm, ids: tuple[int, ...], anchor: tuple[int, ...]) -> list[float]:
    """Return the log-probabilities of an anchor, from a pass of the whole text."""
    logits = lm.model(torch.tensor([[*ids, *anchor]]), use_cache=False).logits[
        0, len(ids) - 1 : -1
    ]
    chances = logits.double().log_softmax(-1)
    return chances.gather(1, torch.tensor(anchor)[:, None])[:, 0].tolist()


@functools.cache
def echoing(family: str) -> list[ContinuationTask]:
    """Return tasks whose anchors begin as the model goes on, so that texts run along them."""
    lm, tasks = case(family)
    return [
        ContinuationTask(
            task.ids, anchor=(*loop(lm, task.ids)[0][: n % (NEW + 1)], *task.anchor)
        )
        for n, task in enumerate(tasks)
    ]


def expected(
    lm, task: ContinuationTask, rules: StoppingRules
) -> tuple[list[int], list[float], list[float]]:
    """Return tokens, log-probabilities and those of the anchor, as a plain loop reads them."""
    said, chances = loop(lm, task.ids)
    kept = steps = rules.max_new_tokens
    for n in range(rules.max_new_tokens):
        if said[n] in rules.ends:
            kept, steps = n, n + 1
            break
        whole = decoding.decode_new_tokens(lm, task, said[: n + 1])
        found = [whole.index(word) for word in rules.stop if word in whole]
        if found:
            parts = [
                decoding.decode_new_tokens(lm, task, said[:m]) for m in range(n + 2)
            ]
            kept = next(
                m for m, p in enumerate(parts) if p.startswith(whole[: min(found)])
            )
            steps = n + 1
            break
    read = task.anchor[: min(steps, kept + 1)]
    own = [chances[n, token].item() for n, token in enumerate(said[:kept])]
    return said[:kept], own, [chances[n, token].item() for n, token in enumerate(read)]


def run(
    lm, tasks, rules, length: int = 512, price: float = PASS_PRICE, scored=frozenset()
) -> dict:
    parts = list(
        packed_continuations.continue_in_packs(lm, tasks, length, rules, price, scored)
    )
    assert sum(map(len, parts)) == len(tasks)  # each text once
    return {task: text for part in parts for task, text in part.items()}


def difference(lm, found: dict, rules: StoppingRules) -> float:
    """Return the largest difference of a log-probability; infinity where a text is another."""
    worst = 0.0
    for task, text in found.items():
        ids, own, anchor = expected(lm, task, rules)
        if text.ids[: text.kept] != ids:
            return float("inf")
        read = text.anchor_logprobs[: text.kept + 1]
        assert len(read) == len(anchor)
        pairs = [*zip(text.logprobs[: text.kept], own, strict=True), *zip(read, anchor)]
        if text.scored:
            pairs += zip(text.scored, forced(lm, task.ids, task.anchor), strict=True)
        worst = max([worst, *(abs(a - b) for a, b in pairs)])
    return worst


@pytest.mark.parametrize("family", sorted(PACKED))
def test_every_packed_family_says_what_a_plain_loop_says(family):
    lm, tasks = case(family)
    rules = StoppingRules(NEW, (), ())
    assert engine.scorer_of_model(lm).joins
    assert difference(lm, run(lm, tasks, rules), rules) <= EXACT
    assert difference(lm, run(lm, tasks, rules, 24, 0), rules) <= EXACT
    both = echoing(family)
    found = run(lm, both, rules, 24, 0, scored=set(both))
    assert all(len(text.scored) == len(task.anchor) for task, text in found.items())
    assert difference(lm, found, rules) <= EXACT


@pytest.mark.parametrize("family", ["llama_dynamic", "mamba", "t5"])
def test_other_families_are_continued_otherwise(family):
    assert not engine.scorer_of_model(tiny_models.tiny_language_model(family)).joins


@settings(max_examples=40, deadline=None)
@given(data=st.data(), family=st.sampled_from(ATTENTION))
def test_prompts_rules_order_and_packs_change_no_text(data, family):
    lm, tasks = case(family)
    tasks = [*tasks, *echoing(family)]
    asked = data.draw(st.lists(st.sampled_from(tasks), min_size=1, unique=True))
    scored = data.draw(st.sets(st.sampled_from(asked)))
    new = data.draw(st.integers(1, NEW))
    # Blanks before an answer end nothing: tests of stop strings have these.
    letters = [letter for letter in LETTERS if letter.strip()]
    stop = data.draw(st.lists(st.sampled_from(letters), max_size=3))
    likely = sorted({token for task in tasks for token in loop(lm, task.ids)[0]})
    ends = data.draw(st.lists(st.sampled_from(likely), max_size=5))
    rules = StoppingRules(new, tuple(stop), tuple(ends))
    length = data.draw(st.sampled_from([1, 7, 24, 64, 512]))
    price = data.draw(st.sampled_from([0, PASS_PRICE, float("inf")]))
    found = run(lm, asked, rules, length, price, scored)
    assert {task for task, text in found.items() if text.scored} == scored
    assert difference(lm, found, rules) <= EXACT


def visible(model, allowed, queries, keys):
    """Let each new token see those of other texts beside it."""
    allowed = allowed.copy()
    allowed[:, -len(queries) :] = True
    return RIGHT(model, allowed, queries, keys)


def by_place(model, allowed, queries, keys):
    """Count places in the row, not in the text."""
    past = len(keys) - len(queries)
    places = np.minimum(np.arange(len(keys)), 100)  # within the context
    return RIGHT(model, allowed, places[past:], places)


def late(model, allowed, queries, keys):
    """Put tokens that are not read with a prompt five places too far on."""
    step = len(queries) > 1 and np.array_equal(
        allowed[:, -len(queries) :], np.eye(len(queries))
    )
    places = np.append(keys[: -len(queries)], queries + 5)
    return (
        RIGHT(model, allowed, queries + 5, places)
        if step
        else RIGHT(model, allowed, queries, keys)
    )


RIGHT = packing.mask_and_positions


@pytest.mark.parametrize("wrong", [visible, by_place, late])
@pytest.mark.parametrize("family", ["bloom", "gpt2", "llama", "mistral"])
def test_a_wrong_mask_or_position_fails_and_is_not_used(wrong, family, monkeypatch):
    lm, tasks = case(family)
    rules = StoppingRules(NEW, (), ())
    monkeypatch.setattr(packing, "mask_and_positions", wrong)
    assert difference(lm, run(lm, tasks, rules), rules) > 1000 * EXACT
    assert not engine.scorer_of_model(lm).joins


def test_a_window_left_out_of_the_mask_fails(monkeypatch):
    lm, tasks = case("mistral")
    rules = StoppingRules(NEW, (), ())
    monkeypatch.setattr(packing.families, "attention_windows", lambda config: None)
    assert difference(lm, run(lm, tasks, rules), rules) > 1000 * EXACT
    assert not engine.scorer_of_model(lm).joins


def test_a_model_that_fails_goes_on_in_batches_and_that_is_told(monkeypatch, caplog):
    lm = tiny_models.tiny_language_model("llama")
    prompts = ["Which country is Lyon in?", "Lyon is located in", "The"]
    right = generate(lm, prompts, progress=False)
    lm.trials.continues_in_packs = None
    monkeypatch.setattr(trial, "trial_outcome", lambda *asked: asked[-1]()[0])

    def broken(*args):
        raise TypeError("no such argument")

    monkeypatch.setattr(packing, "mask_and_positions", broken)
    found = generate(lm, prompts, progress=False)
    assert (
        "tiny-llama is continued in batches of equal length, which is slower"
        in caplog.text
    )
    assert "TypeError: no such argument" in caplog.text
    assert list(found["tokens"]) == list(right["tokens"])


@pytest.mark.parametrize("family", ["bloom", "gpt2", "llama"])
def test_each_distinct_token_goes_through_the_model_once(family):
    lm, tasks = case(family)
    rules = StoppingRules(NEW, ("a", "e"), ())
    with count_forwarded_tokens(lm) as seen:
        found = run(lm, tasks, rules)
    distinct = {task.ids[:n] for task in tasks for n in range(1, len(task.ids) + 1)}
    # The token that ends a text is not read.
    assert sum(seen) == len(distinct) + sum(
        len(text.ids) - 1 for text in found.values()
    )
    assert sum(map(len, {task.ids for task in tasks})) > 2 * len(distinct)


@pytest.mark.parametrize("family", ["bloom", "gpt2", "llama"])
def test_anchors_along_the_text_cost_nothing(family):
    lm, tasks = case(family)
    tasks = [task for task in tasks if len(task.ids) == len(tasks[0].ids)]
    own = [
        ContinuationTask(task.ids, anchor=tuple(loop(lm, task.ids)[0][:4]))
        for task in tasks
    ]
    rules = StoppingRules(NEW, (), ())
    with count_forwarded_tokens(lm) as alone:
        run(lm, tasks, rules)
    with count_forwarded_tokens(lm) as seen:
        found = run(lm, own, rules, scored=set(own))
    assert sum(seen) == sum(alone)
    assert len(seen) == len(alone) - 3  # three of the passes that each add a token
    assert difference(lm, found, rules) <= EXACT


def unrelated(n: int, length: int) -> list[ContinuationTask]:
    draw = np.random.default_rng(1)
    return [
        ContinuationTask(tuple(draw.integers(3, 300, size=length).tolist()))
        for _ in range(n)
    ]


def test_prompts_are_read_while_few_texts_go_on():
    lm = case("llama")[0]
    rules = StoppingRules(NEW, (), ())
    with count_forwarded_tokens(lm) as seen:
        found = run(lm, unrelated(9, 20), rules, 64)
    assert seen[:3] == [60, 60, 60]
    assert len(seen) == 3 + NEW - 1
    assert difference(lm, found, rules) <= EXACT


def test_one_prompt_with_two_anchors_is_read_once():
    lm, tasks = case("gpt2")
    same = [ContinuationTask(tasks[0].ids, anchor=(n, 5)) for n in (3, 4)]
    rules, scorer = StoppingRules(NEW, (), ()), engine.scorer_of_model(lm)
    assert scorer.joins
    with count_forwarded_tokens(lm) as seen:
        found = list(scorer.texts(same, rules))
    assert seen[0] == len(tasks[0].ids)
    texts = {text.task: text for part in found for text in part}
    assert texts.keys() == set(same)
    assert difference(lm, texts, rules) <= EXACT


@pytest.mark.parametrize("family", ["llama", "bloom"])
def test_packs_that_do_not_fit_are_halved(family):
    lm, tasks = case(family)
    rules = StoppingRules(NEW, (), ())
    assert engine.scorer_of_model(lm).joins
    with count_forwarded_tokens(lm) as seen, fail_beyond_tokens(lm, 20):
        done = [
            text
            for part in engine.scorer_of_model(lm).texts(tasks, rules)
            for text in part
        ]
    assert any(size > 20 for size in seen)
    assert len(done) == len(tasks)
    assert difference(lm, {text.task: text for text in done}, rules) <= EXACT
    with (
        fail_beyond_tokens(lm, 0),
        pytest.raises(UserError, match="does not fit into the memory"),
    ):
        list(engine.scorer_of_model(lm).texts(tasks, rules))


def test_keys_of_texts_that_have_ended_are_let_go(monkeypatch):
    lm = case("llama")[0]
    tasks = unrelated(60, 9)
    most, cache = [0], packing.dynamic_cache

    def watched(kept, *settings):
        most.append(kept[0][0].shape[-2] if kept else 0)
        return cache(kept, *settings)

    monkeypatch.setattr(packing, "dynamic_cache", watched)
    rules = StoppingRules(NEW, (), ())
    assert difference(lm, run(lm, tasks, rules, 32), rules) <= EXACT
    assert max(most) < 60 * 9 / 2
