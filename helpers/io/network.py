"""What a failed download means, its remedy, and whether to try again."""

import errno
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.request import getproxies

from helpers import UserError

if TYPE_CHECKING:
    import tenacity

MOST_TRIES = 3
FIRST_WAIT = 1.0  # seconds before the second try; the third comes after twice as many
LONGEST_WAIT = 20.0
# Answers of a server that another try may mend: too slow, too early, too many, or its
# own fault.
TRANSIENT_STATUSES = {408, 425, 429, 500, 502, 503, 504}
DISK_FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
ACCESS_DENIED_ERRORS = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EEXIST,
}

SECRET_ADDRESS_PATTERN = re.compile(
    r"(?i)https?://"
    r"(?:[^/?#\s]*@|.*[?&][\w-]*(?:token|key|secret|passw|sig|auth(?!or))[\w-]*=)"
)

T = TypeVar("T")
ErrorCause = Callable[[BaseException], BaseException]  # what an error came from


def _error_itself(error: BaseException) -> BaseException:
    """Return an error as its own cause."""
    return error


def download_with_retries(
    work: Callable[[], T], what: str, origin: ErrorCause = _error_itself
) -> T:
    """Return what a download returns, tried again where that soon mends a failure."""
    import tenacity

    def cause(state: tenacity.RetryCallState) -> BaseException:
        return origin(_error_of_try(state))

    def seconds_to_wait(state: tenacity.RetryCallState) -> float:
        backoff = FIRST_WAIT * 2 ** (state.attempt_number - 1)
        return max(backoff, retry_after_seconds(_response(cause(state))))

    def print_failure(state: tenacity.RetryCallState) -> None:
        failure, _ = failure_and_remedy(cause(state))
        wait = f"trying again in {state.upcoming_sleep:.0f} s"
        print(f"Fetching {what}: {failure}; {wait}", file=sys.stderr)

    def may_pass(error: BaseException) -> bool:
        return _is_transient(origin(error))

    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception(may_pass),
        stop=tenacity.stop_after_attempt(MOST_TRIES),
        wait=seconds_to_wait,
        before_sleep=print_failure,
        reraise=True,
    )
    return tries(work)


def _error_of_try(state: "tenacity.RetryCallState") -> BaseException:
    """Return the error of a failed try, the only kind that tenacity asks about."""
    assert state.outcome is not None
    error = state.outcome.exception()
    assert error is not None
    return error


def _is_transient(error: BaseException) -> bool:
    """Tell whether another try within the longest wait may succeed."""
    status = _status(error)
    if not status:
        return is_connection_lost(error)
    if status not in TRANSIENT_STATUSES:
        return False
    return retry_after_seconds(_response(error)) <= LONGEST_WAIT


def text_without_secrets(text: str) -> str:
    """Return a text; refuse an address with a secret in it, which runs would keep."""
    if SECRET_ADDRESS_PATTERN.match(text):
        raise UserError(
            "An address holds a password or a token, and runs would keep it: fetch the "
            "file and give its path, or put user and password into ~/.netrc."
        )
    return text


def failure_and_remedy(error: BaseException) -> tuple[str, str]:
    """Return what is wrong and what to do; for errors of httpx2, requests, the disk."""
    status = _status(error)
    if status:
        return _refusal_and_remedy(status, _response(error))
    kind = type(error).__name__
    code = getattr(error, "errno", None)
    if code in DISK_FULL_ERRORS:
        reason = getattr(error, "strerror", None)
        return f"the disk is full ({reason})", "free some room"
    if code in ACCESS_DENIED_ERRORS:
        place = getattr(error, "filename", None)
        reason = getattr(error, "strerror", None)
        return f"{place} cannot be written ({reason})", "free that folder"
    if "Proxy" in kind:
        remedy = "correct HTTPS_PROXY and HTTP_PROXY in the environment"
        return f"the proxy fails ({kind})", remedy
    if "CERTIFICATE" in str(error):
        remedy = (
            "name your network's certificates in SSL_CERT_FILE and REQUESTS_CA_BUNDLE"
        )
        return f"the certificate is not trusted here ({kind})", remedy
    if is_connection_lost(error):
        remedy = "go online"
        if getproxies():
            remedy += ", correct HTTPS_PROXY and HTTP_PROXY if they are wrong"
        return f"the connection failed ({kind})", remedy
    words = re.sub(r"for url.*|https?:\S+", "", str(error)).split()
    message = " ".join(words)[:200].rstrip(". ")
    failure = f"{message} ({kind})" if message else kind
    return failure, "check your network"


def _refusal_and_remedy(status: int, answer: Any) -> tuple[str, str]:
    """Return what a server's answer means and what to do."""
    if status in (401, 403):
        failure = f"it is gated, private or not there (status {status})"
        return failure, "ask its owner for access"
    if status == 429:
        seconds = retry_after_seconds(answer)
        remedy = f"wait {seconds:g} seconds" if seconds else "wait some minutes"
        return "it has been asked too often from here (status 429)", remedy
    if status in TRANSIENT_STATUSES or status >= 500:
        return f"the server is out of order (status {status})", "wait a while"
    return f"it is not there (status {status})", "check the spelling"


def retry_after_seconds(answer: Any) -> float:  # of httpx2 or of requests
    """Return the seconds for which a server wants no request; 0 if it does not say."""
    text = "" if answer is None else answer.headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0


def is_connection_lost(error: BaseException) -> bool:
    """Tell whether a connection was not made, was cut, or was silent for too long."""
    import httpx2
    import requests

    # Neither goes away by itself.
    if isinstance(error, requests.exceptions.ProxyError):
        return False
    if "CERTIFICATE" in str(error):
        return False
    lost = (
        httpx2.TimeoutException,
        httpx2.NetworkError,
        httpx2.RemoteProtocolError,
        requests.ConnectionError,
        requests.Timeout,
        requests.exceptions.ChunkedEncodingError,
        ConnectionError,
        TimeoutError,
    )
    return isinstance(error, lost)


def _response(error: BaseException) -> Any:  # of httpx2 or of requests
    """Return the server's answer that an error carries, or None."""
    return getattr(error, "response", None)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an error carries, or None."""
    return getattr(_response(error), "status_code", None)
