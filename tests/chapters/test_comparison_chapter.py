"""The chapter that sets models beside each other, on small saved runs: one, and many."""

import pandas as pd
import pytest

from helpers import runs
from helpers.studies import STUDIES
from notebooks.kit import findings
from tests import saved_runs
from tests.chapters import finished_runs

FAST = ["n_bootstrap=30"]
MANY = [*FAST, "reference=atlas-s"]
ABILITIES = {"atlas-xs": 0.3, "atlas-s": 0.5, "atlas-s-chat": 0.45, "org/large": 0.8}
SIZES = {
    "atlas-xs": 600_000,
    "atlas-s": 2_500_000,
    "atlas-s-chat": 2_500_000,
    "org/large": 10**9,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the chapter's folder over four models, and one more of another seed."""
    top = tmp_path_factory.mktemp("runs")
    for name, ability in ABILITIES.items():
        saved_runs.write_made_up_runs(top, name, ability, size=SIZES[name])
    saved_runs.write_made_up_runs(top, "stranger", 0.9, seed=5)
    return finished_runs.run("comparison", "", MANY, top)


def test_the_run_is_whole_and_names_the_runs_that_were_read(folder):
    boards = {f"board_{name}" for name in ("monitor", "knowledge_base", "multiplicity")}
    tables = {"differences", "pairs", "pairs_paper", "runs", "overlap", *boards}
    finished_runs.check_finished_run(folder, MANY, tables)
    read = pd.DataFrame(runs.load_manifest(folder)["read"])
    assert len(read) == 20
    assert read["sha256"].str.fullmatch("[0-9a-f]{64}").all()
    assert set(read["model"]) == {*ABILITIES, "stranger"}
    places = pd.read_csv(folder / "tables" / "places.csv").set_index(["recipe", "run"])
    assert (places.loc[("atlas-s", "run 1")] == 1).all()  # as the model card says


def test_tables_in_view_have_a_measure_of_each_chapter_and_three_facts(folder):
    shown = pd.read_csv(folder / "tables" / "board.csv").set_index("model")
    assert [name.split()[0] for name in shown] == ["MONITOR", "NCR", "list", "choice"]
    right = (saved_runs.made_up_facts()["hard"] < ABILITIES["atlas-s"]).mean()
    written = shown.loc["atlas-s", "list accuracy ↑, %"].split()[0]
    assert float(written) == pytest.approx(100 * right, abs=0.05)
    three = pd.read_csv(folder / "tables" / "three_facts.csv")
    assert list(three) == ["prompt", "large", "atlas-xs", "difference"]
    assert three["difference"].iloc[-1] == three["difference"].max()


def test_many_runs_are_compared_and_the_stranger_is_named(
    folder, metrics, found, compared
):
    text = finished_runs.printed_text(folder)
    assert "20 runs of 4 models" in text
    assert "4 of 20 runs not mixed with the others:" in text
    assert "- stranger, monitor: seed 5, not 0" in text
    standing = metrics[metrics["level"] == "run"]
    right = standing[standing["measure"] == "right"].set_index("model")["estimate"]
    table = saved_runs.made_up_facts()
    expected = {
        name.split("/")[-1]: (table["hard"] < a).mean() for name, a in ABILITIES.items()
    }
    assert right.to_dict() == pytest.approx(expected)
    assert {
        "seeds-figure",
        "leaders-figure",
        "shares-figure",
    } <= finished_runs.drawn_cell_names(folder)
    gaps = metrics[(metrics["level"] == "difference") & (metrics["measure"] == "right")]
    assert gaps["n"].tolist() == [24] * 6
    one = gaps.set_index(["first", "second"]).loc[("large", "atlas-xs")]
    assert one["estimate"] == pytest.approx(0.5, abs=1 / 24)
    assert compared.loc["right: large minus atlas-xs", "low"] == pytest.approx(
        one["low"]
    )
    assert (one["low"] > 0, one["better"]) == (True, "large")
    assert found["leaders_are_decided"].n == 4
    assert found["larger_models_do_better"].decision == "holds"


@pytest.mark.slow
def test_the_panel_decides_where_all_were_asked_it(tmp_path):
    for name in ("atlas-xs", "atlas-s"):
        saved_runs.write_made_up_runs(
            tmp_path, name, ABILITIES[name], size=SIZES[name], panel=16
        )
    folder = finished_runs.run("comparison", "", FAST, tmp_path)
    told = {finding.claim: finding for finding in findings.load_findings(folder)}
    rows = pd.read_csv(folder / "tables" / "compared.csv").set_index("what")["n"]
    assert rows["right: atlas-s minus atlas-xs"] == 48
    assert rows["NCR: atlas-s minus atlas-xs"] == 24  # half are seen
    assert (
        told["models_differ_beyond_training_runs"].decision == "undefined"
    )  # other facts
    table = runs.load_metrics(folder)
    right = table[table["measure"] == "right"].groupby("level")["n"].unique().map(list)
    assert right.to_dict() == {"run": [24], "difference": [24],
                               "panel": [48], "panel difference": [48]}  # fmt: skip


ALL, LAST = dict(), {"chapters": ("multiplicity",)}
COLLECTIONS = [  # what was run; models of a chapter, differences, and what is said of it
    ([], 0, 0, "There are no finished runs of the four chapters here yet."),
    ([("alone", 0.5, LAST)], 1, 0, "Only alone has finished runs here."),
    ([("small", 0.3, ALL), ("large", 0.6, LAST)], 2, 5, "5 runs of 2 models."),
    (
        [(name, 0.5, {"chapters": (name,)}) for name in STUDIES],
        1,
        0,
        "No two models here have",
    ),
    ([("a", 0.3, ALL), ("b", 0.6, {"first": 100})], 2, 0, "All 8 runs were made alike"),
    (
        [(name, 0.5, {"dataset": name}) for name in ("own", "fktc", "atlas")],
        1,
        0,
        "8 of 12 runs",
    ),
    ([(name, 0.5, ALL) for name in "abc"], 3, 51, "12 runs of 3 models."),
    (
        [(name, a, {"n": 1}) for name, a in zip("abc", (0.1, 0.5, 0.9))],
        3,
        51,
        "12 runs of 3",
    ),
    ([(name, 0.0, {"heeds": False}) for name in "abc"], 3, 48, "12 runs of 3 models."),
    (
        [("a", 0.3, ALL), ("b", 0.7, {"prompt_format": "qa"})],
        2,
        17,
        "bare (a); qa (b (qa)).",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("collection", "n_models", "n_gaps", "sentence"), COLLECTIONS)
def test_the_chapter_runs_to_its_end_whatever_was_run(
    collection, n_models, n_gaps, sentence, tmp_path
):
    for name, ability, settings in collection:
        saved_runs.write_made_up_runs(tmp_path, name, ability, **settings)
    folder = finished_runs.run("comparison", "", FAST, tmp_path)
    finished_runs.check_finished_run(folder, FAST, {"three_facts", "runs", "overlap"})
    assert sentence in finished_runs.printed_text(folder)
    metrics = runs.load_metrics(folder)
    gaps = metrics[(metrics["level"] == "difference") & (metrics["n"] > 0)]
    standing = metrics[metrics["level"] == "run"]
    together = standing.groupby("chapter")["model"].nunique()
    assert together.max() == n_models if n_models else together.empty
    assert len(gaps) == n_gaps
    for chapter in set(standing["chapter"]):
        assert (folder / "tables" / f"board_{chapter}.csv").is_file()
    decided = {
        one.claim
        for one in findings.load_findings(folder)
        if one.decision in ("holds", "opposite")
    }
    decided -= {
        "training_runs_differ_right",
        "verdicts_follow_the_fact",
    }  # of bundled answers
    assert not decided or len({ability for _, ability, _ in collection}) > 1
