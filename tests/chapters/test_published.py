"""The chapter that audits the papers' tables, run as a reader would run it."""

import pandas as pd
import pytest

from book.tools import chapters, settings
from helpers import UserError, findings, published, runs
from helpers.published import checks, claims
from tests.chapters import notebooks

SMALL = ["n_bootstrap=50", "n_planted=1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a run with few resamples and planted digits."""
    return chapters.run("published", "", SMALL, tmp_path_factory.mktemp("runs"))


def test_the_run_is_whole(folder):
    notebooks.check(folder, SMALL, n_figures=5)
    assert notebooks.said(folder, "stderr") == ""


def test_it_is_a_synthesis_and_asks_no_model(root, folder):
    declared = settings.declared(root / "notebooks" / "published.ipynb")
    assert set(declared) == {"seed", "n_bootstrap", "n_planted", "run_dir"}
    assert folder.parts[-2:] == ("synthesis", "published")


def test_the_saved_cells_are_those_of_the_checks(folder, metrics):
    again = checks.cells(checks.every())
    pd.testing.assert_frame_equal(metrics, again, check_dtype=False)
    manifest = runs.manifest(folder)
    assert manifest["n_cells"] == len(again)
    assert manifest["n_differing"] == (~again["agrees"]).sum()


def test_every_published_table_is_listed(folder):
    listed = pd.read_csv(folder / "tables" / "files.csv")
    assert listed["table"].tolist() == published.names()
    assert listed["numbers"].sum() > 2000


def test_the_prose_states_what_was_computed(folder):
    assert "sum divided by 21: 0.7007" in notebooks.printed(folder, "by-hand")
    assert "11.70" in notebooks.printed(folder, "by-hand")
    assert "the same 2 of 78 cells" in notebooks.printed(folder, "scratch")
    cells = notebooks.executed(folder).values()
    said = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    all_checks = {one.name: one for one in checks.every()}
    assert "The three correlations that do not follow" in said
    assert len(all_checks["Table 2: correlations"].differing) == 3
    assert "0.627 and 0.617" in said
    means = all_checks["Table 8: mean over all 49 models"].cells.iloc[0]
    assert (round(means["recomputed"], 3), round(means["published"], 3)) == (0.627, 0.617)
    assert "For 11 of the 12 models" in said
    assert len(all_checks["Table 1: repeats Table 7"].differing) == 11
    assert "four of eight gain" in said
    assert "up in 4 of 8. NCCR" in claims.read("knowledge bases", "tuned_on_seen", "").says


def test_every_sentence_is_shown_with_its_verdict(folder):
    audited = claims.audit()
    shown = pd.read_csv(folder / "tables" / "all_sentences.csv", dtype=str)
    assert shown["what the paper says"].tolist() == audited["quotation"].tolist()
    assert shown["verdict"].tolist() == audited["verdict"].tolist()
    names = [path.stem for path in (folder / "tables").glob("sentences_*.csv")]
    parts = [pd.read_csv(folder / "tables" / f"{name}.csv") for name in names]
    open_ones = audited["verdict"].isin(["partly", "contradicted"])
    assert sum(map(len, parts)) == open_ones.sum()
    assert len(names) == audited["paper"].nunique()


def test_the_opening_tells_what_matters_most_and_then_counts_sentences(folder):
    first, second, third, fourth = findings.load(folder)[:4]
    assert (first.claim, second.claim) == ("divisor_21", "subsumption_turned")
    assert (third.claim, fourth.claim) == ("sentences_hold", "none_contradicted")
    assert third.n == (claims.audit()["verdict"] != "not decided").sum()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["n_bootstrap=0"], "n_bootstrap is 0: give 20 or more"),
        (["n_planted=-1"], "n_planted is -1: give 0 or more"),
    ],
)
def test_bad_values_are_refused_before_anything_runs(words, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        chapters.run("published", "", words, tmp_path)
    assert not list(tmp_path.iterdir())
