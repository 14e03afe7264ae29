"""A small completions server in this process, with a tiny real model and several personalities.

Its numbers come from plain forward passes of transformers, one text at a time, so that
what the client makes of them can be held against an independent computation.
"""

import json
import threading
import time
from collections import deque

import torch

from helpers.models.prefix_tokenising import common_prefix_length
from tests.local_server import LocalServer, send_json

# What each personality takes part in: named tokens, prompt_logprobs, echo, token ids in
# answers.
PERSONALITY_FEATURES = {
    "vllm": {"nodes", "prompt_logprobs", "echo", "ids"},
    "older": {"prompt_logprobs", "ids"},
    "nodes": {"nodes", "ids"},
    "echo": {"echo"},
    "strict": {"echo"},
    "top-k": {"ids"},
    "none": set(),
    "chat": set(),
    "text": {"prompt_logprobs", "ids"},
    "cached": {"nodes", "prompt_logprobs", "ids"},  # errs where it has read before
    "bent": {"nodes", "prompt_logprobs", "ids"},
    "logits": {"nodes", "prompt_logprobs", "ids"},
    "truncating": {"nodes", "prompt_logprobs", "ids"},
    "spelled": {
        "echo"
    },  # names tokens by pieces that do not make up the text, special ones too
    "llama.cpp": set(),
    "ollama": set(),  # puts every prompt into a template, and takes texts alone
}
KNOWN_REQUEST_FIELDS = {
    "model", "prompt", "max_tokens", "temperature", "top_p", "presence_penalty", "stop", "seed",
    "frequency_penalty", "logprobs", "echo",
}  # fmt: skip


class StubServer(LocalServer):
    """Serve a LanguageModel under the name of its tokenizer's folder; use it with ``with``."""

    def __init__(self, lm, folder, personality="vllm", port=0):
        self.lm, self.folder, self.personality = lm, str(folder), personality
        self.offers = PERSONALITY_FEATURES[personality]
        self.read = [()]  # texts that a prefix cache holds
        self.faults = (
            deque()
        )  # one a request: None, or a function of the handler and the answer
        self.requests = []
        self.keys = set()
        self.busiest = self.busy = 0
        self.lock, self.port = threading.Lock(), port

    @property
    def address(self):
        return f"{self.url}#{self.folder}"

    def get(self, handler):
        self.keys.add(handler.headers.get("Authorization"))
        if handler.path == "/v1/models":
            entry = {"id": self.folder}
            if "ids" in self.offers:
                entry |= {"root": self.folder, "max_model_len": self.lm.max_length}
            send_json(handler, 200, {"data": [entry]})
        elif handler.path == "/version" and "ids" in self.offers:
            send_json(handler, 200, {"version": "stub"})
        else:
            send_json(handler, 404, {})

    def post(self, handler, body):
        self.keys.add(handler.headers.get("Authorization"))
        with self.lock:
            self.requests.append(body)
            self.busy += 1
            self.busiest = max(self.busy, self.busiest)
            fault = self.faults.popleft() if self.faults else None
        try:
            status, answer = self.answer(body)
            (fault or (lambda handler, answer: send_json(handler, status, answer)))(
                handler, answer
            )
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with self.lock:
                self.busy -= 1

    def answer(self, body):
        ids = body["prompt"]
        if self.personality == "chat":
            return 404, {"error": "no completions"}
        if self.personality == "text" and not isinstance(ids, str):
            return 422, {"error": "prompt must be a string"}
        if self.personality == "ollama" and not isinstance(ids, str):
            return 400, {"error": {"message": "invalid prompt type"}}
        if self.personality == "ollama":
            ids = f"<|user|>{ids}<|assistant|>"
        if self.personality == "llama.cpp" and body.get("echo"):
            return 400, {"error": {"message": "Only no echo is supported"}}
        if self.personality == "strict" and not set(body) <= KNOWN_REQUEST_FIELDS:
            return 400, {"error": "unknown field"}
        if isinstance(ids, str):
            ids = self.lm.tokenizer(ids)["input_ids"]
        elif self.personality == "truncating":
            ids = ids[-12:]
        if body["max_tokens"] == 0 and not body.get("echo"):
            return 400, {"error": "max_tokens must be at least 1"}
        with self.lock:
            return 200, self.complete(ids, body)

    @torch.inference_mode()
    def chances(self, ids):
        """Return the log-probabilities of the next token at each place of a text."""
        logits = self.lm.model(torch.tensor([list(ids)])).logits[0].float()
        if self.personality == "cached":
            return self.with_errors_at_cached_places(logits)
        return logits if self.personality == "logits" else logits.log_softmax(-1)

    def with_errors_at_cached_places(self, logits):
        """Return log-probabilities, wrong by 0.05 in whole blocks that were read before."""
        chances = logits.log_softmax(-1)
        chances[: self.n_cached] -= 0.05
        return chances

    def keep(self, ids):
        """Note how much of a text is cached: whole blocks, never the last place."""
        lengths = [common_prefix_length(ids, before) for before in self.read]
        self.n_cached = min(max(lengths), len(ids) - 1) // 16 * 16
        self.read.append(ids)

    def complete(self, ids, body):
        if self.personality == "cached":
            self.keep(tuple(ids))
        new, values, tops, finish, stop = [], [], [], "length", None
        for _ in range(body["max_tokens"]):
            row = self.chances([*ids, *new])[-1]
            token = int(row.argmax())
            new.append(token)
            values.append(float(row[token]))
            tops.append(self.tops(row, body))
            text = self.lm.tokenizer.decode(new, skip_special_tokens=True)
            found = [word for word in body.get("stop", []) if word in text]
            if token in {1, *body.get("stop_token_ids", [])}:
                finish = "stop"
                if "ids" not in self.offers:  # such servers leave the end out
                    new, values, tops = new[:-1], values[:-1], tops[:-1]
                break
            if found:
                finish, stop = "stop", found[0]
                break
        choice = {"text": "", "finish_reason": finish, "logprobs": None}
        if "ids" in self.offers:
            choice["stop_reason"] = stop
            if body.get("return_token_ids"):
                choice |= {"token_ids": new, "prompt_token_ids": list(ids)}
        part = {
            "token_logprobs": values,
            "top_logprobs": tops,
            "tokens": self.names(new),
        }
        if body.get("echo") and "echo" in self.offers:
            own = [None, *(float(r[i]) for r, i in zip(self.chances(ids), ids[1:]))]
            part["token_logprobs"] = own + values
            part["tokens"] = self.names(ids) + part["tokens"]
            part["top_logprobs"] = None
        if self.personality == "llama.cpp" and body.get("logprobs"):
            each = zip(part["tokens"], new, values)
            content = [
                {"token": t, "id": i, "logprob": v, "top_logprobs": []}
                for t, i, v in each
            ]
            choice["logprobs"] = {"content": content}
        elif body.get("logprobs") is not None and self.personality not in (
            "none",
            "ollama",
        ):
            choice["logprobs"] = part
        if body.get("prompt_logprobs") is not None and "prompt_logprobs" in self.offers:
            rows = zip(self.chances(ids), ids[1:])
            entries = [{str(i): {"logprob": float(row[i])}} for row, i in rows]
            choice["prompt_logprobs"] = [None, *entries]
        return {"choices": [choice], "usage": {"prompt_tokens": len(ids)}}

    def tops(self, row, body):
        if "nodes" in self.offers and body.get("logprob_token_ids"):
            if self.personality == "bent":
                row = (row / 2).log_softmax(-1)
            wanted = [*body["logprob_token_ids"], int(row.argmax())]
        else:
            wanted = row.topk(min(5, body.get("logprobs") or 1)).indices.tolist()
        return {self.names([i])[0]: float(row[i]) for i in wanted}

    def names(self, ids):
        if "ids" in self.offers:
            return [f"token_id:{i}" for i in ids]
        if self.personality == "spelled":
            return self.lm.tokenizer.convert_ids_to_tokens(ids)
        return [self.lm.tokenizer.decode([i]) for i in ids]


def delay_fault(seconds):
    """Return a fault: the answer comes late."""

    def fault(handler, answer):
        time.sleep(seconds)
        send_json(handler, 200, answer)

    return fault


def status_fault(code, **headers):
    """Return a fault: another status, with nothing of the answer."""
    return lambda handler, answer: send_json(
        handler, code, {"error": "a fault"}, **headers
    )


def send_half_answer(handler, answer):
    """Send half of an answer, then close the connection."""
    data = json.dumps(answer).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.wfile.flush()
    handler.close_connection = True


def close_server(handler, answer):
    """Take no connection any more, and close this one without an answer."""
    handler.server.shutdown()
    handler.server.server_close()
    handler.close_connection = True


def send_nan_logprobs(handler, answer):
    """Send an answer whose log-probabilities are no numbers."""
    text = json.dumps(_replaced(answer, float("nan"))).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


def send_fewer_tokens(handler, answer):
    """Send an answer about fewer tokens than were sent."""
    for choice in answer["choices"]:
        if choice.get("prompt_logprobs"):
            choice["prompt_logprobs"] = choice["prompt_logprobs"][:-1]
    answer["usage"]["prompt_tokens"] -= 1
    send_json(handler, 200, answer)


def _replaced(part, value):
    if isinstance(part, dict):
        return {name: _replaced(inner, value) for name, inner in part.items()}
    if isinstance(part, list):
        return [_replaced(inner, value) for inner in part]
    return value if isinstance(part, float) else part
