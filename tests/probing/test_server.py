"""A model on a server is scored and asked with the numbers of the same model at hand."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError, models, probing
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from helpers.models.server import cache_check
from helpers.models.server_address import SERVER_KEY_VARIABLE
from helpers.models.tokens import Row
from helpers.probing.attribution import attribute_probability
from helpers.probing.engine import server_scoring
from tests import tiny_models
from tests.probing.test_scoring import (
    OPTIONS,
    PROMPTS,
    expected_logprobs,
    largest_difference,
    probe_table,
)
from tests.stub_server import StubServer, delay_fault

WORKING = {
    "vllm": ("nodes", "prompt_logprobs"),
    "older": ("prompt_logprobs",),
    "nodes": ("nodes",),
    "echo": ("echo",),
    "strict": ("echo",),
    "spelled": ("echo",),
}
REFUSED = {
    "chat": "has no completions .* only chat, which gives no exact scores; serve the model with",
    "none": "gives no log-probabilities with its answers .*; serve the model with vLLM",
    "top-k": "gives the most probable tokens alone, .* of given tokens",
    "text": "does not take a prompt of token ids",
    "bent": r"gives one token the log-probabilities -[\d.]+ and -[\d.]+, asked for in two ways",
    "logits": "a log-probability of .*, which is above 0",
    "truncating": "12 tokens read, where",
    "llama.cpp": "gives no log-probabilities with its answers .*; serve the model with vLLM",
    "ollama": "does not take a prompt of token ids",
}
UNFIT = (
    "chat",
    "none",
    "text",
    "logits",
    "llama.cpp",
    "ollama",
)  # whatever their model


@pytest.fixture(scope="module")
def lm():
    return tiny_models.tiny_language_model(
        "llama", tokenizer=tiny_models.chat_tokenizer()
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, lm):
    """Return a folder with the tokenizer and configuration, and without weights."""
    folder = tmp_path_factory.mktemp("served")
    lm.tokenizer.save_pretrained(folder)
    lm.model.config.save_pretrained(folder)
    return folder


@pytest.fixture
def serve(lm, folder, monkeypatch):
    for variable in ("PATIENCE", "TIMEOUT", "IN_FLIGHT", "API_KEY", "TOKENIZER"):
        monkeypatch.delenv(f"SERVER_{variable}", raising=False)
    monkeypatch.setattr(cache_check, "N_TEXTS", 1)  # tests/models/test_cache_check.py
    monkeypatch.setattr(cache_check, "MOST_AT_ONCE", 2)
    return lambda personality="vllm", **settings: StubServer(
        lm, folder, personality, **settings
    )


def several(n=3) -> pd.DataFrame:
    """Return probes of one and of many choices, which different ways are cheapest for."""
    few = probe_table(PROMPTS, OPTIONS)
    long = " ".join(PROMPTS[:2]) + " Lyon is located in"
    many = probe_table(
        [long], [f" {word}{n}" for n in range(12) for word in ("Italy", "France")]
    )
    return pd.concat([few, many.assign(item="many")], ignore_index=True)


@pytest.mark.parametrize("personality", WORKING)
def test_scores_are_those_of_one_forward_a_text(serve, lm, personality):
    probes = several()
    with serve(personality) as stub:
        served = models.load(stub.address)
        assert served.server.ways == WORKING[personality]
        found = probing.score(served, probes, progress=False)
        texts = probing.score_sentences(served, PROMPTS, progress=False)
    here = probing.score_sentences(lm, PROMPTS, progress=False)
    assert largest_difference(texts["logprobs"], here["logprobs"]) <= 1e-5
    assert largest_difference(found["logprobs"], expected_logprobs(lm, probes)) <= 1e-5
    at_hand = probing.score(lm, probes, progress=False)
    columns = ["tokens", "read", *probes.columns]
    pd.testing.assert_frame_equal(found[columns], at_hand[columns])
    assert list(found.columns) == list(at_hand.columns)


def test_both_ways_of_vllm_are_taken_where_they_are_cheapest(serve):
    with serve() as stub:
        served = models.load(stub.address)
        stub.requests.clear()
        probing.score(served, several(), progress=False)
    kinds = [
        "nodes" if "logprob_token_ids" in body else "text" for body in stub.requests
    ]
    assert {"nodes", "text"} == set(kinds)
    assert len(stub.requests) < len(several())
    assert all(isinstance(body["prompt"], list) for body in stub.requests)
    assert all(body["temperature"] == 0 for body in stub.requests)
    assert all(body["repetition_penalty"] == 1 for body in stub.requests)


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(
    "personality", [name for name in WORKING if "echo" not in WORKING[name]]
)
def test_texts_and_anchors_are_those_of_the_model_at_hand(serve, lm, personality, chat):
    at_hand = dataclasses.replace(lm, prompt_format="chat" if chat else "bare")
    prompts = [*PROMPTS, "Alan Kay was born in 19"]
    anchors = [" France", " Italy", " Switzerland and Bern", " True", "45"]
    # A stop that texts of this random model hold, so that the cut is seen.
    free = probing.generate(at_hand, prompts, 12, (), progress=False)
    stop = [text[1:3] for text in free["text"] if len(text) > 4][:2]
    with serve(personality) as stub:
        served = models.load(stub.address, chat=chat)
        for stops in ((), stop):
            asked = dict(max_new_tokens=12, stop=stops, anchors=anchors, progress=False)
            found = probing.generate(served, prompts, **asked)
            wanted = probing.generate(at_hand, prompts, **asked)
            same = ["prompt", "text", "tokens", "read"]
            pd.testing.assert_frame_equal(found[same], wanted[same])
            for column in ("logprobs", "anchor_logprobs"):
                for ours, theirs in zip(found[column], wanted[column], strict=True):
                    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("personality", ["echo", "strict"])
def test_texts_of_a_server_without_token_ids(lm, serve, personality):
    # A bundled model writes words; the tokens of a random one are often no whole
    # character.
    at_hand = models.load("atlas-xs", device="cpu")
    asked = dict(anchors=[" France", " Italy"], max_new_tokens=6, progress=False)
    with StubServer(at_hand, BUNDLED_MODELS_FOLDER / "atlas-xs", personality) as stub:
        found = probing.generate(models.load(stub.address), PROMPTS[:2], **asked)
    wanted = probing.generate(at_hand, PROMPTS[:2], **asked)
    same = ["prompt", "text", "tokens", "read"]
    pd.testing.assert_frame_equal(found[same], wanted[same])
    for column in ("logprobs", "anchor_logprobs"):
        assert largest_difference(found[column], wanted[column]) <= 1e-5
    with serve(personality) as stub:
        served = models.load(stub.address)
        with pytest.raises(
            UserError, match="'�' without its id, and the tokenizer has 128"
        ):
            probing.generate(served, PROMPTS, 12, progress=False)


def test_a_text_ends_at_the_models_end(serve, lm):
    ends = tiny_models.tiny_language_model(
        "llama", tokenizer=tiny_models.chat_tokenizer(), eos_token_id=1
    )
    with pytest.MonkeyPatch.context() as patch:
        # The end is the most probable token everywhere, so every text is empty.
        original = ends.model.forward

        def forward(*args, **kwargs):
            output = original(*args, **kwargs)
            output.logits[..., 1] += 1e3
            return output

        patch.setattr(ends.model, "forward", forward)
        wanted = probing.generate(ends, PROMPTS, anchors=[" Italy"] * 4, progress=False)
        for personality in ("vllm", "echo"):
            with serve(personality) as stub:
                served = models.load(stub.address)
                stub.lm = ends
                found = probing.generate(
                    served, PROMPTS, anchors=[" Italy"] * 4, progress=False
                )
            assert list(found["text"]) == [""] * 4
            for ours, theirs in zip(
                found["anchor_logprobs"], wanted["anchor_logprobs"]
            ):
                assert math.isfinite(ours[0])  # of the step that ends the text
                assert ours[1:] == [-math.inf] * (len(ours) - 1)
                np.testing.assert_allclose(ours, theirs, atol=1e-3)


@pytest.mark.parametrize("personality", REFUSED)
def test_a_server_without_exact_scores_is_refused_in_one_sentence(serve, personality):
    with (
        serve(personality) as stub,
        pytest.raises(UserError, match=REFUSED[personality]) as told,
    ):
        models.load(stub.address)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("personality", UNFIT)
def test_of_an_unfit_server_no_tokenizer_is_missed(lm, personality):
    stub, refused = (
        StubServer(lm, "no-such-tokenizer", personality),
        REFUSED[personality],
    )
    with stub, pytest.raises(UserError, match=refused):
        models.load(stub.address)


def test_a_served_model_is_told_that_its_first_token_is_missing(tmp_path, caplog):
    folder = tiny_models.save_tiny_model(
        tmp_path, "gemma2", tiny_models.byte_tokenizer()
    )
    with StubServer(
        tiny_models.tiny_language_model("gemma2", tiny_models.byte_tokenizer()), folder
    ) as stub:
        served = models.load(stub.address)
    assert caplog.messages == [probing.scoring_method(served)["warning"]]


def test_what_the_cache_holds_is_not_asked_again(serve, tmp_path):
    with serve() as stub:
        first = probing.score(
            models.load(stub.address), several(), tmp_path, progress=False
        )
        again = models.load(stub.address)
        asked = len(stub.requests)
        second = probing.score(again, several(), tmp_path, progress=False)
        assert len(stub.requests) == asked
    pd.testing.assert_frame_equal(first, second)


def test_other_weights_under_the_same_name_share_no_cache(serve, tmp_path, lm):
    with serve() as stub:
        probing.score(models.load(stub.address), several(), tmp_path, progress=False)
        stub.lm = tiny_models.tiny_language_model(
            "llama", tokenizer=tiny_models.chat_tokenizer(), seed=1
        )
        other = models.load(stub.address)
        found = probing.score(other, several(), tmp_path, progress=False)
    assert (
        largest_difference(found["logprobs"], expected_logprobs(stub.lm, several()))
        <= 1e-5
    )


@pytest.mark.parametrize("shift", [-0.009, 0.004, 0.0095])
def test_the_cache_holds_though_the_third_decimal_differs(serve, tmp_path, shift):
    with serve() as stub:
        exact = stub.chances
        first = probing.score(
            models.load(stub.address), several(), tmp_path, progress=False
        )
        stub.chances = lambda ids: exact(ids) + shift
        again = models.load(stub.address)
        stub.chances = exact
        asked = len(stub.requests)
        second = probing.score(again, several(), tmp_path, progress=False)
        assert len(stub.requests) == asked
    pd.testing.assert_frame_equal(first, second)


def test_samples_in_a_cache_that_are_damaged_are_begun_anew(serve, tmp_path):
    with serve() as stub:
        served = models.load(stub.address)
        for text in ("[1]", "{", '{"a": 1}'):
            (tmp_path / "servers.json").write_text(text)
            probing.score(served, several(), tmp_path, progress=False)
        asked = len(stub.requests)
        probing.score(served, several(), tmp_path, progress=False)
        assert len(stub.requests) == asked


def test_a_key_with_an_accent_is_told_from_one_with_a_blank(serve, monkeypatch):
    with serve() as stub:
        monkeypatch.setenv(SERVER_KEY_VARIABLE, "clé")
        with pytest.raises(
            UserError, match=r"holds 'é', and keys have letters"
        ) as told:
            models.load(stub.address)
        assert "clé" not in str(told.value)
        monkeypatch.setenv(SERVER_KEY_VARIABLE, "key ")
        with pytest.raises(UserError, match="a blank or a line break at its end"):
            models.load(stub.address)


def test_what_is_wrong_with_a_tokenizer_at_hand_is_told(serve, tmp_path, monkeypatch):
    with serve() as stub:
        pointer = "version https://git-lfs.github.com/spec/v1\n"
        (tmp_path / "tokenizer.json").write_text(pointer)
        monkeypatch.setenv("SERVER_TOKENIZER", str(tmp_path))
        with pytest.raises(UserError, match=r"tokenizer\.json is a Git LFS pointer"):
            models.load(stub.address)


def test_no_more_requests_are_in_flight_than_allowed(serve, monkeypatch):
    monkeypatch.setenv("SERVER_IN_FLIGHT", "3")
    with serve() as stub:
        served = models.load(stub.address)
        stub.faults.extend(
            [delay_fault(0.05)] * 6
        )  # or each could be answered before the next is sent
        probing.score(served, several(), progress=False)
        assert 1 < stub.busiest <= 3
        stub.busiest = 0
        probing.score(served, several(), progress=False, batch_size=1)
        assert stub.busiest == 1


def test_the_key_is_sent_and_written_nowhere(serve, monkeypatch, tmp_path):
    monkeypatch.setenv(SERVER_KEY_VARIABLE, "secret-key")
    with serve() as stub:
        served = models.load(stub.address)
        found = probing.score(served, several(), tmp_path, progress=False)
    assert stub.keys == {"Bearer secret-key"}
    written = json.dumps(models.describe_model(served)) + str(served) + found.to_json()
    assert "secret-key" not in written
    assert not [
        f
        for f in tmp_path.rglob("*")
        if f.is_file() and b"secret-key" in f.read_bytes()
    ]


def test_a_model_on_a_server_says_what_it_is(serve, lm):
    with serve() as stub:
        served = models.load(stub.address)
    told = models.describe_model(served)
    assert told["server"]["version"] == "stub"
    assert told["server"]["ways"] == ["nodes", "prompt_logprobs"]
    assert told["max_length"] == lm.max_length - 1
    assert probing.scoring_method(served)["method"] == "server"
    assert probing.scoring_method(served)["checked_max_abs_diff"] < 1e-5
    assert probing.scoring_work(served, several()) == probing.scoring_work(
        lm, several()
    )
    assert not served.at_hand
    with pytest.raises(
        UserError, match=r"Attribution needs a model's weights, and .* on a server"
    ):
        attribute_probability(served, "Lyon is located in", " France")


def test_what_a_server_does_not_take_is_one_sentence(serve, tmp_path, monkeypatch, lm):
    with serve() as stub:
        for setting in ({"device": "cpu"}, {"dtype": "float32"}, {"revision": "main"}):
            with pytest.raises(UserError, match="chosen where the server is started"):
                models.load(stub.address, **setting)
        monkeypatch.setenv("SERVER_TOKENIZER", str(tmp_path))
        with pytest.raises(
            UserError, match=r"The tokenizer of .* is not at hand .*SERVER_TOKENIZ"
        ):
            models.load(stub.address)
        tiny_models.byte_tokenizer("bos").save_pretrained(tmp_path / "same")
        monkeypatch.setenv("SERVER_TOKENIZER", str(tmp_path / "same"))
        with pytest.raises(UserError, match="has no chat template"):
            models.load(stub.address, chat=True)
        tiny_models.piece_tokenizer("bos").save_pretrained(tmp_path / "other")
        monkeypatch.setenv("SERVER_TOKENIZER", str(tmp_path / "other"))
        with pytest.raises(UserError, match="in other tokens than the tokenizer"):
            models.load(stub.address)


def test_too_long_a_prompt_is_refused_before_it_is_sent(serve):
    with serve() as stub:
        served = models.load(stub.address)
        asked = len(stub.requests)
        long = probe_table(["Lyon is located in " * 40])
        with pytest.raises(UserError, match="reads at most 127"):
            probing.score(served, long, progress=False)
        assert len(stub.requests) == asked


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), min_size=2, max_size=7), st.integers(1, 2)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_every_row_is_in_one_group_and_every_scored_token_in_its_tree(texts):
    rows = list(
        {Row.of_ids(tuple(ids), start) for ids, start in texts if len(ids) > start}
    )
    groups = server_scoring.groups_of_rows(rows)
    assert sorted(map(str, rows)) == sorted(
        str(row) for group in groups for row in group.rows
    )
    for group in groups:
        branches = server_scoring.children_of_beginnings(group.rows)
        for row in group.rows:
            assert row.ids[: row.start] == group.before
            assert all(
                row.scored[at] in branches[row.scored[:at]]
                for at in range(len(row.scored))
            )
        assert sum(map(len, branches.values())) <= sum(
            len(row.scored) for row in group.rows
        )
