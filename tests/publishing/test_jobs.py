"""Tests of helpers.publishing.jobs: which chapter runs on which model, and with which settings."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from helpers import UserError
from helpers.models import checkpoints
from helpers.publishing import jobs
from helpers.runs.comparison import groups
from helpers.studies import STUDIES


def write(folder, name, source):
    """Write a notebook with a parameters cell."""
    cell = new_code_cell(source, metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[cell]), folder / f"{name}.ipynb")


def test_parameters_tell_the_kind_of_a_chapter(tmp_path):
    write(tmp_path, "one", 'model = "m"\nmodels = []')
    write(tmp_path, "many", 'model = "m"\nn_facts = 3')
    write(tmp_path, "none", 'runs_dir = "runs"\nmodels = []')
    kinds = [jobs.kind(name, tmp_path) for name in ("one", "many", "none")]
    assert kinds == ["single", "measure", "synthesis"]
    with pytest.raises(UserError, match="There is no chapter 'nothing'"):
        jobs.kind("nothing", tmp_path)


def test_the_family_is_what_is_bundled_and_the_books_model_comes_last():
    assert list(jobs.family("atlas-m")) == [
        *(name for name in checkpoints.bundled() if name != "atlas-m"),
        "atlas-m",
    ]
    assert jobs.family("org/x", ["org/y", "atlas-s"]) == {
        "org--y": "org/y",
        "atlas-s": "atlas-s",
        "org--x": "org/x",
    }


def test_two_folders_of_one_name_are_two_models(tmp_path):
    names = [str(tmp_path / part / "mine") for part in "ab"]
    assert list(jobs.family(names[0], names).values()) == names[::-1]


def test_each_chapter_runs_where_its_kind_says():
    asked = ["atlas", "monitor", "comparison"], "atlas-m", ["atlas-s", "atlas-m"]
    few = ("n_facts=5", "n_bootstrap=70")
    made = jobs.plan(*asked, list(few))
    assert {job.name: job.words for job in made} == {
        "atlas-s/monitor": ("attribution=no", "n_grid=1", "n_close=1", *few),
        "atlas-m/atlas": few,
        "atlas-m/monitor": few,
        "synthesis/comparison": ("n_bootstrap=70",),
    }
    assert [job.early for job in made] == [True, False, False, False]
    alone = jobs.plan(["monitor"], "atlas-m", ["atlas-m"])
    assert [job.name for job in alone] == ["atlas-m/monitor"]
    sweep = jobs.plan(*asked, ["n_facts=5"], alike=True)
    assert [job.name for job in sweep if job.chapter == "atlas"] == [
        "atlas-s/atlas",
        "atlas-m/atlas",
    ]
    assert {job.words for job in sweep if job.model} == {("n_facts=5",)}


def test_settings_reach_every_model_and_only_the_others_spare_themselves():
    given = ["n_facts=5", "n_bootstrap=70"]
    assert jobs.words("atlas-m", "atlas-m", given) == given
    other = jobs.words("atlas-s", "atlas-m", given)
    assert set(given) < set(other)
    spared = {word.partition("=")[0] for word in jobs.LIGHT}
    assert spared <= groups.NEUTRAL - {"n_bootstrap"}  # the same facts, and as many draws


def test_other_models_begin_before_the_books_and_short_chapters_end_each():
    chapters = ["published", "atlas", *reversed(STUDIES), "own"]
    order = sorted(
        (
            jobs.Job(f"{early}/{name}", name, early=early)
            for early in (False, True)
            for name in chapters
        ),
        key=jobs.priority,
        reverse=True,
    )
    assert [job.early for job in order] == [True] * len(chapters) + [False] * len(chapters)
    for early in (True, False):
        names = [job.chapter for job in order if job.early == early]
        assert set(names[:4]) == {*STUDIES}
        assert names[4] == "atlas"
