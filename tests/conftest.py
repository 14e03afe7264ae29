"""Fixtures that all tests share, and the guard that keeps tests off the network."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import sync_playwright

import helpers  # noqa: F401 (before torch, for which it sets how threads wait)
from tests.offline import sitecustomize as _guard  # from now on, here

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OFFLINE = Path(_guard.__file__).parent  # and in every Python that a test starts
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(OFFLINE), os.environ.get("PYTHONPATH")])
)

# A test that holds is right on a busy machine too, however long one example takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# What takes longest begins first, so that no process waits for another in the end.
FIRST = ("chapters", "test_live.py", "test_security.py", "publishing", "test_reading.py")
# The slow tier, besides what is marked where it stands: `make test-all` runs it.
SLOW = (
    *("tests/cluster", "tests/faults", "tests/test_wheel.py", "tests/publishing/test_sweeps.py"),
    *("tests/publishing/course/test_hidden.py", "tests/stats/test_coverage.py"),
    *("tests/test_architectures.py", "tests/atlas/test_corpus.py", "tests/atlas/test_weights.py"),
    "tests/chapters/test_comparison.py::test_the_chapter_runs_to_its_end_whatever_was_run",
    "tests/chapters/test_comparison.py::test_one_run_says_what_a_second_would_add",
    "tests/chapters/test_atlas.py::test_another_model_gives_way_to_the_bundled_ones",
    "tests/chapters/test_monitor.py::test_interrupted_run_resumes_without_repeating",
    "tests/publishing/test_publish.py::test_the_commands_of_the_readme_work",
    "tests/publishing/test_publish.py::test_make_book_runs_the_measures_on_all_models",
    "tests/publishing/test_publish.py::test_make_book_shows_the_run_of_a_model_of_the_hub",
    "tests/publishing/test_publish.py::test_a_chapter_that_fails_has_a_page",
    "tests/publishing/test_publish.py::test_a_page_with_a_warning_stops_the_build",
    "tests/publishing/test_dependencies.py::test_an_edit_of_a_plot_asks_the_model_nothing_again",
    "tests/runs/test_comparison_reading.py::test_holm_agrees_with_its_definition",
    "tests/runs/test_sharing.py::test_the_bundled_archives_and_the_schema_are_good",
    "tests/test_architecture.py::test_the_core_works_without_the_machinery",
    "tests/test_reading.py::test_no_serious_barrier",
    "tests/test_live.py::test_it_fits_the_window[390",
)


@pytest.hookimpl(tryfirst=True)  # before a marker expression chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tier, and order files by how long they take; within one nothing changes."""

    def place(item: pytest.Item) -> int:
        parts = item.nodeid.partition("::")[0].split("/")
        return next((n for n, name in enumerate(FIRST) if name in parts), len(FIRST))

    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=place)


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


@pytest.fixture(autouse=True)
def _torch_as_it_was():
    """Fail a test that leaves PyTorch set otherwise: sums of later tests would differ in a bit."""
    import torch

    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before


@pytest.fixture(scope="module")
def browser():
    """Return a browser; skip where none is installed."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium, or set CHROMIUM to one")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()
