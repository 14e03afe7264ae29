"""Every method gives what one-at-a-time forwards give; controls that must fail do fail."""

import contextlib
import dataclasses
import functools
import weakref

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.falcon import modeling_falcon

from helpers import UserError, probing
from helpers.models import families, gpu
from helpers.models.tokens import Row
from helpers.probing import engine
from helpers.probing import scoring_method as public_method
from helpers.probing.engine import encoder, packing, plain, trial
from helpers.probing.engine.trie import PASS_PRICE
from tests import tiny_models

METHOD_BY_FAMILY = {
    **dict.fromkeys(
        [*tiny_models.ALL_FAMILIES, *tiny_models.FURTHER_FAMILIES], "packed"
    ),
    **dict.fromkeys(["llama_dynamic", "mamba", "phi3_longrope"], "plain"),
}
# One family of each kind of attention: a bias by distance, latent keys, windows with a
# soft cap, learned positions, rotary ones, relative ones after an encoder. All families
# that are packed, as their own classes: tests/test_architectures.py, in the slow tier.
ATTENTION = ["bloom", "deepseek_v3", "gemma2", "gpt2", "llama", "t5"]
EAGER = {"bloom", "codegen", "gemma2", "gpt_neo", "gpt_oss", "gptj", "mpt", "xglm"}
WINDOWED = [
    "cohere2",
    "gemma2",
    "gemma3",
    "gpt_oss",
    "mistral",
    "olmo3",
    "phi3",
    "qwen2_mixed",
]
WINDOWED.append("starcoder2")
EXACT = 1e-5


def sample(
    lm, longest: int = 40, subjects: int = 3, choices: int = 5, seed: int = 0
) -> list[Row]:
    """Return rows of two relations, one with a beginning longer than any window of `tiny`."""
    draw = np.random.default_rng(seed)

    def text(n: int) -> tuple[int, ...]:
        return tuple(draw.integers(3, lm.model.config.vocab_size, size=n).tolist())

    rows = []
    for head in (text(longest), text(3)):
        for number in range(subjects):
            subject, source = text(1 + number % 3), text(7 + number)
            ends = [text(1 + n % 4) for n in range(choices)]
            ends.append(ends[-1] + text(2))  # one choice begins as another
            before = head + subject
            source = source if lm.kind == "seq2seq" else ()
            rows += [Row.of_ids(before + end, len(before), source) for end in ends]
    return list(dict.fromkeys(rows))


def one_by_one(lm, rows) -> dict:
    return {
        row: tiny_models.naive_logprobs(lm, row.ids, row.start, row.source)
        for row in rows
    }


def case(family: str):
    """Return what `made` makes, its model not tried yet."""
    lm, rows, expected = made(family)
    return tiny_models.untried(lm), rows, expected


@functools.cache
def made(family: str):
    """Return a tiny model, rows that are longer than its window, and what they score one by one."""
    lm = tiny_models.tiny_language_model(family)
    # Rotary positions that grow with the text have a state; within the context they are
    # exact.
    rows = sample(lm, 12 if family == "llama_dynamic" else 40)
    return lm, rows, one_by_one(lm, rows)


def run(lm, rows, name: str, length: int = 64, price: float = PASS_PRICE) -> dict:
    parts = list(
        engine.scorer_by_method(lm, engine.Method(name, ""), length, price).score(rows)
    )
    assert sum(map(len, parts)) == len(rows)  # each row once
    return {row: values for part in parts for row, values in part.items()}


def difference(found: dict, expected: dict) -> float:
    assert found.keys() == expected.keys()
    pairs = [
        (a, b) for row in found for a, b in zip(found[row], expected[row], strict=True)
    ]
    return max(abs(a - b) for a, b in pairs)


def embedding(lm) -> torch.nn.Module:
    """Return what turns the ids that a (decoder of a) model reads into vectors."""
    return (
        lm.model.decoder if lm.kind == "seq2seq" else lm.model
    ).get_input_embeddings()


@contextlib.contextmanager
def count_forwarded_tokens(lm):
    """Yield the list of how many tokens each pass of the (decoder's) embedding has taken in."""
    seen: list[int] = []
    hook = embedding(lm).register_forward_pre_hook(
        lambda _, inputs: seen.append(inputs[0].numel())
    )
    try:
        yield seen
    finally:
        hook.remove()


def test_every_kind_of_family_is_tested():  # each packed one: tests/test_architectures.py
    tested = {
        tiny_models.tiny_network(name).config.model_type for name in METHOD_BY_FAMILY
    }
    assert tested >= packing.POSITION_PATCHES.keys() >= families.HOOKED_FAMILIES


@pytest.mark.parametrize("family", sorted(METHOD_BY_FAMILY))
def test_every_family_by_its_method_is_exact(family):
    lm, rows, expected = case(family)
    told = public_method(lm)
    assert told["method"] == METHOD_BY_FAMILY[family], told["reason"]
    if told["method"] == "packed":
        assert (
            told["reason"]
            .split(",")[0]
            .endswith("eager attention" if family in EAGER else "sdpa attention")
        )
    assert (told["checked_max_abs_diff"] is None) == (told["method"] == "plain")
    limit = 5e-5 if family == "mamba" else EXACT  # its own float32 rounding is 2.5e-5
    assert difference(run(lm, rows, told["method"], 24), expected) <= limit
    assert difference(run(lm, rows, told["method"], 512), expected) <= limit


def wrong_positions(monkeypatch):
    right = packing.position_arguments

    def by_place(model, queries, keys):
        places = torch.arange(keys.shape[1]).expand_as(keys)
        return right(model, places[:, keys.shape[1] - queries.shape[1] :], places)

    monkeypatch.setattr(packing, "position_arguments", by_place)


def wrong_mask(monkeypatch):
    def causal(tree, nodes, kept=0):
        return np.tril(np.ones((len(nodes), kept + len(nodes)), dtype=bool), kept)

    monkeypatch.setattr(packing, "visible_keys", causal)
    monkeypatch.setattr(encoder, "visible_keys", causal)


def no_window(monkeypatch):
    monkeypatch.setattr(families, "attention_windows", lambda config: None)


def wrong_head(monkeypatch):
    gather = plain.gather_log_probabilities
    monkeypatch.setattr(
        plain,
        "gather_log_probabilities",
        lambda x, r, t: gather(x, (r + 1) % len(x), t),
    )


SPOILT = {wrong_positions: ATTENTION, wrong_mask: ATTENTION, no_window: WINDOWED}
SPOILT |= {wrong_head: ["llama", "t5"]}


@pytest.mark.parametrize(
    ("spoil", "family"), [(s, f) for s, names in SPOILT.items() for f in names]
)
def test_packing_wrongly_is_seen_and_not_used(spoil, family, monkeypatch):
    lm, rows, expected = case(family)
    assert spoil is not no_window or lm.model.config.sliding_window == 5 < 40
    spoil(monkeypatch)
    assert difference(run(lm, rows, "packed"), expected) > 1000 * EXACT
    # A head that is read wrongly is wrong in plain batches too.
    assert spoil is wrong_head or engine.scoring_method(lm)["method"] == "plain"


def test_a_family_packed_without_its_patch_is_seen_and_not_used(monkeypatch):
    lm, rows, expected = case("gpt_neo")
    monkeypatch.delitem(
        packing.POSITION_PATCHES, "gpt_neo"
    )  # whose window counts places of the pack
    assert engine.scoring_method(lm)["method"] == "plain"
    found = {
        row: values
        for part in engine.scorer_of_model(lm).score(rows)
        for row, values in part.items()
    }
    assert difference(found, expected) <= EXACT


def test_a_method_that_raises_is_left_loudly(monkeypatch, caplog):
    lm = case("llama")[0]

    def broken(*args):
        raise TypeError("no such argument")

    monkeypatch.setattr(packing, "attention_mask_tensor", broken)
    told = engine.scoring_method(lm)
    assert told["method"] == "plain"
    assert "TypeError: no such argument" in told["reason"]
    assert len(caplog.records) == 1


def test_a_network_in_another_format_than_asked_for_is_packed_all_the_same():
    lm = tiny_models.tiny_language_model("llama")
    object.__setattr__(lm, "dtype", torch.bfloat16)
    lm.model.to(torch.float16)  # as transformers' AWQ does with bfloat16
    assert engine.scoring_method(lm)["method"] == "packed"


@pytest.mark.parametrize(
    ("change", "batches"),
    [
        (lambda given: 0, "padded"),
        (lambda given: given["attention_mask"].eq(0).sum(), "equal"),
        (lambda given: len(given["input_ids"]), "alone"),
    ],
)
def test_plain_batches_are_those_that_change_nothing(change, batches):
    lm = tiny_models.tiny_language_model("mamba")
    rows, forward = sample(lm), lm.model.forward

    def changed(**given):
        output = forward(**given)
        output.logits[..., 7] += change(given)
        return output

    lm.model.forward = changed
    assert engine.scoring_method(lm)["batches"] == batches
    found = {
        row: values
        for part in engine.scorer_of_model(lm).score(rows)
        for row, values in part.items()
    }
    alone = {
        row: v for r in rows for row, v in next(plain.score_in_batches(lm, [r])).items()
    }
    assert difference(found, alone) <= 5e-5


def test_a_model_that_scores_otherwise_each_time_is_refused():
    lm = tiny_models.tiny_language_model("mamba")
    forward = lm.model.forward
    lm.model.forward = lambda **given: torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda part: part + torch.rand_like(part), forward(**given)
    )
    with pytest.raises(
        UserError, match="does not give the same log-probabilities twice"
    ):
        engine.scoring_method(lm)


def test_an_unknown_family_is_told_loudly_and_once(caplog):
    lm = tiny_models.tiny_language_model("mamba")
    assert engine.scoring_method(lm) == engine.scoring_method(lm)
    assert len(caplog.records) == 1


def test_the_check_is_longer_than_its_window_and_leaves_the_config_alone():
    lm = tiny_models.tiny_language_model("mistral", sliding_window=100)
    assert max(len(row.ids) for row in trial.sample_rows(lm)) > 2 * trial.TRIAL_WINDOW
    before = lm.model.config.to_dict()
    assert engine.scoring_method(lm)["method"] == "packed"
    assert lm.model.config.to_dict() == before


@pytest.mark.parametrize("family", ["bloom", "falcon_alibi", "gpt_neo", "mpt", "t5"])
def test_hooks_are_gone_afterwards(family):
    lm = tiny_models.tiny_language_model(family)
    build = modeling_falcon.build_alibi_tensor

    def state() -> list:
        parts = [(name, set(vars(part))) for name, part in lm.model.named_modules()]
        return parts + [(name, id(buffer)) for name, buffer in lm.model.named_buffers()]

    before = state()
    run(lm, sample(lm), "packed")
    assert state() == before
    assert modeling_falcon.build_alibi_tensor is build
    assert not any(part._forward_pre_hooks for part in lm.model.modules())


@settings(max_examples=15)
@given(
    seed=st.integers(0, 999),
    length=st.sampled_from([1, 7, 20, 64, 512]),
    price=st.sampled_from([0, PASS_PRICE, float("inf")]),
    family=st.sampled_from(ATTENTION),
)
def test_order_pack_length_and_kept_keys_change_nothing(seed, length, price, family):
    lm, rows, expected = case(family)
    mixed = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
    found = run(lm, mixed, "packed", length, price)
    assert difference(found, expected) <= EXACT
    assert found == run(lm, rows, "packed", length, price)


@pytest.mark.parametrize("length", [16, 512])
@pytest.mark.parametrize("family", ["llama", "gpt2", "bloom"])
def test_each_distinct_token_is_forwarded_once(family, length):
    lm, rows, _ = case(family)
    with count_forwarded_tokens(lm) as seen:
        run(lm, rows, "packed", length)
    distinct = {row.ids[:n] for row in rows for n in range(1, len(row.ids))}
    counted = engine.count_tokens(rows, length)
    assert counted["distinct"] == len(distinct)
    assert sum(seen) == counted["forwarded"]
    if length == 512:  # one pack holds all: nothing is repeated
        assert sum(seen) == len(distinct)
        assert len(seen) == 1
    assert sum(seen) < sum(len(row.ids) for row in rows) / 5


def test_the_head_runs_on_distinct_parents_only():
    lm, rows, _ = case("gpt2")
    seen = []
    head = lm.model.get_output_embeddings()
    hook = head.register_forward_hook(
        lambda module, inputs, output: seen.append(output.shape)
    )
    run(lm, rows, "packed", 24)
    hook.remove()
    parents = {row.ids[:n] for row in rows for n in range(row.start, len(row.ids))}
    assert (
        sum(shape[1] for shape in seen)
        == len(parents)
        == engine.count_tokens(rows)["heads"]
    )


def test_each_source_is_encoded_once():
    lm, rows, _ = case("t5")
    seen = []
    hook = lm.model.get_encoder().register_forward_pre_hook(
        lambda module, inputs, named: seen.append(len(named["input_ids"])),
        with_kwargs=True,
    )
    run(lm, rows, "packed", 16)
    hook.remove()
    assert sum(seen) == len({row.source for row in rows})


def test_a_long_text_without_branches_is_read_in_parts():
    lm = case("llama")[0]
    ids = sample(lm, 100)[0].ids
    row = Row.of_ids(ids, 1)
    with count_forwarded_tokens(lm) as seen:
        found = run(lm, [row], "packed", 32)
    assert seen == [32, 32, 32, len(ids) - 1 - 96]
    assert difference(found, one_by_one(lm, [row])) <= EXACT


def test_keys_of_finished_relations_are_let_go(monkeypatch):
    lm, most = case("llama")[0], []
    pack = packing.dynamic_cache
    alive: list = []
    draw = np.random.default_rng(0)
    rows = []
    for _ in range(6):
        head = tuple(draw.integers(3, lm.model.config.vocab_size, size=60).tolist())
        rows += [Row.of_ids((*head, s, c, c), 61) for s in range(5) for c in range(9)]

    def watched(kept, *settings):
        alive[:] = [ref for ref in alive if ref() is not None]
        if kept and not any(ref() is kept[0][0] for ref in alive):
            alive.append(weakref.ref(kept[0][0]))
        most.append(sum(ref() is not None for ref in alive))
        return pack(kept, *settings)

    monkeypatch.setattr(packing, "dynamic_cache", watched)
    assert difference(run(lm, rows, "packed", 32), one_by_one(lm, rows)) <= EXACT
    assert max(most) <= 2


@contextlib.contextmanager
def fail_beyond_tokens(lm, most: int):
    """Let passes of more than `most` tokens fail as on a GPU without memory."""

    def check(module, inputs):
        if inputs[0].numel() > most:
            raise torch.OutOfMemoryError("no memory")

    hook = embedding(lm).register_forward_pre_hook(check)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.parametrize("family", ["llama", "bloom", "t5", "phi3_longrope"])
def test_passes_that_do_not_fit_are_halved(family):
    lm, rows, expected = case(family)
    name = engine.scoring_method(lm)["method"]
    most = 20 if name == "packed" and lm.kind == "causal" else 60
    with count_forwarded_tokens(lm) as seen, fail_beyond_tokens(lm, most):
        found = run(lm, rows, name, 512)
    assert difference(found, expected) <= EXACT
    assert any(size > most for size in seen)


def test_a_pack_length_that_did_not_fit_is_not_tried_again():
    lm = case("llama")[0]
    rows = sample(lm, subjects=20)
    with count_forwarded_tokens(lm) as seen, fail_beyond_tokens(lm, 100):
        run(lm, rows, "packed", 512)
    assert 1 <= sum(size > 100 for size in seen) <= 3  # at 512, 256 and 128 tokens
    assert sum(size <= 100 for size in seen) > 3


@pytest.mark.parametrize("family", ["llama", "t5", "mamba"])
def test_a_text_that_does_not_fit_at_all_is_one_sentence(family):
    lm, rows, _ = case(family)
    name = engine.scoring_method(lm)["method"]
    with (
        fail_beyond_tokens(lm, 0),
        pytest.raises(UserError, match="does not fit into the memory"),
    ):
        run(lm, rows, name, 64)


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "opt", "bloom", "t5"])
def test_bfloat16_is_within_its_rounding(family):
    lm, (_, rows, exact) = tiny_models.tiny_language_model(family), case(family)
    object.__setattr__(lm, "dtype", torch.bfloat16)
    lm.model.to(torch.bfloat16)
    packed, naive = run(lm, rows, "packed"), one_by_one(lm, rows)
    rounding = np.mean([abs(a - b) for r in rows for a, b in zip(naive[r], exact[r])])
    ours = np.mean([abs(a - b) for r in rows for a, b in zip(packed[r], exact[r])])
    assert (
        difference(packed, naive) <= 0.05
    )  # measured: 0.024 for t5, 0.008 for the others
    assert ours <= 1.5 * rounding
    assert engine.scoring_method(lm)["method"] == "packed"


FIVE = (3, 4, 5, 6, 7)
FEW = [
    [Row.of_ids((3, 4), 1)],
    [Row.of_ids(FIVE, 2), Row.of_ids(FIVE, 4), Row.of_ids(FIVE[:3], 2)],
]


@pytest.mark.parametrize("rows", FEW, ids=["alone", "from two places"])
def test_few_texts_and_none(rows):
    lm = case("llama")[0]
    assert list(engine.scorer_of_model(lm).score([])) == []
    assert difference(run(lm, rows, "packed"), one_by_one(lm, rows)) <= EXACT


def test_pack_length_keeps_the_logits_in_bounds(monkeypatch):
    lm = case("llama")[0]
    assert engine.pack_length_of_model(lm) == 512
    monkeypatch.setattr(gpu, "MOST_LOGITS", 25 * lm.model.config.vocab_size)
    assert engine.pack_length_of_model(lm) == 100


def test_pack_length_of_a_gpu_follows_its_free_memory(monkeypatch):
    gpu_device = torch.device("cuda")
    monkeypatch.setattr(
        gpu, "device_memory", lambda on: gpu.DeviceMemory(80 << 30, free[0])
    )
    free = [70 << 30]
    assert gpu.pack_length_on_device(gpu_device, 768, 50_257) == 8192
    free[0] = 6 << 30
    middle = gpu.pack_length_on_device(gpu_device, 4096, 128_256)
    assert 512 <= middle < 8192
    assert middle % 512 == 0
    free[0] = 1 << 20
    assert gpu.pack_length_on_device(gpu_device, 4096, 128_256) == 512


def test_a_cache_is_given_under_the_name_that_the_network_has_for_it():
    """transformers 5.24 calls it `cache`: packs and continued texts are as before."""
    lm, rows, expected = made("llama")
    given = []

    class Renamed(type(lm.model)):
        def forward(self, cache=None, logits_to_keep=0, **inputs):
            assert "past_key_values" not in inputs
            given.append(cache)
            return super().forward(
                past_key_values=cache, logits_to_keep=logits_to_keep, **inputs
            )

    network = Renamed(lm.model.config).eval()
    network.load_state_dict(lm.model.state_dict())
    renamed = dataclasses.replace(
        lm, model=network, trials=tiny_models.untried(lm).trials
    )
    assert difference(run(renamed, rows, "packed"), expected) < EXACT
    assert any(cache is not None for cache in given)
    given.clear()
    prompts = ["Lyon is in", "Lyon lies in", "Kyoto"]
    texts = [
        probing.generate(each, prompts, 5, progress=False) for each in (lm, renamed)
    ]
    pd.testing.assert_frame_equal(*texts)
    assert any(cache is not None for cache in given)
