"""Tests of book.tools.jobs: which chapter runs on which model, and with which settings."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from book.tools import jobs, parameters
from helpers import UserError
from helpers.models import checkpoints
from helpers.studies import STUDIES
from notebooks.analysis import comparison


def write(folder, name, source):
    """Write a notebook with a parameters cell."""
    cell = new_code_cell(source, metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[cell]), folder / f"{name}.ipynb")


def test_parameters_tell_the_kind_of_a_chapter(tmp_path):
    write(tmp_path, "one", 'model = "m"\nmodels = []')
    write(tmp_path, "many", 'model = "m"\nn_facts = 3')
    write(tmp_path, "none", 'runs_dir = "runs"\nmodels = []')
    kinds = [jobs.chapter_kind(name, tmp_path) for name in ("one", "many", "none")]
    assert kinds == ["single", "measure", "synthesis"]
    with pytest.raises(UserError, match="There is no chapter 'nothing'"):
        jobs.chapter_kind("nothing", tmp_path)


def test_the_family_is_what_is_bundled_and_the_books_model_comes_last(tmp_path):
    others = [name for name in checkpoints.bundled_models() if name != "atlas-m"]
    assert list(jobs.models_by_folder("atlas-m")) == [*others, "atlas-m"]
    named = {"org--y": "org/y", "atlas-s": "atlas-s", "org--x": "org/x"}
    assert jobs.models_by_folder("org/x", ["org/y", "atlas-s"]) == named
    two = [str(tmp_path / part / "mine") for part in "ab"]  # of one name
    assert list(jobs.models_by_folder(two[0], two).values()) == two[::-1]


def test_each_chapter_runs_where_its_kind_says():
    asked = ["atlas", "monitor", "comparison"], "atlas-m", ["atlas-s", "atlas-m"]
    few = {"n_facts": 5, "n_bootstrap": 70}
    made = jobs.plan_jobs(*asked, few)
    assert {job.name: job.settings for job in made} == {
        "atlas-s/monitor": few,
        "atlas-m/atlas": few,
        "atlas-m/monitor": few,
        "synthesis/comparison": {"n_bootstrap": 70},
    }
    assert [job.early for job in made] == [True, False, False, False]
    alone = jobs.plan_jobs(["monitor"], "atlas-m", ["atlas-m"])
    assert [job.name for job in alone] == ["atlas-m/monitor"]
    sweep = jobs.plan_jobs(*asked, {"n_facts": 5}, alike=True)
    assert [job.name for job in sweep if job.chapter == "atlas"] == [
        "atlas-s/atlas",
        "atlas-m/atlas",
    ]
    assert all(job.settings == {"n_facts": 5} for job in sweep if job.model)


def test_another_model_is_measured_once_by_all_chapters_in_its_own_format():
    few = {"n_facts": 5, "n_items": 7}
    settings = few | {"prompt_format": "chat", "copying_steps": 9}
    [job, *_] = jobs.plan_jobs([*STUDIES, "atlas"], "atlas-m", ["atlas-s"], settings)
    assert (job.chapter, job.model, job.settings) == (
        jobs.NOTEBOOK_FREE_CHAPTER,
        "atlas-s",
        few,
    )
    assert job.folders == tuple(f"atlas-s/{name}" for name in STUDIES)
    assert "notebook.ipynb" not in job.parts
    assert not any(
        each.early for each in jobs.plan_jobs(["atlas"], "atlas-m", ["atlas-s"])
    )


def test_other_models_begin_first_and_short_chapters_end():
    names = [
        "published",
        "atlas",
        *reversed(STUDIES),
        "own",
        jobs.NOTEBOOK_FREE_CHAPTER,
        jobs.NOISE_CHAPTER,
    ]
    order = sorted(
        (jobs.Job(name, name) for name in names), key=jobs.job_priority, reverse=True
    )
    assert {job.chapter for job in order[:2]} == {
        jobs.NOTEBOOK_FREE_CHAPTER,
        jobs.NOISE_CHAPTER,
    }
    assert {job.chapter for job in order[2:6]} == {*STUDIES}
    assert [job.chapter for job in order[6:]] == ["atlas", "published", "own"]


def test_a_measured_run_is_out_of_date_with_its_settings_alone(tmp_path):
    def made(**settings):
        [job] = jobs.plan_jobs(["monitor"], "atlas-m", ["atlas-s"], settings)[:1]
        return jobs.job_fingerprint(job, tmp_path)

    assert (
        made() == made() == made(n_grid=2)
    )  # a close-up of the chapter, which is not made
    assert made() != made(n_facts=2)


@pytest.mark.parametrize("chapter", STUDIES)
def test_what_is_measured_may_be_compared_with_the_chapters_run(chapter):
    template = jobs.TEMPLATES / f"{chapter}.ipynb"
    small = {"n_facts": 2, "relations": ["P17", "P36"], "n_panel": 0, "n_choices": 5}
    executed = parameters.declared_parameters(template) | jobs.settings_for_chapter(
        chapter, small
    )
    measured = jobs.measured_settings(template, small)
    about = {"dataset": {"name": "atlas"}, "versions": {}}
    ours = comparison.comparability_traits(about | {"parameters": measured})
    theirs = comparison.comparability_traits(about | {"parameters": executed})
    assert {name: ours.get(name) for name in theirs} == theirs
    assert set(ours) <= {*theirs, "prompt_format"}


def test_what_only_the_chapter_takes_is_never_said_to_have_been_done():
    template = jobs.TEMPLATES / "multiplicity.ipynb"
    assert jobs.measured_settings(template, {"n_shots": 3})["n_shots"] == 0


def test_who_reads_the_runs_of_others():
    planned = jobs.plan_jobs(
        ["published", "comparison", "real_models", "monitor"], "atlas-m", ["x"]
    )
    own = [job for job in planned if not job.early]
    found = {
        job.chapter: (jobs.reads_finished_runs(job), jobs.requires_finished_runs(job))
        for job in own
    }
    assert found["comparison"] == (True, True)
    assert found["real_models"] == (True, False)
    assert found["published"] == found["monitor"] == (False, False)


def test_the_noise_floor_leaves_a_run_of_each_variant():
    job = jobs.noise_floor_job("atlas-s")
    assert (job.chapter, job.model, job.early) == (jobs.NOISE_CHAPTER, "atlas-s", True)
    assert job.name == "noise/usual/atlas-s/monitor"
    assert len(set(job.folders)) == 4
