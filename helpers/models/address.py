"""The address of a model on a server, and how hard the server may be pressed.

A model on a server is named ``http://host:port#name``: where the server listens, and what it calls
the model.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from helpers import UserError

KEY = "SERVER_API_KEY"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Address:
    """Where a server listens (without a last slash or ``/v1``), and its name of the model."""

    url: str
    model: str

    @property
    def local(self) -> bool:
        """Whether the server runs on this very machine."""
        return urlsplit(self.url).hostname in LOOPBACK


@dataclass(frozen=True)
class Limits:
    """How hard a server is pressed, from the environment where it is set there.

    Attributes
    ----------
    in_flight : int
        The most requests that wait for an answer at once (``SERVER_IN_FLIGHT``).
    timeout : float
        Seconds for one answer (``SERVER_TIMEOUT``).
    patience : float
        Seconds in which a server that fails may come back (``SERVER_PATIENCE``).
    tries : int
        How often an answer is asked for that came whole, but without usable numbers.
    """

    in_flight: int = 32
    timeout: float = 600.0
    patience: float = 120.0
    tries: int = 3


def is_address(name: object) -> bool:
    """Tell whether a model's name is a server's address.

    >>> is_address("http://localhost:8000#atlas-m"), is_address("org/model")
    (True, False)
    """
    return re.match(r"https?://", str(name)) is not None


def parse(name: object) -> Address:
    """Return the parts of a server's address.

    >>> parse("http://localhost:8000/v1/#org/model")
    Address(url='http://localhost:8000', model='org/model')
    """
    url, _, model = str(name).partition("#")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # a port that is no number is refused here
    except ValueError as error:
        raise UserError(f"{url} is no address: write it as http://host:8000#name.") from error
    if parts.username or parts.password or parts.query:
        raise UserError(
            f"The address of the server {host} holds a user, a password or a question; leave them "
            f"out, and put the key into the environment, in {KEY}."
        )
    url = re.sub(r"(/v1)?/*$", "", url)
    if not host or not model:
        raise UserError(
            f"{url} does not say which model: write {url if host else 'http://host:8000'}#NAME, "
            "NAME being what the server calls it."
        )
    return Address(url, model)


def folder_name(name: object) -> str:
    """Return what tells a model on a server from all others, for `helpers.models.checkpoints.slug`.

    >>> folder_name("http://localhost:8000#atlas-m")
    'localhost_8000/atlas-m-fb9409bc'
    """
    address = parse(name)
    digits = hashlib.sha256(f"{address.url}#{address.model}".encode()).hexdigest()[:8]
    place = urlsplit(address.url).netloc.replace(":", "_")
    return f"{place}/{address.model}-{digits}"


def limits() -> Limits:
    """Return the limits that the environment sets."""
    found = {}
    for name, kind in (("in_flight", int), ("timeout", float), ("patience", float)):
        variable = f"SERVER_{name.upper()}"
        text = os.environ.get(variable)
        try:
            value = kind(text) if text else getattr(Limits, name)
        except ValueError:
            value = 0
        if not 0 < value < float("inf"):
            raise UserError(f"{variable} is {text!r}; set it to a number above 0, or unset it.")
        found[name] = value
    return Limits(**found)
