"""Write what students download: a notebook a week, and a zip with all it needs."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import yaml

from book.tools import jobs, render
from book.tools.course import assignments, weeks
from book.tools.course.weeks import Week
from helpers.runs import PROJECT_FOLDER

# What exercises import.
EXERCISE_PACKAGES = (
    "helpers/datasets",
    "helpers/metrics",
    "helpers/prompts",
    "helpers/stats",
    "notebooks/kit/published",
)
PACKAGE_FILES = (
    "helpers/__init__.py",
    "notebooks/__init__.py",
    "notebooks/kit/__init__.py",
)

CHECKS_FILE = "notebooks/kit/hidden_tests.py"
GRADING_PROJECT_FILE = Path(__file__).with_name("grading.toml")
WEEK_NOTEBOOKS_FOLDER = PROJECT_FOLDER / "notebooks" / "weeks"  # of the repository
EXERCISE_TABLES = sorted(WEEK_NOTEBOOKS_FOLDER.glob("*.csv"))  # that exercises read
EXERCISES_FOLDER = "exercises"  # in the rendered book
DOWNLOAD_SUFFIXES = {"zip": "zip", "notebook": "ipynb"}
# Of all files in a zip, so that the same files make the same bytes.
ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def write_week_notebooks(planned: list[Week], folder: Path) -> list[Path]:
    """Write the weeks' notebooks into a folder, and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for week in planned:
        path = folder / f"{week.name}.ipynb"
        text = nbformat.writes(assignments.student_notebook(week))
        path.write_text(f"{text}\n", encoding="utf-8")
        paths.append(path)
    return paths


def write_week_downloads(folder: Path, planned: list[Week] | None = None) -> None:
    """Write each week's notebook and its zip into a folder."""
    for path in write_week_notebooks(planned or weeks.weeks_of_book(), folder):
        zip_notebook(path)


def zip_notebook(notebook: Path) -> Path:
    """Put a notebook and what its exercises read and import into a zip beside it."""
    text = notebook.read_text(encoding="utf-8")
    files = {file.name: file for file in EXERCISE_TABLES if file.name in text}
    files[notebook.name] = notebook
    if "from helpers" in text:
        files |= _package_files()
    return _write_zip(notebook.with_suffix(".zip"), files)


def write_grading_package(file: Path) -> Path:
    """Write what the hidden tests import as a package for pip, which needs no torch."""
    files = _package_files()
    files[CHECKS_FILE] = PROJECT_FOLDER / CHECKS_FILE
    files["pyproject.toml"] = GRADING_PROJECT_FILE
    return _write_zip(file, files)


def _package_files() -> dict[str, Path]:
    """Return what exercises import, by its name in the project."""
    places = [PROJECT_FOLDER / name for name in (*PACKAGE_FILES, *EXERCISE_PACKAGES)]
    files = jobs.files_below(*places)
    return {str(path.relative_to(PROJECT_FOLDER)): path for path in files}


def _write_zip(file: Path, files: Mapping[str, Path]) -> Path:
    """Write files by name into a zip, below a folder with the zip's name."""
    contents = {}
    for name, path in files.items():
        contents[f"{file.stem}/{name}"] = path.read_bytes()
    file.write_bytes(zip_bytes(contents))
    return file


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by name, the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(contents):
            member = zipfile.ZipInfo(name, ZIP_TIMESTAMP)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16  # the file's rights
            archive.writestr(member, contents[name])
    return buffer.getvalue()


def exercise_addresses(week: Week) -> dict[str, str]:
    """Return where a week's exercises are, in the rendered book and a repository."""
    addresses = {}
    for kind, suffix in DOWNLOAD_SUFFIXES.items():
        addresses[kind] = f"{EXERCISES_FOLDER}/{week.name}.{suffix}"
    settings = yaml.safe_load(render.BOOK_CONFIG.read_text(encoding="utf-8"))
    buttons = settings["launch_buttons"]
    url = settings["repository"]["url"]
    if not url:
        return addresses
    branch = settings["repository"]["branch"]
    repository = url.removeprefix("https://github.com/")
    folder = WEEK_NOTEBOOKS_FOLDER.relative_to(PROJECT_FOLDER).as_posix()
    file = f"{folder}/{week.name}.ipynb"
    colab = f"github/{repository}/blob/{branch}/{file}"
    binder = f"v2/gh/{repository}/{branch}?urlpath=lab/tree/{file}"
    addresses["Colab"] = f"{buttons['colab_url']}/{colab}"
    addresses["Binder"] = f"{buttons['binderhub_url']}/{binder}"
    return addresses
