"""The commands of the page on sweeps, typed as readers type them."""

import pytest

from tests import small_project, tiny_models
from tests.cluster import slurm_node

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

MODELS = ("atlas-xs", "atlas-s")
CHAPTERS = ("monitor", "multiplicity")


@pytest.fixture(scope="module")
def typed(root, tmp_path_factory):
    """Return a function that types commands of the page into a copy with its models."""
    top = copy(tmp_path_factory.mktemp("page"))
    lines = small_project.page_commands(root / "book" / "sweeps.md")

    def type_in(command, **variables):
        assert command in lines
        return small_project.run_make_line(top, command, **variables)

    return type_in


def copy(folder):
    """Return a copy of the project with stand-ins for the page's models and chapters."""
    top = small_project.copy_small_project(folder / "the project", chapters=CHAPTERS)
    for model in MODELS:
        tiny_models.save_tiny_model(top / "helpers" / "models" / "weights" / model)
    return top


GRID = 'MODELS="atlas-xs atlas-s" CHAPTERS="monitor multiplicity"'
SHOWN = f"make sweep {GRID}"


def test_the_commands_of_the_page_work(typed):
    dry = typed(f"{SHOWN} DRY=1").stdout.splitlines()
    runs = [f"{model}/{chapter}" for model in MODELS for chapter in CHAPTERS]
    assert dry == [f"to do  {run}" for run in runs]
    made = typed(SHOWN)
    assert made.returncode == 0
    assert made.stdout.splitlines()[-1] == "4 done (4 of them now), 0 failed, 0 left"
    assert typed(f"{SHOWN} DRY=1").stdout.splitlines() == [
        f"done   {run}" for run in runs
    ]


@pytest.mark.parametrize("target", ["make test-cluster", "make faults"])
def test_the_targets_of_the_page_find_their_tests(root, target):
    assert target in small_project.page_commands(root / "book" / "sweeps.md")
    told = small_project.run_make_line(root, f"{target} ARGS='--collect-only -q'")
    assert told.returncode == 0
    assert "::test_" in told.stdout


@pytest.mark.skipif(
    bool(slurm_node.missing_program_reason()),
    reason=slurm_node.missing_program_reason() or "SLURM is here",
)
def test_the_command_for_slurm_works(root, tmp_path):
    command = f"{SHOWN} PROFILE=slurm"
    assert command in small_project.page_commands(root / "book" / "sweeps.md")
    with slurm_node.running_slurm_node(tmp_path / "node") as environment:
        needed = {name: environment[name] for name in ("SLURM_CONF", "PATH")}
        done = small_project.run_make_line(copy(tmp_path), command, **needed)
        assert done.returncode == 0
        assert (
            done.stdout.splitlines()[-1] == "4 done (4 of them now), 0 failed, 0 left"
        )
        assert slurm_node.job_states(environment) == ["COMPLETED"] * 4
