"""Fixtures that all tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
