"""Fixtures that all tests share, and the guard that keeps tests off the network."""

import os
from pathlib import Path

import pytest

from tests.offline import sitecustomize as _guard  # from now on, here

ROOT = Path(__file__).resolve().parent.parent
OFFLINE = Path(_guard.__file__).parent  # and in every Python that a test starts
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(OFFLINE), os.environ.get("PYTHONPATH")])
)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real sample data beside the project, or skip where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder of real sample files is not beside the project")
    return folder
