"""A server whose numbers depend on its cache, or on the crowd, is found out."""

import logging

import pytest

from helpers import models
from helpers.models.server import cache_check
from tests import tiny_models
from tests.stub_server import StubServer


@pytest.fixture(scope="module")
def lm():
    return tiny_models.tiny_language_model(
        "llama", tokenizer=tiny_models.chat_tokenizer()
    )


@pytest.fixture
def serve(lm, tmp_path, caplog):
    """Return what loads a model from a stub: its record of the check, and warnings."""
    lm.tokenizer.save_pretrained(tmp_path)
    lm.model.config.save_pretrained(tmp_path)

    def load(personality, change=None):
        caplog.clear()
        with StubServer(lm, tmp_path, personality) as stub:
            if change:
                change(stub)
            with caplog.at_level(logging.WARNING):
                served = models.load(stub.address)
        told = models.describe_model(served)["server"]["cache_check"]
        return told, caplog.messages, stub

    return load


@pytest.mark.parametrize("personality", ["vllm", "echo"])
def test_a_good_server_passes_and_that_is_recorded(serve, personality):
    told, warnings, stub = serve(personality)
    assert told["warm"] < 1e-4
    assert told["many_at_once"] < 1e-4
    assert told["in_flight"] == 32
    # The stub says that it reads 128 tokens; without that, 512 are shared.
    assert told["shared_tokens"] == (512 if personality == "echo" else 119)
    assert warnings == []
    assert stub.busiest > 4


def test_an_error_at_cached_places_is_found_out(serve):
    """The examination of ways passes it: all of its texts are short, and asked once."""
    told, [warning], _ = serve("cached")
    assert told["warm"] == pytest.approx(0.05, abs=1e-4)
    assert told["many_at_once"] == pytest.approx(0.05, abs=1e-4)
    assert "depend on what it has read before" in warning
    assert "by up to 0.050 nats" in warning
    assert "--no-enable-prefix-caching" in warning


def test_an_error_under_load_is_told_from_one_of_the_cache(serve):
    def change(stub):
        exact = stub.chances
        stub.chances = lambda ids: exact(ids) - 0.03 * (stub.busy > 4)

    told, [warning], _ = serve("vllm", change)
    assert told["warm"] < 1e-4
    assert told["many_at_once"] == pytest.approx(0.03, abs=1e-4)
    assert "depend on what it reads at the same time" in warning
    assert "lower SERVER_IN_FLIGHT" in warning


def test_a_server_that_refuses_such_texts_is_used_all_the_same(serve):
    def change(stub):
        answer = stub.answer

        def refuse(body):
            if len(body["prompt"]) > 200:
                return 400, {"error": "too long"}
            return answer(body)

        stub.answer = refuse

    told, warnings, _ = serve("echo", change)
    assert told["shared_tokens"] == 0
    assert warnings == []


@pytest.mark.parametrize(("warm", "many", "told"), [(0.02, 0.02, 0), (0.021, 0, 1)])
def test_what_is_told_begins_above_the_tolerance(warm, many, told):
    checked = {"warm": warm, "many_at_once": many}
    assert bool(cache_check.cache_warning(checked)) == told


def test_no_two_checks_have_one_beginning():
    ids = tuple(range(2, 60))
    one, other = (cache_check._texts_of_new_beginning(ids, 40) for _ in range(2))
    assert one[0][:16] != other[0][:16]
    assert len({text[:40] for text in one}) == 1
    assert len(set(one)) == cache_check.N_TEXTS
    assert {len(text) for text in one} == {48}
