"""Fetch a model's files from the Hugging Face hub into the cache, or say why not."""

import contextlib
import logging
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from helpers import UserError
from helpers.io import network

RUN_AGAIN_REMEDY = "run the same command again (files that came whole are kept)"
LOG_IN_REMEDY = "log in with `hf auth login` or set HF_TOKEN"


def cached_commit(
    repo: str, revision: str | None, file: str = "config.json"
) -> str | None:
    """Return the cached commit of a repository's branch, tag or commit, if any."""
    from huggingface_hub import errors, try_to_load_from_cache

    try:
        path = try_to_load_from_cache(repo, file, revision=revision)
    except errors.HFValidationError:  # no name that the hub gives
        return None
    if not isinstance(path, str):
        return None
    return Path(path).parent.name


def parameter_count_on_hub(repo: str, revision: str | None) -> int:
    """Return how many parameters a model on the hub has, from its weights' headers."""
    from huggingface_hub import get_safetensors_metadata

    metadata = get_safetensors_metadata(repo, revision=revision)
    return sum(metadata.parameter_count.values())


def fetch_snapshot(
    name: str, repo: str, revision: str | None, patterns: Iterable[str], choices: str
) -> Path:
    """Return the cached snapshot of a repository, with the files that patterns name."""
    import httpx2
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()  # they have no place in a notebook or a log file
    attempt = partial(
        snapshot_download,
        repo,
        revision=revision,
        allow_patterns=sorted(patterns),
        ignore_patterns=["*/*"],
    )
    try:
        with _quiet():
            return Path(network.download_with_retries(attempt, name, _origin))
    # The RuntimeError is xet's.
    except (OSError, ValueError, httpx2.HTTPError, RuntimeError) as error:
        reason = _failure_message(name, repo, revision, _origin(error), choices)
        raise UserError(reason) from error


def _failure_message(
    name: str, repo: str, revision: str | None, error: BaseException, choices: str
) -> str:
    """Return the sentence on why a model could not be fetched, and what helps."""
    from huggingface_hub import constants, errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.LocalEntryNotFoundError):
        return (
            f"There is no model {name} here, or not all of its files, and "
            "HF_HUB_OFFLINE keeps them from being fetched: unset it, or give "
            f"{choices}."
        )
    if isinstance(error, errors.GatedRepoError):
        page = f"{constants.ENDPOINT}/{repo}"
        return (
            f"{name} is gated: accept its terms on {page}, {LOG_IN_REMEDY}, and "
            f"{RUN_AGAIN_REMEDY}."
        )
    if status == 401 and "Invalid credentials" in str(error):
        return (
            f"The hub does not accept your token: {LOG_IN_REMEDY} anew, or unset it, "
            f"and {RUN_AGAIN_REMEDY}."
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return (
            f"{repo} has no revision {revision!r} on the hub: give one of its branches "
            "and tags, or a commit with all of its 40 digits."
        )
    unknown = errors.RepositoryNotFoundError | errors.HFValidationError
    if isinstance(error, unknown) or status in (401, 404):
        return (
            f"There is no model {name} here, and the hub shows you none of that name: "
            f"check the spelling, {LOG_IN_REMEDY} if it is private, or give {choices}."
        )
    wrong, remedy = network.failure_and_remedy(error)
    if status == 429:
        remedy += f", or {LOG_IN_REMEDY} to be let in more often"
    alternative = ""
    if network.is_connection_lost(error) and not cached_commit(repo, revision):
        alternative = f", or give {choices}"
    return (
        f"{name} could not be fetched from the hub: {wrong}; {remedy}, and "
        f"{RUN_AGAIN_REMEDY}{alternative}."
    )


def _origin(error: BaseException) -> BaseException:
    """Return why the library failed, where it says only that a file is not cached."""
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    cause = error.__cause__
    if not isinstance(error, LocalEntryNotFoundError) or cause is None:
        return error
    if isinstance(cause, OfflineModeIsEnabled):
        return error
    return cause


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop the library's messages on its tries, but for those on the hub's delays."""

    def wanted(record: logging.LogRecord) -> bool:
        if record.levelno > logging.WARNING:
            return True
        return record.getMessage().startswith("Rate limited")

    handlers = logging.getLogger("huggingface_hub").handlers
    for handler in handlers:
        handler.addFilter(wanted)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(wanted)
