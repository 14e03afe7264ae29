"""A model on a server, named ``http://host:port#name``, and the server's limits."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from helpers import UserError

N = TypeVar("N", int, float)
SERVER_KEY_VARIABLE = "SERVER_API_KEY"
FINGERPRINT_DECIMALS = 2  # of the log-probabilities of a fingerprint
# Largest difference of a log-probability between two samples of one server's model:
# whatever else it computes meanwhile moves it a little.
SAMPLE_TOLERANCE = 0.02
LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class ServerAddress:
    """A server's URL (without a last slash or ``/v1``), and its name of the model."""

    url: str
    model: str

    @property
    def local(self) -> bool:
        """Whether the server runs on this very machine."""
        return urlsplit(self.url).hostname in LOOPBACK_HOSTS


@dataclass(frozen=True)
class ServerLimits:
    """Limits of requests; the first three are set by ``SERVER_IN_FLIGHT`` and so on."""

    in_flight: int = 32  # the most requests that wait for an answer at once
    timeout: float = 600.0  # seconds for one answer
    patience: float = 120.0  # seconds in which a server that fails may come back
    tries: int = 3  # for an answer that came whole, but without usable numbers


@dataclass(frozen=True)
class Server:
    """What a server gives of a model that it holds, and how it is asked."""

    address: ServerAddress
    limits: ServerLimits
    # That give exact log-probabilities (`server.completions`), best first.
    ways: tuple[str, ...]
    # What each request says besides its prompt.
    settings: dict[str, Any] = field(hash=False)
    difference: float  # largest of a log-probability between two ways, at the start
    # Log-probabilities of one text, which tell weights of one name apart.
    sample: tuple[float, ...]
    version: str  # what it says of itself; "": nothing
    tokenizer: str  # where the tokenizer came from
    # How far numbers move with other texts (`server.cache_check`).
    cache_check: dict[str, Any] = field(hash=False)
    # As transformers reads them, if they are there; they name tokens that end a text.
    config: Any = field(hash=False, compare=False, default=None)
    generation_config: Any = field(hash=False, compare=False, default=None)

    @property
    def fingerprint(self) -> str:
        """A hash of the rounded sample, whose numbers differ a little each time."""
        rounded = [f"{value:.{FINGERPRINT_DECIMALS}f}" for value in self.sample]
        return hashlib.sha256(json.dumps(rounded).encode()).hexdigest()

    def described(self) -> dict[str, Any]:
        """Return what a run's manifest says of the server, as plain values."""
        return {
            "url": self.address.url,
            "model": self.address.model,
            "version": self.version,
            "ways": list(self.ways),
            "checked_max_abs_diff": self.difference,
            "cache_check": self.cache_check,
            "fingerprint": self.fingerprint,
            "tokenizer": self.tokenizer,
            "in_flight": self.limits.in_flight,
        }


def is_same_sample(first: Sequence[float], second: Sequence[float]) -> bool:
    """Tell whether two samples of log-probabilities may be one model's.

    >>> is_same_sample([-1.104, -2.0], [-1.106, -2.0])
    True
    >>> is_same_sample([-1.104, -2.0], [-1.304, -2.0])
    False
    """
    if len(first) != len(second):
        return False
    pairs = zip(first, second, strict=True)
    return all(abs(a - b) <= SAMPLE_TOLERANCE for a, b in pairs)


def is_server_address(name: object) -> bool:
    """Tell whether a model's name is a server's address."""
    return re.match(r"https?://", str(name)) is not None


def parse_server_address(name: object) -> ServerAddress:
    """Return the parts of a server's address.

    >>> parse_server_address("http://localhost:8000/v1/#org/model")
    ServerAddress(url='http://localhost:8000', model='org/model')
    """
    url, _, model = str(name).partition("#")
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port  # a port that is no number is refused here
    except ValueError as error:
        raise UserError(
            f"{url} is no address: write it as http://host:8000#name."
        ) from error
    if parts.username or parts.password or parts.query:
        raise UserError(
            f"The address of the server {host} holds a user, a password or a question; "
            "leave them out, and put the key into the environment, in "
            f"{SERVER_KEY_VARIABLE}."
        )
    url = re.sub(r"(/v1)?/*$", "", url)
    if not host or not model:
        raise UserError(
            f"{url} does not say which model: write "
            f"{url if host else 'http://host:8000'}#NAME, NAME being what the server "
            "calls it."
        )
    return ServerAddress(url, model)


def server_folder_name(name: object) -> str:
    """Return a folder name that tells a model on a server from all others."""
    address = parse_server_address(name)
    digits = hashlib.sha256(f"{address.url}#{address.model}".encode()).hexdigest()[:8]
    place = urlsplit(address.url).netloc.replace(":", "_")
    return f"{place}/{address.model}-{digits}"


def limits_from_environment() -> ServerLimits:
    """Return the limits that the environment sets."""
    return ServerLimits(
        in_flight=_number_from_environment("in_flight", int),
        timeout=_number_from_environment("timeout", float),
        patience=_number_from_environment("patience", float),
    )


def _number_from_environment(limit: str, kind: type[N]) -> N:
    """Return the value of a limit that the environment sets, else the default."""
    variable = f"SERVER_{limit.upper()}"
    text = os.environ.get(variable)
    if not text:
        return getattr(ServerLimits, limit)
    try:
        value = kind(text)
    except ValueError:
        value = kind(0)
    if not 0 < value < float("inf"):
        raise UserError(
            f"{variable} is {text!r}; set it to a number above 0, or unset it."
        )
    return value
