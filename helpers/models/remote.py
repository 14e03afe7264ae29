"""What stands for the weights of a model that a server holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from helpers.models.address import Address, Limits


@dataclass(frozen=True)
class Server:
    """A model on a server, as `helpers.models.LanguageModel.model`.

    Attributes
    ----------
    address : Address
    limits : Limits
    ways : tuple of str
        How it gives exact log-probabilities, the most useful first (`server.completions`).
    settings : dict
        What each request says besides its prompt.
    difference : float
        Largest difference of a log-probability between two ways, at the start.
    fingerprint : str
        A hash of log-probabilities, which tells its weights from others of the same name.
    version : str
        What it says of itself; ``""``: nothing.
    tokenizer : str
        Where the tokenizer came from.
    config, generation_config : object or None
        As transformers reads them where the tokenizer's files are; they name the tokens that end a
        text.
    """

    address: Address
    limits: Limits
    ways: tuple[str, ...]
    settings: dict[str, Any] = field(hash=False)
    difference: float
    fingerprint: str
    version: str
    tokenizer: str
    config: Any = field(hash=False, compare=False, default=None)
    generation_config: Any = field(hash=False, compare=False, default=None)

    def described(self) -> dict[str, Any]:
        """Return what a run's manifest says of the server, as plain values."""
        return {
            "url": self.address.url,
            "model": self.address.model,
            "version": self.version,
            "ways": list(self.ways),
            "checked_max_abs_diff": self.difference,
            "fingerprint": self.fingerprint,
            "tokenizer": self.tokenizer,
            "in_flight": self.limits.in_flight,
        }
