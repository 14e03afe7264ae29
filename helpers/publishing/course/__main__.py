"""Make the course: ``python -m helpers.publishing.course`` writes and checks ``build/course``."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from helpers import UserError
from helpers.publishing import publish
from helpers.publishing.course import checks, exercises, sheets
from helpers.runs import ROOT

TEMPLATES = ROOT / "notebooks"
FOLDER = Path("build") / "course"


def make(folder: Path, templates: Path = TEMPLATES) -> str:
    """Check all exercises, write both sets, and return a sentence that says what was done."""
    began = time.perf_counter()
    chapters = {}
    for name in publish.chapters():
        path = templates / f"{name}.ipynb"
        chapters[path] = exercises.read(path)
        checks.check(chapters[path], name)
    found = [exercise for several in chapters.values() for exercise in several]
    checks.check_labels(found)
    sheets.write(chapters, folder)
    code = sum(exercise.kind == "code" for exercise in found)
    return (
        f"{folder}: {len(found)} exercises of {len(chapters)} chapters; {code} stubs fail and "
        f"{code} solutions pass ({time.perf_counter() - began:.1f} s)."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; a mistake ends in one sentence on stderr and status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers.publishing.course", description=__doc__
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    parser.add_argument("--templates", type=Path, default=TEMPLATES, help="folder of chapters")
    args = parser.parse_args(arguments)
    try:
        print(make(args.folder, args.templates))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
