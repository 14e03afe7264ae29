"""Runs made public: a record of them, an archive that others can check, and the check."""

from helpers.runs.sharing.archive import pack, read, unpack
from helpers.runs.sharing.export import export
from helpers.runs.sharing.planning import plan
from helpers.runs.sharing.record import describe, file_name
from helpers.runs.sharing.verification import Verified, shared, verify

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
