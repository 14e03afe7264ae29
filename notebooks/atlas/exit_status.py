"""How the commands of this folder end."""

import sys
from collections.abc import Callable

from helpers import UserError


def exit_status_of_work(work: Callable[[], object]) -> int:
    """Do a command's work and return its exit status; print what a user can mend."""
    try:
        work()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
