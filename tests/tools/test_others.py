"""Tests of book.tools.others: measured as the chapters would, without their notebooks."""

import pytest

from book.tools import __main__ as commands
from book.tools import jobs, others, settings
from helpers import UserError, runs
from helpers.studies import STUDIES
from notebooks.analysis import comparison

SMALL = ("n_facts=2", "relations=P17,P36", "n_panel=0", "n_bootstrap=30", "n_choices=5")


@pytest.mark.parametrize("chapter", STUDIES)
def test_it_may_be_compared_with_the_chapters_run(chapter):
    template = jobs.TEMPLATES / f"{chapter}.ipynb"
    executed = settings.declared(template) | settings.read(
        template, settings.fitting(template, SMALL)
    )
    about = {"dataset": {"name": "atlas"}, "versions": {}}
    ours, theirs = (
        comparison.traits(about | {"parameters": given})
        for given in (others.values(template, SMALL), executed)
    )
    assert {name: ours.get(name) for name in theirs} == theirs
    assert set(ours) <= {*theirs, "prompt_format"}


def test_what_only_the_chapter_takes_is_never_said_to_have_been_done():
    template = jobs.TEMPLATES / "multiplicity.ipynb"
    assert others.values(template, ["n_shots=3"])["n_shots"] == 0
    with pytest.raises(UserError, match="n_itemz"):
        others.values(template, ["n_itemz"])


def test_a_study_that_cannot_be_done_stops_no_other(tmp_path):
    templates = [
        jobs.TEMPLATES / f"{name}.ipynb" for name in ("latent_knowledge", "monitor")
    ]
    few = [*SMALL, "separator=nothing"]
    with pytest.raises(UserError, match=r"latent_knowledge: .*nothing"):
        others.run("atlas-xs", templates, few, tmp_path)
    [done] = runs.load(tmp_path).itertuples()
    assert (done.model, done.chapter, done.parameters["n_facts"]) == (
        "atlas-xs",
        "monitor",
        2,
    )
    assert not (done.folder / "notebook.ipynb").exists()


def test_the_command_leaves_runs_that_are_current(tmp_path):
    words = ["--model", "atlas-xs", "--runs", str(tmp_path), "--set", *SMALL]
    assert commands.main(["others", "monitor", *words]) == 0
    fitting = [
        word
        for word in SMALL
        if settings.fitting(jobs.TEMPLATES / "monitor.ipynb", [word])
    ]
    [job, *_] = jobs.plan(["monitor"], "atlas-m", ["atlas-xs"], fitting)
    assert jobs.is_current(job, tmp_path)
