"""Tests of what students download: no solutions, no hidden tests, and nothing that is missing."""

import ast
import json
import zipfile

import nbformat
import pytest

from book.tools import render
from book.tools.course import assignments, checks, downloads, weeks
from tests.commands import python

PLANNED = weeks.of_the_book()
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
    """Return a folder with all downloads."""
    folder = tmp_path_factory.mktemp("downloads")
    downloads.write(folder)
    return folder


def code(text):
    """Return code without comments and layout."""
    return ast.unparse(ast.parse(text))


def bodies(exercise):
    """Return the bodies of the functions that solve an exercise."""
    functions = [node for node in ast.parse(exercise.solution).body if hasattr(node, "body")]
    return [ast.unparse(function.body[-1]) for function in functions]


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_download_has_tasks_and_tests_but_no_solution(made, week):
    notebook = nbformat.read(made / f"{week.name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    for exercise in week.exercises:
        assert assignments.task(exercise) in text
        assert exercise.notes.splitlines()[0] not in text
        if exercise.kind == "code":
            assert exercise.test.rstrip() in text
            assert exercise.draw not in text
            stub = next(c.source for c in notebook.cells if c.source == _stub(exercise))
            assert not any(body in code(stub) for body in bodies(exercise))
    assert "compare(" not in text
    assert "SOLUTION" not in text


def _stub(exercise):
    return checks.stub(exercise).rstrip()


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_a_zip_needs_nothing_of_the_clone(made, week, tmp_path):
    with zipfile.ZipFile(made / f"{week.name}.zip") as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert all(name.startswith(f"{week.name}/") for name in names)
    assert not any("publishing" in name or "hidden" in name for name in names)
    place = tmp_path / week.name
    notebook = nbformat.read(place / f"{week.name}.ipynb", as_version=4)
    assert (place / f"{week.name}.ipynb").read_bytes() == (made / f"{week.name}.ipynb").read_bytes()
    solved = {_stub(one): one.solution for one in week.exercises if one.kind == "code"}
    cells = [c.source for c in notebook.cells if c.cell_type == "code"]
    assert set(solved) <= set(cells)
    given = json.dumps([solved.get(cell, cell) for cell in cells])
    done = python("-c", RUN, cwd=place, input=given)
    heavy, package = done.stdout.splitlines()[-2:]
    assert heavy == "[]"
    assert package == "None" or str(place) in package


def test_the_same_exercises_make_the_same_bytes(made, tmp_path):
    downloads.write(tmp_path)
    files = sorted(path.name for path in made.iterdir())
    assert len(files) == 2 * weeks.WEEKS
    assert [(tmp_path / name).read_bytes() for name in files] == [
        (made / name).read_bytes() for name in files
    ]


@pytest.mark.parametrize("week", PLANNED, ids=lambda week: week.name)
def test_the_repository_has_the_copies_that_colab_and_binder_open(
    made, week, tmp_path, monkeypatch
):
    copy = downloads.COPIES / f"{week.name}.ipynb"
    assert copy.read_bytes() == (made / copy.name).read_bytes(), "run make course"
    assert set(downloads.addresses(week)) == set(downloads.FILES)
    settings = render.CONFIG.read_text().replace('url: ""', "url: https://github.com/some/book")
    monkeypatch.setattr(render, "CONFIG", tmp_path / "_config.yml")
    render.CONFIG.write_text(settings)
    addresses = downloads.addresses(week)
    assert addresses["Colab"].endswith(f"/blob/main/notebooks/weeks/{copy.name}")
    assert addresses["Binder"].endswith(f"/main?urlpath=lab/tree/notebooks/weeks/{copy.name}")


def test_the_rendered_page_links_to_every_download(made):
    page = render.HTML.with_name("instructors.html")
    if not page.is_file():
        pytest.skip("the book is not rendered: make book")
    text = page.read_text(encoding="utf-8")
    for week in PLANNED:
        for address in downloads.addresses(week).values():
            assert f'href="{address}"' in text
        for kind in ("zip", "notebook"):
            file = page.parent / downloads.addresses(week)[kind]
            assert file.read_bytes() == (made / file.name).read_bytes()
