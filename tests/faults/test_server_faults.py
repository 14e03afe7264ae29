"""What a server may do wrong while a run is under way, each done for real by a local server.

A fault that passes leaves the tables as they would have been. One that lasts ends the
run with one sentence; what was answered before is kept, nothing that the fault touched
is, and the same call ends with the same tables once the server is well.
"""

from collections import deque
from dataclasses import dataclass
from itertools import repeat

import pandas as pd
import pytest

from helpers import UserError, models, probing
from helpers.models.server import cache_check
from tests import stub_server, tiny_models
from tests.probing.test_scoring import OPTIONS, PROMPTS, probe_table
from tests.stub_server import StubServer

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Fault:
    """A fault of one answer, the sentence where it lasts, and what a user may set about it."""

    does: object
    sentence: str
    setting: tuple[str, str] = ("SERVER_PATIENCE", "1")


FAULTS = {
    "server answers slowly": Fault(
        stub_server.delay_fault(4),
        "did not answer within 2 seconds",
        ("SERVER_TIMEOUT", "2"),
    ),
    "server: 429, too many requests": Fault(
        stub_server.status_fault(429, Retry_After=0.2), "answered with status 429"
    ),
    "server: 500, its own error": Fault(
        stub_server.status_fault(500), "answered with status 500"
    ),
    "server cuts the connection": Fault(
        stub_server.send_half_answer, "cut the connection"
    ),
    "server: log-probabilities NaN": Fault(
        stub_server.send_nan_logprobs,
        r"cannot be used, again and again \(a log-prob.* number: nan\)",
    ),
    "server answers on fewer tokens": Fault(
        stub_server.send_fewer_tokens,
        r"cannot be used, again and again \(\d+ tokens read, where \d+ were",
    ),
}


EACH = [pytest.param(name, marks=pytest.mark.fault(name)) for name in FAULTS]


@pytest.fixture(scope="module")
def lm():
    return tiny_models.tiny_language_model("llama")


@pytest.fixture
def serve(lm, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVER_PATIENCE", "1")
    for variable in ("TIMEOUT", "IN_FLIGHT", "API_KEY", "TOKENIZER"):
        monkeypatch.delenv(f"SERVER_{variable}", raising=False)
    monkeypatch.setattr(cache_check, "N_TEXTS", 1)  # tests/models/test_cache_check.py
    monkeypatch.setattr(cache_check, "MOST_AT_ONCE", 2)
    lm.tokenizer.save_pretrained(tmp_path / "served")
    return lambda **settings: StubServer(lm, tmp_path / "served", **settings)


PROBES = probe_table(PROMPTS, OPTIONS)


def run(served, cache) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score probes and have texts written, as a chapter does."""
    scores = probing.score(served, PROBES, cache, progress=False)
    texts = probing.generate(
        served, PROMPTS, 6, anchors=[" Italy"] * 4, cache=cache, progress=False
    )
    return scores, texts


def same(left, right) -> None:
    for one, other in zip(left, right, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("name", EACH)
def test_a_fault_that_passes_changes_nothing(serve, tmp_path, monkeypatch, name):
    fault = FAULTS[name]
    monkeypatch.setenv("SERVER_PATIENCE", "60")
    monkeypatch.setenv(
        *fault.setting if "TIMEOUT" in fault.setting[0] else ("SERVER_TIMEOUT", "60")
    )
    with serve() as stub:
        served = models.load(stub.address)
        well = run(served, tmp_path / "well")
        stub.faults = deque([None, fault.does, None, fault.does, fault.does])
        same(run(served, tmp_path / "ill"), well)
        assert not stub.faults


@pytest.mark.parametrize("name", EACH)
def test_a_fault_that_lasts_is_one_sentence(serve, tmp_path, monkeypatch, name):
    fault, cache = FAULTS[name], tmp_path / "cache"
    monkeypatch.setenv("SERVER_IN_FLIGHT", "2")
    monkeypatch.setenv(*fault.setting)
    with serve() as stub:
        served = models.load(stub.address)
        well = run(served, None)
        stub.faults = deque([None] * 7 + list(repeat(fault.does, 500)))
        with pytest.raises(UserError, match=fault.sentence) as told:
            run(served, cache)
        assert "\n" not in str(told.value)
        stub.faults.clear()
        before = len(stub.requests)
        same(run(served, cache), well)
        again = len(stub.requests) - before
        fresh = len(stub.requests)
        run(served, None)
        assert again < len(stub.requests) - fresh


@pytest.mark.fault("server killed in the middle")
@pytest.mark.parametrize(
    "last", [[], [stub_server.status_fault(500)] * 2], ids=["at once", "after 500"]
)
def test_a_server_that_is_killed_and_started_again(serve, tmp_path, monkeypatch, last):
    cache = tmp_path / "cache"
    monkeypatch.setenv("SERVER_IN_FLIGHT", "2")
    with serve() as stub:
        served = models.load(stub.address)
        well = run(served, None)
        port = stub.port
        stub.faults = deque([*[None] * 7, *last, stub_server.close_server])
        stub.faults.extend(repeat(stub_server.send_half_answer, 500))
        with pytest.raises(UserError, match=r"cut the|cannot be reached") as told:
            run(served, cache)
        assert "ran out of memory, lower SERVER_IN_FLIGHT" in str(told.value)
    with serve(port=port) as stub:
        again = models.load(stub.address)
        stub.requests.clear()
        same(run(again, cache), well)
        resumed = len(stub.requests)
        stub.requests.clear()
        run(again, None)
        assert resumed < len(stub.requests)


@pytest.mark.fault("server away for some seconds: 503")
def test_a_server_that_comes_back_in_time_is_waited_for(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVER_PATIENCE", "30")
    with serve() as stub:
        served = models.load(stub.address)
        well = run(served, None)
        stub.faults = deque(
            [None] * 2 + list(repeat(stub_server.status_fault(503), 12))
        )
        same(run(served, tmp_path / "cache"), well)


def test_a_server_that_is_not_there_or_holds_another_model(serve, tmp_path):
    with serve() as stub:
        url = f"http://127.0.0.1:{stub.port}"
        with pytest.raises(
            UserError, match=rf"serves /.*served, and not other; write {url}#/"
        ):
            models.load(f"{url}#other")
    with pytest.raises(
        UserError, match=r"cannot be reached, .* 1 seconds; see its log, start it"
    ):
        models.load(f"{url}#other")
