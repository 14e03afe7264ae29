"""Tests of the project as a whole: dependencies, notebooks, layout, promises of its pages."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import nbformat
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.program_calls import run_python

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "notebooks").glob("*.ipynb"))
TOOLS = {  # needed, though nothing of ours imports them
    "ipykernel": "runs the notebooks",
    "jupyter-book": "renders the book",
    "pytest-xdist": "runs the tests side by side",
    "snakemake": "makes the runs",
    "snakemake-executor-plugin-slurm": "sends a sweep to SLURM",
    "sphinx-exercise": "an extension of the book, named in _config.yml",
    "tabulate": "pandas' DataFrame.to_markdown wants it",
    "mypy": "make lint",
    "ruff": "make lint",
    "types-PyYAML": "mypy reads them",
    "types-requests": "mypy reads them",
    "types-tabulate": "mypy reads them",
    "types-tqdm": "mypy reads them",
    "check-jsonschema": "the tests of the workflows call it",
}


# Imported by the library only where they are at hand, or for what a script does not do.
AT_HAND = {"IPython": "a notebook", "inseq": "attribution"}
AT_HAND |= {"gguf": "a GGUF file", "sentence_transformers": "another retriever"}


HEAD_OF_CONSTRAINTS = """\
# Every package of the book's environment, with its version: `make install` holds to it.
# Versions are the same for Python 3.11 to 3.13. What PyTorch needs for an NVIDIA GPU is left out.
# Made anew from what is installed: python -m tests.test_project > constraints.txt
"""
FOR_GPUS = re.compile(r"nvidia-|cuda-|triton$")


def requirements(file: str = "requirements.txt") -> dict[str, str]:
    """Return the requirements of a file: name to pinned version."""
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    pairs = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if line]
    assert all(pairs), "every requirement is pinned with =="
    return {pair[1]: pair[2] for pair in pairs}


def installed_for(tops: Iterable[str]) -> dict[str, str]:
    """Return the installed versions of packages, and of what these need in turn."""
    versions = {}
    seen = set()
    waiting = [Requirement(top) for top in tops]
    while waiting:
        wanted = waiting.pop()
        known = (canonicalize_name(wanted.name), *sorted(wanted.extras))
        if known in seen or FOR_GPUS.match(known[0]):
            continue
        seen.add(known)
        package = distribution(wanted.name)
        versions[package.metadata["Name"]] = package.version.partition("+")[0]
        for needed in map(Requirement, package.requires or []):
            extras = ("", *wanted.extras)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(needed)
    return versions


def constraints_of(versions: dict[str, str]) -> str:
    """Return the text of constraints.txt."""
    names = sorted(versions, key=str.lower)
    lines = [f"{name}=={versions[name]}\n" for name in names]
    return HEAD_OF_CONSTRAINTS + "".join(lines)


def declared() -> dict[str, list[Requirement]]:
    """Return what pyproject.toml declares: the library under "", and the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    parts = {"": project["dependencies"], **project["optional-dependencies"]}
    named = {part: map(Requirement, lines) for part, lines in parts.items()}
    return {
        part: [r for r in found if r.name != project["name"]]
        for part, found in named.items()
    }


def imported() -> set[str]:
    """Return the top-level modules that our code, tests and notebooks import."""
    files = [
        path
        for top in ("helpers", "notebooks", "book", "tests", "bench")
        for path in ROOT.glob(f"{top}/**/*.py")
    ]
    sources = [path.read_text(encoding="utf-8") for path in files]
    for path in TEMPLATES:
        cells = nbformat.read(path, as_version=4).cells
        sources += [cell.source for cell in cells if cell.cell_type == "code"]
    return imported_by(sources)


def imported_by(sources: Iterable[str]) -> set[str]:
    """Return the top-level modules that sources import, at their top or inside."""
    found = set()
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found


def test_installed_packages_fit_together():
    run_python("-m", "pip", "check")


def test_requirements_are_installed_as_pinned():
    differing = {
        name: version(name)
        for name, pin in requirements().items()
        if version(name).partition("+")[0] != pin
    }
    assert not differing
    assert requirements()["torch"] == "2.13.0"
    assert requirements()["jupyter-book"] == "1.0.4.post1"


def test_whatever_is_needed_is_installed_as_constrained():
    """The same packages and versions, transitive ones too; the pins are among them."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert text == constraints_of(installed_for(requirements()))
    constrained = requirements("constraints.txt")
    held = {canonicalize_name(name): pin for name, pin in constrained.items()}
    pins = {canonicalize_name(name): pin for name, pin in requirements().items()}
    assert pins.items() <= held.items()
    assert len(held) > 3 * len(pins)


def test_make_install_holds_to_the_constraints():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^install:.*\n((?:\t.*\n)+)", makefile, flags=re.MULTILINE)
    assert "-r requirements.txt -c constraints.txt" in recipe
    assert "cat requirements.txt constraints.txt | cksum" in recipe


def test_requirements_are_needed():
    owners = packages_distributions()
    used = {owner.lower() for module in imported() for owner in owners.get(module, [])}
    idle = {
        name
        for name in requirements()
        if name.lower() not in used and name not in TOOLS
    }
    assert not idle, f"no longer imported: {idle}"
    assert set(TOOLS) <= set(requirements())


def test_each_pin_lies_in_one_declared_range():
    pins = requirements()
    ranges = [each for part in declared().values() for each in part]
    assert sorted(each.name for each in ranges) == sorted(pins)
    assert not [str(each) for each in ranges if pins[each.name] not in each.specifier]
    library = declared()[""]
    assert all(each.specifier for each in library)
    assert not [
        str(each) for each in library if any(s.operator == "==" for s in each.specifier)
    ]


def test_the_library_declares_what_it_imports_and_nothing_else():
    files = [*ROOT.glob("helpers/**/*.py"), *ROOT.glob("notebooks/kit/**/*.py")]
    modules = imported_by(path.read_text(encoding="utf-8") for path in files)
    modules -= {*sys.stdlib_module_names, "helpers", "notebooks", *AT_HAND}
    owners = packages_distributions()
    used = {canonicalize_name(owners[module][0]) for module in modules}
    names = {canonicalize_name(each.name) for each in declared()[""]}
    assert used <= names
    assert names - used == {"tabulate"}, "which pandas wants"


def test_import_helpers_is_cheap():
    code = "import helpers, helpers.runs, sys; sys.exit('torch' in sys.modules)"
    run_python("-c", code, cwd=ROOT)


def test_the_repository_is_named_in_one_place():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    address = config["repository"]["url"]
    pages = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("book/*.md")}
    for path in (
        TEMPLATES
    ):  # the cell that installs holds it: tests/chapters/test_every_chapter.py
        cells = nbformat.read(path, as_version=4).cells
        pages[path] = "".join(cell.source for cell in cells if cell.id != "install")
    found = re.compile(
        re.escape(address) if address else r"github\.com/what-language-models-know"
    )
    assert not [path.name for path, text in pages.items() if found.search(text)]


def test_every_link_of_the_repository_leads_to_a_file(root):
    """But for the links that a stranger's archive would bring, which tests refuse."""
    command = ["git", "-C", str(root), "ls-files", "--stage"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    links = [
        line.partition("\t")[2]
        for line in listed.splitlines()
        if line.startswith("120000")
    ]
    broken = [name for name in links if not (root / name).exists()]
    assert [name for name in broken if not name.startswith("tests/strangers/")] == []


if __name__ == "__main__":
    print(constraints_of(installed_for(requirements())), end="")
