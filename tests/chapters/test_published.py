"""The chapter that audits the papers' tables, run as a reader would run it."""

import ast
import contextlib
import io
import re

import nbformat
import pandas as pd
import pytest

from helpers import chapters, published, runs, settings
from helpers.errors import UserError
from helpers.published import checks

SMALL = ["n_bootstrap=50", "n_planted=1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a run with few resamples and planted digits."""
    return chapters.run("published", "", SMALL, tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def cells(folder):
    """Return the cells of the executed notebook by id."""
    return {cell.id: cell for cell in nbformat.read(folder / "notebook.ipynb", 4).cells}


def test_it_is_a_synthesis_and_asks_no_model(root, folder):
    template = root / "notebooks" / "published.ipynb"
    assert set(settings.declared(template)) == {"seed", "n_bootstrap", "n_planted", "run_dir"}
    assert folder.parts[-2:] == ("synthesis", "published")
    assert not (folder / "answers.parquet").exists()
    source = "\n".join(c.source for c in nbformat.read(template, 4).cells if c.id == "setup")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    recorded = next(c for c in calls if getattr(c.func, "id", "") == "dict").keywords
    assert {word.arg for word in recorded} == set(settings.declared(template))


def test_the_saved_cells_are_those_of_the_checks(folder):
    again = checks.cells(checks.every())
    pd.testing.assert_frame_equal(runs.metrics(folder), again, check_dtype=False)
    manifest = runs.manifest(folder)
    assert manifest["n_cells"] == len(again)
    assert manifest["n_differing"] == (~again["agrees"]).sum()


def test_nothing_warns_and_figures_have_texts_for_those_who_do_not_see(cells):
    figures = [c for c in cells.values() if "figure" in c.metadata.get("mystnb", {})]
    assert len(figures) == 5
    for cell in figures:
        assert cell.metadata["mystnb"]["image"]["alt"]
        assert any("image/png" in o.get("data", {}) for o in cell.outputs)
    streams = [o for c in cells.values() for o in c.get("outputs", []) if o.get("name") == "stderr"]
    assert not streams, streams


def test_tables_are_exported_and_every_published_table_is_listed(folder):
    assert {path.suffix for path in (folder / "tables").iterdir()} == {".csv", ".md", ".tex"}
    listed = pd.read_csv(folder / "tables" / "files.csv")
    assert listed["table"].tolist() == published.names()
    assert listed["numbers"].sum() > 2000


def test_the_prose_states_what_was_computed(cells):
    def printed(name):
        return "".join(o.get("text", "") for o in cells[name].outputs)

    assert "sum divided by 21: 0.7007" in printed("by-hand")
    assert "11.70" in printed("by-hand")
    assert "the same 2 of 78 cells" in printed("scratch")
    said = "\n".join(c.source for c in cells.values() if c.cell_type == "markdown")
    all_checks = {one.name: one for one in checks.every()}
    table_2 = all_checks["Table 2: correlations"]
    assert "Eighteen of 21 correlations follow" in said
    assert table_2.cells["agrees"].sum() == 18
    assert "0.627 and 0.617" in said
    means = all_checks["Table 8: mean over all 49 models"].cells.iloc[0]
    assert (round(means["recomputed"], 3), round(means["published"], 3)) == (0.627, 0.617)
    assert "For 11 of the 12 models" in said
    assert len(all_checks["Table 1: repeats Table 7"].differing) == 11


def test_code_exercises_and_their_solutions_run(root):
    cells = nbformat.read(root / "notebooks" / "published.ipynb", 4).cells
    text = next(c.source for c in cells if c.id == "exercises")
    assert text.count("{exercise}") == text.count("{solution}") == 5
    assert text.count("to be argued") == 2
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    tests, solutions = blocks[::2], blocks[1::2]
    assert len(tests) == len(solutions) == 3
    for test, solution in zip(tests, solutions):
        names: dict = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(solution, names)
            exec(test, names)
        assert "assert" in test


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["model=atlas-s"], "is set with MODEL="),
        (["n_facts=3"], "n_facts"),
        (["n_planted=few"], "n_planted"),
        (["n_bootstrap=0"], "at least 1 resample"),
        (["n_planted=-1"], "0 or more wrong digits"),
    ],
)
def test_bad_values_end_in_a_sentence_that_names_them(words, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence) as caught:
        chapters.run("published", "", words, tmp_path)
    assert "Traceback" not in str(caught.value)
