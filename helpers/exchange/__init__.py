"""Runs made public: their record, an archive that others can check, and the check."""

from helpers.exchange.archive import pack_archive, read_archive, unpack_archive
from helpers.exchange.export import export_runs
from helpers.exchange.planning import facts_needed_by_measure
from helpers.exchange.record import describe_runs, record_file_name
from helpers.exchange.verification import VerifiedRun, shared_runs, verify_archive

__all__ = [
    "VerifiedRun",
    "describe_runs",
    "export_runs",
    "facts_needed_by_measure",
    "pack_archive",
    "read_archive",
    "record_file_name",
    "shared_runs",
    "unpack_archive",
    "verify_archive",
]
