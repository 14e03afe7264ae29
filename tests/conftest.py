"""Fixtures that all tests share, and the guard that keeps tests off the network."""

import gc
import os
import secrets
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import sync_playwright

import helpers  # noqa: F401 (before torch, for which it sets how threads wait)
from tests.offline import sitecustomize as _guard  # from now on, here

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OFFLINE_FOLDER = Path(_guard.__file__).parent  # and in every Python that a test starts
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(OFFLINE_FOLDER), os.environ.get("PYTHONPATH")])
)

# A test that holds is right on a busy machine too, however long one example takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# What takes longest begins first, so that no process waits for another in the end.
SLOWEST_FIRST = (
    "test_books.py",
    "test_planted.py",
    "chapters",
    "test_live.py",
    "test_security.py",
)
SLOWEST_FIRST += ("tools", "test_reading.py", "faults", "test_wheel.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by how long they take; within a file nothing changes."""

    def place(item: pytest.Item) -> int:
        parts = item.nodeid.partition("::")[0].split("/")
        return next(
            (n for n, name in enumerate(SLOWEST_FIRST) if name in parts),
            len(SLOWEST_FIRST),
        )

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported: statsmodels calls it for each Holm."""
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real sample data beside the project, or skip where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder of real sample files is not beside the project")
    return folder


@pytest.fixture(autouse=True)
def _torch_as_it_was():
    """Fail a test that leaves PyTorch set otherwise: sums of later tests would differ in a bit."""
    import torch

    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    assert (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
    ) == before


@pytest.fixture(autouse=True)
def _models_are_checked(monkeypatch, tmp_path_factory):
    """Keep what a test finds of a model from the user's cache and from other tests."""
    from helpers.probing.engine import trial

    folder = tmp_path_factory.getbasetemp() / "checks" / secrets.token_hex(8)
    monkeypatch.setattr(trial, "outcomes_folder", lambda: folder)


@pytest.fixture(scope="module")
def browser():
    """Return a browser; skip where none is installed."""
    path = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if path is None:
        pytest.skip(
            "no browser is installed: apt-get install chromium, or set CHROMIUM to one"
        )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()
