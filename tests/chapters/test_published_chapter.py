"""The chapter that audits the papers' tables, run as a reader would run it."""

import pandas as pd
import pytest

from book.tools import parameters
from helpers import runs
from notebooks.kit import published
from tests.chapters import finished_runs

SMALL = ["n_bootstrap=50"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run("published", "", SMALL, tmp_path_factory.mktemp("runs"))


def test_the_run_is_whole(folder):
    finished_runs.check_finished_run(folder, SMALL)
    assert finished_runs.stream_text(folder, "stderr") == ""


def test_it_is_a_synthesis_and_asks_no_model(root, folder):
    declared = parameters.declared_parameters(root / "notebooks" / "published.ipynb")
    assert set(declared) == {"seed", "n_bootstrap", "run_dir"}
    assert folder.parts[-2:] == ("synthesis", "published")


def test_the_saved_cells_are_the_stored_comparisons(folder, metrics):
    stored = published.printed_number_comparisons()
    pd.testing.assert_frame_equal(metrics[list(stored)], stored, check_dtype=False)
    gap = (stored["recomputed"] - stored["published"]).abs()
    manifest = runs.load_manifest(folder)
    assert manifest["n_cells"] == len(stored) == 1834
    assert manifest["n_differing"] == (gap > stored["tolerance"] + 1e-12).sum()


def test_the_prose_states_what_was_computed(folder):
    overall = pd.read_csv(folder / "tables" / "divisor.csv", index_col="model")
    assert overall.loc["BLOOMZ-560m", "sum / 21"] == pytest.approx(0.7007, abs=5e-5)
    wrong = pd.read_csv(folder / "tables" / "cwr.csv")
    assert wrong["product"].round(2).tolist()[-1] == 11.70
    assert len(wrong) == 2
    said = finished_runs.markdown_text(folder)
    assert "Three do not follow from its tables" in said
    checks = pd.read_csv(folder / "tables" / "checks.csv").set_index(["paper", "check"])
    differing = checks["numbers"] - checks["agree"]
    assert differing["knowledge bases", "Table 2: correlations"] == 3
    assert "for 11 of 12 models" in said
    assert differing["IC-LKE", "Table 1: repeats Table 7"] == 11
    assert "of the eight that have one, four gain" in said
    says = (
        published.paper_claims()
        .query("paper == 'knowledge bases'")
        .set_index("claim")["says"]
    )
    assert "up in 4 of 8. NCCR" in says["tuned_on_seen"]


def test_every_sentence_is_shown_with_its_verdict(folder):
    shown = pd.read_csv(
        folder / "tables" / "all_sentences.csv", dtype=str, keep_default_na=False
    )
    pd.testing.assert_frame_equal(shown, published.paper_claims())
    substance = pd.read_csv(folder / "tables" / "substance.csv")
    assert len(substance) == (shown["severity"] == "substance").sum()
    listed = pd.read_csv(folder / "tables" / "files.csv")
    assert listed["table"].tolist() == published.published_table_names()


def test_its_findings_are_those_of_the_tables(found):
    assert {name: (one.decision, one.n) for name, one in found.items()} == {
        "divisor_21": ("holds", 12),
        "numbers_agree": ("opposite", 1834),
        "one_cell": ("opposite", 26),
        "subsumption_turned": ("holds", 19),
        "base_models_only": ("holds", 49),
        "sentences_hold": ("holds", 87),
        "none_contradicted": ("opposite", 87),
        "monitor_rises_with_accuracy": ("opposite", 12),
    }
