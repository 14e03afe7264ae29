"""Other models are measured as the chapters would, without their notebooks."""

import pytest

from book.tools import __main__ as commands
from book.tools import chapters, jobs
from helpers import UserError, runs

SMALL = {"n_facts": 2, "relations": ["P17", "P36"], "n_panel": 0, "n_bootstrap": 30}


def test_a_study_that_cannot_be_done_stops_no_other(tmp_path):
    names = ["latent_knowledge", "monitor"]
    few = SMALL | {"n_choices": 5, "separator": "nothing"}
    with pytest.raises(UserError, match=r"latent_knowledge: .*nothing"):
        chapters.measure("atlas-xs", names, few, tmp_path)
    [done] = runs.load(tmp_path).itertuples()
    assert (done.model, done.chapter, done.parameters["n_facts"]) == (
        "atlas-xs",
        "monitor",
        2,
    )
    assert not (done.folder / "notebook.ipynb").exists()


def test_the_command_leaves_runs_that_are_current(tmp_path):
    words = ["n_facts=2", "relations=P17,P36", "n_panel=0", "n_bootstrap=30"]
    place = ["--model", "atlas-xs", "--runs", str(tmp_path)]
    assert commands.main(["others", "monitor", *place, "--set", *words]) == 0
    [job, *_] = jobs.plan_jobs(["monitor"], "atlas-m", ["atlas-xs"], SMALL)
    assert jobs.is_run_current(job, tmp_path)
