"""The pages that tell how to run the book: their commands are ones that work as written."""

import re
import shlex
from pathlib import Path

import pytest

from book.tools import __main__ as commands
from book.tools import jobs, publish, settings
from helpers import cli
from helpers.runs import measuring
from tests.commands import call

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "book" / f"{name}.md" for name in ("rerun", "logs", "archives")]
PAGE = "".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"```bash\n(.*?)```", PAGE, flags=re.DOTALL)
LINES = "".join(BLOCKS).replace("\\\n", " ").splitlines()
COMMANDS = [" ".join(line.split()) for line in LINES if line.strip()]
MAKE = [line for line in COMMANDS if line.startswith("make ")]
PYTHON = [line for line in COMMANDS if line.startswith(".venv/bin/python -m ")]


def test_the_page_has_commands_of_each_kind():
    assert len(MAKE) >= 6
    assert PYTHON
    known = [*MAKE, *PYTHON, "pip install .", "pip install '.[book]'"]  # tests/test_wheel.py
    assert [line for line in COMMANDS if line not in known and not line.startswith("export ")] == []


@pytest.mark.parametrize("command", MAKE)
def test_make_knows_target_and_variables(command):
    call("make", "-n", *shlex.split(command)[1:], cwd=ROOT)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in shlex.split(command)[2:]:
        name, _, value = word.partition("=")
        assert re.search(rf"^{name} \?=", makefile, flags=re.MULTILINE), name
        if name == "SET" and "book" in command:
            publish.check([], "atlas-s", shlex.split(value))


@pytest.mark.parametrize("command", PYTHON)
def test_the_commands_of_python_take_these_words(command):
    module, *words = shlex.split(command)[2:]
    args = {"helpers": cli, "book.tools": commands}[module].parser().parse_args(words)
    if args.command == "measure":
        allowed = set().union(*(measuring.declared(study) for study in args.studies))
        assert {word.partition("=")[0] for word in args.set} <= allowed
        return
    if args.command in ("card", "pack", "verify", "plan", "devices"):
        assert all(path.is_file() for path in map(ROOT.joinpath, getattr(args, "archives", [])))
        return
    for chapter in getattr(args, "chapters", None) or [args.chapter]:
        assert settings.read(jobs.TEMPLATES / f"{chapter}.ipynb", args.set)
