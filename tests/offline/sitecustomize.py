"""Refuse, in this process, every connection that leaves the machine.

Python imports a module of this name by itself when it starts, if its folder is on the
path. So the tests' conftest imports it, and all Python processes that a test starts
(kernels, commands) do too. An audit hook hears of every connection and look-up of a
name, whatever library asks for it.
"""

import ipaddress
import os
import socket
import sys
from typing import Any

NETWORK_VARIABLE = "TESTS_MAY_USE_NETWORK"  # set it to 1 to let them
TO_ADDRESS = {"socket.connect", "socket.sendto"}  # their second argument is where to
TO_HOST = {
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
}  # their first


class NetworkForbidden(RuntimeError):
    """Raised where a test would have left the machine; no library takes it for being offline."""


def is_other_machine(host: str | bytes | None) -> bool:
    """Tell whether a host is another machine, or a name that another machine would look up."""
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost", socket.gethostname()):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def refuse_connection(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop what would leave the machine."""
    if event in TO_ADDRESS and isinstance(arguments[1], tuple):  # else a Unix socket
        host = arguments[1][0]
    elif event in TO_HOST:
        host = arguments[0]
    else:
        return
    if is_other_machine(host) and os.environ.get(NETWORK_VARIABLE) != "1":
        raise NetworkForbidden(f"tests use no network, but {event} asked for {host!r}")


sys.addaudithook(refuse_connection)
