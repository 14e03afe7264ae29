"""Whole books of models that answer in every way that real ones do: all chapters, rendered.

Minutes each, so ``make test`` leaves them out and ``make test-all`` runs them.
"""

import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from helpers import datasets, runs
from notebooks.kit import findings
from tests import extreme_models, page_text, small_project
from tests.chapters import finished_runs

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow
# What every book is made with, so that a chapter takes seconds.
SMALL = (
    "n_facts=2 relations=P17,P36 n_bootstrap=30 n_panel=0 attribution=no siblings=no n_seeds=2 "
    "n_close=2 n_focus=2 n_examples=10 n_choices=10 n_items=6 n_variations=3 n_seen=1 "
    "n_unseen=1 n_truth=1 max_new_tokens=12 prompt_settings=zero-shot,four-shot toy_facts=5 "
    "toy_relations=P17 copying_steps=50"
)
CHAPTERS = (
    *("atlas", "monitor", "knowledge_base", "latent_knowledge", "multiplicity"),
    *("calibration", "published", "comparison", "real_models"),
)
ABSENT = "Not in this book"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project as a fresh clone has it, but for the pages of the reference.

    They take a quarter of the rendering, and are the same in every book.
    """
    top = tmp_path_factory.mktemp("book") / "project"
    hidden = shutil.ignore_patterns("__pycache__", "_build", "chapters")
    for name in ("helpers", "book", "notebooks", "results"):
        shutil.copytree(ROOT / name, top / name, ignore=hidden)
    for name in (
        "_config.yml",
        ".importlinter",
        "CITATION.cff",
        "Makefile",
        "requirements.txt",
        "constraints.txt",
    ):
        shutil.copy(ROOT / name, top)
    toc = top / "book" / "_toc.yml"
    toc.write_text(re.sub(r" +sections:\n( +- file: api/.*\n)+", "", toc.read_text()))
    page = top / "book" / "api.md"
    page.write_text(page.read_text().replace("{doc}`api/", "`api/"))
    return top


@pytest.fixture(scope="module")
def make(project):
    """Return a function that makes a book as a user does and returns what was printed."""

    def book(model, settings=SMALL, chapters=(), status=0, others=""):
        started = time.time()
        words = settings.split()  # a word that no chapter takes is refused
        kept = {
            word
            for name in chapters or CHAPTERS
            for word in finished_runs.fitting(name, words)
        }
        settings = " ".join(word for word in words if word in kept)
        line = f'make book MODEL="{model}" MODELS="{others or model}" SET="{settings}"'
        line += f' CHAPTERS="{" ".join(chapters)}"' if chapters else ""
        done = small_project.run_make_line(project, line)
        print(f"{time.time() - started:.0f} s: {line}")
        assert (done.returncode != 0) == (status != 0), done.stderr[-3000:]
        assert "Traceback" not in done.stderr
        check_slides(project)
        return done.stderr

    return book


def check_slides(project: Path) -> None:
    """Each chapter in the book has its slides, with the findings of this very run."""
    decks = {
        deck.stem: deck for deck in (project / "book/_build/html/slides").glob("*.html")
    }
    shown = {chapter for chapter in CHAPTERS if chapter not in absent(project)}
    assert decks.keys() - {"lecture"} == shown  # which takes slides of several chapters
    for chapter in shown:
        deck = decks[chapter]
        found = {
            one.claim: one
            for one in findings.load_findings(project / "book/chapters" / chapter)
        }
        text = deck.read_text(encoding="utf-8")
        for claim, words in re.findall(r'data-claim="([^"]+)">(.*?)</p>', text):
            sentence = page_text.plain(found[claim].sentence)
            assert page_text.plain(words) == sentence


def page(project: Path, chapter: str) -> str:
    """Return what a reader sees of a chapter's page."""
    text = (project / "book/_build/html/chapters" / f"{chapter}.html").read_text(
        encoding="utf-8"
    )
    return page_text.words_of(text)


def absent(project: Path) -> set[str]:
    """Return the chapters that have a page in their place."""
    return {chapter for chapter in CHAPTERS if ABSENT in page(project, chapter)}


MEASURES = {"monitor", "knowledge_base", "latent_knowledge", "multiplicity"}


@pytest.mark.parametrize("name", [*extreme_models.MODEL_MAKERS, "bundled"])
def test_a_model_gets_its_book_whatever_it_answers(
    name, project, make, tmp_path_factory
):
    if name == "bundled":
        model = Path("helpers/models/weights/atlas-xs")
    else:
        model = extreme_models.MODEL_MAKERS[name](
            tmp_path_factory.mktemp("models") / name
        )
    settings = f"{SMALL} prompt_format=chat" if name == "tuned" else SMALL
    make(model, settings)
    assert absent(project) == set()
    found = {}
    for manifest in (project / "runs").glob("*/*/run.json"):
        told, folder = json.loads(manifest.read_text()), manifest.parent
        if (
            told.get("model", {}).get("name") == str(model)
            and told["chapter"] in MEASURES
        ):
            words = finished_runs.fitting(told["chapter"], settings.split())
            finished_runs.check_finished_run(folder, words)
            rows = runs.load_metrics(folder).query("level == 'run'")
            found |= rows.groupby("measure")["estimate"].first().to_dict()
    assert {"MONITOR", "NCR", "right", "accuracy"} <= found.keys()
    if name in ("endless", "sequence_to_sequence"):  # they say nothing that is right
        assert np.isnan([found[each] for each in ("MONITOR", "Cons_c", "Cons_w")]).all()
        assert [found[each] for each in ("UR", "CR", "WR", "NCCR", "average")] == [
            1,
            0,
            0,
            0,
            0,
        ]


def test_a_measure_that_is_undefined_says_so(project, make, tmp_path):
    model = extreme_models.save_endless_model(tmp_path / "endless")
    make(model, chapters=["monitor"])
    assert "MONITOR is undefined for this model" in page(project, "monitor")
    assert absent(project) >= {"knowledge_base", "latent_knowledge", "multiplicity"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_book_of_one_chapter(chapter, project, make, tmp_path):
    model = extreme_models.save_random_model(tmp_path / chapter)
    make(model, chapters=[chapter])
    assert chapter not in absent(project)
    assert absent(project) >= MEASURES - {chapter}


def test_a_chapter_that_fails_leaves_the_others(project, make, tmp_path):
    model = extreme_models.save_random_model(tmp_path / "short")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": 60})
    )
    long = SMALL.replace("n_examples=10", "n_examples=50")  # a list that it cannot hold
    told = make(model, long, ["monitor", "latent_knowledge"], status=2)
    assert re.search(
        r"^error: 1 of 2 runs failed, .*latent_knowledge", told, re.MULTILINE
    )
    assert "latent_knowledge" in absent(project)
    assert "monitor" not in absent(project)


def own_facts(folder: Path) -> Path:
    """Write sixty facts as the page on data says, with two questions a relation."""
    folder.mkdir()
    asked = {
        "P17": ["Which country is [X] in?", "In what country is [X]?"],
        "P36": ["What is the capital of [X]?", "Which city is the capital of [X]?"],
    }
    facts = datasets.load("atlas", relations=list(asked), n=30)
    for relation, questions in asked.items():
        rows = facts[facts["relation"] == relation]
        lines = [{"relations": questions}] + [
            {
                "subject": row.subject,
                "object": row.object,
                "taxonomy": list(row.distractors),
            }
            for row in rows.itertuples()
        ]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (folder / f"{relation}.json").write_text(text + "\n", encoding="utf-8")
    return folder


def test_own_facts(project, make, tmp_path):
    own = own_facts(tmp_path / "own")
    make("helpers/models/weights/atlas-xs", f"{SMALL} dataset={own}")
    assert absent(project) == {"calibration"}  # these facts have no counts of exposure


def test_the_facts_of_a_study(project, make, shared):
    few = SMALL.replace("P17,P36", "P17,P37")
    told = make(
        "helpers/models/weights/atlas-xs",
        f"{few} dataset={shared / 'data' / 'fktc' / 'FKTC'}",
    )
    assert all(
        "calibration" in line for line in told.splitlines() if "left out" in line
    )
    assert absent(project) == {"calibration"}


def test_what_a_chapter_cannot_do_with_a_data_set_is_said_first(project, make, shared):
    laureates = shared / "data" / "nobel" / "nobel.csv"
    few = SMALL.replace("relations=P17,P36 ", "")
    told = make("helpers/models/weights/atlas-xs", f"{few} dataset={laureates}")
    lines = told.splitlines()
    left = [line for line in lines if line.startswith("The chapter ")]
    assert len(left) == 4
    assert lines.index(left[-1]) < next(
        n for n, line in enumerate(lines) if "cell " in line
    )
    assert absent(project) == {
        "monitor",
        "knowledge_base",
        "multiplicity",
        "calibration",
    }


def test_two_facts_a_relation_and_one(make, project):
    few = re.sub(r"relations=\S+ ", "", SMALL)
    make("helpers/models/weights/atlas-xs", few, others="atlas-s atlas-m-chat")
    assert absent(project) == set()
    one = few.replace("n_facts=2", "n_facts=1").replace("n_items=6", "n_items=1")
    chapters = ["monitor", "latent_knowledge", "multiplicity"]
    make("helpers/models/weights/atlas-xs", one, chapters)
    assert not absent(project) & set(chapters)
