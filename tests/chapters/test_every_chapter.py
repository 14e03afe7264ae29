"""What every chapter keeps to, read from its template: a new chapter is covered at once."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
import yaml

from book.tools import parameters
from tests import saved_runs, tiny_models
from tests.chapters import finished_runs

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "notebooks").glob("*.ipynb"))
SYNTHESES = (
    "calibration",
    "comparison",
    "published",
    "real_models",
)  # they ask no model
FIGURES = {path.stem: finished_runs.figure_cells(path) for path in TEMPLATES}

every_chapter = pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)


def notebook(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list:
    return [cell for cell in notebook(path).cells if cell.cell_type == "code"]


def calls(path: Path, name: str) -> list[ast.Call]:
    """Return the calls of a function in a template, such as "runs.start", in their order."""
    sources = (
        re.sub(r"^[%!]", "#", cell.source, flags=re.MULTILINE) for cell in code(path)
    )
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    return [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == name]


def test_there_are_chapters():
    toc = (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")
    assert [path.stem for path in TEMPLATES] == sorted(
        re.findall(r"chapters/(\S+)(?<!_appendix)\n", toc)
    )


def test_every_chapter_is_run_by_a_test_of_its_own():
    tested = {
        path.stem.removeprefix("test_").removesuffix("_chapter")
        for path in Path(__file__).parent.glob("test_*.py")
    }
    assert {path.stem for path in TEMPLATES} <= tested


@every_chapter
class TestTemplate:
    """How it is written."""

    def test_is_stripped(self, path):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None
            assert not {"execution", "papermill", "collapsed", "scrolled"} & set(
                cell["metadata"]
            )

    def test_has_cells_with_ids_of_their_own(self, path):
        found = notebook(path)
        ids = [cell.id for cell in found.cells]
        assert len(set(ids)) == len(ids)
        assert (found.nbformat, found.nbformat_minor) >= (4, 5)

    def test_opens_with_the_cell_that_installs(self, path):
        cells = notebook(path).cells
        assert cells[0].cell_type == "markdown"
        assert (cells[1].id, cells[1].metadata) == (
            "install",
            {"tags": ["install", "remove-cell"]},
        )
        assert "pip" not in cells[1].source, "a name that anybody could register"
        assert {notebook(other).cells[1].source for other in TEMPLATES} == {
            cells[1].source
        }


@every_chapter
class TestParameters:
    """What it can be told."""

    def test_one_cell_declares_them(self, path):
        tagged = [
            c
            for c in notebook(path).cells
            if "parameters" in c.metadata.get("tags", [])
        ]
        assert len(tagged) == 1
        declared = parameters.declared_parameters(path).keys()
        assert {"run_dir", "seed", "n_bootstrap"} <= declared
        assert ("model" in declared) != (path.stem in SYNTHESES)
        assert all("#" in line for line in tagged[0].source.splitlines() if "=" in line)

    def test_the_book_tells_of_them(self, path):
        page = (ROOT / "book" / "parameters.md").read_text(encoding="utf-8")
        missing = [
            name
            for name in parameters.declared_parameters(path)
            if f"`{name}`" not in page
        ]
        assert set(missing) <= {"model", "run_dir"}

    def test_every_one_is_recorded_under_its_name(self, path):
        cells = [cell for cell in notebook(path).cells if cell.cell_type == "code"]
        tagged = ["parameters" in cell.metadata.get("tags", []) for cell in cells]
        set_up = ast.parse(cells[tagged.index(True) + 1].source).body
        imported = ast.Import | ast.ImportFrom
        first = next(line for line in set_up if not isinstance(line, imported))
        assert ast.unparse(first) == "settings = runs.parameters(globals())"
        (start,) = calls(path, "runs.start")
        expected = [repr(path.stem), "settings", "run_dir"]
        assert [ast.unparse(word) for word in start.args] == expected


@every_chapter
class TestFindings:
    """It says what the run found."""

    def test_no_cell_with_a_figure_shows_one(self, path):
        sources = [cell.source for cell in FIGURES[path.stem].values()]
        assert not [s for s in sources if "found(" in s], (
            "it would become a figure of its own"
        )

    def test_it_opens_and_closes_with_them(self, path):
        cells = notebook(path).cells
        assert (
            len(calls(path, "found.opening")) == len(calls(path, "found.summary")) == 1
        )
        assert "## Appendix" in "\n".join(cell.source for cell in cells)
        assert any("answer" in cell.metadata.get("tags", []) for cell in cells)
        first = next(
            n for n, cell in enumerate(cells) if "found.opening()" in cell.source
        )
        assert not [
            c for c in cells[:first] if re.search("^##", c.source, flags=re.MULTILINE)
        ]


@every_chapter
class TestRun:
    """What it leaves behind."""

    def test_it_saves_once_as_its_kind_saves(self, path):
        (save,) = calls(path, "runs.save")
        assert ("answers" in {word.arg for word in save.keywords}) == (
            path.stem not in SYNTHESES
        )

    def test_its_tables_are_exported_under_names_of_their_own(self, path):
        (show,) = [
            call
            for call in calls(path, "partial")
            if ast.unparse(call.args[0]) == "result_tables.show_table"
        ]
        folder = {word.arg: ast.unparse(word.value) for word in show.keywords}["folder"]
        assert folder == "run.folder / 'tables'"
        names = [call.args[1] for call in calls(path, "show")]
        fixed = [name.value for name in names if isinstance(name, ast.Constant)]
        assert fixed
        assert Counter(fixed).most_common(1)[0][1] == 1
        assert not calls(path, "result_tables.show_table")


@every_chapter
class TestFigures:
    """What it shows."""

    def test_each_has_caption_name_and_a_text_for_those_who_do_not_see(self, path):
        assert len(FIGURES[path.stem]) >= 3
        for name, cell in FIGURES[path.stem].items():
            shown = cell.metadata["mystnb"]
            assert shown["figure"]["name"].startswith("fig-"), name
            assert len(shown["figure"]["caption"].strip()) > 40, name
            assert len(shown["image"]["alt"].strip()) > 40, name
        alts = [
            cell.metadata["mystnb"]["image"]["alt"]
            for cell in FIGURES[path.stem].values()
        ]
        assert len(set(alts)) == len(alts)


def test_every_figure_has_a_name_of_its_own():
    found = [cell for figures in FIGURES.values() for cell in figures.values()]
    names = Counter(cell.metadata["mystnb"]["figure"]["name"] for cell in found)
    assert names.most_common(1)[0][1] == 1


FEW = {
    "knowledge_base": ["n_seen=1", "n_unseen=1", "n_choices=3", "n_panel=0"],
    "multiplicity": ["n_items=4"],
    "monitor": ["n_facts=1"],
}


REFUSED = yaml.safe_load(
    Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("chapter", "word", "sentence"), REFUSED)
def test_a_bad_value_ends_in_a_sentence_that_names_it(
    chapter, word, sentence, tmp_path
):
    saved_runs.write_made_up_runs(tmp_path, "alone", 0.5, ("latent_knowledge",))
    words = [*FEW.get(chapter, []), word]
    assert sentence in finished_runs.refusal_sentence(
        chapter, "atlas-s", words, tmp_path
    )


@pytest.mark.parametrize(
    ("chapter", "words", "sentence", "most"),
    [
        (
            "latent_knowledge",
            "n_close=3 siblings=no",
            r"128: set n_examples=(\d+),",
            50,
        ),
        (
            "multiplicity",
            "n_shots=9 kinds=demonstrations",
            r"of 128 tokens; (\d+) do\.",
            9,
        ),
    ],
)
def test_more_examples_than_the_model_reads_say_how_many_fit(
    chapter, words, sentence, most, tmp_path
):
    model = tiny_models.save_tiny_model(tmp_path / "short")  # reads 128 tokens
    few = ["relations=P36", "n_panel=0", "n_bootstrap=20", *words.split()]
    few += [f"n_{'facts' if chapter == 'latent_knowledge' else 'items'}=2"]
    told = finished_runs.refusal_sentence(chapter, str(model), few, tmp_path / "runs")
    assert 0 < int(re.search(sentence, told)[1]) < most
