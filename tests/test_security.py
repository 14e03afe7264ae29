"""No word of a model, of a data set or of a name is ever taken for markup, in any chapter.

A tiny model that says little but hostile strings answers hostile questions in every
chapter that takes a reader's own model and data; the pages are rendered and opened in a
real browser.
"""

import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from helpers import runs
from tests import hostile_inputs
from tests.browser_scripts import script_source
from tests.chapters import finished_runs, notebook_execution
from tests.program_calls import run_program

pytestmark = pytest.mark.slow

NOTHING = {"ran": False, "elements": 0, "formulas": 0, "scripts": 0}
FEW = ["n_bootstrap=20"]


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory) -> Path:
    top = tmp_path_factory.mktemp("hostile")
    model, facts = (
        str(hostile_inputs.write_hostile_model(top)),
        hostile_inputs.write_hostile_facts(top),
    )
    words = {
        "monitor": [
            f"dataset={facts}",
            "n_facts=20",
            "n_frames=3",
            "n_grid=2",
            "n_focus=9",
        ],
        "latent_knowledge": [
            f"dataset={facts}",
            "n_facts=3",
            "n_examples=4",
            "n_choices=6",
        ],
        "knowledge_base": [
            "dataset=seen_qa",
            f"sources={hostile_inputs.write_hostile_questions(top)}",
            "n_seen=6",
        ],
        "multiplicity": [
            f"dataset={hostile_inputs.write_hostile_choices(top)}",
            "n_items=6",
            "n_variations=3",
        ],
        "atlas": [
            "n_facts=3",
            "copying_steps=100",
            "toy_relations=P17,P36,P246",
            "toy_facts=50",
        ],
    }
    words["monitor"] += ["match=starts_with"]
    words["latent_knowledge"] += ["n_close=2", "n_seeds=1", "siblings=no"]
    words["knowledge_base"] += [
        "n_unseen=1",
        "n_choices=2",
        "max_new_tokens=1",
        "n_truth=1",
    ]
    here = [item for item in request.session.items if item.path == Path(__file__)]
    wanted = {
        item.callspec.params["chapter"] for item in here if hasattr(item, "callspec")
    }
    for chapter, few in words.items():
        if chapter in wanted:
            with notebook_execution.execute_in_process():
                finished_runs.run(chapter, model, [*few, *FEW], top / "runs")
    return next((top / "runs").glob("*/*/run.json")).parents[1]


@pytest.fixture(scope="module")
def pages(root, folder, tmp_path_factory) -> Path:
    top = tmp_path_factory.mktemp("book")
    ignored = shutil.ignore_patterns("_build", "chapters", "_extra")
    shutil.copytree(root / "book", top / "book", ignore=ignored)
    (top / "book" / "_extra").symlink_to(root / "book" / "_extra")
    for name in ("_config.yml", "CITATION.cff"):
        shutil.copy(root / name, top)
    names = sorted(
        path.name for path in folder.iterdir() if (path / "notebook.ipynb").is_file()
    )
    for name in names:
        target = top / "book" / "chapters" / f"{name}.ipynb"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(folder / name / "notebook.ipynb", target)
    contents = {"format": "jb-book", "root": "index"}
    contents["chapters"] = [{"file": f"chapters/{name}"} for name in names]
    (top / "book" / "_toc.yml").write_text(yaml.safe_dump(contents))
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [
        tool,
        "build",
        "book",
        "--config",
        "_config.yml",
        "--path-output",
        "book",
    ]
    run_program(*command, cwd=top)
    return top / "book" / "_build" / "html" / "chapters"


CHAPTERS = ("atlas", "knowledge_base", "latent_knowledge", "monitor", "multiplicity")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_browser_takes_no_word_for_markup(browser, pages, chapter):
    page = browser.new_page()
    said = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on(
        "request",
        lambda request: said.append(request.url) if _strange(request.url) else None,
    )
    page.goto((pages / f"{chapter}.html").as_uri(), wait_until="load")
    page.evaluate("window.MathJax?.startup?.promise")
    assert page.evaluate(script_source("done")) == NOTHING
    assert page.locator(
        "mjx-container"
    ).count()  # formulas are set, but for those of the outputs
    assert not said
    page.close()


def _strange(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:")) or url.rstrip("/").endswith(
        "/x"
    )


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if name != "atlas"])
def test_the_words_were_there_to_be_taken(pages, folder, chapter):
    text = (pages / f"{chapter}.html").read_text(encoding="utf-8")
    assert len(re.findall(r"&lt;(?:script|img|svg)|\\u003c|\\x3c", text)) > 3
    answers = runs.load_answers(folder / chapter)
    whole = answers.to_json()
    assert "hit=1" in whole
    name = nbformat.read(folder / chapter / "notebook.ipynb", as_version=4)
    assert hostile_inputs.HOSTILE_FOLDER_NAME in str(name.metadata.papermill.parameters)


def test_the_check_can_fail(browser, tmp_path):
    (tmp_path / "bad.html").write_text(
        f"<p>{hostile_inputs.HOSTILE_STRINGS[1]}</p><p>{hostile_inputs.HOSTILE_STRINGS[0]}</p>"
    )
    page = browser.new_page()
    page.goto((tmp_path / "bad.html").as_uri(), wait_until="load")
    page.wait_for_function("window.hit === 1")
    assert page.evaluate(script_source("done")) == {
        "ran": True,
        "elements": 1,
        "formulas": 0,
        "scripts": 1,
    }
    page.close()
