"""Threads that wait do not spin: on shared cores a spinning one takes the time of those at work."""

import os

import pytest

from tests.program_calls import run_python

SAYS = "import os, {first}, torch; print(os.environ['OMP_WAIT_POLICY'])"


@pytest.mark.parametrize("first", ["helpers", "helpers.studies"])
@pytest.mark.parametrize("given", [None, "ACTIVE"])
def test_threads_wait_passively_unless_the_user_says_otherwise(first, given):
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    environment |= {"OMP_WAIT_POLICY": given} if given else {}
    told = run_python("-c", SAYS.format(first=first), env=environment)
    assert told.stdout.strip() == (given or "PASSIVE")
