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
    left: Event = field(
        default_factory=Event
    )  # set once nobody waits for answers any more
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
            memory = (
                f"if it ran out of memory, {LOWER_LOAD_REMEDY}; "
                if self.reached
                else ""
            )
            raise UserError(
                f"The server at {self.address.url} {error}, tried again for up to "
                f"{self.limits.patience:g} seconds; see its log, {memory}start it "
                "again if it is down, and run this again: what it answered is kept."
            ) from error

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        if self.left.is_set():
            return True
        if isinstance(state.outcome.exception(), UnusableContent):
            return state.attempt_number >= self.limits.tries
        return state.seconds_since_start + state.upcoming_sleep > self.limits.patience

    def _once(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        try:
            answer, said = self._answer(method, f"{self.address.url}{path}", body)
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
            raise RequestRefused(
                self._refusal(answer.status_code, said), answer.status_code
            )
        try:
            content = json.loads(said)
        except (ValueError, RecursionError) as error:
            raise _PassingError("answered with what is no JSON") from error
        try:
            return read(content)
        except (UnusableContent, UserError):
            raise
        except Exception as error:  # of wrong types any
            raise UnusableContent(f"not in its form: {type(error).__name__}") from error

    def _answer(self, method: str, url: str, body: Any) -> tuple[httpx2.Response, str]:
        """Return an answer and its text, which must come in time and be of bounded size."""
        found, end = bytearray(), monotonic() + self.limits.timeout
        with self.client.stream(method, url, json=body) as answer:
            for part in answer.iter_bytes():
                found += part
                if len(found) > LARGEST_ANSWER:
                    raise UserError(
                        f"The server at {self.address.url} answered with more than "
                        f"{LARGEST_ANSWER >> 20} MB, which no answer has: see what it "
                        "is."
                    )
                if monotonic() > end:  # in all, however steadily bytes come
                    raise TimeoutError
        return answer, found.decode("utf-8", "replace")

    def _refusal(self, status: int, text: str) -> str:
        """Return one sentence on a refusal, without what could hold the key."""
        place = f"The server at {self.address.url}"
        if status in (401, 403):
            return f"{place} asks for a key: put the right one into the environment, in {SERVER_KEY_VARIABLE}."
        key = os.environ.get(SERVER_KEY_VARIABLE)
        said = " ".join((text.replace(key, "...") if key else text).split())[:200]
        return f"{place} turned a request down (status {status}: {said})."


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds before another try: doubled each time, random per client."""
    backoff = tenacity.wait_random_exponential(
        multiplier=0.25, max=network.LONGEST_WAIT
    )(state)
    return max(
        backoff,
        min(getattr(state.outcome.exception(), "after", 0.0), network.LONGEST_WAIT),
    )


@contextmanager
def open_session(address: ServerAddress, bounds: ServerLimits) -> Iterator[Session]:
    """Open a connection to a server."""
    key = os.environ.get(SERVER_KEY_VARIABLE)
    if key and not (key.isascii() and key.isprintable() and key == key.strip()):
        raise UserError(
            f"{SERVER_KEY_VARIABLE} holds a blank or a line break at its end: set it "
            "to the key alone."
        )
    client = httpx2.Client(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx2.Timeout(bounds.timeout, connect=min(10.0, bounds.timeout)),
        limits=httpx2.Limits(max_connections=bounds.in_flight),
        trust_env=not address.local,  # a proxy for the world outside has no place on the way here
    )
    with client:
        yield Session(address, bounds, client)


def results_of_jobs(
    address: ServerAddress, bounds: ServerLimits, jobs: Iterable[Callable[[Session], T]]
) -> Iterator[T]:
    """Yield jobs' results as they come; after a failure none begins; raise it last."""
    waiting: set[Future] = set()
    failed: Future | None = None
    left = iter(jobs)
    with (
        open_session(address, bounds) as opened,
        ThreadPoolExecutor(bounds.in_flight) as pool,
    ):
        try:
            while True:
                room = 0 if failed else bounds.in_flight - len(waiting)
                waiting |= {pool.submit(job, opened) for job in islice(left, room)}
                if not waiting:
                    break
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                failed = next((f for f in done if f.exception()), failed)
                yield from (f.result() for f in done if not f.exception())
        finally:
            opened.left.set()
    if failed:
        raise failed.exception()


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

    found = ask_server(address, bounds, "/v1/models", None, read, "GET")
    if address.model not in found:
        names = ", ".join(sorted(found)[:10]) or "no model"
        raise UserError(
            f"The server at {address.url} serves {names}, and not {address.model}; "
            f"write {address.url}#{min(found, default='NAME')}."
        )
    return found


def _entry(told: dict[str, Any]) -> dict[str, Any]:
    """Return a model's origin and longest text, as a server's list has them."""
    root, longest = told.get("root"), told.get("max_model_len")
    fits = type(longest) is int and 1 < longest < 2**40
    return {
        "root": str(root) if root else None,
        "max_model_len": longest if fits else None,
    }
