"""What a run leaves behind, for the tests of its chapter; each module has its own `folder`."""

import pytest

from helpers import runs
from tests.chapters import in_process

pytest.register_assert_rewrite("tests.chapters.notebooks")


@pytest.fixture(scope="module")
def answers(folder):
    """Return the answers that the run saved."""
    return runs.answers(folder)


@pytest.fixture(scope="module")
def metrics(folder):
    """Return the figures that the run saved."""
    return runs.metrics(folder)


@pytest.fixture(scope="module", autouse=True)
def _without_kernels():
    """Let chapters run in this process."""
    with in_process.instead_of_kernels():
        yield
