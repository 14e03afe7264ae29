"""Runs made public: a record of them, an archive that others can check, and the check."""

from helpers.exchange.archive import pack, read, unpack
from helpers.exchange.export import export
from helpers.exchange.planning import plan
from helpers.exchange.record import describe, file_name
from helpers.exchange.verification import Verified, shared, verify

__all__ = [
    "Verified",
    "describe",
    "export",
    "file_name",
    "pack",
    "plan",
    "read",
    "shared",
    "unpack",
    "verify",
]
