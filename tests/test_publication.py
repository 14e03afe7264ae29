"""Workflows, hooks and the papers of the house: valid, pinned, and no more rights than needed."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from tests.commands import call, python

ROOT = Path(__file__).resolve().parent.parent
CARE = ROOT / ".github"
WORKFLOWS = sorted((CARE / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
# workflow and job to what it may write; all else may read the repository and no more
MAY_WRITE = {
    ("publish", "deploy"): {"pages": "write", "id-token": "write"},
    ("release", "release"): {"contents": "write"},
}
TOP_LEVEL = {  # the user's names, and what tools look for at the top and nowhere else
    *("bench", "book", "helpers", "notebooks", "results", "tests", "requirements.txt"),
    "README.md",
    *("_config.yml", "Makefile", "LICENSE", "CITATION.cff", "pyproject.toml"),
}


def tracked() -> list[str]:
    """Return the paths that git keeps, or would keep."""
    words = ("ls-files", "--cached", "--others", "--exclude-standard")
    done = call("git", "-C", ROOT, *words, code=None)
    if done.returncode:
        pytest.skip("this copy of the project is no git repository")
    return done.stdout.splitlines()


def read(path: Path) -> dict:
    """Return a workflow; YAML takes its key ``on`` for a truth value."""
    return {str(key): value for key, value in yaml.safe_load(path.read_text()).items()}


def test_top_level_names_are_the_agreed_ones():
    names = {path.partition("/")[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_there_is_a_workflow_for_each_duty():
    assert [path.stem for path in WORKFLOWS] == ["publish", "release", "results", "test", "weekly"]


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("dependabot", [CARE / "dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
    ids=["workflows", "dependabot", "citation"],
)
def test_it_follows_its_schema(schema, files):
    python("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


def test_the_schema_can_refuse(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "runs-upon:"))
    words = ("--builtin-schema", "vendor.github-workflows", wrong)
    python("-m", "check_jsonschema", *words, code=1)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
class TestWorkflows:
    """What every workflow keeps to."""

    def test_its_actions_are_named_by_commit(self, path):
        lines = [line for line in path.read_text().splitlines() if "uses:" in line]
        assert not [line for line in lines if not PINNED.search(line)]

    def test_it_has_no_more_rights_than_it_needs(self, path):
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert job.get("permissions", {}) == MAY_WRITE.get((path.stem, name), {})
            for step in job["steps"]:
                if "checkout" in step.get("uses", ""):
                    assert step["with"]["persist-credentials"] is False

    def test_nothing_from_outside_is_pasted_into_a_command(self, path):
        assert "pull_request_target" not in path.read_text()
        for job in read(path)["jobs"].values():
            for step in job["steps"]:
                assert "${{" not in step.get("run", "")

    def test_every_job_ends(self, path):
        assert all(job["timeout-minutes"] <= 180 for job in read(path)["jobs"].values())

    def test_it_makes_what_the_makefile_has(self, path):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        asked = set(re.findall(r"run: make ([a-z-]+)", path.read_text()))
        assert asked <= targets
        tests = re.findall(r"\btests/\w+\.py", path.read_text())
        assert all((ROOT / test).is_file() for test in tests)


def test_workflows_and_hooks_use_one_version_of_each_tool():
    hooks = {hook["repo"]: hook["rev"] for hook in _hooks()["repos"]}
    assert hooks["https://github.com/astral-sh/ruff-pre-commit"] == f"v{version('ruff')}"
    schema = hooks["https://github.com/python-jsonschema/check-jsonschema"]
    assert schema == version("check-jsonschema")


def _hooks() -> dict:
    return yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())


def test_hooks_do_what_the_contributing_page_says():
    ids = {hook["id"] for repo in _hooks()["repos"] for hook in repo["hooks"]}
    assert {"ruff-check", "ruff-format", "nbstripout", "check-added-large-files"} <= ids
    assert "codespell" in ids


def test_no_tracked_file_is_larger_than_the_hook_lets_through():
    (large,) = [
        hook
        for repo in _hooks()["repos"]
        for hook in repo["hooks"]
        if hook["id"] == "check-added-large-files"
    ]
    limit = int(large["args"][0].removeprefix("--maxkb=")) * 1024
    may = re.compile(f"{large['exclude']}|{_hooks()['exclude']}")
    found = [path for path in tracked() if (ROOT / path).is_file() and not may.search(path)]
    assert not [path for path in found if (ROOT / path).stat().st_size > limit]


@pytest.mark.parametrize(
    "name", ["CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md"]
)
def test_links_of_the_house_papers_lead_somewhere(name):
    text = (CARE / name).read_text(encoding="utf-8")
    assert text.startswith("# ")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert not [
        link
        for link in links
        if not link.startswith("https:") and not (CARE / link).resolve().is_file()
    ]


def test_licences_are_named_where_people_look():
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for named in ("MIT", "CC BY 4.0", "book/data.md", "weights"):
        assert named in readme.partition("## Licence")[2]
    cards = sorted((ROOT / "helpers" / "models" / "weights").glob("*/README.md"))
    assert cards
    assert all("\nlicense: mit\n" in card.read_text(encoding="utf-8") for card in cards)
