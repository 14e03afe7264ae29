"""Talk to a server: requests in flight, time-outs, retries, and its key."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from time import monotonic
from typing import Any, TypeVar

import httpx2
import tenacity

from helpers import UserError
from helpers.io import network
from helpers.models.server_address import (
    SERVER_KEY_VARIABLE,
    ServerAddress,
    ServerLimits,
)

T = TypeVar("T")
LARGEST_ANSWER = 2**28  # bytes of an answer
LOWER_LOAD_REMEDY = (
    "lower SERVER_IN_FLIGHT or vLLM's --max-num-batched-tokens "
    "and --gpu-memory-utilization"
)


class RequestRefused(UserError):  # noqa: N818 - callers know it by this name
    """A request that the server turned down for what it asks: retrying is no use."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class UnusableContent(Exception):  # noqa: N818 - callers know it by this name
    """Raised by a reader, naming what an answer lacks of what was asked for."""


class UnusableAnswer(UserError):  # noqa: N818 - callers know it by this name
    """An answer that came whole, again and again, without what was asked for."""


class _PassingError(Exception):
    """A fault that another try may mend, after the seconds that the server names."""

    def __init__(self, sentence: str, after: float = 0.0) -> None:
        super().__init__(sentence)
        self.after = after


@dataclass
class Session:
    """An open connection to a server, which several threads may use."""

    address: ServerAddress
    limits: ServerLimits
    client: httpx2.Client
    # Set once nobody waits for answers any more.
    left: Event = field(default_factory=Event)
    reached: bool = False  # whether the server has answered at all

    def ask(
        self,
        path: str,
        body: dict[str, Any] | None,
        read: Callable[[Any], T],
        method: str = "POST",
    ) -> T:
        """Return what `read` makes of a server's answer; retry while that may help."""
        tries = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type((_PassingError, UnusableContent)),
            stop=self._stop,
            wait=_wait,
            sleep=tenacity.sleep_using_event(self.left),
            reraise=True,
        )
        try:
            return tries(self._once, method, path, body, read)
        except UnusableContent as error:
            raise UnusableAnswer(
                f"The server at {self.address.url} gave an answer that cannot be used, "
                f"again and again ({error}); nothing of it is kept."
            ) from error
        except _PassingError as error:
            memory = ""
            if self.reached:
                memory = f"if it ran out of memory, {LOWER_LOAD_REMEDY}; "
            raise UserError(
                f"The server at {self.address.url} {error}, tried again for up to "
                f"{self.limits.patience:g} seconds; see its log, {memory}start it "
                "again if it is down, and run this again: what it answered is kept."
            ) from error

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        """Return whether no other try is made."""
        if self.left.is_set():
            return True
        if isinstance(_failure(state), UnusableContent):
            return state.attempt_number >= self.limits.tries
        seconds = state.seconds_since_start or 0.0
        return seconds + state.upcoming_sleep > self.limits.patience

    def _once(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the answer to one request."""
        try:
            answer, text = self._answer(method, f"{self.address.url}{path}", body)
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise _PassingError(
                f"did not answer within {self.limits.timeout:g} seconds"
            ) from error
        except httpx2.ConnectError as error:
            raise _PassingError("cannot be reached") from error
        except httpx2.TransportError as error:
            raise _PassingError(
                f"cut the connection ({type(error).__name__})"
            ) from error
        self.reached = True
        if answer.status_code in network.TRANSIENT_STATUSES:
            raise _PassingError(
                f"answered with status {answer.status_code}",
                network.retry_after_seconds(answer),
            )
        if answer.status_code >= 400:
            refusal = self._refusal(answer.status_code, text)
            raise RequestRefused(refusal, answer.status_code)
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _PassingError("answered with what is no JSON") from error
        try:
            return read(content)
        except (UnusableContent, UserError):
            raise
        except Exception as error:  # of wrong types any
            raise UnusableContent(f"not in its form: {type(error).__name__}") from error

    def _answer(self, method: str, url: str, body: Any) -> tuple[httpx2.Response, str]:
        """Return an answer and its text, if it comes in time and is not too large."""
        received = bytearray()
        end = monotonic() + self.limits.timeout
        with self.client.stream(method, url, json=body) as answer:
            for part in answer.iter_bytes():
                received += part
                if len(received) > LARGEST_ANSWER:
                    raise UserError(
                        f"The server at {self.address.url} answered with more than "
                        f"{LARGEST_ANSWER >> 20} MB, which no answer has: see what it "
                        "is."
                    )
                if monotonic() > end:  # in all, however steadily bytes come
                    raise TimeoutError
        return answer, received.decode("utf-8", "replace")

    def _refusal(self, status: int, text: str) -> str:
        """Return one sentence on a refusal, without what could hold the key."""
        place = f"The server at {self.address.url}"
        if status in (401, 403):
            return (
                f"{place} asks for a key: put the right one into the environment, in "
                f"{SERVER_KEY_VARIABLE}."
            )
        key = os.environ.get(SERVER_KEY_VARIABLE)
        if key:
            text = text.replace(key, "...")
        reason = " ".join(text.split())[:200]
        return f"{place} turned a request down (status {status}: {reason})."


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds before another try: doubled each time, random per client."""
    longest = network.LONGEST_WAIT
    backoff = tenacity.wait_random_exponential(multiplier=0.25, max=longest)(state)
    wanted_by_server = getattr(_failure(state), "after", 0.0)
    return max(backoff, min(wanted_by_server, longest))


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    """Return what the last try raised."""
    if state.outcome is None:
        return None
    return state.outcome.exception()


@contextmanager
def open_session(address: ServerAddress, bounds: ServerLimits) -> Iterator[Session]:
    """Open a connection to a server."""
    key = os.environ.get(SERVER_KEY_VARIABLE)
    if key and not key.isascii():
        odd = next(letter for letter in key if not letter.isascii())
        raise UserError(
            f"{SERVER_KEY_VARIABLE} holds {odd!r}, and keys have letters from A to Z, "
            "digits and signs alone: set it to the key as the server's owner gave it."
        )
    if key and not (key.isprintable() and key == key.strip()):
        raise UserError(
            f"{SERVER_KEY_VARIABLE} holds a blank or a line break at its end: set it "
            "to the key alone."
        )
    headers = {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    client = httpx2.Client(
        headers=headers,
        timeout=httpx2.Timeout(bounds.timeout, connect=min(10.0, bounds.timeout)),
        limits=httpx2.Limits(max_connections=bounds.in_flight),
        # A proxy for the world outside has no place on the way to this machine.
        trust_env=not address.local,
    )
    with client:
        yield Session(address, bounds, client)


def results_of_jobs(
    address: ServerAddress, bounds: ServerLimits, jobs: Iterable[Callable[[Session], T]]
) -> Iterator[T]:
    """Yield jobs' results as they come; after a failure none begins; raise it last."""
    waiting: set[Future[T]] = set()
    failure: BaseException | None = None
    remaining = iter(jobs)
    with (
        open_session(address, bounds) as opened,
        ThreadPoolExecutor(bounds.in_flight) as pool,
    ):
        try:
            while True:
                if failure is None:
                    room = bounds.in_flight - len(waiting)
                    for job in islice(remaining, room):
                        waiting.add(pool.submit(job, opened))
                if not waiting:
                    break
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                failures = [f.exception() for f in done if f.exception()]
                if failures:
                    failure = failures[0]
                for future in done:
                    if not future.exception():
                        yield future.result()
        finally:
            opened.left.set()
    if failure is not None:
        raise failure


def ask_server(address: ServerAddress, bounds: ServerLimits, *request: Any) -> Any:
    """Return what a server answers to a single request of :meth:`Session.ask`."""
    with open_session(address, bounds) as opened:
        return opened.ask(*request)


def models_on_server(
    address: ServerAddress, bounds: ServerLimits
) -> dict[str, dict[str, Any]]:
    """Return what a server says of the models that it holds, by their names."""

    def read(content: Any) -> dict[str, dict[str, Any]]:
        try:
            return {str(entry["id"]): _entry(entry) for entry in content["data"]}
        except (TypeError, KeyError) as error:
            raise UnusableContent("no list of models") from error

    models = ask_server(address, bounds, "/v1/models", None, read, "GET")
    if address.model not in models:
        names = ", ".join(sorted(models)[:10]) or "no model"
        example = min(models, default="NAME")
        raise UserError(
            f"The server at {address.url} serves {names}, and not {address.model}; "
            f"write {address.url}#{example}."
        )
    return models


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a model's origin and longest text, as a server's list has them."""
    root = entry.get("root")
    longest = entry.get("max_model_len")
    if type(longest) is not int or not 1 < longest < 2**40:
        longest = None
    return {"root": str(root) if root else None, "max_model_len": longest}
