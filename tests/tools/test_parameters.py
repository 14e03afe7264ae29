"""Tests of book.tools.parameters: declared ones, and what is refused at once."""

import json
import re
import shlex

import hypothesis
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from book.tools import __main__ as commands
from book.tools import jobs, make_targets, parameters, runner
from helpers import UserError
from helpers.settings import value_from_text
from notebooks.analysis import comparison

SOURCE = '''model = "atlas-s"  # bundled name, folder or "hub id"
relations: list[str] = []  # all
n_facts: int = 30
n_bootstrap = 1000
n_frames = 7
share = 0.5
alphas = [1 / 3, 1 / 3, 1 / 3]  # weights
mode = "teacher_forced"  # or "free_running"
attribution = True
run_dir = ""'''
NAMES = re.findall(r"^\w+", SOURCE, re.MULTILINE)


@pytest.fixture
def template(tmp_path):
    cell = new_code_cell(SOURCE, metadata={"tags": ["parameters"]})
    other = new_code_cell("later = 1")
    path = tmp_path / "monitor.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("before = 1"), cell, other]), path)
    return path


def test_declared_parameters_with_their_defaults(template):
    exec(SOURCE, expected := {})
    assert parameters.declared_parameters(template) == {n: expected[n] for n in NAMES}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("n_facts=5", 5),
        ("n_facts=0", 0),
        ("n_bootstrap=20", 20),
        ("n_frames=1", 1),
        ("share=1", 1.0),
        ("share=1e-3", 0.001),
        ("attribution=no", False),
        ("attribution=True", True),
        ("mode=free_running", "free_running"),
        ("mode=a=b", "a=b"),
        ("relations=P17", ["P17"]),
        ("relations=P17, P36", ["P17", "P36"]),
        ("relations=['P17', 'P36']", ["P17", "P36"]),
        ("relations=", []),
        ("alphas=1,0,0", [1.0, 0.0, 0.0]),
    ],
)
def test_values_take_the_type_of_the_default(template, word, value):
    name = word.partition("=")[0]
    read = parameters.settings_of_chapters([template], [word])
    assert read == {name: value}
    assert type(read[name]) is type(value)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("n_fact=5", "has no parameter 'n_fact': did you mean n_facts?"),
        ("zzz=5", f"the declared ones are {', '.join(NAMES[1:-1])}."),
        ("n_facts", "write name=value"),
        (
            "n_facts=many",
            "n_facts takes a whole number, as in n_facts=30, and 'many' is none",
        ),
        ("n_facts=3.5", "takes a whole number"),
        ("n_facts=-1", "The parameter n_facts is -1: give 0 or more"),
        ("n_bootstrap=19", "The parameter n_bootstrap is 19: give 20 or more"),
        ("n_frames=0", "The parameter n_frames is 0: give 1 or more"),
        ("share=half", "takes a number"),
        ("attribution=maybe", "takes yes or no"),
        ("alphas=1,b,0", "alphas takes a number"),
        ("model=other", "set with MODEL= or --model"),
        ("run_dir=elsewhere", "set with --runs"),
    ],
)
def test_what_is_refused(template, word, sentence):
    with pytest.raises(UserError) as caught:
        parameters.settings_of_chapters([template], [word])
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_chapter_names_the_known(template):
    with pytest.raises(UserError, match=r"no chapter 'moniter': choose from monitor\."):
        parameters.settings_of_chapters([template.with_name("moniter.ipynb")], [])


def test_a_word_is_read_by_the_first_chapter_that_takes_it(template):
    both = [template, jobs.TEMPLATES / "atlas.ipynb"]
    words = ["copying_steps=5", "n_facts=6", "n_facts=7"]
    settings = parameters.settings_of_chapters(both, words)
    assert settings == {"copying_steps": 5, "n_facts": 7}
    with pytest.raises(UserError, match="The chapter atlas has no parameter"):
        parameters.settings_of_chapters(both, ["copying_step=1"])


def test_a_parameter_is_of_one_type_in_all_chapters():
    """One word sets it in all of them."""
    types = {}
    for template in jobs.TEMPLATES.glob("*.ipynb"):
        for name, value in parameters.declared_parameters(template).items():
            assert types.setdefault(name, type(value)) is type(value), name
    assert {*parameters.least_values()} <= {*types}
    assert {*comparison.NEUTRAL_PARAMETERS} <= {*types, "chat", "device"}


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0@")) | st.text(
    "'\"\\\n{}$,[] "
)


@given(
    TEXTS,
    st.lists(TEXTS.filter(bool)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
)
@hypothesis.settings(
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_values_come_unchanged_from_the_command_line_into_the_chapter(
    template, text, texts, numbers
):
    given = [f"mode={text}", f"relations={json.dumps(texts)}", f"alphas={numbers}"]
    words = make_targets.variable_words("SET", {"SET": shlex.join(given)})
    settings = parameters.settings_of_chapters([template], words)
    job = jobs.Job("a/monitor", "monitor", "a", settings)
    line = shlex.join(runner.job_command(job, template.parent))  # as a cluster gets it
    values = commands.command_line_parser().parse_args(shlex.split(line)[3:]).settings
    made = parameterize_notebook(
        load_notebook_node(str(template)),
        values,
        kernel_name="python3",
        language="python",
    )
    found = {}
    exec(
        next(cell.source for cell in made.cells if "injected" in str(cell.metadata)),
        found,
    )
    assert (found["mode"], found["relations"], found["alphas"]) == (
        text,
        texts,
        numbers,
    )
    assert value_from_text("alphas", ",".join(map(repr, numbers)), [0.5]) == numbers
