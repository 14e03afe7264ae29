"""The first code cell of every chapter: it installs the package where that is not at hand.

A chapter opened in a clone finds ``helpers`` beside it; one opened alone, as on Colab, fetches it
from the repository that ``_config.yml`` names. ``python -m helpers opening`` writes the cell into
every template that has none or an old one.
"""

import json
from pathlib import Path
from typing import Any

import yaml

from helpers.runs import ROOT

ID = "install"
TAGS = [ID, "remove-cell"]  # the page needs no installing
SOURCE = """\
import importlib.util
import subprocess
import sys

sys.path.append("..")  # in a clone, the package lies beside the notebooks
if importlib.util.find_spec("helpers") is None:  # elsewhere, as on Colab: fetch it
    package = "what-language-models-know[book] @ git+{address}"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", package], check=True)
    importlib.invalidate_caches()"""


def address(config: Path = ROOT / "_config.yml") -> str:
    """Return where the repository is, as the book's settings say."""
    return yaml.safe_load(config.read_text(encoding="utf-8"))["repository"]["url"]


def cell(config: Path = ROOT / "_config.yml") -> dict[str, Any]:
    """Return the cell, with the address that the book's settings name."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": ID,
        "metadata": {"tags": TAGS},
        "outputs": [],
        "source": SOURCE.format(address=address(config)).splitlines(keepends=True),
    }


def put(template: Path, first: dict[str, Any]) -> bool:
    """Put the cell behind a template's title, in place of an older one.

    The rest of the file stays as it is written, which `nbformat.write` would not grant.
    """
    notebook = json.loads(template.read_text(encoding="utf-8"))
    title, *rest = (each for each in notebook["cells"] if each["id"] != ID)
    cells = [title, first, *rest]
    if cells == notebook["cells"]:
        return False
    notebook["cells"] = cells
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    template.write_text(text, encoding="utf-8")
    return True


def write() -> list[str]:
    """Put the cell into every template; return the names of those that changed."""
    first = cell()
    return [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if put(path, first)]
