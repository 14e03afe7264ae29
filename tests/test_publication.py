"""Workflows, hooks and the papers of the house: valid, pinned, and no more rights than needed."""

import re
from pathlib import Path

import pytest
import yaml

from tests.program_calls import run_program, run_python

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
    *("README.md", "constraints.txt"),
    *("_config.yml", "Makefile", "LICENSE", "CITATION.cff", "pyproject.toml"),
}


def tracked() -> list[str]:
    """Return the paths that git keeps, or would keep."""
    words = ("ls-files", "--cached", "--others", "--exclude-standard")
    done = run_program("git", "-C", ROOT, *words, code=None)
    if done.returncode:
        pytest.skip("this copy of the project is no git repository")
    return done.stdout.splitlines()


def test_top_level_names_are_the_agreed_ones():
    names = {path.partition("/")[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


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
    run_python("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_more_rights_than_it_needs_and_ends(path):
    text, makefile = path.read_text(), (ROOT / "Makefile").read_text()
    workflow = yaml.safe_load(text)
    assert "pull_request_target" not in text
    assert not [
        line
        for line in text.splitlines()
        if "uses:" in line and not PINNED.search(line)
    ]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 180
        assert job.get("permissions", {}) == MAY_WRITE.get((path.stem, name), {})
        for step in job["steps"]:
            assert "${{" not in step.get(
                "run", ""
            )  # nothing from outside is pasted in a command
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= targets
    assert all((ROOT / test).is_file() for test in re.findall(r"\btests/\w+\.py", text))


def test_no_tracked_file_is_larger_than_the_hook_lets_through():
    told = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = {hook["id"]: hook for repo in told["repos"] for hook in repo["hooks"]}
    large = hooks["check-added-large-files"]
    limit = int(large["args"][0].removeprefix("--maxkb=")) * 1024
    may = re.compile(f"{large['exclude']}|{told['exclude']}")
    found = [
        path for path in tracked() if (ROOT / path).is_file() and not may.search(path)
    ]
    assert not [path for path in found if (ROOT / path).stat().st_size > limit]


def test_links_of_the_house_papers_lead_somewhere():
    for paper in CARE.glob("*.md"):
        links = re.findall(r"\]\(([^)#]+)", paper.read_text(encoding="utf-8"))
        files = [CARE / link for link in links if not link.startswith("https:")]
        assert not [path for path in files if not path.resolve().is_file()], paper
