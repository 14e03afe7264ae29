"""Write what students download: a notebook a week, and a zip of it with all that it needs."""

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

EXERCISE_PACKAGES = (
    "datasets",
    "metrics",
    "prompts",
    "published",
    "stats",
)  # that exercises import

CHECKS_MODULE = "hidden_tests"
GRADING_PROJECT_FILE = Path(__file__).with_name("grading.toml")
WEEK_NOTEBOOKS_FOLDER = (
    PROJECT_FOLDER / "notebooks" / "weeks"
)  # those of the repository
EXERCISE_TABLES = sorted(WEEK_NOTEBOOKS_FOLDER.glob("*.csv"))  # that exercises read
EXERCISES_FOLDER = "exercises"  # in the rendered book
DOWNLOAD_SUFFIXES = {"zip": "zip", "notebook": "ipynb"}
ZIP_TIMESTAMP = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # of all files in a zip, so that the same files make the same bytes


def write_week_notebooks(planned: list[Week], folder: Path) -> list[Path]:
    """Write the weeks' notebooks into a folder, and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{week.name}.ipynb" for week in planned]
    for path, week in zip(paths, planned):
        path.write_text(
            nbformat.writes(assignments.student_notebook(week)) + "\n", encoding="utf-8"
        )
    return paths


def write_week_downloads(folder: Path, planned: list[Week] | None = None) -> None:
    """Write each week's notebook and its zip into a folder."""
    for path in write_week_notebooks(planned or weeks.weeks_of_book(), folder):
        zip_notebook(path)


def zip_notebook(notebook: Path) -> Path:
    """Put a notebook and what its exercises read and import into a zip beside it."""
    text = notebook.read_text(encoding="utf-8")
    named = {file.name: file for file in EXERCISE_TABLES if file.name in text} | {
        notebook.name: notebook
    }
    return _zip(
        notebook.with_suffix(".zip"),
        named | (_package() if "from helpers" in text else {}),
    )


def write_grading_package(file: Path) -> Path:
    """Write what the hidden tests import as a package for pip, which needs no torch."""
    code = PROJECT_FOLDER / "notebooks"
    beside = (
        code / "__init__.py",
        code / "kit" / "__init__.py",
        code / "kit" / f"{CHECKS_MODULE}.py",
    )
    named = {str(path.relative_to(PROJECT_FOLDER)): path for path in beside}
    return _zip(file, _package() | named | {"pyproject.toml": GRADING_PROJECT_FILE})


def _package() -> dict[str, Path]:
    package = PROJECT_FOLDER / "helpers"
    needed = jobs.files_below(
        package / "__init__.py", *(package / name for name in EXERCISE_PACKAGES)
    )
    return {str(path.relative_to(PROJECT_FOLDER)): path for path in needed}


def _zip(made: Path, named: Mapping[str, Path]) -> Path:
    made.write_bytes(
        zip_bytes({f"{made.stem}/{n}": path.read_bytes() for n, path in named.items()})
    )
    return made


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by name, the same bytes for the same files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(contents):
            member = zipfile.ZipInfo(name, ZIP_TIMESTAMP)
            member.compress_type, member.external_attr = (
                zipfile.ZIP_DEFLATED,
                0o644 << 16,
            )
            archive.writestr(member, contents[name])
    return made.getvalue()


def exercise_addresses(week: Week) -> dict[str, str]:
    """Return where a week's exercises are: files of the rendered book, and of a repository."""
    settings = yaml.safe_load(render.BOOK_CONFIG.read_text(encoding="utf-8"))
    repository, buttons = settings["repository"], settings["launch_buttons"]
    here = {
        kind: f"{EXERCISES_FOLDER}/{week.name}.{end}"
        for kind, end in DOWNLOAD_SUFFIXES.items()
    }
    if not repository["url"]:
        return here
    owner = repository["url"].removeprefix("https://github.com/")
    file = f"{WEEK_NOTEBOOKS_FOLDER.relative_to(PROJECT_FOLDER).as_posix()}/{week.name}.ipynb"
    lab = f"v2/gh/{owner}/{repository['branch']}?urlpath=lab/tree/{file}"
    return here | {
        "Colab": f"{buttons['colab_url']}/github/{owner}/blob/{repository['branch']}/{file}",
        "Binder": f"{buttons['binderhub_url']}/{lab}",
    }
