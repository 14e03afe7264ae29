"""Tests of what students download: no solutions, no hidden tests, and nothing that is missing."""

import json
import zipfile

import nbformat
import pytest

from book.tools import render
from book.tools.course import assignments, checks, downloads, weeks
from tests.program_calls import run_python

PLANNED = weeks.weeks_of_book()
RUN = """
import json, sys
before = set(sys.modules)
for cell in json.load(sys.stdin):
    exec(cell, globals())
imported = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(imported & {"torch", "transformers", "matplotlib"})))
print(globals().get("helpers") or sys.modules.get("helpers"))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    downloads.write_week_downloads(folder)
    return folder


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_download_has_tasks_and_tests_but_no_solution(made, week):
    notebook = nbformat.read(made / f"{week.name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    for exercise in week.exercises:
        assert assignments.exercise_markdown(exercise) in text
        assert exercise.notes.splitlines()[0] not in text
        if exercise.kind == "code":
            assert exercise.test.rstrip() in text
            assert exercise.draw not in text
            assert checks.stub_code(exercise).rstrip() in text
            assert exercise.solution.strip().splitlines()[-1] not in text
    assert "check_against_solutions" not in text
    assert "SOLUTION" not in text


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_zip_needs_nothing_of_the_clone(made, week, tmp_path):
    with zipfile.ZipFile(made / f"{week.name}.zip") as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert all(name.startswith(f"{week.name}/") for name in names)
    assert not any("publishing" in name or "hidden" in name for name in names)
    place = tmp_path / week.name
    notebook = nbformat.read(place / f"{week.name}.ipynb", as_version=4)
    assert (place / f"{week.name}.ipynb").read_bytes() == (
        made / f"{week.name}.ipynb"
    ).read_bytes()
    coded = [one for one in week.exercises if one.kind == "code"]
    solved = {checks.stub_code(one).rstrip(): one.solution for one in coded}
    cells = [c.source for c in notebook.cells if c.cell_type == "code"]
    assert set(solved) <= set(cells)
    given = json.dumps([solved.get(cell, cell) for cell in cells])
    done = run_python("-c", RUN, cwd=place, input=given)
    heavy, package = done.stdout.splitlines()[-2:]
    assert heavy == "[]"
    assert package == "None" or str(place) in package


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_the_repository_has_the_copies_that_colab_and_binder_open(
    made, week, tmp_path, monkeypatch
):
    copy, page = (
        downloads.WEEK_NOTEBOOKS_FOLDER / f"{week.name}.ipynb",
        render.FRONT_PAGE.with_name("instructors.html"),
    )
    assert copy.read_bytes() == (made / copy.name).read_bytes(), "run make course"
    offered = downloads.exercise_addresses(week)
    assert set(offered) == set(downloads.DOWNLOAD_SUFFIXES)
    if page.is_file():
        assert all(
            f'href="{to}"' in page.read_text(encoding="utf-8")
            for to in offered.values()
        )
        files = [page.parent / offered[kind] for kind in ("zip", "notebook")]
        assert all(
            file.read_bytes() == (made / file.name).read_bytes() for file in files
        )
    settings = render.BOOK_CONFIG.read_text().replace(
        'url: ""', "url: https://github.com/some/book"
    )
    monkeypatch.setattr(render, "BOOK_CONFIG", tmp_path / "_config.yml")
    render.BOOK_CONFIG.write_text(settings)
    addresses = downloads.exercise_addresses(week)
    assert addresses["Colab"].endswith(f"/blob/main/notebooks/weeks/{copy.name}")
    assert addresses["Binder"].endswith(
        f"/main?urlpath=lab/tree/notebooks/weeks/{copy.name}"
    )
