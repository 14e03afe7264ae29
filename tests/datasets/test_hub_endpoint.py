"""Files of the hub: from HF_ENDPOINT, with HF_TOKEN, which no other host is sent."""

import http.server
import json
import threading

import pytest

from helpers import UserError
from helpers.datasets import registry, seen_questions
from helpers.io import hub_endpoint

QUESTION = json.dumps({"question": "who wrote it", "answer": ["Ann"]}).encode()
FILE = "/datasets/o/d/resolve/main/q.jsonl"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub and a host that stores its files: what each was asked for, and with what."""
    asked = []

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.headers["Host"], self.headers["Authorization"]))
            store = f"http://127.0.0.1:{self.server.server_port}{self.path}"
            if self.headers["Host"].startswith("localhost") and "stored" in self.path:
                self.send_response(302)
                self.send_header("Location", store)
                self.end_headers()
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(QUESTION)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_port}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / name)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield address, asked
    server.shutdown()
    server.server_close()


def test_a_published_set_comes_from_the_endpoint_with_the_token(hub):
    address, asked = hub
    registry.fetch_dataset("popqa")
    host = address.removeprefix("http://")
    assert asked == [(host, "Bearer hf_secret")]


def test_the_token_stays_where_the_endpoint_sends_on(hub):
    _, asked = hub
    read = seen_questions.read_questions(f"{hub_endpoint.PUBLIC_HUB}stored{FILE}")
    assert read["question"].tolist() == ["who wrote it"]
    assert [token for _, token in asked] == ["Bearer hf_secret", None]
    assert asked[1][0].startswith("127.0.0.1:")


def test_other_hosts_are_sent_no_token(hub):
    address, asked = hub
    other = address.replace("localhost", "127.0.0.1")
    seen_questions.read_questions(f"{other}{FILE}")
    assert [token for _, token in asked] == [None]
    for look_alike in (f"{address}.evil.org/a", f"{address}0/a", "https://evil.org/a"):
        assert hub_endpoint.headers_for(look_alike) == {}
        assert hub_endpoint.address_at_endpoint(look_alike) == look_alike
    evil = "https://huggingface.co.evil.org/a"
    assert hub_endpoint.address_at_endpoint(evil) == evil


def test_without_a_token_none_is_sent_and_failures_name_the_endpoint(
    hub, monkeypatch, tmp_path
):
    _, asked = hub
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no"))
    registry.fetch_dataset("popqa")
    assert [token for _, token in asked] == [None]
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://localhost:1")
    monkeypatch.setattr("helpers.io.network.MOST_TRIES", 1)
    with pytest.raises(UserError, match="from http://localhost:1/datasets/RUC-NLPIR"):
        registry.fetch_dataset("triviaqa")
