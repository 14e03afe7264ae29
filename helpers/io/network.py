"""What a failed download (of a model, of data) means, its remedy, and whether to try again."""

import errno
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.request import getproxies

from helpers import UserError

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
    r"(?i)https?://(?:[^/?#\s]*@|.*[?&][\w-]*(?:token|key|secret|passw|sig|auth(?!or))[\w-]*=)"
)

T = TypeVar("T")
ErrorCause = Callable[[BaseException], BaseException]  # what an error came from


def download_with_retries(
    work: Callable[[], T], what: str, origin: ErrorCause = lambda error: error
) -> T:
    """Return what a download returns, tried again where that may mend a failure, and soon."""
    import tenacity

    def failed(state: tenacity.RetryCallState) -> BaseException:
        return origin(state.outcome.exception())

    def wait(state: tenacity.RetryCallState) -> float:
        backoff = FIRST_WAIT * 2 ** (state.attempt_number - 1)
        return max(
            backoff, retry_after_seconds(getattr(failed(state), "response", None))
        )

    def say(state: tenacity.RetryCallState) -> None:
        wrong, _ = failure_and_remedy(failed(state))
        wait = f"trying again in {state.upcoming_sleep:.0f} s"
        print(f"Fetching {what}: {wrong}; {wait}", file=sys.stderr)

    def passing(error: BaseException) -> bool:
        if status := _status(error := origin(error)):
            return (
                status in TRANSIENT_STATUSES
                and retry_after_seconds(error.response) <= LONGEST_WAIT
            )
        return is_connection_lost(error)

    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception(passing),
        stop=tenacity.stop_after_attempt(MOST_TRIES),
        wait=wait,
        before_sleep=say,
        reraise=True,
    )
    return tries(work)


def check_for_secrets(text: str) -> str:
    """Return a text; refuse an address with a secret in it, which runs would keep."""
    if SECRET_ADDRESS_PATTERN.match(text):
        raise UserError(
            "An address holds a password or a token, and runs would keep it: fetch the file and "
            "give its path, or put user and password into ~/.netrc."
        )
    return text


def failure_and_remedy(error: BaseException) -> tuple[str, str]:
    """Return what is wrong and what to do, of an error of httpx2, of requests or of the disk."""
    status, kind = _status(error), type(error).__name__
    if status in (401, 403):
        return (
            f"it is gated, private or not there (status {status})",
            "ask its owner for access",
        )
    if status == 429:
        wait = retry_after_seconds(error.response)
        wish = f"wait {wait:g} seconds" if wait else "wait some minutes"
        return "it has been asked too often from here (status 429)", wish
    if status in TRANSIENT_STATUSES or (status or 0) >= 500:
        return f"the server is out of order (status {status})", "wait a while"
    if status:
        return f"it is not there (status {status})", "check the spelling"
    code = getattr(error, "errno", None)
    if code in DISK_FULL_ERRORS:
        return f"the disk is full ({error.strerror})", "free some room"
    if code in ACCESS_DENIED_ERRORS:
        return (
            f"{error.filename} cannot be written ({error.strerror})",
            "free that folder",
        )
    if "Proxy" in kind:
        return (
            f"the proxy fails ({kind})",
            "correct HTTPS_PROXY and HTTP_PROXY in the environment",
        )
    if "CERTIFICATE" in str(error):
        return (
            f"the certificate is not trusted here ({kind})",
            "name your network's certificates in SSL_CERT_FILE and REQUESTS_CA_BUNDLE",
        )
    if is_connection_lost(error):
        proxy = (
            ", correct HTTPS_PROXY and HTTP_PROXY if they are wrong"
            if getproxies()
            else ""
        )
        return f"the connection failed ({kind})", f"go online{proxy}"
    said = " ".join(re.sub(r"for url.*|https?:\S+", "", str(error)).split())[
        :200
    ].rstrip(". ")
    return f"{said} ({kind})" if said else kind, "check your network"


def retry_after_seconds(answer: Any) -> float:
    """Return the seconds that a server wants to be left alone; 0 where it does not say."""
    text = "" if answer is None else answer.headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0


def is_connection_lost(error: BaseException) -> bool:
    """Tell whether a connection was not made, was cut, or was silent for too long."""
    import httpx2
    import requests

    network = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)
    others = (
        requests.ConnectionError,
        requests.Timeout,
        requests.exceptions.ChunkedEncodingError,
    )
    wrong = isinstance(error, requests.exceptions.ProxyError) or "CERTIFICATE" in str(
        error
    )
    return (
        isinstance(error, (*network, *others, ConnectionError, TimeoutError))
        and not wrong
    )


def _status(error: BaseException) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)
