"""The guard that keeps tests off the network can refuse, here and in what they start."""

import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.offline import sitecustomize

OUTSIDE = "203.0.113.1"  # reserved for examples: nobody is there


@pytest.mark.parametrize(
    "leave",
    [
        lambda: socket.create_connection((OUTSIDE, 80), timeout=1),
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: socket.gethostbyname("example.org"),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", (OUTSIDE, 53)),
        lambda: urllib.request.urlopen("http://example.org", timeout=1),
    ],
    ids=["connect", "look up", "look up by the old call", "datagram", "open a page"],
)
def test_leaving_the_machine_is_refused(leave):
    with pytest.raises(RuntimeError, match="tests use no network") as refused:
        leave()
    assert (
        refused.typename == "NetworkForbidden"
    )  # of a guard loaded here, or at the start


def test_what_a_test_starts_is_guarded_too():
    code = f"import socket; socket.create_connection(('{OUTSIDE}', 80), timeout=1)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "NetworkForbidden" in done.stderr


def test_the_network_can_be_allowed(monkeypatch):
    monkeypatch.setenv(sitecustomize.NETWORK_VARIABLE, "1")
    sitecustomize.refuse_connection("socket.getaddrinfo", ("example.org", 443))
