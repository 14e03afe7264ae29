"""What pages show works as printed: scripts, counts of exposure, commands that run the book."""

import json
import re
import shlex
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import requests
import tenacity

from book.tools import __main__ as commands
from book.tools import book_making, jobs, parameters
from helpers import cli, datasets
from helpers.datasets import multiple_choice
from helpers.runs import measuring
from tests import page_examples as examples
from tests.program_calls import run_program

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "python.md").read_text(encoding="utf-8")
BLOCKS = examples.example_blocks(PAGE)
NAMES = [code.strip().splitlines()[-1][:40] for code, _ in BLOCKS]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Run all examples in order in one folder; return it, what they print and their names."""
    folder = tmp_path_factory.mktemp("session")
    return folder, *examples.run_examples(BLOCKS, folder)


@pytest.mark.parametrize("place", range(len(BLOCKS)), ids=NAMES)
def test_the_example_prints_what_the_page_shows(printed, place):
    examples.compare_output(printed[1][place], BLOCKS[place][1])


def test_the_figure_is_the_one_shown(printed):
    folder, _, names = printed
    known = names["rows"].set_index("relation")["n"]
    assert f"({known['capital']} capitals, {known['country']} countries)" in PAGE
    if names["axes"].title.get_fontname() != "DejaVu Sans":
        pytest.skip("the letters of the page's figure are of another font")
    drawn = plt.imread(folder / "monitor.png")
    shown = plt.imread(ROOT / "book" / "_static" / "python_figure.png")
    assert drawn.shape == shown.shape
    assert np.abs(drawn - shown).mean() < 0.0005  # 0.001 if one dot moves by its width


EXPOSURE = (ROOT / "book" / "exposure.md").read_text(encoding="utf-8")
LOCAL, ONLINE, ATLAS = examples.example_blocks(EXPOSURE)


def test_counts_of_a_corpus_of_ones_own(tmp_path):
    found, names = examples.run_examples([LOCAL], tmp_path)
    examples.compare_output(found[0], LOCAL[1])
    folder = datasets.write_dataset(
        names["facts"], {"country": ["Where is [X]?"]}, tmp_path / "cities"
    )
    assert datasets.load(folder)["exposure"].tolist() == [2, 1, 0, 1]


@pytest.mark.slow
def test_the_agreement_with_the_exposures_of_the_atlas(tmp_path):
    found, names = examples.run_examples([LOCAL, ATLAS], tmp_path)
    examples.compare_output(found[1], ATLAS[1])
    stated = datasets.training_exposure("atlas-xs")["exposures"]
    assert (
        names["documents"].to_numpy() >= stated[names["facts"]["fact"]].to_numpy()
    ).all()


class Answer:
    """A stand-in for the service's answer."""

    def __init__(self, **said):
        self.said = said

    def json(self):
        return self.said


def test_the_query_is_what_the_service_documents(tmp_path, monkeypatch):
    answers = [
        Answer(count=7, approx=False),
        requests.ConnectionError("busy"),
        Answer(count=0, approx=False),
        Answer(count=0, approx=True),
        Answer(count=9, approx=True),
    ]
    asked = []

    def post(url, json, timeout):
        asked.append((url, json))
        said = answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    monkeypatch.setattr(requests, "post", post)
    monkeypatch.setattr(tenacity.nap.time, "sleep", lambda seconds: None)
    _, names = examples.run_examples([LOCAL, ONLINE], tmp_path)
    assert {url for url, _ in asked} == {"https://api.infini-gram.io/"}
    assert asked[0][1] == {
        "index": "v4_piletrain_llama",
        "query_type": "count",
        "query": "Lyon AND France",
    }
    facts = names["facts"]
    assert facts["exposure"].fillna(-1).tolist() == [7, 0, -1, 9]
    folder = datasets.write_dataset(
        facts, {"country": ["Where is [X]?"]}, tmp_path / "cities"
    )
    assert datasets.load(folder)["exposure"].isna().tolist() == [
        False,
        False,
        True,
        False,
    ]
    answers[:] = [Answer(error="no such index")] * 6
    with pytest.raises(ValueError, match="no such index"):
        names["count"]("Lyon", "France")


def test_the_line_with_a_count_is_read(tmp_path):
    line = re.search(r"```text\n(\{\"subject.*?)\n```", EXPOSURE).group(1)
    text = json.dumps({"relations": ["Who wrote [X]?"]}) + "\n" + line
    (tmp_path / "author.json").write_text(text, encoding="utf-8")
    assert datasets.load(tmp_path)["exposure"].tolist() == [812]
    assert multiple_choice.load_benchmark(str(tmp_path)).items["answer"].size == 1


RERUN = [ROOT / "book" / f"{name}.md" for name in ("rerun", "logs", "archives")]
TEXT = "".join(page.read_text(encoding="utf-8") for page in RERUN)
COMMAND_BLOCKS = re.findall(r"```bash\n(.*?)```", TEXT, flags=re.DOTALL)
LINES = "".join(COMMAND_BLOCKS).replace("\\\n", " ").splitlines()
COMMANDS = [" ".join(line.split()) for line in LINES if line.strip()]
MAKE = [line for line in COMMANDS if line.startswith("make ")]
PYTHON = [line for line in COMMANDS if line.startswith(".venv/bin/python -m ")]


def test_the_page_has_commands_of_each_kind():
    assert len(MAKE) >= 6
    assert PYTHON
    known = [
        *MAKE,
        *PYTHON,
        "pip install .",
        "pip install '.[book]'",
    ]  # tests/test_wheel.py
    assert [
        line
        for line in COMMANDS
        if line not in known and not line.startswith("export ")
    ] == []


@pytest.mark.parametrize("command", MAKE)
def test_make_knows_target_and_variables(command):
    run_program("make", "-n", *shlex.split(command)[1:], cwd=ROOT)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in shlex.split(command)[2:]:
        name, _, value = word.partition("=")
        assert re.search(rf"^{name} \?=", makefile, flags=re.MULTILINE), name
        if name == "SET" and "book" in command:
            book_making.settings_of_named_chapters([], shlex.split(value))


@pytest.mark.parametrize("command", PYTHON)
def test_the_commands_of_python_take_these_words(command):
    module, *words = shlex.split(command)[2:]
    parsers = {
        "helpers": cli.argument_parser,
        "book.tools": commands.command_line_parser,
    }
    args = parsers[module]().parse_args(words)
    if args.command == "measure":
        allowed = set().union(
            *(measuring.default_run_settings(study) for study in args.studies)
        )
        assert {word.partition("=")[0] for word in args.set} <= allowed
        return
    if args.command in ("card", "pack", "verify", "plan", "devices"):
        assert all(
            path.is_file() for path in map(ROOT.joinpath, getattr(args, "archives", []))
        )
        return
    for chapter in getattr(args, "chapters", None) or [args.chapter]:
        template = jobs.TEMPLATES / f"{chapter}.ipynb"
        assert parameters.settings_of_chapters([template], args.set)
