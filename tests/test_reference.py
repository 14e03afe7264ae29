"""The reference covers the package: every public module but those that make the bundled models."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APART = {"atlas"}  # told in a chapter of its own


def test_every_module_is_in_the_reference():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    try:
        import api
    finally:
        sys.path.pop(0)
    listed = set()
    for page in (ROOT / "book" / "api").glob("*.md"):
        for names in re.findall(r"^```\{api\} (.+)$", page.read_text(), flags=re.MULTILINE):
            for name in names.split():
                listed |= {name, *api._modules(name)}
    helpers = ROOT / "helpers"
    here = {path.stem for path in helpers.glob("[!_]*.py")}
    here |= {path.parent.name for path in helpers.glob("*/__init__.py")}
    missing = [name for name in sorted(here - APART) if f"helpers.{name}" not in listed]
    assert not missing
    assert "helpers.metrics.monitor" in listed
    assert len(listed) > 60


def test_the_pages_of_the_reference_are_in_the_contents():
    toc = (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")
    for page in (ROOT / "book" / "api").glob("*.md"):
        assert f"file: api/{page.stem}" in toc
